/* Arithmetic of shapes and strides; every product is checked. */
#ifndef TN__SHAPE_H
#define TN__SHAPE_H

#include "base/text.h"
#include <tenon/tensor.h>

/* Elements of a shape; fails with SHAPE for a bad ndim or a negative extent, OVERFLOW above 2^62 bytes. */
tn_status tn__shape_numel(const tn_shape *shape, size_t element, int64_t *numel, const char *function);
/* Row-major strides. */
void tn__shape_strides(int ndim, const int64_t *dim, int64_t *stride);
/* Broadcast of two shapes, NumPy's rule. False when they do not fit. */
bool tn__shape_broadcast(const tn_shape *a, const tn_shape *b, tn_shape *out);
bool tn__shape_equal(const tn_shape *a, const tn_shape *b);
/* A non-negative axis of ndim, or -1 with an AXIS error. */
int tn__axis(int axis, int ndim, const char *function);
/* "[2,3]" in one of a few rotating buffers of the thread, for messages. */
const char *tn__shape_text(int ndim, const int64_t *dim);

#endif
