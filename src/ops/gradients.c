/* The gradients that stand in the table of rows, and how every gradient is run. */
#include "ops/gradient.h"
#include "device/device.h"

/* g summed over the axes along which an operand of this shape was broadcast. */
static tn_tensor *back_to(tn_tensor *g, const tn_shape *shape)
{
    tn_axes axes = {.count = 0};
    const int lead = g ? g->ndim - shape->ndim : 0;
    for (int a = 0; g && a < g->ndim; a++)
        if (a < lead || (shape->dim[a - lead] == 1 && g->dim[a] != 1)) axes.axis[axes.count++] = a;
    if (!g || axes.count == 0) return g;
    tn_tensor *sum = tn_sum(g, axes, true);
    return sum ? tn_reshape(sum, *shape) : NULL;
}

tn_status tn__differentiate(const tn__derivative *d, const tn__backward *back)
{
    const tn_scope scope = tn_scope_push();
    d->gradient(back);
    for (int i = 0; i < back->count; i++) {
        tn_tensor **g = &back->g[i];
        if (!*g || !back->operand[i].wanted) {
            *g = NULL;
            continue;
        }
        *g = back_to(*g, &back->operand[i].shape);
        if (*g && tn__tensor_device(*g) != back->operand[i].device) *g = tn_to(*g, back->operand[i].device->name);
        if (*g) *g = tn_cast(*g, back->operand[i].dtype); /* another handle: it may be the caller's own upstream */
        if (*g) tn_keep(*g);
    }
    const tn_status status = tn_scope_pop(scope);
    for (int i = 0; i < back->count && status != TN_OK; i++) {
        tn_release(back->g[i]);
        back->g[i] = NULL;
    }
    return status;
}

/* The operands by the names that the table has for them, and their gradients, where they are wanted. */
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
#define FLOWS_1(x) \
    if (WANTED(0)) g[0] = x
#define FLOWS_2(x, y) \
    FLOWS_1(x);       \
    if (WANTED(1)) g[1] = y
#define FLOWS_3(x, y, z) \
    FLOWS_2(x, y);       \
    if (WANTED(2)) g[2] = z
#define EW(...)
#define EWG(name, arity, inputs, result, real, integer, boolean, gradient, ...) \
    GRADIENT(name)                                                              \
    {                                                                           \
        OPERANDS_##arity;                                                       \
        UNUSED;                                                                 \
        FLOWS_##arity gradient;                                                 \
    }
#include "tables/elementwise.def"
#undef EW

GRADIENT(missing)
{
    UNUSED;
    (void)tn__fail(TN_ARGUMENT, "backward: %s has no gradient", back->name);
}
