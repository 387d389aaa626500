/* An OpenCL library with little in it, for TENON_OPENCL=path: one platform with one CPU device can be asked about, and the
 * entry points to use it are not there. */
#include <stddef.h>
#include <string.h>

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#define EXPORT __attribute__((visibility("default")))

static int platform, device;

static cl_int give(const void *value, size_t size, size_t room, void *to, size_t *used)
{
    if (used) *used = size;
    if (to && room >= size) memcpy(to, value, size);
    return to && room < size ? CL_INVALID_VALUE : CL_SUCCESS;
}

EXPORT cl_int clGetPlatformIDs(cl_uint room, cl_platform_id *ids, cl_uint *count)
{
    if (ids && room) ids[0] = (cl_platform_id)(void *)&platform;
    if (count) *count = 1;
    return CL_SUCCESS;
}

EXPORT cl_int clGetPlatformInfo(cl_platform_id id, cl_platform_info what, size_t room, void *to, size_t *used)
{
    static const char name[] = "Old Platform";
    (void)id, (void)what;
    return give(name, sizeof name, room, to, used);
}

EXPORT cl_int clGetDeviceIDs(cl_platform_id id, cl_device_type type, cl_uint room, cl_device_id *ids, cl_uint *count)
{
    (void)id, (void)type;
    if (ids && room) ids[0] = (cl_device_id)(void *)&device;
    if (count) *count = 1;
    return CL_SUCCESS;
}

EXPORT cl_int clGetDeviceInfo(cl_device_id id, cl_device_info what, size_t room, void *to, size_t *used)
{
    static const char version[] = "OpenCL 1.2 old", c_version[] = "OpenCL C 1.2 old";
    const cl_device_type type = CL_DEVICE_TYPE_CPU;
    (void)id;
    if (what == CL_DEVICE_TYPE) return give(&type, sizeof type, room, to, used);
    if (what == CL_DEVICE_VERSION) return give(version, sizeof version, room, to, used);
    if (what == CL_DEVICE_OPENCL_C_VERSION) return give(c_version, sizeof c_version, room, to, used);
    return CL_INVALID_VALUE;
}
