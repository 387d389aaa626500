/* Special functions that C has none of, in long double: for references. */
#ifndef SPECIAL_H
#define SPECIAL_H

long double special_digamma(long double x);
long double special_trigamma(long double x);
long double special_erfcx(long double x);
long double special_erfinv(long double x);
long double special_ndtri(long double p);
long double special_log_ndtr(long double x);
/* The modified Bessel function of the first kind of order 0 or 1, and the same times exp(-|x|). */
long double special_bessel(int order, long double x);
long double special_bessel_scaled(int order, long double x);

#endif
