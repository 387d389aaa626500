#include "opencl.h"

#include <stdio.h>
#include <string.h>
#include <tenon/device.h>

enum { PLATFORMS = 16, TEXT = 256, LOG = 4096 };

static cl_device_type type_of(const tn_device_info *info)
{
    return strcmp(info->type, "cpu") == 0   ? CL_DEVICE_TYPE_CPU
           : strcmp(info->type, "gpu") == 0 ? CL_DEVICE_TYPE_GPU
                                            : CL_DEVICE_TYPE_ACCELERATOR;
}

/* The platform's first of that type and name. */
static cl_device_id find(const tn_device_info *info)
{
    cl_platform_id platforms[PLATFORMS];
    cl_uint found = 0;
    if (clGetPlatformIDs(PLATFORMS, platforms, &found) != CL_SUCCESS) return NULL;
    for (cl_uint i = 0; i < found && i < PLATFORMS; i++) {
        cl_device_id device;
        char platform[TEXT] = "", name[TEXT] = "";
        if (clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof platform, platform, NULL) == CL_SUCCESS &&
            strcmp(platform, info->platform) == 0 && clGetDeviceIDs(platforms[i], type_of(info), 1, &device, NULL) == CL_SUCCESS &&
            clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name, name, NULL) == CL_SUCCESS && strcmp(name, info->description) == 0)
            return device;
    }
    return NULL;
}

bool opencl_open(const char *name, opencl_device *device)
{
    tn_device_info info;
    cl_int status = CL_DEVICE_NOT_FOUND;
    if (tn_device_query(name, &info) != TN_OK) {
        (void)fprintf(stderr, "%s\n", tn_last_error());
        return false;
    }
    device->id = find(&info);
    if (device->id) device->context = clCreateContext(NULL, 1, &device->id, NULL, NULL, &status);
    if (status == CL_SUCCESS) device->queue = clCreateCommandQueue(device->context, device->id, 0, &status);
    if (status != CL_SUCCESS) (void)fprintf(stderr, "%s: no OpenCL device that can be used\n", name);
    return status == CL_SUCCESS;
}

cl_kernel opencl_kernel(const opencl_device *device, const char *source)
{
    cl_kernel kernel = NULL;
    cl_program program = clCreateProgramWithSource(device->context, 1, &source, NULL, NULL);
    if (program && clBuildProgram(program, 1, &device->id, "", NULL, NULL) == CL_SUCCESS) {
        (void)clCreateKernelsInProgram(program, 1, &kernel, NULL);
    } else if (program) {
        char log[LOG] = "";
        (void)clGetProgramBuildInfo(program, device->id, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
        (void)fprintf(stderr, "%s\n", log);
    }
    if (program) clReleaseProgram(program);
    return kernel;
}
