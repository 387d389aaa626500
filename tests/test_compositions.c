/* Operations that are a few public ones: their numbers, their edges and what they refuse. */
#include "bones.h"

#include <math.h>

/* 0, 1, 2, … on the device under test. */
#define COUNT(dtype, ...) bones_count(dtype, TN_SHAPE(__VA_ARGS__), test_device())

/* ---- shapes ---- */

START_TEST(atleast_adds_the_axes_that_NumPy_adds)
{
    tn_tensor *number = test_f32(TN_SHAPE(), {7}), *vector = COUNT(TN_I32, 3), *matrix = COUNT(TN_I32, 2, 3),
              *deep = COUNT(TN_I32, 2, 1, 1, 2);
    ck_shape(tn_atleast_1d(number), TN_SHAPE(1));
    ck_shape(tn_atleast_2d(number), TN_SHAPE(1, 1));
    ck_shape(tn_atleast_3d(number), TN_SHAPE(1, 1, 1));
    ck_shape(tn_atleast_1d(vector), TN_SHAPE(3));
    ck_shape(tn_atleast_2d(vector), TN_SHAPE(1, 3));
    ck_shape(tn_atleast_3d(vector), TN_SHAPE(1, 3, 1));
    ck_shape(tn_atleast_2d(matrix), TN_SHAPE(2, 3));
    ck_shape(tn_atleast_3d(matrix), TN_SHAPE(2, 3, 1));
    ck_shape(tn_atleast_3d(deep), TN_SHAPE(2, 1, 1, 2));
    ck_shape(tn_atleast_3d(COUNT(TN_I32, 0)), TN_SHAPE(1, 0, 1));
    ck_ok(tn_assign(tn_atleast_3d(vector), tn_int(4))); /* a view, of reversed elements too */
    ck_tensor_i32(vector, {4, 4, 4});
    ck_tensor_i32(tn_atleast_2d(tn_flip(tn_select(matrix, 0, 1), TN_ALL_AXES)), {5, 4, 3});
    ck_fails(tn_atleast_2d(TN_NONE), TN_ARGUMENT, "atleast_2d");
}
END_TEST

START_TEST(hstack_vstack_and_dstack_join_as_NumPy_does)
{
    tn_tensor *a = test_f32(TN_SHAPE(2), {1, 2}), *b = test_f32(TN_SHAPE(2), {3, 4}), *m = COUNT(TN_I32, 2, 2),
              *c = test_f32(TN_SHAPE(2, 1), {8, 9});
    tn_tensor *const vectors[] = {a, b}, *const matrices[] = {m, c}, *const below[] = {m, a},
                     *const numbers[] = {tn_int(1), tn_int(2)};
    ck_tensor_f32(tn_hstack(vectors, 2), {1, 2, 3, 4});
    ck_tensor_f32(tn_hstack(matrices, 2), {0, 1, 8, 2, 3, 9});
    ck_tensor_i64(tn_hstack(numbers, 2), {1, 2});
    ck_tensor_f32(tn_hstack((tn_tensor *const[]){vectors[0], tn_float(7)}, 2), {1, 2, 7}); /* a number on host goes with any device */
    ck_tensor_f32(tn_vstack(below, 2), {0, 1, 2, 3, 1, 2});
    ck_shape(tn_vstack(vectors, 2), TN_SHAPE(2, 2));
    ck_shape(tn_vstack(numbers, 2), TN_SHAPE(2, 1));
    tn_tensor *deep = tn_dstack(vectors, 2);
    ck_shape(deep, TN_SHAPE(1, 2, 2));
    ck_tensor_f32(deep, {1, 3, 2, 4});
    ck_shape(tn_dstack((tn_tensor *const[]){m, m, m}, 3), TN_SHAPE(2, 2, 3));
    ck_fails(tn_hstack(vectors, 0), TN_ARGUMENT, "hstack", "0 tensors");
    ck_fails(tn_vstack(NULL, 2), TN_ARGUMENT, "vstack", "list");
    ck_fails(tn_vstack((tn_tensor *const[]){a, COUNT(TN_F32, 3)}, 2), TN_SHAPE, "vstack", "[1,2]", "[1,3]");
    ck_fails(tn_dstack((tn_tensor *const[]){a, TN_NONE}, 2), TN_ARGUMENT, "dstack");
}
END_TEST

START_TEST(block_diag_places_its_entries_one_after_the_other)
{
    tn_tensor *m = test_i32(TN_SHAPE(2, 1), {1, 2}), *row = test_i32(TN_SHAPE(2), {3, 4}), *number = test_i32(TN_SHAPE(), {5});
    tn_tensor *y = tn_block_diag((tn_tensor *const[]){m, row, number}, 3);
    ck_shape(y, TN_SHAPE(4, 4));
    ck_tensor_i32(y, {1, 0, 0, 0, 2, 0, 0, 0, 0, 3, 4, 0, 0, 0, 0, 5});
    ck_values(tn_block_diag((tn_tensor *const[]){tn_transpose(m, 0, 1), test_values(TN_F16, TN_SHAPE(1), {0.5})}, 2),
              {1, 2, 0, 0, 0, 0.5});
    ck_shape(tn_block_diag((tn_tensor *const[]){COUNT(TN_I32, 0, 2), COUNT(TN_I32, 1, 0)}, 2), TN_SHAPE(1, 2));
    ck_fails(tn_block_diag((tn_tensor *const[]){m, COUNT(TN_I32, 1, 1, 1)}, 2), TN_SHAPE, "block_diag", "entry 1", "[1,1,1]");
    ck_fails(tn_block_diag(NULL, 1), TN_ARGUMENT, "block_diag", "list");
}
END_TEST

START_TEST(diag_embed_is_the_inverse_of_diagonal)
{
    tn_tensor *x = COUNT(TN_I32, 2, 3);
    for (int offset = -2; offset <= 2; offset++) {
        const int n = 3 + abs(offset);
        tn_tensor *y = tn_diag_embed(x, offset, -2, -1);
        ck_shape(y, TN_SHAPE(2, n, n));
        ck_same(tn_diagonal(y, offset, 1, 2), x);
        ck_tensor_i64(tn_count_nonzero(y, TN_ALL_AXES, false), {5});
    }
    ck_shape(tn_diag_embed(x, 1, 0, 2), TN_SHAPE(4, 2, 4));
    ck_same(tn_diagonal(tn_diag_embed(x, -1, 2, 0), -1, 2, 0), x);
    ck_tensor_i32(tn_diag_embed(test_i32(TN_SHAPE(2), {7, 8}), 0, 0, 1), {7, 0, 0, 8});
    ck_shape(tn_diag_embed(COUNT(TN_F16, 0), 2, 0, 1), TN_SHAPE(2, 2));
    ck_fails(tn_diag_embed(x, 0, 1, -2), TN_AXIS, "diag_embed", "same axis");
    ck_fails(tn_diag_embed(x, 0, 0, 3), TN_AXIS, "diag_embed", "3");
    ck_fails(tn_diag_embed(test_f32(TN_SHAPE(), {1}), 0, 0, 1), TN_SHAPE, "diag_embed", "[]");
    ck_fails(tn_diag_embed(x, INT64_MIN, 0, 1), TN_OVERFLOW, "diag_embed", "offset");
}
END_TEST

/* ---- comparison ---- */

START_TEST(isclose_takes_both_tolerances_and_equal_infinities)
{
    tn_tensor *a = test_f32(TN_SHAPE(8), {100, 100, 1e-9f, INFINITY, INFINITY, 1, NAN, NAN});
    tn_tensor *b = test_f32(TN_SHAPE(8), {100.5f, 102, 0, INFINITY, -INFINITY, INFINITY, NAN, 1});
    ck_tensor_bool(tn_isclose(a, b, 0.01, 1e-8, false), {1, 0, 1, 1, 0, 0, 0, 0});
    ck_tensor_bool(tn_isclose(a, b, 0, 0, true), {0, 0, 0, 1, 0, 0, 1, 0});
    ck_tensor_bool(tn_isclose(a, tn_float(100), 0, 1e9, false), {1, 1, 1, 0, 0, 1, 0, 0});
    ck_shape(tn_isclose(COUNT(TN_F32, 2, 1), COUNT(TN_F32, 3), 0, 0, false), TN_SHAPE(2, 3));
    ck_tensor_bool(tn_isclose(test_values(TN_F16, TN_SHAPE(2), {1, 65504}),
                              test_values(TN_F16, TN_SHAPE(2), {1.0009765625, -65504}), 0, 0.001, false),
                   {1, 0});
    ck_fails(tn_isclose(a, b, -1, 0, false), TN_ARGUMENT, "isclose", "rtol -1");
    ck_fails(tn_isclose(a, b, 0, NAN, false), TN_ARGUMENT, "isclose", "atol");
    ck_fails(tn_isclose(a, COUNT(TN_F32, 3), 0, 0, false), TN_SHAPE, "[8]", "[3]");
    ck_fails(tn_isclose(a, TN_NONE, 0, 0, false), TN_ARGUMENT, "isclose", "b");
}
END_TEST

START_TEST(isclose_of_integers_neither_wraps_nor_rounds)
{
    TN_SKIP_IF(!test_is("host"), "kernels of few elements: on host only");
    ck_tensor_bool(
        tn_isclose(test_values(TN_I8, TN_SHAPE(3), {127, -128, 5}), test_values(TN_I8, TN_SHAPE(3), {-128, 127, 4}), 0, 1, false),
        {0, 0, 1});
    ck_tensor_bool(
        tn_isclose(test_i32(TN_SHAPE(2), {16777217, 16777217}), test_i32(TN_SHAPE(2), {16777216, 16777217}), 0, 0.5, false),
        {0, 1});
    ck_tensor_bool(
        tn_isclose(test_i64(TN_SHAPE(2), {INT64_MAX, INT64_MIN}), test_i64(TN_SHAPE(2), {INT64_MIN, INT64_MIN}), 0, 1e18, false),
        {0, 1});
    tn_tensor *u = test_values(TN_U64, TN_SHAPE(2), {0, 3}), *b = test_bool(TN_SHAPE(2), {1, 1});
    ck_tensor_bool(tn_isclose(u, b, 0, 1, false), {1, 0});
    ck_tensor_bool(tn_isclose(b, test_f32(TN_SHAPE(2), {1.5, 1}), 0, 0.25, false), {0, 1});
    ck_fails(tn_isclose(u, test_i32(TN_SHAPE(2), {1, 2}), 0, 0, false), TN_DTYPE, "u64", "i32");
}
END_TEST

START_TEST(allclose_and_equal_answer_with_a_bool)
{
    tn_tensor *a = COUNT(TN_F32, 2, 3), *b = tn_add(a, tn_float(0.25)), *empty = COUNT(TN_F32, 0, 3);
    bool result = false;
    ck_ok(tn_allclose(a, b, 0, 0.5, false, &result));
    ck_assert(result);
    ck_ok(tn_allclose(a, b, 0, 0.125, false, &result));
    ck_assert(!result);
    ck_ok(tn_allclose(empty, empty, 0, 0, false, &result));
    ck_assert(result);
    ck_ok(tn_equal(a, tn_flip(tn_flip(a, TN_AXES(1)), TN_AXES(1)), &result));
    ck_assert(result);
    ck_ok(tn_equal(a, b, &result));
    ck_assert(!result);
    ck_ok(tn_equal(a, tn_cast(a, TN_I32), &result));
    ck_assert(result);
    ck_ok(tn_equal(a, tn_select(a, 0, 0), &result)); /* it would broadcast */
    ck_assert(!result);
    ck_ok(tn_equal(tn_float(NAN), tn_float(NAN), &result));
    ck_assert(!result);
    ck_ok(tn_equal(empty, empty, &result));
    ck_assert(result);
    ck_fails(tn_equal(a, TN_NONE, &result), TN_ARGUMENT, "equal", "b");
    ck_assert(!result);
    ck_fails(tn_equal(a, a, NULL), TN_ARGUMENT, "equal", "result");
    ck_fails(tn_allclose(a, b, -1, 0, false, &result), TN_ARGUMENT, "allclose", "-1");
    ck_fails(tn_allclose(a, COUNT(TN_F32, 2), 0, 0, false, &result), TN_SHAPE, "[2,3]", "[2]");
}
END_TEST

/* ---- statistics ---- */

START_TEST(nanvar_and_nanstd_leave_NaN_out)
{
    tn_tensor *x = test_f32(TN_SHAPE(2, 4), {1, NAN, 3, 5, NAN, NAN, NAN, 7});
    ck_tensor_f32(tn_nanvar(x, TN_AXES(1), 1, false), {4, NAN});
    ck_close(tn_nanvar(x, TN_AXES(1), 0, true), 2, {8.0 / 3, 0});
    ck_close(tn_nanstd(x, TN_AXES(0), 0, false), 2, {0, NAN, 0, 1});
    ck_close(tn_nanstd(x, TN_ALL_AXES, 0, false), 2, {2.23606797749979});
    ck_shape(tn_nanstd(x, TN_AXES(0), 1, true), TN_SHAPE(1, 4));
    ck_tensor_f32(tn_nanvar(tn_zeros(TN_F32, TN_SHAPE(0, 2), test_device()), TN_AXES(0), 0, false), {NAN, NAN});
    ck_values(tn_nanvar(test_values(TN_F16, TN_SHAPE(3), {10000, NAN, 10016}), TN_ALL_AXES, 1, false), {128});
    ck_fails(tn_nanvar(test_i32(TN_SHAPE(1), {1}), TN_ALL_AXES, 0, false), TN_DTYPE, "nanvar", "i32");
    ck_fails(tn_nanstd(x, TN_AXES(2), 0, false), TN_AXIS, "nanstd", "2");
}
END_TEST

START_TEST(cov_and_corrcoef_compare_rows)
{
    tn_tensor *x = test_f32(TN_SHAPE(3, 4), {1, 2, 4, 8, 2, 1, 0, -1, 5, 5, 5, 6});
    ck_close(tn_cov(x, 1), 4, {9.58333333, -3.83333333, 1.41666667, -3.83333333, 1.66666667, -0.5, 1.41666667, -0.5, 0.25});
    ck_close(tn_cov(tn_select(x, 0, 0), 0), 4, {7.1875});
    ck_shape(tn_cov(tn_select(x, 0, 0), 0), TN_SHAPE());
    ck_close(tn_corrcoef(x), 8, {1, -0.9591663047, 0.9152492339, -0.9591663047, 1, -0.7745966692, 0.9152492339, -0.7745966692, 1});
    ck_tensor_f32(tn_corrcoef(test_f32(TN_SHAPE(2, 2), {1, 2, 1, 1})), {1, NAN, NAN, NAN});
    ck_tensor_f32(tn_corrcoef(tn_select(x, 0, 1)), {1});
    ck_tensor_f32(tn_cov(test_f32(TN_SHAPE(2, 1), {1, 2}), 1), {NAN, NAN, NAN, NAN});
    ck_tensor_f32(tn_cov(test_f32(TN_SHAPE(), {3}), 0), {0});
    ck_fails(tn_cov(COUNT(TN_F32, 1, 2, 3), 1), TN_SHAPE, "cov", "[1,2,3]");
    ck_fails(tn_corrcoef(COUNT(TN_I32, 2, 3)), TN_DTYPE, "corrcoef", "i32");
}
END_TEST

START_TEST(trapezoids_add_up_to_integrals)
{
    tn_tensor *y = test_f32(TN_SHAPE(2, 3), {1, 2, 4, 0, 2, 2}), *places = test_f32(TN_SHAPE(3), {0, 1, 3});
    ck_tensor_f32(tn_trapezoid(y, places, 1, 1), {7.5, 5});
    ck_tensor_f32(tn_trapezoid(y, TN_NONE, 1, 0), {0.5, 2, 3});
    ck_tensor_f32(tn_trapezoid(y, test_f32(TN_SHAPE(2, 3), {0, 1, 3, 0, 2, 3}), 1, -1), {7.5, 4});
    ck_tensor_f32(tn_trapezoid(tn_transpose(y, 0, 1), places, 1, 0), {7.5, 5});
    ck_tensor_f32(tn_cumulative_trapezoid(y, TN_NONE, 0.5, 1), {0.75, 2.25, 0.5, 1.5});
    ck_tensor_f32(tn_trapezoid(test_i32(TN_SHAPE(2), {1, 2}), test_i32(TN_SHAPE(2), {3, 5}), 1, 0), {3});
    ck_tensor_f32(tn_trapezoid(COUNT(TN_F32, 1), TN_NONE, 1, 0), {0});
    ck_tensor_f32(tn_trapezoid(COUNT(TN_F32, 2, 0), TN_NONE, 1, 1), {0, 0});
    ck_shape(tn_cumulative_trapezoid(COUNT(TN_F32, 2, 1), TN_NONE, 1, 1), TN_SHAPE(2, 0));
    ck_values(tn_trapezoid(test_values(TN_F16, TN_SHAPE(3), {40000, 40000, 20000}), TN_NONE, 0.5, 0), {35008});
    ck_fails(tn_trapezoid(y, COUNT(TN_F32, 2), 1, 1), TN_SHAPE, "trapezoid", "[2]", "[2,3]", "axis 1");
    ck_fails(tn_cumulative_trapezoid(y, TN_NONE, 1, 2), TN_AXIS, "cumulative_trapezoid", "2");
    ck_fails(tn_trapezoid(test_f32(TN_SHAPE(), {1}), TN_NONE, 1, 0), TN_AXIS, "trapezoid");
}
END_TEST

START_TEST(normalized_vectors_have_length_1)
{
    tn_tensor *x = test_f32(TN_SHAPE(3, 2), {3, 4, 0, 0, -8, 6});
    ck_close(tn_normalize(x, 2, 1, 1e-12), 2, {0.6, 0.8, 0, 0, -0.8, 0.6});
    ck_close(tn_normalize(x, 1, 0, 1e-12), 2, {3.0 / 11, 0.4, 0, 0, -8.0 / 11, 0.6});
    ck_tensor_f32(tn_normalize(x, INFINITY, -1, 16), {0.1875, 0.25, 0, 0, -0.5, 0.375});
    ck_values(tn_normalize(test_values(TN_F16, TN_SHAPE(2), {0, 0}), 2, 0, 1e-12), {0, 0});
    ck_shape(tn_normalize(COUNT(TN_F32, 0, 3), 2, 0, 1e-12), TN_SHAPE(0, 3));
    ck_close(tn_cosine_similarity(x, test_f32(TN_SHAPE(2), {4, 3}), 1, 1e-8), 4, {0.96, 0, -0.28});
    ck_close(tn_cosine_similarity(test_f32(TN_SHAPE(2), {1e30f, 0}), test_f32(TN_SHAPE(2), {1e30f, 1e30f}), 0, 1e-8), 4,
             {0.70710678});
    ck_fails(tn_normalize(x, 2, 2, 1e-12), TN_AXIS, "normalize", "2");
    ck_fails(tn_normalize(x, NAN, 0, 1e-12), TN_ARGUMENT, "normalize", "NaN");
    ck_fails(tn_normalize(x, 2, 0, -1), TN_ARGUMENT, "normalize", "-1");
    ck_fails(tn_normalize(COUNT(TN_I32, 2), 2, 0, 1), TN_DTYPE, "normalize", "i32");
    ck_fails(tn_cosine_similarity(x, COUNT(TN_F32, 3), 0, 1e-8), TN_SHAPE, "cosine_similarity", "[3,2]", "[3]");
    ck_fails(tn_cosine_similarity(x, COUNT(TN_I32, 2), 0, 1e-8), TN_DTYPE, "cosine_similarity", "i32");
}
END_TEST

START_TEST(a_missing_operand_keeps_its_error)
{
    tn_tensor *x = COUNT(TN_F32, 2), *none = tn_reshape(x, TN_SHAPE(3));
    bool result;
    ck_assert_ptr_null(none);
    ck_fails(tn_atleast_1d(none), TN_SHAPE, "[3]");
    ck_fails(tn_hstack((tn_tensor *const[]){x, tn_reshape(x, TN_SHAPE(5))}, 2), TN_SHAPE, "[5]");
    ck_fails(tn_cov(tn_reshape(x, TN_SHAPE(7)), 1), TN_SHAPE, "[7]");
    ck_fails(tn_trapezoid(x, tn_reshape(x, TN_SHAPE(9)), 1, 0), TN_SHAPE, "[9]");
    ck_fails(tn_equal(tn_reshape(x, TN_SHAPE(4)), x, &result), TN_SHAPE, "[4]");
    ck_fails(tn_allclose(x, tn_reshape(x, TN_SHAPE(6)), 0, 0, false, &result), TN_SHAPE, "[6]");
}
END_TEST

BONES_MAIN("compositions", atleast_adds_the_axes_that_NumPy_adds, hstack_vstack_and_dstack_join_as_NumPy_does,
           block_diag_places_its_entries_one_after_the_other, diag_embed_is_the_inverse_of_diagonal,
           isclose_takes_both_tolerances_and_equal_infinities, isclose_of_integers_neither_wraps_nor_rounds,
           allclose_and_equal_answer_with_a_bool, nanvar_and_nanstd_leave_NaN_out, cov_and_corrcoef_compare_rows,
           trapezoids_add_up_to_integrals, normalized_vectors_have_length_1, a_missing_operand_keeps_its_error)
