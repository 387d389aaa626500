/* The kernels of elementwise plans: kernels/elementwise.cl in both profiles, and kernels/tiled.cl in the deep one where inputs
 * are contiguous along another axis than the outputs. */
#include "graph/generate.h"

enum { GROUPS_PER_UNIT = 16, LEAST_RUN = 2048, WIDE_LOCAL = 128, WIDE_GROUPS_PER_UNIT = 32, TILED_RUN = 1024, LINE = 64 };

/* How the axes are gone through. */
typedef struct walk {
    tn__role role[TN__RANK];
    int inner, tiled; /* axes; tiled -1: none */
    int width;
} walk;

/* The axis along which the outputs are contiguous, else the last. */
static int inner_of(const tn__plan *p)
{
    for (int k = p->rank - 1; k >= 0; k--) {
        bool all = p->dim[k] > 1;
        for (int o = 0; all && o < p->outputs_count; o++) all = p->outputs[o].window.stride[k] == 1;
        if (all) return k;
    }
    return p->rank - 1;
}

/* The axis of at least so many elements that most of the inputs which are not contiguous along the inner one are contiguous along;
 * -1: there is none. */
static int turned_of(const tn__plan *p, int inner, int lanes)
{
    int best = -1, most = 0;
    for (int k = 0; k < p->rank; k++) {
        int count = 0;
        if (k == inner || p->dim[k] < lanes) continue;
        for (int i = 0; i < p->inputs_count; i++)
            count += p->inputs[i].value && !p->inputs[i].table && tn__is_turned(&p->inputs[i].window, k, inner);
        if (count <= most) continue;
        most = count;
        best = k;
    }
    return best;
}

static bool writes_along(const tn__plan *p, int axis)
{
    bool all = true;
    for (int o = 0; o < p->outputs_count; o++) all = all && p->outputs[o].window.stride[axis] == 1;
    return all;
}

/* How far the inputs move along an axis. */
static int64_t reach_of(const tn__plan *p, int axis)
{
    int64_t sum = 0;
    for (int i = 0; i < p->inputs_count; i++) {
        const int64_t s = p->inputs[i].window.stride[axis];
        if (p->inputs[i].value && !p->inputs[i].table) sum += s < 0 ? -s : s;
    }
    return sum;
}

/* The axes in the order in which the inputs lie: a core waits for what it reads, not for what it writes. */
static void order_of(const tn__plan *p, int *order)
{
    for (int k = 0; k < p->rank; k++) {
        int at = k;
        for (; at > 0 && reach_of(p, order[at - 1]) < reach_of(p, k); at--) order[at] = order[at - 1];
        order[at] = k;
    }
}

static void set_inner(const tn__plan *p, walk *w, int inner)
{
    w->inner = inner;
    for (int k = 0; k < p->rank; k++) w->role[k] = k == inner ? TN__INNER : TN__OUTER;
    w->width = tn__plan_lanes(p, w->role);
}

static walk choose(const tn__plan *p)
{
    walk w = {.tiled = -1};
    set_inner(p, &w, inner_of(p));
    const int turned = p->deep && p->rank > 0 ? turned_of(p, w.inner, w.width > 1 ? w.width : p->device->vector_width) : -1;
    if (turned >= 0 && w.width == 1) { /* few elements in a row: vectors are read, and their elements written one by one */
        set_inner(p, &w, turned);
        if (w.width == 1) set_inner(p, &w, inner_of(p));
    } else if (turned >= 0 && writes_along(p, w.inner)) {
        w.tiled = turned;
        w.role[turned] = TN__MIDDLE;
    } else
        w.width = tn__plan_width(p, w.role);
    return w;
}

/* Tiles beside each other that fill a line of the cache in the outputs, but no more than there are. */
static int tiles_beside(const tn__plan *p)
{
    int64_t across = p->dim[p->inner];
    for (int o = 0; o < p->outputs_count; o++) {
        const int64_t line = LINE / (int64_t)tn_dtype_size(p->outputs[o].dtype);
        if (line < across) across = line;
    }
    return (int)tn__ceil_div(across, p->width);
}

tn_status tn__elementwise_generate(tn__plan *p)
{
    tn__generator g;
    const walk w = choose(p);
    tn__generator_start(&g, p, w.role, w.width, 0);
    p->inner = w.inner;
    p->tiled = w.tiled;
    if (p->deep) order_of(p, g.order);
    if (w.tiled >= 0) {
        tn__generate_tiles(&g);
        tn__text_add(&g.defines,
                     "#define BESIDE %d\n#define OUTER(o) E_OUTER(o)\n#define ROW(m) E_MIDDLE(m)\n"
                     "#define TILES(m, i, n) E_TILES(m, i, n)\n",
                     tiles_beside(p));
    } else
        tn__text_puts(&g.defines, "#define OUTER(o) E_OUTER(o) E_MIDDLE(0)\n");
    tn__generate_section(&g, TN__SECTION_END);
    tn__generate_stream(&g);
    tn__text_puts(&g.defines, "#define EVAL(i) E_EVAL(i)\n#define STORE(i) E_STORE(i)\n");
    return w.tiled >= 0 ? tn__generator_finish(&g, "tiled.cl", "tiled") : tn__generator_finish(&g, "elementwise.cl", "elementwise");
}

/* Units of so many elements for each item: all items busy, but none with too little. */
static int64_t units_per_item(const tn__plan *p, int64_t units, int64_t elements)
{
    const int64_t per = tn__ceil_div(units, (int64_t)p->device->compute_units * GROUPS_PER_UNIT);
    const int64_t least = tn__ceil_div(LEAST_RUN, elements);
    return per < least ? least : per;
}

/* The shapes append their arguments to `a` and give the launch's items. */

/* An item takes whole rows, or long runs of one row when there are few. */
static uint64_t deep_shape(const tn__plan *p, int64_t n0, int64_t rows, tn__argument *a, int *count)
{
    const int64_t items = (int64_t)p->device->compute_units * GROUPS_PER_UNIT;
    int64_t run = n0;
    if (rows < items && n0 > LEAST_RUN) {
        run = tn__ceil_div(n0, tn__ceil_div(items, rows));
        if (run < LEAST_RUN) run = LEAST_RUN;
        run = tn__ceil_div(run, p->width) * p->width;
    }
    const int64_t runs = tn__ceil_div(n0, run), units = rows * runs, per = units_per_item(p, units, tn__least(run, n0));
    tn__argument_index(p, a, count, n0);
    tn__argument_index(p, a, count, run);
    tn__argument_index(p, a, count, runs);
    tn__argument_index(p, a, count, units);
    tn__argument_index(p, a, count, per);
    return (uint64_t)tn__ceil_div(units, per);
}

static uint64_t tiled_shape(const tn__plan *p, int64_t rows, tn__argument *a, int *count)
{
    const int64_t n0 = p->dim[p->inner], nt = p->dim[p->tiled], across = tiles_beside(p) * p->width;
    const int64_t run = nt < TILED_RUN ? nt : TILED_RUN, runs = tn__ceil_div(nt, run), bands = tn__ceil_div(n0, across);
    const int64_t units = rows / nt * runs * bands, per = units_per_item(p, units, run * across);
    tn__argument_index(p, a, count, n0);
    tn__argument_index(p, a, count, nt);
    tn__argument_index(p, a, count, bands);
    tn__argument_index(p, a, count, run);
    tn__argument_index(p, a, count, runs);
    tn__argument_index(p, a, count, units);
    tn__argument_index(p, a, count, per);
    return (uint64_t)tn__ceil_div(units, per);
}

static uint64_t wide_shape(const tn__plan *p, int64_t n0, int64_t rows, tn__argument *a, int *count, uint64_t *local)
{
    const int64_t vectors = tn__ceil_div(n0, p->width), total = rows * vectors;
    const uint64_t most = tn__kernel_max_group(p->unit.kernel[0]);
    *local = most < WIDE_LOCAL ? most : WIDE_LOCAL;
    uint64_t groups = ((uint64_t)total + *local - 1) / *local;
    const uint64_t bound = (uint64_t)p->device->compute_units * WIDE_GROUPS_PER_UNIT;
    if (groups > bound) groups = bound;
    tn__argument_index(p, a, count, n0);
    tn__argument_index(p, a, count, vectors);
    tn__argument_index(p, a, count, total);
    return groups * *local;
}

tn_status tn__elementwise_launch(tn__plan *p)
{
    tn__argument a[TN__ARGUMENTS];
    int count = tn__plan_arguments(p, a);
    const int64_t n0 = p->rank ? p->dim[p->inner] : 1;
    int64_t rows = 1;
    for (int k = 0; k < p->rank; k++) rows *= k == p->inner ? 1 : p->dim[k];
    uint64_t local = 1;
    const uint64_t global = p->tiled >= 0 ? tiled_shape(p, rows, a, &count)
                            : p->deep     ? deep_shape(p, n0, rows, a, &count)
                                          : wide_shape(p, n0, rows, a, &count, &local);
    return tn__launch(p->unit.kernel[0], a, count, global, local);
}
