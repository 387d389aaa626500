/* Gradients of arithmetic, extremes and choice. */
#include "ops/gradient.h"

GRADIENT(div)
{
    UNUSED;
    g[0] = tn_div(up, in[1]);
    g[1] = tn_neg(tn_mul(g[0], out));
}
/* b·a^(b-1) and a^b·log a; at base 0 both are what remains finite */
GRADIENT(pow)
{
    tn_tensor *zero = tn_int(0), *one = tn_int(1), *power = tn_dtype_of(out) == TN_F64 ? tn_cast(in[1], TN_F64) : in[1];
    UNUSED; /* two numbers of no axes would give an f32 */
    g[0] = tn_where(tn_eq(in[1], zero), tn_mul(up, zero), tn_mul(tn_mul(up, in[1]), tn_pow(in[0], tn_sub(power, one))));
    tn_tensor *nothing = tn_logical_and(tn_eq(in[0], zero), tn_ge(in[1], zero));
    g[1] = tn_where(nothing, zero, tn_mul(tn_mul(up, out), tn_log(in[0])));
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
GRADIENT(where)
{
    tn_tensor *zero = tn_int(0);
    UNUSED;
    g[1] = tn_where(in[0], up, zero);
    g[2] = tn_where(in[0], zero, up);
}
