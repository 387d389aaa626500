/* Memory objects and transfers. */
#include "device/opencl/opencl.h"

tn_status tn__cl_allocate(tn__device *device, uint64_t bytes, void **memory)
{
    const tn__cl_device *state = device->state;
    cl_int code = CL_SUCCESS;
    *memory = NULL;
    if (bytes > SIZE_MAX) return TN_MEMORY;
    cl_mem mem = state->cl->CreateBuffer(state->context, CL_MEM_READ_WRITE, (size_t)bytes, NULL, &code);
    if (code == CL_SUCCESS && mem) {
        *memory = mem;
        return TN_OK;
    }
    if (tn__cl_is_memory(code) || code == CL_INVALID_BUFFER_SIZE) return TN_MEMORY;
    return tn__cl_queue_error(device, "clCreateBuffer", code);
}

void tn__cl_release(tn__device *device, void *memory)
{
    const tn__cl_device *state = device->state;
    state->cl->ReleaseMemObject(memory);
}

/* The end of a call that waits. rusticl 22.3 returns from one at once when another thread, or a clFlush, has just sent off what
 * was to be waited for (docs/drivers.md); the call's event tells. */
static cl_int wait_for(const tn__cl_device *state, cl_int code, cl_event event)
{
    if (!event) return code;
    const cl_int waited = code == CL_SUCCESS ? state->cl->WaitForEvents(1, &event) : CL_SUCCESS;
    state->cl->ReleaseEvent(event);
    return code == CL_SUCCESS ? waited : code;
}

/* Copies, also where the device computes in the host's own memory: mapping and copying took 1 to 3 times as long there (PoCL,
 * rusticl, 64 bytes to 256 MiB). */
tn_status tn__cl_write(tn__device *device, void *to, uint64_t offset, const void *from, uint64_t bytes)
{
    const tn__cl_device *state = device->state;
    cl_event event = NULL;
    cl_int code = state->cl->EnqueueWriteBuffer(state->queue, to, CL_TRUE, (size_t)offset, (size_t)bytes, from, 0, NULL, &event);
    code = wait_for(state, code, event);
    return code == CL_SUCCESS ? TN_OK : tn__cl_queue_error(device, "clEnqueueWriteBuffer", code);
}

tn_status tn__cl_read(tn__device *device, void *from, uint64_t offset, void *to, uint64_t bytes)
{
    const tn__cl_device *state = device->state;
    cl_event event = NULL;
    cl_int code = state->cl->EnqueueReadBuffer(state->queue, from, CL_TRUE, (size_t)offset, (size_t)bytes, to, 0, NULL, &event);
    code = wait_for(state, code, event);
    return code == CL_SUCCESS ? TN_OK : tn__cl_queue_error(device, "clEnqueueReadBuffer", code);
}

tn_status tn__cl_finish(tn__device *device)
{
    tn__cl_device *state = device->state;
    const char *kernel = atomic_load(&state->last_kernel);
    cl_event event = NULL;
    cl_int code = state->cl->EnqueueMarkerWithWaitList(state->queue, 0, NULL, &event);
    if (code == CL_SUCCESS) code = state->cl->Finish(state->queue);
    code = wait_for(state, code, event);
    if (code == CL_SUCCESS) return TN_OK;
    return tn__device_lose(device, "clFinish gives %d (%s)%s%s", (int)code, tn__cl_error_name(code),
                           kernel ? "; the last kernel started was " : "", kernel ? kernel : "");
}
