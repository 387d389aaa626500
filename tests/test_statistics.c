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
    double *in = test_numbers(x), *got = test_numbers(y), *line = malloc((size_t)(n + 1) * sizeof *line);
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
    TN_SHARED(1, 2);
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
            if (lengths[i] > 1 || test_takes(r, 6)) check_row(&rows[r], x, 1);
            if (test_takes(r + i, 6)) check_row(&rows[r], turned, 2);
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
            if (test_takes(r + d, 2 * ROWS)) check_row(&rows[r], r == 0 ? y : x, 1);
    }
}
END_TEST

START_TEST(rows_over_nothing)
{
    TN_SHARED(0, 2);
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
    TN_SHARED(0, 2);
    tn_tensor *x = test_f32(TN_SHAPE(), {-7}), *y = test_f32(TN_SHAPE(2, 2), {1, 2, 3, 4});
    ck_tensor_f32(tn_prod(x, TN_ALL_AXES, false), {-7});
    ck_tensor_f32(tn_min(x, TN_AXES(-1), true), {-7});
    ck_tensor_bool(tn_all(x, TN_AXES(0), false), {1});
    ck_fails(tn_prod(y, TN_AXES(2), false), TN_AXIS, "prod", "axis 2");
    ck_fails(tn_any(y, TN_AXES(0, -2), false), TN_AXIS, "any", "twice");
    ck_fails(tn_argmin(TN_NONE, TN_ALL_AXES, false), TN_ARGUMENT, "argmin");
}
END_TEST

/* ---- compositions ---- */

/* tn_max and its like with options of their own. */
static tn_tensor *var_1(tn_tensor *x, tn_axes axes, bool keepdim) { return tn_var(x, axes, 1, keepdim); }
static tn_tensor *std_0(tn_tensor *x, tn_axes axes, bool keepdim) { return tn_std(x, axes, 0, keepdim); }
static tn_tensor *norm_0(tn_tensor *x, tn_axes axes, bool keepdim) { return tn_norm(x, 0, axes, keepdim); }
static tn_tensor *norm_1(tn_tensor *x, tn_axes axes, bool keepdim) { return tn_norm(x, 1, axes, keepdim); }
static tn_tensor *norm_2(tn_tensor *x, tn_axes axes, bool keepdim) { return tn_norm(x, 2, axes, keepdim); }
static tn_tensor *norm_3(tn_tensor *x, tn_axes axes, bool keepdim) { return tn_norm(x, 3, axes, keepdim); }
static tn_tensor *norm_most(tn_tensor *x, tn_axes axes, bool keepdim) { return tn_norm(x, INFINITY, axes, keepdim); }
static tn_tensor *norm_least(tn_tensor *x, tn_axes axes, bool keepdim) { return tn_norm(x, -INFINITY, axes, keepdim); }

static double squares(const double *x, int64_t n)
{
    double mean = 0, sum = 0;
    for (int64_t i = 0; i < n; i++) mean += x[i] / (double)n;
    for (int64_t i = 0; i < n; i++) sum += (x[i] - mean) * (x[i] - mean);
    return sum;
}

static double the_variance(const double *x, int64_t n)
{
    return n > 1 ? squares(x, n) / (double)(n - 1) : NAN;
}

static double the_deviation(const double *x, int64_t n)
{
    return sqrt(squares(x, n) / (double)n);
}

static double how_many(const double *x, int64_t n)
{
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) count += x[i] != 0;
    return (double)count;
}

static double the_norm(const double *x, int64_t n, double p)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += pow(fabs(x[i]), p);
    return pow(sum, 1 / p);
}

static double first_norm(const double *x, int64_t n) { return the_norm(x, n, 1); }
static double second_norm(const double *x, int64_t n) { return the_norm(x, n, 2); }
static double third_norm(const double *x, int64_t n) { return the_norm(x, n, 3); }

static double largest_size(const double *x, int64_t n)
{
    double most = 0;
    for (int64_t i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
    return most;
}

static double smallest_size(const double *x, int64_t n)
{
    double least = INFINITY;
    for (int64_t i = 0; i < n; i++) least = fmin(least, fabs(x[i]));
    return least;
}

static double log_of_sum(const double *x, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += exp(x[i]);
    return log(sum);
}

static double number_sum(const double *x, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += isnan(x[i]) ? 0 : x[i];
    return sum;
}

static double number_mean(const double *x, int64_t n)
{
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) count += !isnan(x[i]);
    return number_sum(x, n) / (double)count;
}

enum { FLOATS = TRUTH + 1, COUNT, REAL }; /* and SUM: dtype of the result */
static const struct composition {
    const char *name;
    call *call;
    number_of *want;
    int result;
    double ulps; /* what the steps cost in f32 and f64; 1 and less where they are followed by a rounding to 16 bits */
} compositions[] = {
    {"var", var_1, the_variance, FLOATS, 6},          {"std", std_0, the_deviation, FLOATS, 6},
    {"norm 0", norm_0, how_many, FLOATS, 0},          {"norm 1", norm_1, first_norm, FLOATS, 0},
    {"norm 2", norm_2, second_norm, FLOATS, 10},      {"norm 3", norm_3, third_norm, FLOATS, 24},
    {"norm inf", norm_most, largest_size, FLOATS, 0}, {"norm -inf", norm_least, smallest_size, FLOATS, 0},
    {"logsumexp", tn_logsumexp, log_of_sum, REAL, 8}, {"count_nonzero", tn_count_nonzero, how_many, COUNT, 0},
    {"nansum", tn_nansum, number_sum, SUM, 0},        {"nanmean", tn_nanmean, number_mean, FLOATS, 3},
};
enum { COMPOSITIONS = sizeof compositions / sizeof compositions[0] };

static void check_composition(const struct composition *c, tn_tensor *x, int axis)
{
    const tn_dtype dtype = tn_dtype_of(x);
    if (c->result == FLOATS && !tn_dtype_is_float(dtype)) {
        ck_fails(c->call(x, TN_AXES(axis), false), TN_DTYPE, tn_dtype_name(dtype));
        return;
    }
    const tn_dtype to = c->result == COUNT                                  ? TN_I64
                        : c->result == REAL && !tn_dtype_is_float(dtype)    ? TN_F32
                        : c->result == SUM                                  ? result_dtype(SUM, dtype)
                                                                            : dtype;
    const double ulps = tn_dtype_size(to) == 2 && c->ulps > 1 ? 1 : c->ulps;
    check_along(c->name, c->want, x, axis, to, c->call(x, TN_AXES(axis), false), ulps);
}

START_TEST(compositions_of_a_small_matrix)
{
    TN_SHARED(0, 2);
    tn_tensor *x = test_f32(TN_SHAPE(2, 2), {3, 4, -8, 6});
    ck_tensor_f32(tn_norm(x, 2, TN_AXES(1), false), {5, 10});
    ck_tensor_f32(tn_norm(x, 1, TN_ALL_AXES, false), {21});
    ck_tensor_f32(tn_var(test_f32(TN_SHAPE(4), {10000, 10001, 10002, 10003}), TN_ALL_AXES, 0, false), {1.25f});
    ck_tensor_f32(tn_std(test_f32(TN_SHAPE(2, 2), {1, 3, 5, 5}), TN_AXES(1), 0, true), {1, 0});
    ck_tensor_i64(tn_count_nonzero(test_f32(TN_SHAPE(4), {0, NAN, -0.0f, 2}), TN_ALL_AXES, false), {2});
    ck_shape(tn_norm(x, 2, TN_AXES(0), true), TN_SHAPE(1, 2));
    ck_shape(tn_norm(x, 2.5, TN_ALL_AXES, true), TN_SHAPE(1, 1));
    ck_shape(tn_norm(x, 2.5, TN_ALL_AXES, false), TN_SHAPE());
    ck_shape(tn_logsumexp(x, TN_AXES(-1), true), TN_SHAPE(2, 1));
    ck_same(tn_amax(x, TN_AXES(1), false), tn_max(x, TN_AXES(1), false));
    ck_same(tn_amin(x, TN_AXES(1), false), tn_min(x, TN_AXES(1), false));
}
END_TEST

START_TEST(compositions_against_plain_loops)
{
    const int lengths[] = {1, 7, 300};
    for (int i = 0; i < 3; i++) {
        tn_tensor *x = filled(spread, TN_F32, TN_SHAPE(3, lengths[i], 5)), *turned = tn_permute(tn_flip(x, TN_AXES(1)), TN_AXES(2, 0, 1));
        for (int c = 0; c < COMPOSITIONS; c++) {
            if (test_takes(c, lengths[i] == 1 ? COMPOSITIONS : 3)) check_composition(&compositions[c], x, 1);
            if (i == 1 && test_takes(c, COMPOSITIONS)) check_composition(&compositions[c], turned, 2);
        }
    }
}
END_TEST

START_TEST(compositions_take_every_dtype)
{
    for (int d = 0; d < TN_DTYPE_COUNT; d++) {
        if (d == TN_F32 || (d == TN_F64 && !test_has_f64())) continue;
        tn_tensor *x = filled(spread, (tn_dtype)d, TN_SHAPE(3, 20));
        for (int c = 0; c < COMPOSITIONS; c++)
            if (test_takes(c + d, COMPOSITIONS)) check_composition(&compositions[c], x, 1);
    }
}
END_TEST

START_TEST(variance_of_too_few_is_nan)
{
    TN_SHARED(1, 2);
    tn_tensor *x = test_f32(TN_SHAPE(2, 1), {3, 4});
    ck_tensor_f32(tn_var(x, TN_AXES(1), 1, false), {NAN, NAN});
    ck_tensor_f32(tn_std(x, TN_AXES(1), 5, false), {NAN, NAN});
    ck_tensor_f32(tn_var(x, TN_AXES(1), 0, false), {0, 0});
    ck_tensor_f32(tn_var(tn_zeros(TN_F32, TN_SHAPE(0, 2), test_device()), TN_AXES(0), 0, false), {NAN, NAN});
    ck_tensor_f32(tn_var(test_f32(TN_SHAPE(2), {INFINITY, 1}), TN_ALL_AXES, 1, false), {NAN});
    ck_fails(tn_var(test_i32(TN_SHAPE(2), {1, 2}), TN_ALL_AXES, 1, false), TN_DTYPE, "var", "i32", "cast");
    ck_fails(tn_std(x, TN_AXES(0, 0), 1, false), TN_AXIS, "std", "twice");
    ck_fails(tn_var(TN_NONE, TN_ALL_AXES, 1, false), TN_ARGUMENT, "var");
}
END_TEST

START_TEST(norms_neither_overflow_nor_vanish)
{
    TN_SHARED(0, 2);
    tn_tensor *x = test_f32(TN_SHAPE(3, 2), {3e30f, 4e30f, 3e-30f, 4e-30f, 3e30f, 4e-30f});
    ck_close(tn_norm(x, 2, TN_AXES(1), false), 4, {(double)3e30f / 3 * 5, (double)3e-30f / 3 * 5, 3e30f});
    ck_close(tn_norm(x, 3, TN_AXES(1), false), 24, {4.49794144527541e30, 4.49794144527541e-30, 3e30f});
    ck_close(tn_norm(x, -1, TN_AXES(1), false), 24, {12e30 / 7, 12e-30 / 7, 4e-30f});
    ck_tensor_f32(tn_norm(test_f32(TN_SHAPE(4, 2), {0, 0, INFINITY, 1, NAN, 1, -INFINITY, NAN}), 2, TN_AXES(1), false),
                  {0, INFINITY, NAN, NAN});
    ck_tensor_f32(tn_norm(test_f32(TN_SHAPE(3, 2), {0, 1, INFINITY, INFINITY, NAN, 1}), -2, TN_AXES(1), false), {0, INFINITY, NAN});
    ck_values(tn_norm(test_values(TN_F16, TN_SHAPE(2), {24576, 32768}), 2, TN_ALL_AXES, false), {40960});
    ck_values(tn_norm(test_values(TN_BF16, TN_SHAPE(2), {0x1.8p100, 0x1p101}), 2, TN_ALL_AXES, false), {0x1.4p101});
}
END_TEST

START_TEST(norms_over_nothing_and_of_nothing_wrong)
{
    TN_SHARED(1, 2);
    tn_tensor *x = tn_zeros(TN_F32, TN_SHAPE(0, 2), test_device());
    const double powers[] = {0, 1, 2, 3, INFINITY};
    for (int i = 0; i < 5; i++) {
        ck_tensor_f32(tn_norm(x, powers[i], TN_AXES(0), false), {0, 0});
        ck_shape(tn_norm(x, powers[i], TN_AXES(1), false), TN_SHAPE(0));
        ck_tensor_f32(tn_norm(test_f32(TN_SHAPE(), {-1}), powers[i], TN_ALL_AXES, false), {1});
    }
    ck_fails(tn_norm(x, -INFINITY, TN_AXES(0), false), TN_SHAPE, "norm", "[0,2]");
    ck_fails(tn_norm(x, NAN, TN_AXES(0), false), TN_ARGUMENT, "norm", "NaN");
    ck_fails(tn_norm(test_i32(TN_SHAPE(1), {1}), 2, TN_AXES(0), false), TN_DTYPE, "norm", "i32");
    ck_fails(tn_norm(x, 2, TN_AXES(2), false), TN_AXIS, "norm", "axis 2");
}
END_TEST

START_TEST(logsumexp_at_its_limits)
{
    TN_SHARED(0, 2);
    tn_tensor *x = test_f32(TN_SHAPE(5, 2), {1000, 1000, -INFINITY, -INFINITY, INFINITY, 1, INFINITY, -INFINITY, NAN, INFINITY});
    ck_close(tn_logsumexp(x, TN_AXES(1), false), 1, {1000.69314718056, -INFINITY, INFINITY, INFINITY, NAN});
    ck_close(tn_logsumexp(test_i32(TN_SHAPE(2), {0, 0}), TN_ALL_AXES, false), 3, {0.693147180559945});
    ck_tensor_f32(tn_logsumexp(tn_zeros(TN_F32, TN_SHAPE(0, 2), test_device()), TN_AXES(0), true), {-INFINITY, -INFINITY});
    ck_shape(tn_logsumexp(tn_zeros(TN_F16, TN_SHAPE(0, 2), test_device()), TN_AXES(1), false), TN_SHAPE(0));
    ck_tensor_f32(tn_logsumexp(test_f32(TN_SHAPE(), {-3}), TN_AXES(0), false), {-3});
}
END_TEST

START_TEST(nan_is_left_out)
{
    TN_SHARED(1, 2);
    tn_tensor *x = test_f32(TN_SHAPE(3, 3), {1, NAN, 3, NAN, NAN, NAN, INFINITY, NAN, 2});
    ck_tensor_f32(tn_nansum(x, TN_AXES(1), false), {4, 0, INFINITY});
    ck_tensor_f32(tn_nanmean(x, TN_AXES(1), false), {2, NAN, INFINITY});
    ck_tensor_f32(tn_nanmean(tn_zeros(TN_F32, TN_SHAPE(2, 0), test_device()), TN_AXES(1), false), {NAN, NAN});
    ck_tensor_i64(tn_nansum(test_i32(TN_SHAPE(2), {1, 2}), TN_ALL_AXES, false), {3});
    ck_values(tn_nansum(test_values(TN_F16, TN_SHAPE(3), {1, NAN, 2}), TN_ALL_AXES, false), {3});
}
END_TEST

START_TEST(numbers_without_axes)
{
    TN_SHARED(1, 2);
    tn_tensor *x = test_f32(TN_SHAPE(), {-2});
    ck_tensor_f32(tn_var(x, TN_AXES(0), 0, true), {0});
    ck_tensor_f32(tn_norm(x, 2, TN_AXES(-1), false), {2});
    ck_tensor_i64(tn_count_nonzero(x, TN_ALL_AXES, false), {1});
    ck_tensor_f32(tn_nanmean(x, TN_ALL_AXES, false), {-2});
    if (!test_has_f64()) return;
    tn_tensor *y = test_f64(TN_SHAPE(), {1e200 + 1e190});
    ck_tensor_f64(tn_norm(y, 2, TN_ALL_AXES, false), {1e200 + 1e190});
    ck_tensor_f64(tn_nansum(y, TN_ALL_AXES, false), {1e200 + 1e190});
    ck_tensor_f64(tn_nanmean(y, TN_AXES(0), false), {1e200 + 1e190});
    ck_tensor_f64(tn_logsumexp(y, TN_AXES(0), false), {1e200 + 1e190});
}
END_TEST

START_TEST(differences)
{
    TN_SHARED(1, 2);
    tn_tensor *x = test_f32(TN_SHAPE(2, 4), {1, 4, 9, 16, 0, NAN, 2, 5});
    ck_tensor_f32(tn_diff(x, 1, -1), {3, 5, 7, NAN, NAN, 3});
    ck_tensor_f32(tn_diff(x, 2, 1), {2, 2, NAN, NAN});
    ck_tensor_f32(tn_diff(x, 1, 0), {-1, NAN, -7, -11});
    ck_same(tn_diff(x, 0, 0), x);
    ck_shape(tn_diff(x, 4, 1), TN_SHAPE(2, 0));
    ck_shape(tn_diff(x, 9, 1), TN_SHAPE(2, 0));
    ck_tensor_u8(tn_diff(test_u8(TN_SHAPE(3), {1, 0, 5}), 1, 0), {255, 5});
    ck_tensor_bool(tn_diff(test_bool(TN_SHAPE(4), {1, 1, 0, 1}), 2, 0), {1, 0});
    ck_values(tn_diff(test_values(TN_F16, TN_SHAPE(3), {0.5, 2048, 1}), 2, 0), {-4094}); /* 2047.5 would become 2048 */
    ck_fails(tn_diff(x, -1, 0), TN_ARGUMENT, "diff", "-1");
    ck_fails(tn_diff(x, 1, 2), TN_AXIS, "diff", "axis 2");
    ck_fails(tn_diff(test_f32(TN_SHAPE(), {1}), 1, 0), TN_AXIS, "diff");
}
END_TEST

BONES_MAIN("statistics", rows_of_a_small_matrix, rows_meet_nan_and_infinities, rows_along_every_axis_and_through_views,
          rows_take_every_dtype, rows_over_nothing, rows_without_axes_and_with_wrong_ones, compositions_of_a_small_matrix,
          compositions_against_plain_loops, compositions_take_every_dtype, variance_of_too_few_is_nan, norms_neither_overflow_nor_vanish,
          norms_over_nothing_and_of_nothing_wrong, logsumexp_at_its_limits, nan_is_left_out, numbers_without_axes, differences)
