/* A third meaning of the rows' text, beside C in the row's own type and OpenCL C: plain C on one element, with floats in long double.
 *
 * It is what a row is held against that has no line in references.def. Of floats, the text with 11 bits more: the roundings,
 * and cancellations of f32 and f64, on every device, have to stay within the row's bound. Where the text in the row's own type
 * gives 0, an infinity or NaN, that counts: an intermediate value may have left the range. Of integers, where it is exact, the
 * text in the compute type: devices have to do the same. It cannot tell that the text is another function than the one meant,
 * nor that it overflows on the way to an ordinary number; where that matters, write a line. */
#ifndef ROW_TEXTS_H
#define ROW_TEXTS_H

#include "support/reference.h"

/* Row TN__ROW_… on operands in the dtype computed in. */
reference_number row_text(int row, tn_dtype dtype, const reference_number *operands);

#endif
