/* What bad input gets: a code and one sentence with the telling words, for every row of the list, and every object valid after. */
#include "bones.h"

#include <math.h>

/* ---- NULL and TN_NONE, everywhere ---- */

typedef tn_tensor *(*unary)(tn_tensor *);
typedef tn_tensor *(*binary)(tn_tensor *, tn_tensor *);

static const struct {
    const char *name;
    unary call;
} unaries[] = {
    {"neg", tn_neg},     {"abs", tn_abs},     {"sign", tn_sign},
    {"floor", tn_floor}, {"isnan", tn_isnan}, {"logical_not", tn_logical_not},
    {"exp", tn_exp},     {"log", tn_log},     {"sqrt", tn_sqrt},
    {"tanh", tn_tanh},   {"erf", tn_erf},     {"sigmoid", tn_sigmoid},
    {"gelu", tn_gelu},   {"relu", tn_relu},   {"contiguous", tn_contiguous},
    {"clone", tn_clone}, {"keep", tn_keep},   {"retain", tn_retain},
    {"to", tn_host},
};

static const struct {
    const char *name;
    binary call;
} binaries[] = {
    {"add", tn_add},
    {"sub", tn_sub},
    {"mul", tn_mul},
    {"div", tn_div},
    {"floor_divide", tn_floor_divide},
    {"remainder", tn_remainder},
    {"pow", tn_pow},
    {"maximum", tn_maximum},
    {"minimum", tn_minimum},
    {"eq", tn_eq},
    {"ne", tn_ne},
    {"lt", tn_lt},
    {"le", tn_le},
    {"gt", tn_gt},
    {"ge", tn_ge},
    {"logical_and", tn_logical_and},
    {"logical_or", tn_logical_or},
    {"bitwise_and", tn_bitwise_and},
    {"bitwise_or", tn_bitwise_or},
    {"bitwise_xor", tn_bitwise_xor},
    {"left_shift", tn_left_shift},
    {"right_shift", tn_right_shift},
    {"matmul", tn_matmul},
};

static tn_tensor *call_reshape(tn_tensor *x)
{
    return tn_reshape(x, TN_SHAPE(1));
}
static tn_tensor *call_view(tn_tensor *x)
{
    return tn_view(x, TN_SHAPE(1));
}
static tn_tensor *call_squeeze(tn_tensor *x)
{
    return tn_squeeze(x, TN_ALL_AXES);
}
static tn_tensor *call_unsqueeze(tn_tensor *x)
{
    return tn_unsqueeze(x, 0);
}
static tn_tensor *call_transpose(tn_tensor *x)
{
    return tn_transpose(x, 0, 0);
}
static tn_tensor *call_permute(tn_tensor *x)
{
    return tn_permute(x, TN_AXES(0));
}
static tn_tensor *call_slice(tn_tensor *x)
{
    return tn_slice(x, 0, 0, 1, 1);
}
static tn_tensor *call_select(tn_tensor *x)
{
    return tn_select(x, 0, 0);
}
static tn_tensor *call_expand(tn_tensor *x)
{
    return tn_expand(x, TN_SHAPE(1));
}
static tn_tensor *call_flip(tn_tensor *x)
{
    return tn_flip(x, TN_ALL_AXES);
}
static tn_tensor *call_to(tn_tensor *x)
{
    return tn_to(x, "host");
}
static tn_tensor *call_cast(tn_tensor *x)
{
    return tn_cast(x, TN_F32);
}
static tn_tensor *call_sum(tn_tensor *x)
{
    return tn_sum(x, TN_ALL_AXES, false);
}
static tn_tensor *call_mean(tn_tensor *x)
{
    return tn_mean(x, TN_ALL_AXES, false);
}
static tn_tensor *call_max(tn_tensor *x)
{
    return tn_max(x, TN_ALL_AXES, false);
}
static tn_tensor *call_argmax(tn_tensor *x)
{
    return tn_argmax(x, TN_ALL_AXES, false);
}
static tn_tensor *call_softmax(tn_tensor *x)
{
    return tn_softmax(x, 0);
}
static tn_tensor *call_log_softmax(tn_tensor *x)
{
    return tn_log_softmax(x, 0);
}
static tn_tensor *call_full(tn_tensor *x)
{
    return tn_full(TN_F32, TN_SHAPE(1), x, "host");
}
static tn_tensor *call_clamp(tn_tensor *x)
{
    return tn_clamp(x, TN_NONE, TN_NONE);
}

static const struct {
    const char *name;
    unary call;
} others[] = {
    {"reshape", call_reshape},
    {"view", call_view},
    {"squeeze", call_squeeze},
    {"unsqueeze", call_unsqueeze},
    {"transpose", call_transpose},
    {"permute", call_permute},
    {"slice", call_slice},
    {"select", call_select},
    {"expand", call_expand},
    {"flip", call_flip},
    {"to", call_to},
    {"cast", call_cast},
    {"sum", call_sum},
    {"mean", call_mean},
    {"max", call_max},
    {"argmax", call_argmax},
    {"softmax", call_softmax},
    {"log_softmax", call_log_softmax},
    {"full", call_full},
    {"clamp", call_clamp},
};

/* The call gave NULL, and an ARGUMENT error that names function and argument. */
static void refused(tn_tensor *x, const char *function, const char *argument)
{
    ck_assert_msg(!x, "%s: not refused", function);
    ck_assert_msg(tn_last_status() == TN_ARGUMENT, "%s: %s: %s", function, tn_status_name(tn_last_status()), tn_last_error());
    ck_has(tn_last_error(), function);
    ck_has(tn_last_error(), argument);
    tn_clear_error();
}

START_TEST(NULL_is_refused_by_function_and_argument)
{
    tn_tensor *x = test_f32(TN_SHAPE(1), {1});
    for (size_t i = 0; i < sizeof unaries / sizeof *unaries; i++) refused(unaries[i].call(NULL), unaries[i].name, "x");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        refused(others[i].call(NULL), others[i].name, i == 18 ? "value" : "");
    for (size_t i = 0; i < sizeof binaries / sizeof *binaries; i++) {
        refused(binaries[i].call(NULL, x), binaries[i].name, "a");
        refused(binaries[i].call(x, NULL), binaries[i].name, "b");
    }
    refused(tn_where(NULL, x, x), "where", "a");
    refused(tn_where(x, x, NULL), "where", "c");
    refused(tn_clamp(x, NULL, x), "clamp", "");
}
END_TEST

START_TEST(TN_NONE_is_refused_where_it_does_not_belong)
{
    tn_tensor *x = test_f32(TN_SHAPE(1), {1});
    for (size_t i = 0; i < sizeof unaries / sizeof *unaries; i++) refused(unaries[i].call(TN_NONE), unaries[i].name, "TN_NONE");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) refused(others[i].call(TN_NONE), others[i].name, "TN_NONE");
    for (size_t i = 0; i < sizeof binaries / sizeof *binaries; i++) {
        refused(binaries[i].call(TN_NONE, x), binaries[i].name, "TN_NONE");
        refused(binaries[i].call(x, TN_NONE), binaries[i].name, "TN_NONE");
    }
    refused(tn_where(x, TN_NONE, x), "where", "TN_NONE");
    ck_tensor_f32(tn_clamp(x, TN_NONE, tn_int(0)), {0}); /* here it belongs */
    ck_fails(tn_clamp(x, TN_NONE, TN_NONE), TN_ARGUMENT, "clamp", "TN_NONE");
}
END_TEST

START_TEST(NULL_and_TN_NONE_are_refused_by_what_returns_a_status)
{
    double d;
    int64_t i;
    float f[1];
    tn_tensor *x = test_f32(TN_SHAPE(1), {1});
    ck_fails(tn_read(NULL, f, 4), TN_ARGUMENT, "read", "x");
    ck_fails(tn_read(TN_NONE, f, 4), TN_ARGUMENT, "read", "TN_NONE");
    ck_fails(tn_write(NULL, f, 4), TN_ARGUMENT, "write", "x");
    ck_fails(tn_write(TN_NONE, f, 4), TN_ARGUMENT, "write", "TN_NONE");
    ck_fails(tn_item(NULL, &d), TN_ARGUMENT, "item", "x");
    ck_fails(tn_item_int(TN_NONE, &i), TN_ARGUMENT, "item", "TN_NONE");
    ck_fails(tn_assign(NULL, x), TN_ARGUMENT, "assign", "x");
    ck_fails(tn_assign(x, NULL), TN_ARGUMENT, "assign", "src");
    ck_fails(tn_assign(x, TN_NONE), TN_ARGUMENT, "assign", "src", "TN_NONE");
    ck_fails(tn_print(stderr, NULL), TN_ARGUMENT, "print");
    ck_fails(tn_print(NULL, x), TN_ARGUMENT, "print");
    ck_fails(tn_realize((tn_tensor *const[]){x, NULL}, 2), TN_ARGUMENT, "realize");
    ck_fails(tn_realize((tn_tensor *const[]){x, TN_NONE}, 2), TN_ARGUMENT, "realize", "TN_NONE");
    ck_fails(tn_realize(NULL, 1), TN_ARGUMENT, "realize");
    ck_fails(tn_realize((tn_tensor *const[]){x}, -1), TN_ARGUMENT, "realize", "-1");
    ck_ok(tn_realize(NULL, 0));
    ck_tensor_f32(x, {1});
}
END_TEST

START_TEST(questions_about_nothing_have_harmless_answers)
{
    ck_assert_int_eq(tn_ndim(NULL), -1);
    ck_assert_int_eq(tn_dim(NULL, 0), -1);
    ck_assert_int_eq(tn_dtype_of(NULL), TN_DTYPE_COUNT);
    ck_assert_str_eq(tn_device_of(NULL), "");
    ck_assert_int_eq(tn_numel(TN_NONE), -1);
    ck_assert_uint_eq(tn_nbytes(TN_NONE), 0);
    ck_assert_int_eq(tn_shape_of(TN_NONE).ndim, -1);
    ck_assert(!tn_is_contiguous(NULL) && !tn_is_pending(TN_NONE));
    ck_assert_str_eq(tn_device_of(TN_NONE), "");
    tn_clear_error();
}
END_TEST

/* ---- devices ---- */

START_TEST(an_absent_device_is_an_error_that_lists_what_exists)
{
    tn_tensor *x = test_f32(TN_SHAPE(1), {1});
    ck_fails(tn_zeros(TN_F32, TN_SHAPE(1), "gpu:63"), TN_DEVICE, "gpu:63", "host");
    ck_fails(tn_to(x, "accel:9"), TN_DEVICE, "accel:9", "host");
    ck_fails(tn_from(TN_F32, TN_SHAPE(1), (const float[]){1}, "cpu:63"), TN_DEVICE, "cpu:63", "host");
    ck_fails(tn_rand(TN_F32, TN_SHAPE(1), "gpu:63"), TN_DEVICE, "gpu:63");
    ck_fails(tn_arange(TN_F32, 0, 3, 1, "gpu:63"), TN_DEVICE, "gpu:63");
    ck_fails(tn_device_push("gpu:63"), TN_DEVICE, "gpu:63");
    ck_fails(tn_finish("gpu:63"), TN_DEVICE, "gpu:63");
    ck_fails(tn_memory_set_limit("gpu:63", 1), TN_DEVICE, "gpu:63");
    if (!test_is("host") && !test_is("none")) ck_fails(tn_to(x, "gpu:63"), TN_DEVICE, test_device());
    ck_tensor_f32(x, {1});
}
END_TEST

START_TEST(a_malformed_device_name_is_quoted)
{
    static const char *const names[] = {"",      "gpu:",   "gpu:-1", "GPU:0", "gpu:00", "gpu:9999999999",
                                        "tpu:0", "host:0", "cpu:0 ", "cuda"};
    tn_tensor *x = test_f32(TN_SHAPE(1), {1});
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char quoted[32];
        snprintf(quoted, sizeof quoted, "\"%s\"", names[i]);
        ck_fails(tn_zeros(TN_F32, TN_SHAPE(1), names[i]), TN_ARGUMENT, quoted);
        ck_fails(tn_to(x, names[i]), TN_ARGUMENT, quoted);
        ck_fails(tn_finish(names[i]), TN_ARGUMENT, quoted);
    }
    ck_fails(tn_finish(NULL), TN_ARGUMENT, "finish", "device");
    ck_fails(tn_device_pop(), TN_ARGUMENT, "pop");
}
END_TEST

START_TEST(C02_without_OpenCL_an_explicit_device_says_why_and_what_to_install)
{
    TN_SKIP_IF(!test_is("none") && !test_is("host"), "an OpenCL device is there");
    ck_fails(tn_to(test_f32(TN_SHAPE(1), {1}), "cpu:0"), TN_DEVICE, "cpu:0", "host", test_is("none") ? "TENON_OPENCL" : "install");
    ck_fails(tn_zeros(TN_F32, TN_SHAPE(1), "gpu"), TN_DEVICE, "gpu");
    ck_tensor_f32(tn_zeros(TN_F32, TN_SHAPE(1), "auto"), {0});
    ck_assert(*tn_device_trouble() != '\0');
}
END_TEST

START_TEST(C44_operands_on_different_devices_are_named_with_their_places)
{
    NEEDS_OPENCL();
    tn_tensor *here = test_f32(TN_SHAPE(2, 3), {1, 2, 3, 4, 5, 6}), *there = ck_made(tn_ones(TN_F32, TN_SHAPE(3), "host"));
    char fix[64];
    snprintf(fix, sizeof fix, "tn_to(b, \"%s\")", test_device());
    ck_fails(tn_add(here, there), TN_DEVICE, "add", "a [2,3]", "b [3]", "host", test_device(), fix);
    snprintf(fix, sizeof fix, "tn_to(a, \"%s\")", test_device());
    ck_fails(tn_sub(there, here), TN_DEVICE, "sub", "a [3]", "b [2,3]", "host", fix);
    ck_fails(tn_where(tn_gt(here, tn_int(2)), here, there), TN_DEVICE, "where", "c [3]", "host");
    ck_fails(tn_matmul(here, tn_unsqueeze(there, 1)), TN_DEVICE, "matmul", "[2,3]", "[3,1]", "host", test_device());
    ck_fails(tn_assign(here, there), TN_DEVICE, "assign", "host", test_device(), "tn_to(src");
    ck_fails(tn_assign(there, tn_select(here, 0, 0)), TN_DEVICE, "assign", "host", "tn_to(src, \"host\")");
    ck_tensor_f32(tn_add(here, tn_to(there, test_device())), {2, 3, 4, 5, 6, 7});
}
END_TEST

START_TEST(C44_a_host_scalar_goes_with_any_device_in_elementwise_maths_only)
{
    tn_tensor *x = test_f32(TN_SHAPE(2, 2), {1, 2, 3, 4}), *s = ck_made(tn_from(TN_F32, TN_SHAPE(), (const float[]){10}, "host"));
    tn_tensor *y = tn_mul(s, tn_add(x, s));
    ck_ok(tn_assign(s, tn_int(0))); /* its value was taken when it was recorded */
    ck_tensor_f32(y, {110, 120, 130, 140});
    ck_assert_str_eq(tn_device_of(y), test_device());
    ck_ok(tn_assign(x, s));
    ck_tensor_f32(x, {0, 0, 0, 0});
    ck_fails(tn_matmul(x, s), TN_SHAPE, "matmul");
}
END_TEST

START_TEST(C44_auto_move_copies_host_operands_and_counts)
{
    NEEDS_OPENCL();
    tn_tensor *here = test_f32(TN_SHAPE(3), {1, 2, 3}), *there = ck_made(tn_ones(TN_F32, TN_SHAPE(3), "host"));
    ck_assert(!tn_auto_move(true));
    const uint64_t count = tn_auto_move_count();
    ck_tensor_f32(tn_add(here, there), {2, 3, 4});
    ck_tensor_f32(tn_sub(there, here), {0, -1, -2});
    ck_assert_uint_eq(tn_auto_move_count(), count + 2);
    ck_assert(tn_auto_move(false));
    ck_fails(tn_add(here, there), TN_DEVICE, "add");
    ck_assert_uint_eq(tn_auto_move_count(), count + 2);
}
END_TEST

START_TEST(two_OpenCL_devices_are_never_mixed_silently)
{
    TN_SKIP_IF(!test_is("both"), "needs two OpenCL devices");
    tn_tensor *a = ck_made(tn_ones(TN_F32, TN_SHAPE(2), "cpu:0")), *b = ck_made(tn_ones(TN_F32, TN_SHAPE(2), "gpu:0"));
    ck_fails(tn_add(a, b), TN_DEVICE, "add", "cpu:0", "gpu:0", "tn_to(");
    (void)tn_auto_move(true);
    ck_fails(tn_add(a, b), TN_DEVICE, "add", "cpu:0", "gpu:0"); /* only what is on host moves */
    (void)tn_auto_move(false);
    ck_fails(tn_add(a, tn_select(b, 0, 0)), TN_DEVICE, "cpu:0", "gpu:0");
}
END_TEST

/* ---- shapes, axes, dtypes ---- */

START_TEST(shapes_that_do_not_broadcast_are_both_told)
{
    tn_tensor *a = test_f32(TN_SHAPE(2, 3), {1, 2, 3, 4, 5, 6}), *b = test_f32(TN_SHAPE(4), {1, 2, 3, 4});
    ck_fails(tn_add(a, b), TN_SHAPE, "add", "a [2,3]", "b [4]", "broadcast");
    ck_fails(tn_lt(b, a), TN_SHAPE, "lt", "a [4]", "b [2,3]");
    ck_fails(tn_where(tn_gt(a, tn_int(0)), a, b), TN_SHAPE, "where", "c [4]");
    ck_fails(tn_clamp(a, b, tn_int(1)), TN_SHAPE, "clamp", "[2,3]", "[4]");
    ck_fails(tn_add(tn_zeros(TN_F32, TN_SHAPE(0), test_device()), b), TN_SHAPE, "[0]", "[4]");
}
END_TEST

START_TEST(matmul_tells_its_inner_axes)
{
    tn_tensor *a = ck_made(tn_ones(TN_F32, TN_SHAPE(2, 3), test_device())),
              *b = ck_made(tn_ones(TN_F32, TN_SHAPE(4, 5), test_device()));
    ck_fails(tn_matmul(a, b), TN_SHAPE, "matmul", "a [2,3]", "b [4,5]", "inner axes 3 and 4 differ");
    ck_fails(tn_matmul(a, tn_select(b, 0, 0)), TN_SHAPE, "matmul", "3", "5");
    ck_fails(tn_matmul(tn_expand(a, TN_SHAPE(2, 2, 3)), tn_zeros(TN_F32, TN_SHAPE(3, 3, 4), test_device())), TN_SHAPE, "matmul",
             "[2,2,3]", "[3,3,4]");
    ck_fails(tn_matmul(tn_cast(a, TN_BOOL), tn_cast(tn_transpose(a, 0, 1), TN_BOOL)), TN_DTYPE, "matmul", "bool");
    ck_fails(tn_matmul(tn_sum(a, TN_ALL_AXES, false), a), TN_SHAPE, "matmul", "[]");
}
END_TEST

START_TEST(axes_out_of_range_and_given_twice_are_told)
{
    tn_tensor *x = test_f32(TN_SHAPE(2, 3), {1, 2, 3, 4, 5, 6});
    ck_fails(tn_sum(x, TN_AXES(2), false), TN_AXIS, "sum", "2");
    ck_fails(tn_mean(x, TN_AXES(0, -3), false), TN_AXIS, "mean", "-3");
    ck_fails(tn_max(x, TN_AXES(1, -1), true), TN_AXIS, "max", "twice");
    ck_fails(tn_argmax(x, TN_AXES(5), true), TN_AXIS, "argmax", "5");
    ck_fails(tn_softmax(x, 2), TN_AXIS, "softmax", "2");
    ck_fails(tn_log_softmax(x, -3), TN_AXIS, "log_softmax", "-3");
    ck_fails(tn_select(x, 1, 3), TN_AXIS, "select", "index 3", "[2,3]");
    ck_fails(tn_slice(x, 2, 0, 1, 1), TN_AXIS, "slice", "2");
    ck_fails(tn_sum(x, (tn_axes){.count = 17}, false), TN_AXIS, "sum", "17");
    ck_fails(tn_squeeze(x, (tn_axes){.count = -2}), TN_AXIS, "squeeze", "-2");
}
END_TEST

START_TEST(reductions_over_nothing_that_need_something_are_refused)
{
    tn_tensor *x = ck_made(tn_zeros(TN_F32, TN_SHAPE(0, 3), test_device()));
    ck_fails(tn_max(x, TN_AXES(0), false), TN_SHAPE, "max", "[0,3]");
    ck_fails(tn_argmax(x, TN_ALL_AXES, false), TN_SHAPE, "argmax", "[0,3]");
    ck_shape(tn_max(x, TN_AXES(1), false), TN_SHAPE(0));
    ck_tensor_f32(tn_sum(x, TN_AXES(0), false), {0, 0, 0});
    ck_tensor_f32(tn_mean(x, TN_AXES(0), false), {NAN, NAN, NAN});
}
END_TEST

START_TEST(dtypes_an_operation_does_not_take_are_told_with_those_it_takes)
{
    tn_tensor *b = test_bool(TN_SHAPE(2), {0, 1}), *f = test_f32(TN_SHAPE(2), {1, 2}), *i = test_i32(TN_SHAPE(2), {1, 2});
    ck_fails(tn_neg(b), TN_DTYPE, "neg", "bool");
    ck_fails(tn_sub(b, b), TN_DTYPE, "sub", "bool");
    ck_fails(tn_floor_divide(b, b), TN_DTYPE, "floor_divide", "bool");
    ck_fails(tn_remainder(b, b), TN_DTYPE, "remainder", "bool");
    ck_fails(tn_pow(b, b), TN_DTYPE, "pow", "bool");
    ck_fails(tn_bitwise_and(f, f), TN_DTYPE, "bitwise_and", "f32", "integers", "bool");
    ck_fails(tn_left_shift(f, i), TN_DTYPE, "left_shift", "f32", "integers");
    ck_fails(tn_left_shift(b, b), TN_DTYPE, "left_shift", "bool");
    ck_fails(tn_mean(i, TN_ALL_AXES, false), TN_DTYPE, "mean", "i32");
    ck_fails(tn_add(tn_cast(i, TN_U64), i), TN_DTYPE, "u64", "i32");
    ck_fails(tn_zeros((tn_dtype)77, TN_SHAPE(1), test_device()), TN_DTYPE, "zeros", "77");
    ck_fails(tn_from(TN_DTYPE_COUNT, TN_SHAPE(1), f, test_device()), TN_DTYPE, "from", "13");
    ck_fails(tn_cast(f, (tn_dtype)-1), TN_DTYPE, "cast", "-1");
    ck_fails(tn_rand(TN_I32, TN_SHAPE(1), test_device()), TN_DTYPE, "rand", "i32");
    ck_fails(tn_randint(TN_F32, TN_SHAPE(1), 0, 3, test_device()), TN_DTYPE, "randint", "f32");
    ck_fails(tn_randint(TN_BOOL, TN_SHAPE(1), 0, 1, test_device()), TN_DTYPE, "randint", "bool");
}
END_TEST

START_TEST(scalars_that_do_not_fit_are_told)
{
    tn_tensor *u = test_u8(TN_SHAPE(2), {1, 2}), *i = test_i32(TN_SHAPE(2), {1, 2});
    ck_fails(tn_add(u, tn_int(256)), TN_OVERFLOW, "add", "256", "u8");
    ck_fails(tn_mul(tn_int(-1), u), TN_OVERFLOW, "mul", "-1", "u8");
    ck_fails(tn_maximum(i, tn_int(INT64_C(1) << 31)), TN_OVERFLOW, "maximum", "2147483648", "i32");
    ck_fails(tn_where(tn_gt(i, tn_int(1)), i, tn_int(INT64_MIN)), TN_OVERFLOW, "where", "i32");
    ck_fails(tn_clamp(u, tn_int(0), tn_int(300)), TN_OVERFLOW, "clamp", "300", "u8");
    ck_fails(tn_add(u, tn_from(TN_I64, TN_SHAPE(), (const int64_t[]){1000}, "host")), TN_OVERFLOW, "add", "1000", "u8");
    ck_fails(tn_pow(i, tn_int(-1)), TN_ARGUMENT, "pow", "-1");
    ck_fails(tn_randint(TN_I8, TN_SHAPE(1), 0, 129, test_device()), TN_OVERFLOW, "randint", "128", "i8");
    ck_fails(tn_randint(TN_I32, TN_SHAPE(1), 5, 5, test_device()), TN_ARGUMENT, "randint", "5");
    ck_tensor_u8(tn_add(u, tn_int(255)), {0, 1});
    ck_tensor_i32(tn_pow(i, test_i32(TN_SHAPE(2), {-1, -1})), {1, 0});
}
END_TEST

/* ---- sizes ---- */

START_TEST(C51_sizes_are_checked_before_anything_else)
{
    ck_fails(tn_zeros(TN_F32, TN_SHAPE(INT64_C(1) << 33, INT64_C(1) << 33), test_device()), TN_OVERFLOW, "zeros",
             "[8589934592,8589934592]");
    ck_fails(tn_zeros(TN_F64, TN_SHAPE(INT64_MAX), "host"), TN_OVERFLOW, "zeros");
    ck_fails(tn_zeros(TN_F32, TN_SHAPE(2, -1), test_device()), TN_SHAPE, "zeros", "-1");
    ck_fails(tn_from(TN_F32, TN_SHAPE(3), NULL, test_device()), TN_ARGUMENT, "from", "NULL", "[3]");
    ck_fails(tn_zeros(TN_F32, (tn_shape){.ndim = -1}, test_device()), TN_SHAPE, "zeros", "-1");
    ck_fails(tn_reshape(test_f32(TN_SHAPE(4), {1, 2, 3, 4}), TN_SHAPE(INT64_C(1) << 62, 4)), TN_OVERFLOW, "reshape");
    ck_fails(tn_expand(test_f32(TN_SHAPE(1), {1}), TN_SHAPE(INT64_C(1) << 40, INT64_C(1) << 40)), TN_OVERFLOW, "expand");
    tn_tensor *wide = ck_made(tn_expand(test_f32(TN_SHAPE(1, 1), {1}), TN_SHAPE(INT64_C(1) << 31, 1)));
    tn_tensor *tall = ck_made(tn_expand(test_f32(TN_SHAPE(1, 1), {1}), TN_SHAPE(1, INT64_C(1) << 31)));
    ck_fails(tn_add(wide, tall), TN_OVERFLOW, "add");
    ck_shape(tn_zeros(TN_F32, TN_SHAPE(0, INT64_C(1) << 40), test_device()), TN_SHAPE(0, INT64_C(1) << 40));
}
END_TEST

START_TEST(C51_too_big_for_the_device_is_a_memory_error_with_the_numbers)
{
    test_at_once(true);
    const int64_t n = INT64_C(1000000000);
    tn_tensor *x = tn_zeros(TN_U8, TN_SHAPE(n, n), test_device());
    if (test_is("host") || test_is("none")) {
        ck_fails(x, TN_MEMORY, "host", "1000000000000000000", "in use", "cached", "in total");
    } else { /* recorded; what runs it fails */
        ck_fails(tn_realize((tn_tensor *const[]){ck_made(x)}, 1), TN_MEMORY, test_device(), "1000000000000000000", "one allocation",
                 "in use", "cached", "in total");
        ck_tensor_u8(tn_slice(tn_select(x, 0, -1), 0, -2, TN_END, 1), {0, 0}); /* a part of it is no trouble */
        tn_release(x);
    }
    ck_tensor_f32(tn_add(test_f32(TN_SHAPE(2), {1, 2}), tn_int(1)), {2, 3});
}
END_TEST

START_TEST(C51_out_of_memory_tells_requested_limit_in_use_and_total)
{
    const uint64_t held = bones_info(test_device()).memory_in_use;
    char limit[64];
    snprintf(limit, sizeof limit, "limit %llu", (unsigned long long)held + 100000);
    ck_ok(tn_memory_empty_cache(test_device()));
    ck_ok(tn_memory_set_limit(test_device(), held + 100000));
    static const uint8_t data[200000];
    ck_fails(tn_from(TN_U8, TN_SHAPE(200000), data, test_device()), TN_MEMORY, test_device(), "200000 bytes", limit, "in use",
             "cached", "total");
    ck_ok(tn_memory_set_limit(test_device(), 0));
    ck_tensor_u8(tn_slice(ck_made(tn_zeros(TN_U8, TN_SHAPE(200000), test_device())), 0, -1, TN_END, 1), {0});
}
END_TEST

/* ---- settings ---- */

START_TEST(settings_are_checked_by_name_and_value)
{
    ck_fails(tn_set("colour", "blue"), TN_ARGUMENT, "colour");
    ck_fails(tn_set("profile", "shallow"), TN_ARGUMENT, "profile", "shallow");
    ck_fails(tn_set("memory_limit", "12 parsecs"), TN_ARGUMENT, "memory_limit", "12 parsecs");
    ck_fails(tn_set("eager", "perhaps"), TN_ARGUMENT, "eager", "perhaps");
    ck_fails(tn_set(NULL, "1"), TN_ARGUMENT, "set");
    ck_assert_ptr_null(tn_get("colour"));
    ck_assert_str_eq(tn_get("profile"), getenv("TENON_PROFILE") ? getenv("TENON_PROFILE") : "");
    tn_clear_error();
}
END_TEST

START_TEST(errors_are_one_sentence_without_newline)
{
    tn_tensor *x = test_f32(TN_SHAPE(2, 3), {1, 2, 3, 4, 5, 6});
    double d;
    for (int i = 0; i < 8; i++) {
        tn_clear_error();
        switch (i) {
        case 0: (void)!tn_reshape(x, TN_SHAPE(4)); break;
        case 1: (void)!tn_zeros(TN_F32, TN_SHAPE(1), "gpu:63"); break;
        case 2: (void)!tn_add(x, tn_slice(x, 1, 0, 2, 1)); break;
        case 3: (void)!tn_select(x, 0, 5); break;
        case 4: (void)tn_item(x, &d); break;
        case 5: (void)!tn_bitwise_or(x, x); break;
        case 6: (void)tn_read(x, &d, 1); break;
        default: (void)!tn_zeros(TN_U8, TN_SHAPE(INT64_C(1) << 50), "host"); break;
        }
        const char *text = tn_last_error();
        ck_assert_msg(strlen(text) > 10 && !strchr(text, '\n') && text[strlen(text) - 1] != '.', "\"%s\"", text);
    }
    tn_clear_error();
}
END_TEST

BONES_MAIN("errors", NULL_is_refused_by_function_and_argument, TN_NONE_is_refused_where_it_does_not_belong,
           NULL_and_TN_NONE_are_refused_by_what_returns_a_status, questions_about_nothing_have_harmless_answers,
           an_absent_device_is_an_error_that_lists_what_exists, a_malformed_device_name_is_quoted,
           C02_without_OpenCL_an_explicit_device_says_why_and_what_to_install,
           C44_operands_on_different_devices_are_named_with_their_places,
           C44_a_host_scalar_goes_with_any_device_in_elementwise_maths_only, C44_auto_move_copies_host_operands_and_counts,
           two_OpenCL_devices_are_never_mixed_silently, shapes_that_do_not_broadcast_are_both_told, matmul_tells_its_inner_axes,
           axes_out_of_range_and_given_twice_are_told, reductions_over_nothing_that_need_something_are_refused,
           dtypes_an_operation_does_not_take_are_told_with_those_it_takes, scalars_that_do_not_fit_are_told,
           C51_sizes_are_checked_before_anything_else, C51_too_big_for_the_device_is_a_memory_error_with_the_numbers,
           C51_out_of_memory_tells_requested_limit_in_use_and_total, settings_are_checked_by_name_and_value,
           errors_are_one_sentence_without_newline)
