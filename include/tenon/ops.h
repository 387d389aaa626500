/* Operations.
 *
 * Elementwise operations broadcast as NumPy does and promote as PyTorch does; an operand of no axes is weak: its kind
 * counts, not its size. All operands on one device; a 0-d "host" tensor goes with any. Results are recorded, and computed
 * when they are needed. Errors of all: ARGUMENT (TN_NONE, NULL without a pending error), SHAPE (no broadcast), DTYPE (not
 * allowed for the operation), DEVICE (operands on different devices), OVERFLOW (an integer scalar that does not fit). */
#ifndef TENON_OPS_H
#define TENON_OPS_H

#include <tenon/index.h>
#include <tenon/reduce.h>
#include <tenon/sort.h>
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
/** a / b rounded to 0; an integer divided by 0 gives 0. dtype  any but bool */
TN_API tn_tensor *tn_trunc_divide(tn_tensor *a, tn_tensor *b) TN_MUST_USE;
/** C's remainder: has a's sign; an integer modulo 0 gives 0. dtype  any but bool */
TN_API tn_tensor *tn_fmod(tn_tensor *a, tn_tensor *b) TN_MUST_USE;
/** x times x; integers wrap. dtype  any but bool */
TN_API tn_tensor *tn_square(tn_tensor *x) TN_MUST_USE;
/** 1 / x; integers and bool become f32. dtype  any -> float */
TN_API tn_tensor *tn_reciprocal(tn_tensor *x) TN_MUST_USE;
/** 1 / sqrt(x); integers and bool become f32. dtype  any -> float */
TN_API tn_tensor *tn_rsqrt(tn_tensor *x) TN_MUST_USE;
/** a * b + c, of floats rounded once; f16 and bf16 in f32. dtype  any but bool */
TN_API tn_tensor *tn_fma(tn_tensor *a, tn_tensor *b, tn_tensor *c) TN_MUST_USE;
/** a + t (b - a), from the nearer end: exactly a at t = 0 and b at 1; integers become f32. dtype  any -> float */
TN_API tn_tensor *tn_lerp(tn_tensor *a, tn_tensor *b, tn_tensor *t) TN_MUST_USE;
/** -x. dtype  any but bool */
TN_API tn_tensor *tn_neg(tn_tensor *x) TN_MUST_USE;
/** |x|; the lowest signed integer wraps. dtype  any */
TN_API tn_tensor *tn_abs(tn_tensor *x) TN_MUST_USE;
/** -1, 0 or 1; NaN stays. dtype  any but bool */
TN_API tn_tensor *tn_sign(tn_tensor *x) TN_MUST_USE;
/** Rounded down. dtype  any but bool */
TN_API tn_tensor *tn_floor(tn_tensor *x) TN_MUST_USE;
/** Rounded up. dtype  any but bool */
TN_API tn_tensor *tn_ceil(tn_tensor *x) TN_MUST_USE;
/** Rounded to 0. dtype  any but bool */
TN_API tn_tensor *tn_trunc(tn_tensor *x) TN_MUST_USE;
/** Rounded to the nearest whole number, halves to the even one. dtype  any but bool */
TN_API tn_tensor *tn_round(tn_tensor *x) TN_MUST_USE;
/** The larger; NaN if either is. dtype  any */
TN_API tn_tensor *tn_maximum(tn_tensor *a, tn_tensor *b) TN_MUST_USE;
/** The smaller; NaN if either is. dtype  any */
TN_API tn_tensor *tn_minimum(tn_tensor *a, tn_tensor *b) TN_MUST_USE;
/** The larger; a NaN is ignored beside a number. dtype  any */
TN_API tn_tensor *tn_fmax(tn_tensor *a, tn_tensor *b) TN_MUST_USE;
/** The smaller; a NaN is ignored beside a number. dtype  any */
TN_API tn_tensor *tn_fmin(tn_tensor *a, tn_tensor *b) TN_MUST_USE;
/** min(max(x, low), high); TN_NONE for an absent bound; NaN propagates; low > high gives high. dtype  any but bool */
TN_API tn_tensor *tn_clamp(tn_tensor *x, tn_tensor *low, tn_tensor *high) TN_MUST_USE;

/** |a| with b's sign, -0 and NaN have one; integers become f32. dtype  any -> float */
TN_API tn_tensor *tn_copysign(tn_tensor *a, tn_tensor *b) TN_MUST_USE;
/** 0 below 0, b at 0, 1 above; 0 for NaN. dtype  any */
TN_API tn_tensor *tn_heaviside(tn_tensor *a, tn_tensor *b) TN_MUST_USE;
/** sqrt(a^2 + b^2) without overflow on the way; integers become f32. dtype  any -> float */
TN_API tn_tensor *tn_hypot(tn_tensor *a, tn_tensor *b) TN_MUST_USE;
/** Degrees to radians; integers become f32. dtype  any -> float */
TN_API tn_tensor *tn_deg2rad(tn_tensor *x) TN_MUST_USE;
/** Radians to degrees; integers become f32. dtype  any -> float */
TN_API tn_tensor *tn_rad2deg(tn_tensor *x) TN_MUST_USE;
/** x itself, as a value of its own. dtype  any but bool */
TN_API tn_tensor *tn_positive(tn_tensor *x) TN_MUST_USE;
/** x without its whole part, with x's sign. dtype  floats */
TN_API tn_tensor *tn_frac(tn_tensor *x) TN_MUST_USE;
/** Greatest common divisor, 0 or above; of 0 and 0 it is 0. dtype  integers */
TN_API tn_tensor *tn_gcd(tn_tensor *a, tn_tensor *b) TN_MUST_USE;
/** Least common multiple, 0 or above, wrapping; 0 where either is 0. dtype  integers */
TN_API tn_tensor *tn_lcm(tn_tensor *a, tn_tensor *b) TN_MUST_USE;
/** The next number of the result's dtype behind a towards b; b where they are equal; integers become f32. dtype  any -> float */
TN_API tn_tensor *tn_nextafter(tn_tensor *a, tn_tensor *b) TN_MUST_USE;
/** m of x = m 2^e with |m| from 1/2 up to 1; 0, infinities and NaN stay; integers become f32. dtype  any -> float */
TN_API tn_tensor *tn_frexp_mantissa(tn_tensor *x) TN_MUST_USE;
/** e of x = m 2^e, as a float; 0 for 0, infinities and NaN. dtype  any -> float */
TN_API tn_tensor *tn_frexp_exponent(tn_tensor *x) TN_MUST_USE;
/** Both at once: x = mantissa 2^exponent. Gives two handles.
 *  shape  those of x
 *  dtype  mantissa x's, f32 for integers and bool; exponent i32
 *  error  ARGUMENT (an output is NULL); on failure both are NULL */
TN_API tn_status tn_frexp(tn_tensor *x, tn_tensor **mantissa, tn_tensor **exponent);
/** a to the power b, computed in f64. dtype  any -> f64
 *  error  CAPABILITY (the device has no f64) */
TN_API tn_tensor *tn_float_power(tn_tensor *a, tn_tensor *b) TN_MUST_USE;
/** x with these numbers in place of NaN and the infinities; a posinf that is NaN stands for the dtype's largest number, such a
 *  neginf for its lowest. Integers and bool stay. dtype  any */
TN_API tn_tensor *tn_nan_to_num(tn_tensor *x, double nan, double posinf, double neginf) TN_MUST_USE;
/** x + value a b. dtype  any but bool; a whole value for integers (ARGUMENT) */
TN_API tn_tensor *tn_addcmul(tn_tensor *x, tn_tensor *a, tn_tensor *b, double value) TN_MUST_USE;
/** x + value a / b. dtype  any -> float */
TN_API tn_tensor *tn_addcdiv(tn_tensor *x, tn_tensor *a, tn_tensor *b, double value) TN_MUST_USE;

/* ---- comparison and logic -> bool ---- */

TN_API tn_tensor *tn_eq(tn_tensor *a, tn_tensor *b) TN_MUST_USE;
TN_API tn_tensor *tn_ne(tn_tensor *a, tn_tensor *b) TN_MUST_USE;
TN_API tn_tensor *tn_lt(tn_tensor *a, tn_tensor *b) TN_MUST_USE;
TN_API tn_tensor *tn_le(tn_tensor *a, tn_tensor *b) TN_MUST_USE;
TN_API tn_tensor *tn_gt(tn_tensor *a, tn_tensor *b) TN_MUST_USE;
TN_API tn_tensor *tn_ge(tn_tensor *a, tn_tensor *b) TN_MUST_USE;
TN_API tn_tensor *tn_isnan(tn_tensor *x) TN_MUST_USE;
TN_API tn_tensor *tn_isinf(tn_tensor *x) TN_MUST_USE;
/** Neither NaN nor infinite. */
TN_API tn_tensor *tn_isfinite(tn_tensor *x) TN_MUST_USE;
TN_API tn_tensor *tn_isposinf(tn_tensor *x) TN_MUST_USE;
TN_API tn_tensor *tn_isneginf(tn_tensor *x) TN_MUST_USE;
/** The sign is minus; -0 has it, too. */
TN_API tn_tensor *tn_signbit(tn_tensor *x) TN_MUST_USE;
/** Non-zero counts as true, NaN too. */
TN_API tn_tensor *tn_logical_and(tn_tensor *a, tn_tensor *b) TN_MUST_USE;
TN_API tn_tensor *tn_logical_or(tn_tensor *a, tn_tensor *b) TN_MUST_USE;
TN_API tn_tensor *tn_logical_xor(tn_tensor *a, tn_tensor *b) TN_MUST_USE;
TN_API tn_tensor *tn_logical_not(tn_tensor *x) TN_MUST_USE;

/** |a - b| <= atol + rtol |b|, or equal (infinities too); NaN is close to NaN where equal_nan says so. dtype  any -> bool
 *  error  ARGUMENT (a tolerance below 0 or NaN) */
TN_API tn_tensor *tn_isclose(tn_tensor *a, tn_tensor *b, double rtol, double atol, bool equal_nan) TN_MUST_USE;
/** Are all elements close? Runs what is pending, waits. *result is false after an error. error  as tn_isclose, tn_item */
TN_API tn_status tn_allclose(tn_tensor *a, tn_tensor *b, double rtol, double atol, bool equal_nan, bool *result);
/** Have a and b the same shape, and equal elements (by tn_eq: NaN equals nothing)? Runs what is pending, waits.
 *  error  as tn_eq but for SHAPE, as tn_item */
TN_API tn_status tn_equal(tn_tensor *a, tn_tensor *b, bool *result);

/* ---- bits. dtype  integers and bool ---- */

TN_API tn_tensor *tn_bitwise_and(tn_tensor *a, tn_tensor *b) TN_MUST_USE;
TN_API tn_tensor *tn_bitwise_or(tn_tensor *a, tn_tensor *b) TN_MUST_USE;
TN_API tn_tensor *tn_bitwise_xor(tn_tensor *a, tn_tensor *b) TN_MUST_USE;
TN_API tn_tensor *tn_bitwise_not(tn_tensor *x) TN_MUST_USE;
/** A count below 0 or not below the width gives 0. dtype  integers */
TN_API tn_tensor *tn_left_shift(tn_tensor *a, tn_tensor *b) TN_MUST_USE;
/** The same; a signed a fills with its sign. dtype  integers */
TN_API tn_tensor *tn_right_shift(tn_tensor *a, tn_tensor *b) TN_MUST_USE;

/* ---- functions. dtype  any; integers and bool become f32 ---- */

TN_API tn_tensor *tn_exp(tn_tensor *x) TN_MUST_USE;
/** 2 to the power x. */
TN_API tn_tensor *tn_exp2(tn_tensor *x) TN_MUST_USE;
/** exp(x) - 1, precise near 0. */
TN_API tn_tensor *tn_expm1(tn_tensor *x) TN_MUST_USE;
TN_API tn_tensor *tn_log(tn_tensor *x) TN_MUST_USE;
TN_API tn_tensor *tn_log2(tn_tensor *x) TN_MUST_USE;
TN_API tn_tensor *tn_log10(tn_tensor *x) TN_MUST_USE;
/** log(1 + x), precise near 0. */
TN_API tn_tensor *tn_log1p(tn_tensor *x) TN_MUST_USE;
/** log(exp(a) + exp(b)) without overflow on the way. */
TN_API tn_tensor *tn_logaddexp(tn_tensor *a, tn_tensor *b) TN_MUST_USE;
/** log2(2^a + 2^b) without overflow on the way. */
TN_API tn_tensor *tn_logaddexp2(tn_tensor *a, tn_tensor *b) TN_MUST_USE;
/** a log(1 + b); 0 where a is 0, unless b is NaN. */
TN_API tn_tensor *tn_xlog1py(tn_tensor *a, tn_tensor *b) TN_MUST_USE;
/** -x log(x), the entropy; 0 at 0, -inf below. */
TN_API tn_tensor *tn_entr(tn_tensor *x) TN_MUST_USE;
/** log(x / (1 - x)), the inverse of sigmoid. */
TN_API tn_tensor *tn_logit(tn_tensor *x) TN_MUST_USE;
/** a times 2 to the power b; b need not be whole. */
TN_API tn_tensor *tn_ldexp(tn_tensor *a, tn_tensor *b) TN_MUST_USE;
/** a log(b); 0 where a is 0, unless b is NaN. */
TN_API tn_tensor *tn_xlogy(tn_tensor *a, tn_tensor *b) TN_MUST_USE;
TN_API tn_tensor *tn_sqrt(tn_tensor *x) TN_MUST_USE;
/** Cubic root, of negative numbers too. */
TN_API tn_tensor *tn_cbrt(tn_tensor *x) TN_MUST_USE;
TN_API tn_tensor *tn_sin(tn_tensor *x) TN_MUST_USE;
TN_API tn_tensor *tn_cos(tn_tensor *x) TN_MUST_USE;
TN_API tn_tensor *tn_tan(tn_tensor *x) TN_MUST_USE;
TN_API tn_tensor *tn_asin(tn_tensor *x) TN_MUST_USE;
TN_API tn_tensor *tn_acos(tn_tensor *x) TN_MUST_USE;
TN_API tn_tensor *tn_atan(tn_tensor *x) TN_MUST_USE;
/** The angle of the point (b, a): atan(a / b) in b's quadrant. */
TN_API tn_tensor *tn_atan2(tn_tensor *a, tn_tensor *b) TN_MUST_USE;
/** sin(pi x) / (pi x), 1 at 0. */
TN_API tn_tensor *tn_sinc(tn_tensor *x) TN_MUST_USE;
TN_API tn_tensor *tn_sinh(tn_tensor *x) TN_MUST_USE;
TN_API tn_tensor *tn_cosh(tn_tensor *x) TN_MUST_USE;
TN_API tn_tensor *tn_tanh(tn_tensor *x) TN_MUST_USE;
TN_API tn_tensor *tn_asinh(tn_tensor *x) TN_MUST_USE;
TN_API tn_tensor *tn_acosh(tn_tensor *x) TN_MUST_USE;
TN_API tn_tensor *tn_atanh(tn_tensor *x) TN_MUST_USE;
/** Error function. */
TN_API tn_tensor *tn_erf(tn_tensor *x) TN_MUST_USE;
/** 1 - erf(x), precise where that is small. */
TN_API tn_tensor *tn_erfc(tn_tensor *x) TN_MUST_USE;

/* ---- special functions, within 16 ulps. dtype  any; integers and bool become f32 ---- */

/** log |gamma(x)|; inf at 0 and the negative whole numbers. Between them it has zeros, near which 16 ulps are of its terms. */
TN_API tn_tensor *tn_lgamma(tn_tensor *x) TN_MUST_USE;
/** Its derivative; -inf at 0, inf at -0, NaN at the negative whole numbers. Near negative zeros as lgamma. */
TN_API tn_tensor *tn_digamma(tn_tensor *x) TN_MUST_USE;
/** The derivative of digamma; inf at 0 and the negative whole numbers. It has no gradient. */
TN_API tn_tensor *tn_trigamma(tn_tensor *x) TN_MUST_USE;
/** The inverse of erf; infinite at 1 and -1, NaN beyond. */
TN_API tn_tensor *tn_erfinv(tn_tensor *x) TN_MUST_USE;
/** exp(x^2) erfc(x) without underflow on the way. */
TN_API tn_tensor *tn_erfcx(tn_tensor *x) TN_MUST_USE;
/** The standard normal distribution function. */
TN_API tn_tensor *tn_ndtr(tn_tensor *x) TN_MUST_USE;
/** Its inverse; infinite at 0 and 1, NaN beyond. */
TN_API tn_tensor *tn_ndtri(tn_tensor *x) TN_MUST_USE;
/** log(ndtr(x)) without underflow on the way. */
TN_API tn_tensor *tn_log_ndtr(tn_tensor *x) TN_MUST_USE;
/** Modified Bessel functions of the first kind, of order 0 and 1; with an e, times exp(-|x|). */
TN_API tn_tensor *tn_i0(tn_tensor *x) TN_MUST_USE;
TN_API tn_tensor *tn_i0e(tn_tensor *x) TN_MUST_USE;
TN_API tn_tensor *tn_i1(tn_tensor *x) TN_MUST_USE;
TN_API tn_tensor *tn_i1e(tn_tensor *x) TN_MUST_USE;

/* ---- activations, as PyTorch has them. dtype  any; integers and bool become f32 ---- */

/** 1 / (1 + exp(-x)). */
TN_API tn_tensor *tn_sigmoid(tn_tensor *x) TN_MUST_USE;
/** x times the normal distribution function of x (the exact form, by erfc). */
TN_API tn_tensor *tn_gelu(tn_tensor *x) TN_MUST_USE;
/** max(x, 0); NaN stays. dtype  any but bool */
TN_API tn_tensor *tn_relu(tn_tensor *x) TN_MUST_USE;
/** min(max(x, 0), 6); NaN stays. dtype  any but bool */
TN_API tn_tensor *tn_relu6(tn_tensor *x) TN_MUST_USE;
/** x above 0, else slope * x. */
TN_API tn_tensor *tn_leaky_relu(tn_tensor *x, double slope) TN_MUST_USE;
/** The same with a tensor, which broadcasts as every operand. */
TN_API tn_tensor *tn_prelu(tn_tensor *x, tn_tensor *weight) TN_MUST_USE;
/** x above 0, else alpha (exp(x) - 1). */
TN_API tn_tensor *tn_elu(tn_tensor *x, double alpha) TN_MUST_USE;
/** elu with the constants of self-normalizing networks. */
TN_API tn_tensor *tn_selu(tn_tensor *x) TN_MUST_USE;
/** x from 0 on, also with an alpha of 0, else alpha (exp(x / alpha) - 1). */
TN_API tn_tensor *tn_celu(tn_tensor *x, double alpha) TN_MUST_USE;
/** gelu by its approximation x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2. */
TN_API tn_tensor *tn_gelu_tanh(tn_tensor *x) TN_MUST_USE;
/** min(max(x + 3, 0), 6) / 6. */
TN_API tn_tensor *tn_hardsigmoid(tn_tensor *x) TN_MUST_USE;
/** x hardsigmoid(x). */
TN_API tn_tensor *tn_hardswish(tn_tensor *x) TN_MUST_USE;
/** min(max(x, low), high). */
TN_API tn_tensor *tn_hardtanh(tn_tensor *x, double low, double high) TN_MUST_USE;
/** x sigmoid(x). */
TN_API tn_tensor *tn_silu(tn_tensor *x) TN_MUST_USE;
/** x tanh(softplus(x)). */
TN_API tn_tensor *tn_mish(tn_tensor *x) TN_MUST_USE;
/** log(1 + exp(x)) without overflow on the way. */
TN_API tn_tensor *tn_softplus(tn_tensor *x) TN_MUST_USE;
/** log(sigmoid(x)) without overflow on the way. */
TN_API tn_tensor *tn_logsigmoid(tn_tensor *x) TN_MUST_USE;
/** x / (1 + |x|). */
TN_API tn_tensor *tn_softsign(tn_tensor *x) TN_MUST_USE;
/** x - lambda above lambda, x + lambda below -lambda, 0 between; NaN stays. */
TN_API tn_tensor *tn_softshrink(tn_tensor *x, double lambda) TN_MUST_USE;
/** x, but 0 from -lambda to lambda; NaN stays. */
TN_API tn_tensor *tn_hardshrink(tn_tensor *x, double lambda) TN_MUST_USE;
/** x - tanh(x), precise near 0. */
TN_API tn_tensor *tn_tanhshrink(tn_tensor *x) TN_MUST_USE;
/** x above the threshold, else value; NaN stays. */
TN_API tn_tensor *tn_threshold(tn_tensor *x, double threshold, double value) TN_MUST_USE;

/* ---- choice ---- */

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
#include <tenon/solve.h>

#endif
