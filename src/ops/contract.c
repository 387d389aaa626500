#include "ops/contract.h"
#include <tenon/ops.h>

static uint64_t bit(int label)
{
    return UINT64_C(1) << label;
}

uint64_t tn__labels_of(const tn__labelled *a)
{
    uint64_t mask = 0;
    for (int i = 0; i < a->x->ndim; i++) mask |= bit(a->label[i]);
    return mask;
}

static int axis_of(const tn__labelled *a, int label)
{
    for (int i = 0; i < a->x->ndim; i++)
        if (a->label[i] == label) return i;
    return -1;
}

int64_t tn__extent_of(const tn__labelled *a, int label)
{
    const int i = axis_of(a, label);
    return i < 0 ? 1 : a->x->dim[i];
}

/* Without the axes of these labels: summed over, or of extent 1 and taken out. */
static tn__labelled without(tn__labelled a, uint64_t gone, bool sum)
{
    tn__labelled y = a;
    tn_axes axes = {.count = 0};
    int left = 0;
    for (int i = 0; i < a.x->ndim; i++)
        if (gone & bit(a.label[i]))
            axes.axis[axes.count++] = i;
        else
            y.label[left++] = a.label[i];
    if (axes.count == 0) return a;
    y.x = sum ? tn_cast(tn_sum(a.x, axes, false), a.x->dtype) : tn_squeeze(a.x, axes);
    return y;
}

tn__labelled tn__sum_labels(tn__labelled a, uint64_t keep)
{
    return without(a, ~keep, true);
}

/* Labels whose extent is 1 in a and larger in b. */
static uint64_t stretched(const tn__labelled *a, const tn__labelled *b)
{
    uint64_t mask = 0;
    for (int i = 0; i < a->x->ndim; i++)
        if (a->x->dim[i] == 1 && tn__extent_of(b, a->label[i]) != 1) mask |= bit(a->label[i]);
    return mask;
}

/* A list of a's labels that are in the mask, in a's order; their extents' product. */
typedef struct group {
    int label[TN_MAX_AXES];
    int count;
    int64_t points;
} group;

static group group_of(const tn__labelled *a, uint64_t mask)
{
    group g = {.points = 1};
    for (int i = 0; i < a->x->ndim; i++) {
        if (!(mask & bit(a->label[i]))) continue;
        g.label[g.count++] = a->label[i];
        g.points *= a->x->dim[i];
    }
    return g;
}

static int append(int *labels, int count, const group *g)
{
    for (int i = 0; i < g->count; i++) labels[count++] = g->label[i];
    return count;
}

/* The axes permuted into three groups, each of which becomes one axis. */
static tn_tensor *as_matrices(tn__labelled a, const group *batch, const group *rows, const group *columns)
{
    int labels[3 * TN_MAX_AXES];
    const int count = append(labels, append(labels, append(labels, 0, batch), rows), columns);
    return tn_reshape(tn__in_order(a, labels, count), TN_SHAPE(batch->points, rows->points, columns->points));
}

tn__labelled tn__contract(tn__labelled a, tn__labelled b, uint64_t keep)
{
    const uint64_t drop_a = stretched(&a, &b), drop_b = stretched(&b, &a);
    a = without(a, drop_a, false);
    if (a.x) b = without(b, drop_b, false);
    if (a.x && b.x) a = tn__sum_labels(a, keep | tn__labels_of(&b));
    if (a.x && b.x) b = tn__sum_labels(b, keep | tn__labels_of(&a));
    if (!a.x || !b.x) return (tn__labelled){NULL, {0}};
    const uint64_t in_a = tn__labels_of(&a), in_b = tn__labels_of(&b);
    const group batch = group_of(&a, in_a & in_b & keep), inner = group_of(&a, in_a & in_b & ~keep),
                rows = group_of(&a, in_a & ~in_b), columns = group_of(&b, in_b & ~in_a);
    tn__labelled y;
    int labels[3 * TN_MAX_AXES];
    const int count = append(labels, append(labels, append(labels, 0, &batch), &rows), &columns);
    if (count > TN_MAX_AXES) {
        (void)tn__fail(TN_SHAPE, "a product of %d axes; %d are the most", count, TN_MAX_AXES);
        return (tn__labelled){NULL, {0}};
    }
    for (int i = 0; i < count; i++) y.label[i] = labels[i];
    if (inner.count == 0) {
        y.x = tn_mul(tn__in_order(a, labels, count), tn__in_order(b, labels, count));
        return y;
    }
    tn_shape shape = {.ndim = count};
    for (int i = 0; i < count; i++) shape.dim[i] = tn__extent_of(in_a & bit(labels[i]) ? &a : &b, labels[i]);
    y.x = tn_reshape(tn_matmul(as_matrices(a, &batch, &rows, &inner), as_matrices(b, &batch, &inner, &columns)), shape);
    return y;
}

tn_tensor *tn__in_order(tn__labelled a, const int *labels, int count)
{
    tn_axes order = {.count = 0};
    for (int i = 0; i < count; i++) {
        const int axis = axis_of(&a, labels[i]);
        if (axis >= 0) order.axis[order.count++] = axis;
    }
    tn_tensor *y = tn_permute(a.x, order);
    for (int i = 0; i < count; i++)
        if (axis_of(&a, labels[i]) < 0) y = tn_unsqueeze(y, i);
    return y;
}
