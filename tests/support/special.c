#include "support/special.h"

#include <math.h>

static long double pi(void)
{
    return acosl(-1);
}

/* ---- digamma and trigamma: recurrences up to 40, then the asymptotic series; reflected below 0 ---- */

static const long double bernoulli[] = {1 / 6.0L,  -1 / 30.0L,     1 / 42.0L, -1 / 30.0L,
                                        5 / 66.0L, -691 / 2730.0L, 7 / 6.0L,  -3617 / 510.0L};
enum { NUMBERS = sizeof bernoulli / sizeof *bernoulli };

/* From its zero on, here in two parts, as the sum of (x - zero) / ((k + zero) (k + x)), with the end of the sum by the series. */
static long double digamma_near_zero(long double x)
{
    const long double zero = 0x1.762d86356be3fp+0L, d = x - zero - 9.549995429965697715184199e-17L, far = x + 40,
                      far_zero = zero + 40;
    long double sum = log1pl(d / far_zero) + d / (2 * far * far_zero), power = 1, power_zero = 1;
    for (int k = 0; k < 40; k++) sum += d / ((zero + k) * (x + k));
    for (int k = 0; k < NUMBERS; k++) {
        power /= far * far;
        power_zero /= far_zero * far_zero;
        sum -= bernoulli[k] * (power - power_zero) / (2 * k + 2);
    }
    return sum;
}

long double special_digamma(long double x)
{
    if (x > 1 && x < 2) return digamma_near_zero(x);
    if (x < 0) {
        const long double r = x - rintl(x);
        return r == 0 || isinf(x) ? (long double)NAN : special_digamma(1 - x) - pi() / tanl(pi() * r);
    }
    long double sum = 0, power = 1;
    for (; x < 40; x++) sum -= 1 / x;
    if (isinf(sum)) return sum;
    for (int k = 0; k < NUMBERS; k++) {
        power /= x * x;
        sum -= bernoulli[k] * power / (2 * k + 2);
    }
    return sum + logl(x) - 1 / (2 * x);
}

long double special_trigamma(long double x)
{
    if (x < 0) {
        const long double s = pi() / sinl(pi() * (x - rintl(x)));
        return s * s - special_trigamma(1 - x);
    }
    long double sum = 0, power = 1 / x;
    if (isinf(x)) return 0;
    for (; x < 40; x++) sum += 1 / (x * x);
    if (isinf(sum)) return sum;
    power = 1 / x;
    sum += power + power * power / 2;
    for (int k = 0; k < NUMBERS; k++) {
        power /= x * x;
        sum += bernoulli[k] * power;
    }
    return sum;
}

/* ---- the error function's relatives ---- */

long double special_erfcx(long double x)
{
    if (x < 60) return expl(x * x) * erfcl(x);
    long double sum = 1, term = 1;
    for (int k = 1; k < 8; k++) sum += term *= -(2 * k - 1) / (2 * x * x);
    return sum / (x * sqrtl(pi()));
}

/* The y >= 0 where erfc(y) is q <= 1, by bisection. */
static long double inverse_erfc(long double q)
{
    long double low = 0, high = 110;
    for (int step = 0; step < 90; step++) {
        const long double y = (low + high) / 2;
        if (erfcl(y) > q)
            low = y;
        else
            high = y;
    }
    return (low + high) / 2;
}

/* The y >= 0 where erf(y) is p, by Newton's steps. */
static long double inverse_erf(long double p)
{
    long double y = p * sqrtl(pi()) / 2;
    for (int step = 0; step < 30; step++) y -= (erfl(y) - p) * sqrtl(pi()) / 2 * expl(y * y);
    return y;
}

long double special_erfinv(long double x)
{
    const long double size = fabsl(x);
    if (!(size < 1)) return size == 1 ? copysignl(INFINITY, x) : (long double)NAN;
    return copysignl(size < 0.5L ? inverse_erf(size) : inverse_erfc(1 - size), x);
}

long double special_ndtri(long double p)
{
    if (!(p > 0 && p < 1)) return p == 0 ? -(long double)INFINITY : p == 1 ? (long double)INFINITY : (long double)NAN;
    if (p > 0.25L && p < 0.75L) return special_erfinv(2 * p - 1) * sqrtl(2);
    return (p < 0.5L ? -inverse_erfc(2 * p) : inverse_erfc(2 - 2 * p)) * sqrtl(2);
}

long double special_log_ndtr(long double x)
{
    const long double y = x / sqrtl(2);
    return x > -1 ? log1pl(-erfcl(y) / 2) : logl(special_erfcx(-y) / 2) - x * x / 2;
}

/* ---- Bessel functions ---- */

/* The power series of I, or the asymptotic one of exp(-x) I. */
static long double bessel_near(int order, long double x)
{
    long double sum = 0, term = order ? x / 2 : 1;
    for (int k = 1; k < 200; k++) {
        sum += term;
        term *= x * x / 4 / (k * (k + order));
    }
    return sum;
}

static long double bessel_far(int order, long double x)
{
    long double sum = 0, term = 1;
    for (int k = 1; k < 30; k++) {
        sum += term;
        term *= -(4.0L * order - (2 * k - 1) * (2 * k - 1)) / (8 * k * x);
    }
    return sum / sqrtl(2 * pi() * x);
}

long double special_bessel(int order, long double x)
{
    const long double size = fabsl(x), y = size < 60 ? bessel_near(order, size) : bessel_far(order, size) * expl(size);
    return isinf(x) ? (long double)NAN : order ? copysignl(y, x) : y;
}

long double special_bessel_scaled(int order, long double x)
{
    const long double size = fabsl(x), y = size < 60 ? bessel_near(order, size) * expl(-size) : bessel_far(order, size);
    return order ? copysignl(y, x) : y;
}
