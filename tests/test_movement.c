/* More views, and movement: against index arithmetic written out. */
#include "bones.h"
#include "base/alloc.h"
#include <math.h>

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

/* ---- joining ---- */

#define LIST(...) (tn_tensor *const[]){__VA_ARGS__}, (int)(sizeof((tn_tensor *const[]){__VA_ARGS__}) / sizeof(tn_tensor *))

START_TEST(concat_puts_one_after_the_other_in_any_layout)
{
    tn_tensor *a = tn_transpose(COUNT(TN_I32, 3, 2), 0, 1), *b = tn_flip(bones_pending(TN_SHAPE(2, 2)), TN_ALL_AXES),
              *c = tn_expand(test_i32(TN_SHAPE(1), {7}), TN_SHAPE(2, 1)), *y = tn_concat(LIST(a, b, c), -1);
    ck_shape(y, TN_SHAPE(2, 6));
    const int32_t *got = elements(y);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 6; j++) ck_assert_int_eq(*got++, j < 3 ? j * 2 + i : j < 5 ? 3 - (i * 2 + j - 3) : 7);
    ck_same(tn_concat(LIST(a, a), 0), tn_concat(LIST(tn_host(a), tn_host(a)), 0));
    tn_tensor *one = tn_concat(LIST(b), 0);
    ck_ok(tn_assign(one, tn_int(5))); /* a copy */
    ck_tensor_i32(b, {3, 2, 1, 0});
}
END_TEST

START_TEST(concat_promotes_as_pytorch_does)
{
    tn_tensor *i = test_i32(TN_SHAPE(1), {3}), *f = test_values(TN_F16, TN_SHAPE(1), {0.5}), *u = test_u8(TN_SHAPE(1), {255}),
              *b = test_bool(TN_SHAPE(1), {1});
    tn_tensor *y = tn_concat(LIST(i, f, u, b), 0);
    ck_assert_int_eq(tn_dtype_of(y), TN_F16);
    ck_values(y, {3, 0.5, 255, 1});
    ck_tensor_i32(tn_concat(LIST(u, i), 0), {255, 3});
    ck_tensor_f32(tn_stack(LIST(test_f32(TN_SHAPE(), {2}), tn_float(0.5), tn_int(3), tn_bool(true)), 0), {2, 0.5f, 3, 1});
    ck_tensor_i64(tn_stack(LIST(tn_int(1), tn_int(2)), 0), {1, 2});
    ck_fails(tn_concat(LIST(i, tn_zeros(TN_U64, TN_SHAPE(1), test_device())), 0), TN_DTYPE, "u64");
}
END_TEST

START_TEST(concat_of_nothing_and_of_many_axes)
{
    tn_tensor *none = COUNT(TN_I32, 0), *x = COUNT(TN_I32, 2, 2), *rows = COUNT(TN_I32, 0, 2);
    ck_same(tn_concat(LIST(none, x, none, rows), 0), x);
    ck_shape(tn_concat(LIST(none, none), 0), TN_SHAPE(0));
    ck_shape(tn_concat(LIST(rows, rows), 1), TN_SHAPE(0, 4));
    tn_tensor *many = tn_reshape(x, TN_SHAPE(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 1));
    ck_tensor_i32(tn_concat(LIST(many, many), -2), {0, 1, 0, 1, 2, 3, 2, 3});
    ck_fails(tn_stack(LIST(many), 0), TN_SHAPE, "stack", "16");
}
END_TEST

START_TEST(concat_and_stack_say_what_does_not_fit)
{
    tn_tensor *x = COUNT(TN_I32, 2, 3), *y = COUNT(TN_I32, 2, 4);
    ck_fails(tn_concat(LIST(x, x, y), 0), TN_SHAPE, "concat", "entry 0 [2,3]", "entry 2 [2,4]", "axis 0");
    ck_fails(tn_concat(LIST(x, COUNT(TN_I32, 2)), 0), TN_SHAPE, "concat", "[2]");
    ck_fails(tn_concat(LIST(x), 2), TN_AXIS, "concat", "axis 2");
    ck_fails(tn_concat(LIST(test_i32(TN_SHAPE(), {1})), 0), TN_SHAPE, "concat", "entry 0", "tn_stack");
    ck_fails(tn_concat(LIST(x, NULL), 0), TN_ARGUMENT, "concat", "list");
    ck_fails(tn_concat(LIST(x, TN_NONE), 0), TN_ARGUMENT, "concat", "TN_NONE");
    ck_fails(tn_concat(NULL, 1, 0), TN_ARGUMENT, "concat", "list");
    ck_fails(tn_concat(LIST(x) - 1, 0), TN_ARGUMENT, "concat", "0 tensors");
    ck_fails(tn_stack(LIST(x, y), 0), TN_SHAPE, "stack", "entry 0 [2,3]", "entry 1 [2,4]");
    ck_fails(tn_stack(LIST(x), 3), TN_AXIS, "stack", "3");
    if (test_is("host")) return;
    tn_tensor *h = tn_host(x);
    ck_fails(tn_concat(LIST(x, h), 0), TN_DEVICE, "concat", "on host", test_device(), "tn_to(b");
    ck_fails(tn_concat(LIST(x, x, x, h, x), 0), TN_DEVICE, "concat", "entry 3 [2,3] is on host", test_device(), "tn_to(entry 3");
}
END_TEST

START_TEST(stack_makes_a_new_axis)
{
    tn_tensor *x = COUNT(TN_I32, 2, 3), *y = tn_add(x, tn_int(10));
    for (int axis = -3; axis <= 2; axis++) {
        const int a = axis < 0 ? axis + 3 : axis;
        tn_tensor *z = ck_made(tn_stack(LIST(x, y), axis));
        ck_assert_int_eq(tn_dim(z, a), 2);
        ck_same(tn_select(z, a, 0), x);
        ck_same(tn_select(z, a, 1), y);
        if (!test_is("host") && axis == -2) break;
    }
}
END_TEST

START_TEST(roll_turns_axes_over)
{
    tn_tensor *x = COUNT(TN_I32, 3, 4), *y = tn_roll(x, TN_SHAPE(1, -6), TN_AXES(0, -1));
    const int32_t *got = elements(y);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++) ck_assert_int_eq(*got++, (i + 2) % 3 * 4 + (j + 6) % 4);
    ck_tensor_i32(tn_roll(COUNT(TN_I32, 2, 3), TN_SHAPE(2), TN_ALL_AXES), {4, 5, 0, 1, 2, 3});
    ck_tensor_i32(tn_roll(COUNT(TN_I32, 3), TN_SHAPE(1, 1), TN_AXES(0, 0)), {1, 2, 0});
    ck_ok(tn_assign(tn_roll(x, TN_SHAPE(8), TN_AXES(1)), tn_int(0)));
    ck_tensor_i32(tn_select(x, 0, 1), {4, 5, 6, 7}); /* a copy even where nothing turns */
    ck_shape(tn_roll(COUNT(TN_I32, 0, 3), TN_SHAPE(1), TN_ALL_AXES), TN_SHAPE(0, 3));
    ck_fails(tn_roll(x, TN_SHAPE(1), TN_AXES(0, 1)), TN_SHAPE, "roll", "1 shifts for 2 axes");
    ck_fails(tn_roll(x, TN_SHAPE(1), TN_AXES(2)), TN_AXIS, "roll", "2");
}
END_TEST

/* ---- padding ---- */

/* The element that stands at place i of an axis of n, -1 for none. */
static int source_of(int i, int n, tn_pad_mode mode)
{
    if (i >= 0 && i < n) return i;
    switch (mode) {
    case TN_PAD_REFLECT: return i < 0 ? -i : 2 * (n - 1) - i;
    case TN_PAD_REPLICATE: return i < 0 ? 0 : n - 1;
    case TN_PAD_CIRCULAR: return (i + n) % n;
    default: return -1;
    }
}

START_TEST(pad_has_four_modes)
{
    tn_tensor *x = tn_transpose(COUNT(TN_I32, 4, 3), 0, 1); /* [3, 4] */
    for (tn_pad_mode mode = TN_PAD_CONSTANT; mode <= TN_PAD_CIRCULAR; mode++) {
        tn_tensor *y = ck_made(tn_pad(x, TN_SHAPE(2, 1), TN_SHAPE(0, 3), mode, tn_int(-5)));
        ck_shape(y, TN_SHAPE(5, 8));
        const int32_t *got = elements(y);
        for (int i = 0; i < 5; i++)
            for (int j = 0; j < 8; j++) {
                const int r = source_of(i - 2, 3, mode), c = source_of(j - 1, 4, mode), want = r < 0 || c < 0 ? -5 : c * 3 + r;
                ck_assert_msg(*got == want, "mode %d at %d,%d: %d, not %d", (int)mode, i, j, *got, want);
                got++;
            }
    }
}
END_TEST

START_TEST(pad_takes_off_where_a_number_is_negative)
{
    tn_tensor *x = COUNT(TN_I32, 2, 4);
    ck_tensor_i32(tn_pad(x, TN_SHAPE(0, -1), TN_SHAPE(0, 1), TN_PAD_CONSTANT, TN_NONE), {1, 2, 3, 0, 5, 6, 7, 0});
    ck_shape(tn_pad(x, TN_SHAPE(-1, 0), TN_SHAPE(-1, 0), TN_PAD_CONSTANT, TN_NONE), TN_SHAPE(0, 4));
    ck_fails(tn_pad(x, TN_SHAPE(-2, 0), TN_SHAPE(-1, 0), TN_PAD_CONSTANT, TN_NONE), TN_SHAPE, "pad", "-2", "axis 0", "[2,4]");
    ck_fails(tn_pad(x, TN_SHAPE(-1, 0), TN_SHAPE(0, 0), TN_PAD_REFLECT, TN_NONE), TN_ARGUMENT, "pad", "-1", "constant");
}
END_TEST

START_TEST(pad_has_limits)
{
    tn_tensor *x = COUNT(TN_I32, 2, 4), *none = COUNT(TN_I32, 0);
    ck_fails(tn_pad(x, TN_SHAPE(2, 0), TN_SHAPE(0, 0), TN_PAD_REFLECT, TN_NONE), TN_ARGUMENT, "2 before", "[2,4]", "reflect",
             "at most 1");
    ck_fails(tn_pad(x, TN_SHAPE(0, 0), TN_SHAPE(0, 5), TN_PAD_CIRCULAR, TN_NONE), TN_ARGUMENT, "5 after", "circular", "at most 4");
    ck_fails(tn_pad(none, TN_SHAPE(1), TN_SHAPE(0), TN_PAD_REPLICATE, TN_NONE), TN_ARGUMENT, "replicate", "[0]");
    ck_fails(tn_pad(none, TN_SHAPE(1), TN_SHAPE(0), TN_PAD_REFLECT, TN_NONE), TN_ARGUMENT, "reflect");
    ck_fails(tn_pad(x, TN_SHAPE(1), TN_SHAPE(1, 1), TN_PAD_CONSTANT, TN_NONE), TN_SHAPE, "1 numbers before and 2 after", "[2,4]");
    ck_fails(tn_pad(x, TN_SHAPE(0, INT64_MAX), TN_SHAPE(0, 0), TN_PAD_CONSTANT, TN_NONE), TN_OVERFLOW, "pad");
    ck_fails(tn_pad(x, TN_SHAPE(0, 0), TN_SHAPE(0, 0), (tn_pad_mode)9, TN_NONE), TN_ARGUMENT, "mode 9");
    ck_fails(tn_pad(COUNT(TN_U8, 1), TN_SHAPE(1), TN_SHAPE(0), TN_PAD_CONSTANT, tn_int(300)), TN_OVERFLOW, "pad", "300", "u8");
    ck_values(tn_pad(none, TN_SHAPE(1), TN_SHAPE(1), TN_PAD_CONSTANT, tn_int(4)), {4, 4});
    ck_values(tn_pad(test_i32(TN_SHAPE(), {3}), TN_SHAPE(), TN_SHAPE(), TN_PAD_CONSTANT, TN_NONE), {3});
}
END_TEST

/* ---- repeating ---- */

START_TEST(tile_and_repeat_put_copies_beside_each_other)
{
    tn_tensor *x = tn_transpose(COUNT(TN_I32, 3, 2), 0, 1), *y = tn_tile(x, TN_SHAPE(2, 1, 3)); /* [2, 3] */
    ck_shape(y, TN_SHAPE(2, 2, 9));
    const int32_t *got = elements(y);
    for (int b = 0; b < 2; b++)
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < 9; j++) ck_assert_int_eq(*got++, j % 3 * 2 + i);
    ck_tensor_i32(tn_tile(COUNT(TN_I32, 2, 1), TN_SHAPE(2)), {0, 0, 1, 1});
    tn_tensor *same = tn_tile(COUNT(TN_I32, 1, 2), TN_SHAPE(2, 1));
    ck_ok(tn_assign(tn_select(same, 0, 0), tn_int(9))); /* memory of its own, without repetition */
    ck_tensor_i32(same, {9, 9, 0, 1});
    ck_shape(tn_tile(x, TN_SHAPE(0, 2)), TN_SHAPE(0, 6));
    ck_tensor_i32(tn_repeat(test_i32(TN_SHAPE(), {4}), TN_SHAPE(3)), {4, 4, 4});
    ck_fails(tn_repeat(x, TN_SHAPE(3)), TN_SHAPE, "repeat", "1 counts", "[2,3]");
    ck_fails(tn_tile(x, TN_SHAPE(-1, 2)), TN_SHAPE, "tile", "[-1,2]");
    ck_fails(tn_tile(x, TN_SHAPE(INT64_MAX, 1)), TN_OVERFLOW, "tile");
}
END_TEST

START_TEST(repeat_interleave_repeats_each_element)
{
    tn_tensor *x = COUNT(TN_I32, 2, 2);
    ck_tensor_i32(tn_repeat_interleave(x, 2, 0), {0, 1, 0, 1, 2, 3, 2, 3});
    ck_tensor_i32(tn_repeat_interleave(x, 3, -1), {0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3});
    ck_shape(tn_repeat_interleave(x, 0, 0), TN_SHAPE(0, 2));
    tn_tensor *many = tn_reshape(x, TN_SHAPE(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 1));
    ck_tensor_i32(tn_repeat_interleave(many, 2, 14), {0, 0, 1, 1, 2, 2, 3, 3});
    ck_fails(tn_repeat_interleave(x, -1, 0), TN_ARGUMENT, "repeat_interleave", "-1");
    ck_fails(tn_repeat_interleave(x, 1, 2), TN_AXIS, "repeat_interleave", "2");
}
END_TEST

/* ---- matrices and grids ---- */

START_TEST(rot90_turns_as_numpy_does)
{
    tn_tensor *x = COUNT(TN_I32, 2, 3);
    ck_tensor_i32(tn_rot90(x, 1, 0, 1), {2, 5, 1, 4, 0, 3});
    ck_tensor_i32(tn_rot90(x, -2, 0, 1), {5, 4, 3, 2, 1, 0});
    ck_tensor_i32(tn_rot90(x, 3, 0, 1), {3, 0, 4, 1, 5, 2});
    ck_same(tn_rot90(x, 1, 1, 0), tn_rot90(x, 3, 0, 1));
    ck_same(tn_rot90(x, 4, 0, 1), x);
    ck_fails(tn_rot90(x, 1, 0, -2), TN_AXIS, "rot90", "same axis");
}
END_TEST

START_TEST(diag_goes_both_ways)
{
    tn_tensor *v = test_i32(TN_SHAPE(2), {5, 6});
    ck_tensor_i32(tn_diag(v, 0), {5, 0, 0, 6});
    ck_tensor_i32(tn_diag(v, -1), {0, 0, 0, 5, 0, 0, 0, 6, 0});
    ck_tensor_i32(tn_diag(tn_diag(v, 2), 2), {5, 6});
    tn_tensor *m = COUNT(TN_I32, 2, 3);
    ck_ok(tn_assign(tn_diag(m, 1), tn_int(0)));
    ck_tensor_i32(m, {0, 1, 2, 3, 4, 5});
    ck_shape(tn_diag(COUNT(TN_I32, 0), 0), TN_SHAPE(0, 0));
    ck_shape(tn_diag(m, 7), TN_SHAPE(0));
    ck_fails(tn_diag(test_i32(TN_SHAPE(), {1}), 0), TN_SHAPE, "diag", "[]");
    ck_fails(tn_diag(v, INT64_MIN), TN_OVERFLOW, "diag");
}
END_TEST

START_TEST(triu_and_tril_keep_a_triangle)
{
    tn_tensor *x = tn_add(COUNT(TN_I32, 2, 3, 4), tn_int(1));
    static const int64_t offsets[] = {0, 1, -2, 3, 4, -3, 99, -99, INT64_MAX, INT64_MIN};
    for (size_t k = 0; k < (test_is("host") ? sizeof offsets / sizeof *offsets : 2); k++) {
        const int64_t o = offsets[k];
        for (int lower = 0; lower < 2; lower++) {
            const int32_t *got = elements(lower ? tn_tril(x, o) : tn_triu(x, o));
            for (int64_t b = 0; b < 2; b++)
                for (int64_t i = 0; i < 3; i++)
                    for (int64_t j = 0; j < 4; j++)
                        ck_assert_int_eq(*got++, (lower ? j - i <= o : j - i >= o) ? b * 12 + i * 4 + j + 1 : 0);
        }
    }
    ck_tensor_bool(tn_tril(test_bool(TN_SHAPE(2, 2), {1, 1, 1, 1}), 0), {1, 0, 1, 1});
    ck_assert_int_eq(tn_dtype_of(tn_triu(COUNT(TN_U8, 2, 2), 0)), TN_U8);
    ck_shape(tn_triu(COUNT(TN_I32, 0, 3), 0), TN_SHAPE(0, 3));
    ck_fails(tn_tril(COUNT(TN_I32, 3), 0), TN_SHAPE, "tril", "[3]");
}
END_TEST

START_TEST(triu_lets_no_nan_through)
{
    tn_tensor *x = test_f32(TN_SHAPE(2, 2), {1, INFINITY, NAN, 2});
    ck_tensor_f32(tn_triu(x, 0), {1, INFINITY, 0, 2});
}
END_TEST

START_TEST(meshgrid_repeats_vectors_over_a_grid)
{
    tn_tensor *x = COUNT(TN_I32, 2), *y = COUNT(TN_U8, 3), *out[2];
    ck_ok(tn_meshgrid(LIST(x, y), false, out));
    ck_tensor_i32(out[0], {0, 0, 0, 1, 1, 1});
    ck_tensor_u8(out[1], {0, 1, 2, 0, 1, 2});
    ck_ok(tn_meshgrid(LIST(x, y), true, out));
    ck_shape(out[0], TN_SHAPE(3, 2));
    ck_tensor_i32(out[0], {0, 1, 0, 1, 0, 1});
    ck_tensor_u8(out[1], {0, 0, 1, 1, 2, 2});
    ck_ok(tn_meshgrid(LIST(test_i32(TN_SHAPE(), {4})), true, out));
    ck_tensor_i32(out[0], {4});
    ck_fails(tn_meshgrid(LIST(x, COUNT(TN_I32, 1, 2)), false, out), TN_SHAPE, "meshgrid", "entry 1 [1,2]");
    ck_fails(tn_meshgrid(LIST(x) - 1, false, out), TN_ARGUMENT, "meshgrid", "0 vectors");
    ck_fails(tn_meshgrid(LIST(x), false, NULL), TN_ARGUMENT, "meshgrid", "out");
}
END_TEST

START_TEST(one_hot_marks_the_class)
{
    ck_tensor_i64(tn_one_hot(test_i32(TN_SHAPE(3), {2, 0, -1}), 3), {0, 0, 1, 1, 0, 0, 0, 0, 0});
    ck_tensor_i64(tn_one_hot(test_u8(TN_SHAPE(), {1}), 2), {0, 1});
    ck_shape(tn_one_hot(test_u8(TN_SHAPE(1, 1), {255}), 300), TN_SHAPE(1, 1, 300));
    if (test_is("host")) ck_tensor_i64(tn_sum(tn_one_hot(test_u8(TN_SHAPE(1), {255}), 300), TN_ALL_AXES, false), {1});
    ck_shape(tn_one_hot(COUNT(TN_U64, 0), 2), TN_SHAPE(0, 2));
    ck_fails(tn_one_hot(test_f32(TN_SHAPE(1), {0}), 2), TN_DTYPE, "one_hot", "f32");
    ck_fails(tn_one_hot(COUNT(TN_I32, 1), 0), TN_ARGUMENT, "one_hot", "0 classes");
}
END_TEST

/* ---- without memory ---- */

static tn_tensor *joined(tn_tensor *x, int which)
{
    tn_tensor *out[2] = {NULL, NULL};
    int count = 0;
    switch (which) {
    case 0: return tn_concat(LIST(x, tn_transpose(x, 0, 1)), 0);
    case 1: return tn_stack(LIST(x, x), 1);
    case 2: return tn_roll(x, TN_SHAPE(1, 1), TN_AXES(0, 1));
    case 3: return tn_pad(x, TN_SHAPE(1, 1), TN_SHAPE(1, 0), TN_PAD_REFLECT, TN_NONE);
    case 4: return tn_pad(x, TN_SHAPE(1, 1), TN_SHAPE(1, 0), TN_PAD_CONSTANT, TN_NONE);
    case 5: return tn_tile(x, TN_SHAPE(2, 2));
    case 6: return tn_diag(tn_select(x, 0, 0), 1);
    case 7: return tn_triu(x, 0);
    case 8: return tn_split(x, 0, 1, out, 2, &count) == TN_OK ? out[1] : NULL;
    case 9: return tn_meshgrid(LIST(tn_select(x, 0, 0), tn_select(x, 0, 1)), true, out) == TN_OK ? out[1] : NULL;
    default: return tn_one_hot(x, 3);
    }
}

START_TEST(without_memory_each_fails_cleanly)
{
    TN_SKIP_IF(!test_is("host"), "allocations are counted on the host");
    for (int which = 0; which <= 10; which++) {
        int n = 1;
        for (; n < 200; n++) {
            const tn_scope scope = tn_scope_push();
            const int64_t live = tn_live_count();
            tn_tensor *x = COUNT(TN_I32, 2, 2);
            tn__alloc_fail_after(n, 1);
            const tn_tensor *y = joined(x, which);
            tn__alloc_fail_after(0, 0);
            if (!y) ck_assert_msg(tn_last_status() == TN_MEMORY, "%d of %d: %s", n, which, tn_last_error());
            ck_tensor_i32(x, {0, 1, 2, 3});
            (void)tn_scope_pop(scope);
            tn_clear_error();
            ck_assert_int_eq(tn_live_count(), live);
            if (y) break;
        }
        ck_assert_msg(n > 1 && n < 200, "%d: %d allocations", which, n);
    }
}
END_TEST

/* ---- copies of what lies another way round ---- */

START_TEST(transposed_copies_have_every_element_in_its_place)
{
    static const struct {
        tn_dtype dtype;
        int64_t rows, columns;
    } cases[] = {{TN_F32, 67, 45}, {TN_U8, 70, 33}, {TN_F16, 40, 41}, {TN_I64, 20, 13}, {TN_I32, 8, 16}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tn_tensor *x = bones_count(cases[i].dtype, TN_SHAPE(cases[i].rows, cases[i].columns), test_device());
        tn_tensor *y = ck_made(tn_contiguous(tn_transpose(x, 0, 1)));
        ck_same(tn_host(y), tn_contiguous(tn_transpose(tn_host(x), 0, 1)));
    }
}
END_TEST

START_TEST(an_expression_reads_operands_that_lie_both_ways)
{
    tn_tensor *x = COUNT(TN_I32, 3, 17, 17), *y = tn_sub(tn_mul(x, tn_int(1000)), tn_transpose(x, 1, 2));
    const int32_t *got = elements(y);
    for (int n = 0; n < 3; n++)
        for (int i = 0; i < 17; i++)
            for (int j = 0; j < 17; j++) ck_assert_int_eq(*got++, 1000 * (n * 289 + i * 17 + j) - (n * 289 + j * 17 + i));
}
END_TEST

START_TEST(channels_go_last_and_first)
{
    tn_tensor *x = COUNT(TN_I32, 2, 3, 5, 9), *y = tn_contiguous(tn_permute(x, TN_AXES(0, 2, 3, 1)));
    const int32_t *got = elements(y);
    for (int n = 0; n < 2; n++)
        for (int at = 0; at < 45; at++)
            for (int c = 0; c < 3; c++) ck_assert_int_eq(*got++, (n * 3 + c) * 45 + at);
    ck_same(tn_contiguous(tn_permute(y, TN_AXES(0, 3, 1, 2))), x);
}
END_TEST

START_TEST(a_transposed_part_is_written_in_its_place_only)
{
    tn_tensor *x = COUNT(TN_I32, 19, 23), *z = tn_full(TN_I32, TN_SHAPE(25, 21), tn_int(-1), test_device());
    ck_ok(tn_assign(tn_slice(tn_slice(z, 0, 1, 24, 1), 1, 2, 21, 1), tn_transpose(x, 0, 1)));
    const int32_t *got = elements(z);
    for (int i = 0; i < 25; i++)
        for (int j = 0; j < 21; j++, got++) ck_assert_int_eq(*got, i >= 1 && i < 24 && j >= 2 ? (j - 2) * 23 + i - 1 : -1);
}
END_TEST

START_TEST(results_larger_than_a_cache_are_whole)
{
    enum { COUNT_OF = 4500001 };
    tn_tensor *x = tn_add(tn_arange(TN_I32, 0, COUNT_OF, 1, test_device()), tn_int(7));
    int32_t *values = malloc(COUNT_OF * sizeof *values);
    ck_assert_ptr_nonnull(values);
    ck_ok(tn_read(x, values, COUNT_OF * sizeof *values));
    for (int i = 0; i < COUNT_OF; i++)
        if (values[i] != i + 7) ck_abort_msg("element %d is %d", i, values[i]);
    free(values);
}
END_TEST

START_TEST(concat_moves_host_entries_where_the_thread_asked_for_it)
{
    NEEDS_OPENCL();
    tn_tensor *x = COUNT(TN_I32, 2), *h = bones_count(TN_I32, TN_SHAPE(3), "host");
    tn_auto_move(true);
    tn_tensor *y = tn_concat(LIST(h, x, h, x), 0);
    tn_auto_move(false);
    ck_tensor_i32(y, {0, 1, 2, 0, 1, 0, 1, 2, 0, 1});
    ck_assert_str_eq(tn_device_of(y), test_device());
}
END_TEST

BONES_MAIN("movement", movedim_places_some_axes_and_keeps_the_order_of_the_others, diagonal_is_a_view_with_its_axis_last,
           unfold_gives_windows_along_an_axis, as_strided_is_any_window_inside_the_storage, split_and_chunk_cut_an_axis,
           flatten_and_unflatten_merge_and_split_axes, views_take_sixteen_axes_and_pending_values,
           a_missing_operand_keeps_its_error, concat_puts_one_after_the_other_in_any_layout, concat_promotes_as_pytorch_does,
           concat_of_nothing_and_of_many_axes, concat_and_stack_say_what_does_not_fit, stack_makes_a_new_axis, roll_turns_axes_over,
           pad_has_four_modes, pad_takes_off_where_a_number_is_negative, pad_has_limits,
           tile_and_repeat_put_copies_beside_each_other, repeat_interleave_repeats_each_element, rot90_turns_as_numpy_does,
           diag_goes_both_ways, triu_and_tril_keep_a_triangle, triu_lets_no_nan_through, meshgrid_repeats_vectors_over_a_grid,
           one_hot_marks_the_class, transposed_copies_have_every_element_in_its_place,
           an_expression_reads_operands_that_lie_both_ways, channels_go_last_and_first,
           a_transposed_part_is_written_in_its_place_only, results_larger_than_a_cache_are_whole, without_memory_each_fails_cleanly,
           concat_moves_host_entries_where_the_thread_asked_for_it)
