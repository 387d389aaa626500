/* Views that other layers build on. */
#ifndef TN__VIEW_H
#define TN__VIEW_H

#include "core/derive.h"

/* A list of axes as a mask; TN_ALL_AXES is all; out of range or repeated: an AXIS error. */
tn_status tn__axes_mask(const tn_axes *axes, int ndim, const char *function, uint32_t *mask);

/* Fills in a -1 and checks the number of elements. */
tn_status tn__view_infer(const tn_tensor *x, tn_shape *shape, const char *function);
/* Strides under which x's elements, row-major, have the new shape; false when only a copy has. */
bool tn__view_strides(const tn_tensor *x, const tn_shape *shape, int64_t *stride);
tn_tensor *tn__view_as(tn_tensor *x, const tn_shape *shape, const int64_t *stride);
/* x as seen with a larger shape (stride 0 on repeated axes); shapes are known to fit. */
void tn__expand_strides(const tn_tensor *x, const tn_shape *shape, int64_t *stride);

/* Axes in another order. */
tn_tensor *tn__permuted(tn_tensor *x, const tn__permute_attributes *order);

/* Covers a gap-free range of its storage exactly once, in some order of axes and all forwards. */
bool tn__view_dense(const tn_tensor *x);

#endif
