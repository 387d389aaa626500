/* The kernel of elementwise plans: kernels/elementwise.cl, in both profiles. */
#include "graph/generate.h"

enum { GROUPS_PER_UNIT = 16, LEAST_RUN = 2048, WIDE_LOCAL = 128, WIDE_GROUPS_PER_UNIT = 32 };

static void choose_roles(const tn__plan *p, tn__role *role)
{
    for (int k = 0; k < p->rank; k++) role[k] = k == p->rank - 1 ? TN__INNER : TN__OUTER;
}

tn_status tn__elementwise_generate(tn__plan *p)
{
    tn__generator g;
    tn__role role[TN__RANK];
    choose_roles(p, role);
    tn__generator_start(&g, p, role, tn__plan_width(p, role), 0);
    tn__generate_section(&g, TN__SECTION_END);
    tn__text_puts(&g.defines, "#define OUTER(o) E_OUTER(o) E_MIDDLE(0)\n#define EVAL(i) E_EVAL(i)\n#define STORE(i) E_STORE(i)\n");
    return tn__generator_finish(&g, "elementwise.cl", "elementwise");
}

static int64_t ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

/* An item takes whole rows, or long runs of one row when there are few. */
static void deep_shape(const tn__plan *p, int64_t n0, int64_t rows, tn__argument *a, int *count, uint64_t *global)
{
    const int64_t items = (int64_t)p->device->compute_units * GROUPS_PER_UNIT;
    int64_t run = n0;
    if (rows < items && n0 > LEAST_RUN) {
        run = ceil_div(n0, ceil_div(items, rows));
        if (run < LEAST_RUN) run = LEAST_RUN;
        run = ceil_div(run, p->width) * p->width;
    }
    const int64_t runs = ceil_div(n0, run), units = rows * runs;
    int64_t per = ceil_div(units, items);
    const int64_t least = ceil_div(LEAST_RUN, run < n0 ? run : n0);
    if (per < least) per = least;
    tn__argument_index(p, a, count, n0);
    tn__argument_index(p, a, count, run);
    tn__argument_index(p, a, count, runs);
    tn__argument_index(p, a, count, units);
    tn__argument_index(p, a, count, per);
    *global = (uint64_t)ceil_div(units, per);
}

static uint64_t wide_shape(const tn__plan *p, int64_t n0, int64_t rows, tn__argument *a, int *count, uint64_t *global)
{
    const int64_t vectors = ceil_div(n0, p->width), total = rows * vectors;
    uint64_t local = WIDE_LOCAL;
    const uint64_t most = tn__kernel_max_group(p->unit.kernel[0]);
    if (local > most) local = most;
    uint64_t groups = ((uint64_t)total + local - 1) / local;
    const uint64_t bound = (uint64_t)p->device->compute_units * WIDE_GROUPS_PER_UNIT;
    if (groups > bound) groups = bound;
    tn__argument_index(p, a, count, n0);
    tn__argument_index(p, a, count, vectors);
    tn__argument_index(p, a, count, total);
    *global = groups * local;
    return local;
}

tn_status tn__elementwise_launch(tn__plan *p)
{
    tn__argument a[TN__ARGUMENTS];
    int count = tn__plan_arguments(p, a);
    const int64_t n0 = p->rank ? p->dim[p->rank - 1] : 1;
    int64_t rows = 1;
    for (int k = 0; k + 1 < p->rank; k++) rows *= p->dim[k];
    uint64_t global, local = 1;
    if (p->deep)
        deep_shape(p, n0, rows, a, &count, &global);
    else
        local = wide_shape(p, n0, rows, a, &count, &global);
    return tn__launch(p->unit.kernel[0], a, count, global, local);
}
