#include "works.h"

#include <string.h>
#include <tenon/ops.h>

static tn_tensor *copy(tn_tensor *const *x)
{
    return tn_clone(x[0]);
}

static tn_tensor *add(tn_tensor *const *x)
{
    return tn_add(x[0], x[1]);
}

/* x * sigmoid(relu(2 x + 1)) */
static tn_tensor *chain(tn_tensor *const *x)
{
    tn_tensor *line = tn_add(tn_mul(x[0], tn_int(2)), tn_int(1));
    return tn_mul(x[0], tn_sigmoid(tn_relu(line)));
}

static tn_tensor *softmax(tn_tensor *const *x)
{
    return tn_softmax(x[0], -1);
}

static tn_tensor *matmul(tn_tensor *const *x)
{
    return tn_matmul(x[0], x[1]);
}

static tn_tensor *sum(tn_tensor *const *x)
{
    return tn_sum(x[0], TN_ALL_AXES, false);
}

static tn_tensor *transpose(tn_tensor *const *x)
{
    return tn_contiguous(tn_transpose(x[0], 0, 1));
}

/* clang-format off */
#define M16 (1 << 24)
#define K64 (1 << 16)
static const work works[] = {
/* name         what it computes          inputs  dtype   shape              quick        moved flops along by_copies */
  {"copy",      "x, by a kernel",              1, TN_F32, {1, {M16}},         {1, {K64}},      2, 0, 0, true,  copy},
  {"add",       "x + y",                       2, TN_F32, {1, {M16}},         {1, {K64}},      3, 1, 0, true,  add},
  {"chain",     "x * sigmoid(relu(2 x + 1))",  1, TN_F32, {1, {M16}},         {1, {K64}},      2, 5, 0, false, chain},
  {"softmax",   "softmax along the last axis", 1, TN_F32, {2, {16384, 1024}}, {2, {256, 256}}, 2, 5, 0, false, softmax},
  {"matmul",    "x @ y",                       2, TN_F32, {2, {1024, 1024}},  {2, {128, 128}}, 3, 0, 2, false, matmul},
  {"sum",       "the sum of all elements",     1, TN_F32, {1, {M16}},         {1, {K64}},      1, 1, 0, false, sum},
  {"transpose", "x, turned over",              1, TN_F32, {2, {4096, 4096}},  {2, {256, 256}}, 2, 0, 0, false, transpose},
};
/* clang-format on */

const work *work_at(int index)
{
    return index >= 0 && index < (int)(sizeof works / sizeof *works) ? &works[index] : NULL;
}

const work *work_named(const char *name)
{
    for (int i = 0; work_at(i); i++)
        if (strcmp(works[i].name, name) == 0)
            return &works[i];
    return NULL;
}

static double elements(const tn_shape *shape)
{
    double n = 1;
    for (int i = 0; i < shape->ndim; i++)
        n *= (double)shape->dim[i];
    return n;
}

double work_bytes(const work *w, const tn_shape *shape)
{
    return w->moved * elements(shape) * (double)tn_dtype_size(w->dtype);
}

double work_flops(const work *w, const tn_shape *shape)
{
    const double last = shape->ndim ? (double)shape->dim[shape->ndim - 1] : 1;
    return elements(shape) * (w->flops + w->flops_along * last);
}
