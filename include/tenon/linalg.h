/* Products and linear algebra over tn_matmul (ops.h).
 *
 * dtype of all, unless said otherwise: any but bool, promoted; f16 and bf16 accumulate in f32, integers wrap.
 * error of all: SHAPE, DTYPE, DEVICE (operands on different devices), MEMORY */
#ifndef TENON_LINALG_H
#define TENON_LINALG_H

#include <tenon/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Sum of products. shape  [n], [n] -> [] */
TN_API tn_tensor *tn_dot(tn_tensor *a, tn_tensor *b) TN_MUST_USE;
/** Sum of products over the last axis of each. shape  [..., k], [,,, k] -> [..., ,,,]; an operand of no axes: a times b */
TN_API tn_tensor *tn_inner(tn_tensor *a, tn_tensor *b) TN_MUST_USE;
/** All products. shape  [m], [n] -> [m, n] */
TN_API tn_tensor *tn_outer(tn_tensor *a, tn_tensor *b) TN_MUST_USE;
/** Matrix by vector. shape  [m, k], [k] -> [m] */
TN_API tn_tensor *tn_mv(tn_tensor *a, tn_tensor *b) TN_MUST_USE;
/** Matrix by matrix, nothing broadcast. shape  [m, k], [k, n] -> [m, n] */
TN_API tn_tensor *tn_mm(tn_tensor *a, tn_tensor *b) TN_MUST_USE;
/** tn_matmul whose sums and result are of a wider dtype: u8 and i8 into i32, f16 into f32. What is cast is cast on loading.
 *  error  DTYPE (the operands' promoted dtype does not fit into it) */
TN_API tn_tensor *tn_matmul_as(tn_tensor *a, tn_tensor *b, tn_dtype dtype) TN_MUST_USE;
/** Batches of matrices, nothing broadcast. shape  [b, m, k], [b, k, n] -> [b, m, n] */
TN_API tn_tensor *tn_bmm(tn_tensor *a, tn_tensor *b) TN_MUST_USE;
/** beta·c + alpha·(a @ b); with beta 0, c counts by its shape alone (its NaN too).
 *  shape  c broadcasts to [m, n]; a [m, k], b [k, n]
 *  error  ARGUMENT (integers times a fraction) */
TN_API tn_tensor *tn_addmm(tn_tensor *c, tn_tensor *a, tn_tensor *b, double beta, double alpha) TN_MUST_USE;
/** The same of batches. shape  c broadcasts to [b, m, n]; a [b, m, k], b [b, k, n] */
TN_API tn_tensor *tn_baddbmm(tn_tensor *c, tn_tensor *a, tn_tensor *b, double beta, double alpha) TN_MUST_USE;
/** x @ x @ … n times, by squaring; n 0 gives unit matrices, below 0 it is the inverse's. shape  [..., m, m]
 *  error  DTYPE (n below 0 of other than f32 and f64), and those of tn_inv */
TN_API tn_tensor *tn_matrix_power(tn_tensor *x, int n) TN_MUST_USE;
/** Sum of products over pairs of axes: axis axes_a[i] of a with axis axes_b[i] of b.
 *  shape  the other axes of a, then those of b
 *  error  AXIS (out of range, given twice), SHAPE (lists of different lengths, extents that differ) */
TN_API tn_tensor *tn_tensordot(tn_tensor *a, tn_tensor *b, tn_axes axes_a, tn_axes axes_b) TN_MUST_USE;
/** Every element of a times all of b (Kronecker). shape  extents multiply; missing axes in front are 1
 *  dtype  any; error  SHAPE (above 8 axes) */
TN_API tn_tensor *tn_kron(tn_tensor *a, tn_tensor *b) TN_MUST_USE;
/** Sum of a matrix' diagonal. shape  [m, n] -> []; dtype  as tn_sum */
TN_API tn_tensor *tn_trace(tn_tensor *x) TN_MUST_USE;
/** Cross product of vectors of 3 along an axis; the other axes broadcast. dtype  any but bool, promoted
 *  error  SHAPE (an extent that is not 3), AXIS */
TN_API tn_tensor *tn_cross(tn_tensor *a, tn_tensor *b, int axis) TN_MUST_USE;
/** Distances of all pairs of rows in the p-norm, p from 0 to INFINITY; leading axes broadcast.
 *  shape  [..., m, k], [..., n, k] -> [..., m, n]
 *  dtype  floats, promoted; error  ARGUMENT (p below 0 or NaN) */
TN_API tn_tensor *tn_cdist(tn_tensor *a, tn_tensor *b, double p) TN_MUST_USE;

/** x divided by its p-norm along an axis, or by epsilon where that is larger. dtype  floats
 *  error  AXIS, ARGUMENT (p is NaN, epsilon below 0 or NaN), SHAPE (p below 0 over an empty axis) */
TN_API tn_tensor *tn_normalize(tn_tensor *x, double p, int axis, double epsilon) TN_MUST_USE;
/** Cosine of the angle between vectors along an axis of the broadcast operands: the product of both normalized, which goes.
 *  dtype  floats, promoted; error  AXIS, ARGUMENT (epsilon below 0 or NaN) */
TN_API tn_tensor *tn_cosine_similarity(tn_tensor *a, tn_tensor *b, int axis, double epsilon) TN_MUST_USE;

/** Einstein's sum: "ij,jk->ik", "bii->b", "...ij,...jk->...ik". A letter a place; letters that the result lacks are summed over;
 *  without "->" the result has the letters that occur once, in alphabetical order, behind the axes of "...". Blanks are
 *  skipped. An extent of 1 goes with any other. More than two operands are contracted in pairs, the smallest result first.
 *  error  ARGUMENT (the equation; a caret shows the place), SHAPE (axes, extents) */
TN_API tn_tensor *tn_einsum(const char *equation, tn_tensor *const *operands, int count) TN_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
