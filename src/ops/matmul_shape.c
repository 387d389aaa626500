/* Which tile for which matrix product of the deep profile: measured on CPU devices with 8- and 16-wide vectors. */
#include "ops/matmul.h"
#include "device/tuning.h"

static int64_t most_of(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* B's columns lie contiguous and A's rows: the lanes run along k; up to where packing B, a launch more, is as fast. */
static bool lanes_along_k(const tn__matmul_case *c)
{
    if (c->a_cs != 1 || c->b_rs != 1 || c->b_kept) return false;
    return c->n == 1 || (c->b_cs != 1 && (c->m < 16 || c->batch * c->m * c->n * c->k <= 64 * 128 * 64));
}

enum { KEPT_NV = 2 }; /* of panels that are kept, so that they serve any number of rows */

/* Rows and vectors of a tile, as many as the registers hold, and how much of the device's speed it reaches. */
typedef struct deep_tile {
    int mr, nv;
    double speed;
} deep_tile;
static const deep_tile tiles_of_16[] = {{6, 2, 1},   {4, 3, 1},   {4, 2, .85}, {2, 4, .85}, {4, 1, .5},
                                        {2, 2, .45}, {1, 8, .45}, {1, 2, .25}, {1, 1, .15}, {0, 0, 0}};
static const deep_tile tiles_of_32[] = {{8, 2, 1},  {8, 1, .9},  {4, 2, .7},  {4, 1, .5}, {2, 2, .4},
                                        {1, 8, .5}, {1, 2, .25}, {1, 1, .15}, {0, 0, 0}};

/* The fastest, with the rows and columns counted that are computed twice because the last tile is moved back. */
static deep_tile best_tile(const tn__matmul_case *c, int lanes)
{
    const deep_tile *list = c->device->vector_width >= 16 ? tiles_of_32 : tiles_of_16, *best = NULL;
    double least = 0;
    for (const deep_tile *t = list; t->mr; t++) {
        const int64_t nr = (int64_t)t->nv * lanes;
        const double cost = (double)(tn__ceil_div(c->m, t->mr) * t->mr * tn__ceil_div(c->n, nr) * nr) / t->speed;
        if (t->mr > c->m || nr > c->n || (c->b_kept && t->nv != KEPT_NV) || (best && cost >= least)) continue;
        best = t;
        least = cost;
    }
    return *best;
}

/* An operand is packed where its tiles are read often enough to pay for a launch and a copy. */
static void choose_packing(const tn__matmul_case *c, tn__matmul_shape *s)
{
    const int64_t nr = (int64_t)s->nv * s->width, work = c->m * c->n * c->k;
    const bool many = c->batch * work >= 128 * 128 * 128 && s->mr % 2 == 0;
    const bool large_a = c->m * c->k * c->element >= 256 * 1024 && work >= 256 * 256 * 256;
    const bool large_b = c->k * c->n * c->element >= 768 * 1024;
    s->a_packed = many && c->n >= 4 * nr && (c->a_converts || (c->a_cs != 1 && large_a));
    s->b_packed = c->b_kept || s->a_packed || (c->b_cs != 1 && c->m >= 2 * s->mr) ||
                  (many && c->m >= 4 * s->mr && (c->b_converts || large_b));
}

enum { FIRST_CACHE = 32768, SWEEP_BYTES = 8192 }; /* bytes; sums of a sweeping item, a part of it */

static void choose_form(const tn__matmul_case *c, tn__matmul_shape *s)
{
    const int64_t units = c->device->compute_units;
    int lanes = (int)most_of(1, tn__least(16, c->device->vector_width * 4 / c->element));
    s->width = s->lanes = lanes;
    if (lanes_along_k(c)) {
        s->dot = true;
        s->nv = c->n >= 4 ? 4 : 1;
        s->mr = s->nv == 4 ? (c->m >= 2 ? 2 : 1) : c->m >= 4 ? 4 : 1;
        return;
    }
    if (c->m == 1 && c->b_cs == 1 && c->n >= 8 * lanes && !c->b_kept) {
        const int64_t share = tn__ceil_div(c->n * c->batch, units * lanes) * lanes;
        s->most_columns = SWEEP_BYTES / c->element;
        s->sweep = (int)tn__least(s->most_columns, most_of(8 * lanes, share));
        s->mr = s->nv = 1;
        return;
    }
    if (c->n < lanes) lanes = s->width = lanes > 4 && c->n >= 4 ? 4 : 1;
    const deep_tile t = best_tile(c, lanes);
    s->mr = t.mr;
    s->nv = t.nv;
    choose_packing(c, s);
}

bool tn__matmul_keeps(const tn__matmul_case *c)
{
    const int64_t lanes = most_of(1, c->device->vector_width * 4 / c->element);
    return c->deep && c->m > 1 && c->n >= KEPT_NV * lanes && (c->b_cs != 1 || c->batch * c->k * c->n * c->element > FIRST_CACHE);
}

/* Items of a launch for each compute unit: many, so that the last ones end together, but not too many to hand out. */
static int64_t items_per_unit(const tn__device *device)
{
    enum { ITEMS = 16, ITEMS_MOST = 1024 };
    int v[TN__TUNING_VALUES];
    const int count = tn__tuning_find(device, TN__MATMUL_DEEP, TN__MATMUL_ANY, v);
    if (count == 1 && v[0] >= 1 && v[0] <= ITEMS_MOST) return v[0];
    if (count > 0) (void)tn__tuning_refuse(device, TN__MATMUL_DEEP, TN__MATMUL_ANY, "one number from 1 to 1024 is expected");
    return ITEMS;
}

static void deep_shape(const tn__matmul_case *c, tn__matmul_shape *s)
{
    choose_form(c, s);
    const int64_t nr = s->sweep ? s->sweep : s->dot ? s->nv : (int64_t)s->nv * s->width, units = c->device->compute_units;
    s->panels = tn__ceil_div(c->n, nr);
    s->row_tiles = tn__ceil_div(c->m, s->mr);
    const int64_t total = s->panels * s->row_tiles * c->batch, least = 131072 / (s->mr * nr * c->k);
    int64_t tiles = most_of(1, tn__least(8, total / (items_per_unit(c->device) * units)));
    if (tiles < least) tiles = most_of(tiles, tn__least(least, total / (2 * units)));
    s->tiles = s->sweep ? s->sweep : (int)tn__least(tiles, s->row_tiles);
    s->chunks = tn__ceil_div(s->row_tiles, s->tiles);
    s->global = (uint64_t)(s->panels * s->chunks * c->batch);
    s->local = 1;
}

tn__matmul_shape tn__matmul_choose(const tn__matmul_case *c)
{
    tn__matmul_shape s = {0};
    if (c->deep)
        deep_shape(c, &s);
    else
        tn__matmul_wide(c, &s);
    return s;
}
