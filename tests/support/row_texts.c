/* The rows compare with 0 in unsigned types too. */
#pragma GCC diagnostic ignored "-Wtype-limits"
#include "support/row_texts.h"

#include "core/dtype.h"
#include "graph/node.h"

#include <math.h>

#define LOOPS "support/row_text_functions.h"
#define TEXT(f, i, b) f
#define IS_FLOAT 1
#define T long double
#define S x
#define MATH(name) name##l
#include LOOPS
#undef T
#undef S
#undef MATH
#undef IS_FLOAT
#include "graph/each_float.h"
#undef TEXT
#define TEXT(f, i, b) i
#include "graph/each_integer.h"
#undef TEXT

#define TEXT(f, i, b) b
#define IS_FLOAT 0
#define T uint32_t
#define U uint32_t
#define S b
#define LOWEST_VALUE 0
#include LOOPS

static long double own_text(int row, tn_dtype dtype, long double a, long double b, long double c)
{
    const double *limit = tn__dtypes[dtype].limit;
    if (dtype == TN_F64) return (long double)texts_d[row]((double)a, (double)b, (double)c, limit);
    return (long double)texts_f[row]((float)a, (float)b, (float)c, limit);
}

static long double float_text(int row, tn_dtype dtype, const reference_number *n)
{
    const long double a = reference_float(n[0]), b = reference_float(n[1]), c = reference_float(n[2]);
    const long double wide = texts_x[row](a, b, c, tn__dtypes[dtype].limit), own = own_text(row, dtype, a, b, c);
    return own == 0 || !isfinite(own) ? own : wide;
}

static reference_int integer_text(int row, tn_dtype dtype, reference_int a, reference_int b, reference_int c)
{
    const double *limit = tn__dtypes[dtype].limit;
    if (dtype == TN_BOOL) return texts_b[row]((uint32_t)a, (uint32_t)b, (uint32_t)c, limit);
    switch (tn__dtypes[dtype].compute) {
    case TN__CI: return texts_i[row]((int32_t)a, (int32_t)b, (int32_t)c, limit);
    case TN__CU: return texts_u[row]((uint32_t)a, (uint32_t)b, (uint32_t)c, limit);
    case TN__CL: return texts_l[row]((int64_t)a, (int64_t)b, (int64_t)c, limit);
    default: return (reference_int)texts_m[row]((uint64_t)a, (uint64_t)b, (uint64_t)c, limit);
    }
}

reference_number row_text(int row, tn_dtype dtype, const reference_number *n)
{
    const bool real = tn_dtype_is_float(dtype), truth = tn__rows[row].result == TN__TO_BOOL;
    reference_number out = {.dtype = truth ? TN_BOOL : dtype};
    if (real)
        out.f = float_text(row, dtype, n);
    else
        out.i = reference_wrapped(dtype, integer_text(row, dtype, n[0].i, n[1].i, n[2].i));
    if (truth && real) out.i = out.f != 0;
    return out;
}
