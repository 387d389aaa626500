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

/* A function of x that gives two tensors, values and indices, of which either may be unwanted (NULL): both are NULL for now. */
static inline tn_status tn__start_both(const tn_tensor *x, const char *function, tn_tensor **const *out)
{
    for (int i = 0; i < 2; i++)
        if (out[i]) *out[i] = NULL;
    TN__TRY(tn__tensor_check(x, function, "x"));
    return out[0] || out[1] ? TN_OK : tn__fail(TN_ARGUMENT, "%s: neither values nor indices are wanted", function);
}

/* Ends the scope of a composition of several results: what is wanted of them survives it, unless anything in it failed. */
static inline tn_status tn__leave_all(tn_scope scope, tn_tensor *const *made, tn_tensor **const *out, int count)
{
    for (int i = 0; i < count; i++)
        if (out[i] && made[i]) tn_keep(made[i]);
    const tn_status status = tn_scope_pop(scope);
    for (int i = 0; i < count; i++) {
        if (out[i] && status == TN_OK) *out[i] = made[i];
        if (out[i] && status != TN_OK) tn_release(made[i]);
    }
    return status;
}

/* A factor of x (pointwise.c): a whole number for integers. NULL with an error. */
tn_tensor *tn__factor(const char *function, const tn_tensor *x, double value);

#endif
