/* What a driver takes for a program of one kernel, from the process' start to the end of its first launch.   build_once DEVICE */
#include <stdio.h>
#include <time.h>

#include "opencl.h"

static const char source[] = "kernel void scale(global float *x, float factor)\n"
                             "{\n"
                             "    x[get_global_id(0)] *= factor;\n"
                             "}\n";

static double milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

int main(int argc, char **argv)
{
    const double begin = milliseconds();
    const size_t items = 1024, local = 1;
    const float factor = 2;
    opencl_device device;
    if (argc != 2 || !opencl_open(argv[1], &device)) return 1;
    cl_kernel kernel = opencl_kernel(&device, source);
    cl_mem x = clCreateBuffer(device.context, CL_MEM_READ_WRITE, items * sizeof(float), NULL, NULL);
    if (!kernel || !x || clSetKernelArg(kernel, 0, sizeof x, &x) != CL_SUCCESS ||
        clSetKernelArg(kernel, 1, sizeof factor, &factor) != CL_SUCCESS ||
        clEnqueueNDRangeKernel(device.queue, kernel, 1, NULL, &items, &local, 0, NULL, NULL) != CL_SUCCESS ||
        clFinish(device.queue) != CL_SUCCESS)
        return 1;
    printf("%.0f ms after the program's start\n", milliseconds() - begin);
    return 0;
}
