/* Lookups: elements of a table by their index, and places in a sorted table by value. */
#include "device/fault.h"
#include "graph/host.h"
#include "graph/rows.h"
#include <math.h>
#include <string.h>

/* ---- host ---- */

static tn_status visit_gather(const tn__node *node, int64_t linear, const int64_t *place, int n, void *user)
{
    const tn__lookup *lookup = &node->a.lookup;
    const int last = node->kept - 1;
    const int64_t key_stride = node->kept ? node->in[0].stride[last] : 0, stride = node->kept ? node->in[1].stride[last] : 0;
    const size_t size = tn_dtype_size(node->dtype);
    const char *table = tn__host_bytes(&node->in[1]);
    int64_t index[TN__BLOCK];
    tn__host_operand(&node->in[0], place[0], key_stride, n, index);
    for (int j = 0; j < n; j++) {
        const int64_t at = index[j] < 0 ? index[j] + lookup->count : index[j];
        if (at < 0 || at >= lookup->count) return tn__fault_fail(lookup->fault, index[j], lookup->count);
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

static tn_status host_lookup(const tn__node *node, void *const *out)
{
    return tn__host_walk(node, node->kept, node->a.lookup.form == TN__GATHER ? visit_gather : visit_search, out[0]);
}

const tn__op tn__op_lookup = {.name = "lookup", .fusable = true, .host = host_lookup};

/* ---- recording ---- */

tn_tensor *tn__record_lookup(const char *function, const tn__lookup *lookup, tn_tensor *key, tn_tensor *table,
                             const tn_shape *shape, const int64_t *table_stride)
{
    const bool gather = lookup->form == TN__GATHER;
    int64_t n;
    if (tn__shape_numel(shape, 8, &n, function) != TN_OK) return NULL;
    if (gather && lookup->count == 0 && n > 0)
        return TN__NULL(TN_AXIS, "%s: %lld indices into an axis of 0 elements", function, (long long)n);
    tn__device *device = tn__tensor_device(table);
    tn__node *node = tn__node_new(&tn__op_lookup, 2);
    if (!node) return NULL;
    node->dtype = table->dtype;
    node->a.lookup = *lookup;
    node->rank = node->kept = shape->ndim;
    memcpy(node->dim, shape->dim, sizeof shape->dim);
    if ((!device->is_host && !tn__fault_words(device)) ||
        tn__node_take(node, 0, function, key, gather ? TN_I64 : table->dtype, shape) != TN_OK) {
        tn__node_free(node);
        return NULL;
    }
    tn__node_operand(node, 1, table, table_stride);
    return tn__record(node, device, gather ? table->dtype : TN_I64, true);
}
