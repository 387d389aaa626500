/* Counts kernel launches from outside the library: preloaded before libOpenCL.so.1 (LD_PRELOAD="count_launches.so libOpenCL.so.1"),
 * it stands in front of clEnqueueNDRangeKernel and passes every call on. count_launches() tells how many there were that the
 * driver accepted, count_tasks() how many clEnqueueTask, which the library has no use for. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

static atomic_ulong launches, tasks;

unsigned long count_launches(void);
unsigned long count_tasks(void);

unsigned long count_launches(void)
{
    return atomic_load(&launches);
}

unsigned long count_tasks(void)
{
    return atomic_load(&tasks);
}

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint axes, const size_t *offset, const size_t *global,
                              const size_t *local, cl_uint waits, const cl_event *wait, cl_event *event)
{
    __typeof__(&clEnqueueNDRangeKernel) real = (__typeof__(real))dlsym(RTLD_NEXT, "clEnqueueNDRangeKernel");
    if (!real) return CL_INVALID_OPERATION;
    const cl_int code = real(queue, kernel, axes, offset, global, local, waits, wait, event);
    if (code == CL_SUCCESS) atomic_fetch_add(&launches, 1);
    return code;
}

cl_int clEnqueueTask(cl_command_queue queue, cl_kernel kernel, cl_uint waits, const cl_event *wait, cl_event *event)
{
    __typeof__(&clEnqueueTask) real = (__typeof__(real))dlsym(RTLD_NEXT, "clEnqueueTask");
    if (!real) return CL_INVALID_OPERATION;
    const cl_int code = real(queue, kernel, waits, wait, event);
    if (code == CL_SUCCESS) atomic_fetch_add(&tasks, 1);
    return code;
}
