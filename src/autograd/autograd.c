/* What a user sees of variables: the flags, the gradients, the hooks. */
#include "autograd/variable.h"
#include "base/alloc.h"
#include "core/scope.h"

/* ---- what requires a gradient ---- */

tn_status tn_set_requires_grad(tn_tensor *x, bool required)
{
    TN__TRY(tn__tensor_check(x, "set_requires_grad", "x"));
    if (!tn_dtype_is_float(x->dtype))
        return tn__fail(TN_DTYPE, "set_requires_grad: x %s of %s; only floats have gradients", tn__shape_text(x->ndim, x->dim),
                        tn_dtype_name(x->dtype));
    tn__autograd_start();
    tn__variable *v = tn__variable_of(x);
    if (!v && !required) return TN_OK;
    if (v && v->history)
        return required ? TN_OK
                        : tn__fail(TN_ARGUMENT,
                                   "set_requires_grad: x %s was computed from something that requires a gradient; tn_detach gives "
                                   "its values alone",
                                   tn__shape_text(x->ndim, x->dim));
    if (!v) v = tn__variable_make(x);
    if (!v) return TN_MEMORY;
    v->required = required;
    return TN_OK;
}

bool tn_requires_grad(const tn_tensor *x)
{
    if (tn__tensor_check(x, "requires_grad", "x") != TN_OK) return false;
    const tn__variable *v = tn__variable_of(x);
    return v && (v->required || v->history);
}

bool tn_is_leaf(const tn_tensor *x)
{
    if (tn__tensor_check(x, "is_leaf", "x") != TN_OK) return false;
    const tn__variable *v = tn__variable_of(x);
    return !v || !v->history;
}

tn_tensor *tn_detach(tn_tensor *x)
{
    return tn__tensor_check(x, "detach", "x") == TN_OK ? tn__tensor_alias(x) : NULL;
}

bool tn_grad_enabled(void)
{
    return tn__derives();
}

bool tn_set_grad_enabled(bool enabled)
{
    return tn__derive_enable(enabled);
}

/* ---- gradients ---- */

tn_tensor *tn_grad_of(const tn_tensor *x)
{
    if (tn__tensor_check(x, "grad_of", "x") != TN_OK) return NULL;
    const tn__variable *v = tn__variable_of(x);
    return v && v->gradient ? tn_cast(v->gradient, v->gradient->dtype) : TN_NONE;
}

static tn_status fits(const tn_tensor *x, const tn_tensor *g)
{
    const tn_shape own = tn__tensor_shape(x), shape = tn__tensor_shape(g);
    if (!tn__shape_equal(&own, &shape))
        return tn__fail(TN_SHAPE, "set_grad: a gradient %s for x %s", tn__shape_text(g->ndim, g->dim),
                        tn__shape_text(x->ndim, x->dim));
    if (x->dtype != g->dtype)
        return tn__fail(TN_DTYPE, "set_grad: a gradient of %s for x of %s", tn_dtype_name(g->dtype), tn_dtype_name(x->dtype));
    if (tn__tensor_device(x) != tn__tensor_device(g))
        return tn__fail(TN_DEVICE, "set_grad: a gradient on %s for x on %s", tn_device_of(g), tn_device_of(x));
    return TN_OK;
}

tn_status tn_set_grad(tn_tensor *x, tn_tensor *gradient)
{
    TN__TRY(tn__tensor_check(x, "set_grad", "x"));
    if (!gradient) return tn__fail_null("set_grad", "gradient");
    if (gradient == TN_NONE) return tn_zero_grad(&x, 1);
    if (!tn_dtype_is_float(x->dtype))
        return tn__fail(TN_DTYPE, "set_grad: x %s of %s; only floats have gradients", tn__shape_text(x->ndim, x->dim),
                        tn_dtype_name(x->dtype));
    TN__TRY(fits(x, gradient));
    tn__autograd_start();
    tn__variable *v = tn__variable_make(x);
    if (!v) return TN_MEMORY;
    tn__scope_pause();
    tn_tensor *own = tn_clone(gradient);
    tn__scope_resume();
    if (!own) return tn_last_status();
    tn_release(v->gradient);
    v->gradient = own;
    return TN_OK;
}

tn_status tn_zero_grad(tn_tensor *const *list, int count)
{
    if (!list && count > 0) return tn__fail_null("zero_grad", "list");
    for (int i = 0; i < count; i++) {
        TN__TRY(tn__tensor_check(list[i], "zero_grad", "an entry of the list"));
        tn__variable *v = tn__variable_of(list[i]);
        if (!v) continue;
        tn_release(v->gradient);
        v->gradient = NULL;
    }
    return TN_OK;
}

static tn_status taking_part(const tn_tensor *x, const char *function)
{
    TN__TRY(tn__tensor_check(x, function, "x"));
    return tn_requires_grad(x) ? TN_OK
                               : tn__fail(TN_ARGUMENT, "%s: x %s requires no gradient", function, tn__shape_text(x->ndim, x->dim));
}

tn_status tn_retain_grad(tn_tensor *x)
{
    TN__TRY(taking_part(x, "retain_grad"));
    tn__variable_of(x)->retains = true;
    return TN_OK;
}

/* ---- hooks ---- */

int tn_add_grad_hook(tn_tensor *x, tn_grad_hook *hook, void *user)
{
    if (taking_part(x, "add_grad_hook") != TN_OK) return 0;
    if (!hook) return (void)tn__fail_null("add_grad_hook", "hook"), 0;
    tn__grad_watcher *w = tn__zalloc(sizeof *w), **end = &tn__variable_of(x)->watchers;
    if (!w) return 0;
    w->number = ++tn__variable_of(x)->numbered;
    while (*end) end = &(*end)->next;
    w->hook = hook;
    w->user = user;
    *end = w;
    return w->number;
}

tn_status tn_remove_grad_hook(tn_tensor *x, int number)
{
    TN__TRY(tn__tensor_check(x, "remove_grad_hook", "x"));
    const tn__variable *v = tn__variable_of(x);
    tn__grad_watcher **at = v ? &((tn__variable *)x->gradient)->watchers : NULL;
    while (at && *at && (*at)->number != number) at = &(*at)->next;
    if (!at || !*at) return tn__fail(TN_ARGUMENT, "remove_grad_hook: x %s has no hook %d", tn__shape_text(x->ndim, x->dim), number);
    tn__grad_watcher *w = *at;
    *at = w->next;
    tn__free(w);
    return TN_OK;
}
