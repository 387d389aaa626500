/* A scope of a function's own, in which nothing is remembered for gradients. */
#ifndef TN__WITHIN_H
#define TN__WITHIN_H

#include "base/error.h"
#include <tenon/autograd.h>

static inline tn_status tn__enter(tn_scope *scope)
{
    *scope = tn_scope_push_no_grad();
    return scope->depth > 0 ? TN_OK : TN_MEMORY;
}

/* Gives the status of what was done inside. */
static inline tn_status tn__exit(tn_scope scope, tn_status status)
{
    if (scope.depth > 0) (void)tn_scope_pop(scope);
    return status;
}

#endif
