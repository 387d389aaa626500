/* What the index operations share. */
#ifndef TN__INDEX_H
#define TN__INDEX_H

#include "core/tensor.h"

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
/* Elements of flat x at index, both on one device; fault: the report of one out of range. */
tn_tensor *tn__take_flat(const char *function, int fault, tn_tensor *x, tn_tensor *index);

#endif
