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

reference_int reference_wrapped(tn_dtype dtype, reference_int value)
{
    const wide_unsigned mask = ((wide_unsigned)1 << width_of(dtype)) - 1;
    const wide_unsigned low = (wide_unsigned)value & mask;
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
        y.i = reference_wrapped(dtype, x.i);
    return y;
}
