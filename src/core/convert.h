/* Conversions between compute types and storage, one element at a time, by the contract's cast rules. The OpenCL forms
 * are in kernels/convert.h under the same names. */
#ifndef TN__CONVERT_H
#define TN__CONVERT_H

#include <math.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t tn__bits_of(float f)
{
    uint32_t u;
    memcpy(&u, &f, 4);
    return u;
}
static inline float tn__float_of(uint32_t u)
{
    float f;
    memcpy(&f, &u, 4);
    return f;
}

/* f32 rounded to f16 and bf16 precision, staying f32: nearest even. */
static inline float tn__round_bf16(float f)
{
    uint32_t u = tn__bits_of(f);
    if ((u & 0x7fffffffu) > 0x7f800000u) return tn__float_of((u | 0x00400000u) & 0xffff0000u);
    u += 0x7fffu + ((u >> 16) & 1u);
    return tn__float_of(u & 0xffff0000u);
}
static inline uint16_t tn__bf16_bits(float f)
{
    return (uint16_t)(tn__bits_of(tn__round_bf16(f)) >> 16);
}
static inline float tn__f16_float(uint16_t h)
{
    const uint32_t sign = (uint32_t)(h & 0x8000u) << 16, e = (h >> 10) & 31u, m = h & 0x3ffu;
    if (e == 31) return tn__float_of(sign | 0x7f800000u | (m << 13));
    if (e == 0) {
        const float f = (float)m * 0x1p-24f;
        return sign ? -f : f;
    }
    return tn__float_of(sign | ((e + 112u) << 23) | (m << 13));
}
static inline uint16_t tn__f16_bits(float f)
{
    const uint32_t u = tn__bits_of(f), sign = (u >> 16) & 0x8000u, a = u & 0x7fffffffu;
    if (a > 0x7f800000u) return (uint16_t)(sign | 0x7e00u | ((a >> 13) & 0x3ffu));
    if (a >= 0x477ff000u) return (uint16_t)(sign | 0x7c00u); /* 65520 and above */
    if (a < 0x38800000u) {                                   /* below 2^-14: subnormal, step 2^-24 */
        const float s = tn__float_of(a) * 0x1p24f;
        return (uint16_t)(sign | (uint32_t)nearbyintf(s));
    }
    const uint32_t r = a + 0xfffu + ((a >> 13) & 1u);
    return (uint16_t)(sign | ((r - 0x38000000u) >> 13));
}
static inline float tn__round_f16(float f)
{
    return tn__f16_float(tn__f16_bits(f));
}

/* Wide values to f32 rounded to odd, so that a second rounding to 16 bits is the only one that counts. */
static inline float tn__odd_from_d(double d)
{
    float f = (float)d;
    if (!(fabs(d) <= 1.7976931348623157e308) || (double)f == d) return f;
    if (fabs((double)f) > fabs(d)) f = nextafterf(f, 0.0f); /* toward zero */
    return tn__float_of(tn__bits_of(f) | 1u);
}
static inline float tn__odd_from_m(uint64_t v)
{
    int shift = 0;
    uint64_t lost = 0;
    while ((v >> shift) >= (1u << 24)) shift++;
    lost = v & ((UINT64_C(1) << shift) - 1u);
    const uint64_t kept = (v >> shift) | (lost != 0);
    return (float)kept * (float)(UINT64_C(1) << shift);
}
static inline float tn__odd_from_l(int64_t v)
{
    return v < 0 ? -tn__odd_from_m(0u - (uint64_t)v) : tn__odd_from_m((uint64_t)v);
}

/* Float to integer: truncates, saturates, NaN is 0. */
#define TN__SATURATE(name, from, to, low, high, low_value, high_value) \
    static inline to name(from v)                                      \
    {                                                                  \
        if (v != v) return 0;                                          \
        if (v <= (low)) return (low_value);                            \
        if (v >= (high)) return (high_value);                          \
        return (to)v;                                                  \
    }
TN__SATURATE(tn__i_from_f, float, int32_t, -2147483648.0f, 2147483648.0f, INT32_MIN, INT32_MAX)
TN__SATURATE(tn__u_from_f, float, uint32_t, 0.0f, 4294967296.0f, 0, UINT32_MAX)
TN__SATURATE(tn__l_from_f, float, int64_t, -9223372036854775808.0f, 9223372036854775808.0f, INT64_MIN, INT64_MAX)
TN__SATURATE(tn__m_from_f, float, uint64_t, 0.0f, 18446744073709551616.0f, 0, UINT64_MAX)
TN__SATURATE(tn__i_from_d, double, int32_t, -2147483648.0, 2147483647.0, INT32_MIN, INT32_MAX)
TN__SATURATE(tn__u_from_d, double, uint32_t, 0.0, 4294967295.0, 0, UINT32_MAX)
TN__SATURATE(tn__l_from_d, double, int64_t, -9223372036854775808.0, 9223372036854775808.0, INT64_MIN, INT64_MAX)
TN__SATURATE(tn__m_from_d, double, uint64_t, 0.0, 18446744073709551616.0, 0, UINT64_MAX)
#undef TN__SATURATE

#endif
