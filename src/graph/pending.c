#include "graph/pending.h"
#include "base/alloc.h"
#include "graph/graph.h"

static tn_status hold_results(tn__pending *p, const tn__node *node)
{
    if (p->held_count + node->results > p->held_capacity) {
        const int capacity = p->held_capacity ? p->held_capacity * 2 : 16;
        tn__value **grown = tn__realloc(p->held, (size_t)capacity * sizeof *grown);
        if (!grown) return TN_MEMORY;
        p->held = grown;
        p->held_capacity = capacity;
    }
    for (int i = 0; i < node->results; i++)
        if (node->out[i] && tn__value_retain_living(node->out[i])) p->held[p->held_count++] = node->out[i];
    return TN_OK;
}

static tn_status add_node(tn__pending *p, tn__node *node)
{
    if (p->nodes_count == p->nodes_capacity) {
        const int capacity = p->nodes_capacity ? p->nodes_capacity * 2 : 64;
        tn__node **grown = tn__realloc(p->nodes, (size_t)capacity * sizeof *grown);
        if (!grown) return TN_MEMORY;
        p->nodes = grown;
        p->nodes_capacity = capacity;
    }
    node->place = p->nodes_count;
    p->nodes[p->nodes_count++] = node;
    return node->results > 1 ? hold_results(p, node) : TN_OK;
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
static tn_status collect(tn__pending *p, tn__node *root, uint64_t stamp, visits *v)
{
    if (root->visit == stamp) return TN_OK;
    TN__TRY(push_visit(v, root, stamp));
    while (v->count > 0) {
        visit *top = &v->list[v->count - 1];
        tn__node *node = top->node;
        if (top->next == node->inputs) {
            TN__TRY(add_node(p, node));
            v->count--;
            continue;
        }
        const tn__value *operand = node->in[top->next++].value;
        if (operand && operand->node && operand->node->visit != stamp) TN__TRY(push_visit(v, operand->node, stamp));
    }
    return TN_OK;
}

tn_status tn__pending_collect(tn__pending *p)
{
    visits v = {0};
    tn__lock(&p->device->graph_lock);
    tn__graph *graph = tn__graph_of(p->device);
    tn_status status = graph ? TN_OK : TN_MEMORY;
    const uint64_t stamp = graph ? ++graph->walk : 0;
    for (int i = 0; i < p->wanted_count && status == TN_OK; i++)
        if (p->wanted[i]->node) status = collect(p, p->wanted[i]->node, stamp, &v);
    tn__unlock(&p->device->graph_lock);
    tn__free(v.list);
    return status;
}

void tn__pending_free(tn__pending *p)
{
    for (int i = 0; i < p->held_count; i++) tn__value_release(p->held[i]);
    tn__free(p->held);
    tn__free(p->nodes);
}
