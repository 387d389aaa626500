/* Reductions beyond sum, max, argmax and mean, and statistics composed of them. What is wanted comes from the plain loops below, in
 * double over the elements as they are stored. */
#include <float.h>
#include <math.h>

#include "bones.h"
#include "layouts.h"

/* ---- the reference: n numbers to one ---- */

typedef double number_of(const double *x, int64_t n);

static double the_product(const double *x, int64_t n)
{
    double p = 1;
    for (int64_t i = 0; i < n; i++) p *= x[i];
    return p;
}

static int64_t extreme(const double *x, int64_t n, double sign)
{
    int64_t at = 0;
    for (int64_t i = 1; i < n; i++)
        if (!isnan(x[at]) && (isnan(x[i]) || x[i] * sign > x[at] * sign)) at = i;
    return at;
}

static double the_least(const double *x, int64_t n)
{
    return x[extreme(x, n, -1)];
}

static double place_of_least(const double *x, int64_t n)
{
    return (double)extreme(x, n, -1);
}

static double number_most(const double *x, int64_t n)
{
    double most = NAN;
    for (int64_t i = 0; i < n; i++) most = fmax(most, x[i]);
    return most;
}

static double number_least(const double *x, int64_t n)
{
    double least = NAN;
    for (int64_t i = 0; i < n; i++) least = fmin(least, x[i]);
    return least;
}

static double is_any(const double *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (x[i] != 0) return 1;
    return 0;
}

static double are_all(const double *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (x[i] == 0) return 0;
    return 1;
}

typedef enum result { SUM, SAME, INDEX, TRUTH } result;
typedef tn_tensor *call(tn_tensor *x, tn_axes axes, bool keepdim);

typedef struct operation {
    const char *name;
    call *call;
    number_of *want;
    result result;
} operation;

static const operation rows[] = {
    {"prod", tn_prod, the_product, SUM},      {"min", tn_min, the_least, SAME},         {"argmin", tn_argmin, place_of_least, INDEX},
    {"any", tn_any, is_any, TRUTH},           {"all", tn_all, are_all, TRUTH},          {"nanmax", tn_nanmax, number_most, SAME},
    {"nanmin", tn_nanmin, number_least, SAME},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

static tn_dtype result_dtype(result r, tn_dtype from)
{
    if (r == TRUTH) return TN_BOOL;
    if (r == INDEX) return TN_I64;
    if (r == SAME || tn_dtype_is_float(from)) return from;
    return from == TN_BOOL || tn_dtype_is_signed(from) ? TN_I64 : TN_U64;
}

static double *numbers_of(tn_tensor *x)
{
    const tn_dtype dtype = tn_dtype_of(x);
    const size_t n = (size_t)tn_numel(x), size = tn_dtype_size(dtype);
    char *bytes = malloc(n * size + 1);
    double *list = malloc((n + 1) * sizeof *list);
    ck_ok(tn_read(x, bytes, n * size));
    for (size_t i = 0; i < n; i++) list[i] = test_number(dtype, bytes + i * size);
    free(bytes);
    return list;
}

/* y is what `want` makes of x along the axis, within so many ulps. */
static void check_along(const char *name, number_of *want, tn_tensor *x, int axis, tn_dtype to, tn_tensor *y, double ulps)
{
    const tn_shape s = tn_shape_of(x);
    int64_t inner = 1, outer = 1;
    for (int a = 0; a < s.ndim; a++)
        if (a < axis) outer *= s.dim[a];
        else if (a > axis) inner *= s.dim[a];
    const int64_t n = s.dim[axis];
    ck_assert_int_eq((int)tn_dtype_of(ck_made(y)), (int)to);
    ck_assert_int_eq(tn_numel(y), outer * inner);
    double *in = numbers_of(x), *got = numbers_of(y), *line = malloc((size_t)(n + 1) * sizeof *line);
    for (int64_t i = 0; i < outer * inner; i++) {
        for (int64_t k = 0; k < n; k++) line[k] = in[(i / inner * n + k) * inner + i % inner];
        const double wanted = want(line, n);
        const double far = tn_dtype_is_float(to) ? test_ulps(to, got[i], (long double)wanted) : got[i] == wanted ? 0 : INFINITY;
        ck_assert_msg(far <= ulps, "%s of %s over %d, output %d: got %.9g, not %.9g", name, tn_dtype_name(tn_dtype_of(x)), (int)n,
                      (int)i, got[i], wanted);
    }
    free(in);
    free(got);
    free(line);
}

static void check_row(const operation *o, tn_tensor *x, int axis)
{
    check_along(o->name, o->want, x, axis, result_dtype(o->result, tn_dtype_of(x)), o->call(x, TN_AXES(axis), false), 0);
}

/* ---- operands ---- */

static double small(int64_t i)
{
    const uint64_t h = (uint64_t)i * 0x9e3779b97f4a7c15ull >> 40;
    return h % 7 == 0 ? 2 : h % 41 == 0 ? 3 : h % 2 ? 1 : -1; /* products stay exact */
}

static double spread(int64_t i)
{
    return (double)((uint64_t)i * 0x9e3779b97f4a7c15ull >> 40 & 127) / 8 - 5;
}

static tn_tensor *filled(double (*f)(int64_t), tn_dtype dtype, tn_shape s)
{
    int64_t n = 1;
    for (int a = 0; a < s.ndim; a++) n *= s.dim[a];
    const bool negative = tn_dtype_is_float(dtype) || tn_dtype_is_signed(dtype);
    const size_t size = tn_dtype_size(dtype);
    char *values = malloc((size_t)n * size + 1);
    for (int64_t i = 0; i < n; i++) test_store(dtype, values + (size_t)i * size, negative ? f(i) : fabs(f(i)));
    tn_tensor *x = ck_made(tn_from(dtype, s, values, test_device()));
    free(values);
    return x;
}

/* ---- the rows ---- */

START_TEST(rows_of_a_small_matrix)
{
    tn_tensor *x = test_f32(TN_SHAPE(2, 3), {1, 5, 3, 4, -2, 0});
    ck_tensor_f32(tn_prod(x, TN_AXES(1), false), {15, 0});
    ck_tensor_f32(tn_min(x, TN_AXES(0), false), {1, -2, 0});
    ck_tensor_i64(tn_argmin(x, TN_AXES(1), false), {0, 1});
    ck_tensor_i64(tn_argmin(x, TN_ALL_AXES, false), {4});
    ck_tensor_bool(tn_any(x, TN_AXES(1), false), {1, 1});
    ck_tensor_bool(tn_all(x, TN_AXES(1), false), {1, 0});
    ck_shape(tn_all(x, TN_AXES(1), true), TN_SHAPE(2, 1));
    ck_tensor_i64(tn_prod(test_i32(TN_SHAPE(3), {100000, 100000, -3}), TN_ALL_AXES, false), {-30000000000});
    ck_tensor_u64(tn_prod(test_u8(TN_SHAPE(2), {200, 200}), TN_ALL_AXES, false), {40000});
    ck_tensor_i64(tn_prod(test_i64(TN_SHAPE(2), {INT64_MAX, 2}), TN_ALL_AXES, false), {-2});
    ck_tensor_i64(tn_min(test_i64(TN_SHAPE(2), {INT64_MAX, INT64_MAX}), TN_ALL_AXES, false), {INT64_MAX});
    ck_tensor_bool(tn_min(test_bool(TN_SHAPE(2, 2), {0, 1, 1, 1}), TN_AXES(1), false), {0, 1});
}
END_TEST

START_TEST(rows_meet_nan_and_infinities)
{
    tn_tensor *x = test_f32(TN_SHAPE(4, 3), {1, NAN, NAN, INFINITY, INFINITY, INFINITY, NAN, NAN, NAN, -INFINITY, 2, NAN});
    ck_tensor_f32(tn_min(x, TN_AXES(1), false), {NAN, INFINITY, NAN, NAN});
    ck_tensor_i64(tn_argmin(x, TN_AXES(1), false), {1, 0, 0, 2});
    ck_tensor_f32(tn_nanmax(x, TN_AXES(1), false), {1, INFINITY, NAN, 2});
    ck_tensor_f32(tn_nanmin(x, TN_AXES(1), false), {1, INFINITY, NAN, -INFINITY});
    ck_tensor_bool(tn_any(test_f32(TN_SHAPE(3, 2), {0, NAN, -0.0f, 0, 1e-30f, 0}), TN_AXES(1), false), {1, 0, 1});
    ck_tensor_bool(tn_all(test_f32(TN_SHAPE(3, 2), {1, NAN, -0.0f, 1, INFINITY, -1}), TN_AXES(1), false), {1, 0, 1});
    ck_tensor_bool(tn_any(test_values(TN_F16, TN_SHAPE(2), {0, 0.5}), TN_ALL_AXES, false), {1});
    ck_tensor_f32(tn_prod(test_f32(TN_SHAPE(2), {INFINITY, 0}), TN_ALL_AXES, false), {NAN});
}
END_TEST

START_TEST(rows_along_every_axis_and_through_views)
{
    const int lengths[] = {1, 33, 300};
    for (int i = 0; i < 3; i++) {
        tn_tensor *x = filled(small, TN_F32, TN_SHAPE(3, lengths[i], 18)), *turned = tn_permute(tn_flip(x, TN_AXES(1)), TN_AXES(0, 2, 1));
        for (int r = 0; r < ROWS; r++) {
            check_row(&rows[r], x, 1);
            check_row(&rows[r], turned, 2);
        }
    }
    check_row(&rows[2], filled(spread, TN_F32, TN_SHAPE(70000)), 0);
    check_row(&rows[1], filled(spread, TN_F32, TN_SHAPE(70000, 2)), 0);
}
END_TEST

START_TEST(rows_take_every_dtype)
{
    for (int d = 0; d < TN_DTYPE_COUNT; d++) {
        if (d == TN_F64 && !test_has_f64()) continue;
        tn_tensor *x = filled(spread, (tn_dtype)d, TN_SHAPE(3, 70)), *y = filled(small, (tn_dtype)d, TN_SHAPE(3, 12));
        for (int r = 0; r < ROWS; r++)
            if (test_is("host") || r == 1 || r == d % ROWS) check_row(&rows[r], r == 0 ? y : x, 1); /* a kernel costs 0.3 s and more */
    }
}
END_TEST

START_TEST(rows_over_nothing)
{
    tn_tensor *x = tn_zeros(TN_F32, TN_SHAPE(0, 3), test_device()), *y = tn_zeros(TN_U8, TN_SHAPE(2, 0), test_device());
    ck_tensor_f32(tn_prod(x, TN_AXES(0), false), {1, 1, 1});
    ck_tensor_u64(tn_prod(y, TN_AXES(1), false), {1, 1});
    ck_tensor_bool(tn_any(x, TN_AXES(0), false), {0, 0, 0});
    ck_tensor_bool(tn_all(y, TN_ALL_AXES, false), {1});
    ck_shape(tn_all(x, TN_AXES(1), true), TN_SHAPE(0, 1));
    ck_shape(tn_min(x, TN_AXES(1), false), TN_SHAPE(0));
    ck_fails(tn_min(x, TN_AXES(0), false), TN_SHAPE, "min", "[0,3]", "no elements");
    ck_fails(tn_argmin(y, TN_ALL_AXES, false), TN_SHAPE, "argmin", "[2,0]");
    ck_fails(tn_nanmax(y, TN_AXES(1), false), TN_SHAPE, "nanmax");
}
END_TEST

START_TEST(rows_without_axes_and_with_wrong_ones)
{
    tn_tensor *x = test_f32(TN_SHAPE(), {-7}), *y = test_f32(TN_SHAPE(2, 2), {1, 2, 3, 4});
    ck_tensor_f32(tn_prod(x, TN_ALL_AXES, false), {-7});
    ck_tensor_f32(tn_min(x, TN_AXES(-1), true), {-7});
    ck_tensor_bool(tn_all(x, TN_AXES(0), false), {1});
    ck_fails(tn_prod(y, TN_AXES(2), false), TN_AXIS, "prod", "axis 2");
    ck_fails(tn_any(y, TN_AXES(0, -2), false), TN_AXIS, "any", "twice");
    ck_fails(tn_argmin(TN_NONE, TN_ALL_AXES, false), TN_ARGUMENT, "argmin");
}
END_TEST

/* rows end */

BONES_MAIN("statistics", rows_of_a_small_matrix, rows_meet_nan_and_infinities, rows_along_every_axis_and_through_views,
          rows_take_every_dtype, rows_over_nothing, rows_without_axes_and_with_wrong_ones)
