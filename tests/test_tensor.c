/* Creation, questions, reading and writing, casts; contract and cases that hold for one operation. */
#include "bones.h"

#include <math.h>
#include <pthread.h>

/* ---- creation ---- */

START_TEST(from_copies_what_it_is_given)
{
    float data[6] = {1, 2, 3, 4, 5, 6};
    tn_tensor *x = ck_made(tn_from(TN_F32, TN_SHAPE(2, 3), data, test_device()));
    memset(data, 0xff, sizeof data);
    ck_shape(x, TN_SHAPE(2, 3));
    ck_assert_str_eq(tn_device_of(x), test_device());
    ck_tensor_f32(x, {1, 2, 3, 4, 5, 6});
}
END_TEST

START_TEST(every_dtype_comes_back_as_it_went)
{
    for (int d = 0; d < TN_DTYPE_COUNT; d++) {
        unsigned char bytes[5 * 8], back[5 * 8];
        const size_t size = tn_dtype_size((tn_dtype)d);
        if (d == TN_F64 && !test_has_f64()) continue;
        for (size_t i = 0; i < 5 * size; i++) bytes[i] = d == TN_BOOL ? i & 1 : (unsigned char)(37 * i + 11 * (size_t)d + 1);
        tn_tensor *x = ck_made(tn_from((tn_dtype)d, TN_SHAPE(5), bytes, test_device()));
        ck_assert_int_eq(tn_dtype_of(x), d);
        ck_assert_uint_eq(tn_nbytes(x), 5 * size);
        ck_ok(tn_read(x, back, 5 * size));
        ck_assert_mem_eq(back, bytes, 5 * size);
        if (!test_takes(d, 3)) continue;
        ck_ok(tn_read(tn_clone(tn_flip(tn_flip(x, TN_AXES(0)), TN_AXES(0))), back, 5 * size)); /* NaN bits may change on the way */
        if (!tn_dtype_is_float((tn_dtype)d)) ck_assert_mem_eq(back, bytes, 5 * size);
    }
}
END_TEST

START_TEST(bool_is_0_or_1_wherever_bytes_come_in)
{
    const uint8_t any[] = {0, 1, 2, 128, 255};
    tn_tensor *x = ck_made(tn_from(TN_BOOL, TN_SHAPE(5), any, test_device()));
    ck_tensor_bool(x, {0, 1, 1, 1, 1});
    ck_tensor_i32(tn_cast(x, TN_I32), {0, 1, 1, 1, 1});
    ck_ok(tn_write(x, (const uint8_t[]){7, 0, 9, 0, 1}, 5));
    ck_tensor_bool(x, {1, 0, 1, 0, 1});
    ck_ok(tn_write(tn_slice(x, 0, 1, 3, 1), (const uint8_t[]){4, 0}, 2));
    ck_tensor_bool(x, {1, 1, 0, 0, 1});
    ck_tensor_i64(tn_sum(x, TN_ALL_AXES, false), {3});
}
END_TEST

START_TEST(zeros_ones_and_full_are_what_they_say)
{
    ck_values(tn_zeros(TN_BF16, TN_SHAPE(3), test_device()), {0, 0, 0});
    ck_values(tn_ones(TN_U8, TN_SHAPE(2, 2), test_device()), {1, 1, 1, 1});
    ck_tensor_bool(tn_ones(TN_BOOL, TN_SHAPE(2), test_device()), {1, 1});
    ck_tensor_f32(tn_full(TN_F32, TN_SHAPE(2), tn_float(0.1), test_device()), {0.1f, 0.1f});
    ck_tensor_bool(tn_full(TN_BOOL, TN_SHAPE(2), tn_float(NAN), test_device()), {1, 1});
    if (test_takes(0, 2)) ck_tensor_i64(tn_full(TN_I64, TN_SHAPE(2), tn_int(INT64_MIN), test_device()), {INT64_MIN, INT64_MIN});
    if (test_takes(1, 2)) ck_values(tn_full(TN_F16, TN_SHAPE(2), tn_float(1e6), test_device()), {INFINITY, INFINITY});
    if (test_takes(1, 2)) ck_tensor_i32(tn_full(TN_I32, TN_SHAPE(2), tn_float(-1.9), test_device()), {-1, -1});
    ck_tensor_f32(tn_full(TN_F32, TN_SHAPE(), test_f32(TN_SHAPE(), {4}), test_device()), {4});
    ck_fails(tn_full(TN_U8, TN_SHAPE(2), tn_int(256), test_device()), TN_OVERFLOW, "full", "256", "u8");
    ck_fails(tn_full(TN_U8, TN_SHAPE(2), tn_int(-1), test_device()), TN_OVERFLOW, "full", "-1", "u8");
    ck_fails(tn_full(TN_F32, TN_SHAPE(2), test_f32(TN_SHAPE(1), {1}), test_device()), TN_SHAPE, "full", "[1]");
}
END_TEST

START_TEST(arange_counts_up_and_down)
{
    tn_tensor *up = tn_arange(TN_I32, 0, 5, 2, test_device()), *down = tn_arange(TN_I32, 5, 0, -2, test_device()),
              *quarters = tn_arange(TN_F32, 0, 0.75, 0.25, test_device()), *negative = tn_arange(TN_I64, -3, 0, 1, test_device());
    ck_together(up, down, quarters, negative);
    ck_tensor_i32(up, {0, 2, 4});
    ck_tensor_i32(down, {5, 3, 1});
    ck_tensor_f32(quarters, {0, 0.25f, 0.5f});
    ck_tensor_i64(negative, {-3, -2, -1});
    ck_shape(tn_arange(TN_F32, 3, 3, 1, test_device()), TN_SHAPE(0));
    ck_shape(tn_arange(TN_F32, 3, 4, -1, test_device()), TN_SHAPE(0));
    ck_fails(tn_arange(TN_F32, 0, 1, 0, test_device()), TN_ARGUMENT, "arange", "step 0");
    ck_fails(tn_arange(TN_F32, 0, INFINITY, 1, test_device()), TN_ARGUMENT, "arange", "inf");
    ck_fails(tn_arange(TN_F32, NAN, 1, 1, test_device()), TN_ARGUMENT, "arange", "nan");
    ck_fails(tn_arange(TN_U8, 0, 1e18, 1, test_device()), TN_OVERFLOW, "arange");
}
END_TEST

START_TEST(without_a_device_creation_means_the_scopes_else_host)
{
    ck_assert_str_eq(tn_device_of(tn_zeros(TN_F32, TN_SHAPE(1), NULL)), "host");
    ck_ok(tn_device_push(test_device()));
    ck_assert_str_eq(tn_device_of(tn_zeros(TN_F32, TN_SHAPE(1), NULL)), test_device());
    ck_assert_str_eq(tn_device_of(tn_from(TN_F32, TN_SHAPE(1), (const float[]){1}, NULL)), test_device());
    ck_assert_str_eq(tn_device_of(tn_randn(TN_F32, TN_SHAPE(1), NULL)), test_device());
    ck_assert_str_eq(tn_device_of(tn_arange(TN_F32, 0, 3, 1, NULL)), test_device());
    ck_assert_str_eq(tn_device_of(tn_zeros(TN_F32, TN_SHAPE(1), "host")), "host");
    ck_ok(tn_device_pop());
    ck_assert_str_eq(tn_device_of(tn_ones(TN_F32, TN_SHAPE(1), NULL)), "host");
}
END_TEST

static void *create_without_device(void *is_host)
{
    tn_tensor *x = tn_zeros(TN_F32, TN_SHAPE(1), NULL);
    *(bool *)is_host = x && strcmp(tn_device_of(x), "host") == 0;
    tn_release(x);
    return NULL;
}

START_TEST(C58_a_new_thread_starts_without_anybodys_creation_scope)
{
    pthread_t thread;
    bool is_host = false;
    ck_ok(tn_device_push(test_device()));
    pthread_create(&thread, NULL, create_without_device, &is_host);
    pthread_join(thread, NULL);
    ck_ok(tn_device_pop());
    ck_assert(is_host);
}
END_TEST

/* ---- questions ---- */

START_TEST(a_tensor_answers_what_it_is)
{
    tn_tensor *x = ck_made(tn_zeros(TN_I16, TN_SHAPE(2, 3, 4), test_device())),
              *y = tn_slice(tn_transpose(x, 0, 2), 0, 1, TN_END, 2);
    ck_assert_int_eq(tn_ndim(y), 3);
    ck_assert_int_eq(tn_dim(y, 0), 2);
    ck_assert_int_eq(tn_dim(y, -1), 2);
    ck_assert_int_eq(tn_stride(y, 0), 2);
    ck_assert_int_eq(tn_stride(y, -1), 12);
    ck_assert_int_eq(tn_offset(y), 1);
    ck_assert_int_eq(tn_numel(y), 12);
    ck_assert_uint_eq(tn_nbytes(y), 24);
    ck_assert_int_eq(tn_shape_of(y).dim[1], 3);
    ck_assert(tn_is_contiguous(x) && !tn_is_contiguous(y));
    ck_fails(tn_dim(y, 3), TN_AXIS, "dim", "3");
    ck_fails(tn_stride(y, -4), TN_AXIS, "stride", "-4");
}
END_TEST

START_TEST(shapes_and_axes_are_values)
{
    const tn_shape none = TN_SHAPE(), two = TN_SHAPE(3, 5);
    ck_assert_int_eq(none.ndim, 0);
    ck_assert(two.ndim == 2 && two.dim[0] == 3 && two.dim[1] == 5);
    ck_assert_int_eq(TN_AXES().count, 0);
    ck_assert(TN_AXES(1, -1).count == 2 && TN_AXES(1, -1).axis[1] == -1);
    ck_assert_int_eq(TN_ALL_AXES.count, -1);
    ck_assert_int_eq(tn_shape_make(2, (const int64_t[]){7, 8}).dim[1], 8);
}
END_TEST

START_TEST(dtypes_know_their_names_and_sizes)
{
    static const char *const names[] = {"f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "bool"};
    static const size_t sizes[] = {2, 2, 4, 8, 1, 2, 4, 8, 1, 2, 4, 8, 1};
    for (int d = 0; d < TN_DTYPE_COUNT; d++) {
        ck_assert_str_eq(tn_dtype_name((tn_dtype)d), names[d]);
        ck_assert_uint_eq(tn_dtype_size((tn_dtype)d), sizes[d]);
        ck_assert_int_eq(tn_dtype_from_name(names[d]), d);
    }
    ck_assert_int_eq(tn_dtype_from_name("f31"), TN_DTYPE_COUNT);
    ck_assert_str_eq(tn_dtype_name(TN_DTYPE_COUNT), "?");
    ck_assert_uint_eq(tn_dtype_size((tn_dtype)-1), 0);
}
END_TEST

/* ---- reading and writing ---- */

START_TEST(item_gives_the_one_element)
{
    double d = 0;
    int64_t i = 0;
    ck_ok(tn_item(test_f32(TN_SHAPE(1, 1), {2.5f}), &d));
    ck_assert(d == 2.5);
    ck_ok(tn_item(tn_sum(test_i32(TN_SHAPE(3), {1, 2, 3}), TN_ALL_AXES, false), &d));
    ck_assert(d == 6);
    ck_ok(tn_item_int(tn_select(test_i64(TN_SHAPE(2), {1, INT64_MAX}), 0, 1), &i));
    ck_assert(i == INT64_MAX);
    ck_ok(tn_item_int(test_f32(TN_SHAPE(), {-1.9f}), &i));
    ck_assert(i == -1);
    ck_ok(tn_item(tn_gt(tn_int(2), tn_int(1)), &d));
    ck_assert(d == 1);
    ck_ok(tn_item(tn_float(0.1), &d));
    ck_assert(d == 0.1);
    ck_fails(tn_item(test_f32(TN_SHAPE(2), {1, 2}), &d), TN_SHAPE, "item", "[2]");
    ck_fails(tn_item_int(tn_zeros(TN_F32, TN_SHAPE(0), test_device()), &i), TN_SHAPE, "item", "[0]");
    ck_fails(tn_item(test_f32(TN_SHAPE(), {1}), NULL), TN_ARGUMENT, "item", "value");
}
END_TEST

START_TEST(read_and_write_want_the_exact_number_of_bytes)
{
    float out[4] = {0};
    tn_tensor *x = test_f32(TN_SHAPE(3), {1, 2, 3});
    ck_fails(tn_read(x, out, 16), TN_ARGUMENT, "read", "16 bytes", "f32 [3]", "12");
    ck_fails(tn_write(x, out, 8), TN_ARGUMENT, "write", "8 bytes", "f32 [3]", "12");
    ck_fails(tn_read(x, NULL, 12), TN_ARGUMENT, "read", "NULL");
    ck_fails(tn_write(x, NULL, 12), TN_ARGUMENT, "write", "NULL");
    ck_tensor_f32(x, {1, 2, 3});
}
END_TEST

START_TEST(C59_what_is_read_is_there_and_what_was_written_may_be_overwritten)
{
    enum { N = 1 << 18 };
    float *data = malloc(N * sizeof *data);
    for (int i = 0; i < N; i++) data[i] = 1;
    tn_tensor *x = ck_made(tn_from(TN_F32, TN_SHAPE(N), data, test_device())),
              *y = ck_made(tn_zeros(TN_F32, TN_SHAPE(N), test_device()));
    ck_ok(tn_write(y, data, N * sizeof *data));
    ck_ok(tn_write(tn_slice(y, 0, 5, TN_END, 1), data, (N - 5) * sizeof *data));
    memset(data, 0xff, N * sizeof *data);
    tn_tensor *z = tn_add(x, y);
    for (int i = 0; i < 20; i++) z = tn_mul(tn_add(z, z), tn_float(0.5));
    ck_ok(tn_read(z, data, N * sizeof *data));
    int wrong = 0;
    for (int i = 0; i < N; i++) wrong += data[i] != 2;
    free(data);
    ck_assert_int_eq(wrong, 0);
}
END_TEST

START_TEST(C43_to_gives_a_new_handle_and_leaves_the_old_where_it_is)
{
    tn_tensor *x = ck_made(tn_ones(TN_F32, TN_SHAPE(2), "host"));
    tn_tensor *y = ck_made(tn_to(x, test_device()));
    ck_assert_str_eq(tn_device_of(x), "host");
    ck_assert_str_eq(tn_device_of(y), test_device());
    const int64_t handles = tn_live_count();
    tn_tensor *same = NULL, *five = tn_int(5);
    ck_launches(0, same = ck_made(tn_to(y, test_device())));
    ck_ok(tn_assign(same, five)); /* a second reference to the same tensor */
    ck_tensor_f32(y, {5, 5});
    tn_release(same);
    tn_release(five);
    ck_assert_int_eq(tn_live_count(), handles);
    ck_tensor_f32(y, {5, 5});
    ck_fails(tn_to(x, NULL), TN_ARGUMENT, "to", "device");
    ck_fails(tn_to(x, "gpu:x"), TN_ARGUMENT, "gpu:x");
}
END_TEST

/* ---- casts and the numbers ---- */

START_TEST(C27_float_to_integer_truncates_saturates_and_NaN_is_0)
{
    tn_tensor *x = test_f32(TN_SHAPE(6), {NAN, INFINITY, -INFINITY, 3e9f, -1.5f, 300});
    tn_tensor *y[TN_DTYPE_COUNT] = {NULL};
    for (int d = TN_I8; d < TN_DTYPE_COUNT; d++) y[d] = tn_cast(x, (tn_dtype)d);
    ck_ok(tn_realize(&y[TN_I8], TN_DTYPE_COUNT - TN_I8));
    ck_tensor_i32(y[TN_I32], {0, 2147483647, INT32_MIN, 2147483647, -1, 300});
    ck_tensor_u8(y[TN_U8], {0, 255, 0, 255, 0, 255});
    ck_values(y[TN_I8], {0, 127, -128, 127, -1, 127});
    ck_values(y[TN_I16], {0, 32767, -32768, 32767, -1, 300});
    ck_values(y[TN_U16], {0, 65535, 0, 65535, 0, 300});
    ck_values(y[TN_U32], {0, 4294967295.0, 0, 3e9, 0, 300});
    ck_tensor_i64(y[TN_I64], {0, INT64_MAX, INT64_MIN, 3000000000, -1, 300});
    ck_tensor_u64(y[TN_U64], {0, UINT64_MAX, 0, 3000000000, 0, 300});
    ck_tensor_bool(y[TN_BOOL], {1, 1, 1, 1, 1, 1});
}
END_TEST

START_TEST(casts_between_integers_wrap_and_to_halves_round_once)
{
    tn_tensor *x = test_i32(TN_SHAPE(6), {256, -1, 65535, 128, 16842753, -16842753});
    tn_tensor *narrow = tn_cast(x, TN_I8), *wide = tn_cast(x, TN_U64), *up = tn_cast(x, TN_BF16);
    ck_together(narrow, wide, up);
    ck_values(narrow, {0, -1, -1, -128, 1, -1});
    ck_tensor_u64(wide, {256, UINT64_MAX, 65535, 128, 16842753, UINT64_MAX - 16842752});
    ck_values(up, {256, -1, 65536, 128, 16908288, -16908288});
    tn_tensor *y = test_f32(TN_SHAPE(8), {2049, 2051, 65520, 257, 259, 0, -0.0f, 0x1p-100f});
    tn_tensor *half = tn_cast(y, TN_F16), *brain = tn_cast(y, TN_BF16), *truth = tn_cast(y, TN_BOOL);
    ck_together(half, brain, truth);
    ck_values(half, {2048, 2052, INFINITY, 257, 259, 0, 0, 0});
    ck_values(brain, {2048, 2048, 65536, 256, 260, 0, 0, 0x1p-100});
    ck_tensor_bool(truth, {1, 1, 1, 1, 1, 0, 0, 1});
    ck_tensor_u8(tn_cast(test_i64(TN_SHAPE(3), {-1, 256, 511}), TN_U8), {255, 0, 255});
    ck_values(tn_cast(test_values(TN_U64, TN_SHAPE(1), {16842753}), TN_BF16), {16908288});
    if (test_has_f64()) ck_values(tn_cast(test_f64(TN_SHAPE(1), {16842753.0}), TN_BF16), {16908288});
}
END_TEST

START_TEST(C25_NaN_propagates_through_maximum_minimum_relu_and_clamp)
{
    tn_tensor *a = test_f32(TN_SHAPE(3), {0, NAN, 1}), *b = test_f32(TN_SHAPE(3), {NAN, 0, 2}), *x = test_f32(TN_SHAPE(3), {-1, 5, 2});
    tn_tensor *larger = tn_maximum(a, b), *smaller = tn_minimum(a, b), *relu = tn_relu(a), *both = tn_clamp(b, tn_int(0), tn_int(1)),
              *by_nan = tn_clamp(x, tn_float(NAN), tn_int(1)), *crossed = tn_clamp(x, tn_int(3), tn_int(1)),
              *below = tn_clamp(x, TN_NONE, tn_int(1)), *above = tn_clamp(x, tn_int(0), TN_NONE);
    ck_together(larger, smaller, relu, both, by_nan, crossed, below, above);
    ck_tensor_f32(larger, {NAN, NAN, 2});
    ck_tensor_f32(smaller, {NAN, NAN, 1});
    ck_tensor_f32(tn_max(a, TN_ALL_AXES, false), {NAN});
    ck_tensor_f32(relu, {0, NAN, 1});
    ck_tensor_f32(both, {NAN, 0, 1});
    ck_tensor_f32(by_nan, {NAN, NAN, NAN});
    ck_tensor_f32(crossed, {1, 1, 1});
    ck_tensor_f32(below, {-1, 1, 1});
    ck_tensor_f32(above, {0, 5, 2});
}
END_TEST

START_TEST(C31_no_fast_maths_infinities_and_NaN_are_seen)
{
    tn_tensor *x = test_f32(TN_SHAPE(3), {NAN, 1, INFINITY});
    tn_tensor *is_nan = tn_isnan(x), *other = tn_ne(x, x), *log = tn_log(test_f32(TN_SHAPE(3), {0, -1, 1})),
              *ratio = tn_div(test_f32(TN_SHAPE(3), {1, -1, 0}), test_f32(TN_SHAPE(3), {0, 0, 0})),
              *chosen = tn_where(tn_eq(tn_abs(x), tn_float(INFINITY)), tn_int(0), x), *rest = tn_sub(tn_float(INFINITY), x);
    ck_together(is_nan, other, log, ratio, chosen, rest);
    ck_tensor_bool(is_nan, {1, 0, 0});
    ck_tensor_bool(other, {1, 0, 0});
    ck_tensor_f32(ratio, {INFINITY, -INFINITY, NAN});
    ck_tensor_f32(log, {-INFINITY, NAN, 0});
    ck_tensor_f32(chosen, {NAN, 1, 0});
    ck_tensor_f32(rest, {NAN, INFINITY, NAN});
}
END_TEST

START_TEST(C35_nothing_is_contracted)
{
    tn_tensor *a = test_f32(TN_SHAPE(4), {0.1f, 1.0000001f, 3.3f, 1e10f}),
              *b = test_f32(TN_SHAPE(4), {300, 1.0000001f, 7.7f, 1.1f});
    tn_tensor *product = tn_mul(a, b);
    ck_tensor_f32(tn_sub(product, tn_mul(a, b)), {0, 0, 0, 0});
    float p[4], want[4];
    ck_ok(tn_read(product, p, sizeof p));
    for (int i = 0; i < 4; i++) want[i] = (float[]){0.1f, 1.0000001f, 3.3f, 1e10f}[i] * (float[]){300, 1.0000001f, 7.7f, 1.1f}[i];
    ck_assert_mem_eq(p, want, sizeof p);
    ck_tensor_f32(tn_sub(tn_mul(a, b), product), {0, 0, 0, 0});
}
END_TEST

START_TEST(C35_subnormals_stay_or_become_0)
{
    float y[2];
    ck_ok(tn_read(tn_mul(test_f32(TN_SHAPE(2), {1e-39f, -1e-39f}), tn_int(1)), y, sizeof y));
    ck_assert(y[0] == 1e-39f || y[0] == 0);
    ck_assert(y[1] == -1e-39f || y[1] == 0);
}
END_TEST

START_TEST(C66_halves_are_stored_converted_and_computed_everywhere)
{
    const uint16_t bits[] = {0x3c00, 0x4000, 0x7bff, 0x0001, 0x8001, 0x03ff, 0xfc00};
    uint16_t back[7];
    tn_tensor *x = ck_made(tn_from(TN_F16, TN_SHAPE(7), bits, test_device()));
    ck_ok(tn_read(tn_mul(x, tn_int(1)), back, sizeof back));
    for (int i = 0; i < 7; i++) ck_assert_msg(back[i] == bits[i], "element %d: %04x", i, back[i]);
    tn_tensor *wide = tn_cast(x, TN_F32);
    ck_tensor_f32(tn_slice(wide, 0, 0, 4, 1), {1, 2, 65504, 0x1p-24f});
    ck_ok(tn_read(tn_cast(wide, TN_F16), back, sizeof back));
    ck_assert_mem_eq(back, bits, sizeof back);
    ck_values(tn_mul(tn_slice(x, 0, 2, 3, 1), tn_int(2)), {INFINITY});
    ck_values(tn_add(x, x), {2, 4, INFINITY, 0x1p-23, -0x1p-23, 2046 * 0x1p-24, -INFINITY});
}
END_TEST

START_TEST(C65_f64_where_there_is_none_is_an_error_that_names_the_capability)
{
    ck_tensor_f64(tn_add(tn_from(TN_F64, TN_SHAPE(1), (const double[]){0.1}, "host"), tn_float(0.2)), {0.1 + 0.2});
    TN_SKIP_IF(test_has_f64(), "the device has f64");
    ck_fails(tn_from(TN_F64, TN_SHAPE(1), (const double[]){1}, test_device()), TN_CAPABILITY, test_device(), "f64", "fp64");
    ck_fails(tn_zeros(TN_F64, TN_SHAPE(1), test_device()), TN_CAPABILITY, "f64");
    ck_fails(tn_rand(TN_F64, TN_SHAPE(1), test_device()), TN_CAPABILITY, "f64");
    ck_fails(tn_arange(TN_F64, 0, 3, 1, test_device()), TN_CAPABILITY, "f64");
    ck_fails(tn_cast(test_f32(TN_SHAPE(1), {1}), TN_F64), TN_CAPABILITY, "cast", "f64");
    ck_fails(tn_to(tn_zeros(TN_F64, TN_SHAPE(), "host"), test_device()), TN_CAPABILITY, "to", "f64");
    ck_tensor_f32(tn_add(test_f32(TN_SHAPE(1), {1}), tn_float(0.5)), {1.5f}); /* an f64 number is no f64 tensor */
    ck_tensor_f32(tn_mul(test_f32(TN_SHAPE(1), {3}), tn_from(TN_F64, TN_SHAPE(), (const double[]){0.5}, "host")), {1.5f});
}
END_TEST

START_TEST(numbers_are_weak_their_kind_counts_and_not_their_size)
{
    ck_values(tn_mul(test_values(TN_F16, TN_SHAPE(2), {1, 3}), tn_float(0.1)),
              {(double)tn_f16_to_f32(tn_f16_from_f32(0.1f)), (double)tn_f16_to_f32(tn_f16_from_f32(3 * 0.1f))});
    ck_assert_int_eq(tn_dtype_of(tn_add(test_u8(TN_SHAPE(1), {1}), tn_int(1))), TN_U8);
    ck_assert_int_eq(tn_dtype_of(tn_add(test_u8(TN_SHAPE(1), {1}), tn_float(1))), TN_F32);
    ck_assert_int_eq(tn_dtype_of(tn_add(test_bool(TN_SHAPE(1), {1}), tn_int(1))), TN_I64);
    ck_assert_int_eq(tn_dtype_of(tn_add(test_bool(TN_SHAPE(1), {1}), tn_bool(1))), TN_BOOL);
    ck_assert_int_eq(tn_dtype_of(tn_add(test_values(TN_BF16, TN_SHAPE(1), {1}), test_f32(TN_SHAPE(), {1}))), TN_BF16);
    ck_assert_int_eq(tn_dtype_of(tn_add(test_u8(TN_SHAPE(1), {1}), test_i64(TN_SHAPE(), {1}))), TN_U8);
    ck_assert_int_eq(tn_dtype_of(tn_add(test_u8(TN_SHAPE(1), {1}), test_i64(TN_SHAPE(1), {1}))), TN_I64);
    ck_fails(tn_add(test_u8(TN_SHAPE(1), {1}), tn_int(256)), TN_OVERFLOW, "add", "256", "u8");
    ck_fails(tn_lt(test_u8(TN_SHAPE(1), {1}), tn_int(-1)), TN_OVERFLOW, "lt", "-1", "u8");
}
END_TEST

START_TEST(promotion_follows_the_table)
{
    static const struct {
        tn_dtype a, b, both;
    } rows[] = {
        {TN_F16, TN_BF16, TN_F32},   {TN_F16, TN_F32, TN_F32}, {TN_F32, TN_F64, TN_F64},        {TN_F16, TN_I64, TN_F16},
        {TN_I8, TN_U8, TN_I16},      {TN_I32, TN_I64, TN_I64}, {TN_U8, TN_U16, TN_U16},         {TN_U16, TN_U64, TN_U64},
        {TN_U16, TN_I8, TN_I32},     {TN_U16, TN_I64, TN_I64}, {TN_U32, TN_I8, TN_I64},         {TN_BOOL, TN_U32, TN_U32},
        {TN_BOOL, TN_F16, TN_F16},   {TN_U64, TN_F16, TN_F16}, {TN_U64, TN_I8, TN_DTYPE_COUNT}, {TN_U8, TN_I8, TN_I16},
        {TN_BOOL, TN_BOOL, TN_BOOL}, {TN_I16, TN_U16, TN_I32}, {TN_I8, TN_BF16, TN_BF16},       {TN_U64, TN_U64, TN_U64},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int turn = 0; turn < 2; turn++) {
            const tn_dtype a = turn ? rows[i].b : rows[i].a, b = turn ? rows[i].a : rows[i].b, both = tn_promote(a, b);
            ck_assert_msg(both == rows[i].both, "%s and %s: %s", tn_dtype_name(a), tn_dtype_name(b), tn_dtype_name(both));
        }
    ck_fails(tn_add(test_values(TN_U64, TN_SHAPE(1), {1}), test_i32(TN_SHAPE(1), {1})), TN_DTYPE, "u64", "i32");
}
END_TEST

/* ---- sizes ---- */

START_TEST(C34_indices_are_64_bits_wide)
{
    tn_tensor *x = ck_made(tn_expand(test_u8(TN_SHAPE(2, 1, 1), {3, 7}), TN_SHAPE(2, 65536, 65536)));
    ck_assert_int_eq(tn_numel(x), INT64_C(8589934592));
    tn_tensor *whole = test_is("host") ? x : tn_add(x, tn_int(0)); /* host would compute it all */
    tn_tensor *corner = tn_slice(tn_slice(whole, 1, -2, TN_END, 1), 2, -2, TN_END, 1);
    ck_tensor_u8(tn_add(tn_reshape(corner, TN_SHAPE(8)), tn_int(1)), {4, 4, 4, 4, 8, 8, 8, 8});
}
END_TEST

START_TEST(C34_a_small_part_of_a_pending_giant_is_computed_alone)
{
    test_at_once(true);
    NEEDS_OPENCL();
    tn_set_random_state(11, INT64_C(65536) * 65536 - 4);
    tn_tensor *few = ck_made(tn_randint(TN_I32, TN_SHAPE(4), -1000, 1000, test_device()));
    tn_set_random_state(11, 0);
    tn_tensor *giant = ck_made(tn_randint(TN_I32, TN_SHAPE(65536, 65536), -1000, 1000, test_device()));
    ck_same(tn_slice(tn_select(giant, 0, 65535), 0, -4, TN_END, 1), few);
    ck_tensor_f32(tn_slice(tn_select(tn_zeros(TN_F32, TN_SHAPE(1 << 20, 1 << 20), test_device()), 0, -1), 0, 0, 2, 1), {0, 0});
}
END_TEST

START_TEST(C34_more_than_2_to_the_31_elements_are_stored_and_summed)
{
    const int64_t n = (INT64_C(1) << 31) + 5;
    TN_SKIP_IF(!test_long(), "takes 2.1 GB and a while; TENON_TEST_LONG=1 runs it");
    TN_SKIP_IF(bones_info(test_device()).memory_allocation < (uint64_t)n, "one allocation is at most 2 GiB");
    tn_tensor *x = ck_made(tn_zeros(TN_U8, TN_SHAPE(n), test_device()));
    bones_run(x);
    ck_ok(tn_assign(tn_slice(x, 0, -1, TN_END, 1), tn_int(7)));
    ck_tensor_u64(tn_sum(x, TN_ALL_AXES, false), {7});
    ck_tensor_u8(tn_slice(x, 0, -2, TN_END, 1), {0, 7});
}
END_TEST

BONES_MAIN("tensor", from_copies_what_it_is_given, every_dtype_comes_back_as_it_went, bool_is_0_or_1_wherever_bytes_come_in,
           zeros_ones_and_full_are_what_they_say, arange_counts_up_and_down, without_a_device_creation_means_the_scopes_else_host,
           C58_a_new_thread_starts_without_anybodys_creation_scope, a_tensor_answers_what_it_is, shapes_and_axes_are_values,
           dtypes_know_their_names_and_sizes, item_gives_the_one_element, read_and_write_want_the_exact_number_of_bytes,
           C59_what_is_read_is_there_and_what_was_written_may_be_overwritten,
           C43_to_gives_a_new_handle_and_leaves_the_old_where_it_is, C27_float_to_integer_truncates_saturates_and_NaN_is_0,
           casts_between_integers_wrap_and_to_halves_round_once, C25_NaN_propagates_through_maximum_minimum_relu_and_clamp,
           C31_no_fast_maths_infinities_and_NaN_are_seen, C35_nothing_is_contracted, C35_subnormals_stay_or_become_0,
           C66_halves_are_stored_converted_and_computed_everywhere,
           C65_f64_where_there_is_none_is_an_error_that_names_the_capability, numbers_are_weak_their_kind_counts_and_not_their_size,
           promotion_follows_the_table, C34_indices_are_64_bits_wide, C34_a_small_part_of_a_pending_giant_is_computed_alone,
           C34_more_than_2_to_the_31_elements_are_stored_and_summed)
