/* The kernels of plans. */
#ifndef TN__BUILD_H
#define TN__BUILD_H

#include "graph/plan.h"

/* Makes the kernels of all plans of a run, prepared before (recipe.h); those whose work-groups turn out too large for the device are
 * generated anew. Under the device's run lock.
 * error  COMPILE, MEMORY, FILE (kernel sources) */
tn_status tn__plans_build(tn__plan *first);

#endif
