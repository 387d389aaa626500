/* Elements by index, by mask, and places in what is sorted: all of them lookups (graph/lookup.c). */
#include "device/fault.h"
#include "ops/index.h"
#include "ops/compose.h"
#include "core/view.h"
#include "graph/move.h"
#include "graph/rows.h"
#include <inttypes.h>
#include <string.h>
#include <tenon/ops.h>

/* ---- operands ---- */

bool tn__pair_take(const char *function, tn_tensor *a, const char *name_a, tn_tensor *b, const char *name_b, tn__pair *p)
{
    tn_tensor *const both[2] = {a, b};
    *p = (tn__pair){.a = a, .b = b};
    tn__graph_start();
    if (tn__tensor_check(a, function, name_a) != TN_OK || tn__tensor_check(b, function, name_b) != TN_OK) return false;
    tn__device *device = tn__common_device(function, both, 2, p->moved);
    for (int i = 0; device && i < 2; i++) /* a number on host goes with any device, but no kernel looks up there */
        if (!p->moved[i] && tn__tensor_device(both[i]) != device && !(p->moved[i] = tn__move(both[i], device))) return false;
    if (p->moved[0]) p->a = p->moved[0];
    if (p->moved[1]) p->b = p->moved[1];
    return device != NULL;
}

bool tn__pair_promote(const char *function, tn_tensor *a, const char *name_a, tn_tensor *b, const char *name_b, tn__pair *p)
{
    tn_tensor *both[2] = {a, b}, *cast[2] = {NULL};
    tn_dtype dtype;
    *p = (tn__pair){.a = a, .b = b};
    if (tn__tensor_check(a, function, name_a) != TN_OK || tn__tensor_check(b, function, name_b) != TN_OK ||
        !tn__promote_list(both, 2, &dtype))
        return false;
    for (int i = 0; i < 2; i++)
        if (both[i] && both[i]->dtype != dtype) both[i] = cast[i] = tn_cast(both[i], dtype);
    const bool taken = tn__pair_take(function, both[0], name_a, both[1], name_b, p);
    for (int i = 0; i < 2; i++) {
        if (p->moved[i])
            tn_release(cast[i]);
        else
            p->moved[i] = cast[i];
    }
    return taken;
}

void tn__pair_drop(tn__pair *p)
{
    tn_release(p->moved[0]);
    tn_release(p->moved[1]);
}

bool tn__index_check(const char *function, const tn_tensor *index)
{
    const tn__kind kind = tn__dtypes[index->dtype].kind;
    if ((kind == TN__SIGNED || kind == TN__UNSIGNED) && index->dtype != TN_U64) return true;
    (void)tn__fail(TN_DTYPE, "%s: an index of %s; allowed are integers but u64%s", function, tn_dtype_name(index->dtype),
                   kind == TN__BOOL ? "; tn_masked_select takes a mask" : "");
    return false;
}

tn_tensor *tn__look_along(const char *function, tn__lookup lookup, int axis, tn_tensor *key, tn_tensor *end, tn_tensor *table,
                          const tn_shape *shape)
{
    int64_t stride[TN_MAX_AXES];
    for (int k = 0; k < shape->ndim; k++) stride[k] = k == axis || table->dim[k] == 1 ? 0 : table->stride[k];
    lookup.step = table->stride[axis];
    return tn__record_lookup(function, &lookup, key, end, table, shape, stride);
}

/* x's elements at index along axis a; index broadcasts to shape, as x does beside a. */
static tn_tensor *gather_along(const char *function, int fault, tn_tensor *x, int a, tn_tensor *index, const tn_shape *shape)
{
    const tn__lookup lookup = {.form = TN__GATHER, .count = x->dim[a], .fault = fault};
    return tn__look_along(function, lookup, a, index, NULL, x, shape);
}

/* ---- gradients: each element's is the sum of those of its copies. Attributes: the axis of x, which has one at least ---- */

static tn_tensor *with_axis(tn_tensor *x)
{
    return x && x->ndim == 0 ? tn_reshape(x, TN_SHAPE(1)) : x;
}

/* Zeros of x's shape, with at least one axis. */
static tn_tensor *zeros_of(const tn__backward *back)
{
    const tn_shape *own = &back->operand[0].shape;
    return tn_zeros(back->up[0]->dtype, own->ndim ? *own : TN_SHAPE(1), tn__tensor_device(back->up[0])->name);
}

static tn_tensor *in_shape(const tn__backward *back, tn_tensor *y)
{
    return y ? tn_reshape(y, back->operand[0].shape) : NULL;
}

void tn__gather_back(const tn__backward *back)
{
    const int axis = *(const int *)back->attributes;
    back->g[0] = in_shape(back, tn_scatter_add(zeros_of(back), axis, with_axis(back->in[1]), with_axis(back->up[0])));
}

/* Index and x were broadcast beside the axis. */
static void take_along_back(const tn__backward *back)
{
    const int axis = *(const int *)back->attributes;
    tn_tensor *up = with_axis(back->up[0]);
    tn_shape shape = up ? tn__tensor_shape(up) : TN_SHAPE(1);
    shape.dim[axis] = back->operand[0].shape.ndim ? back->operand[0].shape.dim[axis] : 1;
    tn_tensor *zeros = up ? tn_zeros(up->dtype, shape, tn__tensor_device(up)->name) : NULL;
    tn_tensor *y = zeros ? tn__add_along(zeros, axis, with_axis(back->in[1]), up) : NULL;
    back->g[0] = back->operand[0].shape.ndim ? y : in_shape(back, y);
}

static void index_select_back(const tn__backward *back)
{
    const int axis = *(const int *)back->attributes;
    tn_tensor *zeros = zeros_of(back), *index = tn_reshape(back->in[1], TN_SHAPE(-1));
    if (!zeros || !index) return;
    tn_shape shape = tn__tensor_shape(zeros);
    shape.dim[axis] = index->numel;
    back->g[0] = in_shape(back, tn_index_add(zeros, axis, index, tn_reshape(back->up[0], shape)));
}

static void take_back(const tn__backward *back)
{
    tn_tensor *zeros = zeros_of(back);
    back->g[0] = zeros ? in_shape(back, tn_put(zeros, back->in[1], back->up[0], true)) : NULL;
}

static const tn__derivative derive_gather = TN__GATHERS("gather"),
                            derive_take_along = {"take_along_axis", take_along_back, TN__SAVES_SECOND, sizeof(int)},
                            derive_index_select = {"index_select", index_select_back, TN__SAVES_SECOND, sizeof(int)},
                            derive_take = {"take", take_back, TN__SAVES_SECOND, 0};

static tn_tensor *recorded(const tn__derivative *d, tn_tensor *x, tn_tensor *index, int axis, tn_tensor *y)
{
    const int a = axis < 0 ? axis + (x->ndim ? x->ndim : 1) : axis;
    return tn__recorded(d, &a, (tn_tensor *const[]){x, index}, 2, y);
}

/* ---- gather ---- */

static tn_tensor *gather(tn_tensor *x, int axis, tn_tensor *index)
{
    const tn_shape shape = tn__tensor_shape(index);
    const int a = tn__axis(axis, x->ndim ? x->ndim : 1, "gather");
    if (a < 0 || !tn__index_check("gather", index)) return NULL;
    bool fits = index->ndim == x->ndim;
    for (int k = 0; fits && k < x->ndim; k++) fits = k == a || index->dim[k] <= x->dim[k];
    if (!fits)
        return TN__NULL(TN_SHAPE, "gather: index %s for x %s; as many axes, and none but axis %d longer",
                        tn__shape_text(index->ndim, index->dim), tn__shape_text(x->ndim, x->dim), axis);
    if (x->ndim == 0) return tn__take_flat("gather", TN__FAULT_gather, x, index);
    return gather_along("gather", TN__FAULT_gather, x, a, index, &shape);
}

tn_tensor *tn_gather(tn_tensor *x, int axis, tn_tensor *index)
{
    tn__pair p;
    tn_tensor *y = NULL;
    if (tn__pair_take("gather", x, "x", index, "index", &p)) y = recorded(&derive_gather, x, p.b, axis, gather(p.a, axis, p.b));
    tn__pair_drop(&p);
    return y;
}

static tn_tensor *take_along(tn_tensor *x, int axis, tn_tensor *index)
{
    tn_shape shape = tn__tensor_shape(index), other = tn__tensor_shape(x);
    const int a = tn__axis(axis, x->ndim ? x->ndim : 1, "take_along_axis");
    if (a < 0 || !tn__index_check("take_along_axis", index)) return NULL;
    if (x->ndim == 0 && index->ndim == 0) return tn__take_flat("take_along_axis", TN__FAULT_take_along_axis, x, index);
    bool fits = shape.ndim == other.ndim;
    if (fits) {
        other.dim[a] = shape.dim[a];
        fits = tn__shape_broadcast(&shape, &other, &shape);
    }
    if (!fits)
        return TN__NULL(TN_SHAPE, "take_along_axis: x %s and index %s do not broadcast beside axis %d",
                        tn__shape_text(x->ndim, x->dim), tn__shape_text(index->ndim, index->dim), axis);
    return gather_along("take_along_axis", TN__FAULT_take_along_axis, x, a, index, &shape);
}

tn_tensor *tn_take_along_axis(tn_tensor *x, tn_tensor *index, int axis)
{
    tn__pair p;
    tn_tensor *y = NULL;
    if (tn__pair_take("take_along_axis", x, "x", index, "index", &p))
        y = recorded(&derive_take_along, x, p.b, axis, take_along(p.a, axis, p.b));
    tn__pair_drop(&p);
    return y;
}

/* index over the axes of the result from a on. */
static tn_tensor *index_select(const char *function, int fault, tn_tensor *x, int a, tn_tensor *index)
{
    const tn__lookup lookup = {.form = TN__GATHER, .count = x->dim[a], .step = x->stride[a], .fault = fault};
    tn_shape shape = {.ndim = x->ndim - 1 + index->ndim}, of_index = {.ndim = x->ndim - 1 - a + index->ndim};
    int64_t stride[TN_MAX_AXES] = {0}, index_stride[TN_MAX_AXES] = {0};
    if (shape.ndim > TN_MAX_AXES)
        return TN__NULL(TN_SHAPE, "%s: index %s in place of axis %d of %s gives %d axes; %d are the most", function,
                        tn__shape_text(index->ndim, index->dim), a, tn__shape_text(x->ndim, x->dim), shape.ndim, TN_MAX_AXES);
    for (int k = 0; k < x->ndim; k++) {
        const int at = k < a ? k : k + index->ndim - 1;
        if (k == a) continue;
        shape.dim[at] = x->dim[k];
        stride[at] = x->stride[k];
    }
    for (int k = 0; k < index->ndim; k++) {
        shape.dim[a + k] = of_index.dim[k] = index->dim[k];
        index_stride[k] = index->stride[k];
    }
    for (int k = index->ndim; k < of_index.ndim; k++) of_index.dim[k] = 1;
    tn_tensor *key = index->ndim == 0 ? tn__tensor_alias(index) : tn__view_as(index, &of_index, index_stride);
    tn_tensor *y = key ? tn__record_lookup(function, &lookup, key, NULL, x, &shape, stride) : NULL;
    tn_release(key);
    return y;
}

tn_tensor *tn_index_select(tn_tensor *x, int axis, tn_tensor *index)
{
    tn__pair p;
    tn_tensor *y = NULL;
    if (tn__pair_take("index_select", x, "x", index, "index", &p) && tn__index_check("index_select", p.b)) {
        tn_tensor *line = p.a->ndim ? tn__tensor_alias(p.a) : tn_reshape(p.a, TN_SHAPE(1));
        const int a = line ? tn__axis(axis, line->ndim, "index_select") : -1;
        if (a >= 0)
            y = recorded(&derive_index_select, x, p.b, a, index_select("index_select", TN__FAULT_index_select, line, a, p.b));
        tn_release(line);
    }
    tn__pair_drop(&p);
    return y;
}

tn_tensor *tn__take_flat(const char *function, int fault, tn_tensor *x, tn_tensor *index)
{
    tn_tensor *line = tn_reshape(x, TN_SHAPE(-1));
    return line ? tn__next(line, index_select(function, fault, line, 0, index)) : NULL;
}

tn_tensor *tn_take(tn_tensor *x, tn_tensor *index)
{
    tn__pair p;
    tn_tensor *y = NULL;
    if (tn__pair_take("take", x, "x", index, "index", &p) && tn__index_check("take", p.b))
        y = recorded(&derive_take, x, p.b, 0, tn__take_flat("take", TN__FAULT_take, p.a, p.b));
    tn__pair_drop(&p);
    return y;
}

/* ---- places in what is sorted ---- */

/* Both in one dtype. */
static tn_tensor *search(const char *function, tn_tensor *sorted, tn_tensor *values, bool right)
{
    const tn_shape shape = tn__tensor_shape(values);
    int64_t stride[TN_MAX_AXES] = {0};
    bool fits = sorted->ndim == 1 || (sorted->ndim > 1 && sorted->ndim == values->ndim);
    for (int k = 0; fits && sorted->ndim > 1 && k + 1 < sorted->ndim; k++) fits = sorted->dim[k] == values->dim[k];
    if (!fits)
        return TN__NULL(TN_SHAPE, "%s: sorted %s for values %s; one axis, or the same axes but for the last", function,
                        tn__shape_text(sorted->ndim, sorted->dim), tn__shape_text(values->ndim, values->dim));
    if (sorted->numel == 0) return tn_zeros(TN_I64, shape, tn__tensor_device(sorted)->name);
    const int last = sorted->ndim - 1;
    const tn__lookup lookup = {
        .form = right ? TN__SEARCH_RIGHT : TN__SEARCH_LEFT, .count = sorted->dim[last], .step = sorted->stride[last]};
    if (last > 0) memcpy(stride, sorted->stride, (size_t)last * sizeof stride[0]);
    return tn__record_lookup(function, &lookup, values, NULL, sorted, &shape, stride);
}

tn_tensor *tn_searchsorted(tn_tensor *sorted, tn_tensor *values, bool right)
{
    tn__pair p;
    tn_tensor *y = NULL;
    if (tn__pair_promote("searchsorted", sorted, "sorted", values, "values", &p)) y = search("searchsorted", p.a, p.b, right);
    tn__pair_drop(&p);
    return y;
}

tn_tensor *tn_bucketize(tn_tensor *values, tn_tensor *boundaries, bool right)
{
    tn__pair p;
    tn_tensor *y = NULL;
    if (tn__pair_promote("bucketize", boundaries, "boundaries", values, "values", &p)) {
        if (p.a->ndim == 1)
            y = search("bucketize", p.a, p.b, right);
        else
            (void)tn__fail(TN_SHAPE, "bucketize: boundaries %s; one axis", tn__shape_text(p.a->ndim, p.a->dim));
    }
    tn__pair_drop(&p);
    return y;
}
