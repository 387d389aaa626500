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

TEST_MAIN("rows", bones_push, bones_pop, every_public_function_gives_what_its_row_gives,
          a_text_in_long_double_is_what_the_contract_says_of_its_row)
