/* CLBlast's part of scripts/bench-peers, on the OpenCL device that Tenon calls so; the protocol is in worker.h.   clblast DEVICE */
#include <clblast_c.h>
#include <stdlib.h>
#include <string.h>

#include "opencl.h"
#include "worker.h"

typedef CLBlastStatusCode call(void);
typedef struct operation {
    const char *name;
    call *call;
    bool turn_a, turn_b; /* of a product */
} operation;

static opencl_device on;
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
                        current->turn_b ? depth : columns, 0, out, 0, columns, &on.queue, NULL);
}

static CLBlastStatusCode copy(void)
{
    return CLBlastScopy(count, in[0], 0, 1, out, 0, 1, &on.queue, NULL);
}

/* y += x: of all that BLAS has, what moves as much as an addition does. */
static CLBlastStatusCode add(void)
{
    return CLBlastSaxpy(count, 1, in[0], 0, 1, in[1], 0, 1, &on.queue, NULL);
}

static CLBlastStatusCode sum(void)
{
    return CLBlastSsum(rows * columns, out, 0, in[0], 0, 1, &on.queue, NULL);
}

static CLBlastStatusCode transpose(void)
{
    return CLBlastSomatcopy(CLBlastLayoutRowMajor, CLBlastTransposeYes, rows, columns, 1, in[0], 0, columns, out, 0, rows,
                            &on.queue, NULL);
}

static const operation operations[] = {
    {"matmul", product, false, false},  {"matmul_nt", product, false, true},    {"matmul_tn", product, true, false},
    {"matmul_tt", product, true, true}, {"copy", copy, false, false},           {"add", add, false, false},
    {"sum", sum, false, false},         {"transpose", transpose, false, false},
};

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
        in[i] = clCreateBuffer(on.context, CL_MEM_READ_WRITE, bytes, NULL, &one);
        status |= one | clEnqueueWriteBuffer(on.queue, in[i], CL_TRUE, 0, bytes, r->input[i].values, 0, NULL, NULL);
    }
    out = clCreateBuffer(on.context, CL_MEM_READ_WRITE, count * sizeof(float), NULL, &one);
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
    return current->call() == CLBlastSuccess && clFinish(on.queue) == CL_SUCCESS;
}

static bool run_and_read(cl_mem from)
{
    return run() && clEnqueueReadBuffer(on.queue, from, CL_TRUE, 0, count * sizeof *values, values, 0, NULL, NULL) == CL_SUCCESS;
}

static const void *result(size_t *bytes)
{
    *bytes = count * sizeof *values;
    if (current->call != add) return run_and_read(out) ? values : NULL;
    const size_t size = second.count * sizeof *second.values;
    return clEnqueueWriteBuffer(on.queue, in[1], CL_TRUE, 0, size, second.values, 0, NULL, NULL) == CL_SUCCESS &&
                   run_and_read(in[1])
               ? values
               : NULL;
}

int main(int argc, char **argv)
{
    const worker_peer peer = {prepare, run, NULL, result, NULL};
    return argc == 2 && opencl_open(argv[1], &on) ? worker_serve(&peer) : 1;
}
