/* What "auto" stands for. It is resolved once, by trying. */
#include <string.h>

#include "base/alloc.h"
#include "base/settings.h"
#include "device/registry.h"

static tn__mutex auto_lock = TN__MUTEX_INIT;
static tn__device *auto_device; /* once resolved */

/* The first of a type that opens and is no software renderer; those that fail are logged. */
static tn__device *first_usable(tn__device_type type, bool *failed)
{
    tn__device *device;
    for (int i = 0; tn__device_numbered(type, i, &device) == TN_OK && device; i++) {
        if (device->info.software) continue;
        tn__error_attempt();
        const bool usable = tn__device_open(device) == TN_OK;
        if (!usable) tn__log(1, "auto passes over %s: %s", device->name, tn_last_error());
        tn__error_attempt_end();
        if (usable) return device;
        *failed = true;
    }
    return NULL;
}

static tn__device *choose(void)
{
    bool failed = false;
    tn__device *device = first_usable(TN__GPU, &failed);
    if (device) return device;
    device = first_usable(TN__CPU, &failed);
    if (!device) device = tn__host();
    if (device->is_host)
        tn__log(1, "auto is host, plain memory: no OpenCL device can be used%s%s", *tn_device_trouble() ? ": " : "",
                tn_device_trouble());
    else
        tn__log(failed ? 1 : 2, "auto is %s (%s, %s): no GPU %s", device->name, device->info.description,
                device->info.platform, failed ? "can be used" : "was found");
    return device;
}

tn__device *tn__auto_device(void)
{
    const char *set = tn__setting_text(TN__SET_DEVICE, NULL);
    tn__lock(&auto_lock);
    tn__device *device = auto_device;
    if (!device && *set && strcmp(set, "auto") != 0) {
        device = tn__device_use(set);
        if (!device) tn__error_prefix("auto, by TENON_DEVICE");
    } else if (!device) {
        const uint64_t failures = tn__alloc_failures();
        device = choose();
        if (tn__alloc_failures() != failures) device = TN__NULL(TN_MEMORY, "auto: no memory to try the devices");
    }
    auto_device = device;
    tn__unlock(&auto_lock);
    return device;
}

void tn__auto_forget(void)
{
    tn__lock(&auto_lock);
    auto_device = NULL;
    tn__unlock(&auto_lock);
}
