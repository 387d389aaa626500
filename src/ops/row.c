/* Row kernels: phase lists along one axis (tables/phases.def). */
#include "graph/gradients.h"
#include "graph/rows.h"
#include "ops/along.h"
#include "ops/reduction.h"
#include <math.h>
#include <tenon/ops.h>

enum { MOST_PHASES = 8, WIDE_LOCAL = 128, LOCAL_ROW_BYTES = 8192, ITEMS_PER_UNIT = 16, GROUPS_PER_UNIT = 16 };

typedef struct phase {
    const tn__reduction *reduce; /* NULL: a map */
    const char *text;
} phase;

struct tn__phase_list {
    const char *name;
    phase phases[MOST_PHASES];
    void (*host[2])(int64_t n, void *row, void *work); /* f32, f64: all phases over a row in its compute type */
    tn__derivative derivative;                         /* attributes: the axis, an int */
};

/* ---- host: the same texts as C ---- */

#define LOOPS "ops/phase_loops.h"
#include "graph/each_float.h"

static const struct tn__phase_list lists[] = {
#define REDUCE(row, text) {&tn__reductions[TN__RED_##row], #text},
#define MAP(text) {NULL, #text},
#define PHASES(name, list, gradient, saves) \
    {#name, {list}, {host_##name##_f, host_##name##_d}, {#name, tn__grad_##gradient, TN__SAVES_##saves, sizeof(int)}},
#include "tables/phases.def"
#undef PHASES
#undef MAP
#undef REDUCE
};
enum {
#define PHASES(name, ...) LIST_##name,
#include "tables/phases.def"
#undef PHASES
};

static void host_row(const tn__node *node, int64_t n, void *row, void *work)
{
    node->a.along.list->host[node->dtype == TN_F64](n, row, work);
}

static tn_status host_phases(const tn__node *node, void *const *out)
{
    return tn__along_host(node, out, host_row, 8);
}

/* ---- OpenCL ---- */

typedef struct row_shape {
    tn__role role[TN__RANK];
    int64_t rows, n, padded, per, items;
    int row_local;
} row_shape;

static void choose_shape(const tn__plan *p, row_shape *s)
{
    for (int k = 0; k < p->rank; k++) s->role[k] = p->group[k] == 0 ? TN__OUTER : TN__INNER;
    s->rows = tn__role_extent(p, s->role, TN__OUTER);
    s->n = tn__role_extent(p, s->role, TN__INNER);
    s->padded = (s->n + 15) / 16 * 16;
    const int64_t element = p->anchor->dtype == TN_F64 ? 8 : 4;
    s->row_local = 0;
    if (!p->deep && s->n * element <= LOCAL_ROW_BYTES &&
        (uint64_t)(LOCAL_ROW_BYTES + WIDE_LOCAL * element) <= p->device->info.local_memory)
        s->row_local = LOCAL_ROW_BYTES / (int)element;
    const int64_t most = (int64_t)p->device->compute_units * (p->deep ? ITEMS_PER_UNIT : GROUPS_PER_UNIT);
    s->per = p->deep ? (s->rows + most - 1) / most : 1;
    s->items = p->deep ? (s->rows + s->per - 1) / s->per : s->rows < most ? s->rows : most;
}

/* After the loop that accumulated into s<k>: R<k>, the same for all lanes and items. */
static void put_reduced(tn__text *t, const char *name, int k, bool deep)
{
    if (deep) {
        tn__text_add(t, " \\\n    levels_%s(&s%d); fold_lanes_%s(&s%d); const TA R%d = (TA)(LANE0(s%d.a0));", name, k, name, k, k,
                     k);
        return;
    }
    tn__text_add(t,
                 " \\\n    levels_%s(&s%d); tree[lane] = s%d.a0; barrier(CLK_LOCAL_MEM_FENCE); \\\n"
                 "    for (int reach = L / 2; reach > 0; reach /= 2) { if (lane < reach) tree[lane] = join_%s(tree[lane], "
                 "tree[lane + reach]); "
                 "barrier(CLK_LOCAL_MEM_FENCE); } \\\n    const TA R%d = tree[0]; barrier(CLK_LOCAL_MEM_FENCE);",
                 name, k, k, name, k);
}

static void put_text(tn__generator *g, tn__text *t, const char *text, tn__compute c)
{
    static const char *const words[] = {"X", "R0", "R1", "R2", "N"}, *const names[] = {"x", "R0", "R1", "R2", "((TA)(n))"};
    tn__generate_text(g, t, text, c, words, names, 5);
}

/* The loops: values come from the producer or the kept row, run through maps, and are reduced or finished. */
static void put_phases(tn__generator *g, const tn__phase_list *list, tn__compute c)
{
    tn__plan *p = g->plan;
    tn__text t = {0};
    int k = 0, at = 0;
    tn__text_puts(&t, "#define PHASES");
    for (bool first = true;; first = false) {
        bool maps = false;
        int stop = at;
        while (stop < MOST_PHASES && list->phases[stop].text && !list->phases[stop].reduce) stop++;
        const bool last = stop == MOST_PHASES || !list->phases[stop].text;
        const tn__reduction *reduce = last ? NULL : list->phases[stop].reduce;
        if (reduce) tn__text_add(&t, " \\\n    accumulator_%s s%d; start_%s(&s%d);", reduce->name, k, reduce->name, k);
        tn__text_puts(&t, first || last ? " \\\n    LOOP_MOVED {" : " \\\n    LOOP_PADDED {");
        tn__text_puts(&t, first ? " P0_EVAL(i) TA x = P0_VALUE;" : " TA x = KEPT;");
        for (; at < stop; at++, maps = true) {
            tn__text_puts(&t, " x = ");
            put_text(g, &t, list->phases[at].text, c);
            tn__text_puts(&t, ";");
        }
        if (last) {
            tn__text_puts(&t, " E_EVAL(i) E_STORE(i) }\n");
            break;
        }
        if (first || maps) tn__text_puts(&t, " KEEP(x);");
        tn__text_add(&t, " step_in_%s(&s%d, ", reduce->name, k);
        put_text(g, &t, list->phases[stop].text, c);
        tn__text_puts(&t, ", FRESH, 0, 0); }");
        put_reduced(&t, reduce->name, k++, p->deep);
        at = stop + 1;
    }
    tn__text_puts(&g->macros, t.data ? t.data : "");
    g->macros.failed |= t.failed;
    tn__text_free(&t);
}

static tn_status put_reductions(tn__generator *g, const tn__phase_list *list, tn__compute c)
{
    for (int i = 0; i < MOST_PHASES && list->phases[i].text; i++) {
        const tn__reduction *r = list->phases[i].reduce;
        bool seen = !r;
        for (int k = 0; k < i; k++) seen = seen || list->phases[k].reduce == r;
        if (seen) continue;
        char suffix[32];
        snprintf(suffix, sizeof suffix, "_%s", r->name);
        TN__TRY(tn__generate_lanes(g, r, c, suffix));
        tn__text_add(&g->functions, "static TA join_%s(TA a, TA b)\n{\n    return COMBINE(a, b);\n}\n", r->name);
    }
    return TN_OK;
}

static tn_status generate(tn__plan *p)
{
    const tn__node *node = p->anchor;
    const tn__phase_list *list = node->a.along.list;
    const tn__compute c = tn__dtypes[node->dtype].compute;
    tn__generator g;
    row_shape s;
    choose_shape(p, &s);
    p->local = p->deep ? 1 : tn__group_size(p->device, WIDE_LOCAL);
    tn__generator_start(&g, p, s.role, tn__fixed_width(p, s.role, node->dtype), s.items * s.padded);
    tn_status status = put_reductions(&g, list, c);
    if (status == TN_OK && !p->scratch[0] &&
        !(p->scratch[0] = tn__buffer_new(p->device, s.row_local ? 8 : (uint64_t)(s.items * s.padded) * 8)))
        status = tn_last_status();
    if (status != TN_OK) {
        tn__generator_free(&g);
        return status;
    }
    tn__generate_section(&g, 0);
    tn__generate_section(&g, TN__SECTION_END);
    put_phases(&g, list, c);
    tn__text_add(&g.defines, "#define L %d\n#define ROW_LOCAL %d\n#define RESULT ROUND_%s(x)\n", p->local, s.row_local,
                 tn_dtype_name(node->dtype));
    return tn__generator_finish(&g, "row.cl", "row");
}

static tn_status launch(tn__plan *p)
{
    tn__argument a[TN__ARGUMENTS];
    row_shape s;
    choose_shape(p, &s);
    int count = tn__plan_arguments(p, a);
    tn__argument_index(p, a, &count, s.rows);
    tn__argument_index(p, a, &count, s.n);
    tn__argument_index(p, a, &count, s.per);
    tn__argument_index(p, a, &count, s.padded);
    a[count++] = (tn__argument){.buffer = p->scratch[0]};
    return tn__launch(p->unit.kernel[0], a, count, (uint64_t)s.items * (uint64_t)p->local, (uint64_t)p->local);
}

static double cost(const tn__node *node)
{
    return 4.0 * (double)tn__node_count(node);
}

static const tn__op ops[] = {
#define PHASES(id, ...)         \
    {.name = #id,               \
     .host = host_phases,       \
     .reordered = tn__along_reordered,    \
     .arrange = tn__along_arrange,        \
     .generate = generate,      \
     .launch = launch,          \
     .stores_expression = true, \
     .cost = cost},
#include "tables/phases.def"
#undef PHASES
};

/* ---- public ---- */

static tn_tensor *along_axis(const void *row, tn_tensor *x, int axis)
{
    const tn__phase_list *list = row;
    tn_tensor *y = NULL;
    if (tn__tensor_check(x, list->name, "x") != TN_OK) return NULL;
    if (tn__along_single(along_axis, list, x, axis, &y)) return y;
    const int a = tn__axis(axis, x->ndim, list->name);
    if (a < 0) return NULL;
    tn_tensor *source = tn_dtype_is_float(x->dtype) ? tn__tensor_alias(x) : tn__cast(x, TN_F32, false);
    tn__node *node = source ? tn__node_new(&ops[list - lists], 1) : NULL;
    if (node) {
        node->a.along.list = list;
        y = tn__along_record(node, source, a);
    }
    tn_release(source);
    return tn__recorded(&list->derivative, &a, &x, 1, y);
}

tn_tensor *tn_softmax(tn_tensor *x, int axis)
{
    return along_axis(&lists[LIST_softmax], x, axis);
}

tn_tensor *tn_log_softmax(tn_tensor *x, int axis)
{
    return along_axis(&lists[LIST_log_softmax], x, axis);
}
