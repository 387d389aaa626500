/* More views and movement, creation and random numbers. The simple ones are in tensor.h.
 *
 * A view shares the storage and runs nothing. A count of tensors goes in as an array and its length, and comes out into an
 * array of the caller's with its capacity. */
#ifndef TENON_MOVEMENT_H
#define TENON_MOVEMENT_H

#include <tenon/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- views ---- */

/** Axis from[i] of x becomes axis to[i] of the result; the others keep their order.
 *  error  AXIS (out of range, given twice, lists of different lengths) */
TN_API tn_tensor *tn_movedim(tn_tensor *x, tn_axes from, tn_axes to) TN_MUST_USE;
/** NumPy's name of tn_expand. error  SHAPE */
TN_API tn_tensor *tn_broadcast_to(tn_tensor *x, tn_shape shape) TN_MUST_USE;
/** The elements with index along axis2 = index along axis1 + offset, as a new last axis; both axes go.
 *  shape  [..., m, n] -> [..., min(m, n - offset)], by offset below 0 min(m + offset, n), and 0 beyond a corner
 *  error  AXIS (out of range, twice the same) */
TN_API tn_tensor *tn_diagonal(tn_tensor *x, int64_t offset, int axis1, int axis2) TN_MUST_USE;
/** Windows of size elements along an axis, one every step: they overlap where step < size.
 *  shape  extent n of the axis becomes (n - size) / step + 1, a new last axis has size
 *  error  AXIS, ARGUMENT (size below 0 or above n, step below 1), SHAPE (17 axes) */
TN_API tn_tensor *tn_unfold(tn_tensor *x, int axis, int64_t size, int64_t step) TN_MUST_USE;
/** Any window on x's storage: element [i, j, …] is the storage's element offset + i·strides[0] + j·strides[1] + …; strides
 *  may be 0, negative, overlapping. x's own window does not count.
 *  error  SHAPE (lists of different lengths), ARGUMENT (an element outside the storage) */
TN_API tn_tensor *tn_as_strided(tn_tensor *x, tn_shape shape, tn_shape strides, int64_t offset) TN_MUST_USE;
/** Pieces of size along an axis, the last one smaller where it does not divide; an empty axis is one empty piece.
 *  *count is the number of pieces. They are written to out, each a reference of the caller's; with out NULL they are only
 *  counted. After an error nothing is left in out.
 *  error  AXIS, ARGUMENT (size below 1 – or below 0 for an empty axis; capacity below the number of pieces), MEMORY */
TN_API tn_status tn_split(tn_tensor *x, int axis, int64_t size, tn_tensor **out, int capacity, int *count);
/** At most chunks pieces of one size (rounded up), the last one smaller; an empty axis is chunks empty pieces. out as above.
 *  error  AXIS, ARGUMENT (chunks below 1; capacity), MEMORY */
TN_API tn_status tn_chunk(tn_tensor *x, int axis, int chunks, tn_tensor **out, int capacity, int *count);
/** Axes first to last become one. A view where strides allow, else a copy. No axes give [1].
 *  error  AXIS (out of range, last before first) */
TN_API tn_tensor *tn_flatten(tn_tensor *x, int first, int last) TN_MUST_USE;
/** NumPy's name of tn_flatten(x, 0, -1). */
TN_API tn_tensor *tn_ravel(tn_tensor *x) TN_MUST_USE;
/** One axis becomes several; one of the sizes may be -1. A view.
 *  error  AXIS, SHAPE (sizes do not multiply to the extent, above 16 axes) */
TN_API tn_tensor *tn_unflatten(tn_tensor *x, int axis, tn_shape sizes) TN_MUST_USE;

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif
