/* What generating a plan gave, kept for the next plan of the same structure. */
#ifndef TN__RECIPE_H
#define TN__RECIPE_H

#include "base/map.h"
#include "graph/generate.h"

/* Generates p, or does as was done before for a plan of the same operations, dtypes, shapes and strides, whatever the numbers and, as
 * a rule, the offsets; a generated one lacks its kernels still (build.h). All under the device's run lock. */
tn_status tn__plan_prepare(tn__plan *p);
tn_status tn__plan_generate(tn__plan *p);
/* Keeps how p was made, once it has its kernels. */
void tn__plan_remember(tn__plan *p);

/* Forgets all when there are many; no plan may use one then. */
void tn__recipes_trim(tn__device *device);
void tn__recipes_free(tn__map *recipes);

#endif
