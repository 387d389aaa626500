/* How many kernels an expression starts, counted from outside the library by tests/preload/count_launches.c, and what the
 * device's own count says. Bones 3, 7, 8, 10 and 11. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>

#include "bones.h"
#include "preload.h"

/* ---- counting ---- */

static unsigned long (*outside)(void), (*outside_tasks)(void);

/* Kernels started so far; the device's own count moves as the one from outside does. */
static long launches(void)
{
    static uint64_t own_before;
    static unsigned long outside_before;
    ck_assert_msg(outside != NULL, "count_launches.so is not loaded");
    const uint64_t own = bones_launches();
    const unsigned long now = outside() + outside_tasks();
    if (own >= own_before) ck_assert_uint_eq(own - own_before, now - outside_before);
    own_before = own;
    outside_before = now;
    return (long)now;
}

/* The statement starts so many kernels. */
#define ck_starts(count, statement)                                                                         \
    do {                                                                                                    \
        const long at_first_ = launches();                                                                  \
        statement;                                                                                          \
        const long more_ = launches() - at_first_;                                                          \
        ck_assert_msg(more_ == (count), "%s: %ld launches instead of %d", #statement, more_, (int)(count)); \
    } while (0)
#define ck_starts_at_most(count, statement)                                                                             \
    do {                                                                                                                \
        const long at_first_ = launches();                                                                              \
        statement;                                                                                                      \
        const long more_ = launches() - at_first_;                                                                      \
        ck_assert_msg(more_ >= 1 && more_ <= (count), "%s: %ld launches, at most %d", #statement, more_, (int)(count)); \
    } while (0)

/* Elements i * step + start, i = 0, 1, …, with bytes. */
static tn_tensor *ramp(tn_shape shape, double start, double step)
{
    int64_t n = 1;
    for (int i = 0; i < shape.ndim; i++) n *= shape.dim[i];
    float *values = malloc((size_t)n * sizeof *values + 1);
    ck_assert_ptr_nonnull(values);
    for (int64_t i = 0; i < n; i++) values[i] = (float)(start + step * (double)(i % 1000));
    tn_tensor *x = ck_made(tn_from(TN_F32, shape, values, test_device()));
    free(values);
    ck_assert(!tn_is_pending(x));
    return x;
}

static float *values_of(tn_tensor *x)
{
    float *values = malloc(tn_nbytes(ck_made(x)) + 1);
    ck_ok(tn_read(x, values, tn_nbytes(x)));
    return values;
}

static void ck_near(double got, double want)
{
    ck_assert_msg(fabs(got - want) <= 2e-5 * (1 + fabs(want)), "%.9g instead of %.9g", got, want);
}

/* ---- elementwise ---- */

START_TEST(a_chain_of_five_operations_is_one_launch)
{
    tn_tensor *x = ramp(TN_SHAPE(1000), -3, 0.25);
    tn_tensor *a = tn_abs(tn_sub(tn_mul(tn_neg(tn_add(x, tn_int(1))), tn_float(0.5)), x));
    ck_assert(tn_is_pending(a));
    float *y = NULL;
    ck_starts(1, y = values_of(a));
    for (int i = 0; i < 1000; i++) ck_assert_float_eq(y[i], fabsf(-(-3 + 0.25f * (float)i + 1) * 0.5f - (-3 + 0.25f * (float)i)));
    free(y);
    ck_starts(0, y = values_of(a));
    free(y);
}
END_TEST

START_TEST(a_broadcast_chain_of_many_inputs_is_one_launch)
{
    tn_tensor *a = ramp(TN_SHAPE(8, 1), 0, 1), *b = ramp(TN_SHAPE(1, 12), 1, 1), *c = ramp(TN_SHAPE(8, 12), 0, 0.5);
    tn_tensor *d = ramp(TN_SHAPE(3, 8, 12), 5, 1), *e = ramp(TN_SHAPE(12), 2, 2), *f = ramp(TN_SHAPE(), 7, 0);
    tn_tensor *y = tn_add(tn_sub(tn_add(tn_mul(a, b), c), d), tn_mul(e, f));
    float *v = NULL;
    ck_shape(y, TN_SHAPE(3, 8, 12));
    ck_starts(1, v = values_of(y));
    for (int i = 0; i < 3 * 8 * 12; i++) {
        const int r = i / 12 % 8, k = i % 12;
        ck_assert_float_eq(v[i], (float)r * (float)(k + 1) + 0.5f * (float)(r * 12 + k) - (float)(5 + i) + (float)(2 + 2 * k) * 7);
    }
    free(v);
}
END_TEST

START_TEST(casts_comparisons_and_choices_are_part_of_the_chain)
{
    tn_tensor *x = ramp(TN_SHAPE(100), -50, 1), *n = tn_cast(x, TN_I32);
    tn_tensor *y = tn_where(tn_lt(n, tn_int(0)), tn_cast(tn_mul(n, n), TN_F32), tn_cast(tn_cast(x, TN_F16), TN_F32));
    float *v = NULL;
    ck_starts(1, v = values_of(y));
    for (int i = 0; i < 100; i++) ck_assert_float_eq(v[i], (float)(i < 50 ? (i - 50) * (i - 50) : i - 50));
    free(v);
}
END_TEST

START_TEST(filled_tensors_and_random_numbers_are_part_of_the_chain)
{
    tn_tensor *x = ramp(TN_SHAPE(500), 0, 1);
    tn_tensor *y = tn_add(tn_add(tn_zeros(TN_F32, TN_SHAPE(500), test_device()), tn_ones(TN_F32, TN_SHAPE(1, 500), test_device())),
                          x);
    tn_tensor *kept = tn_ge(tn_rand(TN_F32, TN_SHAPE(500), test_device()), tn_float(0.5));
    tn_tensor *z = tn_mul(tn_add(y, tn_arange(TN_F32, 0, 500, 1, test_device())), tn_cast(kept, TN_F32));
    float *v = NULL;
    ck_starts(1, v = values_of(z));
    for (int i = 0; i < 500; i++) ck_assert(v[i] == 0 || v[i] == (float)(2 * i + 1));
    free(v);
}
END_TEST

START_TEST(two_wanted_results_of_one_input_are_one_launch)
{
    tn_tensor *x = ramp(TN_SHAPE(64), 0, 1), *shared = tn_mul(x, tn_int(3));
    tn_tensor *const wanted[] = {tn_add(shared, tn_int(1)), tn_sub(shared, x), tn_neg(x)};
    ck_starts(1, ck_ok(tn_realize(wanted, 3)));
    float *a = NULL, *b = NULL, *c = NULL;
    ck_starts(0, (a = values_of(wanted[0]), b = values_of(wanted[1]), c = values_of(wanted[2])));
    for (int i = 0; i < 64; i++) {
        ck_assert_float_eq(a[i], (float)(3 * i + 1));
        ck_assert_float_eq(b[i], (float)(2 * i));
        ck_assert_float_eq(c[i], (float)-i);
    }
    free(a);
    free(b);
    free(c);
}
END_TEST

START_TEST(an_expression_read_twice_is_stored_the_second_time)
{
    tn_tensor *x = ramp(TN_SHAPE(64), 0, 1), *t = tn_add(tn_mul(x, x), tn_int(1));
    float *v[3] = {0};
    ck_starts(1, v[0] = values_of(tn_mul(t, tn_int(2))));
    ck_assert(tn_is_pending(t)); /* a live handle alone is no reason to store */
    ck_starts(1, v[1] = values_of(tn_mul(t, tn_int(3))));
    ck_assert(!tn_is_pending(t));
    ck_starts(0, v[2] = values_of(t));
    for (int i = 0; i < 64; i++) {
        ck_assert_float_eq(v[0][i], (float)(2 * (i * i + 1)));
        ck_assert_float_eq(v[1][i], (float)(3 * (i * i + 1)));
        ck_assert_float_eq(v[2][i], (float)(i * i + 1));
    }
    for (int i = 0; i < 3; i++) free(v[i]);
}
END_TEST

START_TEST(a_kernel_takes_64_operations)
{
    tn_tensor *x = ramp(TN_SHAPE(32), 0, 1), *y = x, *z = x;
    float *v = NULL;
    ck_starts(1, {
        for (int i = 0; i < 64; i++) y = tn_add(y, tn_int(i));
        v = values_of(y);
    });
    for (int i = 0; i < 32; i++) ck_assert_float_eq(v[i], (float)(i + 2016));
    free(v);
    ck_starts(2, {
        for (int i = 0; i < 100; i++) z = tn_add(z, tn_int(i));
        v = values_of(z);
    });
    for (int i = 0; i < 32; i++) ck_assert_float_eq(v[i], (float)(i + 4950));
    free(v);
}
END_TEST

START_TEST(nothing_of_no_elements_is_launched)
{
    tn_tensor *x = ck_made(tn_from(TN_F32, TN_SHAPE(0, 5), NULL, test_device()));
    ck_starts(0, {
        tn_tensor *y = tn_mul(tn_add(x, tn_int(1)), tn_softmax(x, 1));
        ck_ok(tn_read(y, NULL, 0));
        ck_ok(tn_read(tn_max(x, TN_AXES(1), false), NULL, 0));
        ck_ok(tn_finish(test_device()));
    });
}
END_TEST

/* ---- views ---- */

START_TEST(views_launch_nothing)
{
    tn_tensor *x = ramp(TN_SHAPE(4, 6), 0, 1), *p = tn_add(x, tn_int(1));
    tn_tensor *const bases[] = {x, p};
    for (int i = 0; i < 2; i++) {
        tn_tensor *b = bases[i];
        ck_starts(0, {
            (void)ck_made(tn_reshape(b, TN_SHAPE(3, 8)));
            (void)ck_made(tn_view(b, TN_SHAPE(24)));
            (void)ck_made(tn_flip(tn_transpose(b, 0, 1), TN_AXES(0)));
            (void)ck_made(tn_slice(b, 1, 1, TN_END, 2));
            (void)ck_made(tn_expand(tn_unsqueeze(tn_select(b, 0, 2), 0), TN_SHAPE(5, 6)));
            (void)ck_made(tn_squeeze(tn_permute(b, TN_AXES(1, 0)), TN_ALL_AXES));
            (void)ck_made(tn_contiguous(b));
            (void)ck_made(tn_to(b, test_device()));
        });
    }
    ck_assert(tn_is_pending(p));
}
END_TEST

START_TEST(a_stored_window_without_gaps_is_read_without_a_launch)
{
    tn_tensor *x = ramp(TN_SHAPE(4, 6), 0, 1);
    float row[6], column[4];
    ck_starts(0, ck_ok(tn_read(tn_select(x, 0, 2), row, sizeof row)));
    ck_assert_float_eq(row[5], 17);
    ck_starts(1, ck_ok(tn_read(tn_select(x, 1, 2), column, sizeof column)));
    ck_assert_float_eq(column[3], 20);
    ck_starts(0, (void)ck_made(tn_host(x)));
}
END_TEST

START_TEST(a_part_of_a_pending_chain_is_one_launch_over_that_part_alone)
{
    enum { N = 1 << 22 };
    tn_tensor *x = ramp(TN_SHAPE(N), 0, 1);
    tn_tensor *y = tn_mul(tn_add(x, tn_int(1)), tn_int(2)), *part = tn_slice(y, 0, 2500, 2510, 3);
    float v[4];
    ck_ok(tn_memory_empty_cache(test_device()));
    const tn_device_info before = bones_info(test_device());
    ck_starts(1, ck_ok(tn_read(part, v, sizeof v)));
    const tn_device_info after = bones_info(test_device());
    for (int i = 0; i < 4; i++) ck_assert_float_eq(v[i], (float)(2 * (501 + 3 * i)));
    ck_assert(tn_is_pending(y));
    ck_assert_uint_lt(after.memory_in_use + after.memory_cached,
                      before.memory_in_use + before.memory_cached + N * sizeof(float) / 4);
}
END_TEST

START_TEST(an_assignment_to_a_part_is_one_launch)
{
    tn_tensor *x = ramp(TN_SHAPE(4, 6), 0, 1), *source = tn_mul(ramp(TN_SHAPE(6), 1, 1), tn_int(-1));
    float v[24];
    ck_starts(1, ck_ok(tn_assign(tn_select(x, 0, 1), source)));
    ck_starts(0, ck_ok(tn_read(x, v, sizeof v)));
    for (int i = 0; i < 24; i++) ck_assert_float_eq(v[i], i / 6 == 1 ? (float)-(i - 5) : (float)i);
}
END_TEST

/* ---- rows and reductions ---- */

START_TEST(a_softmax_over_16384_rows_of_1024_is_at_most_two_launches)
{
    tn_tensor *x = ramp(TN_SHAPE(16384, 1024), 0, 0.001), *y = tn_softmax(x, 1), *sums = NULL;
    tn_tensor *const list[] = {y};
    ck_starts_at_most(2, {
        ck_ok(tn_realize(list, 1));
        ck_ok(tn_finish(test_device()));
    });
    sums = tn_sum(tn_slice(y, 0, 0, TN_END, 1000), TN_AXES(1), false);
    float *v = values_of(sums);
    for (int i = 0; i < 17; i++) ck_near(v[i], 1);
    free(v);
}
END_TEST

START_TEST(a_softmax_with_producer_and_consumer_is_one_launch)
{
    tn_tensor *x = ramp(TN_SHAPE(24, 40), 0, 0.001), *bias = ramp(TN_SHAPE(40), 0, 0.5), *gain = ramp(TN_SHAPE(24, 40), 1, 1);
    tn_tensor *y = tn_add(tn_mul(tn_softmax(tn_add(tn_mul(x, tn_float(2)), bias), 1), gain), tn_int(1));
    float *v = NULL;
    ck_starts(1, v = values_of(y));
    for (int r = 0; r < 24; r += 23) {
        double sum = 0;
        for (int k = 0; k < 40; k++) sum += exp(0.002 * (r * 40 + k) + 0.5 * k);
        for (int k = 0; k < 40; k++) ck_near(v[r * 40 + k], exp(0.002 * (r * 40 + k) + 0.5 * k) / sum * (1 + r * 40 + k) + 1);
    }
    free(v);
}
END_TEST

START_TEST(a_reduction_takes_its_producer_and_its_consumer)
{
    tn_tensor *x = ramp(TN_SHAPE(24, 40), 0, 1), *m = ramp(TN_SHAPE(40), 0, 1);
    tn_tensor *d = tn_sub(x, m), *y = tn_add(tn_sqrt(tn_sum(tn_mul(d, d), TN_AXES(1), false)), tn_int(1));
    float *v = NULL;
    ck_starts(1, v = values_of(y));
    for (int r = 0; r < 24; r++) ck_near(v[r], sqrt(40.0) * 40 * r + 1);
    free(v);
    ck_starts(1, v = values_of(tn_mul(tn_cast(tn_argmax(tn_neg(x), TN_AXES(1), false), TN_F32), tn_float(2))));
    for (int r = 0; r < 24; r++) ck_assert_float_eq(v[r], 0);
    free(v);
}
END_TEST

START_TEST(a_normalised_tensor_is_two_launches)
{
    tn_tensor *x = ramp(TN_SHAPE(30, 20), 1, 1), *y = tn_div(x, tn_sqrt(tn_sum(tn_mul(x, x), TN_AXES(1), true)));
    float *v = NULL;
    ck_starts(2, v = values_of(y));
    for (int r = 0; r < 30; r++) {
        double sum = 0;
        for (int k = 0; k < 20; k++) sum += (double)(1 + r * 20 + k) * (1 + r * 20 + k);
        for (int k = 0; k < 20; k++) ck_near(v[r * 20 + k], (1 + r * 20 + k) / sqrt(sum));
    }
    free(v);
}
END_TEST

/* ---- matrices ---- */

START_TEST(a_layer_of_a_network_is_at_most_two_launches)
{
    static const int sizes[][3] = {{5, 7, 3}, {33, 64, 48}, {130, 100, 70}};
    for (int s = 0; s < 3; s++) {
        const int m = sizes[s][0], k = sizes[s][1], n = sizes[s][2];
        tn_tensor *x = ramp(TN_SHAPE(m, k), -2, 0.01), *w = ramp(TN_SHAPE(k, n), -1, 0.003), *b = ramp(TN_SHAPE(n), -40, 1);
        tn_tensor *y = tn_relu(tn_add(tn_matmul(x, w), b));
        float *v = NULL, *xv = values_of(x), *wv = values_of(w);
        ck_starts_at_most(2, v = values_of(y));
        for (int i = 0; i < m * n; i += 11) {
            double sum = -40.0 + i % n;
            for (int l = 0; l < k; l++) sum += (double)xv[i / n * k + l] * (double)wv[l * n + i % n];
            ck_assert_msg(fabs(v[i] - fmax(sum, 0)) < 1e-3, "element %d of %d x %d x %d: %g instead of %g", i, m, k, n, v[i], sum);
        }
        free(v);
        free(xv);
        free(wv);
    }
}
END_TEST

/* ---- an optimizer ---- */

enum { PARAMETERS = 20 };

typedef struct adam {
    tn_tensor *p[PARAMETERS], *m[PARAMETERS], *v[PARAMETERS], *g[PARAMETERS];
} adam;

/* 20 shapes, of 0 to 4 axes, 6 of them of one element. */
static tn_shape parameter_shape(int i)
{
    const tn_shape shapes[] = {TN_SHAPE(64, 32), TN_SHAPE(1),    TN_SHAPE(3, 3, 5, 7), TN_SHAPE(),  TN_SHAPE(1000),
                               TN_SHAPE(1, 1),   TN_SHAPE(2, 9), TN_SHAPE(17),         TN_SHAPE(5), TN_SHAPE(1, 31)};
    tn_shape s = shapes[i % 10];
    if (i >= 10)
        for (int k = 0; k < s.ndim; k++)
            if (s.dim[k] > 1) s.dim[k] += 2;
    return s;
}

static adam adam_start(const char *device)
{
    adam a;
    for (int i = 0; i < PARAMETERS; i++) {
        const tn_shape s = parameter_shape(i);
        a.p[i] = ck_made(tn_to(ramp(s, 1 + i, 0.125), device));
        a.g[i] = ck_made(tn_to(ramp(s, -1, 0.25), device));
        a.m[i] = ck_made(tn_to(ramp(s, 0.5, 0.0625), device));
        a.v[i] = ck_made(tn_to(ramp(s, 0.25, 0.5), device));
    }
    return a;
}

static void adam_step(adam *a, int step)
{
    tn_scope scope = tn_scope_push();
    tn_tensor *rate = tn_float(0.1 / (1 - pow(0.5, step))), *scale = tn_float(1 / sqrt(1 - pow(0.75, step)));
    for (int i = 0; i < PARAMETERS; i++) {
        tn_tensor *g = a->g[i];
        ck_ok(tn_assign(a->m[i], tn_add(tn_mul(a->m[i], tn_float(0.5)), tn_mul(g, tn_float(0.5)))));
        ck_ok(tn_assign(a->v[i], tn_add(tn_mul(a->v[i], tn_float(0.75)), tn_mul(tn_mul(g, g), tn_float(0.25)))));
        tn_tensor *root = tn_add(tn_mul(tn_sqrt(a->v[i]), scale), tn_float(1e-8));
        ck_ok(tn_assign(a->p[i], tn_sub(a->p[i], tn_div(tn_mul(a->m[i], rate), root))));
    }
    ck_ok(tn_scope_pop(scope));
}

static void adam_compare(const adam *a, const adam *reference)
{
    for (int i = 0; i < PARAMETERS; i++) {
        tn_tensor *const got[] = {a->p[i], a->m[i], a->v[i]}, *const want[] = {reference->p[i], reference->m[i], reference->v[i]};
        for (int k = 0; k < 3; k++) {
            float *g = values_of(got[k]), *w = values_of(want[k]);
            for (int64_t n = 0; n < tn_numel(got[k]); n++)
                ck_assert_msg(fabsf(g[n] - w[n]) <= 2e-6f * (1 + fabsf(w[n])), "parameter %d, %c[%d]: %.9g instead of %.9g", i,
                              "pmv"[k], (int)n, g[n], w[n]);
            free(g);
            free(w);
        }
    }
}

START_TEST(an_update_of_twenty_parameters_is_one_launch)
{
    adam a = adam_start(test_device()), reference = adam_start("host");
    uint64_t programs = 0;
    for (int step = 1; step <= 4; step++) {
        adam_step(&reference, step);
        ck_starts(0, adam_step(&a, step));
        ck_starts(1, {
            ck_ok(tn_realize(a.p, PARAMETERS));
            ck_ok(tn_finish(test_device()));
        });
        ck_starts(0, adam_compare(&a, &reference));
        const tn_device_info info = bones_info(test_device());
        /* Results of one launch share a buffer, so the second step is another program; then there are no more. */
        if (step > 2) ck_assert_uint_eq(info.programs_built + info.programs_loaded, programs);
        programs = info.programs_built + info.programs_loaded;
    }
}
END_TEST

START_TEST(the_gradients_of_an_update_are_fused_into_it)
{
    adam a = adam_start(test_device()), reference = adam_start("host");
    adam *const both[] = {&a, &reference};
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < PARAMETERS; i++) both[k]->g[i] = tn_clamp(tn_mul(both[k]->g[i], tn_float(0.5)), tn_int(-1), tn_int(1));
        adam_step(both[k], 1);
    }
    ck_starts(1, {
        ck_ok(tn_realize(a.p, PARAMETERS));
        ck_ok(tn_finish(test_device()));
    });
    adam_compare(&a, &reference);
}
END_TEST

/* ---- eager ---- */

START_TEST(eager_launches_each_operation)
{
    tn_tensor *x = ramp(TN_SHAPE(10, 10), 0, 1), *y = NULL;
    ck_ok(tn_set("eager", "1"));
    ck_starts(1, y = ck_made(tn_add(x, tn_int(1))));
    ck_assert(!tn_is_pending(y));
    ck_starts(1, y = ck_made(tn_mul(y, x)));
    ck_starts(0, y = ck_made(tn_transpose(y, 0, 1)));
    ck_starts(1, y = ck_made(tn_softmax(y, 0)));
    ck_starts(1, y = ck_made(tn_sum(y, TN_AXES(0), false)));
    ck_starts(3, y = ck_made(tn_relu(tn_neg(tn_add(y, tn_int(1))))));
    ck_assert(!tn_is_pending(y));
    ck_ok(tn_set("eager", NULL));
    float v[10];
    ck_starts(0, ck_ok(tn_read(y, v, sizeof v)));
    ck_assert_float_eq(v[9], 0);
}
END_TEST

START_TEST(finish_runs_what_no_pending_node_reads)
{
    tn_tensor *x = ramp(TN_SHAPE(50), 0, 1), *a = tn_add(x, tn_int(1)), *b = tn_mul(a, tn_int(2)), *c = tn_neg(a);
    ck_starts(1, ck_ok(tn_finish(test_device())));
    ck_assert(!tn_is_pending(b) && !tn_is_pending(c));
    ck_starts(0, ck_ok(tn_finish(test_device())));
    float *v = NULL;
    ck_starts(0, v = values_of(tn_reshape(c, TN_SHAPE(5, 10))));
    ck_assert_float_eq(v[49], -50);
    free(v);
}
END_TEST

START_TEST(what_nobody_asks_for_is_never_launched)
{
    tn_tensor *x = ramp(TN_SHAPE(50), 0, 1), *rows = tn_softmax(x, 0), *y = tn_exp(rows);
    ck_starts(0, {
        tn_release(rows);
        tn_release(y);
        ck_ok(tn_finish(test_device()));
    });
}
END_TEST

START_TEST(pieces_that_are_alike_are_joined_by_one_launch)
{
    tn_tensor *x = ramp(TN_SHAPE(300), 0, 1), *y = ramp(TN_SHAPE(45), -1, -1), *one = ramp(TN_SHAPE(1), 5000, 0), *z = NULL;
    tn_tensor *list[] = {x, one, y, x}, *rows[] = {x, x};
    ck_starts(1, z = ck_made(tn_concat(list, 4, 0)));
    float *v = values_of(z);
    for (int i = 0; i < 646; i++)
        ck_assert_float_eq(v[i], (float)(i < 300 ? i : i == 300 ? 5000 : i < 346 ? 300 - i : i - 346));
    free(v);
    ck_starts(1, z = ck_made(tn_stack(rows, 2, 0)));
    ck_starts(1, z = ck_made(tn_roll(x, TN_SHAPE(3), TN_AXES(0))));
    v = values_of(z);
    for (int i = 0; i < 300; i++) ck_assert_float_eq(v[i], (float)((i + 297) % 300));
    free(v);
}
END_TEST

static void set_up(void)
{
    bones_push();
    ck_ok(tn_device_probe(test_device()));
}

int main(void)
{
    const TTest *const tests[] = {
        a_chain_of_five_operations_is_one_launch,
        a_broadcast_chain_of_many_inputs_is_one_launch,
        casts_comparisons_and_choices_are_part_of_the_chain,
        filled_tensors_and_random_numbers_are_part_of_the_chain,
        two_wanted_results_of_one_input_are_one_launch,
        an_expression_read_twice_is_stored_the_second_time,
        a_kernel_takes_64_operations,
        nothing_of_no_elements_is_launched,
        views_launch_nothing,
        a_stored_window_without_gaps_is_read_without_a_launch,
        a_part_of_a_pending_chain_is_one_launch_over_that_part_alone,
        an_assignment_to_a_part_is_one_launch,
        a_softmax_over_16384_rows_of_1024_is_at_most_two_launches,
        a_softmax_with_producer_and_consumer_is_one_launch,
        a_reduction_takes_its_producer_and_its_consumer,
        a_normalised_tensor_is_two_launches,
        a_layer_of_a_network_is_at_most_two_launches,
        an_update_of_twenty_parameters_is_one_launch,
        the_gradients_of_an_update_are_fused_into_it,
        eager_launches_each_operation,
        finish_runs_what_no_pending_node_reads,
        what_nobody_asks_for_is_never_launched,
        pieces_that_are_alike_are_joined_by_one_launch,
    };
    void *found = dlsym(RTLD_DEFAULT, "count_launches"), *found_tasks = dlsym(RTLD_DEFAULT, "count_tasks");
    if (!found && !getenv("TENON_TEST_PRELOADED")) {
        setenv("TENON_TEST_PRELOADED", "1", 1);
        start_behind("test_launches", "count_launches.so libOpenCL.so.1");
    }
    memcpy(&outside, &found, sizeof outside);
    memcpy(&outside_tasks, &found_tasks, sizeof outside_tasks);
    return test_run("launches", set_up, bones_pop, tests, (int)(sizeof tests / sizeof tests[0]));
}
