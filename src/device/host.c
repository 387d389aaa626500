/* Plain memory. Its loops live with the operations; nothing is ever queued. */
#include <string.h>

#include "base/alloc.h"
#include "device/backend.h"

enum { ALIGNMENT = 64 }; /* a cache line, and the widest vector */

static tn_status nothing(tn__device *device)
{
    (void)device;
    return TN_OK;
}

static tn_status host_allocate(tn__device *device, uint64_t bytes, void **memory)
{
    (void)device;
    *memory = bytes <= SIZE_MAX ? tn__alloc_aligned_quiet((size_t)bytes, ALIGNMENT) : NULL;
    return *memory ? TN_OK : TN_MEMORY;
}

static void host_release(tn__device *device, void *memory)
{
    (void)device;
    tn__free_aligned(memory);
}

static tn_status host_write(tn__device *device, void *to, uint64_t offset, const void *from, uint64_t bytes)
{
    (void)device;
    memcpy((char *)to + offset, from, (size_t)bytes);
    return TN_OK;
}

static tn_status host_read(tn__device *device, void *from, uint64_t offset, void *to, uint64_t bytes)
{
    (void)device;
    memcpy(to, (const char *)from + offset, (size_t)bytes);
    return TN_OK;
}

const tn__backend tn__backend_host = {
    .kind = "host",
    .open = nothing,
    .probe = nothing,
    .allocate = host_allocate,
    .release = host_release,
    .write = host_write,
    .read = host_read,
    .finish = nothing,
};
