/* Sums of products of tensors whose axes have labels: what einsum, tensordot and their relatives have in common. Handles that
 * these functions make belong to the caller's scope. */
#ifndef TN__CONTRACT_H
#define TN__CONTRACT_H

#include "core/tensor.h"

enum { TN__LABELS = 64 };

/* x with a label below TN__LABELS for each axis, each once; x is NULL after a failure. */
typedef struct tn__labelled {
    tn_tensor *x;
    int label[TN_MAX_AXES];
} tn__labelled;

uint64_t tn__labels_of(const tn__labelled *a);
/* Extent of the axis with the label; 1 when there is none. */
int64_t tn__extent_of(const tn__labelled *a, int label);
/* Summed over the labels that keep lacks, in x's dtype. */
tn__labelled tn__sum_labels(tn__labelled a, uint64_t keep);
/* a times b, summed over the labels that keep lacks; an extent of 1 goes with any other. By tn_matmul where both have such a
 * label, else by tn_mul. */
tn__labelled tn__contract(tn__labelled a, tn__labelled b, uint64_t keep);
/* The axes in this order; every label of a is in it, and those that a lacks become axes of extent 1. */
tn_tensor *tn__in_order(tn__labelled a, const int *labels, int count);

#endif
