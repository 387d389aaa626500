/* Gradients of activations. */
#include "ops/gradient.h"

GRADIENT(relu)
{
    tn_tensor *zero = tn_int(0);
    UNUSED;
    g[0] = tn_where(tn_le(out, zero), zero, up); /* NaN goes through */
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
GRADIENT(hardsigmoid)
{
    UNUSED;
    g[0] = within(in[0], -3, 3, tn_div(up, tn_int(6)));
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
GRADIENT(threshold)
{
    tn_tensor *zero = tn_int(0), *below = tn_le(in[0], in[1]);
    UNUSED;
    g[0] = tn_where(below, zero, up);
    g[1] = tn_mul(zero, up);
    g[2] = tn_where(below, up, zero);
}
