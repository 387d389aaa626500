#include "core/tensor.h"
#include "core/derive.h"
#include "base/alloc.h"
#include "base/platform.h"
#include "core/scope.h"
#include <string.h>

tn__value_owner tn__owner;
tn_tensor tn_none;

static atomic_llong live_handles;

/* ---- values ---- */

static tn__mutex alive_lock = TN__MUTEX_INIT;
static tn__value *newest;

static void join_alive(tn__value *v)
{
    tn__lock(&alive_lock);
    v->older = newest;
    if (newest) newest->newer = v;
    newest = v;
    tn__unlock(&alive_lock);
}

static void leave_alive(tn__value *v)
{
    tn__lock(&alive_lock);
    if (v->newer)
        v->newer->older = v->older;
    else
        newest = v->older;
    if (v->older) v->older->newer = v->newer;
    tn__unlock(&alive_lock);
}

void tn__values_each(void (*visit)(const tn__value *value, void *user), void *user)
{
    tn__lock(&alive_lock);
    for (const tn__value *v = newest; v; v = v->older) visit(v, user);
    tn__unlock(&alive_lock);
}

void tn__values_over_fork(void)
{
    tn__lock_over_fork(&alive_lock);
}

tn__value *tn__value_new(struct tn__device *device, tn_dtype dtype, const tn_shape *shape, const char *made_by)
{
    tn__value *v = tn__zalloc(sizeof *v);
    if (!v) return NULL;
    atomic_init(&v->references, 1);
    v->device = device;
    v->dtype = dtype;
    v->shape = *shape;
    v->made_by = made_by;
    v->count = 1;
    for (int i = 0; i < shape->ndim; i++) v->count *= shape->dim[i];
    join_alive(v);
    return v;
}

tn__value *tn__value_retain(tn__value *v)
{
    atomic_fetch_add_explicit(&v->references, 1, memory_order_relaxed);
    return v;
}

bool tn__value_retain_living(tn__value *v)
{
    int seen = atomic_load(&v->references);
    while (seen > 0 && !atomic_compare_exchange_weak(&v->references, &seen, seen + 1)) {
    }
    return seen > 0;
}

void tn__value_drop(tn__value *v, tn__value **work)
{
    if (!v || atomic_fetch_sub_explicit(&v->references, 1, memory_order_acq_rel) != 1) return;
    v->next = *work;
    *work = v;
}

void tn__value_release(tn__value *v)
{
    tn__value *work = NULL;
    tn__value_drop(v, &work);
    while (work) { /* a worklist, so that deep graphs do not recurse */
        tn__value *dead = work;
        work = dead->next;
        leave_alive(dead);
        if (dead->node) tn__owner.free_node(dead, &work);
        if (dead->derived && tn__owner.free_derived) tn__owner.free_derived(dead);
        if (dead->buffer) tn__owner.free_bytes(dead);
        tn__free(dead);
    }
}

/* ---- storages ---- */

tn__storage *tn__storage_new(tn__value *value)
{
    tn__storage *s = tn__zalloc(sizeof *s);
    if (!s) {
        tn__value_release(value);
        return NULL;
    }
    atomic_init(&s->references, 1);
    s->value = value;
    return s;
}

void tn__storage_release(tn__storage *s)
{
    if (atomic_fetch_sub_explicit(&s->references, 1, memory_order_acq_rel) != 1) return;
    tn__value_release(s->value);
    tn__free(s);
}

void tn__storage_set(tn__storage *s, tn__value *value)
{
    tn__value *old = s->value;
    s->value = value;
    s->version++;
    tn__value_release(old);
}

/* ---- handles ---- */

void tn__tensor_renumber(tn_tensor *x)
{
    x->numel = 1;
    for (int i = 0; i < x->ndim; i++) x->numel *= x->dim[i];
}

tn_tensor *tn__tensor_new(tn__storage *storage, tn_dtype dtype, const tn_shape *shape)
{
    tn_tensor *x = tn__zalloc(sizeof *x);
    if (!x) return NULL;
    atomic_init(&x->references, 1);
    atomic_fetch_add_explicit(&storage->references, 1, memory_order_relaxed);
    x->storage = storage;
    x->dtype = dtype;
    x->ndim = shape->ndim;
    memcpy(x->dim, shape->dim, (size_t)shape->ndim * sizeof x->dim[0]);
    tn__shape_strides(x->ndim, x->dim, x->stride);
    tn__tensor_renumber(x);
    atomic_fetch_add_explicit(&live_handles, 1, memory_order_relaxed);
    tn__scope_join(x);
    return x;
}

tn_tensor *tn__tensor_alias(tn_tensor *x)
{
    const tn_shape shape = tn__tensor_shape(x);
    tn_tensor *y = tn__tensor_new(x->storage, x->dtype, &shape);
    if (!y) return NULL;
    y->weak = x->weak;
    y->offset = x->offset;
    memcpy(y->stride, x->stride, sizeof y->stride);
    return y;
}

void tn__tensor_replace(tn_tensor *x, tn_tensor *y)
{
    tn__storage *old = x->storage;
    atomic_fetch_add_explicit(&y->storage->references, 1, memory_order_relaxed);
    x->storage = y->storage;
    x->dtype = y->dtype;
    x->ndim = y->ndim;
    x->offset = y->offset;
    x->numel = y->numel;
    memcpy(x->dim, y->dim, sizeof x->dim);
    memcpy(x->stride, y->stride, sizeof x->stride);
    tn__storage_release(old);
}

tn_tensor *tn_retain(tn_tensor *x)
{
    if (tn__tensor_check(x, "retain", "x") != TN_OK) return NULL;
    atomic_fetch_add_explicit(&x->references, 1, memory_order_relaxed);
    return x;
}

/* Drops one reference; the handle has left its scope. */
void tn__tensor_unref(tn_tensor *x)
{
    if (atomic_fetch_sub_explicit(&x->references, 1, memory_order_acq_rel) != 1) return;
    tn__derive_free(x->gradient);
    tn__storage_release(x->storage);
    tn__free(x);
    atomic_fetch_sub_explicit(&live_handles, 1, memory_order_relaxed);
}

void tn_release(tn_tensor *x)
{
    if (!x || x == TN_NONE) return;
    tn__scope_leave(x);
    tn__tensor_unref(x);
}

int64_t tn_live_count(void)
{
    return atomic_load(&live_handles);
}

tn_status tn__tensor_check(const tn_tensor *x, const char *function, const char *argument)
{
    if (!x) return tn__fail_null(function, argument);
    if (x == TN_NONE) return tn__fail(TN_ARGUMENT, "%s: %s may not be TN_NONE", function, argument);
    return TN_OK;
}

/* ---- questions ---- */

bool tn__tensor_contiguous(const tn_tensor *x)
{
    int64_t expected = 1;
    if (x->numel == 0) return true;
    for (int i = x->ndim - 1; i >= 0; i--) {
        if (x->dim[i] == 1) continue;
        if (x->stride[i] != expected) return false;
        expected *= x->dim[i];
    }
    return true;
}

bool tn__tensor_overlaps(const tn_tensor *x)
{
    int64_t size[TN_MAX_AXES], step[TN_MAX_AXES];
    int n = 0;
    if (x->numel == 0) return false;
    for (int i = 0; i < x->ndim; i++) { /* insertion by |stride| */
        if (x->dim[i] == 1) continue;
        const int64_t s = x->stride[i] < 0 ? -x->stride[i] : x->stride[i];
        int at = n++;
        for (; at > 0 && step[at - 1] > s; at--) {
            step[at] = step[at - 1];
            size[at] = size[at - 1];
        }
        step[at] = s;
        size[at] = x->dim[i];
    }
    int64_t reach = 0; /* furthest place of the axes so far */
    for (int i = 0; i < n; i++) {
        if (step[i] <= reach) return true;
        reach += step[i] * (size[i] - 1);
    }
    return false;
}

bool tn__tensor_covers(const tn_tensor *x)
{
    return x->numel == x->storage->value->count && !tn__tensor_overlaps(x);
}

tn_dtype tn_dtype_of(const tn_tensor *x)
{
    return tn__tensor_check(x, "dtype_of", "x") == TN_OK ? x->dtype : TN_DTYPE_COUNT;
}

const char *tn_device_of(const tn_tensor *x)
{
    return tn__tensor_check(x, "device_of", "x") == TN_OK ? tn__owner.device_name(tn__tensor_device(x)) : "";
}

int tn_ndim(const tn_tensor *x)
{
    return tn__tensor_check(x, "ndim", "x") == TN_OK ? x->ndim : -1;
}

int64_t tn_dim(const tn_tensor *x, int axis)
{
    if (tn__tensor_check(x, "dim", "x") != TN_OK) return -1;
    const int a = tn__axis(axis, x->ndim, "dim");
    return a < 0 ? -1 : x->dim[a];
}

tn_shape tn_shape_of(const tn_tensor *x)
{
    if (tn__tensor_check(x, "shape_of", "x") != TN_OK) return (tn_shape){.ndim = -1};
    return tn__tensor_shape(x);
}

int64_t tn_stride(const tn_tensor *x, int axis)
{
    if (tn__tensor_check(x, "stride", "x") != TN_OK) return 0;
    const int a = tn__axis(axis, x->ndim, "stride");
    return a < 0 ? 0 : x->stride[a];
}

int64_t tn_offset(const tn_tensor *x)
{
    return tn__tensor_check(x, "offset", "x") == TN_OK ? x->offset : -1;
}

int64_t tn_numel(const tn_tensor *x)
{
    return tn__tensor_check(x, "numel", "x") == TN_OK ? x->numel : -1;
}

size_t tn_nbytes(const tn_tensor *x)
{
    return tn__tensor_check(x, "nbytes", "x") == TN_OK ? (size_t)x->numel * tn_dtype_size(x->dtype) : 0;
}

bool tn_is_contiguous(const tn_tensor *x)
{
    return tn__tensor_check(x, "is_contiguous", "x") == TN_OK && tn__tensor_contiguous(x);
}
