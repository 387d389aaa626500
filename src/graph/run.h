/* Running what is pending. */
#ifndef TN__RUN_H
#define TN__RUN_H

#include "graph/node.h"

struct tn__window;

/* Every pending value of the device that no pending node reads. Does not wait. */
tn_status tn__run_everything(tn__device *device);
/* Too much is pending: the same, without what a run has computed on its way already where that is enough. What cannot run
 * (too large for the device, say) stays pending: whoever reads it gets the error. */
void tn__run_bound(tn__device *device);

/* Computes the elements of pending values into parts of a buffer of their device, each at its place over its node's axes; parts do not
 * overlap. The values themselves get no bytes and are of no use afterwards. */
tn_status tn__realize_into(tn__device *device, tn__value *const *values, const struct tn__window *places, int count, tn__buffer *to);

#endif
