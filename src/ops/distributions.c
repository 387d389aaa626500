/* Distributions over tn_rand and tn_randn: recorded expressions, so they fuse with what reads them. */
#include "ops/compose.h"
#include <math.h>
#include <tenon/ops.h>

/* scale·z + shift; z goes. */
static tn_tensor *scaled(tn_tensor *z, double scale, double shift)
{
    tn_tensor *factor = z ? tn_float(scale) : NULL;
    z = tn__next(z, factor ? tn_mul(z, factor) : NULL);
    tn_tensor *term = z ? tn_float(shift) : NULL;
    z = tn__next(z, term ? tn_add(z, term) : NULL);
    tn_release(factor);
    tn_release(term);
    return z;
}

tn_tensor *tn_uniform(tn_dtype dtype, tn_shape shape, double low, double high, const char *device)
{
    if (!(low <= high) || !isfinite(high - low)) return TN__NULL(TN_ARGUMENT, "uniform: low %g, high %g", low, high);
    return scaled(tn_rand(dtype, shape, device), high - low, low);
}

tn_tensor *tn_normal(tn_dtype dtype, tn_shape shape, double mean, double deviation, const char *device)
{
    if (!(deviation >= 0) || !isfinite(mean) || !isfinite(deviation))
        return TN__NULL(TN_ARGUMENT, "normal: mean %g, deviation %g", mean, deviation);
    return scaled(tn_randn(dtype, shape, device), deviation, mean);
}

tn_tensor *tn_exponential(tn_dtype dtype, tn_shape shape, double rate, const char *device)
{
    if (!(rate > 0) || !isfinite(rate)) return TN__NULL(TN_ARGUMENT, "exponential: rate %g", rate);
    tn_tensor *u = tn_rand(dtype, shape, device), *one = u ? tn_int(1) : NULL, *zero = one ? tn_int(0) : NULL;
    tn_tensor *by = zero ? tn_float(rate) : NULL;
    tn_tensor *x = by ? tn_sub(one, u) : NULL; /* exact, and never 0 */
    x = tn__next(x, x ? tn_log(x) : NULL);
    x = tn__next(x, x ? tn_sub(zero, x) : NULL); /* not neg: 0 stays positive */
    x = tn__next(x, x ? tn_div(x, by) : NULL);
    tn_release(u);
    tn_release(one);
    tn_release(zero);
    tn_release(by);
    return x;
}

tn_tensor *tn_bernoulli(tn_tensor *p)
{
    if (tn__tensor_check(p, "bernoulli", "p") != TN_OK) return NULL;
    if (!tn_dtype_is_float(p->dtype)) return TN__NULL(TN_DTYPE, "bernoulli: not for %s; floats only", tn_dtype_name(p->dtype));
    tn_tensor *u = tn_rand(p->dtype == TN_F64 ? TN_F64 : TN_F32, tn__tensor_shape(p), tn_device_of(p));
    tn_tensor *x = u ? tn_lt(u, p) : NULL;
    tn_release(u);
    return tn__next(x, x ? tn_cast(x, p->dtype) : NULL);
}
