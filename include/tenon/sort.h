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

/* ---- elements by their rank ---- */

/** The k largest (smallest) elements along an axis, in order, and their indices: the first k of tn_sort, so NaN is the largest.
 *  shape  k along the axis
 *  dtype  any
 *  error  ARGUMENT (k below 0 or above the elements there are; neither is wanted) */
TN_API tn_status tn_topk(tn_tensor *x, int64_t k, int axis, bool largest, tn_tensor **values, tn_tensor **indices);
/** The kth smallest element, counted from 1, and its index.
 *  dtype  any
 *  error  ARGUMENT (k below 1 or above the elements there are; neither is wanted), SHAPE (an empty axis) */
TN_API tn_status tn_kthvalue(tn_tensor *x, int64_t k, int axis, bool keepdim, tn_tensor **values, tn_tensor **indices);
/** The middle element over axes, the lower of two: an element of x. NaN if any is.
 *  dtype  any
 *  error  SHAPE (over no elements) */
TN_API tn_tensor *tn_median(tn_tensor *x, tn_axes axes, bool keepdim) TN_MUST_USE;
/** The median of those that are not NaN; NaN if all are. dtype  any; error  SHAPE (over no elements) */
TN_API tn_tensor *tn_nanmedian(tn_tensor *x, tn_axes axes, bool keepdim) TN_MUST_USE;
/** Median along one axis, and its index: of a NaN the first one's.
 *  dtype  any
 *  error  ARGUMENT (neither is wanted), SHAPE (an empty axis) */
TN_API tn_status tn_median_with_index(tn_tensor *x, int axis, bool keepdim, tn_tensor **values, tn_tensor **indices);
TN_API tn_status tn_nanmedian_with_index(tn_tensor *x, int axis, bool keepdim, tn_tensor **values, tn_tensor **indices);

/* What a quantile is where its rank q·(n - 1) lies between two elements. */
typedef enum tn_quantile_mode {
    TN_QUANTILE_LINEAR,   /* on the line between them */
    TN_QUANTILE_LOWER,
    TN_QUANTILE_HIGHER,
    TN_QUANTILE_MIDPOINT, /* their mean */
    TN_QUANTILE_NEAREST   /* the nearer one; halfway the one of even rank */
} tn_quantile_mode;

/** What a part q of the elements over axes lies below. NaN if any is.
 *  dtype  floats; f16 and bf16 are interpolated in f32
 *  error  DTYPE, ARGUMENT (q outside 0 to 1 or NaN; no such mode), SHAPE (over no elements) */
TN_API tn_tensor *tn_quantile(tn_tensor *x, double q, tn_axes axes, bool keepdim, tn_quantile_mode mode) TN_MUST_USE;
/** The quantiles of those that are not NaN; NaN if all are. Ranks are rounded to the dtype computed in.
 *  dtype, error  as tn_quantile */
TN_API tn_tensor *tn_nanquantile(tn_tensor *x, double q, tn_axes axes, bool keepdim, tn_quantile_mode mode) TN_MUST_USE;
/** Several quantiles after one sort. shape  count, then as tn_quantile's
 *  error  ARGUMENT (also q NULL, count below 1), SHAPE (also a 17th axis) and those of tn_quantile */
TN_API tn_tensor *tn_quantiles(tn_tensor *x, const double *q, int count, tn_axes axes, bool keepdim,
                               tn_quantile_mode mode) TN_MUST_USE;
TN_API tn_tensor *tn_nanquantiles(tn_tensor *x, const double *q, int count, tn_axes axes, bool keepdim,
                                  tn_quantile_mode mode) TN_MUST_USE;

/** The most frequent element along an axis, of several the smallest, and the index of its last occurrence. A NaN equals none.
 *  dtype  any
 *  error  ARGUMENT (neither is wanted), SHAPE (an empty axis) */
TN_API tn_status tn_mode(tn_tensor *x, int axis, bool keepdim, tn_tensor **values, tn_tensor **indices);

/* ---- extremes with their indices ---- */

/** The largest (smallest) element along an axis, and its index: the first NaN's, else the first extreme's.
 *  dtype  any
 *  error  ARGUMENT (neither is wanted), SHAPE (an empty axis) */
TN_API tn_status tn_max_with_index(tn_tensor *x, int axis, bool keepdim, tn_tensor **values, tn_tensor **indices);
TN_API tn_status tn_min_with_index(tn_tensor *x, int axis, bool keepdim, tn_tensor **values, tn_tensor **indices);
/** tn_cummax (tn_cummin), and the index of the element that is it: of equal ones, and of NaN, the last so far.
 *  error  ARGUMENT (neither is wanted) */
TN_API tn_status tn_cummax_with_index(tn_tensor *x, int axis, tn_tensor **values, tn_tensor **indices);
TN_API tn_status tn_cummin_with_index(tn_tensor *x, int axis, tn_tensor **values, tn_tensor **indices);

#ifdef __cplusplus
}
#endif
#endif
