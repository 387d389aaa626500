/* Matrix products of the wide profile: which kernel, which tile, and how it is launched.
 *
 * The tile depends on how many of them the device needs to be busy. In how many parts k is split depends on the product alone, for
 * the order of additions shows in the result. */
#include "ops/matmul.h"
#include "device/tuning.h"
#include <string.h>

enum {
    ITEMS_MOST = 256,   /* of a group: what every device has */
    NUMBERS_MOST = 112, /* of an item, in registers */
    FEW_MOST = 8,
    FEW_ITEMS = 128, /* of a group that computes a product with few rows or columns, at most and at least */
    FEW_ITEMS_LEAST = 32,
    FEW_STEPS = 64, /* from so many steps of k on */
    PARTS_MOST = 8,
    PART_STEPS = 512, /* at least, of a part of k */
    BUSY = 64         /* groups that need no help */
};

const char *const tn__products_names[TN__PRODUCTS] = {"large", "middle", "small"};

/* ---- tiles ---- */

static const struct row {
    const char *class;
    tn__products products;
    tn__matmul_tile tile;
} rows[] = {
#define TILE(class, products, tm, tn, tk, rm, rn, local) {class, TN__FOR_##products, {tm, tn, tk, rm, rn, local}},
#include "tables/devices.def"
};
enum { ROWS = sizeof rows / sizeof rows[0] };

bool tn__matmul_tile_row(int i, const char **class, tn__products *products, tn__matmul_tile *tile)
{
    if (i < 0 || i >= ROWS) return false;
    *class = rows[i].class;
    *products = rows[i].products;
    *tile = rows[i].tile;
    return true;
}

tn__matmul_tile tn__matmul_tile_of(const tn__device *device, tn__products products)
{
    const char *class = device->class ? device->class->name : "unknown";
    tn__matmul_tile tile = rows[0].tile;
    for (int i = ROWS - 1; i >= 0; i--) {
        if (rows[i].products != products) continue;
        if (strcmp(rows[i].class, class) == 0) return rows[i].tile;
        if (strcmp(rows[i].class, "unknown") == 0) tile = rows[i].tile;
    }
    return tile;
}

int tn__matmul_tile_items(const tn__matmul_tile *t)
{
    return t->tm / t->rm * (t->tn / t->rn);
}

uint64_t tn__matmul_tile_bytes(const tn__matmul_tile *t, int element)
{
    return t->local ? (uint64_t)(t->tm + t->tn) * (uint64_t)t->tk * (uint64_t)element : 0;
}

/* The accumulators, a row and a column of operands, what is fetched of the next slab, and some for places. */
int tn__matmul_tile_numbers(const tn__matmul_tile *t)
{
    const int own = t->rm * t->rn + 16;
    return t->local ? own + t->rm + t->rn + (t->tm + t->tn) * t->tk / tn__matmul_tile_items(t) : own + 4 * t->rm + 4;
}

static bool is_power_of_two(int v)
{
    return v > 0 && (v & (v - 1)) == 0;
}

const char *tn__matmul_tile_fault(const tn__matmul_tile *t, int element)
{
    const int width = element == 8 ? 2 : 4;
    if (!is_power_of_two(t->tm) || !is_power_of_two(t->tn) || !is_power_of_two(t->tk) || !is_power_of_two(t->rm) ||
        !is_power_of_two(t->rn) || t->tm > 1024 || t->tn > 1024 || t->tk > 64 || (t->local & ~1))
        return "a size is no power of two, or too large";
    if (t->rm > t->tm || t->rn > t->tn || t->rn % width != 0) return "an item's part is larger than the tile, or no whole vectors";
    const int items = tn__matmul_tile_items(t);
    if (items > ITEMS_MOST) return "a group has more than 256 items";
    if (tn__matmul_tile_numbers(t) > NUMBERS_MOST || (element == 8 && t->rm * t->rn > 32)) return "an item holds too many numbers";
    if (!t->local) return t->tk == 1 ? NULL : "without local memory there are no slabs";
    if (t->tm < 32 || t->tn < 32 || t->tk < 8 || t->tk > 32 || t->rm % width != 0) return "the tile does not suit local memory";
    if (t->tm * t->tk % (width * items) != 0 || t->tn * t->tk % (width * items) != 0)
        return "items stage no whole vectors of a slab";
    return NULL;
}

static int most_items(const tn__device *device)
{
    const int bound = atomic_load(&device->group_bound);
    return bound ? bound : (int)tn__least((int64_t)device->info.max_work_group, INT32_MAX);
}

static bool fits(const tn__matmul_tile *t, const tn__matmul_case *c)
{
    return !tn__matmul_tile_fault(t, c->element) && tn__matmul_tile_items(t) <= most_items(c->device) &&
           tn__matmul_tile_bytes(t, c->element) <= c->device->info.local_memory;
}

/* The tuning file's tile, if it has one that this device can do with. */
static bool tuned_tile(const tn__matmul_case *c, tn__products products, tn__matmul_tile *t)
{
    enum { VALUES = 6 };
    int v[TN__TUNING_VALUES];
    const char *name = tn__products_names[products];
    const int count = tn__tuning_find(c->device, TN__MATMUL_WIDE, name, v);
    if (count == 0) return false;
    *t = (tn__matmul_tile){v[0], v[1], v[2], v[3], v[4], v[5]};
    const tn__matmul_case plain = {.element = 4, .device = c->device};
    const char *fault = count != VALUES ? "six numbers are expected" : tn__matmul_tile_fault(t, 4);
    if (!fault && !fits(t, &plain)) fault = "the device's work-groups or local memory are too small";
    if (fault) (void)tn__tuning_refuse(c->device, TN__MATMUL_WIDE, name, fault);
    return !fault && fits(t, c);
}

/* Rows times columns with what tiles of this edge add. */
static int64_t padded(const tn__matmul_case *c, int64_t edge)
{
    return tn__ceil_div(c->m, edge) * tn__ceil_div(c->n, edge) * edge * edge;
}

/* The largest of which there are two for each unit, that is no more than half empty, and wastes little on the next one. */
static tn__products products_of(const tn__matmul_case *c)
{
    for (int p = TN__FOR_LARGE; p < TN__FOR_SMALL; p++) {
        const int64_t edge = 128 >> p, tiles = tn__ceil_div(c->m, edge) * tn__ceil_div(c->n, edge) * c->batch;
        if (tiles >= 2 * c->device->compute_units && tn__least(c->m, c->n) >= edge / 2 &&
            padded(c, edge) * 20 <= padded(c, edge / 2) * 23)
            return (tn__products)p;
    }
    return TN__FOR_SMALL;
}

static tn__matmul_tile choose_tile(const tn__matmul_case *c)
{
    tn__matmul_tile t;
    for (int p = (int)products_of(c); p < TN__PRODUCTS; p++) {
        if (tuned_tile(c, (tn__products)p, &t)) return t;
        t = tn__matmul_tile_of(c->device, (tn__products)p);
        if (fits(&t, c)) return t;
        t.local = 0, t.tk = 1;
        if (fits(&t, c)) return t;
    }
    t = (tn__matmul_tile){16, 16, 1, 4, 4, 0};
    if (!fits(&t, c)) t.tm = t.tn = 4; /* one item */
    return t;
}

/* ---- few rows or columns ---- */

static bool choose_few(const tn__matmul_case *c, tn__matmul_shape *s)
{
    const int64_t few = tn__least(c->m, c->n), lines = c->m <= c->n ? c->n : c->m;
    const int items = tn__group_size(c->device, FEW_ITEMS);
    if (few > FEW_MOST || c->k < FEW_STEPS || items < FEW_ITEMS_LEAST) return false;
    for (s->few = 1; s->few < few;) s->few *= 2;
    if ((uint64_t)(s->few * s->width * items * c->element) > c->device->info.local_memory) {
        s->few = 0;
        return false;
    }
    s->few_rows = c->m <= c->n;
    const int64_t line_stride = s->few_rows ? c->b_cs : c->a_rs, step_stride = s->few_rows ? c->b_rs : c->a_cs;
    s->along_k = step_stride == 1 && (lines == 1 || line_stride != 1);
    s->lanes_k = !s->along_k ? 8 : c->k >= 1024 ? items : FEW_ITEMS_LEAST;
    s->local = (uint64_t)items;
    s->global = (uint64_t)(items * tn__ceil_div(lines, items / s->lanes_k * s->width) * c->batch);
    return true;
}

/* ---- splitting k ---- */

typedef struct split {
    int64_t parts, steps;
} split;

static split split_of(const tn__matmul_case *c)
{
    const int64_t groups = tn__ceil_div(c->m, 32) * tn__ceil_div(c->n, 32) * c->batch;
    split s = {1, c->k};
    if (groups >= BUSY || c->k < 4 * PART_STEPS) return s;
    const int64_t parts = tn__least(tn__least(PARTS_MOST, 2 * BUSY / groups), c->k / PART_STEPS);
    s.steps = tn__ceil_div(tn__ceil_div(c->k, parts), 32) * 32;
    s.parts = tn__ceil_div(c->k, s.steps);
    return s;
}

void tn__matmul_wide(const tn__matmul_case *c, tn__matmul_shape *s)
{
    const split k = split_of(c);
    s->width = c->element == 8 ? 2 : 4;
    if (!choose_few(c, s)) {
        const tn__matmul_tile t = s->tile = choose_tile(c);
        s->even = c->m % t.tm == 0 && c->n % t.tn == 0 && c->k % 32 == 0;
        s->local = (uint64_t)tn__matmul_tile_items(&t);
        s->global = s->local * (uint64_t)(tn__ceil_div(c->m, t.tm) * tn__ceil_div(c->n, t.tn) * c->batch);
    }
    s->global *= (uint64_t)k.parts;
}

/* ---- programs ---- */

/* MATRIX, FIRST and LAST of a group's place z; a split product stores its parts as they are. */
static void put_split(tn__generator *g, bool parted)
{
    if (parted)
        tn__text_puts(&g->macros, "#define SPLIT_PARAMS , __global T *restrict work, const int batch, const int steps\n"
                                  "#define MATRIX(z) ((z) % batch)\n#define FIRST(z) ((z) / batch * steps)\n"
                                  "#define LAST(z) min(K, FIRST(z) + steps)\n"
                                  "#define STOREW(z, m, n, v) VSTORE(work, ((IDX)(z) * M + (m)) * N + (n), v)\n"
                                  "#define STORE(z, m, n, v) work[((IDX)(z) * M + (m)) * N + (n)] = (v)\n");
    else
        tn__text_puts(&g->macros, "#define SPLIT_PARAMS\n#define MATRIX(z) (z)\n#define FIRST(z) 0\n#define LAST(z) K\n");
}

static void put_tile(tn__generator *g, const tn__matmul_case *c, const tn__matmul_shape *s)
{
    const tn__matmul_tile *t = &s->tile;
    tn__text_add(&g->defines,
                 "#define TM %d\n#define TN %d\n#define TK %d\n#define RM %d\n#define RN %d\n#define LM %d\n#define EVEN %d\n"
                 "#define A_UNIT %d\n#define A_COL %d\n#define B_UNIT %d\n#define B_COL %d\n",
                 t->tm, t->tn, t->tk, t->rm, t->rn, t->local, s->even, c->a_cs == 1, c->a_cs != 1 && c->a_rs == 1, c->b_cs == 1,
                 c->b_cs != 1 && c->b_rs == 1);
}

static void put_few(tn__generator *g, const tn__matmul_case *c, const tn__matmul_shape *s)
{
    const int64_t few_step = s->few_rows ? c->a_cs : c->b_rs, line = s->few_rows ? c->b_cs : c->a_rs;
    tn__text_add(&g->defines,
                 "#define FEW %d\n#define FEW_ROWS %d\n#define ALONG_K %d\n#define WG %d\n#define KL %d\n#define L_UNIT %d\n"
                 "#define F_UNIT %d\n",
                 s->few, s->few_rows, s->along_k, (int)s->local, s->lanes_k, s->along_k || line == 1, few_step == 1);
}

static tn_status generate_product(tn__plan *p, const tn__matmul_case *c, const tn__matmul_shape *s, bool parted)
{
    tn__generator g;
    const tn_dtype dtype = p->anchor->dtype;
    tn__matmul_start(&g, p, c, s->width);
    p->local = (int)s->local;
    p->global = s->global;
    tn__text_add(&g.defines, "#define ATTR __attribute__((reqd_work_group_size(%d, 1, 1)))\n", p->local);
    tn__generate_places(&g, 0);
    tn__generate_places(&g, 1);
    if (!parted) tn__matmul_result(&g, dtype);
    put_split(&g, parted);
    const int first = s->few && s->few_rows, a = tn__matmul_operand(&g, first, s->few ? "L" : "A", dtype),
              b = tn__matmul_operand(&g, !first, s->few ? "F" : "B", dtype);
    const char *end = parted ? "" : "E_OUTER(z) ", *names = s->few ? "lf" : "ab";
    tn__text_add(&g.macros, "#define BATCH(z) P0_OUTER(z) P1_OUTER(z) %sconst IDX %c0 = op%d, %c0 = op%d;\n", end, names[0], a,
                 names[1], b);
    if (s->few)
        put_few(&g, c, s);
    else
        put_tile(&g, c, s);
    return tn__generator_finish(&g, s->few ? "matmul_few.cl" : "matmul_wide.cl", "matmul");
}

/* The kernel that adds the parts, as stage 0. */
static tn_status generate_sum(tn__plan *p, const tn__matmul_case *c, const tn__matmul_shape *s, const split *k)
{
    tn__generator g;
    tn__matmul_start(&g, p, c, s->width);
    tn__matmul_result(&g, p->anchor->dtype);
    tn__text_puts(&g.macros, "#define BATCH(z) E_OUTER(z)\n");
    TN__TRY(tn__generator_finish(&g, "matmul_sum.cl", "matmul_sum"));
    tn__plan_save_stage(p, 0);
    if (!p->scratch[0])
        p->scratch[0] = tn__buffer_new(p->device, (uint64_t)(k->parts * c->batch * c->m * c->n) * (uint64_t)c->element);
    return p->scratch[0] ? TN_OK : tn_last_status();
}

tn_status tn__matmul_wide_generate(tn__plan *p, const tn__matmul_case *c)
{
    const split k = split_of(c);
    const tn__matmul_shape s = tn__matmul_choose(c);
    if (k.parts > 1) TN__TRY(generate_sum(p, c, &s, &k));
    return generate_product(p, c, &s, k.parts > 1);
}

bool tn__matmul_wide_concede(const tn__plan *p, const tn__matmul_case *c)
{
    if (tn__matmul_choose(c).few) return false;
    for (int products = (int)products_of(c); products < TN__PRODUCTS; products++)
        if (tn__tuning_refuse(p->device, TN__MATMUL_WIDE, tn__products_names[products], "the device's compiler refuses them"))
            return true;
    return false;
}

tn_status tn__matmul_wide_launch(tn__plan *p, const tn__matmul_case *c)
{
    tn__argument a[TN__ARGUMENTS];
    const split k = split_of(c);
    int count = tn__plan_arguments(p, a);
    tn__matmul_sizes(p, c, a, &count);
    if (k.parts > 1) {
        a[count++] = (tn__argument){.buffer = p->scratch[0]};
        tn__argument_int(a, &count, (int32_t)c->batch);
        tn__argument_int(a, &count, (int32_t)k.steps);
    }
    TN__TRY(tn__launch(p->unit.kernel[0], a, count, p->global, (uint64_t)p->local));
    if (k.parts == 1) return TN_OK;
    const int64_t rows_all = c->m * c->batch;
    count = tn__stage_arguments(p, 0, a);
    tn__argument_int(a, &count, (int32_t)c->m);
    tn__argument_int(a, &count, (int32_t)c->n);
    tn__argument_int(a, &count, (int32_t)rows_all);
    tn__argument_int(a, &count, (int32_t)k.parts);
    a[count++] = (tn__argument){.buffer = p->scratch[0]};
    return tn__launch_items(p, p->stages[0].unit.kernel[0], a, count, rows_all * tn__ceil_div(c->n, p->width));
}
