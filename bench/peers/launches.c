/* The driver's part of scripts/bench-peers: as many launches of a small kernel as tenon.c's loops make, queued and not waited for; the
 * protocol is in worker.h.   launches DEVICE */
#include <string.h>

#include "opencl.h"
#include "worker.h"

enum { LAUNCHES = 100, ARGUMENTS = 4 };

static const char source[] =
    "kernel __attribute__((reqd_work_group_size(1, 1, 1))) void scale(global float *x, global float *y, int n, float factor)\n"
    "{\n"
    "    for (int i = 0; i < n; i++)\n"
    "        y[i] = x[i] * factor;\n"
    "}\n";

static opencl_device on;
static cl_kernel kernel;
static cl_mem buffers[2];

static const char *prepare(const worker_request *r)
{
    if (strcmp(r->operation, "softmaxes_queued") != 0) return "there is no such operation";
    if (!kernel) kernel = opencl_kernel(&on, source);
    for (int i = 0; i < 2 && !buffers[i]; i++)
        buffers[i] = clCreateBuffer(on.context, CL_MEM_READ_WRITE, r->input[0].count * sizeof(float), NULL, NULL);
    return kernel && buffers[0] && buffers[1] ? NULL : "the kernel cannot be built";
}

static bool launch(int index)
{
    const cl_int n = 64;
    const float factor = 0.5F;
    const size_t one = 1;
    return clSetKernelArg(kernel, 0, sizeof(cl_mem), &buffers[index % 2]) == CL_SUCCESS &&
           clSetKernelArg(kernel, 1, sizeof(cl_mem), &buffers[1 - index % 2]) == CL_SUCCESS &&
           clSetKernelArg(kernel, 2, sizeof n, &n) == CL_SUCCESS &&
           clSetKernelArg(kernel, 3, sizeof factor, &factor) == CL_SUCCESS &&
           clEnqueueNDRangeKernel(on.queue, kernel, 1, NULL, &one, &one, 0, NULL, NULL) == CL_SUCCESS;
}

static bool run(void)
{
    for (int i = 0; i < LAUNCHES; i++)
        if (!launch(i)) return false;
    return clFlush(on.queue) == CL_SUCCESS;
}

static bool settle(void)
{
    return clFinish(on.queue) == CL_SUCCESS;
}

static const void *result(size_t *bytes)
{
    static const float none;
    *bytes = 0;
    return run() && settle() ? &none : NULL;
}

int main(int argc, char **argv)
{
    const worker_peer peer = {prepare, run, settle, result, NULL};
    return argc == 2 && opencl_open(argv[1], &on) ? worker_serve(&peer) : 1;
}
