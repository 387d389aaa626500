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

/* Computes a pending value's elements into part of a buffer of its device, at place over its node's axes. The value itself
 * gets no bytes and is of no use afterwards. */
tn_status tn__realize_into(tn__device *device, tn__value *value, const struct tn__window *place, tn__buffer *to);

#endif
