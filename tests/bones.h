/* What the suites of the bones share, beyond support/test.h: a scope around every test, counts of the device, and this program
 * again as a child with another environment. */
#ifndef BONES_H
#define BONES_H

#include "device/opencl/opencl.h"
#include "support/test.h"

#include <sys/wait.h>
#include <unistd.h>

static inline cl_int bones_keep_memory(cl_mem memory)
{
    (void)memory;
    return CL_SUCCESS;
}

/* To Oclgrind 21.10 all that a kernel has not stored is uninitialised once a kernel has stored something into the buffer, what the
 * host writes notwithstanding; and a new buffer takes over the marks of an old one. So none is used twice, none given back. */
static inline void bones_never_use_memory_twice(void)
{
    tn__device *device = tn__device_use(test_device());
    if (!device || device->is_host) return;
    ((tn__cl *)((tn__cl_device *)device->state)->cl)->ReleaseMemObject = bones_keep_memory;
    (void)tn_memory_set_cache(test_device(), 0);
}

static tn_scope bones_scope;

static inline void bones_push(void)
{
    tn_clear_error();
    if (test_is("oclgrind")) bones_never_use_memory_twice();
    bones_scope = tn_scope_push();
}

static inline void bones_pop(void)
{
    (void)tn_scope_pop(bones_scope);
    tn_clear_error();
}

static inline void bones_push_at_once(void)
{
    bones_push();
    test_at_once(true);
}

/* Every test runs in a scope of its own: what it makes goes at its end. */
#define BONES_MAIN(name, ...) TEST_MAIN(name, bones_push, bones_pop, __VA_ARGS__)
/* The same where it matters when something runs. */
#define BONES_MAIN_AT_ONCE(name, ...) TEST_MAIN(name, bones_push_at_once, bones_pop, __VA_ARGS__)

/* Whoever asks for counts looks at values at once. */
static inline tn_device_info bones_info(const char *device)
{
    tn_device_info info;
    test_at_once(true);
    memset(&info, 0, sizeof info);
    ck_ok(tn_device_query(device, &info));
    return info;
}

/* Kernels the device under test has started so far. */
static inline uint64_t bones_launches(void)
{
    return bones_info(test_device()).launches;
}

/* The statement starts so many kernels; on host there are none. */
#define ck_launches(count, statement)                                                                       \
    do {                                                                                                    \
        const uint64_t before_ = bones_launches();                                                          \
        statement;                                                                                          \
        const uint64_t more_ = bones_launches() - before_, want_ = test_is("host") ? 0 : (uint64_t)(count); \
        ck_assert_msg(more_ == want_, "%s: %d launches instead of %d", #statement, (int)more_, (int)want_); \
    } while (0)

#define ck_has(text, part) ck_assert_msg(strstr((text), (part)) != NULL, "\"%s\" lacks \"%s\"", (text), (part))

/* The statement and the reading of x, to run it. */
static inline void bones_run(tn_tensor *x)
{
    tn_tensor *const list[] = {ck_made(x)};
    ck_ok(tn_realize(list, 1));
}

/* 0, 1, 2, … of a dtype in this shape, on a device. */
static inline tn_tensor *bones_count(tn_dtype dtype, tn_shape shape, const char *device)
{
    int64_t n = 1;
    for (int i = 0; i < shape.ndim; i++) n *= shape.dim[i];
    return ck_made(tn_reshape(tn_arange(dtype, 0, (double)n, 1, device), shape));
}

/* The same in i32 on the device under test, recorded and not computed: minus 1, plus 1. */
static inline tn_tensor *bones_pending(tn_shape shape)
{
    return ck_made(tn_add(tn_sub(bones_count(TN_I32, shape, test_device()), tn_int(1)), tn_int(1)));
}

/* ---- children: this program again, in a process of its own, in the role that BONES_ROLE names ---- */

typedef struct bones_role {
    const char *name;
    int (*run)(void);
} bones_role;

/* Exit status of the role, or 128 and the signal. Settings: "NAME=value" or "NAME" to unset, NULL at the end. What the child prints
 * on standard output comes into text. */
static inline int bones_child(const char *role, const char *const *settings, char *text, size_t size)
{
    int ends[2], status = 0;
    size_t length = 0;
    ck_assert_int_eq(pipe(ends), 0);
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], 1);
        close(ends[0]);
        close(ends[1]);
        setenv("BONES_ROLE", role, 1);
        alarm(300); /* a child that hangs ends by itself */
        for (; settings && *settings; settings++) {
            char name[64];
            const char *equals = strchr(*settings, '=');
            snprintf(name, sizeof name, "%.*s", (int)strcspn(*settings, "="), *settings);
            if (equals ? setenv(name, equals + 1, 1) : unsetenv(name)) _exit(126);
        }
        execl("/proc/self/exe", "test", (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    for (;;) {
        char piece[512];
        const ssize_t n = read(ends[0], piece, sizeof piece);
        if (n <= 0) break;
        for (ssize_t i = 0; i < n; i++)
            if (text && length + 1 < size) text[length++] = piece[i];
    }
    if (text && size) text[length] = '\0';
    close(ends[0]);
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* In a role: what is not true ends the process with 1, and a line on standard error. */
#define EXPECT(condition)                                                                        \
    do {                                                                                         \
        if (!(condition)) {                                                                      \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #condition, tn_last_error()); \
            return 1;                                                                            \
        }                                                                                        \
    } while (0)

/* In main: the role that is asked for, or -1. */
static inline int bones_run_role(const bones_role *roles)
{
    const char *name = getenv("BONES_ROLE");
    for (; name && roles->name; roles++)
        if (strcmp(roles->name, name) == 0) return roles->run();
    return -1;
}

/* BONES_MAIN for a suite with roles, an array that ends with {NULL, NULL}. */
#define BONES_MAIN_WITH_ROLES(name, roles, set_up, ...)                                         \
    int main(void)                                                                              \
    {                                                                                           \
        const TTest *const tests[] = {__VA_ARGS__};                                             \
        const int role = bones_run_role(roles);                                                 \
        if (role >= 0) return role;                                                             \
        return test_run(name, set_up, bones_pop, tests, (int)(sizeof tests / sizeof tests[0])); \
    }

#endif
