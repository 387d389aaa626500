/* What gradients cost: memory while and after, launches, deep graphs, lack of memory, threads, fork. Case numbers are those of the
 * shared list. */
#include "base/alloc.h"
#include "bones.h"

#include <pthread.h>

static tn_tensor *required(tn_tensor *x)
{
    ck_ok(tn_set_requires_grad(ck_made(x), true));
    return x;
}

static tn_tensor *filled(int64_t n, double value)
{
    return ck_made(tn_full(TN_F32, TN_SHAPE(n), tn_float(value), test_device()));
}

static tn_tensor *summed(tn_tensor *x)
{
    return tn_sum(x, TN_ALL_AXES, false);
}

static uint64_t in_use(void)
{
    ck_ok(tn_finish(test_device()));
    return bones_info(test_device()).memory_in_use;
}

#define ck_gradient(x, ...) ck_values(tn_grad_of(x), __VA_ARGS__)

/* ---- memory ---- */

enum { LARGE = 1 << 16, LARGE_BYTES = 4 * LARGE };

/* exp and the product save what they need; reading the loss stores it. */
static tn_tensor *loss_of(tn_tensor *x, int depth)
{
    tn_tensor *y = x;
    for (int i = 0; i < depth; i++) y = tn_cumsum(tn_mul(tn_exp(tn_neg(y)), y), 0);
    return tn_mean(y, TN_ALL_AXES, false);
}

START_TEST(after_a_backward_only_the_gradients_of_leaves_are_held)
{
    const tn_scope scope = tn_scope_push();
    tn_tensor *x = required(filled(LARGE, 0.001));
    bones_run(x);
    const int64_t handles = tn_live_count();
    const uint64_t before = in_use();
    const tn_scope inner = tn_scope_push();
    tn_tensor *y = ck_made(loss_of(x, 4));
    tn_keep(y);
    ck_ok(tn_scope_pop(inner));
    ck_assert_int_gt(tn_live_count(), handles + 4); /* what is saved */
    ck_ok(tn_backward(y));
    ck_assert_int_eq(tn_live_count(), handles + 2); /* y, and the gradient */
    tn_tensor *g = tn_grad_of(x);
    bones_run(g);
    tn_release(g);
    bones_run(y);
    ck_assert_uint_le(in_use(), before + LARGE_BYTES + 4096);
    ck_ok(tn_zero_grad(&x, 1));
    ck_assert_int_eq(tn_live_count(), handles + 1);
    ck_ok(tn_scope_pop(scope));
}
END_TEST

START_TEST(c54_steps_leave_nothing_behind)
{
    tn_tensor *w = required(filled(8, 1)), *x = filled(8, 2);
    double total = 0;
    int64_t handles = 0;
    uint64_t used = 0;
    const int steps = test_is("host") ? 1000 : 100;
    for (int i = 0; i < steps; i++) {
        if (i == 10) handles = tn_live_count(), used = in_use();
        const tn_scope scope = tn_scope_push();
        double value;
        tn_tensor *loss = summed(tn_mul(tn_mul(w, w), x));
        ck_ok(tn_backward(loss));
        const tn_scope quiet = tn_scope_push_no_grad();
        ck_ok(tn_assign(w, tn_sub(w, tn_mul(tn_grad_of(w), tn_float(0.01)))));
        ck_ok(tn_scope_pop(quiet));
        ck_ok(tn_zero_grad(&w, 1));
        ck_ok(tn_item(loss, &value));
        total += value;
        ck_ok(tn_scope_pop(scope));
    }
    ck_assert_int_eq(tn_live_count(), handles);
    ck_assert_uint_le(in_use(), used);
    ck_assert(total > 16 && total < 16 / (1 - 0.96 * 0.96) + 1);
}
END_TEST

static tn_tensor *doubled(tn_tensor *const *in, int count, void *user)
{
    (void)count, (void)user;
    return tn_mul(in[0], tn_add(in[1], in[1]));
}
static tn_tensor *halved(tn_tensor *g, void *user)
{
    (void)user;
    return tn_mul(g, tn_float(0.5));
}

static tn_status differentiate(tn_tensor *a, tn_tensor *b)
{
    tn_tensor *in[2] = {a, b}, *g[2];
    tn_tensor *y = tn_mul(tn_exp(tn_mul(a, b)), tn_checkpoint(doubled, in, 2, NULL)), *s = summed(tn_slice(y, 0, 0, 2, 1));
    if (!s || tn_add_grad_hook(y, halved, NULL) == 0) return tn_last_status();
    tn_status status = tn_backward_all(&s, NULL, 1, &(tn_backward_options){.retain = true});
    if (status == TN_OK) status = tn_backward(s);
    s = summed(tn_mul(a, tn_exp(a)));
    if (status == TN_OK) status = tn_grad(&s, NULL, 1, in, 1, g, &(tn_backward_options){.create = true});
    s = status == TN_OK ? summed(tn_mul(g[0], b)) : NULL;
    if (status == TN_OK) status = tn_backward(s);
    if (status == TN_OK) status = tn_assign(g[0], tn_int(1)); /* nothing sees it any more */
    return status;
}

/* A little of everything, whose n-th allocation fails (0: none), and all after it while sticky; with MEMORY and nothing else. */
static bool attempt(int64_t n, int sticky)
{
    const tn_scope scope = tn_scope_push();
    tn_tensor *a = required(filled(2, 0)), *b = required(filled(2, 3));
    tn__alloc_fail_after(n, sticky);
    const tn_status status = differentiate(a, b);
    tn__alloc_fail_after(0, 0);
    ck_assert(tn_grad_enabled());
    if (status == TN_OK) { /* 2 · (2 b² e⁰ / 2 + …) at a = 0 */
        ck_gradient(a, {2 * 3 + 2 * 3, 2 * 3 + 2 * 3});
        ck_gradient(b, {1, 1});
    }
    const tn_status end = tn_scope_pop(scope);
    ck_assert_msg(status == TN_OK || status == TN_MEMORY, "allocation %d: %s: %s", (int)n, tn_status_name(status), tn_last_error());
    ck_assert_msg(end == TN_OK || end == TN_MEMORY, "allocation %d: %s: %s", (int)n, tn_status_name(end), tn_last_error());
    tn_clear_error();
    return status == TN_OK && end == TN_OK;
}

START_TEST(every_allocation_on_the_way_back_may_fail)
{
    const int64_t handles = tn_live_count();
    ck_assert(attempt(0, 0)); /* builds its kernels */
    int count = 0;
    while (!attempt(++count, 1))
        ck_assert_msg(tn_live_count() == handles, "allocation %d, and all after it: handles are left", count);
    ck_assert_int_gt(count, 100);
    for (int n = 1; n < count; n++) {
        (void)attempt(n, 0);
        ck_assert_msg(tn_live_count() == handles, "allocation %d: %d handles are left", n, (int)(tn_live_count() - handles));
    }
    ck_assert(attempt(0, 0));
}
END_TEST

START_TEST(a_backward_beyond_the_memory_limit_says_so_and_can_be_done_later)
{
    tn_tensor *x = required(filled(LARGE, 0.001)), *y = loss_of(x, 2), *g = NULL;
    bones_run(x);
    bones_run(y);
    const int64_t handles = tn_live_count();
    ck_ok(tn_memory_empty_cache(test_device()));
    ck_ok(tn_memory_set_limit(test_device(), in_use() + LARGE_BYTES / 2));
    tn_status status = tn_backward_all(&y, NULL, 1, &(tn_backward_options){.retain = true});
    if (status == TN_OK) {
        g = tn_grad_of(x);
        status = tn_realize(&g, 1);
    }
    ck_assert_msg(status == TN_MEMORY && strstr(tn_last_error(), "limit"), "%s: %s", tn_status_name(status), tn_last_error());
    tn_clear_error();
    ck_ok(tn_memory_set_limit(test_device(), 0));
    tn_release(g);
    ck_ok(tn_zero_grad(&x, 1));
    ck_assert_int_eq(tn_live_count(), handles);
    ck_ok(tn_backward(y));
    bones_run(tn_grad_of(x));
}
END_TEST

/* ---- recomputation ---- */

enum { BLOCK = 1 << 12, BLOCK_BYTES = 4 * BLOCK };

static tn_tensor *deep_block(tn_tensor *const *in, int count, void *user)
{
    (void)count, (void)user;
    tn_tensor *y = in[0];
    for (int i = 0; i < 8; i++) y = tn_mul(tn_exp(tn_neg(y)), tn_cumsum(y, 0));
    return y;
}

/* Bytes held between forward and backward by eight blocks. */
static uint64_t held(bool checkpoints)
{
    const tn_scope scope = tn_scope_push();
    tn_tensor *x = required(filled(BLOCK, 1e-7)), *y = x;
    bones_run(x);
    const uint64_t before = in_use();
    const tn_scope inner = tn_scope_push();
    for (int i = 0; i < 8; i++) y = ck_made(checkpoints ? tn_checkpoint(deep_block, &y, 1, NULL) : deep_block(&y, 1, NULL));
    tn_keep(y);
    ck_ok(tn_scope_pop(inner));
    bones_run(y);
    const uint64_t more = in_use() - before;
    ck_ok(tn_backward(summed(y)));
    bones_run(tn_grad_of(x));
    ck_ok(tn_scope_pop(scope));
    return more;
}

START_TEST(checkpoints_hold_only_what_lies_between_them)
{
    TN_SKIP_IF(!test_is("host"), "elsewhere elementwise values are recomputed anyway");
    ck_assert_uint_ge(held(false), 8 * 8 * 2 * (uint64_t)BLOCK_BYTES);
    ck_assert_uint_le(held(true), 9 * (uint64_t)BLOCK_BYTES);
}
END_TEST

/* ---- deep graphs ---- */

typedef struct deep {
    int count;
    bool sums; /* alone: few kernels */
    double seconds;
    float gradient;
    tn_status status;
} deep;

static void *build_run_and_free(void *deep_)
{
    deep *d = deep_;
    const double start = tn__seconds();
    tn_tensor *x = tn_ones(TN_F32, TN_SHAPE(1), test_device()), *y = tn_retain(x);
    d->status = tn_set_requires_grad(x, true);
    for (int i = 0; i < d->count && y; i++) {
        tn_tensor *next = i % 2 || d->sums ? tn_add(y, x) : tn_mul(y, x);
        tn_release(y);
        y = next;
    }
    if (d->status == TN_OK) d->status = tn_backward(y);
    tn_release(y);
    tn_tensor *g = tn_grad_of(x);
    if (d->status == TN_OK) d->status = tn_read(g, &d->gradient, sizeof d->gradient);
    tn_release(g);
    tn_release(x);
    d->seconds = tn__seconds() - start;
    return NULL;
}

/* On host on a stack that deep recursion would leave at once; a driver's compiler needs more. */
START_TEST(c54_a_hundred_thousand_nodes_are_built_differentiated_and_freed_without_recursion)
{
    deep d = {.count = TEST_SANITIZED || !test_is("host") ? 20000 : 100000, .sums = !test_is("host")};
    const int64_t handles = tn_live_count();
    pthread_attr_t small;
    pthread_t thread;
    pthread_attr_init(&small);
    ck_assert_int_eq(pthread_attr_setstacksize(&small, !test_is("host") ? 1 << 23 : TEST_SANITIZED ? 1 << 20 : 1 << 17), 0);
    ck_assert_int_eq(pthread_create(&thread, &small, build_run_and_free, &d), 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&small);
    ck_ok(d.status);
    double value = 1, slope = 0;
    for (int i = 0; i < d.count; i++) {
        slope += i % 2 || d.sums ? 1 : value;
        value += i % 2 || d.sums;
    }
    ck_assert_float_le((float)((double)d.gradient / slope), 1.001f);
    ck_assert_float_ge((float)((double)d.gradient / slope), 0.999f);
    ck_assert_int_eq(tn_live_count(), handles);
    ck_assert_msg(d.seconds < 30, "%.1f s", d.seconds);
}
END_TEST

START_TEST(a_graph_is_freed_in_any_order)
{
    enum { COUNT = 200 };
    const int64_t handles = tn_live_count();
    for (uint64_t seed = 1; seed <= 5; seed++) {
        const tn_scope scope = tn_scope_push();
        tn_tensor *list[COUNT];
        test_random r = {test_seed(seed)};
        list[0] = required(filled(2, 1));
        for (int i = 1; i < COUNT; i++) list[i] = ck_made(tn_mul(list[test_below(&r, i)], list[test_below(&r, i)]));
        if (seed % 2) ck_ok(tn_backward(summed(list[COUNT - 1])));
        for (int left = COUNT; left > 0; left--) {
            const int64_t i = test_below(&r, left);
            tn_release(list[i]);
            list[i] = list[left - 1];
        }
        ck_ok(tn_scope_pop(scope));
        ck_assert_int_eq(tn_live_count(), handles);
    }
}
END_TEST

/* tn_grad asks for many inputs of a wide graph: no search of all for each. */
START_TEST(many_inputs_are_found_fast)
{
    enum { COUNT = 2000 };
    TN_SKIP_IF(!test_is("host"), "counts time on host");
    tn_tensor **in = malloc(2 * COUNT * sizeof *in), **g = in + COUNT, *y = NULL;
    const double start = tn__seconds();
    for (int i = 0; i < COUNT; i++) {
        in[i] = required(filled(1, i));
        tn_tensor *part = tn_mul(in[i], tn_mul(in[i], in[i / 2]));
        y = y ? tn_add(y, part) : part;
    }
    ck_ok(tn_grad(&y, NULL, 1, in, COUNT, g, NULL));
    ck_values(g[0], {1}); /* of x₁² x₀, besides x₀³ */
    ck_values(g[COUNT - 1], {2.0 * (COUNT - 1) * (COUNT / 2 - 1)});
    ck_assert_msg(tn__seconds() - start < 10, "%.1f s", tn__seconds() - start);
    free(in);
}
END_TEST

/* ---- launches ---- */

START_TEST(the_backward_of_an_elementwise_chain_is_one_launch)
{
    NEEDS_OPENCL();
    tn_tensor *x = required(filled(500, 0.5)), *w = required(filled(500, 2)), *up = filled(500, 1), *g[2];
    bones_run(x), bones_run(w), bones_run(up);
    tn_tensor *y = tn_tanh(tn_add(tn_mul(x, w), tn_exp(tn_neg(x))));
    ck_ok(tn_backward_all(&y, &up, 1, NULL));
    for (int i = 0; i < 2; i++) g[i] = tn_grad_of(i ? w : x);
    ck_launches(1, ck_ok(tn_realize(g, 2)));
}
END_TEST

START_TEST(each_broadcast_input_adds_one_reduction)
{
    NEEDS_OPENCL();
    tn_tensor *x = required(tn_full(TN_F32, TN_SHAPE(20, 30), tn_float(0.5), test_device())), *row = required(filled(30, 2));
    tn_tensor *column = required(tn_full(TN_F32, TN_SHAPE(20, 1), tn_float(0.5), test_device()));
    tn_tensor *up = tn_ones(TN_F32, TN_SHAPE(20, 30), test_device()), *g[3];
    bones_run(x), bones_run(row), bones_run(column), bones_run(up);
    tn_tensor *y = tn_tanh(tn_add(tn_mul(x, row), column));
    ck_ok(tn_backward_all(&y, &up, 1, NULL));
    g[0] = tn_grad_of(x), g[1] = tn_grad_of(row), g[2] = tn_grad_of(column);
    ck_launches(3, ck_ok(tn_realize(g, 3)));
}
END_TEST

/* ---- threads ---- */

enum { THREADS = 4 };

typedef struct worker {
    tn_tensor *shared[2];
    char wrong[200];
} worker;

static void check_gradient(worker *w, tn_tensor *g, float want)
{
    float got[4] = {0};
    if (!g || tn_read(g, got, sizeof got) != TN_OK)
        snprintf(w->wrong, sizeof w->wrong, "%s", tn_last_error());
    else if (got[0] != want || got[3] != want)
        snprintf(w->wrong, sizeof w->wrong, "%g instead of %g", (double)got[0], (double)want);
}

static void *with_graphs_of_its_own(void *worker_)
{
    for (int i = 0; i < 50; i++) {
        const tn_scope scope = tn_scope_push();
        tn_tensor *x = tn_ones(TN_F32, TN_SHAPE(4), test_device());
        if (tn_set_requires_grad(x, true) == TN_OK && tn_backward(summed(tn_mul(tn_mul(x, x), x))) == TN_OK)
            check_gradient(worker_, tn_grad_of(x), 3);
        (void)tn_scope_pop(scope);
    }
    return NULL;
}

/* Operations on shared leaves, and on a graph that is built already; gradients as values touch no leaf. */
static void *over_shared_leaves(void *worker_)
{
    worker *w = worker_;
    for (int i = 0; i < 50; i++) {
        const tn_scope scope = tn_scope_push();
        tn_tensor *y = summed(tn_mul(w->shared[1], w->shared[0])), *g = NULL;
        if (tn_grad(&y, NULL, 1, w->shared, 1, &g, &(tn_backward_options){.retain = true}) != TN_OK)
            snprintf(w->wrong, sizeof w->wrong, "%s", tn_last_error());
        else
            check_gradient(w, g, 3);
        (void)tn_scope_pop(scope);
    }
    return NULL;
}

static void run_threads(void *(*work)(void *), tn_tensor *leaf, tn_tensor *computed)
{
    pthread_t thread[THREADS];
    worker list[THREADS];
    for (int i = 0; i < THREADS; i++) {
        list[i] = (worker){{leaf, computed}, ""};
        ck_assert_int_eq(pthread_create(&thread[i], NULL, work, &list[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
    for (int i = 0; i < THREADS; i++) ck_assert_msg(!*list[i].wrong, "%s", list[i].wrong);
}

START_TEST(threads_differentiate_graphs_of_their_own)
{
    run_threads(with_graphs_of_its_own, NULL, NULL);
}
END_TEST

START_TEST(threads_take_gradients_of_shared_graphs_as_values)
{
    tn_tensor *x = required(tn_ones(TN_F32, TN_SHAPE(4), test_device())), *y = ck_made(tn_mul(x, x));
    run_threads(over_shared_leaves, x, y);
    ck_assert_ptr_eq(tn_grad_of(x), TN_NONE);
}
END_TEST

/* ---- fork ---- */

static atomic_bool stop_working;

static void *works_until_told(void *unused)
{
    worker w = {.wrong = ""};
    while (!atomic_load(&stop_working)) (void)with_graphs_of_its_own(&w);
    return unused;
}

START_TEST(a_forked_child_differentiates_on_host)
{
    pthread_t thread;
    TN_SKIP_IF(TEST_SANITIZED, "sanitizers do not fork with threads");
    ck_assert_int_eq(pthread_create(&thread, NULL, works_until_told, NULL), 0);
    for (int i = 0; i < 20; i++) {
        const pid_t child = fork();
        if (child == 0) {
            double got = 0;
            alarm(60);
            tn_tensor *x = tn_full(TN_F32, TN_SHAPE(1), tn_float(3), "host");
            const bool good = tn_set_requires_grad(x, true) == TN_OK && tn_backward(tn_mul(x, x)) == TN_OK;
            _exit(good && tn_item(tn_grad_of(x), &got) == TN_OK && got == 6 ? 0 : 1);
        }
        int status = 0;
        waitpid(child, &status, 0);
        ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child ended with %d", status);
    }
    atomic_store(&stop_working, true);
    pthread_join(thread, NULL);
}
END_TEST

BONES_MAIN("autograd_costs", after_a_backward_only_the_gradients_of_leaves_are_held, c54_steps_leave_nothing_behind,
           every_allocation_on_the_way_back_may_fail, a_backward_beyond_the_memory_limit_says_so_and_can_be_done_later,
           checkpoints_hold_only_what_lies_between_them,
           c54_a_hundred_thousand_nodes_are_built_differentiated_and_freed_without_recursion, a_graph_is_freed_in_any_order,
           many_inputs_are_found_fast, the_backward_of_an_elementwise_chain_is_one_launch, each_broadcast_input_adds_one_reduction,
           threads_differentiate_graphs_of_their_own, threads_take_gradients_of_shared_graphs_as_values,
           a_forked_child_differentiates_on_host)
