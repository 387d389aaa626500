/* Several threads at once: bone 18, and what belongs to a thread alone (errors, scopes, creation scopes). All of it clean under
 * ThreadSanitizer. Checks inside threads go through NEED: Check's own would leave by a jump out of the thread. */
#include <pthread.h>

#include "bones.h"

/* ---- threads ---- */

enum { THREADS = 8 };

typedef struct worker {
    int index;
    void *shared;    /* the same for all */
    char wrong[300]; /* what did not hold */
    void (*work)(struct worker *w);
    pthread_t thread;
} worker;

static pthread_barrier_t together;

static void *start(void *worker_)
{
    worker *w = worker_;
    pthread_barrier_wait(&together);
    w->work(w);
    return NULL;
}

static void run_threads(int count, void (*work)(worker *w), void *shared)
{
    worker list[THREADS];
    ck_assert_int_le(count, THREADS);
    pthread_barrier_init(&together, NULL, (unsigned)count);
    for (int i = 0; i < count; i++) {
        list[i] = (worker){.index = i, .shared = shared, .work = work};
        ck_assert_int_eq(pthread_create(&list[i].thread, NULL, start, &list[i]), 0);
    }
    for (int i = 0; i < count; i++) pthread_join(list[i].thread, NULL);
    pthread_barrier_destroy(&together);
    for (int i = 0; i < count; i++) ck_assert_msg(!*list[i].wrong, "thread %d: %s", i, list[i].wrong);
}

/* In a thread: what does not hold is told, and ends its work. Scopes it left open go with the thread's last pop. */
#define NEED(condition, ...)                                                                                      \
    do {                                                                                                          \
        if (!(condition)) {                                                                                       \
            const int at_ = snprintf(w->wrong, sizeof w->wrong, "line %d: %s: ", __LINE__, #condition);           \
            if (at_ < (int)sizeof w->wrong) snprintf(w->wrong + at_, sizeof w->wrong - (size_t)at_, __VA_ARGS__); \
            (void)tn_scope_pop((tn_scope){1});                                                                    \
            return;                                                                                               \
        }                                                                                                         \
    } while (0)
#define NEED_OK(status) NEED((status) == TN_OK, "%s", tn_last_error())

/* Threads that fail to reach a meeting would leave the others there for good, so it is only between parts that cannot fail. */
static void meet(void)
{
    pthread_barrier_wait(&together);
}

static int rounds(int plain)
{
    const int fewer = TEST_TSAN ? plain / 10 : plain;
    return test_is("host") ? fewer : fewer / 5;
}

enum { N = 16 };

static tn_tensor *counting(int start_at)
{
    int32_t values[N];
    for (int i = 0; i < N; i++) values[i] = start_at + i;
    return tn_from(TN_I32, TN_SHAPE(N), values, test_device());
}

/* ---- computing ---- */

static void add_constants(worker *w)
{
    tn_tensor *x = w->shared;
    for (int i = 0; i < rounds(10000); i++) {
        int32_t got[N];
        const int32_t constant = w->index * 1000003 + i;
        const tn_scope scope = tn_scope_push();
        NEED_OK(tn_read(tn_add(x, tn_int(constant)), got, sizeof got));
        for (int k = 0; k < N; k++) NEED(got[k] == k + constant, "element %d is %d instead of %d", k, got[k], k + constant);
        NEED_OK(tn_scope_pop(scope));
    }
}

START_TEST(C57_eight_threads_add_their_own_constants)
{
    run_threads(THREADS, add_constants, ck_made(counting(0)));
}
END_TEST

static void first_use(worker *w)
{
    int32_t got[N];
    const tn_scope scope = tn_scope_push();
    NEED_OK(tn_read(tn_mul(counting(w->index), tn_int(w->index + 2)), got, sizeof got));
    for (int k = 0; k < N; k++) NEED(got[k] == (w->index + k) * (w->index + 2), "element %d is %d", k, got[k]);
    NEED_OK(tn_scope_pop(scope));
}

START_TEST(C57_the_first_use_may_be_a_race)
{
    for (int i = 0; i < (TEST_TSAN ? 1 : 3); i++) {
        ck_ok(tn_shutdown());
        run_threads(THREADS, first_use, NULL);
        const tn_device_info info = bones_info(test_device());
        if (test_is("host")) continue;
        ck_assert_uint_eq(info.programs_built + info.programs_loaded, 2); /* the probe's and the product's, once each */
        ck_assert_uint_eq(info.launches, THREADS + 1);
    }
}
END_TEST

static void mixed_operations(worker *w)
{
    float got[6];
    for (int i = 0; i < rounds(400); i++) {
        const tn_scope scope = tn_scope_push();
        const float values[] = {1, 2, 3, 4, 5, (float)(w->index + i)}, last = values[5];
        tn_tensor *x = tn_from(TN_F32, TN_SHAPE(2, 3), values, test_device());
        switch ((w->index + i) % 4) {
        case 0:
            NEED_OK(tn_read(tn_sum(x, TN_AXES(1), false), got, 8));
            NEED(got[0] == 6 && got[1] == 9 + last, "sums %g %g", (double)got[0], (double)got[1]);
            break;
        case 1:
            NEED_OK(tn_read(tn_matmul(x, tn_transpose(x, 0, 1)), got, 16));
            NEED(got[0] == 14 && got[1] == 14 + 3 * last && got[3] == 41 + last * last, "product %g %g %g %g", (double)got[0],
                 (double)got[1], (double)got[2], (double)got[3]);
            break;
        case 2:
            NEED_OK(tn_read(tn_contiguous(tn_flip(tn_add(x, x), TN_AXES(0, 1))), got, 24));
            NEED(got[0] == 2 * last && got[5] == 2, "flipped %g … %g", (double)got[0], (double)got[5]);
            break;
        default:
            NEED_OK(tn_read(tn_sum(tn_softmax(x, 1), TN_AXES(1), false), got, 8));
            NEED(got[0] > 0.99999f && got[1] < 1.00001f, "sums of softmax %g %g", (double)got[0], (double)got[1]);
        }
        NEED_OK(tn_scope_pop(scope));
    }
}

START_TEST(different_kernels_run_side_by_side)
{
    run_threads(THREADS, mixed_operations, NULL);
}
END_TEST

/* Two kernels' bounds of operations; all threads together stay below the bound of pending nodes. */
static void long_chain(worker *w)
{
    enum { OPERATIONS = 150 };
    const tn_scope scope = tn_scope_push();
    int32_t got[N];
    tn_tensor *y = tn_add(w->shared, tn_int(w->index + 1000));
    for (int i = 0; i < OPERATIONS; i++) y = tn_add(y, tn_int(1));
    NEED_OK(tn_read(y, got, sizeof got));
    for (int k = 0; k < N; k++) NEED(got[k] == k + w->index + 1000 + OPERATIONS, "element %d is %d", k, got[k]);
    NEED_OK(tn_scope_pop(scope));
}

START_TEST(chains_are_cut_in_several_threads_at_once)
{
    run_threads(THREADS, long_chain, ck_made(counting(0)));
}
END_TEST

/* Short, so that what one thread's bound runs of the others is no program of its own: all together are more than may be pending. */
static void many_results(worker *w)
{
    enum { RESULTS = 600 };
    tn_tensor *list[RESULTS];
    const tn_scope scope = tn_scope_push();
    for (int i = 0; i < RESULTS; i++) NEED(list[i] = tn_add(w->shared, tn_int(1000 * w->index + i)), "%s", tn_last_error());
    for (int i = w->index; i < RESULTS; i += 60) {
        int32_t got[N];
        NEED_OK(tn_read(list[i], got, sizeof got));
        for (int k = 0; k < N; k++) NEED(got[k] == k + 1000 * w->index + i, "element %d of %d is %d", k, i, got[k]);
    }
    NEED_OK(tn_scope_pop(scope));
}

START_TEST(more_than_may_be_pending_is_recorded_by_several_threads)
{
    run_threads(THREADS, many_results, ck_made(counting(0)));
}
END_TEST

/* ---- one pending tensor ---- */

static void read_it(worker *w)
{
    int32_t got[N];
    NEED_OK(tn_read(w->shared, got, sizeof got));
    for (int k = 0; k < N; k++) NEED(got[k] == 3 * k + 7, "element %d is %d", k, got[k]);
}

START_TEST(a_pending_tensor_that_all_read_is_computed_once)
{
    tn_tensor *x = ck_made(counting(0));
    for (int i = 0; i < rounds(100); i++) ck_launches(1, run_threads(THREADS, read_it, tn_add(tn_mul(x, tn_int(3)), tn_int(7))));
}
END_TEST

static void read_a_row(worker *w)
{
    int32_t got[N];
    const tn_scope scope = tn_scope_push();
    NEED_OK(tn_read(tn_select(w->shared, 0, w->index), got, sizeof got));
    for (int k = 0; k < N; k++) NEED(got[k] == -(w->index * N + k), "element %d is %d", k, got[k]);
    NEED_OK(tn_scope_pop(scope));
}

START_TEST(views_of_one_pending_tensor_are_made_and_read_by_all)
{
    tn_tensor *x = bones_count(TN_I32, TN_SHAPE(THREADS, N), test_device());
    for (int i = 0; i < rounds(100); i++) run_threads(THREADS, read_a_row, tn_neg(x));
}
END_TEST

/* Tensors that all share, a reference for each thread: element k of tensor i is 3 k + i + 10. */
enum { TENSORS = 8 };

typedef struct common {
    tn_tensor *base, *list[TENSORS];
    bool finish;
} common;

static void use_and_release(worker *w)
{
    const common *c = w->shared;
    const tn_scope scope = tn_scope_push();
    for (int i = 0; i < TENSORS; i++) {
        const int which = (i + w->index) % TENSORS;
        tn_tensor *x = c->list[which];
        int32_t got[N];
        switch ((i + w->index) % 5) {
        case 0: /* records, and reads what it recorded */
            NEED_OK(tn_read(tn_sub(tn_add(x, tn_int(w->index + 100)), c->base), got, sizeof got));
            for (int k = 0; k < N; k++) NEED(got[k] == 2 * k + which + w->index + 110, "element %d of %d is %d", k, which, got[k]);
            break;
        case 1: /* reads */
            NEED_OK(tn_read(x, got, sizeof got));
            for (int k = 0; k < N; k++) NEED(got[k] == 3 * k + which + 10, "element %d of %d is %d", k, which, got[k]);
            break;
        case 2: /* records what nobody reads */ (void)!tn_mul(tn_neg(x), x); break;
        case 3: NEED_OK(tn_realize(&x, 1)); break;
        default: /* through a view */
            NEED_OK(tn_read(tn_slice(x, 0, 3, 5, 1), got, 8));
            NEED(got[0] == 19 + which && got[1] == 22 + which, "view of %d: %d %d", which, got[0], got[1]);
        }
        tn_release(x);
    }
    if (c->finish && w->index == 3) NEED_OK(tn_finish(test_device()));
    NEED_OK(tn_scope_pop(scope));
}

START_TEST(threads_record_on_read_and_release_what_they_share)
{
    for (int round = 0; round < rounds(200); round++) {
        const int64_t alive = tn_live_count();
        const tn_scope scope = tn_scope_push();
        common c = {.base = tn_retain(ck_made(counting(0))), .finish = round % 20 == 19};
        tn_tensor *part = ck_made(tn_mul(c.base, tn_int(3)));
        for (int i = 0; i < TENSORS; i++) {
            c.list[i] = ck_made(tn_add(part, tn_int(i + 10)));
            for (int k = 0; k < THREADS; k++) (void)tn_retain(c.list[i]);
        }
        ck_ok(tn_scope_pop(scope)); /* the threads hold the last references */
        run_threads(THREADS, use_and_release, &c);
        tn_release(c.base);
        ck_assert_int_eq(tn_live_count(), alive);
    }
}
END_TEST

/* ---- writing ---- */

static void assign_or_compute(worker *w)
{
    tn_tensor *const *list = w->shared;
    int32_t got[N];
    for (int i = 1; i <= rounds(400); i++) {
        const tn_scope scope = tn_scope_push();
        if (w->index < 3) { /* writers, each of its own */
            tn_tensor *p = list[w->index];
            if (i % 4 == 3)
                NEED_OK(tn_assign(tn_slice(p, 0, 0, 8, 1), tn_add(tn_slice(p, 0, 0, 8, 1), list[3])));
            else
                NEED_OK(tn_assign(tn_slice(p, 0, 0, 8, 1), tn_add(tn_slice(p, 0, 0, 8, 1), tn_int(1))));
            NEED_OK(tn_assign(p, tn_add(p, tn_int(w->index))));
            if (i % 7 == 0) {
                NEED_OK(tn_read(p, got, sizeof got));
                for (int k = 0; k < N; k++) {
                    const int want = k + i * w->index + (k < 8 ? i : 0);
                    NEED(got[k] == want, "round %d: element %d is %d instead of %d", i, k, got[k], want);
                }
            }
        } else {
            NEED_OK(tn_read(tn_mul(list[4], tn_int(i)), got, sizeof got));
            for (int k = 0; k < N; k++) NEED(got[k] == k * i, "round %d: element %d is %d", i, k, got[k]);
        }
        NEED_OK(tn_scope_pop(scope));
    }
}

START_TEST(threads_assign_to_their_own_tensors_while_others_compute)
{
    tn_tensor *list[5];
    for (int i = 0; i < 3; i++) list[i] = ck_made(counting(0));
    list[3] = ck_made(tn_ones(TN_I32, TN_SHAPE(8), test_device()));
    list[4] = ck_made(tn_add(counting(-5), tn_int(5)));
    run_threads(THREADS, assign_or_compute, list);
}
END_TEST

static void write_and_move(worker *w)
{
    for (int i = 0; i < rounds(300); i++) {
        const tn_scope scope = tn_scope_push();
        int32_t values[N], got[N];
        for (int k = 0; k < N; k++) values[k] = w->index * 1000 + i + k;
        tn_tensor *x = tn_zeros(TN_I32, TN_SHAPE(N), test_device());
        NEED_OK(tn_write(x, values, sizeof values));
        memset(values, 0xff, sizeof values); /* data may be reused on return */
        tn_tensor *y = tn_to(tn_add(tn_host(x), tn_int(1)), test_device());
        NEED_OK(tn_read(tn_add(y, x), got, sizeof got));
        for (int k = 0; k < N; k++) NEED(got[k] == 2 * (w->index * 1000 + i + k) + 1, "element %d is %d", k, got[k]);
        NEED_OK(tn_scope_pop(scope));
    }
}

START_TEST(threads_write_and_move_at_once)
{
    run_threads(THREADS, write_and_move, NULL);
}
END_TEST

/* ---- memory ---- */

START_TEST(what_threads_used_is_free_again)
{
    ck_ok(tn_finish(test_device()));
    const uint64_t before = bones_info(test_device()).memory_in_use;
    const int64_t alive = tn_live_count();
    run_threads(THREADS, mixed_operations, NULL);
    ck_ok(tn_finish(test_device()));
    ck_assert_int_eq(tn_live_count(), alive);
    ck_assert_uint_eq(bones_info(test_device()).memory_in_use, before);
}
END_TEST

static void until_it_is_full(worker *w)
{
    for (int i = 0; i < rounds(200); i++) {
        const tn_scope scope = tn_scope_push();
        float got = 0;
        tn_tensor *x = tn_contiguous(tn_add(tn_ones(TN_F32, TN_SHAPE(100000), test_device()), tn_float(w->index)));
        tn_tensor *const list[] = {x};
        const tn_status status = x ? tn_realize(list, 1) : tn_last_status();
        if (status == TN_OK) {
            NEED_OK(tn_read(tn_slice(x, 0, 99999, 100000, 1), &got, sizeof got));
            NEED(got == (float)(1 + w->index), "%g", (double)got);
        } else {
            NEED(status == TN_MEMORY && strstr(tn_last_error(), "limit"), "%s", tn_last_error());
        }
        (void)tn_scope_pop(scope);
        tn_clear_error();
    }
}

START_TEST(threads_that_share_too_little_memory_are_refused_or_right)
{
    ck_ok(tn_finish(test_device()));
    ck_ok(tn_memory_set_limit(test_device(), bones_info(test_device()).memory_in_use + 3 * 400000));
    run_threads(THREADS, until_it_is_full, NULL);
    ck_ok(tn_memory_set_limit(test_device(), 0));
}
END_TEST

/* ---- what is a thread's own ---- */

static void fail_differently(worker *w)
{
    char part[16];
    snprintf(part, sizeof part, "[%d]", w->index + 2);
    tn_tensor *a = tn_ones(TN_F32, TN_SHAPE(w->index + 2), test_device()), *b = tn_ones(TN_F32, TN_SHAPE(100), test_device());
    tn_tensor *c = w->index == 0 ? tn_add(a, a) : tn_add(a, b);
    meet(); /* all have failed, but the first */
    const bool failed = c == NULL;
    tn_release(a);
    tn_release(b);
    tn_release(c);
    NEED(failed == (w->index != 0), "%s", tn_last_error());
    NEED((tn_last_status() == TN_SHAPE) == failed, "%s", tn_last_error());
    if (failed)
        NEED(strstr(tn_last_error(), part), "%s", tn_last_error());
    else
        NEED(*tn_last_error() == '\0', "%s", tn_last_error());
    if (w->index == 1) tn_clear_error();
    meet();
    NEED((tn_last_status() == TN_SHAPE) == (w->index > 1), "%s", tn_last_error());
}

START_TEST(errors_belong_to_their_thread)
{
    run_threads(THREADS, fail_differently, NULL);
    ck_assert_int_eq(tn_last_status(), TN_OK);
    ck_assert_str_eq(tn_last_error(), "");
}
END_TEST

static void scopes_of_its_own(worker *w)
{
    const tn_scope outer = tn_scope_push(), inner = tn_scope_push();
    for (int i = 0; i < 10; i++) (void)!tn_add(tn_int(i), tn_float(1));
    if (w->index % 2) (void)!tn_reshape(w->shared, TN_SHAPE(3));
    tn_tensor *kept = tn_keep(tn_int(w->index));
    meet();
    const tn_status status = tn_scope_pop(inner);
    meet();
    double value = -1;
    const tn_status read = tn_item(kept, &value);
    const tn_status last = tn_scope_pop(outer);
    NEED(outer.depth == 0 || outer.depth == inner.depth - 1, "%d %d", outer.depth, inner.depth);
    NEED(status == (w->index % 2 ? TN_SHAPE : TN_OK), "%s", tn_status_name(status));
    NEED(read == TN_OK && value == w->index, "%g", value);
    NEED(last == status, "%s", tn_status_name(last)); /* the failure lay in the outer scope, too */
}

START_TEST(scopes_belong_to_their_thread)
{
    tn_tensor *x = ck_made(counting(0));
    const tn_scope scope = tn_scope_push();
    const int64_t alive = tn_live_count();
    run_threads(THREADS, scopes_of_its_own, x);
    ck_assert_int_eq(tn_live_count(), alive);
    ck_assert_int_eq(tn_scope_pop(scope), TN_OK);
}
END_TEST

static void creation_scopes(worker *w)
{
    const char *const wanted = w->index % 3 == 0 ? test_device() : "host";
    char current[32] = "", of[32] = "";
    const tn_status pushed = w->index % 3 == 2 ? TN_OK : tn_device_push(wanted);
    meet();
    tn_tensor *x = tn_zeros(TN_F32, TN_SHAPE(1), NULL);
    snprintf(current, sizeof current, "%s", tn_device_current());
    snprintf(of, sizeof of, "%s", tn_device_of(x));
    tn_release(x);
    meet();
    const tn_status popped = w->index % 3 == 2 ? TN_OK : tn_device_pop(), again = tn_device_pop();
    NEED(pushed == TN_OK && popped == TN_OK, "%s", tn_last_error());
    NEED(strcmp(current, wanted) == 0 && strcmp(of, wanted) == 0, "%s and %s instead of %s", current, of, wanted);
    NEED(again == TN_ARGUMENT, "%s", tn_status_name(again));
}

START_TEST(C58_creation_scopes_belong_to_their_thread)
{
    ck_ok(tn_device_push(test_device()));
    run_threads(THREADS, creation_scopes, NULL);
    ck_assert_str_eq(tn_device_current(), test_device());
    ck_ok(tn_device_pop());
}
END_TEST

static void auto_move(worker *w)
{
    const bool before = tn_auto_move(w->index % 2);
    meet();
    const tn_scope scope = tn_scope_push();
    tn_tensor *x = counting(0), *y = tn_zeros(TN_I32, TN_SHAPE(N), "host"), *z = tn_add(x, y);
    const bool made = z != NULL, other = !test_is("host");
    const uint64_t moved = tn_auto_move_count();
    (void)tn_scope_pop(scope);
    tn_clear_error();
    NEED(!before, "it was on");
    NEED(made == (w->index % 2 || !other), "%s", made ? "it was moved" : "it was not moved");
    NEED(moved == (uint64_t)(w->index % 2 && other), "%d copies", (int)moved);
}

START_TEST(auto_move_belongs_to_its_thread)
{
    run_threads(THREADS, auto_move, NULL);
    ck_assert(!tn_auto_move(false));
}
END_TEST

static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static int log_lines;

static void log_line(int level, const char *line, void *user)
{
    (void)user;
    pthread_mutex_lock(&log_lock);
    log_lines += level > 0 && *line != '\0';
    pthread_mutex_unlock(&log_lock);
}

static void log_and_work(worker *w)
{
    if (w->index == 0)
        for (int i = 0; i < 200; i++) tn_set_log(i % 2 ? log_line : NULL, NULL);
    else if (w->index == 1)
        for (int i = 0; i < 200; i++) NEED_OK(tn_set("eager", i % 2 ? "1" : "0"));
    else
        first_use(w);
}

START_TEST(settings_change_while_others_work)
{
    ck_ok(tn_shutdown());
    run_threads(THREADS, log_and_work, NULL);
    tn_set_log(NULL, NULL);
    ck_ok(tn_set("eager", NULL));
}
END_TEST

/* ---- processes ---- */

static bool right(tn_tensor *x, int32_t first)
{
    int32_t got[N];
    if (tn_read(x, got, sizeof got) != TN_OK) return false;
    for (int k = 0; k < N; k++)
        if (got[k] != first + k) return false;
    return true;
}

static tn_tensor *counting_on(const char *device, int first)
{
    int32_t values[N];
    for (int i = 0; i < N; i++) values[i] = first + i;
    return tn_from(TN_I32, TN_SHAPE(N), values, device);
}

static int status_of(pid_t child)
{
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* In the child: the OpenCL device answers with an error at once, host works. */
static int after_use(tn_tensor *stored, tn_tensor *pending)
{
    const bool host = test_is("host");
    int32_t got[N];
    EXPECT(right(tn_add(counting_on("host", 1), tn_int(2)), 3));
    if (host) EXPECT(right(tn_add(stored, tn_int(2)), 2) && right(pending, 1));
    if (host) return 0;
    EXPECT(tn_read(pending, got, sizeof got) == TN_DEVICE && strstr(tn_last_error(), "fork"));
    tn_clear_error();
    EXPECT(tn_read(stored, got, sizeof got) == TN_DEVICE && strstr(tn_last_error(), "fork") && strstr(tn_last_error(), "host"));
    tn_clear_error();
    EXPECT(tn_read(tn_add(stored, tn_int(1)), got, sizeof got) == TN_DEVICE);
    tn_clear_error();
    EXPECT(counting_on(test_device(), 0) == NULL && tn_last_status() == TN_DEVICE && strstr(tn_last_error(), "fork"));
    tn_clear_error();
    EXPECT(tn_finish(test_device()) == TN_DEVICE);
    tn_clear_error();
    tn_release(pending); /* calls nothing of OpenCL */
    tn_release(stored);
    EXPECT(right(tn_mul(counting_on("host", 1), tn_int(1)), 1));
    return 0;
}

static int fork_after(void)
{
    tn_tensor *stored = counting_on(test_device(), 0), *pending = tn_add(stored, tn_int(1));
    EXPECT(right(tn_add(stored, tn_int(9)), 9));
    const pid_t child = fork();
    if (child == 0) _exit(after_use(stored, pending));
    EXPECT(status_of(child) == 0);
    EXPECT(right(pending, 1) && right(stored, 0)); /* the parent goes on */
    return 0;
}

static int fork_before(void)
{
    const pid_t child = fork();
    if (child == 0) _exit(right(tn_add(counting_on(test_device(), 0), tn_int(5)), 5) ? 0 : 1);
    EXPECT(status_of(child) == 0);
    EXPECT(right(tn_add(counting_on(test_device(), 0), tn_int(6)), 6));
    return 0;
}

static int add(void)
{
    EXPECT(right(tn_add(counting_on(test_device(), 0), tn_int(7)), 7));
    return 0;
}

static int fork_and_exec(void)
{
    EXPECT(right(tn_add(counting_on(test_device(), 0), tn_int(6)), 6));
    const pid_t child = fork();
    if (child == 0) {
        setenv("BONES_ROLE", "add", 1);
        execl("/proc/self/exe", "test", (char *)NULL);
        _exit(127);
    }
    EXPECT(status_of(child) == 0);
    return 0;
}

/* Threads are at work while the process is forked. */
static void *work_until(void *stop)
{
    while (!__atomic_load_n((int *)stop, __ATOMIC_ACQUIRE)) {
        const tn_scope scope = tn_scope_push();
        if (!right(tn_add(counting_on(test_device(), 0), tn_int(3)), 3)) return NULL;
        (void)tn_scope_pop(scope);
    }
    return stop;
}

/* In the child, which no lock of the parent's threads may stop. */
static int among_threads(tn_tensor *stored)
{
    int32_t got[N];
    if (test_is("host")) return 0;
    alarm(10);
    EXPECT(tn_read(stored, got, sizeof got) == TN_DEVICE && strstr(tn_last_error(), "fork"));
    EXPECT(tn_add(stored, tn_int(1)) == NULL && tn_last_status() == TN_DEVICE);
    tn_release(stored);
    return 0;
}

static int fork_among_threads(void)
{
    enum { FORKS = 60 };
    pthread_t threads[3];
    int stop = 0, forks = 0, hung = 0;
    tn_tensor *stored = counting_on(test_device(), 0);
    EXPECT(right(tn_add(stored, tn_int(3)), 3));
    for (int i = 0; i < 3; i++) EXPECT(pthread_create(&threads[i], NULL, work_until, &stop) == 0);
    for (; forks < FORKS && hung == 0; forks++) {
        const pid_t child = fork();
        if (child == 0) _exit(among_threads(stored));
        hung = child < 0 ? -1 : status_of(child);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELEASE); /* before anything else ends */
    bool well = true;
    for (int i = 0; i < 3; i++) {
        void *result = NULL;
        pthread_join(threads[i], &result);
        well = well && result == &stop;
    }
    if (hung) fprintf(stderr, "child %d of %d ended with %d (142: it hung)\n", forks, (int)FORKS, hung);
    EXPECT(hung == 0);
    EXPECT(well);
    return 0;
}

START_TEST(C56_after_fork_OpenCL_answers_with_an_error_and_host_works)
{
    TN_SKIP_IF(TEST_TSAN, "ThreadSanitizer and fork do not go together");
    ck_assert_int_eq(bones_child("fork_after", NULL, NULL, 0), 0);
}
END_TEST

START_TEST(C56_before_the_first_use_a_fork_changes_nothing)
{
    TN_SKIP_IF(TEST_TSAN, "ThreadSanitizer and fork do not go together");
    ck_assert_int_eq(bones_child("fork_before", NULL, NULL, 0), 0);
}
END_TEST

START_TEST(C56_a_fork_with_exec_is_a_process_of_its_own)
{
    TN_SKIP_IF(TEST_TSAN, "ThreadSanitizer and fork do not go together");
    ck_assert_int_eq(bones_child("fork_and_exec", NULL, NULL, 0), 0);
}
END_TEST

START_TEST(C56_a_fork_among_working_threads_does_not_hang)
{
    TN_SKIP_IF(TEST_TSAN, "ThreadSanitizer and fork do not go together");
    ck_assert_int_eq(bones_child("fork_among_threads", NULL, NULL, 0), 0);
}
END_TEST

/* Each role in a scope: it leaves nothing behind. */
static int in_scope(int (*role)(void))
{
    const tn_scope scope = tn_scope_push();
    const int result = role();
    (void)tn_scope_pop(scope);
    (void)tn_shutdown();
    return result;
}

static int role_fork_after(void)
{
    return in_scope(fork_after);
}

static int role_fork_before(void)
{
    return in_scope(fork_before);
}

static int role_fork_and_exec(void)
{
    return in_scope(fork_and_exec);
}

static int role_fork_among_threads(void)
{
    return in_scope(fork_among_threads);
}

static int role_add(void)
{
    return in_scope(add);
}

static const bones_role roles[] = {{"fork_after", role_fork_after},
                                   {"fork_before", role_fork_before},
                                   {"fork_and_exec", role_fork_and_exec},
                                   {"fork_among_threads", role_fork_among_threads},
                                   {"add", role_add},
                                   {NULL, NULL}};

BONES_MAIN_WITH_ROLES("threads", roles, bones_push, C57_eight_threads_add_their_own_constants, C57_the_first_use_may_be_a_race,
                      different_kernels_run_side_by_side, chains_are_cut_in_several_threads_at_once,
                      more_than_may_be_pending_is_recorded_by_several_threads, a_pending_tensor_that_all_read_is_computed_once,
                      views_of_one_pending_tensor_are_made_and_read_by_all, threads_record_on_read_and_release_what_they_share,
                      threads_assign_to_their_own_tensors_while_others_compute, threads_write_and_move_at_once,
                      what_threads_used_is_free_again, threads_that_share_too_little_memory_are_refused_or_right,
                      errors_belong_to_their_thread, scopes_belong_to_their_thread, C58_creation_scopes_belong_to_their_thread,
                      auto_move_belongs_to_its_thread, settings_change_while_others_work,
                      C56_after_fork_OpenCL_answers_with_an_error_and_host_works, C56_before_the_first_use_a_fork_changes_nothing,
                      C56_a_fork_with_exec_is_a_process_of_its_own, C56_a_fork_among_working_threads_does_not_hang)
