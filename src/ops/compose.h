/* For operations that are composed of public ones. */
#ifndef TN__COMPOSE_H
#define TN__COMPOSE_H

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

/* A factor of x (pointwise.c): a whole number for integers. NULL with an error. */
tn_tensor *tn__factor(const char *function, const tn_tensor *x, double value);

#endif
