/* Movement between devices, for the layers above. */
#ifndef TN__MOVE_H
#define TN__MOVE_H

#include "core/view.h"
#include "graph/node.h"

/* A copy on another device, in x's axis order; waits for what that needs. */
tn_tensor *tn__move(tn_tensor *x, tn__device *device);
/* OK, or a CAPABILITY error: the device cannot hold this dtype. */
tn_status tn__device_takes(const tn__device *device, tn_dtype dtype, const char *function);
/* Whether the value still waits for its node. */
bool tn__value_pending(tn__value *value);
/* OK for a value with bytes that its device still has; else LOST. */
tn_status tn__value_usable(const tn__value *value);
/* A tensor on device from row-major host bytes; data NULL leaves the contents undefined. */
tn_tensor *tn__from_bytes(tn_dtype dtype, const tn_shape *shape, const void *data, tn__device *device);
/* Sets parts of one fresh storage, which do not overlap and have elements, to sources of their shapes, on the same device. */
tn_status tn__fill_parts(tn_tensor *const *parts, tn_tensor *const *sources, int count);
/* x's bytes: gives its storage's value bytes, or, for a part of something pending, computes that part into a fresh tensor
 * (row-major when fixed).
 * Returns a new handle whose value has bytes; NULL with an error. */
tn_tensor *tn__with_bytes(tn_tensor *x, bool fixed);
/* All elements row-major into out. */
tn_status tn__read_bytes(tn_tensor *x, void *out);

#endif
