/* softmax and log_softmax: values, widths, axes, dtypes, layouts, errors. What is wanted is computed here in long double. Case
 * numbers are those of the shared list. */
#include <float.h>
#include <math.h>

#include "bones.h"
#include "layouts.h"

static float spread(int64_t i)
{
    return (float)((uint64_t)i * 0x9e3779b97f4a7c15ull >> 40 & 1023) / 64 - 8; /* -8 … 8, exact in f16 */
}

static tn_tensor *filled(tn_dtype dtype, tn_shape s)
{
    int64_t n = 1;
    for (int a = 0; a < s.ndim; a++) n *= s.dim[a];
    char *values = malloc((size_t)n * tn_dtype_size(dtype) + 1);
    for (int64_t i = 0; i < n; i++) test_store(dtype, values + (size_t)i * tn_dtype_size(dtype), (double)spread(i));
    tn_tensor *x = ck_made(tn_from(dtype, s, values, test_device()));
    free(values);
    return x;
}

/* One of both functions of a tensor along an axis. The bound: the difference to the maximum (which exp magnifies by its size), exp
 * and log within 4 ulp, the sum's (log2 n + 8) eps of the contract, one division; then rounding to the dtype. */
static void check_one(tn_tensor *x, int axis, bool log)
{
    const char *name = log ? "log_softmax" : "softmax";
    const tn_shape s = tn_shape_of(x);
    const int along = axis < 0 ? axis + s.ndim : axis;
    const tn_dtype from = tn_dtype_of(x), to = tn_dtype_is_float(from) ? from : TN_F32;
    int64_t inner = 1, outer = 1;
    const int64_t n = s.dim[along];
    for (int a = 0; a < along; a++) outer *= s.dim[a];
    for (int a = along + 1; a < s.ndim; a++) inner *= s.dim[a];
    tn_tensor *y = ck_made(log ? tn_log_softmax(x, axis) : tn_softmax(x, axis));
    ck_assert_int_eq((int)tn_dtype_of(y), (int)to);
    ck_shape(y, s);
    double *values = test_numbers(x), *got = test_numbers(y);
    const double eps = to == TN_F64 ? DBL_EPSILON : FLT_EPSILON, own = (log2((double)n) + 8) * eps;
    const double half = tn_dtype_size(to) == 2 ? 0.5 : 0;
    for (int64_t o = 0; o < outer; o++)
        for (int64_t i = 0; i < inner; i++) {
            const int64_t base = o * n * inner + i;
            long double most = -INFINITY, sum = 0, total = 0, rounding = 0;
            for (int64_t k = 0; k < n; k++) most = fmaxl(most, values[base + k * inner]);
            for (int64_t k = 0; k < n; k++) sum += expl(values[base + k * inner] - most);
            for (int64_t k = 0; k < n; k++) {
                const int64_t at = base + k * inner;
                const long double d = values[at] - most, want = log ? d - logl(sum) : expl(d) / sum, step = test_step(to, want);
                const long double own_error = log ? own + (fabsl(d) + 8 * fabsl(want) + 4) * eps : want * (own + (fabsl(d) + 8) * eps);
                ck_assert_msg(fabsl(got[at] - want) <= own_error + half * step,
                              "%s of %s, axis %d of %d, width %lld, place %lld: %.9g, not %.9Lg", name, tn_dtype_name(from), axis,
                              s.ndim, (long long)n, (long long)k, got[at], want);
                total += got[at];
                rounding += step;
            }
            ck_assert_msg(log || fabsl(total - 1) <= 2 * own + 16 * eps + half * rounding, "a row of %lld sums to %.9Lg", (long long)n,
                          total);
        }
    free(values);
    free(got);
    tn_release(y);
}

/* Both functions, or of them what is for this configuration (test_takes). */
static void check(tn_tensor *x, int axis, int turn)
{
    if (test_takes(turn, 2)) check_one(x, axis, false);
    if (test_takes(turn + 1, 2)) check_one(x, axis, true);
}

/* ---- values ---- */

START_TEST(large_numbers_do_not_overflow)
{ /* C29 */
    tn_tensor *x = test_f32(TN_SHAPE(3), {1000, 1001, 1002});
    ck_close(tn_softmax(x, 0), 16, {0.09003057317038046, 0.24472847105479764, 0.6652409557748219});
    ck_close(tn_log_softmax(x, 0), 16, {-2.4076059644443806, -1.4076059644443804, -0.40760596444438046});
    ck_close(tn_softmax(tn_neg(x), -1), 16, {0.6652409557748219, 0.24472847105479764, 0.09003057317038046});
    ck_tensor_f32(tn_softmax(test_f32(TN_SHAPE(2), {3e38f, -3e38f}), 0), {1, 0});
    ck_close(tn_softmax(test_values(TN_F16, TN_SHAPE(3), {1000, 1001, 1002}), 0), 1, {0.09003057317038046, 0.24472847105479764, 0.6652409557748219});
}
END_TEST

START_TEST(minus_infinity_counts_nothing)
{ /* C29 */
    ck_tensor_f32(tn_softmax(test_f32(TN_SHAPE(2), {-INFINITY, 0}), 0), {0, 1});
    ck_tensor_f32(tn_log_softmax(test_f32(TN_SHAPE(2), {-INFINITY, 0}), 0), {-INFINITY, 0});
    ck_tensor_f32(tn_softmax(test_f32(TN_SHAPE(2), {-INFINITY, -INFINITY}), 0), {NAN, NAN});
    ck_tensor_f32(tn_log_softmax(test_f32(TN_SHAPE(2), {-INFINITY, -INFINITY}), 0), {NAN, NAN});
    ck_tensor_f32(tn_softmax(test_f32(TN_SHAPE(1), {-INFINITY}), 0), {NAN});
    ck_tensor_f32(tn_log_softmax(test_f32(TN_SHAPE(1, 3), {0, -INFINITY, -INFINITY}), -1), {0, -INFINITY, -INFINITY});
    ck_tensor_f32(tn_softmax(test_f32(TN_SHAPE(1, 3), {0, -INFINITY, -INFINITY}), -1), {1, 0, 0});
    /* one row of them leaves its neighbours alone, along either axis */
    tn_tensor *x = test_f32(TN_SHAPE(3, 2), {0, 0, -INFINITY, -INFINITY, -INFINITY, 5});
    ck_tensor_f32(tn_softmax(x, 1), {0.5f, 0.5f, NAN, NAN, 0, 1});
    ck_tensor_f32(tn_softmax(tn_transpose(x, 0, 1), 0), {0.5f, NAN, 0, 0.5f, NAN, 1});
}
END_TEST

START_TEST(nan_and_infinity_spoil_their_row_only)
{
    tn_tensor *x = test_f32(TN_SHAPE(3, 2), {1, NAN, INFINITY, 0, 7, 7});
    ck_tensor_f32(tn_softmax(x, 1), {NAN, NAN, NAN, NAN, 0.5f, 0.5f}); /* inf - inf is in the sum */
    double *l = test_numbers(tn_log_softmax(x, 1));
    ck_assert(isnan(l[0]) && isnan(l[1]) && isnan(l[2]) && isnan(l[3]));
    ck_assert(fabs(l[4] + 0.6931471805599453) < 1e-6 && fabs(l[5] + 0.6931471805599453) < 1e-6);
    free(l);
}
END_TEST

/* Masked tails as attention has them: -inf in whole blocks, before and behind what counts. */
START_TEST(masked_blocks)
{
    enum { N = 300 };
    float values[2 * N], got[2 * N];
    for (int i = 0; i < 2 * N; i++) values[i] = -INFINITY;
    values[N - 1] = 2;                                     /* only the last */
    for (int i = 0; i < 4; i++) values[N + 140 + i] = 100; /* four in the middle */
    tn_tensor *x = tn_from(TN_F32, TN_SHAPE(2, N), values, test_device());
    for (int turned = 0; turned < 2; turned++) {
        tn_tensor *y = turned ? tn_transpose(tn_softmax(tn_contiguous(tn_transpose(x, 0, 1)), 0), 0, 1) : tn_softmax(x, 1);
        ck_ok(tn_read(y, got, sizeof got));
        for (int i = 0; i < N; i++) {
            ck_assert_float_eq(got[i], i == N - 1 ? 1 : 0);
            ck_assert_float_eq(got[N + i], i >= 140 && i < 144 ? 0.25f : 0);
        }
    }
}
END_TEST

START_TEST(a_row_of_one_is_one)
{
    ck_tensor_f32(tn_softmax(test_f32(TN_SHAPE(3, 1), {5, -1e30f, 0}), 1), {1, 1, 1});
    ck_tensor_f32(tn_log_softmax(test_f32(TN_SHAPE(3, 1), {5, -1e30f, 0}), 1), {0, 0, 0});
}
END_TEST

START_TEST(every_width_along_every_axis)
{
    static const int64_t widths[] = {1, 2, 3, 7, 8, 9, 16, 17, 100, 1000, 2048, 2049, 5000};
    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
        const int64_t n = widths[i];
        const tn_shape shapes[] = {TN_SHAPE(n), TN_SHAPE(5, n), TN_SHAPE(n, 6), TN_SHAPE(3, n, 4)};
        const int axes[] = {0, -1, 0, 1};
        for (int f = 0; f < 4; f++)
            if (n > 8 || test_takes((int)i + f, 4)) check(filled(TN_F32, shapes[f]), axes[f], f); /* few: kernels of their own */
    }
}
END_TEST

/* More rows than groups or items at once. */
START_TEST(many_rows)
{
    check(filled(TN_F32, TN_SHAPE(3001, 10)), 1, 1);
    check(filled(TN_F32, TN_SHAPE(10, 3001)), 0, 2);
}
END_TEST

/* ---- dtypes ---- */

START_TEST(every_float)
{
    const tn_dtype dtypes[] = {TN_F16, TN_BF16, TN_F64};
    for (int d = 0; d < 3; d++) {
        if (dtypes[d] == TN_F64 && !test_has_f64()) continue;
        const tn_shape shapes[] = {TN_SHAPE(4, 33), TN_SHAPE(2, 5000), TN_SHAPE(33, 4)};
        for (int f = 0; f < 3; f++)
            if (test_takes(d + f, 2)) check(filled(dtypes[d], shapes[f]), f < 2, d);
    }
}
END_TEST

START_TEST(integers_become_f32)
{
    ck_close(tn_softmax(test_i32(TN_SHAPE(3), {1000, 1001, 1002}), 0), 16, {0.09003057317038046, 0.24472847105479764, 0.6652409557748219});
    ck_assert_int_eq((int)tn_dtype_of(tn_softmax(test_i32(TN_SHAPE(1), {3}), 0)), TN_F32);
    ck_tensor_f32(tn_softmax(test_bool(TN_SHAPE(2), {1, 1}), 0), {0.5f, 0.5f});
    ck_close(tn_log_softmax(test_u8(TN_SHAPE(2), {255, 0}), 0), 16, {0, -255});
}
END_TEST

/* ---- layouts ---- */

START_TEST(all_layouts)
{
    for (int l = 0; l < LAYOUTS; l++) {
        if (l == LAYOUT_EMPTY || l == LAYOUT_ZERO_D) continue;
        const int64_t n = layout_count((test_layout)l);
        float *values = malloc((size_t)n * sizeof *values);
        for (int64_t i = 0; i < n; i++) values[i] = spread(i);
        tn_tensor *x = ck_made(layout_tensor((test_layout)l, 0, 1, TN_F32, values, test_device()));
        free(values);
        if (test_takes(l, 2)) check(x, -1, l / 2);
        if (test_takes(l + 1, 2)) check(x, 0, l / 2);
        tn_release(x); /* beyond all scopes */
    }
    tn_tensor *x = filled(TN_F32, TN_SHAPE(4, 6, 10));
    check(tn_permute(x, TN_AXES(2, 0, 1)), 1, 0);
    check(tn_slice(tn_flip(x, TN_AXES(0)), 2, TN_END, TN_END, -3), 2, 1);
    check(tn_expand(tn_slice(x, 1, 3, 4, 1), TN_SHAPE(4, 7, 10)), 1, 2);
    check(filled(TN_F32, TN_SHAPE(2, 1, 2, 1, 3, 1, 2, 1, 2, 1, 2, 1, 2, 1, 1, 3)), 4, 3);
}
END_TEST

/* ---- the graph ---- */

START_TEST(producers_and_consumers_join_the_launch)
{
    tn_tensor *x = filled(TN_F32, TN_SHAPE(8, 50)), *y = filled(TN_F32, TN_SHAPE(50));
    for (int form = 0; form < 2; form++) {
        tn_tensor *z = NULL, *whole = NULL;
        ck_launches(1, {
            tn_tensor *in = tn_mul(tn_add(x, y), tn_float(0.25));
            z = tn_add(tn_mul(form ? tn_log_softmax(in, 1) : tn_softmax(in, 1), tn_int(2)), y);
            ck_ok(tn_realize(&z, 1));
        });
        double *got = test_numbers(z), *a = test_numbers(x), *b = test_numbers(y);
        for (int r = 0; r < 8; r++) {
            long double sum = 0, most = -INFINITY;
            for (int c = 0; c < 50; c++) most = fmaxl(most, (a[r * 50 + c] + b[c]) * 0.25L);
            for (int c = 0; c < 50; c++) sum += expl((a[r * 50 + c] + b[c]) * 0.25L - most);
            for (int c = 0; c < 50; c++) {
                const long double d = (a[r * 50 + c] + b[c]) * 0.25L - most, v = form ? d - logl(sum) : expl(d) / sum;
                ck_assert_msg(fabsl(got[r * 50 + c] - (2 * v + b[c])) < 2e-5L, "%d,%d: %.9g, not %.9Lg", r, c, got[r * 50 + c], 2 * v + b[c]);
            }
        }
        free(got);
        free(a);
        free(b);
        ck_launches(1, {
            whole = form ? tn_log_softmax(x, 0) : tn_softmax(x, 0);
            ck_ok(tn_realize(&whole, 1));
        });
    }
}
END_TEST

START_TEST(the_same_bits_twice)
{
    tn_tensor *x = filled(TN_F32, TN_SHAPE(3, 5000));
    ck_same(tn_softmax(x, 1), tn_softmax(x, 1));
}
END_TEST

/* ---- edges ---- */

START_TEST(one_element_without_axes)
{
    tn_tensor *x = test_f32(TN_SHAPE(), {42});
    ck_tensor_f32(tn_softmax(x, 0), {1});
    ck_tensor_f32(tn_log_softmax(x, -1), {0});
    ck_shape(tn_softmax(x, 0), TN_SHAPE());
    ck_fails(tn_softmax(x, 1), TN_AXIS, "softmax", "1");
    ck_fails(tn_log_softmax(x, -2), TN_AXIS, "log_softmax", "-2");
}
END_TEST

START_TEST(nothing_gives_nothing)
{
    tn_tensor *x = tn_zeros(TN_F32, TN_SHAPE(0, 3), test_device()), *y = tn_zeros(TN_I64, TN_SHAPE(2, 0), test_device());
    tn_tensor *list[3];
    ck_launches(0, {
        list[0] = ck_made(tn_softmax(x, 0));
        list[1] = ck_made(tn_softmax(x, 1));
        list[2] = ck_made(tn_log_softmax(y, 1));
        ck_ok(tn_realize(list, 3));
    });
    ck_shape(list[0], TN_SHAPE(0, 3));
    ck_shape(list[1], TN_SHAPE(0, 3));
    ck_shape(list[2], TN_SHAPE(2, 0));
    ck_assert_int_eq((int)tn_dtype_of(list[2]), TN_F32);
    float unused;
    ck_ok(tn_read(list[0], &unused, 0));
}
END_TEST

START_TEST(wrong_arguments)
{
    tn_tensor *x = test_f32(TN_SHAPE(2, 3), {1, 2, 3, 4, 5, 6});
    ck_fails(tn_softmax(x, 2), TN_AXIS, "softmax", "axis 2");
    ck_fails(tn_log_softmax(x, -3), TN_AXIS, "log_softmax", "-3");
    ck_fails(tn_softmax(TN_NONE, 0), TN_ARGUMENT, "softmax");
    ck_fails(tn_softmax(tn_reshape(x, TN_SHAPE(4)), 0), TN_SHAPE, "reshape"); /* the error of what gave NULL stays */
    check(x, 1, 0);
}
END_TEST

BONES_MAIN("softmax", large_numbers_do_not_overflow, minus_infinity_counts_nothing,
          nan_and_infinity_spoil_their_row_only, masked_blocks, a_row_of_one_is_one, every_width_along_every_axis, many_rows, every_float,
          integers_become_f32, all_layouts, producers_and_consumers_join_the_launch, the_same_bits_twice, one_element_without_axes,
          nothing_gives_nothing, wrong_arguments)
