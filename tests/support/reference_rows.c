/* The references of the rows, from references.def; for what has none there, the row's own text (row_texts.h). */
#include "support/reference.h"
#include "support/row_texts.h"
#include "support/special.h"
#include "support/test.h"

#include "graph/node.h"

#include <math.h>

__extension__ typedef unsigned __int128 wide_unsigned;

/* ---- arithmetic ---- */

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

/* In the dtype's own bits, whose order is that of the numbers' sizes. */
static double next_number(tn_dtype dtype, double a, double b)
{
    const size_t size = tn_dtype_size(dtype);
    uint64_t bits = 0;
    if (isnan(a) || isnan(b) || a == b) return isnan(a) ? a : b;
    if (a == 0)
        bits = 1; /* least, of b's sign */
    else {
        test_store(dtype, &bits, fabs(a));
        if ((a < b) == (a > 0))
            bits++;
        else
            bits--;
    }
    if (a == 0 ? b < 0 : a < 0) bits |= (uint64_t)1 << (8 * size - 1);
    return test_number(dtype, &bits);
}

static double mantissa_of(double a)
{
    int e;
    return frexp(a, &e);
}

static int exponent_of(double a)
{
    int e = 0;
    (void)frexp(a, &e);
    return isfinite(a) ? e : 0;
}

/* ---- functions ---- */

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
static long double cost_of_log1p(long double d, long double result)
{
    const long double e = expl(-fabsl(d));
    return e > 0 ? (6 + fabsl(d)) * log1pl(e) / fabsl(result) : 0;
}

static long double log_of_sum(long double x, long double y)
{
    const long double d = x == y ? 0 : x - y, m = isnan(d) ? d : x > y ? x : y;
    return m + log1pl(expl(-fabsl(d)));
}

static long double log2_of_sum(long double x, long double y)
{
    const long double d = x == y ? 0 : x - y, m = isnan(d) ? d : x > y ? x : y;
    return m + log1pl(exp2l(-fabsl(d))) / logl(2);
}

/* ---- activations ---- */

/* x (1 + erf(x / sqrt 2)) / 2 without cancellation */
static long double gelu(long double x)
{
    return isinf(x) && x < 0 ? (long double)NAN : x / 2 * erfcl(-x / sqrtl(2.0L));
}

static long double hard(long double x) /* min(max(x + 3, 0), 6) / 6 */
{
    return isnan(x) ? x : x <= -3 ? 0 : x >= 3 ? 1 : (x + 3) / 6;
}

static long double celu(long double x, long double alpha)
{
    const long double y = x / alpha;
    return x >= 0 || fabsl(y) < 1e-17L ? x : alpha * expm1l(y);
}

static long double exponent_of_gelu(long double x)
{
    return -2 * sqrtl(2 / acosl(-1)) * (x + 0.044715L * x * x * x);
}

/* x - tanh(x): its series where the difference would cancel. */
static long double tanhshrink(long double x)
{
    static const long double terms[] = {1 / 3.0L,
                                        2 / 15.0L,
                                        17 / 315.0L,
                                        62 / 2835.0L,
                                        1382 / 155925.0L,
                                        21844 / 6081075.0L,
                                        929569 / 638512875.0L,
                                        6404582 / 10854718875.0L,
                                        443861162 / 1856156927625.0L};
    const long double q = x * x;
    long double sum = 0;
    if (!(fabsl(x) < 0.1L)) return x - tanhl(x);
    for (int i = (int)(sizeof terms / sizeof terms[0]) - 1; i >= 0; i--) sum = terms[i] - q * sum;
    return x * q * sum;
}

/* ---- integers ---- */

static wide_unsigned product(reference_int a, reference_int b)
{
    return (wide_unsigned)a * (wide_unsigned)b;
}

/* 0 for a zero divisor. */
static reference_int floor_quotient(reference_int a, reference_int b)
{
    return b == 0 ? 0 : a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static wide_unsigned power(reference_int base, reference_int exponent)
{
    wide_unsigned result = 1, square = (wide_unsigned)base;
    if (exponent < 0) return (wide_unsigned)(base == 1 ? 1 : base == -1 ? (exponent % 2 ? -1 : 1) : 0);
    for (; exponent > 0; exponent /= 2, square *= square)
        if (exponent % 2) result *= square;
    return result;
}

static reference_int magnitude(reference_int a)
{
    return a < 0 ? -a : a;
}

static reference_int common_divisor(reference_int a, reference_int b)
{
    while (b != 0) {
        const reference_int rest = a % b;
        a = b;
        b = rest;
    }
    return magnitude(a);
}

/* A shift may be by so many bits. */
static bool shifts(tn_dtype dtype, reference_int count)
{
    return count >= 0 && count < 8 * (reference_int)tn_dtype_size(dtype);
}

/* ---- the table ---- */

typedef struct line {
    bool given;
    long double (*real)(double a, double b, double c, tn_dtype dtype);
    double (*slack)(double a, double b, double c, long double out);
    wide_unsigned (*integer)(tn_dtype dtype, reference_int a, reference_int b, reference_int c);
    bool (*boolean)(bool a, bool b);
    bool (*real_truth)(double a, double b);
    bool (*truth)(reference_int a, reference_int b);
} line;

#define NO 0
#define WIDENED const long double x = (long double)a, y = (long double)b
#define VALUE(name, costs, f, i, p)                                                                        \
    static long double real_##name(double a, double b, double c, tn_dtype dtype)                           \
    {                                                                                                      \
        WIDENED;                                                                                           \
        const bool single = dtype != TN_F64;                                                               \
                                                                                                           \
        (void)x, (void)y, (void)c, (void)dtype, (void)single;                                              \
        return (long double)(f);                                                                           \
    }                                                                                                      \
    static double slack_##name(double a, double b, double c, long double out)                              \
    {                                                                                                      \
        WIDENED;                                                                                           \
        (void)x, (void)y, (void)c, (void)out;                                                              \
        return (double)(costs);                                                                            \
    }                                                                                                      \
    static wide_unsigned integer_##name(tn_dtype dtype, reference_int a, reference_int b, reference_int c) \
    {                                                                                                      \
        (void)dtype, (void)a, (void)b, (void)c;                                                            \
        return (wide_unsigned)(i);                                                                         \
    }                                                                                                      \
    static bool boolean_##name(bool a, bool b)                                                             \
    {                                                                                                      \
        (void)a, (void)b;                                                                                  \
        return p;                                                                                          \
    }
#define TRUTH(name, f, i)                                      \
    static bool real_truth_##name(double a, double b)          \
    {                                                          \
        (void)a, (void)b;                                      \
        return f;                                              \
    }                                                          \
    static bool truth_##name(reference_int a, reference_int b) \
    {                                                          \
        (void)a, (void)b;                                      \
        return i;                                              \
    }
#include "support/references.def"
#undef VALUE
#undef TRUTH

static const line lines[TN__ROWS] = {
#define VALUE(name, ...) [TN__ROW_##name] = {true, real_##name, slack_##name, integer_##name, boolean_##name, NULL, NULL},
#define TRUTH(name, ...) [TN__ROW_##name] = {.given = true, .real_truth = real_truth_##name, .truth = truth_##name},
#include "support/references.def"
#undef VALUE
#undef TRUTH
};

static reference_number given_line(const line *l, tn_dtype dtype, const reference_number *n, double *slack)
{
    const bool real = tn_dtype_is_float(dtype);
    const double a = (double)n[0].f, b = (double)n[1].f, c = (double)n[2].f;
    reference_number out = {.dtype = l->truth ? TN_BOOL : dtype};
    if (l->truth)
        out.i = real ? l->real_truth(a, b) : l->truth(n[0].i, n[1].i);
    else if (real) {
        out.f = l->real(a, b, c, dtype);
        *slack = isfinite(out.f) ? l->slack(a, b, c, out.f) : 0;
        if (!isfinite(*slack)) *slack = 0;
    } else if (dtype == TN_BOOL)
        out.i = l->boolean(n[0].i != 0, n[1].i != 0);
    else
        out.i = reference_wrapped(dtype, (reference_int)l->integer(dtype, n[0].i, n[1].i, n[2].i));
    return out;
}

reference_number reference_row(int row, tn_dtype dtype, const reference_number *n, double *slack)
{
    *slack = 0;
    if (row == TN__ROW_where) return reference_float(n[0]) != 0 ? n[1] : n[2];
    if (lines[row].given) return given_line(&lines[row], dtype, n, slack);
    const reference_number out = row_text(row, dtype, n);
    if (reference_may_flush(out)) *slack = INFINITY; /* on the way digits may have been lost below the range */
    return out;
}
