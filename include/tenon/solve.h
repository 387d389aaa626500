/* Small dense systems: factors, determinants, inverses, solutions. Matrices are the last two axes, of n rows and columns each;
 * leading axes are a batch.
 *
 * dtype of all: f32, f64 (promoted). Residuals are within n·eps of the factors' size, whatever the device; LU takes the largest
 * pivot of the column. Results are row-major; those of upper factors are transposed.
 * A matrix that is singular (a pivot is exactly 0) or not positive definite is an error (ARGUMENT) that names the matrix' number in the
 * batch and the pivot: on "host" of the call itself, on OpenCL devices of the next call that waits for the device; until then
 * results are NaN.
 * error of all: ARGUMENT (TN_NONE, NULL without a pending error), SHAPE (no square matrix, rows that differ, batches that do not
 * broadcast), DTYPE, DEVICE (operands on different devices), CAPABILITY (f64 on a device without it), MEMORY */
#ifndef TENON_SOLVE_H
#define TENON_SOLVE_H

#include <tenon/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- factors ---- */

/** Lower L with L Lᵀ = x, from the lower half of x alone; upper: Lᵀ, from the upper half. The other half is 0.
 *  shape  [..., n, n] -> [..., n, n]
 *  error  ARGUMENT (not positive definite) */
TN_API tn_tensor *tn_cholesky(tn_tensor *x, bool upper) TN_MUST_USE;
/** y of op(a) y = b, a's lower or upper half being all that counts of it; op(a) is a, or aᵀ (upper tells of a itself).
 *  unitriangular takes a's diagonal for ones. A 0 on the diagonal is divided by: inf and NaN, no error.
 *  shape  a [..., n, n], b [..., n, k] -> [..., n, k]; batches broadcast */
TN_API tn_tensor *tn_triangular_solve(tn_tensor *a, tn_tensor *b, bool upper, bool transpose, bool unitriangular) TN_MUST_USE;
/** y of a y = b, given tn_cholesky's factor of a.
 *  shape  b [..., n, k], factor [..., n, n] -> [..., n, k]; batches broadcast */
TN_API tn_tensor *tn_cholesky_solve(tn_tensor *b, tn_tensor *factor, bool upper) TN_MUST_USE;

/* ---- over LU with partial pivoting ---- */

/** Determinant; 0 of a singular matrix, 1 of an empty one.
 *  shape  [..., n, n] -> [...] */
TN_API tn_tensor *tn_det(tn_tensor *x) TN_MUST_USE;
/** Sign (-1, 0, 1) and logarithm (-inf for 0) of the determinant's size, into *sign and *logabsdet, a reference of the caller's each; NULL
 *  after an error.
 *  shape  [..., n, n] -> [...], [...] */
TN_API tn_status tn_slogdet(tn_tensor *x, tn_tensor **sign, tn_tensor **logabsdet);
/** Logarithm of the determinant: -inf for 0, NaN below.
 *  shape  [..., n, n] -> [...] */
TN_API tn_tensor *tn_logdet(tn_tensor *x) TN_MUST_USE;
/** shape  [..., n, n] -> [..., n, n]
 *  error  ARGUMENT (singular) */
TN_API tn_tensor *tn_inv(tn_tensor *x) TN_MUST_USE;
/** y of a y = b. b is a vector when it has one axis, or a's shape without the last axis; else it holds matrices. As in PyTorch;
 *  NumPy 2 takes only one axis for a vector.
 *  shape  a [..., n, n], b [..., n, k] -> [..., n, k]; b [n] or [..., n] -> [..., n]; batches broadcast
 *  error  ARGUMENT (singular) */
TN_API tn_tensor *tn_solve(tn_tensor *a, tn_tensor *b) TN_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
