/* Digit generation after Steele and White, "How to print floating-point numbers accurately" (1990): value and the half
 * distances to its neighbours are integers over one scale; each step divides off one digit, and ends as soon as the rest is
 * nearer than a neighbour. */
#include "base/decimal.h"
#include <math.h>
#include <stdint.h>
#include <string.h>

/* ---- natural numbers, wide enough for f64: 2^1077 times a few ---- */

#define LIMBS 40
typedef struct natural {
    int count; /* limbs in use; 0 is zero */
    uint32_t limb[LIMBS];
} natural;

static void multiply(natural *n, uint32_t factor)
{
    uint64_t carry = 0;
    for (int i = 0; i < n->count; i++) {
        carry += (uint64_t)n->limb[i] * factor;
        n->limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry && n->count < LIMBS)
        n->limb[n->count++] = (uint32_t)carry;
}

static void multiply_power(natural *n, uint32_t base, int exponent)
{
    for (; exponent > 0; exponent--)
        multiply(n, base);
}

static natural natural_of(uint64_t value, int shift)
{
    natural n = {.count = value >> 32 ? 2 : value ? 1 : 0, .limb = {(uint32_t)value, (uint32_t)(value >> 32)}};
    for (; shift >= 31; shift -= 31)
        multiply(&n, UINT32_C(1) << 31);
    multiply(&n, UINT32_C(1) << shift);
    return n;
}

static int compare(const natural *a, const natural *b)
{
    if (a->count != b->count)
        return a->count < b->count ? -1 : 1;
    for (int i = a->count - 1; i >= 0; i--)
        if (a->limb[i] != b->limb[i])
            return a->limb[i] < b->limb[i] ? -1 : 1;
    return 0;
}

static natural add(const natural *a, const natural *b)
{
    natural sum = {0};
    uint64_t carry = 0;
    const int count = a->count > b->count ? a->count : b->count;
    for (int i = 0; i < count; i++) {
        carry += (uint64_t)(i < a->count ? a->limb[i] : 0) + (i < b->count ? b->limb[i] : 0);
        sum.limb[sum.count++] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry && sum.count < LIMBS)
        sum.limb[sum.count++] = (uint32_t)carry;
    return sum;
}

/* a -= b, where b is not larger. */
static void subtract(natural *a, const natural *b)
{
    uint64_t borrow = 0;
    for (int i = 0; i < a->count; i++) {
        const uint64_t take = (i < b->count ? b->limb[i] : 0) + borrow;
        borrow = a->limb[i] < take;
        a->limb[i] = (uint32_t)(a->limb[i] - take);
    }
    while (a->count > 0 && a->limb[a->count - 1] == 0)
        a->count--;
}

/* The quotient, at most 9; a keeps the remainder. */
static int divide(natural *a, const natural *b)
{
    int quotient = 0;
    for (; quotient < 9 && compare(a, b) >= 0; quotient++)
        subtract(a, b);
    return quotient;
}

/* ---- digits ---- */

typedef struct state {
    natural value, scale; /* value / scale is what is left, below 10 */
    natural low, high;    /* half the distance to the neighbours, over the same scale */
    bool even;            /* a rest of just that distance would still be read back as this number */
    int place;            /* the first digit counts 10^(place - 1) */
} state;

static void start(state *s, double value, tn__binary_format format)
{
    int exponent;
    const double fraction = frexp(fabs(value), &exponent);
    uint64_t m = (uint64_t)ldexp(fraction, format.bits);
    int e = exponent - format.bits;
    if (e < format.lowest) {
        m >>= format.lowest - e;
        e = format.lowest;
    }
    /* The neighbour below a power of two is nearer. */
    const int uneven = m == UINT64_C(1) << (format.bits - 1) && e > format.lowest;
    const int up = e > 0 ? e : 0, down = e < 0 ? -e : 0;
    s->value = natural_of(m, up + 1 + uneven);
    s->scale = natural_of(1, down + 1 + uneven);
    s->low = natural_of(1, up);
    s->high = natural_of(1, up + uneven);
    s->even = m % 2 == 0;

    /* Never above the right place, at most one below. */
    s->place = (int)ceil((exponent - 1) * 0.30102999566398120 - 0.69);
    multiply_power(&s->scale, 10, s->place);
    multiply_power(&s->value, 10, -s->place);
    multiply_power(&s->low, 10, -s->place);
    multiply_power(&s->high, 10, -s->place);
    if (compare(&s->value, &s->scale) >= 0) {
        s->place++;
        return;
    }
    multiply(&s->value, 10);
    multiply(&s->low, 10);
    multiply(&s->high, 10);
}

/* Adds one to the last digit; nines before it go. */
static void round_up(tn__decimal *d)
{
    while (d->count > 0 && d->digit[d->count - 1] == '9')
        d->count--;
    if (d->count > 0) {
        d->digit[d->count - 1]++;
        return;
    }
    d->digit[d->count++] = '1';
    d->exponent++;
}

static int clamp(int value, int low, int high)
{
    return value < low ? low : value > high ? high : value;
}

void tn__decimal_of(double value, tn__binary_format format, bool after_point, int least, int most, tn__decimal *out)
{
    *out = (tn__decimal){.exponent = 0, .count = 1, .digit = "0"};
    if (value == 0)
        return;
    state s;
    start(&s, value, format);
    out->count = 0;
    out->exponent = s.place - 1;
    const int first = s.place - 1, end = first - TN__DECIMAL_DIGITS + 1;
    const int last = clamp(after_point ? -most : s.place - most, end, first); /* place of the last digit allowed */
    const int wanted = clamp(after_point ? -least : s.place - least, last, first);
    for (int place = first;; place--) {
        const int digit = divide(&s.value, &s.scale);
        const natural above = add(&s.value, &s.high);
        const int low_side = compare(&s.value, &s.low), high_side = compare(&above, &s.scale);
        const bool low = s.even ? low_side <= 0 : low_side < 0;
        const bool high = s.even ? high_side >= 0 : high_side > 0;
        out->digit[out->count++] = (char)('0' + digit);
        if (((low || high) && place <= wanted) || place == last) {
            bool up = high;
            if (low == high) {
                multiply(&s.value, 2);
                const int half = compare(&s.value, &s.scale);
                up = half > 0 || (half == 0 && digit % 2 == 1);
            }
            if (up)
                round_up(out);
            break;
        }
        multiply(&s.value, 10);
        multiply(&s.low, 10);
        multiply(&s.high, 10);
    }
    out->digit[out->count] = '\0';
}
