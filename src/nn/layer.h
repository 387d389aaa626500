/* What the layers share. A layer is its class, its forward and its constructor; what it computes it leaves to the scope that
 * tn_module_forward opens. */
#ifndef TN__LAYER_H
#define TN__LAYER_H

#include "core/scope.h"
#include "nn/module.h"
#include "ops/compose.h"

/* OK, or the error for a size below 0. */
static inline tn_status tn__layer_size(const char *function, const char *what, int64_t size)
{
    return size >= 0 ? TN_OK : tn__fail(TN_ARGUMENT, "%s: %s %lld", function, what, (long long)size);
}

/* y plus the module's bias, if it has one. */
static inline tn_tensor *tn__with_bias(const tn_module *m, tn_tensor *y)
{
    tn_tensor *bias = tn__module_own(m, "bias");
    return bias == TN_NONE ? y : tn_add(y, bias);
}

#endif
