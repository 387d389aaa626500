/* Operations.
 *
 * Elementwise operations broadcast as NumPy does and promote as PyTorch does; an operand of no axes is weak: its kind
 * counts, not its size. All operands on one device; a 0-d "host" tensor goes with any. Results are recorded, and computed
 * when they are needed. Errors of all: ARGUMENT (TN_NONE, NULL without a pending error), SHAPE (no broadcast), DTYPE (not
 * allowed for the operation), DEVICE (operands on different devices), OVERFLOW (an integer scalar that does not fit). */
#ifndef TENON_OPS_H
#define TENON_OPS_H

#include <tenon/reduce.h>
#include <tenon/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- arithmetic ---- */

/** Sum; of bool: or. dtype  any */
TN_API tn_tensor *tn_add(tn_tensor *a, tn_tensor *b) TN_MUST_USE;
/** Difference; integers wrap. dtype  any but bool */
TN_API tn_tensor *tn_sub(tn_tensor *a, tn_tensor *b) TN_MUST_USE;
/** Product; of bool: and. dtype  any */
TN_API tn_tensor *tn_mul(tn_tensor *a, tn_tensor *b) TN_MUST_USE;
/** True division; integers and bool become f32. dtype  any -> float */
TN_API tn_tensor *tn_div(tn_tensor *a, tn_tensor *b) TN_MUST_USE;
/** Python's a // b: rounds down; an integer divided by 0 gives 0. dtype  any but bool */
TN_API tn_tensor *tn_floor_divide(tn_tensor *a, tn_tensor *b) TN_MUST_USE;
/** Python's a % b: has b's sign; an integer modulo 0 gives 0. dtype  any but bool */
TN_API tn_tensor *tn_remainder(tn_tensor *a, tn_tensor *b) TN_MUST_USE;
/** a to the power b in the promoted dtype; integers wrap; to a negative integer: a scalar b is an error (ARGUMENT), a
 *  tensor gives 0, 1 or -1. dtype  any but bool */
TN_API tn_tensor *tn_pow(tn_tensor *a, tn_tensor *b) TN_MUST_USE;
/** -x. dtype  any but bool */
TN_API tn_tensor *tn_neg(tn_tensor *x) TN_MUST_USE;
/** |x|; the lowest signed integer wraps. dtype  any */
TN_API tn_tensor *tn_abs(tn_tensor *x) TN_MUST_USE;
/** -1, 0 or 1; NaN stays. dtype  any but bool */
TN_API tn_tensor *tn_sign(tn_tensor *x) TN_MUST_USE;
/** Rounded down. dtype  any but bool */
TN_API tn_tensor *tn_floor(tn_tensor *x) TN_MUST_USE;
/** The larger; NaN if either is. dtype  any */
TN_API tn_tensor *tn_maximum(tn_tensor *a, tn_tensor *b) TN_MUST_USE;
/** The smaller; NaN if either is. dtype  any */
TN_API tn_tensor *tn_minimum(tn_tensor *a, tn_tensor *b) TN_MUST_USE;
/** min(max(x, low), high); TN_NONE for an absent bound; NaN propagates; low > high gives high. dtype  any but bool */
TN_API tn_tensor *tn_clamp(tn_tensor *x, tn_tensor *low, tn_tensor *high) TN_MUST_USE;

/* ---- comparison and logic -> bool ---- */

TN_API tn_tensor *tn_eq(tn_tensor *a, tn_tensor *b) TN_MUST_USE;
TN_API tn_tensor *tn_ne(tn_tensor *a, tn_tensor *b) TN_MUST_USE;
TN_API tn_tensor *tn_lt(tn_tensor *a, tn_tensor *b) TN_MUST_USE;
TN_API tn_tensor *tn_le(tn_tensor *a, tn_tensor *b) TN_MUST_USE;
TN_API tn_tensor *tn_gt(tn_tensor *a, tn_tensor *b) TN_MUST_USE;
TN_API tn_tensor *tn_ge(tn_tensor *a, tn_tensor *b) TN_MUST_USE;
TN_API tn_tensor *tn_isnan(tn_tensor *x) TN_MUST_USE;
/** Non-zero counts as true, NaN too. */
TN_API tn_tensor *tn_logical_and(tn_tensor *a, tn_tensor *b) TN_MUST_USE;
TN_API tn_tensor *tn_logical_or(tn_tensor *a, tn_tensor *b) TN_MUST_USE;
TN_API tn_tensor *tn_logical_not(tn_tensor *x) TN_MUST_USE;

/* ---- bits. dtype  integers and bool ---- */

TN_API tn_tensor *tn_bitwise_and(tn_tensor *a, tn_tensor *b) TN_MUST_USE;
TN_API tn_tensor *tn_bitwise_or(tn_tensor *a, tn_tensor *b) TN_MUST_USE;
TN_API tn_tensor *tn_bitwise_xor(tn_tensor *a, tn_tensor *b) TN_MUST_USE;
/** A count below 0 or not below the width gives 0. dtype  integers */
TN_API tn_tensor *tn_left_shift(tn_tensor *a, tn_tensor *b) TN_MUST_USE;
/** The same; a signed a fills with its sign. dtype  integers */
TN_API tn_tensor *tn_right_shift(tn_tensor *a, tn_tensor *b) TN_MUST_USE;

/* ---- functions. dtype  any; integers and bool become f32 ---- */

TN_API tn_tensor *tn_exp(tn_tensor *x) TN_MUST_USE;
TN_API tn_tensor *tn_log(tn_tensor *x) TN_MUST_USE;
TN_API tn_tensor *tn_sqrt(tn_tensor *x) TN_MUST_USE;
TN_API tn_tensor *tn_tanh(tn_tensor *x) TN_MUST_USE;
/** Error function. */
TN_API tn_tensor *tn_erf(tn_tensor *x) TN_MUST_USE;
/** 1 / (1 + exp(-x)). */
TN_API tn_tensor *tn_sigmoid(tn_tensor *x) TN_MUST_USE;
/** x times the normal distribution function of x (the exact form, by erfc). */
TN_API tn_tensor *tn_gelu(tn_tensor *x) TN_MUST_USE;
/** max(x, 0); NaN stays. dtype  any but bool */
TN_API tn_tensor *tn_relu(tn_tensor *x) TN_MUST_USE;

/** b where condition is true, else c. dtype  condition any (non-zero is true); b, c any, promoted */
TN_API tn_tensor *tn_where(tn_tensor *condition, tn_tensor *b, tn_tensor *c) TN_MUST_USE;

/* ---- matrices ---- */

/** Matrix product over the last two axes; leading axes broadcast.
 *  shape  a [..., m, k], b [..., k, n] -> [..., m, n]; 1-d operands as in NumPy
 *  dtype  any but bool, promoted; f16 and bf16 accumulate in f32, integers wrap
 *  error  SHAPE, DTYPE, DEVICE (operands on different devices), MEMORY */
TN_API tn_tensor *tn_matmul(tn_tensor *a, tn_tensor *b) TN_MUST_USE;

#ifdef __cplusplus
}
#endif

#include <tenon/linalg.h>
#include <tenon/movement.h>

#endif
