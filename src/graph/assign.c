/* Writing into tensors: a write that covers the storage replaces its value; a partial one goes into the bytes at once. */
#include "base/alloc.h"
#include "graph/forms.h"
#include "graph/graph.h"
#include "graph/move.h"
#include "graph/plan.h"
#include "graph/rows.h"
#include "graph/run.h"
#include <string.h>

/* A copy of src in x's dtype, with these dims; src's strides are given over them. Row-major. */
static tn_tensor *source_copy(tn_tensor *src, tn_dtype dtype, int ndim, const int64_t *dim, const int64_t *stride, int64_t offset,
                              tn__device *device)
{
    tn__node *node = tn__node_new(&tn__op_cast, 1);
    if (!node) return NULL;
    node->dtype = dtype;
    node->rank = node->kept = ndim;
    memcpy(node->dim, dim, (size_t)ndim * sizeof dim[0]);
    if (tn__tensor_device(src) == device) {
        tn__node_operand(node, 0, src, stride);
        node->in[0].offset = offset;
    } else { /* a 0-d host tensor */
        const tn__value *v = src->storage->value;
        const char *at = (const char *)v->buffer->memory + (v->base + src->offset) * (int64_t)tn_dtype_size(src->dtype);
        node->in[0].number = tn__number_to(tn__number_load(src->dtype, at), dtype);
        node->in[0].dtype = tn__compute_dtype[node->in[0].number.compute];
    }
    return tn__record(node, device, dtype, true);
}

/* x's axes from the slowest to the fastest in memory. */
static void storage_order(const tn_tensor *x, int *order)
{
    for (int a = 0; a < x->ndim; a++) {
        int at = a;
        const int64_t s = x->stride[a] < 0 ? -x->stride[a] : x->stride[a];
        for (; at > 0; at--) {
            const int64_t t = x->stride[order[at - 1]];
            if ((t < 0 ? -t : t) >= s) break;
            order[at] = order[at - 1];
        }
        order[at] = a;
    }
}

static tn_status replace_value(tn_tensor *x, tn_tensor *src, const int64_t *stride)
{
    int order[TN_MAX_AXES];
    int64_t dim[TN_MAX_AXES], step[TN_MAX_AXES], offset = src->offset;
    storage_order(x, order);
    for (int a = 0; a < x->ndim; a++) { /* src turned and reversed as x lies in memory */
        const int from = order[a];
        dim[a] = x->dim[from];
        step[a] = stride[from];
        if (x->stride[from] >= 0 || dim[a] <= 1) continue;
        offset += (dim[a] - 1) * step[a];
        step[a] = -step[a];
    }
    tn_tensor *copy = source_copy(src, x->dtype, x->ndim, dim, step, offset, tn__tensor_device(x));
    if (!copy) return tn_last_status();
    tn__value *value = tn__value_retain(copy->storage->value);
    tn__lock(&value->device->graph_lock);
    x->storage->value->assigned = false; /* nobody holds it any more but pending readers */
    value->assigned = true;
    value->made_by = "assign";
    tn__unlock(&value->device->graph_lock);
    tn__storage_set(x->storage, value);
    tn_release(copy);
    return TN_OK;
}

/* A result of a pending node, retained; NULL when the last one is just being freed. */
static tn__value *living_result(const tn__node *node)
{
    for (int r = 0; r < node->results; r++)
        if (node->out[r] && tn__value_retain_living(node->out[r])) return node->out[r];
    return NULL;
}

/* Runs every pending node that reads value, so that a write does not change what they see. */
static tn_status run_readers(tn__device *device, tn__value *value)
{
    enum { BATCH = 64 };
    for (;;) {
        tn__value *list[BATCH];
        int count = 0;
        tn__lock(&device->graph_lock);
        const tn__graph *graph = device->graph;
        for (tn__node *n = graph && value->readers > 0 ? graph->oldest : NULL; n && count < BATCH; n = n->newer) {
            bool reads = false;
            for (int i = 0; i < n->inputs; i++) reads = reads || n->in[i].value == value;
            if (reads && (list[count] = living_result(n))) count++;
        }
        tn__unlock(&device->graph_lock);
        if (count == 0) return TN_OK;
        const tn_status s = tn__realize_values(device, list, count);
        for (int i = 0; i < count; i++) tn__value_release(list[i]);
        TN__TRY(s);
    }
}

static void scatter_on_host(const tn_tensor *x, const char *from)
{
    const int64_t size = (int64_t)tn_dtype_size(x->dtype);
    char *to = (char *)x->storage->value->buffer->memory + (x->storage->value->base + x->offset) * size;
    int64_t index[TN_MAX_AXES] = {0}, place = 0;
    for (int64_t i = 0; i < x->numel; i++, from += size) {
        memcpy(to + place * size, from, (size_t)size);
        for (int a = x->ndim - 1; a >= 0; a--) {
            place += x->stride[a];
            if (++index[a] < x->dim[a]) break;
            place -= x->stride[a] * x->dim[a];
            index[a] = 0;
        }
    }
}

/* Where x lies in the bytes of its storage. */
static tn__window place_of(const tn_tensor *x)
{
    tn__window place = {.offset = x->storage->value->base + x->offset};
    memcpy(place.stride, x->stride, sizeof x->stride);
    return place;
}

static tn_status write_part(tn_tensor *x, tn_tensor *src, const int64_t *stride)
{
    tn__value *base = x->storage->value;
    tn__device *device = base->device;
    if (device->is_host) {
        tn_tensor *copy = source_copy(src, x->dtype, x->ndim, x->dim, stride, src->offset, device);
        if (!copy) return tn_last_status();
        scatter_on_host(x, copy->storage->value->buffer->memory);
        tn_release(copy);
        x->storage->version++;
        return TN_OK;
    }
    TN__TRY(run_readers(device, base));
    TN__TRY(tn__realize_values(device, &base, 1));
    tn__eager_pause(); /* the copy runs straight into its place */
    tn_tensor *copy = source_copy(src, x->dtype, x->ndim, x->dim, stride, src->offset, device);
    if (copy && src->storage->value == base) { /* may overlap: the source is copied first */
        tn__value *v = copy->storage->value;
        tn_tensor *again = tn__realize_values(device, &v, 1) == TN_OK
                               ? source_copy(copy, x->dtype, x->ndim, x->dim, copy->stride, 0, device)
                               : NULL;
        tn_release(copy);
        copy = again;
    }
    tn__eager_resume();
    if (!copy) return tn_last_status();
    const tn__window place = place_of(x);
    const tn_status s = tn__realize_into(device, &copy->storage->value, &place, 1, base->buffer);
    tn__forms_drop(base);
    tn_release(copy);
    if (s == TN_OK) x->storage->version++;
    return s;
}

/* Copies of the sources, and where they go. */
static tn_status copy_sources(tn_tensor *const *parts, tn_tensor *const *sources, int count, tn_tensor **copies, tn__value **values,
                              tn__window *places)
{
    for (int i = 0; i < count; i++) {
        tn_tensor *x = parts[i], *src = sources[i];
        copies[i] = source_copy(src, x->dtype, x->ndim, x->dim, src->stride, src->offset, tn__tensor_device(x));
        if (!copies[i]) return tn_last_status();
        values[i] = copies[i]->storage->value;
        places[i] = place_of(x);
    }
    return TN_OK;
}

tn_status tn__fill_parts(tn_tensor *const *parts, tn_tensor *const *sources, int count)
{
    tn__device *device = tn__tensor_device(parts[0]);
    if (device->is_host) {
        for (int i = 0; i < count; i++) TN__TRY(tn_assign(parts[i], sources[i]));
        return TN_OK;
    }
    tn_tensor **copies = tn__zalloc((size_t)count * sizeof *copies);
    tn__value **values = tn__alloc((size_t)count * sizeof(tn__value *));
    tn__window *places = tn__alloc((size_t)count * sizeof *places);
    tn__eager_pause(); /* the copies run straight into their places */
    tn_status s = copies && values && places ? copy_sources(parts, sources, count, copies, values, places) : TN_MEMORY;
    tn__eager_resume();
    if (s == TN_OK) s = tn__realize_into(device, values, places, count, parts[0]->storage->value->buffer);
    for (int i = 0; copies && i < count; i++) tn_release(copies[i]);
    tn__free(copies);
    tn__free(values);
    tn__free(places);
    return s;
}

tn_status tn_assign(tn_tensor *x, tn_tensor *src)
{
    int64_t stride[TN_MAX_AXES];
    TN__TRY(tn__tensor_check(x, "assign", "x"));
    TN__TRY(tn__tensor_check(src, "assign", "src"));
    tn__device *device = tn__tensor_device(x);
    tn_shape want = tn__tensor_shape(x), own = tn__tensor_shape(src), both;
    if (x->weak) return tn__fail(TN_ARGUMENT, "assign: x is a scalar constant");
    if (tn__tensor_overlaps(x))
        return tn__fail(
            TN_ARGUMENT,
            "assign: x %s is an expanded view, several of its elements are one in memory; assign to the original, or clone it",
            tn__shape_text(x->ndim, x->dim));
    if (!tn__shape_broadcast(&own, &want, &both) || !tn__shape_equal(&both, &want))
        return tn__fail(TN_SHAPE, "assign: src %s does not broadcast to x %s", tn__shape_text(own.ndim, own.dim),
                        tn__shape_text(want.ndim, want.dim));
    if (tn__tensor_device(src) != device && !(src->ndim == 0 && tn__tensor_device(src)->is_host))
        return tn__fail(TN_DEVICE, "assign: x %s is on %s, src %s is on %s; move it, as in tn_to(src, \"%s\")",
                        tn__shape_text(want.ndim, want.dim), device->name, tn__shape_text(own.ndim, own.dim),
                        tn__tensor_device(src)->name, device->name);
    if (x->numel == 0) return TN_OK;
    if (tn__device_foreign(device)) return tn__device_check(device);
    TN__TRY(tn__derive_assign(x, src));
    tn__expand_strides(src, &want, stride);
    TN__TRY(tn__tensor_covers(x) && !x->storage->wrapped ? replace_value(x, src, stride) : write_part(x, src, stride));
    return tn__derive_assigned(x, src);
}

tn_status tn_write(tn_tensor *x, const void *data, size_t bytes)
{
    TN__TRY(tn__tensor_check(x, "write", "x"));
    const size_t want = (size_t)x->numel * tn_dtype_size(x->dtype);
    if (bytes != want)
        return tn__fail(TN_ARGUMENT, "write: %zu bytes given, %s %s has %zu", bytes, tn_dtype_name(x->dtype),
                        tn__shape_text(x->ndim, x->dim), want);
    if (!data && bytes > 0) return tn__fail(TN_ARGUMENT, "write: data is NULL");
    const tn_shape shape = tn__tensor_shape(x);
    tn_tensor *fresh = tn__from_bytes(x->dtype, &shape, data, tn__tensor_device(x));
    if (!fresh) return tn_last_status();
    const bool whole = !x->weak && tn__tensor_covers(x) && tn__tensor_contiguous(x) && !x->storage->wrapped;
    tn_status s = whole ? tn__derive_assign(x, fresh) : tn_assign(x, fresh);
    if (whole && s == TN_OK) {
        tn__storage_set(x->storage, tn__value_retain(fresh->storage->value));
        s = tn__derive_assigned(x, fresh);
    }
    tn_release(fresh);
    return s;
}
