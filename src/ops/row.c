/* Row kernels: phase lists along one axis (tables/phases.def). */
#include "core/view.h"
#include "graph/gradients.h"
#include "graph/rows.h"
#include "ops/along.h"
#include "ops/phases.h"
#include "ops/reduction.h"
#include <math.h>
#include <string.h>
#include <tenon/ops.h>

enum { MOST_PHASES = 20, WIDE_LOCAL = 128, LOCAL_ROW_BYTES = 8192, ITEMS_PER_UNIT = 16, GROUPS_PER_UNIT = 16 };

typedef enum phase_kind { END, MAP_FIRST, MAP_SECOND, REDUCTION, ONE_MORE, REGISTER, NUMBER, RESULT } phase_kind;
typedef struct phase {
    phase_kind kind;
    const char *text;
    const tn__reduction *reduce;
} phase;

struct tn__phase_list {
    const char *name;
    phase phases[MOST_PHASES];
    /* f32, f64: all phases over the rows in their compute type */
    void (*host[2])(int64_t n, double number, void *row, void *second, void *work);
    tn__derivative derivative; /* attributes: the axis, an int */
};

/* ---- host: the same texts as C ---- */

#define LOOPS "ops/phase_loops.h"
#include "graph/each_float.h"

static const struct tn__phase_list lists[] = {
#define MAP(text) {MAP_FIRST, #text, NULL},
#define MAP_Y(text) {MAP_SECOND, #text, NULL},
#define REDUCE(row, text) {REDUCTION, #text, &tn__reductions[TN__RED_##row]},
#define ALSO(row, text) {ONE_MORE, #text, &tn__reductions[TN__RED_##row]},
#define LET(text) {REGISTER, #text, NULL},
#define GIVEN {NUMBER, NULL, NULL},
#define VALUE(text) {RESULT, #text, NULL},
#define PHASES(name, list, gradient, saves) \
    [TN__LIST_##                            \
        name] = {#name, {list}, {host_##name##_f, host_##name##_d}, {#name, tn__grad_##gradient, TN__SAVES_##saves, sizeof(int)}},
#include "tables/phases.def"
#undef PHASES
#undef MAP
#undef MAP_Y
#undef REDUCE
#undef ALSO
#undef LET
#undef GIVEN
#undef VALUE
};

static double number_of(const tn__node *node)
{
    const tn__operand *last = &node->in[node->inputs - 1];
    return last->value ? 0 : tn__number_double(last->number);
}

static bool has_second_row(const tn__node *node)
{
    return node->inputs > 1 && node->in[1].value;
}

static void host_row(const tn__node *node, int64_t n, void *row, void *work)
{
    const bool wide = node->dtype == TN_F64;
    const size_t bytes = ((size_t)n * (wide ? 8 : 4) + 7) / 8 * 8;
    node->a.along.list->host[wide](n, number_of(node), row, has_second_row(node) ? (char *)row + bytes : row, work);
}

static tn_status host_phases(const tn__node *node, void *const *out)
{
    return tn__along_host(node, out, host_row, 8);
}

/* ---- OpenCL ---- */

typedef struct row_shape {
    tn__role role[TN__RANK];
    bool columns; /* W rows at a time, which lie side by side */
    int64_t units, n, inner, padded, per, items, cells;
    int row_local, kept;
} row_shape;

/* The axis that most inputs pass element by element, when it is not the row's: the last of the others. */
static int find_columns(const tn__plan *p)
{
    int last = -1, along_last = 0, along_row = 0;
    for (int k = 0; k < p->rank; k++)
        if (p->group[k] == 0) last = k;
    for (int i = 0; last >= 0 && i < p->inputs_count; i++) {
        if (p->inputs[i].section == TN__SECTION_END) continue;
        along_last += p->inputs[i].window.stride[last] == 1;
        along_row += p->inputs[i].window.stride[p->rank - 1] == 1;
    }
    return p->deep && along_last > along_row ? last : -1;
}

static int choose_width(const tn__plan *p, row_shape *s)
{
    const int columns = find_columns(p);
    for (int k = 0; k < p->rank; k++) s->role[k] = p->group[k] == 0 ? TN__OUTER : TN__INNER;
    if (columns < 0) return tn__fixed_width(p, s->role, p->anchor->dtype);
    s->role[columns] = TN__INNER;
    s->role[p->rank - 1] = TN__MIDDLE;
    const int width = tn__plan_width(p, s->role);
    s->columns = width > 1;
    if (s->columns) return width;
    s->role[columns] = TN__OUTER;
    s->role[p->rank - 1] = TN__INNER;
    return tn__fixed_width(p, s->role, p->anchor->dtype);
}

static int choose_shape(const tn__plan *p, row_shape *s)
{
    memset(s, 0, sizeof *s);
    const int width = choose_width(p, s);
    const int64_t element = p->anchor->dtype == TN_F64 ? 8 : 4, outer = tn__role_extent(p, s->role, TN__OUTER);
    s->inner = tn__role_extent(p, s->role, TN__INNER);
    s->n = s->columns ? tn__role_extent(p, s->role, TN__MIDDLE) : s->inner;
    s->units = s->columns ? outer * ((s->inner + width - 1) / width) : outer;
    s->padded = s->columns ? s->n * width : (s->n + 15) / 16 * 16;
    s->kept = has_second_row(p->anchor) ? 2 : 1;
    if (!p->deep && s->n * element <= LOCAL_ROW_BYTES &&
        (uint64_t)(s->kept * LOCAL_ROW_BYTES + WIDE_LOCAL * element) <= p->device->info.local_memory)
        s->row_local = LOCAL_ROW_BYTES / (int)element;
    const int64_t most = (int64_t)p->device->compute_units * (p->deep ? ITEMS_PER_UNIT : GROUPS_PER_UNIT);
    s->per = p->deep ? (s->units + most - 1) / most : 1;
    s->items = p->deep ? (s->units + s->per - 1) / s->per : s->units < most ? s->units : most;
    s->cells = s->items * s->padded * s->kept;
    return width;
}

/* What phases are turned into: loops over the row, each with macros of its own, which PHASES calls. */
typedef struct writer {
    tn__generator *g;
    tn__compute compute;
    tn__text loops, phases; /* macros of the loops; the text of PHASES */
    int at, loop, registers;
    bool second; /* there is a second row */
} writer;

static void put_text(writer *w, tn__text *t, const char *text)
{
    static const char *const words[] = {"X", "Y", "P", "N", "R0", "R1", "R2", "R3", "R4", "R5", "R6", "R7"};
    static const char *const names[] = {"x", "y", "P", "((TA)(n))", "R0", "R1", "R2", "R3", "R4", "R5", "R6", "R7"};
    tn__generate_text(w->g, t, text, w->compute, words, names, sizeof words / sizeof words[0]);
}

static const phase *phase_at(const writer *w)
{
    return &w->g->plan->anchor->a.along.list->phases[w->at];
}

/* MAP<loop>(i): the rows' elements from i on as this loop sees them: from the producers in the first loop, mapped, and kept. */
static void put_map(writer *w, bool last)
{
    bool changed[2] = {w->loop == 0 && !last, w->loop == 0 && !last && w->second};
    tn__text_add(&w->loops, "#define MAP%d(i)", w->loop);
    tn__text_puts(&w->loops, w->loop == 0 ? " P0_EVAL(i) TA x = P0_VALUE;" : " TA x = KEPT(row, i);");
    if (w->second) tn__text_puts(&w->loops, w->loop == 0 ? " P1_EVAL(i) TA y = P1_VALUE;" : " TA y = KEPT(second, i);");
    for (; phase_at(w)->kind == MAP_FIRST || phase_at(w)->kind == MAP_SECOND; w->at++) {
        const bool first = phase_at(w)->kind == MAP_FIRST;
        tn__text_puts(&w->loops, first ? " x = " : " y = ");
        put_text(w, &w->loops, phase_at(w)->text);
        tn__text_puts(&w->loops, ";");
        changed[!first] = !last;
    }
    if (changed[0]) tn__text_puts(&w->loops, " KEEP(row, i, x);");
    if (changed[1]) tn__text_puts(&w->loops, " KEEP(second, i, y);");
    tn__text_puts(&w->loops, "\n");
}

/* A loop that reduces, and behind it what it gives: TERMS<loop> declares the terms of several vectors, TERM<loop>(e) computes the
 * e-th, TERMS_IN<loop> takes them all; TERM_IN<loop>(fresh) takes one vector. */
static void put_reductions(writer *w)
{
    tn__text terms = {0}, term = {0}, all = {0}, one = {0}, after = {0};
    do {
        const char *name = phase_at(w)->reduce->name;
        const int k = w->registers++;
        tn__text_add(&w->phases, " \\\n    accumulator_%s s%d; start_%s(&s%d, 0, 0);", name, k, name, k);
        tn__text_add(&terms, " TA t%d[UNROLL];", k);
        tn__text_add(&term, " t%d[e] = ", k);
        put_text(w, &term, phase_at(w)->text);
        tn__text_puts(&term, ";");
        tn__text_add(&all, " step_many_%s(&s%d, t%d, 0, 0, 0);", name, k, k);
        tn__text_add(&one, " step_in_%s(&s%d, ", name, k);
        put_text(w, &one, phase_at(w)->text);
        tn__text_puts(&one, ", fresh, 0, 0);");
        tn__text_add(&after, " \\\n    levels_%s(&s%d); TOGETHER(%s, s%d, R%d)", name, k, name, k, k);
    } while (w->at++, phase_at(w)->kind == ONE_MORE);
    tn__text_add(&w->loops, "#define TERMS%d%s\n#define TERM%d(e)%s\n#define TERMS_IN%d%s\n#define TERM_IN%d(fresh)%s\n", w->loop,
                 terms.data, w->loop, term.data, w->loop, all.data, w->loop, one.data);
    tn__text_add(&w->phases, " \\\n    %s(%d)%s", w->loop == 0 ? "LOOP_MOVED" : "LOOP_PADDED", w->loop, after.data);
    w->phases.failed |= terms.failed || term.failed || all.failed || one.failed || after.failed;
    tn__text_free(&terms);
    tn__text_free(&term);
    tn__text_free(&all);
    tn__text_free(&one);
    tn__text_free(&after);
    w->loop++;
}

/* One step through the list; false at its end. */
static bool put_phase(writer *w)
{
    const phase *p = phase_at(w);
    if (p->kind == NUMBER) {
        const int number = w->g->plan->anchor->inputs - 1;
        tn__text_add(&w->phases, " P%d_EVAL(0) const TA P = P%d_VALUE;", number, number);
        w->at++;
        return true;
    }
    if (p->kind == REGISTER || p->kind == RESULT) {
        tn__text_add(&w->phases, p->kind == REGISTER ? " \\\n    const TA R%d = " : " \\\n    const TA x = ", w->registers);
        put_text(w, &w->phases, p->text);
        tn__text_puts(&w->phases, p->kind == REGISTER ? ";" : "; STORED");
        w->registers++;
        w->at++;
        return p->kind == REGISTER;
    }
    int next = w->at; /* maps go into the loop behind them */
    const phase *phases = p - w->at;
    while (phases[next].kind == MAP_FIRST || phases[next].kind == MAP_SECOND || phases[next].kind == REGISTER) next++;
    const bool last = phases[next].kind == END;
    put_map(w, last);
    if (!last) {
        put_reductions(w);
        return true;
    }
    tn__text_add(&w->phases, " \\\n    LOOP_STORED(%d)", w->loop);
    return false;
}

static void put_phases(tn__generator *g, tn__compute c)
{
    writer w = {.g = g, .compute = c, .second = has_second_row(g->plan->anchor)};
    tn__text_puts(&w.phases, "#define PHASES");
    while (put_phase(&w)) continue;
    tn__text_add(&g->macros, "%s%s\n", w.loops.data ? w.loops.data : "", w.phases.data ? w.phases.data : "");
    g->macros.failed |= w.loops.failed || w.phases.failed;
    tn__text_free(&w.loops);
    tn__text_free(&w.phases);
}

static tn_status put_lanes(tn__generator *g, const tn__phase_list *list, tn__compute c)
{
    for (int i = 0; i < MOST_PHASES; i++) {
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

static void put_sections(tn__generator *g)
{
    tn__text middle = {0};
    tn__text_puts(&g->defines, "#define OUTER(o) E_OUTER(o)");
    for (int i = 0; i < g->plan->anchor->inputs; i++) {
        tn__generate_section(g, i);
        tn__text_add(&g->defines, " P%d_OUTER(o)", i);
        tn__text_add(&middle, " P%d_MIDDLE(m)", i);
    }
    tn__generate_section(g, TN__SECTION_END);
    tn__text_add(&g->defines, "\n#define MIDDLE(m) E_MIDDLE(m)%s\n", middle.data ? middle.data : "");
    g->defines.failed |= middle.failed;
    tn__text_free(&middle);
}

static tn_status generate(tn__plan *p)
{
    const tn__node *node = p->anchor;
    const tn__compute c = tn__dtypes[node->dtype].compute;
    const char *dtype = tn_dtype_name(node->dtype);
    tn__generator g;
    row_shape s;
    const int width = choose_shape(p, &s);
    p->local = p->deep ? 1 : tn__group_size(p->device, WIDE_LOCAL);
    tn__generator_start(&g, p, s.role, width, s.cells);
    tn_status status = put_lanes(&g, node->a.along.list, c);
    if (status == TN_OK && !p->scratch[0] && !(p->scratch[0] = tn__buffer_new(p->device, s.row_local ? 8 : (uint64_t)s.cells * 8)))
        status = tn_last_status();
    if (status != TN_OK) {
        tn__generator_free(&g);
        return status;
    }
    put_sections(&g);
    put_phases(&g, c);
    tn__generate_stream(&g);
    tn__text_add(&g.defines, "#define L %d\n#define ROW_LOCAL %d\n#define ROWS %d\n#define BY_COLUMNS %d\n", p->local, s.row_local,
                 s.kept, s.columns);
    tn__text_add(&g.defines, "#define RESULT ROUND_%s(x)\n#define RESULT1 ROUND_%s(y)\n", dtype, dtype);
    return tn__generator_finish(&g, "row.cl", "row");
}

static tn_status launch(tn__plan *p)
{
    tn__argument a[TN__ARGUMENTS];
    row_shape s;
    (void)choose_shape(p, &s);
    int count = tn__plan_arguments(p, a);
    tn__argument_index(p, a, &count, s.units);
    tn__argument_index(p, a, &count, s.n);
    tn__argument_index(p, a, &count, s.inner);
    tn__argument_index(p, a, &count, s.per);
    tn__argument_index(p, a, &count, s.padded);
    a[count++] = (tn__argument){.buffer = p->scratch[0]};
    return tn__launch(p->unit.kernel[0], a, count, (uint64_t)s.items * (uint64_t)p->local, (uint64_t)p->local);
}

static double cost(const tn__node *node)
{
    double n = 4;
    for (int k = 0; k < node->rank; k++) n *= (double)node->dim[k];
    return n;
}

static const tn__op ops[] = {
#define PHASES(id, ...)                \
    {.name = #id,                      \
     .host = host_phases,              \
     .reordered = tn__along_reordered, \
     .arrange = tn__along_arrange,     \
     .generate = generate,             \
     .launch = launch,                 \
     .stores_expression = true,        \
     .cost = cost},
#include "tables/phases.def"
#undef PHASES
};

/* ---- recording ---- */

static bool has_phase(const tn__phase_list *list, phase_kind kind)
{
    bool has = false;
    for (int i = 0; i < MOST_PHASES; i++) has = has || list->phases[i].kind == kind;
    return has;
}

/* The axis stays where it is among those kept, or, when it goes, is the last one. */
static void take_axes(tn__node *node, tn_tensor *const *rows, int count, int axis, bool goes)
{
    const int ndim = rows[0]->ndim;
    int64_t stride[2][TN__RANK] = {{0}};
    node->rank = ndim;
    node->kept = ndim - goes;
    node->a.along.axis = goes ? ndim - 1 : axis;
    for (int a = 0; a < ndim; a++) {
        const int to = !goes || a < axis ? a : a == axis ? ndim - 1 : a - 1;
        node->dim[to] = rows[0]->dim[a];
        for (int k = 0; k < count; k++) stride[k][to] = rows[k]->stride[a];
    }
    for (int k = 0; k < count; k++) tn__node_operand(node, k, rows[k], stride[k]);
}

tn_status tn__phases_results(int list, tn_tensor *x, tn_tensor *y, double number, int axis, tn_tensor **const *out)
{
    const tn__phase_list *l = &lists[list];
    tn_tensor *const rows[2] = {x, y};
    const tn_dtype dtypes[TN__MAX_RESULTS] = {x->dtype, x->dtype};
    const int count = y ? 2 : 1;
    const bool given = has_phase(l, NUMBER);
    tn__node *node = tn__node_new(&ops[list], count + given);
    if (!node) return TN_MEMORY;
    node->a.along.list = l;
    node->dtype = x->dtype;
    node->results = has_phase(l, MAP_SECOND) ? 2 : 1;
    take_axes(node, rows, count, axis, has_phase(l, RESULT));
    if (given) {
        node->in[count].dtype = x->dtype == TN_F64 ? TN_F64 : TN_F32;
        node->in[count].number = tn__number_to((tn__number){.compute = TN__CD, .d = number}, node->in[count].dtype);
    }
    return tn__record_results(node, tn__tensor_device(x), dtypes, false, out);
}

tn_tensor *tn__phases(int list, tn_tensor *x, tn_tensor *y, double number, int axis)
{
    tn_tensor *z = NULL, **const out[TN__MAX_RESULTS] = {&z, NULL};
    (void)tn__phases_results(list, x, y, number, axis, out);
    return z;
}

bool tn__phases_pay(const tn_tensor *x, int axis)
{
    enum { MANY_ROWS = 32, SHORT_ROW = 1 << 14 };
    const int64_t n = x->dim[axis];
    return x->numel > 0 && x->stride[axis] == 1 && (n <= SHORT_ROW || x->numel / n >= MANY_ROWS);
}

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
    y = source ? tn__phases((int)(list - lists), source, NULL, 0, a) : NULL;
    tn_release(source);
    return tn__recorded(&list->derivative, &a, &x, 1, y);
}

tn_tensor *tn_softmax(tn_tensor *x, int axis)
{
    return along_axis(&lists[TN__LIST_softmax], x, axis);
}

tn_tensor *tn_log_softmax(tn_tensor *x, int axis)
{
    return along_axis(&lists[TN__LIST_log_softmax], x, axis);
}
