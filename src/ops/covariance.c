/* Covariance and correlation of the rows of a matrix. f16 and bf16 are computed in f32 and rounded once. */
#include "ops/compose.h"
#include <math.h>

static tn_status check(const char *function, tn_tensor *x)
{
    TN__TRY(tn__tensor_check(x, function, "x"));
    if (x->ndim > 2) return tn__fail(TN_SHAPE, "%s: x %s has more than 2 axes", function, tn__shape_text(x->ndim, x->dim));
    if (!tn_dtype_is_float(x->dtype))
        return tn__fail(TN_DTYPE, "%s: not for %s; cast to a float first", function, tn_dtype_name(x->dtype));
    return TN_OK;
}

/* [m, m], of a matrix x [m, n] or of its one row [n]. */
static tn_tensor *covariance(tn_tensor *x, int correction)
{
    const int64_t n = x->ndim ? x->dim[x->ndim - 1] : 1;
    const double left = (double)n - correction;
    tn_tensor *rows = tn__wide(x->ndim < 2 ? tn_reshape(x, TN_SHAPE(1, n)) : x);
    tn_tensor *d = tn_sub(rows, tn_mean(rows, TN_AXES(1), true));
    return tn_div(tn_matmul(d, tn_transpose(d, 0, 1)), tn_float(left > 0 ? left : NAN));
}

/* The 1 by 1 matrix of one row as a number. */
static tn_tensor *of_rows(const tn_tensor *x, tn_tensor *y)
{
    return x->ndim < 2 ? tn_reshape(y, TN_SHAPE()) : y;
}

tn_tensor *tn_cov(tn_tensor *x, int correction)
{
    if (check("cov", x) != TN_OK) return NULL;
    const tn_scope scope = tn_scope_push();
    return tn__leave_as(scope, of_rows(x, covariance(x, correction)), x->dtype);
}

tn_tensor *tn_corrcoef(tn_tensor *x)
{
    if (check("corrcoef", x) != TN_OK) return NULL;
    const tn_scope scope = tn_scope_push();
    tn_tensor *c = covariance(x, 0), *deviation = tn_sqrt(tn_diagonal(c, 0, 0, 1));
    tn_tensor *y = tn_div(tn_div(c, tn_unsqueeze(deviation, 1)), deviation);
    return tn__leave_as(scope, of_rows(x, tn_clamp(y, tn_int(-1), tn_int(1))), x->dtype);
}
