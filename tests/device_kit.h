/* What the suites of the device layer share: a clean start for each test, the stand-in drivers of tests/preload, children,
 * and a main that counts. */
#ifndef DEVICE_KIT_H
#define DEVICE_KIT_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <tenon/base.h>
#include <tenon/device.h>
#include <unistd.h>

#include "device/device.h"

#define FAKE_ICD TN_TEST_BUILD_DIR "/tests/preload/fake_icd.so"
#define OLD_ICD TN_TEST_BUILD_DIR "/tests/preload/old_icd.so"

static int kit_skipped;

static inline const char *kit_device(void)
{
    const char *name = getenv("TENON_TEST_DEVICE");
    return name ? name : "host";
}

static inline int kit_is(const char *config)
{
    const char *name = getenv("TENON_TEST_CONFIG");
    return name && strcmp(name, config) == 0;
}

static inline int kit_skip(const char *test, const char *reason)
{
    const size_t length = strlen(test);
    const int suffix = length > 3 && strcmp(test + length - 3, "_fn") == 0 ? 3 : 0; /* Check adds it */
    printf("SKIP %.*s: %s\n", (int)length - suffix, test, reason);
    kit_skipped++;
    return 1;
}
/* Leaves the test, counted and with its reason, when the condition holds. */
#define SKIP_IF(condition, reason) \
    if ((condition) && kit_skip(__func__, reason)) return

#define NEEDS_OPENCL() SKIP_IF(strcmp(kit_device(), "host") == 0, "needs an OpenCL device")
#define NEEDS_FAKE() SKIP_IF(kit_is("oclgrind"), "an interposer's entry points come before any library")
#define NEEDS_REAL_BEHIND_FAKE() \
    NEEDS_OPENCL();              \
    NEEDS_FAKE()

/* ---- log ---- */

static char kit_log_text[1 << 16];
static pthread_mutex_t kit_log_lock = PTHREAD_MUTEX_INITIALIZER;

static inline void kit_log(int level, const char *line, void *user)
{
    (void)user;
    pthread_mutex_lock(&kit_log_lock);
    const size_t used = strlen(kit_log_text);
    snprintf(kit_log_text + used, sizeof kit_log_text - used, "[%d] %s\n", level, line);
    pthread_mutex_unlock(&kit_log_lock);
}

static inline int kit_log_count(const char *part)
{
    int count = 0;
    for (const char *p = strstr(kit_log_text, part); p; p = strstr(p + 1, part)) count++;
    return count;
}

/* ---- start and end of a test ---- */

static inline void kit_begin(void)
{
    static const char *const settings[] = {"device", "opencl", "devices", "profile", "memory_limit", "cache_dir", "tuning", "kernel_dir"};
    static const char *const fakes[] = {"FAKE_PLATFORMS", "FAKE_ALONE", "FAKE_FAIL", "FAKE_LOG",
                                        "FAKE_DRIVER",    "FAKE_GROUP", "FAKE_TOTAL", "FAKE_C"};
    for (size_t i = 0; i < sizeof fakes / sizeof *fakes; i++) unsetenv(fakes[i]);
    tn_shutdown();
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) tn_set(settings[i], NULL);
    tn_clear_error();
    kit_log_text[0] = '\0';
    tn_set_log(kit_log, NULL);
}

static inline void kit_end(void)
{
    tn_set_log(NULL, NULL);
}

/* Uses the stand-in from now on, with these platforms in front of the real ones; "" for none. */
static inline void kit_fake(const char *platforms)
{
    ck_assert_int_eq(tn_set("opencl", FAKE_ICD), TN_OK);
    setenv("FAKE_PLATFORMS", platforms, 1);
}

#define ck_assert_has(text, part) \
    ck_assert_msg(strstr((text), (part)) != NULL, "\"%s\" lacks \"%s\"", (text), (part))

/* ---- the device under test ---- */

static const char kit_add_text[] = "__kernel void add(__global const float *a, __global float *b, float c)\n"
                                   "{\n"
                                   "    const size_t i = get_global_id(0);\n"
                                   "    b[i] = a[i] + c;\n"
                                   "}\n";

/* b = a + c on the device for 100 floats, read back and checked. */
static inline tn_status kit_add(tn__device *device, float c)
{
    float a[100], b[100] = {0};
    for (int i = 0; i < 100; i++) a[i] = (float)i;
    tn__kernel *kernel = tn__kernel_get(device, kit_add_text, strlen(kit_add_text), "add");
    if (!kernel) return tn_last_status();
    tn__buffer *from = tn__buffer_new(device, sizeof a), *to = tn__buffer_new(device, sizeof b);
    tn_status status = from && to ? TN_OK : tn_last_status();
    const tn__argument arguments[] = {{.buffer = from}, {.buffer = to}, {.size = 4, .value.f32 = c}};
    if (status == TN_OK) status = tn__buffer_write(from, 0, a, sizeof a);
    if (status == TN_OK) status = tn__launch(kernel, arguments, 3, 100, 1);
    if (status == TN_OK) status = tn__buffer_read(to, 0, b, sizeof b);
    for (int i = 0; status == TN_OK && i < 100; i++)
        if (b[i] != a[i] + c) status = tn__fail(TN_INTERNAL, "element %d is %g, not %g", i, b[i], a[i] + c);
    tn__buffer_release(from);
    tn__buffer_release(to);
    return status;
}

/* The device, open. */
static inline tn__device *kit_use(const char *name)
{
    tn__device *device = tn__device_use(name);
    ck_assert_msg(device != NULL, "%s: %s", name, tn_last_error());
    return device;
}

/* ---- children: this program again, in a process of its own ---- */

typedef struct kit_role {
    const char *name;
    int (*run)(void);
} kit_role;

/* The exit status of the role, or 128 and the signal. */
static inline int kit_run_role(const char *role)
{
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        execl("/proc/self/exe", "test", "--role", role, (char *)NULL);
        _exit(127);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* In a role: what is not true ends the process with its line number, at most 125. */
#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "line %d: %s: %s\n", __LINE__, #condition, tn_last_error());           \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)

static inline int kit_main(int argc, char **argv, const char *name, const TTest *const *tests, int count, const kit_role *roles)
{
    for (const kit_role *r = roles; argc == 3 && r && r->name; r++)
        if (strcmp(argv[2], r->name) == 0) return r->run();
    Suite *suite = suite_create(name);
    TCase *all = tcase_create(name);
    tcase_set_timeout(all, 120);
    tcase_add_checked_fixture(all, kit_begin, kit_end);
    for (int i = 0; i < count; i++) tcase_add_test(all, tests[i]);
    suite_add_tcase(suite, all);
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_NORMAL);
    const int run = srunner_ntests_run(runner), failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    tn_shutdown();
    printf("TENON-CASES suite=%s device=%s passed=%d skipped=%d\n", name, kit_device(), run - failed - kit_skipped, kit_skipped);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
