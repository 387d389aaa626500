/* Elementwise operations that are compositions of rows. */
#include "ops/compose.h"
#include <math.h>
#include <tenon/ops.h>

tn_status tn_frexp(tn_tensor *x, tn_tensor **mantissa, tn_tensor **exponent)
{
    if (!mantissa || !exponent) return tn__fail(TN_ARGUMENT, "frexp: %s is NULL", mantissa ? "exponent" : "mantissa");
    *exponent = NULL;
    *mantissa = tn_frexp_mantissa(x);
    tn_tensor *power = *mantissa ? tn_frexp_exponent(x) : NULL;
    *exponent = tn__next(power, power ? tn_cast(power, TN_I32) : NULL);
    if (*exponent) return TN_OK;
    *mantissa = tn__next(*mantissa, NULL);
    return tn_last_status();
}

tn_tensor *tn_float_power(tn_tensor *a, tn_tensor *b)
{
    if (tn__tensor_check(a, "float_power", "a") != TN_OK || tn__tensor_check(b, "float_power", "b") != TN_OK) return NULL;
    const tn_scope scope = tn_scope_push();
    return tn__leave(scope, tn_pow(tn_cast(a, TN_F64), tn_cast(b, TN_F64)));
}

tn_tensor *tn_nan_to_num(tn_tensor *x, double nan, double posinf, double neginf)
{
    if (tn__tensor_check(x, "nan_to_num", "x") != TN_OK) return NULL;
    if (!tn_dtype_is_float(x->dtype)) return tn_clone(x);
    const double largest = tn__dtypes[x->dtype].limit[TN__LARGEST];
    const tn_scope scope = tn_scope_push();
    tn_tensor *y = tn_where(tn_isnan(x), tn_float(nan), x);
    y = tn_where(tn_isposinf(x), tn_float(isnan(posinf) ? largest : posinf), y);
    y = tn_where(tn_isneginf(x), tn_float(isnan(neginf) ? -largest : neginf), y);
    return tn__leave(scope, y);
}

tn_tensor *tn__factor(const char *function, const tn_tensor *x, double value)
{
    if (x && !tn_dtype_is_float(x->dtype)) {
        if (value != floor(value) || fabs(value) > 0x1p53)
            return TN__NULL(TN_ARGUMENT, "%s: %s times %g; integers take whole numbers", function, tn_dtype_name(x->dtype), value);
        return tn_int((int64_t)value);
    }
    return tn_float(value);
}

/* x + value term; value 1 costs nothing. */
static tn_tensor *add_times(const char *function, tn_tensor *x, tn_tensor *term, double value)
{
    if (value != 1 && term) term = tn_mul(term, tn__factor(function, term, value));
    return tn_add(x, term);
}

tn_tensor *tn_addcmul(tn_tensor *x, tn_tensor *a, tn_tensor *b, double value)
{
    if (tn__tensor_check(x, "addcmul", "x") != TN_OK) return NULL;
    const tn_scope scope = tn_scope_push();
    return tn__leave(scope, add_times("addcmul", x, tn_mul(a, b), value));
}

tn_tensor *tn_addcdiv(tn_tensor *x, tn_tensor *a, tn_tensor *b, double value)
{
    if (tn__tensor_check(x, "addcdiv", "x") != TN_OK) return NULL;
    const tn_scope scope = tn_scope_push();
    return tn__leave(scope, add_times("addcdiv", x, tn_div(a, b), value));
}
