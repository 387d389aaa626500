#include "support/expressions.h"

#include "support/row_cases.h"

#include <math.h>
#include <string.h>

static const char *const kind_names[TERM_KINDS] = {
    "leaf", "scalar", "row", "cast", "transpose", "permute", "slice", "select", "flip", "expand", "reshape", "unsqueeze",
    "sum", "mean", "max", "argmax", "softmax", "log_softmax", "matmul"};

const char *term_name(term_kind kind)
{
    return kind_names[kind];
}

static const term_kind views[] = {TERM_TRANSPOSE, TERM_PERMUTE, TERM_SLICE, TERM_SELECT, TERM_FLIP, TERM_EXPAND, TERM_RESHAPE, TERM_UNSQUEEZE};

/* ---- building ---- */

typedef struct builder {
    program *p;
    usage *used;
    test_random r;
} builder;

static int64_t below(builder *b, int64_t n)
{
    return test_below(&b->r, n);
}

static int64_t elements_of(const tn_shape *s)
{
    int64_t n = 1;
    for (int a = 0; a < s->ndim; a++) n *= s->dim[a];
    return n;
}

static bool is_float(const term *t)
{
    return tn_dtype_is_float(t->dtype);
}

/* A new term, its values to be filled in; NULL when it is too large. */
static term *add_term(builder *b, term_kind kind, tn_dtype dtype, tn_shape shape)
{
    program *p = b->p;
    const int64_t n = elements_of(&shape);
    if (n > TERM_ELEMENTS || p->count == TERMS || (dtype == TN_F64 && b->used->without_f64)) return NULL;
    term *t = &p->terms[p->count++];
    *t = (term){.kind = kind, .dtype = dtype, .shape = shape, .exact = true, .count = n};
    t->value = calloc((size_t)n + 1, sizeof *t->value);
    t->error = calloc((size_t)n + 1, sizeof *t->error);
    return t;
}

/* Takes the last term back. */
static bool undo(builder *b)
{
    term *t = &b->p->terms[--b->p->count];
    free(t->value);
    free(t->error);
    return false;
}

/* Rounds element i to the term's dtype; error: of the value as it was computed, before this rounding. */
static void settle(term *t, int64_t i, reference_number want, double error)
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
static bool has_subnormals(const term *t)
{
    for (int64_t i = 0; i < t->count; i++)
        if (reference_may_flush(t->value[i])) return true;
    return false;
}

/* ---- leaves ---- */

static tn_dtype any_dtype(builder *b)
{
    tn_dtype best = TN_F32;
    for (int tries = 0; tries < 4; tries++) { /* the one used least of four */
        const tn_dtype d = (tn_dtype)below(b, TN_DTYPE_COUNT);
        if (d == TN_F64 && b->used->without_f64) continue;
        if (tries == 0 || b->used->dtypes[d] < b->used->dtypes[best]) best = d;
    }
    return best;
}

static void random_value(builder *b, tn_dtype dtype, reference_number *out)
{
    static const double special[] = {NAN, INFINITY, -INFINITY, 0, 1, -1};
    *out = (reference_number){.dtype = dtype};
    if (tn_dtype_is_float(dtype)) out->f = below(b, 40) == 0 ? (long double)special[below(b, 6)] : (long double)(below(b, 65) - 32) / 8;
    else if (dtype == TN_BOOL) out->i = below(b, 2);
    else if (below(b, 20) == 0) *out = reference_cast((reference_number){.dtype = TN_I64, .i = (int64_t)test_next(&b->r)}, dtype);
    else out->i = tn_dtype_is_signed(dtype) ? below(b, 17) - 6 : below(b, 12);
}

static term *leaf(builder *b, tn_dtype dtype, tn_shape shape)
{
    term *t = add_term(b, TERM_LEAF, dtype, shape);
    for (int64_t i = 0; t && i < t->count; i++) random_value(b, dtype, &t->value[i]);
    if (t) b->used->dtypes[dtype]++;
    return t;
}

static term *scalar(builder *b)
{
    const int form = (int)below(b, 8);
    term *t = add_term(b, TERM_SCALAR, form == 0 ? TN_BOOL : form < 4 ? TN_I64 : TN_F32, TN_SHAPE());
    if (!t) return NULL;
    t->weak = true;
    t->scalar = form == 0 ? (double)below(b, 2) : form < 4 ? (double)below(b, 6) : form < 7 ? (double)(below(b, 33) - 16) / 8 : 0.1 * (double)below(b, 30);
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
        own[a] = t->kind == TERM_EXPAND ? (a < lead || from->shape.dim[a - lead] != t->shape.dim[a] ? 0 : stride[a - lead]) : stride[a];
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
        int64_t d = 1 + below(b, 12);
        while (rest % d) d--;
        s.dim[s.ndim++] = d;
        rest /= d;
    }
    s.dim[s.ndim++] = rest;
    return s;
}

/* A view of term `from`, of a given kind; false when it does not go. */
static bool add_view(builder *b, int from, term_kind kind)
{
    const term *x = &b->p->terms[from];
    const int n = x->shape.ndim;
    term v = {.kind = kind, .operand = {from}, .shape = x->shape};
    if (x->weak || (n == 0 && kind != TERM_UNSQUEEZE && kind != TERM_EXPAND)) return false;
    v.axis = n ? (int)below(b, n) : 0;
    const int64_t extent = n ? x->shape.dim[v.axis] : 0;
    switch (kind) {
    case TERM_TRANSPOSE:
        v.other = (int)below(b, n);
        v.shape.dim[v.axis] = x->shape.dim[v.other], v.shape.dim[v.other] = extent;
        break;
    case TERM_PERMUTE:
        v.axes.count = n;
        for (int a = 0; a < n; a++) {
            const int to = (int)below(b, a + 1);
            v.axes.axis[a] = v.axes.axis[to], v.axes.axis[to] = a;
        }
        for (int a = 0; a < n; a++) v.shape.dim[a] = x->shape.dim[v.axes.axis[a]];
        break;
    case TERM_SLICE: {
        if (extent < 2) return false;
        const int64_t lowest = below(b, extent), length = 1 + below(b, extent - lowest), steps[] = {1, 1, 2, 3, -1, -2};
        v.step = steps[below(b, 6)];
        v.start = v.step > 0 ? lowest : lowest + length - 1;
        v.stop = v.step > 0 ? lowest + length : lowest - 1;
        v.shape.dim[v.axis] = (length + llabs(v.step) - 1) / llabs(v.step);
        break;
    }
    case TERM_SELECT:
        if (extent == 0) return false;
        v.start = below(b, extent);
        for (int a = v.axis; a + 1 < n; a++) v.shape.dim[a] = x->shape.dim[a + 1];
        v.shape.ndim = n - 1;
        break;
    case TERM_FLIP:
        for (int a = 0; a < n; a++)
            if (a == v.axis || below(b, 3) == 0) v.axes.axis[v.axes.count++] = a;
        break;
    case TERM_EXPAND: {
        bool grows = false;
        for (int a = 0; a < n; a++)
            if (x->shape.dim[a] == 1) v.shape.dim[a] = 1 + below(b, 7), grows = true;
        if (!grows || below(b, 3) == 0) {
            if (n > 4) return false;
            memmove(v.shape.dim + 1, v.shape.dim, (size_t)n * sizeof v.shape.dim[0]);
            v.shape.dim[0] = 1 + below(b, 4);
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
        v.axis = (int)below(b, n + 1);
        memmove(v.shape.dim + v.axis + 1, v.shape.dim + v.axis, (size_t)(n - v.axis) * sizeof v.shape.dim[0]);
        v.shape.dim[v.axis] = 1;
        v.shape.ndim = n + 1;
    }
    term *t = add_term(b, kind, x->dtype, v.shape);
    if (!t) return false;
    v.dtype = t->dtype, v.count = t->count, v.value = t->value, v.error = t->error;
    *t = v;
    return fill_view(t, &b->p->terms[from]);
}

/* A leaf of that shape that lies in memory in one of many ways: a leaf, and views on it. */
static int laid_out_leaf(builder *b, tn_dtype dtype, tn_shape shape)
{
    tn_shape base = shape;
    const int way = (int)below(b, 8), n = shape.ndim;
    const int axis = n ? (int)below(b, n) : 0, other = n ? (int)below(b, n) : 0;
    term v = {.kind = TERM_LEAF};
    if (n > 0 && way == 1) v = (term){.kind = TERM_FLIP, .axes = {1, {axis}}};
    if (n > 1 && way == 2) v = (term){.kind = TERM_TRANSPOSE, .axis = axis, .other = other}, base.dim[axis] = shape.dim[other], base.dim[other] = shape.dim[axis];
    if (n > 0 && way == 3) v = (term){.kind = TERM_SLICE, .axis = axis, .start = 1, .stop = 1 + 2 * shape.dim[axis], .step = 2}, base.dim[axis] = 2 * shape.dim[axis] + 2;
    if (n > 0 && way == 4 && shape.dim[axis] > 1) v = (term){.kind = TERM_EXPAND}, base.dim[axis] = 1;
    if (n == 4 && way > 4) { /* channels last */
        v = (term){.kind = TERM_PERMUTE, .axes = {4, {0, 3, 1, 2}}};
        base = TN_SHAPE(shape.dim[0], shape.dim[2], shape.dim[3], shape.dim[1]);
    } else if (n > 0 && way == 5)
        v = (term){.kind = TERM_SLICE, .axis = 0, .start = 3, .stop = 3 + shape.dim[0], .step = 1}, base.dim[0] = shape.dim[0] + 4;
    if (!leaf(b, dtype, base)) return -1;
    const int at = b->p->count - 1;
    if (v.kind == TERM_LEAF) return at;
    term *t = add_term(b, v.kind, dtype, shape);
    if (!t) return at;
    v.operand[0] = at, v.dtype = dtype, v.shape = shape, v.count = t->count, v.value = t->value, v.error = t->error;
    *t = v;
    fill_view(t, &b->p->terms[at]);
    b->used->kinds[v.kind]++;
    return b->p->count - 1;
}

/* ---- promotion, once more: tensors with axes, then those without, then plain numbers ---- */

static bool promoted(const term *const *x, int count, tn_dtype *out)
{
    tn_dtype rank[3] = {TN_DTYPE_COUNT, TN_DTYPE_COUNT, TN_DTYPE_COUNT};
    for (int i = 0; i < count; i++) {
        tn_dtype *at = &rank[x[i]->weak ? 2 : x[i]->shape.ndim == 0 ? 1 : 0];
        *at = *at == TN_DTYPE_COUNT ? x[i]->dtype : tn_promote(*at, x[i]->dtype);
        if (*at == TN_DTYPE_COUNT) return tn_clear_error(), false;
    }
    tn_dtype d = TN_DTYPE_COUNT;
    for (int r = 0; r < 3; r++) {
        if (rank[r] == TN_DTYPE_COUNT) continue;
        const bool higher = d == TN_DTYPE_COUNT || (tn_dtype_is_float(rank[r]) && !tn_dtype_is_float(d)) ||
                            (d == TN_BOOL && rank[r] != TN_BOOL);
        if (d == TN_DTYPE_COUNT) d = rank[r];
        else if (higher) d = tn_promote(d, rank[r]);
        if (d == TN_DTYPE_COUNT) return tn_clear_error(), false;
    }
    *out = d;
    return true;
}

static tn_dtype compute_dtype(tn_dtype d)
{
    switch (d) {
    case TN_F16: case TN_BF16: return TN_F32;
    case TN_I8: case TN_I16: return TN_I32;
    case TN_U8: case TN_U16: return TN_U32;
    default: return d;
    }
}

/* An element as the operation takes it: in its dtype; one without axes in the compute type. */
static reference_number entering(const term *x, int64_t i, tn_dtype d)
{
    const reference_number n = x->value[i];
    if (x->weak || (x->shape.ndim == 0 && x->dtype != d)) return reference_cast(n, d == TN_BOOL ? d : compute_dtype(d));
    return reference_cast(n, d);
}

/* An integer without axes has to fit, or host refuses what another device wraps. */
static bool fits(const term *x, tn_dtype d)
{
    if (x->shape.ndim > 0 || is_float(x) || tn_dtype_is_float(d) || d == TN_BOOL) return true;
    return reference_cast(x->value[0], d).i == x->value[0].i && x->value[0].i >= 0;
}

/* ---- rows ---- */

static bool broadcast(tn_shape *s, const tn_shape *x)
{
    const tn_shape a = *s;
    const int n = a.ndim > x->ndim ? a.ndim : x->ndim;
    s->ndim = n;
    for (int k = 1; k <= n; k++) {
        const int64_t p = k <= a.ndim ? a.dim[a.ndim - k] : 1, q = k <= x->ndim ? x->dim[x->ndim - k] : 1;
        if (p != q && p != 1 && q != 1) return false;
        s->dim[n - k] = p == 1 ? q : p;
    }
    return true;
}

/* Which element of x belongs to the element of the result at this index. */
static int64_t element_at(const term *x, const tn_shape *s, const int64_t *index)
{
    int64_t at = 0;
    for (int a = 0; a < x->shape.ndim; a++) {
        const int64_t extent = x->shape.dim[a], i = index[a + s->ndim - x->shape.ndim];
        at = at * extent + (extent == 1 ? 0 : i);
    }
    return at;
}

static double distance(long double a, long double b)
{
    if (isnan(a) && isnan(b)) return 0;
    if (a == b) return 0;
    return isfinite(a) && isfinite(b) ? (double)fabsl(a - b) : INFINITY;
}

/* How far the result may move when its operands are off by their errors: each alone, twice as far, both ways, and at 0. */
static double moved_by_operands(const tn__row *row, tn_dtype d, const reference_number *n, const double *error, long double want)
{
    double sum = 0, slack;
    for (int k = 0; k < row->arity; k++) {
        if (error[k] == 0) continue;
        if (!isfinite(error[k])) return INFINITY;
        double most = 0;
        for (int side = -1; side <= 1; side++) {
            reference_number moved[3] = {n[0], n[1], n[2]}, out;
            if (side == 0 && fabsl(moved[k].f) > (long double)(2 * error[k])) continue;
            moved[k].f = side == 0 ? 0 : moved[k].f + (long double)(2 * side * error[k]);
            (void)reference_row(row->name, d, moved, &out, &slack);
            const double far = distance(out.f, want);
            if (!(far <= most)) most = far;
        }
        sum += most;
    }
    return sum;
}

static bool fill_row(term *t, const term *const *x, tn_dtype d)
{
    const tn__row *row = &tn__rows[t->row];
    int64_t index[TN_MAX_AXES] = {0};
    const bool own_error = row->ulp > 0 && tn_dtype_is_float(d);
    for (int64_t i = 0; i < t->count; i++) {
        reference_number n[3] = {{0}}, want;
        double error[3] = {0}, slack;
        for (int k = 0; k < row->arity; k++) {
            const int64_t at = element_at(x[k], &t->shape, index);
            n[k] = row->inputs == TN__CHOOSE && k == 0 ? reference_cast(x[k]->value[at], TN_BOOL) : entering(x[k], at, d);
            error[k] = x[k]->error[at];
        }
        if (!reference_row(row->name, d, n, &want, &slack)) ck_abort_msg("no reference for %s", row->name);
        double far = t->exact && !own_error ? 0 : moved_by_operands(row, d, n, error, want.f);
        if (own_error && isfinite((double)want.f)) far += (row->ulp + slack) * test_step(compute_dtype(d), want.f);
        settle(t, i, want, far);
        for (int a = t->shape.ndim - 1; a >= 0 && ++index[a] == t->shape.dim[a]; a--) index[a] = 0;
    }
    t->exact = t->exact && !own_error;
    return true;
}

/* A term to compute with: often the last one. */
static int any_term(builder *b)
{
    return below(b, 2) ? b->p->count - 1 : (int)below(b, b->p->count);
}

/* A shape that broadcasts with this one. */
static tn_shape related_shape(builder *b, const tn_shape *s)
{
    tn_shape t = *s;
    const int drop = s->ndim && below(b, 3) == 0 ? (int)below(b, s->ndim + 1) : 0;
    t.ndim = s->ndim - drop;
    for (int a = 0; a < t.ndim; a++) t.dim[a] = below(b, 4) == 0 ? 1 : s->dim[a + drop];
    return t;
}

static int partner(builder *b, const tn_shape *s)
{
    for (int tries = 0; tries < 6; tries++) {
        const int i = (int)below(b, b->p->count);
        tn_shape both = *s;
        if (broadcast(&both, &b->p->terms[i].shape) && elements_of(&both) <= TERM_ELEMENTS) return i;
    }
    if (below(b, 3) == 0) return scalar(b) ? b->p->count - 1 : -1;
    return laid_out_leaf(b, any_dtype(b), related_shape(b, s));
}

static int any_row(builder *b)
{
    int best = (int)below(b, TN__ROWS);
    for (int tries = 0; tries < 3; tries++) {
        const int r = (int)below(b, TN__ROWS);
        if (b->used->rows[r] < b->used->rows[best]) best = r;
    }
    return best;
}

static bool add_row(builder *b)
{
    const int r = any_row(b);
    const tn__row *row = &tn__rows[r];
    int operand[3] = {any_term(b), 0, 0};
    tn_shape shape = b->p->terms[operand[0]].shape;
    for (int k = 1; k < row->arity; k++) {
        operand[k] = partner(b, &shape);
        if (operand[k] < 0 || !broadcast(&shape, &b->p->terms[operand[k]].shape)) return false;
    }
    const term *x[3] = {0};
    bool exact = true;
    for (int k = 0; k < row->arity; k++) x[k] = &b->p->terms[operand[k]], exact = exact && x[k]->exact;
    const int chooser = row->inputs == TN__CHOOSE;
    tn_dtype d;
    if (!promoted(x + chooser, row->arity - chooser, &d)) return false;
    if (row->inputs == TN__REAL && !tn_dtype_is_float(d)) d = TN_F32;
    if (!row_allowed(r, d) || (row->step && !exact) || (chooser && !x[0]->exact)) return false;
    bool all_weak = true;
    for (int k = 0; k < row->arity; k++) {
        if (!(chooser && k == 0) && !fits(x[k], d)) return false;
        all_weak = all_weak && x[k]->weak;
    }
    if (all_weak) return false;
    if (strcmp(row->name, "pow") == 0 && !tn_dtype_is_float(d) && x[1]->shape.ndim == 0) return false; /* where a scalar is refused */
    term *t = add_term(b, TERM_ROW, row->result == TN__TO_BOOL ? TN_BOOL : d, shape);
    if (!t) return false;
    t->row = r;
    t->exact = exact;
    for (int k = 0; k < row->arity; k++) t->operand[k] = operand[k];
    fill_row(t, x, d);
    if (t->exact && has_subnormals(t)) return undo(b);
    b->used->rows[r]++;
    return true;
}

static bool add_cast(builder *b)
{
    const int from = any_term(b);
    const term *x = &b->p->terms[from];
    const tn_dtype to = any_dtype(b);
    if (x->weak || (!x->exact && !tn_dtype_is_float(to))) return false;
    term *t = add_term(b, TERM_CAST, to, x->shape);
    if (!t) return false;
    t->operand[0] = from;
    t->exact = x->exact;
    for (int64_t i = 0; i < t->count; i++) {
        t->value[i] = reference_cast(x->value[i], to);
        if (!x->exact) settle(t, i, x->value[i], x->error[i]);
    }
    if (t->exact && has_subnormals(t)) return undo(b);
    b->used->dtypes[to]++;
    return true;
}

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
        if (isfinite((double)size)) error += factor * (double)size;
        else if (!isfinite(error)) error = INFINITY;
        else error = 0; /* infinities and NaN decide */
        if (t->kind == TERM_MEAN) {
            sum /= (long double)each;
            error /= (double)each;
            if (each == 0) sum = NAN, error = 0;
            if (isfinite((double)sum)) error += 3 * test_step(compute_dtype(t->dtype), sum);
            if (isfinite((double)size) && (double)size >= test_largest(compute_dtype(t->dtype)) / 2) error = INFINITY; /* the sum may overflow */
        }
        settle(t, o, (reference_number){.dtype = t->dtype, .f = sum}, error);
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

static bool add_reduction(builder *b)
{
    static const term_kind kinds[] = {TERM_SUM, TERM_MEAN, TERM_MAX, TERM_ARGMAX};
    const term_kind kind = kinds[below(b, 4)];
    const int from = any_term(b);
    const term *x = &b->p->terms[from];
    if (x->weak || (kind == TERM_MEAN && !is_float(x)) || (kind == TERM_ARGMAX && !x->exact)) return false;
    const int chosen = x->shape.ndim ? 1 + (int)below(b, (1 << x->shape.ndim) - 1) : 0;
    const unsigned mask = (unsigned)chosen;
    term v = {.kind = kind, .operand = {from}, .keepdim = below(b, 2)};
    int64_t each = 1;
    for (int a = 0; a < x->shape.ndim; a++) {
        if (mask >> a & 1) {
            v.axes.axis[v.axes.count++] = below(b, 2) ? a : a - x->shape.ndim;
            each *= x->shape.dim[a];
            if (v.keepdim) v.shape.dim[v.shape.ndim++] = 1;
        } else
            v.shape.dim[v.shape.ndim++] = x->shape.dim[a];
    }
    if (each == 0 && (kind == TERM_MAX || kind == TERM_ARGMAX)) return false;
    v.dtype = kind == TERM_ARGMAX ? TN_I64 : kind != TERM_SUM || is_float(x) ? x->dtype : x->dtype == TN_BOOL || tn_dtype_is_signed(x->dtype) ? TN_I64 : TN_U64;
    term *t = add_term(b, kind, v.dtype, v.shape);
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
        settle(t, i, want, far);
    }
}

static bool add_softmax(builder *b)
{
    const int from = any_term(b);
    const term *x = &b->p->terms[from];
    if (x->weak || x->shape.ndim == 0) return false;
    term *t = add_term(b, below(b, 2) ? TERM_SOFTMAX : TERM_LOG_SOFTMAX, is_float(x) ? x->dtype : TN_F32, x->shape);
    if (!t) return false;
    t->operand[0] = from;
    t->axis = (int)below(b, x->shape.ndim);
    t->exact = false;
    int64_t stride = 1;
    for (int a = t->axis + 1; a < x->shape.ndim; a++) stride *= x->shape.dim[a];
    const int64_t n = x->shape.dim[t->axis];
    for (int64_t i = 0; i < t->count; i++)
        if (i / stride % n == 0) fill_softmax(t, x, i, n, stride);
    return true;
}

/* ---- matmul of the last term and a fresh one ---- */

static bool add_matmul(builder *b)
{
    const int left = any_term(b);
    const term *x = &b->p->terms[left];
    const int n = x->shape.ndim;
    if (x->weak || n < 2 || x->dtype == TN_BOOL || x->count == 0) return false;
    const int64_t m = x->shape.dim[n - 2], k = x->shape.dim[n - 1], columns = 1 + below(b, 20);
    const int right = laid_out_leaf(b, x->dtype, TN_SHAPE(k, columns));
    if (right < 0) return false;
    x = &b->p->terms[left];
    tn_shape shape = x->shape;
    shape.dim[n - 1] = columns;
    term *t = add_term(b, TERM_MATMUL, x->dtype, shape);
    if (!t) return false;
    const term *y = &b->p->terms[right];
    const double eps = t->dtype == TN_F64 ? 0x1p-53 : 0x1p-24;
    t->operand[0] = left, t->operand[1] = right;
    t->exact = x->exact && !is_float(x);
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
            if (!is_float(x)) wrapped.i = reference_cast((reference_number){.dtype = t->dtype, .i = wrapped.i + p.i * q.i}, t->dtype).i;
        }
        if (!is_float(x)) {
            t->value[i] = wrapped;
            continue;
        }
        if (isnan(error)) error = INFINITY;
        if (isfinite((double)size)) error += (double)k * eps * (double)size + test_step(compute_dtype(t->dtype), sum);
        else if (error > 0) error = INFINITY;
        settle(t, i, (reference_number){.dtype = t->dtype, .f = sum}, error);
    }
    (void)m;
    return true;
}

/* ---- programs ---- */

static tn_shape random_shape(builder *b)
{
    static const int64_t extents[] = {1, 1, 2, 3, 4, 5, 7, 8, 16, 17, 33};
    tn_shape s = {.ndim = (int)below(b, 6)};
    for (;;) {
        for (int a = 0; a < s.ndim; a++) s.dim[a] = below(b, 40) == 0 ? 0 : extents[below(b, 11)];
        if (elements_of(&s) <= 1500) return s;
    }
}

static bool add_operation(builder *b)
{
    const int choice = (int)below(b, 20);
    if (choice < 12) return add_row(b);
    if (choice < 14) return add_cast(b);
    if (choice < 16) return add_view(b, any_term(b), views[below(b, 8)]);
    if (choice < 18) return add_reduction(b);
    if (choice < 19) return add_softmax(b);
    return add_matmul(b);
}

void program_make(program *p, uint64_t seed, usage *used)
{
    builder b = {.p = p, .used = used, .r = {.state = seed}};
    *p = (program){.seed = seed};
    const int goal = 1 + (int)below(&b, 12);
    while (laid_out_leaf(&b, any_dtype(&b), random_shape(&b)) < 0) continue;
    for (int tries = 0; p->operations < goal && tries < 200; tries++) {
        if (!add_operation(&b)) continue;
        p->operations++;
        const term_kind kind = p->terms[p->count - 1].kind;
        used->kinds[kind]++;
    }
    p->outputs[p->outputs_count++] = p->count - 1;
    while (p->outputs_count < OUTPUTS && below(&b, 2)) {
        const int i = (int)below(&b, p->count);
        if (!p->terms[i].weak) p->outputs[p->outputs_count++] = i;
    }
}

void program_free(program *p)
{
    for (int i = 0; i < p->count; i++) free(p->terms[i].value), free(p->terms[i].error);
    p->count = 0;
}

/* ---- recording ---- */

static tn_tensor *record_leaf(const term *t, const char *device)
{
    char *bytes = malloc((size_t)t->count * 8 + 8);
    for (int64_t i = 0; i < t->count; i++) reference_store(bytes + (size_t)i * tn_dtype_size(t->dtype), t->value[i]);
    tn_tensor *x = tn_from(t->dtype, t->shape, bytes, device);
    free(bytes);
    return x;
}

static tn_tensor *record_term(const term *t, const char *device, tn_tensor *const *x)
{
    tn_tensor *a = x[t->operand[0]], *b = x[t->operand[1]], *c = x[t->operand[2]];
    switch (t->kind) {
    case TERM_LEAF: return record_leaf(t, device);
    case TERM_SCALAR: return t->dtype == TN_BOOL ? tn_bool(t->scalar != 0) : t->dtype == TN_I64 ? tn_int((int64_t)t->scalar) : tn_float(t->scalar);
    case TERM_ROW: return row_call(t->row, (tn_tensor *const[]){a, b, c});
    case TERM_CAST: return tn_cast(a, t->dtype);
    case TERM_TRANSPOSE: return tn_transpose(a, t->axis, t->other);
    case TERM_PERMUTE: return tn_permute(a, t->axes);
    case TERM_SLICE: return tn_slice(a, t->axis, t->start, t->stop < 0 ? TN_END : t->stop, t->step);
    case TERM_SELECT: return tn_select(a, t->axis, t->start);
    case TERM_FLIP: return tn_flip(a, t->axes);
    case TERM_EXPAND: return tn_expand(a, t->shape);
    case TERM_RESHAPE: return tn_reshape(a, t->shape);
    case TERM_UNSQUEEZE: return tn_unsqueeze(a, t->axis);
    case TERM_SUM: return tn_sum(a, t->axes, t->keepdim);
    case TERM_MEAN: return tn_mean(a, t->axes, t->keepdim);
    case TERM_MAX: return tn_max(a, t->axes, t->keepdim);
    case TERM_ARGMAX: return tn_argmax(a, t->axes, t->keepdim);
    case TERM_SOFTMAX: return tn_softmax(a, t->axis);
    case TERM_LOG_SOFTMAX: return tn_log_softmax(a, t->axis);
    case TERM_MATMUL: return tn_matmul(a, b);
    default: return NULL;
    }
}

bool program_record(const program *p, const char *device, tn_tensor **tensors)
{
    for (int i = 0; i < p->count; i++) {
        tensors[i] = record_term(&p->terms[i], device, tensors);
        if (!tensors[i]) return printf("  term t%d: %s\n", i, tn_last_error()), false;
    }
    return true;
}

/* ---- checking ---- */

int program_check(const program *p, int i, const char *bytes, int64_t *first, int64_t *checked)
{
    const term *t = &p->terms[i];
    const size_t size = tn_dtype_size(t->dtype);
    int wrong = 0;
    for (int64_t e = 0; e < t->count; e++) {
        char exact[8];
        const char *got = bytes + (size_t)e * size;
        const double g = test_number(t->dtype, got), w = (double)t->value[e].f;
        bool good;
        if (t->error[e] == 0) {
            reference_store(exact, t->value[e]);
            good = test_bits_equal(t->dtype, exact, got) || (is_float(t) && g == 0 && w == 0);
        } else if (!isfinite(t->error[e]))
            continue;
        else
            good = (isnan(g) && isnan(w)) || g == w || fabs(g - w) <= t->error[e];
        ++*checked;
        if (!good && wrong++ == 0) *first = e;
    }
    return wrong;
}

static void print_shape(const tn_shape *s)
{
    printf("[");
    for (int a = 0; a < s->ndim; a++) printf("%s%lld", a ? "," : "", (long long)s->dim[a]);
    printf("]");
}

void program_print(const program *p)
{
    printf("  program of seed %llu:\n", (unsigned long long)p->seed);
    for (int i = 0; i < p->count; i++) {
        const term *t = &p->terms[i];
        printf("    t%d %s", i, tn_dtype_name(t->dtype));
        print_shape(&t->shape);
        printf(" = %s", t->kind == TERM_ROW ? tn__rows[t->row].name : kind_names[t->kind]);
        const int arity = t->kind == TERM_ROW ? tn__rows[t->row].arity : t->kind == TERM_MATMUL ? 2 : t->kind <= TERM_SCALAR ? 0 : 1;
        for (int k = 0; k < arity; k++) printf(" t%d", t->operand[k]);
        if (t->kind == TERM_SCALAR) printf(" %g", t->scalar);
        if (t->kind == TERM_TRANSPOSE) printf(" %d,%d", t->axis, t->other);
        if (t->kind == TERM_SLICE) printf(" axis %d %lld:%lld:%lld", t->axis, (long long)t->start, (long long)t->stop, (long long)t->step);
        if (t->kind == TERM_SELECT) printf(" axis %d at %lld", t->axis, (long long)t->start);
        if (t->kind == TERM_UNSQUEEZE || t->kind == TERM_SOFTMAX || t->kind == TERM_LOG_SOFTMAX) printf(" axis %d", t->axis);
        if (t->axes.count) {
            printf(" axes");
            for (int k = 0; k < t->axes.count; k++) printf(" %d", t->axes.axis[k]);
        }
        if (t->keepdim) printf(" keepdim");
        printf("%s\n", t->exact ? "" : "  (inexact)");
    }
    printf("    outputs");
    for (int k = 0; k < p->outputs_count; k++) printf(" t%d", p->outputs[k]);
    printf("\n");
}
