#include "driver.h"

#include <dlfcn.h>
#include <string.h>
#include <tenon/device.h>

enum { TYPE_CPU = 2, TYPE_GPU = 4, TYPE_ACCELERATOR = 8, PLATFORM_NAME = 0x0902, DEVICE_NAME = 0x102B, LIST = 32, TEXT = 512 };

/* In the order of driver_calls. */
static const char *const symbols[] = {
    "clGetPlatformIDs",
    "clGetPlatformInfo",
    "clGetDeviceIDs",
    "clGetDeviceInfo",
    "clCreateContext",
    "clCreateCommandQueue",
    "clCreateBuffer",
    "clCreateProgramWithSource",
    "clBuildProgram",
    "clCreateKernel",
    "clSetKernelArg",
    "clEnqueueNDRangeKernel",
    "clEnqueueWriteBuffer",
    "clEnqueueCopyBuffer",
    "clFinish",
    "clReleaseKernel",
    "clReleaseProgram",
    "clReleaseMemObject",
    "clReleaseCommandQueue",
    "clReleaseContext",
};
enum { SYMBOLS = sizeof symbols / sizeof *symbols };

static bool load(driver_calls *cl)
{
    const char *path = tn_get("opencl");
    void *library = dlopen(NULL, RTLD_LAZY), *found[SYMBOLS];
    if (!library || !dlsym(library, symbols[0])) library = dlopen(path && *path ? path : "libOpenCL.so.1", RTLD_LAZY);
    for (int i = 0; i < SYMBOLS; i++)
        if (!library || !(found[i] = dlsym(library, symbols[i]))) return false;
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

static driver_object find_device(const driver_calls *cl, const tn_device_info *info)
{
    const uint64_t type = strcmp(info->type, "cpu") == 0 ? TYPE_CPU : strcmp(info->type, "gpu") == 0 ? TYPE_GPU : TYPE_ACCELERATOR;
    driver_object platforms[LIST], devices[LIST];
    uint32_t platform_count = 0, count;
    int twins = twins_before(info);
    char name[TEXT];
    if (cl->get_platforms(LIST, platforms, &platform_count) != DRIVER_SUCCESS) return NULL;
    for (uint32_t p = 0; p < platform_count && p < LIST; p++) {
        if (cl->platform_info(platforms[p], PLATFORM_NAME, sizeof name, name, NULL) != DRIVER_SUCCESS ||
            strcmp(name, info->platform) != 0 || cl->get_devices(platforms[p], type, LIST, devices, &count) != DRIVER_SUCCESS)
            continue;
        for (uint32_t d = 0; d < count && d < LIST; d++)
            if (cl->device_info(devices[d], DEVICE_NAME, sizeof name, name, NULL) == DRIVER_SUCCESS &&
                strcmp(name, info->description) == 0 && twins-- == 0)
                return devices[d];
    }
    return NULL;
}

bool driver_open(driver *d, const char *device, const char **why)
{
    tn_device_info info;
    int32_t code;
    *d = (driver){0};
    *why = "it has no driver";
    if (strcmp(device, "host") == 0 || tn_device_query(device, &info) != TN_OK) return false;
    *why = "the OpenCL library cannot be loaded";
    if (!load(&d->cl)) return false;
    *why = "the driver does not list it";
    d->device = find_device(&d->cl, &info);
    if (!d->device) return false;
    *why = "the driver gives no context or queue for it";
    d->context = d->cl.create_context(NULL, 1, &d->device, NULL, NULL, &code);
    d->queue = d->context ? d->cl.create_queue(d->context, d->device, 0, &code) : NULL;
    if (!d->queue) driver_close(d);
    return d->queue != NULL;
}

void driver_close(driver *d)
{
    if (d->queue) d->cl.release_queue(d->queue);
    if (d->context) d->cl.release_context(d->context);
    *d = (driver){0};
}
