/* What `tenon bench` measures: a table of works. */
#ifndef TENON_BENCH_WORKS_H
#define TENON_BENCH_WORKS_H

#include <stdbool.h>
#include <tenon/tensor.h>

enum { WORK_INPUTS = 2 };

typedef struct work {
    const char *name, *what;
    int inputs; /* tensors of the shape below, filled with random numbers */
    tn_dtype dtype;
    tn_shape shape, quick;
    int moved;       /* elements read and written, for each element of the shape */
    int flops;       /* for each element of the shape */
    int flops_along; /* for each element of the shape and point of its last axis */
    bool by_copies;  /* memory alone limits it: measured together with plain copies */
    tn_tensor *(*record)(tn_tensor *const *inputs);
} work;

/* The index-th work; NULL beyond. */
const work *work_at(int index);
/* NULL when there is none of that name. */
const work *work_named(const char *name);

double work_bytes(const work *w, const tn_shape *shape);
double work_flops(const work *w, const tn_shape *shape);

#endif
