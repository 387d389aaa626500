/* How a matrix product is laid out: tiles, packing, sizes of the launch. */
#ifndef TN__MATMUL_H
#define TN__MATMUL_H

#include "device/device.h"
#include "graph/generate.h"

typedef struct tn__matmul_case {
    int64_t m, n, k, batch;
    int64_t a_rs, a_cs, b_rs, b_cs; /* strides of rows and columns, elements */
    int element;                    /* bytes of the type computed in */
    const tn__device *device;
    bool a_converts, b_converts; /* elements are converted as they are loaded */
    bool b_kept;                 /* B's panels are kept with its value: packing is free */
    bool deep;
} tn__matmul_case;

/* Of the wide profile: a work-group's tile of the result (kernels/matmul_wide.cl). */
typedef struct tn__matmul_tile {
    int tm, tn, tk; /* rows, columns, steps of k in a slab */
    int rm, rn;     /* an item's rows and columns */
    int local;      /* 1: the operands are staged in local memory */
} tn__matmul_tile;

typedef struct tn__matmul_shape {
    bool dot, a_packed, b_packed;    /* deep */
    int sweep, most_columns;         /* of an item; 0: the other forms */
    int lanes, mr, nv, width, tiles; /* lanes: a vector of the device; width: of this product */
    int64_t panels, row_tiles, chunks;
    tn__matmul_tile tile; /* wide */
    bool even;            /* tiles and slabs fill the product */
    int few, lanes_k;     /* rows or columns of a product that has so few, 1, 2, 4 or 8; else 0 */
    bool few_rows, along_k;
    uint64_t global, local;
} tn__matmul_shape;

tn__matmul_shape tn__matmul_choose(const tn__matmul_case *c);
/* Do panels of B pay when they are made once for several products? */
bool tn__matmul_keeps(const tn__matmul_case *c);
#define TN__MATMUL_ANY "any" /* in tuning files: all shapes of the deep profile */

/* ---- its part in a plan (node.h; matmul_plan.c) ---- */

void tn__matmul_arrange(tn__plan *plan);
void tn__matmul_take_forms(tn__plan *plan);
tn_status tn__matmul_generate(tn__plan *plan);
tn_status tn__matmul_launch(tn__plan *plan);
bool tn__matmul_concede(const tn__plan *plan);

/* ---- what both profiles write into a program (matmul_plan.c) ---- */

/* Starts a program over the product's domain. */
void tn__matmul_start(tn__generator *g, tn__plan *p, const tn__matmul_case *c, int width);
/* LOAD_x of an operand: the form's value as the type multiplied in (integers multiply unsigned). Returns the input. */
int tn__matmul_operand(tn__generator *g, int section, const char *letter, tn_dtype dtype);
/* STORE and STOREW of a result: what becomes of it behind the product. */
void tn__matmul_result(tn__generator *g, tn_dtype dtype);
/* M, N, K and the strides. */
void tn__matmul_sizes(const tn__plan *p, const tn__matmul_case *c, tn__argument *a, int *count);

/* ---- the wide profile (matmul_wide.c) ---- */

void tn__matmul_wide(const tn__matmul_case *c, tn__matmul_shape *s);
tn_status tn__matmul_wide_generate(tn__plan *p, const tn__matmul_case *c);
tn_status tn__matmul_wide_launch(tn__plan *p, const tn__matmul_case *c);
bool tn__matmul_wide_concede(const tn__plan *p, const tn__matmul_case *c);

/* Products by size: a tile suits each. */
typedef enum tn__products { TN__FOR_LARGE, TN__FOR_MIDDLE, TN__FOR_SMALL, TN__PRODUCTS } tn__products;
extern const char *const tn__products_names[TN__PRODUCTS];
/* The rows of the table in order; false behind its end. *class is the device class's name. */
bool tn__matmul_tile_row(int i, const char **class, tn__products *products, tn__matmul_tile *tile);
/* The table's tile for a device's class. */
tn__matmul_tile tn__matmul_tile_of(const tn__device *device, tn__products products);
/* What a work-group needs: items, bytes of local memory, numbers that an item holds at once. */
int tn__matmul_tile_items(const tn__matmul_tile *t);
uint64_t tn__matmul_tile_bytes(const tn__matmul_tile *t, int element);
int tn__matmul_tile_numbers(const tn__matmul_tile *t);
/* Why the kernel cannot have this tile, in words; NULL when it can. */
const char *tn__matmul_tile_fault(const tn__matmul_tile *t, int element);

#endif
