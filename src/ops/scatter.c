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

static tn_tensor *put_together(const scatter *s, tn_tensor *base, tn_tensor *index, tn_tensor *updates)
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

/* ---- gradients ---- */

static const tn__derivative derivatives[TN_COMBINE_AMIN + 1];

/* base with the updates: index is base's shape but for the axis, or 1 long; updates broadcast over those. */
static tn_tensor *apply(const scatter *s, tn_tensor *base, tn_tensor *index, tn_tensor *updates)
{
    tn_tensor *const operands[3] = {base, index, updates};
    if (!base || !index || !updates) return NULL;
    tn__derive_pause();
    tn_tensor *y = put_together(s, base, index, updates);
    tn__derive_resume();
    return tn__recorded(&derivatives[s->how], s, operands, 3, y);
}

/* What a way back starts from. */
typedef struct way_back {
    scatter s;
    tn_tensor *base, *index, *updates, *up, *zero;
    tn_shape shape; /* the index's, but along the axis the base's */
} way_back;

static way_back way_of(const tn__backward *back)
{
    way_back w = {.s = *(const scatter *)back->attributes, .base = back->in[0], .index = back->in[1], .updates = back->in[2]};
    w.up = back->up[0];
    w.zero = tn_int(0);
    w.shape = tn__tensor_shape(w.index);
    w.shape.dim[w.s.axis] = back->operand[0].shape.dim[w.s.axis];
    return w;
}

/* Updates of the same elements, combined in another way. */
static tn_tensor *combined(const way_back *w, tn_combine how, bool include_self, tn_tensor *base, tn_tensor *updates)
{
    scatter s = w->s;
    s.how = how;
    s.include_self = include_self;
    return apply(&s, base, w->index, updates);
}

/* A number everywhere, of the shape that is enough for what depends on the index alone. */
static tn_tensor *everywhere(const way_back *w, tn_dtype dtype, int64_t number)
{
    return tn_full(dtype, w->shape, tn_int(number), tn_device_of(w->up));
}

/* How many updates an element has. */
static tn_tensor *counted(const way_back *w)
{
    tn_tensor *one = tn_full(TN_I32, tn__tensor_shape(w->index), tn_int(1), tn_device_of(w->up));
    return combined(w, TN_COMBINE_SUM, true, everywhere(w, TN_I32, 0), one);
}

/* x, but 0 where there is an update. */
static tn_tensor *untouched(const way_back *w, tn_tensor *x)
{
    return tn_where(tn_gt(counted(w), w->zero), w->zero, x);
}

/* The elements that the updates went to. */
static tn_tensor *looked_up(const way_back *w, tn_tensor *x)
{
    return tn_take_along_axis(x, w->index, w->s.axis);
}

/* The last update of an element is the one that stayed. */
static void last_back(const tn__backward *back)
{
    const way_back w = way_of(back);
    tn_tensor *number = tn__steps_along(w.index->dim[w.s.axis], 1, w.s.axis, w.index->ndim, tn_device_of(w.up));
    tn_tensor *winner = combined(&w, TN_COMBINE_LAST, true, everywhere(&w, TN_I64, -1), number);
    back->g[0] = tn_where(tn_lt(winner, w.zero), w.up, w.zero);
    if (back->operand[2].wanted) back->g[2] = tn_where(tn_eq(looked_up(&w, winner), number), looked_up(&w, w.up), w.zero);
}

static void sum_back(const tn__backward *back)
{
    const way_back w = way_of(back);
    if (back->operand[0].wanted) back->g[0] = w.s.include_self ? w.up : untouched(&w, w.up);
    if (back->operand[2].wanted) back->g[2] = looked_up(&w, w.up);
}

static void mean_back(const tn__backward *back)
{
    const way_back w = way_of(back);
    tn_tensor *count = counted(&w), *one = tn_int(1);
    tn_tensor *share = tn_div(w.up, w.s.include_self ? tn_add(count, one) : tn_maximum(count, one));
    back->g[0] = w.s.include_self ? share : tn_where(tn_gt(count, w.zero), w.zero, w.up);
    if (back->operand[2].wanted) back->g[2] = looked_up(&w, share);
}

/* The product of the other factors, of which none is 0 but `zeros` of them, as is x or not. */
static tn_tensor *others(tn_tensor *product, tn_tensor *zeros, tn_tensor *x, tn_tensor *factor)
{
    tn_tensor *zero = tn_int(0), *alone = tn_logical_and(tn_eq(zeros, tn_int(1)), tn_eq(x, zero));
    return tn_where(tn_eq(zeros, zero), tn_div(product, factor), tn_where(alone, product, zero));
}

/* The product of an element's factors but 0, and how many are 0. */
static void prod_back(const tn__backward *back)
{
    const way_back w = way_of(back);
    const bool self = w.s.include_self;
    tn_tensor *base_0 = tn_eq(w.base, w.zero), *update_0 = tn_eq(w.updates, w.zero), *one = tn_int(1);
    tn_tensor *base = tn_where(base_0, one, w.base), *updates = tn_where(update_0, one, w.updates);
    tn_tensor *product = combined(&w, TN_COMBINE_PROD, self, base, updates);
    tn_tensor *zeros = combined(&w, TN_COMBINE_SUM, self, tn_cast(base_0, TN_I32), tn_cast(update_0, TN_I32));
    if (back->operand[0].wanted) back->g[0] = self ? tn_mul(w.up, others(product, zeros, w.base, base)) : untouched(&w, w.up);
    if (back->operand[2].wanted)
        back->g[2] = tn_mul(looked_up(&w, w.up), others(looked_up(&w, product), looked_up(&w, zeros), w.updates, updates));
}

/* Those that are the extreme share evenly. */
static void extreme_back(const tn__backward *back)
{
    const way_back w = way_of(back);
    tn_tensor *out = back->out[0], *own = tn_cast(tn_eq(w.base, out), w.up->dtype);
    tn_tensor *chosen = tn_cast(tn_eq(w.updates, looked_up(&w, out)), w.up->dtype);
    if (!w.s.include_self) own = untouched(&w, own);
    tn_tensor *share = tn_div(w.up, combined(&w, TN_COMBINE_SUM, true, own, chosen));
    back->g[0] = tn_mul(own, share);
    if (back->operand[2].wanted) back->g[2] = tn_mul(chosen, looked_up(&w, share));
}

/* By tn_combine. */
static const tn__derivative derivatives[TN_COMBINE_AMIN + 1] = {
    [TN_COMBINE_LAST] = {"scatter", last_back, TN__SAVES_SECOND, sizeof(scatter)},
    [TN_COMBINE_SUM] = {"scatter_add", sum_back, TN__SAVES_SECOND, sizeof(scatter)},
    [TN_COMBINE_PROD] = {"scatter_reduce", prod_back, TN__SAVES_IN, sizeof(scatter)},
    [TN_COMBINE_MEAN] = {"scatter_reduce", mean_back, TN__SAVES_SECOND, sizeof(scatter)},
    [TN_COMBINE_AMAX] = {"scatter_reduce", extreme_back, TN__SAVES_BOTH, sizeof(scatter)},
    [TN_COMBINE_AMIN] = {"scatter_reduce", extreme_back, TN__SAVES_BOTH, sizeof(scatter)},
};

tn_tensor *tn__add_along(tn_tensor *x, int axis, tn_tensor *index, tn_tensor *updates)
{
    if (updates->numel == 0) return x;
    return apply(&(scatter){"scatter_add", TN__FAULT_scatter_add, TN_COMBINE_SUM, true, axis}, x, index, updates);
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

static tn_tensor *with_corner(tn_tensor *x, tn_tensor *part);

static void corner_back(const tn__backward *back)
{
    tn_tensor *up = back->up[0];
    const tn_shape *shape = &back->operand[1].shape;
    if (back->operand[0].wanted) back->g[0] = with_corner(up, tn_zeros(up->dtype, *shape, tn_device_of(up)));
    back->g[1] = corner(up, shape);
}

static const tn__derivative derive_corner = {"scatter", corner_back, TN__SAVES_NONE, 0};

/* x with part in place of its first elements. */
static tn_tensor *with_corner(tn_tensor *x, tn_tensor *part)
{
    if (!part) return NULL;
    const tn_shape shape = tn__tensor_shape(part);
    tn__derive_pause();
    tn_tensor *y = tn_clone(x);
    if (y && tn_assign(corner(y, &shape), part) != TN_OK) y = NULL;
    tn__derive_resume();
    return tn__recorded(&derive_corner, NULL, (tn_tensor *const[]){x, part}, 2, y);
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
    return with_corner(x, apply(s, corner(x, &region), index, src));
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
