/* Medians and quantiles over axes: the axes become one line, which is sorted. */
#include "base/alloc.h"
#include "ops/compose.h"
#include "ops/reduction.h"
#include <math.h>
#include <tenon/ops.h>

/* ---- axes as one line ---- */

typedef struct lines {
    tn_tensor *x; /* the reduced axes as one, at `axis` */
    int axis;
    int64_t n;
    tn_shape shape; /* of the result */
    tn_dtype dtype;
    tn_scope scope;
} lines;

/* The axes in mask behind the others, as one. */
static tn_tensor *joined(tn_tensor *x, uint32_t mask, int64_t n)
{
    tn_axes order = {.count = 0};
    tn_shape shape = {.ndim = 0};
    for (int a = 0; a < x->ndim; a++)
        if (!(mask & (1u << a))) {
            order.axis[order.count++] = a;
            shape.dim[shape.ndim++] = x->dim[a];
        }
    for (int a = 0; a < x->ndim; a++)
        if (mask & (1u << a)) order.axis[order.count++] = a;
    shape.dim[shape.ndim++] = n;
    return tn_reshape(tn_permute(x, order), shape);
}

/* Checks, and opens the scope. No axes at all: x is its own quantile, and l->x NULL. */
static tn_status start(lines *l, tn_tensor *x, tn_axes axes, bool keepdim, const char *name)
{
    uint32_t mask;
    TN__TRY(tn__reduced_axes(x, &axes, name, &mask));
    *l = (lines){.n = 1, .shape = tn__reduced_shape(x, mask, keepdim), .dtype = x->dtype};
    for (int a = 0; a < x->ndim; a++)
        if (mask & (1u << a)) l->n *= x->dim[a];
    if (l->n == 0)
        return tn__fail(TN_SHAPE, "%s: %s has no elements along the reduced axes", name, tn__shape_text(x->ndim, x->dim));
    l->scope = tn_scope_push();
    if (axes.count == 1) {
        l->axis = axes.axis[0] < 0 ? axes.axis[0] + x->ndim : axes.axis[0];
        l->x = x;
    } else if (mask) {
        l->x = joined(x, mask, l->n);
        l->axis = l->x ? l->x->ndim - 1 : 0;
    }
    return TN_OK;
}

/* ---- medians ---- */

typedef tn_status with_index(tn_tensor *x, int axis, bool keepdim, tn_tensor **values, tn_tensor **indices);

static tn_tensor *median(tn_tensor *x, tn_axes axes, bool keepdim, const char *name, with_index *function)
{
    lines l;
    if (start(&l, x, axes, keepdim, name) != TN_OK) return NULL;
    tn_tensor *y = NULL;
    if (l.x) (void)function(l.x, l.axis, false, &y, NULL);
    return tn__leave(l.scope, l.x ? tn_reshape(y, l.shape) : tn_clone(x));
}

tn_tensor *tn_median(tn_tensor *x, tn_axes axes, bool keepdim)
{
    return median(x, axes, keepdim, "median", tn_median_with_index);
}

tn_tensor *tn_nanmedian(tn_tensor *x, tn_axes axes, bool keepdim)
{
    return median(x, axes, keepdim, "nanmedian", tn_nanmedian_with_index);
}

/* ---- quantiles ---- */

static tn_status check_quantiles(const tn_tensor *x, const double *q, int count, tn_quantile_mode mode, const char *name)
{
    TN__TRY(tn__tensor_check(x, name, "x"));
    if (!q) return tn__fail_null(name, "q");
    if (count < 1) return tn__fail(TN_ARGUMENT, "%s: a list of %d quantiles", name, count);
    if ((unsigned)mode > TN_QUANTILE_NEAREST) return tn__fail(TN_ARGUMENT, "%s: %d is no mode", name, (int)mode);
    if (!tn_dtype_is_float(x->dtype))
        return tn__fail(TN_DTYPE, "%s: not for %s; cast to a float first", name, tn_dtype_name(x->dtype));
    for (int i = 0; i < count; i++)
        if (!(q[i] >= 0 && q[i] <= 1)) return tn__fail(TN_ARGUMENT, "%s: q is %g; 0 to 1 are possible", name, q[i]);
    return TN_OK;
}

/* Between a and b, a part w of the way; also where one of them, or b - a, is infinite. */
static tn_tensor *between(tn_tensor *a, tn_tensor *b, tn_tensor *w)
{
    tn_tensor *far = tn_add(tn_mul(a, tn_sub(tn_float(1), w)), tn_mul(b, w));
    return tn_where(tn_isfinite(tn_sub(b, a)), tn_lerp(a, b, w), tn_where(tn_eq(a, b), a, far));
}

static tn_tensor *element(const lines *l, tn_tensor *sorted, double place)
{
    return tn_slice(sorted, l->axis, (int64_t)place, (int64_t)place + 1, 1);
}

/* Of the sorted line, extents of 1 along the axis; NaN, which is last, wins. */
static tn_tensor *quantile(const lines *l, tn_tensor *sorted, double q, tn_quantile_mode mode)
{
    const double rank = q * (double)(l->n - 1), low = floor(rank), high = ceil(rank);
    tn_tensor *last = element(l, sorted, (double)(l->n - 1)), *y;
    if (mode == TN_QUANTILE_NEAREST || low == high)
        y = element(l, sorted, rint(rank));
    else if (mode == TN_QUANTILE_LOWER || mode == TN_QUANTILE_HIGHER)
        y = element(l, sorted, mode == TN_QUANTILE_LOWER ? low : high);
    else
        y = between(element(l, sorted, low), element(l, sorted, high), tn_float(mode == TN_QUANTILE_MIDPOINT ? 0.5 : rank - low));
    return tn_where(tn_isnan(last), last, y);
}

/* The element of each line at place, a whole number as a float, at most the last one that counts. */
static tn_tensor *element_of_each(const lines *l, tn_tensor *sorted, tn_tensor *place, tn_tensor *last)
{
    return tn_take_along_axis(sorted, tn_minimum(tn_cast(place, TN_I64), last), l->axis);
}

/* The same of what is not NaN, in each line another number of elements. */
static tn_tensor *nan_quantile(const lines *l, tn_tensor *sorted, double q, tn_quantile_mode mode)
{
    tn_tensor *there = tn_sum(tn_logical_not(tn_isnan(sorted)), TN_AXES(l->axis), true);
    tn_tensor *last = tn_sub(tn_maximum(there, tn_int(1)), tn_int(1));
    tn_tensor *rank = tn_mul(tn_cast(last, sorted ? sorted->dtype : TN_F32), tn_float(q)), *low = tn_floor(rank);
    if (mode == TN_QUANTILE_NEAREST) return element_of_each(l, sorted, tn_round(rank), last);
    if (mode == TN_QUANTILE_LOWER) return element_of_each(l, sorted, low, last);
    tn_tensor *above = element_of_each(l, sorted, tn_ceil(rank), last);
    if (mode == TN_QUANTILE_HIGHER) return above;
    return between(element_of_each(l, sorted, low, last), above, mode == TN_QUANTILE_LINEAR ? tn_sub(rank, low) : tn_float(0.5));
}

typedef tn_tensor *one_quantile(const lines *l, tn_tensor *sorted, double q, tn_quantile_mode mode);

/* f16 and bf16 are interpolated in f32. list: the results go together along a new first axis. */
static tn_tensor *quantiles(tn_tensor *x, const double *q, int count, bool list, tn_axes axes, bool keepdim, tn_quantile_mode mode,
                            const char *name, one_quantile *function)
{
    lines l;
    if (check_quantiles(x, q, count, mode, name) != TN_OK || start(&l, x, axes, keepdim, name) != TN_OK) return NULL;
    tn_tensor *sorted = NULL, *y = NULL, **each = tn__alloc((size_t)count * sizeof(tn_tensor *));
    if (l.x) (void)tn_sort(l.x, l.axis, false, &sorted, NULL);
    if (sorted && tn_dtype_size(l.dtype) == 2) sorted = tn_cast(sorted, TN_F32);
    for (int i = 0; each && i < count; i++)
        each[i] = l.x ? tn_reshape(tn_cast(function(&l, sorted, q[i], mode), l.dtype), l.shape) : tn_clone(x);
    if (each) y = list ? tn_stack(each, count, 0) : each[0];
    tn__free(each);
    return tn__leave(l.scope, y);
}

tn_tensor *tn_quantile(tn_tensor *x, double q, tn_axes axes, bool keepdim, tn_quantile_mode mode)
{
    return quantiles(x, &q, 1, false, axes, keepdim, mode, "quantile", quantile);
}

tn_tensor *tn_quantiles(tn_tensor *x, const double *q, int count, tn_axes axes, bool keepdim, tn_quantile_mode mode)
{
    return quantiles(x, q, count, true, axes, keepdim, mode, "quantiles", quantile);
}

tn_tensor *tn_nanquantile(tn_tensor *x, double q, tn_axes axes, bool keepdim, tn_quantile_mode mode)
{
    return quantiles(x, &q, 1, false, axes, keepdim, mode, "nanquantile", nan_quantile);
}

tn_tensor *tn_nanquantiles(tn_tensor *x, const double *q, int count, tn_axes axes, bool keepdim, tn_quantile_mode mode)
{
    return quantiles(x, q, count, true, axes, keepdim, mode, "nanquantiles", nan_quantile);
}
