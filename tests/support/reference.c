#include "support/reference.h"

#include "support/test.h"

#include <math.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide_unsigned;

/* ---- numbers ---- */

static int width_of(tn_dtype dtype)
{
    return dtype == TN_BOOL ? 1 : (int)tn_dtype_size(dtype) * 8;
}

static bool is_signed_integer(tn_dtype dtype)
{
    return !tn_dtype_is_float(dtype) && tn_dtype_is_signed(dtype);
}

static reference_int lowest(tn_dtype dtype)
{
    return is_signed_integer(dtype) ? -((reference_int)1 << (width_of(dtype) - 1)) : 0;
}

static reference_int highest(tn_dtype dtype)
{
    return ((reference_int)1 << (width_of(dtype) - is_signed_integer(dtype))) - 1;
}

/* The integer with the same low bits that the dtype has. */
static reference_int wrapped(tn_dtype dtype, wide_unsigned bits)
{
    const wide_unsigned mask = ((wide_unsigned)1 << width_of(dtype)) - 1;
    const wide_unsigned low = bits & mask;
    if (is_signed_integer(dtype) && low >> (width_of(dtype) - 1)) return (reference_int)(low | ~mask);
    return (reference_int)low;
}

reference_number reference_load(tn_dtype dtype, const void *p)
{
    reference_number n = {.dtype = dtype};
    uint64_t u;
    int64_t l;
    if (tn_dtype_is_float(dtype))
        n.f = (long double)test_number(dtype, p);
    else if (dtype == TN_U64)
        memcpy(&u, p, 8), n.i = (reference_int)u;
    else if (dtype == TN_I64)
        memcpy(&l, p, 8), n.i = l;
    else
        n.i = (reference_int)test_number(dtype, p);
    return n;
}

void reference_store(void *p, reference_number n)
{
    if (tn_dtype_is_float(n.dtype)) {
        const double d = (double)n.f;
        test_store(n.dtype, p, d);
    } else if (width_of(n.dtype) == 64) {
        const uint64_t u = (uint64_t)n.i;
        memcpy(p, &u, 8);
    } else
        test_store(n.dtype, p, (double)n.i);
}

reference_number reference_of(tn_dtype dtype, double value)
{
    reference_number n = {.dtype = dtype};
    if (tn_dtype_is_float(dtype))
        n.f = (long double)value;
    else
        n.i = (reference_int)value;
    return n;
}

long double reference_float(reference_number n)
{
    return tn_dtype_is_float(n.dtype) ? n.f : (long double)n.i;
}

bool reference_may_flush(reference_number n)
{
    if (!tn_dtype_is_float(n.dtype) || n.f == 0) return false;
    return fabsl(n.f) < (n.dtype == TN_F64 ? 0x1p-1022L : 0x1p-126L);
}

/* ---- casts ---- */

/* An integer to the nearest float of so many digits, ties to even, in one step. */
static long double nearest(reference_int value, int digits)
{
    const bool negative = value < 0;
    wide_unsigned v = negative ? (wide_unsigned)-value : (wide_unsigned)value;
    int shift = 0;
    while (v >> (digits + shift)) shift++;
    if (shift > 0) {
        const wide_unsigned half = (wide_unsigned)1 << (shift - 1), rest = v & (((wide_unsigned)1 << shift) - 1);
        v >>= shift;
        if (rest > half || (rest == half && (v & 1))) v++;
    }
    const long double f = ldexpl((long double)(uint64_t)v, shift);
    return negative ? -f : f;
}

static long double to_float(reference_number x, tn_dtype dtype)
{
    if (!tn_dtype_is_float(x.dtype)) {
        const long double f = nearest(x.i, dtype == TN_F16 ? 11 : dtype == TN_BF16 ? 8 : dtype == TN_F32 ? 24 : 53);
        return dtype == TN_F16 && fabsl(f) > 65504 ? copysignl(INFINITY, f) : f;
    }
    char bytes[8];
    test_store(dtype, bytes, (double)x.f); /* x.f came from a dtype: exact in double */
    return (long double)test_number(dtype, bytes);
}

static reference_int to_integer(long double f, tn_dtype dtype)
{
    if (isnan(f)) return 0;
    if (f <= (long double)lowest(dtype)) return lowest(dtype);
    if (f >= (long double)highest(dtype)) return highest(dtype);
    return (reference_int)truncl(f);
}

reference_number reference_cast(reference_number x, tn_dtype dtype)
{
    reference_number y = {.dtype = dtype};
    if (tn_dtype_is_float(dtype))
        y.f = to_float(x, dtype);
    else if (dtype == TN_BOOL)
        y.i = tn_dtype_is_float(x.dtype) ? !(x.f == 0) : x.i != 0;
    else if (tn_dtype_is_float(x.dtype))
        y.i = to_integer(x.f, dtype);
    else
        y.i = wrapped(dtype, (wide_unsigned)x.i);
    return y;
}

/* ---- rows on floats ---- */

static double larger(double a, double b)
{
    return isnan(a) || isnan(b) ? NAN : a > b ? a : b;
}

static double smaller(double a, double b)
{
    return isnan(a) || isnan(b) ? NAN : a < b ? a : b;
}

/* As CPython's float_rem and float_floor_div, with IEEE's result for a zero divisor. */
static double python_remainder(double a, double b)
{
    const double r = fmod(a, b);
    return r != 0 && (b < 0) != (r < 0) ? r + b : r;
}

static long double python_floor(double a, double b)
{
    if (b == 0) return (long double)a / (long double)b;
    if (isnan(a) || isnan(b) || isinf(a)) return NAN;
    if (isinf(b)) return a == 0 ? 0 : (a < 0) != (b < 0) ? -1 : 0;
    const double r = fmod(a, b);
    const long double q = ((long double)a - (long double)r) / (long double)b; /* whole, but for its rounding */
    return (fabsl(q) < 0x1p62L ? roundl(q) : q) - (r != 0 && (b < 0) != (r < 0));
}

/* x (1 + erf(x / sqrt 2)) / 2 without cancellation */
static long double gelu(long double x)
{
    return isinf(x) && x < 0 ? (long double)NAN : x / 2 * erfcl(-x / sqrtl(2.0L));
}

#define IS(name) (strcmp(row, #name) == 0)

/* Comparisons and logic, on floats as on integers. */
static bool truth(const char *row, const reference_number *n, bool *result)
{
    const bool real = tn_dtype_is_float(n[0].dtype);
    const long double a = n[0].f, b = n[1].f;
    const reference_int i = n[0].i, j = n[1].i;
    const bool x = real ? a != 0 : i != 0, y = real ? b != 0 : j != 0;
    if IS (eq)
        *result = real ? a == b : i == j;
    else if IS (ne)
        *result = real ? a != b : i != j;
    else if IS (lt)
        *result = real ? a < b : i < j;
    else if IS (le)
        *result = real ? a <= b : i <= j;
    else if IS (gt)
        *result = real ? a > b : i > j;
    else if IS (ge)
        *result = real ? a >= b : i >= j;
    else if IS (isnan)
        *result = real && isnan(a);
    else if IS (isinf)
        *result = real && isinf(a);
    else if IS (isfinite)
        *result = !real || isfinite(a);
    else if IS (signbit)
        *result = real ? signbit(a) != 0 : i < 0;
    else if IS (logical_xor)
        *result = x != y;
    else if IS (logical_and)
        *result = x && y;
    else if IS (logical_or)
        *result = x || y;
    else if IS (logical_not)
        *result = !x;
    else
        return false;
    return true;
}

static long double truncated(double a, double b)
{
    if (b == 0 || isinf(a)) return (long double)a / (long double)b;
    if (isinf(b)) return isnan(a) ? NAN : 0;
    const long double q = ((long double)a - (long double)fmod(a, b)) / (long double)b;
    return fabsl(q) < 0x1p62L ? roundl(q) : q;
}

/* In the steps that the operation names, each rounded: in float where the row computes in it. */
static double interpolated(bool single, double a, double b, double t)
{
    const float f = (float)a, g = (float)b, s = (float)t;
    if (single) return fabsf(s) < 0.5f ? f + s * (g - f) : g - (g - f) * (1 - s);
    return fabs(t) < 0.5 ? a + t * (b - a) : b - (b - a) * (1 - t);
}

static bool arithmetic_row(const char *row, bool single, double a, double b, double c, long double *out)
{
    const long double x = (long double)a, y = (long double)b;
    if IS (trunc_divide)
        *out = truncated(a, b);
    else if IS (fmod)
        *out = fmod(a, b);
    else if IS (square)
        *out = a * a;
    else if IS (reciprocal)
        *out = 1 / x;
    else if IS (rsqrt)
        *out = 1 / sqrtl(x);
    else if IS (ceil)
        *out = ceil(a);
    else if IS (trunc)
        *out = trunc(a);
    else if IS (round)
        *out = rint(a);
    else if IS (fmax)
        *out = isnan(a) ? b : isnan(b) || a > b ? a : b;
    else if IS (fmin)
        *out = isnan(a) ? b : isnan(b) || a < b ? a : b;
    else if IS (hypot)
        *out = hypotl(x, y);
    else if IS (copysign)
        *out = copysign(a, b);
    else if IS (heaviside)
        *out = a == 0 ? b : a > 0;
    else if IS (fma)
        *out = single ? fmaf((float)a, (float)b, (float)c) : fma(a, b, c);
    else if IS (lerp)
        *out = interpolated(single, a, b, c);
    else if IS (deg2rad)
        *out = x * (acosl(-1) / 180);
    else if IS (rad2deg)
        *out = x * (180 / acosl(-1));
    else if IS (xlogy)
        *out = isnan(b) ? NAN : a == 0 ? 0 : x * logl(y);
    else
        return false;
    return true;
}

/* 2^y as an intermediate result of the dtype: infinite where it overflows. */
static long double two_to_the(bool single, long double y)
{
    const long double p = exp2l(y);
    return p > (single ? 0x1.fffffep127L : 0x1.fffffffffffffp1023L) ? (long double)INFINITY : p;
}

static long double sine_of_pi(long double x)
{
    long double r = remainderl(x, 2);
    if (fabsl(r) > 0.5L) r = copysignl(1, r) - r;
    return sinl(acosl(-1) * r);
}

/* How much log1p(exp(-|d|)), each within OpenCL's bounds, may cost beside a result. */
static double cost_of_log1p(long double d, long double result)
{
    const long double e = expl(-fabsl(d));
    return e > 0 && isfinite(result) ? (double)((6 + fabsl(d)) * log1pl(e) / fabsl(result)) : 0;
}

static long double log_of_sum(long double x, long double y, double *slack)
{
    const long double d = x == y ? 0 : x - y, m = isnan(d) ? d : x > y ? x : y, sum = m + log1pl(expl(-fabsl(d)));
    *slack = cost_of_log1p(d, sum);
    return sum;
}

static bool function_row(const char *row, bool single, double a, double b, long double *out, double *slack)
{
    const long double x = (long double)a, y = (long double)b;
    if IS (exp2)
        *out = exp2l(x);
    else if IS (expm1)
        *out = expm1l(x);
    else if IS (log2)
        *out = log2l(x);
    else if IS (log10)
        *out = log10l(x);
    else if IS (log1p)
        *out = log1pl(x);
    else if IS (sin)
        *out = sinl(x);
    else if IS (cos)
        *out = cosl(x);
    else if IS (tan)
        *out = tanl(x);
    else if IS (asin)
        *out = asinl(x);
    else if IS (acos)
        *out = acosl(x);
    else if IS (atan)
        *out = atanl(x);
    else if IS (sinh)
        *out = sinhl(x);
    else if IS (cosh)
        *out = coshl(x);
    else if IS (asinh)
        *out = asinhl(x);
    else if IS (acosh)
        *out = acoshl(x);
    else if IS (atanh)
        *out = atanhl(x);
    else if IS (cbrt)
        *out = cbrtl(x);
    else if IS (atan2)
        *out = atan2l(x, y);
    else if IS (erfc)
        *out = erfcl(x);
    else if IS (sinc)
        *out = a == 0 ? 1 : isinf(a) ? (long double)NAN : sine_of_pi(x) / (acosl(-1) * x);
    else if IS (logaddexp)
        *out = log_of_sum(x, y, slack);
    else if IS (logit) {
        *out = logl(x / (1 - x));
        *slack = isfinite(*out) ? 4 / (double)fabsl(*out) : 0; /* the quotient's rounding, beside a small logarithm */
    } else if IS (ldexp)
        *out = x * two_to_the(single, y / 2) * two_to_the(single, y / 2);
    else
        return false;
    return true;
}

/* ---- activations ---- */

static long double hard(long double x) /* min(max(x + 3, 0), 6) / 6 */
{
    return isnan(x) ? x : x <= -3 ? 0 : x >= 3 ? 1 : (x + 3) / 6;
}

static long double celu(long double x, long double alpha, double *slack)
{
    const long double y = x / alpha;
    if (x > 0) return x;
    *slack = isfinite(y) ? 4 * (double)fabsl(y) : 0; /* the quotient's rounding */
    return fabsl(y) < 1e-17L ? x : alpha * expm1l(y);
}

static long double gelu_tanh(long double x, double *slack)
{
    const long double u = -2 * sqrtl(2 / acosl(-1)) * (x + 0.044715L * x * x * x);
    *slack = isfinite(u) && fabsl(u) < 1e4L ? 4 * (double)fabsl(u) : 0; /* the exponent's rounding */
    return x / (1 + expl(u));
}

/* x - tanh(x): its series where the difference would cancel. */
static long double tanhshrink(long double x)
{
    const long double q = x * x;
    if (!(fabsl(x) < 0.01L)) return x - tanhl(x);
    return x * q * (1 / 3.0L - q * (2 / 15.0L - q * (17 / 315.0L - q * (62 / 2835.0L - q * (1382 / 155925.0L)))));
}

static bool activation_row(const char *row, double a, double b, double c, long double *out, double *slack)
{
    const long double x = (long double)a, y = (long double)b;
    if IS (relu6)
        *out = smaller(larger(a, 0), 6);
    else if (IS(leaky_relu) || IS(prelu))
        *out = a > 0 ? a : a * b;
    else if IS (elu)
        *out = a > 0 ? x : y * expm1l(x);
    else if IS (selu)
        *out = 1.0507009873554804934193349852946L * (a > 0 ? x : 1.6732632423543772848170429916717L * expm1l(x));
    else if IS (celu)
        *out = celu(x, y, slack);
    else if IS (gelu_tanh)
        *out = gelu_tanh(x, slack);
    else if IS (hardsigmoid)
        *out = hard(x);
    else if IS (hardswish)
        *out = x * hard(x);
    else if IS (hardtanh)
        *out = smaller(larger(a, b), c);
    else if IS (silu)
        *out = x / (1 + expl(-x));
    else if IS (mish)
        *out = x * (a > 0 ? tanhl(x + log1pl(expl(-x))) : tanhl(log1pl(expl(x))));
    else if IS (softplus)
        *out = a > 0 ? x + log1pl(expl(-x)) : log1pl(expl(x));
    else if IS (logsigmoid)
        *out = a > 0 ? -log1pl(expl(-x)) : x - log1pl(expl(x));
    else if IS (softsign)
        *out = x / (1 + fabsl(x));
    else if IS (softshrink)
        *out = a > b ? a - b : a < -b ? a + b : isnan(a) ? a : 0;
    else if IS (hardshrink)
        *out = a >= -b && a <= b ? 0 : a;
    else if IS (tanhshrink)
        *out = tanhshrink(x);
    else if IS (threshold)
        *out = a <= b ? c : a;
    else
        return false;
    return true;
}

static bool float_row(const char *row, double a, double b, double c, long double *out, double *slack)
{
    const long double x = (long double)a, y = (long double)b;
    if IS (add)
        *out = a + b;
    else if IS (sub)
        *out = a - b;
    else if IS (mul)
        *out = a * b;
    else if IS (div)
        *out = x / y;
    else if IS (floor_divide)
        *out = python_floor(a, b);
    else if IS (remainder)
        *out = python_remainder(a, b);
    else if IS (pow)
        *out = fabs(b) < 0x1p62 ? powl(x, y) : pow(a, b); /* glibc's powl(-inf, -2^63) is inf */
    else if IS (neg)
        *out = -a;
    else if IS (abs)
        *out = fabs(a);
    else if IS (sign)
        *out = isnan(a) ? a : (a > 0) - (a < 0);
    else if IS (floor)
        *out = floor(a);
    else if IS (maximum)
        *out = larger(a, b);
    else if IS (minimum)
        *out = smaller(a, b);
    else if IS (clamp)
        *out = smaller(larger(a, b), c);
    else if IS (exp)
        *out = expl(x);
    else if IS (log)
        *out = logl(x);
    else if IS (sqrt)
        *out = sqrtl(x);
    else if IS (tanh)
        *out = tanhl(x);
    else if IS (erf)
        *out = erfl(x);
    else if IS (relu)
        *out = isnan(a) || a > 0 ? a : 0;
    else if IS (sigmoid)
        *out = 1 / (1 + expl(-x));
    else if IS (gelu)
        *out = gelu(x), *slack = isfinite(a) ? 2 * a * a : 0; /* erfc's tail: its argument's rounding */
    else
        return false;
    return true;
}

/* ---- rows on integers ---- */

static reference_int floor_quotient(reference_int a, reference_int b)
{
    const reference_int q = a / b;
    return q - (a % b != 0 && (a < 0) != (b < 0));
}

static wide_unsigned power(reference_int base, reference_int exponent)
{
    wide_unsigned result = 1, square = (wide_unsigned)base;
    if (exponent < 0) return (wide_unsigned)(base == 1 ? 1 : base == -1 ? (exponent % 2 ? -1 : 1) : 0);
    for (; exponent > 0; exponent /= 2, square *= square)
        if (exponent % 2) result *= square;
    return result;
}

static bool integer_row(const char *row, tn_dtype dtype, reference_int a, reference_int b, reference_int c, wide_unsigned *out)
{
    const bool fits = b >= 0 && b < width_of(dtype);
    if IS (add)
        *out = (wide_unsigned)a + (wide_unsigned)b;
    else if IS (sub)
        *out = (wide_unsigned)a - (wide_unsigned)b;
    else if IS (mul)
        *out = (wide_unsigned)a * (wide_unsigned)b;
    else if IS (floor_divide)
        *out = b == 0 ? 0 : (wide_unsigned)floor_quotient(a, b);
    else if IS (remainder)
        *out = b == 0 ? 0 : (wide_unsigned)(a - floor_quotient(a, b) * b);
    else if IS (pow)
        *out = power(a, b);
    else if IS (neg)
        *out = -(wide_unsigned)a;
    else if IS (abs)
        *out = a < 0 ? -(wide_unsigned)a : (wide_unsigned)a;
    else if IS (sign)
        *out = (wide_unsigned)((a > 0) - (a < 0));
    else if (IS(floor) || IS(ceil) || IS(trunc) || IS(round))
        *out = (wide_unsigned)a;
    else if IS (trunc_divide)
        *out = b == 0 ? 0 : (wide_unsigned)(a / b);
    else if IS (fmod)
        *out = b == 0 ? 0 : (wide_unsigned)(a % b);
    else if IS (square)
        *out = (wide_unsigned)a * (wide_unsigned)a;
    else if IS (fma)
        *out = (wide_unsigned)a * (wide_unsigned)b + (wide_unsigned)c;
    else if IS (heaviside)
        *out = a == 0 ? (wide_unsigned)b : a > 0;
    else if IS (bitwise_not)
        *out = ~(wide_unsigned)a;
    else if IS (relu)
        *out = (wide_unsigned)(a > 0 ? a : 0);
    else if IS (relu6)
        *out = (wide_unsigned)(a < 0 ? 0 : a > 6 ? 6 : a);
    else if (IS(maximum) || IS(fmax))
        *out = (wide_unsigned)(a > b ? a : b);
    else if (IS(minimum) || IS(fmin))
        *out = (wide_unsigned)(a < b ? a : b);
    else if IS (clamp) {
        const reference_int raised = a > b ? a : b;
        *out = (wide_unsigned)(raised < c ? raised : c);
    } else if IS (bitwise_and)
        *out = (wide_unsigned)(a & b);
    else if IS (bitwise_or)
        *out = (wide_unsigned)(a | b);
    else if IS (bitwise_xor)
        *out = (wide_unsigned)(a ^ b);
    else if IS (left_shift)
        *out = fits ? (wide_unsigned)a << (int)b : 0;
    else if IS (right_shift)
        *out = (wide_unsigned)(fits ? a >> (int)b : a < 0 ? -1 : 0);
    else
        return false;
    return true;
}

/* bool: + is or, * is and; the others as the numbers 0 and 1. */
static bool bool_row(const char *row, bool a, bool b, bool *out)
{
    if (IS(add) || IS(maximum) || IS(fmax) || IS(heaviside) || IS(bitwise_or))
        *out = a || b;
    else if (IS(mul) || IS(minimum) || IS(fmin) || IS(bitwise_and))
        *out = a && b;
    else if (IS(bitwise_xor))
        *out = a != b;
    else if (IS(bitwise_not))
        *out = !a;
    else if (IS(abs))
        *out = a;
    else
        return false;
    return true;
}

bool reference_row(const char *row, tn_dtype dtype, const reference_number *n, reference_number *out, double *slack)
{
    bool set = false;
    wide_unsigned bits = 0;
    *slack = 0;
    *out = (reference_number){.dtype = dtype};
    if IS (where) {
        *out = reference_float(n[0]) != 0 ? n[1] : n[2];
        return true;
    }
    if (truth(row, n, &set)) {
        *out = (reference_number){.dtype = TN_BOOL, .i = set};
        return true;
    }
    if (tn_dtype_is_float(dtype)) {
        const double a = (double)n[0].f, b = (double)n[1].f, c = (double)n[2].f;
        return float_row(row, a, b, c, &out->f, slack) || arithmetic_row(row, dtype != TN_F64, a, b, c, &out->f) ||
               function_row(row, dtype != TN_F64, a, b, &out->f, slack) || activation_row(row, a, b, c, &out->f, slack);
    }
    if (dtype == TN_BOOL) {
        const bool known = bool_row(row, n[0].i != 0, n[1].i != 0, &set);
        out->i = set;
        return known;
    }
    const bool known = integer_row(row, dtype, n[0].i, n[1].i, n[2].i, &bits);
    out->i = wrapped(dtype, bits);
    return known;
}
