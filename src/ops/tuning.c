/* What can be tuned: classes of shapes, and candidates for their parameters. */
#include "device/tuning.h"
#include <stdlib.h>
#include <string.h>
#include <tenon/tuning.h>

#include "ops/matmul.h"

/* ---- tiles of the wide profile ---- */

/* A square product of the class: enough tiles of this edge for the device, not enough of twice that. */
static bool wide_at(const tn__device *device, int i, tn_tuning *t)
{
    enum { LARGE_LEAST = 256, EDGE_MOST = 4096 };
    static const int64_t edges[] = {128, 64, 32}, depths[] = {1024, 512, 256};
    const int64_t depth = device->info.software ? 64 : depths[i < TN__PRODUCTS ? i : 0]; /* these are slow */
    if (i >= TN__PRODUCTS) return false;
    const int64_t edge = edges[i], tiles = (i == TN__FOR_LARGE ? 4 : 2) * (int64_t)device->compute_units;
    int64_t side = 1;
    while (side * side < tiles) side++;
    side *= edge;
    if (i == TN__FOR_LARGE && side < LARGE_LEAST) side = LARGE_LEAST;
    if (side > EDGE_MOST) side = EDGE_MOST;
    *t = (tn_tuning){TN__MATMUL_WIDE, tn__products_names[i], side, side, depth};
    return true;
}

typedef struct candidate {
    tn__matmul_tile tile;
    int distance; /* from the device's own tile, in doublings */
} candidate;

static int doublings(int a, int b)
{
    int n = 0;
    for (; a < b; a *= 2) n++;
    for (; b < a; b *= 2) n++;
    return n;
}

static int distance_of(const tn__matmul_tile *a, const tn__matmul_tile *b)
{
    return doublings(a->tm, b->tm) + doublings(a->tn, b->tn) + doublings(a->rm, b->rm) + doublings(a->rn, b->rn) +
           (a->local && b->local ? doublings(a->tk, b->tk) : 2 * (a->local != b->local));
}

static int compare_candidates(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    return x->distance != y->distance ? x->distance - y->distance : memcmp(&x->tile, &y->tile, sizeof x->tile);
}

static bool suits(const tn__device *device, const tn__matmul_tile *t)
{
    enum { LOCAL_MOST = 32768, LANES = 32 };
    const int items = tn__matmul_tile_items(t);
    const uint64_t bytes = tn__matmul_tile_bytes(t, 4);
    return !tn__matmul_tile_fault(t, 4) && items >= LANES && (size_t)items <= device->info.max_work_group && bytes <= LOCAL_MOST &&
           bytes <= device->info.local_memory;
}

enum { CANDIDATES_MOST = 60, ALL_MOST = 512 };

/* Tiles from a quarter to four times the size of the device's own, the nearest first. */
static int list_tiles(const tn__device *device, const tn__matmul_tile *own, candidate list[ALL_MOST])
{
    static const int edges[] = {16, 32, 64, 128}, slabs[] = {1, 8, 16, 32}, parts[] = {2, 4, 8};
    int count = 0;
    for (int i = 0; i < 4 * 4 * 4 * 3 * 2 && count < ALL_MOST; i++) {
        const int slab = slabs[i / 16 % 4];
        const tn__matmul_tile t = {edges[i % 4], edges[i / 4 % 4], slab, parts[i / 64 % 3], parts[1 + i / 192], slab > 1};
        const int size = t.tm * t.tn, like = own->tm * own->tn;
        if (suits(device, &t) && size * 4 >= like && size <= like * 4) list[count++] = (candidate){t, distance_of(&t, own)};
    }
    qsort(list, (size_t)count, sizeof list[0], compare_candidates);
    return count;
}

static bool wide_candidate(const tn__device *device, const tn_tuning *tuning, int j, char *text, size_t size)
{
    candidate list[ALL_MOST];
    int products = 0;
    while (products < TN__PRODUCTS && strcmp(tn__products_names[products], tuning->shapes) != 0) products++;
    if (products == TN__PRODUCTS || j >= CANDIDATES_MOST) return false;
    const tn__matmul_tile own = tn__matmul_tile_of(device, (tn__products)products);
    if (j >= list_tiles(device, &own, list)) return false;
    const tn__matmul_tile *t = &list[j].tile;
    snprintf(text, size, "%d %d %d %d %d %d", t->tm, t->tn, t->tk, t->rm, t->rn, t->local);
    return true;
}

/* ---- items of a launch of the deep profile ---- */

static bool deep_at(const tn__device *device, int i, tn_tuning *t)
{
    (void)device;
    *t = (tn_tuning){TN__MATMUL_DEEP, TN__MATMUL_ANY, 512, 512, 512};
    return i == 0;
}

static bool deep_candidate(const tn__device *device, const tn_tuning *tuning, int j, char *text, size_t size)
{
    static const int items[] = {16, 8, 32, 4, 64}; /* the first is the one used untuned */
    (void)device;
    (void)tuning;
    if (j >= (int)(sizeof items / sizeof items[0])) return false;
    snprintf(text, size, "%d", items[j]);
    return true;
}

/* ---- families ---- */

static const struct family {
    const char *name;
    tn__profile profile;
    bool (*at)(const tn__device *device, int i, tn_tuning *tuning);
    bool (*candidate)(const tn__device *device, const tn_tuning *tuning, int j, char *text, size_t size);
} families[] = {{TN__MATMUL_WIDE, TN__WIDE, wide_at, wide_candidate}, {TN__MATMUL_DEEP, TN__DEEP, deep_at, deep_candidate}};
enum { FAMILIES = sizeof families / sizeof families[0] };

bool tn_tuning_at(const char *name, int i, tn_tuning *tuning)
{
    if (!name || !tuning) return tn__fail_null("tuning at", name ? "tuning" : "device"), false;
    const tn__device *device = tn__device_use(name);
    if (!device || device->is_host || i < 0) return false;
    for (int f = 0; f < FAMILIES; f++) {
        if (families[f].profile != device->profile) continue;
        int n = 0;
        for (; families[f].at(device, n, tuning); n++)
            if (n == i) return true;
        i -= n;
    }
    return false;
}

bool tn_tuning_candidate(const char *name, const tn_tuning *tuning, int j, char *parameters, size_t size)
{
    if (!name || !tuning || !parameters)
        return tn__fail_null("tuning candidate", !name ? "device" : !tuning ? "tuning" : "parameters"), false;
    const tn__device *device = tn__device_use(name);
    if (!device || device->is_host || j < 0) return false;
    for (int f = 0; f < FAMILIES; f++)
        if (strcmp(families[f].name, tuning->family) == 0) return families[f].candidate(device, tuning, j, parameters, size);
    return false;
}

const char *tn_tuning_file(void)
{
    static _Thread_local char text[4096];
    tn__text path = {0};
    tn__tuning_file(&path);
    return tn__text_move(&path, text, sizeof text);
}

tn_status tn_tuning_write(const char *path, const char *name, const tn_tuning *tuning, const char *parameters, double seconds)
{
    if (!path || !name || !tuning || !parameters)
        return tn__fail_null("tuning write", !path ? "path" : !name ? "device" : !tuning ? "tuning" : "parameters");
    const tn__device *device = tn__device_find(name);
    if (!device) return tn_last_status();
    if (device->is_host) return tn__fail(TN_DEVICE, "tuning write: host has no kernels");
    return tn__tuning_write(path, device, tuning->family, tuning->shapes, parameters, seconds);
}
