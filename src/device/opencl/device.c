/* Opening and closing an OpenCL device; the backend's struct. */
#include "base/alloc.h"
#include "device/opencl/enumerate.h"

/* Context, queue: one of each per device. */
static tn_status connect(tn__device *device)
{
    tn__cl_device *state = device->state;
    const intptr_t properties[] = {CL_CONTEXT_PLATFORM, (intptr_t)state->platform, 0};
    const char *call = "clCreateContext";
    cl_int code = CL_SUCCESS;
    state->context = state->cl->CreateContext(properties, 1, &state->id, NULL, NULL, &code);
    if (code == CL_SUCCESS && state->context) {
        call = "clCreateCommandQueue";
        state->queue = state->cl->CreateCommandQueue(state->context, state->id, 0, &code);
        if (code == CL_SUCCESS && state->queue) return TN_OK;
    }
    return tn__fail(TN_DEVICE, "%s (%s, %s) cannot be used: %s gives %d (%s)", device->name, device->info.description,
                    device->info.platform, call, (int)code, tn__cl_error_name(code));
}

static void disconnect(tn__device *device, bool usable)
{
    tn__cl_device *state = device->state;
    tn__cl_programs_free(device, usable);
    if (usable && state->queue) state->cl->ReleaseCommandQueue(state->queue);
    if (usable && state->context) state->cl->ReleaseContext(state->context);
    state->queue = NULL;
    state->context = NULL;
}

static tn_status open_device(tn__device *device)
{
    const tn__cl_device *state = device->state;
    if (state->unfit)
        return tn__fail(TN_DEVICE, "%s (%s, %s) cannot be used: %s%s%s", device->name, device->info.description,
                        device->info.platform, state->unfit, state->cl->missing ? ", " : "",
                        state->cl->missing ? state->cl->missing : "");
    tn__cl_choose_profile(device);
    tn_status status = connect(device);
    if (status == TN_OK) status = tn__cl_probe(device);
    if (status != TN_OK) disconnect(device, true);
    return status;
}

static void close_device(tn__device *device, bool usable)
{
    tn__cl_device *state = device->state;
    if (usable && state->queue && !atomic_load(&device->lost)) state->cl->Finish(state->queue);
    disconnect(device, usable);
    tn__mutex_destroy(&state->programs_lock);
    tn__free(state);
    device->state = NULL;
}

const tn__backend tn__backend_opencl = {
    .kind = "opencl",
    .enumerate = tn__cl_enumerate,
    .open = open_device,
    .probe = tn__cl_probe,
    .close = close_device,
    .allocate = tn__cl_allocate,
    .release = tn__cl_release,
    .write = tn__cl_write,
    .read = tn__cl_read,
    .finish = tn__cl_finish,
    .kernel_get = tn__cl_kernel_get,
    .kernels_prepare = tn__cl_kernels_prepare,
    .kernel_max_group = tn__cl_kernel_max_group,
    .kernel_spare = tn__cl_kernel_spare,
    .launch = tn__cl_launch,
};
