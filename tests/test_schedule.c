/* Runs of the same structure share their plans: what a second run may do otherwise than the first, and what it may not. */
#include "bones.h"
#include "graph/graph.h"

#include <math.h>

/* Runs so far that planned nothing. */
static uint64_t repeats(void)
{
    tn__device *device = tn__device_use(test_device());
    const tn__graph *graph = device ? device->graph : NULL;
    return graph ? graph->repeats : 0;
}

/* The statement's runs are so many that were planned before. */
#define ck_repeats(count, statement)                                \
    do {                                                            \
        const uint64_t planned_ = repeats();                        \
        statement;                                                  \
        ck_assert_uint_eq(repeats() - planned_, (uint64_t)(count)); \
    } while (0)

static tn_tensor *counted(double first, int64_t n)
{
    return ck_made(tn_arange(TN_F32, first, first + (double)n, 1, test_device()));
}

/* A tensor with bytes: runs of its own do not count. */
static tn_tensor *stored(tn_tensor *x)
{
    ck_ok(tn_realize(&x, 1));
    return x;
}

/* On a stored device tensor and on its copy on host, the same. */
static void ck_as_on_host(tn_tensor *(*f)(tn_tensor *x, double number), tn_tensor *x, double number)
{
    tn_tensor *on_host = tn_host(x), *y = f(x, number), *z = f(on_host, number);
    ck_ok(tn_realize(&y, 1));
    ck_same(y, z);
    tn_tensor *all[] = {on_host, y, z};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) tn_release(all[i]);
}

static tn_tensor *chain(tn_tensor *x, double number)
{
    return tn_sub(tn_mul(tn_add(x, tn_float(number)), x), tn_sum(tn_mul(x, tn_float(number)), TN_ALL_AXES, false));
}

START_TEST(a_loop_plans_once_whatever_the_values_and_numbers)
{
    for (int i = 0; i < 5; i++) {
        tn_tensor *x = stored(counted(i, 24));
        ck_repeats(i > 0, ck_as_on_host(chain, x, 2 * i));
    }
}
END_TEST

START_TEST(a_hundred_dependent_operations_are_planned_once)
{
    tn_tensor *x = stored(counted(0, 8));
    for (int i = 0; i < 3; i++) {
        tn_tensor *y = x;
        for (int k = 0; k < 20; k++) y = tn_softmax(tn_mul(y, tn_float(i + 1)), 0);
        ck_repeats(i > 0, ck_launches(20, ck_ok(tn_realize(&y, 1))));
        tn_tensor *s = tn_sum(y, TN_ALL_AXES, false);
        double sum = 0;
        ck_ok(tn_item(s, &sum));
        ck_assert_msg(fabs(sum - 1) < 1e-5, "a sum of %g", sum);
    }
}
END_TEST

START_TEST(another_structure_is_planned_anew)
{
    tn_tensor *x = stored(counted(1, 24)), *y = stored(counted(3, 24)), *m = tn_reshape(x, TN_SHAPE(4, 6)),
              *n = tn_reshape(y, TN_SHAPE(4, 6)), *z = NULL;
    ck_ok(tn_realize((tn_tensor *[]){z = tn_mul(m, n)}, 1));
    ck_repeats(0, ck_ok(tn_realize((tn_tensor *[]){z = tn_mul(m, m)}, 1))); /* one operand twice */
    ck_tensor_f32(tn_slice(tn_flatten(z, 0, 1), 0, 0, 3, 1), {1, 4, 9});
    ck_repeats(0, ck_ok(tn_realize((tn_tensor *[]){z = tn_sub(m, n)}, 1))); /* an operation */
    ck_repeats(0,
               ck_ok(tn_realize((tn_tensor *[]){z = tn_mul(tn_slice(m, 0, 0, 3, 1), tn_slice(n, 0, 0, 3, 1))}, 1))); /* a shape */
    tn_tensor *turned = tn_transpose(tn_reshape(x, TN_SHAPE(6, 4)), 0, 1);
    ck_repeats(0, ck_ok(tn_realize((tn_tensor *[]){z = tn_mul(turned, n)}, 1))); /* strides */
    ck_tensor_f32(tn_flatten(tn_slice(z, 0, 0, 1, 1), 0, 1), {3, 20, 45, 78, 119, 168});
    tn_tensor *half = stored(tn_cast(m, TN_F16));
    ck_repeats(0, ck_ok(tn_realize((tn_tensor *[]){z = tn_mul(half, n)}, 1))); /* a dtype */
    ck_repeats(1, ck_ok(tn_realize((tn_tensor *[]){z = tn_mul(n, m)}, 1)));
    ck_tensor_f32(tn_flatten(tn_slice(z, 0, 0, 1, 1), 0, 1), {3, 8, 15, 24, 35, 48});
}
END_TEST

START_TEST(operands_that_share_memory_may_lie_elsewhere_together_only)
{
    tn_tensor *x = stored(counted(0, 64));
    for (int i = 0; i < 3; i++) {
        tn_tensor *a = tn_slice(x, 0, 3 * i, 3 * i + 8, 1), *b = tn_slice(x, 0, 3 * i + 2, 3 * i + 10, 1), *z = tn_mul(a, b);
        ck_repeats(i > 0, ck_ok(tn_realize(&z, 1)));
        const float f = 3 * (float)i;
        ck_tensor_f32(tn_slice(z, 0, 0, 2, 1), {f * (f + 2), (f + 1) * (f + 3)});
    }
    tn_tensor *z = tn_mul(tn_slice(x, 0, 1, 9, 1), tn_slice(x, 0, 4, 12, 1));
    ck_repeats(0, ck_ok(tn_realize(&z, 1)));
    ck_tensor_f32(tn_slice(z, 0, 0, 2, 1), {4, 10});
}
END_TEST

/* Batches of a data set: rows from somewhere on, through products with kept and turned operands. */
START_TEST(batches_of_a_data_set_share_their_plans)
{
    tn_tensor *data = stored(tn_reshape(counted(0, 40 * 16), TN_SHAPE(40, 16))),
              *w = stored(tn_ones(TN_F32, TN_SHAPE(16, 24), test_device()));
    tn_tensor *on_host = tn_host(data), *weights = tn_host(w);
    for (int i = 0; i < 5; i++) {
        tn_tensor *batch = tn_slice(data, 0, 8 * i, 8 * i + 8, 1), *y = tn_matmul(batch, w),
                  *gradient = tn_matmul(tn_transpose(batch, 0, 1), tn_mul(y, tn_float(0.5)));
        tn_tensor *hb = tn_slice(on_host, 0, 8 * i, 8 * i + 8, 1), *hy = tn_matmul(hb, weights),
                  *hg = tn_matmul(tn_transpose(hb, 0, 1), tn_mul(hy, tn_float(0.5)));
        ck_repeats(i > 0, ck_ok(tn_realize((tn_tensor *[]){y, gradient}, 2)));
        ck_same(y, hy);
        ck_same(gradient, hg);
    }
}
END_TEST

/* Kept panels belong to the values they were made of. */
START_TEST(weights_that_change_are_packed_anew)
{
    tn_tensor *x = stored(tn_reshape(counted(0, 8 * 64), TN_SHAPE(8, 64))),
              *w = stored(tn_ones(TN_F32, TN_SHAPE(64, 128), test_device()));
    for (int i = 0; i < 6; i++) {
        tn_tensor *y = tn_matmul(x, w);
        ck_ok(tn_realize(&y, 1));
        ck_tensor_f32(tn_slice(tn_select(y, 0, 0), 0, 126, 128, 1), {(float)(1 << i / 2) * 2016, (float)(1 << i / 2) * 2016});
        if (i % 2 == 1) ck_ok(tn_assign(w, tn_mul(w, tn_float(2))));
        stored(w);
    }
}
END_TEST

/* An update of two parameters is one launch as long as they have the same numbers. */
START_TEST(segments_have_their_own_numbers)
{
    tn_tensor *a = stored(counted(0, 5)), *b = stored(counted(10, 7));
    const double rates[4][2] = {{2, 2}, {3, 3}, {4, 5}, {6, 6}};
    for (int i = 0; i < 4; i++) {
        tn_tensor *y[] = {tn_add(tn_mul(a, tn_float(rates[i][0])), a), tn_add(tn_mul(b, tn_float(rates[i][1])), b)};
        ck_repeats(i % 2, ck_launches(i == 2 ? 2 : 1, ck_ok(tn_realize(y, 2))));
        ck_tensor_f32(tn_slice(y[0], 0, 0, 2, 1), {0, (float)rates[i][0] + 1});
        ck_tensor_f32(tn_slice(y[1], 0, 0, 1, 1), {10 * ((float)rates[i][1] + 1)});
    }
}
END_TEST

START_TEST(what_is_stored_depends_on_what_is_alive)
{
    tn_tensor *x = stored(counted(0, 6));
    for (int i = 0; i < 4; i++) {
        tn_tensor *values = NULL, *indices = NULL;
        ck_ok(tn_topk(tn_neg(x), 2, 0, true, &values, i % 2 ? &indices : NULL));
        ck_ok(tn_realize(&values, 1));
        ck_tensor_f32(values, {0, -1});
        if (indices) ck_launches(0, ck_tensor_i64(indices, {0, 1}));
    }
    for (int i = 0; i < 4; i++) { /* asked for twice, a value is stored */
        tn_tensor *y = tn_exp(tn_mul(x, tn_float(0))), *z = tn_add(y, tn_int(1)), *w = tn_add(y, tn_int(2));
        ck_ok(tn_realize(&z, 1));
        ck_assert(tn_is_pending(y));
        ck_ok(tn_realize(&w, 1));
        ck_assert(!tn_is_pending(y));
        ck_tensor_f32(y, {1, 1, 1, 1, 1, 1});
        ck_tensor_f32(w, {3, 3, 3, 3, 3, 3});
    }
}
END_TEST

START_TEST(each_run_draws_its_own_random_numbers)
{
    double last = -1;
    tn_tensor *host = NULL;
    tn_seed(7);
    for (int i = 0; i < 3; i++) {
        tn_tensor *x = tn_mul(tn_rand(TN_F32, TN_SHAPE(33), test_device()), tn_float(2));
        ck_repeats(i > 0, ck_ok(tn_realize(&x, 1)));
        host = tn_host(x);
        double first = 0;
        ck_ok(tn_item(tn_slice(host, 0, 0, 1, 1), &first));
        ck_assert(first != last);
        last = first;
    }
    tn_seed(7);
    for (int i = 0; i < 2; i++) (void)ck_made(tn_rand(TN_F32, TN_SHAPE(33), "host"));
    ck_same(host, tn_mul(tn_rand(TN_F32, TN_SHAPE(33), "host"), tn_float(2)));
}
END_TEST

START_TEST(a_run_that_fails_leaves_its_plans_usable)
{
    tn_tensor *x = stored(counted(0, 1 << 16));
    for (int i = 0; i < 4; i++) {
        tn_tensor *y = tn_softmax(tn_mul(x, tn_float(0)), 0);
        if (i == 2) {
            ck_ok(tn_memory_set_cache(test_device(), 0));
            ck_ok(tn_memory_set_limit(test_device(), 300000));
            ck_fails(tn_realize(&y, 1), TN_MEMORY, "limit 300000");
            ck_ok(tn_memory_set_limit(test_device(), 0));
        }
        ck_ok(tn_realize(&y, 1));
        ck_tensor_f32(tn_slice(y, 0, 65534, 65536, 1), {1.0f / 65536, 1.0f / 65536});
    }
}
END_TEST

START_TEST(more_structures_than_are_kept_are_right)
{
    tn_tensor *x = stored(counted(0, 2400));
    for (int round = 0; round < 2; round++)
        for (int64_t n = 2; n < 2400; n += test_long() || test_is("pocl") ? 1 : 7) {
            tn_tensor *y = tn_add(tn_slice(x, 0, 0, n, 1), tn_int(round)), *last = tn_slice(y, 0, n - 1, n, 1);
            ck_ok(tn_realize(&y, 1));
            double value = 0;
            ck_ok(tn_item(last, &value));
            ck_assert(value == (double)(n - 1 + round));
            tn_release(last);
            tn_release(y);
        }
    const tn__graph *graph = tn__device_use(test_device())->graph;
    ck_assert_int_le(graph->scheduled, 4096);
}
END_TEST

START_TEST(a_setting_makes_plans_anew)
{
    tn_tensor *x = stored(counted(0, 24));
    ck_as_on_host(chain, x, 3);
    ck_repeats(1, ck_as_on_host(chain, x, 3));
    ck_ok(tn_set("eager", "1"));
    ck_as_on_host(chain, x, 3);
    ck_ok(tn_set("eager", NULL));
    ck_as_on_host(chain, x, 3);
}
END_TEST

BONES_MAIN_AT_ONCE("schedule", a_loop_plans_once_whatever_the_values_and_numbers, a_hundred_dependent_operations_are_planned_once,
                   another_structure_is_planned_anew, operands_that_share_memory_may_lie_elsewhere_together_only,
                   batches_of_a_data_set_share_their_plans, weights_that_change_are_packed_anew, segments_have_their_own_numbers,
                   what_is_stored_depends_on_what_is_alive, each_run_draws_its_own_random_numbers,
                   a_run_that_fails_leaves_its_plans_usable, more_structures_than_are_kept_are_right, a_setting_makes_plans_anew)
