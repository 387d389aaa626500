/* Elementwise operations over public operands: devices, promotion, broadcasting. */
#include "graph/rows.h"
#include "graph/move.h"
#include <string.h>

static const char *const argument_names[3] = {"a", "b", "c"};

/* ---- devices ---- */

static bool goes_anywhere(const tn_tensor *x)
{
    return x->weak || (x->ndim == 0 && tn__tensor_device(x)->is_host);
}

/* "a" to "c", for a long list "entry 7". */
static const char *argument_name(int i, int count, char out[24])
{
    if (count <= 3) return argument_names[i];
    (void)snprintf(out, 24, "entry %d", i);
    return out;
}

static tn_status fail_mixed(const char *function, tn_tensor *const *operands, int count, const tn__device *at)
{
    tn__text t = {0};
    char name[24];
    int moved = 0, there = 0;
    for (int i = 0; i < count; i++) {
        if (goes_anywhere(operands[i])) continue;
        if (tn__tensor_device(operands[i]) == at)
            there = i;
        else
            moved = i;
    }
    for (int i = 0; i < count; i++) {
        const tn_tensor *x = operands[i];
        if (count > 3 && i != moved && i != there) continue; /* of a long list the two that differ */
        tn__text_add(&t, "%s%s %s is on %s", t.length ? ", " : "", argument_name(i, count, name), tn__shape_text(x->ndim, x->dim),
                     tn__tensor_device(x)->name);
    }
    const tn_status s = tn__fail(TN_DEVICE, "%s: operands on different devices: %s; move one, as in tn_to(%s, \"%s\")", function,
                                 t.data ? t.data : "", argument_name(moved, count, name), at->name);
    tn__text_free(&t);
    return s;
}

tn__device *tn__common_device(const char *function, tn_tensor *const *operands, int count, tn_tensor **moved)
{
    tn__device *device = NULL, *elsewhere = NULL;
    for (int i = 0; i < count; i++) {
        moved[i] = NULL;
        if (goes_anywhere(operands[i])) continue;
        tn__device *d = tn__tensor_device(operands[i]);
        if (!device || (device->is_host && !d->is_host)) {
            if (device) elsewhere = device;
            device = d;
        } else if (d != device)
            elsewhere = d;
    }
    if (!device) return tn__host();
    if (!elsewhere) return device;
    bool hosts = true;
    for (int i = 0; i < count; i++) {
        tn__device *d = tn__tensor_device(operands[i]);
        hosts = hosts && (d == device || d->is_host || goes_anywhere(operands[i]));
    }
    if (!hosts || !tn__auto_move_allowed()) {
        (void)fail_mixed(function, operands, count, device);
        return NULL;
    }
    for (int i = 0; i < count; i++) {
        if (tn__tensor_device(operands[i]) == device || goes_anywhere(operands[i])) continue;
        moved[i] = tn__viewed(&tn__derive_identity, NULL, operands[i], tn__move(operands[i], device));
        if (!moved[i]) return NULL;
        tn__auto_move_counted();
    }
    return device;
}

/* ---- promotion: PyTorch's three ranks, tensors with axes, without, and plain numbers ---- */

static int rank_of(const tn_tensor *x)
{
    return x->weak ? 0 : x->ndim == 0 ? 1 : 2;
}

bool tn__promote_list(tn_tensor *const *operands, int count, tn_dtype *result)
{
    tn_dtype best[3] = {TN_DTYPE_COUNT, TN_DTYPE_COUNT, TN_DTYPE_COUNT};
    for (int i = 0; i < count; i++) {
        tn_dtype d = operands[i]->dtype;
        const int r = rank_of(operands[i]);
        if (r == 0 && d == TN_F64) d = TN_F32; /* a number's kind counts, not its size */
        best[r] = best[r] == TN_DTYPE_COUNT ? d : tn_promote(best[r], d);
        if (best[r] == TN_DTYPE_COUNT) return false;
    }
    tn_dtype d = best[2];
    for (int r = 1; r >= 0; r--) {
        if (best[r] == TN_DTYPE_COUNT) continue;
        if (d == TN_DTYPE_COUNT)
            d = best[r];
        else if (tn__dtypes[best[r]].kind == TN__FLOAT ? tn__dtypes[d].kind != TN__FLOAT : tn__dtypes[d].kind == TN__BOOL)
            d = tn_promote(d, best[r]);
    }
    *result = d;
    return d != TN_DTYPE_COUNT;
}

static bool promote_operands(const tn__row *row, tn_tensor *const *operands, tn_dtype *result)
{
    const int first = row->inputs == TN__CHOOSE ? 1 : 0;
    if (!tn__promote_list(operands + first, row->arity - first, result)) return false;
    if (row->inputs == TN__REAL && tn__dtypes[*result].kind != TN__FLOAT) *result = TN_F32;
    return true;
}

static tn_status check_dtype(const tn__row *row, tn_dtype d)
{
    const tn__kind kind = tn__dtypes[d].kind;
    if (row->text[kind == TN__FLOAT ? 0 : kind == TN__BOOL ? 2 : 1]) return TN_OK;
    return tn__fail(TN_DTYPE, "%s: not for %s; allowed are%s%s%s", row->name, tn_dtype_name(d), row->text[0] ? " floats" : "",
                    row->text[1] ? (row->text[0] ? ", integers" : " integers") : "", row->text[2] ? ", bool" : "");
}

/* ---- operands ---- */

static tn__number number_of(const tn_tensor *x)
{
    const tn__value *v = x->storage->value;
    return tn__number_load(x->dtype, (const char *)v->buffer->memory + (v->base + x->offset) * (int64_t)tn_dtype_size(x->dtype));
}

/* The number an immediate operand is, in the compute type of d. */
static tn_status take_number(const char *function, const tn_tensor *x, tn_dtype d, tn__number *out)
{
    const tn__number n = number_of(x);
    if (!tn__number_fits(n, d))
        return tn__fail(TN_OVERFLOW, "%s: the scalar %.0f does not fit %s", function, tn__number_double(n), tn_dtype_name(d));
    *out = d == TN_BOOL ? tn__number_to(n, TN_BOOL) : tn__number_to_compute(n, tn__dtypes[d].compute);
    return TN_OK;
}

tn_status tn__node_take(tn__node *node, int i, const char *function, tn_tensor *x, tn_dtype d, const tn_shape *shape)
{
    int64_t stride[TN_MAX_AXES];
    if (goes_anywhere(x)) {
        node->in[i].dtype = tn__compute_dtype[tn__dtypes[d].compute];
        return take_number(function, x, d, &node->in[i].number);
    }
    tn_tensor *cast = NULL;
    if (x->dtype != d) {
        if (x->ndim == 0 && d != TN_BOOL) d = tn__compute_dtype[tn__dtypes[d].compute];
        if (x->dtype != d) x = cast = tn__cast(x, d, false);
        if (!x) return tn_last_status();
    }
    tn__expand_strides(x, shape, stride);
    tn__node_operand(node, i, x, stride);
    tn_release(cast);
    return TN_OK;
}

static tn_status broadcast_operands(const tn__row *row, tn_tensor *const *operands, tn_shape *shape)
{
    *shape = (tn_shape){.ndim = 0};
    for (int i = 0; i < row->arity; i++) {
        const tn_shape own = tn__tensor_shape(operands[i]);
        if (tn__shape_broadcast(shape, &own, shape)) continue;
        tn__text t = {0};
        for (int k = 0; k < row->arity; k++)
            tn__text_add(&t, "%s%s %s", k ? ", " : "", argument_names[k], tn__shape_text(operands[k]->ndim, operands[k]->dim));
        const tn_status s = tn__fail(TN_SHAPE, "%s: shapes do not broadcast: %s", row->name, t.data ? t.data : "");
        tn__text_free(&t);
        return s;
    }
    int64_t n;
    return tn__shape_numel(shape, 8, &n, row->name);
}

static tn_tensor *record_row(const tn__row *row, tn_tensor *const *operands, tn__device *device)
{
    tn_shape shape;
    tn_dtype d;
    if (broadcast_operands(row, operands, &shape) != TN_OK || !promote_operands(row, operands, &d)) return NULL;
    if (check_dtype(row, d) != TN_OK) return NULL;
    tn__node *node = tn__node_new(&tn__op_row, row->arity);
    if (!node) return NULL;
    node->row = row;
    node->dtype = d;
    node->rank = node->kept = shape.ndim;
    memcpy(node->dim, shape.dim, sizeof shape.dim);
    for (int i = 0; i < row->arity; i++) {
        if (row->inputs == TN__CHOOSE && i == 0 && goes_anywhere(operands[0])) {
            node->in[0].dtype = tn__compute_dtype[tn__dtypes[d].compute];
            node->in[0].number = tn__number_to_compute(tn__number_to(number_of(operands[0]), TN_BOOL), tn__dtypes[d].compute);
            continue;
        }
        if (row->inputs == TN__CHOOSE && i == 0 && operands[0]->dtype != TN_BOOL) {
            tn_tensor *truth = tn__cast(operands[0], TN_BOOL, false); /* any number counts by being non-zero */
            const tn_status s = truth ? tn__node_take(node, i, row->name, truth, d, &shape) : tn_last_status();
            tn_release(truth);
            if (s == TN_OK) continue;
        } else if (tn__node_take(node, i, row->name, operands[i], d, &shape) == TN_OK)
            continue;
        tn__node_free(node);
        return NULL;
    }
    return tn__record(node, device, row->result == TN__TO_BOOL ? TN_BOOL : d, false);
}

tn_tensor *tn__elementwise(const tn__row *row, tn_tensor *const *operands)
{
    tn_tensor *use[3], *moved[3] = {0}, *out = NULL;
    tn__graph_start();
    for (int i = 0; i < row->arity; i++) {
        if (tn__tensor_check(operands[i], row->name, row->arity == 1 ? "x" : argument_names[i]) != TN_OK) return NULL;
        use[i] = operands[i];
    }
    tn__device *device = tn__common_device(row->name, operands, row->arity, moved);
    for (int i = 0; i < row->arity; i++)
        if (moved[i]) use[i] = moved[i];
    if (device) out = tn__recorded(&row->derivative, NULL, use, row->arity, record_row(row, use, device));
    for (int i = 0; i < row->arity; i++) tn_release(moved[i]);
    return out;
}

tn_tensor *tn__cast(tn_tensor *x, tn_dtype dtype, bool fixed)
{
    tn__node *node = tn__node_new(&tn__op_cast, 1);
    if (!node) return NULL;
    node->dtype = dtype;
    node->rank = node->kept = x->ndim;
    memcpy(node->dim, x->dim, sizeof x->dim);
    tn__node_operand(node, 0, x, x->stride);
    return tn__record(node, tn__tensor_device(x), dtype, fixed);
}
