/* gather, take_along_axis, index_select, take, masks, nonzero, searchsorted: values by plain loops, layouts, fusion, errors - those
 * that kernels report, too. */
#include <math.h>

#include "bones.h"
#include "layouts.h"

static const tn_dtype index_dtypes[] = {TN_I64, TN_I32, TN_U8, TN_I16, TN_I8, TN_U16, TN_U32};

static tn_tensor *count_to(tn_dtype dtype, tn_shape shape)
{
    return ck_made(bones_count(dtype, shape, test_device()));
}

/* ---- values ---- */

START_TEST(gather_takes_elements_along_an_axis)
{
    tn_tensor *x = test_f32(TN_SHAPE(2, 3), {1, 2, 3, 4, 5, 6});
    tn_tensor *y = tn_gather(x, 1, test_i64(TN_SHAPE(2, 2), {2, 0, -1, 1}));
    ck_tensor_f32(y, {3, 1, 6, 5});
    ck_shape(y, TN_SHAPE(2, 2));
    ck_tensor_f32(tn_gather(x, 0, test_i64(TN_SHAPE(1, 2), {1, 0})), {4, 2});
    ck_tensor_f32(tn_gather(x, -1, test_i64(TN_SHAPE(1, 5), {0, 1, 2, 1, 0})), {1, 2, 3, 2, 1});
    ck_tensor_f32(tn_take_along_axis(x, test_i64(TN_SHAPE(1, 2), {2, 0}), 1), {3, 1, 6, 4});
    ck_tensor_f32(tn_take_along_axis(test_f32(TN_SHAPE(1, 3), {7, 8, 9}), test_i64(TN_SHAPE(2, 1), {2, 1}), 1), {9, 8});
}
END_TEST

START_TEST(index_select_takes_slices)
{
    tn_tensor *x = count_to(TN_I32, TN_SHAPE(4, 3)), *at = test_i64(TN_SHAPE(2), {3, 1});
    ck_tensor_i32(tn_index_select(x, 0, at), {9, 10, 11, 3, 4, 5});
    ck_tensor_i32(tn_index_select(x, 1, test_i64(TN_SHAPE(2), {-1, -3})), {2, 0, 5, 3, 8, 6, 11, 9});
    tn_tensor *deep = tn_index_select(x, 0, test_i64(TN_SHAPE(2, 2), {0, 3, 3, 0}));
    ck_shape(deep, TN_SHAPE(2, 2, 3));
    ck_tensor_i32(deep, {0, 1, 2, 9, 10, 11, 9, 10, 11, 0, 1, 2});
    ck_tensor_i32(tn_index_select(x, 0, test_i64(TN_SHAPE(), {2})), {6, 7, 8});
    ck_tensor_i32(tn_index_select(x, 0, tn_int(-1)), {9, 10, 11});
    ck_tensor_i32(tn_take(x, test_i64(TN_SHAPE(2, 2), {0, 11, -1, 5})), {0, 11, 11, 5});
    ck_shape(tn_take(x, test_i64(TN_SHAPE(2, 2), {0, 11, -1, 5})), TN_SHAPE(2, 2));
}
END_TEST

START_TEST(tensors_without_axes_are_one_element)
{
    TN_SHARED(1, 2);
    tn_tensor *x = test_f32(TN_SHAPE(), {5}), *zero = test_i64(TN_SHAPE(), {0});
    ck_tensor_f32(tn_gather(x, 0, zero), {5});
    ck_shape(tn_gather(x, 0, zero), TN_SHAPE());
    ck_tensor_f32(tn_take_along_axis(x, zero, -1), {5});
    ck_tensor_f32(tn_index_select(x, 0, zero), {5});
    ck_tensor_f32(tn_take(x, test_i64(TN_SHAPE(3), {0, -1, 0})), {5, 5, 5});
    ck_tensor_i64(tn_flatnonzero(x), {0});
    ck_shape(tn_nonzero(x), TN_SHAPE(1, 0));
    ck_tensor_f32(tn_masked_select(x, test_bool(TN_SHAPE(), {1})), {5});
    ck_shape(tn_masked_select(x, test_bool(TN_SHAPE(), {0})), TN_SHAPE(0));
}
END_TEST

START_TEST(numbers_on_host_go_with_any_device)
{
    tn_tensor *five = ck_made(tn_from(TN_F32, TN_SHAPE(), (const float[]){5}, "host")), *x = test_f32(TN_SHAPE(2), {5, 7});
    tn_tensor *zero = ck_made(tn_from(TN_I64, TN_SHAPE(), (const int64_t[]){0}, "host"));
    tn_tensor *all = ck_made(tn_from(TN_BOOL, TN_SHAPE(), (const bool[]){true}, "host"));
    ck_tensor_f32(tn_take(five, test_i64(TN_SHAPE(2), {0, -1})), {5, 5});
    ck_tensor_f32(tn_index_select(five, 0, test_i64(TN_SHAPE(1), {0})), {5});
    ck_tensor_f32(tn_gather(five, 0, test_i64(TN_SHAPE(), {0})), {5});
    ck_tensor_f32(tn_gather(test_f32(TN_SHAPE(), {6}), 0, zero), {6});
    ck_tensor_f32(tn_masked_select(x, all), {5, 7});
    ck_tensor_f32(tn_masked_select(five, test_bool(TN_SHAPE(2), {1, 1})), {5, 5});
    ck_tensor_f32(tn_masked_scatter(x, all, test_f32(TN_SHAPE(2), {1, 2})), {1, 2});
    ck_tensor_f32(tn_masked_scatter(five, test_bool(TN_SHAPE(), {1}), test_f32(TN_SHAPE(2), {1, 2})), {1});
    ck_tensor_bool(tn_isin(x, tn_int(7)), {false, true});
    ck_tensor_bool(tn_isin(x, tn_float(5)), {true, false});
    ck_tensor_bool(tn_isin(five, x), {true});
    ck_tensor_i64(tn_histogram(tn_float(6), x, TN_NONE), {1});
}
END_TEST

START_TEST(nothing_is_asked_for)
{
    tn_tensor *x = count_to(TN_F32, TN_SHAPE(2, 3)), *none = ck_made(tn_zeros(TN_I64, TN_SHAPE(0), test_device()));
    tn_tensor *empty = ck_made(tn_zeros(TN_F32, TN_SHAPE(0, 3), test_device()));
    ck_shape(tn_index_select(x, 0, none), TN_SHAPE(0, 3));
    ck_shape(tn_take(x, none), TN_SHAPE(0));
    ck_shape(tn_gather(x, 1, tn_zeros(TN_I64, TN_SHAPE(2, 0), test_device())), TN_SHAPE(2, 0));
    ck_shape(tn_index_select(empty, 0, none), TN_SHAPE(0, 3));
    ck_shape(tn_nonzero(empty), TN_SHAPE(0, 2));
    ck_shape(tn_flatnonzero(empty), TN_SHAPE(0));
    ck_shape(tn_masked_select(empty, tn_ones(TN_BOOL, TN_SHAPE(3), test_device())), TN_SHAPE(0));
    ck_fails(tn_index_select(empty, 0, test_i64(TN_SHAPE(1), {0})), TN_AXIS, "index_select", "axis of 0 elements");
    ck_tensor_i64(tn_searchsorted(tn_zeros(TN_F32, TN_SHAPE(0), test_device()), test_f32(TN_SHAPE(2), {1, NAN}), true), {0, 0});
}
END_TEST

START_TEST(masks_select)
{
    tn_tensor *x = test_f32(TN_SHAPE(2, 3), {1, 2, 3, 4, 5, 6}), *mask = test_bool(TN_SHAPE(2, 3), {0, 1, 1, 0, 0, 1});
    ck_tensor_f32(tn_masked_select(x, mask), {2, 3, 6});
    ck_tensor_f32(tn_masked_select(x, test_bool(TN_SHAPE(3), {1, 0, 1})), {1, 3, 4, 6});
    ck_tensor_f32(tn_masked_select(test_f32(TN_SHAPE(2, 1), {7, 8}), mask), {7, 7, 8});
    tn_tensor *at = tn_nonzero(tn_where(mask, x, tn_float(0)));
    ck_shape(at, TN_SHAPE(3, 2));
    ck_tensor_i64(at, {0, 1, 0, 2, 1, 2});
    ck_tensor_i64(tn_flatnonzero(test_f32(TN_SHAPE(5), {NAN, 0, -0.0f, 1e-30f, -INFINITY})), {0, 3, 4});
}
END_TEST

START_TEST(masks_fill_and_scatter)
{
    TN_SHARED(1, 2);
    tn_tensor *x = test_f32(TN_SHAPE(2, 3), {1, 2, 3, 4, 5, 6}), *mask = test_bool(TN_SHAPE(2, 3), {0, 1, 1, 0, 0, 1});
    ck_tensor_f32(tn_masked_fill(x, mask, tn_float(-1)), {1, -1, -1, 4, 5, -1});
    ck_tensor_f32(tn_masked_fill(x, test_bool(TN_SHAPE(2, 1), {1, 0}), tn_float(INFINITY)),
                  {INFINITY, INFINITY, INFINITY, 4, 5, 6});
    ck_tensor_f32(tn_masked_scatter(x, mask, test_f32(TN_SHAPE(4), {10, 20, 30, 40})), {1, 10, 20, 4, 5, 30});
    ck_tensor_f32(tn_masked_scatter(x, test_bool(TN_SHAPE(3), {0, 0, 1}), test_f32(TN_SHAPE(2, 1), {10, 20})),
                  {1, 2, 10, 4, 5, 20});
    ck_tensor_f32(tn_masked_scatter(x, test_bool(TN_SHAPE(1), {0}), tn_zeros(TN_F32, TN_SHAPE(0), test_device())),
                  {1, 2, 3, 4, 5, 6});
}
END_TEST

START_TEST(places_in_sorted_lines)
{
    TN_SHARED(0, 2);
    tn_tensor *line = test_f32(TN_SHAPE(5), {1, 3, 3, 5, NAN}),
              *values = test_f32(TN_SHAPE(2, 4), {3, 0, 6, 5, NAN, INFINITY, -INFINITY, 4});
    ck_tensor_i64(tn_searchsorted(line, values, false), {1, 0, 4, 3, 4, 4, 0, 3});
    ck_tensor_i64(tn_searchsorted(line, values, true), {3, 0, 4, 4, 5, 4, 0, 3});
    ck_tensor_i64(tn_searchsorted(test_i32(TN_SHAPE(2, 3), {1, 2, 3, 10, 20, 30}), test_i32(TN_SHAPE(2, 2), {2, 9, 20, 31}), false),
                  {1, 3, 1, 3});
    ck_tensor_i64(tn_searchsorted(line, tn_float(3), true), {3});
    ck_tensor_i64(tn_bucketize(test_i32(TN_SHAPE(3), {0, 10, 5}), test_i32(TN_SHAPE(2), {1, 5}), false), {0, 2, 1});
    ck_tensor_i64(
        tn_searchsorted(tn_flip(test_i32(TN_SHAPE(4), {9, 7, 5, 3}), TN_ALL_AXES), test_f32(TN_SHAPE(2), {4.5f, 7}), true), {1, 3});
}
END_TEST

/* ---- every dtype and layout, by loops ---- */

/* x's element at these coordinates out of its row-major numbers. */
static double element(const double *numbers, const tn_shape *s, const int64_t *index)
{
    int64_t at = 0;
    for (int a = 0; a < s->ndim; a++) at = at * s->dim[a] + index[a];
    return numbers[at];
}

static void check_gather(tn_tensor *x, int axis, tn_dtype index_dtype)
{
    const tn_shape s = tn_shape_of(x);
    tn_shape of_index = s;
    of_index.dim[axis] = s.dim[axis] + 2;
    tn_tensor *chosen = ck_made(tn_cast(tn_randint(TN_I64, of_index, 0, s.dim[axis], "host"), index_dtype));
    tn_tensor *at = ck_made(tn_to(chosen, test_device()));
    tn_tensor *y = ck_made(tn_gather(x, axis, at));
    ck_assert_int_eq((int)tn_dtype_of(y), (int)tn_dtype_of(x));
    ck_shape(y, of_index);
    double *in = test_numbers(x), *where = test_numbers(at), *got = test_numbers(y);
    int64_t index[TN_MAX_AXES] = {0};
    for (int64_t i = 0; i < tn_numel(y); i++) {
        int64_t from[TN_MAX_AXES];
        memcpy(from, index, sizeof from);
        from[axis] = (int64_t)where[i];
        const double want = element(in, &s, from);
        ck_assert_msg(got[i] == want || (isnan(got[i]) && isnan(want)), "%s, index %s, axis %d, element %d: got %g, not %g",
                      tn_dtype_name(tn_dtype_of(x)), tn_dtype_name(index_dtype), axis, (int)i, got[i], want);
        for (int a = s.ndim - 1; a >= 0; a--) {
            if (++index[a] < of_index.dim[a]) break;
            index[a] = 0;
        }
    }
    free(in);
    free(where);
    free(got);
}

START_TEST(every_dtype_is_gathered)
{
    for (int d = 0; d < TN_DTYPE_COUNT; d++) {
        if ((d == TN_F64 && !test_has_f64()) || !test_takes(d, 3)) continue;
        tn_tensor *x = count_to((tn_dtype)d, TN_SHAPE(3, 20));
        check_gather(x, 1, index_dtypes[(size_t)d % (sizeof index_dtypes / sizeof *index_dtypes)]);
        test_case_passed();
    }
}
END_TEST

START_TEST(every_layout_is_gathered)
{
    tn_tensor *x = count_to(TN_F32, TN_SHAPE(4, 5, 6));
    tn_tensor *const views[] = {x,
                                tn_permute(x, TN_AXES(2, 0, 1)),
                                tn_flip(x, TN_AXES(0, 2)),
                                tn_slice(x, 2, 1, TN_END, 2),
                                tn_expand(tn_select(x, 1, 3), TN_SHAPE(3, 4, 6)),
                                tn_add(x, tn_int(1)),
                                tn_transpose(tn_neg(x), 0, 2)};
    for (size_t v = 0; v < sizeof views / sizeof *views; v++)
        for (int axis = 0; axis < 3; axis++) {
            if (!test_takes((int)v + axis, 4)) continue; /* a kernel each */
            check_gather(ck_made(views[v]), axis, TN_I64);
            test_case_passed();
        }
}
END_TEST

START_TEST(sixteen_axes)
{
    const tn_shape s = {.ndim = 16, .dim = {1, 2, 1, 1, 2, 1, 1, 1, 3, 1, 1, 1, 1, 2, 1, 1}};
    check_gather(count_to(TN_F32, s), 8, TN_I32);
    ck_fails(tn_index_select(count_to(TN_F32, s), 8, test_i64(TN_SHAPE(1, 1), {0})), TN_SHAPE, "17", "16");
}
END_TEST

/* ---- fusion ---- */

START_TEST(a_lookup_is_part_of_an_expression)
{
    tn_tensor *x = count_to(TN_F32, TN_SHAPE(6, 4)), *at = test_i64(TN_SHAPE(3), {5, 0, 2});
    tn_finish(test_device());
    const uint64_t before = bones_info(test_device()).launches;
    tn_tensor *rows = tn_index_select(x, 0, tn_sub(at, tn_int(6)));
    tn_tensor *y = tn_mul(tn_add(rows, tn_int(1)), tn_float(0.5));
    ck_tensor_f32(y, {10.5, 11, 11.5, 12, 0.5, 1, 1.5, 2, 4.5, 5, 5.5, 6});
    if (!test_is("host")) ck_assert_int_eq((int)(bones_info(test_device()).launches - before), 1);
    ck_tensor_f32(tn_sum(rows, TN_AXES(1), false), {86, 6, 38});
    ck_tensor_f32(tn_softmax(tn_mul(rows, tn_int(0)), 1), {.25, .25, .25, .25, .25, .25, .25, .25, .25, .25, .25, .25});
    ck_tensor_f32(tn_matmul(rows, tn_transpose(rows, 0, 1)), {1854, 134, 822, 134, 14, 62, 822, 62, 366});
    ck_tensor_f32(tn_transpose(tn_reshape(rows, TN_SHAPE(2, 6)), 0, 1), {20, 2, 21, 3, 22, 8, 23, 9, 0, 10, 1, 11});
}
END_TEST

START_TEST(a_table_may_be_pending_or_a_result)
{
    tn_tensor *x = test_f32(TN_SHAPE(4), {0, 1, 2, 3}), *at = test_i64(TN_SHAPE(4), {3, 3, 0, 1});
    tn_tensor *soft = tn_softmax(tn_mul(x, tn_int(0)), 0);
    ck_tensor_f32(tn_add(tn_gather(soft, 0, at), soft), {.5, .5, .5, .5});
    tn_tensor *twice = tn_gather(tn_gather(tn_square(x), 0, at), 0, at);
    ck_tensor_f32(twice, {1, 1, 9, 9});
    ck_tensor_f32(tn_index_select(tn_cumsum(x, 0), 0, tn_argmax(x, TN_ALL_AXES, false)), {6});
    tn_tensor *own = tn_clone(x); /* written through while a lookup of it is pending */
    tn_tensor *before = tn_take(own, at), *tail = tn_slice(own, 0, 2, TN_END, 1);
    ck_ok(tn_assign(tail, tn_take(own, at = test_i64(TN_SHAPE(2), {0, 1}))));
    ck_tensor_f32(before, {3, 3, 0, 1});
    ck_tensor_f32(own, {0, 1, 0, 1});
}
END_TEST

/* ---- what is wrong ---- */

START_TEST(shapes_and_dtypes_are_checked)
{
    tn_tensor *x = count_to(TN_F32, TN_SHAPE(2, 3)), *at = test_i64(TN_SHAPE(2), {0, 1});
    ck_fails(tn_gather(x, 1, at), TN_SHAPE, "gather", "[2]", "[2,3]");
    ck_fails(tn_gather(x, 0, tn_zeros(TN_I64, TN_SHAPE(2, 4), test_device())), TN_SHAPE, "[2,4]", "axis 0");
    ck_fails(tn_gather(x, 2, at), TN_AXIS, "gather", "2");
    ck_fails(tn_index_select(x, 0, x), TN_DTYPE, "index_select", "f32", "integers");
    ck_fails(tn_take(x, tn_zeros(TN_U64, TN_SHAPE(1), test_device())), TN_DTYPE, "u64");
    ck_fails(tn_take(x, test_bool(TN_SHAPE(2), {1, 0})), TN_DTYPE, "bool", "tn_masked_select");
    ck_fails(tn_take_along_axis(x, tn_zeros(TN_I64, TN_SHAPE(3, 1), test_device()), 1), TN_SHAPE, "[3,1]", "axis 1");
    ck_fails(tn_masked_select(x, at), TN_DTYPE, "masked_select", "i64", "bool");
    ck_fails(tn_masked_select(x, test_bool(TN_SHAPE(2), {1, 0})), TN_SHAPE, "[2,3]", "[2]");
    ck_fails(tn_masked_fill(count_to(TN_I32, TN_SHAPE(2)), test_bool(TN_SHAPE(2), {1, 0}), tn_float(1.5)), TN_DTYPE, "f64", "i32");
    ck_fails(tn_masked_fill(x, test_bool(TN_SHAPE(1), {1}), at), TN_SHAPE, "[2]");
    ck_fails(tn_masked_scatter(x, test_bool(TN_SHAPE(1), {1}), at), TN_DTYPE, "i64", "f32");
    ck_fails(tn_searchsorted(x, test_f32(TN_SHAPE(3, 1), {1, 2, 3}), false), TN_SHAPE, "searchsorted", "[2,3]", "[3,1]");
    ck_fails(tn_searchsorted(tn_float(1), x, false), TN_SHAPE, "[]");
    ck_fails(tn_bucketize(x, x, false), TN_SHAPE, "bucketize", "one axis");
    ck_fails(tn_gather(x, 0, TN_NONE), TN_ARGUMENT, "gather", "index");
    ck_fails(tn_take(NULL, at), TN_ARGUMENT, "take");
}
END_TEST

/* On host at once; elsewhere when the device is waited for, once; what was computed stays of use. */
static void check_report(tn_tensor *y, tn_status code, const char *first, const char *second)
{
    double ignored[64];
    if (test_is("host")) {
        ck_fails(y, code, first, second);
        return;
    }
    ck_made(y);
    ck_fails(tn_read(y, ignored, tn_nbytes(y)), code, first, second);
    ck_ok(tn_read(y, ignored, tn_nbytes(y)));
}

START_TEST(an_index_out_of_range_is_reported)
{
    tn_tensor *x = count_to(TN_F32, TN_SHAPE(2, 3));
    check_report(tn_gather(x, 1, test_i64(TN_SHAPE(1, 2), {0, 3})), TN_AXIS, "gather: index 3", "axis of 3 elements");
    check_report(tn_take(x, test_i64(TN_SHAPE(1), {-7})), TN_AXIS, "take: index -7", "6 elements");
    check_report(tn_index_select(x, 0, test_i64(TN_SHAPE(), {2})), TN_AXIS, "index_select: index 2", "axis of 2");
    check_report(tn_index_select(x, 0, tn_int(INT64_MAX)), TN_AXIS, "9223372036854775807", "axis of 2");
    check_report(tn_take_along_axis(x, test_i64(TN_SHAPE(2, 1), {0, INT64_MIN}), 1), TN_AXIS, "-9223372036854775808", "axis of 3");
    check_report(tn_masked_scatter(x, test_bool(TN_SHAPE(1), {1}), test_f32(TN_SHAPE(5), {1, 2, 3, 4, 5})), TN_SHAPE, "element 5",
                 "source of 5");
    ck_fails(tn_masked_scatter(x, test_bool(TN_SHAPE(1), {1}), tn_zeros(TN_F32, TN_SHAPE(0), test_device())), TN_SHAPE,
             "source of 0");
    tn_tensor *good = tn_gather(x, 1, test_i64(TN_SHAPE(2, 1), {0, 2}));
    ck_tensor_f32(good, {0, 5});
}
END_TEST

START_TEST(a_report_reaches_finish_and_other_results)
{
    NEEDS_OPENCL();
    tn_tensor *x = count_to(TN_F32, TN_SHAPE(4)), *bad = ck_made(tn_take(x, test_i64(TN_SHAPE(2), {1, 4})));
    ck_fails(tn_finish(test_device()), TN_AXIS, "index 4");
    ck_ok(tn_finish(test_device()));
    ck_tensor_f32(bad, {1, 3}); /* the nearest end */
    const tn_scope scope = tn_scope_push();
    double value;
    tn_tensor *sum = tn_sum(tn_take(x, test_i64(TN_SHAPE(1), {99})), TN_ALL_AXES, false);
    ck_assert_int_eq((int)tn_item(sum, &value), (int)TN_AXIS);
    ck_fails(tn_scope_pop(scope), TN_AXIS, "index 99");
}
END_TEST

BONES_MAIN("index", gather_takes_elements_along_an_axis, index_select_takes_slices, tensors_without_axes_are_one_element,
           numbers_on_host_go_with_any_device, nothing_is_asked_for, masks_select, masks_fill_and_scatter, places_in_sorted_lines,
           every_dtype_is_gathered,
           every_layout_is_gathered, sixteen_axes, a_lookup_is_part_of_an_expression, a_table_may_be_pending_or_a_result,
           shapes_and_dtypes_are_checked, an_index_out_of_range_is_reported, a_report_reaches_finish_and_other_results)
