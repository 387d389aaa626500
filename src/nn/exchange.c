/* New values for tensors that exist. */
#include "nn/optimizer.h"
#include <string.h>

/* Can x take over src's value? It covers its storage, in the same order. */
static bool fits(const tn_tensor *x, const tn_tensor *src)
{
    if (x->storage->wrapped || !tn__tensor_covers(x) || !tn__tensor_covers(src) || x->offset != src->offset) return false;
    for (int a = 0; a < x->ndim; a++)
        if (x->dim[a] != 1 && x->stride[a] != src->stride[a]) return false;
    return true;
}

tn_status tn__exchange(tn_tensor *const *x, tn_tensor *const *src, int count)
{
    for (int i = 0; i < count; i++)
        if (!fits(x[i], src[i])) TN__TRY(tn_assign(x[i], src[i]));
    for (int i = 0; i < count; i++)
        if (fits(x[i], src[i])) tn__storage_set(x[i]->storage, tn__value_retain(src[i]->storage->value));
    return TN_OK;
}
