/* Which tile for which matrix product of the deep profile: measured on CPU devices with 8- and 16-wide vectors. */
#include "ops/matmul.h"
#include "device/tuning.h"

static int64_t ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}
static int64_t least_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}
static int64_t most_of(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* B's columns lie contiguous and A's rows: the lanes run along k; up to where packing B, a launch more, is as fast. */
static bool lanes_along_k(const tn__matmul_case *c)
{
    if (c->a_cs != 1 || c->b_rs != 1) return false;
    return c->n == 1 || (c->b_cs != 1 && (c->m < 32 || c->m * c->n * c->k <= 64 * 128 * 64));
}

static void deep_tile(const tn__matmul_case *c, tn__matmul_shape *s)
{
    const int lanes = (int)most_of(1, least_of(16, c->device->vector_width * 4 / c->element));
    const bool many = c->device->vector_width >= 16; /* 32 registers instead of 16 */
    const int64_t work = c->m * c->n * c->k;
    s->width = lanes;
    if (lanes_along_k(c)) {
        s->dot = true;
        s->nv = c->n >= 4 ? 4 : 1;
        s->mr = s->nv == 4 ? (c->m >= 2 ? 2 : 1) : c->m >= 4 ? 4 : 1;
        return;
    }
    const int tall = many ? 8 : 6;
    if (c->m >= tall && c->n >= 2 * lanes) {
        s->a_packed = c->a_cs != 1 && c->n >= 96 && c->m * c->k * c->element >= 256 * 1024 && work >= 256 * 256 * 256;
        s->b_packed = s->a_packed || c->b_cs != 1 || (c->k * c->n * c->element >= 768 * 1024 && c->m >= 48);
        if (s->b_packed) {
            s->mr = tall;
            s->nv = 2;
            return;
        }
    }
    if (many) {
        s->mr = c->m >= 8 ? 8 : c->m >= 4 ? 4 : 1;
        s->nv = s->mr == 1 && c->n >= 8 * lanes ? 8 : c->n >= 2 * lanes ? 2 : 1;
    } else {
        const bool three = c->n >= 3 * lanes && ceil_div(c->n, 3 * lanes) * 3 <= ceil_div(c->n, 2 * lanes) * 2 + 1;
        s->mr = c->m >= 4 ? 4 : c->m >= 2 && c->n >= 2 * lanes ? 2 : 1;
        s->nv = s->mr == 4          ? (three               ? 3
                                       : c->n >= 2 * lanes ? 2
                                                           : 1)
                : s->mr == 2        ? (c->n >= 4 * lanes ? 4 : 2)
                : c->n >= 8 * lanes ? 8
                : c->n >= 2 * lanes ? 2
                                    : 1;
    }
    if (c->n < lanes) s->width = lanes > 4 && c->n >= 4 ? 4 : 1;
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
    deep_tile(c, s);
    const int64_t nr = s->dot ? s->nv : (int64_t)s->nv * s->width, units = c->device->compute_units;
    s->panels = ceil_div(c->n, nr);
    s->row_tiles = ceil_div(c->m, s->mr);
    const int64_t total = s->panels * s->row_tiles * c->batch, least = 65536 / (s->mr * nr * c->k);
    int64_t tiles = most_of(1, least_of(8, total / (items_per_unit(c->device) * units)));
    if (tiles < least) tiles = most_of(tiles, least_of(least, total / (4 * units)));
    s->tiles = (int)least_of(tiles, s->row_tiles);
    s->chunks = ceil_div(s->row_tiles, s->tiles);
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
