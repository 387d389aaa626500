/* The driver's own copy, which the library's interface does not offer. The OpenCL library is found at run time, as
 * Tenon finds it; the few types and values are OpenCL's. */
#include "copies.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/device.h>

#include "measure.h"

#ifndef CL_API_CALL
#define CL_API_CALL
#endif
typedef struct cl_object *object;

enum {
    SUCCESS = 0,
    TYPE_CPU = 2,
    TYPE_GPU = 4,
    TYPE_ACCELERATOR = 8,
    PLATFORM_NAME = 0x0902,
    DEVICE_NAME = 0x102B,
    READ_WRITE = 1,
    LIST = 32,
    TEXT = 512
};

typedef struct entry_points {
    int32_t(CL_API_CALL *get_platforms)(uint32_t, object *, uint32_t *);
    int32_t(CL_API_CALL *platform_info)(object, uint32_t, size_t, void *, size_t *);
    int32_t(CL_API_CALL *get_devices)(object, uint64_t, uint32_t, object *, uint32_t *);
    int32_t(CL_API_CALL *device_info)(object, uint32_t, size_t, void *, size_t *);
    object(CL_API_CALL *create_context)(const intptr_t *, uint32_t, const object *, void *, void *, int32_t *);
    object(CL_API_CALL *create_queue)(object, object, uint64_t, int32_t *);
    object(CL_API_CALL *create_buffer)(object, uint64_t, size_t, void *, int32_t *);
    int32_t(CL_API_CALL *write)(object, object, uint32_t, size_t, size_t, const void *, uint32_t, void *, void *);
    int32_t(CL_API_CALL *copy)(object, object, object, size_t, size_t, size_t, uint32_t, void *, void *);
    int32_t(CL_API_CALL *finish)(object);
    int32_t(CL_API_CALL *release_buffer)(object);
    int32_t(CL_API_CALL *release_queue)(object);
    int32_t(CL_API_CALL *release_context)(object);
} entry_points;

/* In the order of entry_points. */
static const char *const symbols[] = {
    "clGetPlatformIDs",     "clGetPlatformInfo",     "clGetDeviceIDs",       "clGetDeviceInfo",     "clCreateContext",
    "clCreateCommandQueue", "clCreateBuffer",        "clEnqueueWriteBuffer", "clEnqueueCopyBuffer", "clFinish",
    "clReleaseMemObject",   "clReleaseCommandQueue", "clReleaseContext",
};
enum { SYMBOLS = sizeof symbols / sizeof *symbols };

struct driver_copy {
    entry_points cl;
    object context, queue, from, to;
    size_t bytes;
};

static bool load(entry_points *cl)
{
    const char *path = tn_get("opencl");
    void *library = dlopen(NULL, RTLD_LAZY), *found[SYMBOLS];
    if (!library || !dlsym(library, symbols[0]))
        library = dlopen(path && *path ? path : "libOpenCL.so.1", RTLD_LAZY);
    for (int i = 0; i < SYMBOLS; i++)
        if (!library || !(found[i] = dlsym(library, symbols[i])))
            return false;
    memcpy(cl, found, sizeof found);
    return true;
}

/* How many devices before this one in Tenon's list have the same names, and so follow the driver's order. */
static int twins_before(const tn_device_info *info)
{
    int count = 0;
    tn_device_info other;
    for (int i = 0; tn_device_name(i) && strcmp(tn_device_name(i), info->name) != 0; i++)
        if (tn_device_query(tn_device_name(i), &other) == TN_OK && strcmp(other.type, info->type) == 0 &&
            strcmp(other.platform, info->platform) == 0 && strcmp(other.description, info->description) == 0)
            count++;
    return count;
}

static object find_device(const entry_points *cl, const tn_device_info *info)
{
    const uint64_t type = strcmp(info->type, "cpu") == 0   ? TYPE_CPU
                          : strcmp(info->type, "gpu") == 0 ? TYPE_GPU
                                                           : TYPE_ACCELERATOR;
    object platforms[LIST], devices[LIST];
    uint32_t platform_count = 0, count;
    int twins = twins_before(info);
    char name[TEXT];
    if (cl->get_platforms(LIST, platforms, &platform_count) != SUCCESS)
        return NULL;
    for (uint32_t p = 0; p < platform_count && p < LIST; p++) {
        if (cl->platform_info(platforms[p], PLATFORM_NAME, sizeof name, name, NULL) != SUCCESS ||
            strcmp(name, info->platform) != 0 || cl->get_devices(platforms[p], type, LIST, devices, &count) != SUCCESS)
            continue;
        for (uint32_t d = 0; d < count && d < LIST; d++)
            if (cl->device_info(devices[d], DEVICE_NAME, sizeof name, name, NULL) == SUCCESS &&
                strcmp(name, info->description) == 0 && twins-- == 0)
                return devices[d];
    }
    return NULL;
}

/* Both buffers are written, so that their memory is there. */
static bool make(driver_copy *copy, object device, const void *source)
{
    const entry_points *cl = &copy->cl;
    int32_t code;
    copy->context = cl->create_context(NULL, 1, &device, NULL, NULL, &code);
    copy->queue = copy->context ? cl->create_queue(copy->context, device, 0, &code) : NULL;
    copy->from = copy->queue ? cl->create_buffer(copy->context, READ_WRITE, copy->bytes, NULL, &code) : NULL;
    copy->to = copy->from ? cl->create_buffer(copy->context, READ_WRITE, copy->bytes, NULL, &code) : NULL;
    return copy->to && cl->write(copy->queue, copy->from, 1, 0, copy->bytes, source, 0, NULL, NULL) == SUCCESS &&
           cl->write(copy->queue, copy->to, 1, 0, copy->bytes, source, 0, NULL, NULL) == SUCCESS;
}

driver_copy *driver_copy_open(const char *device, const void *source, size_t bytes, const char **why)
{
    tn_device_info info;
    *why = "it has no driver";
    if (strcmp(device, "host") == 0 || tn_device_query(device, &info) != TN_OK)
        return NULL;
    driver_copy *copy = calloc(1, sizeof *copy);
    *why = "the OpenCL library cannot be loaded";
    if (copy && load(&copy->cl)) {
        copy->bytes = bytes;
        *why = "the driver does not list it";
        const object id = find_device(&copy->cl, &info);
        if (id) {
            *why = "the driver gives no context, queue or memory for it";
            if (make(copy, id, source))
                return copy;
        }
    }
    driver_copy_close(copy);
    return NULL;
}

bool driver_copy_once(void *what, double *ms, uint64_t *launches)
{
    driver_copy *copy = what;
    const double start = measure_now();
    const bool good = copy->cl.copy(copy->queue, copy->from, copy->to, 0, 0, copy->bytes, 0, NULL, NULL) == SUCCESS &&
                      copy->cl.finish(copy->queue) == SUCCESS;
    *ms = measure_now() - start;
    *launches = 0;
    return good;
}

void driver_copy_close(driver_copy *copy)
{
    if (!copy)
        return;
    if (copy->from)
        copy->cl.release_buffer(copy->from);
    if (copy->to)
        copy->cl.release_buffer(copy->to);
    if (copy->queue)
        copy->cl.release_queue(copy->queue);
    if (copy->context)
        copy->cl.release_context(copy->context);
    free(copy);
}
