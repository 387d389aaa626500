/* The rows' public functions, each by its own signature, and what the rows are held against. */
#include "bones.h"
#include "support/row_cases.h"
#include "support/row_texts.h"

#include <math.h>

/* ---- public functions ---- */

typedef struct public_function {
    tn_tensor *(*one)(tn_tensor *);
    tn_tensor *(*two)(tn_tensor *, tn_tensor *);
    tn_tensor *(*three)(tn_tensor *, tn_tensor *, tn_tensor *);
    tn_tensor *(*number)(tn_tensor *, double);
    tn_tensor *(*numbers)(tn_tensor *, double, double);
} public_function;
#define FUNCTION_1(name) .one = tn_##name
#define FUNCTION_2(name) .two = tn_##name
#define FUNCTION_3(name) .three = tn_##name
#define NUMBERS_2(name) .number = tn_##name
#define NUMBERS_3(name) .numbers = tn_##name
static const public_function functions[TN__ROWS] = {
#define EW(name, arity, ...) [TN__ROW_##name] = {FUNCTION_##arity(name)},
#define EWN(name, arity, ...) [TN__ROW_##name] = {NUMBERS_##arity(name)},
#include "tables/elementwise.def"
#undef EW
};

static tn_tensor *call(const public_function *f, tn_tensor *const *x, const double *number)
{
    return f->one      ? f->one(x[0])
           : f->two    ? f->two(x[0], x[1])
           : f->three  ? f->three(x[0], x[1], x[2])
           : f->number ? f->number(x[0], number[0])
                       : f->numbers(x[0], number[0], number[1]);
}

/* In f32, or what the row is for; operands after the first as numbers where the function takes numbers. */
static void check_function(int r, tn_dtype dtype)
{
    const tn__row *row = &tn__rows[r];
    const public_function *f = &functions[r];
    const double values[3][4] = {{-2, 0.25, 1, 3}, {2, 0.5, 1, 0.75}, {0.5, 4, 1, 2}}, number[2] = {0.75, 2.5};
    tn_tensor *x[3];
    for (int k = 0; k < 3; k++) {
        x[k] = tn_cast(tn_from(TN_F64, TN_SHAPE(4), values[k], test_device()), dtype);
        if (k > 0 && (f->number || f->numbers)) x[k] = tn_float(number[k - 1]);
    }
    ck_same(ck_made(call(f, x, number)), ck_made(tn__elementwise(row, x)));
    ck_fails(call(f, (tn_tensor *[]){TN_NONE, x[1], x[2]}, number), TN_ARGUMENT, row->name);
    test_case_passed();
}

START_TEST(every_public_function_gives_what_its_row_gives)
{
    TN_SKIP_IF(!test_is("host"), "only on host");
    for (int r = 0; r < TN__ROWS; r++) check_function(r, row_allowed(r, TN_F32) ? TN_F32 : TN_I32);
}
END_TEST

/* ---- references ---- */

static reference_number ordinary(const tn__row *row, tn_dtype dtype, test_random *r)
{
    return reference_cast((reference_number){.dtype = TN_F64, .f = (long double)(row->low + (row->high - row->low) * test_unit(r))},
                          dtype);
}

/* Of floats away by no more than the row's bound, or what roundings of the size of its operands and result cost; the same, of integers and bool. */
static bool agree(const tn__row *row, const reference_number *n, reference_number text, reference_number line, double slack)
{
    if (!tn_dtype_is_float(line.dtype)) return text.dtype == line.dtype && text.i == line.i;
    double size = fabs((double)line.f);
    for (int k = 0; k < row->arity; k++) size = fmax(size, fabs((double)reference_float(n[k])));
    return test_ulps(line.dtype, (double)text.f, line.f) <= 1 + row->ulp + slack ||
           fabsl(text.f - line.f) <= (long double)(8 * test_step(line.dtype, (long double)size));
}

START_TEST(a_text_in_long_double_is_what_the_contract_says_of_its_row)
{
    TN_SKIP_IF(!test_is("host"), "it runs nothing on the device");
    static const tn_dtype dtypes[] = {TN_F32, TN_F64, TN_I8, TN_I32, TN_I64, TN_U8, TN_U64, TN_BOOL};
    for (int r = 0; r < TN__ROWS; r++)
        for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
            const tn__row *row = &tn__rows[r];
            test_random random = {.state = (uint64_t)r};
            if (!row_allowed(r, dtypes[d]) || (row->inputs == TN__REAL && !tn_dtype_is_float(dtypes[d]))) continue;
            for (int i = 0; i < 100; i++) {
                double slack;
                const reference_number n[3] = {ordinary(row, row->inputs == TN__CHOOSE ? TN_BOOL : dtypes[d], &random),
                                               ordinary(row, dtypes[d], &random), ordinary(row, dtypes[d], &random)};
                const reference_number line = reference_row(r, dtypes[d], n, &slack), text = row_text(r, dtypes[d], n);
                ck_assert_msg(agree(row, n, text, line, slack),
                              "%s %s of %.17Lg %.17Lg %.17Lg: %.20Lg by its text, %.20Lg by its line", row->name,
                              tn_dtype_name(dtypes[d]), reference_float(n[0]), reference_float(n[1]), reference_float(n[2]),
                              reference_float(text), reference_float(line));
            }
            test_case_passed();
        }
}
END_TEST

/* ---- special functions, over more than the range that the table has ---- */

static double worst_of(int r, tn_dtype dtype, double low, double high)
{
    enum { POINTS = 3000 };
    static double x[POINTS];
    static char values[POINTS * 8], got[POINTS * 8];
    const size_t size = tn_dtype_size(dtype);
    double worst = 0, slack;
    for (int i = 0; i < POINTS; i++) x[i] = low + (high - low) * i / (POINTS - 1);
    tn_tensor *operand = tn_cast(tn_from(TN_F64, TN_SHAPE(POINTS), x, "host"), dtype), *y = row_call(r, &operand);
    ck_ok(tn_read(operand, values, POINTS * size));
    ck_ok(tn_read(ck_made(y), got, POINTS * size));
    for (size_t i = 0; i < POINTS; i++) {
        const reference_number n[3] = {reference_load(dtype, values + i * size)}, want = reference_row(r, dtype, n, &slack);
        const double far = test_ulps(dtype, test_number(dtype, got + i * size), want.f) - slack;
        if (far > worst) worst = far;
        ck_assert_msg(far <= 16, "%s %s of %.17Lg: %.17g, not %.17Lg", tn__rows[r].name, tn_dtype_name(dtype), n[0].f,
                      test_number(dtype, got + i * size), want.f);
    }
    test_case_passed();
    return worst;
}

START_TEST(special_functions_are_within_16_ulps_on_long_ranges)
{
    static const struct {
        int row;
        double low, high;
    } ranges[] = {
        {TN__ROW_lgamma, -20, 30},   {TN__ROW_lgamma, 0.5, 2.5},  {TN__ROW_lgamma, 8, 1e30},   {TN__ROW_digamma, -20, 30},
        {TN__ROW_digamma, 1.4, 1.5}, {TN__ROW_digamma, 10, 1e30}, {TN__ROW_trigamma, -20, 30}, {TN__ROW_trigamma, 10, 1e6},
        {TN__ROW_erfinv, -1, 1},     {TN__ROW_erfinv, 0.9999, 1}, {TN__ROW_ndtri, 0, 1},       {TN__ROW_ndtri, 1e-30, 1e-6},
        {TN__ROW_erfcx, -9, 9},      {TN__ROW_erfcx, 0, 1e5},     {TN__ROW_ndtr, -12, 12},     {TN__ROW_log_ndtr, -12, 12},
        {TN__ROW_log_ndtr, -1e4, 0}, {TN__ROW_i0, -80, 80},       {TN__ROW_i0e, -100, 100},    {TN__ROW_i1, -80, 80},
        {TN__ROW_i1e, -100, 100},    {TN__ROW_i1, -1e-3, 1e-3},
    };
    TN_SKIP_IF(!test_is("host"), "only on host");
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        const double f32 = worst_of(ranges[i].row, TN_F32, ranges[i].low, ranges[i].high),
                     f64 = worst_of(ranges[i].row, TN_F64, ranges[i].low, ranges[i].high);
        printf("  %s from %g to %g: f32 %.1f, f64 %.1f ulps\n", tn__rows[ranges[i].row].name, ranges[i].low, ranges[i].high, f32,
               f64);
    }
}
END_TEST

START_TEST(special_functions_have_the_values_of_PyTorch_at_their_poles)
{
    tn_tensor *x = test_f32(TN_SHAPE(7), {0, -0.0f, -1, -2, INFINITY, -INFINITY, NAN});
    ck_tensor_f32(tn_lgamma(x), {INFINITY, INFINITY, INFINITY, INFINITY, INFINITY, INFINITY, NAN});
    ck_tensor_f32(tn_digamma(x), {-INFINITY, INFINITY, NAN, NAN, INFINITY, NAN, NAN});
    ck_tensor_f32(tn_trigamma(x), {INFINITY, INFINITY, INFINITY, INFINITY, 0, NAN, NAN});
    ck_close(tn_i1e(x), 16, {0, 0, -0.20791041534970845, -0.21526928924893765, 0, 0, NAN});
    tn_tensor *p = test_f32(TN_SHAPE(6), {-1, 0, 0.5f, 1, 2, NAN});
    ck_close(tn_erfinv(p), 16, {-INFINITY, 0, 0.47693627620446987, INFINITY, NAN, NAN});
    ck_tensor_f32(tn_ndtri(p), {NAN, -INFINITY, 0, INFINITY, NAN, NAN});
}
END_TEST

/* ---- nextafter, over all bits of the narrow floats ---- */

static void check_neighbours(tn_dtype dtype, double end)
{
    enum { ALL = 65536 };
    static uint16_t bits[ALL], got[ALL];
    for (int i = 0; i < ALL; i++) bits[i] = (uint16_t)i;
    ck_ok(tn_read(ck_made(tn_nextafter(tn_from(dtype, TN_SHAPE(ALL), bits, test_device()), tn_float(end))), got, sizeof got));
    for (int i = 0; i < ALL; i++) {
        const double x = test_number(dtype, &bits[i]), y = test_number(dtype, &got[i]),
                     least = dtype == TN_F16 ? 0x1p-24 : 0x1p-133;
        const uint16_t down = (uint16_t)(x == 0 ? (end < 0 ? 0x8001 : 1) : (x < end) == (x > 0) ? i + 1 : i - 1);
        if (isnan(x) || x == end)
            ck_assert_msg(isnan(x) ? isnan(y) : y == end, "of %g: %g", x, y);
        else if (!test_is("host") && dtype == TN_BF16 && fabs(x) <= 0x1p-126 + least)
            continue; /* it may flush */
        else
            ck_assert_msg(got[i] == down, "%s of %.9g (%#x) to %g: %#x instead of %#x", tn_dtype_name(dtype), x, i, end, got[i],
                          down);
    }
    test_case_passed();
}

START_TEST(nextafter_steps_through_every_f16_and_bf16)
{
    check_neighbours(TN_F16, INFINITY);
    check_neighbours(TN_F16, -INFINITY);
    check_neighbours(TN_BF16, INFINITY);
    check_neighbours(TN_BF16, -INFINITY);
}
END_TEST

/* Bits spread over all of f32 and f64, and around the powers of two. */
static void check_wide(tn_dtype dtype, uint64_t bits, double end)
{
    const size_t size = tn_dtype_size(dtype);
    double x, y;
    const uint32_t narrow = (uint32_t)bits;
    x = size == 4 ? test_number(dtype, &narrow) : test_number(dtype, &bits);
    tn_tensor *next = ck_made(tn_nextafter(tn_cast(tn_from(TN_F64, TN_SHAPE(1), &x, "host"), dtype), tn_float(end)));
    ck_ok(tn_item(next, &y));
    const double want = size == 4 ? (double)nextafterf((float)x, (float)end) : nextafter(x, end);
    ck_assert_msg(y == want || isnan(x), "%s of %a to %g: %a instead of %a", tn_dtype_name(dtype), x, end, y, want);
}

START_TEST(nextafter_is_exact_in_f32_and_f64)
{
    test_random r = {.state = 7};
    TN_SKIP_IF(!test_is("host"), "only on host");
    for (int i = 0; i < 3000; i++) {
        const int shift = i % 2048;
        check_wide(TN_F32, test_next(&r), i % 2 ? INFINITY : -INFINITY);
        check_wide(TN_F64, test_next(&r), i % 2 ? INFINITY : 0);
        check_wide(TN_F32, (uint64_t)(shift % 256) << 23, i % 2 ? INFINITY : -INFINITY);
        check_wide(TN_F64, (uint64_t)shift << 52, i % 2 ? INFINITY : 0);
        check_wide(TN_F32, (uint64_t)(shift % 255 + 1) * 0x800000 - 1, i % 2 ? INFINITY : 0);
        check_wide(TN_F32, test_next(&r) % 0x2000000, i % 2 ? INFINITY : 0); /* about the subnormals */
    }
}
END_TEST

/* ---- compositions ---- */

START_TEST(frexp_gives_a_fraction_and_a_whole_exponent)
{
    tn_tensor *x = test_f32(TN_SHAPE(2, 4), {1, -6, 0.75f, 0, INFINITY, NAN, 0x1p-120f, -0x1.8p100f}), *m, *e;
    ck_ok(tn_frexp(tn_flip(x, TN_AXES(1)), &m, &e));
    ck_tensor_f32(m, {0, 0.75f, -0.75f, 0.5f, -0.75f, 0.5f, NAN, INFINITY});
    ck_tensor_i32(e, {0, 0, 3, 1, 101, -119, 0, 0});
    ck_ok(tn_frexp(test_i32(TN_SHAPE(), {40}), &m, &e));
    ck_tensor_f32(m, {0.625f});
    ck_tensor_i32(e, {6});
    ck_fails(tn_frexp(x, NULL, &e), TN_ARGUMENT, "frexp", "mantissa is NULL");
    ck_fails(tn_frexp(x, &m, NULL), TN_ARGUMENT, "frexp", "exponent is NULL");
    ck_fails(tn_frexp(TN_NONE, &m, &e), TN_ARGUMENT, "frexp_mantissa");
    ck_assert(!m && !e);
}
END_TEST

START_TEST(nan_to_num_replaces_what_is_not_finite)
{
    tn_tensor *x = test_f32(TN_SHAPE(4), {NAN, INFINITY, -INFINITY, 2}),
              *h = test_values(TN_F16, TN_SHAPE(3), {NAN, INFINITY, -INFINITY});
    ck_tensor_f32(tn_nan_to_num(x, 0, NAN, NAN), {0, 0x1.fffffep127f, -0x1.fffffep127f, 2});
    ck_tensor_f32(tn_nan_to_num(x, -1, 7, -8), {-1, 7, -8, 2});
    ck_values(tn_nan_to_num(h, 0.5, NAN, NAN), {0.5, 65504, -65504});
    ck_tensor_i32(tn_nan_to_num(test_i32(TN_SHAPE(2), {1, -1}), 0, 0, 0), {1, -1});
    ck_fails(tn_nan_to_num(TN_NONE, 0, 0, 0), TN_ARGUMENT, "nan_to_num");
}
END_TEST

START_TEST(isclose_compares_within_both_tolerances)
{
    tn_tensor *a = test_f32(TN_SHAPE(6), {1, 1, INFINITY, INFINITY, NAN, -1}),
              *b = test_f32(TN_SHAPE(6), {1.0009f, 1.1f, INFINITY, 5, NAN, 1});
    ck_tensor_bool(tn_isclose(a, b, 1e-3, 0, false), {1, 0, 1, 0, 0, 0});
    ck_tensor_bool(tn_isclose(a, b, 0, 0.11, true), {1, 1, 1, 0, 1, 0});
    ck_tensor_bool(tn_isclose(test_u8(TN_SHAPE(2), {1, 5}), test_u8(TN_SHAPE(2), {2, 250}), 0, 1, false), {1, 0});
    ck_fails(tn_isclose(a, b, -1, 0, false), TN_ARGUMENT, "isclose", "rtol -1");
    ck_fails(tn_isclose(a, b, 0, NAN, false), TN_ARGUMENT, "isclose", "nan");
}
END_TEST

START_TEST(addcmul_and_addcdiv_scale_their_term)
{
    tn_tensor *x = test_f32(TN_SHAPE(2), {1, 2}), *a = test_f32(TN_SHAPE(2), {3, 4}), *b = test_f32(TN_SHAPE(2), {2, 8});
    ck_tensor_f32(tn_addcmul(x, a, b, 0.5), {4, 18});
    ck_tensor_f32(tn_addcdiv(x, a, b, 2), {4, 3});
    tn_tensor *i = test_i32(TN_SHAPE(2), {3, 4});
    ck_tensor_i32(tn_addcmul(i, i, i, 2), {21, 36});
    ck_fails(tn_addcmul(i, i, i, 0.5), TN_ARGUMENT, "addcmul", "0.5");
}
END_TEST

START_TEST(float_power_computes_in_f64)
{
    NEEDS_F64();
    ck_tensor_f64(tn_float_power(test_i32(TN_SHAPE(3), {2, 3, 2}), test_i32(TN_SHAPE(3), {-1, 2, 62})), {0.5, 9, 0x1p62});
    ck_tensor_f64(tn_float_power(test_f32(TN_SHAPE(1), {4}), tn_float(0.5)), {2});
    ck_fails(tn_float_power(TN_NONE, tn_int(1)), TN_ARGUMENT, "float_power");
}
END_TEST

START_TEST(gcd_and_lcm_are_of_sizes_and_wrap)
{
    tn_tensor *a = test_i32(TN_SHAPE(6), {12, -12, 0, 0, INT32_MIN, 7}), *b = test_i32(TN_SHAPE(6), {18, 8, 5, 0, 6, INT32_MIN});
    ck_tensor_i32(tn_gcd(a, b), {6, 4, 5, 0, 2, 1});
    ck_tensor_i32(tn_lcm(a, b), {36, 24, 0, 0, INT32_MIN, INT32_MIN});
    ck_tensor_u8(tn_lcm(test_u8(TN_SHAPE(2), {16, 15}), test_u8(TN_SHAPE(2), {24, 17})), {48, 255});
    ck_fails(tn_gcd(test_f32(TN_SHAPE(1), {1}), a), TN_DTYPE, "gcd", "f32");
}
END_TEST

TEST_MAIN("rows", bones_push, bones_pop, every_public_function_gives_what_its_row_gives,
          a_text_in_long_double_is_what_the_contract_says_of_its_row, special_functions_are_within_16_ulps_on_long_ranges,
          special_functions_have_the_values_of_PyTorch_at_their_poles, nextafter_steps_through_every_f16_and_bf16,
          nextafter_is_exact_in_f32_and_f64, frexp_gives_a_fraction_and_a_whole_exponent, nan_to_num_replaces_what_is_not_finite,
          isclose_compares_within_both_tolerances, addcmul_and_addcdiv_scale_their_term, float_power_computes_in_f64,
          gcd_and_lcm_are_of_sizes_and_wrap)
