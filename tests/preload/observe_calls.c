/* An observer for LD_PRELOAD: stands in front of the OpenCL library, passes every call on, and remembers which there were and what
 * was compiled. The library under test takes symbols that are already in the process, so what is seen here is what the driver gets.
 *
 * The program finds these with dlsym(RTLD_DEFAULT, …):
 *   outside_calls(name)   calls of an OpenCL function since the last outside_forget; "launches" for all kinds of enqueued kernels,
 *                         "odd arguments" for kernel arguments that are neither 4 nor 8 bytes nor local memory, "events" for
 *                         those that enqueued commands gave
 *   outside_sources()     every program text given to the driver since then, one after another, with its build options
 *   outside_forget()      starts anew
 * With the variable OUTSIDE_REPORT=FILE, the counts are written there when the process ends, and the texts behind them. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#include <CL/cl.h>

#define EXPORT __attribute__((visibility("default")))

enum { FUNCTIONS_MAX = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    const char *name;
    uint64_t calls;
} counts[FUNCTIONS_MAX];
static char *sources;
static size_t sources_length;
static void *library;

/* All other functions of the library must be found in the process, too, behind the ones here. */
__attribute__((constructor)) static void open_library(void)
{
    library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_GLOBAL);
}

static void *real(const char *name)
{
    void *symbol = library ? dlsym(library, name) : NULL;
    if (!symbol) abort();
    return symbol;
}

static void count(const char *name)
{
    pthread_mutex_lock(&lock);
    int i = 0;
    while (i < FUNCTIONS_MAX - 1 && counts[i].name && strcmp(counts[i].name, name) != 0) i++;
    counts[i].name = name;
    counts[i].calls++;
    pthread_mutex_unlock(&lock);
}

static void keep(const char *text, size_t length)
{
    pthread_mutex_lock(&lock);
    char *grown = realloc(sources, sources_length + length + 2);
    if (grown) {
        memcpy(grown + sources_length, text, length);
        sources = grown;
        sources_length += length;
        sources[sources_length++] = '\n';
        sources[sources_length] = '\0';
    }
    pthread_mutex_unlock(&lock);
}

/* ---- what the program asks ---- */

EXPORT uint64_t outside_calls(const char *name)
{
    static const char *const launches[] = {"clEnqueueNDRangeKernel", "clEnqueueTask", "clEnqueueNativeKernel"};
    uint64_t sum = 0;
    if (strcmp(name, "launches") == 0) {
        for (int i = 0; i < 3; i++) sum += outside_calls(launches[i]);
        return sum;
    }
    pthread_mutex_lock(&lock);
    for (int i = 0; i < FUNCTIONS_MAX && counts[i].name; i++)
        if (strcmp(counts[i].name, name) == 0) sum = counts[i].calls;
    pthread_mutex_unlock(&lock);
    return sum;
}

EXPORT const char *outside_sources(void)
{
    return sources ? sources : "";
}

EXPORT void outside_forget(void)
{
    pthread_mutex_lock(&lock);
    memset(counts, 0, sizeof counts);
    free(sources);
    sources = NULL;
    sources_length = 0;
    pthread_mutex_unlock(&lock);
}

__attribute__((destructor)) static void report(void)
{
    const char *path = getenv("OUTSIDE_REPORT");
    FILE *file = path && *path ? fopen(path, "w") : NULL;
    if (!file) return;
    fprintf(file, "launches %llu\n", (unsigned long long)outside_calls("launches"));
    for (int i = 0; i < FUNCTIONS_MAX && counts[i].name; i++)
        fprintf(file, "%s %llu\n", counts[i].name, (unsigned long long)counts[i].calls);
    fprintf(file, "\n%s", outside_sources());
    fclose(file);
}

/* ---- what is counted ---- */

#define PASS(result, name, parameters, arguments)         \
    EXPORT result CL_API_CALL name parameters             \
    {                                                     \
        count(#name);                                     \
        return ((__typeof__(&name))real(#name))arguments; \
    }

#define WAIT cl_uint events, const cl_event *list, cl_event *event
#define WITH_EVENT(result, name, parameters, arguments)   \
    EXPORT result CL_API_CALL name parameters             \
    {                                                     \
        count(#name);                                     \
        if (event) count("events");                       \
        return ((__typeof__(&name))real(#name))arguments; \
    }

WITH_EVENT(cl_int, clEnqueueNDRangeKernel,
     (cl_command_queue q, cl_kernel k, cl_uint n, const size_t *o, const size_t *g, const size_t *l, WAIT),
     (q, k, n, o, g, l, events, list, event))
WITH_EVENT(cl_int, clEnqueueTask, (cl_command_queue q, cl_kernel k, WAIT), (q, k, events, list, event))
WITH_EVENT(cl_int, clEnqueueNativeKernel,
     (cl_command_queue q, void(CL_CALLBACK *f)(void *), void *a, size_t s, cl_uint n, const cl_mem *m, const void **p, WAIT),
     (q, f, a, s, n, m, p, events, list, event))
WITH_EVENT(cl_int, clEnqueueReadBuffer, (cl_command_queue q, cl_mem m, cl_bool b, size_t o, size_t s, void *p, WAIT),
     (q, m, b, o, s, p, events, list, event))
WITH_EVENT(cl_int, clEnqueueWriteBuffer, (cl_command_queue q, cl_mem m, cl_bool b, size_t o, size_t s, const void *p, WAIT),
     (q, m, b, o, s, p, events, list, event))
WITH_EVENT(cl_int, clEnqueueCopyBuffer, (cl_command_queue q, cl_mem f, cl_mem t, size_t fo, size_t to, size_t s, WAIT),
     (q, f, t, fo, to, s, events, list, event))
WITH_EVENT(cl_int, clEnqueueFillBuffer, (cl_command_queue q, cl_mem m, const void *p, size_t ps, size_t o, size_t s, WAIT),
     (q, m, p, ps, o, s, events, list, event))
WITH_EVENT(void *, clEnqueueMapBuffer,
     (cl_command_queue q, cl_mem m, cl_bool b, cl_map_flags f, size_t o, size_t s, cl_uint events, const cl_event *list,
      cl_event *event, cl_int *e),
     (q, m, b, f, o, s, events, list, event, e))
WITH_EVENT(cl_int, clEnqueueUnmapMemObject, (cl_command_queue q, cl_mem m, void *p, WAIT), (q, m, p, events, list, event))
PASS(cl_mem, clCreateBuffer, (cl_context c, cl_mem_flags f, size_t s, void *p, cl_int *e), (c, f, s, p, e))
PASS(cl_mem, clCreateSubBuffer, (cl_mem m, cl_mem_flags f, cl_buffer_create_type t, const void *i, cl_int *e), (m, f, t, i, e))
PASS(cl_int, clRetainMemObject, (cl_mem m), (m))
PASS(cl_int, clReleaseMemObject, (cl_mem m), (m))
PASS(cl_int, clReleaseEvent, (cl_event e), (e))
PASS(cl_int, clReleaseKernel, (cl_kernel k), (k))
PASS(cl_int, clReleaseProgram, (cl_program p), (p))
PASS(cl_int, clReleaseCommandQueue, (cl_command_queue q), (q))
PASS(cl_int, clReleaseContext, (cl_context c), (c))
PASS(cl_command_queue, clCreateCommandQueue, (cl_context c, cl_device_id d, cl_command_queue_properties p, cl_int *e), (c, d, p, e))
PASS(cl_int, clFinish, (cl_command_queue q), (q))
PASS(cl_int, clFlush, (cl_command_queue q), (q))
PASS(cl_int, clWaitForEvents, (cl_uint n, const cl_event *l), (n, l))
PASS(cl_kernel, clCreateKernel, (cl_program p, const char *n, cl_int *e), (p, n, e))
PASS(cl_context, clCreateContext,
     (const cl_context_properties *p, cl_uint n, const cl_device_id *d,
      void(CL_CALLBACK *f)(const char *, const void *, size_t, void *), void *u, cl_int *e),
     (p, n, d, f, u, e))
PASS(cl_int, clGetPlatformIDs, (cl_uint n, cl_platform_id *l, cl_uint *c), (n, l, c))
PASS(cl_program, clCreateProgramWithBinary,
     (cl_context c, cl_uint n, const cl_device_id *d, const size_t *l, const unsigned char **b, cl_int *s, cl_int *e),
     (c, n, d, l, b, s, e))

EXPORT cl_program CL_API_CALL clCreateProgramWithSource(cl_context context, cl_uint n, const char **texts, const size_t *lengths,
                                                        cl_int *code)
{
    count("clCreateProgramWithSource");
    for (cl_uint i = 0; i < n; i++) keep(texts[i], lengths && lengths[i] ? lengths[i] : strlen(texts[i]));
    return ((__typeof__(&clCreateProgramWithSource))real("clCreateProgramWithSource"))(context, n, texts, lengths, code);
}

/* Scalars of 4 and 8 bytes, pointers, and local memory are what a kernel may take. */
EXPORT cl_int CL_API_CALL clSetKernelArg(cl_kernel kernel, cl_uint index, size_t size, const void *value)
{
    count("clSetKernelArg");
    if (value && size != 4 && size != 8) count("odd arguments");
    return ((__typeof__(&clSetKernelArg))real("clSetKernelArg"))(kernel, index, size, value);
}

EXPORT cl_int CL_API_CALL clBuildProgram(cl_program program, cl_uint n, const cl_device_id *devices, const char *options,
                                         void(CL_CALLBACK *done)(cl_program, void *), void *user)
{
    count("clBuildProgram");
    keep("// options: ", 12);
    if (options) keep(options, strlen(options));
    return ((__typeof__(&clBuildProgram))real("clBuildProgram"))(program, n, devices, options, done, user);
}
