/* For operations that are composed of public ones. */
#ifndef TN__COMPOSE_H
#define TN__COMPOSE_H

#include <tenon/ops.h>
#include "core/tensor.h"

/* The next value of a chain: old goes. */
static inline tn_tensor *tn__next(tn_tensor *old, tn_tensor *next)
{
    tn_release(old);
    return next;
}

/* Ends the scope of a composition: y survives it. NULL when anything in it failed. */
static inline tn_tensor *tn__leave(tn_scope scope, tn_tensor *y)
{
    if (y) tn_keep(y);
    if (tn_scope_pop(scope) == TN_OK) return y;
    tn_release(y);
    return NULL;
}

/* The same with y in dtype. */
static inline tn_tensor *tn__leave_as(tn_scope scope, tn_tensor *y, tn_dtype dtype)
{
    return tn__leave(scope, y && y->dtype != dtype ? tn_cast(y, dtype) : y);
}

/* A tensor of floats in what it is computed in: f32, or f64. */
static inline tn_tensor *tn__wide(tn_tensor *x)
{
    return x && tn_dtype_size(x->dtype) == 2 && tn_dtype_is_float(x->dtype) ? tn_cast(x, TN_F32) : x;
}

#endif
