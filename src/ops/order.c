/* Values along an axis with their indices, composed of sorts, scans, reductions and lookups. */
#include "ops/compose.h"
#include "ops/create.h"
#include "ops/index.h"
#include <inttypes.h>
#include <tenon/ops.h>

/* ---- a line: the axis that a function is about ---- */

typedef struct line {
    tn_tensor *x; /* a tensor without axes as a line of one element */
    int axis;
    int64_t n;
    bool single; /* x had no axes */
    bool floats;
    bool follows; /* the gradient needs the indices */
    tn_scope scope;
} line;

/* Checks, and opens the scope. few: elements that there must be. */
static tn_status start(line *l, tn_tensor *x, int axis, int few, const char *name, tn_tensor **const *out)
{
    *l = (line){.x = x};
    TN__TRY(tn__start_both(x, name, out));
    l->single = x->ndim == 0;
    l->axis = tn__axis(axis, l->single ? 1 : x->ndim, name);
    if (l->axis < 0) return TN_AXIS;
    l->n = l->single ? 1 : x->dim[l->axis];
    if (l->n < few)
        return tn__fail(TN_SHAPE, "%s: %s has no elements along axis %d", name, tn__shape_text(x->ndim, x->dim), l->axis);
    l->floats = tn_dtype_is_float(x->dtype);
    l->follows = out[0] && tn__derives_from(x);
    l->scope = tn_scope_push();
    if (l->single) l->x = tn_unsqueeze(x, 0);
    return TN_OK;
}

/* Closes the scope; of what is left of the axis, one element, only the extent where it is to be kept. */
static tn_status finish(const line *l, tn_tensor *values, tn_tensor *indices, bool keepdim, tn_tensor **const *out)
{
    tn_tensor *made[] = {values, indices};
    for (int i = 0; i < 2; i++)
        if (made[i] && (l->single || !keepdim)) made[i] = tn_squeeze(made[i], TN_AXES(l->axis));
    return tn__leave_all(l->scope, made, out, 2);
}

/* The same for values that were found in the line at the indices. */
static tn_status finish_found(const line *l, const tn__derivative *d, tn_tensor *values, tn_tensor *indices, bool keepdim,
                              tn_tensor **const *out)
{
    if (indices) values = tn__recorded(d, &l->axis, (tn_tensor *const[]){l->x, indices}, 2, values);
    return finish(l, values, indices, keepdim, out);
}

static const tn__derivative derive_topk = TN__GATHERS("topk"), derive_kthvalue = TN__GATHERS("kthvalue"),
                            derive_median = TN__GATHERS("median"), derive_nanmedian = TN__GATHERS("nanmedian"),
                            derive_mode = TN__GATHERS("mode");

/* 0 … n - 1 along the axis. */
static tn_tensor *places(const line *l)
{
    return l->x ? tn__steps_along(l->n, 1, l->axis, l->x->ndim, tn_device_of(l->x)) : NULL;
}

static tn_tensor *part(const line *l, tn_tensor *x, int64_t from, int64_t count)
{
    return tn_slice(x, l->axis, from, from + count, 1);
}

/* ---- from the sorted line ---- */

/* Elements from … from + count - 1 of the sorted line. */
static tn_status sorted_part(const line *l, const tn__derivative *d, int64_t from, int64_t count, bool descending, bool keepdim,
                             tn_tensor **const *out)
{
    tn_tensor *values = NULL, *indices = NULL;
    tn__derive_pause();
    (void)tn_sort(l->x, l->axis, descending, out[0] ? &values : NULL, out[1] || l->follows ? &indices : NULL);
    values = values ? part(l, values, from, count) : NULL;
    indices = indices ? part(l, indices, from, count) : NULL;
    tn__derive_resume();
    return finish_found(l, d, values, indices, keepdim, out);
}

tn_status tn_topk(tn_tensor *x, int64_t k, int axis, bool largest, tn_tensor **values, tn_tensor **indices)
{
    tn_tensor **const out[] = {values, indices};
    line l;
    TN__TRY(start(&l, x, axis, 0, "topk", out));
    if (k >= 0 && k <= l.n) return sorted_part(&l, &derive_topk, 0, k, largest, !l.single, out);
    (void)tn__fail(TN_ARGUMENT, "topk: k is %" PRId64 "; %s has %" PRId64 " elements along axis %d", k,
                   tn__shape_text(x->ndim, x->dim), l.n, l.axis);
    return tn_scope_pop(l.scope);
}

tn_status tn_kthvalue(tn_tensor *x, int64_t k, int axis, bool keepdim, tn_tensor **values, tn_tensor **indices)
{
    tn_tensor **const out[] = {values, indices};
    line l;
    TN__TRY(start(&l, x, axis, 1, "kthvalue", out));
    if (k >= 1 && k <= l.n) return sorted_part(&l, &derive_kthvalue, k - 1, 1, false, keepdim, out);
    (void)tn__fail(TN_ARGUMENT, "kthvalue: k is %" PRId64 "; 1 to %" PRId64 " are possible along axis %d of %s", k, l.n, l.axis,
                   tn__shape_text(x->ndim, x->dim));
    return tn_scope_pop(l.scope);
}

/* The middle one of the sorted line's elements, of an even number the lower one. NaN, which is last, comes first where it counts,
 * and is left out where it does not. */
static tn_tensor *middle(const line *l, bool skip_nan)
{
    tn_tensor *there = tn_sum(tn_logical_not(tn_isnan(l->x)), TN_AXES(l->axis), true);
    if (!skip_nan) return tn_where(tn_lt(there, tn_int(l->n)), there, tn_int((l->n - 1) / 2));
    return tn_floor_divide(tn_sub(tn_maximum(there, tn_int(1)), tn_int(1)), tn_int(2));
}

static tn_status median(tn_tensor *x, int axis, bool keepdim, const tn__derivative *d, tn_tensor **const *out)
{
    tn_tensor *values, *indices;
    line l;
    TN__TRY(start(&l, x, axis, 1, d->name, out));
    if (!l.floats) return sorted_part(&l, d, (l.n - 1) / 2, 1, false, keepdim, out);
    tn__derive_pause();
    tn_tensor *place = middle(&l, d == &derive_nanmedian);
    (void)tn_sort(l.x, l.axis, false, &values, &indices);
    values = tn_take_along_axis(values, place, l.axis);
    if (out[1] || l.follows) indices = tn_take_along_axis(indices, place, l.axis);
    tn__derive_resume();
    return finish_found(&l, d, values, indices, keepdim, out);
}

tn_status tn_median_with_index(tn_tensor *x, int axis, bool keepdim, tn_tensor **values, tn_tensor **indices)
{
    tn_tensor **const out[] = {values, indices};
    return median(x, axis, keepdim, &derive_median, out);
}

tn_status tn_nanmedian_with_index(tn_tensor *x, int axis, bool keepdim, tn_tensor **values, tn_tensor **indices)
{
    tn_tensor **const out[] = {values, indices};
    return median(x, axis, keepdim, &derive_nanmedian, out);
}

/* Runs of equal elements in the sorted line: the first of the longest ends where an element's number in its run is largest. */
tn_status tn_mode(tn_tensor *x, int axis, bool keepdim, tn_tensor **values, tn_tensor **indices)
{
    tn_tensor **const out[] = {values, indices}, *v, *at;
    line l;
    TN__TRY(start(&l, x, axis, 1, "mode", out));
    tn__derive_pause();
    (void)tn_sort(l.x, l.axis, false, &v, &at);
    tn_tensor *place = places(&l), *before = tn_take_along_axis(v, tn_maximum(tn_sub(place, tn_int(1)), tn_int(0)), l.axis);
    tn_tensor *begins = tn_cummax(tn_where(tn_ne(v, before), place, tn_int(0)), l.axis);
    tn_tensor *end = tn_argmax(tn_sub(place, begins), TN_AXES(l.axis), true);
    v = tn_take_along_axis(v, end, l.axis);
    at = tn_take_along_axis(at, end, l.axis);
    tn__derive_resume();
    return finish_found(&l, &derive_mode, v, at, keepdim, out);
}

/* ---- extremes ---- */

static tn_status extreme(tn_tensor *x, int axis, bool keepdim, const char *name, tn_tensor *(*find)(tn_tensor *, tn_axes, bool),
                         tn_tensor **const *out)
{
    line l;
    TN__TRY(start(&l, x, axis, 1, name, out));
    tn_tensor *at = find(l.x, TN_AXES(l.axis), true);
    return finish(&l, tn_take_along_axis(l.x, at, l.axis), at, keepdim, out);
}

tn_status tn_max_with_index(tn_tensor *x, int axis, bool keepdim, tn_tensor **values, tn_tensor **indices)
{
    tn_tensor **const out[] = {values, indices};
    return extreme(x, axis, keepdim, "max_with_index", tn_argmax, out);
}

tn_status tn_min_with_index(tn_tensor *x, int axis, bool keepdim, tn_tensor **values, tn_tensor **indices)
{
    tn_tensor **const out[] = {values, indices};
    return extreme(x, axis, keepdim, "min_with_index", tn_argmin, out);
}

/* The last place so far of what is the extreme there. */
static tn_status running(tn_tensor *x, int axis, const char *name, tn_tensor *(*scan)(tn_tensor *, int), tn_tensor **const *out)
{
    line l;
    TN__TRY(start(&l, x, axis, 0, name, out));
    tn_tensor *v = scan(l.x, l.axis), *at = NULL;
    if (out[1]) {
        tn_tensor *here = tn_eq(l.x, v);
        if (l.floats) here = tn_logical_or(here, tn_isnan(l.x));
        at = tn_cummax(tn_where(here, places(&l), tn_int(0)), l.axis);
    }
    return finish(&l, v, at, !l.single, out);
}

tn_status tn_cummax_with_index(tn_tensor *x, int axis, tn_tensor **values, tn_tensor **indices)
{
    tn_tensor **const out[] = {values, indices};
    return running(x, axis, "cummax_with_index", tn_cummax, out);
}

tn_status tn_cummin_with_index(tn_tensor *x, int axis, tn_tensor **values, tn_tensor **indices)
{
    tn_tensor **const out[] = {values, indices};
    return running(x, axis, "cummin_with_index", tn_cummin, out);
}
