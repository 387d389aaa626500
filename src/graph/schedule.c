#include "graph/schedule.h"
#include "base/alloc.h"
#include "base/settings.h"
#include "graph/graph.h"
#include "graph/recipe.h"
#include "graph/rows.h"
#include <limits.h>
#include <string.h>

/* Plans of all schedules of a device, and of one. */
enum { MOST_PLANS = 2048, MOST_IN_ONE = 512 };

/* Where a given value's first operand began in the last run: at element `offset` of the value, which began at `base`. */
typedef struct begin {
    int64_t offset, base;
} begin;

struct tn__schedule {
    tn__plan *first;
    begin *begins;
    int given_count;
};

/* In a schedule a value is a name: result r of the node at place n is n * TN__MAX_RESULTS + r, given value g is ~g. */
enum { NAMELESS = INT_MIN };

/* ---- the outline ---- */

static bool is_given(const tn__outline *o, const tn__value *value)
{
    return value->slot < o->given_count && o->given[value->slot].value == value;
}

/* The first of the given values that lies in its buffer; -1: it has none. */
static int buffer_of(const tn__outline *o, const tn__value *value)
{
    tn__buffer *buffer = value->buffer;
    if (!buffer) return -1;
    if (buffer->slot >= o->given_count || o->given[buffer->slot].value->buffer != buffer) buffer->slot = value->slot;
    return buffer->slot;
}

/* The place of a number among the different ones: which of them are equal decides what is launched together (segments.c). */
static int class_of(tn__outline *o, const tn__number *number)
{
    const uint64_t hash = (number->m ^ (uint64_t)number->compute) * UINT64_C(0x9e3779b97f4a7c15);
    size_t at = (size_t)(hash >> 40) & o->numbers_mask;
    while (o->numbers[at].place != 0 && (o->numbers[at].number.m != number->m || o->numbers[at].number.compute != number->compute))
        at = (at + 1) & o->numbers_mask;
    if (o->numbers[at].place == 0) o->numbers[at] = (tn__met){*number, ++o->numbers_count};
    return o->numbers[at].place;
}

static void put_numbers(tn__outline *o, const int64_t *numbers, size_t count)
{
    tn__text_put(&o->key, (const char *)numbers, count * sizeof *numbers);
}

static void put_operand(tn__outline *o, const tn__node *node, const tn__operand *in)
{
    int64_t numbers[8] = {in->dtype, NAMELESS, in->offset, 0};
    const tn__node *from = in->value ? in->value->node : NULL;
    size_t count = 4;
    if (from) {
        numbers[1] = from->place * TN__MAX_RESULTS + in->value->result;
    } else if (in->value) {
        if (!is_given(o, in->value)) {
            in->value->slot = o->given_count;
            o->given[o->given_count++] = (tn__given){in->value, in->offset};
            numbers[count++] = in->value->dtype;
            numbers[count++] = in->value->count;
            numbers[count++] = buffer_of(o, in->value);
        }
        numbers[1] = ~in->value->slot;
        numbers[2] = in->offset - o->given[in->value->slot].offset;
    }
    if (!in->value) numbers[3] = class_of(o, &in->number) << 8 | (int)in->number.compute;
    put_numbers(o, numbers, count);
    put_numbers(o, in->stride, (size_t)node->rank);
}

/* What planning asks about a result. */
static int64_t state_of(const tn__node *node, int result)
{
    const tn__value *v = node->out[result];
    if (!v) return -1;
    return (int64_t)v->dtype | (int64_t)(atomic_load(&v->references) > 0) << 8 | (int64_t)v->assigned << 9 |
           (int64_t)(v->runs > 0) << 10;
}

static void put_node(tn__outline *o, const tn__node *node)
{
    int64_t numbers[6 + TN__MAX_RESULTS] = {(intptr_t)node->op, (intptr_t)node->row, node->dtype,
                                            node->rank | node->kept << 8 | node->results << 16, node->inputs};
    const bool draws = node->inputs == 0;
    for (int r = 0; r < node->results; r++) numbers[5 + r] = state_of(node, r);
    numbers[5 + TN__MAX_RESULTS] = draws ? node->a.random.form : 0; /* the rest are numbers */
    put_numbers(o, numbers, sizeof numbers / sizeof numbers[0]);
    put_numbers(o, node->dim, (size_t)node->rank);
    if (!draws && node->op != &tn__op_row && node->op != &tn__op_cast)
        tn__text_put(&o->key, (const char *)&node->a, sizeof node->a);
    for (int i = 0; i < node->inputs; i++) put_operand(o, node, &node->in[i]);
}

static int name_of(const tn__pending *pending, const tn__outline *o, const tn__value *value)
{
    const tn__node *node = value->node;
    if (node && node->place < pending->nodes_count && pending->nodes[node->place] == node)
        return node->place * TN__MAX_RESULTS + value->result;
    return !node && is_given(o, value) ? ~value->slot : NAMELESS;
}

static void draw(const tn__pending *pending, tn__outline *o)
{
    const int64_t version = (int64_t)tn__settings_version();
    size_t values = 0, numbers = 0, room = 1;
    for (int i = 0; i < pending->nodes_count; i++)
        for (int k = 0; k < pending->nodes[i]->inputs; k++) pending->nodes[i]->in[k].value ? values++ : numbers++;
    while (room <= 2 * numbers) room *= 2;
    o->given = tn__alloc_quiet((values + 1) * sizeof *o->given);
    o->numbers = tn__alloc_quiet(room * sizeof *o->numbers);
    o->failed = !o->given || !o->numbers;
    if (o->failed) return;
    memset(o->numbers, 0, room * sizeof *o->numbers);
    o->numbers_mask = room - 1;
    put_numbers(o, &version, 1);
    for (int i = 0; i < pending->nodes_count; i++) put_node(o, pending->nodes[i]);
    for (int i = 0; i < pending->wanted_count; i++) {
        const int64_t name = pending->wanted[i]->node ? name_of(pending, o, pending->wanted[i]) : NAMELESS;
        put_numbers(o, &name, 1);
    }
    o->failed = o->key.failed;
}

void tn__outline_free(tn__outline *o)
{
    tn__text_free(&o->key);
    tn__free(o->given);
    tn__free(o->numbers);
}

/* ---- plans one by one ---- */

/* Those of a list and their segments. */
typedef struct each {
    tn__plan *head, *at;
} each;

static each all_of(tn__plan *first)
{
    return (each){first, first};
}

static void step(each *e)
{
    e->at = e->at->next_segment;
    if (!e->at) e->at = e->head = e->head->next;
}

static int count_plans(tn__plan *first)
{
    int count = 0;
    for (each e = all_of(first); e.at; step(&e)) count++;
    return count;
}

/* ---- finding ---- */

static tn__value *value_of(const tn__pending *pending, const tn__outline *o, int name)
{
    if (name < 0) return o->given[~name].value;
    return pending->nodes[name / TN__MAX_RESULTS]->out[name % TN__MAX_RESULTS];
}

static begin begin_of(const tn__given *given)
{
    return (begin){given->offset, given->value->base};
}

/* Do its inputs begin where they did, or may they begin elsewhere? */
static bool takes_inputs(const tn__schedule *s, const tn__outline *o, const tn__plan *p, bool exact)
{
    for (int i = 0; i < p->inputs_count; i++) {
        const tn__plan_input *in = &p->inputs[i];
        if (in->name >= 0 || in->name == NAMELESS) continue;
        const begin now = begin_of(&o->given[~in->name]), then = s->begins[~in->name];
        if (now.offset + now.base == then.offset + then.base) continue;
        if (exact) return false;
        const int64_t end = tn__furthest(p, &in->window, now.base) + now.offset - then.offset + in->reach;
        if (!p->wide_index && end > TN__LARGEST_INDEX) return false;
    }
    return true;
}

static bool takes_places(const tn__schedule *s, const tn__outline *o)
{
    for (each e = all_of(s->first); e.at; step(&e))
        if (!takes_inputs(s, o, e.at, tn__plan_is_exact(e.head))) return false;
    return true;
}

static tn__number number_of(const tn__pending *pending, const tn__plan *p, int n)
{
    const tn__origin *from = &p->origins[n];
    if (!from->node) return p->numbers[n];
    const tn__node *node = pending->nodes[from->place];
    return from->operand < 0 ? tn__draw_number(node, ~from->operand) : node->in[from->operand].number;
}

static void fill(const tn__schedule *s, const tn__pending *pending, const tn__outline *o, tn__plan *p)
{
    if (p->anchor_place >= 0) p->anchor = pending->nodes[p->anchor_place];
    for (int n = 0; n < p->numbers_count; n++) p->numbers[n] = number_of(pending, p, n);
    for (int i = 0; i < p->inputs_count; i++) {
        tn__plan_input *in = &p->inputs[i];
        if (in->name == NAMELESS) continue;
        if (in->name < 0) in->window.offset += o->given[~in->name].offset - s->begins[~in->name].offset;
        in->value = value_of(pending, o, in->name);
    }
    for (int i = 0; i < p->steps_count; i++) {
        tn__step *at = &p->steps[i];
        if (at->name == NAMELESS) continue;
        at->value = value_of(pending, o, at->name);
        if (at->node) at->node = at->value->node;
    }
    for (int i = 0; i < p->outputs_count; i++) p->outputs[i].value = tn__value_retain(value_of(pending, o, p->outputs[i].name));
}

/* Operands' other forms are there, or can be made, as they were; what was made for others serves no more. */
static bool takes_forms(tn__plan *first)
{
    for (each e = all_of(first); e.at; step(&e)) {
        if (e.at->anchor && e.at->anchor->op->take_forms) e.at->anchor->op->take_forms(e.at);
        if ((e.at->form != NULL) != e.at->formed) return false;
    }
    return true;
}

tn__schedule *tn__schedule_find(const tn__pending *pending, tn__outline *o)
{
    tn__graph *graph = pending->device->graph;
    tn__lock(&pending->device->graph_lock);
    draw(pending, o);
    tn__schedule *s = graph->schedules && !o->failed ? tn__map_get(graph->schedules, o->key.data, o->key.length) : NULL;
    if (s && s->first && takes_places(s, o)) {
        for (each e = all_of(s->first); e.at; step(&e)) fill(s, pending, o, e.at);
        for (int g = 0; g < s->given_count; g++) s->begins[g] = begin_of(&o->given[g]);
    } else
        s = NULL;
    tn__unlock(&pending->device->graph_lock);
    if (s && !takes_forms(s->first)) {
        tn__schedule_rest(s);
        s = NULL;
    }
    graph->repeats += s != NULL;
    return s;
}

tn__plan *tn__schedule_plans(const tn__schedule *s)
{
    return s->first;
}

tn_status tn__schedule_prepare(tn__schedule *s)
{
    for (each e = all_of(s->first); e.at; step(&e)) {
        tn__plan *p = e.at;
        if (p == e.head && !tn__plan_is_exact(p)) tn__plan_place(p);
        for (int i = 0; i < 2; i++)
            if (p->scratch_bytes[i] && !p->scratch[i] && !(p->scratch[i] = tn__buffer_new(p->device, p->scratch_bytes[i])))
                return tn_last_status();
    }
    return TN_OK;
}

/* ---- keeping ---- */

static bool name_values(const tn__pending *pending, const tn__outline *o, tn__plan *p)
{
    bool all = true;
    p->anchor_place = p->anchor ? p->anchor->place : -1;
    for (int n = 0; n < p->numbers_count; n++)
        if (p->origins[n].node) p->origins[n].place = p->origins[n].node->place;
    for (int i = 0; i < p->inputs_count; i++) {
        tn__plan_input *in = &p->inputs[i];
        in->name = in->value ? name_of(pending, o, in->value) : NAMELESS;
        all = all && (!in->value || in->name != NAMELESS);
    }
    for (int i = 0; i < p->steps_count; i++) {
        tn__step *at = &p->steps[i];
        at->name = at->value ? name_of(pending, o, at->value) : NAMELESS;
        all = all && (!at->value || at->name != NAMELESS);
    }
    for (int i = 0; i < p->outputs_count; i++) {
        p->outputs[i].name = name_of(pending, o, p->outputs[i].value);
        all = all && p->outputs[i].name >= 0;
    }
    return all;
}

static void keep_plan(tn__plan *p)
{
    p->formed = p->form != NULL;
    for (int i = 0; i < 2; i++) p->scratch_bytes[i] = p->scratch[i] && !(i == 1 && p->form) ? p->scratch[i]->bytes : 0;
    p->recipe = NULL; /* may be forgotten */
    tn__text_free(&p->structure);
    tn__text_free(&p->unit.head);
    tn__text_free(&p->unit.text);
}

static void free_schedule(void *schedule, void *user)
{
    tn__schedule *s = schedule;
    (void)user;
    tn__plans_free(s->first);
    tn__free(s->begins);
    tn__free(s);
}

void tn__schedules_free(tn__map *schedules)
{
    if (!schedules) return;
    tn__map_each(schedules, free_schedule, NULL);
    tn__map_free(schedules);
}

/* The schedule under that key, new or one whose plans others replace; NULL when there is no room. */
static tn__schedule *schedule_of(tn__graph *graph, const tn__outline *o)
{
    if (!graph->schedules) graph->schedules = tn__map_new();
    if (!graph->schedules) return NULL;
    tn__schedule *s = tn__map_get(graph->schedules, o->key.data, o->key.length);
    if (s) return s;
    s = tn__alloc_quiet(sizeof *s);
    if (!s) return NULL;
    *s = (tn__schedule){.given_count = o->given_count};
    s->begins = tn__alloc_quiet((size_t)(o->given_count + 1) * sizeof *s->begins);
    if (s->begins && tn__map_put(graph->schedules, o->key.data, o->key.length, s)) return s;
    tn__free(s->begins);
    tn__free(s);
    return NULL;
}

tn__schedule *tn__schedule_keep(const tn__pending *pending, tn__outline *o, tn__plan *first)
{
    tn__graph *graph = pending->device->graph;
    const int count = count_plans(first);
    bool named = !o->failed && first && count <= MOST_IN_ONE;
    tn__lock(&pending->device->graph_lock);
    for (each e = all_of(first); e.at && named; step(&e)) named = name_values(pending, o, e.at);
    tn__unlock(&pending->device->graph_lock);
    if (!named) return NULL;
    if (graph->scheduled + count > MOST_PLANS) {
        tn__schedules_free(graph->schedules);
        graph->schedules = NULL;
        graph->scheduled = 0;
    }
    tn__schedule *s = schedule_of(graph, o);
    if (!s) return NULL;
    graph->scheduled += count - count_plans(s->first);
    tn__plans_free(s->first);
    s->first = first;
    for (each e = all_of(first); e.at; step(&e)) keep_plan(e.at);
    for (int g = 0; g < s->given_count; g++) s->begins[g] = begin_of(&o->given[g]);
    return s;
}

void tn__schedule_rest(tn__schedule *s)
{
    for (each e = all_of(s->first); e.at; step(&e)) {
        tn__plan *p = e.at;
        for (int i = 0; i < p->outputs_count; i++) {
            if (p->outputs[i].value) tn__value_release(p->outputs[i].value);
            tn__buffer_release(p->outputs[i].bytes);
            p->outputs[i].value = NULL;
            p->outputs[i].bytes = NULL;
        }
        for (int i = 0; i < 2; i++) {
            tn__buffer_release(p->scratch[i]);
            p->scratch[i] = NULL;
        }
        p->form = NULL;
        p->form_ready = false;
    }
}
