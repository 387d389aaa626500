/* What the layers above call on an open device, and the public calls about its memory. */
#include "device/fault.h"
#include "device/registry.h"

tn_status tn__device_finish(tn__device *device)
{
    TN__TRY(tn__device_check(device));
    if (!device->is_host && atomic_load(&device->opened) != 1) return TN_OK; /* nothing was ever queued */
    TN__TRY(device->backend->finish(device));
    return tn__fault_take(device);
}

tn__kernel *tn__kernel_get(tn__device *device, const char *text, size_t length, const char *name)
{
    if (tn__device_open(device) != TN_OK) return NULL;
    if (!device->backend->kernel_get) return TN__NULL(TN_INTERNAL, "%s has no kernels: %s", device->name, name);
    return device->backend->kernel_get(device, text, length, name);
}

void tn__kernels_prepare(tn__device *device, const tn__program_text *texts, int count)
{
    tn__error_attempt();
    if (count > 1 && tn__device_open(device) == TN_OK && device->backend->kernels_prepare)
        device->backend->kernels_prepare(device, texts, count);
    tn__error_attempt_end();
}

void tn__kernel_spare(tn__kernel *kernel)
{
    kernel->device->backend->kernel_spare(kernel);
}

size_t tn__kernel_max_group(tn__kernel *kernel)
{
    return kernel->device->backend->kernel_max_group(kernel);
}

tn_status tn__launch(tn__kernel *kernel, const tn__argument *arguments, int count, uint64_t global, uint64_t local)
{
    tn__device *device = kernel->device;
    TN__TRY(tn__device_check(device));
    TN__TRY(device->backend->launch(kernel, arguments, count, global, local));
    for (int i = 0; i < count; i++)
        if (arguments[i].buffer && arguments[i].buffer == device->faults) tn__fault_expect(device);
    return TN_OK;
}

/* ---- memory by name ---- */

tn_status tn_memory_set_limit(const char *name, uint64_t bytes)
{
    tn__device *device = tn__device_find(name);
    if (!device) return tn_last_status();
    tn__lock(&device->memory_lock);
    device->limit = bytes;
    device->limit_given = true;
    tn__unlock(&device->memory_lock);
    return TN_OK;
}

tn_status tn_memory_set_cache(const char *name, uint64_t bytes)
{
    tn__device *device = tn__device_find(name);
    if (!device) return tn_last_status();
    tn__memory_bound(device, bytes);
    return TN_OK;
}

tn_status tn_memory_reset_peak(const char *name)
{
    tn__device *device = tn__device_find(name);
    if (!device) return tn_last_status();
    tn__lock(&device->memory_lock);
    device->peak = device->in_use;
    tn__unlock(&device->memory_lock);
    return TN_OK;
}

tn_status tn_memory_empty_cache(const char *name)
{
    tn__device *device = tn__device_find(name);
    if (!device) return tn_last_status();
    TN__TRY(tn__device_check(device));
    tn__memory_drop_cache(device);
    return TN_OK;
}
