/* First use, and what every later use asks first: is the device still there? */
#include <stdio.h>

#include "base/alloc.h"
#include "device/registry.h"

tn_status tn__device_lose(tn__device *device, const char *format, ...)
{
    char sentence[sizeof device->lost_sentence];
    va_list list;
    va_start(list, format);
    vsnprintf(sentence, sizeof sentence, format, list);
    va_end(list);
    tn__lock(&device->memory_lock);
    const bool first = !atomic_load(&device->lost);
    if (first) {
        snprintf(device->lost_sentence, sizeof device->lost_sentence, "%s is lost: %.470s", device->name, sentence);
        device->lost_code = TN_LOST;
        atomic_store(&device->lost, 1);
    }
    tn__unlock(&device->memory_lock);
    if (first) tn__log(1, "%s", device->lost_sentence);
    return tn__fail(TN_LOST, "%s", device->lost_sentence);
}

bool tn__device_foreign(const tn__device *device)
{
    return !device->is_host && device->process != tn__process_id();
}

tn_status tn__device_check(tn__device *device)
{
    if (device->is_host) return TN_OK;
    if (device->process != tn__process_id())
        return tn__fail(TN_DEVICE, "%s: " TN__FORKED, device->name);
    if (atomic_load_explicit(&device->lost, memory_order_acquire))
        return tn__fail(device->lost_code, "%s", device->lost_sentence);
    return TN_OK;
}

/* With open_lock held. A lack of our own memory may pass; everything else is the answer from now on. */
static void open_now(tn__device *device)
{
    const uint64_t failures = tn__alloc_failures();
    tn__memory_open(device);
    const tn_status status = device->backend->open(device);
    if (status == TN_OK) {
        atomic_store(&device->opened, 1);
        return;
    }
    if (status == TN_MEMORY) return;
    if (tn__alloc_failures() != failures) {
        tn__fail(TN_MEMORY, "%s: no memory to open the device", device->name);
        return;
    }
    const char *error = tn__device_text(device, tn_last_error());
    tn__lock(&device->memory_lock);
    device->info.error = error;
    device->info.usable = false;
    device->open_code = status;
    tn__unlock(&device->memory_lock);
    atomic_store(&device->opened, 2);
}

tn_status tn__device_open(tn__device *device)
{
    if (device->is_host) return TN_OK;
    if (atomic_load_explicit(&device->opened, memory_order_acquire) == 1) return tn__device_check(device);
    if (device->process != tn__process_id()) return tn__device_check(device);
    tn__lock(&device->open_lock);
    const bool tried = atomic_load(&device->opened) != 0;
    if (!tried) open_now(device);
    const int opened = atomic_load(&device->opened);
    tn__unlock(&device->open_lock);
    if (opened == 1) return tn__device_check(device);
    if (!tried) return tn_last_status();
    return tn__fail(device->open_code, "%s", device->info.error);
}

tn__device *tn__device_use(const char *name)
{
    tn__device *device = tn__device_find(name);
    return device && tn__device_open(device) == TN_OK ? device : NULL;
}
