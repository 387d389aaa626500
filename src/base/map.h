/* A hash map from byte strings (copied) to pointers (not owned). */
#ifndef TN__MAP_H
#define TN__MAP_H

#include <stdbool.h>
#include <stddef.h>

typedef struct tn__map tn__map;

tn__map *tn__map_new(void);
void *tn__map_get(const tn__map *map, const void *key, size_t length); /* NULL when absent */
bool tn__map_put(tn__map *map, const void *key, size_t length, void *value);
size_t tn__map_count(const tn__map *map);
/* Calls visit for every entry. */
void tn__map_each(const tn__map *map, void (*visit)(void *value, void *user), void *user);
void tn__map_free(tn__map *map);

#endif
