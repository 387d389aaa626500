/* The gradients that stand in the table of rows, and how every gradient is run. */
#include "ops/gradient.h"
#include <string.h>

/* g summed over the axes along which x was broadcast. */
static tn_tensor *back_to(tn_tensor *g, const tn_tensor *x)
{
    tn_axes axes = {.count = 0};
    const int lead = g ? g->ndim - x->ndim : 0;
    for (int a = 0; g && a < g->ndim; a++)
        if (a < lead || (x->dim[a - lead] == 1 && g->dim[a] != 1)) axes.axis[axes.count++] = a;
    if (!g || axes.count == 0) return g ? tn__tensor_alias(g) : NULL; /* g may be the caller's own upstream */
    tn_tensor *sum = tn_sum(g, axes, true);
    tn_tensor *y = sum ? tn_view(sum, tn_shape_make(x->ndim, x->dim)) : NULL;
    tn_release(sum);
    return y;
}

tn_status tn__gradient_run(tn__gradient_body body, tn_tensor *const *operands, tn_tensor *out, tn_tensor *upstream,
                           tn_tensor **gradients)
{
    const tn_scope scope = tn_scope_push();
    tn_tensor *found[3] = {0};
    body(operands, out, upstream, found);
    for (int i = 0; i < 3; i++) {
        if (!found[i]) continue;
        gradients[i] = back_to(found[i], operands[i]);
        if (gradients[i]) tn_keep(gradients[i]);
    }
    return tn_scope_pop(scope);
}

/* The operands by the names that the table has for them. */
#define LIST(...)   \
    {               \
        __VA_ARGS__ \
    }
#define OPERANDS_1              \
    tn_tensor *const a = in[0]; \
    (void)a
#define OPERANDS_2              \
    OPERANDS_1;                 \
    tn_tensor *const b = in[1]; \
    (void)b
#define OPERANDS_3              \
    OPERANDS_2;                 \
    tn_tensor *const c = in[2]; \
    (void)c
#define EW(...)
#define EWG(name, arity, inputs, result, real, integer, boolean, gradient, ...) \
    GRADIENT(name)                                                              \
    {                                                                           \
        OPERANDS_##arity;                                                       \
        tn_tensor *const found[] = LIST gradient;                               \
        (void)out, (void)up;                                                    \
        memcpy(g, found, sizeof found);                                         \
    }
#include "tables/elementwise.def"
#undef EW
