/* Reductions over axes on host: the same texts as C. */
/* The rows compare with 0 in unsigned types too. */
#pragma GCC diagnostic ignored "-Wtype-limits"
#include "core/convert.h"
#include "graph/host.h"
#include "graph/rows.h"
#include "ops/reduction.h"
#include <math.h>
#include <string.h>

#define LOOPS "ops/reduce_loops.h"
#include "graph/each_float.h"
#include "graph/each_integer.h"

/* Of one row: per compute type, in the order of the letters. */
typedef struct host_loops {
    void (*start[TN__COMPUTES])(tn__accumulated *a);
    void (*run[TN__COMPUTES])(tn__accumulated *a, int64_t n, const void *elements, int64_t at);
} host_loops;
static const host_loops loops[TN__REDUCTIONS] = {
#define RED(name, ...)                                                                                                         \
    [TN__RED_##                                                                                                                \
        name] = {{start_##name##_f, start_##name##_d, start_##name##_i, start_##name##_u, start_##name##_l, start_##name##_m}, \
                 {run_##name##_f, run_##name##_d, run_##name##_i, run_##name##_u, run_##name##_l, run_##name##_m}},
#include "tables/reductions.def"
#undef RED
};

typedef struct host_state {
    const tn__reduction *row;
    const host_loops *loops;
    tn_dtype to;
    tn__compute compute; /* of the operand */
    void *out;
    int64_t reduced; /* points reduced into each output */
    int64_t output, seen;
    tn__accumulated a;
} host_state;

/* What was accumulated, as a number of dtype `to`. */
static tn__number accumulated_number(const tn__reduction *row, tn__compute compute, const tn__accumulated *a, tn_dtype to)
{
    tn__number n = {.compute = compute};
    if (row->indexed) return (tn__number){.compute = TN__CL, .l = a->at};
    if (row->result == TN__RESULT_SUM && compute == TN__CD) return (tn__number){.compute = TN__CD, .d = (double)a->as.x};
    if (row->result == TN__RESULT_SUM && compute == TN__CF)
        return tn__number_to((tn__number){.compute = TN__CF, .f = (float)a->as.x}, to);
    if (compute == TN__CD || compute >= TN__CL)
        n.m = a->as.m;
    else
        n.u = a->as.u;
    return n;
}

tn__number tn__host_reduce_init(const tn__reduction *row, tn_dtype from, tn_dtype to)
{
    tn__accumulated a;
    const tn__compute compute = tn__dtypes[from].compute;
    loops[row - tn__reductions].start[compute](&a);
    return accumulated_number(row, compute, &a, to);
}

static tn_status visit_reduce(const tn__node *node, int64_t linear, const int64_t *place, int n, void *user)
{
    host_state *s = user;
    uint64_t block[TN__BLOCK];
    const size_t size = s->compute == TN__CD || s->compute >= TN__CL ? 8 : 4;
    (void)linear;
    tn__host_operand(&node->in[0], place[0], node->rank ? node->in[0].stride[node->rank - 1] : 0, n, block);
    for (int j = 0; j < n;) {
        const int64_t left = s->reduced - s->seen;
        const int count = left < n - j ? (int)left : n - j;
        if (s->seen == 0) s->loops->start[s->compute](&s->a);
        s->loops->run[s->compute](&s->a, count, (const char *)block + (size_t)j * size, s->seen);
        s->seen += count;
        j += count;
        if (s->seen < s->reduced) continue;
        tn__number_store(s->to, (char *)s->out + s->output++ * (int64_t)tn_dtype_size(s->to),
                         accumulated_number(s->row, s->compute, &s->a, s->to));
        s->seen = 0;
    }
    return TN_OK;
}

tn_status tn__host_reduce(const tn__node *node, void *const *out)
{
    const tn__reduction *row = node->a.reduce.row;
    const tn__operand *in = &node->in[0];
    host_state s = {.row = row, .loops = &loops[row - tn__reductions], .to = node->dtype, .out = out[0], .reduced = 1};
    s.compute = in->value ? tn__dtypes[in->dtype].compute : in->number.compute;
    for (int k = node->kept; k < node->rank; k++) s.reduced *= node->dim[k];
    return tn__host_walk(node, node->rank, visit_reduce, &s);
}
