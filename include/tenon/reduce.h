/* Operations over axes: reductions, and what runs along one axis.
 *
 * Axes count from the end when negative; TN_ALL_AXES are all; of a tensor without axes 0 and -1 are its one element. keepdim
 * leaves extents of 1. Errors of all: ARGUMENT (TN_NONE, NULL without a pending error), AXIS (out of range, given twice). */
#ifndef TENON_REDUCE_H
#define TENON_REDUCE_H

#include <tenon/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- reductions over axes (TN_AXES(0, -1), TN_ALL_AXES) ---- */

/** Sum; over nothing 0. dtype  floats keep theirs (accumulated in f32 or wider), integers and bool -> i64, unsigned -> u64 */
TN_API tn_tensor *tn_sum(tn_tensor *x, tn_axes axes, bool keepdim) TN_MUST_USE;
/** Product; over nothing 1. dtype  as tn_sum; integers wrap */
TN_API tn_tensor *tn_prod(tn_tensor *x, tn_axes axes, bool keepdim) TN_MUST_USE;
/** sum / n; over nothing NaN. dtype  floats */
TN_API tn_tensor *tn_mean(tn_tensor *x, tn_axes axes, bool keepdim) TN_MUST_USE;
/** The largest; NaN if any is. dtype  any; error  SHAPE (over no elements) */
TN_API tn_tensor *tn_max(tn_tensor *x, tn_axes axes, bool keepdim) TN_MUST_USE;
/** The smallest; NaN if any is. dtype  any; error  SHAPE (over no elements) */
TN_API tn_tensor *tn_min(tn_tensor *x, tn_axes axes, bool keepdim) TN_MUST_USE;
/** The largest of those that are not NaN; NaN if all are. dtype  any; error  SHAPE (over no elements) */
TN_API tn_tensor *tn_nanmax(tn_tensor *x, tn_axes axes, bool keepdim) TN_MUST_USE;
/** The smallest of those that are not NaN; NaN if all are. dtype  any; error  SHAPE (over no elements) */
TN_API tn_tensor *tn_nanmin(tn_tensor *x, tn_axes axes, bool keepdim) TN_MUST_USE;
/** Index of the first largest element (of the first NaN), row-major over the reduced axes. dtype  any -> i64
 *  error  SHAPE (over no elements) */
TN_API tn_tensor *tn_argmax(tn_tensor *x, tn_axes axes, bool keepdim) TN_MUST_USE;
/** Index of the first smallest element (of the first NaN), row-major over the reduced axes. dtype  any -> i64
 *  error  SHAPE (over no elements) */
TN_API tn_tensor *tn_argmin(tn_tensor *x, tn_axes axes, bool keepdim) TN_MUST_USE;
/** Is any element not zero? NaN counts as true; over nothing false. dtype  any -> bool */
TN_API tn_tensor *tn_any(tn_tensor *x, tn_axes axes, bool keepdim) TN_MUST_USE;
/** Are all elements not zero? NaN counts as true; over nothing true. dtype  any -> bool */
TN_API tn_tensor *tn_all(tn_tensor *x, tn_axes axes, bool keepdim) TN_MUST_USE;

/* ---- along one axis ---- */

/** exp(x - max) / sum; integers become f32. A row of only -inf is NaN. */
TN_API tn_tensor *tn_softmax(tn_tensor *x, int axis) TN_MUST_USE;
TN_API tn_tensor *tn_log_softmax(tn_tensor *x, int axis) TN_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
