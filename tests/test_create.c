/* Creation and distributions, against the formulas written out. */
#include "bones.h"
#include <math.h>

static double number_at(tn_tensor *x, int64_t i)
{
    double v = NAN;
    ck_ok(tn_item(tn_select(x, 0, i), &v));
    return v;
}

/* ---- spaced numbers ---- */

START_TEST(linspace_is_numpys_and_ends_exactly)
{
    double got[7];
    tn_tensor *x = ck_made(tn_linspace(TN_F64, 0.1, 0.7, 7, "host"));
    ck_ok(tn_read(x, got, sizeof got));
    for (int i = 0; i < 6; i++) ck_assert(got[i] == 0.1 + i * ((0.7 - 0.1) / 6));
    ck_assert(got[6] == 0.7); /* 0.1 + 6·step is not */
    ck_tensor_f32(tn_linspace(TN_F32, 1, -1, 5, test_device()), {1, 0.5f, 0, -0.5f, -1});
    ck_tensor_f32(tn_linspace(TN_F32, 3, 9, 1, test_device()), {3});
    ck_tensor_i32(tn_linspace(TN_I32, 0, 5, 4, test_device()), {0, 1, 3, 5});
    ck_shape(tn_linspace(TN_F32, 0, 1, 0, test_device()), TN_SHAPE(0));
    tn_tensor *tiny = tn_linspace(TN_F64, 0, 5e-324, 3, "host"); /* the step is 0 */
    ck_assert(number_at(tiny, 1) == 0 && number_at(tiny, 2) == 5e-324);
    ck_fails(tn_linspace(TN_F32, 0, 1, -1, NULL), TN_ARGUMENT, "linspace", "-1 numbers");
    ck_fails(tn_linspace(TN_F32, 0, INFINITY, 3, NULL), TN_ARGUMENT, "linspace", "inf");
    ck_fails(tn_linspace(TN_F32, 0, 1, INT64_MAX, NULL), TN_OVERFLOW, "linspace");
    ck_fails(tn_linspace(TN_DTYPE_COUNT, 0, 1, 2, NULL), TN_DTYPE, "linspace");
    ck_fails(tn_linspace(TN_F32, 0, 1, 2, "gpu:77"), TN_DEVICE, "gpu:77");
}
END_TEST

START_TEST(logspace_takes_powers)
{
    ck_tensor_f32(tn_logspace(TN_F32, 0, 3, 4, 10, test_device()), {1, 10, 100, 1000});
    ck_tensor_i32(tn_logspace(TN_I32, 0, 4, 5, 2, test_device()), {1, 2, 4, 8, 16});
    ck_fails(tn_logspace(TN_F32, 0, 1, 2, 0, NULL), TN_ARGUMENT, "logspace", "base 0");
    ck_fails(tn_logspace(TN_F32, 0, 1, 2, NAN, NULL), TN_ARGUMENT, "logspace", "base");
}
END_TEST

START_TEST(arange_is_as_before)
{
    ck_tensor_f32(tn_arange(TN_F32, 1, 2, 0.25, test_device()), {1, 1.25f, 1.5f, 1.75f});
    ck_tensor_i32(tn_arange(TN_I32, 3, 0, -1, test_device()), {3, 2, 1});
    ck_shape(tn_arange(TN_I32, 3, 0, 1, test_device()), TN_SHAPE(0));
}
END_TEST

/* ---- matrices ---- */

START_TEST(eye_and_tri_have_their_ones_in_place)
{
    static const int64_t offsets[] = {1, -2, 0, 9, -9, INT64_MAX, INT64_MIN};
    for (size_t k = 0; k < (test_is("host") ? sizeof offsets / sizeof *offsets : 2); k++)
        for (int tri = 0; tri < 2; tri++) {
            const int64_t o = offsets[k];
            float got[12];
            tn_tensor *x = ck_made(tri ? tn_tri(TN_F32, 3, 4, o, test_device()) : tn_eye(TN_F32, 3, 4, o, test_device()));
            ck_ok(tn_read(x, got, sizeof got));
            for (int64_t i = 0; i < 3; i++)
                for (int64_t j = 0; j < 4; j++) ck_assert(got[i * 4 + j] == ((tri ? j - i <= o : j - i == o) ? 1 : 0));
        }
    ck_tensor_bool(tn_eye(TN_BOOL, 2, 2, 0, test_device()), {1, 0, 0, 1});
    ck_shape(tn_eye(TN_F32, 0, 3, 0, test_device()), TN_SHAPE(0, 3));
    ck_fails(tn_eye(TN_F32, -1, 3, 0, NULL), TN_SHAPE, "eye", "[-1,3]");
    ck_fails(tn_tri(TN_DTYPE_COUNT, 1, 1, 0, NULL), TN_DTYPE, "tri");
    ck_fails(tn_eye(TN_F32, 1, 1, 0, "nowhere"), TN_ARGUMENT, "nowhere");
}
END_TEST

/* ---- as another tensor ---- */

START_TEST(likes_take_dtype_shape_and_device)
{
    tn_tensor *x = tn_transpose(bones_count(TN_U8, TN_SHAPE(3, 2), test_device()), 0, 1);
    ck_tensor_u8(tn_zeros_like(x), {0, 0, 0, 0, 0, 0});
    ck_tensor_u8(tn_ones_like(x), {1, 1, 1, 1, 1, 1});
    ck_tensor_u8(tn_full_like(x, tn_int(7)), {7, 7, 7, 7, 7, 7});
    tn_tensor *y = ck_made(tn_empty_like(x));
    ck_shape(y, TN_SHAPE(2, 3));
    ck_assert_str_eq(tn_device_of(y), test_device());
    ck_ok(tn_assign(y, x));
    ck_same(y, x);
    ck_shape(tn_ones_like(test_f32(TN_SHAPE(), {1})), TN_SHAPE());
    ck_shape(tn_empty(TN_F32, TN_SHAPE(0, 2), test_device()), TN_SHAPE(0, 2));
    ck_tensor_bool(tn_empty(TN_BOOL, TN_SHAPE(3), test_device()), {0, 0, 0});
    ck_fails(tn_full_like(x, tn_int(300)), TN_OVERFLOW, "300", "u8");
    ck_fails(tn_zeros_like(NULL), TN_ARGUMENT, "zeros_like", "x");
    ck_fails(tn_empty(TN_F32, TN_SHAPE(-1), NULL), TN_SHAPE, "empty", "[-1]");
}
END_TEST

/* ---- distributions ---- */

/* Mean and variance of n elements as f32. */
static void moments(tn_tensor *x, double *mean, double *variance)
{
    static float v[20000];
    const int64_t n = tn_numel(x);
    double sum = 0, squares = 0;
    ck_ok(tn_read(x, v, (size_t)n * sizeof v[0]));
    for (int64_t i = 0; i < n; i++) sum += v[i];
    for (int64_t i = 0; i < n; i++) squares += (v[i] - sum / (double)n) * (v[i] - sum / (double)n);
    *mean = sum / (double)n;
    *variance = squares / (double)n;
}

START_TEST(distributions_are_their_formulas_over_the_stream)
{
    const tn_shape shape = TN_SHAPE(20000);
    double mean, variance;
    tn_seed(5);
    tn_tensor *u = tn_rand(TN_F32, shape, "host");
    tn_seed(5);
    tn_tensor *x = ck_made(tn_uniform(TN_F32, shape, -2, 6, test_device()));
    ck_same(x, tn_add(tn_mul(u, tn_float(8)), tn_float(-2))); /* each step rounds alike everywhere */
    moments(x, &mean, &variance);
    ck_assert(fabs(mean - 2) < 0.07 && fabs(variance - 64.0 / 12) < 0.2);
    moments(tn_normal(TN_F32, shape, 3, 2, test_device()), &mean, &variance);
    ck_assert(fabs(mean - 3) < 0.06 && fabs(variance - 4) < 0.2);
    moments(tn_exponential(TN_F32, shape, 4, test_device()), &mean, &variance);
    ck_assert(fabs(mean - 0.25) < 0.01 && fabs(variance - 0.0625) < 0.006);
    uint64_t seed, position;
    tn_random_state(&seed, &position);
    ck_assert_uint_eq(position, 60000);
    ck_fails(tn_uniform(TN_F32, shape, 2, 1, NULL), TN_ARGUMENT, "uniform", "low 2", "high 1");
    ck_fails(tn_normal(TN_F32, shape, 0, -1, NULL), TN_ARGUMENT, "normal", "deviation -1");
    ck_fails(tn_exponential(TN_F32, shape, 0, NULL), TN_ARGUMENT, "exponential", "rate 0");
    ck_fails(tn_uniform(TN_I32, shape, 0, 1, NULL), TN_DTYPE, "i32");
}
END_TEST

START_TEST(exponential_is_never_negative_nor_infinite)
{
    const tn_dtype dtypes[] = {TN_F16, TN_BF16, TN_F32};
    for (int d = 0; d < (test_is("host") ? 3 : 1); d++) {
        float v[5000];
        tn_tensor *x = ck_made(tn_exponential(dtypes[d], TN_SHAPE(5000), 1, test_device()));
        ck_assert_int_eq(tn_dtype_of(x), dtypes[d]);
        ck_ok(tn_read(tn_cast(tn_host(x), TN_F32), v, sizeof v));
        for (int i = 0; i < 5000; i++) ck_assert(!signbit(v[i]) && isfinite(v[i]));
    }
}
END_TEST

START_TEST(bernoulli_compares_the_stream_with_p)
{
    tn_seed(9);
    float u[8], got[8];
    static const float p[8] = {0, 1, 0.5f, 0.25f, 0.75f, -1, 2, NAN};
    ck_ok(tn_read(tn_rand(TN_F32, TN_SHAPE(2, 4), "host"), u, sizeof u));
    tn_seed(9);
    tn_tensor *x = ck_made(tn_bernoulli(tn_from(TN_F32, TN_SHAPE(2, 4), p, test_device())));
    ck_ok(tn_read(x, got, sizeof got));
    for (int i = 0; i < 8; i++) ck_assert(got[i] == (u[i] < p[i] ? 1 : 0));
    double mean, variance;
    moments(tn_bernoulli(tn_expand(test_f32(TN_SHAPE(), {0.3f}), TN_SHAPE(20000))), &mean, &variance);
    ck_assert(fabs(mean - 0.3) < 0.02);
    ck_shape(tn_bernoulli(test_f32(TN_SHAPE(), {1})), TN_SHAPE());
    ck_assert_int_eq(tn_dtype_of(tn_bernoulli(tn_zeros(TN_F16, TN_SHAPE(0), test_device()))), TN_F16);
    ck_fails(tn_bernoulli(test_i32(TN_SHAPE(1), {1})), TN_DTYPE, "bernoulli", "i32");
    ck_fails(tn_bernoulli(NULL), TN_ARGUMENT, "bernoulli", "p");
}
END_TEST

START_TEST(a_permutation_holds_every_number_once_and_the_same_everywhere)
{
    int64_t v[1000];
    bool seen[1000] = {false};
    tn_seed(3);
    tn_tensor *x = ck_made(tn_permutation(1000, test_device()));
    ck_ok(tn_read(x, v, sizeof v));
    int fixed = 0;
    for (int i = 0; i < 1000; i++) {
        ck_assert(v[i] >= 0 && v[i] < 1000 && !seen[v[i]]);
        seen[v[i]] = true;
        fixed += v[i] == i;
    }
    ck_assert_int_lt(fixed, 8); /* one on average */
    uint64_t position;
    tn_random_state(NULL, &position);
    ck_assert_uint_eq(position, 1000);
    tn_seed(3);
    ck_same(x, tn_permutation(1000, "host"));
    ck_shape(tn_permutation(0, test_device()), TN_SHAPE(0));
    ck_tensor_i64(tn_permutation(1, test_device()), {0});
    ck_fails(tn_permutation(-1, NULL), TN_ARGUMENT, "permutation", "-1");
}
END_TEST

START_TEST(every_order_of_four_is_equally_likely)
{
    TN_SKIP_IF(!test_is("host"), "the numbers are made on the host");
    int times[256] = {0}, orders = 0;
    double chi = 0;
    tn_seed(11);
    for (int i = 0; i < 24000; i++) {
        const tn_scope scope = tn_scope_push();
        int64_t v[4];
        ck_ok(tn_read(tn_permutation(4, "host"), v, sizeof v));
        times[v[0] * 64 + v[1] * 16 + v[2] * 4 + v[3]]++;
        ck_ok(tn_scope_pop(scope));
    }
    for (int i = 0; i < 256; i++) {
        if (times[i] == 0) continue;
        orders++;
        chi += (times[i] - 1000.0) * (times[i] - 1000.0) / 1000;
    }
    ck_assert_int_eq(orders, 24);
    ck_assert_msg(chi < 49.7, "chi square %g of 23 degrees", chi); /* 0.1 % */
}
END_TEST

START_TEST(multinomial_draws_in_the_ratio_of_the_weights)
{
    enum { DRAWS = 20000 };
    static int64_t drawn[2 * DRAWS];
    static const double want[2][4] = {{0, 0.25, 0.75, 0}, {0.1, 0.2, 0.3, 0.4}};
    tn_tensor *p = test_f32(TN_SHAPE(2, 4), {0, 1, 3, 0, 1, 2, 3, 4});
    tn_seed(5);
    tn_tensor *x = ck_made(tn_multinomial(p, DRAWS, true));
    ck_shape(x, TN_SHAPE(2, DRAWS));
    ck_ok(tn_read(x, drawn, sizeof drawn));
    for (int line = 0; line < 2; line++) {
        int64_t count[4] = {0};
        for (int i = 0; i < DRAWS; i++) count[drawn[line * DRAWS + i]]++;
        for (int k = 0; k < 4; k++) /* five standard deviations */
            ck_assert(fabs((double)count[k] - want[line][k] * DRAWS) <= 5 * sqrt(want[line][k] * (1 - want[line][k]) * DRAWS));
    }
    tn_tensor *once = ck_made(tn_multinomial(tn_expand(p, TN_SHAPE(2, 4)), 2, false));
    ck_shape(once, TN_SHAPE(2, 2));
    ck_ok(tn_read(once, drawn, 4 * sizeof drawn[0]));
    ck_assert(drawn[0] + drawn[1] == 3 && drawn[0] * drawn[1] == 2); /* 1 and 2 */
    ck_assert(drawn[2] != drawn[3]);
    ck_fails(tn_multinomial(p, 3, false), TN_ARGUMENT, "multinomial", "3 without", "2 weights");
    ck_fails(tn_multinomial(p, 0, true), TN_ARGUMENT, "0 draws");
    ck_fails(tn_multinomial(test_f32(TN_SHAPE(2), {1, -0.5}), 1, true), TN_ARGUMENT, "-0.5");
    ck_fails(tn_multinomial(test_f32(TN_SHAPE(2), {1, NAN}), 1, true), TN_ARGUMENT, "nan");
    ck_fails(tn_multinomial(test_f32(TN_SHAPE(2), {0, 0}), 1, true), TN_ARGUMENT, "sum to 0");
    ck_fails(tn_multinomial(test_f32(TN_SHAPE(), {1}), 1, true), TN_SHAPE, "[]");
    ck_fails(tn_multinomial(test_i32(TN_SHAPE(1), {1}), 1, true), TN_DTYPE, "i32");
}
END_TEST

/* The first of two without replacement is chosen by the weights. */
START_TEST(multinomial_without_replacement_is_weighted)
{
    enum { LINES = 8000 };
    static int64_t drawn[LINES];
    tn_tensor *p = ck_made(tn_expand(test_f32(TN_SHAPE(3), {1, 2, 1}), TN_SHAPE(LINES, 3)));
    int64_t count[3] = {0};
    tn_seed(6);
    ck_ok(tn_read(tn_select(ck_made(tn_multinomial(p, 2, false)), 1, 0), drawn, sizeof drawn));
    for (int i = 0; i < LINES; i++) count[drawn[i]]++;
    ck_assert(labs((long)count[1] - LINES / 2) < 5 * sqrt(LINES / 4.0) && labs((long)count[0] - LINES / 4) < 5 * sqrt(LINES * 3 / 16.0));
}
END_TEST

START_TEST(truncated_normal_stays_within_its_bounds)
{
    double mean, variance, least, most;
    tn_seed(8);
    tn_tensor *x = ck_made(tn_truncated_normal(TN_F32, TN_SHAPE(20000), 1, 2, 0, 3, test_device()));
    ck_ok(tn_item(tn_min(x, TN_ALL_AXES, false), &least));
    ck_ok(tn_item(tn_max(x, TN_ALL_AXES, false), &most));
    moments(x, &mean, &variance);
    ck_assert(fabs(mean - 1.4133) < 0.02 && fabs(variance - 0.6911) < 0.02); /* exact: 1.41326 and 0.69109 */
    ck_assert(least >= 0 && least < 0.01 && most <= 3 && most > 2.99);
    moments(tn_cast(tn_truncated_normal(TN_F16, TN_SHAPE(20000), 0, 1, -INFINITY, INFINITY, test_device()), TN_F32), &mean, &variance);
    ck_assert(fabs(mean) < 0.03 && fabs(variance - 1) < 0.05);
    ck_fails(tn_truncated_normal(TN_F32, TN_SHAPE(1), 0, 0, -1, 1, NULL), TN_ARGUMENT, "truncated_normal", "deviation 0");
    ck_fails(tn_truncated_normal(TN_F32, TN_SHAPE(1), 0, 1, 1, 1, NULL), TN_ARGUMENT, "low 1", "high 1");
    ck_fails(tn_truncated_normal(TN_F32, TN_SHAPE(1), 0, 1, 9, 10, NULL), TN_ARGUMENT, "9", "deviations");
    ck_fails(tn_truncated_normal(TN_I32, TN_SHAPE(1), 0, 1, -1, 1, NULL), TN_DTYPE, "i32");
}
END_TEST

BONES_MAIN("create", truncated_normal_stays_within_its_bounds, multinomial_draws_in_the_ratio_of_the_weights, multinomial_without_replacement_is_weighted, linspace_is_numpys_and_ends_exactly, logspace_takes_powers, arange_is_as_before,
           eye_and_tri_have_their_ones_in_place, likes_take_dtype_shape_and_device,
           distributions_are_their_formulas_over_the_stream, exponential_is_never_negative_nor_infinite,
           bernoulli_compares_the_stream_with_p, a_permutation_holds_every_number_once_and_the_same_everywhere,
           every_order_of_four_is_equally_likely)
