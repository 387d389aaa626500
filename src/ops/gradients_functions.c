/* Gradients of functions. */
#include "ops/gradient.h"

GRADIENT(xlogy)
{
    tn_tensor *zero = tn_int(0), *nothing = tn_logical_and(tn_eq(in[0], zero), tn_le(in[1], zero));
    UNUSED;
    g[0] = tn_where(nothing, zero, tn_mul(up, tn_log(in[1])));
    g[1] = tn_mul(up, tn_div(in[0], in[1]));
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
GRADIENT(logaddexp)
{
    tn_tensor *first = tn_sigmoid(tn_sub(in[0], in[1]));
    UNUSED;
    g[0] = tn_mul(up, first);
    g[1] = tn_mul(up, tn_sub(tn_int(1), first));
}
