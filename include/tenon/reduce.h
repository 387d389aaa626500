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

/** How many elements are not zero, NaN among them. dtype  any -> i64 */
TN_API tn_tensor *tn_count_nonzero(tn_tensor *x, tn_axes axes, bool keepdim) TN_MUST_USE;
/** tn_max and tn_min under their other names. */
TN_API tn_tensor *tn_amax(tn_tensor *x, tn_axes axes, bool keepdim) TN_MUST_USE;
TN_API tn_tensor *tn_amin(tn_tensor *x, tn_axes axes, bool keepdim) TN_MUST_USE;

/* ---- statistics; f16 and bf16 are computed in f32 and rounded once ---- */

/** Mean square distance from the mean, in two passes: sum / (n - correction); NaN where that is not above 0.
 *  correction  1 for a sample, 0 for all there is
 *  dtype  floats */
TN_API tn_tensor *tn_var(tn_tensor *x, tn_axes axes, int correction, bool keepdim) TN_MUST_USE;
/** The square root of tn_var. */
TN_API tn_tensor *tn_std(tn_tensor *x, tn_axes axes, int correction, bool keepdim) TN_MUST_USE;
/** (sum |x|^p)^(1/p); p = INFINITY: the largest |x|, -INFINITY: the smallest, 0: how many are not zero. Only a result that is
 *  itself beyond the dtype overflows: unless p is 0, 1 or infinite, x is divided by its largest |x| first, at the cost of one
 *  more pass. Over nothing 0.
 *  dtype  floats
 *  error  ARGUMENT (p is NaN), SHAPE (p below 0 over no elements) */
TN_API tn_tensor *tn_norm(tn_tensor *x, double p, tn_axes axes, bool keepdim) TN_MUST_USE;
/** log(sum exp(x)) without overflow: of only -inf, and over nothing, -inf; with +inf, +inf; NaN if any is.
 *  dtype  any; integers and bool become f32 */
TN_API tn_tensor *tn_logsumexp(tn_tensor *x, tn_axes axes, bool keepdim) TN_MUST_USE;
/** Sum of what is not NaN; of nothing 0. dtype  as tn_sum */
TN_API tn_tensor *tn_nansum(tn_tensor *x, tn_axes axes, bool keepdim) TN_MUST_USE;
/** Mean of what is not NaN; of nothing NaN. dtype  floats */
TN_API tn_tensor *tn_nanmean(tn_tensor *x, tn_axes axes, bool keepdim) TN_MUST_USE;
/** tn_var and tn_std of what is not NaN; NaN where its number - correction is not above 0. dtype  floats */
TN_API tn_tensor *tn_nanvar(tn_tensor *x, tn_axes axes, int correction, bool keepdim) TN_MUST_USE;
TN_API tn_tensor *tn_nanstd(tn_tensor *x, tn_axes axes, int correction, bool keepdim) TN_MUST_USE;
/** Covariances of the rows of x, each a variable with its observations; correction as in tn_var.
 *  shape  [m, n] -> [m, m]; [n] and [] -> []
 *  dtype  floats; error  SHAPE (more than 2 axes) */
TN_API tn_tensor *tn_cov(tn_tensor *x, int correction) TN_MUST_USE;
/** The same divided by both standard deviations: from -1 to 1, NaN where one is 0. shape, dtype, error  as tn_cov */
TN_API tn_tensor *tn_corrcoef(tn_tensor *x) TN_MUST_USE;

/* ---- along one axis ---- */

/** Sum of the elements up to each; the shape stays.
 *  dtype  floats keep theirs (accumulated in f32 or wider), integers and bool -> i64, unsigned -> u64; integers wrap */
TN_API tn_tensor *tn_cumsum(tn_tensor *x, int axis) TN_MUST_USE;
/** Product of the elements up to each. dtype  as tn_cumsum */
TN_API tn_tensor *tn_cumprod(tn_tensor *x, int axis) TN_MUST_USE;
/** The largest up to each; NaN from the first NaN on. dtype  any */
TN_API tn_tensor *tn_cummax(tn_tensor *x, int axis) TN_MUST_USE;
/** The smallest up to each; NaN from the first NaN on. dtype  any */
TN_API tn_tensor *tn_cummin(tn_tensor *x, int axis) TN_MUST_USE;
/** log(sum exp(x)) of the elements up to each, without overflow. dtype  any; integers and bool become f32 */
TN_API tn_tensor *tn_logcumsumexp(tn_tensor *x, int axis) TN_MUST_USE;
/** x[1:] - x[:-1] along the axis, n times (of bool: whether they differ); 0 times a second handle on x. f16 and bf16 are rounded
 *  after the last.
 *  shape  the axis loses n, down to 0
 *  dtype  any
 *  error  ARGUMENT (n below 0) */
TN_API tn_tensor *tn_diff(tn_tensor *x, int n, int axis) TN_MUST_USE;

/** Integral of y along an axis by the trapezoidal rule, at places x (a vector along the axis, or of y's shape) or, with
 *  TN_NONE, at every dx; over fewer than two values 0.
 *  dtype  any; integers and bool become f32
 *  error  SHAPE (x is neither) */
TN_API tn_tensor *tn_trapezoid(tn_tensor *y, tn_tensor *x, double dx, int axis) TN_MUST_USE;
/** The same up to each value but the first. shape  the axis loses 1 */
TN_API tn_tensor *tn_cumulative_trapezoid(tn_tensor *y, tn_tensor *x, double dx, int axis) TN_MUST_USE;

/** exp(x - max) / sum; integers become f32. A row of only -inf is NaN. */
TN_API tn_tensor *tn_softmax(tn_tensor *x, int axis) TN_MUST_USE;
TN_API tn_tensor *tn_log_softmax(tn_tensor *x, int axis) TN_MUST_USE;

/** (x - mean) / sqrt(variance + epsilon) * weight + bias over the last axes, of this shape. f16 and bf16 are computed in f32 and
 *  rounded once. weight, bias: TN_NONE where there is none.
 *  shape  x [..., shape], weight and bias [shape] -> x's
 *  dtype  floats, promoted
 *  error  SHAPE (x does not end in it, weight or bias is not of it, it has no axes), ARGUMENT (epsilon below 0) */
TN_API tn_tensor *tn_layer_norm(tn_tensor *x, tn_shape shape, tn_tensor *weight, tn_tensor *bias, double epsilon) TN_MUST_USE;
/** x / sqrt(mean(x^2) + epsilon) * weight over the last axes. shape, dtype, error  as tn_layer_norm */
TN_API tn_tensor *tn_rms_norm(tn_tensor *x, tn_shape shape, tn_tensor *weight, double epsilon) TN_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
