/* Elementwise rows and casts. */
#include "support/build.h"

#include "support/row_cases.h"

#include <math.h>
#include <string.h>

_Static_assert(TN__ROWS <= sizeof((usage *)0)->rows / sizeof(int), "a count for each row");

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
        if (d == TN_DTYPE_COUNT)
            d = rank[r];
        else if (higher)
            d = tn_promote(d, rank[r]);
        if (d == TN_DTYPE_COUNT) return tn_clear_error(), false;
    }
    *out = d;
    return true;
}

/* An element as the operation takes it: in its dtype; one without axes in the compute type. */
static reference_number entering(const term *x, int64_t i, tn_dtype d)
{
    const reference_number n = x->value[i];
    if (x->weak || (x->shape.ndim == 0 && x->dtype != d)) return reference_cast(n, d == TN_BOOL ? d : build_compute_dtype(d));
    return reference_cast(n, d);
}

/* An integer without axes has to fit, or host refuses what another device wraps. */
static bool fits(const term *x, tn_dtype d)
{
    if (x->shape.ndim > 0 || term_is_float(x) || tn_dtype_is_float(d) || d == TN_BOOL) return true;
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

/* Between two points it may be anything. */
static bool oscillates(const tn__row *row)
{
    static const char *const names[] = {"sin", "cos", "tan", "sinc"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(row->name, names[i]) == 0) return true;
    return false;
}

/* How far the result may move when its operands are off by their errors: each alone, twice as far, both ways, and at 0;
 * a 0 of either sign. */
static double moved_by_operands(const tn__row *row, tn_dtype d, const reference_number *n, const double *error, long double want)
{
    double sum = 0, slack;
    for (int k = 0; k < row->arity; k++) {
        if (error[k] == 0 && n[k].f != 0) continue;
        if (!isfinite(error[k]) || (error[k] > 0.01 && oscillates(row))) return INFINITY;
        double most = 0;
        for (int side = -1; side <= 1; side++) {
            reference_number moved[3] = {n[0], n[1], n[2]};
            if (side == 0 && fabsl(moved[k].f) > (long double)(2 * error[k])) continue;
            moved[k].f = side == 0 ? 0 : error[k] == 0 ? side * 0.0L : moved[k].f + (long double)(2 * side * error[k]);
            const double far = distance(reference_row((int)(row - tn__rows), d, moved, &slack).f, want);
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
        reference_number n[3] = {{0}};
        double error[3] = {0}, slack;
        for (int k = 0; k < row->arity; k++) {
            const int64_t at = element_at(x[k], &t->shape, index);
            n[k] = row->inputs == TN__CHOOSE && k == 0 ? reference_cast(x[k]->value[at], TN_BOOL) : entering(x[k], at, d);
            error[k] = x[k]->error[at];
        }
        const reference_number want = reference_row(t->row, d, n, &slack);
        double far = t->exact && !own_error ? 0 : moved_by_operands(row, d, n, error, want.f);
        if (own_error && isfinite((double)want.f)) far += (row->ulp + slack) * test_step(build_compute_dtype(d), want.f);
        term_settle(t, i, want, far);
        for (int a = t->shape.ndim - 1; a >= 0 && ++index[a] == t->shape.dim[a]; a--) index[a] = 0;
    }
    t->exact = t->exact && !own_error;
    return true;
}

/* A shape that broadcasts with this one. */
static tn_shape related_shape(builder *b, const tn_shape *s)
{
    tn_shape t = *s;
    const int drop = s->ndim && build_below(b, 3) == 0 ? (int)build_below(b, s->ndim + 1) : 0;
    t.ndim = s->ndim - drop;
    for (int a = 0; a < t.ndim; a++) t.dim[a] = build_below(b, 4) == 0 ? 1 : s->dim[a + drop];
    return t;
}

static int partner(builder *b, const tn_shape *s)
{
    for (int tries = 0; tries < 6; tries++) {
        const int i = (int)build_below(b, b->p->count);
        tn_shape both = *s;
        if (broadcast(&both, &b->p->terms[i].shape) && build_elements(&both) <= TERM_ELEMENTS) return i;
    }
    if (build_below(b, 3) == 0) return build_scalar(b) ? b->p->count - 1 : -1;
    return build_leaf(b, build_any_dtype(b), related_shape(b, s));
}

/* The result depends on the sign of a zero or a NaN that was computed, which may be either. */
static bool sign_of_zero_counts(const tn__row *row, const term *const *x)
{
    const bool second = strcmp(row->name, "copysign") == 0;
    const term *t = x[second];
    if ((!second && strcmp(row->name, "signbit") != 0) || t->kind == TERM_LEAF) return false;
    for (int64_t i = 0; i < t->count; i++)
        if (t->value[i].f == 0 || isnan(t->value[i].f)) return term_is_float(t);
    return false;
}

static bool try_row(builder *b, int r)
{
    const tn__row *row = &tn__rows[r];
    int operand[3] = {build_any_term(b), 0, 0};
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
    if (sign_of_zero_counts(row, x)) return false;
    bool all_weak = true;
    for (int k = 0; k < row->arity; k++) {
        if (!(chooser && k == 0) && !fits(x[k], d)) return false;
        all_weak = all_weak && x[k]->weak;
    }
    if (all_weak) return false;
    if (strcmp(row->name, "pow") == 0 && !tn_dtype_is_float(d) && x[1]->shape.ndim == 0)
        return false; /* where a scalar is refused */
    term *t = build_term(b, TERM_ROW, row->result == TN__TO_BOOL ? TN_BOOL : d, shape);
    if (!t) return false;
    t->row = r;
    t->exact = exact;
    for (int k = 0; k < row->arity; k++) t->operand[k] = operand[k];
    fill_row(t, x, d);
    if (t->exact && term_has_subnormals(t)) return build_undo(b);
    b->used->rows[r]++;
    return true;
}

/* Some rows take few operands: each gets several chances. */
bool build_row(builder *b)
{
    const int r = build_in_turn(b, TN__ROWS);
    for (int chance = 0; chance < 8; chance++)
        if (try_row(b, r)) return true;
    return false;
}

bool build_cast(builder *b)
{
    const int from = build_any_term(b);
    const term *x = &b->p->terms[from];
    const tn_dtype to = build_any_dtype(b);
    if (x->weak || (!x->exact && !tn_dtype_is_float(to))) return false;
    term *t = build_term(b, TERM_CAST, to, x->shape);
    if (!t) return false;
    t->operand[0] = from;
    t->exact = x->exact;
    for (int64_t i = 0; i < t->count; i++) {
        t->value[i] = reference_cast(x->value[i], to);
        if (!x->exact) term_settle(t, i, x->value[i], x->error[i]);
    }
    if (t->exact && term_has_subnormals(t)) return build_undo(b);
    b->used->dtypes[to]++;
    return true;
}
