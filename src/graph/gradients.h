/* The gradient functions the rows name: C over public operations, defined in ops/gradients*.c. Each writes one gradient per
 * operand, of the operand's shape after broadcasting back, NULL where none flows. */
#ifndef TN__GRADIENTS_H
#define TN__GRADIENTS_H

#include "core/tensor.h"

typedef tn_status (*tn__gradient)(tn_tensor *const *operands, tn_tensor *out, tn_tensor *upstream, tn_tensor **gradients);

/* One for each name in the tables; a name may stand there several times. */
#define EW(name, arity, inputs, result, f, i, b, gradient, ...) \
    tn_status tn__grad_##gradient(tn_tensor *const *operands, tn_tensor *out, tn_tensor *upstream, tn_tensor **gradients);
#include "tables/elementwise.def"
#undef EW
#define tn__grad_none NULL

#endif
