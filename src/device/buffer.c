/* What goes in and out of buffers. */
#include "device/backend.h"
#include "device/fault.h"

tn_status tn__buffer_check(const tn__buffer *b)
{
    TN__TRY(tn__device_check(b->device));
    if (b->device->is_host || b->generation == b->device->generation) return TN_OK;
    return tn__fail(TN_LOST, "%s: the tensor's memory went with tn_shutdown", b->device->name);
}

static tn_status check_range(const tn__buffer *b, uint64_t offset, uint64_t bytes)
{
    TN__TRY(tn__buffer_check(b));
    if (offset <= b->capacity && bytes <= b->capacity - offset) return TN_OK;
    return tn__fail(TN_INTERNAL, "%s: bytes %llu to %llu of a buffer of %llu", b->device->name, (unsigned long long)offset,
                    (unsigned long long)(offset + bytes), (unsigned long long)b->capacity);
}

tn_status tn__buffer_write(tn__buffer *to, uint64_t offset, const void *from, uint64_t bytes)
{
    tn__device *device = to->device;
    if (bytes == 0) return TN_OK;
    TN__TRY(check_range(to, offset, bytes));
    TN__TRY(device->backend->write(device, to->memory, offset, from, bytes));
    atomic_fetch_add_explicit(&device->written, bytes, memory_order_relaxed);
    return TN_OK;
}

tn_status tn__buffer_read(tn__buffer *from, uint64_t offset, void *to, uint64_t bytes)
{
    tn__device *device = from->device;
    if (bytes == 0) return TN_OK;
    TN__TRY(check_range(from, offset, bytes));
    TN__TRY(device->backend->read(device, from->memory, offset, to, bytes));
    atomic_fetch_add_explicit(&device->read, bytes, memory_order_relaxed);
    return tn__fault_take(device);
}
