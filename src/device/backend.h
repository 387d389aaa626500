/* What a kind of devices provides: one struct, named in a BACKEND row of tables/devices.def. The host is none of them: it is
 * always there. */
#ifndef TN__BACKEND_H
#define TN__BACKEND_H

#include "base/name.h"
#include "base/text.h"
#include "device/device.h"

/* What an enumeration finds. */
typedef struct tn__found {
    tn__device **devices; /* owned by the registry */
    int count, capacity;
    tn__text trouble; /* why there are none, or what a platform answered: sentences joined by "; " */
    bool off;         /* no driver would help: OpenCL is switched off, or out of reach after fork */
} tn__found;

struct tn__backend {
    const char *kind; /* "host", "opencl" */
    /* Adds the devices that exist with tn__found_device; opens none. MEMORY only when the library ran out of it. */
    tn_status (*enumerate)(tn__found *found);
    /* First use: context, queue, probe kernel. A failure leaves the device closed, and its sentence becomes info.error. */
    tn_status (*open)(tn__device *device);
    /* Computes something small and checks it. */
    tn_status (*probe)(tn__device *device);
    /* Frees state, opened or not. usable false (after fork): without touching the driver. */
    void (*close)(tn__device *device, bool usable);
    /* Raw memory; status MEMORY without a sentence when there is none. */
    tn_status (*allocate)(tn__device *device, uint64_t bytes, void **memory);
    void (*release)(tn__device *device, void *memory);
    /* Blocking as far as the user's memory goes; behind what is queued. */
    tn_status (*write)(tn__device *device, void *to, uint64_t offset, const void *from, uint64_t bytes);
    tn_status (*read)(tn__device *device, void *from, uint64_t offset, void *to, uint64_t bytes);
    tn_status (*finish)(tn__device *device);
    /* NULL where there are no programs (host). */
    tn__kernel *(*kernel_get)(tn__device *device, const char *text, size_t length, const char *name);
    /* Texts that will be asked for: makes their programs, several in one where that costs less. Nothing fails. */
    void (*kernels_prepare)(tn__device *device, const tn__program_text *texts, int count);
    size_t (*kernel_max_group)(tn__kernel *kernel);
    void (*kernel_spare)(tn__kernel *kernel);
    tn_status (*launch)(tn__kernel *kernel, const tn__argument *arguments, int count, uint64_t global, uint64_t local);
};

/* Every kind's kernel begins with this. */
struct tn__kernel {
    tn__device *device;
};

/* A new device in the list, NULL when memory is out. The caller fills state and info; the registry names and sorts. */
tn__device *tn__found_device(tn__found *found, const tn__backend *backend, tn__device_type type);
/* A sentence about a platform or the whole kind. */
void tn__found_trouble(tn__found *found, const char *format, ...) TN__PRINTF(2, 3);
/* A copy that lives as long as the device is listed; "" when memory is out. */
const char *tn__device_text(tn__device *device, const char *text);

/* Marks the device lost, unless it is already, and fails with the first cause. */
tn_status tn__device_lose(tn__device *device, const char *format, ...) TN__PRINTF(2, 3);

/* memory.c: frees every cached buffer; at close also the live ones, whose handles may then only be released. */
void tn__memory_drop_cache(tn__device *device);
void tn__memory_close(tn__device *device, bool usable);
void tn__memory_bound(tn__device *device, uint64_t bytes);
void tn__memory_open(tn__device *device); /* limit and cache bound from settings, unless a call set them */

/* describe.c: sentences for devices that are not there. */
void tn__describe_devices(tn__text *text);
void tn__add_advice(tn__text *text);
tn_status tn__fail_absent(tn__device_type type, int index);
bool tn__is_software(const char *device, const char *platform);

extern const tn__backend tn__backend_host;
#define BACKEND(name) extern const tn__backend tn__backend_##name;
#include "tables/devices.def"

#endif
