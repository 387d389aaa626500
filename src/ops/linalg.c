/* Products over tn_matmul. */
#include "core/view.h"
#include "ops/compose.h"
#include "ops/contract.h"
#include <math.h>
#include <tenon/ops.h>

static tn_status check(const char *function, tn_tensor *a, tn_tensor *b)
{
    TN__TRY(tn__tensor_check(a, function, "a"));
    return tn__tensor_check(b, function, "b");
}

/* Both of these numbers of axes. */
static tn_status check_axes(const char *function, tn_tensor *a, int axes_a, tn_tensor *b, int axes_b)
{
    TN__TRY(check(function, a, b));
    if (a->ndim == axes_a && b->ndim == axes_b) return TN_OK;
    return tn__fail(TN_SHAPE, "%s: a %s and b %s; a of %d axes and b of %d are needed", function, tn__shape_text(a->ndim, a->dim),
                    tn__shape_text(b->ndim, b->dim), axes_a, axes_b);
}

static tn_status check_extents(const char *function, const tn_tensor *a, int i, const tn_tensor *b, int j)
{
    if (a->dim[i] == b->dim[j]) return TN_OK;
    return tn__fail(TN_SHAPE, "%s: a %s and b %s: axes %d and %d differ, %lld and %lld", function, tn__shape_text(a->ndim, a->dim),
                    tn__shape_text(b->ndim, b->dim), i, j, (long long)a->dim[i], (long long)b->dim[j]);
}

/* ---- vectors and matrices ---- */

tn_tensor *tn_dot(tn_tensor *a, tn_tensor *b)
{
    if (check_axes("dot", a, 1, b, 1) != TN_OK || check_extents("dot", a, 0, b, 0) != TN_OK) return NULL;
    return tn_matmul(a, b);
}

tn_tensor *tn_outer(tn_tensor *a, tn_tensor *b)
{
    if (check_axes("outer", a, 1, b, 1) != TN_OK) return NULL;
    const tn_scope scope = tn_scope_push();
    return tn__leave(scope, tn_mul(tn_unsqueeze(a, 1), b));
}

tn_tensor *tn_mv(tn_tensor *a, tn_tensor *b)
{
    if (check_axes("mv", a, 2, b, 1) != TN_OK || check_extents("mv", a, 1, b, 0) != TN_OK) return NULL;
    return tn_matmul(a, b);
}

tn_tensor *tn_mm(tn_tensor *a, tn_tensor *b)
{
    if (check_axes("mm", a, 2, b, 2) != TN_OK || check_extents("mm", a, 1, b, 0) != TN_OK) return NULL;
    return tn_matmul(a, b);
}

tn_tensor *tn_matmul_as(tn_tensor *a, tn_tensor *b, tn_dtype dtype)
{
    if (check("matmul_as", a, b) != TN_OK) return NULL;
    const tn_dtype own = tn_promote(a->dtype, b->dtype);
    if (!tn__dtype_valid(dtype) || own == TN_DTYPE_COUNT || tn_promote(own, dtype) != dtype)
        return TN__NULL(TN_DTYPE, "matmul_as: %s and %s do not fit into %s", tn_dtype_name(a->dtype), tn_dtype_name(b->dtype),
                        tn_dtype_name(dtype));
    const tn_scope scope = tn_scope_push();
    return tn__leave(scope, tn_matmul(tn_cast(a, dtype), tn_cast(b, dtype)));
}

static tn_status check_batches(const char *function, tn_tensor *a, tn_tensor *b)
{
    TN__TRY(check_axes(function, a, 3, b, 3));
    TN__TRY(check_extents(function, a, 0, b, 0));
    return check_extents(function, a, 2, b, 1);
}

tn_tensor *tn_bmm(tn_tensor *a, tn_tensor *b)
{
    return check_batches("bmm", a, b) == TN_OK ? tn_matmul(a, b) : NULL;
}

/* beta·c + alpha·product; the numbers 1 and 0 cost nothing. */
static tn_tensor *add_product(const char *function, tn_tensor *c, tn_tensor *a, tn_tensor *b, double beta, double alpha)
{
    if (tn__tensor_check(c, function, "c") != TN_OK) return NULL;
    tn_shape shape = {.ndim = a->ndim}, own = tn__tensor_shape(c), joined;
    for (int i = 0; i < a->ndim; i++) shape.dim[i] = i + 1 < a->ndim ? a->dim[i] : b->dim[i];
    if (!tn__shape_broadcast(&own, &shape, &joined) || !tn__shape_equal(&joined, &shape))
        return TN__NULL(TN_SHAPE, "%s: c %s does not broadcast to %s", function, tn__shape_text(c->ndim, c->dim),
                        tn__shape_text(shape.ndim, shape.dim));
    const tn_scope scope = tn_scope_push();
    tn_tensor *y = tn_matmul(a, b);
    if (alpha != 1) y = tn_mul(y, tn__factor(function, y, alpha));
    if (beta != 0) y = tn_add(beta == 1 ? c : tn_mul(c, tn__factor(function, c, beta)), y);
    return tn__leave(scope, y);
}

tn_tensor *tn_addmm(tn_tensor *c, tn_tensor *a, tn_tensor *b, double beta, double alpha)
{
    if (check_axes("addmm", a, 2, b, 2) != TN_OK || check_extents("addmm", a, 1, b, 0) != TN_OK) return NULL;
    return add_product("addmm", c, a, b, beta, alpha);
}

tn_tensor *tn_baddbmm(tn_tensor *c, tn_tensor *a, tn_tensor *b, double beta, double alpha)
{
    return check_batches("baddbmm", a, b) == TN_OK ? add_product("baddbmm", c, a, b, beta, alpha) : NULL;
}

tn_tensor *tn_matrix_power(tn_tensor *x, int n)
{
    if (tn__tensor_check(x, "matrix_power", "x") != TN_OK) return NULL;
    if (x->ndim < 2 || x->dim[x->ndim - 1] != x->dim[x->ndim - 2])
        return TN__NULL(TN_SHAPE, "matrix_power: x %s is no square matrix", tn__shape_text(x->ndim, x->dim));
    if (n < 0 && x->dtype != TN_F32 && x->dtype != TN_F64)
        return TN__NULL(TN_DTYPE, "matrix_power: n is %d; not for %s below 0; allowed are f32, f64", n, tn_dtype_name(x->dtype));
    if (x->dtype == TN_BOOL) return TN__NULL(TN_DTYPE, "matrix_power: not for bool; allowed are floats, integers");
    const tn_scope scope = tn_scope_push();
    const int64_t m = x->dim[x->ndim - 1];
    tn_tensor *y = NULL, *square = n < 0 ? tn_inv(x) : x;
    if (n == 0) y = tn_clone(tn_expand(tn_eye(x->dtype, m, m, 0, tn_device_of(x)), tn_shape_of(x)));
    for (unsigned left = n < 0 ? 0u - (unsigned)n : (unsigned)n; left > 0 && square; left >>= 1) {
        if (left & 1) y = y ? tn_matmul(y, square) : square;
        if (left > 1) square = tn_matmul(square, square);
    }
    return tn__leave(scope, y == x ? tn_cast(x, x->dtype) : y);
}

/* ---- over chosen axes ---- */

/* Labels of b from 16 on; those of paired axes are a's. */
static tn_status pair_axes(const char *function, const tn_axes *axes_a, const tn_axes *axes_b, tn__labelled *a, tn__labelled *b)
{
    uint32_t mask;
    if (axes_a->count != axes_b->count || axes_a->count < 0)
        return tn__fail(TN_SHAPE, "%s: %d axes of a and %d of b", function, axes_a->count, axes_b->count);
    TN__TRY(tn__axes_mask(axes_a, a->x->ndim, function, &mask));
    TN__TRY(tn__axes_mask(axes_b, b->x->ndim, function, &mask));
    for (int i = 0; i < TN_MAX_AXES; i++) a->label[i] = i, b->label[i] = TN_MAX_AXES + i;
    for (int i = 0; i < axes_a->count; i++) {
        const int j = tn__axis(axes_a->axis[i], a->x->ndim, function), k = tn__axis(axes_b->axis[i], b->x->ndim, function);
        TN__TRY(check_extents(function, a->x, j, b->x, k));
        b->label[k] = j;
    }
    return TN_OK;
}

static tn_tensor *over_axes(const char *function, tn_tensor *a, tn_tensor *b, const tn_axes *axes_a, const tn_axes *axes_b)
{
    tn__labelled x = {.x = a}, y = {.x = b};
    int order[2 * TN_MAX_AXES], count = 0;
    uint64_t keep = 0;
    if (pair_axes(function, axes_a, axes_b, &x, &y) != TN_OK) return NULL;
    const uint64_t shared = tn__labels_of(&x) & tn__labels_of(&y);
    for (int i = 0; i < a->ndim; i++)
        if (!(shared >> x.label[i] & 1)) order[count++] = x.label[i];
    for (int i = 0; i < b->ndim; i++)
        if (!(shared >> y.label[i] & 1)) order[count++] = y.label[i];
    for (int i = 0; i < count; i++) keep |= UINT64_C(1) << order[i];
    const tn_scope scope = tn_scope_push();
    const tn__labelled z = tn__contract(x, y, keep);
    return tn__leave(scope, z.x ? tn__in_order(z, order, count) : NULL);
}

tn_tensor *tn_tensordot(tn_tensor *a, tn_tensor *b, tn_axes axes_a, tn_axes axes_b)
{
    return check("tensordot", a, b) == TN_OK ? over_axes("tensordot", a, b, &axes_a, &axes_b) : NULL;
}

tn_tensor *tn_inner(tn_tensor *a, tn_tensor *b)
{
    if (check("inner", a, b) != TN_OK) return NULL;
    if (a->ndim == 0 || b->ndim == 0) return tn_mul(a, b);
    const tn_axes last = TN_AXES(-1);
    return over_axes("inner", a, b, &last, &last);
}

tn_tensor *tn_kron(tn_tensor *a, tn_tensor *b)
{
    if (check("kron", a, b) != TN_OK) return NULL;
    const int n = a->ndim > b->ndim ? a->ndim : b->ndim;
    if (2 * n > TN_MAX_AXES) return TN__NULL(TN_SHAPE, "kron: %d axes; %d are the most", n, TN_MAX_AXES / 2);
    tn_shape x = {.ndim = 2 * n}, y = {.ndim = 2 * n}, z = {.ndim = n};
    for (int i = 0; i < n; i++) {
        const int i_a = i - (n - a->ndim), i_b = i - (n - b->ndim);
        const int64_t of_a = i_a < 0 ? 1 : a->dim[i_a], of_b = i_b < 0 ? 1 : b->dim[i_b];
        x.dim[2 * i] = of_a, x.dim[2 * i + 1] = 1;
        y.dim[2 * i] = 1, y.dim[2 * i + 1] = of_b;
        if (of_b && of_a > INT64_MAX / of_b)
            return TN__NULL(TN_OVERFLOW, "kron: extents %lld and %lld", (long long)of_a, (long long)of_b);
        z.dim[i] = of_a * of_b;
    }
    const tn_scope scope = tn_scope_push();
    return tn__leave(scope, tn_reshape(tn_mul(tn_reshape(a, x), tn_reshape(b, y)), z));
}

tn_tensor *tn_trace(tn_tensor *x)
{
    if (tn__tensor_check(x, "trace", "x") != TN_OK) return NULL;
    if (x->ndim != 2) return TN__NULL(TN_SHAPE, "trace: x %s is no matrix", tn__shape_text(x->ndim, x->dim));
    const tn_scope scope = tn_scope_push();
    return tn__leave(scope, tn_sum(tn_diagonal(x, 0, 0, 1), TN_ALL_AXES, false));
}

/* ---- geometry ---- */

tn_tensor *tn_cross(tn_tensor *a, tn_tensor *b, int axis)
{
    tn_shape x, y, joined;
    if (check("cross", a, b) != TN_OK) return NULL;
    x = tn__tensor_shape(a), y = tn__tensor_shape(b);
    if (!tn__shape_broadcast(&x, &y, &joined))
        return TN__NULL(TN_SHAPE, "cross: a %s and b %s do not broadcast", tn__shape_text(x.ndim, x.dim),
                        tn__shape_text(y.ndim, y.dim));
    const int i = tn__axis(axis, joined.ndim, "cross");
    if (i < 0) return NULL;
    if (joined.dim[i] != 3)
        return TN__NULL(TN_SHAPE, "cross: axis %d has extent %lld instead of 3", axis, (long long)joined.dim[i]);
    const tn_axes along = TN_AXES(i);
    const tn_shape one = TN_SHAPE(-1), two = TN_SHAPE(-2);
    const tn_scope scope = tn_scope_push();
    a = tn_expand(a, joined);
    b = tn_expand(b, joined);
    return tn__leave(scope, tn_sub(tn_mul(tn_roll(a, one, along), tn_roll(b, two, along)),
                                   tn_mul(tn_roll(a, two, along), tn_roll(b, one, along))));
}

tn_tensor *tn_cdist(tn_tensor *a, tn_tensor *b, double p)
{
    if (check("cdist", a, b) != TN_OK) return NULL;
    if (a->ndim < 2 || b->ndim < 2)
        return TN__NULL(TN_SHAPE, "cdist: a %s and b %s; rows [..., m, k] and [..., n, k] are needed",
                        tn__shape_text(a->ndim, a->dim), tn__shape_text(b->ndim, b->dim));
    if (check_extents("cdist", a, a->ndim - 1, b, b->ndim - 1) != TN_OK) return NULL;
    if (!(p >= 0)) return TN__NULL(TN_ARGUMENT, "cdist: p is %g", p);
    const tn_scope scope = tn_scope_push();
    return tn__leave(scope, tn_norm(tn_sub(tn_unsqueeze(a, -2), tn_unsqueeze(b, -3)), p, TN_AXES(-1), false));
}

/* x divided by its norms, of at least epsilon, along axis a: f16 and bf16 in f32. */
static tn_tensor *normalized(tn_tensor *x, double p, int a, double epsilon)
{
    x = tn__wide(x);
    return tn_div(x, tn_maximum(tn_norm(x, p, TN_AXES(a), true), tn_float(epsilon)));
}

static tn_status check_floats(const char *function, const tn_tensor *x, double epsilon)
{
    if (!tn_dtype_is_float(x->dtype))
        return tn__fail(TN_DTYPE, "%s: not for %s; cast to a float first", function, tn_dtype_name(x->dtype));
    return epsilon >= 0 ? TN_OK : tn__fail(TN_ARGUMENT, "%s: epsilon is %g", function, epsilon);
}

tn_tensor *tn_normalize(tn_tensor *x, double p, int axis, double epsilon)
{
    if (tn__tensor_check(x, "normalize", "x") != TN_OK || check_floats("normalize", x, epsilon) != TN_OK) return NULL;
    if (isnan(p)) return TN__NULL(TN_ARGUMENT, "normalize: p is NaN");
    const int a = tn__axis(axis, x->ndim, "normalize");
    if (a < 0) return NULL;
    const tn_scope scope = tn_scope_push();
    return tn__leave_as(scope, normalized(x, p, a, epsilon), x->dtype);
}

tn_tensor *tn_cosine_similarity(tn_tensor *a, tn_tensor *b, int axis, double epsilon)
{
    tn_shape x, y, joined;
    if (check("cosine_similarity", a, b) != TN_OK) return NULL;
    for (int i = 0; i < 2; i++)
        if (check_floats("cosine_similarity", i ? b : a, epsilon) != TN_OK) return NULL;
    x = tn__tensor_shape(a), y = tn__tensor_shape(b);
    if (!tn__shape_broadcast(&x, &y, &joined))
        return TN__NULL(TN_SHAPE, "cosine_similarity: a %s and b %s do not broadcast", tn__shape_text(x.ndim, x.dim),
                        tn__shape_text(y.ndim, y.dim));
    const int i = tn__axis(axis, joined.ndim, "cosine_similarity");
    if (i < 0) return NULL;
    const tn_dtype dtype = tn_promote(a->dtype, b->dtype);
    const tn_scope scope = tn_scope_push();
    a = normalized(tn_expand(a, joined), 2, i, epsilon);
    b = normalized(tn_expand(b, joined), 2, i, epsilon);
    return tn__leave_as(scope, tn_sum(tn_mul(a, b), TN_AXES(i), false), dtype);
}
