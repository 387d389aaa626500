/* By mask: what is not zero is numbered by a cumulative sum; where the sum reaches k stands the k-th. */
#include "device/fault.h"
#include "ops/index.h"
#include "ops/compose.h"
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

/* The indices of what holds in a flat mask. */
static tn_tensor *places(tn_tensor *mask)
{
    const tn_scope scope = tn_scope_push();
    const char *device = tn__tensor_device(mask)->name;
    int64_t count = 0;
    tn_tensor *y = NULL;
    if (mask->numel == 0) return tn__leave(scope, tn_zeros(TN_I64, TN_SHAPE(0), device));
    tn_tensor *sums = tn_cumsum(mask, 0);
    if (tn_item_int(tn_select(sums, 0, -1), &count) == TN_OK)
        y = tn_searchsorted(sums, tn_arange(TN_I64, 1, (double)count + 1, 1, device), false);
    return tn__leave(scope, y);
}

tn_tensor *tn_flatnonzero(tn_tensor *x)
{
    if (tn__tensor_check(x, "flatnonzero", "x") != TN_OK) return NULL;
    const tn_scope scope = tn_scope_push();
    tn_tensor *mask = tn_reshape(tn_cast(x, TN_BOOL), TN_SHAPE(-1));
    return tn__leave(scope, mask ? places(mask) : NULL);
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

static tn_tensor *fail_broadcast(const char *function, const tn_shape *x, const tn_shape *mask)
{
    return TN__NULL(TN_SHAPE, "%s: x %s and mask %s do not broadcast", function, tn__shape_text(x->ndim, x->dim),
                    tn__shape_text(mask->ndim, mask->dim));
}

/* Both in their common shape. */
static bool broadcast(const char *function, tn_tensor **x, tn_tensor **mask)
{
    const tn_shape a = tn__tensor_shape(*x), b = tn__tensor_shape(*mask);
    tn_shape both;
    if (!tn__shape_broadcast(&a, &b, &both)) return fail_broadcast(function, &a, &b) != NULL;
    *x = tn_expand(*x, both);
    *mask = tn_expand(*mask, both);
    return *x && *mask;
}

tn_tensor *tn_masked_select(tn_tensor *x, tn_tensor *mask)
{
    const tn_scope scope = tn_scope_push();
    tn_tensor *y = NULL;
    tn__pair p;
    if (tn__pair_take("masked_select", x, "x", mask, "mask", &p) && check_mask("masked_select", mask) &&
        broadcast("masked_select", &p.a, &p.b))
        y = tn_take(p.a, tn_flatnonzero(p.b));
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
    const tn_shape a = tn__tensor_shape(x), b = tn__tensor_shape(mask);
    tn_shape common;
    if (!tn__shape_broadcast(&a, &b, &common)) return fail_broadcast("masked_fill", &a, &b);
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

tn_tensor *tn_masked_scatter(tn_tensor *x, tn_tensor *mask, tn_tensor *source)
{
    const tn_scope scope = tn_scope_push();
    tn_tensor *y = NULL;
    tn__pair p, q;
    tn_shape shape, of_mask, both;
    bool taken = tn__pair_take("masked_scatter", x, "x", mask, "mask", &p) && check_mask("masked_scatter", mask);
    if (taken) {
        shape = tn__tensor_shape(x);
        of_mask = tn__tensor_shape(mask);
        taken = (tn__shape_broadcast(&shape, &of_mask, &both) && tn__shape_equal(&shape, &both)) ||
                fail_broadcast("masked_scatter", &shape, &of_mask);
    }
    if (taken && tn__pair_take("masked_scatter", p.a, "x", source, "source", &q)) {
        if (source->dtype != x->dtype)
            (void)tn__fail(TN_DTYPE, "masked_scatter: a source of %s for x of %s", tn_dtype_name(source->dtype),
                           tn_dtype_name(x->dtype));
        else if ((mask = tn_to(tn_expand(p.b, shape), tn_device_of(q.a))))
            y = x->numel == 0 ? tn_clone(q.a) : fill_from(q.a, mask, q.b);
        tn__pair_drop(&q);
    }
    tn__pair_drop(&p);
    return tn__leave(scope, y);
}
