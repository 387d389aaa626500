#include "core/shape.h"
#include <inttypes.h>
#include <string.h>

tn_shape tn_shape_make(int ndim, const int64_t *dims)
{
    tn_shape s = {.ndim = ndim};
    for (int i = 0; dims && i < ndim && i < TN_MAX_AXES; i++) s.dim[i] = dims[i];
    return s;
}

tn_axes tn_axes_make(int count, const int *axes)
{
    tn_axes a = {.count = count};
    for (int i = 0; axes && i < count && i < TN_MAX_AXES; i++) a.axis[i] = axes[i];
    return a;
}

tn_status tn__shape_numel(const tn_shape *shape, size_t element, int64_t *numel, const char *function)
{
    if (shape->ndim < 0 || shape->ndim > TN_MAX_AXES)
        return tn__fail(TN_SHAPE, "%s: %d axes; 0 to %d are possible", function, shape->ndim, TN_MAX_AXES);
    int64_t n = 1;
    bool empty = false, overflow = false;
    for (int i = 0; i < shape->ndim; i++) {
        if (shape->dim[i] < 0)
            return tn__fail(TN_SHAPE, "%s: shape %s has a negative extent", function, tn__shape_text(shape->ndim, shape->dim));
        if (shape->dim[i] == 0)
            empty = true;
        else if (n > (INT64_MAX / 2 / (int64_t)element) / shape->dim[i])
            overflow = true;
        else
            n *= shape->dim[i];
    }
    if (empty)
        n = 0;
    else if (overflow)
        return tn__fail(TN_OVERFLOW, "%s: shape %s of %zu-byte elements has more bytes than 62 bits count", function,
                        tn__shape_text(shape->ndim, shape->dim), element);
    *numel = n;
    return TN_OK;
}

void tn__shape_strides(int ndim, const int64_t *dim, int64_t *stride)
{
    int64_t s = 1;
    for (int i = ndim - 1; i >= 0; i--) {
        stride[i] = s;
        s *= dim[i] > 0 ? dim[i] : 1;
    }
}

bool tn__shape_broadcast(const tn_shape *a, const tn_shape *b, tn_shape *out)
{
    const int ndim = a->ndim > b->ndim ? a->ndim : b->ndim;
    tn_shape r = {.ndim = ndim};
    for (int i = 0; i < ndim; i++) {
        const int ia = i - (ndim - a->ndim), ib = i - (ndim - b->ndim);
        const int64_t da = ia < 0 ? 1 : a->dim[ia], db = ib < 0 ? 1 : b->dim[ib];
        if (da != db && da != 1 && db != 1) return false;
        r.dim[i] = da == 1 ? db : da;
    }
    *out = r;
    return true;
}

bool tn__shape_equal(const tn_shape *a, const tn_shape *b)
{
    return a->ndim == b->ndim && memcmp(a->dim, b->dim, (size_t)a->ndim * sizeof a->dim[0]) == 0;
}

int tn__axis(int axis, int ndim, const char *function)
{
    const int a = axis < 0 ? axis + ndim : axis;
    if (a >= 0 && a < ndim) return a;
    if (ndim == 0)
        (void)tn__fail(TN_AXIS, "%s: axis %d of a tensor without axes", function, axis);
    else
        (void)tn__fail(TN_AXIS, "%s: axis %d is outside %d to %d", function, axis, -ndim, ndim - 1);
    return -1;
}

const char *tn__shape_text(int ndim, const int64_t *dim)
{
    static _Thread_local char buffers[8][24 * TN_MAX_AXES];
    static _Thread_local unsigned turn;
    char *out = buffers[turn++ % 8];
    size_t used = (size_t)snprintf(out, sizeof buffers[0], "[");
    for (int i = 0; i < ndim && i < TN_MAX_AXES; i++)
        used += (size_t)snprintf(out + used, sizeof buffers[0] - used, i ? ",%" PRId64 : "%" PRId64, dim[i]);
    snprintf(out + used, sizeof buffers[0] - used, "]");
    return out;
}
