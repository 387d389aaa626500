/* Gradients of functions. */
#include "ops/gradient.h"

GRADIENT(xlogy)
{
    tn_tensor *zero = tn_int(0), *nothing = tn_logical_and(tn_eq(in[0], zero), tn_le(in[1], zero));
    UNUSED;
    g[0] = tn_where(nothing, zero, tn_mul(up, tn_log(in[1])));
    g[1] = tn_mul(up, tn_div(in[0], in[1]));
}
GRADIENT(xlog1py)
{
    tn_tensor *zero = tn_int(0), *nothing = tn_logical_and(tn_eq(in[0], zero), tn_le(in[1], tn_int(-1)));
    UNUSED;
    g[0] = tn_where(nothing, zero, tn_mul(up, tn_log1p(in[1])));
    g[1] = tn_mul(up, tn_div(in[0], tn_add(in[1], tn_int(1))));
}
GRADIENT(atan2) /* (b, -a) / (a^2 + b^2) */
{
    tn_tensor *each = tn_div(up, tn_add(tn_square(in[0]), tn_square(in[1])));
    UNUSED;
    g[0] = tn_mul(each, in[1]);
    g[1] = tn_neg(tn_mul(each, in[0]));
}
GRADIENT(sinc) /* (cos(pi x) - sinc(x)) / x, 0 at 0 */
{
    tn_tensor *zero = tn_int(0), *x = in[0];
    UNUSED;
    tn_tensor *slope = tn_div(tn_sub(tn_cos(tn_mul(x, tn_float(3.141592653589793))), out), x);
    g[0] = tn_mul(up, tn_where(tn_eq(x, zero), zero, slope));
}
/* up by the parts that the first and the second exponential have of their sum */
static void share_sum(tn_tensor *difference, tn_tensor *up, tn_tensor **g)
{
    tn_tensor *first = tn_sigmoid(difference);
    g[0] = tn_mul(up, first);
    g[1] = tn_mul(up, tn_sub(tn_int(1), first));
}
GRADIENT(logaddexp)
{
    UNUSED;
    share_sum(tn_sub(in[0], in[1]), up, g);
}
GRADIENT(logaddexp2)
{
    UNUSED;
    share_sum(tn_mul(tn_sub(in[0], in[1]), tn_float(0.6931471805599453)), up, g);
}
/* up times slope, which is 1/2 where x is 0 */
static tn_tensor *half_at_0(tn_tensor *x, tn_tensor *slope, tn_tensor *up)
{
    return tn_mul(up, tn_where(tn_eq(x, tn_int(0)), tn_float(0.5), slope));
}
GRADIENT(i1) /* i0(x) - i1(x) / x */
{
    UNUSED;
    g[0] = half_at_0(in[0], tn_sub(tn_i0(in[0]), tn_div(out, in[0])), up);
}
GRADIENT(i1e) /* i0e(x) - i1e(x) (sign(x) + 1 / x) */
{
    UNUSED;
    tn_tensor *part = tn_mul(out, tn_add(tn_sign(in[0]), tn_reciprocal(in[0])));
    g[0] = half_at_0(in[0], tn_sub(tn_i0e(in[0]), part), up);
}
