/* What a run is about: the values that are wanted and the pending nodes that make them. */
#ifndef TN__PENDING_H
#define TN__PENDING_H

#include "graph/node.h"

typedef struct tn__pending {
    tn__device *device;
    tn__value *const *wanted;
    int wanted_count;
    tn__node **nodes; /* operands before readers; each knows its place in the list */
    int nodes_count, nodes_capacity;
    tn__value **held; /* results of nodes with several, retained: any of them may be stored */
    int held_count, held_capacity;
} tn__pending;

/* Finds the nodes that the wanted values need. Under the run lock, takes the graph lock. */
tn_status tn__pending_collect(tn__pending *p);
void tn__pending_free(tn__pending *p);

#endif
