/* Views with more than one step: moved axes, diagonals, windows, pieces. */
#include "core/view.h"
#include <inttypes.h>
#include <string.h>
#include <tenon/movement.h>

#define TENSOR_OR_NULL(x, function)                                   \
    do {                                                              \
        if (tn__tensor_check(x, function, "x") != TN_OK) return NULL; \
    } while (0)

tn_tensor *tn_movedim(tn_tensor *x, tn_axes from, tn_axes to)
{
    uint32_t taken, placed;
    TENSOR_OR_NULL(x, "movedim");
    if (from.count == -1 || to.count == -1 || from.count != to.count)
        return TN__NULL(TN_AXIS, "movedim: %d axes go to %d places", from.count, to.count);
    if (tn__axes_mask(&from, x->ndim, "movedim", &taken) != TN_OK || tn__axes_mask(&to, x->ndim, "movedim", &placed) != TN_OK)
        return NULL;
    tn__permute_attributes order;
    int *const source = order.axis;
    for (int i = 0; i < from.count; i++)
        source[to.axis[i] < 0 ? to.axis[i] + x->ndim : to.axis[i]] = from.axis[i] < 0 ? from.axis[i] + x->ndim : from.axis[i];
    for (int a = 0, next = 0; a < x->ndim; a++) { /* the others fill the places left, in order */
        if (placed & (1u << a)) continue;
        while (taken & (1u << next)) next++;
        source[a] = next++;
    }
    return tn__permuted(x, &order);
}

tn_tensor *tn_broadcast_to(tn_tensor *x, tn_shape shape)
{
    TENSOR_OR_NULL(x, "broadcast_to");
    return tn_expand(x, shape);
}

tn_tensor *tn_diagonal(tn_tensor *x, int64_t offset, int axis1, int axis2)
{
    TENSOR_OR_NULL(x, "diagonal");
    const int a = tn__axis(axis1, x->ndim, "diagonal"), b = a < 0 ? -1 : tn__axis(axis2, x->ndim, "diagonal");
    if (b < 0) return NULL;
    if (a == b) return TN__NULL(TN_AXIS, "diagonal: axis1 %d and axis2 %d are the same axis", axis1, axis2);
    const int64_t m = x->dim[a], n = x->dim[b];
    const bool beyond = offset >= n || offset <= -m; /* also keeps the sums below in range */
    const int64_t rows = beyond ? 0 : offset < 0 ? m + offset : m, columns = beyond ? 0 : offset > 0 ? n - offset : n;
    const int64_t length = rows < columns ? rows : columns;
    tn_tensor *y = tn__tensor_alias(x);
    if (!y) return NULL;
    if (length > 0) y->offset += offset > 0 ? offset * x->stride[b] : -offset * x->stride[a];
    int k = 0;
    for (int i = 0; i < x->ndim; i++) {
        if (i == a || i == b) continue;
        y->dim[k] = x->dim[i];
        y->stride[k++] = x->stride[i];
    }
    y->dim[k] = length;
    y->stride[k] = x->stride[a] + x->stride[b];
    y->ndim = k + 1;
    tn__tensor_renumber(y);
    return tn__viewed(&tn__derive_diagonal, &(tn__diagonal_attributes){offset, a, b}, x, y);
}

tn_tensor *tn_unfold(tn_tensor *x, int axis, int64_t size, int64_t step)
{
    TENSOR_OR_NULL(x, "unfold");
    const int a = tn__axis(axis, x->ndim, "unfold");
    if (a < 0) return NULL;
    const int64_t n = x->dim[a];
    if (size < 0 || size > n)
        return TN__NULL(TN_ARGUMENT, "unfold: size %" PRId64 " is outside 0 to %" PRId64 ", the extent of axis %d of %s", size, n,
                        axis, tn__shape_text(x->ndim, x->dim));
    if (step < 1) return TN__NULL(TN_ARGUMENT, "unfold: step %" PRId64 "; 1 is the least", step);
    if (x->ndim == TN_MAX_AXES) return TN__NULL(TN_SHAPE, "unfold: %d axes are the most", TN_MAX_AXES);
    tn_shape shape = tn__tensor_shape(x);
    int64_t stride[TN_MAX_AXES], count;
    memcpy(stride, x->stride, sizeof stride);
    shape.dim[shape.ndim] = size;
    stride[shape.ndim++] = x->stride[a];
    shape.dim[a] = (n - size) / step + 1;
    if (shape.dim[a] > 1) stride[a] *= step;
    if (tn__shape_numel(&shape, tn_dtype_size(x->dtype), &count, "unfold") != TN_OK) return NULL;
    return tn__viewed(&tn__derive_unfold, &(tn__unfold_attributes){a, size, step}, x, tn__view_as(x, &shape, stride));
}

/* The lowest and the highest place of a window; false when one is outside the storage. */
static bool window_fits(const tn_shape *shape, const tn_shape *strides, int64_t offset, int64_t count)
{
    if (offset < 0 || offset >= count) return false;
    int64_t low = offset, high = offset;
    for (int i = 0; i < shape->ndim; i++) {
        const int64_t last = shape->dim[i] - 1, s = strides->dim[i];
        if (last == 0 || s == 0) continue;
        if (s > (count - 1) / last || s < -((count - 1) / last)) return false;
        *(s > 0 ? &high : &low) += s * last;
        if (low < 0 || high >= count) return false;
    }
    return true;
}

tn_tensor *tn_as_strided(tn_tensor *x, tn_shape shape, tn_shape strides, int64_t offset)
{
    int64_t n;
    TENSOR_OR_NULL(x, "as_strided");
    if (tn__shape_numel(&shape, tn_dtype_size(x->dtype), &n, "as_strided") != TN_OK) return NULL;
    if (strides.ndim != shape.ndim)
        return TN__NULL(TN_SHAPE, "as_strided: %d strides for the shape %s", strides.ndim, tn__shape_text(shape.ndim, shape.dim));
    const int64_t count = x->storage->value->count;
    if (n == 0 ? offset < 0 || offset > count : !window_fits(&shape, &strides, offset, count))
        return TN__NULL(TN_ARGUMENT,
                        "as_strided: shape %s with strides %s from offset %" PRId64 " leaves the storage of %" PRId64 " elements",
                        tn__shape_text(shape.ndim, shape.dim), tn__shape_text(strides.ndim, strides.dim), offset, count);
    tn_tensor *y = tn__view_as(x, &shape, strides.dim);
    if (y) y->offset = offset;
    tn__strided_attributes window = {.shape = shape, .offset = offset, .x_offset = x->offset, .count = count};
    memcpy(window.stride, strides.dim, sizeof window.stride);
    memcpy(window.x_stride, x->stride, sizeof window.x_stride);
    return tn__viewed(&tn__derive_as_strided, &window, x, y);
}

/* ---- pieces ---- */

static tn_status cut(const char *function, tn_tensor *x, int a, int64_t size, int64_t pieces, tn_tensor **out, int capacity,
                     int *count)
{
    if (pieces > INT32_MAX)
        return tn__fail(TN_OVERFLOW, "%s: %" PRId64 " pieces of %s", function, pieces, tn__shape_text(x->ndim, x->dim));
    if (out && pieces > capacity)
        return tn__fail(TN_ARGUMENT, "%s: %" PRId64 " pieces of %s, out has room for %d", function, pieces,
                        tn__shape_text(x->ndim, x->dim), capacity);
    for (int i = 0; out && i < pieces; i++) {
        out[i] = tn_slice(x, a, i * size, i * size + size, 1);
        if (out[i]) continue;
        while (i > 0) {
            tn_release(out[--i]);
            out[i] = NULL;
        }
        return tn_last_status();
    }
    *count = (int)pieces;
    return TN_OK;
}

tn_status tn_split(tn_tensor *x, int axis, int64_t size, tn_tensor **out, int capacity, int *count)
{
    TN__TRY(tn__tensor_check(x, "split", "x"));
    if (!count) return tn__fail_null("split", "count");
    const int a = tn__axis(axis, x->ndim, "split");
    if (a < 0) return TN_AXIS;
    const int64_t n = x->dim[a];
    if (size < 0 || (size == 0 && n > 0))
        return tn__fail(TN_ARGUMENT, "split: size %" PRId64 " for axis %d of %s", size, axis, tn__shape_text(x->ndim, x->dim));
    if (size > n) size = n; /* keeps the sums in range */
    return cut("split", x, a, size, n == 0 ? 1 : (n - 1) / size + 1, out, capacity, count);
}

tn_status tn_chunk(tn_tensor *x, int axis, int chunks, tn_tensor **out, int capacity, int *count)
{
    TN__TRY(tn__tensor_check(x, "chunk", "x"));
    if (!count) return tn__fail_null("chunk", "count");
    const int a = tn__axis(axis, x->ndim, "chunk");
    if (a < 0) return TN_AXIS;
    if (chunks < 1) return tn__fail(TN_ARGUMENT, "chunk: %d chunks; 1 is the least", chunks);
    const int64_t n = x->dim[a], size = n == 0 ? 0 : (n - 1) / chunks + 1;
    return cut("chunk", x, a, size, n == 0 ? chunks : (n - 1) / size + 1, out, capacity, count);
}
