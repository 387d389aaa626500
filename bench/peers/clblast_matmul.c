/* Square f32 matrix products, Tenon against CLBlast on the same OpenCL device.
 *
 *   clblast_matmul [--json] [--device cpu:0] [--runs 15] [N ...]      N: 512 and 1024 unless given
 *
 * The results are compared first: small integers, so they must be equal. Then both run in turn, each to its end (tn_finish,
 * clFinish), and minimum and median are printed. ratio is CLBlast's minimum over Tenon's: above 1 Tenon is faster.
 * Exit status: 0, 1 when something failed or results differ, 77 when the device is missing. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <clblast_c.h>
#include <tenon/tenon.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_RUNS = 1000, MAX_PLATFORMS = 16, MAX_SIZES = 16, SKIPPED = 77 };

typedef struct peer {
    cl_context context;
    cl_command_queue queue;
    cl_mem a, b, c;
} peer;

typedef struct timing {
    double min, median; /* milliseconds */
} timing;

typedef struct options {
    int json, runs, sizes;
    int size[MAX_SIZES];
    const char *device;
} options;

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static int ascending(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

static timing summary(double *ms, int runs)
{
    qsort(ms, (size_t)runs, sizeof *ms, ascending);
    return (timing){ms[0], runs % 2 ? ms[runs / 2] : (ms[runs / 2 - 1] + ms[runs / 2]) / 2};
}

/* The device that Tenon means: its platform's first of that type and name. */
static cl_device_id find_device(const tn_device_info *info)
{
    const cl_device_type type = strcmp(info->type, "cpu") == 0   ? CL_DEVICE_TYPE_CPU
                                : strcmp(info->type, "gpu") == 0 ? CL_DEVICE_TYPE_GPU
                                                                 : CL_DEVICE_TYPE_ACCELERATOR;
    cl_platform_id platforms[MAX_PLATFORMS];
    cl_uint count = 0;
    if (clGetPlatformIDs(MAX_PLATFORMS, platforms, &count) != CL_SUCCESS)
        return NULL;
    for (cl_uint i = 0; i < count && i < MAX_PLATFORMS; i++) {
        cl_device_id device;
        char platform[256] = "", name[256] = "";
        if (clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof platform, platform, NULL) == CL_SUCCESS &&
            strcmp(platform, info->platform) == 0 &&
            clGetDeviceIDs(platforms[i], type, 1, &device, NULL) == CL_SUCCESS &&
            clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name, name, NULL) == CL_SUCCESS &&
            strcmp(name, info->description) == 0)
            return device;
    }
    return NULL;
}

static int peer_open(peer *p, cl_device_id device)
{
    cl_int error;
    p->context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    if (error != CL_SUCCESS)
        return 0;
    p->queue = clCreateCommandQueue(p->context, device, 0, &error);
    return error == CL_SUCCESS;
}

static void peer_close(peer *p)
{
    CLBlastClearCache();
    clReleaseCommandQueue(p->queue);
    clReleaseContext(p->context);
}

static int peer_load(peer *p, int n, float *a, float *b)
{
    const size_t bytes = sizeof(float) * (size_t)n * (size_t)n;
    cl_int error[3];
    p->a = clCreateBuffer(p->context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, bytes, a, &error[0]);
    p->b = clCreateBuffer(p->context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, bytes, b, &error[1]);
    p->c = clCreateBuffer(p->context, CL_MEM_READ_WRITE, bytes, NULL, &error[2]);
    return error[0] == CL_SUCCESS && error[1] == CL_SUCCESS && error[2] == CL_SUCCESS;
}

static void peer_unload(peer *p)
{
    clReleaseMemObject(p->a);
    clReleaseMemObject(p->b);
    clReleaseMemObject(p->c);
}

static int peer_run(peer *p, int n)
{
    const size_t size = (size_t)n;
    return CLBlastSgemm(CLBlastLayoutRowMajor, CLBlastTransposeNo, CLBlastTransposeNo, size, size, size, 1.0f, p->a, 0,
                        size, p->b, 0, size, 0.0f, p->c, 0, size, &p->queue, NULL) == CLBlastSuccess &&
           clFinish(p->queue) == CL_SUCCESS;
}

/* One product from its record to its end. The result is the caller's scope's. */
static tn_tensor *tenon_run(tn_tensor *a, tn_tensor *b, const char *device)
{
    tn_tensor *c = tn_matmul(a, b);
    return tn_realize(&c, 1) == TN_OK && tn_finish(device) == TN_OK ? c : NULL;
}

static int same_results(peer *p, tn_tensor *a, tn_tensor *b, int n, const char *device)
{
    const size_t bytes = sizeof(float) * (size_t)n * (size_t)n;
    float *ours = malloc(bytes), *theirs = malloc(bytes);
    int same = ours && theirs && tn_read(tenon_run(a, b, device), ours, bytes) == TN_OK && peer_run(p, n) &&
               clEnqueueReadBuffer(p->queue, p->c, CL_TRUE, 0, bytes, theirs, 0, NULL, NULL) == CL_SUCCESS;
    for (size_t i = 0; same && i < bytes / sizeof(float); i++)
        same = ours[i] == theirs[i];
    free(ours);
    free(theirs);
    return same;
}

/* Interleaved runs; false when one failed. */
static int measure(peer *p, tn_tensor *a, tn_tensor *b, int n, const options *o, timing *tenon, timing *clblast)
{
    static double ours[MAX_RUNS], theirs[MAX_RUNS];
    for (int i = 0; i < o->runs; i++) {
        const tn_scope scope = tn_scope_push();
        double start = now_ms();
        tenon_run(a, b, o->device);
        ours[i] = now_ms() - start;
        if (tn_scope_pop(scope) != TN_OK)
            return 0;
        start = now_ms();
        if (!peer_run(p, n))
            return 0;
        theirs[i] = now_ms() - start;
    }
    *tenon = summary(ours, o->runs);
    *clblast = summary(theirs, o->runs);
    return 1;
}

static void report(const options *o, const tn_device_info *info, int n, timing tenon, timing clblast)
{
    const double mega = 2e-6 * n * n * (double)n; /* over milliseconds: GFLOP/s */
    if (o->json)
        printf(
            "{\"bench\": \"matmul\", \"peer\": \"clblast\", \"device\": \"%s\", \"platform\": \"%s\", \"dtype\": "
            "\"f32\", \"n\": %d, \"runs\": %d, \"tenon\": {\"min_ms\": %.4f, \"median_ms\": %.4f, \"gflops\": %.2f}, "
            "\"clblast\": {\"min_ms\": %.4f, \"median_ms\": %.4f, \"gflops\": %.2f}, \"ratio\": %.3f, "
            "\"ratio_median\": %.3f}\n",
            info->name, info->platform, n, o->runs, tenon.min, tenon.median, mega / tenon.min, clblast.min,
            clblast.median, mega / clblast.min, clblast.min / tenon.min, clblast.median / tenon.median);
    else
        printf("matmul f32 %d on %s: tenon min %.3f ms, median %.3f ms, %.1f GFLOP/s; clblast min %.3f ms, median "
               "%.3f ms, %.1f GFLOP/s; ratio %.2f (of medians %.2f)\n",
               n, info->name, tenon.min, tenon.median, mega / tenon.min, clblast.min, clblast.median,
               mega / clblast.min, clblast.min / tenon.min, clblast.median / tenon.median);
    fflush(stdout);
}

/* One size: fill, compare, measure, print. */
static int bench(peer *p, const tn_device_info *info, int n, const options *o)
{
    const size_t count = (size_t)n * (size_t)n;
    float *a = malloc(count * sizeof *a), *b = malloc(count * sizeof *b);
    if (!a || !b || n < 1) {
        fprintf(stderr, "clblast_matmul: size %d: no memory\n", n);
        free(a);
        free(b);
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        a[i] = (float)((int)(i * 7 % 9) - 4);
        b[i] = (float)((int)(i * 5 % 11) - 5);
    }
    const tn_scope scope = tn_scope_push();
    tn_tensor *x = tn_from(TN_F32, TN_SHAPE(n, n), a, o->device), *y = tn_from(TN_F32, TN_SHAPE(n, n), b, o->device);
    timing tenon, clblast;
    int done = peer_load(p, n, a, b);
    if (done && !same_results(p, x, y, n, o->device)) {
        fprintf(stderr, "clblast_matmul: size %d: results differ, or a run failed\n", n);
        done = 0;
    }
    done = done && measure(p, x, y, n, o, &tenon, &clblast);
    if (done)
        report(o, info, n, tenon, clblast);
    peer_unload(p);
    if (tn_scope_pop(scope) != TN_OK) {
        fprintf(stderr, "clblast_matmul: %s\n", tn_last_error());
        done = 0;
    }
    free(a);
    free(b);
    return done;
}

static int parse(int argc, char **argv, options *o)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0)
            o->json = 1;
        else if (strcmp(argv[i], "--device") == 0 && i + 1 < argc)
            o->device = argv[++i];
        else if (strcmp(argv[i], "--runs") == 0 && i + 1 < argc)
            o->runs = atoi(argv[++i]);
        else if (atoi(argv[i]) > 0 && o->sizes < MAX_SIZES)
            o->size[o->sizes++] = atoi(argv[i]);
        else
            return 0;
    }
    if (!o->sizes) {
        o->size[o->sizes++] = 512;
        o->size[o->sizes++] = 1024;
    }
    return o->runs > 0 && o->runs <= MAX_RUNS;
}

int main(int argc, char **argv)
{
    options o = {.runs = 15, .device = "cpu:0"};
    if (!parse(argc, argv, &o)) {
        fprintf(stderr, "usage: clblast_matmul [--json] [--device NAME] [--runs COUNT] [N ...]\n");
        return 1;
    }
    tn_device_info info;
    if (tn_device_query(o.device, &info) != TN_OK) {
        fprintf(stderr, "clblast_matmul: skipped: %s\n", tn_last_error());
        return SKIPPED;
    }
    const cl_device_id device = find_device(&info);
    peer p;
    if (!device || !peer_open(&p, device)) {
        fprintf(stderr, "clblast_matmul: skipped: CLBlast cannot use %s (%s)\n", info.name, info.platform);
        return SKIPPED;
    }
    int good = 1;
    for (int i = 0; i < o.sizes; i++)
        good = bench(&p, &info, o.size[i], &o) && good;
    peer_close(&p);
    return good ? 0 : 1;
}
