/* How a gradient function is written: C over public operations, which fuse and can be differentiated again. */
#ifndef TN__OPS_GRADIENT_H
#define TN__OPS_GRADIENT_H

#include "core/derive.h"
#include "graph/gradients.h"
#include <tenon/ops.h>

/* GRADIENT(name) { … } defines tn__grad_name: it sets g[i] to the gradient of operand in[i] of an operation whose result is `out` and
 * has the gradient `up`; of the result's shape, NULL where none flows. wanted[i] says whether anybody asks. */
#define GRADIENT(name)                                                                                 \
    static void name##_(const tn__backward *back, tn_tensor *const *in, tn_tensor *out, tn_tensor *up, tn_tensor **g); \
    void tn__grad_##name(const tn__backward *back);                                                    \
    void tn__grad_##name(const tn__backward *back)                                                     \
    {                                                                                                  \
        name##_(back, back->in, back->out[0], back->up[0], back->g);                                   \
    }                                                                                                  \
    static void name##_(const tn__backward *back, tn_tensor *const *in, tn_tensor *out, tn_tensor *up, tn_tensor **g)

#define UNUSED (void)back, (void)in, (void)out, (void)up, (void)g
#define WANTED(i) (back->operand[i].wanted)

/* Zeros of this shape with x on a diagonal (gradients_views.c). */
tn_tensor *tn__on_diagonal(tn_tensor *x, const tn_shape *shape, const tn__diagonal_attributes *diagonal);

/* Calls d's gradient in a scope of its own, sums each gradient over the axes along which its operand was broadcast, casts it to the
 * operand's dtype, and keeps it: back->g holds handles of the caller's, NULL where none flows or none is wanted. */
tn_status tn__differentiate(const tn__derivative *d, const tn__backward *back);

#endif
