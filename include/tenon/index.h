/* Index operations: elements by their index, by a mask, and places in what is sorted.
 *
 * An index counts from the end when negative: axes of n elements take -n to n - 1. Any integer dtype but u64. An index out of range is an error
 * (AXIS) that names it: on "host" of the call itself, on OpenCL devices of the next call that waits for the device; until
 * then the nearest end is taken. Results are row-major. Lookups are recorded and fuse like elementwise operations; operations whose
 * shape depends on the data (marked: runs at once) read a number back. Errors of all: ARGUMENT (TN_NONE, NULL without a pending error),
 * DEVICE (operands on different devices), DTYPE, AXIS. */
#ifndef TENON_INDEX_H
#define TENON_INDEX_H

#include <tenon/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- elements by index ---- */

/** y[i, j, k] = x[index[i, j, k], j, k], here along axis 0.
 *  shape  index has x's number of axes and is nowhere longer than x but along axis; y has index's shape
 *  dtype  any
 *  error  SHAPE */
TN_API tn_tensor *tn_gather(tn_tensor *x, int axis, tn_tensor *index) TN_MUST_USE;
/** tn_gather where x and index broadcast to each other beside axis, as in NumPy.
 *  error  SHAPE (different numbers of axes, no broadcast) */
TN_API tn_tensor *tn_take_along_axis(tn_tensor *x, tn_tensor *index, int axis) TN_MUST_USE;
/** Whole slices: y[i, …] = x[index[i], …], here along axis 0. Rows of an embedding, x[idx] in PyTorch.
 *  shape  index's axes, of any number (none: axis goes), take the place of axis; 16 in the result are the most
 *  error  SHAPE */
TN_API tn_tensor *tn_index_select(tn_tensor *x, int axis, tn_tensor *index) TN_MUST_USE;
/** Elements of x as if it were flat, row-major. shape  index's */
TN_API tn_tensor *tn_take(tn_tensor *x, tn_tensor *index) TN_MUST_USE;

/* ---- masks ---- */

/** x, but value where mask holds. mask is bool and broadcasts with x.
 *  dtype  x's; value (0-d) must go into it by promotion
 *  error  SHAPE */
TN_API tn_tensor *tn_masked_fill(tn_tensor *x, tn_tensor *mask, tn_tensor *value) TN_MUST_USE;
/** The elements where mask holds, in row-major order; x and mask broadcast. Runs at once. shape  [count] */
TN_API tn_tensor *tn_masked_select(tn_tensor *x, tn_tensor *mask) TN_MUST_USE;
/** x, but where mask (broadcast to x) holds the elements of source, one after the other.
 *  dtype  x's and source's are the same
 *  error  SHAPE (no broadcast; source has too few elements, reported like an index out of range) */
TN_API tn_tensor *tn_masked_scatter(tn_tensor *x, tn_tensor *mask, tn_tensor *source) TN_MUST_USE;
/** The indices of the elements that are not zero (NaN is not), one row for each, in row-major order. Runs at once.
 *  shape  [count, x's number of axes]; dtype  i64 */
TN_API tn_tensor *tn_nonzero(tn_tensor *x) TN_MUST_USE;
/** The same as indices into flat x. Runs at once. shape  [count] */
TN_API tn_tensor *tn_flatnonzero(tn_tensor *x) TN_MUST_USE;

/* ---- places in what is sorted ---- */

/** Where in sorted (ascending along its last axis, NaN last) each value would go: before equal elements, or behind them with right.
 *  shape  values'; sorted has one axis, or all of values' with the same extents but the last; dtype  promoted -> i64
 *  error  SHAPE */
TN_API tn_tensor *tn_searchsorted(tn_tensor *sorted, tn_tensor *values, bool right) TN_MUST_USE;
/** tn_searchsorted with the arguments the other way round: the bucket of each value between boundaries [n]. */
TN_API tn_tensor *tn_bucketize(tn_tensor *values, tn_tensor *boundaries, bool right) TN_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
