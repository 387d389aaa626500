#include "support/compare.h"

#include "core/dtype.h"
#include "device/opencl/opencl.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

/* ---- where and how ---- */

static const char *environment(const char *name, const char *otherwise)
{
    const char *value = getenv(name);
    return value && *value ? value : otherwise;
}

const char *test_device(void)
{
    return environment("TENON_TEST_DEVICE", "host");
}

const char *test_config(void)
{
    return environment("TENON_TEST_CONFIG", test_device());
}

bool test_is(const char *name)
{
    return strcmp(name, test_config()) == 0 || strcmp(name, test_device()) == 0;
}

bool test_has_f64(void)
{
    tn_device_info info;
    return tn_device_query(test_device(), &info) == TN_OK && info.fp64;
}

bool test_long(void)
{
    return !TEST_SANITIZED && strcmp(environment("TENON_TEST_LONG", "0"), "0") != 0;
}

bool test_takes(int i, int n)
{
    static const char *const turns[] = {"pocl", "rusticl", "pocl-wide", "rusticl-deep", "oclgrind", "intel"};
    const int count = (int)(sizeof turns / sizeof turns[0]);
    int turn = 0;
    while (turn < count && strcmp(turns[turn], test_config()) != 0) turn++;
    if (strchr(test_config(), '-')) n *= 2;
    if (test_long()) n = turn == 0 || n < 8 ? 1 : n / 8; /* all on PoCL */
    return turn == count || (i + turn) % n == 0;
}

uint64_t test_seed(uint64_t otherwise)
{
    const char *seed = environment("TENON_TEST_SEED", NULL);
    return seed ? strtoull(seed, NULL, 0) : otherwise;
}

/* ---- running ---- */

enum { TEST_SECONDS = 120 };

static struct {
    const char *suite;
    const TTest *test; /* the running one */
    int passed, skipped;
    int cases;       /* the running test counted by itself */
    bool skip;       /* the running test asked to be skipped */
    bool left_out;   /* it could not have some of its cases */
    bool finished;   /* it came to its end */
    int64_t handles; /* alive when it began */
    uint64_t programs; /* built on the device when it began */
    uint64_t built;    /* by all tests */
    double began;
} run;

const char *test_name(void)
{
    return run.test ? run.test->name : "";
}

static void print_skip(const char *reason)
{
    printf("TENON-SKIP suite=%s test=%s reason=%s\n", run.suite, test_name(), reason);
    fflush(stdout);
}

void test_cases_skipped(int count, const char *reason)
{
    if (count <= 0) return;
    print_skip(reason);
    run.left_out = true;
    run.skipped += count;
}

void test_skipped(const char *reason)
{
    print_skip(reason);
    run.skip = true;
}

/* Async-signal-safe: only write and abort. */
static void too_long(int number)
{
    static const char text[] = "\nWATCHDOG: this test hangs: ";
    (void)number;
    const char *name = run.test ? run.test->name : "(none)";
    if (write(2, text, sizeof text - 1) < 0 || write(2, name, strlen(name)) < 0 || write(2, "\n", 1) < 0) _exit(134);
    signal(SIGABRT, SIG_DFL);
    abort();
}

static unsigned allowed_seconds(void)
{
    unsigned seconds = (unsigned)strtoul(environment("TENON_TEST_TIMEOUT", "0"), NULL, 10);
    if (seconds == 0) seconds = test_long() ? 0 : TEST_SECONDS;
    return TEST_SANITIZED ? 3 * seconds : seconds;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void test_case_passed(void)
{
    run.cases++;
    if (alarm(0)) alarm(allowed_seconds()); /* it does not hang */
}

/* What stands in for each test's function; run.test is the real one. */
static const TTest *const *all_tests;

static uint64_t programs_built(void)
{
    tn_device_info info;
    return tn_device_query(test_device(), &info) == TN_OK ? info.programs_built : 0;
}

static void run_one(int index)
{
    run.test = all_tests[index];
    run.handles = tn_live_count();
    run.programs = programs_built();
    run.began = now();
    run.cases = 0;
    run.skip = run.left_out = run.finished = false;
    sigaction(SIGALRM, &(const struct sigaction){.sa_handler = too_long}, NULL); /* Check takes it for itself */
    alarm(allowed_seconds());
    run.test->fn(0);
    test_look();
    run.finished = true;
}

static void check_nothing_is_left(void)
{
    const tn_scope scope = tn_scope_push();
    const int depth = scope.depth;
    (void)tn_scope_pop((tn_scope){1}); /* all of them */
    tn_clear_error();
    if (!run.finished) return;
    ck_assert_msg(depth == 1, "%s: %d scopes were left open", run.test->name, depth - 1);
    const int64_t more = tn_live_count() - run.handles;
    ck_assert_msg(more == 0, "%s: %lld handles were not released", run.test->name, (long long)more);
    run.skipped += run.skip;
    run.passed += run.cases ? run.cases : !run.skip && !run.left_out;
}

/* The device counts anew after tn_shutdown. */
static void count_programs(void)
{
    const uint64_t all = programs_built(), more = all < run.programs ? all : all - run.programs;
    run.built += more;
    if (*environment("TENON_TEST_TRACE", "")) fprintf(stderr, "-- %s: %d programs, %.1f s\n", run.test->name, (int)more, now() - run.began);
}

/* Kernels of the library call only what kernels/declarations.cl has: whatever it lacks costs PoCL's users 300 ms. */
static void check_declarations(void)
{
    const tn__device *device = tn__device_use(test_device());
    if (!run.finished || !device || device->is_host) return;
    const unsigned count = atomic_load(&((const tn__cl_device *)device->state)->undeclared);
    ck_assert_msg(count == 0, "%s: %u programs need more than kernels/declarations.cl has", run.test->name, count);
}

static void at_end(void)
{
    alarm(0);
    test_look_away();
    if (run.test && now() - run.began > 10) printf("  %s: %.1f s\n", run.test->name, now() - run.began);
    if (run.test) count_programs();
    if (run.test) check_nothing_is_left();
    if (run.test) check_declarations();
    run.test = NULL;
}

int test_run(const char *name, void (*set_up)(void), void (*tear_down)(void), const TTest *const *tests, int count)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    run.suite = name;
    all_tests = tests;
    TTest *stand_in = calloc((size_t)count, sizeof *stand_in);
    Suite *suite = suite_create(name);
    const char *only = environment("TENON_TEST_ONLY", "");
    for (int i = 0; i < count; i++) {
        if (!strstr(tests[i]->name, only)) continue;
        TCase *one = tcase_create(test_config());
        tcase_set_timeout(one, 0);
        tcase_add_checked_fixture(one, NULL, at_end); /* teardowns run from the last to the first */
        if (set_up || tear_down) tcase_add_checked_fixture(one, set_up, tear_down);
        stand_in[i] = *tests[i];
        stand_in[i].fn = run_one;
        tcase_add_loop_test(one, &stand_in[i], i, i + 1);
        suite_add_tcase(suite, one);
    }
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_NORMAL);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    free(stand_in);
    tn_shutdown();
    printf("TENON-CASES suite=%s device=%s passed=%d skipped=%d", name, test_config(), run.passed, run.skipped);
    if (!test_is("host")) printf(" programs=%llu", (unsigned long long)run.built);
    printf("\n");
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* ---- failures ---- */

void test_ok(tn_status status, const char *what, const char *file, int line)
{
    if (status != TN_OK) FAIL_AT(file, line, "%s is %s: %s", what, tn_status_name(status), tn_last_error());
}

void test_realize(tn_tensor *const *list, size_t count)
{
    (void)tn_realize(list, (int)count);
}

tn_tensor *test_made(tn_tensor *x, const char *what, const char *file, int line)
{
    if (!x) FAIL_AT(file, line, "%s is NULL: %s: %s", what, tn_status_name(tn_last_status()), tn_last_error());
    return x;
}

bool test_is_error(tn_status status)
{
    return status != TN_OK;
}

bool test_is_negative(int value)
{
    return value < 0;
}

bool test_is_minus(int64_t value)
{
    return value <= 0;
}

bool test_is_zero(uint64_t value)
{
    return value == 0;
}

bool test_is_false(bool value)
{
    return !value;
}

bool test_is_null(const void *handle)
{
    return handle == NULL;
}

void test_failed(bool failed, const char *what, tn_status code, const char *const *words, const char *file, int line)
{
    if (!failed) FAIL_AT(file, line, "%s does not fail", what);
    if (tn_last_status() != code)
        FAIL_AT(file, line, "%s fails with %s instead of %s: %s", what, tn_status_name(tn_last_status()), tn_status_name(code),
                tn_last_error());
    for (; *words; words++)
        if (!strstr(tn_last_error(), *words)) FAIL_AT(file, line, "%s: no \"%s\" in \"%s\"", what, *words, tn_last_error());
    tn_clear_error();
}

/* ---- tensors ---- */

static size_t elements(tn_shape shape)
{
    size_t n = 1;
    for (int i = 0; i < shape.ndim && i < TN_MAX_AXES; i++) n *= (size_t)shape.dim[i];
    return n;
}

tn_tensor *test_tensor_of(tn_dtype dtype, tn_shape shape, const void *values, size_t count, const char *file, int line)
{
    if (elements(shape) != count) FAIL_AT(file, line, "the shape has %zu elements, the list %zu", elements(shape), count);
    return test_made(tn_from(dtype, shape, values, test_device()), "tn_from", file, line);
}

tn_tensor *test_tensor_from(tn_dtype dtype, tn_shape shape, const double *values, size_t count, const char *file, int line)
{
    char *bytes = malloc(count * 8 + 8);
    for (size_t i = 0; i < count; i++) test_store(dtype, bytes + i * tn_dtype_size(dtype), values[i]);
    tn_tensor *x = elements(shape) == count ? tn_from(dtype, shape, bytes, test_device()) : NULL;
    free(bytes);
    if (elements(shape) != count) FAIL_AT(file, line, "the shape has %zu elements, the list %zu", elements(shape), count);
    return test_made(x, "tn_from", file, line);
}
