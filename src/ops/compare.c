/* Comparison of whole tensors, and of numbers within a tolerance. */
#include "core/scope.h"
#include "ops/compose.h"
#include <math.h>

/* |a - b|, without wrapping: of integers as u64. */
static tn_tensor *distance(tn_tensor *a, tn_tensor *b)
{
    const tn_dtype dtype = tn_promote(a->dtype, b->dtype), wide = dtype == TN_U64 ? TN_U64 : TN_I64;
    if (tn_dtype_is_float(dtype)) return tn_abs(tn_sub(tn__wide(a), tn__wide(b)));
    a = tn_cast(a, wide);
    b = tn_cast(b, wide);
    return tn_cast(tn_sub(tn_maximum(a, b), tn_minimum(a, b)), TN_U64);
}

/* What is equal, infinities among it, or finitely near. */
static tn_tensor *close_to(tn_tensor *a, tn_tensor *b, double rtol, double atol, bool equal_nan)
{
    tn_tensor *y = tn_eq(a, b);
    if (!y) return NULL;
    tn_tensor *d = distance(a, b), *size = tn_abs(tn_cast(b, b->dtype == TN_F64 ? TN_F64 : TN_F32));
    tn_tensor *near = tn_le(d, tn_add(tn_mul(size, tn_float(rtol)), tn_float(atol)));
    y = tn_logical_or(y, tn_logical_and(tn_isfinite(d), near));
    return equal_nan ? tn_logical_or(y, tn_logical_and(tn_isnan(a), tn_isnan(b))) : y;
}

static tn_status check(const char *function, tn_tensor *a, tn_tensor *b)
{
    TN__TRY(tn__tensor_check(a, function, "a"));
    return tn__tensor_check(b, function, "b");
}

static tn_tensor *is_close(const char *function, tn_tensor *a, tn_tensor *b, double rtol, double atol, bool equal_nan)
{
    if (check(function, a, b) != TN_OK) return NULL;
    if (!(rtol >= 0) || !(atol >= 0))
        return TN__NULL(TN_ARGUMENT, "%s: rtol %g and atol %g; none may be negative", function, rtol, atol);
    const tn_scope scope = tn_scope_push();
    return tn__leave(scope, close_to(a, b, rtol, atol, equal_nan));
}

tn_tensor *tn_isclose(tn_tensor *a, tn_tensor *b, double rtol, double atol, bool equal_nan)
{
    return is_close("isclose", a, b, rtol, atol, equal_nan);
}

/* Are all elements of y, which goes, true? */
static tn_status all_true(tn_tensor *y, bool *result)
{
    int64_t all = 0;
    const tn_scope scope = tn_scope_push();
    const tn_status status = y ? tn_item_int(tn_all(y, TN_ALL_AXES, false), &all) : tn_last_status();
    tn_release(y);
    *result = status == TN_OK && all != 0;
    return tn__scope_end(scope, status);
}

tn_status tn_allclose(tn_tensor *a, tn_tensor *b, double rtol, double atol, bool equal_nan, bool *result)
{
    if (!result) return tn__fail_null("allclose", "result");
    return all_true(is_close("allclose", a, b, rtol, atol, equal_nan), result);
}

tn_status tn_equal(tn_tensor *a, tn_tensor *b, bool *result)
{
    if (!result) return tn__fail_null("equal", "result");
    *result = false;
    TN__TRY(check("equal", a, b));
    const tn_shape x = tn__tensor_shape(a), y = tn__tensor_shape(b);
    return tn__shape_equal(&x, &y) ? all_true(tn_eq(a, b), result) : TN_OK;
}
