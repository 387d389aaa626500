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

/* By the inverse of the distribution function, 2·Φ(x) - 1 = erf(x / √2): erfinv of uniform numbers between those of the bounds. */
tn_tensor *tn_truncated_normal(tn_dtype dtype, tn_shape shape, double mean, double deviation, double low, double high, const char *device)
{
    if (!(deviation > 0) || !isfinite(mean) || !isfinite(deviation))
        return TN__NULL(TN_ARGUMENT, "truncated_normal: mean %g, deviation %g", mean, deviation);
    if (!(low < high)) return TN__NULL(TN_ARGUMENT, "truncated_normal: low %g, high %g", low, high);
    const double scale = deviation * sqrt(2), first = erf((low - mean) / scale), last = erf((high - mean) / scale);
    if (!(last - first > 1e-6))
        return TN__NULL(TN_ARGUMENT, "truncated_normal: low %g and high %g are %g and %g deviations from the mean", low, high,
                        (low - mean) / deviation, (high - mean) / deviation);
    const tn_scope scope = tn_scope_push();
    const tn_dtype wide = dtype == TN_F64 ? TN_F64 : TN_F32;
    if (!tn_dtype_is_float(dtype))
        return tn__leave(scope, TN__NULL(TN_DTYPE, "truncated_normal: not for %s; floats only", tn_dtype_name(dtype)));
    tn_tensor *x = tn_erfinv(tn_uniform(wide, shape, first, last, device));
    x = tn_add(tn_mul(x, tn_float(scale)), tn_float(mean));
    return tn__leave(scope, tn_cast(tn_clamp(x, tn_float(low), tn_float(high)), dtype));
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

/* ---- multinomial ---- */

/* Every line has a finite sum above 0 and nothing below 0, and, without replacement, enough that is above 0. */
static tn_status check_weights(tn_tensor *p, int64_t count, bool replacement)
{
    double least = 0, low = 0, high = 0;
    int64_t fewest = 0;
    tn_tensor *sums = tn_sum(p, TN_AXES(-1), false), *some = tn_count_nonzero(p, TN_AXES(-1), false);
    tn_tensor *const all[] = {tn_min(p, TN_ALL_AXES, false), tn_min(sums, TN_ALL_AXES, false), tn_max(sums, TN_ALL_AXES, false),
                               tn_min(some, TN_ALL_AXES, false)};
    TN__TRY(tn_realize(all, 4));
    TN__TRY(tn_item(all[0], &least));
    TN__TRY(tn_item(all[1], &low));
    TN__TRY(tn_item(all[2], &high));
    TN__TRY(tn_item_int(all[3], &fewest));
    if (!(least >= 0)) return tn__fail(TN_ARGUMENT, "multinomial: a weight is %g", least);
    if (!(low > 0) || !isfinite(high)) return tn__fail(TN_ARGUMENT, "multinomial: the weights of a line sum to %g", low > 0 ? high : low);
    if (!replacement && fewest < count)
        return tn__fail(TN_ARGUMENT, "multinomial: %lld without replacement, and a line has %lld weights above 0", (long long)count,
                        (long long)fewest);
    return TN_OK;
}

/* Each draw where a uniform number lies among the sums up to each weight. */
static tn_tensor *draw_with_replacement(tn_tensor *p, tn_shape shape)
{
    tn_tensor *sums = tn_cumsum(p, -1), *total = tn_slice(sums, -1, -1, TN_END, 1);
    tn_tensor *at = tn_mul(tn_rand(p->dtype, shape, tn_device_of(p)), total);
    tn_tensor *last = tn_searchsorted(sums, total, false); /* of a weight above 0: the product may round up to the total */
    return tn_minimum(tn_searchsorted(sums, at, true), last);
}

/* The largest of weights divided by exponential numbers come as drawn one after the other (Efraimidis and Spirakis 2006, section 2). */
static tn_tensor *draw_without(tn_tensor *p, int64_t count)
{
    tn_tensor *waits = tn_exponential(p->dtype, tn__tensor_shape(p), 1, tn_device_of(p)), *indices = NULL;
    tn_tensor *keys = tn_where(tn_gt(p, tn_int(0)), tn_div(p, waits), tn_float(-1));
    return tn_topk(keys, count, -1, true, NULL, &indices) == TN_OK ? indices : NULL;
}

tn_tensor *tn_multinomial(tn_tensor *p, int64_t count, bool replacement)
{
    if (tn__tensor_check(p, "multinomial", "p") != TN_OK) return NULL;
    if (!tn_dtype_is_float(p->dtype)) return TN__NULL(TN_DTYPE, "multinomial: not for %s; floats only", tn_dtype_name(p->dtype));
    if (p->ndim == 0 || p->dim[p->ndim - 1] == 0)
        return TN__NULL(TN_SHAPE, "multinomial: p %s; its last axis holds the weights", tn__shape_text(p->ndim, p->dim));
    if (count < 1) return TN__NULL(TN_ARGUMENT, "multinomial: %lld draws", (long long)count);
    const tn_scope scope = tn_scope_push();
    tn_shape shape = tn__tensor_shape(p);
    shape.dim[p->ndim - 1] = count;
    tn_tensor *weights = p->dtype == TN_F64 ? p : tn_cast(p, TN_F32);
    if (weights && p->numel == 0) return tn__leave(scope, tn_zeros(TN_I64, shape, tn_device_of(p)));
    if (!weights || check_weights(weights, count, replacement) != TN_OK) return tn__leave(scope, NULL);
    return tn__leave(scope, replacement ? draw_with_replacement(weights, shape) : draw_without(weights, count));
}
