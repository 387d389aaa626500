/* Programs and kernels of a device: in memory, else in the disk cache, else built. Nothing global is locked meanwhile. */
#include <string.h>

#include "base/alloc.h"
#include "device/opencl/opencl.h"

/* The text's entry, new ones empty; NULL when memory is out. */
static tn__cl_program *entry(tn__cl_device *state, tn__hash128 hash, size_t length)
{
    tn__lock(&state->programs_lock);
    if (!state->programs) state->programs = tn__map_new();
    tn__cl_program *program = state->programs ? tn__map_get(state->programs, &hash, sizeof hash) : NULL;
    if (!program && state->programs) {
        program = tn__zalloc(sizeof *program);
        if (program) {
            tn__mutex_init(&program->lock);
            program->hash = hash;
            program->length = length;
            if (!tn__map_put(state->programs, &hash, sizeof hash, program)) {
                tn__mutex_destroy(&program->lock);
                tn__free(program);
                program = NULL;
            }
        }
    }
    tn__unlock(&state->programs_lock);
    return program;
}

static size_t max_group(const tn__device *device, cl_kernel kernel)
{
    const tn__cl_device *state = device->state;
    size_t group = 0;
    if (state->cl->GetKernelWorkGroupInfo(kernel, state->id, CL_KERNEL_WORK_GROUP_SIZE, sizeof group, &group, NULL) !=
            CL_SUCCESS ||
        group == 0)
        group = 1;
    return group < state->max_items ? group : state->max_items;
}

/* The kernel of that name in a program that is there; *code tells why not. */
static tn__cl_kernel *kernel_new(tn__device *device, tn__cl_program *program, const char *name, cl_int *code)
{
    const tn__cl_device *state = device->state;
    tn__cl_kernel *kernel = tn__zalloc(sizeof *kernel + strlen(name) + 1);
    *code = CL_SUCCESS;
    if (!kernel) return NULL;
    kernel->kernel = state->cl->CreateKernel(program->program, name, code);
    if (*code != CL_SUCCESS || !kernel->kernel) {
        if (*code == CL_SUCCESS) *code = CL_OUT_OF_RESOURCES;
        tn__free(kernel);
        return NULL;
    }
    strcpy(kernel->name, name);
    kernel->base.device = device;
    kernel->program = program;
    kernel->max_group = max_group(device, kernel->kernel);
    tn__mutex_init(&kernel->lock);
    kernel->next = program->kernels;
    program->kernels = kernel;
    return kernel;
}

static void unload(const tn__cl_device *state, tn__cl_program *program)
{
    if (program->program) state->cl->ReleaseProgram(program->program);
    program->program = NULL;
}

/* From the disk cache; NULL without an error when that does not work out, whatever the reason. */
static tn__cl_kernel *load(tn__device *device, tn__cl_program *program, const char *name)
{
    cl_int code;
    program->program = tn__cl_binary_load(device, program->hash, program->length);
    if (!program->program) return NULL;
    tn__cl_kernel *kernel = kernel_new(device, program, name, &code);
    if (!kernel) {
        unload(device->state, program);
        return NULL;
    }
    atomic_fetch_add(&device->loaded, 1);
    tn__log(2, "%s: loaded %s from the cache", device->name, name);
    return kernel;
}

static tn__cl_kernel *build(tn__device *device, tn__cl_program *program, const char *text, const char *name)
{
    const double start = tn__seconds();
    cl_int code = CL_SUCCESS;
    program->program = tn__cl_build(device, text, program->length, name);
    if (!program->program) return NULL;
    tn__cl_kernel *kernel = kernel_new(device, program, name, &code);
    if (!kernel) {
        unload(device->state, program);
        if (code != CL_SUCCESS)
            tn__fail(TN_COMPILE, "%s: the program has no kernel %s: clCreateKernel gives %d (%s)", device->name, name,
                     (int)code, tn__cl_error_name(code));
        return NULL;
    }
    const double seconds = tn__seconds() - start;
    atomic_fetch_add(&device->built, 1);
    tn__log(2, "%s: built %s in %.0f ms", device->name, name, seconds * 1e3);
    if (seconds > 2) tn__log(1, "%s: building %s took %.1f s", device->name, name, seconds);
    return kernel;
}

/* What is not in the cache is built by one process, and the others wait for it a while: they save work, and PoCL 3.1 crashes
 * when one process collects a program's binary while another one writes the same program to PoCL's own cache. Whoever
 * waited in vain builds, but saves nothing. */
static tn__cl_kernel *load_or_build(tn__device *device, tn__cl_program *program, const char *text, const char *name)
{
    bool waited, busy;
    tn__cl_kernel *kernel = load(device, program, name);
    if (kernel) return kernel;
    tn__file_lock *claim = tn__cl_binary_claim(device, program, &waited, &busy);
    if (claim && waited) kernel = load(device, program, name);
    const bool found = kernel != NULL;
    if (!found) kernel = build(device, program, text, name);
    if (found || !kernel) {
        tn__file_lock_drop(claim);
        return kernel;
    }
    program->claim = claim;
    atomic_store(&program->save, !busy);
    return kernel;
}

tn__kernel *tn__cl_kernel_get(tn__device *device, const char *text, size_t length, const char *name)
{
    tn__cl_program *program = entry(device->state, tn__hash_wide(text, length), length);
    if (!program) return NULL;
    tn__lock(&program->lock);
    tn__cl_kernel *kernel = program->kernels;
    while (kernel && strcmp(kernel->name, name) != 0) kernel = kernel->next;
    if (!kernel && program->program) {
        cl_int code;
        kernel = kernel_new(device, program, name, &code);
        if (!kernel && code != CL_SUCCESS)
            tn__fail(TN_COMPILE, "%s: the program has no kernel %s: clCreateKernel gives %d (%s)", device->name, name,
                     (int)code, tn__cl_error_name(code));
    } else if (!kernel) {
        kernel = load_or_build(device, program, text, name);
    }
    tn__unlock(&program->lock);
    return kernel ? &kernel->base : NULL;
}

struct leaving {
    const tn__cl_device *state;
    bool usable;
};

static void program_free(void *value, void *user)
{
    tn__cl_program *program = value;
    const struct leaving *leaving = user;
    for (tn__cl_kernel *k = program->kernels, *next; k; k = next) {
        next = k->next;
        if (leaving->usable) leaving->state->cl->ReleaseKernel(k->kernel);
        tn__mutex_destroy(&k->lock);
        tn__free(k);
    }
    if (leaving->usable) unload(leaving->state, program);
    tn__file_lock_drop(program->claim);
    tn__mutex_destroy(&program->lock);
    tn__free(program);
}

void tn__cl_programs_free(tn__device *device, bool usable)
{
    tn__cl_device *state = device->state;
    struct leaving leaving = {state, usable};
    if (!state->programs) return;
    tn__map_each(state->programs, program_free, &leaving);
    tn__map_free(state->programs);
    state->programs = NULL;
    atomic_store(&state->last_kernel, NULL);
}
