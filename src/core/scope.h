/* A thread's stack of scopes. */
#ifndef TN__SCOPE_H
#define TN__SCOPE_H

#include "core/tensor.h"

/* Registers a fresh handle in the thread's innermost scope, if there is one. */
void tn__scope_join(tn_tensor *x);
/* Takes a handle out of the scope it is in, if any. */
void tn__scope_leave(tn_tensor *x);
/* Is x in the thread's innermost scope? */
bool tn__scope_has(const tn_tensor *x);
/* Closes a scope of a function's own; gives the status of what was done inside, else of what failed there. */
static inline tn_status tn__scope_end(tn_scope scope, tn_status status)
{
    const tn_status inside = tn_scope_pop(scope);
    return status != TN_OK ? status : inside;
}
/* Drops a reference without touching scopes. */
void tn__tensor_unref(tn_tensor *x);
/* A scope in which gradients are remembered, or not. */
tn_scope tn__scope_push_grad(bool enabled);
/* While paused, new handles of the thread join no scope (what modules and loaders hold). Calls nest. */
void tn__scope_pause(void);
void tn__scope_resume(void);

/* A forked child goes on using its scopes (once, at the library's start). */
void tn__scope_over_fork(void);

#endif
