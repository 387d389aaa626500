/* CLBlast's part of scripts/bench-peers, on the OpenCL device that Tenon calls so; the protocol is in worker.h.   clblast DEVICE */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <clblast_c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/tenon.h>

#include "worker.h"

enum { PLATFORMS = 16 };

typedef CLBlastStatusCode call(void);
typedef struct operation {
    const char *name;
    call *call;
    bool turn_a, turn_b; /* of a product */
} operation;

static cl_context context;
static cl_command_queue queue;
static const operation *current;
static size_t rows, columns, depth; /* a product's m, n, k; else the first input's extents */
static size_t count;                /* of what comes out */
static cl_mem in[WORKER_INPUTS], out;
static float *values;
static worker_input second; /* what an addition overwrites */

static CLBlastStatusCode product(void)
{
    const CLBlastTranspose a = current->turn_a ? CLBlastTransposeYes : CLBlastTransposeNo;
    const CLBlastTranspose b = current->turn_b ? CLBlastTransposeYes : CLBlastTransposeNo;
    return CLBlastSgemm(CLBlastLayoutRowMajor, a, b, rows, columns, depth, 1, in[0], 0, current->turn_a ? rows : depth, in[1], 0,
                        current->turn_b ? depth : columns, 0, out, 0, columns, &queue, NULL);
}

static CLBlastStatusCode copy(void)
{
    return CLBlastScopy(count, in[0], 0, 1, out, 0, 1, &queue, NULL);
}

/* y += x: of all that BLAS has, what moves as much as an addition does. */
static CLBlastStatusCode add(void)
{
    return CLBlastSaxpy(count, 1, in[0], 0, 1, in[1], 0, 1, &queue, NULL);
}

static CLBlastStatusCode sum(void)
{
    return CLBlastSsum(rows * columns, out, 0, in[0], 0, 1, &queue, NULL);
}

static CLBlastStatusCode transpose(void)
{
    return CLBlastSomatcopy(CLBlastLayoutRowMajor, CLBlastTransposeYes, rows, columns, 1, in[0], 0, columns, out, 0, rows, &queue,
                            NULL);
}

static const operation operations[] = {
    {"matmul", product, false, false},
    {"matmul_nt", product, false, true},
    {"matmul_tn", product, true, false},
    {"matmul_tt", product, true, true},
    {"copy", copy, false, false},
    {"add", add, false, false},
    {"sum", sum, false, false},
    {"transpose", transpose, false, false},
};

/* The device that Tenon means: its platform's first of that type and name. */
static cl_device_id find_device(const tn_device_info *info)
{
    const cl_device_type type = strcmp(info->type, "cpu") == 0   ? CL_DEVICE_TYPE_CPU
                                : strcmp(info->type, "gpu") == 0 ? CL_DEVICE_TYPE_GPU
                                                                 : CL_DEVICE_TYPE_ACCELERATOR;
    cl_platform_id platforms[PLATFORMS];
    cl_uint found = 0;
    if (clGetPlatformIDs(PLATFORMS, platforms, &found) != CL_SUCCESS) return NULL;
    for (cl_uint i = 0; i < found && i < PLATFORMS; i++) {
        cl_device_id device;
        char platform[256] = "", name[256] = "";
        if (clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof platform, platform, NULL) == CL_SUCCESS &&
            strcmp(platform, info->platform) == 0 && clGetDeviceIDs(platforms[i], type, 1, &device, NULL) == CL_SUCCESS &&
            clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name, name, NULL) == CL_SUCCESS &&
            strcmp(name, info->description) == 0)
            return device;
    }
    return NULL;
}

static void measure_shapes(const worker_request *r)
{
    const long *const left = r->input[0].dim, *const right = r->input[1].dim;
    rows = (size_t)left[0];
    columns = r->input[0].ndim > 1 ? (size_t)left[1] : 1;
    count = current->call == sum ? 1 : rows * columns;
    if (current->call != product) return;
    rows = (size_t)left[current->turn_a];
    depth = (size_t)left[!current->turn_a];
    columns = (size_t)right[!current->turn_b];
    count = rows * columns;
}

static bool make_buffers(const worker_request *r)
{
    cl_int status = CL_SUCCESS, one;
    for (int i = 0; i < WORKER_INPUTS; i++) {
        if (in[i]) clReleaseMemObject(in[i]);
        in[i] = NULL;
    }
    if (out) clReleaseMemObject(out);
    for (int i = 0; i < r->count; i++) {
        const size_t bytes = r->input[i].count * sizeof(float);
        in[i] = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, &one);
        status |= one | clEnqueueWriteBuffer(queue, in[i], CL_TRUE, 0, bytes, r->input[i].values, 0, NULL, NULL);
    }
    out = clCreateBuffer(context, CL_MEM_READ_WRITE, count * sizeof(float), NULL, &one);
    free(values);
    values = malloc(count * sizeof *values);
    return (status | one) == CL_SUCCESS && values;
}

static const char *prepare(const worker_request *r)
{
    current = worker_find(operations, sizeof operations / sizeof *operations, sizeof *operations, r->operation);
    if (!current || r->input[0].ndim > 2) return "CLBlast has no such operation";
    if (strcmp(r->dtype, "f32") != 0) return "only f32 is compared";
    measure_shapes(r);
    second = r->input[1];
    return make_buffers(r) ? NULL : "no memory on the device";
}

static bool run(void)
{
    return current->call() == CLBlastSuccess && clFinish(queue) == CL_SUCCESS;
}

static bool run_and_read(cl_mem from)
{
    return run() && clEnqueueReadBuffer(queue, from, CL_TRUE, 0, count * sizeof *values, values, 0, NULL, NULL) == CL_SUCCESS;
}

static const void *result(size_t *bytes)
{
    *bytes = count * sizeof *values;
    if (current->call != add) return run_and_read(out) ? values : NULL;
    const size_t size = second.count * sizeof *second.values;
    return clEnqueueWriteBuffer(queue, in[1], CL_TRUE, 0, size, second.values, 0, NULL, NULL) == CL_SUCCESS && run_and_read(in[1])
               ? values
               : NULL;
}

int main(int argc, char **argv)
{
    tn_device_info info;
    cl_int status = CL_DEVICE_NOT_FOUND;
    if (argc != 2 || tn_device_query(argv[1], &info) != TN_OK) {
        (void)fprintf(stderr, "%s\n", argc == 2 ? tn_last_error() : "usage: clblast DEVICE");
        return 1;
    }
    const cl_device_id device = find_device(&info);
    if (device) context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
    if (status == CL_SUCCESS) queue = clCreateCommandQueue(context, device, 0, &status);
    if (status != CL_SUCCESS) {
        (void)fprintf(stderr, "CLBlast cannot use %s (%s)\n", info.name, info.platform);
        return 1;
    }
    const worker_peer peer = {prepare, run, result, NULL};
    return worker_serve(&peer);
}
