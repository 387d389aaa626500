/* Stable sort along an axis: values and indices, two results of one node. */
#include "graph/generate.h"
#include "ops/along.h"
#include "ops/compose.h"
#include "ops/index.h"
#include <string.h>
#include <tenon/ops.h>

/* In elements: what is ranked at once, what a unit of the first kernel sorts, and what one of a merge puts out. Rounds of loops in an
 * item stay far below the 32,752 after which llvmpipe leaves them (docs/drivers.md). */
enum { BLOCK = 16, DEEP_TILE = 1024, DEEP_SPAN = 1024, WIDE_SPAN = 16 };

/* ---- host ---- */

#define LOOPS "ops/sort_loops.h"
#include "graph/each_float.h"
#include "graph/each_integer.h"

static void host_line(const tn__node *node, int64_t n, void *line, void *work)
{
    static void (*const sorts[TN__COMPUTES])(int64_t, void *, int64_t *, int64_t *, bool) = {sort_f, sort_d, sort_i,
                                                                                             sort_u, sort_l, sort_m};
    int64_t *places = work;
    sorts[tn__dtypes[node->dtype].compute](n, line, places, places + n, node->a.along.descending);
}

static tn_status host_sort(const tn__node *node, void *const *out)
{
    return tn__along_host(node, out, host_line, 2 * sizeof(int64_t));
}

/* ---- OpenCL ---- */

typedef struct shape {
    tn__role role[TN__RANK];
    int64_t n, lines, tile, span;
    bool pairs; /* items of two words */
} shape;

static void choose_shape(const tn__plan *p, shape *s)
{
    for (int k = 0; k < p->rank; k++) s->role[k] = p->group[k] == 0 ? TN__OUTER : TN__INNER;
    s->n = tn__role_extent(p, s->role, TN__INNER);
    s->lines = tn__role_extent(p, s->role, TN__OUTER);
    s->tile = p->deep ? DEEP_TILE : BLOCK;
    s->span = p->deep ? DEEP_SPAN : WIDE_SPAN;
    const tn__compute c = tn__dtypes[p->anchor->dtype].compute;
    s->pairs = c == TN__CD || c == TN__CL || c == TN__CM || s->n > UINT32_MAX;
}

/* Items between two kernels: merges go to and fro. */
static tn_status take_scratch(tn__plan *p, const shape *s)
{
    for (int i = 0; i < 2; i++) {
        const int64_t items = s->n > (i + 1) * s->tile ? s->lines * s->n : 1;
        if (!p->scratch[i] && !(p->scratch[i] = tn__buffer_new(p->device, (uint64_t)items * (s->pairs ? 16 : 8))))
            return tn_last_status();
    }
    return TN_OK;
}

static tn_status generate(tn__plan *p)
{
    const tn__compute c = tn__dtypes[p->anchor->dtype].compute;
    tn__generator g;
    shape s;
    choose_shape(p, &s);
    TN__TRY(take_scratch(p, &s));
    tn__generator_start(&g, p, s.role, 1, 4 * s.n);
    tn__generate_section(&g, 0);
    tn__generate_section(&g, TN__SECTION_END);
    tn__text_add(&g.defines, "#define LETTER %c\n#define PAIRS %d\n#define BLOCK %d\n#define TILE %d\n#define SPAN %d\n",
                 tn__letters[c], s.pairs, BLOCK, (int)s.tile, (int)s.span);
    TN__TRY(tn__generator_finish(&g, "sort.cl", "sort"));
    if (s.n > s.tile) tn__plan_launches(p, "sort_merge");
    return TN_OK;
}

/* One kernel over units of so many elements, with arguments of its own behind the shape. */
static tn_status launch_one(tn__plan *p, tn__kernel *kernel, const shape *s, int64_t elements, const tn__argument *own, int owns)
{
    tn__argument a[TN__ARGUMENTS];
    int count = tn__plan_arguments(p, a);
    const int64_t units = s->lines * ((s->n + elements - 1) / elements);
    const int64_t per = p->deep && s->n < elements ? elements / s->n : 1; /* short lines go together */
    tn__argument_index(p, a, &count, s->n);
    tn__argument_index(p, a, &count, s->lines);
    tn__argument_index(p, a, &count, units);
    tn__argument_index(p, a, &count, per);
    memcpy(a + count, own, (size_t)owns * sizeof *own);
    return tn__launch_items(p, kernel, a, count + owns, (units + per - 1) / per);
}

static tn_status launch(tn__plan *p)
{
    shape s;
    choose_shape(p, &s);
    const uint64_t flip = !p->anchor->a.along.descending ? 0 : s.pairs ? UINT64_MAX : (uint64_t)UINT32_MAX << 32;
    const tn__argument tiles[] = {{.size = 8, .value.u64 = flip}, {.buffer = p->scratch[0]}};
    TN__TRY(launch_one(p, p->unit.kernel[0], &s, s.tile, tiles, 2));
    int turn = 0;
    for (int64_t run = s.tile; run < s.n; run *= 2, turn = !turn) {
        tn__argument merges[3];
        int count = 0;
        tn__argument_index(p, merges, &count, run);
        merges[1] = (tn__argument){.buffer = p->scratch[turn]};
        merges[2] = (tn__argument){.buffer = p->scratch[!turn]};
        TN__TRY(launch_one(p, p->unit.kernel[1], &s, s.span, merges, 3));
    }
    return TN_OK;
}

static double cost(const tn__node *node)
{
    const double n = (double)node->dim[node->a.along.axis];
    double levels = 1;
    while ((double)(INT64_C(1) << (int)levels) < n) levels++;
    return levels * (double)tn__node_count(node);
}

static const tn__op op = {.name = "sort",
                          .host = host_sort,
                          .reordered = tn__along_reordered,
                          .arrange = tn__along_arrange,
                          .generate = generate,
                          .launch = launch,
                          .stores_expression = true,
                          .cost = cost};

/* ---- public ---- */

static const tn__derivative derive_sort = TN__GATHERS("sort");

static tn_status record_sort(tn_tensor *x, int axis, bool descending, tn_tensor **const *out)
{
    tn__node *node = tn__node_new(&op, 1);
    if (!node) return TN_MEMORY;
    node->results = 2;
    node->a.along.descending = descending;
    return tn__along_record_results(node, x, axis, out);
}

/* Of a tensor without axes: itself, at place 0. */
static tn_status sort_single(tn_tensor *x, tn_tensor **values, tn_tensor **indices)
{
    const tn_scope scope = tn_scope_push();
    tn_tensor *const made[] = {values ? tn_clone(x) : NULL,
                               indices ? tn_zeros(TN_I64, TN_SHAPE(), tn__tensor_device(x)->name) : NULL};
    tn_tensor **const out[] = {values, indices};
    return tn__leave_all(scope, made, out, 2);
}

tn_status tn_sort(tn_tensor *x, int axis, bool descending, tn_tensor **values, tn_tensor **indices)
{
    tn_tensor *places = NULL, **out[] = {values, indices};
    TN__TRY(tn__start_both(x, "sort", out));
    if (x->ndim == 0 && (axis == 0 || axis == -1)) return sort_single(x, values, indices);
    const int a = tn__axis(axis, x->ndim, "sort");
    if (a < 0) return TN_AXIS;
    if (!indices && tn__derives_from(x)) out[1] = &places;
    TN__TRY(record_sort(x, a, descending, out));
    if (values && out[1]) *values = tn__recorded(&derive_sort, &a, (tn_tensor *const[]){x, *out[1]}, 2, *values);
    tn_release(places);
    if (!values || *values) return TN_OK;
    if (indices) tn_release(*indices), *indices = NULL;
    return tn_last_status();
}

tn_tensor *tn_argsort(tn_tensor *x, int axis, bool descending)
{
    tn_tensor *indices;
    return tn_sort(x, axis, descending, NULL, &indices) == TN_OK ? indices : NULL;
}

tn_tensor *tn_msort(tn_tensor *x)
{
    tn_tensor *values;
    return tn_sort(x, 0, false, &values, NULL) == TN_OK ? values : NULL;
}
