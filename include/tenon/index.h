/* Index operations: elements by their index, by a mask, and places in what is sorted.
 *
 * An index counts from the end when negative: axes of n elements take -n to n - 1. Any integer dtype but u64. An index out of
 * range is an error (AXIS) that names it: on "host" of the call itself, on OpenCL devices of the next call that waits for the
 * device, from whichever thread; of several the first is told, and what never runs tells nothing. Until then the nearest end is
 * taken. Results are row-major. Lookups are recorded and fuse like elementwise operations; operations whose shape depends on the
 * data (marked: runs at once) read a number back. Errors of all: ARGUMENT (TN_NONE, NULL without a pending error), DEVICE
 * (operands on different devices), DTYPE, AXIS. */
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

/* ---- scatter: a copy of x with updates. Where several go to one element, they are taken in the order of the index, on every device
 * alike; floats are summed in f32 or wider and rounded once. dtype  x's; src must go into it by promotion. A 0-d src is every
 * update. ---- */

/** How updates of one element are combined. */
typedef enum tn_combine {
    TN_COMBINE_LAST, /* the last one stays */
    TN_COMBINE_SUM,
    TN_COMBINE_PROD,
    TN_COMBINE_MEAN, /* of integers: summed in 64 bits, rounded down; not of bool */
    TN_COMBINE_AMAX, /* NaN if any is */
    TN_COMBINE_AMIN
} tn_combine;

/** y[index[i, j, k], j, k] = src[i, j, k], here along axis 0; the last one of several stays.
 *  shape  as many axes; index is nowhere longer than src, and but for axis nowhere longer than x
 *  error  SHAPE */
TN_API tn_tensor *tn_scatter(tn_tensor *x, int axis, tn_tensor *index, tn_tensor *src) TN_MUST_USE;
/** The same, added to what is there; of bool: or. */
TN_API tn_tensor *tn_scatter_add(tn_tensor *x, int axis, tn_tensor *index, tn_tensor *src) TN_MUST_USE;
/** The same, combined with what is there, or, without include_self, only with each other.
 *  error  SHAPE, ARGUMENT (no such way to combine) */
TN_API tn_tensor *tn_scatter_reduce(tn_tensor *x, int axis, tn_tensor *index, tn_tensor *src, tn_combine how,
                                    bool include_self) TN_MUST_USE;
/** y[index[i], …] += src[i, …], here along axis 0; index [m].
 *  shape  src is x's but m along axis
 *  error  SHAPE */
TN_API tn_tensor *tn_index_add(tn_tensor *x, int axis, tn_tensor *index, tn_tensor *src) TN_MUST_USE;
/** y[index[i], …] = src[i, …]; the last one of several stays. */
TN_API tn_tensor *tn_index_copy(tn_tensor *x, int axis, tn_tensor *index, tn_tensor *src) TN_MUST_USE;
/** tn_index_add with another way to combine, as tn_scatter_reduce. */
TN_API tn_tensor *tn_index_reduce(tn_tensor *x, int axis, tn_tensor *index, tn_tensor *src, tn_combine how,
                                  bool include_self) TN_MUST_USE;
/** y[index[i], …] = value, of no axes. error  SHAPE */
TN_API tn_tensor *tn_index_fill(tn_tensor *x, int axis, tn_tensor *index, tn_tensor *value) TN_MUST_USE;
/** Elements of x as if it were flat, row-major, set to those of src, or, with accumulate, src added to them.
 *  shape  src has as many elements as index
 *  error  SHAPE */
TN_API tn_tensor *tn_put(tn_tensor *x, tn_tensor *index, tn_tensor *src, bool accumulate) TN_MUST_USE;

/* ---- places in what is sorted ---- */

/** Where in sorted (ascending along its last axis, NaN last) each value would go: before equal elements, or behind them with right.
 *  shape  values'; sorted has one axis, or all of values' with the same extents but the last; dtype  promoted -> i64
 *  error  SHAPE */
TN_API tn_tensor *tn_searchsorted(tn_tensor *sorted, tn_tensor *values, bool right) TN_MUST_USE;
/** tn_searchsorted with the arguments the other way round: the bucket of each value between boundaries [n]. */
TN_API tn_tensor *tn_bucketize(tn_tensor *values, tn_tensor *boundaries, bool right) TN_MUST_USE;

/* ---- distinct elements and counts; all run at once but isin ---- */

/** The distinct elements of flat x in ascending order, which of them each element of x is, and how many there are of each. NaNs
 *  differ from each other. A pointer may be NULL: not wanted; on failure all are NULL.
 *  shape  values and counts [n], inverse x's; dtype  values x's, the others i64
 *  error  ARGUMENT (none is wanted) */
TN_API tn_status tn_unique(tn_tensor *x, tn_tensor **values, tn_tensor **inverse, tn_tensor **counts);
/** The same of stretches of equal elements, in the order they are met. */
TN_API tn_status tn_unique_consecutive(tn_tensor *x, tn_tensor **values, tn_tensor **inverse, tn_tensor **counts);
/** Whether each element of x is among elements; NaN never is. dtype  any, promoted -> bool */
TN_API tn_tensor *tn_isin(tn_tensor *x, tn_tensor *elements) TN_MUST_USE;
/** How many elements of x [n] are 0, 1, … to the largest, for at least `least` values; with weights (or TN_NONE) the sum of theirs.
 *  dtype  integers but u64 -> i64; with weights theirs, integers f32
 *  error  ARGUMENT (a negative element, least below 0), SHAPE, OVERFLOW */
TN_API tn_tensor *tn_bincount(tn_tensor *x, tn_tensor *weights, int64_t least) TN_MUST_USE;
/** How many elements of x lie from edges[i] to below edges[i + 1], the last edge included; edges ascend. weights as above.
 *  shape  edges [n + 1] -> [n]; dtype  any -> i64, with weights theirs, integers f32
 *  error  SHAPE */
TN_API tn_tensor *tn_histogram(tn_tensor *x, tn_tensor *edges, tn_tensor *weights) TN_MUST_USE;
/** tn_histogram with bins of equal width (tn_linspace in f32, for an f64 x in f64) from low to high; if those are equal, over all
 *  of x, one to each side when its elements are all the same. dtype  any -> i64
 *  error  ARGUMENT (bins below 1 or too many to count, low above high, a range that is not finite) */
TN_API tn_tensor *tn_histc(tn_tensor *x, int64_t bins, double low, double high) TN_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
