#include "device/opencl/opencl.h"

/* Launches after which the driver is told to start, should it still be collecting. */
enum { FLUSH_EVERY = 16 };

size_t tn__cl_kernel_max_group(tn__kernel *kernel)
{
    return ((tn__cl_kernel *)kernel)->max_group;
}

/* From now on the binary is worth saving: PoCL specialises a kernel for its local size at the first launch. */
static void queue_save(tn__cl_device *state, tn__cl_program *program)
{
    int expected = TN__SAVE_AFTER_LAUNCH;
    if (!atomic_compare_exchange_strong(&program->state, &expected, TN__SAVE_QUEUED)) return;
    tn__lock(&state->programs_lock);
    program->next = state->unsaved;
    state->unsaved = program;
    atomic_store(&state->has_unsaved, true);
    tn__unlock(&state->programs_lock);
}

void tn__cl_save_programs(tn__device *device)
{
    tn__cl_device *state = device->state;
    if (!atomic_load_explicit(&state->has_unsaved, memory_order_relaxed)) return;
    tn__lock(&state->programs_lock);
    tn__cl_program *program = state->unsaved;
    state->unsaved = NULL;
    atomic_store(&state->has_unsaved, false);
    tn__unlock(&state->programs_lock);
    for (tn__cl_program *next; program; program = next) {
        next = program->next;
        tn__cl_binary_save(device, program);
        atomic_store(&program->state, TN__SAVED);
    }
}

static cl_int set_arguments(const tn__cl_kernel *kernel, const tn__argument *arguments, int count, int *at)
{
    const tn__cl_device *state = kernel->base.device->state;
    for (int i = 0; i < count; i++) {
        const tn__argument *a = &arguments[i];
        cl_mem mem = a->buffer ? a->buffer->memory : NULL;
        const size_t size = a->buffer ? sizeof mem : a->size;
        const void *value = a->buffer ? (const void *)&mem : a->local ? NULL : (const void *)a->value.bytes;
        const cl_int code = state->cl->SetKernelArg(kernel->kernel, (cl_uint)i, size, value);
        *at = i;
        if (code != CL_SUCCESS) return code;
    }
    return CL_SUCCESS;
}

static tn_status check_sizes(const tn__cl_kernel *kernel, uint64_t global, uint64_t local)
{
    if (global == 0 || global > SIZE_MAX || (local && (global % local || local > kernel->max_group)))
        return tn__fail(TN_INTERNAL, "%s: kernel %s cannot be started with %llu work-items in groups of %llu (at most %zu)",
                        kernel->base.device->name, kernel->name, (unsigned long long)global, (unsigned long long)local,
                        kernel->max_group);
    return TN_OK;
}

tn_status tn__cl_launch(tn__kernel *base, const tn__argument *arguments, int count, uint64_t global, uint64_t local)
{
    tn__cl_kernel *kernel = (tn__cl_kernel *)base;
    tn__device *device = kernel->base.device;
    tn__cl_device *state = device->state;
    const size_t global_size = (size_t)global, local_size = (size_t)local;
    int at = 0;
    TN__TRY(check_sizes(kernel, global, local));
    tn__lock(&kernel->lock);
    cl_int code = set_arguments(kernel, arguments, count, &at);
    const bool set = code == CL_SUCCESS;
    if (set)
        code = state->cl->EnqueueNDRangeKernel(state->queue, kernel->kernel, 1, NULL, &global_size,
                                               local ? &local_size : NULL, 0, NULL, NULL);
    tn__unlock(&kernel->lock);
    if (code != CL_SUCCESS && !set && !tn__cl_is_memory(code))
        return tn__fail(TN_INTERNAL, "%s: argument %d of kernel %s: clSetKernelArg gives %d (%s)", device->name, at,
                        kernel->name, (int)code, tn__cl_error_name(code));
    if (code != CL_SUCCESS) {
        atomic_store(&state->last_kernel, kernel->name);
        return tn__cl_queue_error(device, set ? "clEnqueueNDRangeKernel" : "clSetKernelArg", code);
    }
    atomic_store_explicit(&state->last_kernel, kernel->name, memory_order_relaxed);
    atomic_fetch_add_explicit(&device->launches, 1, memory_order_relaxed);
    if (atomic_load_explicit(&kernel->program->state, memory_order_relaxed) == TN__SAVE_AFTER_LAUNCH)
        queue_save(state, kernel->program);
    if (atomic_fetch_add_explicit(&state->unflushed, 1, memory_order_relaxed) % FLUSH_EVERY == FLUSH_EVERY - 1)
        state->cl->Flush(state->queue);
    return TN_OK;
}
