/* The table of reductions, for the reductions over axes and the phases of row kernels. */
#ifndef TN__REDUCTION_H
#define TN__REDUCTION_H

#include "graph/generate.h"

typedef struct tn__reduction {
    const char *name;
    int result;          /* TN__RESULT_SUM … */
    const char *init[2]; /* float, integer */
    const char *combine[2];
    bool indexed; /* INDEX */
    tn__derivative derivative;
} tn__reduction;

/* What a reduction's gradient must know. */
typedef struct tn__reduce_attributes {
    uint32_t mask;
    bool keepdim;
} tn__reduce_attributes;
enum { TN__RESULT_SUM, TN__RESULT_SAME, TN__RESULT_INDEX, TN__RESULT_TRUTH };
enum {
#define RED(name, ...) TN__RED_##name,
#include "tables/reductions.def"
#undef RED
    TN__REDUCTIONS
};
extern const tn__reduction tn__reductions[TN__REDUCTIONS];

/* What host accumulates in: the compute type's member, x for sums and products of floats. */
typedef struct tn__accumulated {
    union {
        float f;
        double d;
        int32_t i;
        uint32_t u;
        int64_t l;
        uint64_t m;
        long double x;
    } as;
    int64_t at; /* INDEX: the chosen one's number */
} tn__accumulated;

/* Checks x and a list of axes, which becomes x's own (0 and -1 of a tensor without axes are none), and makes a mask of it. */
tn_status tn__reduced_axes(const tn_tensor *x, tn_axes *axes, const char *function, uint32_t *mask);

/* The shape of what is reduced over the axes in mask. */
tn_shape tn__reduced_shape(const tn_tensor *x, uint32_t mask, bool keepdim);

/* For gradients of what is reduced over axes, whose attributes begin with tn__reduce_attributes: y, of the result's shape, with
 * extents of 1 where axes were reduced; those axes. */
tn_tensor *tn__kept(const tn__backward *back, tn_tensor *y);
tn_axes tn__reduced_of(const tn__backward *back);

/* The reference. */
tn_status tn__host_reduce(const tn__node *node, void *const *out);
/* What a row makes of no elements, as a number of dtype `to`. */
tn__number tn__host_reduce_init(const tn__reduction *row, tn_dtype from, tn_dtype to);

/* kernels/lanes.cl with a reduction's macros, named `suffix`, into the program before its skeleton. */
tn_status tn__generate_lanes(tn__generator *g, const tn__reduction *row, tn__compute compute, const char *suffix);

#endif
