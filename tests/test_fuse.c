/* What fused kernels compute, against host, which never fuses: layouts, dtypes, sizes, rounding (bone 9), both profiles (bone 13),
 * determinism (bone 16). Operations here are exact, so bits are compared. */
#include "bones.h"

#include <math.h>

typedef tn_tensor *(*expression)(const char *device);

/* The expression gives the same dtype, shape and bits on the device under test and on host. */
static void agree(expression make)
{
    tn_tensor *here = ck_made(make(test_device()));
    ck_same(here, make("host"));
}

static tn_tensor *ramp(tn_dtype dtype, tn_shape shape, const char *device)
{
    int64_t n = 1;
    for (int i = 0; i < shape.ndim; i++) n *= shape.dim[i];
    return ck_made(tn_reshape(tn_arange(dtype, 0, (double)n, 1, device), shape));
}

/* ---- broadcasting and layouts ---- */

static tn_tensor *outer(const char *d)
{
    return tn_sub(ramp(TN_I32, TN_SHAPE(3, 1), d), tn_mul(ramp(TN_I32, TN_SHAPE(1, 4), d), tn_int(10)));
}
static tn_tensor *inner(const char *d)
{
    return tn_add(ramp(TN_I32, TN_SHAPE(5), d), ramp(TN_I32, TN_SHAPE(2, 3, 5), d));
}
static tn_tensor *middle(const char *d)
{
    return tn_mul(ramp(TN_I32, TN_SHAPE(2, 1, 3), d), ramp(TN_I32, TN_SHAPE(4, 1), d));
}
static tn_tensor *point(const char *d)
{
    return tn_add(ramp(TN_I32, TN_SHAPE(1, 1), d),
                  tn_add(ramp(TN_I32, TN_SHAPE(2, 17), d), tn_select(ramp(TN_I32, TN_SHAPE(9), d), 0, 7)));
}
static tn_tensor *empty(const char *d)
{
    return tn_add(ramp(TN_I32, TN_SHAPE(3, 0), d), ramp(TN_I32, TN_SHAPE(3, 1), d));
}

static tn_tensor *chain_of_broadcasts(const char *d)
{
    tn_tensor *x = ramp(TN_I32, TN_SHAPE(2, 3, 4), d), *a = ramp(TN_I32, TN_SHAPE(4), d), *b = ramp(TN_I32, TN_SHAPE(3, 1), d),
              *c = ramp(TN_I32, TN_SHAPE(2, 1, 1), d);
    return tn_maximum(tn_sub(tn_mul(tn_add(x, a), b), c), tn_mul(a, b));
}

START_TEST(operands_broadcast_in_every_place)
{
    agree(outer);
    agree(inner);
    agree(middle);
    agree(point);
    agree(empty);
    ck_launches(1, agree(chain_of_broadcasts));
}
END_TEST

/* Each layout class beside a plain operand, on rows of 37: contiguous, turned, stepped, splat, reversed, a column, at an odd offset. */
static int layout;

static tn_tensor *layouts(const char *d)
{
    tn_tensor *plain = ramp(TN_I32, TN_SHAPE(5, 37), d), *x = ramp(TN_I32, TN_SHAPE(10, 75), d), *y = NULL;
    switch (layout) {
    case 0: y = tn_mul(plain, tn_int(3)); break;
    case 1: y = tn_transpose(tn_slice(tn_slice(x, 0, 0, 5, 1), 1, 0, 37, 1), 0, 1); break;
    case 2: y = tn_slice(tn_slice(x, 0, 1, TN_END, 2), 1, 1, TN_END, 2); break;
    case 3: y = tn_expand(tn_select(tn_select(x, 0, 3), 0, 3), TN_SHAPE(5, 37)); break;
    case 4: y = tn_flip(plain, TN_ALL_AXES); break;
    case 5: y = tn_expand(tn_slice(tn_slice(x, 0, 2, 7, 1), 1, 9, 10, 1), TN_SHAPE(5, 37)); break;
    case 6: y = tn_slice(tn_slice(x, 0, 3, 8, 1), 1, 11, 48, 1); break;
    default: y = tn_expand(tn_slice(tn_select(x, 0, 1), 0, 3, 40, 1), TN_SHAPE(5, 37)); break;
    }
    if (layout == 1) plain = tn_transpose(plain, 0, 1);
    return tn_sub(tn_mul(tn_add(y, tn_int(1)), tn_int(2)), plain);
}

START_TEST(bone_14_every_layout_class_reads_right)
{
    for (layout = 0; layout < 8; layout++)
        if (test_takes(layout, 1)) agree(layouts);
}
END_TEST

static tn_tensor *turned(const char *d)
{
    tn_tensor *x = ramp(TN_I32, TN_SHAPE(3, 4, 5), d), *y = ramp(TN_I32, TN_SHAPE(5, 4, 3), d),
              *z = ramp(TN_I32, TN_SHAPE(4, 3, 5), d);
    return tn_add(tn_add(x, tn_permute(y, TN_AXES(2, 1, 0))), tn_permute(z, TN_AXES(1, 0, 2)));
}
static tn_tensor *reversed_axes(const char *d)
{
    tn_tensor *x = ramp(TN_I32, TN_SHAPE(3, 4, 5), d);
    return tn_sub(tn_flip(tn_permute(x, TN_AXES(2, 0, 1)), TN_AXES(0, 2)), tn_permute(x, TN_AXES(2, 0, 1)));
}
static tn_tensor *many_axes(const char *d)
{
    tn_tensor *x = ramp(TN_I32, TN_SHAPE(2, 3, 2, 3, 2, 3), d);
    return tn_add(tn_permute(x, TN_AXES(4, 1, 2, 3, 0, 5)), tn_mul(tn_flip(x, TN_AXES(1, 4)), tn_int(1000)));
}
static tn_tensor *twelve_axes(const char *d)
{
    tn_tensor *x = ramp(TN_I32, TN_SHAPE(2, 2, 1, 2, 2, 2, 1, 2, 2, 2, 1, 2), d);
    return tn_add(tn_permute(x, TN_AXES(11, 9, 10, 7, 8, 5, 6, 3, 4, 1, 2, 0)), tn_transpose(x, 0, 5));
}

START_TEST(axes_in_any_order_and_number)
{
    agree(turned);
    agree(reversed_axes);
    agree(many_axes);
    agree(twelve_axes);
}
END_TEST

static tn_tensor *neighbours(const char *d)
{
    tn_tensor *x = ramp(TN_I32, TN_SHAPE(100), d);
    return tn_sub(tn_add(tn_slice(x, 0, 0, -2, 1), tn_slice(x, 0, 2, TN_END, 1)), tn_mul(tn_slice(x, 0, 1, -1, 1), tn_int(3)));
}
static tn_tensor *with_itself_turned(const char *d)
{
    tn_tensor *x = ramp(TN_I32, TN_SHAPE(19, 19), d);
    return tn_sub(tn_mul(x, tn_int(2)), tn_transpose(x, 0, 1));
}

START_TEST(bone_14_one_buffer_may_be_several_operands)
{
    ck_launches(1, agree(neighbours));
    ck_launches(1, agree(with_itself_turned));
}
END_TEST

static int64_t length;

static tn_tensor *of_length(const char *d)
{
    return tn_sub(tn_mul(ramp(TN_I32, TN_SHAPE(length), d), tn_int(3)), tn_int(1));
}
static tn_tensor *bytes_of_length(const char *d)
{
    return tn_add(tn_cast(ramp(TN_I32, TN_SHAPE(3, length), d), TN_U8), tn_int(7));
}

START_TEST(every_length_is_computed_to_its_end)
{
    static const int64_t lengths[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 1000, 4097, 100003};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        length = lengths[i];
        if (test_is("oclgrind") && length > 5000) break;
        agree(of_length);
        agree(bytes_of_length);
    }
}
END_TEST

START_TEST(C39_five_million_elements_are_computed_to_the_last)
{
    TN_SKIP_IF(test_is("oclgrind"), "an interpreter needs minutes for it");
    const int64_t n = 5000000;
    tn_tensor *x = ck_made(tn_ones(TN_F32, TN_SHAPE(n), test_device()));
    bones_run(x);
    tn_tensor *y = tn_add(x, tn_int(1));
    ck_assert(tn_is_contiguous(y));
    bones_run(y);
    ck_tensor_f32(tn_slice(y, 0, -1, TN_END, 1), {2});
    ck_tensor_f32(tn_sum(y, TN_ALL_AXES, false), {10000000});
}
END_TEST

START_TEST(a_kernel_writes_its_elements_and_no_others)
{
    for (int64_t n = 1; n <= 19; n += 2) {
        uint8_t all[64];
        tn_tensor *x = ck_made(tn_full(TN_U8, TN_SHAPE(64), tn_int(170), test_device())),
                  *src = tn_cast(ramp(TN_I32, TN_SHAPE(n), test_device()), TN_U8);
        ck_ok(tn_assign(tn_slice(x, 0, 13, 13 + n, 1), tn_add(src, tn_int(1))));
        ck_ok(tn_read(x, all, sizeof all));
        for (int i = 0; i < 64; i++)
            ck_assert_msg(all[i] == (i < 13 || i >= 13 + n ? 170 : i - 12), "%d bytes: byte %d is %d", (int)n, i, all[i]);
    }
}
END_TEST

/* ---- dtypes ---- */

static tn_tensor *mixed(const char *d)
{
    tn_tensor *i8 = tn_cast(tn_sub(ramp(TN_I32, TN_SHAPE(40), d), tn_int(20)), TN_I8),
              *u16 = tn_cast(ramp(TN_I32, TN_SHAPE(40), d), TN_U16);
    tn_tensor *half = tn_cast(ramp(TN_F32, TN_SHAPE(40), d), TN_F16), *brain = tn_cast(ramp(TN_F32, TN_SHAPE(40), d), TN_BF16);
    tn_tensor *chosen = tn_where(tn_gt(i8, tn_int(0)), half, tn_mul(brain, tn_float(0.5)));
    return tn_add(tn_sub(chosen, tn_mul(i8, u16)), tn_cast(tn_eq(u16, tn_int(7)), TN_I64));
}
static tn_tensor *every_integer(const char *d)
{
    static const tn_dtype types[] = {TN_I8, TN_U8, TN_I16, TN_U16, TN_U32, TN_I64};
    tn_tensor *sum = ramp(TN_I32, TN_SHAPE(70), d);
    for (int i = 0; i < 6; i++) {
        tn_tensor *x = tn_cast(tn_mul(ramp(TN_I32, TN_SHAPE(70), d), tn_int(987654)), types[i]);
        sum = tn_cast(tn_add(tn_cast(tn_mul(x, x), TN_I64), sum), TN_I64);
    }
    return sum;
}

START_TEST(dtypes_mix_in_one_kernel)
{
    agree(mixed);
    agree(every_integer);
}
END_TEST

static tn_tensor *wrapping(tn_dtype wrapped, const char *d)
{
    const int64_t ends[] = {INT64_MIN, INT64_MAX, INT32_MIN,  INT32_MAX, INT16_MIN, INT16_MAX, -128, 127,
                            255,       65535,     UINT32_MAX, -1,        0,         1,         2,    3};
    tn_tensor *x = tn_cast(tn_from(TN_I64, TN_SHAPE(16), ends, d), wrapped), *y = tn_flip(x, TN_AXES(0));
    return tn_bitwise_xor(tn_sub(tn_mul(tn_add(x, y), x), tn_neg(y)), tn_abs(x));
}

START_TEST(integers_wrap)
{
    static const tn_dtype types[] = {TN_I8, TN_I16, TN_I32, TN_I64, TN_U8, TN_U16, TN_U32, TN_U64};
    for (int i = 0; i < (int)(sizeof types / sizeof *types); i++)
        if (test_takes(i, 2)) ck_same(wrapping(types[i], test_device()), wrapping(types[i], "host"));
    tn_tensor *big = test_i32(TN_SHAPE(2), {INT32_MAX, -5});
    ck_tensor_bool(tn_gt(tn_add(big, tn_int(1)), big), {0, 1});
}
END_TEST

START_TEST(integer_division_is_pythons_and_never_traps)
{
    TN_SHARED(0, 2);
    tn_tensor *a = test_i32(TN_SHAPE(8), {-7, 7, -7, 7, 5, -5, INT32_MIN, INT32_MIN}),
              *b = test_i32(TN_SHAPE(8), {2, -2, -2, 2, 0, 0, -1, 1});
    tn_tensor *quotient = tn_floor_divide(a, b), *rest = tn_remainder(a, b);
    ck_together(quotient, rest);
    ck_tensor_i32(quotient, {-4, -4, 3, 3, 0, 0, INT32_MIN, INT32_MIN});
    ck_tensor_i32(rest, {1, -1, -1, 1, 0, 0, 0, 0});
    ck_tensor_u8(tn_floor_divide(test_u8(TN_SHAPE(3), {255, 7, 9}), test_u8(TN_SHAPE(3), {2, 0, 10})), {127, 0, 0});
    ck_tensor_i64(tn_floor_divide(test_i64(TN_SHAPE(2), {INT64_MIN, -9}), test_i64(TN_SHAPE(2), {-1, 4})), {INT64_MIN, -3});
    tn_tensor *x = test_f32(TN_SHAPE(7), {5, INFINITY, -5, 7, -7, 0, 5}),
              *y = test_f32(TN_SHAPE(7), {-INFINITY, 2, INFINITY, -2, 2, 0, 0});
    quotient = tn_floor_divide(x, y), rest = tn_remainder(x, y);
    ck_together(quotient, rest);
    ck_tensor_f32(tn_slice(quotient, 0, 0, 5, 1), {-1, NAN, -1, -4, -4});
    ck_tensor_f32(rest, {-INFINITY, NAN, INFINITY, -1, 1, NAN, NAN});
}
END_TEST

START_TEST(shifts_powers_and_bits_have_defined_ends)
{
    TN_SHARED(1, 2);
    tn_tensor *a = test_i32(TN_SHAPE(6), {1, -1, -8, 1, -8, 7}), *n = test_i32(TN_SHAPE(6), {31, 32, 33, -1, -1, 1});
    tn_tensor *left = tn_left_shift(a, n), *right = tn_right_shift(a, n);
    ck_together(left, right);
    ck_tensor_i32(left, {INT32_MIN, 0, 0, 0, 0, 14});
    ck_tensor_i32(right, {0, -1, -1, 0, -1, 3});
    ck_tensor_u8(tn_left_shift(test_u8(TN_SHAPE(3), {255, 1, 3}), test_u8(TN_SHAPE(3), {1, 8, 7})), {254, 0, 128});
    ck_tensor_i32(tn_pow(test_i32(TN_SHAPE(6), {2, 3, -1, -1, 2, 0}), test_i32(TN_SHAPE(6), {31, 21, 3, -2, -1, 0})),
                  {INT32_MIN, 1870418611, -1, 1, 0, 1});
    tn_tensor *t = test_bool(TN_SHAPE(4), {0, 0, 1, 1}), *u = test_bool(TN_SHAPE(4), {0, 1, 0, 1});
    tn_tensor *either = tn_add(t, u), *both = tn_mul(t, u), *one = tn_bitwise_xor(t, u), *most = tn_maximum(t, tn_logical_not(u));
    ck_together(either, both, one, most);
    ck_tensor_bool(either, {0, 1, 1, 1});
    ck_tensor_bool(both, {0, 0, 0, 1});
    ck_tensor_bool(one, {0, 1, 1, 0});
    ck_tensor_bool(most, {1, 0, 1, 1});
}
END_TEST

/* ---- bone 9 ---- */

START_TEST(bone_09_each_operation_rounds_to_its_dtype)
{
    tn_tensor *one = test_values(TN_F16, TN_SHAPE(2), {1, 2048}), *tiny = test_values(TN_F16, TN_SHAPE(2), {0x1p-11, 1});
    ck_launches(1, ck_values(tn_add(tn_add(one, tiny), tiny), {1, 2048})); /* in f32: 1.0009765625 and 2050 */
    tn_tensor *b = test_values(TN_BF16, TN_SHAPE(2), {256, -256}), *c = test_values(TN_BF16, TN_SHAPE(2), {1, -1});
    ck_launches(1, ck_values(tn_sub(tn_add(b, c), b), {0, 0}));
    ck_values(tn_mul(test_values(TN_F16, TN_SHAPE(1), {60000}), tn_float(0.5)), {30000});
    ck_values(tn_mul(tn_add(test_values(TN_F16, TN_SHAPE(1), {60000}), test_values(TN_F16, TN_SHAPE(1), {60000})), tn_float(0.5)),
              {INFINITY});
    tn_tensor *i = test_values(TN_I8, TN_SHAPE(1), {100});
    ck_values(tn_floor_divide(tn_add(i, i), tn_int(2)), {-28}); /* wraps in between */
}
END_TEST

static tn_dtype rounded_dtype;

/* Exact operations only, so that host, fused and eager must have the same bits. */
static tn_tensor *long_expression(const char *d)
{
    tn_tensor *x = tn_cast(tn_mul(tn_sub(ramp(TN_F32, TN_SHAPE(7, 43), d), tn_int(150)), tn_float(0.1)), rounded_dtype);
    tn_tensor *y = tn_flip(x, TN_ALL_AXES), *z = tn_add(tn_mul(x, y), tn_mul(x, tn_float(0.3)));
    for (int i = 0; i < 4; i++) z = tn_sub(tn_mul(tn_add(z, y), tn_float(0.7)), tn_maximum(x, tn_neg(z)));
    return tn_where(tn_lt(z, y), tn_mul(z, z), tn_abs(tn_minimum(z, tn_relu(y))));
}

START_TEST(bone_09_fused_eager_and_host_agree_bit_for_bit)
{
    static const tn_dtype types[] = {TN_F16, TN_F64, TN_F32, TN_BF16};
    for (int i = 0; i < 4; i++) {
        if (types[i] == TN_F64 && !test_has_f64()) continue;
        rounded_dtype = types[i];
        tn_tensor *fused = ck_made(long_expression(test_device()));
        ck_launches(1, bones_run(fused));
        ck_same(fused, long_expression("host"));
        if (!test_takes(i, 4)) continue; /* many kernels, of one operation each */
        ck_ok(tn_set("eager", "1"));
        tn_tensor *eager = long_expression(test_device());
        ck_ok(tn_set("eager", NULL));
        ck_same(eager, fused);
    }
}
END_TEST

START_TEST(bone_09_C35_products_and_sums_do_not_contract)
{
    tn_tensor *a = tn_mul(tn_add(ramp(TN_F32, TN_SHAPE(1000), test_device()), tn_int(1)), tn_float(0.1)),
              *b = tn_mul(a, tn_float(1.7));
    bones_run(a);
    bones_run(b);
    tn_tensor *p = tn_mul(a, b);
    ck_launches(1, ck_tensor_bool(tn_eq(tn_max(tn_abs(tn_sub(tn_mul(a, b), p)), TN_ALL_AXES, false), tn_int(0)), {1}));
}
END_TEST

/* ---- bone 13 ---- */

static tn_tensor *for_profiles(const char *d)
{
    tn_tensor *x = tn_cast(tn_remainder(tn_mul(ramp(TN_I32, TN_SHAPE(33, 65), d), tn_int(7919)), tn_int(100)), TN_F32);
    tn_tensor *rows = tn_sum(tn_mul(x, tn_int(3)), TN_AXES(1), true), *columns = tn_max(tn_sub(x, rows), TN_AXES(0), false);
    return tn_add(tn_transpose(tn_sub(x, columns), 0, 1), tn_select(rows, 0, 3));
}

START_TEST(bone_13_both_profiles_run_and_agree)
{
    static const char *const profiles[] = {"deep", "wide"};
    const char *own = getenv("TENON_PROFILE");
    tn_tensor *want = ck_made(for_profiles("host")); /* integers: every order of the sums is exact */
    for (int i = 0; i < 2; i++) {
        const tn_scope scope = tn_scope_push();
        ck_ok(tn_set("profile", profiles[i]));
        ck_ok(tn_shutdown());
        if (test_is("oclgrind")) bones_never_use_memory_twice();
        ck_same(for_profiles(test_device()), want);
        ck_assert_str_eq(bones_info(test_device()).profile, profiles[i]);
        ck_ok(tn_scope_pop(scope));
    }
    ck_ok(tn_set("profile", NULL));
    ck_ok(tn_shutdown());
    ck_assert(!own || strcmp(bones_info(test_device()).profile, own) == 0);
}
END_TEST

/* ---- bone 16 ---- */

static tn_tensor *inexact(const char *d, int which)
{
    tn_set_random_state(7, 0);
    tn_tensor *x = tn_randn(TN_F32, TN_SHAPE(37, 5003), d);
    switch (which) {
    case 0: return tn_sum(x, TN_ALL_AXES, false);
    case 1: return tn_sum(x, TN_AXES(0), false);
    case 2: return tn_mean(tn_exp(x), TN_AXES(1), false);
    default: return tn_slice(tn_softmax(x, 1), 0, 3, 5, 1);
    }
}

START_TEST(bone_16_the_same_bits_every_time)
{
    TN_SKIP_IF(test_is("oclgrind"), "an interpreter needs minutes for it");
    for (int which = 0; which < 4; which++) {
        tn_tensor *first = inexact(test_device(), which);
        bones_run(first);
        for (int i = 0; i < 3; i++) ck_same(inexact(test_device(), which), first);
    }
}
END_TEST

/* Prints the bits of what the device computes. */
static int role_print_bits(void)
{
    const tn_scope scope = tn_scope_push();
    for (int which = 0; which < 4; which++) {
        tn_tensor *x = inexact(test_device(), which);
        EXPECT(x);
        uint64_t hash = 14695981039346656037u;
        uint8_t *bytes = malloc(tn_nbytes(x));
        EXPECT(tn_read(x, bytes, tn_nbytes(x)) == TN_OK);
        for (size_t i = 0; i < tn_nbytes(x); i++) hash = (hash ^ bytes[i]) * 1099511628211u;
        free(bytes);
        printf("%016llx\n", (unsigned long long)hash);
    }
    return tn_scope_pop(scope) == TN_OK ? 0 : 1;
}

START_TEST(bone_16_the_number_of_compute_units_does_not_matter)
{
    char two[256], one[256];
    TN_SKIP_IF(strncmp(test_config(), "pocl", 4) != 0, "only PoCL's number of threads can be set");
    ck_assert_int_eq(bones_child("print_bits", NULL, two, sizeof two), 0);
    ck_assert_int_eq(bones_child("print_bits", (const char *const[]){"POCL_MAX_PTHREAD_COUNT=1", NULL}, one, sizeof one), 0);
    ck_assert_uint_eq(strlen(one), 4 * 17);
    ck_assert_str_eq(one, two);
}
END_TEST

START_TEST(bone_16_a_random_number_inside_an_expression_is_the_stored_one)
{
    TN_SHARED(1, 2);
    tn_set_random_state(3, 17);
    tn_tensor *stored = ck_made(tn_randint(TN_I32, TN_SHAPE(9, 11), -50, 50, test_device()));
    bones_run(stored);
    tn_set_random_state(3, 17);
    tn_tensor *drawn = ck_made(tn_randint(TN_I32, TN_SHAPE(9, 11), -50, 50, test_device()));
    ck_same(tn_add(tn_transpose(drawn, 0, 1), tn_int(1)), tn_add(tn_transpose(stored, 0, 1), tn_int(1)));
    tn_set_random_state(3, 17);
    drawn = ck_made(tn_randint(TN_I32, TN_SHAPE(9, 11), -50, 50, test_device()));
    ck_same(tn_slice(tn_flip(drawn, TN_AXES(0)), 1, 2, TN_END, 3), tn_slice(tn_flip(stored, TN_AXES(0)), 1, 2, TN_END, 3));
}
END_TEST

/* ---- local memory ---- */

START_TEST(C75_tiles_fit_into_small_local_memory)
{
    const tn_device_info info = bones_info(test_device());
    tn_tensor *a = tn_remainder(ramp(TN_F32, TN_SHAPE(64, 64), test_device()), tn_int(7)),
              *b = tn_remainder(ramp(TN_F32, TN_SHAPE(64, 64), test_device()), tn_int(5));
    tn_tensor *c = ck_made(tn_matmul(a, b)); /* 32 KiB on rusticl and Oclgrind */
    ck_assert_uint_gt(info.local_memory, 0);
    ck_same(tn_host(c), tn_matmul(tn_host(a), tn_host(b)));
    ck_same(tn_host(tn_softmax(tn_mul(a, tn_int(0)), 1)), tn_full(TN_F32, TN_SHAPE(64, 64), tn_float(1 / 64.0), "host"));
}
END_TEST

static const bones_role roles[] = {{"print_bits", role_print_bits}, {NULL, NULL}};

BONES_MAIN_WITH_ROLES("fuse", roles, bones_push, operands_broadcast_in_every_place, bone_14_every_layout_class_reads_right,
                      axes_in_any_order_and_number, bone_14_one_buffer_may_be_several_operands, every_length_is_computed_to_its_end,
                      C39_five_million_elements_are_computed_to_the_last, a_kernel_writes_its_elements_and_no_others,
                      dtypes_mix_in_one_kernel, integers_wrap, integer_division_is_pythons_and_never_traps,
                      shifts_powers_and_bits_have_defined_ends, bone_09_each_operation_rounds_to_its_dtype,
                      bone_09_fused_eager_and_host_agree_bit_for_bit, bone_09_C35_products_and_sums_do_not_contract,
                      bone_13_both_profiles_run_and_agree, bone_16_the_same_bits_every_time,
                      bone_16_the_number_of_compute_units_does_not_matter,
                      bone_16_a_random_number_inside_an_expression_is_the_stored_one, C75_tiles_fit_into_small_local_memory)
