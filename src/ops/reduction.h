/* The table of reductions, for the reductions over axes and the phases of row kernels. */
#ifndef TN__REDUCTION_H
#define TN__REDUCTION_H

#include "graph/generate.h"

typedef struct tn__reduction {
    const char *name;
    int result;            /* TN__RESULT_SUM … */
    const char *init[2];   /* float, integer */
    const char *combine[2];
    bool indexed;
    tn_status (*gradient)(tn_tensor *const *operands, tn_tensor *out, tn_tensor *upstream, tn_tensor **gradients);
} tn__reduction;
enum { TN__RESULT_SUM, TN__RESULT_SAME, TN__RESULT_INDEX };
enum {
#define RED(name, ...) TN__RED_##name,
#include "tables/reductions.def"
#undef RED
    TN__REDUCTIONS
};
extern const tn__reduction tn__reductions[TN__REDUCTIONS];

/* kernels/lanes.cl with a reduction's macros, named `suffix`, into the program before its skeleton. */
tn_status tn__generate_lanes(tn__generator *g, const tn__reduction *row, tn__compute compute, const char *suffix);

#endif
