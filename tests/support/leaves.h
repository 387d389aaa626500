/* Operands that are views of leaves, in every layout: for gradients. */
#ifndef LEAVES_H
#define LEAVES_H

#include <tenon/tenon.h>

typedef enum leaf_layout {
    LEAF_PLAIN,
    LEAF_TURNED,    /* transposed */
    LEAF_STEPPED,   /* every second element of the last axis, from the second on */
    LEAF_BACKWARDS, /* strides below zero */
    LEAF_REPEATED,  /* expanded along the first axis */
    LEAF_LAYOUTS
} leaf_layout;

/* Of an operand of this shape, which is leaf_view of a leaf of shape leaf_shape. */
tn_shape leaf_shape(leaf_layout layout, tn_shape shape);
tn_tensor *leaf_view(leaf_layout layout, tn_shape shape, tn_tensor *leaf);

#endif
