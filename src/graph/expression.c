/* Building a plan: pending values become steps over the kernel's domain. A window on a pending value is pushed to the
 * inputs of its node; where axes of the domain run over several axes of the node, the domain is split. */
#include "base/alloc.h"
#include "graph/plan.h"
#include "graph/rows.h"
#include <stddef.h>
#include <string.h>

typedef struct split {
    int axis;
    int64_t inner;
} split;

typedef struct builder {
    tn__plan *plan;
    tn__chooser choose;
    void *user;
    tn__value *root; /* what the end section computes; always inlined */
    int section;
    const tn__window *identity; /* of the results, in the end section */
    int operations;
    int promised; /* outputs: those there are and those being built */
    int pointers_left;
    split want;           /* set with TRY_SPLIT */
    tn__value *forced[8]; /* stored first because the kernel would have too many arguments or operations */
    int forced_count;
} builder;

enum { FAILED = -1, TRY_SPLIT = -2, TOO_MANY = -3 };

/* ---- windows ---- */

static bool same_window(const tn__plan *p, const tn__window *a, const tn__window *b)
{
    if (a->offset != b->offset) return false;
    for (int k = 0; k < p->rank; k++)
        if (p->dim[k] != 1 && a->stride[k] != b->stride[k]) return false;
    return true;
}

/* How a window on a dense value moves the coordinates of its node: coordinate j = start[j] + sum of move[k][j] * d_k. */
typedef struct mapping {
    int64_t start[TN_MAX_AXES];
    int64_t move[TN__RANK][TN_MAX_AXES];
} mapping;

/* False when it cannot be written so; *want is then set where splitting an axis of the domain may help. */
static bool map_window(const tn__plan *p, const tn__node *node, const tn__window *w, mapping *m, split *want)
{
    int64_t step[TN_MAX_AXES];
    int64_t left = w->offset;
    tn__shape_strides(node->kept, node->dim, step);
    want->axis = -1;
    for (int j = 0; j < node->kept; j++) {
        m->start[j] = left / step[j];
        left -= m->start[j] * step[j];
    }
    for (int k = 0; k < p->rank; k++) {
        left = p->dim[k] == 1 ? 0 : w->stride[k];
        for (int j = 0; j < node->kept; j++) {
            m->move[k][j] = node->dim[j] == 1 ? 0 : left / step[j];
            left -= m->move[k][j] * step[j];
        }
    }
    for (int j = 0; j < node->kept; j++) {
        int64_t low = m->start[j], high = m->start[j];
        for (int k = 0; k < p->rank; k++) {
            const int64_t reach = m->move[k][j] * (p->dim[k] - 1);
            if (reach < 0)
                low += reach;
            else
                high += reach;
        }
        if (low >= 0 && high < node->dim[j]) continue;
        for (int k = p->rank - 1; k >= 0; k--) {
            const int64_t q = m->move[k][j] < 0 ? -m->move[k][j] : m->move[k][j];
            if (q == 0 || node->dim[j] % q != 0) continue;
            const int64_t inner = node->dim[j] / q;
            if (inner > 1 && p->dim[k] > inner && p->dim[k] % inner == 0) {
                *want = (split){k, inner};
                return false;
            }
        }
        return false;
    }
    return true;
}

static void push_window(const tn__plan *p, const tn__node *node, const mapping *m, const tn__operand *in, tn__window *out)
{
    memset(out, 0, sizeof *out);
    out->offset = in->offset;
    for (int j = 0; j < node->kept; j++) out->offset += m->start[j] * in->stride[j];
    for (int k = 0; k < p->rank; k++)
        for (int j = 0; j < node->kept; j++) out->stride[k] += m->move[k][j] * in->stride[j];
}

/* ---- steps ---- */

static int add_step(builder *b, tn__step step)
{
    tn__plan *p = b->plan;
    if (p->steps_count == p->steps_capacity) {
        const int capacity = p->steps_capacity ? p->steps_capacity * 2 : 16;
        tn__step *grown = tn__realloc(p->steps, (size_t)capacity * sizeof *grown);
        if (!grown) return FAILED;
        p->steps = grown;
        p->steps_capacity = capacity;
    }
    step.section = b->section;
    p->steps[p->steps_count] = step;
    return p->steps_count++;
}

/* A number is an argument of its own, also where another happens to be equal: the program does not depend on values. */
static int number_step(builder *b, tn__number n, tn_dtype dtype)
{
    tn__plan *p = b->plan;
    if (p->numbers_count == TN__PLAN_INPUTS) return TOO_MANY;
    p->numbers[p->numbers_count++] = n;
    return add_step(b, (tn__step){.kind = TN__NUMBER, .a = {p->numbers_count - 1}, .dtype = dtype});
}

/* The input for a value's bytes through a window; pointers are shared among windows on one buffer of one dtype. */
static int add_input(builder *b, tn__value *value, tn_dtype dtype, const tn__window *w)
{
    tn__plan *p = b->plan;
    if (p->inputs_count == TN__PLAN_INPUTS) return TOO_MANY;
    if (p->inputs_count == p->inputs_capacity) {
        const int capacity = p->inputs_capacity ? p->inputs_capacity * 2 : 4;
        tn__plan_input *grown = tn__realloc(p->inputs, (size_t)capacity * sizeof *grown);
        if (!grown) return FAILED;
        p->inputs = grown;
        p->inputs_capacity = capacity;
    }
    tn__plan_input *in = &p->inputs[p->inputs_count];
    *in = (tn__plan_input){.value = value, .dtype = dtype, .pointer = -1, .section = b->section, .window = *w};
    int pointers = 0;
    for (int i = 0; value && i < p->inputs_count; i++) {
        const tn__plan_input *other = &p->inputs[i];
        if (!other->value) continue;
        if (other->pointer >= pointers) pointers = other->pointer + 1;
        const bool same = other->value == value || (value->buffer && other->value->buffer == value->buffer);
        if (same && other->dtype == dtype && in->pointer < 0) in->pointer = other->pointer;
    }
    if (value && in->pointer < 0) {
        if (pointers >= b->pointers_left) return TOO_MANY;
        in->pointer = pointers;
    }
    return p->inputs_count++;
}

static int load_step(builder *b, tn__value *value, const tn__window *w)
{
    const int input = add_input(b, value, value->dtype, w);
    if (input < 0) return input;
    return add_step(b, (tn__step){.kind = TN__LOAD, .a = {input}, .dtype = value->dtype, .value = value, .window = *w});
}

static int add_output(builder *b, tn__value *value, int step, const tn__window *w)
{
    tn__plan *p = b->plan;
    if (p->outputs_count == TN__PLAN_OUTPUTS) return FAILED;
    p->outputs[p->outputs_count] = (tn__plan_output){
        .value = tn__value_retain(value), .step = step, .dtype = value->dtype, .pointer = p->outputs_count, .window = *w};
    p->outputs_count++;
    return step;
}

static int build(builder *b, tn__value *value, const tn__window *w);

static int build_operand(builder *b, const tn__node *node, const mapping *m, int i)
{
    const tn__operand *in = &node->in[i];
    if (!in->value) return number_step(b, in->number, tn__compute_dtype[in->number.compute]);
    tn__window inner;
    push_window(b->plan, node, m, in, &inner);
    return build(b, in->value, &inner);
}

static int build_lookup(builder *b, const tn__node *node, const mapping *m, tn__step step)
{
    const tn__lookup *lookup = &node->a.lookup;
    const int64_t numbers[3] = {lookup->count, lookup->step, lookup->fault};
    const bool folds = lookup->form == TN__FOLD;
    if ((step.a[0] = build_operand(b, node, m, 0)) < 0) return step.a[0];
    if (lookup->form != TN__PLACE) {
        tn__window inner;
        push_window(b->plan, node, m, &node->in[1], &inner);
        if ((step.a[1] = add_input(b, node->in[1].value, node->in[1].dtype, &inner)) < 0) return step.a[1];
        b->plan->inputs[step.a[1]].table = true;
        b->plan->inputs[step.a[1]].reach = (lookup->step < 0 ? -lookup->step : lookup->step) * (lookup->count + lookup->count / 2);
    }
    for (int i = 0; i < (folds ? 2 : 3); i++)
        if ((step.a[i + 2] = number_step(b, (tn__number){.compute = TN__CL, .l = numbers[i]}, TN_I64)) < 0) return step.a[i + 2];
    if (folds && (step.a[4] = build_operand(b, node, m, 2)) < 0) return step.a[4];
    step.kind = TN__LOOKUP;
    b->plan->looks = b->plan->reports = true;
    return add_step(b, step);
}

static int build_node(builder *b, tn__value *value, const mapping *m, const tn__window *w)
{
    const tn__node *node = value->node;
    tn__step step = {.from = node->dtype, .dtype = value->dtype, .row = node->row, .node = node, .value = value, .window = *w};
    if (++b->operations > TN__NODE_OPERATIONS + 8) return TOO_MANY;
    if (node->op == &tn__op_lookup) return build_lookup(b, node, m, step);
    if (node->inputs == 0) { /* a random generator: its element's number is the window itself */
        step.kind = TN__DRAW;
        const uint64_t seed = node->a.random.seed[0] | (uint64_t)node->a.random.seed[1] << 32;
        const uint64_t numbers[4] = {seed, node->a.random.position, (uint64_t)node->a.random.low, node->a.random.span};
        if ((step.a[0] = add_input(b, NULL, TN_I64, w)) < 0) return step.a[0];
        for (int i = 0; i < 4; i++)
            if ((step.a[i + 1] = number_step(b, (tn__number){.compute = TN__CM, .m = numbers[i]}, TN_U64)) < 0)
                return step.a[i + 1];
        return add_step(b, step);
    }
    for (int i = 0; i < node->inputs; i++)
        if ((step.a[i] = build_operand(b, node, m, i)) < 0) return step.a[i];
    step.kind = TN__APPLY;
    if (!node->row) {
        step.kind = TN__CONVERT;
        step.from = node->in[0].value ? node->in[0].dtype : tn__compute_dtype[node->in[0].number.compute];
    }
    return add_step(b, step);
}

/* Operands that are loaded again and again take only casts and a scale by a number. */
static bool is_cheap(const tn__node *node)
{
    if (node->op == &tn__op_cast) return node->in[0].value != NULL;
    return node->row == &tn__rows[TN__ROW_mul] && !node->in[0].value != !node->in[1].value;
}

static bool is_open(const builder *b, const tn__node *node)
{
    const tn__node *anchor = b->plan->anchor;
    if (b->section == TN__SECTION_END || !anchor->op->open || anchor->op->open(anchor, b->section)) return true;
    return is_cheap(node);
}

static bool is_forced(const builder *b, const tn__value *value)
{
    for (int i = 0; i < b->forced_count; i++)
        if (b->forced[i] == value) return true;
    return false;
}

static int build_given(builder *b, tn__value *value, const tn__window *w)
{
    if (b->section != TN__SECTION_END || !same_window(b->plan, w, b->identity)) return load_step(b, value, w);
    return add_step(b, (tn__step){.kind = TN__RESULT, .a = {value->result}, .dtype = value->dtype, .value = value, .window = *w});
}

static bool may_split(const tn__plan *p, int axis)
{
    return p->rank < TN__RANK && ((p->splits >> p->group[axis]) & 1u);
}

static int build(builder *b, tn__value *value, const tn__window *w)
{
    tn__plan *p = b->plan;
    mapping m;
    for (int s = 0; s < p->steps_count; s++)
        if (p->steps[s].value == value && p->steps[s].section == b->section && same_window(p, &p->steps[s].window, w)) return s;
    if (value->node && value->node == p->anchor) return build_given(b, value, w);
    if (!value->node || !value->node->op->fusable || is_forced(b, value) || !is_open(b, value->node)) return load_step(b, value, w);
    const bool end = b->section == TN__SECTION_END;
    const tn__choice choice = end && value == b->root ? TN__INLINE : b->choose(p, value, b->user);
    const bool whole = end && value->count == b->root->count && same_window(p, w, b->identity);
    if (choice == TN__STORED) return load_step(b, value, w);
    if (choice == TN__INLINE_AND_STORE && (!whole || b->promised >= TN__PLAN_OUTPUTS - 1)) return load_step(b, value, w);
    if (!map_window(p, value->node, w, &m, &b->want))
        return b->want.axis >= 0 && may_split(p, b->want.axis) ? TRY_SPLIT : load_step(b, value, w);
    if (choice == TN__INLINE_AND_STORE) b->promised++;
    const int step = build_node(b, value, &m, w);
    return step >= 0 && choice == TN__INLINE_AND_STORE ? add_output(b, value, step, w) : step;
}

/* ---- the domain ---- */

static void split_stride(int64_t *stride, int rank, int axis, int64_t inner)
{
    memmove(stride + axis + 1, stride + axis, (size_t)(rank - axis) * sizeof stride[0]);
    stride[axis] = stride[axis + 1] * inner;
}

static void split_domain(tn__plan *p, const split *s)
{
    memmove(p->dim + s->axis + 1, p->dim + s->axis, (size_t)(p->rank - s->axis) * sizeof p->dim[0]);
    memmove(p->group + s->axis + 1, p->group + s->axis, (size_t)(p->rank - s->axis) * sizeof p->group[0]);
    p->dim[s->axis] /= s->inner;
    p->dim[s->axis + 1] = s->inner;
    for (int i = 0; i < 3; i++) split_stride(p->operand[i].stride, p->rank, s->axis, s->inner);
    split_stride(p->result.stride, p->rank, s->axis, s->inner);
    split_stride(p->place.stride, p->rank, s->axis, s->inner);
    p->rank++;
}

static void merge_axes(tn__plan *p, int k)
{
#define CLOSE(array) memmove(array + k, array + k + 1, (size_t)(p->rank - 1 - k) * sizeof array[0])
    p->dim[k + 1] *= p->dim[k];
    CLOSE(p->dim);
    CLOSE(p->group);
    for (int i = 0; i < 3; i++) CLOSE(p->operand[i].stride);
    CLOSE(p->result.stride);
    for (int i = 0; i < p->inputs_count; i++) CLOSE(p->inputs[i].window.stride);
    for (int i = 0; i < p->outputs_count; i++) CLOSE(p->outputs[i].window.stride);
#undef CLOSE
    p->rank--;
}

static bool merges(const tn__plan *p, int k, const tn__window *w)
{
    return p->dim[k] == 1 || w->stride[k] == w->stride[k + 1] * p->dim[k + 1];
}

/* Joins neighbouring axes of a group that every window passes as one; an axis of extent 1 joins the one behind it. */
static void collapse(tn__plan *p)
{
    for (int k = p->rank - 2; k >= 0; k--) {
        bool all = p->group[k] == p->group[k + 1];
        if (all && p->dim[k + 1] == 1 && p->dim[k] != 1) { /* take the strides of the axis that moves */
            for (int i = 0; i < p->inputs_count; i++) p->inputs[i].window.stride[k + 1] = p->inputs[i].window.stride[k];
            for (int i = 0; i < p->outputs_count; i++) p->outputs[i].window.stride[k + 1] = p->outputs[i].window.stride[k];
            for (int i = 0; i < 3; i++) p->operand[i].stride[k + 1] = p->operand[i].stride[k];
            p->result.stride[k + 1] = p->result.stride[k];
            p->dim[k + 1] = p->dim[k];
            p->dim[k] = 1;
        }
        for (int i = 0; all && i < p->inputs_count; i++) all = merges(p, k, &p->inputs[i].window);
        for (int i = 0; all && i < p->outputs_count; i++) all = merges(p, k, &p->outputs[i].window);
        for (int i = 0; all && p->anchor && i < p->anchor->inputs; i++) all = merges(p, k, &p->operand[i]);
        if (all && p->anchor) all = merges(p, k, &p->result);
        if (all) merge_axes(p, k);
    }
}

/* ---- plans ---- */

static void clear_steps(tn__plan *p)
{
    for (int i = 0; i < p->outputs_count; i++) {
        tn__value_release(p->outputs[i].value);
        tn__buffer_release(p->outputs[i].bytes);
    }
    p->steps_count = p->inputs_count = p->numbers_count = p->outputs_count = 0;
    p->looks = p->reports = false;
}

void tn__unit_free(tn__unit *unit)
{
    tn__text_free(&unit->head);
    tn__text_free(&unit->text);
    *unit = (tn__unit){0};
}

void tn__stage_free(tn__stage *stage)
{
    tn__unit_free(&stage->unit);
    tn__free(stage->parameters);
    tn__buffer_release(stage->meta);
}

void tn__plan_free(tn__plan *p)
{
    if (!p) return;
    clear_steps(p);
    tn__buffer_release(p->written);
    tn__buffer_release(p->meta);
    for (int i = 0; i < 2; i++) {
        tn__buffer_release(p->scratch[i]);
        tn__stage_free(&p->stages[i]);
    }
    tn__unit_free(&p->unit);
    tn__text_free(&p->structure);
    tn__free(p->parameters);
    tn__free(p->pointers);
    tn__free(p->steps);
    tn__free(p->inputs);
    tn__free(p);
}

/* The domain of a node: its kept axes as group 0, the others as group 1; structured operations refine it. */
static void take_domain(tn__plan *p, const tn__node *node, const tn__window *place)
{
    p->rank = node->rank;
    memcpy(p->dim, node->dim, sizeof p->dim);
    memset(p->group, 0, sizeof p->group);
    for (int k = node->kept; k < node->rank; k++) p->group[k] = 1;
    for (int i = 0; p->anchor && i < node->inputs; i++) {
        p->operand[i].offset = node->in[i].offset;
        memcpy(p->operand[i].stride, node->in[i].stride, sizeof p->operand[i].stride);
    }
    memset(&p->result, 0, sizeof p->result);
    tn__shape_strides(node->kept, node->dim, p->result.stride);
    p->splits = 3;
    if (p->anchor && node->op->arrange) node->op->arrange(p);
    p->place = place ? *place : p->result;
}

static int build_all(builder *b, tn__value *const *values, int count)
{
    tn__plan *p = b->plan;
    for (int i = 0; p->anchor && i < p->anchor->inputs; i++) {
        const tn__operand *in = &p->anchor->in[i];
        b->section = i;
        p->sources[i] = in->value ? build(b, in->value, &p->operand[i]) : number_step(b, in->number, in->dtype);
        if (p->sources[i] < 0) return p->sources[i];
    }
    b->section = TN__SECTION_END;
    b->identity = &p->result;
    for (int i = 0; i < count; i++) {
        bool done = false;
        for (int o = 0; o < p->outputs_count; o++) done = done || p->outputs[o].value == values[i];
        if (done) continue;
        b->root = values[i];
        int last = build(b, values[i], &p->result);
        if (last < 0 || (last = add_output(b, values[i], last, &p->place)) < 0) return last;
    }
    return 0;
}

/* The anchor's own result comes in as it is computed, and nowhere through another window. */
static bool takes_result(const tn__plan *p, const tn__value *given)
{
    bool takes = false;
    for (int s = 0; s < p->steps_count; s++) {
        if (p->steps[s].value != given) continue;
        if (p->steps[s].kind == TN__LOAD) return false;
        takes = true;
    }
    return takes;
}

/* Something to be stored first when a kernel would be too large: the heaviest operand of the targets not forced yet. */
static bool force_heaviest(builder *b, tn__value *const *values, int count)
{
    tn__value *heaviest = NULL;
    for (int t = 0; t < count; t++)
        for (int i = 0; values[t]->node && i < values[t]->node->inputs; i++) {
            tn__value *v = values[t]->node->in[i].value;
            if (!v || !v->node || !v->node->op->fusable || is_forced(b, v)) continue;
            if (!heaviest || v->node->weight > heaviest->node->weight) heaviest = v;
        }
    if (!heaviest || b->forced_count == 8) return false;
    b->forced[b->forced_count++] = heaviest;
    return true;
}

/* What the kernel stores: the values asked for and, of an anchor, its other results that live: the run holds those. */
static int targets_of(const tn__request *r, const tn__value *given, tn__value **targets)
{
    int count = 0;
    for (; count < r->count; count++) targets[count] = r->values[count];
    for (int i = 0; given && i < given->node->results; i++) {
        tn__value *other = given->node->out[i];
        if (other && other != given && atomic_load(&other->references) > 0) targets[count++] = other;
    }
    return count;
}

/* given: the result of a structured node that the value is made from; NULL for an elementwise kernel. */
static tn__plan *plan_for(const tn__request *r, const tn__value *given)
{
    split splits[TN__RANK];
    tn__value *targets[TN__PLAN_OUTPUTS];
    const int count = targets_of(r, given, targets);
    int splits_count = 0;
    tn__node *anchor = given ? given->node : NULL;
    tn__plan *p = tn__alloc(sizeof *p);
    if (!p) return NULL;
    memset(p, 0, offsetof(tn__plan, outputs));
    p->device = r->device;
    p->anchor = anchor;
    p->deep = r->device->profile == TN__DEEP;
    builder b = {.plan = p, .choose = r->choose, .user = r->user};
    b.pointers_left = (int)(r->device->parameter_bytes / 8) * 5 / 8;
    for (;;) {
        clear_steps(p);
        take_domain(p, anchor ? anchor : r->values[0]->node, r->place);
        for (int s = 0; s < splits_count; s++) split_domain(p, &splits[s]);
        b.operations = 0;
        b.promised = count - 1;
        const int done = build_all(&b, targets, count);
        if (done == 0 && (!given || takes_result(p, given))) break;
        if (done == TRY_SPLIT && splits_count < TN__RANK)
            splits[splits_count++] = b.want;
        else if (done != TOO_MANY || anchor || !force_heaviest(&b, targets, count)) {
            tn__plan_free(p);
            return NULL;
        }
    }
    if (r->place) p->written = tn__buffer_retain(r->to);
    collapse(p);
    return p;
}

/* The structured result that ends up in value by elementwise steps of its own shape, everything in between read once;
 * NULL otherwise. A structured result wins over a longer elementwise path. */
static const tn__value *find_given(const tn__request *r)
{
    tn__value *at = r->values[0];
    while (at->node && at->node->op->fusable) {
        tn__value *onward = NULL;
        const int inputs = at->node->op == &tn__op_lookup ? 1 : at->node->inputs; /* tables are read at places of their own */
        for (int i = 0; i < inputs; i++) {
            tn__value *v = at->node->in[i].value;
            if (!v || !v->node || v->count != at->count || r->choose(NULL, v, r->user) != TN__INLINE) continue;
            if (!onward || (!v->node->op->fusable && onward->node->op->fusable)) onward = v;
        }
        if (!onward) return NULL;
        at = onward;
    }
    return at->node && (at->node->op->stores_expression || at == r->values[0]) ? at : NULL;
}

tn__plan *tn__plan_new(const tn__request *r)
{
    const tn__value *given = r->count == 1 && !r->place ? find_given(r) : NULL;
    tn__plan *p = given ? plan_for(r, given) : NULL;
    if (!p && r->values[0]->node->op->fusable) p = plan_for(r, NULL);
    if (!p && tn_last_status() == TN_OK) (void)tn__fail(TN_INTERNAL, "no kernel for %s", r->values[0]->node->op->name);
    return p;
}
