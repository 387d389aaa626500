#include "ops/along.h"
#include "base/alloc.h"
#include "graph/host.h"
#include <string.h>

/* ---- plans ---- */

void tn__along_reordered(tn__node *node, const int *order)
{
    int at = 0;
    if (node->a.along.axis >= node->kept) return;
    while (order[at] != node->a.along.axis) at++;
    node->a.along.axis = at;
}

static void move_axis_last(const tn__plan *p, int64_t *of_axis, int axis)
{
    const int64_t moved = of_axis[axis];
    memmove(of_axis + axis, of_axis + axis + 1, (size_t)(p->rank - 1 - axis) * sizeof of_axis[0]);
    of_axis[p->rank - 1] = moved;
}

void tn__along_arrange(tn__plan *p)
{
    const int axis = p->anchor->a.along.axis;
    move_axis_last(p, p->dim, axis);
    for (int i = 0; i < p->anchor->inputs; i++) move_axis_last(p, p->operand[i].stride, axis);
    move_axis_last(p, p->result.stride, axis);
    p->group[p->rank - 1] = 1;
    p->splits = 1;
}

/* ---- host ---- */

typedef struct lines {
    const tn__node *node;
    int count;   /* operands with values; the others are numbers */
    size_t size; /* of an element */
    size_t next; /* bytes from a line to the one behind */
    char *bytes; /* the lines, then what the body works in */
    int64_t from[TN__SECTION_END], to;
} lines;

static void load_lines(const lines *l)
{
    const int axis = l->node->a.along.axis;
    const int64_t n = l->node->dim[axis];
    for (int k = 0; k < l->count; k++)
        for (int64_t i = 0; i < n; i += TN__BLOCK) {
            const tn__operand *in = &l->node->in[k];
            const int count = n - i < TN__BLOCK ? (int)(n - i) : TN__BLOCK;
            tn__host_operand(in, l->from[k] + i * in->stride[axis], in->stride[axis], count,
                             l->bytes + (size_t)k * l->next + (size_t)i * l->size);
        }
}

static void store_lines(const lines *l, int64_t step, void *const *out)
{
    const tn__node *node = l->node;
    const int64_t n = node->a.along.axis < node->kept ? node->dim[node->a.along.axis] : 1;
    for (int r = 0; r < node->results && r < l->count; r++)
        for (int64_t i = 0; out[r] && i < n; i++)
            tn__host_store(node->dtype, out[r], l->to + i * step, 1, l->bytes + (size_t)r * l->next + (size_t)i * l->size);
    const int64_t *places = (const int64_t *)(const void *)(l->bytes + (size_t)l->count * l->next);
    for (int64_t i = 0; node->results > l->count && out[1] && i < n; i++) ((int64_t *)out[1])[l->to + i * step] = places[i];
}

/* False behind the last line. */
static bool next_line(lines *l, const int64_t *dense, int64_t *index)
{
    const tn__node *node = l->node;
    for (int a = node->kept - 1; a >= 0; a--) {
        if (a == node->a.along.axis) continue;
        const bool more = ++index[a] < node->dim[a];
        const int64_t steps = more ? 1 : 1 - node->dim[a];
        for (int k = 0; k < l->count; k++) l->from[k] += steps * node->in[k].stride[a];
        l->to += steps * dense[a];
        if (more) return true;
        index[a] = 0;
    }
    return false;
}

tn_status tn__along_host(const tn__node *node, void *const *out, tn__along_body *body, size_t work)
{
    const int axis = node->a.along.axis;
    const int64_t n = node->dim[axis];
    const tn__compute compute = tn__dtypes[node->dtype].compute;
    lines l = {.node = node, .size = compute == TN__CD || compute >= TN__CL ? 8 : 4};
    int64_t dense[TN__RANK] = {0}, index[TN_MAX_AXES] = {0};
    while (l.count < node->inputs && node->in[l.count].value) {
        l.from[l.count] = node->in[l.count].offset;
        l.count++;
    }
    l.next = ((size_t)n * l.size + 7) / 8 * 8;
    if (!(l.bytes = tn__alloc((size_t)l.count * l.next + (size_t)n * work))) return TN_MEMORY;
    tn__shape_strides(node->kept, node->dim, dense);
    do {
        load_lines(&l);
        body(node, n, l.bytes, l.bytes + (size_t)l.count * l.next);
        store_lines(&l, dense[axis], out);
    } while (next_line(&l, dense, index));
    tn__free(l.bytes);
    return TN_OK;
}

/* ---- recording ---- */

tn_status tn__along_record_results(tn__node *node, tn_tensor *x, int axis, tn_tensor **const *out)
{
    const tn_dtype dtypes[TN__MAX_RESULTS] = {x->dtype, TN_I64};
    node->a.along.axis = axis;
    node->dtype = x->dtype;
    node->rank = node->kept = x->ndim;
    memcpy(node->dim, x->dim, sizeof x->dim);
    tn__node_operand(node, 0, x, x->stride);
    return tn__record_results(node, tn__tensor_device(x), dtypes, false, out);
}

tn_tensor *tn__along_record(tn__node *node, tn_tensor *x, int axis)
{
    tn_tensor *y, **const out[] = {&y};
    (void)tn__along_record_results(node, x, axis, out);
    return y;
}

bool tn__along_single(tn__along_function *function, const void *row, tn_tensor *x, int axis, tn_tensor **y)
{
    if (x->ndim != 0 || (axis != 0 && axis != -1)) return false;
    tn_tensor *line = tn_unsqueeze(x, 0), *z = line ? function(row, line, 0) : NULL;
    *y = z ? tn_squeeze(z, TN_ALL_AXES) : NULL;
    tn_release(line);
    tn_release(z);
    return true;
}
