/* Sorting: values, order of equal elements, lengths, layouts, two results of one node, and what is composed of them. What is wanted
 * comes from qsort over values and places. */
#include <math.h>

#include "bones.h"
#include "layouts.h"

/* ---- the reference ---- */

static const double *numbers;
static int64_t step_of_line;
static bool downwards;

static bool before(double a, double b)
{
    return a < b || (!isnan(a) && isnan(b));
}

static int by_value_and_place(const void *p, const void *q)
{
    const int64_t i = *(const int64_t *)p, j = *(const int64_t *)q;
    const double a = numbers[i * step_of_line], b = numbers[j * step_of_line];
    if (before(a, b)) return downwards ? 1 : -1;
    if (before(b, a)) return downwards ? -1 : 1;
    return i < j ? -1 : 1;
}

/* Both results, by bits. */
static void check(tn_tensor *x, int axis, bool descending)
{
    tn_tensor *v, *at;
    ck_ok(tn_sort(ck_made(x), axis, descending, &v, &at));
    const tn_shape s = tn_shape_of(x);
    ck_shape(v, s);
    ck_shape(at, s);
    ck_assert_int_eq((int)tn_dtype_of(v), (int)tn_dtype_of(x));
    ck_assert_int_eq((int)tn_dtype_of(at), TN_I64);
    const int64_t n = s.dim[axis], count = tn_numel(x);
    int64_t inner = 1, *places = malloc((size_t)n * sizeof *places + 1);
    for (int a = axis + 1; a < s.ndim; a++) inner *= s.dim[a];
    double *in = test_numbers(x), *values = test_numbers(v), *indices = test_numbers(at);
    for (int64_t line = 0; n > 0 && line < count / n; line++) {
        const int64_t first = line / inner * n * inner + line % inner;
        numbers = in + first;
        step_of_line = inner;
        downwards = descending;
        for (int64_t k = 0; k < n; k++) places[k] = k;
        qsort(places, (size_t)n, sizeof *places, by_value_and_place);
        for (int64_t k = 0; k < n; k++) {
            const double got = values[first + k * inner], want = numbers[places[k] * inner];
            ck_assert_msg((int64_t)indices[first + k * inner] == places[k] && (isnan(want) ? isnan(got) : !memcmp(&got, &want, 8)),
                          "%s of %s along axis %d of %d, line %d element %d of %d: got %.9g from %d, not %.9g from %d",
                          descending ? "descending" : "ascending", tn_dtype_name(tn_dtype_of(x)), axis, s.ndim, (int)line, (int)k,
                          (int)n, got, (int)indices[first + k * inner], want, (int)places[k]);
        }
    }
    free(places);
    free(in);
    free(values);
    free(indices);
    tn_release(v);
    tn_release(at);
}

/* Mixed up, with many ties; every 50th is special. */
static double mixed(int64_t i, int64_t n)
{
    static const double special[] = {NAN, INFINITY, -INFINITY, -0.0, 0.0, 65504, -1e-5};
    const uint64_t h = ((uint64_t)i + 1) * 0x9e3779b97f4a7c15ull >> 20;
    return h % 50 < 7 ? special[h % 50] : (double)(int64_t)(h % (uint64_t)(n + 10)) / 8 - (double)n / 32;
}

static tn_tensor *operand(tn_dtype dtype, tn_shape s)
{
    int64_t n = 1;
    for (int a = 0; a < s.ndim; a++) n *= s.dim[a];
    const bool negative = tn_dtype_is_float(dtype) || tn_dtype_is_signed(dtype);
    const size_t size = tn_dtype_size(dtype);
    char *values = malloc((size_t)n * size + 1);
    for (int64_t i = 0; i < n; i++) test_store(dtype, values + (size_t)i * size, negative ? mixed(i, n) : fabs(mixed(i, n)));
    tn_tensor *x = ck_made(tn_from(dtype, s, values, test_device()));
    free(values);
    return x;
}

/* ---- values ---- */

START_TEST(a_small_matrix)
{
    tn_tensor *x = test_f32(TN_SHAPE(2, 4), {3, 1, 3, 2, -1, 7, -1, 7}), *v, *at;
    ck_ok(tn_sort(x, 1, false, &v, &at));
    ck_tensor_f32(v, {1, 2, 3, 3, -1, -1, 7, 7});
    ck_tensor_i64(at, {1, 3, 0, 2, 0, 2, 1, 3});
    ck_ok(tn_sort(x, -1, true, &v, &at));
    ck_tensor_f32(v, {3, 3, 2, 1, 7, 7, -1, -1});
    ck_tensor_i64(at, {0, 2, 3, 1, 1, 3, 0, 2});
    ck_ok(tn_sort(x, 0, false, &v, &at));
    ck_tensor_f32(v, {-1, 1, -1, 2, 3, 7, 3, 7});
    ck_tensor_i64(at, {1, 0, 1, 0, 0, 1, 0, 1});
    ck_tensor_i64(tn_argsort(x, 1, false), {1, 3, 0, 2, 0, 2, 1, 3});
    ck_tensor_f32(tn_msort(x), {-1, 1, -1, 2, 3, 7, 3, 7});
}
END_TEST

START_TEST(nan_is_the_greatest_and_zeros_are_equal)
{
    tn_tensor *x = test_f32(TN_SHAPE(8), {NAN, -0.0f, INFINITY, 0, -INFINITY, NAN, -0.0f, 1});
    ck_tensor_i64(tn_argsort(x, 0, false), {4, 1, 3, 6, 7, 2, 0, 5});
    ck_tensor_i64(tn_argsort(x, 0, true), {0, 5, 2, 7, 1, 3, 6, 4});
    check(x, 0, false);
    check(x, 0, true);
    check(test_f32(TN_SHAPE(4), {1e-40f, -1e-42f, 0, 1e-42f}), 0, false); /* subnormals have an order, too */
}
END_TEST

START_TEST(integers_beyond_what_a_double_holds)
{
    tn_tensor *x = test_i64(TN_SHAPE(5), {INT64_MAX, INT64_MIN, INT64_MAX - 1, 0, INT64_MIN + 1});
    ck_tensor_i64(tn_msort(x), {INT64_MIN, INT64_MIN + 1, 0, INT64_MAX - 1, INT64_MAX});
    ck_tensor_i64(tn_argsort(x, 0, true), {0, 2, 3, 4, 1});
    const uint64_t large[] = {UINT64_MAX, 0, UINT64_MAX - 1, 1};
    ck_tensor_u64(tn_msort(tn_from(TN_U64, TN_SHAPE(4), large, test_device())), {0, 1, UINT64_MAX - 1, UINT64_MAX});
    ck_tensor_i32(tn_msort(test_i32(TN_SHAPE(3), {1, INT32_MIN, -1})), {INT32_MIN, -1, 1});
    ck_values(tn_msort(tn_from(TN_U32, TN_SHAPE(3), (const uint32_t[]){UINT32_MAX, 0, 5}, test_device())), {0, 5, 4294967295.0});
}
END_TEST

START_TEST(every_dtype_in_both_orders)
{
    for (int d = 0; d < TN_DTYPE_COUNT; d++) {
        if (d == TN_F64 && !test_has_f64()) continue;
        if (d != TN_F64 && !test_takes(d, 2)) continue; /* a kernel each */
        tn_tensor *x = operand((tn_dtype)d, TN_SHAPE(2, d % 4 ? 700 : 1500)); /* one kernel, or two */
        check(x, 1, false);
        check(x, 1, true);
        test_case_passed();
    }
}
END_TEST

START_TEST(every_length)
{
    static const int64_t lengths[] = {0, 1, 2, 15, 16, 17, 31, 32, 33, 100, 1000, 1023, 1024, 1025, 2049, 5000};
    const bool all = test_is("host") || test_long();
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        check(operand(TN_F32, TN_SHAPE(3, lengths[i])), 1, i % 2 == 0);
        if (all || i % 3 == 0) check(operand(TN_F32, TN_SHAPE(lengths[i])), 0, i % 2);
        if (all || i % 3 == 1) check(operand(TN_F32, TN_SHAPE(lengths[i], 5)), 0, false);
    }
}
END_TEST

START_TEST(a_long_line)
{
    tn_tensor *x = operand(TN_F32, TN_SHAPE(100000));
    check(x, 0, false);
    check(x, 0, true);
    check(tn_reshape(x, TN_SHAPE(50000, 2)), 0, false);
    check(tn_msort(x), 0, true); /* in order, and turned round */
}
END_TEST

/* ---- layouts ---- */

START_TEST(all_layouts)
{
    for (int l = 0; l < LAYOUTS; l++) {
        if (l == LAYOUT_EMPTY || l == LAYOUT_ZERO_D) continue;
        const int64_t n = layout_count((test_layout)l);
        float *values = malloc((size_t)n * sizeof *values);
        for (int64_t i = 0; i < n; i++) values[i] = (float)mixed(i, n);
        tn_tensor *x = ck_made(layout_tensor((test_layout)l, 0, 1, TN_F32, values, test_device()));
        free(values);
        const bool all = test_is("host") || test_long(); /* each is a kernel of its own */
        if (all || l % 4 == (test_is("pocl") ? 0 : 2)) check(x, 0, false);
        if (all || l % 4 == (test_is("pocl") ? 1 : 3)) check(x, tn_ndim(x) - 1, true);
        tn_release(x); /* beyond all scopes */
    }
}
END_TEST

START_TEST(views_and_many_axes)
{
    tn_tensor *x = operand(TN_F32, TN_SHAPE(6, 70, 5));
    check(x, 1, false);
    check(tn_permute(x, TN_AXES(2, 0, 1)), 1, false);
    check(tn_flip(x, TN_AXES(1)), 1, true);
    check(tn_slice(tn_flip(x, TN_AXES(0, 2)), 1, TN_END, TN_END, -3), 1, false);
    check(tn_expand(tn_slice(x, 0, 2, 3, 1), TN_SHAPE(9, 70, 5)), 0, true);
    check(tn_expand(tn_slice(x, 1, 2, 3, 1), TN_SHAPE(6, 70, 5)), 2, false);
    check(operand(TN_F32, TN_SHAPE(2, 1, 2, 1, 3, 1, 2, 1, 2, 1, 2, 1, 2, 1, 1, 3)), 4, false);
}
END_TEST

START_TEST(nothing_and_one_number)
{
    tn_tensor *none = tn_zeros(TN_F32, TN_SHAPE(0, 3), test_device()), *one = test_f32(TN_SHAPE(), {-7}), *v, *at;
    ck_launches(0, {
        check(none, 0, false);
        check(none, 1, true);
    });
    ck_ok(tn_sort(one, -1, true, &v, &at));
    ck_shape(at, TN_SHAPE());
    ck_tensor_f32(v, {-7});
    ck_tensor_i64(at, {0});
    ck_ok(tn_topk(one, 1, 0, true, &v, &at));
    ck_tensor_f32(v, {-7});
    ck_shape(v, TN_SHAPE());
    ck_ok(tn_max_with_index(one, 0, false, &v, &at));
    ck_tensor_i64(at, {0});
    ck_ok(tn_cummin_with_index(one, 0, &v, &at));
    ck_shape(v, TN_SHAPE());
    ck_ok(tn_mode(one, 0, true, &v, &at));
    ck_tensor_f32(v, {-7});
    ck_tensor_f32(tn_median(one, TN_ALL_AXES, true), {-7});
    ck_tensor_f32(tn_quantile(one, 0.3, TN_AXES(0), false, TN_QUANTILE_LINEAR), {-7});
    ck_ok(tn_median_with_index(none, 1, false, &v, &at));
    ck_shape(v, TN_SHAPE(0));
    ck_ok(tn_mode(none, 1, true, &v, &at));
    ck_shape(at, TN_SHAPE(0, 1));
    ck_shape(tn_quantile(none, 0.5, TN_AXES(1), true, TN_QUANTILE_LINEAR), TN_SHAPE(0, 1));
    ck_shape(tn_nanquantile(none, 0.5, TN_AXES(1), false, TN_QUANTILE_NEAREST), TN_SHAPE(0));
    ck_ok(tn_topk(none, 0, 0, true, &v, &at));
    ck_shape(v, TN_SHAPE(0, 3));
    ck_ok(tn_cummax_with_index(none, 0, &v, &at));
    ck_shape(at, TN_SHAPE(0, 3));
}
END_TEST

/* ---- two results of one node ---- */

/* Launches of a sort of lines of 40. */
static int short_sort(void)
{
    return strcmp(bones_info(test_device()).profile, "deep") == 0 ? 1 : 3; /* 16, 32, 64 */
}

START_TEST(producers_and_consumers_join_the_launch)
{
    tn_tensor *x = operand(TN_F32, TN_SHAPE(9, 40)), *v = NULL, *at = NULL, *y = NULL;
    ck_launches(short_sort(), {
        y = tn_mul(tn_msort(tn_transpose(tn_add(x, x), 0, 1)), tn_float(0.5));
        ck_ok(tn_realize(&y, 1));
    });
    ck_same(tn_transpose(y, 0, 1), (ck_ok(tn_sort(x, 1, false, &v, NULL)), v));
    ck_launches(short_sort(), { /* an expression of one result; the other goes along */
                                ck_ok(tn_sort(x, 1, true, &v, &at));
                                y = tn_add(at, tn_int(1));
                                ck_ok(tn_realize(&y, 1));
                                ck_ok(tn_realize(&v, 1));
    });
    ck_same(tn_sub(y, tn_int(1)), tn_argsort(x, 1, true));
}
END_TEST

START_TEST(one_result_dropped_before_the_run)
{
    tn_tensor *x = test_f32(TN_SHAPE(4), {3, 1, 2, 0}), *v, *at;
    ck_ok(tn_sort(x, 0, false, &v, &at));
    tn_release(at);
    ck_tensor_f32(v, {0, 1, 2, 3});
    ck_ok(tn_sort(x, 0, false, &v, &at));
    tn_release(v);
    ck_tensor_i64(at, {3, 1, 2, 0});
    ck_ok(tn_sort(x, 0, false, &v, &at));
    tn_release(v);
    tn_release(at); /* nothing is left to run */
    ck_launches(0, ck_ok(tn_finish(test_device())));
}
END_TEST

START_TEST(one_result_read_long_after_the_other)
{
    tn_tensor *x = test_f32(TN_SHAPE(4), {3, 1, 2, 0}), *v, *at;
    ck_ok(tn_sort(x, 0, false, &v, &at));
    ck_tensor_f32(v, {0, 1, 2, 3});
    ck_ok(tn_assign(x, tn_float(5)));
    ck_ok(tn_finish(test_device()));
    tn_release(v);
    ck_launches(0, ck_tensor_i64(at, {3, 1, 2, 0}));
}
END_TEST

START_TEST(both_results_in_later_expressions)
{
    tn_tensor *x = test_i64(TN_SHAPE(4), {30, 10, 20, 0}), *v, *at;
    ck_ok(tn_sort(x, 0, false, &v, &at));
    tn_tensor *sum = tn_add(v, at), *twice = tn_mul(at, tn_int(2)), *turned = tn_sub(v, tn_flip(at, TN_ALL_AXES));
    ck_tensor_i64(sum, {3, 11, 22, 30});
    ck_tensor_i64(twice, {6, 2, 4, 0});
    ck_tensor_i64(turned, {0, 8, 19, 27});
    ck_tensor_i64(tn_take_along_axis(x, at, 0), {0, 10, 20, 30});
}
END_TEST

START_TEST(a_scope_takes_one_result)
{
    tn_tensor *x = test_f32(TN_SHAPE(3), {3, 1, 2}), *v, *at;
    const tn_scope scope = tn_scope_push();
    ck_ok(tn_sort(x, 0, false, &v, &at));
    tn_keep(at);
    ck_ok(tn_scope_pop(scope));
    ck_tensor_i64(at, {1, 2, 0});
}
END_TEST

START_TEST(a_write_waits_for_a_reader_with_one_result_left)
{
    tn_tensor *x = test_f32(TN_SHAPE(4), {3, 1, 2, 0}), *v, *at;
    ck_ok(tn_sort(x, 0, false, &v, &at));
    tn_release(v);
    ck_ok(tn_assign(tn_slice(x, 0, 0, 2, 1), tn_float(-9)));
    ck_tensor_i64(at, {3, 1, 2, 0});
}
END_TEST

START_TEST(eager_runs_compute_both)
{
    tn_tensor *v, *at;
    ck_ok(tn_set("eager", "1"));
    ck_ok(tn_sort(test_f32(TN_SHAPE(3), {3, 1, 2}), 0, true, &v, &at));
    ck_ok(tn_set("eager", NULL));
    ck_tensor_f32(v, {3, 2, 1});
    ck_tensor_i64(at, {0, 2, 1});
}
END_TEST

START_TEST(a_run_without_memory_leaves_both_pending)
{
    NEEDS_OPENCL();
    tn_tensor *x = operand(TN_F32, TN_SHAPE(200000)), *v, *at;
    ck_ok(tn_sort(x, 0, false, &v, &at));
    ck_ok(tn_memory_set_limit(test_device(), 1 << 20));
    ck_fails(tn_realize(&at, 1), TN_MEMORY, "limit 1048576");
    ck_ok(tn_memory_set_limit(test_device(), 0));
    ck_ok(tn_realize(&at, 1));
    ck_same(v, tn_take_along_axis(x, at, 0));
}
END_TEST

/* What reads a result twice, here as it is and turned round, or as a table, finds it stored. */
START_TEST(a_result_behind_an_expression_read_in_two_ways)
{
    tn_tensor *x = test_f32(TN_SHAPE(4), {3, 1, 2, 0}), *v = tn_msort(x), *y = tn_add(v, tn_int(1));
    tn_release(v);
    tn_tensor *z = tn_sub(y, tn_flip(y, TN_ALL_AXES));
    tn_release(y);
    ck_tensor_f32(z, {-3, -1, 1, 3});
    v = tn_msort(x);
    y = tn_add(v, tn_int(1));
    tn_release(v);
    z = tn_sub(y, tn_take_along_axis(y, test_i64(TN_SHAPE(4), {0, 0, -1, 1}), 0));
    tn_release(y);
    ck_tensor_f32(z, {0, 1, -1, 2});
}
END_TEST

/* ---- by rank ---- */

#define ck_both(call, values, indices)   \
    do {                                 \
        tn_tensor *v = NULL, *at = NULL; \
        ck_ok(call);                     \
        ck_values(v, values);            \
        ck_values(at, indices);          \
    } while (0)
#define LIST(...)   \
    {               \
        __VA_ARGS__ \
    }
/* Many small kernels, whose parts have suites of their own: rusticl builds them faster. */
#define COMPOSED() TN_SKIP_IF(test_is("pocl") && !test_long(), "compositions run on rusticl")

START_TEST(topk_and_kthvalue)
{
    COMPOSED();
    tn_tensor *x = test_f32(TN_SHAPE(2, 4), {3, 1, 3, 2, NAN, 7, -1, 7});
    ck_both(tn_topk(x, 2, 1, true, &v, &at), LIST(3, 3, NAN, 7), LIST(0, 2, 0, 1));
    ck_both(tn_topk(x, 3, -1, false, &v, &at), LIST(1, 2, 3, -1, 7, 7), LIST(1, 3, 0, 2, 1, 3));
    ck_both(tn_kthvalue(x, 1, 1, false, &v, &at), LIST(1, -1), LIST(1, 2));
    ck_both(tn_kthvalue(x, 4, 1, false, &v, &at), LIST(3, NAN), LIST(2, 0));
    tn_tensor *v, *at;
    ck_ok(tn_kthvalue(x, 2, 0, true, &v, &at));
    ck_shape(v, TN_SHAPE(1, 4));
    ck_values(v, {NAN, 7, 3, 7});
    ck_ok(tn_topk(x, 0, 1, true, NULL, &at));
    ck_shape(at, TN_SHAPE(2, 0));
}
END_TEST

START_TEST(medians)
{
    COMPOSED();
    tn_tensor *x = test_f32(TN_SHAPE(3, 4), {3, 1, 4, 2, NAN, 7, NAN, 8, NAN, NAN, NAN, NAN});
    ck_both(tn_median_with_index(x, 1, false, &v, &at), LIST(2, NAN, NAN), LIST(3, 0, 0));
    ck_both(tn_nanmedian_with_index(x, 1, false, &v, &at), LIST(2, 7, NAN), LIST(3, 1, 0));
    ck_both(tn_median_with_index(test_i32(TN_SHAPE(4), {5, -5, 9, 0}), 0, true, &v, &at), LIST(0), LIST(3));
    ck_values(tn_median(x, TN_ALL_AXES, false), {NAN});
    ck_values(tn_nanmedian(x, TN_ALL_AXES, false), {3});
    ck_shape(tn_nanmedian(x, TN_ALL_AXES, true), TN_SHAPE(1, 1));
    tn_tensor *y = bones_count(TN_F32, TN_SHAPE(2, 3, 4), test_device());
    tn_tensor *z = tn_median(y, TN_AXES(0, 2), true);
    ck_shape(z, TN_SHAPE(1, 3, 1));
    ck_values(z, {3, 7, 11});
    ck_values(tn_median(y, TN_AXES(-2), false), {4, 5, 6, 7, 16, 17, 18, 19});
    ck_same(tn_median(y, TN_AXES(), false), y);
}
END_TEST

START_TEST(quantiles_in_every_mode)
{
    COMPOSED();
    tn_tensor *x = test_f32(TN_SHAPE(2, 4), {40, 10, 30, 20, 1, NAN, 3, 2});
    ck_fails(tn_quantile(x, 0.25, TN_AXES(1), false, (tn_quantile_mode)5), TN_ARGUMENT, "quantile", "5");
    ck_close(tn_quantile(x, 0.25, TN_AXES(1), false, TN_QUANTILE_LINEAR), 1, {17.5, NAN});
    ck_close(tn_quantile(x, 0.9, TN_AXES(1), false, TN_QUANTILE_LINEAR), 1, {37, NAN});
    ck_values(tn_quantile(x, 0.25, TN_AXES(1), false, TN_QUANTILE_LOWER), {10, NAN});
    ck_values(tn_quantile(x, 0.25, TN_AXES(1), false, TN_QUANTILE_HIGHER), {20, NAN});
    ck_values(tn_quantile(x, 0.25, TN_AXES(1), false, TN_QUANTILE_MIDPOINT), {15, NAN});
    ck_values(tn_quantile(x, 0.5, TN_AXES(1), true, TN_QUANTILE_NEAREST), {30, NAN}); /* rank 1.5: to the even one, 2 */
    ck_values(tn_nanquantile(x, 0.5, TN_AXES(1), false, TN_QUANTILE_LINEAR), {25, 2});
    ck_values(tn_nanquantile(x, 0.25, TN_AXES(1), false, TN_QUANTILE_HIGHER), {20, 2});
    ck_values(tn_nanquantile(x, 0.75, TN_AXES(1), false, TN_QUANTILE_LOWER), {30, 2});
    ck_values(tn_nanquantile(x, 0.75, TN_AXES(1), false, TN_QUANTILE_MIDPOINT), {35, 2.5});
    ck_values(tn_nanquantile(x, 1, TN_ALL_AXES, false, TN_QUANTILE_NEAREST), {40});
    const double q[] = {0, 0.5, 1};
    tn_tensor *y = tn_nanquantiles(x, q, 3, TN_AXES(1), true, TN_QUANTILE_LINEAR);
    ck_shape(y, TN_SHAPE(3, 2, 1));
    ck_values(y, {10, 1, 25, 2, 40, 3});
    ck_values(tn_quantiles(tn_slice(x, 0, 0, 1, 1), q, 2, TN_ALL_AXES, false, TN_QUANTILE_LOWER), {10, 20});
}
END_TEST

START_TEST(quantiles_beside_infinities_and_in_f16)
{
    COMPOSED();
    tn_tensor *x = test_f32(TN_SHAPE(2, 3), {-INFINITY, 1, INFINITY, -3e38f, 3e38f, INFINITY});
    ck_values(tn_quantile(x, 0, TN_AXES(1), false, TN_QUANTILE_LINEAR), {-INFINITY, -3e38f});
    ck_values(tn_quantile(x, 0.25, TN_AXES(1), false, TN_QUANTILE_LINEAR), {-INFINITY, 0});
    ck_values(tn_quantile(x, 0.9, TN_AXES(1), false, TN_QUANTILE_LINEAR), {INFINITY, INFINITY});
    ck_values(tn_quantile(x, 1, TN_AXES(1), false, TN_QUANTILE_LINEAR), {INFINITY, INFINITY});
    ck_values(tn_nanquantile(x, 1, TN_AXES(1), false, TN_QUANTILE_LINEAR), {INFINITY, INFINITY});
    ck_values(tn_quantile(test_values(TN_F16, TN_SHAPE(2), {2048, 2050}), 0.75, TN_AXES(0), false, TN_QUANTILE_LINEAR),
              {2050}); /* 2049.5 */
    ck_values(tn_quantile(test_values(TN_BF16, TN_SHAPE(2), {1, 2}), 0.5, TN_AXES(0), false, TN_QUANTILE_MIDPOINT), {1.5});
}
END_TEST

START_TEST(the_most_frequent_element)
{
    COMPOSED();
    tn_tensor *x = test_i32(TN_SHAPE(3, 6), {2, 1, 2, 1, 3, 0, 5, 5, 5, 4, 4, 4, 6, 5, 4, 3, 2, 1});
    ck_both(tn_mode(x, 1, false, &v, &at), LIST(1, 4, 1), LIST(3, 5, 5));
    ck_both(tn_mode(test_f32(TN_SHAPE(4), {NAN, NAN, 2, 2}), 0, false, &v, &at), LIST(2), LIST(3));
    ck_both(tn_mode(test_f32(TN_SHAPE(3), {NAN, 3, NAN}), 0, true, &v, &at), LIST(3), LIST(1));
    ck_both(tn_mode(test_bool(TN_SHAPE(2, 2), {1, 0, 1, 1}), 0, false, &v, &at), LIST(1, 0), LIST(1, 0));
}
END_TEST

START_TEST(extremes_and_their_places)
{
    COMPOSED();
    tn_tensor *x = test_f32(TN_SHAPE(2, 4), {1, 3, 3, -2, 5, NAN, 7, NAN});
    ck_both(tn_max_with_index(x, 1, false, &v, &at), LIST(3, NAN), LIST(1, 1));
    ck_both(tn_min_with_index(x, 1, true, &v, &at), LIST(-2, NAN), LIST(3, 1));
    ck_both(tn_cummax_with_index(x, 1, &v, &at), LIST(1, 3, 3, 3, 5, NAN, NAN, NAN), LIST(0, 1, 2, 2, 0, 1, 1, 3));
    ck_both(tn_cummin_with_index(x, 1, &v, &at), LIST(1, 1, 1, -2, 5, NAN, NAN, NAN), LIST(0, 0, 0, 3, 0, 1, 1, 3));
    ck_both(tn_cummin_with_index(test_u8(TN_SHAPE(4), {4, 5, 4, 9}), 0, &v, &at), LIST(4, 4, 4, 4), LIST(0, 0, 2, 2));
    tn_tensor *at = NULL;
    ck_ok(tn_max_with_index(x, 0, true, NULL, &at));
    ck_shape(at, TN_SHAPE(1, 4));
    ck_tensor_i64(at, {1, 1, 1, 1});
}
END_TEST

/* ---- errors ---- */

START_TEST(what_cannot_be_sorted)
{
    tn_tensor *x = test_f32(TN_SHAPE(2, 3), {1, 2, 3, 4, 5, 6}), *none = tn_zeros(TN_F32, TN_SHAPE(2, 0), test_device());
    tn_tensor *v = x, *at = x;
    ck_fails(tn_sort(x, 2, false, &v, &at), TN_AXIS, "sort", "axis 2");
    ck_assert(!v && !at);
    ck_fails(tn_sort(x, 0, false, NULL, NULL), TN_ARGUMENT, "sort: neither values nor indices are wanted");
    ck_fails(tn_sort(TN_NONE, 0, false, &v, NULL), TN_ARGUMENT, "sort");
    ck_fails(tn_argsort(x, -3, false), TN_AXIS, "-3");
    ck_fails(tn_topk(x, 4, 1, true, &v, &at), TN_ARGUMENT, "topk: k is 4; [2,3] has 3 elements along axis 1");
    ck_fails(tn_topk(x, -1, 1, true, &v, &at), TN_ARGUMENT, "k is -1");
    ck_fails(tn_kthvalue(x, 0, 1, true, &v, &at), TN_ARGUMENT, "kthvalue: k is 0; 1 to 3 are possible along axis 1 of [2,3]");
    ck_fails(tn_kthvalue(none, 1, 1, true, &v, &at), TN_SHAPE, "kthvalue: [2,0] has no elements along axis 1");
    ck_fails(tn_median_with_index(none, 1, true, &v, &at), TN_SHAPE, "median", "[2,0]");
    ck_fails(tn_median(none, TN_ALL_AXES, true), TN_SHAPE, "median", "[2,0]");
    ck_fails(tn_mode(none, -1, true, &v, &at), TN_SHAPE, "mode", "axis 1");
    ck_fails(tn_max_with_index(none, 1, true, &v, &at), TN_SHAPE, "max_with_index", "[2,0]");
    ck_fails(tn_cummax_with_index(x, 5, &v, &at), TN_AXIS, "cummax_with_index");
    ck_fails(tn_quantile(x, 1.5, TN_ALL_AXES, false, TN_QUANTILE_LINEAR), TN_ARGUMENT, "quantile: q is 1.5; 0 to 1 are possible");
    ck_fails(tn_nanquantile(x, NAN, TN_ALL_AXES, false, TN_QUANTILE_LINEAR), TN_ARGUMENT, "nanquantile: q is");
    ck_fails(tn_quantile(none, 0.5, TN_AXES(1), false, TN_QUANTILE_LINEAR), TN_SHAPE, "[2,0]");
    ck_fails(tn_quantile(test_i32(TN_SHAPE(1), {1}), 0.5, TN_ALL_AXES, false, TN_QUANTILE_LINEAR), TN_DTYPE, "i32", "float");
    ck_fails(tn_quantiles(x, NULL, 1, TN_ALL_AXES, false, TN_QUANTILE_LINEAR), TN_ARGUMENT, "q is NULL");
    ck_fails(tn_quantiles(x, (const double[]){0.5}, 0, TN_ALL_AXES, false, TN_QUANTILE_LINEAR), TN_ARGUMENT, "0 quantiles");
}
END_TEST

BONES_MAIN("sort", a_small_matrix, nan_is_the_greatest_and_zeros_are_equal, integers_beyond_what_a_double_holds,
           every_dtype_in_both_orders, every_length, a_long_line, all_layouts, views_and_many_axes, nothing_and_one_number,
           producers_and_consumers_join_the_launch, one_result_dropped_before_the_run, one_result_read_long_after_the_other,
           both_results_in_later_expressions, a_scope_takes_one_result, a_write_waits_for_a_reader_with_one_result_left,
           eager_runs_compute_both, a_run_without_memory_leaves_both_pending, a_result_behind_an_expression_read_in_two_ways,
           topk_and_kthvalue, medians, quantiles_in_every_mode, quantiles_beside_infinities_and_in_f16, the_most_frequent_element,
           extremes_and_their_places, what_cannot_be_sorted)
