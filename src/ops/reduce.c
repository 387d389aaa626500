/* Reductions over axes (tables/reductions.def), and mean on top; on host in reduce_host.c. */
#include "base/alloc.h"
#include "core/view.h"
#include "graph/gradients.h"
#include "graph/rows.h"
#include "ops/reduction.h"
#include <string.h>
#include <tenon/ops.h>

const tn__reduction tn__reductions[TN__REDUCTIONS] = {
#define RED(name, result, init_f, init_i, combine_f, combine_i, gradient, saves) \
    [TN__RED_##name] = {#name,                                                   \
                        TN__RESULT_##result,                                     \
                        {#init_f, #init_i},                                      \
                        {#combine_f, #combine_i},                                \
                        TN__RESULT_##result == TN__RESULT_INDEX,                 \
                        {#name, tn__grad_##gradient, TN__SAVES_##saves, sizeof(tn__reduce_attributes)}},
#include "tables/reductions.def"
#undef RED
};

/* ---- OpenCL ---- */

enum { SEGMENT = 1 << 15, MOST_SEGMENTS = 256, FEW_OUTPUTS = 64, TREE_POINTS = 64, TREE_LOCAL = 128, ITEMS_PER_UNIT = 16 };
enum { BLOCK = 2048, LEAST_BLOCK = 64, FEW_COLUMNS = 8192, SEGMENT_ROWS = 256 }; /* columns, in the deep profile */

/* How a reduction is laid out; from the plan's extents only. */
typedef struct layout {
    tn__role role[TN__RANK];
    bool columns, tree;
    int64_t n, ni, outputs, segments, segment, column_count;
    int64_t most, block; /* columns of an item: by the program, in this launch */
} layout;

/* How many elements of those that go into one output an item takes, when there are few outputs; n: all. */
static int64_t segment_of(const tn__plan *p, const layout *l, int width)
{
    if (l->columns && p->deep)
        return l->outputs < FEW_COLUMNS && l->outputs * l->n >= 16 * SEGMENT && l->n >= 2 * SEGMENT_ROWS ? SEGMENT_ROWS : l->n;
    const int64_t each = l->columns ? SEGMENT / 16 : SEGMENT;
    return l->outputs < FEW_OUTPUTS * (l->columns ? width : 1) && l->n >= 2 * each ? each : l->n;
}

/* Columns of an item: in the deep profile long runs of a row, but enough items. */
static void choose_block(const tn__plan *p, layout *l, int width)
{
    const int64_t items = (int64_t)p->device->compute_units * ITEMS_PER_UNIT, each = tn__ceil_div(l->outputs * l->segments, items);
    l->most = p->deep ? BLOCK : width;
    l->block = each < LEAST_BLOCK ? LEAST_BLOCK : each > BLOCK ? BLOCK : each / LEAST_BLOCK * LEAST_BLOCK;
    if (!p->deep) l->block = width;
}

static void choose_layout(const tn__plan *p, layout *l)
{
    int last_kept = -1, last_reduced = -1;
    memset(l, 0, sizeof *l);
    for (int k = 0; k < p->rank; k++) {
        l->role[k] = p->group[k] == 0 ? TN__OUTER : TN__MIDDLE;
        if (p->group[k] == 0)
            last_kept = k;
        else
            last_reduced = k;
    }
    l->outputs = tn__role_extent(p, l->role, TN__OUTER);
    l->n = tn__role_extent(p, l->role, TN__MIDDLE);
    int along_kept = 0, along_reduced = 0;
    for (int i = 0; i < p->inputs_count; i++) {
        if (p->inputs[i].section != 0) continue;
        if (last_kept >= 0 && p->inputs[i].window.stride[last_kept] == 1) along_kept++;
        if (last_reduced >= 0 && p->inputs[i].window.stride[last_reduced] == 1) along_reduced++;
    }
    const int width = p->deep ? p->device->vector_width : 4;
    l->columns = along_kept > along_reduced && last_kept >= 0 && p->dim[last_kept] >= (p->deep ? width : 16);
    const int inner = l->columns ? last_kept : last_reduced;
    if (inner >= 0) l->role[inner] = TN__INNER;
    l->column_count = l->columns ? p->dim[last_kept] : 1;
    l->ni = l->columns || inner < 0 ? 1 : p->dim[inner];
    l->tree = !p->deep && !l->columns && l->n >= TREE_POINTS;
    const int64_t each = segment_of(p, l, width);
    l->segments = tn__ceil_div(l->n, each) < MOST_SEGMENTS ? tn__ceil_div(l->n, each) : MOST_SEGMENTS;
    l->segment = tn__ceil_div(l->n, l->segments);
    l->segments = tn__ceil_div(l->n, l->segment);
}

tn_status tn__generate_lanes(tn__generator *g, const tn__reduction *row, tn__compute c, const char *suffix)
{
    static const char *const words[] = {"A", "B"}, *const names[] = {"(a)", "(b)"};
    const int kind = c == TN__CF || c == TN__CD ? 0 : 1;
    const char l = tn__letters[c];
    tn__text t = {0}, combine = {0}, init = {0};
    size_t length;
    const char *lanes = tn__kernel_source("lanes.cl", &length);
    if (!lanes) return tn_last_status();
    tn__generate_text(g, &init, row->init[kind], c, NULL, NULL, 0);
    tn__generate_text(g, &combine, row->combine[kind], c, words, names, 2);
    tn__text_add(
        &t, "#undef RED_NAME\n#undef INIT\n#undef COMBINE\n#undef BETTER\n#undef INDEXED\n#define RED_NAME %s\n#define INIT %s\n",
        suffix, init.data);
    tn__text_add(&t, "#define %s(a, b) (%s)\n#define INDEXED %d\n", row->indexed ? "BETTER" : "COMBINE", combine.data,
                 row->indexed);
    tn__text_add(&t, "#ifndef TA\n#define TA T%c\n#define TA1 %s\n#define TA_BYTES %d\n#define SELA SEL_%c\n#endif\n", l,
                 tn__scalar_names[c], c == TN__CD || c >= TN__CL ? 8 : 4, l);
    tn__text_put(&t, lanes, length);
    tn__text_puts(&g->functions, t.data ? t.data : "");
    g->functions.failed |= t.failed || combine.failed || init.failed;
    tn__text_free(&t);
    tn__text_free(&combine);
    tn__text_free(&init);
    return TN_OK;
}

static tn_status generate_reduce(tn__plan *p)
{
    const tn__node *node = p->anchor;
    const tn__reduction *row = node->a.reduce.row;
    const tn_dtype from = node->in[0].value ? node->in[0].dtype : tn__compute_dtype[node->in[0].number.compute];
    const tn__compute c = tn__dtypes[from].compute;
    tn__generator g;
    layout l;
    choose_layout(p, &l);
    p->local = l.tree ? tn__group_size(p->device, TREE_LOCAL) : 1;
    /* columns keep their order whatever the lanes are; places of argmax may be 64-bit */
    const bool far = row->indexed && l.n > INT32_MAX;
    const int width = l.columns ? tn__plan_width(p, l.role) : tn__fixed_width(p, l.role, far ? TN_I64 : from);
    tn__generator_start(&g, p, l.role, width, l.n * 2);
    tn__generate_section(&g, 0);
    tn__generate_section(&g, TN__SECTION_END);
    if (row->indexed)
        tn__text_puts(&g.defines, "#define RESULT TO(long, s.at)\n");
    else
        tn__text_add(&g.defines, "#define RESULT ROUND_%s(s.a0)\n", tn_dtype_name(node->dtype));
    if (far) tn__text_puts(&g.defines, "#define PLACE long\n#define PLACE_LETTER l\n#define PLACE_LAST LONG_MAX\n");
    choose_block(p, &l, width);
    tn__text_add(&g.defines, "#define TREE %d\n#define BY_COLUMNS %d\n#define BLOCK %d\n#define L %d\n", l.tree, l.columns,
                 (int)l.most, p->local);
    const tn_status s = tn__generate_lanes(&g, row, c, "_r");
    if (s != TN_OK) {
        tn__generator_free(&g);
        return s;
    }
    const uint64_t cells = l.segments > 1 ? (uint64_t)(l.segments * l.outputs) : 1;
    for (int i = 0; i < 2; i++) {
        if (!p->scratch[i]) p->scratch[i] = tn__buffer_new(p->device, (i == 0 || row->indexed ? cells : 1) * 8);
        if (p->scratch[i]) continue;
        tn__generator_free(&g);
        return tn_last_status();
    }
    TN__TRY(tn__generator_finish(&g, "reduce.cl", "reduce"));
    if (l.segments > 1) tn__plan_launches(p, "reduce_finish");
    return TN_OK;
}

static tn_status launch_finish(tn__plan *p, const layout *l, tn__argument *a, int count)
{
    const int64_t vectors = tn__ceil_div(l->column_count, p->width);
    const int64_t units = l->columns ? l->outputs / l->column_count * vectors : l->outputs;
    tn__argument_index(p, a, &count, l->outputs);
    tn__argument_index(p, a, &count, l->segments);
    tn__argument_index(p, a, &count, units);
    tn__argument_index(p, a, &count, l->column_count);
    for (int i = 0; i < 2; i++) a[count++] = (tn__argument){.buffer = p->scratch[i]};
    return tn__launch(p->unit.kernel[1], a, count, (uint64_t)(units < 1024 ? units : 1024), 1);
}

static tn_status launch_reduce(tn__plan *p)
{
    tn__argument a[TN__ARGUMENTS];
    layout l;
    choose_layout(p, &l);
    const int generated = tn__plan_arguments(p, a);
    int count = generated;
    choose_block(p, &l, p->width);
    const int64_t units = (l.columns ? l.outputs / l.column_count * tn__ceil_div(l.column_count, l.block) : l.outputs) * l.segments;
    const int64_t items = (int64_t)p->device->compute_units * ITEMS_PER_UNIT;
    const int64_t per = p->deep ? tn__ceil_div(units, items) : 1;
    const int64_t global = tn__ceil_div(units, per);
    const uint64_t groups = (uint64_t)(global < 4096 ? global : 4096), local = (uint64_t)p->local; /* of trees */
    tn__argument_index(p, a, &count, l.outputs);
    tn__argument_index(p, a, &count, l.n);
    if (!l.columns) tn__argument_index(p, a, &count, l.ni);
    tn__argument_index(p, a, &count, l.segment);
    tn__argument_index(p, a, &count, l.segments);
    tn__argument_index(p, a, &count, units);
    if (!l.tree) tn__argument_index(p, a, &count, per);
    if (l.columns) tn__argument_index(p, a, &count, l.column_count);
    if (l.columns) tn__argument_index(p, a, &count, l.block);
    for (int i = 0; i < 2; i++) a[count++] = (tn__argument){.buffer = p->scratch[i]};
    TN__TRY(l.tree ? tn__launch(p->unit.kernel[0], a, count, groups * local, local)
                   : tn__launch_items(p, p->unit.kernel[0], a, count, global));
    return l.segments > 1 ? launch_finish(p, &l, a, generated) : TN_OK;
}

static double cost_reduce(const tn__node *node)
{
    double n = 1;
    for (int k = 0; k < node->rank; k++) n *= (double)node->dim[k];
    return n;
}

static const tn__op ops[TN__REDUCTIONS] = {
#define RED(id, ...)                               \
    [TN__RED_##id] = {.name = #id,                 \
                      .host = tn__host_reduce,     \
                      .generate = generate_reduce, \
                      .launch = launch_reduce,     \
                      .stores_expression = true,   \
                      .cost = cost_reduce},
#include "tables/reductions.def"
#undef RED
};

/* ---- public ---- */

tn_shape tn__reduced_shape(const tn_tensor *x, uint32_t mask, bool keepdim)
{
    tn_shape s = {.ndim = 0};
    for (int a = 0; a < x->ndim; a++)
        if (!(mask & (1u << a)))
            s.dim[s.ndim++] = x->dim[a];
        else if (keepdim)
            s.dim[s.ndim++] = 1;
    return s;
}

/* The node: kept axes, then the reduced ones. */
static tn_tensor *record_reduce(const tn__reduction *row, tn_tensor *x, uint32_t mask, tn_dtype dtype)
{
    int64_t stride[TN_MAX_AXES + 1] = {0};
    tn__node *node = tn__node_new(&ops[row - tn__reductions], 1);
    if (!node) return NULL;
    node->a.reduce.row = row;
    node->dtype = dtype;
    for (int pass = 0; pass < 2; pass++)
        for (int a = 0; a < x->ndim; a++) {
            if (((mask >> a) & 1u) != (unsigned)pass) continue;
            node->dim[node->rank] = x->dim[a];
            stride[node->rank++] = x->stride[a];
            node->kept += pass == 0;
        }
    tn__node_operand(node, 0, x, stride);
    return tn__record(node, tn__tensor_device(x), dtype, false);
}

/* Puts extents of 1 where axes were reduced. */
static tn_tensor *with_kept_axes(tn_tensor *y, uint32_t mask, int ndim)
{
    tn__derive_pause();
    for (int a = 0; y && a < ndim; a++) {
        if (!(mask & (1u << a))) continue;
        tn_tensor *z = tn_unsqueeze(y, a);
        tn_release(y);
        y = z;
    }
    tn__derive_resume();
    return y;
}

/* Over nothing: the init where the row's result has one, else an error. Or nothing at all. */
static tn_tensor *empty_result(const tn__reduction *row, const tn_tensor *x, uint32_t mask, bool keepdim, tn_dtype from,
                               tn_dtype to)
{
    const tn_shape shape = tn__reduced_shape(x, mask, keepdim);
    bool nothing = false;
    for (int k = 0; k < x->ndim; k++) nothing = nothing || ((mask & (1u << k)) && x->dim[k] == 0);
    if (!nothing) return tn_zeros(to, shape, tn__tensor_device(x)->name);
    if (row->result != TN__RESULT_SUM && row->result != TN__RESULT_TRUTH)
        return TN__NULL(TN_SHAPE, "%s: %s has no elements along the reduced axes", row->name, tn__shape_text(x->ndim, x->dim));
    tn_tensor *init = tn_float(tn__number_double(tn__host_reduce_init(row, from, to)));
    tn_tensor *y = init ? tn_full(to, shape, init, tn__tensor_device(x)->name) : NULL;
    tn_release(init);
    return y;
}

tn_status tn__reduced_axes(const tn_tensor *x, tn_axes *axes, const char *function, uint32_t *mask)
{
    TN__TRY(tn__tensor_check(x, function, "x"));
    if (x->ndim == 0 && axes->count == 1 && (axes->axis[0] == 0 || axes->axis[0] == -1)) axes->count = 0; /* as in PyTorch */
    return tn__axes_mask(axes, x->ndim, function, mask);
}

static tn_tensor *reduce(const tn__reduction *row, tn_tensor *x, tn_axes axes, bool keepdim)
{
    uint32_t mask;
    if (tn__reduced_axes(x, &axes, row->name, &mask) != TN_OK) return NULL;
    const tn__kind kind = tn__dtypes[x->dtype].kind;
    tn_dtype from = x->dtype, to = x->dtype;
    if (row->result == TN__RESULT_SUM && kind != TN__FLOAT) from = to = kind == TN__UNSIGNED ? TN_U64 : TN_I64;
    if (row->result == TN__RESULT_TRUTH) from = to = TN_BOOL;
    if (row->result == TN__RESULT_INDEX) to = TN_I64;
    const tn__reduce_attributes attributes = {mask, keepdim};
    if (x->numel == 0) return tn__recorded(&row->derivative, &attributes, &x, 1, empty_result(row, x, mask, keepdim, from, to));
    tn_tensor *source = from == x->dtype ? x : tn__cast(x, from, false);
    tn_tensor *y = source ? record_reduce(row, source, mask, to) : NULL;
    if (source != x) tn_release(source);
    return tn__recorded(&row->derivative, &attributes, &x, 1, keepdim ? with_kept_axes(y, mask, x->ndim) : y);
}

/* The public reductions: one for each row. */
#define RED(name, ...)                                                    \
    tn_tensor *tn_##name(tn_tensor *x, tn_axes axes, bool keepdim)        \
    {                                                                     \
        return reduce(&tn__reductions[TN__RED_##name], x, axes, keepdim); \
    }
#include "tables/reductions.def"
#undef RED

/* f16 and bf16 sum and divide in f32 and round once. */
tn_tensor *tn_mean(tn_tensor *x, tn_axes axes, bool keepdim)
{
    uint32_t mask;
    if (tn__reduced_axes(x, &axes, "mean", &mask) != TN_OK) return NULL;
    if (!tn_dtype_is_float(x->dtype)) return TN__NULL(TN_DTYPE, "mean: not for %s; cast to a float first", tn_dtype_name(x->dtype));
    double n = 1;
    for (int a = 0; a < x->ndim; a++)
        if (mask & (1u << a)) n *= (double)x->dim[a];
    const bool narrow = tn_dtype_size(x->dtype) == 2;
    tn_tensor *source = narrow ? tn_cast(x, TN_F32) : tn_cast(x, x->dtype);
    tn_tensor *sum = tn_sum(source, axes, keepdim), *count = tn_float(n), *mean = tn_div(sum, count);
    tn_tensor *y = narrow ? tn_cast(mean, x->dtype) : mean;
    tn_release(source);
    tn_release(sum);
    tn_release(count);
    if (narrow) tn_release(mean);
    return y;
}
