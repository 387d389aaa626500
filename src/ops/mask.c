/* By mask: what is not zero is numbered by a cumulative sum; where the sum reaches k stands the k-th. */
#include "device/fault.h"
#include "ops/compose.h"
#include "ops/index.h"
#include "core/view.h"
#include "graph/rows.h"
#include <string.h>
#include <tenon/ops.h>

static bool check_mask(const char *function, const tn_tensor *mask)
{
    if (mask->dtype == TN_BOOL) return true;
    (void)tn__fail(TN_DTYPE, "%s: a mask of %s; allowed is bool", function, tn_dtype_name(mask->dtype));
    return false;
}

tn_tensor *tn_flatnonzero(tn_tensor *x)
{
    if (tn__tensor_check(x, "flatnonzero", "x") != TN_OK) return NULL;
    const tn_scope scope = tn_scope_push();
    const char *device = tn_device_of(x);
    int64_t count = 0;
    if (x->numel == 0) return tn__leave(scope, tn_zeros(TN_I64, TN_SHAPE(0), device));
    tn_tensor *sums = tn_cumsum(tn_reshape(tn_cast(x, TN_BOOL), TN_SHAPE(-1)), 0), *y = NULL;
    if (tn_item_int(tn_select(sums, 0, -1), &count) == TN_OK)
        y = tn_searchsorted(sums, tn_arange(TN_I64, 1, (double)count + 1, 1, device), false);
    return tn__leave(scope, y);
}

tn_tensor *tn_nonzero(tn_tensor *x)
{
    if (tn__tensor_check(x, "nonzero", "x") != TN_OK) return NULL;
    const tn_scope scope = tn_scope_push();
    tn_tensor *flat = tn_flatnonzero(x), *column[TN_MAX_AXES];
    if (!flat) return tn__leave(scope, NULL);
    if (x->ndim == 0 || flat->numel == 0)
        return tn__leave(scope, tn_zeros(TN_I64, TN_SHAPE(flat->numel, x->ndim), tn__tensor_device(x)->name));
    int64_t step = 1;
    for (int k = x->ndim - 1; k >= 0; k--) {
        column[k] = tn_remainder(tn_floor_divide(flat, tn_int(step)), tn_int(x->dim[k]));
        step *= x->dim[k];
    }
    return tn__leave(scope, tn_stack(column, x->ndim, 1));
}

/* The common shape, x's own where that is asked for. False with an error. */
static bool common_shape(const char *function, const tn_tensor *x, const tn_tensor *mask, bool own, tn_shape *common)
{
    const tn_shape a = tn__tensor_shape(x), b = tn__tensor_shape(mask);
    if (tn__shape_broadcast(&a, &b, common) && (!own || tn__shape_equal(&a, common))) return true;
    (void)tn__fail(TN_SHAPE, "%s: x %s and mask %s do not broadcast", function, tn__shape_text(a.ndim, a.dim),
                   tn__shape_text(b.ndim, b.dim));
    return false;
}

/* To where the elements came from. */
static void select_back(const tn__backward *back)
{
    tn_tensor *up = back->up[0], *mask = back->in[1];
    tn_tensor *zeros = tn_zeros(up->dtype, back->operand[1].shape, tn__tensor_device(up)->name);
    back->g[0] = tn_masked_scatter(zeros, mask, up);
}

static const tn__derivative derive_select = {"masked_select", select_back, TN__SAVES_SECOND, 0};

tn_tensor *tn_masked_select(tn_tensor *x, tn_tensor *mask)
{
    const tn_scope scope = tn_scope_push();
    tn_tensor *y = NULL;
    tn_shape common;
    tn__pair p;
    if (tn__pair_take("masked_select", x, "x", mask, "mask", &p) && check_mask("masked_select", mask) &&
        common_shape("masked_select", x, mask, false, &common)) {
        tn__derive_pause();
        tn_tensor *all = tn_expand(p.b, common), *at = tn_flatnonzero(all);
        y = tn_take(tn_expand(p.a, common), at);
        tn__derive_resume();
        y = tn__recorded(&derive_select, NULL, (tn_tensor *const[]){x, all}, 2, y);
    }
    tn__pair_drop(&p);
    return tn__leave(scope, y);
}

tn_tensor *tn_masked_fill(tn_tensor *x, tn_tensor *mask, tn_tensor *value)
{
    tn_tensor *const both[2] = {x, value};
    tn_dtype dtype;
    if (tn__tensor_check(x, "masked_fill", "x") != TN_OK || tn__tensor_check(mask, "masked_fill", "mask") != TN_OK ||
        tn__tensor_check(value, "masked_fill", "value") != TN_OK || !check_mask("masked_fill", mask))
        return NULL;
    if (value->ndim != 0)
        return TN__NULL(TN_SHAPE, "masked_fill: a value of shape %s; it has no axes", tn__shape_text(value->ndim, value->dim));
    tn_shape common;
    if (!common_shape("masked_fill", x, mask, false, &common)) return NULL;
    if (!tn__promote_list(both, 2, &dtype)) return NULL;
    if (dtype != x->dtype)
        return TN__NULL(TN_DTYPE, "masked_fill: a value of %s for x of %s", tn_dtype_name(value->dtype), tn_dtype_name(x->dtype));
    return tn_where(mask, value, x);
}

/* x, but where mask holds the elements of source; all on one device, in one dtype. */
static tn_tensor *fill_from(tn_tensor *x, tn_tensor *mask, tn_tensor *source)
{
    const tn_shape shape = tn__tensor_shape(x);
    tn_tensor *place = tn_sub(tn_cumsum(tn_reshape(mask, TN_SHAPE(-1)), 0), tn_int(1));
    if (source->numel == 0) { /* nothing to point at: fails unless nothing is asked for */
        int64_t any = 0;
        if (tn_item_int(tn_any(mask, TN_ALL_AXES, false), &any) != TN_OK) return NULL;
        return any ? (void)tn__fault_fail(TN__FAULT_masked_scatter, 0, 0), NULL : tn_clone(x);
    }
    place = tn_where(mask, tn_reshape(place, shape), tn_int(0));
    return place ? tn_where(mask, tn__take_flat("masked_scatter", TN__FAULT_masked_scatter, source, place), x) : NULL;
}

/* Each element of the source went where the mask's sum reaches its number, if anywhere. */
static void scatter_back(const tn__backward *back)
{
    tn_tensor *up = back->up[0], *mask = back->in[1], *zero = tn_int(0);
    const tn_shape *shape = &back->operand[2].shape;
    int64_t n = 1;
    for (int a = 0; a < shape->ndim; a++) n *= shape->dim[a];
    back->g[0] = tn_where(mask, zero, up);
    if (!back->operand[2].wanted) return;
    if (up->numel == 0 || n == 0) {
        back->g[2] = tn_zeros(up->dtype, *shape, tn__tensor_device(up)->name);
        return;
    }
    tn_tensor *number = tn_arange(TN_I64, 1, (double)n + 1, 1, tn__tensor_device(up)->name);
    tn_tensor *place = tn_searchsorted(tn_cumsum(tn_reshape(mask, TN_SHAPE(-1)), 0), number, false);
    tn_tensor *there = tn_take(up, tn_minimum(place, tn_int(up->numel - 1)));
    tn_tensor *g = tn_where(tn_lt(place, tn_int(up->numel)), there, zero);
    back->g[2] = g ? tn_reshape(g, *shape) : NULL;
}

static const tn__derivative derive_scatter = {"masked_scatter", scatter_back, TN__SAVES_SECOND, 0};

tn_tensor *tn_masked_scatter(tn_tensor *x, tn_tensor *mask, tn_tensor *source)
{
    const tn_scope scope = tn_scope_push();
    tn_tensor *y = NULL;
    tn__pair p, q;
    tn_shape shape;
    if (tn__pair_take("masked_scatter", x, "x", mask, "mask", &p) && check_mask("masked_scatter", mask) &&
        common_shape("masked_scatter", x, mask, true, &shape) && tn__pair_take("masked_scatter", p.a, "x", source, "source", &q)) {
        if (source->dtype != x->dtype)
            (void)tn__fail(TN_DTYPE, "masked_scatter: a source of %s for x of %s", tn_dtype_name(source->dtype),
                           tn_dtype_name(x->dtype));
        else if ((mask = tn_to(tn_expand(p.b, shape), tn_device_of(q.a)))) {
            tn__derive_pause();
            y = x->numel == 0 ? tn_clone(q.a) : fill_from(q.a, mask, q.b);
            tn__derive_resume();
            y = tn__recorded(&derive_scatter, NULL, (tn_tensor *const[]){x, mask, source}, 3, y);
        }
        tn__pair_drop(&q);
    }
    tn__pair_drop(&p);
    return tn__leave(scope, y);
}
