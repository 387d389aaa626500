/* Factors, determinants, inverses and solutions: residuals against bounds in the dtype's eps, gradients against differences. */
#include "bones.h"
#include "graph/node.h"

#include <math.h>

static const tn_dtype dtypes[] = {TN_F32, TN_F64};

static int count_dtypes(void)
{
    return test_has_f64() ? 2 : 1;
}

static double eps_of(tn_dtype dtype)
{
    return dtype == TN_F32 ? 0x1p-23 : 0x1p-52;
}

/* ---- matrices as doubles, [count][n][k], that the dtype has ---- */

static double *random_values(tn_dtype dtype, int64_t count, uint64_t seed)
{
    test_random r = {test_seed(seed)};
    double *v = malloc(((size_t)count + 1) * sizeof *v);
    for (int64_t i = 0; i < count; i++) {
        v[i] = 2 * test_unit(&r) - 1;
        if (dtype == TN_F32) v[i] = (float)v[i];
    }
    return v;
}

/* M Mᵀ + I of each: positive definite. */
static double *definite_values(tn_dtype dtype, int64_t matrices, int64_t n, uint64_t seed)
{
    double *m = random_values(dtype, matrices * n * n, seed), *v = malloc(((size_t)(matrices * n * n) + 1) * sizeof *v);
    for (int64_t z = 0; z < matrices; z++)
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++) {
                double sum = i == j;
                for (int64_t k = 0; k < n; k++) sum += m[(z * n + i) * n + k] * m[(z * n + j) * n + k];
                v[(z * n + i) * n + j] = dtype == TN_F32 ? (float)sum : sum;
            }
    free(m);
    return v;
}

static tn_tensor *tensor_of(tn_dtype dtype, tn_shape shape, const double *values)
{
    return ck_made(tn_to(ck_made(tn_cast(ck_made(tn_from(TN_F64, shape, values, "host")), dtype)), test_device()));
}

static double norm(const double *v, int64_t count)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++) sum += v[i] * v[i];
    return sqrt(sum);
}

/* |a x - b| in Frobenius' norm; a [n,n] (transposed: aᵀ), x and b [n,k]; b NULL: the unit matrix. */
static double residual(const double *a, bool transposed, const double *x, const double *b, int64_t n, int64_t k)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < k; j++) {
            double rest = b ? b[i * k + j] : i == j;
            for (int64_t m = 0; m < n; m++) rest -= (transposed ? a[m * n + i] : a[i * n + m]) * x[m * k + j];
            sum += rest * rest;
        }
    return sqrt(sum);
}

/* a holds a matrix for each of x's, [n,k]; |a x - b| ≤ 8·n·eps·|a||x|. */
static void check_solution(const double *a, tn_tensor *x, const double *b, int64_t n, int64_t k)
{
    double *v = test_numbers(ck_made(x));
    const int64_t matrices = n > 0 && k > 0 ? tn_numel(x) / (n * k) : 0;
    for (int64_t z = 0; z < matrices; z++) {
        const double *az = a + z * n * n, *xz = v + z * n * k;
        const double left = residual(az, false, xz, b ? b + z * n * k : NULL, n, k);
        const double bound = 8 * (double)n * eps_of(tn_dtype_of(x)) * norm(az, n * n) * norm(xz, n * k);
        ck_assert_msg(left <= bound, "n %d, k %d, matrix %d: residual %g above %g", (int)n, (int)k, (int)z, left, bound);
    }
    free(v);
    test_case_passed();
}

static const int64_t sizes[] = {0, 1, 2, 3, 5, 17, 64, 200};
enum { SIZES = 8 };

/* Of the largest size two, 2 x 3 of the others. */
static tn_shape batch_of(int64_t n, int64_t k)
{
    return n == 200 ? TN_SHAPE(2, n, k) : TN_SHAPE(2, 3, n, k);
}

static int64_t matrices_of(int64_t n)
{
    return n == 200 ? 2 : 6;
}

/* All on host; a device takes some sizes, and f64 of one. */
static bool is_tried(tn_dtype dtype, int64_t n)
{
    return test_is("host") || n == 17 || (dtype == TN_F32 && n != 1 && test_takes((int)n, 2));
}

/* ---- factors ---- */

static void check_cholesky(tn_dtype dtype, int64_t n, bool upper)
{
    double *a = definite_values(dtype, matrices_of(n), n, (uint64_t)n + 1);
    tn_tensor *l = ck_made(tn_cholesky(tensor_of(dtype, batch_of(n, n), a), upper));
    ck_shape(l, batch_of(n, n));
    ck_assert_int_eq(tn_dtype_of(l), dtype);
    double *v = test_numbers(upper ? ck_made(tn_transpose(l, -1, -2)) : l);
    for (int64_t z = 0; z < matrices_of(n); z++) {
        double *lz = v + z * n * n, *turned = malloc(((size_t)(n * n) + 1) * sizeof *turned);
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++) {
                turned[j * n + i] = lz[i * n + j];
                ck_assert(j <= i || lz[i * n + j] == 0);
            }
        const double left = residual(lz, false, turned, a + z * n * n, n, n),
                     bound = 4 * (double)n * eps_of(dtype) * norm(a + z * n * n, n * n);
        ck_assert_msg(left <= bound, "n %d, matrix %d: residual %g above %g", (int)n, (int)z, left, bound);
        free(turned);
    }
    free(v);
    free(a);
    test_case_passed();
}

START_TEST(a_cholesky_factor_times_its_transpose_is_the_matrix)
{
    for (int d = 0; d < count_dtypes(); d++)
        for (int s = 0; s < SIZES; s++)
            for (int upper = 0; upper < 2; upper++)
                if (is_tried(dtypes[d], sizes[s]) && (!upper || sizes[s] == 17 || test_is("host")))
                    check_cholesky(dtypes[d], sizes[s], upper);
    ck_tensor_f32(tn_cholesky(test_f32(TN_SHAPE(2, 2), {4, 99, 2, 5}), false), {2, 0, 1, 2}); /* 99 does not count */
    ck_tensor_f32(tn_cholesky(test_f32(TN_SHAPE(2, 2), {4, 2, NAN, 5}), true), {2, 1, 0, 2});
    ck_tensor_f32(tn_cholesky(test_f32(TN_SHAPE(1, 1), {INFINITY}), false), {INFINITY});
}
END_TEST

/* One item factors a block of all rows: llvmpipe must not end its loops early. */
START_TEST(a_matrix_of_512_by_one_item)
{
    TN_SKIP_IF(!test_is("rusticl-deep"), "llvmpipe's bound is rusticl's");
    double *a = definite_values(TN_F32, 1, 512, 6), left, size;
    tn_tensor *x = tensor_of(TN_F32, TN_SHAPE(512, 512), a), *l = ck_made(tn_cholesky(x, false));
    tn_tensor *rest = ck_made(tn_sub(tn_matmul(l, tn_transpose(l, 0, 1)), x));
    ck_ok(tn_item(tn_norm(rest, 2, TN_ALL_AXES, false), &left));
    ck_ok(tn_item(tn_norm(x, 2, TN_ALL_AXES, false), &size));
    ck_assert_msg(left <= 4 * 512 * eps_of(TN_F32) * size, "residual %g of %g", left, size);
    free(a);
}
END_TEST

/* ---- triangular systems ---- */

static void check_triangular(tn_dtype dtype, int64_t n, int64_t k, bool upper, bool transpose, bool unit)
{
    double *a = random_values(dtype, n * n, 3), *b = random_values(dtype, n * k, 4), *op = calloc((size_t)(n * n) + 1, sizeof *op);
    for (int64_t i = 0; i < n; i++) {
        a[i * n + i] += a[i * n + i] < 0 ? -2 : 2;
        for (int64_t j = 0; j < n; j++) {
            if (i != j) a[i * n + j] /= (double)n;
            if (dtype == TN_F32) a[i * n + j] = (float)a[i * n + j];
            const double v = i == j && unit ? 1 : (upper ? j >= i : j <= i) ? a[i * n + j] : 0;
            op[transpose ? j * n + i : i * n + j] = v;
        }
    }
    check_solution(
        op, tn_triangular_solve(tensor_of(dtype, TN_SHAPE(n, n), a), tensor_of(dtype, TN_SHAPE(n, k), b), upper, transpose, unit),
        b, n, k);
    free(a);
    free(b);
    free(op);
}

START_TEST(triangular_systems_of_each_kind)
{
    for (int d = 0; d < (test_is("host") ? 2 : 1); d++)
        for (int kind = 0; kind < 8; kind++)
            if (test_takes(kind, 2)) check_triangular(dtypes[d], 37, 20, kind & 1, kind & 2, kind & 4);
    for (int s = 1; s < SIZES; s++) {
        if (!is_tried(TN_F32, sizes[s])) continue;
        check_triangular(TN_F32, sizes[s], 1, false, false, false);
        check_triangular(TN_F32, sizes[s], 33, true, false, false);
    }
    tn_tensor *a = test_f32(TN_SHAPE(2, 2), {2, NAN, 4, 8}), *b = test_f32(TN_SHAPE(2, 2), {2, 4, 12, 24});
    ck_tensor_f32(tn_triangular_solve(a, b, false, false, false), {1, 2, 1, 2});
    ck_tensor_f32(tn_triangular_solve(a, b, false, true, false), {-2, -4, 1.5, 3});
    ck_tensor_f32(tn_triangular_solve(a, b, false, false, true), {2, 4, 4, 8});
    ck_tensor_f32(tn_triangular_solve(test_f32(TN_SHAPE(1, 1), {0}), test_f32(TN_SHAPE(1, 2), {1, 0}), true, false, false),
                  {INFINITY, NAN});
}
END_TEST

START_TEST(a_cholesky_factor_solves)
{
    double *a = definite_values(TN_F32, 1, 17, 9), *b = random_values(TN_F32, 17 * 4, 10);
    tn_tensor *x = tensor_of(TN_F32, TN_SHAPE(17, 17), a), *y = tensor_of(TN_F32, TN_SHAPE(17, 4), b);
    check_solution(a, tn_cholesky_solve(y, tn_cholesky(x, false), false), b, 17, 4);
    check_solution(a, tn_cholesky_solve(y, tn_cholesky(x, true), true), b, 17, 4);
    free(a);
    free(b);
}
END_TEST

/* ---- over LU ---- */

START_TEST(inverses_and_solutions_leave_small_residuals)
{
    for (int d = 0; d < count_dtypes(); d++)
        for (int s = 0; s < SIZES; s++) {
            const int64_t n = sizes[s], matrices = matrices_of(n), k = n < 17 ? 3 : 20;
            if (!is_tried(dtypes[d], n)) continue;
            double *a = random_values(dtypes[d], matrices * n * n, 20 + (uint64_t)n),
                   *b = random_values(dtypes[d], matrices * n * k, 7);
            tn_tensor *x = tensor_of(dtypes[d], batch_of(n, n), a), *y = tensor_of(dtypes[d], batch_of(n, k), b);
            tn_tensor *inverse = ck_made(tn_inv(x)), *solution = ck_made(tn_solve(x, y));
            ck_shape(inverse, batch_of(n, n));
            ck_shape(solution, batch_of(n, k));
            check_solution(a, inverse, NULL, n, n);
            check_solution(a, solution, b, n, k);
            free(a);
            free(b);
        }
}
END_TEST

START_TEST(rows_are_exchanged_for_the_largest_pivot)
{
    tn_tensor *x = test_f32(TN_SHAPE(2, 3, 3), {0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 2, 0, 1, 0, 0, 0, 0, 1});
    ck_tensor_f32(tn_inv(x), {0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0, 0.5, 0, 0, 0, 0, 1});
    ck_tensor_f32(tn_det(x), {1, -2});
    tn_tensor *tiny = test_f32(TN_SHAPE(2, 2, 2), {1e-20, 1, 1, 1, 1, 0, 0, 1});
    ck_close(tn_solve(tiny, test_f32(TN_SHAPE(2, 2, 2), {1, 1, 2, 2, 1, 2, 3, 4})), 2, {1, 1, 1, 1, 1, 2, 3, 4});
}
END_TEST

START_TEST(determinants_and_their_logarithms)
{
    tn_tensor *sign, *logarithm, *x = test_f32(TN_SHAPE(4, 2, 2), {1, 2, 3, 4, 2, 0, 0, 8, 1, 2, 2, 4, NAN, 1, 1, 1});
    ck_close(tn_det(x), 2, {-2, 16, 0, NAN});
    ck_ok(tn_slogdet(x, &sign, &logarithm));
    ck_tensor_f32(sign, {-1, 1, 0, NAN});
    ck_close(logarithm, 4, {log(2), log(16), -INFINITY, NAN});
    ck_close(tn_logdet(x), 4, {NAN, log(16), -INFINITY, NAN});
    ck_shape(tn_det(test_f32(TN_SHAPE(1, 1), {3})), TN_SHAPE());
    ck_tensor_f32(tn_det(test_f32(TN_SHAPE(2, 1, 1), {3, -4})), {3, -4});
    double *a = random_values(TN_F32, 200 * 200, 5), host, here;
    tn_tensor *large = tensor_of(TN_F32, TN_SHAPE(200, 200), a), *s2, *l2;
    ck_ok(tn_slogdet(large, &sign, &logarithm));
    ck_ok(tn_slogdet(ck_made(tn_cast(ck_made(tn_host(large)), TN_F64)), &s2, &l2));
    ck_ok(tn_item(logarithm, &here));
    ck_ok(tn_item(l2, &host));
    ck_assert_msg(fabs(here - host) <= 1e-4 * fabs(host), "%g and %g", here, host);
    ck_ok(tn_item(sign, &here));
    ck_ok(tn_item(s2, &host));
    ck_assert_double_eq(here, host);
    free(a);
}
END_TEST

START_TEST(nothing_to_factor)
{
    tn_tensor *none = ck_made(tn_zeros(TN_F32, TN_SHAPE(2, 0, 0), test_device())), *sign, *logarithm;
    tn_tensor *no_batch = ck_made(tn_zeros(TN_F32, TN_SHAPE(0, 3, 3), test_device()));
    ck_tensor_f32(tn_det(none), {1, 1});
    ck_ok(tn_slogdet(none, &sign, &logarithm));
    ck_tensor_f32(sign, {1, 1});
    ck_tensor_f32(logarithm, {0, 0});
    ck_shape(tn_inv(none), TN_SHAPE(2, 0, 0));
    ck_shape(tn_cholesky(none, true), TN_SHAPE(2, 0, 0));
    ck_shape(tn_solve(none, ck_made(tn_zeros(TN_F32, TN_SHAPE(0, 4), test_device()))), TN_SHAPE(2, 0, 4));
    ck_shape(tn_det(no_batch), TN_SHAPE(0));
    ck_shape(tn_inv(no_batch), TN_SHAPE(0, 3, 3));
    ck_shape(tn_solve(test_f32(TN_SHAPE(1, 1), {2}), ck_made(tn_zeros(TN_F32, TN_SHAPE(1, 0), test_device()))), TN_SHAPE(1, 0));
}
END_TEST

/* ---- operands ---- */

static tn_tensor *lower_of_itself(tn_tensor *x)
{
    return tn_triangular_solve(x, x, false, false, false);
}

static tn_tensor *cholesky_of(tn_tensor *x)
{
    return tn_cholesky(x, false);
}

/* The same bits as of a copy. */
static void check_view(tn_tensor *view, int turn)
{
    tn_tensor *(*const calls[])(tn_tensor *) = {cholesky_of, tn_inv, lower_of_itself};
    tn_tensor *copy = ck_made(tn_contiguous(ck_made(view)));
    bones_run(copy);
    for (int i = 0; i < 3; i++)
        if (test_takes(turn + i, 6)) ck_same(calls[i](view), calls[i](copy));
}

START_TEST(operands_are_windows_and_pending_values)
{
    double *a = definite_values(TN_F32, 6, 20, 11);
    tn_tensor *x = tensor_of(TN_F32, TN_SHAPE(2, 3, 20, 20), a);
    check_view(tn_transpose(x, -2, -1), 0);
    check_view(tn_flip(x, TN_AXES(0, -2, -1)), 2);
    check_view(tn_expand(tn_select(tn_select(x, 0, 1), 0, 2), TN_SHAPE(2, 20, 20)), 4);
    check_view(tn_slice(tn_slice(x, -1, 1, 20, 2), -2, 1, 20, 2), 1);
    check_view(tn_add(tn_mul(x, tn_float(0.5)), tn_eye(TN_F32, 20, 20, 0, test_device())), 5);
    check_view(tn_permute(tn_reshape(x, TN_SHAPE(6, 20, 20)), TN_AXES(0, 2, 1)), 3);
    check_view(tn_index_select(tn_reshape(x, TN_SHAPE(6, 20, 20)), 0, test_i64(TN_SHAPE(2), {5, -4})), 0);
    free(a);
}
END_TEST

START_TEST(batches_broadcast)
{
    TN_SHARED(0, 2);
    double *a = random_values(TN_F32, 3 * 5 * 5, 12), *b = random_values(TN_F32, 2 * 5 * 2, 13);
    tn_tensor *x = tensor_of(TN_F32, TN_SHAPE(3, 5, 5), a), *y = tensor_of(TN_F32, TN_SHAPE(2, 1, 5, 2), b),
              *z = ck_made(tn_solve(x, y));
    ck_shape(z, TN_SHAPE(2, 3, 5, 2));
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 3; j++)
            ck_same(tn_select(tn_select(z, 0, i), 0, j),
                    tn_solve(tn_select(x, 0, j), tn_reshape(tn_select(y, 0, i), TN_SHAPE(5, 2))));
    if (test_has_f64()) ck_assert_int_eq(tn_dtype_of(ck_made(tn_solve(x, tn_cast(y, TN_F64)))), TN_F64);
    free(a);
    free(b);
}
END_TEST

/* PyTorch's rule. */
START_TEST(a_right_side_may_be_a_vector)
{
    TN_SHARED(1, 2);
    tn_tensor *a = test_f32(TN_SHAPE(2, 2, 2), {2, 0, 0, 4, 1, 1, 0, 1});
    tn_tensor *first = ck_made(tn_select(a, 0, 0));
    ck_tensor_f32(tn_solve(first, test_f32(TN_SHAPE(2), {2, 8})), {1, 2});
    ck_shape(tn_solve(first, test_f32(TN_SHAPE(2), {2, 8})), TN_SHAPE(2));
    tn_tensor *one = ck_made(tn_solve(a, test_f32(TN_SHAPE(2), {2, 8}))),
              *each = ck_made(tn_solve(a, test_f32(TN_SHAPE(2, 2), {2, 8, 3, 1})));
    ck_tensor_f32(one, {1, 2, -6, 8});
    ck_shape(one, TN_SHAPE(2, 2));
    ck_tensor_f32(each, {1, 2, 2, 1});
    ck_shape(tn_solve(a, test_f32(TN_SHAPE(2, 1), {2, 8})), TN_SHAPE(2, 2, 1));
}
END_TEST

/* ---- failures ---- */

START_TEST(what_does_not_fit_is_told_with_its_numbers)
{
    tn_tensor *m = ck_made(bones_count(TN_F32, TN_SHAPE(2, 3), test_device())), *v = test_f32(TN_SHAPE(2), {1, 2}), *sign,
              *logarithm;
    tn_tensor *s = test_f32(TN_SHAPE(2, 2), {1, 2, 3, 4}), *batch = ck_made(tn_expand(s, TN_SHAPE(3, 2, 2)));
    ck_fails(tn_cholesky(m, false), TN_SHAPE, "cholesky", "[2,3]");
    ck_fails(tn_inv(v), TN_SHAPE, "inv", "[2]");
    ck_fails(tn_det(tn_select(v, 0, 0)), TN_SHAPE, "det", "[]");
    ck_fails(tn_slogdet(m, &sign, &logarithm), TN_SHAPE, "slogdet", "[2,3]");
    ck_assert(!sign && !logarithm);
    ck_fails(tn_slogdet(s, NULL, &logarithm), TN_ARGUMENT, "slogdet", "sign");
    ck_fails(tn_solve(s, tn_transpose(m, 0, 1)), TN_SHAPE, "solve", "[2,2]", "[3,2]", "2 rows and 3");
    ck_fails(tn_solve(batch, tn_expand(m, TN_SHAPE(2, 2, 3))), TN_SHAPE, "solve", "[3,2,2]", "[2,2,3]", "broadcast");
    ck_fails(tn_triangular_solve(m, m, false, false, false), TN_SHAPE, "triangular_solve", "a [2,3]");
    ck_fails(tn_triangular_solve(s, v, false, false, false), TN_SHAPE, "triangular_solve", "b [2]");
    ck_fails(tn_inv(test_values(TN_F16, TN_SHAPE(1, 1), {1})), TN_DTYPE, "inv", "f16", "f32, f64");
    ck_fails(tn_solve(test_i32(TN_SHAPE(1, 1), {1}), test_i32(TN_SHAPE(1, 1), {1})), TN_DTYPE, "solve", "i32", "f32, f64");
    ck_fails(tn_cholesky_solve(v, m, false), TN_SHAPE, "cholesky_solve", "factor [2,3]");
    ck_fails(tn_logdet(NULL), TN_ARGUMENT, "logdet");
    if (!test_has_f64()) ck_fails(tn_det(tn_cast(s, TN_F64)), TN_CAPABILITY, "f64");
    ck_close(tn_det(s), 2, {-2}); /* still usable */
}
END_TEST

/* On host the call fails, elsewhere the next wait. */
static void check_report(tn_tensor *x, const char *function, const char *what)
{
    float out[64];
    if (test_is("host")) {
        ck_fails(x, TN_ARGUMENT, function, what);
        return;
    }
    ck_fails(tn_read(ck_made(x), out, tn_nbytes(x)), TN_ARGUMENT, function, what);
    ck_ok(tn_read(x, out, tn_nbytes(x)));
    ck_assert(isnan(out[tn_numel(x) - 1]));
}

START_TEST(matrices_that_cannot_be_factored_are_reported)
{
    tn_tensor *a = test_f32(TN_SHAPE(2, 2, 2), {1, 0, 0, 1, 1, 2, 2, 4});
    check_report(tn_inv(a), "inv", "matrix 1 is singular: its pivot 1 is 0");
    check_report(tn_solve(a, test_f32(TN_SHAPE(2), {1, 2})), "solve", "matrix 1 is singular");
    check_report(tn_cholesky(a, false), "cholesky", "matrix 1 is not positive definite: its pivot 1 is not above 0");
    check_report(tn_cholesky(test_f32(TN_SHAPE(1, 1), {NAN}), true), "cholesky", "pivot 0");
    ck_tensor_f32(tn_det(a), {1, 0});
    ck_tensor_f32(tn_inv(test_f32(TN_SHAPE(2, 2, 2), {1, 0, 0, 1, 2, 0, 0, 4})), {1, 0, 0, 1, 0.5, 0, 0, 0.25}); /* reported once */
}
END_TEST

/* ---- gradients, on host ---- */

enum { MOST = 64 };

typedef struct problem {
    const char *name;
    tn_tensor *(*call)(tn_tensor *const *x);
    int operands;
    bool symmetric; /* operand 0 is moved together with its transpose */
    tn_shape shape[2];
} problem;

static tn_tensor *call_cholesky(tn_tensor *const *x)
{
    return tn_cholesky(x[0], false);
}
static tn_tensor *call_lower(tn_tensor *const *x)
{
    return tn_triangular_solve(x[0], x[1], false, false, false);
}
static tn_tensor *call_unit(tn_tensor *const *x)
{
    return tn_triangular_solve(x[0], x[1], false, false, true);
}
static tn_tensor *call_inv(tn_tensor *const *x)
{
    return tn_inv(x[0]);
}
static tn_tensor *call_det(tn_tensor *const *x)
{
    return tn_det(x[0]);
}
static tn_tensor *call_slogdet(tn_tensor *const *x)
{
    tn_tensor *sign, *logarithm;
    ck_ok(tn_slogdet(x[0], &sign, &logarithm));
    return logarithm;
}
static tn_tensor *call_solve(tn_tensor *const *x)
{
    return tn_solve(x[0], x[1]);
}

static double loss(const problem *p, double (*values)[MOST], const double *up)
{
    const tn_scope scope = tn_scope_push();
    tn_tensor *x[2] = {0};
    for (int i = 0; i < p->operands; i++) x[i] = ck_made(tn_from(TN_F64, p->shape[i], values[i], "host"));
    tn_tensor *y = ck_made(p->call(x));
    double *out = test_numbers(y), sum = 0;
    for (int64_t k = 0; k < tn_numel(y); k++) sum += out[k] * up[k];
    free(out);
    (void)tn_scope_pop(scope);
    return sum;
}

static double difference(const problem *p, double (*values)[MOST], const double *up, int operand, int64_t a, int64_t b)
{
    const double step = 1e-5, x = values[operand][a], y = values[operand][b];
    values[operand][a] = x + step, values[operand][b] = y + step;
    const double more = loss(p, values, up);
    values[operand][a] = x - step, values[operand][b] = y - step;
    const double less = loss(p, values, up);
    values[operand][a] = x, values[operand][b] = y;
    return (more - less) / (2 * step);
}

static void check_gradient(const problem *p)
{
    double values[2][MOST], up[MOST];
    tn_tensor *x[2] = {0}, *g[2] = {0};
    test_random r = {test_seed(31)};
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < MOST; k++) values[i][k] = 2 * test_unit(&r) - 1;
    for (int k = 0; k < MOST; k++) up[k] = 2 * test_unit(&r) - 1;
    const int64_t n = p->shape[0].dim[p->shape[0].ndim - 1];
    int64_t count[2] = {1, 1};
    for (int i = 0; i < p->operands; i++) {
        for (int a = 0; a < p->shape[i].ndim; a++) count[i] *= p->shape[i].dim[a];
        if (i == 0)
            for (int64_t k = 0; k < count[0]; k++) {
                const int64_t row = k / n % n, column = k % n, turned = k - row * n - column + column * n + row;
                if (p->symmetric && column > row) values[0][k] = values[0][turned];
                if (column == row) values[0][k] += 4;
            }
    }
    if (p->symmetric)
        for (int64_t k = 0; k < count[0]; k++) {
            const int64_t row = k / n % n, column = k % n;
            if (column > row) values[0][k] = values[0][k - row * n - column + column * n + row];
        }
    for (int i = 0; i < p->operands; i++) x[i] = ck_made(tn_from(TN_F64, p->shape[i], values[i], "host"));
    for (int i = 0; i < p->operands; i++) ck_ok(tn_set_requires_grad(x[i], true));
    tn_tensor *y = ck_made(p->call(x)), *upstream = ck_made(tn_from(TN_F64, tn_shape_of(y), up, "host"));
    ck_ok(tn_grad(&y, &upstream, 1, x, p->operands, g, NULL));
    for (int i = 0; i < p->operands; i++) {
        ck_shape(ck_made(g[i]), p->shape[i]);
        double *got = test_numbers(g[i]);
        for (int64_t k = 0; k < count[i]; k++) {
            const int64_t row = k / n % n, column = k % n, turned = p->symmetric ? k - row * n - column + column * n + row : k;
            const double have = turned == k ? got[k] : got[k] + got[turned], want = difference(p, values, up, i, k, turned);
            ck_assert_msg(fabs(have - want) <= 1e-7 * (1 + fabs(want)), "%s: operand %d, element %d: %.12g, differences give %.12g",
                          p->name, i, (int)k, have, want);
        }
        free(got);
    }
    test_case_passed();
}

START_TEST(gradients_equal_central_differences)
{
    if (!test_is("host")) TN_SKIP("gradients are compositions, checked on host");
    const problem problems[] = {
        {"cholesky", call_cholesky, 1, true, {TN_SHAPE(2, 4, 4)}},
        {"triangular_solve", call_lower, 2, false, {TN_SHAPE(2, 3, 3), TN_SHAPE(3, 2)}},
        {"triangular_solve, broadcast", call_lower, 2, false, {TN_SHAPE(1, 3, 3), TN_SHAPE(2, 3, 2)}},
        {"triangular_solve, unit", call_unit, 2, false, {TN_SHAPE(3, 3), TN_SHAPE(2, 3, 2)}},
        {"inv", call_inv, 1, false, {TN_SHAPE(2, 4, 4)}},
        {"det", call_det, 1, false, {TN_SHAPE(2, 3, 3)}},
        {"slogdet", call_slogdet, 1, false, {TN_SHAPE(2, 3, 3)}},
        {"solve", call_solve, 2, false, {TN_SHAPE(2, 3, 3), TN_SHAPE(3, 2)}},
    };
    for (size_t i = 0; i < sizeof problems / sizeof problems[0]; i++) check_gradient(&problems[i]);
}
END_TEST

BONES_MAIN("solve", a_cholesky_factor_times_its_transpose_is_the_matrix, a_matrix_of_512_by_one_item,
           triangular_systems_of_each_kind, a_cholesky_factor_solves, inverses_and_solutions_leave_small_residuals,
           rows_are_exchanged_for_the_largest_pivot, determinants_and_their_logarithms, nothing_to_factor,
           operands_are_windows_and_pending_values, batches_broadcast, a_right_side_may_be_a_vector,
           what_does_not_fit_is_told_with_its_numbers, matrices_that_cannot_be_factored_are_reported,
           gradients_equal_central_differences)
