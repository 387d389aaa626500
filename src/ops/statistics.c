/* Operations over axes that are composed of public ones; their parts fuse. f16 and bf16 are computed in f32 and rounded once. */
#include "core/view.h"
#include "ops/compose.h"
#include "ops/phases.h"
#include "ops/reduction.h"
#include <math.h>
#include <tenon/ops.h>

/* An operation over axes: its operand as it is computed in, and what it reduces. */
typedef struct over {
    tn_tensor *x; /* f32 or f64 where the operation is one of floats */
    tn_axes axes;
    uint32_t mask;
    bool keepdim;
    double n; /* elements reduced into each result */
} over;

static tn_status start(over *o, tn_tensor *x, tn_axes axes, bool keepdim, const char *name, bool floats_only)
{
    *o = (over){.axes = axes, .keepdim = keepdim, .n = 1};
    TN__TRY(tn__reduced_axes(x, &o->axes, name, &o->mask));
    if (floats_only && !tn_dtype_is_float(x->dtype))
        return tn__fail(TN_DTYPE, "%s: not for %s; cast to a float first", name, tn_dtype_name(x->dtype));
    for (int a = 0; a < x->ndim; a++)
        if (o->mask & (1u << a)) o->n *= (double)x->dim[a];
    o->x = x;
    return TN_OK;
}

/* Takes the reduced axes, of extent 1, out of y where they are not to be kept. */
static tn_tensor *without_axes(const over *o, tn_tensor *y)
{
    if (o->keepdim || o->mask == 0) return y;
    tn_axes gone = {.count = 0};
    for (int a = 0; a < o->x->ndim; a++)
        if (o->mask & (1u << a)) gone.axis[gone.count++] = a;
    return tn_squeeze(y, gone);
}

/* A result of this value everywhere. */
static tn_tensor *constant(const over *o, double value)
{
    const tn_shape shape = tn__reduced_shape(o->x, o->mask, o->keepdim);
    return tn_full(o->x->dtype, shape, tn_float(value), tn_device_of(o->x));
}

/* A phase list over the reduced axes, in one launch, when they lie behind each other and it pays. */
static bool by_rows(const over *o, int list, double number, tn_tensor **y)
{
    tn_tensor *x = o->x;
    int first = 0, count = 0;
    while (first < x->ndim && !(o->mask & (1u << first))) first++;
    while (first + count < x->ndim && o->mask & (1u << (first + count))) count++;
    if (count == 0 || o->mask != ((1u << count) - 1) << first || (count > 1 && !tn__tensor_contiguous(x))) return false;
    if (count > 1) x = tn_flatten(x, first, first + count - 1);
    if (x && !tn__phases_pay(x, first)) return false;
    tn_tensor *z = x ? tn__phases(list, x, NULL, number, first) : NULL;
    *y = z ? tn_reshape(z, tn__reduced_shape(o->x, o->mask, o->keepdim)) : NULL;
    return true;
}

/* ---- counting and extremes ---- */

tn_tensor *tn_count_nonzero(tn_tensor *x, tn_axes axes, bool keepdim)
{
    over o;
    if (start(&o, x, axes, keepdim, "count_nonzero", false) != TN_OK) return NULL;
    const tn_scope scope = tn_scope_push();
    return tn__leave_as(scope, tn_sum(tn_cast(x, TN_BOOL), o.axes, keepdim), TN_I64);
}

tn_tensor *tn_amax(tn_tensor *x, tn_axes axes, bool keepdim)
{
    return tn_max(x, axes, keepdim);
}

tn_tensor *tn_amin(tn_tensor *x, tn_axes axes, bool keepdim)
{
    return tn_min(x, axes, keepdim);
}

/* ---- variance ---- */

typedef struct variance_attributes {
    tn__reduce_attributes reduce;
    double left; /* what the squares' sum is divided by */
} variance_attributes;

static void variance_back(const tn__backward *back)
{
    const variance_attributes *own = back->attributes;
    tn_tensor *x = back->in[0], *d = tn_sub(x, tn_mean(x, tn__reduced_of(back), true));
    back->g[0] = tn_mul(d, tn_mul(tn__kept(back, back->up[0]), tn_float(2 / own->left)));
}

static const tn__derivative derive_variance = {"var", variance_back, TN__SAVES_FIRST, sizeof(variance_attributes)};

/* Two passes: the mean, then the squares of what is left. In what it is computed in. */
static tn_tensor *variance(over *o, int correction)
{
    const double left = o->n - correction > 0 ? o->n - correction : NAN;
    tn_tensor *y = NULL;
    if (!(o->x = tn__wide(o->x))) return NULL;
    tn__derive_pause();
    if (!by_rows(o, TN__LIST_variance, left, &y)) {
        tn_tensor *d = tn_sub(o->x, tn_mean(o->x, o->axes, true));
        y = tn_div(tn_sum(tn_mul(d, d), o->axes, o->keepdim), tn_float(left));
    }
    tn__derive_resume();
    return tn__recorded(&derive_variance, &(variance_attributes){{o->mask, o->keepdim}, left}, &o->x, 1, y);
}

tn_tensor *tn_var(tn_tensor *x, tn_axes axes, int correction, bool keepdim)
{
    over o;
    if (start(&o, x, axes, keepdim, "var", true) != TN_OK) return NULL;
    const tn_scope scope = tn_scope_push();
    return tn__leave_as(scope, variance(&o, correction), x->dtype);
}

/* The root, whose gradient at 0 is 0 here. */
static tn_tensor *deviation(tn_tensor *variance)
{
    tn_tensor *zero = tn_int(0), *none = tn_eq(variance, zero);
    return tn_where(none, zero, tn_sqrt(tn_where(none, tn_int(1), variance)));
}

tn_tensor *tn_std(tn_tensor *x, tn_axes axes, int correction, bool keepdim)
{
    over o;
    if (start(&o, x, axes, keepdim, "std", true) != TN_OK) return NULL;
    const tn_scope scope = tn_scope_push();
    return tn__leave_as(scope, deviation(variance(&o, correction)), x->dtype);
}

/* ---- norms ---- */

/* (sum |x|^p)^(1/p) of x divided by its largest |x| (p < 0: the smallest), so that no power overflows; where that is 0, infinite
 * or NaN it does not divide. f16's squares fit f32: no scale. */
static tn_tensor *power_norm(const over *o, tn_tensor *size, double p, bool scaled)
{
    tn_tensor *scale = NULL;
    if (scaled) {
        scale = p > 0 ? tn_max(size, o->axes, true) : tn_min(size, o->axes, true);
        tn_tensor *usable = tn_logical_and(tn_gt(scale, tn_int(0)), tn_lt(scale, tn_float(INFINITY)));
        scale = tn_where(usable, scale, tn_float(1));
        size = tn_div(size, scale);
    }
    tn_tensor *sum = tn_sum(p == 2 ? tn_mul(size, size) : tn_pow(size, tn_float(p)), o->axes, true);
    tn_tensor *y = p == 2 ? tn_sqrt(sum) : tn_pow(sum, tn_float(1 / p));
    return scaled ? tn_mul(y, scale) : y;
}

static tn_tensor *norm(const over *o, double p, bool is_f16)
{
    if (o->n == 0) return constant(o, 0);
    if (p == 0) return tn_sum(tn_cast(tn_cast(o->x, TN_BOOL), o->x->dtype), o->axes, o->keepdim);
    tn_tensor *size = tn_abs(o->x);
    if (p == 1) return tn_sum(size, o->axes, o->keepdim);
    if (isinf(p)) return p > 0 ? tn_max(size, o->axes, o->keepdim) : tn_min(size, o->axes, o->keepdim);
    return without_axes(o, power_norm(o, size, p, !(p == 2 && is_f16)));
}

typedef struct norm_attributes {
    tn__reduce_attributes reduce;
    double p;
} norm_attributes;

/* The norm's change with each element: sign(x) |x|^(p-1) / norm^(p-1), 0 at 0; of the infinite norms the signs of the extremes, which
 * share evenly. */
static tn_tensor *norm_slope(const tn__backward *back, tn_tensor *x, tn_tensor *norm, double p)
{
    tn_tensor *zero = tn_int(0);
    if (p == 0) return tn_zeros_like(x);
    if (p == 1) return tn_sign(x);
    if (isinf(p)) {
        tn_tensor *chosen = tn_cast(tn_eq(tn_abs(x), norm), x->dtype);
        return tn_div(tn_mul(tn_sign(x), chosen), tn_sum(chosen, tn__reduced_of(back), true));
    }
    tn_tensor *ratio = tn_div(x, norm);
    if (p != 2) ratio = tn_mul(tn_sign(x), tn_pow(tn_abs(ratio), tn_float(p - 1)));
    return tn_where(tn_eq(x, zero), zero, ratio);
}

static void norm_back(const tn__backward *back)
{
    const double p = ((const norm_attributes *)back->attributes)->p;
    back->g[0] = tn_mul(tn__kept(back, back->up[0]), norm_slope(back, back->in[0], tn__kept(back, back->out[0]), p));
}

static const tn__derivative derive_norm = {"norm", norm_back, TN__SAVES_BOTH, sizeof(norm_attributes)};

tn_tensor *tn_norm(tn_tensor *x, double p, tn_axes axes, bool keepdim)
{
    over o;
    if (start(&o, x, axes, keepdim, "norm", true) != TN_OK) return NULL;
    if (isnan(p)) return TN__NULL(TN_ARGUMENT, "norm: p is NaN");
    if (p < 0 && o.n == 0)
        return TN__NULL(TN_SHAPE, "norm: p is %g and %s has no elements along the reduced axes", p,
                        tn__shape_text(x->ndim, x->dim));
    const tn_scope scope = tn_scope_push();
    if (o.n > 0) o.x = tn__wide(x);
    tn__derive_pause();
    tn_tensor *y = o.x ? norm(&o, p, x->dtype == TN_F16) : NULL;
    tn__derive_resume();
    y = tn__recorded(&derive_norm, &(norm_attributes){{o.mask, keepdim}, p}, &o.x, 1, y);
    return tn__leave_as(scope, y, x->dtype);
}

/* ---- logarithms of sums ---- */

/* The largest is taken off first, unless it is infinite. */
static tn_tensor *logsumexp(over *o)
{
    tn_tensor *y = NULL;
    if (o->n == 0) return constant(o, -INFINITY);
    if (by_rows(o, TN__LIST_logsumexp, 0, &y)) return y;
    tn_tensor *most = tn_max(o->x, o->axes, true);
    tn_tensor *off = tn_where(tn_eq(tn_abs(most), tn_float(INFINITY)), tn_int(0), most);
    return without_axes(o, tn_add(tn_log(tn_sum(tn_exp(tn_sub(o->x, off)), o->axes, true)), off));
}

/* The softmax. */
static void logsumexp_back(const tn__backward *back)
{
    back->g[0] = tn_mul(tn__kept(back, back->up[0]), tn_exp(tn_sub(back->in[0], tn__kept(back, back->out[0]))));
}

static const tn__derivative derive_logsumexp = {"logsumexp", logsumexp_back, TN__SAVES_BOTH, sizeof(tn__reduce_attributes)};

tn_tensor *tn_logsumexp(tn_tensor *x, tn_axes axes, bool keepdim)
{
    over o;
    if (start(&o, x, axes, keepdim, "logsumexp", false) != TN_OK) return NULL;
    const tn_scope scope = tn_scope_push();
    const tn_dtype dtype = tn_dtype_is_float(x->dtype) ? x->dtype : TN_F32;
    o.x = x->dtype == TN_F64 ? x : tn_cast(x, TN_F32);
    tn__derive_pause();
    tn_tensor *y = o.x ? logsumexp(&o) : NULL;
    tn__derive_resume();
    y = tn__recorded(&derive_logsumexp, &(tn__reduce_attributes){o.mask, keepdim}, &o.x, 1, y);
    return tn__leave_as(scope, y, dtype);
}

/* ---- without NaN ---- */

tn_tensor *tn_nansum(tn_tensor *x, tn_axes axes, bool keepdim)
{
    over o;
    if (start(&o, x, axes, keepdim, "nansum", false) != TN_OK) return NULL;
    if (!tn_dtype_is_float(x->dtype)) return tn_sum(x, o.axes, keepdim);
    const tn_scope scope = tn_scope_push();
    return tn__leave_as(scope, tn_sum(tn_where(tn_isnan(x), tn_int(0), x), o.axes, keepdim), x->dtype);
}

tn_tensor *tn_nanmean(tn_tensor *x, tn_axes axes, bool keepdim)
{
    over o;
    if (start(&o, x, axes, keepdim, "nanmean", true) != TN_OK) return NULL;
    const tn_scope scope = tn_scope_push();
    tn_tensor *v = tn__wide(x), *none = tn_isnan(v);
    tn_tensor *sum = tn_sum(tn_where(none, tn_int(0), v), o.axes, keepdim);
    tn_tensor *count = tn_sum(tn_logical_not(none), o.axes, keepdim);
    return tn__leave_as(scope, tn_div(sum, tn_cast(count, v->dtype)), x->dtype);
}

/* The variance of what is not NaN. */
static tn_tensor *nan_variance(over *o, int correction)
{
    tn_tensor *x = tn__wide(o->x), *none = tn_isnan(x), *zero = tn_int(0);
    tn_tensor *count = tn_cast(tn_sum(tn_logical_not(none), o->axes, true), tn_dtype_of(x));
    tn_tensor *mean = tn_div(tn_sum(tn_where(none, zero, x), o->axes, true), count);
    tn_tensor *d = tn_where(none, zero, tn_sub(x, mean)), *left = tn_sub(count, tn_int(correction));
    left = tn_where(tn_gt(left, zero), left, tn_float(NAN));
    return without_axes(o, tn_div(tn_sum(tn_mul(d, d), o->axes, true), left));
}

tn_tensor *tn_nanvar(tn_tensor *x, tn_axes axes, int correction, bool keepdim)
{
    over o;
    if (start(&o, x, axes, keepdim, "nanvar", true) != TN_OK) return NULL;
    const tn_scope scope = tn_scope_push();
    return tn__leave_as(scope, nan_variance(&o, correction), x->dtype);
}

tn_tensor *tn_nanstd(tn_tensor *x, tn_axes axes, int correction, bool keepdim)
{
    over o;
    if (start(&o, x, axes, keepdim, "nanstd", true) != TN_OK) return NULL;
    const tn_scope scope = tn_scope_push();
    return tn__leave_as(scope, deviation(nan_variance(&o, correction)), x->dtype);
}

/* ---- differences ---- */

tn_tensor *tn_diff(tn_tensor *x, int n, int axis)
{
    if (tn__tensor_check(x, "diff", "x") != TN_OK) return NULL;
    const int a = tn__axis(axis, x->ndim, "diff");
    if (a < 0) return NULL;
    if (n < 0) return TN__NULL(TN_ARGUMENT, "diff: n is %d", n);
    const tn_scope scope = tn_scope_push();
    const tn_dtype dtype = x->dtype;
    tn_tensor *y = n > 1 ? tn__wide(x) : tn_cast(x, dtype);
    for (int i = 0; i < n && y && y->dim[a] > 0; i++) {
        tn_tensor *after = tn_slice(y, a, 1, TN_END, 1), *before = tn_slice(y, a, 0, y->dim[a] - 1, 1);
        y = dtype == TN_BOOL ? tn_ne(after, before) : tn_sub(after, before);
    }
    return tn__leave_as(scope, y == x ? tn_cast(x, dtype) : y, dtype);
}
