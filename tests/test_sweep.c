/* Every elementwise row in every dtype and layout, and every cast: the device under test against the contract's reference and
 * against host, on edges and ordinary values. Which cases run comes from the tables: host has them all, each alone, a device has
 * a part of them, another one in each configuration and more with TENON_TEST_LONG=1, and rows share kernels there. */
#include "support/test.h"

#include "support/row_cases.h"

#include <math.h>

/* ---- what occurred ---- */

static int row_cases[TN__ROWS], dtype_cases[TN_DTYPE_COUNT], layout_cases[LAYOUTS], cast_cases[TN_DTYPE_COUNT][TN_DTYPE_COUNT];
static int faults; /* of the running test */

static void end_of_faults(void)
{
    const int count = faults;
    faults = 0;
    ck_assert_msg(count == 0, "%s: %d faults", test_name(), count);
}

static bool on_host(void)
{
    return strcmp(test_device(), "host") == 0;
}

/* Configurations choose different cases. */
static int turn(void)
{
    int sum = 0;
    for (const char *p = test_config(); *p; p++) sum += *p;
    return sum;
}

static bool takes(tn_dtype dtype)
{
    return dtype != TN_F64 || test_has_f64();
}

static bool on_pocl(void)
{
    return strcmp(test_device(), "cpu:0") == 0;
}

/* Rows that always see every layout, each in a kernel of its own. */
static bool is_pilot(int r, tn_dtype dtype)
{
    const char *name = tn__rows[r].name;
    return dtype == TN_F32 && (strcmp(name, "sub") == 0 || (!on_pocl() && strcmp(name, "where") == 0));
}

static bool alone(int r, tn_dtype dtype)
{
    return on_host() || is_pilot(r, dtype);
}

/* dtypes that are computed alike: each row takes two of three, others in each configuration. */
static bool left_out(int r, tn_dtype dtype)
{
    static const tn_dtype alike[3][3] = {{TN_F32, TN_F16, TN_BF16}, {TN_I32, TN_I16, TN_I8}, {TN_U32, TN_U16, TN_U8}};
    for (int g = 0; g < 3; g++)
        if (dtype == alike[g][(r + turn()) % 3]) return true;
    return false;
}

/* Each row and dtype gets a layout whose kernel is the plain one in one of PoCL's two profiles and, since rusticl takes seconds for
 * a kernel of several rows, some in one of rusticl's; one row in six another layout. The long run has a third of all layouts on
 * PoCL, one or two in its other profile, and each row and dtype elsewhere in the device's own. */
static bool chosen(int r, tn_dtype dtype, test_layout layout)
{
    static const test_layout plain[] = {LAYOUT_CONTIGUOUS, LAYOUT_OFFSET, LAYOUT_CHANNELS_LAST, LAYOUT_ODD};
    static const test_layout dear[] = {LAYOUT_TRANSPOSED, LAYOUT_BROADCAST, LAYOUT_NEGATIVE, LAYOUT_ZERO_D};
    const int at = turn() + (int)dtype, profile = strstr(test_config(), "-") != NULL;
    const int parts = on_pocl() ? 2 : profile ? 10 : 4;
    if (alone(r, dtype) || layout == LAYOUT_EMPTY) return true;
    if (test_long() && strcmp(test_config(), "pocl") == 0) return (r + (int)layout) % 3 == at % 3;
    if (test_long() && on_pocl()) return layout == plain[at % 4] || (layout == dear[(r + at) % 4] && (r + at / 4) % 2 == 0);
    if (test_long() && !profile) return layout == plain[at % 4];
    if ((r + (int)dtype) % parts != profile || left_out(r, dtype)) return false;
    return layout == plain[at % 4] || (layout == dear[(at + at / 4) % 4] && (r / parts + at) % 6 == 0);
}

/* Cases that wait to be run together. */
static row_case waiting[ROW_CASES];
static int waiting_count;

static void run_waiting(void)
{
    const int count = waiting_count;
    waiting_count = 0; /* also when a case fails, and does not return */
    if (count) faults += row_cases_run(waiting, count);
}

static void add_case(int r, tn_dtype dtype, test_layout layout, int64_t first)
{
    const bool guards = alone(r, dtype) || (r + turn()) % 24 == 0;
    if (alone(r, dtype)) run_waiting();
    waiting[waiting_count++] = (row_case){.row = r, .dtype = dtype, .layout = layout, .first = first, .guards = guards};
    if (alone(r, dtype) || waiting_count == (on_pocl() ? ROW_CASES : ROW_CASES / 8)) run_waiting();
    if (layout != LAYOUT_EMPTY) row_cases[r]++, dtype_cases[dtype]++;
    layout_cases[layout]++;
    test_case_passed();
}

/* Rows of one arity, with values from `first` on. */
static void sweep_layout(tn_dtype dtype, test_layout layout, int64_t first)
{
    for (int arity = 1; arity <= 3; arity++) {
        for (int r = 0; r < TN__ROWS; r++)
            if (tn__rows[r].arity == arity && row_allowed(r, dtype) && chosen(r, dtype, layout)) add_case(r, dtype, layout, first);
        if (!on_pocl()) run_waiting();
    }
}

static void sweep_rows(tn_dtype dtype)
{
    TN_SKIP_IF(!takes(dtype), "the device has no f64");
    for (int layout = 0; layout < LAYOUTS; layout++) sweep_layout(dtype, (test_layout)layout, 0);
    for (int64_t first = 1; first < 2000; first = first * 5 + 2) sweep_layout(dtype, LAYOUT_ZERO_D, first);
    run_waiting();
    end_of_faults();
}

#define DT(id, name, ...)      \
    START_TEST(rows_in_##name) \
    {                          \
        sweep_rows(TN_##id);   \
    }                          \
    END_TEST
#include "tables/dtypes.def"
#undef DT

/* ---- rows that a dtype is not allowed in ---- */

START_TEST(other_dtypes_are_refused_by_name)
{
    for (int r = 0; r < TN__ROWS; r++)
        for (int d = 0; d < TN_DTYPE_COUNT; d++) {
            if (row_allowed(r, (tn_dtype)d) || !takes((tn_dtype)d)) continue;
            tn_tensor *x = ck_made(tn_ones((tn_dtype)d, TN_SHAPE(2), test_device()));
            ck_fails(row_call(r, (tn_tensor *const[]){x, x, x}), TN_DTYPE, tn__rows[r].name, tn_dtype_name((tn_dtype)d));
            tn_release(x);
            test_case_passed();
        }
}
END_TEST

START_TEST(without_f64_the_error_names_the_capability)
{
    TN_SKIP_IF(test_has_f64(), "the device has f64");
    tn_tensor *x = test_f32(TN_SHAPE(1), {1});
    const double one = 1;
    ck_fails(tn_from(TN_F64, TN_SHAPE(1), &one, test_device()), TN_CAPABILITY, "f64", test_device());
    ck_fails(tn_zeros(TN_F64, TN_SHAPE(1), test_device()), TN_CAPABILITY, "f64");
    ck_fails(tn_cast(x, TN_F64), TN_CAPABILITY, "f64");
    tn_release(x);
}
END_TEST

/* ---- casts ---- */

/* To every dtype, a few at a time: a kernel of several results. */
static void cast_all(tn_dtype from, test_layout layout)
{
    enum { TOGETHER = 8 };
    char values[CASE_ELEMENTS * 8];
    const int n = cast_values(from, layout, values);
    tn_tensor *x = layout_tensor(layout, 0, 1, from, values, test_device());
    for (int to = 0; to < TN_DTYPE_COUNT;) {
        tn_tensor *y[TOGETHER];
        int count = 0;
        for (; to < TN_DTYPE_COUNT && count < TOGETHER; to++)
            if (takes((tn_dtype)to)) y[count++] = ck_made(tn_cast(x, (tn_dtype)to));
        ck_ok(tn_realize(y, count));
        for (int i = 0; i < count; i++) {
            faults += cast_check(from, layout, n, values, y[i]);
            cast_cases[from][tn_dtype_of(y[i])]++;
            test_case_passed();
            tn_release(y[i]);
        }
    }
    tn_release(x);
}

static void sweep_casts(tn_dtype from)
{
    TN_SKIP_IF(!takes(from), "the device has no f64");
    const int one = (turn() + (int)from) % LAYOUTS;
    const bool all = on_host() || (test_long() && on_pocl()), here = !on_pocl() || from == TN_F64 || (turn() + (int)from) % 2 == 0;
    for (int layout = 0; layout < LAYOUTS; layout++)
        if (all || layout == LAYOUT_EMPTY || (here && layout == one)) cast_all(from, (test_layout)layout);
    end_of_faults();
}

#define DT(id, name, ...)       \
    START_TEST(casts_of_##name) \
    {                           \
        sweep_casts(TN_##id);   \
    }                           \
    END_TEST
#include "tables/dtypes.def"
#undef DT

/* ---- the contract's lines ---- */

/* Checks two-operand functions on pairs of numbers, in one dtype. */
static void pairs(tn_tensor *(*f)(tn_tensor *, tn_tensor *), tn_dtype dtype, const double (*row)[3], int count, const char *file,
                  int line)
{
    double a[32], b[32], want[32];
    for (int i = 0; i < count; i++) a[i] = row[i][0], b[i] = row[i][1], want[i] = row[i][2];
    const tn_shape shape = TN_SHAPE(count);
    tn_tensor *x = test_tensor_from(dtype, shape, a, (size_t)count, file, line),
              *y = test_tensor_from(dtype, shape, b, (size_t)count, file, line);
    tn_tensor *z = f(x, y);
    test_equals_numbers(z, want, (size_t)count, 0, test_name(), file, line);
    tn_release(z);
    tn_release(y);
    tn_release(x);
    test_case_passed();
}
#define PAIRS(f, dtype, ...)                                                                                                     \
    pairs(f, dtype, (const double[][3])__VA_ARGS__, (int)(sizeof((const double[][3])__VA_ARGS__) / sizeof(double[3])), __FILE__, \
          __LINE__)

START_TEST(floor_division_and_remainder_are_Pythons)
{
    PAIRS(tn_floor_divide, TN_F32,
          {{-7, 2, -4},
           {7, -2, -4},
           {7, 2, 3},
           {-7, -2, 3},
           {5, -INFINITY, -1},
           {-5, INFINITY, -1},
           {5, INFINITY, 0},
           {INFINITY, 2, NAN},
           {1, 0, INFINITY},
           {-1, 0, -INFINITY},
           {0, 0, NAN},
           {NAN, 1, NAN},
           {1, 0.1f, 9},
           {6, 0.5, 12}});
    PAIRS(tn_remainder, TN_F32,
          {{-7, 2, 1},
           {7, -2, -1},
           {7, 2, 1},
           {-7, -2, -1},
           {-5, INFINITY, INFINITY},
           {5, INFINITY, 5},
           {5, -INFINITY, -INFINITY},
           {INFINITY, 2, NAN},
           {1, 0, NAN},
           {5.5, 2, 1.5},
           {-5.5, 2, 0.5}});
    PAIRS(tn_floor_divide, TN_I32,
          {{-7, 2, -4},
           {7, -2, -4},
           {-7, -2, 3},
           {7, 0, 0},
           {0, 0, 0},
           {-2147483648.0, -1, -2147483648.0},
           {-2147483648.0, 1, -2147483648.0}});
    PAIRS(tn_remainder, TN_I32, {{-7, 2, 1}, {7, -2, -1}, {-7, -2, -1}, {7, 0, 0}, {-2147483648.0, -1, 0}, {-2147483648.0, 3, 1}});
    PAIRS(tn_floor_divide, TN_I8, {{-128, -1, -128}, {-128, 0, 0}, {127, -2, -64}, {-7, 2, -4}});
    PAIRS(tn_remainder, TN_I8, {{-128, -1, 0}, {-7, 2, 1}, {127, -2, -1}});
    PAIRS(tn_floor_divide, TN_U8, {{255, 2, 127}, {255, 255, 1}, {254, 255, 0}, {7, 0, 0}});
    PAIRS(tn_remainder, TN_U8, {{255, 2, 1}, {255, 255, 0}, {254, 255, 254}, {7, 0, 0}});
    PAIRS(tn_floor_divide, TN_I64, {{-9223372036854775808.0, -1, -9223372036854775808.0}, {-7, 2, -4}, {5, 0, 0}});
}
END_TEST

START_TEST(shifts_by_what_is_out_of_range_give_0_or_the_sign)
{
    PAIRS(tn_left_shift, TN_I32, {{1, 31, -2147483648.0}, {1, 32, 0}, {1, -1, 0}, {3, 1, 6}, {-1, 4, -16}, {1, 1000, 0}});
    PAIRS(tn_right_shift, TN_I32, {{-8, 1, -4}, {-8, 31, -1}, {-8, 32, -1}, {-8, -1, -1}, {8, 32, 0}, {8, -1, 0}});
    PAIRS(tn_left_shift, TN_I8, {{1, 7, -128}, {1, 8, 0}, {1, 31, 0}, {1, 127, 0}});
    PAIRS(tn_right_shift, TN_I8, {{-128, 7, -1}, {-128, 8, -1}, {-128, 40, -1}, {127, 8, 0}});
    PAIRS(tn_right_shift, TN_U8, {{255, 7, 1}, {255, 8, 0}, {255, 255, 0}});
    PAIRS(tn_left_shift, TN_U64, {{1, 63, 9223372036854775808.0}, {1, 64, 0}});
    PAIRS(tn_right_shift, TN_I64, {{-9223372036854775808.0, 63, -1}, {-5, 64, -1}, {5, 64, 0}});
}
END_TEST

START_TEST(integers_wrap_and_their_powers_too)
{
    PAIRS(tn_add, TN_I32, {{2147483647.0, 1, -2147483648.0}});
    PAIRS(tn_sub, TN_U8, {{0, 1, 255}});
    PAIRS(tn_mul, TN_I16, {{256, 256, 0}, {300, 300, 24464}});
    PAIRS(
        tn_pow, TN_I32,
        {{3, 4, 81}, {2, 31, -2147483648.0}, {2, 32, 0}, {0, 0, 1}, {-1, -3, -1}, {-1, -2, 1}, {1, -5, 1}, {2, -1, 0}, {0, -1, 0}});
    PAIRS(tn_pow, TN_U8, {{3, 5, 243}, {3, 6, 217}, {2, 8, 0}});
    tn_tensor *x = test_i32(TN_SHAPE(2), {1, 2}), *minus = tn_int(-1);
    ck_fails(tn_pow(x, minus), TN_ARGUMENT, "pow", "-1");
    tn_release(minus);
    tn_release(x);
}
END_TEST

START_TEST(C25_NaN_propagates_through_extremes)
{
    PAIRS(tn_maximum, TN_F32, {{0, NAN, NAN}, {NAN, 0, NAN}, {1, 2, 2}, {-INFINITY, NAN, NAN}});
    PAIRS(tn_minimum, TN_F32, {{0, NAN, NAN}, {NAN, 0, NAN}, {1, 2, 1}});
    tn_tensor *x = test_f32(TN_SHAPE(4), {NAN, -1, 0.5, 7}), *zero = tn_int(0), *one = tn_int(1), *nan = tn_float(NAN);
    tn_tensor *relu = tn_relu(x), *within = tn_clamp(x, zero, one), *crossed = tn_clamp(x, one, zero),
              *above = tn_clamp(x, zero, TN_NONE), *below = tn_clamp(x, TN_NONE, one), *bound = tn_clamp(x, nan, one),
              *sign = tn_sign(x);
    ck_tensor_f32(relu, {NAN, 0, 0.5, 7});
    ck_tensor_f32(within, {NAN, 0, 0.5, 1});
    ck_tensor_f32(crossed, {NAN, 0, 0, 0});
    ck_tensor_f32(above, {NAN, 0, 0.5, 7});
    ck_tensor_f32(below, {NAN, -1, 0.5, 1});
    ck_tensor_f32(bound, {NAN, NAN, NAN, NAN});
    ck_tensor_f32(sign, {NAN, -1, 1, 1});
    ck_fails(tn_clamp(x, TN_NONE, TN_NONE), TN_ARGUMENT, "clamp");
    tn_tensor *all[] = {x, zero, one, nan, relu, within, crossed, above, below, bound, sign};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) tn_release(all[i]);
}
END_TEST

START_TEST(C27_floats_saturate_as_integers_and_NaN_is_0)
{
    tn_tensor *x = test_f32(TN_SHAPE(6), {NAN, INFINITY, -INFINITY, 3e9f, -1.5f, 300});
    tn_tensor *i = tn_cast(x, TN_I32), *u = tn_cast(x, TN_U8), *b = tn_cast(x, TN_BOOL);
    ck_tensor_i32(i, {0, 2147483647, INT32_MIN, 2147483647, -1, 300});
    ck_tensor_u8(u, {0, 255, 0, 255, 0, 255});
    ck_tensor_bool(b, {1, 1, 1, 1, 1, 1});
    tn_tensor *wide = test_i64(TN_SHAPE(3), {16842753, -16842753, 16777217}), *half = tn_cast(wide, TN_BF16),
              *single = tn_cast(wide, TN_F32);
    ck_values(half, {16908288, -16908288, 16777216});
    ck_values(single, {16842752, -16842752, 16777216});
    tn_tensor *all[] = {x, i, u, b, wide, half, single};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) tn_release(all[k]);
}
END_TEST

START_TEST(bool_adds_as_or_and_multiplies_as_and)
{
    tn_tensor *a = test_bool(TN_SHAPE(4), {0, 0, 1, 1}), *b = test_bool(TN_SHAPE(4), {0, 1, 0, 1});
    tn_tensor *sum = tn_add(a, b), *product = tn_mul(a, b), *ratio = tn_div(a, b);
    ck_tensor_bool(sum, {0, 1, 1, 1});
    ck_tensor_bool(product, {0, 0, 0, 1});
    ck_tensor_f32(ratio, {NAN, 0, INFINITY, 1});
    ck_fails(tn_sub(a, b), TN_DTYPE, "sub", "bool");
    ck_fails(tn_neg(a), TN_DTYPE, "neg", "bool");
    tn_tensor *all[] = {a, b, sum, product, ratio};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) tn_release(all[i]);
}
END_TEST

START_TEST(C31_what_is_not_finite_stays_so)
{
    tn_tensor *x = test_f32(TN_SHAPE(4), {NAN, 1, -1, 0}), *zero = test_f32(TN_SHAPE(1), {0});
    tn_tensor *nan = tn_isnan(x), *ratio = tn_div(x, zero), *log = tn_log(x);
    ck_tensor_bool(nan, {1, 0, 0, 0});
    ck_tensor_f32(ratio, {NAN, INFINITY, -INFINITY, NAN});
    ck_tensor_f32(log, {NAN, 0, NAN, -INFINITY});
    tn_tensor *all[] = {x, zero, nan, ratio, log};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) tn_release(all[i]);
}
END_TEST

START_TEST(C35_nothing_contracts)
{
    tn_tensor *a = test_f32(TN_SHAPE(2), {0.1f, 1 + 0x1p-12f}), *b = test_f32(TN_SHAPE(2), {300, 1 + 0x1p-12f});
    tn_tensor *product = tn_mul(a, b), *rounded = tn_clone(product), *difference = tn_sub(product, rounded);
    tn_tensor *one = test_f32(TN_SHAPE(2), {-0x1.e00002p4f, -(1 + 0x1p-11f)}), *sum = tn_add(product, one);
    ck_tensor_f32(difference, {0, 0});
    ck_tensor_f32(sum, {0.1f * 300 - 0x1.e00002p4f, 0});
    tn_tensor *all[] = {a, b, product, rounded, difference, one, sum};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) tn_release(all[i]);
}
END_TEST

START_TEST(C15_operands_of_different_layouts_meet_by_their_indices)
{
    tn_tensor *a = test_f32(TN_SHAPE(2, 2), {0, 1, 0, 0}), *stored = test_f32(TN_SHAPE(2, 2), {0, 0, 1, 0}),
              *b = tn_transpose(stored, 0, 1);
    tn_tensor *sum = tn_add(a, b);
    ck_tensor_f32(sum, {0, 2, 0, 0});
    tn_tensor *cube = tn_arange(TN_I32, 0, 8, 1, test_device()), *x = tn_view(cube, TN_SHAPE(2, 2, 2)), *y = tn_select(x, 2, 1),
              *z = tn_clone(y);
    ck_tensor_i32(z, {1, 3, 5, 7});
    tn_tensor *all[] = {a, stored, b, sum, cube, x, y, z};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) tn_release(all[i]);
}
END_TEST

START_TEST(C18_views_of_views_add_at_odd_places)
{
    tn_tensor *x = tn_arange(TN_F32, 0, 10, 1, test_device()), *zero = tn_int(0), *a = tn_slice(x, 0, 1, 5, 1),
              *b = tn_slice(a, 0, 1, 3, 1);
    tn_tensor *y = tn_add(a, zero), *z = tn_add(b, zero);
    ck_tensor_f32(y, {1, 2, 3, 4});
    ck_tensor_f32(z, {2, 3});
    tn_tensor *all[] = {x, zero, a, b, y, z};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) tn_release(all[i]);
}
END_TEST

START_TEST(scalars_are_weak_and_enter_in_the_compute_type)
{
    tn_tensor *x = test_values(TN_F16, TN_SHAPE(3), {1, 2, 3}), *tenth = tn_float(0.1), *y = tn_mul(x, tenth);
    ck_assert_int_eq(tn_dtype_of(y), TN_F16);
    ck_close(y, 0.6, {0.1f * 1.0, 0.1f * 2.0, 0.1f * 3.0});
    tn_tensor *bytes = test_u8(TN_SHAPE(2), {1, 255}), *one = tn_int(1), *big = tn_int(300), *minus = tn_int(-1),
              *half = tn_float(0.5);
    tn_tensor *sum = tn_add(bytes, one), *mixed = tn_mul(bytes, half);
    ck_tensor_u8(sum, {2, 0});
    ck_tensor_f32(mixed, {0.5, 127.5});
    ck_fails(tn_add(bytes, big), TN_OVERFLOW, "300", "u8");
    ck_fails(tn_lt(bytes, minus), TN_OVERFLOW, "-1", "u8");
    tn_tensor *all[] = {x, tenth, y, bytes, one, big, minus, half, sum, mixed};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) tn_release(all[i]);
}
END_TEST

START_TEST(where_takes_any_number_as_its_condition)
{
    tn_tensor *c = test_f32(TN_SHAPE(4), {0, -0.0f, NAN, 0.25}), *a = test_i32(TN_SHAPE(4), {1, 2, 3, 4}), *b = tn_int(-1),
              *y = tn_where(c, a, b);
    ck_tensor_i32(y, {-1, -1, 3, 4});
    tn_tensor *all[] = {c, a, b, y};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) tn_release(all[i]);
}
END_TEST

/* The compiler knows the sign: Intel's took it for the value (docs/drivers.md). */
START_TEST(what_is_known_to_be_negative_is_rounded_too)
{
    static const tn_dtype halves[] = {TN_F16, TN_BF16};
    for (int h = 0; h < 2; h++) {
        tn_tensor *x = test_values(TN_U32, TN_SHAPE(7), {11, 2, 9, 7, 5, 3, 8}), *f = tn_cast(x, TN_F32), *n = tn_neg(f),
                  *y = tn_cast(n, halves[h]);
        ck_values(y, {-11, -2, -9, -7, -5, -3, -8});
        tn_tensor *all[] = {x, f, n, y};
        for (size_t i = 0; i < sizeof all / sizeof *all; i++) tn_release(all[i]);
    }
}
END_TEST

START_TEST(promotion_is_PyTorchs_and_beyond)
{
    static const struct {
        tn_dtype a, b, to;
    } table[] = {{TN_F16, TN_BF16, TN_F32}, {TN_F16, TN_I64, TN_F16}, {TN_U8, TN_I8, TN_I16},   {TN_BOOL, TN_U16, TN_U16},
                 {TN_U8, TN_U32, TN_U32},   {TN_U16, TN_I8, TN_I32},  {TN_U16, TN_I64, TN_I64}, {TN_U32, TN_I8, TN_I64},
                 {TN_F32, TN_U64, TN_F32},  {TN_I32, TN_I8, TN_I32}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        tn_tensor *a = test_values(table[i].a, TN_SHAPE(2), {1, 0}), *b = test_values(table[i].b, TN_SHAPE(2), {1, 1}),
                  *y = tn_maximum(a, b), *z = tn_maximum(b, a);
        ck_assert_int_eq(tn_dtype_of(ck_made(y)), table[i].to);
        ck_assert_int_eq(tn_dtype_of(ck_made(z)), table[i].to);
        if (!on_pocl() || i % 4 == 0) ck_values(y, {1, 1});
        tn_release(a);
        tn_release(b);
        tn_release(y);
        tn_release(z);
        test_case_passed();
    }
    tn_tensor *a = test_values(TN_U64, TN_SHAPE(1), {1}), *b = test_values(TN_I8, TN_SHAPE(1), {1});
    ck_fails(tn_add(a, b), TN_DTYPE, "u64", "i8");
    tn_release(a);
    tn_release(b);
}
END_TEST

/* ---- everything occurred ---- */

START_TEST(every_row_dtype_layout_and_cast_occurred)
{
    printf("  rows  ");
    for (int r = 0; r < TN__ROWS; r++) printf(" %s %d", tn__rows[r].name, row_cases[r]);
    printf("\n  dtypes");
    for (int d = 0; d < TN_DTYPE_COUNT; d++) printf(" %s %d", tn_dtype_name((tn_dtype)d), dtype_cases[d]);
    printf("\n  layouts");
    for (int l = 0; l < LAYOUTS; l++) printf(" %s %d", layout_name((test_layout)l), layout_cases[l]);
    printf("\n");
    tn_device_info info;
    ck_ok(tn_device_query(test_device(), &info));
    printf("  programs: %llu built, %llu loaded; launches: %llu\n", (unsigned long long)info.programs_built,
           (unsigned long long)info.programs_loaded, (unsigned long long)info.launches);
    /* the others have a part of them, at most one dtype of four */
    const bool all = on_host() || on_pocl() || (test_long() && !strchr(test_config(), '-'));
    for (int r = 0; r < TN__ROWS; r++) ck_assert_msg(row_cases[r] > 0 || !all, "no case of %s", tn__rows[r].name);
    for (int l = 0; l < LAYOUTS; l++) ck_assert_msg(layout_cases[l] > 0, "no case of %s", layout_name((test_layout)l));
    for (int d = 0; d < TN_DTYPE_COUNT; d++) {
        ck_assert_msg(dtype_cases[d] > 0 || !takes((tn_dtype)d), "no case in %s", tn_dtype_name((tn_dtype)d));
        for (int to = 0; to < TN_DTYPE_COUNT; to++)
            ck_assert_msg(cast_cases[d][to] > 0 || !takes((tn_dtype)d) || !takes((tn_dtype)to), "no cast of %s to %s",
                          tn_dtype_name((tn_dtype)d), tn_dtype_name((tn_dtype)to));
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
#define DT(id, name, ...) rows_in_##name,
#include "tables/dtypes.def"
#undef DT
        other_dtypes_are_refused_by_name,
        without_f64_the_error_names_the_capability,
#define DT(id, name, ...) casts_of_##name,
#include "tables/dtypes.def"
#undef DT
        floor_division_and_remainder_are_Pythons,
        shifts_by_what_is_out_of_range_give_0_or_the_sign,
        integers_wrap_and_their_powers_too,
        C25_NaN_propagates_through_extremes,
        C27_floats_saturate_as_integers_and_NaN_is_0,
        bool_adds_as_or_and_multiplies_as_and,
        C31_what_is_not_finite_stays_so,
        C35_nothing_contracts,
        C15_operands_of_different_layouts_meet_by_their_indices,
        C18_views_of_views_add_at_odd_places,
        scalars_are_weak_and_enter_in_the_compute_type,
        where_takes_any_number_as_its_condition,
        what_is_known_to_be_negative_is_rounded_too,
        promotion_is_PyTorchs_and_beyond,
        every_row_dtype_layout_and_cast_occurred,
    };
    return test_run("sweep", NULL, NULL, tests, (int)(sizeof tests / sizeof tests[0]));
}
