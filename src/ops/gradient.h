/* How a gradient function is written: C over public operations, which fuse and can be differentiated again. */
#ifndef TN__OPS_GRADIENT_H
#define TN__OPS_GRADIENT_H

#include "graph/gradients.h"
#include <tenon/ops.h>

/* Sets g[i] to the gradient of operand in[i] of a row whose result is `out` and has the gradient `up`; of the result's shape, NULL
 * where none flows. */
typedef void (*tn__gradient_body)(tn_tensor *const *in, tn_tensor *out, tn_tensor *up, tn_tensor **g);

/* Runs it inside a scope for the intermediate values, sums each gradient over the axes along which its operand was broadcast, and
 * keeps it. */
tn_status tn__gradient_run(tn__gradient_body body, tn_tensor *const *operands, tn_tensor *out, tn_tensor *upstream,
                           tn_tensor **gradients);

#define GRADIENT(name)                                                                                                \
    static void name##_(tn_tensor *const *in, tn_tensor *out, tn_tensor *up, tn_tensor **g);                          \
    tn_status tn__grad_##name(tn_tensor *const *operands, tn_tensor *out, tn_tensor *upstream, tn_tensor **gradients) \
    {                                                                                                                 \
        return tn__gradient_run(name##_, operands, out, upstream, gradients);                                         \
    }                                                                                                                 \
    static void name##_(tn_tensor *const *in, tn_tensor *out, tn_tensor *up, tn_tensor **g)

#define UNUSED (void)in, (void)out, (void)up, (void)g

#endif
