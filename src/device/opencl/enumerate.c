/* Lists the OpenCL devices of all platforms; asks, and opens nothing. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/settings.h"
#include "device/opencl/enumerate.h"

enum { PLATFORMS_MAX = 64, DEVICES_MAX = 256 };

/* Fresh text of a query that gives one (tn__free), NULL when it fails. platform NULL: of the device. */
static char *ask_text(const tn__cl *cl, cl_platform_id platform, cl_device_id device, cl_uint what)
{
    size_t size = 0;
    cl_int code = platform ? cl->GetPlatformInfo(platform, what, 0, NULL, &size)
                           : cl->GetDeviceInfo(device, what, 0, NULL, &size);
    if (code != CL_SUCCESS || size > 1 << 20) return NULL;
    char *text = tn__alloc_quiet(size + 1);
    if (!text) return NULL;
    text[0] = '\0';
    if (size > 0)
        code = platform ? cl->GetPlatformInfo(platform, what, size, text, NULL)
                        : cl->GetDeviceInfo(device, what, size, text, NULL);
    text[size] = '\0';
    if (code == CL_SUCCESS) return text;
    tn__free(text);
    return NULL;
}

/* The same as a text of the device, without spaces around it. */
static const char *keep_text(tn__device *device, cl_platform_id platform, cl_uint what)
{
    const tn__cl_device *state = device->state;
    char *text = ask_text(state->cl, platform, state->id, what);
    if (!text) return "";
    char *start = text + strspn(text, " ");
    size_t length = strlen(start);
    while (length > 0 && start[length - 1] == ' ') start[--length] = '\0';
    const char *kept = tn__device_text(device, start);
    tn__free(text);
    return kept;
}

static cl_ulong ask_number(const tn__cl_device *state, cl_uint what, size_t size)
{
    cl_ulong wide = 0;
    cl_uint narrow = 0;
    void *to = size == sizeof wide ? (void *)&wide : (void *)&narrow;
    if (state->cl->GetDeviceInfo(state->id, what, size, to, NULL) != CL_SUCCESS) return 0;
    return size == sizeof wide ? wide : narrow;
}

/* 12 for "OpenCL 1.2 …" and "OpenCL C 1.2 …"; 0 when there is no number. */
static int version_of(const char *text)
{
    const char *p = strpbrk(text, "0123456789");
    char *end;
    if (!p) return 0;
    const long major = strtol(p, &end, 10), minor = *end == '.' ? strtol(end + 1, NULL, 10) : 0;
    return (int)(major * 10 + minor);
}

static bool has_word(const char *list, const char *word)
{
    const size_t length = strlen(word);
    for (const char *p = strstr(list, word); p; p = strstr(p + 1, word))
        if ((p == list || p[-1] == ' ') && (p[length] == ' ' || p[length] == '\0')) return true;
    return false;
}

static const char *why_unfit(const tn__cl_device *state, const tn_device_info *info)
{
    if (state->cl->missing) return "the OpenCL library lacks a function of OpenCL 1.2";
    if (version_of(info->version) < 12 || version_of(info->c_version) < 12) return "it does not offer OpenCL 1.2";
    if (!ask_number(state, CL_DEVICE_AVAILABLE, sizeof(cl_bool))) return "its driver reports it as not available";
    if (!ask_number(state, CL_DEVICE_COMPILER_AVAILABLE, sizeof(cl_bool))) return "its driver has no compiler";
    return NULL;
}

/* What needs no thought: numbers straight from the driver. */
static void describe_numbers(tn__device *device)
{
    const tn__cl_device *state = device->state;
    tn_device_info *info = &device->info;
    const cl_ulong width = ask_number(state, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, sizeof(cl_uint));
    device->vector_width = width < 8 ? 4 : width < 16 ? 8 : 16;
    info->vector_width = width > 0 ? (int)width : 1;
    info->compute_units = (int)ask_number(state, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof(cl_uint));
    if (info->compute_units < 1) info->compute_units = 1;
    device->compute_units = info->compute_units;
    info->max_work_group = (size_t)ask_number(state, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof(size_t));
    info->local_memory = ask_number(state, CL_DEVICE_LOCAL_MEM_SIZE, sizeof(cl_ulong));
    info->memory_total = ask_number(state, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof(cl_ulong));
    info->memory_allocation = ask_number(state, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof(cl_ulong));
    device->cache_bytes = ask_number(state, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, sizeof(cl_ulong));
    device->parameter_bytes = ask_number(state, CL_DEVICE_MAX_PARAMETER_SIZE, sizeof(size_t));
    device->fast_fma = (ask_number(state, CL_DEVICE_SINGLE_FP_CONFIG, sizeof(cl_ulong)) & CL_FP_FMA) != 0;
    device->correct_divide =
        (ask_number(state, CL_DEVICE_SINGLE_FP_CONFIG, sizeof(cl_ulong)) & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
}

static size_t first_item_size(const tn__cl_device *state, size_t limit)
{
    size_t sizes[16] = {0}, used = 0;
    if (state->cl->GetDeviceInfo(state->id, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof sizes, sizes, &used) != CL_SUCCESS ||
        sizes[0] == 0)
        return limit;
    return sizes[0] < limit ? sizes[0] : limit;
}

void tn__cl_choose_profile(tn__device *device)
{
    const tn__cl_device *state = device->state;
    const char *forced = tn__setting_text(TN__SET_PROFILE, NULL);
    device->profile = state->own_profile;
    if (*forced) device->profile = strcmp(forced, "wide") == 0 ? TN__WIDE : TN__DEEP;
    device->info.profile = device->profile == TN__WIDE ? "wide" : "deep";
}

/* The CLASS row that fits, and the profile it asks for. */
static void classify(tn__device *device, tn__device_type type)
{
    enum { GPU = TN__GPU, CPU = TN__CPU, ANY = TN__AUTO, DEEP = TN__DEEP, WIDE = TN__WIDE };
    static const struct {
        tn__device_class class;
        int type;
        uint32_t vendor;
        const char *marker;
        int profile;
    } rows[] = {
#define CLASS(name, type, vendor, marker, profile, group) {{name, group}, type, vendor, marker, profile},
#include "tables/devices.def"
    };
    const tn__cl_device *state = device->state;
    const cl_ulong vendor = ask_number(state, CL_DEVICE_VENDOR_ID, sizeof(cl_uint));
    const char *name = device->info.description, *platform = device->info.platform;
    size_t i = 0; /* the last row takes all */
    while (i + 1 < sizeof rows / sizeof *rows &&
           ((rows[i].type != ANY && rows[i].type != (int)type) || (rows[i].vendor && rows[i].vendor != vendor) ||
            !(strstr(name, rows[i].marker) || strstr(platform, rows[i].marker))))
        i++;
    device->class = &rows[i].class;
    ((tn__cl_device *)device->state)->own_profile = (tn__profile)rows[i].profile;
    tn__cl_choose_profile(device);
}

static void describe(tn__device *device, tn__device_type type)
{
    tn__cl_device *state = device->state;
    tn_device_info *info = &device->info;
    info->description = keep_text(device, NULL, CL_DEVICE_NAME);
    info->vendor = keep_text(device, NULL, CL_DEVICE_VENDOR);
    info->platform = keep_text(device, state->platform, CL_PLATFORM_NAME);
    info->driver = keep_text(device, NULL, CL_DRIVER_VERSION);
    info->version = keep_text(device, NULL, CL_DEVICE_VERSION);
    info->c_version = keep_text(device, NULL, CL_DEVICE_OPENCL_C_VERSION);
    state->platform_version = keep_text(device, state->platform, CL_PLATFORM_VERSION);
    char *extensions = ask_text(state->cl, NULL, state->id, CL_DEVICE_EXTENSIONS);
    info->fp16 = extensions && has_word(extensions, "cl_khr_fp16");
    info->fp64 = extensions && has_word(extensions, "cl_khr_fp64");
    tn__free(extensions);
    info->software = type == TN__GPU && tn__is_software(info->description, info->platform);
    describe_numbers(device);
    if (info->max_work_group < 1) info->max_work_group = 1;
    state->max_items = first_item_size(state, info->max_work_group);
    state->options = device->correct_divide ? "-w -cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt" : "-w -cl-std=CL1.2";
    /* docs/drivers.md, "Compiling" */
    state->own_header = strcmp(info->platform, "Portable Computing Language") == 0 ? "_OPENCL_H_" : NULL;
    state->unfit = why_unfit(state, info);
    classify(device, type);
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool contains(const char *text, const char *part)
{
    if (!*part) return true;
    for (; *text; text++) {
        size_t i = 0;
        while (part[i] && lower(text[i]) == lower(part[i])) i++;
        if (!part[i]) return true;
    }
    return false;
}

/* False when the device is of no type that we name, or filtered out. */
static bool wanted(const tn__cl *cl, cl_device_id id, const char *platform, const char *filter, tn__device_type *type)
{
    cl_bitfield bits = 0;
    if (cl->GetDeviceInfo(id, CL_DEVICE_TYPE, sizeof bits, &bits, NULL) != CL_SUCCESS) return false;
    if (bits & CL_DEVICE_TYPE_GPU)
        *type = TN__GPU;
    else if (bits & CL_DEVICE_TYPE_ACCELERATOR)
        *type = TN__ACCEL;
    else if (bits & CL_DEVICE_TYPE_CPU)
        *type = TN__CPU;
    else
        return false;
    if (contains(platform, filter)) return true;
    char *name = ask_text(cl, NULL, id, CL_DEVICE_NAME);
    const bool found = name && contains(name, filter);
    tn__free(name);
    return found;
}

static tn_status add_device(tn__found *found, const tn__cl *cl, cl_platform_id platform, cl_device_id id,
                            tn__device_type type)
{
    tn__cl_device *state = tn__zalloc(sizeof *state);
    tn__device *device = state ? tn__found_device(found, &tn__backend_opencl, type) : NULL;
    if (!device) {
        tn__free(state);
        return TN_MEMORY;
    }
    tn__mutex_init(&state->programs_lock);
    state->cl = cl;
    state->platform = platform;
    state->id = id;
    device->state = state;
    describe(device, type);
    return TN_OK;
}

static tn_status add_platform(tn__found *found, const tn__cl *cl, cl_platform_id platform, const char *filter)
{
    cl_device_id ids[DEVICES_MAX];
    cl_uint count = 0; /* some drivers leave it alone when there are none */
    char *asked = ask_text(cl, platform, NULL, CL_PLATFORM_NAME);
    const char *name = asked ? asked : "a platform without a name";
    const cl_int code = cl->GetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, DEVICES_MAX, ids, &count);
    tn_status status = TN_OK;
    int passed = 0;
    if (code == CL_DEVICE_NOT_FOUND || (code == CL_SUCCESS && count == 0)) {
        tn__found_trouble(found, "platform %s has no device", name);
        count = 0;
    } else if (code != CL_SUCCESS) {
        tn__found_trouble(found, "platform %s: clGetDeviceIDs gives %d (%s)", name, (int)code, tn__cl_error_name(code));
        count = 0;
    }
    for (cl_uint i = 0; status == TN_OK && i < count && i < DEVICES_MAX; i++) {
        tn__device_type type;
        if (!wanted(cl, ids[i], name, filter, &type)) continue;
        status = add_device(found, cl, platform, ids[i], type);
        passed++;
    }
    if (count > 0 && passed == 0 && *filter)
        tn__found_trouble(found, "TENON_DEVICES=%.64s leaves out platform %s", filter, name);
    tn__free(asked);
    return status;
}

tn_status tn__cl_enumerate(tn__found *found)
{
    cl_platform_id platforms[PLATFORMS_MAX];
    cl_uint count = 0;
    tn__text trouble = {0};
    const tn__cl *cl = tn__cl_load(&trouble, &found->off);
    if (!cl) {
        tn__found_trouble(found, "%s", trouble.data ? trouble.data : "no memory for the OpenCL loader");
        tn__text_free(&trouble);
        return TN_OK;
    }
    tn__text_free(&trouble);
    const cl_int code = cl->GetPlatformIDs(PLATFORMS_MAX, platforms, &count);
    if (code != CL_SUCCESS && code != -1001)
        tn__found_trouble(found, "clGetPlatformIDs gives %d (%s)", (int)code, tn__cl_error_name(code));
    if (code != CL_SUCCESS || count == 0) {
        tn__found_trouble(found, "no OpenCL platform is installed");
        return TN_OK;
    }
    const char *filter = tn__setting_text(TN__SET_DEVICES, NULL);
    for (cl_uint i = 0; i < count && i < PLATFORMS_MAX; i++) TN__TRY(add_platform(found, cl, platforms[i], filter));
    return TN_OK;
}
