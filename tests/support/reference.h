/* What operations are to give: plain C on one element, floats in long double or double, integers in 128 bits. The casts are here
 * and the rows in references.def, written from the contract alone; a row that has no line there is held against its own text in
 * long double (row_texts.h). */
#ifndef REFERENCE_H
#define REFERENCE_H

#include <tenon/dtype.h>

__extension__ typedef __int128 reference_int;

/* One element: f for floats, i for integers and bool. */
typedef struct reference_number {
    tn_dtype dtype;
    long double f;
    reference_int i;
} reference_number;

reference_number reference_load(tn_dtype dtype, const void *p);
/* Stores n, whose dtype it is in and fits, rounding floats to it. */
void reference_store(void *p, reference_number n);
reference_number reference_of(tn_dtype dtype, double value); /* value is exact in dtype */
long double reference_float(reference_number n);             /* as a float, of whatever dtype */

/* The cast rules: truncation, saturation, wrapping, one rounding. */
reference_number reference_cast(reference_number x, tn_dtype dtype);

/* The integer with the same low bits that the dtype has. */
reference_int reference_wrapped(tn_dtype dtype, reference_int value);

/* A row of elementwise.def, TN__ROW_…, on operands already in the dtype that is computed in (for where the first one is bool).
 * Floats are exact up to long double or, where the operation is a single IEEE one, up to double: not yet rounded to the dtype.
 * *slack: further ulps that the row's composition may cost at this place. */
reference_number reference_row(int row, tn_dtype dtype, const reference_number *operands, double *slack);

/* f is subnormal in what dtype is computed in, and a device may take it for 0. */
bool reference_may_flush(reference_number n);

#endif
