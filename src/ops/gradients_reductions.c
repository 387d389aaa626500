/* Gradients of reductions over axes, and of what runs along one. */
#include "core/view.h"
#include "ops/along.h"
#include "ops/gradient.h"
#include "ops/phases.h"
#include "ops/reduction.h"
#include <math.h>

tn_tensor *tn__kept(const tn__backward *back, tn_tensor *y)
{
    const tn__reduce_attributes *of = back->attributes;
    tn_shape shape = back->operand[0].shape;
    for (int a = 0; a < shape.ndim; a++)
        if (of->mask & (1u << a)) shape.dim[a] = 1;
    return y ? tn_reshape(y, shape) : NULL;
}

tn_axes tn__reduced_of(const tn__backward *back)
{
    const tn__reduce_attributes *of = back->attributes;
    tn_axes axes = {.count = 0};
    for (int a = 0; a < back->operand[0].shape.ndim; a++)
        if (of->mask & (1u << a)) axes.axis[axes.count++] = a;
    return axes;
}

GRADIENT(sum)
{
    UNUSED;
    up = tn__kept(back, up);
    g[0] = up ? tn_expand(up, back->operand[0].shape) : NULL;
}

/* Ties share evenly. */
GRADIENT(extreme)
{
    UNUSED;
    tn_tensor *chosen = tn_cast(tn_eq(in[0], tn__kept(back, out)), in[0]->dtype);
    g[0] = tn_div(tn_mul(tn__kept(back, up), chosen), tn_sum(chosen, tn__reduced_of(back), true));
}

/* The product of the others: of all that are not 0, by the element itself where there is no 0; where there is one 0, it alone has a
 * gradient; where there are more, none. */
static tn_tensor *by_zeros(const tn__backward *back, tn_tensor *x)
{
    tn_tensor *zero = tn_int(0), *is_zero = tn_eq(x, zero);
    tn_tensor *zeros = tn_sum(is_zero, tn__reduced_of(back), true);
    tn_tensor *others = tn_prod(tn_where(is_zero, tn_int(1), x), tn__reduced_of(back), true);
    tn_tensor *by_itself = tn_div(others, tn_where(is_zero, tn_int(1), x));
    tn_tensor *none = tn_eq(zeros, zero), *alone = tn_logical_and(is_zero, tn_eq(zeros, tn_int(1)));
    return tn_where(none, by_itself, tn_where(alone, others, zero));
}

/* Of each element of a line, the product of all before it. */
static tn_tensor *before(tn_tensor *x, int axis)
{
    tn_shape first = {.ndim = x->ndim}, last = {.ndim = x->ndim};
    first.dim[axis] = 1;
    last.dim[axis] = -1;
    return tn_cumprod(tn_pad(x, first, last, TN_PAD_CONSTANT, tn_int(1)), axis);
}

/* The same in products alone, axis by axis, to be differentiated again where there are zeros. */
static tn_tensor *by_products(const tn__backward *back, tn_tensor *x)
{
    const tn_axes axes = tn__reduced_of(back);
    tn_tensor *others = tn_ones(x->dtype, TN_SHAPE(), tn_device_of(x));
    for (int i = 0; x && i < axes.count; i++) {
        const tn_axes axis = TN_AXES(axes.axis[i]);
        others = tn_mul(others, tn_mul(before(x, axes.axis[i]), tn_flip(before(tn_flip(x, axis), axes.axis[i]), axis)));
        x = tn_prod(x, axis, true);
    }
    return others;
}

GRADIENT(prod)
{
    UNUSED;
    const bool again = tn__derives() && in[0]->numel > 0;
    g[0] = tn_mul(tn__kept(back, up), again ? by_products(back, in[0]) : by_zeros(back, in[0]));
}

/* ---- along an axis ---- */

static int axis_of(const tn__backward *back)
{
    return *(const int *)back->attributes;
}

static tn_axes line_of(const tn__backward *back)
{
    return (tn_axes){.count = 1, .axis = {axis_of(back)}};
}

/* As phases, or as operations that can be differentiated again. */
GRADIENT(softmax)
{
    UNUSED;
    if (!tn__derives()) {
        g[0] = tn__phases(TN__LIST_softmax_gradient, up, out, 0, axis_of(back));
        return;
    }
    tn_tensor *weighted = tn_mul(up, out);
    g[0] = tn_sub(weighted, tn_mul(out, tn_sum(weighted, line_of(back), true)));
}

GRADIENT(log_softmax)
{
    UNUSED;
    if (!tn__derives())
        g[0] = tn__phases(TN__LIST_log_softmax_gradient, up, out, 0, axis_of(back));
    else
        g[0] = tn_sub(up, tn_mul(tn_exp(out), tn_sum(up, line_of(back), true)));
}

/* Sums of each element and all behind it. */
static tn_tensor *sums_to_the_end(const tn__backward *back, tn_tensor *x)
{
    x = tn_flip(x, line_of(back));
    x = tn_cumsum(x, axis_of(back));
    return tn_flip(x, line_of(back));
}

GRADIENT(cumsum)
{
    UNUSED;
    g[0] = sums_to_the_end(back, up);
}

/* Up to the first 0 of a line the sum of up · out behind each element, by the element; at the 0 the products without it; behind it
 * none. */
GRADIENT(cumprod)
{
    UNUSED;
    tn_tensor *zero = tn_int(0), *one = tn_int(1), *is_zero = tn_eq(in[0], zero), *zeros = tn_cumsum(is_zero, axis_of(back));
    tn_tensor *first = tn_logical_and(is_zero, tn_eq(zeros, one)), *before = tn_eq(zeros, zero);
    tn_tensor *by_itself = tn_div(sums_to_the_end(back, tn_mul(up, out)), tn_where(is_zero, one, in[0]));
    tn_tensor *without = tn_cumprod(tn_where(first, one, in[0]), axis_of(back));
    g[0] = tn_where(before, by_itself, tn_where(first, sums_to_the_end(back, tn_mul(up, without)), zero));
}

/* To the latest element that is the extreme so far. */
GRADIENT(running)
{
    UNUSED;
    const int a = axis_of(back);
    const char *name = tn_device_of(up);
    tn_shape line = {.ndim = up->ndim};
    for (int k = 0; k < line.ndim; k++) line.dim[k] = k == a ? up->dim[a] : 1;
    tn_tensor *place = tn_reshape(tn_arange(TN_I64, 0, (double)up->dim[a], 1, name), line);
    tn_tensor *is_new = tn_logical_or(tn_eq(in[0], out), tn_isnan(in[0]));
    tn_tensor *index = tn_cummax(tn_where(is_new, place, tn_int(0)), a);
    g[0] = tn_scatter_add(tn_zeros(up->dtype, back->operand[0].shape, name), a, index, up);
}

/* exp(x + log Σ exp(log(up) - out)) over the results behind, for positive and negative gradients apart; 0 where out is -inf, as are
 * all before it. */
static tn_tensor *log_part(const tn__backward *back, tn_tensor *x, tn_tensor *out, tn_tensor *up)
{
    tn_tensor *positive = tn_gt(up, tn_int(0)), *nothing = tn_float(-INFINITY);
    tn_tensor *logarithm = tn_where(positive, tn_log(tn_where(positive, up, tn_int(1))), nothing);
    tn_tensor *lines = tn_flip(tn_sub(logarithm, tn_where(tn_eq(out, nothing), tn_int(0), out)), line_of(back));
    return tn_exp(tn_add(x, tn_flip(tn_logcumsumexp(lines, axis_of(back)), line_of(back))));
}

GRADIENT(logcumsumexp)
{
    UNUSED;
    g[0] = tn_sub(log_part(back, in[0], out, up), log_part(back, in[0], out, tn_neg(up)));
}
