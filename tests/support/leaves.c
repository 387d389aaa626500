#include "support/leaves.h"

tn_shape leaf_shape(leaf_layout layout, tn_shape s)
{
    const int64_t last = s.ndim ? s.dim[s.ndim - 1] : 0;
    if (s.ndim == 0) return s;
    if (layout == LEAF_TURNED) {
        s.dim[s.ndim - 1] = s.dim[0];
        s.dim[0] = last;
    }
    if (layout == LEAF_STEPPED) s.dim[s.ndim - 1] = 2 * last + 1;
    if (layout == LEAF_REPEATED && s.dim[0] > 0) s.dim[0] = 1;
    return s;
}

tn_tensor *leaf_view(leaf_layout layout, tn_shape s, tn_tensor *leaf)
{
    if (s.ndim == 0 || layout == LEAF_PLAIN) return leaf;
    if (layout == LEAF_TURNED) return tn_transpose(leaf, 0, -1);
    if (layout == LEAF_STEPPED) return tn_slice(leaf, -1, 1, TN_END, 2);
    return layout == LEAF_BACKWARDS ? tn_flip(leaf, TN_ALL_AXES) : tn_expand(leaf, s);
}
