/* Reductions, softmax, matmul. */
#include "support/build.h"

#include <math.h>

/* ---- reductions ---- */

/* For each element of x the element of the reduced term it goes to. */
static void reduce_map(const term *x, unsigned mask, int64_t *map)
{
    int64_t index[TN_MAX_AXES] = {0};
    for (int64_t i = 0; i < x->count; i++) {
        map[i] = 0;
        for (int a = 0; a < x->shape.ndim; a++)
            if (!(mask >> a & 1)) map[i] = map[i] * x->shape.dim[a] + index[a];
        for (int a = x->shape.ndim - 1; a >= 0 && ++index[a] == x->shape.dim[a]; a--) index[a] = 0;
    }
}

static bool greater(reference_number a, reference_number b)
{
    return tn_dtype_is_float(a.dtype) ? a.f > b.f || (isnan(a.f) && !isnan(b.f)) : a.i > b.i;
}

static void fill_sums(term *t, const term *x, const int64_t *map, int64_t each)
{
    const double eps = t->dtype == TN_F64 ? 0x1p-53 : 0x1p-24, factor = (log2((double)(each > 0 ? each : 1)) + 8) * eps;
    for (int64_t o = 0; o < t->count; o++) {
        long double sum = 0, size = 0;
        double error = 0;
        for (int64_t i = 0; i < x->count; i++) {
            if (map[i] != o) continue;
            sum += x->value[i].f;
            size += fabsl(x->value[i].f);
            error += x->error[i];
        }
        if (isfinite((double)size))
            error += factor * (double)size;
        else if (!isfinite(error))
            error = INFINITY;
        else
            error = 0; /* infinities and NaN decide */
        if (t->kind == TERM_MEAN) {
            sum /= (long double)each;
            error /= (double)each;
            if (each == 0) sum = NAN, error = 0;
            if (isfinite((double)sum)) error += 3 * test_step(build_compute_dtype(t->dtype), sum);
            if (isfinite((double)size) && (double)size >= test_largest(build_compute_dtype(t->dtype)) / 2)
                error = INFINITY; /* the sum may overflow */
        }
        term_settle(t, o, (reference_number){.dtype = t->dtype, .f = sum}, error);
    }
    t->exact = false;
}

static void fill_reduction(term *t, const term *x, const int64_t *map, int64_t each)
{
    t->exact = x->exact;
    if ((t->kind == TERM_SUM || t->kind == TERM_MEAN) && tn_dtype_is_float(t->dtype)) {
        fill_sums(t, x, map, each);
        return;
    }
    for (int64_t o = 0; o < t->count; o++) {
        reference_number best = {.dtype = t->dtype}, sum = {.dtype = t->dtype};
        int64_t seen = 0, at = 0;
        double error = 0;
        for (int64_t i = 0; i < x->count; i++) {
            if (map[i] != o) continue;
            if (seen == 0 || greater(x->value[i], best)) best = x->value[i], at = seen;
            sum = reference_cast((reference_number){.dtype = TN_I64, .i = sum.i + x->value[i].i}, t->dtype);
            if (x->error[i] > error) error = x->error[i];
            seen++;
        }
        t->value[o] = t->kind == TERM_MAX ? best : t->kind == TERM_ARGMAX ? (reference_number){.dtype = TN_I64, .i = at} : sum;
        t->error[o] = error;
    }
}

bool build_reduction(builder *b)
{
    static const term_kind kinds[] = {TERM_SUM, TERM_MEAN, TERM_MAX, TERM_ARGMAX};
    const term_kind kind = kinds[build_below(b, 4)];
    const int from = build_any_term(b);
    const term *x = &b->p->terms[from];
    if (x->weak || (kind == TERM_MEAN && !term_is_float(x)) || (kind == TERM_ARGMAX && !x->exact)) return false;
    const int chosen = x->shape.ndim ? 1 + (int)build_below(b, (1 << x->shape.ndim) - 1) : 0;
    const unsigned mask = (unsigned)chosen;
    term v = {.kind = kind, .operand = {from}, .keepdim = build_below(b, 2)};
    int64_t each = 1;
    for (int a = 0; a < x->shape.ndim; a++) {
        if (mask >> a & 1) {
            v.axes.axis[v.axes.count++] = build_below(b, 2) ? a : a - x->shape.ndim;
            each *= x->shape.dim[a];
            if (v.keepdim) v.shape.dim[v.shape.ndim++] = 1;
        } else
            v.shape.dim[v.shape.ndim++] = x->shape.dim[a];
    }
    if (each == 0 && (kind == TERM_MAX || kind == TERM_ARGMAX)) return false;
    v.dtype = kind == TERM_ARGMAX                                   ? TN_I64
              : kind != TERM_SUM || term_is_float(x)                ? x->dtype
              : x->dtype == TN_BOOL || tn_dtype_is_signed(x->dtype) ? TN_I64
                                                                    : TN_U64;
    term *t = build_term(b, kind, v.dtype, v.shape);
    if (!t) return false;
    v.count = t->count, v.value = t->value, v.error = t->error;
    *t = v;
    int64_t *map = malloc((size_t)(x->count + 1) * sizeof *map);
    reduce_map(x, mask, map);
    fill_reduction(t, x, map, each);
    free(map);
    return true;
}

/* ---- along an axis ---- */

static void fill_softmax(term *t, const term *x, int64_t first, int64_t n, int64_t stride)
{
    const double eps = t->dtype == TN_F64 ? 0x1p-53 : 0x1p-24;
    long double most = -INFINITY, sum = 0;
    double error = 0;
    for (int64_t k = 0; k < n; k++) {
        const int64_t i = first + k * stride;
        const long double f = reference_cast(x->value[i], t->dtype).f;
        most = isnan(f) || isnan(most) ? (long double)NAN : f > most ? f : most;
        if (!(x->error[i] <= error)) error = x->error[i];
    }
    for (int64_t k = 0; k < n; k++) sum += expl(reference_cast(x->value[first + k * stride], t->dtype).f - most);
    for (int64_t k = 0; k < n; k++) {
        const int64_t i = first + k * stride;
        const long double below_most = reference_cast(x->value[i], t->dtype).f - most;
        const double steps = log2((double)n) + 16 + (isfinite((double)below_most) ? fabs((double)below_most) : 0);
        reference_number want = {.dtype = t->dtype};
        double far;
        if (t->kind == TERM_SOFTMAX) {
            want.f = expl(below_most) / sum;
            far = error > 0.05 ? INFINITY : (double)want.f * (2.5 * error + steps * eps);
        } else {
            want.f = below_most - logl(sum);
            far = 2.5 * error + (steps + 2 * fabs((double)logl(sum))) * eps * 2;
        }
        if (isnan(want.f) || isinf(want.f)) far = isfinite(error) && error == 0 ? 0 : INFINITY;
        term_settle(t, i, want, far);
    }
}

bool build_softmax(builder *b)
{
    const int from = build_any_term(b);
    const term *x = &b->p->terms[from];
    if (x->weak || x->shape.ndim == 0) return false;
    term *t = build_term(b, build_below(b, 2) ? TERM_SOFTMAX : TERM_LOG_SOFTMAX, term_is_float(x) ? x->dtype : TN_F32, x->shape);
    if (!t) return false;
    t->operand[0] = from;
    t->axis = (int)build_below(b, x->shape.ndim);
    t->exact = false;
    int64_t stride = 1;
    for (int a = t->axis + 1; a < x->shape.ndim; a++) stride *= x->shape.dim[a];
    const int64_t n = x->shape.dim[t->axis];
    for (int64_t i = 0; i < t->count; i++)
        if (i / stride % n == 0) fill_softmax(t, x, i, n, stride);
    return true;
}

/* ---- matmul of the last term and a fresh one ---- */

__extension__ typedef unsigned __int128 wide_unsigned;

/* Modulo 2^64, which every dtype's wrapping begins with. */
static reference_int product(reference_int a, reference_int b)
{
    return (reference_int)(uint64_t)((wide_unsigned)a * (wide_unsigned)b);
}

bool build_matmul(builder *b)
{
    const int left = build_any_term(b);
    const term *x = &b->p->terms[left];
    const int n = x->shape.ndim;
    if (x->weak || n < 2 || x->dtype == TN_BOOL || x->count == 0) return false;
    const int64_t m = x->shape.dim[n - 2], k = x->shape.dim[n - 1], columns = 1 + build_below(b, 20);
    const int right = build_leaf(b, x->dtype, TN_SHAPE(k, columns));
    if (right < 0) return false;
    x = &b->p->terms[left];
    tn_shape shape = x->shape;
    shape.dim[n - 1] = columns;
    term *t = build_term(b, TERM_MATMUL, x->dtype, shape);
    if (!t) return false;
    const term *y = &b->p->terms[right];
    const double eps = t->dtype == TN_F64 ? 0x1p-53 : 0x1p-24;
    t->operand[0] = left, t->operand[1] = right;
    t->exact = x->exact && !term_is_float(x);
    for (int64_t i = 0; i < t->count; i++) {
        const int64_t row = i / columns, column = i % columns;
        long double sum = 0, size = 0;
        double error = 0;
        reference_number wrapped = {.dtype = t->dtype};
        for (int64_t s = 0; s < k; s++) {
            const reference_number p = x->value[row * k + s], q = y->value[s * columns + column];
            sum += p.f * q.f;
            size += fabsl(p.f * q.f);
            error += x->error[row * k + s] == 0 ? 0 : x->error[row * k + s] * fabs((double)q.f);
            if (!term_is_float(x))
                wrapped.i = reference_cast((reference_number){.dtype = t->dtype, .i = wrapped.i + product(p.i, q.i)}, t->dtype).i;
        }
        if (!term_is_float(x)) {
            t->value[i] = wrapped;
            continue;
        }
        if (isnan(error)) error = INFINITY;
        if (isfinite((double)size))
            error += (double)k * eps * (double)size + test_step(build_compute_dtype(t->dtype), sum);
        else if (error > 0)
            error = INFINITY;
        term_settle(t, i, (reference_number){.dtype = t->dtype, .f = sum}, error);
    }
    (void)m;
    return true;
}
