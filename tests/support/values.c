/* Single values of a dtype, and random numbers. */
#include "support/test.h"

#include <math.h>

double test_number(tn_dtype dtype, const void *p)
{
    uint16_t half;
    switch (dtype) {
#define CASE(id, type)           \
    case TN_##id: {              \
        type v;                  \
        memcpy(&v, p, sizeof v); \
        return (double)v;        \
    }
        CASE(F32, float)
        CASE(F64, double)
        CASE(I8, int8_t)
        CASE(I16, int16_t)
        CASE(I32, int32_t)
        CASE(I64, int64_t)
        CASE(U8, uint8_t)
        CASE(U16, uint16_t)
        CASE(U32, uint32_t)
        CASE(U64, uint64_t)
        CASE(BOOL, uint8_t)
#undef CASE
    case TN_F16: memcpy(&half, p, 2); return (double)tn_f16_to_f32(half);
    case TN_BF16: memcpy(&half, p, 2); return (double)tn_bf16_to_f32(half);
    default: ck_abort_msg("no dtype"); return 0;
    }
}

/* Digits of a float dtype's significand, and the exponent of its smallest step. */
static void float_facts(tn_dtype dtype, int *digits, int *least, double *largest)
{
    switch (dtype) {
    case TN_F16: *digits = 11, *least = -24, *largest = 65504.0; break;
    case TN_BF16: *digits = 8, *least = -133, *largest = ldexp(255, 120); break;
    case TN_F32: *digits = 24, *least = -149, *largest = 3.4028234663852886e38; break;
    default: *digits = 53, *least = -1074, *largest = 1.7976931348623157e308; break;
    }
}

double test_step(tn_dtype dtype, long double value)
{
    int digits, least, exponent = 0;
    double largest;
    float_facts(dtype, &digits, &least, &largest);
    if (value != 0) (void)frexpl(value, &exponent);
    return ldexp(1, exponent - digits > least && value != 0 ? exponent - digits : least);
}

double test_largest(tn_dtype dtype)
{
    int digits, least;
    double largest;
    float_facts(dtype, &digits, &least, &largest);
    return largest;
}

/* value rounded to the dtype, nearest even, without a step in between. */
static double rounded(tn_dtype dtype, double value)
{
    int digits, least;
    double largest;
    if (dtype == TN_F64 || !isfinite(value) || value == 0) return value;
    float_facts(dtype, &digits, &least, &largest);
    const double step = test_step(dtype, value), r = nearbyint(value / step) * step;
    return fabs(r) > largest ? copysign(INFINITY, value) : r;
}

static double saturated(double value, double low, double high)
{
    return isnan(value) ? 0 : value <= low ? low : value >= high ? high : trunc(value);
}

void test_store(tn_dtype dtype, void *p, double value)
{
    uint16_t half;
    float single;
    switch (dtype) {
    case TN_F16:
        half = tn_f16_from_f32((float)rounded(dtype, value));
        memcpy(p, &half, 2);
        break;
    case TN_BF16:
        half = tn_bf16_from_f32((float)rounded(dtype, value));
        memcpy(p, &half, 2);
        break;
    case TN_F32:
        single = (float)value;
        memcpy(p, &single, 4);
        break;
    case TN_F64: memcpy(p, &value, 8); break;
#define CASE(id, type, low, high)                                                                                \
    case TN_##id: {                                                                                              \
        const type v = value >= (double)(high) ? (high) : (type)saturated(value, (double)(low), (double)(high)); \
        memcpy(p, &v, sizeof v);                                                                                 \
        break;                                                                                                   \
    }
        CASE(I8, int8_t, INT8_MIN, INT8_MAX)
        CASE(I16, int16_t, INT16_MIN, INT16_MAX)
        CASE(I32, int32_t, INT32_MIN, INT32_MAX)
        CASE(I64, int64_t, INT64_MIN, INT64_MAX)
        CASE(U8, uint8_t, 0, UINT8_MAX)
        CASE(U16, uint16_t, 0, UINT16_MAX)
        CASE(U32, uint32_t, 0, UINT32_MAX)
        CASE(U64, uint64_t, 0, UINT64_MAX)
#undef CASE
    case TN_BOOL: *(uint8_t *)p = value != 0; break;
    default: ck_abort_msg("no dtype");
    }
}

double test_ulps(tn_dtype dtype, double got, long double want)
{
    const double to = dtype == TN_F64 ? (double)want : rounded(dtype, (double)want);
    if (got == to || (isnan(got) && isnan(want))) return 0;
    if (isnan(got) || isnan(want) || isinf(want)) return INFINITY;
    if (isinf(got)) { /* stands for the number after the largest */
        int digits, least;
        double largest;
        float_facts(dtype, &digits, &least, &largest);
        const long double next = (long double)largest + (long double)test_step(dtype, largest);
        return (got > 0) != (want > 0) ? INFINITY : (double)((next - fabsl(want)) / (long double)test_step(dtype, largest));
    }
    return (double)(fabsl((long double)got - want) / (long double)test_step(dtype, want));
}

bool test_bits_equal(tn_dtype dtype, const void *a, const void *b)
{
    if (memcmp(a, b, tn_dtype_size(dtype)) == 0) return true;
    return tn_dtype_is_float(dtype) && isnan(test_number(dtype, a)) && isnan(test_number(dtype, b));
}

uint64_t test_next(test_random *r)
{
    uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

int64_t test_below(test_random *r, int64_t n)
{
    return (int64_t)(test_next(r) % (uint64_t)n);
}

double test_unit(test_random *r)
{
    return (double)(test_next(r) >> 11) * 0x1p-53;
}
