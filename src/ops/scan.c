/* Scans along an axis (tables/scans.def): cumsum and its relatives. */
/* The rows compare with 0 in unsigned types too. */
#pragma GCC diagnostic ignored "-Wtype-limits"
#include "graph/generate.h"
#include "graph/gradients.h"
#include "graph/rows.h"
#include "ops/along.h"
#include <math.h>
#include <tenon/ops.h>

enum { ITEMS_PER_UNIT = 16, FEW_LINES = 1024, SHORT_SEGMENT = 1024, MOST_SHORT = 4096, LONG_SEGMENT = 16384 };

typedef struct tn__scan {
    const char *name;
    int result;          /* RESULT_SUM … */
    const char *init[2]; /* float, integer */
    const char *combine[2];
    tn__derivative derivative; /* attributes: the axis, an int */
    void (*host[TN__COMPUTES])(int64_t n, void *line); /* in place, over a line in its compute type */
} tn__scan;
enum { RESULT_SUM, RESULT_SAME, RESULT_REAL };

/* ---- host: the same texts as C; floats accumulate in long double ---- */

#define IS_FLOAT 1
#define T long double
#define MATH(name) name##l
#define E float
#define S f
#include "ops/scan_loops.h"
#undef E
#undef S
#define E double
#define S d
#include "ops/scan_loops.h"
#undef E
#undef S
#undef T
#undef MATH
#undef IS_FLOAT
#define E T
#define LOOPS "ops/scan_loops.h"
#include "graph/each_integer.h"
#undef E

static const tn__scan scans[] = {
#define SCAN(name, result, init_f, init_i, combine_f, combine_i, gradient, saves) \
    {#name,                                                                \
     RESULT_##result,                                                      \
     {#init_f, #init_i},                                                   \
     {#combine_f, #combine_i},                                             \
     {#name, tn__grad_##gradient, TN__SAVES_##saves, sizeof(int)},                \
     {scan_##name##_f, scan_##name##_d, scan_##name##_i, scan_##name##_u, scan_##name##_l, scan_##name##_m}},
#include "tables/scans.def"
#undef SCAN
};
enum {
#define SCAN(name, ...) ROW_##name,
#include "tables/scans.def"
#undef SCAN
};

static void host_line(const tn__node *node, int64_t n, void *line, void *work)
{
    (void)work;
    node->a.along.scan->host[tn__dtypes[node->dtype].compute](n, line);
}

static tn_status host_scan(const tn__node *node, void *const *out)
{
    return tn__along_host(node, out, host_line, 0);
}

/* ---- OpenCL ---- */

typedef struct shape {
    tn__role role[TN__RANK];
    int64_t n, columns, rows; /* rows of columns lines each */
    int64_t segment, segments;
} shape;

/* From the extents alone. Few lines are cut so that there is work for all; many only where they are long: llvmpipe leaves a long
 * loop early (docs/drivers.md). */
static void choose_segments(shape *s)
{
    s->segment = LONG_SEGMENT;
    if (s->rows * s->columns < FEW_LINES) {
        const int64_t least = (s->n + MOST_SHORT - 1) / MOST_SHORT;
        s->segment = least <= SHORT_SEGMENT ? SHORT_SEGMENT : (least + 31) / 32 * 32;
    }
    if (s->n < 2 * s->segment) s->segment = s->n;
    s->segments = (s->n + s->segment - 1) / s->segment;
}

/* Lines whose results lie side by side are neighbours: columns. */
static void choose_shape(const tn__plan *p, shape *s)
{
    int inner = -1;
    for (int k = 0; k < p->rank; k++) {
        s->role[k] = p->group[k] == 0 ? TN__OUTER : TN__MIDDLE;
        if (p->group[k] == 0 && p->dim[k] > 1 && p->outputs[0].window.stride[k] == 1) inner = k;
    }
    if (inner >= 0) s->role[inner] = TN__INNER;
    s->n = tn__role_extent(p, s->role, TN__MIDDLE);
    s->columns = tn__role_extent(p, s->role, TN__INNER);
    s->rows = tn__role_extent(p, s->role, TN__OUTER);
    choose_segments(s);
}

static tn_status take_scratch(tn__plan *p, const shape *s)
{
    const uint64_t cells = s->segments > 1 ? (uint64_t)(s->segments * s->rows * s->columns) : 1;
    for (int i = 0; i < 2; i++)
        if (!p->scratch[i] && !(p->scratch[i] = tn__buffer_new(p->device, cells * 8))) return tn_last_status();
    return TN_OK;
}

static tn_status generate(tn__plan *p)
{
    static const char *const words[] = {"A", "B"}, *const names[] = {"(a)", "(b)"};
    const tn__node *node = p->anchor;
    const tn__scan *row = node->a.along.scan;
    const tn__compute c = tn__dtypes[node->dtype].compute;
    const int kind = c == TN__CF || c == TN__CD ? 0 : 1;
    tn__generator g;
    shape s;
    choose_shape(p, &s);
    TN__TRY(take_scratch(p, &s));
    tn__generator_start(&g, p, s.role, tn__plan_width(p, s.role), s.segments * (s.rows * s.columns + 1) + s.segment);
    tn__text_add(&g.macros, "#define TA T%c\n#define TA1 %s\n#define INIT ", tn__letters[c], tn__scalar_names[c]);
    tn__generate_text(&g, &g.macros, row->init[kind], c, NULL, NULL, 0);
    tn__text_puts(&g.macros, "\n#define COMBINE(a, b) (");
    tn__generate_text(&g, &g.macros, row->combine[kind], c, words, names, 2);
    tn__text_puts(&g.macros, ")\n");
    tn__generate_section(&g, 0);
    tn__generate_section(&g, TN__SECTION_END);
    tn__text_add(&g.defines, "#define RESULT ROUND_%s(s)\n", tn_dtype_name(node->dtype));
    TN__TRY(tn__generator_finish(&g, "scan.cl", "scan"));
    if (s.segments == 1) return TN_OK;
    tn__plan_launches(p, "scan_totals");
    tn__plan_launches(p, "scan_offsets");
    return TN_OK;
}

/* One of the kernels over so many units; the buffers come last. */
static tn_status launch_one(tn__plan *p, tn__kernel *kernel, const shape *s, int64_t segments, tn__buffer *first,
                            tn__buffer *second)
{
    tn__argument a[TN__ARGUMENTS];
    int count = tn__plan_arguments(p, a);
    const int64_t units = s->rows * ((s->columns + p->width - 1) / p->width) * segments;
    const int64_t items = (int64_t)p->device->compute_units * ITEMS_PER_UNIT;
    const int64_t per = p->deep ? (units + items - 1) / items : 1;
    tn__argument_index(p, a, &count, s->n);
    tn__argument_index(p, a, &count, s->columns);
    tn__argument_index(p, a, &count, s->rows * s->columns);
    tn__argument_index(p, a, &count, s->segment);
    tn__argument_index(p, a, &count, s->segments);
    tn__argument_index(p, a, &count, units);
    tn__argument_index(p, a, &count, per);
    a[count++] = (tn__argument){.buffer = first};
    if (second) a[count++] = (tn__argument){.buffer = second};
    return tn__launch_items(p, kernel, a, count, (units + per - 1) / per);
}

static tn_status launch(tn__plan *p)
{
    shape s;
    choose_shape(p, &s);
    if (s.segments > 1) {
        TN__TRY(launch_one(p, p->unit.kernel[1], &s, s.segments, p->scratch[0], NULL));
        TN__TRY(launch_one(p, p->unit.kernel[2], &s, 1, p->scratch[0], p->scratch[1]));
    }
    return launch_one(p, p->unit.kernel[0], &s, s.segments, p->scratch[1], NULL);
}

static double cost(const tn__node *node)
{
    return 2.0 * (double)tn__node_count(node);
}

static const tn__op ops[] = {
#define SCAN(id, ...)           \
    {.name = #id,               \
     .host = host_scan,         \
     .reordered = tn__along_reordered,    \
     .arrange = tn__along_arrange,        \
     .generate = generate,      \
     .launch = launch,          \
     .stores_expression = true, \
     .cost = cost},
#include "tables/scans.def"
#undef SCAN
};

/* ---- public ---- */

static tn_dtype computed_in(const tn__scan *row, tn_dtype dtype)
{
    const tn__kind kind = tn__dtypes[dtype].kind;
    if (kind == TN__FLOAT || row->result == RESULT_SAME) return dtype;
    return row->result == RESULT_REAL ? TN_F32 : kind == TN__UNSIGNED ? TN_U64 : TN_I64;
}

static tn_tensor *record_scan(const tn__scan *row, tn_tensor *x, int axis)
{
    tn__node *node = tn__node_new(&ops[row - scans], 1);
    if (!node) return NULL;
    node->a.along.scan = row;
    return tn__along_record(node, x, axis);
}

static tn_tensor *scan_along(const void *of_table, tn_tensor *x, int axis)
{
    const tn__scan *row = of_table;
    tn_tensor *y = NULL;
    if (tn__tensor_check(x, row->name, "x") != TN_OK) return NULL;
    if (tn__along_single(scan_along, row, x, axis, &y)) return y;
    const int a = tn__axis(axis, x->ndim, row->name);
    if (a < 0) return NULL;
    const tn_dtype dtype = computed_in(row, x->dtype);
    tn_tensor *source = dtype == x->dtype ? tn__tensor_alias(x) : tn__cast(x, dtype, false);
    if (source)
        y = x->numel == 0 ? tn_zeros(dtype, tn__tensor_shape(x), tn__tensor_device(x)->name) : record_scan(row, source, a);
    tn_release(source);
    return tn__recorded(&row->derivative, &a, &x, 1, y);
}

/* The public scans: one for each row. */
#define SCAN(name, ...)                                 \
    tn_tensor *tn_##name(tn_tensor *x, int axis)        \
    {                                                   \
        return scan_along(&scans[ROW_##name], x, axis); \
    }
#include "tables/scans.def"
#undef SCAN
