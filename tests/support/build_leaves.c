/* Terms, leaves and views. */
#include "support/build.h"

#include <math.h>
#include <string.h>

/* ---- terms ---- */

int64_t build_below(builder *b, int64_t n)
{
    return test_below(&b->r, n);
}

int64_t build_elements(const tn_shape *s)
{
    int64_t n = 1;
    for (int a = 0; a < s->ndim; a++) n *= s->dim[a];
    return n;
}

bool term_is_float(const term *t)
{
    return tn_dtype_is_float(t->dtype);
}

/* A new term, its values to be filled in; NULL when it is too large. */
term *build_term(builder *b, term_kind kind, tn_dtype dtype, tn_shape shape)
{
    program *p = b->p;
    const int64_t n = build_elements(&shape);
    if (n > TERM_ELEMENTS || p->count == TERMS || (dtype == TN_F64 && b->used->without_f64)) return NULL;
    term *t = &p->terms[p->count++];
    *t = (term){.kind = kind, .dtype = dtype, .shape = shape, .exact = true, .count = n};
    t->value = calloc((size_t)n + 1, sizeof *t->value);
    t->error = calloc((size_t)n + 1, sizeof *t->error);
    return t;
}

/* Takes the last term back. */
bool build_undo(builder *b)
{
    term *t = &b->p->terms[--b->p->count];
    free(t->value);
    free(t->error);
    return false;
}

/* Rounds element i to the term's dtype; error: of the value as it was computed, before this rounding. */
void term_settle(term *t, int64_t i, reference_number want, double error)
{
    char bytes[8];
    if (!tn_dtype_is_float(want.dtype)) {
        t->value[i] = want;
        return;
    }
    test_store(t->dtype, bytes, (double)want.f);
    t->value[i] = (reference_number){.dtype = t->dtype, .f = (long double)test_number(t->dtype, bytes)};
    if (error > 0) {
        if (isfinite((double)want.f)) error += test_step(t->dtype, want.f) + (t->dtype == TN_F64 ? 0x1p-1022 : 0x1p-126);
        if (isfinite((double)want.f) && fabs((double)want.f) + error >= test_largest(t->dtype)) error = INFINITY;
    }
    t->error[i] = error;
}

/* An exact result that a device may take for 0 would not be exact. */
bool term_has_subnormals(const term *t)
{
    for (int64_t i = 0; i < t->count; i++)
        if (reference_may_flush(t->value[i])) return true;
    return false;
}

/* A term to compute with: often the last one. */
int build_any_term(builder *b)
{
    return build_below(b, 2) ? b->p->count - 1 : (int)build_below(b, b->p->count);
}

/* What values of the dtype are computed in. */
tn_dtype build_compute_dtype(tn_dtype d)
{
    switch (d) {
    case TN_F16:
    case TN_BF16: return TN_F32;
    case TN_I8:
    case TN_I16: return TN_I32;
    case TN_U8:
    case TN_U16: return TN_U32;
    default: return d;
    }
}

/* ---- leaves ---- */

/* One of n things, every other time the next in turn, so that few programs see all of them. */
int build_in_turn(builder *b, int n)
{
    return build_below(b, 2) ? (int)build_below(b, n) : (int)((b->p->seed * 7 + b->turn++) % (uint64_t)n);
}

tn_dtype build_any_dtype(builder *b)
{
    const tn_dtype d = (tn_dtype)build_in_turn(b, TN_DTYPE_COUNT);
    return d == TN_F64 && b->used->without_f64 ? TN_F32 : d;
}

static void random_value(builder *b, tn_dtype dtype, reference_number *out)
{
    static const double special[] = {NAN, INFINITY, -INFINITY, 0, 1, -1};
    *out = (reference_number){.dtype = dtype};
    if (tn_dtype_is_float(dtype))
        out->f = build_below(b, 40) == 0 ? (long double)special[build_below(b, 6)] : (long double)(build_below(b, 65) - 32) / 8;
    else if (dtype == TN_BOOL)
        out->i = build_below(b, 2);
    else if (build_below(b, 20) == 0)
        *out = reference_cast((reference_number){.dtype = TN_I64, .i = (int64_t)test_next(&b->r)}, dtype);
    else
        out->i = tn_dtype_is_signed(dtype) ? build_below(b, 17) - 6 : build_below(b, 12);
}

static term *leaf(builder *b, tn_dtype dtype, tn_shape shape)
{
    term *t = build_term(b, TERM_LEAF, dtype, shape);
    for (int64_t i = 0; t && i < t->count; i++) random_value(b, dtype, &t->value[i]);
    if (t) b->used->dtypes[dtype]++;
    return t;
}

term *build_scalar(builder *b)
{
    const int form = (int)build_below(b, 8);
    term *t = build_term(b, TERM_SCALAR, form == 0 ? TN_BOOL : form < 4 ? TN_I64 : TN_F32, TN_SHAPE());
    if (!t) return NULL;
    t->weak = true;
    t->scalar = form == 0  ? (double)build_below(b, 2)
                : form < 4 ? (double)build_below(b, 6)
                : form < 7 ? (double)(build_below(b, 33) - 16) / 8
                           : 0.1 * (double)build_below(b, 30);
    t->value[0] = form < 4 ? reference_of(t->dtype, t->scalar) : (reference_number){.dtype = TN_F64, .f = (long double)t->scalar};
    return t;
}

/* ---- views ---- */

/* Element i of the view is element map[i] of its source. */
static void view_map(const term *t, const term *from, int64_t *map)
{
    int64_t stride[TN_MAX_AXES], own[TN_MAX_AXES] = {0}, dense = 1, offset = 0;
    for (int a = from->shape.ndim - 1; a >= 0; a--) stride[a] = dense, dense *= from->shape.dim[a];
    const int lead = t->shape.ndim - from->shape.ndim;
    for (int a = 0; a < t->shape.ndim && t->kind != TERM_UNSQUEEZE && t->kind != TERM_SELECT && t->kind != TERM_RESHAPE; a++)
        own[a] = t->kind == TERM_EXPAND ? (a < lead || from->shape.dim[a - lead] != t->shape.dim[a] ? 0 : stride[a - lead])
                                        : stride[a];
    switch (t->kind) {
    case TERM_TRANSPOSE: own[t->axis] = stride[t->other], own[t->other] = stride[t->axis]; break;
    case TERM_PERMUTE:
        for (int a = 0; a < t->shape.ndim; a++) own[a] = stride[t->axes.axis[a]];
        break;
    case TERM_SLICE: offset = t->start * stride[t->axis], own[t->axis] = stride[t->axis] * t->step; break;
    case TERM_SELECT:
        offset = t->start * stride[t->axis];
        for (int a = 0; a < t->shape.ndim; a++) own[a] = stride[a < t->axis ? a : a + 1];
        break;
    case TERM_FLIP:
        for (int k = 0; k < t->axes.count; k++) {
            const int a = t->axes.axis[k];
            offset += stride[a] * (t->shape.dim[a] - 1);
            own[a] = -stride[a];
        }
        break;
    default: break;
    }
    int64_t index[TN_MAX_AXES] = {0};
    for (int64_t i = 0; i < t->count; i++) {
        map[i] = offset;
        for (int a = 0; a < t->shape.ndim; a++) map[i] += index[a] * own[a];
        if (t->kind == TERM_RESHAPE || t->kind == TERM_UNSQUEEZE) map[i] = i;
        for (int a = t->shape.ndim - 1; a >= 0 && ++index[a] == t->shape.dim[a]; a--) index[a] = 0;
    }
}

static bool fill_view(term *t, const term *from)
{
    int64_t *map = malloc((size_t)(t->count + 1) * sizeof *map);
    view_map(t, from, map);
    t->exact = from->exact;
    for (int64_t i = 0; i < t->count; i++) t->value[i] = from->value[map[i]], t->error[i] = from->error[map[i]];
    free(map);
    return true;
}

static tn_shape random_reshape(builder *b, int64_t n)
{
    tn_shape s = {.ndim = 0};
    int64_t rest = n;
    while (s.ndim < 4 && rest > 1) { /* a random divisor at a time */
        int64_t d = 1 + build_below(b, 12);
        while (rest % d) d--;
        s.dim[s.ndim++] = d;
        rest /= d;
    }
    s.dim[s.ndim++] = rest;
    return s;
}

/* A view of term `from`, of a given kind; false when it does not go. */
bool build_view(builder *b, int from, term_kind kind)
{
    const term *x = &b->p->terms[from];
    const int n = x->shape.ndim;
    term v = {.kind = kind, .operand = {from}, .shape = x->shape};
    if (x->weak || (n == 0 && kind != TERM_UNSQUEEZE && kind != TERM_EXPAND)) return false;
    v.axis = n ? (int)build_below(b, n) : 0;
    const int64_t extent = n ? x->shape.dim[v.axis] : 0;
    switch (kind) {
    case TERM_TRANSPOSE:
        v.other = (int)build_below(b, n);
        v.shape.dim[v.axis] = x->shape.dim[v.other], v.shape.dim[v.other] = extent;
        break;
    case TERM_PERMUTE:
        v.axes.count = n;
        for (int a = 0; a < n; a++) {
            const int to = (int)build_below(b, a + 1);
            v.axes.axis[a] = v.axes.axis[to], v.axes.axis[to] = a;
        }
        for (int a = 0; a < n; a++) v.shape.dim[a] = x->shape.dim[v.axes.axis[a]];
        break;
    case TERM_SLICE: {
        if (extent < 2) return false;
        const int64_t lowest = build_below(b, extent), length = 1 + build_below(b, extent - lowest), steps[] = {1, 1, 2, 3, -1, -2};
        v.step = steps[build_below(b, 6)];
        v.start = v.step > 0 ? lowest : lowest + length - 1;
        v.stop = v.step > 0 ? lowest + length : lowest - 1;
        v.shape.dim[v.axis] = (length + llabs(v.step) - 1) / llabs(v.step);
        break;
    }
    case TERM_SELECT:
        if (extent == 0) return false;
        v.start = build_below(b, extent);
        for (int a = v.axis; a + 1 < n; a++) v.shape.dim[a] = x->shape.dim[a + 1];
        v.shape.ndim = n - 1;
        break;
    case TERM_FLIP:
        for (int a = 0; a < n; a++)
            if (a == v.axis || build_below(b, 3) == 0) v.axes.axis[v.axes.count++] = a;
        break;
    case TERM_EXPAND: {
        bool grows = false;
        for (int a = 0; a < n; a++)
            if (x->shape.dim[a] == 1) v.shape.dim[a] = 1 + build_below(b, 7), grows = true;
        if (!grows || build_below(b, 3) == 0) {
            if (n > 4) return false;
            memmove(v.shape.dim + 1, v.shape.dim, (size_t)n * sizeof v.shape.dim[0]);
            v.shape.dim[0] = 1 + build_below(b, 4);
            v.shape.ndim = n + 1;
        }
        break;
    }
    case TERM_RESHAPE:
        if (x->count == 0) return false;
        v.shape = random_reshape(b, x->count);
        break;
    default:
        if (n > 4) return false;
        v.axis = (int)build_below(b, n + 1);
        memmove(v.shape.dim + v.axis + 1, v.shape.dim + v.axis, (size_t)(n - v.axis) * sizeof v.shape.dim[0]);
        v.shape.dim[v.axis] = 1;
        v.shape.ndim = n + 1;
    }
    term *t = build_term(b, kind, x->dtype, v.shape);
    if (!t) return false;
    v.dtype = t->dtype, v.count = t->count, v.value = t->value, v.error = t->error;
    *t = v;
    return fill_view(t, &b->p->terms[from]);
}

/* A leaf of that shape that lies in memory in one of many ways: a leaf, and views on it. */
int build_leaf(builder *b, tn_dtype dtype, tn_shape shape)
{
    tn_shape base = shape;
    const int way = (int)build_below(b, 8), n = shape.ndim;
    const int axis = n ? (int)build_below(b, n) : 0, other = n ? (int)build_below(b, n) : 0;
    term v = {.kind = TERM_LEAF};
    if (n > 0 && way == 1) v = (term){.kind = TERM_FLIP, .axes = {1, {axis}}};
    if (n > 1 && way == 2)
        v = (term){.kind = TERM_TRANSPOSE, .axis = axis, .other = other}, base.dim[axis] = shape.dim[other],
        base.dim[other] = shape.dim[axis];
    if (n > 0 && way == 3)
        v = (term){.kind = TERM_SLICE, .axis = axis, .start = 1, .stop = 1 + 2 * shape.dim[axis], .step = 2},
        base.dim[axis] = 2 * shape.dim[axis] + 2;
    if (n > 0 && way == 4 && shape.dim[axis] > 1) v = (term){.kind = TERM_EXPAND}, base.dim[axis] = 1;
    if (n == 4 && way > 4) { /* channels last */
        v = (term){.kind = TERM_PERMUTE, .axes = {4, {0, 3, 1, 2}}};
        base = TN_SHAPE(shape.dim[0], shape.dim[2], shape.dim[3], shape.dim[1]);
    } else if (n > 0 && way == 5)
        v = (term){.kind = TERM_SLICE, .axis = 0, .start = 3, .stop = 3 + shape.dim[0], .step = 1}, base.dim[0] = shape.dim[0] + 4;
    if (!leaf(b, dtype, base)) return -1;
    const int at = b->p->count - 1;
    if (v.kind == TERM_LEAF) return at;
    term *t = build_term(b, v.kind, dtype, shape);
    if (!t) return at;
    v.operand[0] = at, v.dtype = dtype, v.shape = shape, v.count = t->count, v.value = t->value, v.error = t->error;
    *t = v;
    fill_view(t, &b->p->terms[at]);
    b->used->kinds[v.kind]++;
    return b->p->count - 1;
}
