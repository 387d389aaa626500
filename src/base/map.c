#include "base/map.h"

#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"

typedef struct entry {
    struct entry *next;
    uint64_t hash;
    void *value;
    size_t length;
    unsigned char key[];
} entry;

struct tn__map {
    entry **heads;
    size_t size; /* of heads, a power of two */
    size_t count;
};

tn__map *tn__map_new(void)
{
    tn__map *map = tn__zalloc(sizeof *map);
    if (!map) return NULL;
    map->size = 16;
    map->heads = tn__zalloc(map->size * sizeof *map->heads);
    if (map->heads) return map;
    tn__free(map);
    return NULL;
}

static entry *find(const tn__map *map, const void *key, size_t length, uint64_t hash)
{
    entry *e = map->heads[hash & (map->size - 1)];
    while (e && !(e->hash == hash && e->length == length && memcmp(e->key, key, length) == 0)) e = e->next;
    return e;
}

void *tn__map_get(const tn__map *map, const void *key, size_t length)
{
    const entry *e = find(map, key, length, tn__hash(key, length, 0));
    return e ? e->value : NULL;
}

/* A map that cannot grow only gets slower. */
static void grow(tn__map *map)
{
    const size_t size = map->size * 2;
    entry **heads = tn__zalloc(size * sizeof *heads);
    if (!heads) return;
    for (size_t i = 0; i < map->size; i++) {
        for (entry *e = map->heads[i], *next; e; e = next) {
            next = e->next;
            e->next = heads[e->hash & (size - 1)];
            heads[e->hash & (size - 1)] = e;
        }
    }
    tn__free(map->heads);
    map->heads = heads;
    map->size = size;
}

bool tn__map_put(tn__map *map, const void *key, size_t length, void *value)
{
    const uint64_t hash = tn__hash(key, length, 0);
    entry *e = find(map, key, length, hash);
    if (e) {
        e->value = value;
        return true;
    }
    e = tn__alloc(sizeof *e + length);
    if (!e) return false;
    e->hash = hash;
    e->value = value;
    e->length = length;
    memcpy(e->key, key, length);
    if (map->count >= map->size) grow(map);
    e->next = map->heads[hash & (map->size - 1)];
    map->heads[hash & (map->size - 1)] = e;
    map->count++;
    return true;
}

size_t tn__map_count(const tn__map *map)
{
    return map->count;
}

void tn__map_each(const tn__map *map, void (*visit)(void *value, void *user), void *user)
{
    for (size_t i = 0; i < map->size; i++)
        for (entry *e = map->heads[i], *next; e; e = next) {
            next = e->next;
            visit(e->value, user);
        }
}

void tn__map_free(tn__map *map)
{
    if (!map) return;
    for (size_t i = 0; i < map->size; i++)
        for (entry *e = map->heads[i], *next; e; e = next) {
            next = e->next;
            tn__free(e);
        }
    tn__free(map->heads);
    tn__free(map);
}
