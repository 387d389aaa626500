/* Exact decimal digits of binary floating-point numbers, independent of the locale. */
#ifndef TN__DECIMAL_H
#define TN__DECIMAL_H

#include <stdbool.h>

/* A binary format: bits of the significand, and the exponent of its smallest positive number. */
typedef struct tn__binary_format {
    int bits, lowest;
} tn__binary_format;

#define TN__DECIMAL_DIGITS 40

/* d.ddd… times ten to the exponent. */
typedef struct tn__decimal {
    int exponent;
    int count;                          /* at least one digit; zero is "0" with exponent 0 */
    char digit[TN__DECIMAL_DIGITS + 1]; /* '0' to '9', terminated */
} tn__decimal;

/* The shortest digits that tell |value| from every other number of the format, the nearest of these; `value` is finite and
 * a number of the format. After `most` digits the rest is rounded, ties to even; before `least` digits generation goes on,
 * exactly. Both count from the decimal point where after_point is set, else from the first digit. */
void tn__decimal_of(double value, tn__binary_format format, bool after_point, int least, int most, tn__decimal *out);

#endif
