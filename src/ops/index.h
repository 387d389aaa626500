/* What the index operations share. */
#ifndef TN__INDEX_H
#define TN__INDEX_H

#include "core/derive.h"
#include "graph/node.h"

/* Two operands on one device, copied there where the thread allows it or they are numbers of no axes. */
typedef struct tn__pair {
    tn_tensor *a, *b, *moved[2];
} tn__pair;

/* False with an error; the pair is to be dropped in any case. */
bool tn__pair_take(const char *function, tn_tensor *a, const char *name_a, tn_tensor *b, const char *name_b, tn__pair *pair);
/* The same, in the dtype they promote to. */
bool tn__pair_promote(const char *function, tn_tensor *a, const char *name_a, tn_tensor *b, const char *name_b, tn__pair *pair);
void tn__pair_drop(tn__pair *pair);

/* OK for the dtypes of indices. */
bool tn__index_check(const char *function, const tn_tensor *index);
/* A lookup along an axis of table for every element of shape; the table's other axes of extent 1 are repeated. */
tn_tensor *tn__look_along(const char *function, tn__lookup lookup, int axis, tn_tensor *key, tn_tensor *end, tn_tensor *table,
                          const tn_shape *shape);
/* The derivative of an operation that took its result from x by an index along an axis (attributes: the axis, an int) with as many
 * axes as x; its operands are x and the index. */
#define TN__GATHERS(name) {name, tn__gather_back, TN__SAVES_SECOND, sizeof(int)}
void tn__gather_back(const tn__backward *back);
/* x with updates added along an axis where index points at; index may be 1 long beside it, and x is (ops/scatter.c). */
tn_tensor *tn__add_along(tn_tensor *x, int axis, tn_tensor *index, tn_tensor *updates);
/* Elements of flat x at index, both on one device; fault: the report of one out of range. */
tn_tensor *tn__take_flat(const char *function, int fault, tn_tensor *x, tn_tensor *index);

#endif
