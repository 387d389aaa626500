/* Operands as they lie in memory: for each layout a shape, and tensors of that shape that hold given values. */
#ifndef LAYOUTS_H
#define LAYOUTS_H

#include <tenon/tenon.h>

typedef enum test_layout {
    LAYOUT_CONTIGUOUS,
    LAYOUT_TRANSPOSED,    /* the first operand, and the third */
    LAYOUT_OFFSET,        /* a window that begins at an odd place */
    LAYOUT_BROADCAST,     /* a row, a column, a row without leading axis; alone: expanded */
    LAYOUT_NEGATIVE,      /* strides below zero, and of two elements */
    LAYOUT_CHANNELS_LAST, /* [n, c, h, w] that lies as [n, h, w, c] */
    LAYOUT_EMPTY,
    LAYOUT_ZERO_D,
    LAYOUT_ODD, /* row-major, of odd extents */
    LAYOUTS
} test_layout;

const char *layout_name(test_layout layout);
/* Shape of an operation's result whose operands have this layout, and its number of elements. */
tn_shape layout_shape(test_layout layout);
int64_t layout_count(test_layout layout);

/* Operand `which` of `arity`. values: its elements as the operation sees them, row-major over layout_shape; where the layout
 * makes several of them one element, the last counts and values is changed to what the tensor holds. */
tn_tensor *layout_tensor(test_layout layout, int which, int arity, tn_dtype dtype, void *values, const char *device);

/* The strides a result over these operands has by bone 4: dense, in the axis order of the first operand of full shape without
 * zero strides, else row-major. */
void layout_of_result(tn_shape shape, tn_tensor *const *operands, int count, int64_t *stride);

#endif
