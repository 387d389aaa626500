/* scatter in all its ways, index_add and its kin, put: values by plain loops in double, the order of updates, long stretches, errors. */
#include <float.h>
#include <math.h>

#include "bones.h"

static const char *const way_names[] = {"last", "sum", "prod", "mean", "amax", "amin"};

/* ---- the reference: flat lines [outer][n][inner] ---- */

typedef struct cell {
    double value, size; /* size: sum of |x|, for the bound */
    int64_t count;
} cell;

static void update(cell *c, tn_combine how, double v)
{
    c->count++;
    c->size += fabs(v);
    if (how == TN_COMBINE_LAST || c->count == 1) c->value = v;
    else if (how == TN_COMBINE_SUM || how == TN_COMBINE_MEAN) c->value += v;
    else if (how == TN_COMBINE_PROD) c->value *= v;
    else if (isnan(c->value) || isnan(v)) c->value = NAN;
    else c->value = how == TN_COMBINE_AMAX ? fmax(c->value, v) : fmin(c->value, v);
}

static double finished(const cell *c, tn_combine how, bool whole)
{
    if (how != TN_COMBINE_MEAN) return c->value;
    return whole ? floor(c->value / (double)c->count) : c->value / (double)c->count;
}

/* y is x [outer, n, inner] with src [outer, m, inner] scattered by index, all read as numbers. */
static void check(tn_tensor *y, tn_combine how, bool include_self, tn_tensor *x, tn_tensor *index, tn_tensor *src, int axis)
{
    const tn_shape s = tn_shape_of(x);
    int64_t outer = 1, inner = 1;
    for (int a = 0; a < s.ndim; a++)
        if (a < axis) outer *= s.dim[a];
        else if (a > axis) inner *= s.dim[a];
    const int64_t n = s.dim[axis], m = tn_shape_of(index).dim[axis];
    const tn_dtype dtype = tn_dtype_of(x);
    ck_assert_int_eq((int)tn_dtype_of(ck_made(y)), (int)dtype);
    ck_shape(y, s);
    double *base = test_numbers(x), *at = test_numbers(index), *from = test_numbers(src), *got = test_numbers(y);
    cell *cells = calloc((size_t)n, sizeof *cells);
    for (int64_t l = 0; l < outer * inner; l++) {
        const int64_t o = l / inner, i = l % inner;
        for (int64_t k = 0; k < n; k++) {
            cells[k] = (cell){0};
            if (include_self) update(&cells[k], how, base[(o * n + k) * inner + i]);
        }
        for (int64_t j = 0; j < m; j++) {
            const int64_t k = (int64_t)at[(o * m + j) * inner + i];
            update(&cells[k < 0 ? k + n : k], how, from[(o * m + j) * inner + i]);
        }
        for (int64_t k = 0; k < n; k++) {
            const double first = base[(o * n + k) * inner + i], g = got[(o * n + k) * inner + i];
            const double want = cells[k].count ? finished(&cells[k], how, !tn_dtype_is_float(dtype)) : first;
            const double eps = dtype == TN_F64 ? DBL_EPSILON : FLT_EPSILON;
            const bool sums = how == TN_COMBINE_SUM || how == TN_COMBINE_MEAN || how == TN_COMBINE_PROD;
            const double bound = tn_dtype_is_float(dtype) && sums
                                     ? (log2((double)cells[k].count + 1) + 8) * eps * (how == TN_COMBINE_SUM ? cells[k].size : fabs(want)) +
                                           (tn_dtype_size(dtype) == 2 ? test_step(dtype, want) / 2 : 0)
                                     : 0;
            ck_assert_msg(g == want || (isnan(g) && isnan(want)) || fabs(g - want) <= bound, "%s of %s%s, line %d, element %d: got %.9g, not %.9g",
                          way_names[how], tn_dtype_name(dtype), include_self ? "" : " without itself", (int)l, (int)k, g, want);
        }
    }
    free(base);
    free(at);
    free(from);
    free(got);
    free(cells);
}

static tn_tensor *small(tn_dtype dtype, tn_shape shape, int64_t low, int64_t high)
{
    tn_tensor *numbers = ck_made(tn_cast(tn_randint(TN_I64, shape, low, high, "host"), dtype));
    return ck_made(tn_to(numbers, test_device()));
}

/* ---- values ---- */

START_TEST(means_of_integers_do_not_wrap)
{
    tn_tensor *x = ck_made(tn_from(TN_I8, TN_SHAPE(2), (const int8_t[]){100, -8}, test_device())), *zero = test_bool(TN_SHAPE(2), {1, 0});
    tn_tensor *at = test_i64(TN_SHAPE(2), {0, 0}), *many = tn_zeros(TN_I64, TN_SHAPE(256), test_device());
    tn_tensor *src = ck_made(tn_from(TN_I8, TN_SHAPE(2), (const int8_t[]){100, 97}, test_device()));
    ck_tensor_i32(tn_cast(tn_scatter_reduce(x, 0, at, src, TN_COMBINE_MEAN, true), TN_I32), {99, -8});
    ck_tensor_i32(tn_cast(tn_scatter_reduce(x, 0, at, src, TN_COMBINE_MEAN, false), TN_I32), {98, -8});
    ck_tensor_i32(tn_cast(tn_scatter_reduce(x, 0, many, tn_int(7), TN_COMBINE_MEAN, false), TN_I32), {7, -8});
    ck_fails(tn_scatter_reduce(zero, 0, at, zero, TN_COMBINE_MEAN, false), TN_DTYPE, "scatter_reduce", "mean", "bool");
}
END_TEST

START_TEST(updates_by_hand)
{
    tn_tensor *x = test_f32(TN_SHAPE(2, 3), {1, 2, 3, 4, 5, 6}), *at = test_i64(TN_SHAPE(2, 2), {0, 2, 1, -2});
    tn_tensor *src = test_f32(TN_SHAPE(2, 2), {10, 20, 30, 40});
    ck_tensor_f32(tn_scatter(x, 1, at, src), {10, 2, 20, 4, 40, 6});
    ck_tensor_f32(tn_scatter_add(x, 1, at, src), {11, 2, 23, 4, 75, 6});
    ck_tensor_f32(tn_scatter(x, 1, at, tn_float(-1)), {-1, 2, -1, 4, -1, 6});
    ck_tensor_f32(tn_scatter_reduce(x, 1, at, src, TN_COMBINE_MEAN, true), {5.5, 2, 11.5, 4, 25, 6});
    ck_tensor_f32(tn_scatter_reduce(x, 1, at, src, TN_COMBINE_MEAN, false), {10, 2, 20, 4, 35, 6});
}
END_TEST

START_TEST(updates_of_parts_by_hand)
{
    TN_SHARED(1, 2);
    tn_tensor *x = test_f32(TN_SHAPE(2, 3), {1, 2, 3, 4, 5, 6}), *src = test_f32(TN_SHAPE(2, 2), {10, 20, 30, 40});
    ck_tensor_f32(tn_scatter_add(x, 0, test_i64(TN_SHAPE(1, 2), {1, 1}), src), {1, 2, 3, 14, 25, 6}); /* a corner of x */
    ck_tensor_f32(tn_index_add(x, 0, test_i64(TN_SHAPE(3), {1, 1, 0}), test_f32(TN_SHAPE(3, 3), {1, 1, 1, 2, 2, 2, 3, 3, 3})), {4, 5, 6, 7, 8, 9});
    ck_tensor_f32(tn_index_copy(x, 1, test_i64(TN_SHAPE(2), {2, 2}), src), {1, 2, 20, 4, 5, 40});
    ck_tensor_f32(tn_index_fill(x, -1, test_i64(TN_SHAPE(1), {-1}), tn_int(9)), {1, 2, 9, 4, 5, 9});
    ck_tensor_f32(tn_put(x, test_i64(TN_SHAPE(3), {5, 0, 5}), test_f32(TN_SHAPE(3), {7, 8, 9}), false), {8, 2, 3, 4, 5, 9});
    ck_tensor_f32(tn_put(x, test_i64(TN_SHAPE(3), {5, 0, 5}), test_f32(TN_SHAPE(3), {7, 8, 9}), true), {9, 2, 3, 4, 5, 22});
}
END_TEST

START_TEST(every_way_and_dtype)
{
    static const tn_dtype dtypes[] = {TN_F32, TN_F16, TN_BF16, TN_F64, TN_I8, TN_I64, TN_U16, TN_U8, TN_I32};
    tn_seed(7);
    const int some = test_is("host") ? (int)(sizeof dtypes / sizeof *dtypes) : 2;
    for (int d = 0; d < some; d++)
        for (int how = TN_COMBINE_LAST; how <= TN_COMBINE_AMIN; how++)
            for (int self = 0; self < 2; self++) {
                if (!test_takes(how + 4 * self + 3 * d, 8)) continue; /* several kernels each */
                tn_tensor *x = small(dtypes[d], TN_SHAPE(3, 5, 4), 0, 4), *src = small(dtypes[d], TN_SHAPE(3, 7, 4), 1, 3);
                tn_tensor *at = small(TN_I32, TN_SHAPE(3, 7, 4), -5, 5);
                check(tn_scatter_reduce(x, 1, at, src, (tn_combine)how, self), (tn_combine)how, self, x, at, src, 1);
                test_case_passed();
            }
}
END_TEST

START_TEST(bool_is_or_and_and)
{
    TN_SHARED(1, 2);
    tn_tensor *x = test_bool(TN_SHAPE(3), {0, 0, 1}), *at = test_i64(TN_SHAPE(4), {0, 0, 2, 2}), *src = test_bool(TN_SHAPE(4), {0, 1, 1, 0});
    ck_tensor_bool(tn_scatter_add(x, 0, at, src), {1, 0, 1});
    ck_tensor_bool(tn_scatter_reduce(x, 0, at, src, TN_COMBINE_PROD, true), {0, 0, 0});
    ck_tensor_bool(tn_scatter(x, 0, at, src), {1, 0, 0});
}
END_TEST

START_TEST(nan_and_infinity_stay_with_their_element)
{
    TN_SHARED(0, 2);
    float values[100];
    for (int i = 0; i < 100; i++) values[i] = i == 50 ? NAN : i == 70 ? INFINITY : 1;
    tn_tensor *src = ck_made(tn_from(TN_F32, TN_SHAPE(100), values, test_device()));
    tn_tensor *index = ck_made(tn_floor_divide(tn_arange(TN_I64, 0, 100, 1, test_device()), tn_int(40))); /* 40, 40, 20 of them */
    ck_tensor_f32(tn_scatter_add(tn_zeros(TN_F32, TN_SHAPE(3), test_device()), 0, index, src), {40, NAN, 20});
    ck_tensor_f32(tn_scatter_reduce(tn_zeros(TN_F32, TN_SHAPE(3), test_device()), 0, index, src, TN_COMBINE_AMAX, true), {1, NAN, 1});
}
END_TEST

/* Stretches of a few, of more than a block, of more than a block of blocks; the axis first and last. */
START_TEST(long_stretches)
{
    tn_seed(11);
    const int64_t m = 5000;
    for (int axis = 0; axis < 2; axis++) {
        if (!test_takes(axis, 2)) continue; /* several kernels each */
        const tn_shape shape = axis ? TN_SHAPE(2, 9) : TN_SHAPE(9, 2), long_shape = axis ? TN_SHAPE(2, m) : TN_SHAPE(m, 2);
        tn_tensor *u = ck_made(tn_square(tn_square(tn_square(tn_rand(TN_F64, long_shape, "host"))))); /* most of them near 0 */
        tn_tensor *at = ck_made(tn_to(tn_cast(tn_mul(u, tn_int(9)), TN_I64), test_device()));
        tn_tensor *x = small(TN_F32, shape, -4, 5), *src = ck_made(tn_to(tn_randn(TN_F32, long_shape, "host"), test_device()));
        check(tn_scatter_add(x, axis, at, src), TN_COMBINE_SUM, true, x, at, src, axis);
        check(tn_scatter_reduce(x, axis, at, src, TN_COMBINE_AMAX, false), TN_COMBINE_AMAX, false, x, at, src, axis);
        check(tn_scatter(x, axis, at, src), TN_COMBINE_LAST, true, x, at, src, axis);
    }
    float values[64] = {1e8f};
    for (int i = 1; i < 31; i++) values[i] = 1;
    values[31] = -1e8f;
    values[32] = 3;
    ck_tensor_f32(tn_scatter_add(tn_zeros(TN_F32, TN_SHAPE(1), test_device()), 0, tn_zeros(TN_I64, TN_SHAPE(64), test_device()),
                                 tn_from(TN_F32, TN_SHAPE(64), values, test_device())), {3}); /* in order, everywhere */
    tn_tensor *ones = ck_made(tn_ones(TN_F16, TN_SHAPE(40000), test_device())), *zero = ck_made(tn_zeros(TN_I64, TN_SHAPE(40000), test_device()));
    ck_values(tn_index_add(tn_zeros(TN_F16, TN_SHAPE(1), test_device()), 0, zero, ones), {40000}); /* not stuck at 2048 */
}
END_TEST

START_TEST(views_and_pending_operands)
{
    tn_seed(3);
    tn_tensor *x = ck_made(tn_transpose(small(TN_F32, TN_SHAPE(4, 6), -3, 4), 0, 1)), *src = ck_made(tn_flip(small(TN_F32, TN_SHAPE(6, 10), -3, 4), TN_AXES(1)));
    tn_tensor *at = ck_made(tn_expand(tn_unsqueeze(small(TN_I16, TN_SHAPE(10), 0, 4), 0), TN_SHAPE(6, 10)));
    check(tn_scatter_add(tn_neg(x), 1, at, tn_add(src, tn_int(1))), TN_COMBINE_SUM, true, tn_neg(x), at, tn_add(src, tn_int(1)), 1);
}
END_TEST

START_TEST(nothing_to_do)
{
    tn_tensor *x = test_f32(TN_SHAPE(2, 2), {1, 2, 3, 4}), *none = ck_made(tn_zeros(TN_I64, TN_SHAPE(0), test_device()));
    tn_tensor *empty = ck_made(tn_zeros(TN_F32, TN_SHAPE(0, 2), test_device())), *y = tn_index_add(x, 0, none, empty);
    ck_tensor_f32(y, {1, 2, 3, 4});
    ck_ok(tn_assign(y, tn_float(0)));
    ck_tensor_f32(x, {1, 2, 3, 4}); /* y is a copy */
    ck_tensor_f32(tn_scatter(x, 0, tn_zeros(TN_I64, TN_SHAPE(0, 2), test_device()), empty), {1, 2, 3, 4});
    ck_tensor_f32(tn_put(x, none, none, true), {1, 2, 3, 4});
    ck_tensor_f32(tn_scatter_add(test_f32(TN_SHAPE(), {1}), 0, test_i64(TN_SHAPE(), {0}), tn_float(2)), {3});
    ck_shape(tn_scatter_add(test_f32(TN_SHAPE(), {1}), 0, test_i64(TN_SHAPE(), {0}), tn_float(2)), TN_SHAPE());
    ck_fails(tn_index_add(empty, 0, test_i64(TN_SHAPE(1), {0}), tn_zeros(TN_F32, TN_SHAPE(1, 2), test_device())), TN_AXIS, "index_add", "0 elements");
}
END_TEST

/* ---- counts ---- */

START_TEST(distinct_elements)
{
    tn_tensor *values, *inverse, *counts, *x = test_i32(TN_SHAPE(2, 3), {3, 1, 3, 2, 1, 3});
    ck_ok(tn_unique(x, &values, &inverse, &counts));
    ck_tensor_i32(values, {1, 2, 3});
    ck_tensor_i64(inverse, {2, 0, 2, 1, 0, 2});
    ck_shape(inverse, TN_SHAPE(2, 3));
    ck_tensor_i64(counts, {2, 1, 3});
}
END_TEST

START_TEST(distinct_floats_bools_and_single_elements)
{
    TN_SHARED(1, 2);
    tn_tensor *values, *inverse, *counts;
    ck_ok(tn_unique(test_f32(TN_SHAPE(5), {NAN, 0, -0.0f, INFINITY, NAN}), &values, NULL, &counts));
    ck_tensor_f32(values, {0, INFINITY, NAN, NAN});
    ck_tensor_i64(counts, {2, 1, 1, 1});
    ck_ok(tn_unique(test_f32(TN_SHAPE(5), {NAN, 0, NAN, 1, 0}), NULL, &inverse, NULL));
    ck_tensor_i64(inverse, {2, 0, 3, 1, 0});
    ck_ok(tn_unique_consecutive(test_bool(TN_SHAPE(5), {1, 1, 0, 1, 1}), &values, &inverse, &counts));
    ck_tensor_bool(values, {1, 0, 1});
    ck_tensor_i64(inverse, {0, 0, 1, 2, 2});
    ck_tensor_i64(counts, {2, 1, 2});
    ck_ok(tn_unique(tn_zeros(TN_F32, TN_SHAPE(2, 0), test_device()), &values, &inverse, &counts));
    ck_shape(values, TN_SHAPE(0));
    ck_shape(inverse, TN_SHAPE(2, 0));
    ck_ok(tn_unique(test_f32(TN_SHAPE(), {4}), &values, &inverse, NULL));
    ck_tensor_f32(values, {4});
    ck_shape(inverse, TN_SHAPE());
    ck_fails(tn_unique(values, NULL, NULL, NULL), TN_ARGUMENT, "unique", "NULL");
    ck_fails(tn_unique(TN_NONE, &values, NULL, NULL), TN_ARGUMENT, "unique");
    ck_assert_ptr_null(values);
}
END_TEST

START_TEST(membership)
{
    TN_SHARED(0, 2);
    tn_tensor *x = test_i32(TN_SHAPE(2, 3), {3, 1, 3, 2, 1, 3});
    ck_tensor_bool(tn_isin(x, test_i32(TN_SHAPE(2), {1, 7})), {0, 1, 0, 0, 1, 0});
    ck_tensor_bool(tn_isin(test_f32(TN_SHAPE(3), {1.5f, NAN, 2}), test_f32(TN_SHAPE(2, 2), {2, NAN, 1, 0})), {0, 0, 1});
    ck_tensor_bool(tn_isin(x, tn_zeros(TN_I32, TN_SHAPE(0), test_device())), {0, 0, 0, 0, 0, 0});
}
END_TEST

START_TEST(counts_of_values)
{
    TN_SHARED(1, 2);
    tn_tensor *x = test_i32(TN_SHAPE(5), {3, 1, 3, 0, 1});
    ck_tensor_i64(tn_bincount(x, TN_NONE, 0), {1, 2, 0, 2});
    ck_tensor_i64(tn_bincount(x, TN_NONE, 6), {1, 2, 0, 2, 0, 0});
    ck_tensor_f32(tn_bincount(x, test_f32(TN_SHAPE(5), {.5, 1, 2, 4, 8}), 0), {4, 9, 0, 2.5});
    ck_tensor_f32(tn_bincount(x, test_i32(TN_SHAPE(5), {1, 1, 2, 4, 8}), 0), {4, 9, 0, 3});
    ck_tensor_i64(tn_bincount(tn_zeros(TN_I64, TN_SHAPE(0), test_device()), TN_NONE, 2), {0, 0});
    ck_shape(tn_bincount(tn_zeros(TN_I64, TN_SHAPE(0), test_device()), TN_NONE, 0), TN_SHAPE(0));
    ck_fails(tn_bincount(test_i32(TN_SHAPE(2), {0, -4}), TN_NONE, 0), TN_ARGUMENT, "bincount", "-4");
    ck_fails(tn_bincount(test_i64(TN_SHAPE(1), {INT64_MAX}), TN_NONE, 0), TN_OVERFLOW, "bincount", "9223372036854775807");
    ck_fails(tn_histc(x, INT64_MAX, 0, 1), TN_ARGUMENT, "histc", "9223372036854775807");
    ck_fails(tn_bincount(x, TN_NONE, -1), TN_ARGUMENT, "-1");
    ck_fails(tn_bincount(test_f32(TN_SHAPE(1), {1}), TN_NONE, 0), TN_DTYPE, "f32");
    ck_fails(tn_bincount(x, test_f32(TN_SHAPE(2), {1, 2}), 0), TN_SHAPE, "[5]", "[2]");
    ck_fails(tn_bincount(tn_reshape(x, TN_SHAPE(5, 1)), TN_NONE, 0), TN_SHAPE, "[5,1]");
}
END_TEST

START_TEST(histograms)
{
    tn_tensor *x = test_f32(TN_SHAPE(2, 4), {0, 0.5, 1, 1.5, 2, 3, NAN, -1}), *edges = test_f32(TN_SHAPE(4), {0, 1, 2, 3});
    ck_tensor_i64(tn_histogram(x, edges, TN_NONE), {2, 2, 2});
    ck_tensor_f32(tn_histogram(x, edges, test_f32(TN_SHAPE(2, 4), {1, 2, 4, 8, 16, 32, 64, 128})), {3, 12, 48});
    ck_tensor_i64(tn_histc(x, 2, 0, 2), {2, 3});
    if (test_takes(1, 2)) {
        ck_tensor_i64(tn_histc(test_i32(TN_SHAPE(4), {1, 2, 3, 5}), 2, 0, 0), {2, 2});
        ck_tensor_i64(tn_histc(test_i32(TN_SHAPE(2), {7, 7}), 2, 0, 0), {0, 2});
    }
    ck_tensor_i64(tn_histc(tn_zeros(TN_F32, TN_SHAPE(0), test_device()), 3, 0, 1), {0, 0, 0});
    ck_fails(tn_histc(x, 0, 0, 1), TN_ARGUMENT, "histc", "0 bins");
    ck_fails(tn_histc(x, 2, 1, 0), TN_ARGUMENT, "1", "0");
    ck_fails(tn_histc(x, 2, 0, 0), TN_ARGUMENT, "nan", "not finite");
    ck_fails(tn_histogram(x, test_f32(TN_SHAPE(1), {0}), TN_NONE), TN_SHAPE, "[1]");
}
END_TEST

/* ---- what is wrong ---- */

START_TEST(shapes_dtypes_and_ways_are_checked)
{
    tn_tensor *x = ck_made(tn_zeros(TN_F32, TN_SHAPE(2, 3), test_device())), *at = test_i64(TN_SHAPE(2, 2), {0, 1, 1, 0}), *src = ck_made(tn_ones(TN_F32, TN_SHAPE(2, 1), test_device()));
    ck_fails(tn_scatter(x, 1, at, src), TN_SHAPE, "scatter", "[2,2]", "[2,1]", "[2,3]");
    ck_fails(tn_scatter_add(x, 0, test_i64(TN_SHAPE(2), {0, 1}), tn_float(1)), TN_SHAPE, "scatter_add", "[2]");
    ck_fails(tn_scatter(x, 2, at, tn_float(1)), TN_AXIS, "2");
    ck_fails(tn_scatter(x, 1, x, tn_float(1)), TN_DTYPE, "f32", "integers");
    ck_fails(tn_scatter(tn_cast(x, TN_I32), 1, at, tn_float(1)), TN_DTYPE, "i32");
    ck_fails(tn_scatter_reduce(x, 1, at, tn_float(1), (tn_combine)9, true), TN_ARGUMENT, "9");
    ck_fails(tn_index_add(x, 0, at, x), TN_SHAPE, "index_add", "one axis");
    ck_fails(tn_index_add(x, 0, test_i64(TN_SHAPE(1), {0}), x), TN_SHAPE, "[2,3]", "1 indices");
    ck_fails(tn_index_fill(x, 0, test_i64(TN_SHAPE(1), {0}), x), TN_SHAPE, "index_fill");
    ck_fails(tn_put(x, at, test_f32(TN_SHAPE(3), {1, 2, 3}), false), TN_SHAPE, "4 indices", "3 elements");
    ck_fails(tn_scatter(x, 1, TN_NONE, src), TN_ARGUMENT, "index");
}
END_TEST

START_TEST(an_index_out_of_range_is_reported)
{
    tn_tensor *x = ck_made(tn_zeros(TN_F32, TN_SHAPE(3), test_device())), *at = test_i64(TN_SHAPE(2), {1, 3}), *y;
    if (test_is("host")) {
        ck_fails(tn_scatter_add(x, 0, at, tn_float(1)), TN_AXIS, "scatter_add: index 3", "axis of 3");
        ck_fails(tn_put(x, at, tn_float(1), true), TN_AXIS, "put: index 3", "3 elements");
        return;
    }
    float ignored[3];
    y = ck_made(tn_index_add(x, 0, at, tn_float(1)));
    ck_fails(tn_read(y, ignored, sizeof ignored), TN_AXIS, "index_add: index 3", "axis of 3");
    ck_ok(tn_read(y, ignored, sizeof ignored));
    ck_tensor_f32(tn_scatter_add(x, 0, test_i64(TN_SHAPE(1), {1}), tn_float(1)), {0, 1, 0});
}
END_TEST

BONES_MAIN("scatter", updates_by_hand, updates_of_parts_by_hand, means_of_integers_do_not_wrap, every_way_and_dtype, bool_is_or_and_and,
           nan_and_infinity_stay_with_their_element, long_stretches, views_and_pending_operands, nothing_to_do, distinct_elements,
           distinct_floats_bools_and_single_elements, membership, counts_of_values, histograms, shapes_dtypes_and_ways_are_checked,
           an_index_out_of_range_is_reported)
