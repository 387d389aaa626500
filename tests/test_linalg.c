/* Products over matmul on every device; their values against NumPy and PyTorch are in test_reference.c. */
#include "bones.h"

#include <math.h>

static tn_tensor *counted(tn_shape shape)
{
    return ck_made(bones_count(TN_F32, shape, test_device()));
}

START_TEST(vectors_and_matrices)
{
    tn_tensor *a = test_f32(TN_SHAPE(3), {1, 2, 3}), *b = test_f32(TN_SHAPE(3), {4, 5, 6}), *m = test_f32(TN_SHAPE(2, 3), {1, 2, 3, 4, 5, 6});
    ck_tensor_f32(tn_dot(a, b), {32});
    ck_shape(tn_dot(a, b), TN_SHAPE());
    ck_tensor_f32(tn_inner(m, a), {14, 32});
    ck_tensor_f32(tn_outer(test_f32(TN_SHAPE(2), {1, 2}), b), {4, 5, 6, 8, 10, 12});
    ck_tensor_f32(tn_mv(m, a), {14, 32});
    ck_tensor_f32(tn_mm(m, tn_transpose(m, 0, 1)), {14, 32, 32, 77});
    ck_tensor_f32(tn_addmm(test_f32(TN_SHAPE(2), {1, -1}), m, tn_transpose(m, 0, 1), 10, 2), {38, 54, 74, 144});
    ck_tensor_f32(tn_addmm(test_f32(TN_SHAPE(1), {NAN}), m, tn_transpose(m, 0, 1), 0, 1), {14, 32, 32, 77});
    ck_tensor_f32(tn_trace(m), {6});
    ck_tensor_i64(tn_trace(test_i32(TN_SHAPE(2, 2), {1, 2, 3, 4})), {5});
    ck_tensor_f32(tn_cross(a, b, 0), {-3, 6, -3});
    ck_tensor_f32(tn_kron(test_f32(TN_SHAPE(2), {1, 2}), b), {4, 5, 6, 8, 10, 12});
    ck_tensor_i32(tn_matrix_power(test_i32(TN_SHAPE(2, 2), {1, 1, 1, 0}), 10), {89, 55, 55, 34});
    ck_tensor_f32(tn_matrix_power(test_f32(TN_SHAPE(2, 2), {5, 6, 7, 8}), 0), {1, 0, 0, 1});
    ck_tensor_f32(tn_matrix_power(test_f32(TN_SHAPE(2, 2), {0, 2, 1, 0}), -2), {0.5, 0, 0, 0.5});
    ck_tensor_f32(tn_cdist(test_f32(TN_SHAPE(2, 2), {0, 0, 3, 4}), test_f32(TN_SHAPE(1, 2), {0, 0}), 2), {0, 5});
}
END_TEST

START_TEST(bytes_are_summed_in_the_dtype_asked_for)
{
    tn_tensor *a = test_u8(TN_SHAPE(1, 3), {255, 255, 2}), *b = test_u8(TN_SHAPE(3, 1), {255, 255, 3});
    ck_tensor_u8(tn_matmul(a, b), {8});
    ck_tensor_i32(tn_matmul_as(a, b, TN_I32), {130056});
    ck_tensor_i32(tn_matmul_as(test_values(TN_I8, TN_SHAPE(1, 2), {-128, 127}), test_values(TN_I8, TN_SHAPE(2, 1), {-128, 127}), TN_I32), {32513});
    ck_tensor_f32(tn_matmul_as(test_values(TN_F16, TN_SHAPE(1, 2), {60000, 2}), test_values(TN_F16, TN_SHAPE(2, 1), {2, 0.5}), TN_F32), {120001});
    ck_fails(tn_matmul_as(a, test_f32(TN_SHAPE(3, 1), {1, 2, 3}), TN_I32), TN_DTYPE, "u8", "f32", "i32");
    ck_fails(tn_matmul_as(a, b, TN_I8), TN_DTYPE, "i8");
}
END_TEST

START_TEST(nothing_to_sum_gives_zeros)
{
    tn_tensor *a = ck_made(tn_zeros(TN_F32, TN_SHAPE(2, 0), test_device())), *b = ck_made(tn_zeros(TN_F32, TN_SHAPE(0, 3), test_device()));
    ck_tensor_f32(tn_mm(a, b), {0, 0, 0, 0, 0, 0});
    ck_tensor_f32(tn_einsum("ij,jk->ik", (tn_tensor *const[]){a, b}, 2), {0, 0, 0, 0, 0, 0});
    ck_tensor_f32(tn_einsum("ij->i", (tn_tensor *const[]){a}, 1), {0, 0});
    ck_shape(tn_outer(tn_slice(tn_reshape(a, TN_SHAPE(0)), 0, 0, 0, 1), test_f32(TN_SHAPE(2), {1, 2})), TN_SHAPE(0, 2));
}
END_TEST

/* Σ_jk a[i,j]·b[j,k]·c[k,l] by loops, of small whole numbers: exact. */
START_TEST(einsum_contracts_several_operands)
{
    float got[2 * 5], x[2 * 3], y[3 * 4], z[4 * 5];
    tn_tensor *a = counted(TN_SHAPE(2, 3)), *b = counted(TN_SHAPE(3, 4)), *c = counted(TN_SHAPE(4, 5));
    ck_ok(tn_read(a, x, sizeof x));
    ck_ok(tn_read(b, y, sizeof y));
    ck_ok(tn_read(c, z, sizeof z));
    ck_ok(tn_read(ck_made(tn_einsum("ij,jk,kl->il", (tn_tensor *const[]){a, b, c}, 3)), got, sizeof got));
    for (int i = 0; i < 2; i++)
        for (int l = 0; l < 5; l++) {
            float sum = 0;
            for (int j = 0; j < 3; j++)
                for (int k = 0; k < 4; k++) sum += x[i * 3 + j] * y[j * 4 + k] * z[k * 5 + l];
            ck_assert_float_eq(got[i * 5 + l], sum);
        }
    tn_tensor *square = counted(TN_SHAPE(3, 3));
    ck_tensor_f32(tn_einsum("ii->i", &square, 1), {0, 4, 8});
    ck_tensor_f32(tn_einsum("ii", &square, 1), {12});
    ck_tensor_f32(tn_einsum("ij->ji", &square, 1), {0, 3, 6, 1, 4, 7, 2, 5, 8});
    ck_tensor_f32(tn_einsum("...j->...", &square, 1), {3, 12, 21});
    ck_tensor_f32(tn_einsum("i,i,i->", (tn_tensor *const[]){tn_select(a, 0, 0), tn_select(a, 0, 0), tn_select(a, 0, 1)}, 3), {24});
}
END_TEST

START_TEST(einsum_says_where_its_equation_is_wrong)
{
    tn_tensor *a = counted(TN_SHAPE(2, 3)), *b = counted(TN_SHAPE(4, 5));
    tn_tensor *const both[] = {a, b};
    ck_fails(tn_einsum("ij,jk->ik", both, 2), TN_SHAPE, "einsum", "extent 4", "one before it 3", "ij,jk->ik\n     ^");
    ck_fails(tn_einsum("ij,kl->iz", both, 2), TN_ARGUMENT, "no operand has", "ij,kl->iz\n          ^");
    ck_fails(tn_einsum("ij,kl->ii", both, 2), TN_ARGUMENT, "twice in the result", "\n          ^");
    ck_fails(tn_einsum("ij,k1->i", both, 2), TN_ARGUMENT, "no letter", "\n      ^");
    ck_fails(tn_einsum("ijk,kl->i", both, 2), TN_SHAPE, "operand 0 has 2 axes, its term 3", "\n  ^");
    ck_fails(tn_einsum("ij", both, 2), TN_ARGUMENT, "2 operands, but fewer terms");
    ck_fails(tn_einsum("ij,kl,m", both, 2), TN_ARGUMENT, "more terms than the 2 operands");
    ck_fails(tn_einsum("ii,kl", both, 2), TN_SHAPE, "extents 2 and 3");
    ck_fails(tn_einsum("i....,kl", both, 2), TN_ARGUMENT, "no letter");
    ck_fails(tn_einsum("......,kl", both, 2), TN_ARGUMENT, "a second");
    ck_fails(tn_einsum("ij,kl->i->j", both, 2), TN_ARGUMENT, "something behind");
    ck_fails(tn_einsum(NULL, both, 2), TN_ARGUMENT, "equation");
    ck_fails(tn_einsum("ij", both, 0), TN_ARGUMENT, "0 operands");
    ck_fails(tn_einsum("ij", (tn_tensor *const[]){TN_NONE}, 1), TN_ARGUMENT, "TN_NONE");
    ck_tensor_f32(tn_einsum("ij->i", &a, 1), {3, 12}); /* still usable */
}
END_TEST

START_TEST(wrong_shapes_are_told_with_their_numbers)
{
    tn_tensor *v = counted(TN_SHAPE(3)), *m = counted(TN_SHAPE(2, 3)), *c = counted(TN_SHAPE(2, 2, 3));
    ck_fails(tn_dot(v, m), TN_SHAPE, "dot", "[3]", "[2,3]");
    ck_fails(tn_dot(v, tn_slice(v, 0, 0, 2, 1)), TN_SHAPE, "3 and 2");
    ck_fails(tn_mm(m, m), TN_SHAPE, "mm", "3 and 2");
    ck_fails(tn_bmm(m, c), TN_SHAPE, "bmm", "a of 3 axes");
    ck_fails(tn_bmm(c, c), TN_SHAPE, "3 and 2");
    ck_fails(tn_addmm(counted(TN_SHAPE(5)), m, tn_transpose(m, 0, 1), 1, 1), TN_SHAPE, "addmm", "[5]", "[2,2]");
    ck_fails(tn_addmm(test_i32(TN_SHAPE(1), {1}), test_i32(TN_SHAPE(1, 1), {1}), test_i32(TN_SHAPE(1, 1), {1}), 0.5, 1), TN_ARGUMENT, "i32", "0.5");
    ck_fails(tn_matrix_power(m, 2), TN_SHAPE, "matrix_power", "[2,3]");
    ck_fails(tn_matrix_power(test_i32(TN_SHAPE(1, 1), {2}), -1), TN_DTYPE, "matrix_power", "-1", "i32");
    ck_fails(tn_tensordot(m, m, TN_AXES(0), TN_AXES(1)), TN_SHAPE, "tensordot", "2 and 3");
    ck_fails(tn_tensordot(m, m, TN_AXES(0, 1), TN_AXES(1)), TN_SHAPE, "2 axes of a and 1 of b");
    ck_fails(tn_tensordot(m, m, TN_AXES(2), TN_AXES(1)), TN_AXIS, "tensordot");
    ck_fails(tn_cross(m, m, 0), TN_SHAPE, "cross", "2 instead of 3");
    ck_fails(tn_trace(v), TN_SHAPE, "trace", "[3]");
    ck_fails(tn_cdist(m, m, -1), TN_ARGUMENT, "cdist", "-1");
    ck_fails(tn_cdist(m, tn_slice(m, 1, 0, 2, 1), 2), TN_SHAPE, "3 and 2");
    ck_fails(tn_kron(tn_reshape(v, TN_SHAPE(1, 1, 1, 1, 1, 1, 1, 1, 3)), v), TN_SHAPE, "kron", "9 axes");
}
END_TEST

BONES_MAIN("linalg", vectors_and_matrices, bytes_are_summed_in_the_dtype_asked_for, nothing_to_sum_gives_zeros, einsum_contracts_several_operands,
           einsum_says_where_its_equation_is_wrong, wrong_shapes_are_told_with_their_numbers)
