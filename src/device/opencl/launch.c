#include "device/opencl/opencl.h"

/* Launches after which the driver is told to start, should it still be collecting. */
enum { FLUSH_EVERY = 16 };

size_t tn__cl_kernel_max_group(tn__kernel *kernel)
{
    return ((tn__cl_kernel *)kernel)->max_group;
}

/* PoCL specialises a kernel for its local size while the first launch runs: a program's binary is worth saving once all its
 * kernels were launched. */
static tn_status save_program(tn__device *device, tn__cl_program *program)
{
    if (!atomic_exchange(&program->save, false)) return TN_OK;
    const tn_status status = tn__cl_finish(device);
    if (status == TN_OK) tn__cl_binary_save(device, program);
    tn__file_lock_drop(program->claim);
    program->claim = NULL;
    return status;
}

/* True when nothing else of its program is awaited. */
static bool was_the_last(tn__cl_kernel *kernel)
{
    return !atomic_load_explicit(&kernel->launched, memory_order_relaxed) && !atomic_exchange(&kernel->launched, true) &&
           atomic_fetch_sub(&kernel->program->awaited, 1) == 1;
}

void tn__cl_kernel_spare(tn__kernel *base)
{
    tn__cl_kernel *kernel = (tn__cl_kernel *)base;
    if (was_the_last(kernel)) (void)save_program(base->device, kernel->program);
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
        code = state->cl->EnqueueNDRangeKernel(state->queue, kernel->kernel, 1, NULL, &global_size, local ? &local_size : NULL, 0,
                                               NULL, NULL);
    tn__unlock(&kernel->lock);
    if (atomic_fetch_add_explicit(&state->unflushed, 1, memory_order_relaxed) % FLUSH_EVERY == FLUSH_EVERY - 1)
        state->cl->Flush(state->queue);
    if (code != CL_SUCCESS && !set && !tn__cl_is_memory(code))
        return tn__fail(TN_INTERNAL, "%s: argument %d of kernel %s: clSetKernelArg gives %d (%s)", device->name, at, kernel->name,
                        (int)code, tn__cl_error_name(code));
    if (code != CL_SUCCESS) {
        atomic_store(&state->last_kernel, kernel->name);
        return tn__cl_queue_error(device, set ? "clEnqueueNDRangeKernel" : "clSetKernelArg", code);
    }
    atomic_store_explicit(&state->last_kernel, kernel->name, memory_order_relaxed);
    atomic_fetch_add_explicit(&device->launches, 1, memory_order_relaxed);
    return was_the_last(kernel) ? save_program(device, kernel->program) : TN_OK;
}
