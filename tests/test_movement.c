/* More views, and movement: against index arithmetic written out. */
#include "bones.h"

/* 0, 1, 2, … on the device under test. */
#define COUNT(dtype, ...) bones_count(dtype, TN_SHAPE(__VA_ARGS__), test_device())

/* i32 elements of x, row-major; at most 4096. */
static const int32_t *elements(tn_tensor *x)
{
    static int32_t values[4096];
    ck_assert_int_le(tn_numel(x), 4096);
    ck_ok(tn_read(x, values, tn_nbytes(x)));
    return values;
}

/* ---- views ---- */

START_TEST(movedim_places_some_axes_and_keeps_the_order_of_the_others)
{
    tn_tensor *x = COUNT(TN_I32, 2, 3, 4), *y = tn_movedim(x, TN_AXES(0), TN_AXES(-1));
    ck_shape(y, TN_SHAPE(3, 4, 2));
    const int32_t *got = elements(y);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++)
            for (int k = 0; k < 2; k++) ck_assert_int_eq(*got++, k * 12 + i * 4 + j);
    ck_same(tn_movedim(x, TN_AXES(2, 0), TN_AXES(0, 1)), tn_permute(x, TN_AXES(2, 0, 1)));
    ck_same(tn_movedim(x, TN_AXES(-3, -1), TN_AXES(2, 0)), tn_permute(x, TN_AXES(2, 1, 0)));
    ck_same(tn_movedim(x, TN_AXES(), TN_AXES()), x);
    ck_shape(tn_movedim(test_i32(TN_SHAPE(), {1}), TN_AXES(), TN_AXES()), TN_SHAPE());
    ck_fails(tn_movedim(x, TN_AXES(0, 1), TN_AXES(0)), TN_AXIS, "movedim", "2 axes go to 1");
    ck_fails(tn_movedim(x, TN_AXES(3), TN_AXES(0)), TN_AXIS, "movedim", "axis 3");
    ck_fails(tn_movedim(x, TN_AXES(0, 1), TN_AXES(1, -2)), TN_AXIS, "movedim", "twice");
}
END_TEST

START_TEST(diagonal_is_a_view_with_its_axis_last)
{
    tn_tensor *x = COUNT(TN_I32, 2, 3, 4);
    for (int offset = -4; offset <= 5; offset++) {
        tn_tensor *y = ck_made(tn_diagonal(x, offset, 1, 2));
        const int32_t *got = elements(y);
        int length = 0;
        for (int b = 0; b < 2; b++)
            for (int i = 0; i < 3; i++)
                if (i + offset >= 0 && i + offset < 4) ck_assert_int_eq(got[length++], b * 12 + i * 4 + i + offset);
        ck_shape(y, TN_SHAPE(2, length / 2));
    }
    ck_tensor_i32(tn_diagonal(COUNT(TN_I32, 2, 3), 1, -1, 0), {3}); /* axis1 is the columns */
    ck_shape(tn_diagonal(x, INT64_MIN, 1, 2), TN_SHAPE(2, 0));
    ck_shape(tn_diagonal(x, INT64_MAX, 1, 2), TN_SHAPE(2, 0));
    tn_tensor *square = COUNT(TN_I32, 2, 2);
    ck_ok(tn_assign(tn_diagonal(square, 0, 0, 1), tn_int(9)));
    ck_tensor_i32(square, {9, 1, 2, 9});
    ck_fails(tn_diagonal(x, 0, 1, -2), TN_AXIS, "diagonal", "same axis");
    ck_fails(tn_diagonal(x, 0, 0, 3), TN_AXIS, "diagonal", "3");
    ck_fails(tn_diagonal(test_i32(TN_SHAPE(), {1}), 0, 0, 1), TN_AXIS, "diagonal", "without axes");
}
END_TEST

START_TEST(unfold_gives_windows_along_an_axis)
{
    tn_tensor *x = COUNT(TN_I32, 7, 2), *y = tn_unfold(x, 0, 3, 2);
    ck_shape(y, TN_SHAPE(3, 2, 3));
    const int32_t *got = elements(y);
    for (int w = 0; w < 3; w++)
        for (int c = 0; c < 2; c++)
            for (int k = 0; k < 3; k++) ck_assert_int_eq(*got++, (2 * w + k) * 2 + c);
    ck_tensor_i32(tn_unfold(COUNT(TN_I32, 5), -1, 2, 9), {0, 1});
    ck_shape(tn_unfold(x, 0, 0, 1), TN_SHAPE(8, 2, 0));
    ck_shape(tn_unfold(COUNT(TN_I32, 0, 3), 0, 0, 1), TN_SHAPE(1, 3, 0));
    ck_fails(tn_unfold(x, 1, 3, 1), TN_ARGUMENT, "unfold", "size 3", "0 to 2", "[7,2]");
    ck_fails(tn_unfold(x, 1, -1, 1), TN_ARGUMENT, "unfold", "size -1");
    ck_fails(tn_unfold(x, 1, 1, 0), TN_ARGUMENT, "unfold", "step 0");
    ck_fails(tn_unfold(x, 2, 1, 1), TN_AXIS, "unfold", "2");
    ck_fails(tn_unfold(tn_reshape(x, TN_SHAPE(7, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)), 0, 1, 1), TN_SHAPE, "unfold", "16");
    ck_fails(tn_assign(y, tn_int(1)), TN_ARGUMENT, "assign"); /* windows overlap */
}
END_TEST

START_TEST(as_strided_is_any_window_inside_the_storage)
{
    tn_tensor *x = COUNT(TN_I32, 4, 5), *part = tn_select(x, 0, 2);
    ck_tensor_i32(tn_as_strided(x, TN_SHAPE(2, 3), TN_SHAPE(1, 6), 2), {2, 8, 14, 3, 9, 15});
    ck_tensor_i32(tn_as_strided(part, TN_SHAPE(2, 2), TN_SHAPE(-19, 0), 19), {19, 19, 0, 0});
    ck_tensor_i32(tn_as_strided(part, TN_SHAPE(), TN_SHAPE(), 7), {7});
    ck_shape(tn_as_strided(x, TN_SHAPE(0, 9), TN_SHAPE(99, 99), 20), TN_SHAPE(0, 9));
    ck_fails(tn_as_strided(x, TN_SHAPE(2, 3), TN_SHAPE(1, 9), 2), TN_ARGUMENT, "as_strided", "[2,3]", "[1,9]", "offset 2", "20");
    ck_fails(tn_as_strided(x, TN_SHAPE(2), TN_SHAPE(-1), 0), TN_ARGUMENT, "as_strided", "[-1]");
    ck_fails(tn_as_strided(x, TN_SHAPE(1), TN_SHAPE(1), 20), TN_ARGUMENT, "as_strided", "offset 20");
    ck_fails(tn_as_strided(x, TN_SHAPE(0), TN_SHAPE(1), 21), TN_ARGUMENT, "as_strided", "offset 21");
    ck_fails(tn_as_strided(x, TN_SHAPE(3), TN_SHAPE(INT64_MAX), 0), TN_ARGUMENT, "as_strided");
    ck_fails(tn_as_strided(x, TN_SHAPE(3), TN_SHAPE(INT64_MIN), 19), TN_ARGUMENT, "as_strided");
    ck_fails(tn_as_strided(x, TN_SHAPE(2), TN_SHAPE(1, 1), 0), TN_SHAPE, "as_strided", "2 strides", "[2]");
    ck_fails(tn_as_strided(x, TN_SHAPE(-1), TN_SHAPE(1), 0), TN_SHAPE, "as_strided", "negative");
}
END_TEST

START_TEST(split_and_chunk_cut_an_axis)
{
    tn_tensor *x = COUNT(TN_I32, 2, 7), *out[8] = {0};
    int count = 0;
    ck_ok(tn_split(x, -1, 3, out, 8, &count));
    ck_assert_int_eq(count, 3);
    ck_tensor_i32(out[0], {0, 1, 2, 7, 8, 9});
    ck_tensor_i32(out[2], {6, 13});
    ck_ok(tn_chunk(x, 1, 4, out, 8, &count)); /* 2 2 2 1 */
    ck_assert_int_eq(count, 4);
    ck_tensor_i32(out[3], {6, 13});
    ck_ok(tn_chunk(x, 1, 5, NULL, 0, &count)); /* 2 2 2 1: rounding up leaves none for the fifth */
    ck_assert_int_eq(count, 4);
    ck_ok(tn_split(x, 1, INT64_MAX, out, 1, &count));
    ck_assert_int_eq(count, 1);
    tn_tensor *none = COUNT(TN_I32, 0, 3);
    ck_ok(tn_split(none, 0, 0, out, 8, &count));
    ck_assert_int_eq(count, 1);
    ck_ok(tn_chunk(none, 0, 3, out, 8, &count));
    ck_assert_int_eq(count, 3);
    ck_shape(out[2], TN_SHAPE(0, 3));
    ck_fails(tn_split(x, 1, 3, out, 2, &count), TN_ARGUMENT, "split", "3 pieces", "room for 2");
    ck_fails(tn_split(x, 1, 0, out, 8, &count), TN_ARGUMENT, "split", "size 0", "[2,7]");
    ck_fails(tn_split(x, 2, 1, out, 8, &count), TN_AXIS, "split", "2");
    ck_fails(tn_split(x, 1, 1, out, 8, NULL), TN_ARGUMENT, "split", "count");
    ck_fails(tn_chunk(x, 1, 0, out, 8, &count), TN_ARGUMENT, "chunk", "0 chunks");
}
END_TEST

START_TEST(flatten_and_unflatten_merge_and_split_axes)
{
    tn_tensor *x = COUNT(TN_I32, 2, 3, 4);
    ck_shape(tn_flatten(x, 0, 1), TN_SHAPE(6, 4));
    ck_shape(tn_flatten(x, -2, -1), TN_SHAPE(2, 12));
    ck_shape(tn_flatten(x, 1, 1), TN_SHAPE(2, 3, 4));
    ck_shape(tn_ravel(x), TN_SHAPE(24));
    ck_shape(tn_ravel(test_i32(TN_SHAPE(), {1})), TN_SHAPE(1));
    ck_shape(tn_flatten(COUNT(TN_I32, 0, 3), 0, -1), TN_SHAPE(0));
    ck_tensor_i32(tn_ravel(tn_transpose(COUNT(TN_I32, 2, 2), 0, 1)), {0, 2, 1, 3});
    ck_shape(tn_unflatten(x, -1, TN_SHAPE(2, -1)), TN_SHAPE(2, 3, 2, 2));
    ck_same(tn_unflatten(tn_transpose(x, 0, 2), 0, TN_SHAPE(2, 2)),
            tn_permute(tn_view(x, TN_SHAPE(2, 3, 2, 2)), TN_AXES(2, 3, 1, 0)));
    ck_shape(tn_unflatten(COUNT(TN_I32, 0), 0, TN_SHAPE(0, 7)), TN_SHAPE(0, 7));
    ck_fails(tn_flatten(x, 2, 1), TN_AXIS, "flatten", "last axis 1", "first, 2");
    ck_fails(tn_flatten(x, 0, 3), TN_AXIS, "flatten", "3");
    ck_fails(tn_unflatten(x, 1, TN_SHAPE(2, 2)), TN_SHAPE, "unflatten", "[2,2]", "3", "[2,3,4]");
    ck_fails(tn_unflatten(x, 2, TN_SHAPE(3, -1)), TN_SHAPE, "unflatten", "[3,-1]", "4");
    ck_fails(tn_unflatten(x, 2, TN_SHAPE(-1, -1)), TN_SHAPE, "unflatten", "only one");
    ck_fails(tn_unflatten(x, 2, TN_SHAPE()), TN_SHAPE, "unflatten", "0 sizes");
}
END_TEST

START_TEST(views_take_sixteen_axes_and_pending_values)
{
    const tn_shape shape = TN_SHAPE(2, 1, 2, 1, 1, 2, 1, 3, 1, 1, 2, 1, 1, 1, 1, 2);
    tn_tensor *x = bones_pending(shape), *h = bones_count(TN_I32, shape, "host");
    ck_same(tn_movedim(x, TN_AXES(0, 7), TN_AXES(15, 0)), tn_movedim(h, TN_AXES(0, 7), TN_AXES(15, 0)));
    ck_same(tn_diagonal(x, 1, 2, 7), tn_diagonal(h, 1, 2, 7));
    ck_same(tn_flatten(tn_transpose(x, 0, 7), 2, 9), tn_flatten(tn_transpose(h, 0, 7), 2, 9));
    tn_tensor *y = bones_pending(TN_SHAPE(6, 6)), *k = bones_count(TN_I32, TN_SHAPE(6, 6), "host");
    ck_same(tn_unfold(tn_unfold(y, 0, 3, 1), 1, 2, 3), tn_unfold(tn_unfold(k, 0, 3, 1), 1, 2, 3));
    ck_same(tn_as_strided(y, TN_SHAPE(4, 5), TN_SHAPE(-2, 5), 9), tn_as_strided(k, TN_SHAPE(4, 5), TN_SHAPE(-2, 5), 9));
    ck_fails(tn_unflatten(x, 0, TN_SHAPE(2, 1)), TN_SHAPE, "unflatten", "16");
    ck_same(tn_broadcast_to(tn_select(y, 0, 1), TN_SHAPE(2, 6)), tn_expand(tn_select(k, 0, 1), TN_SHAPE(2, 6)));
}
END_TEST

START_TEST(a_missing_operand_keeps_its_error)
{
    ck_fails(tn_movedim(tn_select(COUNT(TN_I32, 2), 0, 5), TN_AXES(), TN_AXES()), TN_AXIS, "select", "index 5");
    ck_fails(tn_diagonal(NULL, 0, 0, 1), TN_ARGUMENT, "diagonal", "x");
    ck_fails(tn_as_strided(TN_NONE, TN_SHAPE(), TN_SHAPE(), 0), TN_ARGUMENT, "as_strided", "TN_NONE");
    ck_fails(tn_flatten(NULL, 0, -1), TN_ARGUMENT, "flatten", "x");
}
END_TEST

BONES_MAIN("movement", movedim_places_some_axes_and_keeps_the_order_of_the_others, diagonal_is_a_view_with_its_axis_last,
           unfold_gives_windows_along_an_axis, as_strided_is_any_window_inside_the_storage, split_and_chunk_cut_an_axis,
           flatten_and_unflatten_merge_and_split_axes, views_take_sixteen_axes_and_pending_values,
           a_missing_operand_keeps_its_error)
