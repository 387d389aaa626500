/* The gradient functions the rows name: C over public operations, defined in ops/gradients.c. Each writes one gradient per
 * operand, of the operand's shape after broadcasting back, NULL where none flows. */
#ifndef TN__GRADIENTS_H
#define TN__GRADIENTS_H

#include "core/tensor.h"

typedef tn_status (*tn__gradient)(tn_tensor *const *operands, tn_tensor *out, tn_tensor *upstream, tn_tensor **gradients);

#define tn__grad_none NULL
#define TN__GRADIENT(name) \
    tn_status tn__grad_##name(tn_tensor *const *operands, tn_tensor *out, tn_tensor *upstream, tn_tensor **gradients);
TN__GRADIENT(add)
TN__GRADIENT(sub)
TN__GRADIENT(mul)
TN__GRADIENT(div)
TN__GRADIENT(pow)
TN__GRADIENT(neg)
TN__GRADIENT(abs)
TN__GRADIENT(maximum)
TN__GRADIENT(minimum)
TN__GRADIENT(clamp)
TN__GRADIENT(square)
TN__GRADIENT(reciprocal)
TN__GRADIENT(rsqrt)
TN__GRADIENT(fmax)
TN__GRADIENT(fmin)
TN__GRADIENT(hypot)
TN__GRADIENT(copysign)
TN__GRADIENT(fma)
TN__GRADIENT(lerp)
TN__GRADIENT(deg2rad)
TN__GRADIENT(rad2deg)
TN__GRADIENT(xlogy)
TN__GRADIENT(exp)
TN__GRADIENT(log)
TN__GRADIENT(sqrt)
TN__GRADIENT(tanh)
TN__GRADIENT(erf)
TN__GRADIENT(exp2)
TN__GRADIENT(expm1)
TN__GRADIENT(log2)
TN__GRADIENT(log10)
TN__GRADIENT(log1p)
TN__GRADIENT(sin)
TN__GRADIENT(cos)
TN__GRADIENT(tan)
TN__GRADIENT(asin)
TN__GRADIENT(acos)
TN__GRADIENT(atan)
TN__GRADIENT(sinh)
TN__GRADIENT(cosh)
TN__GRADIENT(asinh)
TN__GRADIENT(acosh)
TN__GRADIENT(atanh)
TN__GRADIENT(cbrt)
TN__GRADIENT(atan2)
TN__GRADIENT(erfc)
TN__GRADIENT(sinc)
TN__GRADIENT(logaddexp)
TN__GRADIENT(logit)
TN__GRADIENT(ldexp)
TN__GRADIENT(relu)
TN__GRADIENT(sigmoid)
TN__GRADIENT(gelu)
TN__GRADIENT(where)
#undef TN__GRADIENT

#endif
