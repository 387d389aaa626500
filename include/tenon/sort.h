/* Sorting along an axis, and what is taken from a sorted axis.
 *
 * The order is that of <, NaN the greatest, -0 and +0 equal; sorting is stable. An axis counts from the end when negative; of a
 * tensor without axes 0 and -1 are its one element. keepdim leaves an extent of 1. Where a function gives two tensors, either
 * pointer may be NULL: not wanted; on failure both are NULL. Indices are i64.
 * Errors of all: ARGUMENT (TN_NONE, NULL without a pending error), AXIS (out of range), MEMORY. */
#ifndef TENON_SORT_H
#define TENON_SORT_H

#include <tenon/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

/** x in order along an axis, and the place in x that each element comes from. Equal elements keep their order, also when
 *  descending; NaN comes last, first when descending.
 *  shape, dtype  x's; any
 *  error  ARGUMENT (neither is wanted) */
TN_API tn_status tn_sort(tn_tensor *x, int axis, bool descending, tn_tensor **values, tn_tensor **indices);
/** The indices of tn_sort. */
TN_API tn_tensor *tn_argsort(tn_tensor *x, int axis, bool descending) TN_MUST_USE;
/** The ascending values of tn_sort along axis 0. */
TN_API tn_tensor *tn_msort(tn_tensor *x) TN_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
