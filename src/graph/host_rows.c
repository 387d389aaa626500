/* Elementwise rows and casts on host: the reference of every device. */
/* The rows compare with 0 in unsigned types too. */
#pragma GCC diagnostic ignored "-Wtype-limits"
#include "core/convert.h"
#include "graph/host.h"
#include "graph/rows.h"

#define LOOPS "graph/host_loops.h"
#define TEXT(f, i, b) f
#include "graph/each_float.h"
#undef TEXT
#define TEXT(f, i, b) i
#include "graph/each_integer.h"
#undef TEXT

#define TEXT(f, i, b) b
#define IS_FLOAT 0
#define T uint32_t
#define U uint32_t
#define S b
#define LOWEST_VALUE 0
#include "graph/host_loops.h"

void tn__host_apply(int row, tn_dtype dtype, int n, const void *const *in, void *out)
{
    const double *limit = tn__dtypes[dtype].limit;
    if (dtype == TN_BOOL) {
        rows_b[row](n, in[0], in[1], in[2], out, limit);
        return;
    }
    switch (tn__dtypes[dtype].compute) {
    case TN__CF: rows_f[row](n, in[0], in[1], in[2], out, limit); break;
    case TN__CD: rows_d[row](n, in[0], in[1], in[2], out, limit); break;
    case TN__CI: rows_i[row](n, in[0], in[1], in[2], out, limit); break;
    case TN__CU: rows_u[row](n, in[0], in[1], in[2], out, limit); break;
    case TN__CL: rows_l[row](n, in[0], in[1], in[2], out, limit); break;
    default: rows_m[row](n, in[0], in[1], in[2], out, limit); break;
    }
}

/* ---- blocks ---- */

const void *tn__host_bytes(const tn__operand *in)
{
    return in->value && in->value->buffer ? in->value->buffer->memory : NULL;
}

void tn__host_load(tn_dtype dtype, const void *bytes, int64_t at, int64_t stride, int n, void *out)
{
    const tn__dtype_facts *facts = &tn__dtypes[dtype];
    const char *p = (const char *)bytes + at * facts->size;
    const int64_t step = stride * facts->size;
#define GATHER(type, body)                                     \
    for (int j = 0; j < n; j++, p += step) {                   \
        type v;                                                \
        memcpy(&v, p, sizeof v);                               \
        body;                                                  \
    }                                                          \
    break
    switch (dtype) {
    case TN_F16: GATHER(uint16_t, ((float *)out)[j] = tn__f16_float(v));
    case TN_BF16: GATHER(uint16_t, ((float *)out)[j] = tn__float_of((uint32_t)v << 16));
    case TN_I8: GATHER(int8_t, ((int32_t *)out)[j] = v);
    case TN_I16: GATHER(int16_t, ((int32_t *)out)[j] = v);
    case TN_U8: GATHER(uint8_t, ((uint32_t *)out)[j] = v);
    case TN_U16: GATHER(uint16_t, ((uint32_t *)out)[j] = v);
    case TN_BOOL: GATHER(uint8_t, ((uint32_t *)out)[j] = v != 0);
    case TN_F32:
    case TN_I32:
    case TN_U32: GATHER(uint32_t, ((uint32_t *)out)[j] = v);
    default: GATHER(uint64_t, ((uint64_t *)out)[j] = v);
    }
#undef GATHER
}

void tn__host_store(tn_dtype dtype, void *bytes, int64_t at, int n, const void *values)
{
    const tn__dtype_facts *facts = &tn__dtypes[dtype];
    char *p = (char *)bytes + at * facts->size;
    const float *f = values;
    const uint32_t *u = values;
    if (facts->size >= 4) {
        memcpy(p, values, (size_t)n * (size_t)facts->size);
        return;
    }
    for (int j = 0; j < n; j++, p += facts->size) {
        const uint16_t h = dtype == TN_F16 ? tn__f16_bits(f[j]) : dtype == TN_BF16 ? tn__bf16_bits(f[j]) : (uint16_t)u[j];
        if (facts->size == 2) memcpy(p, &h, 2);
        else *(uint8_t *)p = (uint8_t)h;
    }
}

void tn__host_operand(const tn__operand *in, int64_t at, int64_t stride, int n, void *out)
{
    if (in->value) {
        tn__host_load(in->dtype, tn__host_bytes(in), at, stride, n, out);
        return;
    }
    const bool wide = in->number.compute == TN__CD || in->number.compute >= TN__CL;
    for (int j = 0; j < n; j++)
        if (wide) ((uint64_t *)out)[j] = in->number.m;
        else ((uint32_t *)out)[j] = in->number.u;
}

tn_status tn__host_walk(const tn__node *node, int axes, tn__host_visit visit, void *user)
{
    int64_t place[8], index[TN_MAX_AXES + 1] = {0}, linear = 0;
    for (int i = 0; i < node->inputs; i++) place[i] = node->in[i].offset;
    const int last = axes - 1;
    const int64_t run = axes ? node->dim[last] : 1;
    for (;;) {
        int64_t start[8];
        for (int64_t done = 0; done < run; done += TN__BLOCK) {
            const int n = run - done < TN__BLOCK ? (int)(run - done) : TN__BLOCK;
            for (int i = 0; i < node->inputs; i++) start[i] = place[i] + (axes ? done * node->in[i].stride[last] : 0);
            TN__TRY(visit(node, linear + done, start, n, user));
        }
        linear += run;
        int a = last - 1;
        for (; a >= 0; a--) { /* the next run */
            if (++index[a] < node->dim[a]) {
                for (int i = 0; i < node->inputs; i++) place[i] += node->in[i].stride[a];
                break;
            }
            index[a] = 0;
            for (int i = 0; i < node->inputs; i++) place[i] -= (node->dim[a] - 1) * node->in[i].stride[a];
        }
        if (a < 0) return TN_OK;
    }
}

/* ---- rows ---- */

/* Wraps compute-type results to a narrow dtype; what stores do not do by themselves. */
static void convert_result(tn_dtype from, tn_dtype to, int n, void *values)
{
    if (from == to) return;
    uint32_t *u = values;
    for (int j = 0; j < n; j++) /* to bool: rows give 0 and 1 in their compute type */
        switch (tn__dtypes[from].compute) {
        case TN__CF: u[j] = ((float *)values)[j] != 0; break;
        case TN__CD: u[j] = ((double *)values)[j] != 0; break;
        case TN__CI:
        case TN__CU: u[j] = u[j] != 0; break;
        default: u[j] = ((uint64_t *)values)[j] != 0; break;
        }
}

static tn_status visit_row(const tn__node *node, int64_t linear, const int64_t *place, int n, void *user)
{
    uint64_t blocks[4][TN__BLOCK];
    const void *in[3] = {blocks[0], blocks[0], blocks[0]};
    for (int i = 0; i < node->inputs; i++) {
        in[i] = blocks[i];
        tn__host_operand(&node->in[i], place[i], node->kept ? node->in[i].stride[node->kept - 1] : 0, n, blocks[i]);
    }
    tn__host_apply((int)(node->row - tn__rows), node->dtype, n, in, blocks[3]);
    const tn_dtype out = node->row->result == TN__TO_BOOL ? TN_BOOL : node->dtype;
    convert_result(node->dtype, out, n, blocks[3]);
    tn__host_store(out, user, linear, n, blocks[3]);
    return TN_OK;
}

static tn_status host_row(const tn__node *node, void *const *out)
{
    return tn__host_walk(node, node->kept, visit_row, out[0]);
}

/* ---- casts and copies ---- */

static tn_status visit_copy(const tn__node *node, int64_t linear, const int64_t *place, int n, void *user)
{
    const size_t size = tn_dtype_size(node->dtype);
    const int64_t stride = node->kept ? node->in[0].stride[node->kept - 1] : 0;
    const char *from = (const char *)tn__host_bytes(&node->in[0]) + place[0] * (int64_t)size;
    char *to = (char *)user + linear * (int64_t)size;
    if (stride == 1) memcpy(to, from, (size_t)n * size);
    else
        for (int j = 0; j < n; j++) memcpy(to + (size_t)j * size, from + (int64_t)size * stride * j, size);
    return TN_OK;
}

static tn_status visit_cast(const tn__node *node, int64_t linear, const int64_t *place, int n, void *user)
{
    const tn__operand *in = &node->in[0];
    const int64_t stride = node->kept ? in->stride[node->kept - 1] : 0;
    const int64_t from_size = (int64_t)tn_dtype_size(in->dtype), size = (int64_t)tn_dtype_size(node->dtype);
    const char *from = in->value ? (const char *)tn__host_bytes(in) + place[0] * from_size : NULL;
    for (int j = 0; j < n; j++) {
        const tn__number v = from ? tn__number_load(in->dtype, from + j * stride * from_size) : in->number;
        tn__number_store(node->dtype, (char *)user + (linear + j) * size, tn__number_to(v, node->dtype));
    }
    return TN_OK;
}

static tn_status host_cast(const tn__node *node, void *const *out)
{
    const bool copy = node->in[0].value && node->in[0].dtype == node->dtype && node->dtype != TN_BOOL;
    return tn__host_walk(node, node->kept, copy ? visit_copy : visit_cast, out[0]);
}

const tn__op tn__op_row = {.name = "row", .fusable = true, .host = host_row};
const tn__op tn__op_cast = {.name = "cast", .fusable = true, .host = host_cast};
