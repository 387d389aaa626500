/* Which tile for which matrix product of the wide profile: the sizes most common in the tuning tables of GPU libraries, the
 * largest that fills the device. */
#include "ops/matmul.h"

static int64_t ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}
static int64_t least_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

typedef struct tile {
    int tm, tn, tk, rm, rn;
    bool local;
} tile;

void tn__matmul_wide(const tn__matmul_case *c, tn__matmul_shape *s)
{
    static const tile tiles[] = {{64, 64, 16, 4, 8, true}, {32, 32, 16, 4, 4, true}, {64, 64, 1, 4, 8, false},
                                 {32, 32, 1, 4, 4, false}, {4, 128, 1, 4, 4, false}, {16, 16, 1, 4, 4, false},
                                 {4, 4, 1, 4, 4, false}};
    enum { COUNT = sizeof tiles / sizeof tiles[0], SKINNY = 4 };
    const bool skinny = c->m <= 4 && c->n >= 64;
    const int bound = atomic_load(&c->device->group_bound);
    const int64_t most = bound ? bound : (int64_t)c->device->info.max_work_group;
    for (int i = skinny ? SKINNY : 0; i < COUNT; i++) {
        const tile *t = &tiles[i];
        const int64_t group = t->tm / t->rm * (t->tn / t->rn);
        const bool fits = (uint64_t)((t->tm + t->tn) * 16 * c->element) <= c->device->info.local_memory;
        if (group > most && i < COUNT - 1) continue;
        if ((i < SKINNY && fits != t->local) || (i == SKINNY && !skinny)) continue;
        if (t->tm == 64 &&
            (ceil_div(c->m, 64) * ceil_div(c->n, 64) * c->batch < 2 * c->device->compute_units || least_of(c->m, c->n) < 32))
            continue;
        s->tm = t->tm, s->tn = t->tn, s->tk = t->tk, s->rm = t->rm, s->rn = t->rn, s->local_tiles = t->local;
        s->width = c->element == 8 ? 2 : 4;
        s->local = (uint64_t)group;
        s->global = (uint64_t)(group * ceil_div(c->m, t->tm) * ceil_div(c->n, t->tn) * c->batch);
        return;
    }
}
