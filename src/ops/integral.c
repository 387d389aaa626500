/* Integrals by the trapezoidal rule. f16 and bf16 are computed in f32 and rounded once. */
#include "ops/compose.h"

static tn_tensor *computed(tn_tensor *x)
{
    return tn_dtype_is_float(x->dtype) ? tn__wide(x) : tn_cast(x, TN_F32);
}

/* Distances between neighbours along axis a of y: those of x, a vector along it or of y's shape. */
static tn_tensor *distances(const tn_tensor *y, tn_tensor *x, int a)
{
    if (x->ndim == y->ndim) return tn_diff(computed(x), 1, a);
    tn_tensor *d = tn_diff(computed(x), 1, 0);
    tn_shape shape = {.ndim = y->ndim};
    for (int i = 0; i < y->ndim; i++) shape.dim[i] = i == a ? -1 : 1;
    return tn_reshape(d, shape);
}

/* Areas between neighbours along axis a: half the sum of the two values times their distance. */
static tn_tensor *areas(tn_tensor *y, tn_tensor *x, double dx, int a)
{
    tn_tensor *values = computed(y);
    tn_tensor *sum = tn_add(tn_slice(values, a, 1, TN_END, 1), tn_slice(values, a, 0, y->dim[a] - 1, 1));
    if (x == TN_NONE) return tn_mul(sum, tn_float(dx / 2));
    return tn_mul(tn_mul(sum, distances(y, x, a)), tn_float(0.5));
}

static tn_status check(const char *function, tn_tensor *y, tn_tensor *x, int axis, int *a)
{
    TN__TRY(tn__tensor_check(y, function, "y"));
    if (!x) return tn__fail_null(function, "x");
    *a = tn__axis(axis, y->ndim, function);
    if (*a < 0) return TN_AXIS;
    if (x == TN_NONE) return TN_OK;
    const tn_shape own = tn__tensor_shape(x), shape = tn__tensor_shape(y);
    if (tn__shape_equal(&own, &shape) || (x->ndim == 1 && x->dim[0] == y->dim[*a])) return TN_OK;
    return tn__fail(TN_SHAPE, "%s: x %s is neither of the shape of y %s nor a vector along its axis %d", function,
                    tn__shape_text(x->ndim, x->dim), tn__shape_text(y->ndim, y->dim), axis);
}

static tn_dtype result_dtype(const tn_tensor *y)
{
    return tn_dtype_is_float(y->dtype) ? y->dtype : TN_F32;
}

tn_tensor *tn_trapezoid(tn_tensor *y, tn_tensor *x, double dx, int axis)
{
    int a;
    if (check("trapezoid", y, x, axis, &a) != TN_OK) return NULL;
    const tn_scope scope = tn_scope_push();
    return tn__leave_as(scope, tn_sum(areas(y, x, dx, a), TN_AXES(a), false), result_dtype(y));
}

tn_tensor *tn_cumulative_trapezoid(tn_tensor *y, tn_tensor *x, double dx, int axis)
{
    int a;
    if (check("cumulative_trapezoid", y, x, axis, &a) != TN_OK) return NULL;
    const tn_scope scope = tn_scope_push();
    return tn__leave_as(scope, tn_cumsum(areas(y, x, dx, a), a), result_dtype(y));
}
