/* Recording: from operands to a pending node, or to bytes on host. */
#include "base/alloc.h"
#include "base/settings.h"
#include "core/scope.h"
#include "graph/forms.h"
#include "graph/graph.h"
#include "graph/move.h"
#include "graph/recipe.h"
#include "graph/run.h"
#include <string.h>

int64_t tn__node_count(const tn__node *node)
{
    int64_t n = 1;
    for (int i = 0; i < node->kept; i++) n *= node->dim[i];
    return n;
}

tn__node *tn__node_new(const tn__op *op, int inputs)
{
    tn__node *n = tn__zalloc(sizeof *n + (size_t)inputs * sizeof n->in[0]);
    if (!n) return NULL;
    n->op = op;
    n->inputs = inputs;
    n->results = 1;
    return n;
}

void tn__node_free(tn__node *n)
{
    for (int i = 0; i < n->inputs; i++)
        if (n->in[i].value) tn__value_release(n->in[i].value);
    tn__free(n);
}

void tn__node_operand(tn__node *node, int i, tn_tensor *x, const int64_t *stride)
{
    tn__operand *in = &node->in[i];
    in->value = tn__value_retain(x->storage->value);
    in->dtype = x->dtype;
    in->offset = x->offset;
    memcpy(in->stride, stride, (size_t)node->rank * sizeof in->stride[0]);
}

/* ---- layout ---- */

/* Axes of the result from the slowest to the fastest in memory. */
static void choose_order(const tn__node *node, bool fixed, int *order)
{
    const int n = node->kept;
    for (int a = 0; a < n; a++) order[a] = a;
    for (int i = 0; !fixed && i < node->inputs; i++) {
        const tn__operand *in = &node->in[i];
        bool full = in->value != NULL;
        for (int a = 0; full && a < n; a++) full = node->dim[a] == 1 || in->stride[a] != 0;
        if (!full) continue;
        for (int a = 1; a < n; a++) { /* stable insertion, larger strides first; extents of 1 have no say */
            const int axis = order[a];
            const int64_t s = in->stride[axis] < 0 ? -in->stride[axis] : in->stride[axis];
            int at = a;
            for (int b = a - 1; node->dim[axis] != 1 && b >= 0; b--) {
                const int64_t t = in->stride[order[b]] < 0 ? -in->stride[order[b]] : in->stride[order[b]];
                if (node->dim[order[b]] == 1) continue;
                if (t >= s) break;
                at = b;
            }
            for (int b = a; b > at; b--) order[b] = order[b - 1];
            order[at] = axis;
        }
        return;
    }
}

static void reorder(tn__node *node, const int *order)
{
    int64_t old[TN_MAX_AXES + 1];
    memcpy(old, node->dim, sizeof old);
    for (int a = 0; a < node->kept; a++) node->dim[a] = old[order[a]];
    for (int i = 0; i < node->inputs; i++) {
        memcpy(old, node->in[i].stride, sizeof old);
        for (int a = 0; a < node->kept; a++) node->in[i].stride[a] = old[order[a]];
    }
}

static tn_tensor *handle_on(tn__value *value, const tn_shape *shape, const int *order)
{
    tn__storage *s = tn__storage_new(value);
    if (!s) return NULL;
    tn_tensor *x = tn__tensor_new(s, value->dtype, shape);
    tn__storage_release(s);
    if (!x) return NULL;
    int64_t step = 1;
    for (int a = shape->ndim - 1; a >= 0; a--) {
        x->stride[order[a]] = step;
        step *= shape->dim[order[a]] > 0 ? shape->dim[order[a]] : 1;
    }
    return x;
}

/* ---- host: run at once ---- */

static tn_status run_on_host(tn__node *node, tn__value *const *values)
{
    void *out[TN__MAX_RESULTS] = {0};
    for (int r = 0; r < node->results; r++) {
        tn__value *v = values[r];
        if (!v) continue;
        v->buffer = tn__buffer_new(v->device, (uint64_t)v->count * (uint64_t)tn_dtype_size(v->dtype));
        if (!v->buffer) return tn_last_status();
        out[r] = v->buffer->memory;
    }
    return node->op->host(node, out);
}

/* ---- OpenCL: pending ---- */

/* Operations of the expression that ends in node, each node once; stops counting above the bound. */
static int64_t expression_weight(tn__graph *graph, tn__node *node)
{
    tn__node *stack[TN__NODE_OPERATIONS + 8];
    int depth = 0;
    int64_t weight = 1;
    const uint64_t stamp = ++graph->walk;
    stack[depth++] = node;
    while (depth > 0 && weight <= TN__NODE_OPERATIONS) {
        const tn__node *at = stack[--depth];
        for (int i = 0; i < at->inputs; i++) {
            tn__node *from = at->in[i].value ? at->in[i].value->node : NULL;
            if (!from || !from->op->fusable || from->visit == stamp) continue;
            from->visit = stamp;
            weight++;
            if (depth < TN__NODE_OPERATIONS + 8) stack[depth++] = from;
        }
    }
    return weight;
}

static void link_node(tn__graph *graph, tn__node *node, tn__value *const *values)
{
    for (int r = 0; r < node->results; r++) {
        if (!values[r]) continue;
        node->out[r] = values[r];
        values[r]->node = node;
        values[r]->result = r;
    }
    for (int i = 0; i < node->inputs; i++) {
        tn__value *v = node->in[i].value;
        if (!v) continue;
        v->readers++;
        if (v->buffer) node->bytes += (uint64_t)v->count * tn_dtype_size(v->dtype);
    }
    graph->bytes += node->bytes;
    node->older = graph->newest;
    if (graph->newest)
        graph->newest->newer = node;
    else
        graph->oldest = node;
    graph->newest = node;
    graph->pending++;
}

/* Runs the heaviest operands until the node fits in a kernel. */
static tn_status lighten(tn__device *device, tn__node *node)
{
    for (;;) {
        tn__value *heaviest = NULL;
        tn__lock(&device->graph_lock);
        tn__graph *graph = tn__graph_of(device);
        if (graph && expression_weight(graph, node) > TN__NODE_OPERATIONS) {
            int64_t most = 0;
            for (int i = 0; i < node->inputs; i++) {
                tn__value *v = node->in[i].value;
                if (!v || !v->node || !v->node->op->fusable || v->node->weight <= most) continue;
                most = v->node->weight;
                heaviest = v;
            }
        }
        const bool full = graph && (graph->pending >= TN__NODES_PENDING || graph->bytes > device->info.memory_total);
        if (!heaviest && graph) node->weight = node->op->fusable ? expression_weight(graph, node) : 1;
        tn__unlock(&device->graph_lock);
        if (!graph) return TN_MEMORY;
        if (full) tn__run_bound(device);
        if (!heaviest) return TN_OK;
        TN__TRY(tn__realize_values(device, &heaviest, 1));
    }
}

static tn_status record_pending(tn__device *device, tn__node *node, tn__value *const *values)
{
    TN__TRY(tn__device_check(device));
    TN__TRY(lighten(device, node));
    tn__lock(&device->graph_lock);
    link_node(tn__graph_of(device), node, values);
    tn__unlock(&device->graph_lock);
    return TN_OK;
}

static _Thread_local int eager_paused;

void tn__eager_pause(void)
{
    eager_paused++;
}

void tn__eager_resume(void)
{
    eager_paused--;
}

static tn_status run_or_record(tn__device *device, tn__node *node, tn__value *const *values, bool *kept)
{
    tn__value *wanted[TN__MAX_RESULTS];
    int count = 0;
    *kept = false;
    if (tn__node_count(node) == 0) return TN_OK;
    for (int r = 0; r < node->results; r++)
        if (values[r]) wanted[count++] = values[r];
    if (device->is_host) return run_on_host(node, values);
    TN__TRY(record_pending(device, node, values));
    *kept = true;
    if (eager_paused || !tn__setting_on(TN__SET_EAGER)) return TN_OK;
    TN__TRY(tn__realize_values(device, wanted, count));
    return tn__device_finish(device);
}

static const char *name_of(const tn__node *node)
{
    return node->row ? node->row->name : node->op->name;
}

/* Values for the wanted results. */
static tn_status new_values(tn__device *device, const tn__node *node, const tn_shape *shape, const tn_dtype *dtype,
                            tn_tensor **const *out, tn__value **values)
{
    for (int r = 0; r < node->results; r++)
        if (out[r] && !(values[r] = tn__value_new(device, dtype[r], shape, name_of(node)))) return TN_MEMORY;
    return TN_OK;
}

/* Handles on the values, which they take over. */
static tn_status new_handles(int results, tn__value **values, const tn_shape *shape, const int *order, tn_tensor **const *out)
{
    for (int r = 0; r < results; r++) {
        if (!out[r]) continue;
        *out[r] = handle_on(values[r], shape, order);
        values[r] = NULL;
        if (!*out[r]) return TN_MEMORY;
    }
    return TN_OK;
}

static tn_status takes_results(const tn__device *device, const tn__node *node, const tn_dtype *dtype)
{
    const char *name = name_of(node);
    TN__TRY(tn__device_takes(device, node->dtype, name));
    for (int r = 0; r < node->results; r++) TN__TRY(tn__device_takes(device, dtype[r], name));
    return TN_OK;
}

tn_status tn__record_results(tn__node *node, tn__device *device, const tn_dtype *dtype, bool fixed, tn_tensor **const *out)
{
    int order[TN_MAX_AXES];
    tn__value *values[TN__MAX_RESULTS] = {0};
    const int results = node->results;
    const tn_shape shape = tn_shape_make(node->kept, node->dim);
    bool kept = false;
    for (int r = 0; r < results; r++)
        if (out[r]) *out[r] = NULL;
    tn_status status = takes_results(device, node, dtype);
    if (status == TN_OK) {
        choose_order(node, fixed, order);
        reorder(node, order);
        if (node->op->reordered) node->op->reordered(node, order);
        status = new_values(device, node, &shape, dtype, out, values);
    }
    if (status == TN_OK) status = run_or_record(device, node, values, &kept);
    if (!kept) tn__node_free(node);
    if (status == TN_OK) status = new_handles(results, values, &shape, order, out);
    for (int r = 0; r < results && status != TN_OK; r++) {
        if (values[r]) tn__value_release(values[r]); /* with the node, once it is linked */
        if (out[r]) tn_release(*out[r]), *out[r] = NULL;
    }
    return status;
}

tn_tensor *tn__record(tn__node *node, tn__device *device, tn_dtype dtype, bool fixed)
{
    tn_tensor *x, **const out[] = {&x};
    (void)tn__record_results(node, device, &dtype, fixed, out);
    return x;
}

/* ---- removing ---- */

tn__graph *tn__graph_of(tn__device *device)
{
    if (!device->graph) device->graph = tn__zalloc(sizeof(tn__graph));
    return device->graph;
}

tn__kernel *tn__graph_kernel(tn__device *device, const char *key, size_t length)
{
    tn__lock(&device->graph_lock);
    const tn__graph *graph = device->graph;
    tn__kernel *kernel = graph && graph->kernels ? tn__map_get(graph->kernels, key, length) : NULL;
    tn__unlock(&device->graph_lock);
    return kernel;
}

void tn__graph_remember(tn__device *device, const char *key, size_t length, tn__kernel *kernel)
{
    tn__lock(&device->graph_lock);
    tn__graph *graph = tn__graph_of(device);
    if (graph && !graph->kernels) graph->kernels = tn__map_new();
    if (graph && graph->kernels) (void)tn__map_put(graph->kernels, key, length, kernel);
    tn__unlock(&device->graph_lock);
}

void tn__graph_remove(tn__graph *graph, tn__node *node, tn__value **work)
{
    if (node->older)
        node->older->newer = node->newer;
    else
        graph->oldest = node->newer;
    if (node->newer)
        node->newer->older = node->older;
    else
        graph->newest = node->older;
    graph->pending--;
    graph->bytes -= node->bytes;
    for (int i = 0; i < node->inputs; i++) {
        if (!node->in[i].value) continue;
        node->in[i].value->readers--;
        tn__value_drop(node->in[i].value, work);
    }
    tn__free(node);
}

void tn__graph_drop(tn__value *work)
{
    while (work) { /* revive each for one ordinary release */
        tn__value *v = work;
        work = v->next;
        atomic_store(&v->references, 1);
        tn__value_release(v);
    }
}

static void free_node(tn__value *value, tn__value **work)
{
    tn__device *device = value->device;
    if (tn__device_foreign(device)) return;
    tn__lock(&device->graph_lock);
    tn__node *node = value->node;
    bool last = node != NULL;
    if (node) {
        node->out[value->result] = NULL;
        for (int r = 0; r < node->results; r++) last = last && !node->out[r];
        if (last) tn__graph_remove(device->graph, node, work);
    }
    tn__unlock(&device->graph_lock);
}

static void free_bytes(tn__value *value)
{
    tn__buffer_release(value->buffer);
}

static const char *device_name(const struct tn__device *device)
{
    return device->name;
}

static bool run_under_pressure(tn__device *device)
{
    return tn__run_everything(device) == TN_OK;
}

/* Shutting down: what is pending will never run; its handles may still be released. */
static void close_graph(tn__device *device)
{
    tn__value *dropped = NULL;
    tn__lock(&device->graph_lock);
    tn__graph *graph = device->graph;
    while (graph && graph->oldest) {
        tn__node *node = graph->oldest;
        for (int r = 0; r < node->results; r++)
            if (node->out[r]) {
                node->out[r]->node = NULL;
                node->out[r]->failed = TN_LOST;
            }
        tn__graph_remove(graph, node, &dropped);
    }
    if (graph) tn__map_free(graph->kernels);
    if (graph) tn__recipes_free(graph->recipes);
    tn__free(graph);
    device->graph = NULL;
    tn__unlock(&device->graph_lock);
    tn__graph_drop(dropped);
}

void tn__graph_start(void)
{
    static atomic_int started;
    static tn__mutex lock = TN__MUTEX_INIT;
    if (atomic_load_explicit(&started, memory_order_acquire)) return;
    tn__lock(&lock);
    if (atomic_load(&started)) {
        tn__unlock(&lock);
        return;
    }
    tn__scope_over_fork();
    tn__values_over_fork();
    tn__lock_over_fork(&tn__host()->memory_lock);
    tn__settings_over_fork();
    tn__owner = (tn__value_owner){
        .free_bytes = free_bytes, .free_node = free_node, .free_derived = tn__forms_free, .device_name = device_name};
    tn__set_pressure_hook(run_under_pressure);
    tn__set_spare_hook(tn__forms_relieve);
    tn__set_close_hook(close_graph);
    atomic_store_explicit(&started, 1, memory_order_release);
    tn__unlock(&lock);
}
