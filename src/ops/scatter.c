/* Scatter: elements combined with, or put in place of, those an index points at.
 *
 * Which of several updates of one element comes first must not depend on the device, so nothing is added in place: the index is sorted (stably),
 * the updates are put into its order, and every element of the result looks up which stretch of them is its own, and folds it
 * (graph/lookup.c). Of a long stretch it folds whole blocks that were combined before. */
#include "device/fault.h"
#include "ops/index.h"
#include "ops/compose.h"
#include "ops/create.h"
#include "core/view.h"
#include "graph/rows.h"
#include <string.h>
#include <tenon/ops.h>

typedef tn_tensor *row_function(tn_tensor *a, tn_tensor *b);

/* By tn_combine. LAST folds nothing: the last update stays. */
static const struct way {
    int row;
    row_function *apply;
} ways[] = {
    [TN_COMBINE_LAST] = {TN__ROW_NONE, NULL},          [TN_COMBINE_SUM] = {TN__ROW_add, tn_add},
    [TN_COMBINE_PROD] = {TN__ROW_mul, tn_mul},         [TN_COMBINE_MEAN] = {TN__ROW_add, tn_add},
    [TN_COMBINE_AMAX] = {TN__ROW_maximum, tn_maximum}, [TN_COMBINE_AMIN] = {TN__ROW_minimum, tn_minimum},
};

typedef struct scatter {
    const char *function;
    int fault;
    tn_combine how;
    bool include_self;
    int axis;
} scatter;

static tn_tensor *look_up(const scatter *s, tn__lookup lookup, tn_tensor *key, tn_tensor *end, tn_tensor *table,
                          const tn_shape *shape)
{
    return tn__look_along(s->function, lookup, s->axis, key, end, table, shape);
}

/* Block b of a level of n elements: elements BASE·b to BASE·b + BASE - 1 combined one after the other, on every device alike. */
static tn_tensor *blocks(const scatter *s, tn_tensor *level, int64_t n)
{
    const tn__lookup fold = {.form = TN__FOLD, .count = n, .row = ways[s->how].row};
    tn_shape shape = tn__tensor_shape(level);
    shape.dim[s->axis] = n / TN__FOLD_BASE;
    tn_tensor *first = tn__steps_along(n / TN__FOLD_BASE, TN__FOLD_BASE, s->axis, level->ndim, tn_device_of(level));
    if (!first) return NULL;
    /* one less than a block has no level of its own to look at; its last element is added here */
    tn_tensor *most = look_up(s, fold, first, tn_add(first, tn_int(TN__FOLD_BASE - 1)), level, &shape);
    tn_tensor *last = tn_slice(level, s->axis, TN__FOLD_BASE - 1, n / TN__FOLD_BASE * TN__FOLD_BASE, TN__FOLD_BASE);
    return ways[s->how].apply(most, last);
}

/* Behind the updates, the levels FOLD wants: blocks of them combined, blocks of those, … */
static tn_tensor *with_levels(const scatter *s, tn_tensor *updates)
{
    tn_tensor *level[16] = {updates};
    int levels = 1;
    for (int64_t n = updates->dim[s->axis]; n >= TN__FOLD_BASE && level[levels - 1]; levels++, n /= TN__FOLD_BASE)
        level[levels] = blocks(s, level[levels - 1], n);
    return levels == 1 ? updates : tn_concat(level, levels, s->axis);
}

/* The stretch of the sorted index that points at each place of the axis: from lo to hi - 1. */
static bool find_stretches(const scatter *s, tn_tensor *keys, int64_t n, tn_tensor **lo, tn_tensor **hi)
{
    tn_shape shape = tn__tensor_shape(keys);
    const int64_t m = shape.dim[s->axis];
    shape.dim[s->axis] = n;
    tn_tensor *place = tn__steps_along(n, 1, s->axis, keys->ndim, tn_device_of(keys));
    if (!place) return false;
    *lo = look_up(s, (tn__lookup){.form = TN__SEARCH_LEFT, .count = m}, place, NULL, keys, &shape);
    *hi = look_up(s, (tn__lookup){.form = TN__SEARCH_RIGHT, .count = m}, place, NULL, keys, &shape);
    return *lo && *hi;
}

static tn_tensor *mean(const scatter *s, tn_tensor *base, tn_tensor *sum, tn_tensor *count)
{
    row_function *const divide = tn_dtype_is_float(base->dtype) ? tn_div : tn_floor_divide;
    if (s->include_self) {
        sum = tn_add(base, sum);
        count = tn_add(count, tn_int(1));
    }
    return sum && count ? divide(sum, tn_cast(count, sum->dtype)) : NULL;
}

static tn_tensor *combine(const scatter *s, tn_tensor *base, tn_tensor *sorted, tn_tensor *lo, tn_tensor *hi, int64_t m)
{
    const tn_shape shape = tn__tensor_shape(base);
    if (s->how == TN_COMBINE_LAST) {
        const tn__lookup last = {.form = TN__GATHER, .count = m, .fault = s->fault}; /* never out of range: -1 is the last one */
        return tn_where(tn_lt(lo, hi), look_up(s, last, tn_sub(hi, tn_int(1)), NULL, sorted, &shape), base);
    }
    const tn__lookup fold = {.form = TN__FOLD, .count = m, .row = ways[s->how].row};
    tn_tensor *table = with_levels(s, sorted);
    tn_tensor *folded = table ? look_up(s, fold, lo, hi, table, &shape) : NULL, *y = folded;
    if (s->how == TN_COMBINE_MEAN)
        y = mean(s, base, folded, tn_sub(hi, lo));
    else if (s->include_self)
        y = ways[s->how].apply(base, folded);
    return tn_where(tn_lt(lo, hi), y, base);
}

/* base with the updates: index is base's shape but for the axis, or 1 long; updates broadcast over those. */
static tn_tensor *apply(const scatter *s, tn_tensor *base, tn_tensor *index, tn_tensor *updates)
{
    const tn_shape shape = tn__tensor_shape(index);
    const int64_t n = base->dim[s->axis], m = index->dim[s->axis], none[TN_MAX_AXES] = {0};
    const tn__lookup place = {.form = TN__PLACE, .count = n, .fault = s->fault};
    const bool half = tn_dtype_is_float(base->dtype) && tn_dtype_size(base->dtype) == 2 && s->how != TN_COMBINE_LAST;
    const bool counts = s->how == TN_COMBINE_MEAN && !tn_dtype_is_float(base->dtype) && base->dtype != TN_U64;
    const tn_dtype dtype = half ? TN_F32 : counts ? TN_I64 : base->dtype;
    tn_tensor *keys = NULL, *order = NULL, *lo = NULL, *hi = NULL;
    tn_tensor *placed = tn__record_lookup(s->function, &place, index, NULL, base, &shape, none);
    if (!placed || tn_sort(placed, s->axis, false, &keys, &order) != TN_OK || !find_stretches(s, keys, n, &lo, &hi)) return NULL;
    tn_tensor *sorted = tn_take_along_axis(tn_cast(updates, dtype), order, s->axis);
    tn_tensor *y = sorted ? combine(s, tn_cast(base, dtype), sorted, lo, hi, m) : NULL;
    return y ? tn_cast(y, base->dtype) : NULL;
}

/* ---- operands ---- */

typedef struct operands {
    tn_tensor *x, *index, *src;
    tn_scope scope;
} operands;

/* x, index and src on one device; src of x's dtype or going into it by promotion. Opens a scope that finish closes. */
static bool take_operands(const scatter *s, tn_tensor *x, tn_tensor *index, tn_tensor *src, const char *name, operands *o)
{
    tn_tensor *list[3] = {x, index, src}, *moved[3] = {NULL};
    tn_dtype dtype;
    tn__graph_start();
    *o = (operands){.scope = tn_scope_push()};
    if (tn__tensor_check(x, s->function, "x") != TN_OK || tn__tensor_check(index, s->function, "index") != TN_OK ||
        tn__tensor_check(src, s->function, name) != TN_OK || !tn__index_check(s->function, index))
        return false;
    const tn__device *device = tn__common_device(s->function, list, 3, moved);
    if (!device) return false;
    for (int i = 0; i < 3; i++)
        if (moved[i]) list[i] = moved[i];
    if (!tn__promote_list((tn_tensor *const[]){x, src}, 2, &dtype)) return false;
    if (dtype != x->dtype) {
        (void)tn__fail(TN_DTYPE, "%s: %s of %s for x of %s", s->function, name, tn_dtype_name(src->dtype), tn_dtype_name(x->dtype));
        return false;
    }
    if (s->how == TN_COMBINE_MEAN && dtype == TN_BOOL) {
        (void)tn__fail(TN_DTYPE, "%s: no mean of bool", s->function);
        return false;
    }
    list[2] = tn_cast(list[2], dtype);
    for (int i = 0; i < 3 && list[2]; i++) /* a tensor of no axes may be on host */
        if (list[i] && tn__tensor_device(list[i]) != device) list[i] = tn_to(list[i], device->name);
    *o = (operands){list[0], list[1], list[2], o->scope};
    return o->x && o->index && o->src;
}

/* The axis, of x with at least one. */
static bool take_axis(scatter *s, operands *o, int axis)
{
    if (o->x->ndim == 0) o->x = tn_reshape(o->x, TN_SHAPE(1));
    s->axis = o->x ? tn__axis(axis, o->x->ndim, s->function) : -1;
    return s->axis >= 0;
}

/* The part of t with these extents. */
static tn_tensor *corner(tn_tensor *t, const tn_shape *shape)
{
    for (int k = 0; t && k < shape->ndim; k++)
        if (t->dim[k] != shape->dim[k]) t = tn_slice(t, k, 0, shape->dim[k], 1);
    return t;
}

/* Ends the operation: y in x's shape, a copy of x where there is nothing to do. */
static tn_tensor *finish(const operands *o, tn_tensor *x, tn_tensor *y)
{
    if (y && y->ndim != x->ndim) y = tn_reshape(y, tn__tensor_shape(x));
    return tn__leave(o->scope, y);
}

/* ---- an index for each update ---- */

static tn_tensor *scatter_into(const scatter *s, tn_tensor *x, tn_tensor *index, tn_tensor *src)
{
    const tn_shape shape = tn__tensor_shape(index), whole = tn__tensor_shape(x);
    tn_shape region = shape;
    bool fits = index->ndim == x->ndim && (src->ndim == 0 || src->ndim == x->ndim);
    for (int k = 0; fits && k < x->ndim; k++)
        fits = (k == s->axis || index->dim[k] <= x->dim[k]) && (src->ndim == 0 || index->dim[k] <= src->dim[k]);
    if (!fits)
        return TN__NULL(TN_SHAPE,
                        "%s: index %s and src %s for x %s; as many axes, index nowhere longer than src, and but for axis %d than x",
                        s->function, tn__shape_text(index->ndim, index->dim), tn__shape_text(src->ndim, src->dim),
                        tn__shape_text(x->ndim, x->dim), s->axis);
    if (index->numel == 0) return tn_clone(x);
    src = src->ndim == 0 ? tn_expand(src, shape) : corner(src, &shape);
    region.dim[s->axis] = x->dim[s->axis];
    if (!src) return NULL;
    if (tn__shape_equal(&region, &whole)) return apply(s, x, index, src);
    tn_tensor *y = tn_clone(x), *part = y ? apply(s, corner(x, &region), index, src) : NULL;
    return part && tn_assign(corner(y, &region), part) == TN_OK ? y : NULL;
}

static tn_tensor *scatter_along(scatter s, tn_tensor *x, int axis, tn_tensor *index, tn_tensor *src)
{
    operands o;
    tn_tensor *y = NULL;
    if (take_operands(&s, x, index, src, "src", &o) && take_axis(&s, &o, axis)) {
        if (o.index->ndim == 0) o.index = tn_reshape(o.index, TN_SHAPE(1));
        y = o.index ? scatter_into(&s, o.x, o.index, o.src) : NULL;
    }
    return finish(&o, x, y);
}

static bool check_how(const char *function, tn_combine how)
{
    if ((unsigned)how <= TN_COMBINE_AMIN) return true;
    (void)tn__fail(TN_ARGUMENT, "%s: %d is no way to combine", function, (int)how);
    return false;
}

tn_tensor *tn_scatter(tn_tensor *x, int axis, tn_tensor *index, tn_tensor *src)
{
    return scatter_along((scatter){"scatter", TN__FAULT_scatter, TN_COMBINE_LAST, true, 0}, x, axis, index, src);
}

tn_tensor *tn_scatter_add(tn_tensor *x, int axis, tn_tensor *index, tn_tensor *src)
{
    return scatter_along((scatter){"scatter_add", TN__FAULT_scatter_add, TN_COMBINE_SUM, true, 0}, x, axis, index, src);
}

tn_tensor *tn_scatter_reduce(tn_tensor *x, int axis, tn_tensor *index, tn_tensor *src, tn_combine how, bool include_self)
{
    if (!check_how("scatter_reduce", how)) return NULL;
    return scatter_along((scatter){"scatter_reduce", TN__FAULT_scatter_reduce, how, include_self, 0}, x, axis, index, src);
}

/* ---- an index for each slice ---- */

static tn_tensor *slices_into(const scatter *s, tn_tensor *x, tn_tensor *index, tn_tensor *src)
{
    tn_shape line = {.ndim = x->ndim}, shape = tn__tensor_shape(x);
    if (index->ndim > 1)
        return TN__NULL(TN_SHAPE, "%s: index %s; it has one axis", s->function, tn__shape_text(index->ndim, index->dim));
    for (int k = 0; k < x->ndim; k++) line.dim[k] = k == s->axis ? index->numel : 1;
    shape.dim[s->axis] = index->numel;
    const tn_shape own = tn__tensor_shape(src);
    if (src->ndim != 0 && !tn__shape_equal(&own, &shape))
        return TN__NULL(TN_SHAPE, "%s: src %s for x %s and %lld indices along axis %d", s->function,
                        tn__shape_text(own.ndim, own.dim), tn__shape_text(x->ndim, x->dim), (long long)index->numel, s->axis);
    if (index->numel == 0 || (x->numel == 0 && x->dim[s->axis] > 0)) return tn_clone(x);
    index = tn_reshape(index, line);
    src = tn_expand(src, shape);
    return index && src ? apply(s, x, index, src) : NULL;
}

static tn_tensor *scatter_slices(scatter s, tn_tensor *x, int axis, tn_tensor *index, tn_tensor *src, const char *name)
{
    operands o;
    tn_tensor *y = NULL;
    if (take_operands(&s, x, index, src, name, &o) && take_axis(&s, &o, axis)) {
        if (x->ndim == 0 && o.src->ndim == 0) o.src = tn_reshape(o.src, TN_SHAPE(1));
        y = o.src ? slices_into(&s, o.x, o.index, o.src) : NULL;
    }
    return finish(&o, x, y);
}

tn_tensor *tn_index_add(tn_tensor *x, int axis, tn_tensor *index, tn_tensor *src)
{
    return scatter_slices((scatter){"index_add", TN__FAULT_index_add, TN_COMBINE_SUM, true, 0}, x, axis, index, src, "src");
}

tn_tensor *tn_index_copy(tn_tensor *x, int axis, tn_tensor *index, tn_tensor *src)
{
    return scatter_slices((scatter){"index_copy", TN__FAULT_index_copy, TN_COMBINE_LAST, true, 0}, x, axis, index, src, "src");
}

tn_tensor *tn_index_reduce(tn_tensor *x, int axis, tn_tensor *index, tn_tensor *src, tn_combine how, bool include_self)
{
    if (!check_how("index_reduce", how)) return NULL;
    return scatter_slices((scatter){"index_reduce", TN__FAULT_index_reduce, how, include_self, 0}, x, axis, index, src, "src");
}

tn_tensor *tn_index_fill(tn_tensor *x, int axis, tn_tensor *index, tn_tensor *value)
{
    if (tn__tensor_check(value, "index_fill", "value") != TN_OK) return NULL;
    if (value->ndim != 0)
        return TN__NULL(TN_SHAPE, "index_fill: a value of shape %s; it has no axes", tn__shape_text(value->ndim, value->dim));
    return scatter_slices((scatter){"index_fill", TN__FAULT_index_fill, TN_COMBINE_LAST, true, 0}, x, axis, index, value, "value");
}

/* ---- flat ---- */

tn_tensor *tn_put(tn_tensor *x, tn_tensor *index, tn_tensor *src, bool accumulate)
{
    scatter s = {"put", TN__FAULT_put, accumulate ? TN_COMBINE_SUM : TN_COMBINE_LAST, true, 0};
    operands o;
    tn_tensor *y = NULL;
    if (take_operands(&s, x, index, src, "src", &o)) {
        if (o.src->ndim != 0 && o.src->numel != o.index->numel)
            (void)tn__fail(TN_SHAPE, "put: %lld indices and %lld elements of src", (long long)o.index->numel,
                           (long long)o.src->numel);
        else {
            tn_tensor *flat = tn_reshape(o.x, TN_SHAPE(-1)), *at = tn_reshape(o.index, TN_SHAPE(-1));
            tn_tensor *from = o.src->ndim ? tn_reshape(o.src, TN_SHAPE(-1)) : o.src;
            y = flat && at && from ? scatter_into(&s, flat, at, from) : NULL;
        }
    }
    return finish(&o, x, y);
}
