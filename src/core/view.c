#include "core/view.h"
#include <inttypes.h>
#include <string.h>

#define TENSOR_OR_NULL(x, function)                                   \
    do {                                                              \
        if (tn__tensor_check(x, function, "x") != TN_OK) return NULL; \
    } while (0)

tn_status tn__view_infer(const tn_tensor *x, tn_shape *shape, const char *function)
{
    int unknown = -1;
    tn_shape known = *shape;
    for (int i = 0; i < shape->ndim && i < TN_MAX_AXES; i++) {
        if (shape->dim[i] != -1) continue;
        if (unknown >= 0) return tn__fail(TN_SHAPE, "%s: only one extent may be -1", function);
        unknown = i;
        known.dim[i] = 1;
    }
    int64_t n = 0;
    TN__TRY(tn__shape_numel(&known, 1, &n, function));
    if (unknown >= 0) {
        if (n == 0 || x->numel % n != 0)
            return tn__fail(TN_SHAPE, "%s: %s (%" PRId64 " elements) does not divide into %s", function,
                            tn__shape_text(x->ndim, x->dim), x->numel, tn__shape_text(shape->ndim, shape->dim));
        shape->dim[unknown] = x->numel / n;
    } else if (n != x->numel)
        return tn__fail(TN_SHAPE, "%s: %s has %" PRId64 " elements, %s has %" PRId64, function, tn__shape_text(x->ndim, x->dim),
                        x->numel, tn__shape_text(shape->ndim, shape->dim), n);
    return TN_OK;
}

/* Groups of old axes that lie as one, matched against groups of new axes of the same product. */
bool tn__view_strides(const tn_tensor *x, const tn_shape *shape, int64_t *stride)
{
    tn__shape_strides(shape->ndim, shape->dim, stride);
    if (x->numel == 0 || tn__tensor_contiguous(x)) return true;
    int64_t dim[TN_MAX_AXES], step[TN_MAX_AXES];
    int n = 0;
    for (int i = 0; i < x->ndim; i++) {
        if (x->dim[i] == 1) continue;
        if (n > 0 && step[n - 1] == x->stride[i] * x->dim[i]) { /* collapses with the axis before */
            dim[n - 1] *= x->dim[i];
            step[n - 1] = x->stride[i];
        } else {
            dim[n] = x->dim[i];
            step[n++] = x->stride[i];
        }
    }
    int j = shape->ndim - 1;
    for (int i = n - 1; i >= 0; i--) {
        int64_t left = dim[i], s = step[i];
        for (; j >= 0 && (left > 1 || shape->dim[j] == 1); j--) {
            if (left % shape->dim[j] != 0) return false;
            stride[j] = s;
            s *= shape->dim[j];
            left /= shape->dim[j];
        }
        if (left != 1) return false;
    }
    return true;
}

tn_tensor *tn__view_as(tn_tensor *x, const tn_shape *shape, const int64_t *stride)
{
    tn_tensor *y = tn__tensor_alias(x);
    if (!y) return NULL;
    y->weak = false;
    y->ndim = shape->ndim;
    memcpy(y->dim, shape->dim, (size_t)shape->ndim * sizeof y->dim[0]);
    memcpy(y->stride, stride, (size_t)shape->ndim * sizeof y->stride[0]);
    tn__tensor_renumber(y);
    return y;
}

tn_tensor *tn_view(tn_tensor *x, tn_shape shape)
{
    TENSOR_OR_NULL(x, "view");
    int64_t stride[TN_MAX_AXES];
    if (tn__view_infer(x, &shape, "view") != TN_OK) return NULL;
    if (!tn__view_strides(x, &shape, stride))
        return TN__NULL(TN_SHAPE, "view: %s with strides %s has no view of shape %s; reshape copies",
                        tn__shape_text(x->ndim, x->dim), tn__shape_text(x->ndim, x->stride), tn__shape_text(shape.ndim, shape.dim));
    return tn__viewed(&tn__derive_reshape, NULL, x, tn__view_as(x, &shape, stride));
}

/* Turns a list of axes into a mask; repeated axes are an error. */
tn_status tn__axes_mask(const tn_axes *axes, int ndim, const char *function, uint32_t *mask)
{
    *mask = 0;
    if (axes->count == -1) {
        *mask = (1u << ndim) - 1u;
        return TN_OK;
    }
    if (axes->count < 0 || axes->count > TN_MAX_AXES) return tn__fail(TN_AXIS, "%s: a list of %d axes", function, axes->count);
    for (int i = 0; i < axes->count; i++) {
        const int a = tn__axis(axes->axis[i], ndim, function);
        if (a < 0) return TN_AXIS;
        if (*mask & (1u << a)) return tn__fail(TN_AXIS, "%s: axis %d is given twice", function, axes->axis[i]);
        *mask |= 1u << a;
    }
    return TN_OK;
}

static void drop_axis(tn_tensor *y, int a)
{
    y->ndim--;
    memmove(y->dim + a, y->dim + a + 1, (size_t)(y->ndim - a) * sizeof y->dim[0]);
    memmove(y->stride + a, y->stride + a + 1, (size_t)(y->ndim - a) * sizeof y->stride[0]);
}

tn_tensor *tn_squeeze(tn_tensor *x, tn_axes axes)
{
    uint32_t mask;
    TENSOR_OR_NULL(x, "squeeze");
    if (tn__axes_mask(&axes, x->ndim, "squeeze", &mask) != TN_OK) return NULL;
    tn_tensor *y = tn__tensor_alias(x);
    for (int a = x->ndim - 1; y && a >= 0; a--)
        if ((mask & (1u << a)) && x->dim[a] == 1) drop_axis(y, a);
    return tn__viewed(&tn__derive_reshape, NULL, x, y);
}

tn_tensor *tn_unsqueeze(tn_tensor *x, int axis)
{
    TENSOR_OR_NULL(x, "unsqueeze");
    if (x->ndim == TN_MAX_AXES) return TN__NULL(TN_SHAPE, "unsqueeze: %d axes are the most", TN_MAX_AXES);
    const int a = tn__axis(axis, x->ndim + 1, "unsqueeze");
    tn_tensor *y = a < 0 ? NULL : tn__tensor_alias(x);
    if (!y) return NULL;
    memmove(y->dim + a + 1, y->dim + a, (size_t)(y->ndim - a) * sizeof y->dim[0]);
    memmove(y->stride + a + 1, y->stride + a, (size_t)(y->ndim - a) * sizeof y->stride[0]);
    y->ndim++;
    y->dim[a] = 1;
    y->stride[a] = a + 1 < y->ndim ? y->stride[a + 1] * y->dim[a + 1] : 1;
    y->weak = false;
    return tn__viewed(&tn__derive_reshape, NULL, x, y);
}

tn_tensor *tn__permuted(tn_tensor *x, const tn__permute_attributes *order)
{
    tn_tensor *y = tn__tensor_alias(x);
    for (int i = 0; y && i < x->ndim; i++) {
        y->dim[i] = x->dim[order->axis[i]];
        y->stride[i] = x->stride[order->axis[i]];
    }
    return tn__viewed(&tn__derive_permute, order, x, y);
}

tn_tensor *tn_transpose(tn_tensor *x, int a, int b)
{
    TENSOR_OR_NULL(x, "transpose");
    const int i = tn__axis(a, x->ndim, "transpose"), j = i < 0 ? -1 : tn__axis(b, x->ndim, "transpose");
    if (j < 0) return NULL;
    tn__permute_attributes order;
    for (int k = 0; k < x->ndim; k++) order.axis[k] = k == i ? j : k == j ? i : k;
    return tn__permuted(x, &order);
}

tn_tensor *tn_permute(tn_tensor *x, tn_axes axes)
{
    uint32_t mask;
    TENSOR_OR_NULL(x, "permute");
    if (axes.count != x->ndim) return TN__NULL(TN_AXIS, "permute: %d axes given for a tensor of %d", axes.count, x->ndim);
    if (tn__axes_mask(&axes, x->ndim, "permute", &mask) != TN_OK) return NULL;
    tn__permute_attributes order;
    for (int i = 0; i < x->ndim; i++) order.axis[i] = axes.axis[i] < 0 ? axes.axis[i] + x->ndim : axes.axis[i];
    return tn__permuted(x, &order);
}

/* Python's rule for one bound: counted from the end when negative, clamped to [low, n - 1 or n]. */
static int64_t clamp_bound(int64_t v, int64_t n, int64_t low, int64_t high)
{
    if (v < 0) v = v < -n ? low : v + n;
    return v < low ? low : v > high ? high : v;
}

tn_tensor *tn_slice(tn_tensor *x, int axis, int64_t start, int64_t stop, int64_t step)
{
    TENSOR_OR_NULL(x, "slice");
    const int a = tn__axis(axis, x->ndim, "slice");
    if (a < 0) return NULL;
    if (step == 0 || step == INT64_MIN) return TN__NULL(TN_ARGUMENT, "slice: step %" PRId64, step);
    const int64_t n = x->dim[a];
    int64_t first, count;
    if (step > 0) {
        first = clamp_bound(start, n, 0, n);
        const int64_t end = clamp_bound(stop, n, 0, n);
        count = end > first ? (end - first - 1) / step + 1 : 0;
    } else {
        first = clamp_bound(start, n, -1, n - 1);
        const int64_t end = stop == TN_END ? -1 : clamp_bound(stop, n, -1, n - 1);
        count = first > end ? (first - end - 1) / -step + 1 : 0;
    }
    tn_tensor *y = tn__tensor_alias(x);
    if (!y) return NULL;
    y->dim[a] = count;
    if (count > 0) y->offset += first * x->stride[a];
    y->stride[a] = count > 1 ? x->stride[a] * step : x->stride[a];
    tn__tensor_renumber(y);
    return tn__viewed(&tn__derive_slice, &(tn__slice_attributes){a, first, count, step}, x, y);
}

tn_tensor *tn_select(tn_tensor *x, int axis, int64_t index)
{
    TENSOR_OR_NULL(x, "select");
    const int a = tn__axis(axis, x->ndim, "select");
    if (a < 0) return NULL;
    const int64_t n = x->dim[a], i = index < 0 ? index + n : index;
    if (i < 0 || i >= n)
        return TN__NULL(TN_AXIS, "select: index %" PRId64 " is out of range for axis %d of %s", index, axis,
                        tn__shape_text(x->ndim, x->dim));
    tn_tensor *y = tn__tensor_alias(x);
    if (!y) return NULL;
    y->offset += i * x->stride[a];
    drop_axis(y, a);
    tn__tensor_renumber(y);
    return tn__viewed(&tn__derive_select, &(tn__slice_attributes){a, i, 1, 1}, x, y);
}

void tn__expand_strides(const tn_tensor *x, const tn_shape *shape, int64_t *stride)
{
    for (int i = 0; i < shape->ndim; i++) {
        const int from = i - (shape->ndim - x->ndim);
        stride[i] = from < 0 || (x->dim[from] == 1 && shape->dim[i] != 1) ? 0 : x->stride[from];
    }
}

tn_tensor *tn_expand(tn_tensor *x, tn_shape shape)
{
    TENSOR_OR_NULL(x, "expand");
    tn_shape full = shape, own = tn__tensor_shape(x), both;
    const int lead = shape.ndim - x->ndim;
    for (int i = 0; i < shape.ndim && i < TN_MAX_AXES; i++)
        if (shape.dim[i] == -1 && i >= lead && lead >= 0) full.dim[i] = x->dim[i - lead];
    int64_t n, stride[TN_MAX_AXES];
    if (tn__shape_numel(&full, tn_dtype_size(x->dtype), &n, "expand") != TN_OK) return NULL;
    if (!tn__shape_broadcast(&own, &full, &both) || !tn__shape_equal(&both, &full))
        return TN__NULL(TN_SHAPE, "expand: %s does not expand to %s", tn__shape_text(own.ndim, own.dim),
                        tn__shape_text(shape.ndim, shape.dim));
    tn__expand_strides(x, &full, stride);
    return tn__viewed(&tn__derive_identity, NULL, x, tn__view_as(x, &full, stride));
}

tn_tensor *tn_flip(tn_tensor *x, tn_axes axes)
{
    uint32_t mask;
    TENSOR_OR_NULL(x, "flip");
    if (tn__axes_mask(&axes, x->ndim, "flip", &mask) != TN_OK) return NULL;
    tn_tensor *y = tn__tensor_alias(x);
    for (int a = 0; y && a < x->ndim; a++) {
        if (!(mask & (1u << a)) || x->dim[a] <= 1) continue;
        y->offset += (x->dim[a] - 1) * x->stride[a];
        y->stride[a] = -x->stride[a];
    }
    return tn__viewed(&tn__derive_flip, &(tn__flip_attributes){mask}, x, y);
}

bool tn__view_dense(const tn_tensor *x)
{
    int64_t reach = 0;
    if (x->numel == 0) return true;
    for (int a = 0; a < x->ndim; a++) {
        if (x->dim[a] == 1) continue;
        if (x->stride[a] <= 0) return false;
        reach += x->stride[a] * (x->dim[a] - 1);
    }
    return reach == x->numel - 1 && !tn__tensor_overlaps(x);
}
