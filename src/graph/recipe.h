/* What generating a plan gave, kept for the next plan of the same structure. */
#ifndef TN__RECIPE_H
#define TN__RECIPE_H

#include "base/map.h"
#include "graph/generate.h"

/* Generates p, or does as was done before for a plan of the same operations, dtypes, shapes and strides, whatever the numbers and, as
 * a rule, the offsets. Under the device's run lock. */
tn_status tn__plan_prepare(tn__plan *p);

/* The texts p's program was made of. */
void tn__recipe_texts(const tn__recipe *recipe, const tn__text **head, const tn__text **text);

/* Forgets all when there are many; no plan may use one then. */
void tn__recipes_trim(tn__device *device);
void tn__recipes_free(tn__map *recipes);

#endif
