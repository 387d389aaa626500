/* The OpenCL device that Tenon calls so, for peers that compute there without it. */
#ifndef TENON_BENCH_OPENCL_H
#define TENON_BENCH_OPENCL_H

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include <CL/cl.h>
#include <stdbool.h>

typedef struct opencl_device {
    cl_device_id id;
    cl_context context;
    cl_command_queue queue;
} opencl_device;

/* False, with a sentence on standard error, when there is none. */
bool opencl_open(const char *name, opencl_device *device);

/* The only kernel of a program; NULL, with what the compiler said on standard error, when it cannot be built. */
cl_kernel opencl_kernel(const opencl_device *device, const char *source);

#endif
