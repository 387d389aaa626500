/* Copies between any two devices, of different platforms too: host, PoCL as cpu:0, rusticl as gpu:0, and PoCL twice (cpu:1, in a
 * process of its own). Bit-equal, whatever the dtype, the size and the layout. Cases C44, C59, C62, C88. */
#include <unistd.h>

#include "bones.h"

/* ---- devices ---- */

enum { MOST_DEVICES = 4 };
static const char *devices[MOST_DEVICES];
static int devices_count;

static void find_devices(void)
{
    devices_count = 0;
    for (int i = 0; i < tn_device_count(NULL) && devices_count < MOST_DEVICES; i++) devices[devices_count++] = tn_device_name(i);
}

static bool takes(const char *device, tn_dtype dtype)
{
    tn_device_info info;
    return dtype != TN_F64 || (tn_device_query(device, &info) == TN_OK && (info.fp64 || strcmp(device, "host") == 0));
}

static void set_up(void)
{
    bones_push();
    find_devices();
}

/* Every ordered pair that takes the dtype, also a device with itself. */
#define FOR_EACH_PAIR(from, to, dtype)                                                         \
    for (int from##_ = 0; from##_ < devices_count; from##_++)                                  \
        for (int to##_ = 0; to##_ < devices_count; to##_++)                                    \
            for (const char *from = devices[from##_], *to = devices[to##_]; from; from = NULL) \
                if (takes(from, dtype) && takes(to, dtype))

/* ---- bits ---- */

/* Random bits; bool: 0 and 1. */
static void *random_bits(tn_dtype dtype, int64_t count, uint64_t seed)
{
    test_random r = {seed};
    const size_t size = (size_t)count * tn_dtype_size(dtype);
    unsigned char *bits = malloc(size + 1);
    ck_assert_ptr_nonnull(bits);
    for (size_t i = 0; i < size; i++) bits[i] = (unsigned char)(dtype == TN_BOOL ? test_next(&r) & 1 : test_next(&r));
    return bits;
}

/* x is on this device and holds these bits, row-major. */
static void ck_bits(tn_tensor *x, const char *device, const void *bits)
{
    ck_assert_str_eq(tn_device_of(ck_made(x)), device);
    const size_t size = tn_nbytes(x);
    unsigned char *got = malloc(size + 1);
    ck_assert_ptr_nonnull(got);
    memset(got, 0xA5, size + 1);
    ck_ok(tn_read(x, got, size));
    for (size_t i = 0; memcmp(got, bits, size) != 0 && i < size; i++)
        ck_assert_msg(got[i] == ((const unsigned char *)bits)[i], "%s on %s: byte %zu of %zu is %02x, not %02x",
                      tn_dtype_name(tn_dtype_of(x)), device, i, size, got[i], ((const unsigned char *)bits)[i]);
    ck_assert_uint_eq(got[size], 0xA5);
    free(got);
}

/* There, and back to where it came from, and by host. */
static void go_and_return(tn_tensor *x, const char *from, const char *to, const void *bits)
{
    tn_tensor *y = ck_made(tn_to(x, to));
    ck_bits(y, to, bits);
    ck_assert_int_eq(tn_dtype_of(y), tn_dtype_of(x));
    ck_bits(tn_to(y, from), from, bits);
    ck_bits(tn_host(y), "host", bits);
    ck_bits(x, from, bits); /* x stays */
}

/* ---- any two devices ---- */

START_TEST(there_are_devices_of_two_platforms)
{
    ck_assert_int_eq(devices_count, 3);
    ck_assert_int_ge(tn_device_count("cpu"), 1);
    ck_assert_int_ge(tn_device_count("gpu"), 1);
    ck_assert_str_ne(bones_info("cpu:0").platform, bones_info("gpu:0").platform);
}
END_TEST

static void every_dtype(void)
{
    for (int d = 0; d < TN_DTYPE_COUNT; d++) {
        void *bits = random_bits((tn_dtype)d, 35, (uint64_t)d + 1);
        FOR_EACH_PAIR(from, to, (tn_dtype)d)
        {
            go_and_return(ck_made(tn_from((tn_dtype)d, TN_SHAPE(5, 7), bits, from)), from, to, bits);
            test_case_passed();
        }
        free(bits);
    }
}

START_TEST(C62_every_dtype_arrives_bit_by_bit)
{
    every_dtype();
}
END_TEST

START_TEST(C62_odd_byte_counts_arrive)
{
    static const int64_t counts[] = {1, 3, 5, 7, 13, 127, 1001, 4097};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        void *bits = random_bits(TN_U8, counts[i], i);
        FOR_EACH_PAIR(from, to, TN_U8)
        {
            go_and_return(ck_made(tn_from(TN_U8, TN_SHAPE(counts[i]), bits, from)), from, to, bits);
            go_and_return(ck_made(tn_from(TN_F16, TN_SHAPE(counts[i] / 2), bits, from)), from, to, bits);
        }
        free(bits);
    }
}
END_TEST

START_TEST(C62_one_element_of_no_axes_arrives)
{
    const double value = -0.1;
    const uint8_t byte = 255;
    FOR_EACH_PAIR(from, to, TN_U8) go_and_return(ck_made(tn_from(TN_U8, TN_SHAPE(), &byte, from)), from, to, &byte);
    FOR_EACH_PAIR(from, to, TN_F64)
    {
        tn_tensor *x = ck_made(tn_from(TN_F64, TN_SHAPE(), &value, from)), *y = tn_to(x, to);
        go_and_return(x, from, to, &value);
        ck_assert_int_eq(tn_ndim(y), 0);
        double item = 0;
        ck_ok(tn_item(y, &item));
        ck_assert_double_eq(item, value);
    }
}
END_TEST

START_TEST(f64_to_a_device_without_it_names_the_capability)
{
    int refused = 0;
    tn_tensor *x = ck_made(tn_from(TN_F64, TN_SHAPE(2), (const double[]){1, 2}, "host"));
    tn_tensor *empty = ck_made(tn_from(TN_F64, TN_SHAPE(0), NULL, "host"));
    for (int i = 0; i < devices_count; i++) {
        if (takes(devices[i], TN_F64)) continue;
        ck_fails(tn_to(x, devices[i]), TN_CAPABILITY, devices[i], "f64", "fp64");
        ck_fails(tn_to(empty, devices[i]), TN_CAPABILITY, devices[i], "f64");
        ck_fails(tn_from(TN_F64, TN_SHAPE(2), (const double[]){1, 2}, devices[i]), TN_CAPABILITY, devices[i], "f64");
        ck_fails(tn_zeros(TN_F64, TN_SHAPE(2), devices[i]), TN_CAPABILITY, devices[i], "f64");
        ck_fails(tn_cast(tn_zeros(TN_F32, TN_SHAPE(2), devices[i]), TN_F64), TN_CAPABILITY, devices[i], "f64");
        if (takes("cpu:0", TN_F64)) ck_fails(tn_to(tn_to(x, "cpu:0"), devices[i]), TN_CAPABILITY, devices[i], "f64");
        ck_tensor_f32(tn_to(tn_cast(x, TN_F32), devices[i]), {1, 2});
        refused++;
    }
    ck_assert_int_ge(refused, 1); /* rusticl 22.3 has none */
}
END_TEST

START_TEST(nothing_arrives_as_nothing)
{
    FOR_EACH_PAIR(from, to, TN_F32)
    {
        tn_tensor *y = ck_made(tn_to(tn_from(TN_F32, TN_SHAPE(3, 0, 2), NULL, from), to));
        ck_assert_str_eq(tn_device_of(y), to);
        ck_shape(y, TN_SHAPE(3, 0, 2));
        ck_ok(tn_read(tn_to(tn_add(y, tn_int(1)), from), NULL, 0));
        ck_tensor_f32(tn_to(tn_sum(y, TN_AXES(1), false), from), {0, 0, 0, 0, 0, 0});
    }
}
END_TEST

/* ---- layouts ---- */

START_TEST(views_arrive_as_what_they_show)
{
    float values[24];
    for (int i = 0; i < 24; i++) values[i] = (float)i;
    FOR_EACH_PAIR(from, to, TN_F32)
    {
        tn_tensor *x = ck_made(tn_from(TN_F32, TN_SHAPE(4, 6), values, from));
        ck_tensor_f32(tn_to(tn_select(x, 0, 2), to), {12, 13, 14, 15, 16, 17});
        ck_tensor_f32(tn_to(tn_select(x, 1, 1), to), {1, 7, 13, 19});
        ck_tensor_f32(tn_to(tn_slice(tn_slice(x, 1, 1, 6, 2), 0, 1, 3, 1), to), {7, 9, 11, 13, 15, 17});
        ck_tensor_f32(tn_to(tn_flip(tn_slice(x, 0, 3, 4, 1), TN_AXES(1)), to), {23, 22, 21, 20, 19, 18});
        ck_tensor_f32(tn_to(tn_slice(tn_flip(tn_slice(x, 0, 0, 2, 1), TN_AXES(0, 1)), 1, 0, 5, 2), to), {11, 9, 7, 5, 3, 1});
        ck_tensor_f32(tn_to(tn_expand(tn_slice(x, 1, 5, 6, 1), TN_SHAPE(2, 4, 2)), to),
                      {5, 5, 11, 11, 17, 17, 23, 23, 5, 5, 11, 11, 17, 17, 23, 23});
        ck_tensor_f32(tn_to(tn_slice(tn_transpose(x, 0, 1), 0, 4, 6, 1), to), {4, 10, 16, 22, 5, 11, 17, 23});
        ck_tensor_f32(x, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23});
    }
}
END_TEST

START_TEST(a_copy_of_a_view_is_of_its_own)
{
    FOR_EACH_PAIR(from, to, TN_I32)
    {
        if (strcmp(from, to) == 0) continue;
        tn_tensor *x = ck_made(tn_from(TN_I32, TN_SHAPE(4), (const int32_t[]){1, 2, 3, 4}, from)),
                  *y = ck_made(tn_to(tn_slice(x, 0, 1, 3, 1), to));
        ck_ok(tn_assign(x, tn_int(0)));
        ck_tensor_i32(y, {2, 3});
        ck_ok(tn_assign(y, tn_int(9)));
        ck_tensor_i32(x, {0, 0, 0, 0});
        tn_release(x);
        ck_tensor_i32(tn_add(y, tn_int(1)), {10, 10});
    }
}
END_TEST

START_TEST(channels_last_stays_channels_last)
{
    float values[2 * 3 * 4 * 5];
    for (int i = 0; i < 120; i++) values[i] = (float)i;
    FOR_EACH_PAIR(from, to, TN_F32)
    {
        tn_tensor *x = tn_permute(tn_from(TN_F32, TN_SHAPE(2, 4, 5, 3), values, from), TN_AXES(0, 3, 1, 2)),
                  *y = ck_made(tn_to(x, to));
        tn_tensor *z = tn_to(tn_add(x, tn_int(0)), to); /* a result takes its operand's order with it, too */
        tn_tensor *const moved[] = {y, z};
        for (int i = 0; i < 2; i++) {
            ck_shape(moved[i], TN_SHAPE(2, 3, 4, 5));
            ck_assert_int_eq(tn_stride(moved[i], 0), 60);
            ck_assert_int_eq(tn_stride(moved[i], 1), 1);
            ck_assert_int_eq(tn_stride(moved[i], 2), 15);
            ck_assert_int_eq(tn_stride(moved[i], 3), 3);
            ck_same(moved[i], x);
        }
        ck_bits(tn_permute(y, TN_AXES(0, 2, 3, 1)), to, values);
    }
}
END_TEST

START_TEST(a_transposed_matrix_keeps_its_strides_and_a_gap_goes)
{
    FOR_EACH_PAIR(from, to, TN_F32)
    {
        if (strcmp(from, to) == 0) continue;
        tn_tensor *x = bones_count(TN_F32, TN_SHAPE(4, 6), from);
        tn_tensor *t = ck_made(tn_to(tn_transpose(x, 0, 1), to)), *g = ck_made(tn_to(tn_slice(x, 1, 0, 6, 2), to));
        ck_assert_int_eq(tn_stride(t, 0), 1);
        ck_assert_int_eq(tn_stride(t, 1), 6);
        ck_assert(tn_is_contiguous(g));
        ck_assert_int_eq(tn_offset(g), 0);
    }
}
END_TEST

/* ---- what is pending ---- */

START_TEST(pending_sources_run_first)
{
    test_at_once(true);
    FOR_EACH_PAIR(from, to, TN_F32)
    {
        tn_tensor *x = ck_made(tn_from(TN_F32, TN_SHAPE(4), (const float[]){1, 2, 3, 4}, from));
        tn_tensor *y = tn_mul(tn_add(x, tn_int(1)), tn_float(0.5)), *z = tn_to(y, to);
        ck_tensor_f32(z, {1, 1.5f, 2, 2.5f});
        ck_tensor_f32(tn_to(tn_slice(tn_neg(tn_add(y, x)), 0, 3, TN_END, -2), to), {-6.5f, -3.5f});
        ck_tensor_f32(tn_to(tn_sum(y, TN_ALL_AXES, false), to), {7});
        ck_assert(!tn_is_pending(z));
    }
}
END_TEST

START_TEST(a_part_of_something_pending_is_moved_alone)
{
    enum { N = 1 << 21 };
    for (int i = 0; i < devices_count; i++) {
        if (strcmp(devices[i], "host") == 0) continue;
        tn_tensor *x = ck_made(tn_contiguous(tn_zeros(TN_F32, TN_SHAPE(N), devices[i])));
        bones_run(x);
        tn_tensor *y = tn_add(x, tn_int(1)), *part;
        const uint64_t read = bones_info(devices[i]).bytes_read, in_use = bones_info(devices[i]).memory_in_use;
        part = ck_made(tn_host(tn_slice(y, 0, 100, 103, 1)));
        ck_tensor_f32(part, {1, 1, 1});
        ck_assert(tn_is_pending(y));
        ck_assert_uint_lt(bones_info(devices[i]).bytes_read, read + 4096);
        ck_assert_uint_lt(bones_info(devices[i]).memory_in_use, in_use + N);
    }
}
END_TEST

/* ---- sizes ---- */

START_TEST(tensors_larger_than_a_step_of_the_copy_arrive)
{
    static const int64_t counts[] = {(8 << 20) - 1, 8 << 20, (8 << 20) + 1, (17 << 20) + 3};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        void *bits = random_bits(TN_U8, counts[i], i);
        FOR_EACH_PAIR(from, to, TN_U8)
        {
            if (strcmp(from, to) == 0) continue;
            tn_tensor *x = ck_made(tn_from(TN_U8, TN_SHAPE(counts[i]), bits, from)), *y = ck_made(tn_to(x, to));
            ck_bits(y, to, bits);
            tn_release(x);
            tn_release(y);
        }
        free(bits);
    }
}
END_TEST

START_TEST(a_copy_counts_its_bytes)
{
    FOR_EACH_PAIR(from, to, TN_U8)
    {
        if (strcmp(from, to) == 0) continue;
        tn_tensor *x = ck_made(tn_from(TN_U8, TN_SHAPE(3), (const uint8_t[]){1, 2, 3}, from));
        const uint64_t read = bones_info(from).bytes_read, written = bones_info(to).bytes_written;
        (void)ck_made(tn_to(x, to));
        if (strcmp(from, "host") != 0) ck_assert_uint_eq(bones_info(from).bytes_read, read + 3);
        if (strcmp(to, "host") != 0) ck_assert_uint_eq(bones_info(to).bytes_written, written + 3);
    }
}
END_TEST

START_TEST(to_the_same_device_is_one_more_reference)
{
    for (int i = 0; i < devices_count; i++) {
        tn_tensor *x = ck_made(tn_zeros(TN_F32, TN_SHAPE(3), devices[i])), *y = ck_made(tn_to(x, devices[i]));
        ck_ok(tn_assign(y, tn_int(2)));
        ck_tensor_f32(x, {2, 2, 2});
    }
}
END_TEST

START_TEST(moving_needs_room_where_it_goes)
{
    for (int i = 0; i < devices_count; i++) {
        if (strcmp(devices[i], "host") == 0) continue;
        tn_tensor *x = ck_made(tn_ones(TN_F32, TN_SHAPE(1 << 20), "host"));
        ck_ok(tn_finish(devices[i]));
        ck_ok(tn_memory_set_limit(devices[i], bones_info(devices[i]).memory_in_use + (1 << 20)));
        ck_fails(tn_to(x, devices[i]), TN_MEMORY, devices[i], "4194304", "limit");
        ck_ok(tn_memory_set_limit(devices[i], 0));
        float last = 0;
        ck_ok(tn_read(tn_slice(tn_to(x, devices[i]), 0, -1, TN_END, 1), &last, sizeof last));
        ck_assert_float_eq(last, 1);
    }
}
END_TEST

/* ---- C59: the user's memory ---- */

START_TEST(C59_the_source_of_a_creation_may_be_overwritten_at_once)
{
    enum { N = 1 << 20 };
    uint8_t *source = malloc(N), *got = malloc(N);
    for (int i = 0; i < devices_count; i++)
        for (int round = 0; round < 5; round++) {
            memset(source, 7 + round, N);
            tn_tensor *x = ck_made(tn_from(TN_U8, TN_SHAPE(N), source, devices[i])), *y = tn_add(x, tn_int(1));
            memset(source, 0xff, N);
            ck_ok(tn_read(y, got, N));
            for (int k = 0; k < N; k += 4093) ck_assert_uint_eq(got[k], (unsigned)(8 + round));
            memset(source, 50 + round, N);
            ck_ok(tn_write(x, source, N));
            memset(source, 0xff, N);
            ck_ok(tn_read(x, got, N));
            ck_assert(got[0] == 50 + round && got[N - 1] == 50 + round);
            memset(got, 0, N); /* what was read is the reader's */
            ck_ok(tn_read(x, source, N));
            ck_assert(source[N / 2] == 50 + round);
            tn_release(y);
            tn_release(x);
        }
    free(source);
    free(got);
}
END_TEST

START_TEST(C59_the_source_of_a_move_may_go_or_change_at_once)
{
    FOR_EACH_PAIR(from, to, TN_I32)
    {
        if (strcmp(from, to) == 0) continue;
        tn_tensor *x = ck_made(tn_contiguous(tn_full(TN_I32, TN_SHAPE(300000), tn_int(5), from))),
                  *y = ck_made(tn_to(tn_add(x, tn_int(1)), to));
        ck_ok(tn_assign(x, tn_int(-1)));
        ck_ok(tn_finish(from));
        tn_release(x);
        int64_t sum = 0;
        ck_ok(tn_item_int(tn_sum(y, TN_ALL_AXES, false), &sum));
        ck_assert_int_eq(sum, 6 * 300000);
    }
}
END_TEST

/* ---- C88 ---- */

START_TEST(C88_a_file_is_loaded_onto_any_device)
{
    static const unsigned char npy[] =
        "\x93NUMPY\x01\x00\x38\x00{'descr': '<i2', 'fortran_order': False, 'shape': (3,)}\n\x01\x00\xfe\xff\x00\x80";
    char path[64] = "/tmp/tenon-copies-XXXXXX";
    const int file = mkstemp(path);
    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(write(file, npy, sizeof npy - 1), (ssize_t)sizeof npy - 1);
    close(file);
    for (int i = 0; i < devices_count; i++) {
        tn_tensor *x = ck_made(tn_load(path, devices[i]));
        ck_assert_str_eq(tn_device_of(x), devices[i]);
        ck_values(x, {1, -2, -32768});
    }
    ck_assert_str_eq(tn_device_of(ck_made(tn_load(path, NULL))), "host");
    ck_fails(tn_load(path, "gpu:7"), TN_DEVICE, "gpu:7");
    unlink(path);
}
END_TEST

/* ---- C44: mixed devices ---- */

START_TEST(C44_a_mixed_operation_tells_operands_devices_and_the_mending_call)
{
    FOR_EACH_PAIR(here, there, TN_F32)
    {
        if (strcmp(here, there) == 0) continue;
        /* "here" is the device that stays: of host and another, the other */
        const bool host_first = strcmp(here, "host") == 0;
        char fix[64];
        tn_tensor *a = ck_made(tn_ones(TN_F32, TN_SHAPE(2, 3), here)), *b = ck_made(tn_ones(TN_F32, TN_SHAPE(3), there));
        if (host_first)
            snprintf(fix, sizeof fix, "tn_to(a, \"%s\")", there);
        else
            snprintf(fix, sizeof fix, "tn_to(b, \"%s\")", here);
        ck_fails(tn_add(a, b), TN_DEVICE, "add", "a [2,3]", "b [3]", here, there, fix);
        ck_fails(tn_matmul(a, b), TN_DEVICE, "matmul", "a [2,3]", "b [3]", here, there, "tn_to(");
        ck_fails(tn_where(tn_gt(a, tn_int(0)), a, b), TN_DEVICE, "where", "[3]", here, there, "tn_to(");
        ck_fails(tn_clamp(a, tn_int(0), b), TN_DEVICE, "clamp", "[3]", here, there, "tn_to(");
        ck_fails(tn_assign(a, b), TN_DEVICE, "assign", here, there, "tn_to(");
        /* what it says mends it */
        ck_tensor_f32(host_first ? tn_add(tn_to(a, there), b) : tn_add(a, tn_to(b, here)), {2, 2, 2, 2, 2, 2});
    }
}
END_TEST

START_TEST(C44_only_a_host_scalar_goes_with_any_device)
{
    for (int i = 0; i < devices_count; i++) {
        tn_tensor *x = ck_made(tn_from(TN_F32, TN_SHAPE(2), (const float[]){1, 2}, devices[i]));
        tn_tensor *scalar = ck_made(tn_from(TN_F32, TN_SHAPE(), (const float[]){0.5f}, "host"));
        ck_tensor_f32(tn_mul(x, scalar), {0.5f, 1});
        ck_tensor_f32(tn_sub(scalar, x), {-0.5f, -1.5f});
        ck_assert_str_eq(tn_device_of(tn_mul(scalar, x)), devices[i]);
        for (int k = 0; k < devices_count; k++) {
            if (k == i || strcmp(devices[k], "host") == 0) continue;
            ck_fails(tn_mul(x, tn_to(scalar, devices[k])), TN_DEVICE, "mul", devices[i], devices[k]);
        }
        if (strcmp(devices[i], "host") != 0)
            ck_fails(tn_mul(x, tn_reshape(scalar, TN_SHAPE(1))), TN_DEVICE, "mul", "host", devices[i]);
    }
}
END_TEST

START_TEST(auto_move_copies_what_is_on_host_and_counts)
{
    ck_assert(!tn_auto_move(true));
    for (int i = 0; i < devices_count; i++) {
        if (strcmp(devices[i], "host") == 0) continue;
        tn_tensor *x = ck_made(tn_ones(TN_F32, TN_SHAPE(2, 2), devices[i])), *h = bones_count(TN_F32, TN_SHAPE(2, 2), "host");
        tn_tensor *scalar = ck_made(tn_from(TN_F32, TN_SHAPE(), (const float[]){3}, "host"));
        uint64_t count = tn_auto_move_count();
        tn_tensor *y = tn_add(tn_transpose(h, 0, 1), x);
        ck_assert_uint_eq(tn_auto_move_count(), count += 1);
        ck_tensor_f32(y, {1, 3, 2, 4});
        ck_assert_str_eq(tn_device_of(y), devices[i]);
        ck_assert_str_eq(tn_device_of(h), "host"); /* the operand itself stays */
        ck_tensor_f32(tn_where(tn_gt(h, tn_int(0)), h, x), {1, 1, 2, 3});
        ck_assert_uint_eq(tn_auto_move_count(), count += 2); /* the condition is on host, too */
        ck_tensor_f32(tn_mul(x, scalar), {3, 3, 3, 3});
        ck_tensor_f32(tn_add(h, h), {0, 2, 4, 6});
        ck_assert_uint_eq(tn_auto_move_count(), count); /* neither scalars nor host among itself */
        ck_tensor_f32(tn_masked_scatter(h, tn_gt(h, tn_int(1)), x), {0, 1, 1, 1}); /* h goes, and then the mask with it */
        ck_assert_uint_eq(tn_auto_move_count(), count += 1);
        for (int k = 0; k < devices_count; k++)
            if (k != i && strcmp(devices[k], "host") != 0)
                ck_fails(tn_add(x, tn_to(h, devices[k])), TN_DEVICE, "add", devices[i], devices[k]);
        ck_assert_uint_eq(tn_auto_move_count(), count);
    }
    ck_assert(tn_auto_move(false));
    for (int i = 0; i < devices_count; i++)
        if (strcmp(devices[i], "host") != 0)
            ck_fails(tn_add(tn_ones(TN_F32, TN_SHAPE(2), devices[i]), tn_ones(TN_F32, TN_SHAPE(2), "host")), TN_DEVICE, "add");
}
END_TEST

/* ---- the same work everywhere ---- */

START_TEST(a_chain_across_all_devices_is_the_one_on_host)
{
    float values[60];
    for (int i = 0; i < 60; i++) values[i] = (float)(i % 7) - 3;
    tn_tensor *want = tn_from(TN_F32, TN_SHAPE(3, 4, 5), values, "host"), *x = want;
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < devices_count; i++) {
            x = tn_add(tn_mul(tn_to(tn_transpose(x, 0, 2), devices[i]), tn_float(0.5)), tn_int(i));
            want = tn_add(tn_mul(tn_transpose(want, 0, 2), tn_float(0.5)), tn_int(i));
        }
    ck_same(tn_host(x), want);
}
END_TEST

START_TEST(a_tensor_outlives_the_others_of_its_journey)
{
    tn_tensor *x = bones_count(TN_I64, TN_SHAPE(10), "host");
    const tn_scope scope = tn_scope_push();
    tn_tensor *y = x;
    for (int i = 0; i < devices_count; i++) y = tn_to(tn_add(y, tn_int(1)), devices[i]);
    y = tn_keep(y);
    ck_ok(tn_scope_pop(scope));
    tn_release(x);
    for (int i = 0; i < devices_count; i++) ck_ok(tn_memory_empty_cache(devices[i]));
    const int n = devices_count;
    ck_tensor_i64(y, {n, n + 1, n + 2, n + 3, n + 4, n + 5, n + 6, n + 7, n + 8, n + 9});
}
END_TEST

/* ---- two devices of one platform ---- */

static int role_twins(void)
{
    uint8_t bits[33], got[33];
    for (int i = 0; i < 33; i++) bits[i] = (uint8_t)(i * 37);
    EXPECT(tn_device_count("cpu") == 2);
    EXPECT(strcmp(tn_device_name(0), "gpu:0") == 0 && strcmp(tn_device_name(3), "host") == 0);
    static const char *const path[] = {"cpu:0", "cpu:1", "gpu:0", "cpu:1", "host", "cpu:1", "cpu:0", "gpu:0", "cpu:0"};
    for (int dtype = 0; dtype < TN_DTYPE_COUNT; dtype++) {
        if (dtype == TN_F64) continue;
        const int64_t n = (int64_t)(33 / tn_dtype_size((tn_dtype)dtype));
        const size_t size = (size_t)n * tn_dtype_size((tn_dtype)dtype);
        tn_tensor *x = tn_from((tn_dtype)dtype, TN_SHAPE(n), bits, "host");
        for (size_t i = 0; i < sizeof path / sizeof *path; i++) {
            x = tn_to(x, path[i]);
            EXPECT(x && strcmp(tn_device_of(x), path[i]) == 0);
        }
        EXPECT(tn_read(x, got, size) == TN_OK);
        for (size_t i = 0; i < size; i++) EXPECT(got[i] == (dtype == TN_BOOL ? bits[i] != 0 : bits[i]));
    }
    const double value = -0.1;
    double back = 0;
    EXPECT(tn_item(tn_to(tn_to(tn_from(TN_F64, TN_SHAPE(), &value, "cpu:0"), "cpu:1"), "cpu:0"), &back) == TN_OK && back == value);
    /* Both compute, and are not mixed by mistake. */
    float sums[2];
    tn_tensor *a = tn_add(tn_arange(TN_F32, 0, 100, 1, "cpu:0"), tn_int(1)),
              *b = tn_add(tn_arange(TN_F32, 0, 100, 1, "cpu:1"), tn_int(2));
    EXPECT(tn_read(tn_sum(a, TN_ALL_AXES, false), &sums[0], 4) == TN_OK && sums[0] == 5050);
    EXPECT(tn_read(tn_sum(b, TN_ALL_AXES, false), &sums[1], 4) == TN_OK && sums[1] == 5150);
    EXPECT(tn_add(a, b) == NULL && tn_last_status() == TN_DEVICE);
    EXPECT(strstr(tn_last_error(), "cpu:0") && strstr(tn_last_error(), "cpu:1") && strstr(tn_last_error(), "tn_to("));
    tn_clear_error();
    EXPECT(tn_read(tn_slice(tn_add(a, tn_to(b, "cpu:0")), 0, 99, 100, 1), sums, 4) == TN_OK && sums[0] == 201);
    EXPECT(tn_read(tn_slice(tn_add(tn_to(a, "cpu:1"), b), 0, 98, 99, 1), sums, 4) == TN_OK && sums[0] == 199);
    /* Larger than a step of the copy. */
    tn_tensor *large = tn_contiguous(tn_arange(TN_I32, 0, 3000000, 1, "cpu:1"));
    int32_t last = 0;
    EXPECT(tn_read(tn_slice(tn_to(tn_to(large, "cpu:0"), "gpu:0"), 0, 2999999, 3000000, 1), &last, 4) == TN_OK && last == 2999999);
    return 0;
}

START_TEST(C62_two_devices_of_one_platform_and_one_of_another)
{
    static const char *const settings[] = {"POCL_DEVICES=pthread pthread", NULL};
    ck_assert_int_eq(bones_child("twins", settings, NULL, 0), 0);
}
END_TEST

static const bones_role roles[] = {{"twins", role_twins}, {NULL, NULL}};

BONES_MAIN_WITH_ROLES("copies", roles, set_up, there_are_devices_of_two_platforms, C62_every_dtype_arrives_bit_by_bit,
                      C62_odd_byte_counts_arrive, C62_one_element_of_no_axes_arrives,
                      f64_to_a_device_without_it_names_the_capability, nothing_arrives_as_nothing, views_arrive_as_what_they_show,
                      a_copy_of_a_view_is_of_its_own, channels_last_stays_channels_last,
                      a_transposed_matrix_keeps_its_strides_and_a_gap_goes, pending_sources_run_first,
                      a_part_of_something_pending_is_moved_alone, tensors_larger_than_a_step_of_the_copy_arrive,
                      a_copy_counts_its_bytes, to_the_same_device_is_one_more_reference, moving_needs_room_where_it_goes,
                      C59_the_source_of_a_creation_may_be_overwritten_at_once, C59_the_source_of_a_move_may_go_or_change_at_once,
                      C88_a_file_is_loaded_onto_any_device, C44_a_mixed_operation_tells_operands_devices_and_the_mending_call,
                      C44_only_a_host_scalar_goes_with_any_device, auto_move_copies_what_is_on_host_and_counts,
                      a_chain_across_all_devices_is_the_one_on_host, a_tensor_outlives_the_others_of_its_journey,
                      C62_two_devices_of_one_platform_and_one_of_another)
