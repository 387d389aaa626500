/* Solvers in blocks: what their nodes have in common, and how they run on OpenCL devices. */
#include "ops/blocked.h"
#include "core/view.h"
#include "graph/generate.h"
#include <string.h>

/* ROUNDS: of an item's loops, all together; llvmpipe leaves a kernel after 32,752 (docs/drivers.md). */
enum { BLOCK = 16, SEGMENT = 32, ROUNDS = 24000, GROUP_LOCAL = 64, ITEMS_PER_UNIT = 16 };

/* ---- nodes ---- */

tn__node *tn__blocked_node(const tn__op *op, int form, int inputs, const tn_shape *batch, int64_t n, int64_t columns, int64_t inner)
{
    tn_shape shape = *batch;
    int64_t count;
    shape.dim[shape.ndim] = n;
    shape.dim[shape.ndim + 1] = columns;
    shape.ndim += 2;
    if (tn__shape_numel(&shape, 8, &count, op->name) != TN_OK) return NULL;
    tn__node *node = tn__node_new(op, inputs);
    if (!node) return NULL;
    node->a.blocked.form = form;
    node->kept = shape.ndim;
    node->rank = shape.ndim + 1;
    memcpy(node->dim, shape.dim, sizeof shape.dim);
    node->dim[shape.ndim] = inner;
    return node;
}

void tn__blocked_operand(tn__node *node, int i, tn_tensor *x, int columns)
{
    const int batch = node->kept - 2;
    const tn_shape lead = tn_shape_make(batch, node->dim);
    int64_t stride[TN_MAX_AXES + 1] = {0};
    tn_tensor batches = *x;
    batches.ndim -= 2;
    tn__expand_strides(&batches, &lead, stride);
    memset(stride + batch, 0, 3 * sizeof stride[0]);
    stride[batch] = x->stride[x->ndim - 2];
    stride[batch + columns] = x->stride[x->ndim - 1];
    node->dtype = x->dtype;
    tn__node_operand(node, i, x, stride);
}

/* ---- OpenCL ---- */

enum { KERNEL_BLOCK, KERNEL_TAKE, KERNEL_UPDATE }; /* of a plan's unit */
enum { BATCH, ROWS, COLUMNS, INNER }; /* groups of the domain's axes */

void tn__blocked_arrange(tn__plan *p)
{
    for (int k = 0; k < p->rank; k++) p->group[k] = k < p->rank - 3 ? BATCH : k - (p->rank - 3) + ROWS;
    p->splits = 1u << BATCH;
}

typedef struct shape {
    tn__role role[TN__RANK];
    bool solves; /* else factors */
    int64_t matrices, n;
    int64_t columns, pitch; /* of a matrix of the result: those that are taken from the operand, and all */
    int64_t block;          /* columns of the factor at a time */
    int64_t rounds;         /* of an item that works on a block of a matrix' factor */
    int64_t a_rs, a_cs;     /* strides of the triangle in substitution */
} shape;

/* The triangle's places; it is read by one load. */
static const tn__window *triangle(const tn__plan *p)
{
    int i = 0;
    while (p->inputs[i].section != 0) i++;
    return &p->inputs[i].window;
}

static void choose_shape(const tn__plan *p, shape *s)
{
    const int rows = p->rank - 3, columns = p->rank - 2, inner = p->rank - 1;
    s->solves = p->anchor->a.blocked.form >= TN__LOWER;
    for (int k = 0; k < rows; k++) s->role[k] = TN__OUTER;
    s->role[rows] = TN__MIDDLE;
    s->role[columns] = s->solves ? TN__INNER : TN__APART;
    s->role[inner] = s->solves ? TN__APART : TN__INNER;
    s->matrices = tn__role_extent(p, s->role, TN__OUTER);
    s->n = p->dim[rows];
    s->pitch = p->dim[columns];
    s->columns = tn__role_extent(p, s->role, TN__INNER);
    s->block = BLOCK;
    s->rounds = BLOCK * BLOCK;
    for (; !s->solves; s->block /= 2) {
        s->rounds = (s->n / p->local + 1) * s->block * (s->block / 2 + 3) + s->block * p->local;
        if (s->rounds <= ROUNDS || s->block == 1) break;
    }
    s->a_rs = s->solves ? triangle(p)->stride[rows] : 0;
    s->a_cs = s->solves ? triangle(p)->stride[inner] : 0;
}

static void put_operand(tn__generator *g, int section)
{
    tn__generate_section(g, section);
    tn__text_add(&g->macros, "#define OPERAND(z) P%d_OUTER(z)\n#define OPERAND_ROW(i) P%d_MIDDLE(i)\n", section, section);
    tn__text_add(&g->macros, "#define OPERAND_EVAL(c) P%d_EVAL(c)\n#define OPERAND_VALUE P%d_VALUE\n", section, section);
}

/* The factor of a substitution is loaded again and again, at places of the kernel's choice. */
static void put_triangle(tn__generator *g)
{
    tn__generate_places(g, 0);
    const int input = tn__generate_form(g, 0, "form_0", "PLAIN_0");
    tn__text_add(&g->macros, "#define FACTORS(z) P0_OUTER(z) const IDX a0 = op%d;\n", input);
    tn__text_puts(&g->macros, "#define TRIANGLE(i, k) PLAIN_0(a0 + (i) * a_rs + (k) * a_cs)\n");
}

tn_status tn__blocked_generate(tn__plan *p)
{
    const int form = p->anchor->a.blocked.form;
    const tn_dtype dtype = p->anchor->dtype;
    tn__generator g;
    shape s;
    p->local = p->deep || form >= TN__LOWER ? 1 : tn__group_size(p->device, GROUP_LOCAL);
    choose_shape(p, &s);
    tn__generator_start(&g, p, s.role, tn__fixed_width(p, s.role, dtype), s.matrices * s.n * s.pitch);
    tn__text_add(&g.defines, "#define T %s\n#define TW VEC(T)\n", tn__scalar_names[tn__dtypes[dtype].compute]);
    tn__text_add(&g.defines, "#define CHOLESKY %d\n#define LU %d\n", form == TN__CHOLESKY, form == TN__LU);
    tn__text_add(&g.defines, "#define SOLVE %d\n#define UNIT %d\n#define PERMUTED %d\n", s.solves, form > TN__LOWER,
                 form == TN__LOWER_LU);
    tn__text_add(&g.defines, "#define NB %d\n#define SEGMENT %d\n#define L %d\n", (int)s.block, SEGMENT, p->local);
    tn__note_dtype(&g, dtype);
    p->reports = p->reports || !s.solves;
    if (s.solves) put_triangle(&g);
    put_operand(&g, s.solves ? 1 : 0);
    TN__TRY(tn__generator_finish(&g, "blocked.cl", "block"));
    tn__plan_launches(p, "take");
    if (s.n > s.block) tn__plan_launches(p, "update");
    return TN_OK;
}

/* One of the kernels over so many units, of which each takes an item (or group) so many rounds; block from column j0 on. */
static tn_status launch_one(tn__plan *p, const shape *s, int which, int64_t j0, int64_t units, int64_t rounds)
{
    tn__argument a[TN__ARGUMENTS];
    tn__kernel *kernel = p->unit.kernel[which];
    int count = tn__plan_arguments(p, a);
    const int64_t items = (int64_t)p->device->compute_units * ITEMS_PER_UNIT;
    int64_t per = p->deep ? (units + items - 1) / items : 1;
    if (per > 1 && per * rounds > ROUNDS) per = rounds < ROUNDS ? ROUNDS / rounds : 1;
    const int64_t numbers[] = {s->n, s->columns, s->pitch, s->a_rs, s->a_cs, j0, units, per, p->anchor->a.blocked.fault};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) tn__argument_index(p, a, &count, numbers[i]);
    const int64_t global = (units + per - 1) / per;
    if (which != KERNEL_BLOCK || s->solves) return tn__launch_items(p, kernel, a, count, global);
    return tn__launch(kernel, a, count, (uint64_t)global * (uint64_t)p->local, (uint64_t)p->local);
}

tn_status tn__blocked_launch(tn__plan *p)
{
    shape s;
    choose_shape(p, &s);
    const int64_t vectors = (s.columns + p->width - 1) / p->width;
    TN__TRY(launch_one(p, &s, KERNEL_TAKE, 0, s.matrices * s.n * vectors, 1));
    for (int64_t j0 = 0; j0 < s.n; j0 += s.block) {
        const int64_t j1 = j0 + s.block, segments = (s.n - j1 + SEGMENT - 1) / SEGMENT;
        TN__TRY(launch_one(p, &s, KERNEL_BLOCK, j0, s.solves ? s.matrices * vectors : s.matrices, s.rounds));
        if (j1 >= s.n) break;
        const int64_t across = s.solves ? vectors : (s.columns - j1 + p->width - 1) / p->width;
        TN__TRY(launch_one(p, &s, KERNEL_UPDATE, j0, s.matrices * segments * across, SEGMENT * s.block));
    }
    return TN_OK;
}
