/* Axes merged, split and added: reshapes of some axes. */
#include "core/view.h"
#include <inttypes.h>
#include <tenon/ops.h>

tn_tensor *tn_flatten(tn_tensor *x, int first, int last)
{
    if (tn__tensor_check(x, "flatten", "x") != TN_OK) return NULL;
    const int shown = x->ndim > 0 ? x->ndim : 1; /* no axes count as one of extent 1 */
    const int a = tn__axis(first, shown, "flatten"), b = a < 0 ? -1 : tn__axis(last, shown, "flatten");
    if (b < 0) return NULL;
    if (b < a) return TN__NULL(TN_AXIS, "flatten: the last axis %d is before the first, %d", last, first);
    tn_shape shape = {.ndim = shown - (b - a)};
    int64_t product = 1;
    for (int i = 0; i < x->ndim; i++) {
        if (i < a || i > b) {
            shape.dim[i < a ? i : i - (b - a)] = x->dim[i];
            continue;
        }
        if (x->dim[i] > 0 && product > INT64_MAX / x->dim[i]) /* of an empty tensor */
            return TN__NULL(TN_OVERFLOW, "flatten: axes %d to %d of %s", first, last, tn__shape_text(x->ndim, x->dim));
        product *= x->dim[i];
    }
    shape.dim[a] = product;
    return tn_reshape(x, shape);
}

tn_tensor *tn_ravel(tn_tensor *x)
{
    if (tn__tensor_check(x, "ravel", "x") != TN_OK) return NULL;
    return tn_flatten(x, 0, -1);
}

/* The sizes with the one that is -1 filled in. */
static tn_status fill_in(const tn_tensor *x, int a, tn_shape *sizes)
{
    if (sizes->ndim < 1 || sizes->ndim + x->ndim - 1 > TN_MAX_AXES)
        return tn__fail(TN_SHAPE, "unflatten: %d sizes for an axis of %s; the result has 1 to %d axes", sizes->ndim,
                        tn__shape_text(x->ndim, x->dim), TN_MAX_AXES);
    const tn_shape asked = *sizes;
    int64_t n, unknown = -1;
    for (int i = 0; i < sizes->ndim; i++) {
        if (sizes->dim[i] != -1) continue;
        if (unknown >= 0) return tn__fail(TN_SHAPE, "unflatten: only one size may be -1");
        unknown = i;
        sizes->dim[i] = 1;
    }
    TN__TRY(tn__shape_numel(sizes, 1, &n, "unflatten"));
    if (unknown >= 0 && n > 0 && x->dim[a] % n == 0)
        sizes->dim[unknown] = x->dim[a] / n;
    else if (unknown >= 0 || n != x->dim[a])
        return tn__fail(TN_SHAPE, "unflatten: the sizes %s do not multiply to %" PRId64 ", the extent of axis %d of %s",
                        tn__shape_text(asked.ndim, asked.dim), x->dim[a], a, tn__shape_text(x->ndim, x->dim));
    return TN_OK;
}

tn_tensor *tn_unflatten(tn_tensor *x, int axis, tn_shape sizes)
{
    if (tn__tensor_check(x, "unflatten", "x") != TN_OK) return NULL;
    const int a = tn__axis(axis, x->ndim, "unflatten");
    if (a < 0 || fill_in(x, a, &sizes) != TN_OK) return NULL;
    tn_shape shape = {.ndim = x->ndim - 1 + sizes.ndim};
    int64_t stride[TN_MAX_AXES], s = x->stride[a];
    for (int i = 0; i < x->ndim; i++) {
        const int at = i < a ? i : i + sizes.ndim - 1;
        shape.dim[at] = x->dim[i];
        stride[at] = x->stride[i];
    }
    for (int i = sizes.ndim - 1; i >= 0; i--) {
        shape.dim[a + i] = sizes.dim[i];
        stride[a + i] = s;
        s *= sizes.dim[i] > 0 ? sizes.dim[i] : 1;
    }
    return tn__viewed(&tn__derive_reshape, NULL, x, tn__view_as(x, &shape, stride));
}

/* ---- at least so many axes ---- */

tn_tensor *tn_atleast_1d(tn_tensor *x)
{
    if (tn__tensor_check(x, "atleast_1d", "x") != TN_OK) return NULL;
    return x->ndim ? tn__viewed(&tn__derive_identity, NULL, x, tn__tensor_alias(x)) : tn_unsqueeze(x, 0);
}

tn_tensor *tn_atleast_2d(tn_tensor *x)
{
    if (tn__tensor_check(x, "atleast_2d", "x") != TN_OK) return NULL;
    return x->ndim == 0 ? tn_reshape(x, TN_SHAPE(1, 1)) : x->ndim == 1 ? tn_unsqueeze(x, 0) : tn__viewed(&tn__derive_identity, NULL, x, tn__tensor_alias(x));
}

tn_tensor *tn_atleast_3d(tn_tensor *x)
{
    if (tn__tensor_check(x, "atleast_3d", "x") != TN_OK) return NULL;
    if (x->ndim >= 3) return tn__viewed(&tn__derive_identity, NULL, x, tn__tensor_alias(x));
    return x->ndim == 2 ? tn_unsqueeze(x, 2) : tn_reshape(x, TN_SHAPE(1, x->numel, 1));
}
