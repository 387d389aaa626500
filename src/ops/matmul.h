/* How a matrix product is laid out: tiles, packing, sizes of the launch. */
#ifndef TN__MATMUL_H
#define TN__MATMUL_H

#include "device/device.h"

typedef struct tn__matmul_case {
    int64_t m, n, k, batch;
    int64_t a_rs, a_cs, b_rs, b_cs; /* strides of rows and columns, elements */
    int element;                    /* bytes of the type computed in */
    const tn__device *device;
    bool a_converts, b_converts;    /* elements are converted as they are loaded */
    bool b_kept;                    /* B's panels are kept with its value: packing is free */
    bool deep;
} tn__matmul_case;

typedef struct tn__matmul_shape {
    bool dot, a_packed, b_packed; /* deep */
    int sweep, most_columns; /* of an item; 0: the other forms */
    int lanes, mr, nv, width, tiles; /* lanes: a vector of the device; width: of this product */
    int64_t panels, row_tiles, chunks;
    int tm, tn, tk, rm, rn; /* wide */
    bool local_tiles;
    uint64_t global, local;
} tn__matmul_shape;

tn__matmul_shape tn__matmul_choose(const tn__matmul_case *c);
/* Do panels of B pay when they are made once for several products? */
bool tn__matmul_keeps(const tn__matmul_case *c);

#endif
