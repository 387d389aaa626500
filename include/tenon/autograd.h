/* Automatic differentiation.
 *
 *     tn_tensor *w = tn_randn(TN_F32, TN_SHAPE(3, 2), "gpu:0");
 *     tn_set_requires_grad(w, true);
 *     tn_tensor *loss = tn_mean(tn_tanh(tn_matmul(x, w)), TN_ALL_AXES, false);
 *     tn_backward(loss);
 *     tn_print(stdout, tn_grad_of(w));
 *
 * What a tensor that requires a gradient takes part in is remembered; tn_backward goes back over it and adds to the gradients of the
 * leaves. Gradients are recorded like any other operation: nothing runs before somebody reads, and what can fuse does.
 *
 * Integers and bool have no gradients. A tensor that is saved for the way back and written to afterwards is an error of tn_backward;
 * a leaf that requires a gradient is assigned to in tn_scope_push_no_grad only. A backward writes to its leaves: threads that share
 * leaves do so one after the other; tn_grad touches none. After an error the leaves' gradients are as before, unless memory was
 * lacking for the gradients themselves; without retain, what was passed until then is gone. */
#ifndef TENON_AUTOGRAD_H
#define TENON_AUTOGRAD_H

#include <tenon/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- what requires a gradient ---- */

/** Makes x a leaf whose gradient is wanted, or no longer.
 *  error  DTYPE (x is no float), ARGUMENT (required is false and x was computed from something; detach it) */
TN_API tn_status tn_set_requires_grad(tn_tensor *x, bool required);
/** Is x such a leaf, or computed from one? */
TN_API bool tn_requires_grad(const tn_tensor *x);
/** Does x stand at the beginning: made by the user, or without need of a gradient? */
TN_API bool tn_is_leaf(const tn_tensor *x);
/** x's values, beyond differentiation: a view. */
TN_API tn_tensor *tn_detach(tn_tensor *x) TN_MUST_USE;

/** A scope (tn_scope_pop ends it) in which nothing is remembered: for evaluation, and for changing parameters. */
TN_API tn_scope tn_scope_push_no_grad(void);
/** Whether the thread remembers, and the switch; tells what was. */
TN_API bool tn_grad_enabled(void);
TN_API bool tn_set_grad_enabled(bool enabled);

/* ---- gradients of leaves ---- */

/** The gradient that was added up for x, as a handle of the caller's on the same memory; TN_NONE when there is none. */
TN_API tn_tensor *tn_grad_of(const tn_tensor *x) TN_MUST_USE;
/** Replaces it by a copy; TN_NONE takes it away. error  SHAPE, DTYPE, DEVICE (not those of x; x is no float) */
TN_API tn_status tn_set_grad(tn_tensor *x, tn_tensor *gradient);
/** Takes the gradients of these tensors away; the next backward begins anew. */
TN_API tn_status tn_zero_grad(tn_tensor *const *list, int count);
/** Keeps the gradient of x, which is no leaf, too. error  ARGUMENT (x requires none) */
TN_API tn_status tn_retain_grad(tn_tensor *x);

/* ---- backward ---- */

/** Adds the gradients of y, of one element, to all leaves it was computed from, and forgets how it was.
 *  error  ARGUMENT (y requires no gradient; what it was computed from is forgotten; a saved tensor was changed since; an
 *         operation has no gradient), SHAPE (more than one element), and those of the operations */
TN_API tn_status tn_backward(tn_tensor *y);

typedef struct tn_backward_options {
    bool retain; /* does not forget: another backward may follow */
    bool create; /* gradients are remembered themselves, to be differentiated again; implies retain. A leaf's gradient then holds the
                    graph that holds the leaf: tn_zero_grad frees them */
    bool unused; /* tn_grad: an input that the outputs do not depend on has TN_NONE, instead of an error */
} tn_backward_options;

/** The same for several tensors of any shape. gradients: of something computed from them, of their shapes; NULL, and TN_NONE in it:
 *  1, for one element. options may be NULL. */
TN_API tn_status tn_backward_all(tn_tensor *const *list, tn_tensor *const *gradients, int count, const tn_backward_options *options);
/** Gradients as values: out[i] is that of inputs[i], which may be any tensor on the way, in memory of its own; no leaf is touched.
 *  On failure all of out are NULL. error  ARGUMENT (an input requires no gradient, or was not used) and those of tn_backward_all */
TN_API tn_status tn_grad(tn_tensor *const *list, tn_tensor *const *gradients, int count, tn_tensor *const *inputs, int input_count,
                         tn_tensor **out, const tn_backward_options *options);

/* ---- looking in ---- */

/** Called with each gradient of x when it is complete (borrowed; tn_retain keeps it); returns what is to take its place, of its shape,
 *  dtype and device (of the hook's making; it is released), or TN_NONE to leave it. NULL fails the backward. It may remove hooks, and
 *  add some, which count from the next gradient on. */
typedef tn_tensor *tn_grad_hook(tn_tensor *gradient, void *user);
/** Returns a number for tn_remove_grad_hook, 0 on failure. error  ARGUMENT (x requires no gradient), MEMORY */
TN_API int tn_add_grad_hook(tn_tensor *x, tn_grad_hook *hook, void *user);
TN_API tn_status tn_remove_grad_hook(tn_tensor *x, int number);

/** While on, the thread's operations outside no-grad scopes run at once, and one whose result has a NaN that its operands did not is an
 *  error (ARGUMENT) that names it; so is one whose gradient is the first that has one. Slow. Tells what was. */
TN_API bool tn_set_detect_nan(bool enabled);

/** A function of several tensors, as tn_checkpoint and tn_gradcheck take it: a new tensor, NULL on failure. */
typedef tn_tensor *tn_function(tn_tensor *const *inputs, int count, void *user);

/** function(inputs), of which nothing is saved but the inputs: the way back computes it once more (Chen et al. 2016, Training Deep
 *  Nets with Sublinear Memory Cost). Random numbers are those of the first time; user must still be valid then. It runs in a scope of
 *  its own. One of the inputs at least must require a gradient; what function takes from elsewhere gets its gradients from
 *  tn_backward, too. Its gradients cannot be differentiated again. */
TN_API tn_tensor *tn_checkpoint(tn_function *function, tn_tensor *const *inputs, int count, void *user) TN_MUST_USE;

typedef struct tn_gradcheck_options {
    double step;     /* of the central differences; 0: 1e-6 in f64, 1e-3 in f32 */
    double absolute; /* |difference| <= absolute + relative |expected|; both 0: 1e-5 and 1e-3 in f64, 1e-2 in f32 */
    double relative;
} tn_gradcheck_options;
/** Compares function's gradients with central differences, for every input that requires one; function gets copies of the inputs, and
 *  the same random numbers each time. options may be NULL.
 *  error  ARGUMENT (they differ: input, element and both numbers), and those of function */
TN_API tn_status tn_gradcheck(tn_function *function, tn_tensor *const *inputs, int count, void *user,
                              const tn_gradcheck_options *options);

#ifdef __cplusplus
}
#endif
#endif
