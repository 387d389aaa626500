/* Movement: copies, casts, other devices, host memory. */
#include "graph/move.h"
#include "base/alloc.h"
#include "graph/rows.h"
#include "graph/run.h"
#include <string.h>

enum { STAGING = 1 << 23 }; /* bytes of a step between two OpenCL devices */

tn_status tn__device_takes(const tn__device *device, tn_dtype dtype, const char *function)
{
    if (dtype != TN_F64 || device->is_host || device->info.fp64) return TN_OK;
    return tn__fail(TN_CAPABILITY, "%s: %s has no f64 (its driver has no fp64); use f32, or the device \"host\"", function,
                    device->name);
}

bool tn__value_pending(tn__value *v)
{
    if (v->device->is_host || tn__device_foreign(v->device)) return false;
    tn__lock(&v->device->graph_lock);
    const bool pending = v->node != NULL;
    tn__unlock(&v->device->graph_lock);
    return pending;
}

tn_status tn__value_usable(const tn__value *v)
{
    if (tn__device_foreign(v->device)) return tn__device_check(v->device);
    if (v->failed != TN_OK)
        return tn__fail(v->failed, "%s: the tensor was still pending when tn_shutdown was called", v->device->name);
    return v->buffer ? tn__buffer_check(v->buffer) : TN_OK;
}

bool tn_is_pending(const tn_tensor *x)
{
    return tn__tensor_check(x, "is_pending", "x") == TN_OK && tn__value_pending(x->storage->value);
}

static tn_tensor *handle_of(tn__value *value, const tn_shape *shape)
{
    tn__storage *s = tn__storage_new(value);
    tn_tensor *x = s ? tn__tensor_new(s, value->dtype, shape) : NULL;
    if (s) tn__storage_release(s);
    return x;
}

/* A value with fresh bytes (none for no elements). */
static tn__value *value_with_bytes(tn__device *device, tn_dtype dtype, const tn_shape *shape, const char *made_by)
{
    if (tn__device_check(device) != TN_OK) return NULL;
    tn__value *v = tn__value_new(device, dtype, shape, made_by);
    if (v && v->count > 0 && !(v->buffer = tn__buffer_new(device, (uint64_t)v->count * tn_dtype_size(dtype)))) {
        tn__value_release(v);
        return NULL;
    }
    return v;
}

static tn_status write_bool(tn__buffer *to, const void *data, int64_t count)
{
    const uint8_t *from = data;
    uint8_t *clean = tn__alloc((size_t)count);
    if (!clean) return TN_MEMORY;
    for (int64_t i = 0; i < count; i++) clean[i] = from[i] != 0;
    const tn_status s = tn__buffer_write(to, 0, clean, (uint64_t)count);
    tn__free(clean);
    return s;
}

tn_tensor *tn__from_bytes(tn_dtype dtype, const tn_shape *shape, const void *data, tn__device *device)
{
    int64_t n;
    if (tn__shape_numel(shape, tn_dtype_size(dtype), &n, "from") != TN_OK || tn__device_takes(device, dtype, "from") != TN_OK)
        return NULL;
    tn__value *v = value_with_bytes(device, dtype, shape, "from");
    if (!v) return NULL;
    tn_status s = TN_OK;
    if (n > 0 && data)
        s = dtype == TN_BOOL ? write_bool(v->buffer, data, n)
                             : tn__buffer_write(v->buffer, 0, data, (uint64_t)n * tn_dtype_size(dtype));
    if (s == TN_OK) return handle_of(v, shape);
    tn__value_release(v);
    return NULL;
}

tn_tensor *tn_from(tn_dtype dtype, tn_shape shape, const void *data, const char *device)
{
    int64_t n;
    tn__graph_start();
    if (!tn__dtype_valid(dtype)) return TN__NULL(TN_DTYPE, "from: %d is no dtype", (int)dtype);
    if (tn__shape_numel(&shape, tn_dtype_size(dtype), &n, "from") != TN_OK) return NULL;
    if (!data && n > 0) return TN__NULL(TN_ARGUMENT, "from: data is NULL for shape %s", tn__shape_text(shape.ndim, shape.dim));
    tn__device *d = tn__device_for_creation(device);
    return d ? tn__from_bytes(dtype, &shape, data, d) : NULL;
}

/* ---- bytes of what is pending ---- */

tn_tensor *tn__with_bytes(tn_tensor *x, bool fixed)
{
    tn__value *v = x->storage->value;
    if (!tn__value_pending(v)) return tn__value_usable(v) == TN_OK ? tn__tensor_alias(x) : NULL;
    tn__device *device = v->device;
    if (x->numel * 2 > v->count || x->numel == 0) {
        if (tn__realize_values(device, &v, 1) != TN_OK) return NULL;
        return tn__tensor_alias(x);
    }
    tn_tensor *part = tn__cast(x, x->dtype, fixed);
    if (!part) return NULL;
    v = part->storage->value;
    if (tn__realize_values(device, &v, 1) == TN_OK) return part;
    tn_release(part);
    return NULL;
}

/* x with bytes, without gaps and forwards; row-major when fixed. */
static tn_tensor *dense_bytes(tn_tensor *x, bool fixed)
{
    tn_tensor *y = tn__with_bytes(x, fixed);
    if (!y || (fixed ? tn__tensor_contiguous(y) : tn__view_dense(y))) return y;
    tn_tensor *z = tn__cast(y, y->dtype, fixed), *w = z ? tn__with_bytes(z, fixed) : NULL;
    tn_release(y);
    tn_release(z);
    return w;
}

tn_status tn__read_bytes(tn_tensor *x, void *out)
{
    if (x->numel == 0) return TN_OK;
    tn_tensor *y = dense_bytes(x, true);
    if (!y) return tn_last_status();
    const tn__value *v = y->storage->value;
    const uint64_t size = tn_dtype_size(y->dtype);
    const tn_status s = tn__buffer_read(v->buffer, (uint64_t)(v->base + y->offset) * size, out, (uint64_t)y->numel * size);
    tn_release(y);
    return s;
}

tn_status tn_read(tn_tensor *x, void *out, size_t bytes)
{
    TN__TRY(tn__tensor_check(x, "read", "x"));
    if (bytes != (size_t)x->numel * tn_dtype_size(x->dtype))
        return tn__fail(TN_ARGUMENT, "read: %zu bytes given, %s %s has %zu", bytes, tn_dtype_name(x->dtype),
                        tn__shape_text(x->ndim, x->dim), (size_t)x->numel * tn_dtype_size(x->dtype));
    if (!out && bytes > 0) return tn__fail(TN_ARGUMENT, "read: out is NULL");
    return tn__read_bytes(x, out);
}

static tn_status item(tn_tensor *x, const char *function, tn__number *n)
{
    uint64_t raw[2];
    TN__TRY(tn__tensor_check(x, function, "x"));
    if (x->numel != 1) return tn__fail(TN_SHAPE, "%s: %s has not one element", function, tn__shape_text(x->ndim, x->dim));
    TN__TRY(tn__read_bytes(x, raw));
    *n = tn__number_load(x->dtype, raw);
    return TN_OK;
}

tn_status tn_item(tn_tensor *x, double *value)
{
    tn__number n;
    if (!value) return tn__fail_null("item", "value");
    TN__TRY(item(x, "item", &n));
    *value = tn__number_double(n);
    return TN_OK;
}

tn_status tn_item_int(tn_tensor *x, int64_t *value)
{
    tn__number n;
    if (!value) return tn__fail_null("item_int", "value");
    TN__TRY(item(x, "item_int", &n));
    *value = tn__number_to_compute(n, TN__CL).l;
    return TN_OK;
}

tn_status tn_realize(tn_tensor *const *list, int count)
{
    if (count < 0 || (!list && count > 0)) return tn__fail(TN_ARGUMENT, "realize: a list of %d tensors", count);
    for (int i = 0; i < count; i++) TN__TRY(tn__tensor_check(list[i], "realize", "an entry of the list"));
    tn__value **values = tn__alloc((size_t)count * sizeof *values);
    if (!values) return TN_MEMORY;
    tn_status status = TN_OK;
    for (int from = 0; from < count && status == TN_OK; from++) { /* one run for each device */
        tn__device *device = tn__tensor_device(list[from]);
        bool earlier = false;
        int n = 0;
        for (int i = 0; i < from; i++) earlier = earlier || tn__tensor_device(list[i]) == device;
        for (int i = from; i < count && !earlier; i++)
            if (tn__tensor_device(list[i]) == device) values[n++] = list[i]->storage->value;
        if (n > 0 && !device->is_host) status = tn__realize_values(device, values, n);
    }
    tn__free(values);
    return status;
}

/* ---- other devices ---- */

static tn_status copy_between(tn__buffer *to, tn__buffer *from, uint64_t offset, uint64_t bytes)
{
    if (from->device->is_host) return tn__buffer_write(to, 0, (const char *)from->memory + offset, bytes);
    if (to->device->is_host) return tn__buffer_read(from, offset, to->memory, bytes);
    const uint64_t step = bytes < STAGING ? bytes : STAGING;
    char *staging = tn__alloc((size_t)step);
    tn_status s = staging ? TN_OK : TN_MEMORY;
    for (uint64_t done = 0; done < bytes && s == TN_OK; done += step) {
        const uint64_t n = bytes - done < step ? bytes - done : step;
        s = tn__buffer_read(from, offset + done, staging, n);
        if (s == TN_OK) s = tn__buffer_write(to, done, staging, n);
    }
    tn__free(staging);
    return s;
}

tn_tensor *tn__move(tn_tensor *x, tn__device *device)
{
    if (tn__device_takes(device, x->dtype, "to") != TN_OK) return NULL;
    const tn_shape shape = tn__tensor_shape(x);
    tn_tensor *from = dense_bytes(x, false), *y = NULL;
    tn__value *v = from ? value_with_bytes(device, x->dtype, &shape, "to") : NULL;
    if (v) {
        const tn__value *source = from->storage->value;
        const uint64_t size = tn_dtype_size(x->dtype);
        tn_status s = TN_OK;
        if (x->numel > 0)
            s = copy_between(v->buffer, source->buffer, (uint64_t)(source->base + from->offset) * size, (uint64_t)x->numel * size);
        if (s == TN_OK)
            y = handle_of(v, &shape);
        else
            tn__value_release(v);
        if (y) memcpy(y->stride, from->stride, sizeof y->stride);
    }
    tn_release(from);
    return y;
}

tn_tensor *tn_to(tn_tensor *x, const char *name)
{
    if (tn__tensor_check(x, "to", "x") != TN_OK) return NULL;
    if (!name) return (void)tn__fail_null("to", "device"), NULL;
    tn__device *device = tn__device_use(name);
    if (!device) return NULL;
    return tn__viewed(&tn__derive_identity, NULL, x, device == tn__tensor_device(x) ? tn__tensor_alias(x) : tn__move(x, device));
}

tn_tensor *tn_host(tn_tensor *x)
{
    return tn_to(x, "host");
}

/* ---- copies on the same device ---- */

tn_tensor *tn_contiguous(tn_tensor *x)
{
    if (tn__tensor_check(x, "contiguous", "x") != TN_OK) return NULL;
    tn_tensor *y = tn__tensor_contiguous(x) ? tn__tensor_alias(x) : tn__cast(x, x->dtype, true);
    return tn__viewed(&tn__derive_identity, NULL, x, y);
}

tn_tensor *tn_clone(tn_tensor *x)
{
    if (tn__tensor_check(x, "clone", "x") != TN_OK) return NULL;
    tn_tensor *y = tn__cast(x, x->dtype, false);
    return tn__viewed(&tn__derive_identity, NULL, x, y);
}

tn_tensor *tn_cast(tn_tensor *x, tn_dtype dtype)
{
    if (tn__tensor_check(x, "cast", "x") != TN_OK) return NULL;
    if (!tn__dtype_valid(dtype)) return TN__NULL(TN_DTYPE, "cast: %d is no dtype", (int)dtype);
    tn_tensor *y = x->dtype == dtype ? tn__tensor_alias(x) : tn__cast(x, dtype, false);
    if (y && x->dtype == dtype) y->weak = false;
    return tn__viewed(&tn__derive_identity, NULL, x, y);
}

tn_tensor *tn_reshape(tn_tensor *x, tn_shape shape)
{
    int64_t stride[TN_MAX_AXES];
    if (tn__tensor_check(x, "reshape", "x") != TN_OK || tn__view_infer(x, &shape, "reshape") != TN_OK) return NULL;
    if (tn__view_strides(x, &shape, stride)) return tn__viewed(&tn__derive_reshape, NULL, x, tn__view_as(x, &shape, stride));
    tn_tensor *copy = tn__cast(x, x->dtype, true);
    if (!copy) return NULL;
    tn__shape_strides(shape.ndim, shape.dim, stride);
    tn_tensor *y = tn__view_as(copy, &shape, stride);
    tn_release(copy);
    return tn__viewed(&tn__derive_reshape, NULL, x, y);
}
