/* Layer and RMS normalisation, variance and cross entropy of rows: values, axes, dtypes, layouts, launches, gradients, errors. What is wanted is
 * computed here in long double. */
#include <float.h>
#include <math.h>

#include "bones.h"

static float spread(int64_t i)
{
    return (float)((uint64_t)i * 0x9e3779b97f4a7c15ull >> 40 & 1023) / 64 - 8; /* -8 … 8, exact in f16 */
}

static tn_tensor *filled(tn_dtype dtype, tn_shape s, int64_t from)
{
    int64_t n = 1;
    for (int a = 0; a < s.ndim; a++) n *= s.dim[a];
    char *values = malloc((size_t)n * tn_dtype_size(dtype) + 1);
    for (int64_t i = 0; i < n; i++) test_store(dtype, values + (size_t)i * tn_dtype_size(dtype), (double)spread(from + i));
    tn_tensor *x = ck_made(tn_from(dtype, s, values, test_device()));
    free(values);
    return x;
}

/* y, the norm of x with weight and bias (NULL: none) over the last n elements, is within some units of its dtype. */
static void check(tn_tensor *y, tn_tensor *x, int64_t n, bool centred, tn_tensor *weight, tn_tensor *bias)
{
    double *got = test_numbers(y), *v = test_numbers(x), *w = weight ? test_numbers(weight) : NULL,
           *b = bias ? test_numbers(bias) : NULL;
    const tn_dtype dtype = tn_dtype_of(y);
    const double eps = dtype == TN_F64 ? DBL_EPSILON : FLT_EPSILON, half = tn_dtype_size(dtype) == 2 ? 0.5 : 0;
    for (int64_t r = 0; r < tn_numel(x) / n; r++) {
        long double mean = 0, square = 0;
        for (int64_t i = 0; i < n && centred; i++) mean += v[r * n + i] / (long double)n;
        for (int64_t i = 0; i < n; i++) square += (v[r * n + i] - mean) * (v[r * n + i] - mean) / (long double)n;
        for (int64_t i = 0; i < n; i++) {
            const long double scaled = (v[r * n + i] - mean) / sqrtl(square + 1e-5L) * (w ? w[i] : 1),
                              want = scaled + (b ? b[i] : 0);
            const long double error = (log2((double)n) + 16) * eps * (fabsl(scaled) + fabsl(want) + 8) +
                                      half * test_step(dtype, want);
            ck_assert_msg(fabsl(got[r * n + i] - want) <= error, "row %d of %d, place %d: %.9g, not %.9Lg", (int)r, (int)n, (int)i,
                          got[r * n + i], want);
        }
    }
    free(got);
    free(v);
    free(w);
    free(b);
}

static tn_tensor *plain(tn_tensor *x, int64_t n, bool centred)
{
    return ck_made(centred ? tn_layer_norm(x, TN_SHAPE(n), TN_NONE, TN_NONE, 1e-5) : tn_rms_norm(x, TN_SHAPE(n), TN_NONE, 1e-5));
}

/* ---- values ---- */

START_TEST(every_width)
{
    static const int64_t widths[] = {1, 2, 7, 8, 9, 33, 64, 769, 5000};
    for (int i = 0; i < 9; i++) {
        tn_tensor *x = filled(TN_F32, TN_SHAPE(5, widths[i]), i);
        if (test_takes(i, 2)) check(plain(x, widths[i], true), x, widths[i], true, NULL, NULL);
        if (test_takes(i + 1, 2)) check(plain(x, widths[i], false), x, widths[i], false, NULL, NULL);
    }
}
END_TEST

START_TEST(far_from_zero_nothing_is_lost)
{
    float values[40];
    for (int i = 0; i < 40; i++) values[i] = 10000 + (float)(i % 4);
    tn_tensor *x = tn_from(TN_F32, TN_SHAPE(1, 40), values, test_device());
    tn_tensor *part = tn_slice(x, 1, 0, 4, 1); /* mean 10001.5, variance 1.25 */
    ck_close(tn_layer_norm(part, TN_SHAPE(4), TN_NONE, TN_NONE, 0), 4,
             {-1.3416407864998738, -0.4472135954999579, 0.4472135954999579, 1.3416407864998738});
    ck_values(tn_var(part, TN_AXES(1), 0, false), {1.25});
    ck_values(tn_var(x, TN_AXES(1), 0, true), {1.25});
    ck_values(tn_var(tn_reshape(x, TN_SHAPE(2, 2, 10)), TN_AXES(0, 2, 1), 0, false), {1.25});
    ck_values(tn_var(tn_transpose(tn_reshape(x, TN_SHAPE(10, 4)), 0, 1), TN_AXES(0), 0, false),
              {1.25, 1.25, 1.25, 1.25, 1.25, 1.25, 1.25, 1.25, 1.25, 1.25});
    ck_values(tn_var(part, TN_AXES(1), 4, false), {NAN});
}
END_TEST

START_TEST(a_row_without_spread_is_zero)
{
    ck_values(tn_layer_norm(test_f32(TN_SHAPE(2, 2), {5, 5, 0, 0}), TN_SHAPE(2), TN_NONE, TN_NONE, 1e-5), {0, 0, 0, 0});
    ck_values(tn_layer_norm(test_f32(TN_SHAPE(2, 2), {5, 5, 1, -1}), TN_SHAPE(2), TN_NONE, TN_NONE, 0), {NAN, NAN, 1, -1});
    ck_values(tn_rms_norm(test_f32(TN_SHAPE(2, 2), {NAN, 1, 3, -3}), TN_SHAPE(2), TN_NONE, 0), {NAN, NAN, 1, -1});
}
END_TEST

START_TEST(every_float)
{
    const tn_dtype dtypes[] = {TN_F16, TN_BF16, TN_F64};
    for (int d = 0; d < 3; d++) {
        if (dtypes[d] == TN_F64 && !test_has_f64()) continue;
        tn_tensor *x = filled(dtypes[d], TN_SHAPE(4, 33), d), *w = filled(dtypes[d], TN_SHAPE(33), 7);
        tn_tensor *y = tn_layer_norm(x, TN_SHAPE(33), w, w, 1e-5);
        ck_assert_int_eq((int)tn_dtype_of(ck_made(y)), (int)dtypes[d]);
        check(y, x, 33, true, w, w);
    }
    tn_tensor *x = filled(TN_F16, TN_SHAPE(3, 33), 0), *w = filled(TN_F32, TN_SHAPE(33), 7);
    tn_tensor *y = tn_rms_norm(x, TN_SHAPE(33), w, 1e-5);
    ck_assert_int_eq((int)tn_dtype_of(ck_made(y)), TN_F32);
    check(y, x, 33, false, w, NULL);
}
END_TEST

/* ---- axes and layouts ---- */

START_TEST(several_axes_are_one)
{
    tn_tensor *x = filled(TN_F32, TN_SHAPE(3, 4, 10), 0), *w = filled(TN_F32, TN_SHAPE(4, 10), 5),
              *b = filled(TN_F32, TN_SHAPE(4, 10), 9);
    tn_tensor *y = NULL;
    ck_launches(1, bones_run(y = tn_layer_norm(x, TN_SHAPE(4, 10), w, b, 1e-5)));
    ck_shape(y, TN_SHAPE(3, 4, 10));
    check(y, x, 40, true, w, b);
    tn_tensor *turned = tn_permute(x, TN_AXES(1, 2, 0)); /* [4, 10, 3]: its last axes do not lie behind each other */
    tn_tensor *v = tn_contiguous(tn_slice(filled(TN_F32, TN_SHAPE(10, 4), 2), 1, 0, 3, 1));
    check(tn_layer_norm(turned, TN_SHAPE(10, 3), v, TN_NONE, 1e-5), turned, 30, true, v, NULL);
}
END_TEST

START_TEST(strided_and_flipped_rows)
{
    tn_tensor *x = filled(TN_F32, TN_SHAPE(6, 40), 3);
    tn_tensor *const views[] = {tn_transpose(filled(TN_F32, TN_SHAPE(40, 6), 3), 0, 1), tn_flip(x, TN_AXES(1)),
                                tn_slice(x, 0, TN_END, TN_END, -2), tn_expand(tn_slice(x, 0, 2, 3, 1), TN_SHAPE(3, 40)),
                                tn_slice(filled(TN_F32, TN_SHAPE(6, 41), 3), 1, 1, TN_END, 1)};
    for (int i = 0; i < 5; i++)
        if (test_takes(i, 2)) check(plain(views[i], 40, i % 2), views[i], 40, i % 2, NULL, NULL);
}
END_TEST

START_TEST(nothing_gives_nothing)
{
    tn_tensor *x = tn_zeros(TN_F32, TN_SHAPE(0, 3), test_device()), *z = tn_zeros(TN_F32, TN_SHAPE(3, 0), test_device());
    ck_launches(0, bones_run(x = tn_layer_norm(x, TN_SHAPE(3), TN_NONE, TN_NONE, 1e-5)));
    ck_shape(x, TN_SHAPE(0, 3));
    ck_shape(tn_rms_norm(z, TN_SHAPE(0), TN_NONE, 1e-5), TN_SHAPE(3, 0));
}
END_TEST

/* ---- the graph ---- */

START_TEST(producer_weights_and_residual_join_the_launch)
{
    tn_tensor *x = filled(TN_F32, TN_SHAPE(8, 50), 0), *r = filled(TN_F32, TN_SHAPE(8, 50), 1),
              *w = filled(TN_F32, TN_SHAPE(50), 2), *b = filled(TN_F32, TN_SHAPE(50), 3), *y = NULL;
    ck_launches(1, bones_run(y = tn_add(tn_layer_norm(tn_add(x, r), TN_SHAPE(50), w, b, 1e-5), r)));
    check(tn_sub(y, r), tn_add(x, r), 50, true, w, b);
    ck_launches(1, bones_run(tn_var(tn_mul(x, tn_int(2)), TN_AXES(1), 1, false)));
    ck_launches(1, bones_run(tn_logsumexp(x, TN_AXES(1), true)));
}
END_TEST

START_TEST(the_same_bits_twice)
{
    tn_tensor *x = filled(TN_F32, TN_SHAPE(3, 5000), 0);
    ck_same(plain(x, 5000, true), plain(x, 5000, true));
}
END_TEST

/* ---- gradients: the phases against the operations that are recorded when the gradient is to be differentiated again ---- */

static void compare_gradients(tn_tensor *y, tn_tensor *const *inputs, int count, int launches)
{
    tn_tensor *up = filled(tn_dtype_of(y), tn_shape_of(y), 11), *fused[3], *composed[3];
    const tn_backward_options again = {.create = true}, keep = {.retain = true};
    ck_ok(tn_realize(&y, 1));
    ck_launches(launches, {
        ck_ok(tn_grad(&y, &up, 1, inputs, count, fused, &keep));
        ck_ok(tn_realize(fused, count));
    });
    ck_ok(tn_grad(&y, &up, 1, inputs, count, composed, &again));
    for (int i = 0; i < count; i++) {
        double *a = test_numbers(fused[i]), *b = test_numbers(composed[i]);
        for (int64_t k = 0; k < tn_numel(inputs[i]); k++)
            ck_assert_msg(fabs(a[k] - b[k]) <= 1e-4 * (1 + fabs(b[k])), "input %d, place %d: %.9g, not %.9g", i, (int)k, a[k],
                          b[k]);
        free(a);
        free(b);
    }
}

START_TEST(gradients_of_norms)
{
    TN_SHARED(1, 1);
    tn_tensor *in[3] = {filled(TN_F32, TN_SHAPE(5, 34), 0), filled(TN_F32, TN_SHAPE(34), 50), filled(TN_F32, TN_SHAPE(34), 90)};
    for (int i = 0; i < 3; i++) ck_ok(tn_set_requires_grad(in[i], true));
    compare_gradients(tn_layer_norm(in[0], TN_SHAPE(34), in[1], in[2], 1e-5), in, 3, 3);
    compare_gradients(tn_rms_norm(in[0], TN_SHAPE(34), in[1], 1e-5), in, 2, 2);
    compare_gradients(tn_softmax(in[0], 1), in, 1, 1);
    compare_gradients(tn_log_softmax(in[0], 0), in, 1, 1);
    compare_gradients(tn_var(in[0], TN_AXES(1), 1, false), in, 1, 2);
    tn_tensor *x = tn_detach(in[0]), *weights[] = {in[1]}; /* of the weight alone */
    compare_gradients(tn_layer_norm(x, TN_SHAPE(34), in[1], TN_NONE, 1e-5), weights, 1, 2);
}
END_TEST

START_TEST(cross_entropy_is_a_launch_forwards_and_one_backwards)
{
    TN_SHARED(1, 1);
    tn_tensor *x = filled(TN_F32, TN_SHAPE(5, 34), 0), *weight = tn_abs(filled(TN_F32, TN_SHAPE(34), 3)), *y = NULL;
    tn_tensor *labels = test_values(TN_I64, TN_SHAPE(5), {3, 33, 0, -100, 17});
    const tn_cross_entropy_options dear = {.weight = weight, .smoothing = 0.25};
    ck_ok(tn_realize(&weight, 1));
    ck_ok(tn_set_requires_grad(x, true));
    ck_launches(1, bones_run(y = tn_cross_entropy(x, labels, TN_REDUCE_NONE, NULL)));
    double *got = test_numbers(y), *logs = test_numbers(tn_log_softmax(x, 1));
    const int64_t label[] = {3, 33, 0, -1, 17};
    for (int r = 0; r < 5; r++) {
        const double want = label[r] < 0 ? 0 : -logs[r * 34 + label[r]];
        ck_assert_msg(fabs(got[r] - want) <= 1e-5, "row %d: %.9g, not %.9g", r, got[r], want);
    }
    free(got);
    free(logs);
    compare_gradients(y, &x, 1, 1);
    compare_gradients(tn_cross_entropy(x, labels, TN_REDUCE_NONE, &dear), &x, 1, 1);
    tn_tensor *certain = test_f32(TN_SHAPE(2, 2), {0, -INFINITY, 0, -INFINITY});
    ck_values(tn_cross_entropy(certain, test_values(TN_I64, TN_SHAPE(2), {0, 1}), TN_REDUCE_NONE, NULL), {0, INFINITY});
}
END_TEST

/* ---- errors ---- */

START_TEST(wrong_arguments)
{
    tn_tensor *x = filled(TN_F32, TN_SHAPE(2, 3), 0), *w = filled(TN_F32, TN_SHAPE(4), 0);
    ck_fails(tn_layer_norm(x, TN_SHAPE(4), TN_NONE, TN_NONE, 1e-5), TN_SHAPE, "layer_norm: x [2,3] does not end in [4]");
    ck_fails(tn_rms_norm(x, TN_SHAPE(3), w, 1e-5), TN_SHAPE, "rms_norm: weight [4] is not [3]");
    ck_fails(tn_layer_norm(x, TN_SHAPE(3), TN_NONE, w, 1e-5), TN_SHAPE, "layer_norm: bias [4] is not [3]");
    ck_fails(tn_layer_norm(x, TN_SHAPE(), TN_NONE, TN_NONE, 1e-5), TN_SHAPE, "layer_norm: a shape without axes");
    ck_fails(tn_layer_norm(x, TN_SHAPE(3), TN_NONE, TN_NONE, -1), TN_ARGUMENT, "layer_norm: epsilon -1");
    ck_fails(tn_rms_norm(x, TN_SHAPE(3), TN_NONE, NAN), TN_ARGUMENT, "rms_norm: epsilon nan");
    ck_fails(tn_layer_norm(tn_cast(x, TN_I32), TN_SHAPE(3), TN_NONE, TN_NONE, 0), TN_DTYPE, "layer_norm: x is i32");
    ck_fails(tn_layer_norm(TN_NONE, TN_SHAPE(3), TN_NONE, TN_NONE, 0), TN_ARGUMENT, "layer_norm: x may not be TN_NONE");
    if (test_is("host")) return;
    ck_fails(tn_layer_norm(tn_host(x), TN_SHAPE(3), TN_NONE, filled(TN_F32, TN_SHAPE(3), 0), 0), TN_DEVICE, "layer_norm",
             test_device());
}
END_TEST

BONES_MAIN("norms", every_width, far_from_zero_nothing_is_lost, a_row_without_spread_is_zero, every_float, several_axes_are_one,
           strided_and_flipped_rows, nothing_gives_nothing, producer_weights_and_residual_join_the_launch, the_same_bits_twice,
           gradients_of_norms, cross_entropy_is_a_launch_forwards_and_one_backwards, wrong_arguments)
