/* What goes in and out of buffers. */
#include "device/backend.h"

static tn_status check_range(const tn__buffer *b, uint64_t offset, uint64_t bytes)
{
    if (offset <= b->capacity && bytes <= b->capacity - offset) return TN_OK;
    return tn__fail(TN_INTERNAL, "%s: bytes %llu to %llu of a buffer of %llu", b->device->name, (unsigned long long)offset,
                    (unsigned long long)(offset + bytes), (unsigned long long)b->capacity);
}

tn_status tn__buffer_write(tn__buffer *to, uint64_t offset, const void *from, uint64_t bytes)
{
    tn__device *device = to->device;
    if (bytes == 0) return TN_OK;
    TN__TRY(tn__device_check(device));
    TN__TRY(check_range(to, offset, bytes));
    TN__TRY(device->backend->write(device, to->memory, offset, from, bytes));
    atomic_fetch_add_explicit(&device->written, bytes, memory_order_relaxed);
    return TN_OK;
}

tn_status tn__buffer_read(tn__buffer *from, uint64_t offset, void *to, uint64_t bytes)
{
    tn__device *device = from->device;
    if (bytes == 0) return TN_OK;
    TN__TRY(tn__device_check(device));
    TN__TRY(check_range(from, offset, bytes));
    TN__TRY(device->backend->read(device, from->memory, offset, to, bytes));
    atomic_fetch_add_explicit(&device->read, bytes, memory_order_relaxed);
    return TN_OK;
}

tn_status tn__buffer_copy(tn__buffer *to, uint64_t to_offset, tn__buffer *from, uint64_t from_offset, uint64_t bytes)
{
    tn__device *device = to->device;
    if (bytes == 0) return TN_OK;
    TN__TRY(tn__device_check(device));
    TN__TRY(check_range(to, to_offset, bytes));
    TN__TRY(check_range(from, from_offset, bytes));
    return device->backend->copy(device, to->memory, to_offset, from->memory, from_offset, bytes);
}
