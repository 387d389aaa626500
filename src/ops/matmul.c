/* Matrix product over the last two axes, batches broadcast. */
#include "ops/gradient.h"
#include "ops/matmul.h"
#include "base/alloc.h"
#include "core/view.h"
#include "graph/host.h"
#include "graph/move.h"
#include "graph/rows.h"
#include <inttypes.h>
#include <string.h>
#include <tenon/ops.h>

/* ---- host: rows of A and columns of B as double or unsigned 64-bit integers ---- */

static void load_line(const tn__operand *in, int64_t at, int64_t stride, int64_t n, bool floats, void *out)
{
    uint64_t block[TN__BLOCK];
    const tn_dtype dtype = in->dtype;
    for (int64_t i = 0; i < n; i += TN__BLOCK) {
        const int count = n - i < TN__BLOCK ? (int)(n - i) : TN__BLOCK;
        tn__host_operand(in, at + i * stride, stride, count, block);
        for (int j = 0; j < count; j++) {
            tn__number v = {.compute = tn__dtypes[dtype].compute};
            if (v.compute == TN__CD || v.compute >= TN__CL)
                v.m = block[j];
            else
                v.u = ((const uint32_t *)block)[j];
            if (floats)
                ((double *)out)[i + j] = tn__number_double(v);
            else
                ((uint64_t *)out)[i + j] = tn__number_to_compute(v, TN__CM).m;
        }
    }
}

static tn__number dot(const void *a, const void *b, int64_t k, tn_dtype dtype)
{
    if (!tn_dtype_is_float(dtype)) {
        const uint64_t *x = a, *y = b;
        uint64_t sum = 0;
        for (int64_t i = 0; i < k; i++) sum += x[i] * y[i];
        return (tn__number){.compute = TN__CM, .m = sum};
    }
    const double *x = a, *y = b;
    if (dtype == TN_F64) {
        long double sum = 0;
        for (int64_t i = 0; i < k; i++) sum += (long double)x[i] * y[i];
        return (tn__number){.compute = TN__CD, .d = (double)sum};
    }
    double sum = 0;
    for (int64_t i = 0; i < k; i++) sum += x[i] * y[i];
    return (tn__number){.compute = TN__CF, .f = (float)sum};
}

static void product_on_host(const tn__node *node, const int64_t *at, char *out, char *row, char *columns)
{
    const int r = node->kept - 2, c = r + 1, i = r + 2;
    const int64_t m = node->dim[r], n = node->dim[c], k = node->dim[i];
    const bool floats = tn_dtype_is_float(node->dtype);
    const tn__operand *a = &node->in[0], *b = &node->in[1];
    for (int64_t y = 0; y < n; y++) load_line(b, at[1] + y * b->stride[c], b->stride[i], k, floats, columns + y * k * 8);
    for (int64_t x = 0; x < m; x++) {
        load_line(a, at[0] + x * a->stride[r], a->stride[i], k, floats, row);
        for (int64_t y = 0; y < n; y++, out += tn_dtype_size(node->dtype))
            tn__number_store(node->dtype, out, tn__number_to(dot(row, columns + y * k * 8, k, node->dtype), node->dtype));
    }
}

static tn_status host_matmul(const tn__node *node, void *const *out)
{
    const int batch = node->kept - 2;
    const int64_t k = node->dim[batch + 2], n = node->dim[batch + 1], each = node->dim[batch] * n;
    int64_t index[TN_MAX_AXES] = {0}, at[2] = {node->in[0].offset, node->in[1].offset};
    char *row = tn__alloc((size_t)k * 8), *columns = row ? tn__alloc((size_t)k * (size_t)n * 8) : NULL, *to = out[0];
    bool more = columns != NULL;
    for (; more; to += (size_t)each * tn_dtype_size(node->dtype)) {
        product_on_host(node, at, to, row, columns);
        more = false;
        for (int g = batch - 1; g >= 0 && !more; g--) {
            more = ++index[g] < node->dim[g];
            for (int o = 0; o < 2; o++) at[o] += node->in[o].stride[g] * (more ? 1 : 1 - node->dim[g]);
            if (!more) index[g] = 0;
        }
    }
    const tn_status s = columns ? TN_OK : TN_MEMORY;
    tn__free(row);
    tn__free(columns);
    return s;
}

/* Operands are loaded again and again: only casts and a scale go along. */
static bool open_operand(const tn__node *node, int operand)
{
    (void)node;
    (void)operand;
    return false;
}

static double cost(const tn__node *node)
{
    return 2.0 * (double)tn__node_count(node) * (double)node->dim[node->rank - 1];
}

/* ---- gradient ---- */

/* x as a matrix, its first axes as one; of a vector a row or a column. */
static tn_tensor *as_matrix(tn_tensor *x)
{
    return x ? tn_reshape(x, TN_SHAPE(-1, x->dim[x->ndim - 1])) : NULL;
}

/* A B, lying in memory as an operand does. */
static tn_tensor *product_like(const tn__signature *of, tn_tensor *a, tn_tensor *b)
{
    if (!of->turned) return tn_matmul(a, b);
    return tn_transpose(tn_matmul(tn_transpose(b, -2, -1), tn_transpose(a, -2, -1)), -2, -1);
}

/* Of C = A B: G Bᵀ and Aᵀ G. With one B for many A, the sum over them is part of one product. */
GRADIENT(matmul)
{
    UNUSED;
    const int rank[2] = {back->operand[0].shape.ndim, back->operand[1].shape.ndim};
    const bool row = rank[0] == 1, column = rank[1] == 1;
    if (column) up = tn_unsqueeze(up, -1);
    if (row) up = tn_unsqueeze(up, -2);
    if (!up) return;
    if (WANTED(0)) {
        tn_tensor *b = column ? tn_unsqueeze(in[1], -1) : in[1],
                  *whole = product_like(&back->operand[0], up, tn_transpose(b, -2, -1));
        g[0] = row ? tn_squeeze(whole, TN_AXES(-2)) : whole;
    }
    if (WANTED(1)) {
        const bool many = rank[1] <= 2 && rank[0] > 2;
        tn_tensor *a = row ? tn_unsqueeze(in[0], -2) : in[0], *left = many ? as_matrix(a) : a, *right = many ? as_matrix(up) : up;
        tn_tensor *whole = product_like(&back->operand[1], tn_transpose(left, -2, -1), right);
        g[1] = column ? tn_squeeze(whole, TN_AXES(-1)) : whole;
    }
}

static const tn__op op_matmul = {.name = "matmul",
                                 .host = host_matmul,
                                 .arrange = tn__matmul_arrange,
                                 .take_forms = tn__matmul_take_forms,
                                 .generate = tn__matmul_generate,
                                 .launch = tn__matmul_launch,
                                 .concede = tn__matmul_concede,
                                 .open = open_operand,
                                 .stores_expression = true,
                                 .derivative = {"matmul", tn__grad_matmul, TN__SAVES_OTHERS, 0},
                                 .cost = cost};

/* ---- public ---- */

static tn_status check_shapes(const tn_tensor *a, const tn_tensor *b)
{
    const char *sa = tn__shape_text(a->ndim, a->dim), *sb = tn__shape_text(b->ndim, b->dim);
    if (a->ndim == 0 || b->ndim == 0)
        return tn__fail(TN_SHAPE, "matmul: a %s and b %s: both need an axis; use mul for scalars", sa, sb);
    const int64_t ka = a->dim[a->ndim - 1], kb = b->dim[b->ndim == 1 ? 0 : b->ndim - 2];
    if (ka != kb) return tn__fail(TN_SHAPE, "matmul: a %s and b %s: inner axes %" PRId64 " and %" PRId64 " differ", sa, sb, ka, kb);
    return TN_OK;
}

/* Both at least 2-d. */
static tn_tensor *record_matmul(tn_tensor *a, tn_tensor *b, tn__device *device, tn_dtype dtype)
{
    const tn_shape ba = tn_shape_make(a->ndim - 2, a->dim), bb = tn_shape_make(b->ndim - 2, b->dim);
    const int64_t m = a->dim[a->ndim - 2], n = b->dim[b->ndim - 1], k = a->dim[a->ndim - 1];
    tn_shape shape;
    int64_t count, stride[TN_MAX_AXES + 1];
    if (!tn__shape_broadcast(&ba, &bb, &shape))
        return TN__NULL(TN_SHAPE, "matmul: a %s and b %s: leading axes do not broadcast", tn__shape_text(a->ndim, a->dim),
                        tn__shape_text(b->ndim, b->dim));
    const int batch = shape.ndim;
    shape.dim[batch] = m;
    shape.dim[batch + 1] = n;
    shape.ndim += 2;
    if (tn__shape_numel(&shape, 8, &count, "matmul") != TN_OK) return NULL;
    if (m > INT32_MAX || n > INT32_MAX || k > INT32_MAX)
        return TN__NULL(TN_OVERFLOW, "matmul: a %s and b %s: an extent is above %d", tn__shape_text(a->ndim, a->dim),
                        tn__shape_text(b->ndim, b->dim), INT32_MAX);
    if (k == 0) return tn_zeros(dtype, shape, device->name);
    tn__node *node = tn__node_new(&op_matmul, 2);
    if (!node) return NULL;
    node->dtype = dtype;
    node->kept = shape.ndim;
    node->rank = shape.ndim + 1;
    memcpy(node->dim, shape.dim, sizeof shape.dim);
    node->dim[node->rank - 1] = k;
    for (int o = 0; o < 2; o++) {
        const tn_tensor *x = o ? b : a;
        const tn_shape lead = tn_shape_make(batch, shape.dim);
        tn_tensor batches = *x;
        batches.ndim -= 2;
        tn__expand_strides(&batches, &lead, stride);
        stride[batch] = o ? 0 : x->stride[x->ndim - 2];
        stride[batch + 1] = o ? x->stride[x->ndim - 1] : 0;
        stride[batch + 2] = o ? x->stride[x->ndim - 2] : x->stride[x->ndim - 1];
        tn__node_operand(node, o, o ? b : a, stride);
    }
    return tn__record(node, device, dtype, true);
}

static tn_tensor *promoted(tn_tensor *x, tn_dtype dtype, int axis)
{
    tn_tensor *y = x->ndim == 1 ? tn_unsqueeze(x, axis) : tn__tensor_alias(x);
    if (!y || y->dtype == dtype) return y;
    tn_tensor *z = tn__cast(y, dtype, false);
    tn_release(y);
    return z;
}

static tn_tensor *matmul(tn_tensor *a, tn_tensor *b, tn__device *device)
{
    const tn_dtype dtype = tn_promote(a->dtype, b->dtype);
    if (dtype == TN_DTYPE_COUNT || check_shapes(a, b) != TN_OK) return NULL;
    if (dtype == TN_BOOL) return TN__NULL(TN_DTYPE, "matmul: not for bool; cast to an integer or a float first");
    tn_tensor *x = promoted(a, dtype, 0), *y = x ? promoted(b, dtype, 1) : NULL;
    tn_tensor *z = y ? record_matmul(x, y, device, dtype) : NULL;
    tn_release(x);
    tn_release(y);
    if (!z || (a->ndim > 1 && b->ndim > 1)) return z;
    tn_axes gone = {.count = 0};
    if (a->ndim == 1) gone.axis[gone.count++] = -2;
    if (b->ndim == 1) gone.axis[gone.count++] = -1;
    tn_tensor *w = tn_squeeze(z, gone);
    tn_release(z);
    return w;
}

tn_tensor *tn_matmul(tn_tensor *a, tn_tensor *b)
{
    tn_tensor *operands[2] = {a, b}, *moved[2] = {0}, *out = NULL;
    if (tn__tensor_check(a, "matmul", "a") != TN_OK || tn__tensor_check(b, "matmul", "b") != TN_OK) return NULL;
    if (check_shapes(a, b) != TN_OK) return NULL;
    tn__device *device = tn__common_device("matmul", operands, 2, moved);
    for (int i = 0; i < 2; i++)
        if (moved[i]) operands[i] = moved[i];
    tn__derive_pause();
    if (device) out = matmul(operands[0], operands[1], device);
    tn__derive_resume();
    out = tn__recorded(&op_matmul.derivative, NULL, operands, 2, out);
    tn_release(moved[0]);
    tn_release(moved[1]);
    return out;
}
