/* Lookups in a table: on host, and recording them. */
#include "device/fault.h"
#include "graph/host.h"
#include "graph/rows.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- host ---- */

static tn_status visit_gather(const tn__node *node, int64_t linear, const int64_t *place, int n, void *user)
{
    const tn__lookup *lookup = &node->a.lookup;
    const int last = node->kept - 1;
    const bool moves = node->kept > 0, table_there = lookup->form == TN__GATHER;
    const int64_t key_stride = moves ? node->in[0].stride[last] : 0, stride = moves && table_there ? node->in[1].stride[last] : 0;
    const size_t size = tn_dtype_size(node->dtype);
    const char *table = table_there ? tn__host_bytes(&node->in[1]) : NULL;
    int64_t index[TN__BLOCK];
    tn__host_operand(&node->in[0], place[0], key_stride, n, index);
    for (int j = 0; j < n; j++) {
        const int64_t at = index[j] < 0 && lookup->fault >= 0 ? index[j] + lookup->count : index[j];
        if (at < 0 || at >= lookup->count) return tn__fault_fail(abs(lookup->fault), index[j], lookup->count);
        if (lookup->form == TN__PLACE) {
            ((int64_t *)user)[linear + j] = at;
            continue;
        }
        memcpy((char *)user + (size_t)(linear + j) * size, table + (size_t)(place[1] + j * stride + at * lookup->step) * size,
               size);
    }
    return TN_OK;
}

/* a stands before b; NaN behind everything. */
static bool stands_before(tn__number a, tn__number b)
{
    switch (a.compute) {
    case TN__CF: return a.f < b.f || (isnan(b.f) && !isnan(a.f));
    case TN__CD: return a.d < b.d || (isnan(b.d) && !isnan(a.d));
    case TN__CI: return a.i < b.i;
    case TN__CU: return a.u < b.u;
    case TN__CL: return a.l < b.l;
    default: return a.m < b.m;
    }
}

static tn__number key_at(const tn__operand *in, int64_t at)
{
    if (!in->value) return in->number;
    return tn__number_load(in->dtype, (const char *)tn__host_bytes(in) + at * (int64_t)tn_dtype_size(in->dtype));
}

static tn_status visit_search(const tn__node *node, int64_t linear, const int64_t *place, int n, void *user)
{
    const tn__lookup *lookup = &node->a.lookup;
    const int last = node->kept - 1;
    const int64_t key_stride = node->kept ? node->in[0].stride[last] : 0, stride = node->kept ? node->in[1].stride[last] : 0;
    for (int j = 0; j < n; j++) {
        const tn__number key = key_at(&node->in[0], place[0] + j * key_stride);
        int64_t low = 0, left = lookup->count;
        while (left > 0) {
            const int64_t half = left / 2;
            const tn__number middle = key_at(&node->in[1], place[1] + j * stride + (low + half) * lookup->step);
            const bool onward = lookup->form == TN__SEARCH_LEFT ? stands_before(middle, key) : !stands_before(key, middle);
            low = onward ? low + half + 1 : low;
            left = onward ? left - half - 1 : half;
        }
        ((int64_t *)user)[linear + j] = low;
    }
    return TN_OK;
}

/* As FOLD in kernels/lookup.cl, in the same order. */
typedef struct fold {
    const tn__node *node;
    int64_t place; /* of the table's first element */
    bool any;
    uint64_t value; /* in the compute type */
} fold;

static void take_elements(fold *f, int64_t level, int64_t from, int64_t to)
{
    const tn__lookup *lookup = &f->node->a.lookup;
    for (int64_t k = from; k < to; k++) {
        uint64_t v = 0;
        tn__host_operand(&f->node->in[1], f->place + (level + k) * lookup->step, 0, 1, &v);
        if (f->any) {
            const uint64_t before = f->value;
            tn__host_apply(lookup->row, f->node->dtype, 1, (const void *[3]){&before, &v, &v}, &f->value);
        } else
            f->value = v;
        f->any = true;
    }
}

static void take_range(fold *f, int64_t from, int64_t to)
{
    int64_t count = f->node->a.lookup.count;
    for (int64_t level = 0; from < to; level += count, count /= TN__FOLD_BASE) {
        const int64_t up = (from + TN__FOLD_BASE - 1) / TN__FOLD_BASE, down = to / TN__FOLD_BASE;
        const bool last = up >= down;
        take_elements(f, level, from, last ? to : up * TN__FOLD_BASE);
        take_elements(f, level, last ? to : down * TN__FOLD_BASE, to);
        if (last) break;
        from = up;
        to = down;
    }
}

static tn_status visit_fold(const tn__node *node, int64_t linear, const int64_t *place, int n, void *user)
{
    int64_t from[TN__BLOCK], to[TN__BLOCK];
    const int last = node->kept - 1;
    const bool moves = node->kept > 0;
    tn__host_operand(&node->in[0], place[0], moves ? node->in[0].stride[last] : 0, n, from);
    tn__host_operand(&node->in[2], place[2], moves ? node->in[2].stride[last] : 0, n, to);
    for (int j = 0; j < n; j++) {
        fold f = {.node = node, .place = place[1] + (moves ? j * node->in[1].stride[last] : 0)};
        take_range(&f, from[j], to[j]);
        tn__host_store(node->dtype, user, linear + j, 1, &f.value);
    }
    return TN_OK;
}

static tn_status host_lookup(const tn__node *node, void *const *out)
{
    static const tn__host_visit visits[] = {
        [TN__GATHER] = visit_gather,       [TN__PLACE] = visit_gather, [TN__SEARCH_LEFT] = visit_search,
        [TN__SEARCH_RIGHT] = visit_search, [TN__FOLD] = visit_fold,
    };
    return tn__host_walk(node, node->kept, visits[node->a.lookup.form], out[0]);
}

const tn__op tn__op_lookup = {.name = "lookup", .fusable = true, .host = host_lookup};

/* ---- recording ---- */

static const struct form {
    int inputs;
    bool indexes;         /* the key is an index, else of the table's dtype */
    bool finds_place;     /* the result is i64, else of the table's dtype */
} forms[] = {
    [TN__GATHER] = {2, true, false},      [TN__PLACE] = {1, true, true}, [TN__SEARCH_LEFT] = {2, false, true},
    [TN__SEARCH_RIGHT] = {2, false, true}, [TN__FOLD] = {3, true, false},
};

tn_tensor *tn__record_lookup(const char *function, const tn__lookup *lookup, tn_tensor *key, tn_tensor *end, tn_tensor *table,
                             const tn_shape *shape, const int64_t *table_stride)
{
    const struct form *form = &forms[lookup->form];
    const tn_dtype key_dtype = form->indexes ? TN_I64 : table->dtype, dtype = form->finds_place ? TN_I64 : table->dtype;
    int64_t n;
    if (tn__shape_numel(shape, 8, &n, function) != TN_OK) return NULL;
    if (lookup->fault && lookup->count == 0 && n > 0)
        return TN__NULL(TN_AXIS, "%s: %lld indices into an axis of 0 elements", function, (long long)n);
    tn__device *device = tn__tensor_device(table);
    tn__node *node = tn__node_new(&tn__op_lookup, form->inputs);
    if (!node) return NULL;
    node->dtype = lookup->form == TN__PLACE ? TN_I64 : table->dtype;
    node->a.lookup = *lookup;
    node->rank = node->kept = shape->ndim;
    memcpy(node->dim, shape->dim, sizeof shape->dim);
    if ((!device->is_host && !tn__fault_words(device)) ||
        tn__node_take(node, 0, function, key, key_dtype, shape) != TN_OK ||
        (end && tn__node_take(node, 2, function, end, TN_I64, shape) != TN_OK)) {
        tn__node_free(node);
        return NULL;
    }
    if (form->inputs > 1) tn__node_operand(node, 1, table, table_stride);
    return tn__record(node, device, dtype, true);
}
