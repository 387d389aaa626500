/* An OpenCL library with faults, for TENON_OPENCL=path: it passes every call on to the installed loader, and misbehaves as the
 * environment says. The variables are read at every call, so that a test may change them between tn_shutdown and next use.
 *
 *   FAKE_PLATFORMS  platforms in front of the real ones: "NAME=TYPE,TYPE;NAME=…" with TYPE cpu, gpu, accel or a sum of them
 *                   such as cpu+gpu; "NAME=" has no device (code -1), "NAME=!-6" answers clGetDeviceIDs with -6.
 *                   Their devices answer questions and nothing else: clCreateContext gives -6 there.
 *   FAKE_ALONE      any value: the real platforms are not shown
 *   FAKE_FAIL       faults: "clFinish:-5", "clBuildProgram:-11:2" (the second call only), "clFinish:-5:2+" (from the second on),
 *                   several separated by commas. Calls are counted from the last change of the variable. The code 666
 *                   kills the process.
 *   FAKE_LOG        build log of programs whose build was made to fail
 *   FAKE_DRIVER     driver version of every real device
 *   FAKE_C          OpenCL C version of every device
 *   FAKE_GROUP      limit of every work-group size
 *   FAKE_TOTAL      memory of every device, in bytes */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#define EXPORT __attribute__((visibility("default")))

/* ---- the real library ---- */

static void *real(const char *name)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static void *library;
    pthread_mutex_lock(&lock);
    if (!library) library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    pthread_mutex_unlock(&lock);
    return library ? dlsym(library, name) : NULL;
}

/* Calls the real function of the enclosing one's name. */
#define PASS(name, arguments) ((__typeof__(&name))real(#name)) arguments

/* ---- faults ---- */

enum { FUNCTIONS_MAX = 64 };

/* The code this call shall give; 0 for none. */
static cl_int fault(const char *function)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct {
        const char *name;
        long calls;
    } counts[FUNCTIONS_MAX];
    static char last[512];
    const char *plan = getenv("FAKE_FAIL");
    cl_int code = 0;
    if (!plan) plan = "";
    pthread_mutex_lock(&lock);
    if (strcmp(plan, last) != 0) {
        memset(counts, 0, sizeof counts);
        snprintf(last, sizeof last, "%s", plan);
    }
    int i = 0;
    while (i < FUNCTIONS_MAX - 1 && counts[i].name && strcmp(counts[i].name, function) != 0) i++;
    counts[i].name = function;
    const long call = ++counts[i].calls;
    const size_t length = strlen(function);
    for (const char *p = plan; *p && !code;) {
        if (strncmp(p, function, length) == 0 && p[length] == ':') {
            char *end;
            const long wanted_code = strtol(p + length + 1, &end, 10);
            const long wanted_call = *end == ':' ? strtol(end + 1, &end, 10) : 0;
            if (wanted_call == 0 || call == wanted_call || (call > wanted_call && *end == '+')) code = (cl_int)wanted_code;
        }
        p += strcspn(p, ",");
        p += *p == ',';
    }
    pthread_mutex_unlock(&lock);
    if (code == 666) raise(SIGSEGV);
    return code;
}

#define FAULT(name)                           \
    do {                                      \
        const cl_int injected = fault(#name); \
        if (injected) return injected;        \
    } while (0)

/* The same for calls that give an object. */
#define FAULT_OBJECT(name, code)              \
    do {                                      \
        const cl_int injected = fault(#name); \
        if (injected) {                       \
            if (code) *(code) = injected;     \
            return NULL;                      \
        }                                     \
    } while (0)

/* ---- platforms that are not there ---- */

enum { PLATFORMS_MAX = 8, DEVICES_MAX = 8 };

struct fake_device {
    cl_device_type type;
    int platform;
};
static struct fake_platform {
    char name[64];
    cl_int code; /* of clGetDeviceIDs */
    int count;
    struct fake_device devices[DEVICES_MAX];
} platforms[PLATFORMS_MAX];
static int platform_count;

static cl_device_type type_of(const char *text, size_t length)
{
    char word[64];
    cl_device_type type = 0;
    snprintf(word, sizeof word, "%.*s", (int)length, text);
    if (strstr(word, "cpu")) type |= CL_DEVICE_TYPE_CPU;
    if (strstr(word, "gpu")) type |= CL_DEVICE_TYPE_GPU;
    if (strstr(word, "accel")) type |= CL_DEVICE_TYPE_ACCELERATOR;
    return type;
}

static void read_platforms(void)
{
    const char *p = getenv("FAKE_PLATFORMS");
    platform_count = 0;
    for (; p && *p && platform_count < PLATFORMS_MAX; platform_count++) {
        struct fake_platform *platform = &platforms[platform_count];
        const size_t name = strcspn(p, "=;");
        memset(platform, 0, sizeof *platform);
        snprintf(platform->name, sizeof platform->name, "%.*s", (int)name, p);
        p += name;
        if (*p == '=') p++;
        if (*p == '!') platform->code = (cl_int)strtol(p + 1, (char **)(uintptr_t)&p, 10);
        while (*p && *p != ';' && platform->count < DEVICES_MAX) {
            const size_t word = strcspn(p, ",;");
            platform->devices[platform->count].platform = platform_count;
            platform->devices[platform->count++].type = type_of(p, word);
            p += word;
            p += *p == ',';
        }
        p += strcspn(p, ";");
        p += *p == ';';
    }
}

static struct fake_platform *fake_platform(cl_platform_id id)
{
    for (int i = 0; i < PLATFORMS_MAX; i++)
        if ((void *)id == (void *)&platforms[i]) return &platforms[i];
    return NULL;
}

static struct fake_device *fake_device(cl_device_id id)
{
    for (int i = 0; i < PLATFORMS_MAX; i++)
        for (int k = 0; k < DEVICES_MAX; k++)
            if ((void *)id == (void *)&platforms[i].devices[k]) return &platforms[i].devices[k];
    return NULL;
}

/* ---- questions ---- */

static cl_int give(const void *value, size_t size, size_t room, void *to, size_t *used)
{
    if (used) *used = size;
    if (!to) return CL_SUCCESS;
    if (room < size) return CL_INVALID_VALUE;
    memcpy(to, value, size);
    return CL_SUCCESS;
}

static cl_int give_text(const char *text, size_t room, void *to, size_t *used)
{
    return give(text, strlen(text) + 1, room, to, used);
}

EXPORT cl_int clGetPlatformIDs(cl_uint room, cl_platform_id *ids, cl_uint *count)
{
    FAULT(clGetPlatformIDs);
    cl_uint others = 0;
    cl_int code = CL_SUCCESS;
    read_platforms();
    const cl_uint own = (cl_uint)platform_count;
    for (cl_uint i = 0; ids && i < own && i < room; i++) ids[i] = (cl_platform_id)(void *)&platforms[i];
    if (!getenv("FAKE_ALONE") && real("clGetPlatformIDs")) {
        const cl_uint left = room > own ? room - own : 0;
        code = PASS(clGetPlatformIDs, (left, ids && left ? ids + own : NULL, &others));
        if (code != CL_SUCCESS) others = 0;
    }
    if (count) *count = own + others;
    return own ? CL_SUCCESS : code;
}

EXPORT cl_int clGetPlatformInfo(cl_platform_id id, cl_platform_info what, size_t room, void *to, size_t *used)
{
    const struct fake_platform *platform = fake_platform(id);
    if (!platform) return PASS(clGetPlatformInfo, (id, what, room, to, used));
    return give_text(what == CL_PLATFORM_NAME ? platform->name : "OpenCL 1.2 fake", room, to, used);
}

EXPORT cl_int clGetDeviceIDs(cl_platform_id id, cl_device_type type, cl_uint room, cl_device_id *ids, cl_uint *count)
{
    FAULT(clGetDeviceIDs);
    struct fake_platform *platform = fake_platform(id);
    if (!platform) return PASS(clGetDeviceIDs, (id, type, room, ids, count));
    if (platform->code) return platform->code;
    if (platform->count == 0) return CL_DEVICE_NOT_FOUND; /* and the count stays as it was */
    for (int i = 0; ids && i < platform->count && i < (int)room; i++)
        ids[i] = (cl_device_id)(void *)&platform->devices[i];
    if (count) *count = (cl_uint)platform->count;
    return CL_SUCCESS;
}

static cl_int fake_device_info(const struct fake_device *device, cl_device_info what, size_t room, void *to, size_t *used)
{
    const cl_uint one = 1, vendor = 0xfa4e;
    const cl_ulong memory = 1 << 30;
    const size_t size = 64, sizes[3] = {64, 1, 1};
    switch (what) {
    case CL_DEVICE_TYPE: return give(&device->type, sizeof device->type, room, to, used);
    case CL_DEVICE_NAME: return give_text("fake device", room, to, used);
    case CL_DEVICE_VENDOR: return give_text("nobody", room, to, used);
    case CL_DRIVER_VERSION: return give_text("0.0", room, to, used);
    case CL_DEVICE_VERSION: return give_text("OpenCL 1.2 fake", room, to, used);
    case CL_DEVICE_OPENCL_C_VERSION: return give_text("OpenCL C 1.2", room, to, used);
    case CL_DEVICE_EXTENSIONS: return give_text("", room, to, used);
    case CL_DEVICE_VENDOR_ID: return give(&vendor, sizeof vendor, room, to, used);
    case CL_DEVICE_MAX_WORK_GROUP_SIZE: return give(&size, sizeof size, room, to, used);
    case CL_DEVICE_MAX_PARAMETER_SIZE: return give(&size, sizeof size, room, to, used);
    case CL_DEVICE_MAX_WORK_ITEM_SIZES: return give(sizes, sizeof sizes, room, to, used);
    case CL_DEVICE_GLOBAL_MEM_SIZE:
    case CL_DEVICE_LOCAL_MEM_SIZE:
    case CL_DEVICE_MAX_MEM_ALLOC_SIZE: return give(&memory, sizeof memory, room, to, used);
    case CL_DEVICE_MAX_COMPUTE_UNITS:
    case CL_DEVICE_AVAILABLE:
    case CL_DEVICE_COMPILER_AVAILABLE:
    case CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT: return give(&one, sizeof one, room, to, used);
    default: return CL_INVALID_VALUE;
    }
}

EXPORT cl_int clGetDeviceInfo(cl_device_id id, cl_device_info what, size_t room, void *to, size_t *used)
{
    const struct fake_device *device = fake_device(id);
    const char *driver = getenv("FAKE_DRIVER"), *group = getenv("FAKE_GROUP"), *total = getenv("FAKE_TOTAL"), *c = getenv("FAKE_C");
    if (c && what == CL_DEVICE_OPENCL_C_VERSION) return give_text(c, room, to, used);
    if (device) return fake_device_info(device, what, room, to, used);
    if (driver && what == CL_DRIVER_VERSION) return give_text(driver, room, to, used);
    if (group && what == CL_DEVICE_MAX_WORK_GROUP_SIZE) {
        const size_t size = (size_t)strtoul(group, NULL, 10);
        return give(&size, sizeof size, room, to, used);
    }
    if (total && (what == CL_DEVICE_GLOBAL_MEM_SIZE || what == CL_DEVICE_MAX_MEM_ALLOC_SIZE)) {
        const cl_ulong bytes = strtoull(total, NULL, 10);
        return give(&bytes, sizeof bytes, room, to, used);
    }
    return PASS(clGetDeviceInfo, (id, what, room, to, used));
}

/* ---- everything else ---- */

EXPORT cl_context clCreateContext(const cl_context_properties *properties, cl_uint count, const cl_device_id *ids,
                                  void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *user,
                                  cl_int *code)
{
    FAULT_OBJECT(clCreateContext, code);
    if (count > 0 && fake_device(ids[0])) {
        if (code) *code = CL_OUT_OF_HOST_MEMORY;
        return NULL;
    }
    return PASS(clCreateContext, (properties, count, ids, notify, user, code));
}

EXPORT cl_int clReleaseContext(cl_context context)
{
    return PASS(clReleaseContext, (context));
}

EXPORT cl_command_queue clCreateCommandQueue(cl_context context, cl_device_id device, cl_command_queue_properties properties,
                                             cl_int *code)
{
    FAULT_OBJECT(clCreateCommandQueue, code);
    return PASS(clCreateCommandQueue, (context, device, properties, code));
}

EXPORT cl_int clReleaseCommandQueue(cl_command_queue queue)
{
    return PASS(clReleaseCommandQueue, (queue));
}

EXPORT cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void *host, cl_int *code)
{
    FAULT_OBJECT(clCreateBuffer, code);
    return PASS(clCreateBuffer, (context, flags, size, host, code));
}

EXPORT cl_int clReleaseMemObject(cl_mem memory)
{
    return PASS(clReleaseMemObject, (memory));
}

EXPORT cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem memory, cl_bool blocking, size_t offset, size_t size, void *to,
                                  cl_uint count, const cl_event *events, cl_event *event)
{
    FAULT(clEnqueueReadBuffer);
    return PASS(clEnqueueReadBuffer, (queue, memory, blocking, offset, size, to, count, events, event));
}

EXPORT cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem memory, cl_bool blocking, size_t offset, size_t size,
                                   const void *from, cl_uint count, const cl_event *events, cl_event *event)
{
    FAULT(clEnqueueWriteBuffer);
    return PASS(clEnqueueWriteBuffer, (queue, memory, blocking, offset, size, from, count, events, event));
}

EXPORT cl_int clEnqueueCopyBuffer(cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset, size_t to_offset,
                                  size_t size, cl_uint count, const cl_event *events, cl_event *event)
{
    FAULT(clEnqueueCopyBuffer);
    return PASS(clEnqueueCopyBuffer, (queue, from, to, from_offset, to_offset, size, count, events, event));
}

EXPORT cl_int clEnqueueMarkerWithWaitList(cl_command_queue queue, cl_uint count, const cl_event *events, cl_event *event)
{
    return PASS(clEnqueueMarkerWithWaitList, (queue, count, events, event));
}

EXPORT cl_int clWaitForEvents(cl_uint count, const cl_event *events)
{
    FAULT(clWaitForEvents);
    return PASS(clWaitForEvents, (count, events));
}

EXPORT cl_int clReleaseEvent(cl_event event)
{
    return PASS(clReleaseEvent, (event));
}

EXPORT cl_int clFlush(cl_command_queue queue)
{
    return PASS(clFlush, (queue));
}

EXPORT cl_int clFinish(cl_command_queue queue)
{
    FAULT(clFinish);
    return PASS(clFinish, (queue));
}

EXPORT cl_program clCreateProgramWithSource(cl_context context, cl_uint count, const char **texts, const size_t *lengths,
                                            cl_int *code)
{
    FAULT_OBJECT(clCreateProgramWithSource, code);
    return PASS(clCreateProgramWithSource, (context, count, texts, lengths, code));
}

EXPORT cl_program clCreateProgramWithBinary(cl_context context, cl_uint count, const cl_device_id *devices,
                                            const size_t *lengths, const unsigned char **binaries, cl_int *status,
                                            cl_int *code)
{
    FAULT_OBJECT(clCreateProgramWithBinary, code);
    return PASS(clCreateProgramWithBinary, (context, count, devices, lengths, binaries, status, code));
}

EXPORT cl_int clBuildProgram(cl_program program, cl_uint count, const cl_device_id *devices, const char *options,
                             void(CL_CALLBACK *notify)(cl_program, void *), void *user)
{
    FAULT(clBuildProgram);
    return PASS(clBuildProgram, (program, count, devices, options, notify, user));
}

EXPORT cl_int clGetProgramBuildInfo(cl_program program, cl_device_id device, cl_program_build_info what, size_t room, void *to,
                                    size_t *used)
{
    const char *log = getenv("FAKE_LOG");
    if (log && what == CL_PROGRAM_BUILD_LOG) return give_text(log, room, to, used);
    return PASS(clGetProgramBuildInfo, (program, device, what, room, to, used));
}

EXPORT cl_int clGetProgramInfo(cl_program program, cl_program_info what, size_t room, void *to, size_t *used)
{
    return PASS(clGetProgramInfo, (program, what, room, to, used));
}

EXPORT cl_int clReleaseProgram(cl_program program)
{
    return PASS(clReleaseProgram, (program));
}

EXPORT cl_kernel clCreateKernel(cl_program program, const char *name, cl_int *code)
{
    FAULT_OBJECT(clCreateKernel, code);
    return PASS(clCreateKernel, (program, name, code));
}

EXPORT cl_int clReleaseKernel(cl_kernel kernel)
{
    return PASS(clReleaseKernel, (kernel));
}

EXPORT cl_int clSetKernelArg(cl_kernel kernel, cl_uint index, size_t size, const void *value)
{
    FAULT(clSetKernelArg);
    return PASS(clSetKernelArg, (kernel, index, size, value));
}

EXPORT cl_int clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info what, size_t room,
                                       void *to, size_t *used)
{
    const char *group = getenv("FAKE_GROUP");
    if (group && what == CL_KERNEL_WORK_GROUP_SIZE) {
        const size_t size = (size_t)strtoul(group, NULL, 10);
        return give(&size, sizeof size, room, to, used);
    }
    return PASS(clGetKernelWorkGroupInfo, (kernel, device, what, room, to, used));
}

EXPORT cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *offset,
                                     const size_t *global, const size_t *local, cl_uint count, const cl_event *events,
                                     cl_event *event)
{
    const char *group = getenv("FAKE_GROUP");
    FAULT(clEnqueueNDRangeKernel);
    if (group && local && local[0] > strtoul(group, NULL, 10)) return CL_INVALID_WORK_GROUP_SIZE;
    return PASS(clEnqueueNDRangeKernel, (queue, kernel, dimensions, offset, global, local, count, events, event));
}
