/* How a matrix product is laid out: tiles, packing, sizes of the launch. */
#ifndef TN__MATMUL_H
#define TN__MATMUL_H

#include "device/device.h"

typedef struct tn__matmul_case {
    int64_t m, n, k, batch;
    int64_t a_rs, a_cs, b_rs, b_cs; /* strides of rows and columns, elements */
    int element;                    /* bytes of the type computed in */
    const tn__device *device;
    bool deep;
} tn__matmul_case;

typedef struct tn__matmul_shape {
    bool dot, a_packed, b_packed; /* deep */
    int mr, nv, width, tiles;
    int64_t panels, row_tiles, chunks;
    int tm, tn, tk, rm, rn; /* wide */
    bool local_tiles;
    uint64_t global, local;
} tn__matmul_shape;

tn__matmul_shape tn__matmul_choose(const tn__matmul_case *c);
void tn__matmul_wide(const tn__matmul_case *c, tn__matmul_shape *s); /* the choice of the wide profile */

#endif
