/* The pending nodes of a device. */
#ifndef TN__GRAPH_H
#define TN__GRAPH_H

#include "base/map.h"
#include "graph/node.h"

typedef struct tn__graph {
    tn__node *oldest, *newest;
    int pending;
    uint64_t bytes;   /* that pending nodes keep from being freed, at most */
    tn__map *kernels; /* by what their plans generated */
    tn__map *recipes; /* by the structure of plans (recipe.h); under the run lock */
    uint64_t walk;    /* stamp of the last walk over nodes */
} tn__graph;

/* The device's graph, made at first use. Under the graph lock. */
tn__graph *tn__graph_of(tn__device *device);
/* Takes a node whose results are all gone or made out of the list; its operands go onto *work. Under the graph lock. */
void tn__graph_remove(tn__graph *graph, tn__node *node, tn__value **work);
/* Kernels made before, by a text; both take the graph lock. */
tn__kernel *tn__graph_kernel(tn__device *device, const char *key, size_t length);
void tn__graph_remember(tn__device *device, const char *key, size_t length, tn__kernel *kernel);
/* Drops a worklist's values, outside the lock. */
void tn__graph_drop(tn__value *work);

#endif
