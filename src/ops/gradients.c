/* Gradients of the rows, in public operations: they fuse, and can be differentiated again. */
#include "ops/gradient.h"

/* g summed over the axes along which x was broadcast. */
static tn_tensor *back_to(tn_tensor *g, const tn_tensor *x)
{
    tn_axes axes = {.count = 0};
    const int lead = g ? g->ndim - x->ndim : 0;
    for (int a = 0; g && a < g->ndim; a++)
        if (a < lead || (x->dim[a - lead] == 1 && g->dim[a] != 1)) axes.axis[axes.count++] = a;
    if (!g || axes.count == 0) return g ? tn__tensor_alias(g) : NULL; /* g may be the caller's own upstream */
    tn_tensor *sum = tn_sum(g, axes, true);
    tn_tensor *y = sum ? tn_view(sum, tn_shape_make(x->ndim, x->dim)) : NULL;
    tn_release(sum);
    return y;
}

tn_status tn__gradient_run(tn__gradient_body body, tn_tensor *const *operands, tn_tensor *out, tn_tensor *upstream,
                           tn_tensor **gradients)
{
    const tn_scope scope = tn_scope_push();
    tn_tensor *found[3] = {0};
    body(operands, out, upstream, found);
    for (int i = 0; i < 3; i++) {
        if (!found[i]) continue;
        gradients[i] = back_to(found[i], operands[i]);
        if (gradients[i]) tn_keep(gradients[i]);
    }
    return tn_scope_pop(scope);
}

GRADIENT(add)
{
    UNUSED;
    g[0] = g[1] = up;
}
GRADIENT(sub)
{
    UNUSED;
    g[0] = up;
    g[1] = tn_neg(up);
}
GRADIENT(mul)
{
    UNUSED;
    g[0] = tn_mul(up, in[1]);
    g[1] = tn_mul(up, in[0]);
}
GRADIENT(div)
{
    UNUSED;
    g[0] = tn_div(up, in[1]);
    g[1] = tn_neg(tn_mul(g[0], out));
}
/* b·a^(b-1) and a^b·log a; at base 0 both are what remains finite */
GRADIENT(pow)
{
    tn_tensor *zero = tn_int(0), *one = tn_int(1);
    UNUSED;
    g[0] = tn_where(tn_eq(in[1], zero), tn_mul(up, zero), tn_mul(tn_mul(up, in[1]), tn_pow(in[0], tn_sub(in[1], one))));
    tn_tensor *nothing = tn_logical_and(tn_eq(in[0], zero), tn_ge(in[1], zero));
    g[1] = tn_where(nothing, zero, tn_mul(tn_mul(up, out), tn_log(in[0])));
}
GRADIENT(neg)
{
    UNUSED;
    g[0] = tn_neg(up);
}
GRADIENT(abs)
{
    UNUSED;
    g[0] = tn_mul(up, tn_sign(in[0]));
}
/* ties are shared evenly */
static void share(tn_tensor *const *in, tn_tensor *up, tn_tensor **g)
{
    tn_tensor *zero = tn_int(0), *half = tn_mul(up, tn_float(0.5)), *tie = tn_eq(in[0], in[1]), *less = tn_lt(in[0], in[1]);
    g[1] = tn_where(tie, half, tn_where(less, up, zero));
    g[0] = tn_where(tie, half, tn_where(less, zero, up));
}
GRADIENT(maximum)
{
    UNUSED;
    share(in, up, g);
}
GRADIENT(minimum)
{
    tn_tensor *turned[2];
    UNUSED;
    share(in, up, turned);
    g[0] = turned[1];
    g[1] = turned[0];
}
GRADIENT(clamp)
{
    tn_tensor *zero = tn_int(0), *low = tn_lt(in[0], in[1]), *high = tn_gt(in[0], in[2]), *crossed = tn_gt(in[1], in[2]);
    UNUSED;
    g[0] = tn_where(tn_logical_or(low, high), zero, up);
    g[1] = tn_where(tn_logical_and(low, tn_logical_not(crossed)), up, zero);
    g[2] = tn_where(tn_logical_or(high, crossed), up, zero);
}
GRADIENT(square)
{
    UNUSED;
    g[0] = tn_mul(up, tn_mul(in[0], tn_int(2)));
}
GRADIENT(reciprocal)
{
    UNUSED;
    g[0] = tn_neg(tn_mul(up, tn_mul(out, out)));
}
GRADIENT(rsqrt) /* -1/2 x^(-3/2) */
{
    UNUSED;
    g[0] = tn_mul(tn_mul(up, tn_float(-0.5)), tn_mul(out, tn_mul(out, out)));
}
/* ties are shared evenly; NaN takes nothing */
static void share_numbers(tn_tensor *a, tn_tensor *b, tn_tensor *up, tn_tensor **g)
{
    tn_tensor *zero = tn_int(0), *half = tn_mul(up, tn_float(0.5)), *tie = tn_eq(a, b);
    tn_tensor *second = tn_logical_or(tn_lt(a, b), tn_isnan(a));
    g[1] = tn_where(tie, half, tn_where(second, up, zero));
    g[0] = tn_where(tie, half, tn_where(second, zero, up));
}
GRADIENT(fmax)
{
    UNUSED;
    share_numbers(in[0], in[1], up, g);
}
GRADIENT(fmin)
{
    UNUSED;
    share_numbers(tn_neg(in[0]), tn_neg(in[1]), up, g);
}
GRADIENT(hypot) /* 0 at 0, as of a norm */
{
    tn_tensor *zero = tn_int(0), *origin = tn_eq(out, zero);
    UNUSED;
    g[0] = tn_where(origin, zero, tn_mul(up, tn_div(in[0], out)));
    g[1] = tn_where(origin, zero, tn_mul(up, tn_div(in[1], out)));
}
GRADIENT(copysign)
{
    UNUSED;
    g[0] = tn_mul(up, tn_mul(tn_sign(in[0]), tn_copysign(tn_int(1), in[1])));
    g[1] = tn_mul(tn_int(0), up);
}
GRADIENT(fma)
{
    UNUSED;
    g[0] = tn_mul(up, in[1]);
    g[1] = tn_mul(up, in[0]);
    g[2] = up;
}
GRADIENT(lerp)
{
    UNUSED;
    g[0] = tn_mul(up, tn_sub(tn_int(1), in[2]));
    g[1] = tn_mul(up, in[2]);
    g[2] = tn_mul(up, tn_sub(in[1], in[0]));
}
GRADIENT(deg2rad)
{
    UNUSED;
    g[0] = tn_deg2rad(up);
}
GRADIENT(rad2deg)
{
    UNUSED;
    g[0] = tn_rad2deg(up);
}
GRADIENT(xlogy)
{
    tn_tensor *zero = tn_int(0), *nothing = tn_logical_and(tn_eq(in[0], zero), tn_le(in[1], zero));
    UNUSED;
    g[0] = tn_where(nothing, zero, tn_mul(up, tn_log(in[1])));
    g[1] = tn_mul(up, tn_div(in[0], in[1]));
}
GRADIENT(exp)
{
    UNUSED;
    g[0] = tn_mul(up, out);
}
GRADIENT(log)
{
    UNUSED;
    g[0] = tn_div(up, in[0]);
}
GRADIENT(sqrt)
{
    UNUSED;
    g[0] = tn_div(tn_mul(up, tn_float(0.5)), out);
}
GRADIENT(tanh)
{
    UNUSED;
    g[0] = tn_mul(up, tn_sub(tn_int(1), tn_mul(out, out)));
}
GRADIENT(erf) /* 2/sqrt(pi)·exp(-x²) */
{
    UNUSED;
    g[0] = tn_mul(tn_mul(up, tn_float(1.1283791670955126)), tn_exp(tn_neg(tn_mul(in[0], in[0]))));
}
GRADIENT(exp2)
{
    UNUSED;
    g[0] = tn_mul(up, tn_mul(out, tn_float(0.6931471805599453)));
}
GRADIENT(expm1)
{
    UNUSED;
    g[0] = tn_mul(up, tn_add(out, tn_int(1)));
}
GRADIENT(log2)
{
    UNUSED;
    g[0] = tn_div(up, tn_mul(in[0], tn_float(0.6931471805599453)));
}
GRADIENT(log10)
{
    UNUSED;
    g[0] = tn_div(up, tn_mul(in[0], tn_float(2.302585092994046)));
}
GRADIENT(log1p)
{
    UNUSED;
    g[0] = tn_div(up, tn_add(in[0], tn_int(1)));
}
GRADIENT(sin)
{
    UNUSED;
    g[0] = tn_mul(up, tn_cos(in[0]));
}
GRADIENT(cos)
{
    UNUSED;
    g[0] = tn_neg(tn_mul(up, tn_sin(in[0])));
}
GRADIENT(tan)
{
    UNUSED;
    g[0] = tn_mul(up, tn_add(tn_square(out), tn_int(1)));
}
GRADIENT(asin)
{
    UNUSED;
    g[0] = tn_mul(up, tn_rsqrt(tn_sub(tn_int(1), tn_square(in[0]))));
}
GRADIENT(acos)
{
    UNUSED;
    g[0] = tn_neg(tn_mul(up, tn_rsqrt(tn_sub(tn_int(1), tn_square(in[0])))));
}
GRADIENT(atan)
{
    UNUSED;
    g[0] = tn_div(up, tn_add(tn_square(in[0]), tn_int(1)));
}
GRADIENT(sinh)
{
    UNUSED;
    g[0] = tn_mul(up, tn_cosh(in[0]));
}
GRADIENT(cosh)
{
    UNUSED;
    g[0] = tn_mul(up, tn_sinh(in[0]));
}
GRADIENT(asinh)
{
    UNUSED;
    g[0] = tn_mul(up, tn_rsqrt(tn_add(tn_square(in[0]), tn_int(1))));
}
GRADIENT(acosh)
{
    UNUSED;
    g[0] = tn_mul(up, tn_rsqrt(tn_sub(tn_square(in[0]), tn_int(1))));
}
GRADIENT(atanh)
{
    UNUSED;
    g[0] = tn_div(up, tn_sub(tn_int(1), tn_square(in[0])));
}
GRADIENT(cbrt)
{
    UNUSED;
    g[0] = tn_div(up, tn_mul(tn_int(3), tn_square(out)));
}
GRADIENT(atan2) /* (b, -a) / (a^2 + b^2) */
{
    tn_tensor *each = tn_div(up, tn_add(tn_square(in[0]), tn_square(in[1])));
    UNUSED;
    g[0] = tn_mul(each, in[1]);
    g[1] = tn_neg(tn_mul(each, in[0]));
}
GRADIENT(erfc)
{
    UNUSED;
    g[0] = tn_mul(tn_mul(up, tn_float(-1.1283791670955126)), tn_exp(tn_neg(tn_square(in[0]))));
}
GRADIENT(sinc) /* (cos(pi x) - sinc(x)) / x, 0 at 0 */
{
    tn_tensor *zero = tn_int(0), *x = in[0];
    UNUSED;
    tn_tensor *slope = tn_div(tn_sub(tn_cos(tn_mul(x, tn_float(3.141592653589793))), out), x);
    g[0] = tn_mul(up, tn_where(tn_eq(x, zero), zero, slope));
}
GRADIENT(logaddexp)
{
    tn_tensor *first = tn_sigmoid(tn_sub(in[0], in[1]));
    UNUSED;
    g[0] = tn_mul(up, first);
    g[1] = tn_mul(up, tn_sub(tn_int(1), first));
}
GRADIENT(logit)
{
    UNUSED;
    g[0] = tn_div(up, tn_mul(in[0], tn_sub(tn_int(1), in[0])));
}
GRADIENT(ldexp)
{
    UNUSED;
    g[0] = tn_ldexp(up, in[1]);
    g[1] = tn_mul(tn_mul(up, out), tn_float(0.6931471805599453));
}
GRADIENT(relu)
{
    tn_tensor *zero = tn_int(0);
    UNUSED;
    g[0] = tn_where(tn_le(out, zero), zero, up); /* NaN goes through */
}
GRADIENT(sigmoid)
{
    UNUSED;
    g[0] = tn_mul(up, tn_mul(out, tn_sub(tn_int(1), out)));
}
GRADIENT(gelu) /* Phi(x) + x·phi(x) */
{
    tn_tensor *x = in[0], *half = tn_float(0.5);
    UNUSED;
    tn_tensor *cdf = tn_mul(half, tn_add(tn_int(1), tn_erf(tn_mul(x, tn_float(0.7071067811865476)))));
    tn_tensor *pdf = tn_mul(tn_float(0.3989422804014327), tn_exp(tn_mul(tn_float(-0.5), tn_mul(x, x))));
    g[0] = tn_mul(up, tn_add(cdf, tn_mul(x, pdf)));
}
/* up where low < x < high, or where NaN goes through, else 0 */
static tn_tensor *within(tn_tensor *x, double low, double high, tn_tensor *up)
{
    return tn_where(tn_logical_or(tn_le(x, tn_float(low)), tn_ge(x, tn_float(high))), tn_int(0), up);
}
GRADIENT(relu6)
{
    UNUSED;
    g[0] = within(out, 0, 6, up);
}
GRADIENT(leaky_relu)
{
    tn_tensor *zero = tn_int(0), *above = tn_gt(in[0], zero);
    UNUSED;
    g[0] = tn_where(above, up, tn_mul(up, in[1]));
    g[1] = tn_where(above, zero, tn_mul(up, in[0]));
}
GRADIENT(elu)
{
    tn_tensor *zero = tn_int(0), *above = tn_gt(in[0], zero);
    UNUSED;
    g[0] = tn_where(above, up, tn_mul(tn_mul(up, in[1]), tn_exp(in[0])));
    g[1] = tn_where(above, zero, tn_mul(up, tn_expm1(in[0])));
}
GRADIENT(selu) /* below 0: scale alpha exp(x) = y + scale alpha */
{
    tn_tensor *scale = tn_float(1.0507009873554805), *low = tn_add(out, tn_float(1.7580993408473766));
    UNUSED;
    g[0] = tn_mul(up, tn_where(tn_gt(in[0], tn_int(0)), scale, low));
}
GRADIENT(celu)
{
    tn_tensor *zero = tn_int(0), *above = tn_gt(in[0], zero), *y = tn_div(in[0], in[1]), *e = tn_exp(y);
    UNUSED;
    g[0] = tn_where(above, up, tn_mul(up, e));
    g[1] = tn_where(above, zero, tn_mul(up, tn_sub(tn_expm1(y), tn_mul(y, e))));
}
GRADIENT(gelu_tanh) /* s + x s (1 - s) v', s = sigmoid(v), v = 2 sqrt(2 / pi) (x + 0.044715 x^3) */
{
    tn_tensor *x = in[0], *square = tn_square(x), *one = tn_int(1), *c = tn_float(1.5957691216057308);
    UNUSED;
    tn_tensor *v = tn_mul(tn_mul(c, x), tn_add(one, tn_mul(tn_float(0.044715), square))), *s = tn_sigmoid(v);
    tn_tensor *slope = tn_mul(c, tn_add(one, tn_mul(tn_float(3 * 0.044715), square)));
    g[0] = tn_mul(up, tn_add(s, tn_mul(tn_mul(x, slope), tn_mul(s, tn_sub(one, s)))));
}
GRADIENT(hardsigmoid)
{
    UNUSED;
    g[0] = within(in[0], -3, 3, tn_div(up, tn_int(6)));
}
GRADIENT(hardswish)
{
    tn_tensor *x = in[0], *middle = tn_mul(up, tn_add(tn_div(x, tn_int(3)), tn_float(0.5)));
    UNUSED;
    g[0] = tn_where(tn_ge(x, tn_int(3)), up, tn_where(tn_le(x, tn_int(-3)), tn_int(0), middle));
}
GRADIENT(silu)
{
    tn_tensor *s = tn_sigmoid(in[0]), *one = tn_int(1);
    UNUSED;
    g[0] = tn_mul(up, tn_mul(s, tn_add(one, tn_mul(in[0], tn_sub(one, s)))));
}
GRADIENT(mish)
{
    tn_tensor *x = in[0], *t = tn_tanh(tn_softplus(x));
    UNUSED;
    tn_tensor *slope = tn_mul(tn_sub(tn_int(1), tn_square(t)), tn_sigmoid(x));
    g[0] = tn_mul(up, tn_add(t, tn_mul(x, slope)));
}
GRADIENT(softplus)
{
    UNUSED;
    g[0] = tn_mul(up, tn_sigmoid(in[0]));
}
GRADIENT(logsigmoid)
{
    UNUSED;
    g[0] = tn_mul(up, tn_sigmoid(tn_neg(in[0])));
}
GRADIENT(softsign)
{
    UNUSED;
    g[0] = tn_div(up, tn_square(tn_add(tn_int(1), tn_abs(in[0]))));
}
GRADIENT(softshrink)
{
    tn_tensor *zero = tn_int(0), *high = tn_gt(in[0], in[1]), *low = tn_lt(in[0], tn_neg(in[1]));
    UNUSED;
    g[0] = tn_where(tn_logical_or(high, low), up, zero);
    g[1] = tn_where(high, tn_neg(up), tn_where(low, up, zero));
}
GRADIENT(hardshrink)
{
    tn_tensor *zero = tn_int(0), *inside = tn_logical_and(tn_ge(in[0], tn_neg(in[1])), tn_le(in[0], in[1]));
    UNUSED;
    g[0] = tn_where(inside, zero, up);
    g[1] = tn_mul(zero, up);
}
GRADIENT(tanhshrink)
{
    UNUSED;
    g[0] = tn_mul(up, tn_square(tn_tanh(in[0])));
}
GRADIENT(threshold)
{
    tn_tensor *zero = tn_int(0), *below = tn_le(in[0], in[1]);
    UNUSED;
    g[0] = tn_where(below, zero, up);
    g[1] = tn_mul(zero, up);
    g[2] = tn_where(below, up, zero);
}
GRADIENT(where)
{
    tn_tensor *zero = tn_int(0);
    UNUSED;
    g[1] = tn_where(in[0], up, zero);
    g[2] = tn_where(in[0], zero, up);
}
