/* Views, also of what is pending (bone 3), layouts (bone 4), and the cases on views. Writes are the suite writes. */
#include "bones.h"
#include "core/tensor.h"
#include <math.h>

/* 0, 1, 2, … on the device under test. */
#define COUNT(dtype, ...) bones_count(dtype, TN_SHAPE(__VA_ARGS__), test_device())

/* ---- reshape, view ---- */

START_TEST(reshape_of_gapless_memory_is_a_view)
{
    tn_tensor *x = COUNT(TN_I32, 6), *y = tn_reshape(x, TN_SHAPE(2, -1));
    ck_shape(y, TN_SHAPE(2, 3));
    ck_ok(tn_assign(x, tn_int(7)));
    ck_tensor_i32(y, {7, 7, 7, 7, 7, 7});
}
END_TEST

START_TEST(reshape_copies_where_strides_do_not_allow_a_view)
{
    tn_tensor *x = COUNT(TN_I32, 2, 3), *y = tn_reshape(tn_transpose(x, 0, 1), TN_SHAPE(6));
    ck_tensor_i32(y, {0, 3, 1, 4, 2, 5});
    ck_ok(tn_assign(y, tn_int(9)));
    ck_tensor_i32(x, {0, 1, 2, 3, 4, 5});
}
END_TEST

START_TEST(view_never_copies)
{
    tn_tensor *x = COUNT(TN_I32, 2, 3), *t = tn_transpose(x, 0, 1);
    ck_fails(tn_view(t, TN_SHAPE(6)), TN_SHAPE, "view", "[3,2]", "[6]", "reshape");
    ck_fails(tn_view(x, TN_SHAPE(4)), TN_SHAPE, "view", "[2,3]", "6", "[4]");
    ck_fails(tn_view(x, TN_SHAPE(-1, -1)), TN_SHAPE, "view", "-1");
    ck_fails(tn_view(x, TN_SHAPE(4, -1)), TN_SHAPE, "view", "6", "[4,-1]");
    ck_fails(tn_view(x, TN_SHAPE(-2, -3)), TN_SHAPE, "view");
    ck_shape(tn_view(t, TN_SHAPE(3, 1, 2, 1)), TN_SHAPE(3, 1, 2, 1));
}
END_TEST

START_TEST(view_splits_and_merges_axes_that_lie_as_one)
{
    tn_tensor *x = COUNT(TN_I32, 2, 3, 4), *y = tn_permute(x, TN_AXES(1, 0, 2));
    ck_tensor_i32(tn_view(y, TN_SHAPE(3, 2, 2, 2)),
                  {0, 1, 2, 3, 12, 13, 14, 15, 4, 5, 6, 7, 16, 17, 18, 19, 8, 9, 10, 11, 20, 21, 22, 23});
    ck_fails(tn_view(y, TN_SHAPE(6, 4)), TN_SHAPE, "view");
    tn_tensor *z = tn_slice(x, 0, 0, 1, 1);
    ck_tensor_i32(tn_view(tn_permute(z, TN_AXES(1, 0, 2)), TN_SHAPE(12)), {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
    tn_tensor *steps = tn_slice(COUNT(TN_I32, 8), 0, 0, TN_END, 2);
    ck_tensor_i32(tn_view(steps, TN_SHAPE(2, 2)), {0, 2, 4, 6});
}
END_TEST

/* ---- squeeze, unsqueeze, transpose, permute ---- */

START_TEST(squeeze_drops_axes_of_one)
{
    tn_tensor *x = COUNT(TN_I32, 1, 2, 1, 3);
    ck_shape(tn_squeeze(x, TN_ALL_AXES), TN_SHAPE(2, 3));
    ck_shape(tn_squeeze(x, TN_AXES(0)), TN_SHAPE(2, 1, 3));
    ck_shape(tn_squeeze(x, TN_AXES(-2)), TN_SHAPE(1, 2, 3));
    ck_shape(tn_squeeze(x, TN_AXES(1)), TN_SHAPE(1, 2, 1, 3));
    ck_shape(tn_squeeze(x, TN_AXES()), TN_SHAPE(1, 2, 1, 3));
    ck_shape(tn_squeeze(COUNT(TN_I32, 1, 1), TN_ALL_AXES), TN_SHAPE());
    ck_fails(tn_squeeze(x, TN_AXES(4)), TN_AXIS, "squeeze", "4");
    ck_fails(tn_squeeze(x, TN_AXES(0, -4)), TN_AXIS, "squeeze", "twice");
}
END_TEST

START_TEST(unsqueeze_inserts_an_axis_of_one)
{
    tn_tensor *x = COUNT(TN_I32, 2, 3);
    ck_shape(tn_unsqueeze(x, 0), TN_SHAPE(1, 2, 3));
    ck_shape(tn_unsqueeze(x, 2), TN_SHAPE(2, 3, 1));
    ck_shape(tn_unsqueeze(x, -1), TN_SHAPE(2, 3, 1));
    ck_shape(tn_unsqueeze(x, -3), TN_SHAPE(1, 2, 3));
    ck_shape(tn_unsqueeze(COUNT(TN_I32, 1), 1), TN_SHAPE(1, 1));
    ck_tensor_i32(tn_unsqueeze(tn_transpose(x, 0, 1), 1), {0, 3, 1, 4, 2, 5});
    ck_fails(tn_unsqueeze(x, 3), TN_AXIS, "unsqueeze", "3");
    ck_fails(tn_unsqueeze(x, -4), TN_AXIS, "unsqueeze", "-4");
}
END_TEST

START_TEST(transpose_swaps_two_axes)
{
    tn_tensor *x = COUNT(TN_I32, 2, 1, 3);
    ck_shape(tn_transpose(x, 0, -1), TN_SHAPE(3, 1, 2));
    ck_tensor_i32(tn_transpose(x, -1, 0), {0, 3, 1, 4, 2, 5});
    ck_tensor_i32(tn_transpose(x, 1, 1), {0, 1, 2, 3, 4, 5});
    ck_fails(tn_transpose(x, 0, 3), TN_AXIS, "transpose", "3");
}
END_TEST

START_TEST(permute_takes_every_axis_once)
{
    tn_tensor *x = COUNT(TN_I32, 2, 3, 2), *y = tn_permute(x, TN_AXES(-1, 0, 1));
    ck_shape(y, TN_SHAPE(2, 2, 3));
    ck_tensor_i32(y, {0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11});
    ck_fails(tn_permute(x, TN_AXES(0, 1)), TN_AXIS, "permute", "2", "3");
    ck_fails(tn_permute(x, TN_AXES(0, 1, 1)), TN_AXIS, "permute", "twice");
    ck_fails(tn_permute(x, TN_AXES(0, 1, 3)), TN_AXIS, "permute", "3");
}
END_TEST

/* ---- slice, select, expand, flip ---- */

START_TEST(slice_follows_python)
{
    static const struct {
        int64_t start, stop, step;
        int count;
        int32_t values[6];
    } rows[] = {
        {0, TN_END, 1, 6, {0, 1, 2, 3, 4, 5}},
        {1, 4, 1, 3, {1, 2, 3}},
        {-3, -1, 1, 2, {3, 4}},
        {0, TN_END, 2, 3, {0, 2, 4}},
        {1, TN_END, 3, 2, {1, 4}},
        {4, 2, 1, 0, {0}},
        {-99, 99, 4, 2, {0, 4}},
        {6, 9, 1, 0, {0}},
        {TN_END, TN_END, -1, 6, {5, 4, 3, 2, 1, 0}},
        {4, 1, -1, 3, {4, 3, 2}},
        {-1, -5, -2, 2, {5, 3}},
        {99, -99, -2, 3, {5, 3, 1}},
        {1, 4, -1, 0, {0}},
        {2, TN_END, -1, 3, {2, 1, 0}},
        {5, TN_END, 7, 1, {5}},
        {5, TN_END, -7, 1, {5}},
        {-99, TN_END, -1, 0, {0}},
        {0, TN_END, -1, 1, {0}},
        {INT64_MIN, 2, 1, 2, {0, 1}},
        {0, 5, INT64_MAX, 1, {0}},
    };
    tn_tensor *x = COUNT(TN_I32, 6);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tn_tensor *y = ck_made(tn_slice(x, 0, rows[i].start, rows[i].stop, rows[i].step));
        ck_assert_msg(tn_numel(y) == rows[i].count, "row %d: %d elements", (int)i, (int)tn_numel(y));
        int32_t values[6];
        ck_ok(tn_read(y, values, tn_nbytes(y)));
        for (int k = 0; k < rows[i].count; k++) ck_assert_msg(values[k] == rows[i].values[k], "row %d: %d", (int)i, values[k]);
    }
    ck_fails(tn_slice(x, 0, 0, 1, 0), TN_ARGUMENT, "slice", "step 0");
    ck_fails(tn_slice(x, 1, 0, 1, 1), TN_AXIS, "slice", "1");
}
END_TEST

START_TEST(slices_of_slices_add_up)
{
    tn_tensor *x = COUNT(TN_I32, 4, 10), *y = tn_slice(tn_slice(x, 1, 1, TN_END, 2), 1, TN_END, TN_END, -2);
    ck_shape(y, TN_SHAPE(4, 3));
    ck_tensor_i32(tn_slice(y, 0, -2, TN_END, 1), {29, 25, 21, 39, 35, 31});
}
END_TEST

START_TEST(select_takes_one_index_and_drops_the_axis)
{
    tn_tensor *x = COUNT(TN_I32, 3, 4);
    ck_tensor_i32(tn_select(x, 0, -1), {8, 9, 10, 11});
    ck_tensor_i32(tn_select(x, -1, 1), {1, 5, 9});
    ck_tensor_i32(tn_select(tn_select(x, 0, 2), 0, 3), {11});
    ck_shape(tn_select(tn_select(x, 0, 2), 0, 3), TN_SHAPE());
    ck_fails(tn_select(x, 0, 3), TN_AXIS, "select", "index 3", "axis 0", "[3,4]");
    ck_fails(tn_select(x, 1, -5), TN_AXIS, "select", "index -5");
    ck_fails(tn_select(x, 2, 0), TN_AXIS, "select", "2");
    ck_fails(tn_select(tn_select(x, 0, 0), 1, 0), TN_AXIS, "select", "1");
}
END_TEST

START_TEST(expand_repeats_by_stride_0)
{
    tn_tensor *x = COUNT(TN_I32, 2, 1), *y = tn_expand(x, TN_SHAPE(2, -1, 3));
    ck_shape(y, TN_SHAPE(2, 2, 3));
    ck_assert_int_eq(tn_stride(y, 0), 0);
    ck_assert_int_eq(tn_stride(y, 2), 0);
    ck_tensor_i32(y, {0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1});
    ck_shape(tn_expand(x, TN_SHAPE(2, 0)), TN_SHAPE(2, 0));
    ck_tensor_i32(tn_expand(tn_select(tn_select(x, 0, 1), 0, 0), TN_SHAPE(3)), {1, 1, 1});
    ck_fails(tn_expand(x, TN_SHAPE(3, 1)), TN_SHAPE, "expand", "[2,1]", "[3,1]");
    ck_fails(tn_expand(x, TN_SHAPE(2)), TN_SHAPE, "expand", "[2,1]", "[2]");
    ck_fails(tn_expand(x, TN_SHAPE(-1, 2, 1)), TN_SHAPE, "expand");
}
END_TEST

START_TEST(flip_reverses_axes)
{
    tn_tensor *x = COUNT(TN_I32, 2, 3);
    ck_tensor_i32(tn_flip(x, TN_AXES(0)), {3, 4, 5, 0, 1, 2});
    ck_tensor_i32(tn_flip(x, TN_AXES(-1)), {2, 1, 0, 5, 4, 3});
    ck_tensor_i32(tn_flip(x, TN_ALL_AXES), {5, 4, 3, 2, 1, 0});
    ck_tensor_i32(tn_flip(tn_flip(x, TN_AXES(1, 0)), TN_AXES(0)), {2, 1, 0, 5, 4, 3});
    ck_same(tn_flip(x, TN_AXES()), x);
    ck_fails(tn_flip(x, TN_AXES(2)), TN_AXIS, "flip", "2");
    ck_fails(tn_flip(x, TN_AXES(1, -1)), TN_AXIS, "flip", "twice");
}
END_TEST

START_TEST(C17_reversed_and_partial_views_have_the_right_shape_offset_and_flag)
{
    tn_tensor *back = tn_slice(COUNT(TN_I32, 4), 0, TN_END, TN_END, -1);
    ck_tensor_i32(back, {3, 2, 1, 0});
    ck_assert_int_eq(tn_offset(back), 3);
    ck_assert(!tn_is_contiguous(back));
    tn_tensor *part = tn_slice(tn_slice(tn_view(COUNT(TN_I32, 50), TN_SHAPE(5, 10)), 0, 0, 3, 1), 1, 0, 5, 1);
    ck_tensor_i32(tn_view(part, TN_SHAPE(3, 5)), {0, 1, 2, 3, 4, 10, 11, 12, 13, 14, 20, 21, 22, 23, 24});
    ck_fails(tn_view(part, TN_SHAPE(15)), TN_SHAPE, "view");
    ck_assert(!tn_is_contiguous(part));
    tn_tensor *second = tn_select(COUNT(TN_I64, 4), 0, 1);
    ck_assert_int_eq(tn_offset(second), 1); /* in elements */
    ck_tensor_i64(second, {1});
}
END_TEST

START_TEST(C17_axes_of_one_or_no_element_do_not_count_for_contiguity)
{
    tn_tensor *x = COUNT(TN_I32, 3, 10), *row = tn_slice(x, 0, 1, 3, 2);
    ck_shape(row, TN_SHAPE(1, 10));
    ck_assert(tn_is_contiguous(row));
    ck_assert(tn_is_contiguous(tn_transpose(row, 0, 1)));
    ck_tensor_i32(tn_view(row, TN_SHAPE(10)), {10, 11, 12, 13, 14, 15, 16, 17, 18, 19});
    tn_tensor *none = tn_transpose(tn_slice(x, 0, 2, 2, 1), 0, 1);
    ck_shape(none, TN_SHAPE(10, 0));
    ck_assert(tn_is_contiguous(none));
    ck_shape(tn_view(none, TN_SHAPE(0, 7)), TN_SHAPE(0, 7));
}
END_TEST

START_TEST(C15_elements_meet_by_index_whatever_the_strides)
{
    tn_tensor *a = test_i32(TN_SHAPE(2, 2), {0, 1, 0, 0}), *b = tn_transpose(test_i32(TN_SHAPE(2, 2), {0, 0, 1, 0}), 0, 1);
    ck_tensor_i32(tn_add(a, b), {0, 2, 0, 0});
    ck_tensor_i32(tn_add(b, a), {0, 2, 0, 0});
    ck_tensor_i32(tn_clone(tn_select(COUNT(TN_I32, 2, 2, 2), 2, 1)), {1, 3, 5, 7});
}
END_TEST

START_TEST(C18_a_view_at_any_offset_is_an_operand)
{
    tn_tensor *x = COUNT(TN_F32, 10), *y = tn_slice(x, 0, 1, 5, 1);
    ck_tensor_f32(tn_add(y, tn_int(0)), {1, 2, 3, 4});
    ck_tensor_f32(tn_add(tn_slice(y, 0, 1, 3, 1), tn_int(0)), {2, 3});
    ck_tensor_u8(tn_add(tn_slice(COUNT(TN_U8, 9), 0, 7, 9, 1), tn_int(0)), {7, 8});
}
END_TEST

/* ---- many, none, no axes ---- */

START_TEST(sixteen_axes_are_allowed_and_seventeen_refused)
{
    const tn_shape shape = TN_SHAPE(2, 1, 2, 1, 1, 2, 1, 3, 1, 1, 2, 1, 1, 1, 1, 2);
    tn_tensor *x = bones_count(TN_I32, shape, test_device()), *y = tn_flip(tn_transpose(x, 0, 15), TN_AXES(7, 2));
    tn_tensor *h = bones_count(TN_I32, shape, "host");
    ck_same(tn_add(y, x), tn_add(tn_flip(tn_transpose(h, 0, 15), TN_AXES(7, 2)), h));
    ck_same(tn_sum(y, TN_AXES(0, 7), false), tn_sum(tn_flip(tn_transpose(h, 0, 15), TN_AXES(7, 2)), TN_AXES(0, 7), false));
    ck_fails(tn_unsqueeze(x, 0), TN_SHAPE, "unsqueeze", "16");
    ck_fails(tn_zeros(TN_F32, TN_SHAPE(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1), test_device()), TN_SHAPE, "17", "16");
    ck_fails(tn_reshape(x, TN_SHAPE(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 96)), TN_SHAPE, "reshape");
}
END_TEST

START_TEST(views_of_nothing_are_nothing)
{
    tn_tensor *x = ck_made(tn_zeros(TN_F32, TN_SHAPE(0, 3), test_device()));
    ck_shape(tn_transpose(x, 0, 1), TN_SHAPE(3, 0));
    ck_shape(tn_reshape(x, TN_SHAPE(5, 0, 2)), TN_SHAPE(5, 0, 2));
    ck_shape(tn_slice(x, 1, 1, TN_END, 1), TN_SHAPE(0, 2));
    ck_shape(tn_flip(x, TN_ALL_AXES), TN_SHAPE(0, 3));
    ck_shape(tn_select(x, 1, 0), TN_SHAPE(0));
    ck_shape(tn_add(tn_expand(x, TN_SHAPE(2, 0, 3)), tn_int(1)), TN_SHAPE(2, 0, 3));
    ck_launches(0, ck_ok(tn_read(tn_exp(x), NULL, 0)));
    ck_launches(0, ck_ok(tn_assign(x, tn_int(1))));
    ck_fails(tn_reshape(x, TN_SHAPE(0, -1)), TN_SHAPE, "reshape");
    ck_fails(tn_select(x, 0, 0), TN_AXIS, "select");
}
END_TEST

START_TEST(a_tensor_of_no_axes_is_one_element_everywhere)
{
    tn_tensor *x = test_f32(TN_SHAPE(), {3});
    ck_assert_int_eq(tn_ndim(x), 0);
    ck_assert_int_eq(tn_numel(x), 1);
    ck_tensor_f32(tn_add(x, x), {6});
    ck_shape(tn_reshape(tn_add(x, x), TN_SHAPE(1, 1)), TN_SHAPE(1, 1));
    ck_shape(tn_permute(x, TN_AXES()), TN_SHAPE());
    ck_shape(tn_flip(x, TN_ALL_AXES), TN_SHAPE());
    ck_shape(tn_sum(x, TN_ALL_AXES, true), TN_SHAPE());
    ck_ok(tn_assign(tn_select(tn_unsqueeze(x, 0), 0, 0), tn_int(5)));
    ck_tensor_f32(x, {5});
    ck_fails(tn_transpose(x, 0, 0), TN_AXIS, "transpose");
    ck_fails(tn_slice(x, 0, 0, 1, 1), TN_AXIS, "slice");
}
END_TEST

/* ---- views of what is pending ---- */

START_TEST(bone_03_a_view_of_a_pending_value_is_index_arithmetic)
{
    tn_tensor *x = bones_pending(TN_SHAPE(100, 100)), *y = tn_slice(tn_select(x, 0, 7), 0, 90, 80, -3);
    if (!test_is("host")) ck_assert(tn_is_pending(y));
    ck_launches(1, ck_tensor_i32(y, {790, 787, 784, 781}));
    if (!test_is("host")) ck_assert(tn_is_pending(x)); /* only the four were computed */
    tn_tensor *z = bones_pending(TN_SHAPE(100, 100));
    ck_launches(1, ck_tensor_i32(tn_slice(tn_select(tn_transpose(z, 0, 1), 0, 99), 0, 0, 2, 1), {99, 199}));
}
END_TEST

START_TEST(bone_03_expressions_run_over_views_of_pending_values)
{
    tn_tensor *x = bones_pending(TN_SHAPE(4, 6)), *y = tn_add(tn_flip(tn_transpose(x, 0, 1), TN_AXES(1)), tn_int(100)),
              *z = tn_slice(y, 0, 1, 3, 1);
    ck_launches(1, ck_tensor_i32(z, {119, 113, 107, 101, 120, 114, 108, 102}));
}
END_TEST

START_TEST(bone_03_pending_values_may_be_flattened_and_split)
{
    tn_tensor *x = bones_pending(TN_SHAPE(3, 4));
    ck_launches(1, ck_tensor_i32(tn_mul(tn_reshape(x, TN_SHAPE(6, 2)), tn_int(2)), {0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22}));
    tn_tensor *y = bones_pending(TN_SHAPE(3, 4)), *flat = tn_reshape(y, TN_SHAPE(12));
    ck_launches(1, ck_tensor_i32(tn_add(tn_slice(flat, 0, TN_END, TN_END, -1), tn_int(0)), {11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0}));
    tn_tensor *z = bones_pending(TN_SHAPE(3, 4));
    ck_tensor_i32(tn_slice(tn_reshape(z, TN_SHAPE(12)), 0, 2, 9, 1), {2, 3, 4, 5, 6, 7, 8}); /* crosses rows unevenly */
    ck_tensor_i32(tn_mul(tn_reshape(bones_pending(TN_SHAPE(3, 4)), TN_SHAPE(2, 6)), tn_int(2)),
                  {0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22});
    ck_tensor_i32(tn_reshape(tn_transpose(z, 0, 1), TN_SHAPE(2, 6)), {0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11});
}
END_TEST

START_TEST(bone_03_the_diagonals_of_a_pending_matrix_are_windows)
{
    tn_tensor *x = bones_pending(TN_SHAPE(4, 4)), *flat = tn_reshape(x, TN_SHAPE(16));
    ck_launches(1, ck_tensor_i32(tn_slice(flat, 0, 0, TN_END, 5), {0, 5, 10, 15}));
    ck_tensor_i32(tn_slice(flat, 0, 3, 13, 3), {3, 6, 9, 12});
    ck_tensor_i32(tn_slice(flat, 0, 15, TN_END, -5), {15, 10, 5, 0});
    ck_tensor_i32(tn_slice(flat, 0, 1, TN_END, 5), {1, 6, 11});
}
END_TEST

START_TEST(bone_03_a_view_through_a_structured_result_is_a_window_of_the_stored_value)
{
    tn_tensor *x = COUNT(TN_I32, 3, 4), *rows = tn_sum(tn_add(x, tn_int(1)), TN_AXES(1), false);
    ck_tensor_i64(tn_slice(rows, 0, TN_END, TN_END, -1), {42, 26, 10});
    tn_tensor *soft = tn_softmax(test_f32(TN_SHAPE(2, 2), {0, 0, 1, 1}), 1);
    ck_tensor_f32(tn_add(tn_slice(tn_transpose(soft, 0, 1), 0, 1, 2, 1), tn_int(1)), {1.5f, 1.5f});
    ck_tensor_f32(tn_select(tn_softmax(tn_select(tn_expand(soft, TN_SHAPE(3, 2, 2)), 0, 2), 0), 1, 0), {0.5f, 0.5f});
}
END_TEST

/* One random view of a tensor; the same calls on both tensors keep them the same. */
static void random_view(test_random *r, tn_tensor **x, tn_tensor **y)
{
    const tn_shape s = tn_shape_of(*x);
    const int a = s.ndim ? (int)test_below(r, s.ndim) : 0, b = s.ndim ? (int)test_below(r, s.ndim) : 0;
    const int64_t n = s.ndim ? s.dim[a] : 1, i = test_below(r, n), j = test_below(r, n + 1), step = 1 + test_below(r, 3);
    const int64_t number = test_below(r, 5);
    tn_shape split = s, grown = s;
#define BOTH(call)          \
    do {                    \
        tn_tensor *v = *x;  \
        *x = ck_made(call); \
        v = *y;             \
        *y = ck_made(call); \
    } while (0)
    switch (test_below(r, 9)) {
    case 0:
        if (s.ndim > 1) BOTH(tn_transpose(v, a, b));
        break;
    case 1:
        if (s.ndim && j > i) BOTH(tn_slice(v, a, i, j, step));
        break;
    case 2:
        if (s.ndim && n > 1) BOTH(tn_slice(v, a, TN_END, TN_END, -step));
        break;
    case 3:
        if (s.ndim > 2) BOTH(tn_select(v, a, i));
        break;
    case 4:
        if (s.ndim) BOTH(tn_flip(v, TN_AXES(a)));
        break;
    case 5: BOTH(tn_reshape(v, TN_SHAPE(-1))); break;
    case 6:
        for (int64_t q = 2; q < 7 && s.ndim && s.ndim < 6; q++) {
            if (n % q != 0 || n == q) continue;
            memmove(split.dim + a + 1, split.dim + a, (size_t)(s.ndim - a) * sizeof split.dim[0]);
            split.ndim++;
            split.dim[a] = q;
            split.dim[a + 1] = n / q;
            BOTH(tn_reshape(v, split));
            break;
        }
        break;
    case 7:
        if (s.ndim < 5) {
            memmove(grown.dim + 1, grown.dim, (size_t)s.ndim * sizeof grown.dim[0]);
            grown.ndim++;
            grown.dim[0] = 2;
            BOTH(tn_expand(v, grown));
        }
        break;
    default: BOTH(tn_add(v, tn_int(number))); break;
    }
#undef BOTH
}

START_TEST(bone_03_any_views_of_pending_values_are_those_of_stored_ones)
{
    test_random r = {test_seed(3)};
    const int rounds = test_is("host") ? 2000 : test_long() ? 300 : test_is("rusticl") ? 150 : 30; /* each builds its kernels */
    for (int i = 0; i < rounds; i++) {
        const tn_scope scope = tn_scope_push();
        const tn_shape shape = TN_SHAPE(1 + test_below(&r, 4), 1 + test_below(&r, 6), 2 + test_below(&r, 11));
        tn_tensor *x = bones_pending(shape), *y = bones_count(TN_I32, shape, "host");
        for (int64_t k = 2 + test_below(&r, 7); k > 0; k--) random_view(&r, &x, &y);
        ck_same(x, y);
        ck_ok(tn_scope_pop(scope));
    }
}
END_TEST

/* ---- layout ---- */

/* [n, c, h, w] whose channels lie innermost. */
static tn_tensor *channels_last(const char *device)
{
    return ck_made(tn_permute(bones_count(TN_F32, TN_SHAPE(2, 4, 5, 3), device), TN_AXES(0, 3, 1, 2)));
}

#define ck_strides(x, a, b, c, d)                                                                                               \
    do {                                                                                                                        \
        tn_tensor *x_ = ck_made(x);                                                                                             \
        ck_assert_msg(tn_stride(x_, 0) == (a) && tn_stride(x_, 1) == (b) && tn_stride(x_, 2) == (c) && tn_stride(x_, 3) == (d), \
                      "%s: strides %d %d %d %d", #x, (int)tn_stride(x_, 0), (int)tn_stride(x_, 1), (int)tn_stride(x_, 2),       \
                      (int)tn_stride(x_, 3));                                                                                   \
    } while (0)

START_TEST(bone_04_results_lie_as_the_first_operand_of_full_shape)
{
    tn_tensor *x = channels_last(test_device()), *bias = COUNT(TN_F32, 3, 1, 1), *plain = COUNT(TN_F32, 2, 3, 4, 5);
    ck_strides(tn_exp(x), 60, 1, 15, 3);
    ck_strides(tn_add(x, plain), 60, 1, 15, 3);
    ck_strides(tn_add(plain, x), 60, 20, 5, 1);
    ck_strides(tn_add(bias, x), 60, 1, 15, 3);
    ck_strides(tn_add(tn_expand(plain, TN_SHAPE(2, 3, 4, 5)), x), 60, 20, 5, 1);
    ck_strides(tn_add(tn_expand(bias, TN_SHAPE(2, 3, 4, 5)), x), 60, 1, 15, 3);
    ck_strides(tn_mul(tn_float(2), x), 60, 1, 15, 3);
    ck_strides(tn_cast(x, TN_F16), 60, 1, 15, 3);
    ck_strides(tn_where(tn_gt(x, tn_int(3)), x, bias), 60, 1, 15, 3);
    ck_strides(tn_add(tn_expand(bias, TN_SHAPE(2, 3, 4, 5)), bias), 60, 20, 5, 1);
    ck_same(tn_add(x, plain), tn_add(plain, x));
}
END_TEST

START_TEST(bone_04_results_are_dense_and_run_forwards)
{
    tn_tensor *x = channels_last(test_device());
    ck_strides(tn_neg(tn_flip(x, TN_ALL_AXES)), 60, 1, 15, 3);
    ck_strides(tn_neg(tn_slice(tn_slice(x, 2, 0, TN_END, 2), 3, TN_END, TN_END, -2)), 18, 1, 9, 3);
    ck_strides(tn_neg(tn_transpose(x, 0, 1)), 1, 60, 15, 3);
    ck_strides(tn_neg(tn_slice(x, 1, 0, 2, 1)), 40, 1, 10, 2);
}
END_TEST

START_TEST(bone_04_copies_and_moves_keep_the_layout_and_contiguous_does_not)
{
    tn_tensor *x = channels_last(test_device());
    ck_strides(tn_clone(x), 60, 1, 15, 3);
    ck_strides(tn_host(x), 60, 1, 15, 3);
    ck_strides(tn_to(channels_last("host"), test_device()), 60, 1, 15, 3);
    ck_strides(tn_host(tn_exp(x)), 60, 1, 15, 3);
    ck_strides(tn_contiguous(x), 60, 20, 5, 1);
    ck_assert(tn_is_contiguous(tn_contiguous(tn_exp(x))));
    ck_same(tn_contiguous(x), x);
    ck_same(tn_host(x), x);
}
END_TEST

START_TEST(bone_04_reading_and_writing_go_in_row_major_order)
{
    tn_tensor *x = tn_transpose(COUNT(TN_I32, 2, 3), 0, 1);
    ck_tensor_i32(x, {0, 3, 1, 4, 2, 5});
    ck_ok(tn_write(x, (const int32_t[]){1, 2, 3, 4, 5, 6}, 24));
    ck_tensor_i32(x, {1, 2, 3, 4, 5, 6});
    ck_tensor_i32(tn_transpose(x, 0, 1), {1, 3, 5, 2, 4, 6});
    tn_tensor *y = channels_last(test_device());
    ck_tensor_f32(tn_reshape(tn_slice(tn_slice(y, 0, 1, 2, 1), 2, 3, 4, 1), TN_SHAPE(15)),
                  {105, 108, 111, 114, 117, 106, 109, 112, 115, 118, 107, 110, 113, 116, 119});
}
END_TEST

START_TEST(bone_04_strides_are_the_same_on_every_device)
{
    for (int round = 0; round < 2; round++) {
        tn_tensor *list[2][6];
        for (int d = 0; d < 2; d++) {
            tn_tensor *x = channels_last(d ? test_device() : "host");
            list[d][0] = tn_sum(x, TN_AXES(0), true);
            list[d][1] = tn_softmax(x, 1);
            list[d][2] = tn_mean(x, TN_AXES(2, 3), true);
            list[d][3] = tn_max(tn_flip(x, TN_AXES(1)), TN_AXES(1), true);
            list[d][4] = tn_div(x, tn_sum(x, TN_AXES(1), true));
            list[d][5] = tn_argmax(tn_transpose(x, 0, 1), TN_AXES(3), true);
        }
        for (int i = 0; i < 6; i++)
            for (int a = 0; a < 4; a++) {
                ck_assert_int_eq(tn_dim(ck_made(list[0][i]), a), tn_dim(ck_made(list[1][i]), a));
                if (tn_dim(list[0][i], a) > 1) ck_assert_int_eq(tn_stride(list[0][i], a), tn_stride(list[1][i], a));
            }
    }
}
END_TEST

BONES_MAIN("views", reshape_of_gapless_memory_is_a_view, reshape_copies_where_strides_do_not_allow_a_view, view_never_copies,
           view_splits_and_merges_axes_that_lie_as_one, squeeze_drops_axes_of_one, unsqueeze_inserts_an_axis_of_one,
           transpose_swaps_two_axes, permute_takes_every_axis_once, slice_follows_python, slices_of_slices_add_up,
           select_takes_one_index_and_drops_the_axis, expand_repeats_by_stride_0, flip_reverses_axes,
           C17_reversed_and_partial_views_have_the_right_shape_offset_and_flag,
           C17_axes_of_one_or_no_element_do_not_count_for_contiguity, C15_elements_meet_by_index_whatever_the_strides,
           C18_a_view_at_any_offset_is_an_operand, sixteen_axes_are_allowed_and_seventeen_refused, views_of_nothing_are_nothing,
           a_tensor_of_no_axes_is_one_element_everywhere, bone_03_a_view_of_a_pending_value_is_index_arithmetic,
           bone_03_expressions_run_over_views_of_pending_values, bone_03_pending_values_may_be_flattened_and_split,
           bone_03_the_diagonals_of_a_pending_matrix_are_windows,
           bone_03_a_view_through_a_structured_result_is_a_window_of_the_stored_value,
           bone_03_any_views_of_pending_values_are_those_of_stored_ones, bone_04_results_lie_as_the_first_operand_of_full_shape,
           bone_04_results_are_dense_and_run_forwards, bone_04_copies_and_moves_keep_the_layout_and_contiguous_does_not,
           bone_04_reading_and_writing_go_in_row_major_order, bone_04_strides_are_the_same_on_every_device)
