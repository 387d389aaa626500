#include "core/dtype.h"
#include "base/error.h"
#include "core/convert.h"

const tn__dtype_facts tn__dtypes[TN_DTYPE_COUNT] = {
#define KIND_FLOAT TN__FLOAT
#define KIND_SIGNED TN__SIGNED
#define KIND_UNSIGNED TN__UNSIGNED
#define KIND_BOOL TN__BOOL
#define COMPUTE_f TN__CF
#define COMPUTE_d TN__CD
#define COMPUTE_i TN__CI
#define COMPUTE_u TN__CU
#define COMPUTE_l TN__CL
#define COMPUTE_m TN__CM
#define DT(id, name, size, kind, compute, bits, ...) [TN_##id] = {#name, size, KIND_##kind, COMPUTE_##compute, bits, {__VA_ARGS__}},
#include "tables/dtypes.def"
#undef DT
};

const tn_dtype tn__compute_dtype[TN__COMPUTES] = {TN_F32, TN_F64, TN_I32, TN_U32, TN_I64, TN_U64};

size_t tn_dtype_size(tn_dtype d)
{
    return tn__dtype_valid(d) ? (size_t)tn__dtypes[d].size : 0;
}

const char *tn_dtype_name(tn_dtype d)
{
    return tn__dtype_valid(d) ? tn__dtypes[d].name : "?";
}

tn_dtype tn_dtype_from_name(const char *name)
{
    for (int d = 0; name && d < TN_DTYPE_COUNT; d++)
        if (strcmp(tn__dtypes[d].name, name) == 0) return (tn_dtype)d;
    return TN_DTYPE_COUNT;
}

bool tn_dtype_is_float(tn_dtype d)
{
    return tn__dtype_valid(d) && tn__dtypes[d].kind == TN__FLOAT;
}

bool tn_dtype_is_signed(tn_dtype d)
{
    return tn__dtype_valid(d) && (tn__dtypes[d].kind == TN__FLOAT || tn__dtypes[d].kind == TN__SIGNED);
}

static tn_dtype promote_integers(tn_dtype a, tn_dtype b)
{
    const tn__dtype_facts *fa = &tn__dtypes[a], *fb = &tn__dtypes[b];
    if (fa->kind == fb->kind) return fa->size >= fb->size ? a : b;
    const tn_dtype s = fa->kind == TN__SIGNED ? a : b, u = fa->kind == TN__SIGNED ? b : a;
    if (tn__dtypes[s].size > tn__dtypes[u].size) return s;
    switch (tn__dtypes[u].size) {
    case 1: return TN_I16;
    case 2: return TN_I32;
    case 4: return TN_I64;
    default: (void)tn__fail(TN_DTYPE, "no dtype holds both %s and %s", tn_dtype_name(a), tn_dtype_name(b)); return TN_DTYPE_COUNT;
    }
}

tn_dtype tn_promote(tn_dtype a, tn_dtype b)
{
    if (!tn__dtype_valid(a) || !tn__dtype_valid(b)) {
        (void)tn__fail(TN_DTYPE, "promote: %d is not a dtype", (int)(tn__dtype_valid(a) ? b : a));
        return TN_DTYPE_COUNT;
    }
    const tn__kind ka = tn__dtypes[a].kind, kb = tn__dtypes[b].kind;
    if (a == b) return a;
    if (ka == TN__BOOL) return b;
    if (kb == TN__BOOL) return a;
    if (ka == TN__FLOAT && kb == TN__FLOAT) {
        if (tn__dtypes[a].size == 2 && tn__dtypes[b].size == 2) return TN_F32; /* f16 with bf16 */
        return tn__dtypes[a].size > tn__dtypes[b].size ? a : b;
    }
    if (ka == TN__FLOAT) return a;
    if (kb == TN__FLOAT) return b;
    return promote_integers(a, b);
}

uint16_t tn_f16_from_f32(float value)
{
    return tn__f16_bits(value);
}
float tn_f16_to_f32(uint16_t bits)
{
    return tn__f16_float(bits);
}
uint16_t tn_bf16_from_f32(float value)
{
    return tn__bf16_bits(value);
}
float tn_bf16_to_f32(uint16_t bits)
{
    return tn__float_of((uint32_t)bits << 16);
}

tn__number tn__number_load(tn_dtype dtype, const void *p)
{
    tn__number n = {.compute = tn__dtypes[dtype].compute};
    uint16_t h;
    switch (dtype) {
    case TN_F16:
        memcpy(&h, p, 2);
        n.f = tn__f16_float(h);
        break;
    case TN_BF16:
        memcpy(&h, p, 2);
        n.f = tn_bf16_to_f32(h);
        break;
    case TN_I8: n.i = *(const int8_t *)p; break;
    case TN_I16: {
        int16_t v;
        memcpy(&v, p, 2);
        n.i = v;
        break;
    }
    case TN_U8: n.u = *(const uint8_t *)p; break;
    case TN_BOOL: n.u = *(const uint8_t *)p != 0; break;
    case TN_U16:
        memcpy(&h, p, 2);
        n.u = h;
        break;
    default: memcpy(&n.m, p, (size_t)tn__dtypes[dtype].size); break;
    }
    return n;
}

tn__number tn__number_to_compute(tn__number n, tn__compute to)
{
    tn__number r = {.compute = to};
    if (n.compute == to) return n;
#define FROM(field, FD, FF, FI, FU, FL, FM)    \
    switch (to) {                              \
    case TN__CF: r.f = FF(n.field); break;     \
    case TN__CD: r.d = (double)n.field; break; \
    case TN__CI: r.i = FI(n.field); break;     \
    case TN__CU: r.u = FU(n.field); break;     \
    case TN__CL: r.l = FL(n.field); break;     \
    case TN__CM: r.m = FM(n.field); break;     \
    default: break;                            \
    }                                          \
    break
    switch (n.compute) {
    case TN__CF: FROM(f, , (float), tn__i_from_f, tn__u_from_f, tn__l_from_f, tn__m_from_f);
    case TN__CD: FROM(d, , (float), tn__i_from_d, tn__u_from_d, tn__l_from_d, tn__m_from_d);
    case TN__CI: FROM(i, , (float), (int32_t), (uint32_t), (int64_t), (uint64_t));
    case TN__CU: FROM(u, , (float), (int32_t), (uint32_t), (int64_t), (uint64_t));
    case TN__CL: FROM(l, , (float), (int32_t), (uint32_t), (int64_t), (uint64_t));
    case TN__CM: FROM(m, , (float), (int32_t), (uint32_t), (int64_t), (uint64_t));
    default: break;
    }
#undef FROM
    return r;
}

/* Float to a 16-bit float goes through round-to-odd, to a narrow integer through its own bounds. */
tn__number tn__number_to(tn__number n, tn_dtype dtype)
{
    const tn__dtype_facts *facts = &tn__dtypes[dtype];
    if (dtype == TN_BOOL) {
        const bool set = n.compute == TN__CF                          ? n.f != 0
                         : n.compute == TN__CD                        ? n.d != 0
                         : n.compute == TN__CI || n.compute == TN__CU ? n.u != 0
                                                                      : n.m != 0;
        return (tn__number){.compute = TN__CU, .u = set};
    }
    if (dtype == TN_F16 || dtype == TN_BF16) {
        tn__number f = n;
        f.compute = TN__CF;
        if (n.compute == TN__CD)
            f.f = tn__odd_from_d(n.d);
        else if (n.compute == TN__CI)
            f.f = tn__odd_from_l(n.i);
        else if (n.compute == TN__CU)
            f.f = tn__odd_from_m(n.u);
        else if (n.compute == TN__CL)
            f.f = tn__odd_from_l(n.l);
        else if (n.compute == TN__CM)
            f.f = tn__odd_from_m(n.m);
        f.f = dtype == TN_F16 ? tn__round_f16(f.f) : tn__round_bf16(f.f);
        return f;
    }
    const bool from_float = n.compute == TN__CF || n.compute == TN__CD;
    tn__number r = tn__number_to_compute(n, facts->compute);
    if (facts->size >= 4) return r;
    const int shift = 32 - facts->bits;
    if (facts->kind == TN__SIGNED) {
        const int32_t top = (1 << (facts->bits - 1)) - 1;
        if (from_float)
            r.i = r.i > top ? top : r.i < -top - 1 ? -top - 1 : r.i;
        else
            r.i = (int32_t)((uint32_t)r.i << shift) >> shift;
    } else {
        const uint32_t top = (1u << facts->bits) - 1u;
        r.u = from_float ? (r.u > top ? top : r.u) : r.u & top;
    }
    return r;
}

void tn__number_store(tn_dtype dtype, void *p, tn__number n)
{
    uint16_t h;
    switch (dtype) {
    case TN_F16:
        h = tn__f16_bits(n.f);
        memcpy(p, &h, 2);
        break;
    case TN_BF16:
        h = tn__bf16_bits(n.f);
        memcpy(p, &h, 2);
        break;
    case TN_I8:
    case TN_U8:
    case TN_BOOL: *(uint8_t *)p = (uint8_t)n.u; break;
    case TN_I16:
    case TN_U16:
        h = (uint16_t)n.u;
        memcpy(p, &h, 2);
        break;
    default: memcpy(p, &n.m, (size_t)tn__dtypes[dtype].size); break;
    }
}

bool tn__number_fits(tn__number n, tn_dtype dtype)
{
    const tn__dtype_facts *f = &tn__dtypes[dtype];
    if (f->kind == TN__FLOAT || f->kind == TN__BOOL || n.compute == TN__CF || n.compute == TN__CD) return true;
    const bool negative = (n.compute == TN__CI && n.i < 0) || (n.compute == TN__CL && n.l < 0);
    if (negative) {
        const int64_t v = n.compute == TN__CI ? n.i : n.l;
        return f->kind == TN__SIGNED && v >= -(INT64_C(1) << (f->bits - 2)) * 2;
    }
    const uint64_t v = n.compute == TN__CI || n.compute == TN__CU ? n.u : n.m;
    const int bits = f->kind == TN__SIGNED ? f->bits - 1 : f->bits;
    return bits == 64 || v < (UINT64_C(1) << bits);
}

double tn__number_double(tn__number n)
{
    return tn__number_to_compute(n, TN__CD).d;
}
