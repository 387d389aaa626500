/* Running: which pending values get kernels of their own, in what order, and what is stored. */
#include "graph/run.h"
#include "base/alloc.h"
#include "graph/build.h"
#include "graph/generate.h"
#include "graph/graph.h"
#include "graph/move.h"
#include "graph/recipe.h"
#include "graph/rows.h"
#include <inttypes.h>
#include <string.h>

typedef struct run {
    tn__device *device;
    tn__value *const *wanted;
    int wanted_count;
    const tn__window *places; /* of the wanted values, when they are written into `to` */
    tn__buffer *to;
    tn__node **nodes; /* pending nodes it can reach, operands before readers */
    int nodes_count, nodes_capacity;
    tn__value **held; /* results of nodes with several, retained: any of them may be stored */
    int held_count, held_capacity;
    tn__plan *first, *last; /* in the order made */
} run;

/* ---- which nodes ---- */

static tn_status hold_results(run *r, const tn__node *node)
{
    if (r->held_count + node->results > r->held_capacity) {
        const int capacity = r->held_capacity ? r->held_capacity * 2 : 16;
        tn__value **grown = tn__realloc(r->held, (size_t)capacity * sizeof *grown);
        if (!grown) return TN_MEMORY;
        r->held = grown;
        r->held_capacity = capacity;
    }
    for (int i = 0; i < node->results; i++)
        if (node->out[i] && tn__value_retain_living(node->out[i])) r->held[r->held_count++] = node->out[i];
    return TN_OK;
}

static tn_status add_node(run *r, tn__node *node)
{
    if (r->nodes_count == r->nodes_capacity) {
        const int capacity = r->nodes_capacity ? r->nodes_capacity * 2 : 64;
        tn__node **grown = tn__realloc(r->nodes, (size_t)capacity * sizeof *grown);
        if (!grown) return TN_MEMORY;
        r->nodes = grown;
        r->nodes_capacity = capacity;
    }
    r->nodes[r->nodes_count++] = node;
    return node->results > 1 ? hold_results(r, node) : TN_OK;
}

typedef struct visit {
    tn__node *node;
    int next; /* operand to look at */
} visit;

typedef struct visits {
    visit *list;
    int count, capacity;
} visits;

static tn_status push_visit(visits *v, tn__node *node, uint64_t stamp)
{
    if (v->count == v->capacity) {
        const int capacity = v->capacity ? v->capacity * 2 : 64;
        visit *grown = tn__realloc(v->list, (size_t)capacity * sizeof *grown);
        if (!grown) return TN_MEMORY;
        v->list = grown;
        v->capacity = capacity;
    }
    node->visit = stamp;
    node->uses = 0;
    node->level = 0;
    node->store = false;
    node->planned = false;
    node->awaited = false;
    node->home = NULL;
    node->newly_read = false;
    v->list[v->count++] = (visit){node, 0};
    return TN_OK;
}

/* Depth first without recursion: every pending node below `root`, operands first; counts the readers inside the run. */
static tn_status collect(run *r, tn__node *root, uint64_t stamp, visits *v)
{
    if (root->visit == stamp) return TN_OK;
    TN__TRY(push_visit(v, root, stamp));
    while (v->count > 0) {
        visit *top = &v->list[v->count - 1];
        tn__node *node = top->node;
        if (top->next == node->inputs) {
            TN__TRY(add_node(r, node));
            v->count--;
            continue;
        }
        const tn__value *operand = node->in[top->next++].value;
        if (operand && operand->node && operand->node->visit != stamp) TN__TRY(push_visit(v, operand->node, stamp));
    }
    return TN_OK;
}

static int64_t value_bytes(const tn__value *v)
{
    return v->count * (int64_t)tn_dtype_size(v->dtype);
}

/* False for generators and fills, which cost nothing to repeat. */
static bool reads_bytes(const tn__node *node)
{
    for (int i = 0; i < node->inputs; i++)
        if (node->in[i].value) return true;
    return false;
}

/* Read by several kernels: recomputing reads what its expression reads once more for each; storing writes it and reads it. */
static bool storing_moves_less(const tn__node *node)
{
    return node->out[0] && node->reads > 2 * value_bytes(node->out[0]);
}

/* Bytes an expression reads (inputs met twice count twice), and whether repeating it would repeat a structured operation. */
static void weigh(run *r)
{
    for (int i = 0; i < r->nodes_count; i++) {
        tn__node *node = r->nodes[i];
        node->dear = false;
        node->reads = 0;
        for (int k = 0; k < node->inputs; k++) {
            const tn__value *v = node->in[k].value;
            const tn__node *from = v ? v->node : NULL;
            if (v && k == 1 && node->op == &tn__op_lookup) { /* a table is stored; this many of its elements are read */
                const int64_t read = tn__node_count(node) * (int64_t)tn_dtype_size(v->dtype);
                node->reads += read < value_bytes(v) ? read : value_bytes(v);
                continue;
            }
            if (from && (!from->op->fusable || from->dear)) node->dear = true;
            if (v) node->reads += from && from->op->fusable ? from->reads : value_bytes(v);
            if (node->reads > INT64_MAX / 4) node->reads = INT64_MAX / 4;
        }
    }
}

/* A run has computed it on the way to something else; what it reads was computed then, too. */
static bool was_fused(const tn__node *node)
{
    for (int o = 0; o < node->results; o++)
        if (node->out[o] && node->out[o]->runs > 0) return true;
    return false;
}

/* From readers to operands: nodes whose value is stored, and for the others the one kernel they go into (home). */
static void settle(run *r)
{
    for (int i = r->nodes_count - 1; i >= 0; i--) {
        tn__node *node = r->nodes[i];
        for (int o = 0; o < node->results; o++)
            if (node->out[o] && (node->out[o]->assigned || (reads_bytes(node) && node->newly_read && node->out[o]->runs > 0)))
                node->store = true;
        if (node->shared && node->op->fusable && (node->dear || storing_moves_less(node))) node->store = true;
        tn__node *home = node->store || !node->op->fusable || !node->home ? node : node->home;
        node->home = home;
        for (int k = 0; k < node->inputs; k++) {
            tn__node *from = node->in[k].value ? node->in[k].value->node : NULL;
            if (!from) continue;
            from->uses++;
            from->newly_read = from->newly_read || !was_fused(node);
            from->store = from->store || (k == 1 && node->op == &tn__op_lookup); /* a table */
            if (from->home && from->home != home) from->shared = true;
            if (!from->home) from->home = home;
        }
    }
}

static tn__choice choose(tn__plan *plan, tn__value *value, void *user)
{
    const tn__node *node = value->node;
    (void)plan;
    (void)user;
    if (node->planned) return TN__STORED;
    if (!node->op->fusable) return node->uses == 1 && !node->store ? TN__INLINE : TN__STORED;
    return node->store ? TN__INLINE_AND_STORE : TN__INLINE;
}

/* ---- plans in order ---- */

static void append_plan(run *r, tn__plan *p)
{
    if (r->last)
        r->last->next = p;
    else
        r->first = p;
    r->last = p;
    int level = 0;
    for (int i = 0; i < p->inputs_count; i++) {
        const tn__value *v = p->inputs[i].value;
        if (v && v->node && v->node->level > level) level = v->node->level;
    }
    p->level = level + 1;
    for (int o = 0; o < p->outputs_count; o++) {
        p->outputs[o].value->node->planned = true;
        p->outputs[o].value->node->level = p->level;
    }
}

/* The first input that is pending and has no kernel yet. */
static tn__value *missing_input(const tn__plan *p)
{
    for (int i = 0; i < p->inputs_count; i++) {
        tn__value *v = p->inputs[i].value;
        if (v && v->node && !v->node->planned) return v;
    }
    return NULL;
}

/* What p computes has a kernel by now: an output, or the result of its structured operation, which it reads at other places too. */
static bool is_overtaken(const tn__plan *p)
{
    if (p->anchor && p->anchor->planned) return true;
    for (int o = 0; o < p->outputs_count; o++)
        if (p->outputs[o].value->node->planned) return true;
    return false;
}

/* May value's kernel read something that p reads? Cheaper than to plan it. */
static bool may_share(const run *r, const tn__plan *p, const tn__value *value)
{
    enum { MOST = 2 * TN__NODE_OPERATIONS };
    tn__node *stack[MOST];
    const uint64_t stamp = ++((tn__graph *)r->device->graph)->walk;
    int count = 0;
    for (stack[count++] = value->node; count > 0;) {
        const tn__node *node = stack[--count];
        for (int k = 0; k < node->inputs; k++) {
            const tn__value *v = node->in[k].value;
            for (int i = 0; v && i < p->inputs_count; i++)
                if (p->inputs[i].value == v) return true;
            if (!v || !v->node || !v->node->op->fusable || v->node->visit == stamp) continue;
            if (count == MOST) return true;
            v->node->visit = stamp;
            stack[count++] = v->node;
        }
    }
    return false;
}

static bool is_output(const tn__plan *p, const tn__value *value)
{
    bool found = false;
    for (int o = 0; o < p->outputs_count && !found; o++) found = p->outputs[o].value == value;
    return found;
}

/* Another wanted value of the same shape whose kernel would read what p reads: both in one kernel, when neither waits for
 * the other. Replaces *plan. */
static void join_wanted(run *r, tn__plan **plan, tn__value *value)
{
    tn__value *group[TN__PLAN_OUTPUTS / 2] = {value};
    int count = 1;
    if ((*plan)->anchor || r->places || missing_input(*plan)) return;
    for (int i = 0; i < r->wanted_count && count < TN__PLAN_OUTPUTS / 2; i++) {
        tn__value *other = r->wanted[i];
        bool have = !other->node || other->node->planned || !other->node->op->fusable || other->count != value->count;
        if (have || is_output(*plan, other) || other->node->kept != value->node->kept ||
            memcmp(other->node->dim, value->node->dim, sizeof(int64_t) * (size_t)value->node->kept) != 0)
            continue;
        if (!may_share(r, *plan, other)) continue;
        group[count] = other;
        const tn__request request = {r->device, group, count + 1, choose, NULL, NULL, NULL};
        const tn__request alone = {r->device, &other, 1, choose, NULL, NULL, NULL};
        tn__plan *both = tn__plan_new(&request), *single = tn__plan_new(&alone);
        const bool shares = both && single && !single->anchor && both->inputs_count < (*plan)->inputs_count + single->inputs_count;
        if (shares && !missing_input(both)) {
            tn__plan_free(*plan);
            *plan = both;
            both = NULL;
            count++;
        }
        tn__plan_free(both);
        tn__plan_free(single);
    }
}

static const tn__window *place_of(const run *r, const tn__value *value)
{
    for (int i = 0; r->places && i < r->wanted_count; i++)
        if (r->wanted[i] == value) return &r->places[i];
    return NULL;
}

typedef struct work {
    tn__value *value;
    tn__plan *plan;
} work;

/* Plans value after everything its kernel reads. */
static tn_status plan_value(run *r, tn__value *value)
{
    int count = 0, capacity = 0;
    work *stack = NULL;
    tn_status status = TN_OK;
    tn__value *next = value;
    while (status == TN_OK && (next || count > 0)) {
        if (next) {
            if (count == capacity) {
                const int larger = capacity ? capacity * 2 : 32;
                work *grown = tn__realloc(stack, (size_t)larger * sizeof *grown);
                if (!grown) {
                    status = TN_MEMORY;
                    break;
                }
                stack = grown;
                capacity = larger;
            }
            stack[count++] = (work){next, NULL};
        }
        work *top = &stack[count - 1];
        next = NULL;
        if (top->value->node->planned) {
            tn__plan_free(top->plan);
            count--;
            continue;
        }
        if (top->plan && is_overtaken(top->plan)) {
            tn__plan_free(top->plan);
            top->plan = NULL;
        }
        if (!top->plan) {
            const tn__window *place = place_of(r, top->value);
            const tn__request request = {r->device, &top->value, 1, choose, NULL, place, place ? r->to : NULL};
            top->plan = tn__plan_new(&request);
            if (!top->plan) {
                status = tn_last_status() == TN_OK ? TN_MEMORY : tn_last_status();
                break;
            }
        }
        next = missing_input(top->plan);
        if (next) continue;
        join_wanted(r, &top->plan, top->value);
        append_plan(r, top->plan);
        count--;
    }
    while (count > 0) tn__plan_free(stack[--count].plan);
    tn__free(stack);
    return status;
}

static tn_status plan_all(run *r)
{
    tn__graph *graph = tn__graph_of(r->device);
    if (!graph) return TN_MEMORY;
    const uint64_t stamp = ++graph->walk;
    visits v = {0};
    tn_status status = TN_OK;
    for (int i = 0; i < r->wanted_count && status == TN_OK; i++)
        if (r->wanted[i]->node) status = collect(r, r->wanted[i]->node, stamp, &v);
    tn__free(v.list);
    TN__TRY(status);
    for (int i = 0; i < r->nodes_count; i++) r->nodes[i]->shared = false;
    for (int i = 0; i < r->wanted_count; i++)
        if (r->wanted[i]->node) r->wanted[i]->node->store = true;
    weigh(r);
    settle(r);
    for (int pass = 0; pass < 2; pass++) /* what nothing else of the run reads first: it may take the others along */
        for (int i = 0; i < r->wanted_count; i++) {
            const tn__node *node = r->wanted[i]->node;
            if (node && !node->planned && (pass == 1 || node->uses == 0)) TN__TRY(plan_value(r, r->wanted[i]));
        }
    return TN_OK;
}

/* ---- bytes, kernels, launches ---- */

enum { SLAB_STEP = 32 }; /* elements to which the parts of a shared buffer are rounded */

/* Results of a plan's segments lie behind each other in one buffer for each output. */
static tn_status allocate_output(tn__plan *first, int o)
{
    int64_t count = 0;
    for (tn__plan *p = first; p; p = p->next_segment) {
        p->outputs[o].base = p->outputs[o].value->base = count;
        count += p->next_segment ? (p->outputs[o].value->count + SLAB_STEP - 1) / SLAB_STEP * SLAB_STEP
                                 : p->outputs[o].value->count;
    }
    tn__buffer *bytes = tn__buffer_new(first->device, (uint64_t)count * tn_dtype_size(first->outputs[o].dtype));
    if (!bytes) return tn_last_status();
    first->outputs[o].bytes = bytes;
    for (tn__plan *p = first->next_segment; p; p = p->next_segment) p->outputs[o].bytes = tn__buffer_retain(bytes);
    return TN_OK;
}

static tn_status check_inputs(const run *r)
{
    for (const tn__plan *p = r->first; p; p = p->next)
        for (const tn__plan *s = p; s; s = s->next_segment)
            for (int i = 0; i < s->inputs_count; i++)
                if (s->inputs[i].value && !s->inputs[i].value->node) TN__TRY(tn__value_usable(s->inputs[i].value));
    return TN_OK;
}

static tn_status allocate_outputs(run *r)
{
    for (tn__plan *p = r->first; p; p = p->next)
        for (int o = 0; o < p->outputs_count; o++)
            if (p->written && o == p->outputs_count - 1)
                for (tn__plan *s = p; s; s = s->next_segment) s->outputs[o].bytes = tn__buffer_retain(s->written);
            else
                TN__TRY(allocate_output(p, o));
    return TN_OK;
}

static tn_status generate_all(run *r)
{
    tn__recipes_trim(r->device);
    for (tn__plan *p = r->first; p; p = p->next) TN__TRY(tn__plan_prepare(p));
    return tn__plans_build(r->first);
}

/* The values a launched plan computed get their bytes; values it only passed through count the run. */
static void publish(tn__device *device, tn__plan *p)
{
    tn__value *dropped = NULL;
    tn__lock(&device->graph_lock);
    for (int s = 0; s < p->steps_count; s++) {
        tn__node *node = p->steps[s].value ? p->steps[s].value->node : NULL;
        if (!node) continue;
        p->steps[s].value->runs++;
        ((tn__graph *)device->graph)->bytes -= node->bytes; /* running it once more would free nothing soon */
        node->bytes = 0;
    }
    for (int r = 0; p->anchor && r < p->anchor->results; r++)
        if (p->anchor->out[r]) p->anchor->out[r]->runs++;
    for (int o = 0; o < p->outputs_count; o++) {
        tn__value *v = p->outputs[o].value;
        tn__node *node = v->node;
        const bool target = !p->written || o != p->outputs_count - 1;
        if (!node) continue;
        if (target) {
            v->buffer = p->outputs[o].bytes;
            p->outputs[o].bytes = NULL;
        }
        v->node = NULL;
        node->out[v->result] = NULL;
        bool last = true;
        for (int i = 0; i < node->results; i++) last = last && !node->out[i];
        if (last) tn__graph_remove(device->graph, node, &dropped);
    }
    tn__unlock(&device->graph_lock);
    tn__graph_drop(dropped);
}

/* Kernels may read values that a plan before them made, which publish has given bytes by then. */
static tn_status launch_all(run *r)
{
    for (tn__plan *p = r->first; p; p = p->next) {
        TN__TRY(p->anchor ? p->anchor->op->launch(p) : p->next_segment ? tn__segments_launch(p) : tn__elementwise_launch(p));
        for (tn__plan *s = p; s; s = s->next_segment) publish(r->device, s);
    }
    return TN_OK;
}

static void free_run(run *r)
{
    while (r->first) {
        tn__plan *p = r->first;
        r->first = p->next;
        while (p) {
            tn__plan *segment = p->next_segment;
            tn__plan_free(p);
            p = segment;
        }
    }
    for (int i = 0; i < r->held_count; i++) tn__value_release(r->held[i]);
    tn__free(r->held);
    tn__free(r->nodes);
}

static tn_status execute(run *r)
{
    tn__device *device = r->device;
    tn__lock(&device->graph_lock);
    tn_status status = plan_all(r);
    tn__unlock(&device->graph_lock);
    if (status == TN_OK) tn__join_segments(&r->first);
    if (status == TN_OK) status = check_inputs(r);
    if (status == TN_OK) status = allocate_outputs(r);
    if (status == TN_OK) status = generate_all(r);
    if (status == TN_OK) status = launch_all(r);
    free_run(r);
    return status;
}

/* One run at a time; the allocator may not start another inside when memory is short. */
static tn_status locked_run(run *r)
{
    TN__TRY(tn__device_check(r->device));
    tn__lock(&r->device->run_lock);
    const bool paused = tn__pressure_pause(true);
    const tn_status status = execute(r);
    (void)tn__pressure_pause(paused);
    tn__unlock(&r->device->run_lock);
    return status;
}

tn_status tn__realize_values(tn__device *device, tn__value *const *values, int count)
{
    bool pending = false;
    if (tn__device_foreign(device)) return tn__device_check(device);
    tn__lock(&device->graph_lock);
    for (int i = 0; i < count; i++) pending = pending || values[i]->node;
    tn__unlock(&device->graph_lock);
    if (!pending) return TN_OK;
    run r = {.device = device, .wanted = values, .wanted_count = count};
    return locked_run(&r);
}

tn_status tn__realize_into(tn__device *device, tn__value *const *values, const tn__window *places, int count, tn__buffer *to)
{
    run r = {.device = device, .wanted = values, .wanted_count = count, .places = places, .to = to};
    return locked_run(&r);
}

/* ---- everything ---- */

/* Values no pending node reads, retained: those that no run has computed on its way yet, and with `fused` all that one has. */
static int gather_ends(tn__device *device, tn__value **list, int most, bool fused)
{
    int count = 0;
    tn__lock(&device->graph_lock);
    const tn__graph *graph = device->graph;
    for (tn__node *n = graph ? graph->oldest : NULL; n && count < most; n = n->newer)
        for (int i = 0; i < n->results && count < most; i++) {
            tn__value *v = n->out[i];
            if (!v || (v->runs > 0 ? !fused : v->readers > 0)) continue;
            if (tn__value_retain_living(v)) list[count++] = v;
        }
    tn__unlock(&device->graph_lock);
    return count;
}

static tn_status run_ends(tn__device *device, bool fused)
{
    enum { BATCH = 512 };
    tn__value *list[BATCH];
    for (;;) {
        const int count = gather_ends(device, list, BATCH, fused);
        if (count == 0) return TN_OK;
        const tn_status status = tn__realize_values(device, list, count);
        for (int i = 0; i < count; i++) tn__value_release(list[i]);
        TN__TRY(status);
    }
}

tn_status tn__run_everything(tn__device *device)
{
    return run_ends(device, true);
}

void tn__run_bound(tn__device *device)
{
    tn__error_attempt();
    const tn_status status = run_ends(device, false);
    tn__lock(&device->graph_lock);
    const tn__graph *graph = device->graph;
    const bool still = graph && graph->pending > TN__NODES_PENDING / 2; /* else the next nodes would each run again */
    tn__unlock(&device->graph_lock);
    if (status == TN_OK && still) (void)run_ends(device, true);
    tn__error_attempt_end();
}

tn_status tn_finish(const char *name)
{
    tn__graph_start();
    if (!name) return tn__fail_null("finish", "device");
    tn__device *device = tn__device_find(name);
    if (!device) return tn_last_status();
    if (device->is_host || atomic_load(&device->opened) != 1) return TN_OK;
    TN__TRY(tn__device_check(device));
    TN__TRY(run_ends(device, false));
    return tn__device_finish(device);
}
