/* Buffers, limits, threads, processes and the end. */
#include <pthread.h>

#include "base/alloc.h"
#include "device_kit.h"

static tn_device_info info_of(const char *name)
{
    tn_device_info info;
    ck_assert_int_eq(tn_device_query(name, &info), TN_OK);
    return info;
}

/* ---- limits ---- */

START_TEST(C51_one_byte_too_many_is_a_memory_error_with_the_numbers)
{
    tn__device *device = kit_use(kit_device());
    const uint64_t most = device->info.memory_allocation;
    char number[32];
    snprintf(number, sizeof number, "%llu", (unsigned long long)most);
    ck_assert_ptr_null(tn__buffer_new(device, most + 1));
    ck_assert_int_eq(tn_last_status(), TN_MEMORY);
    ck_assert_has(tn_last_error(), kit_device());
    ck_assert_has(tn_last_error(), "one allocation");
    ck_assert_has(tn_last_error(), number);
    ck_assert_has(tn_last_error(), "in use 0");
    ck_assert_has(tn_last_error(), "cached");
    ck_assert_ptr_null(tn__buffer_new(device, UINT64_MAX));
    ck_assert_int_eq(tn_last_status(), TN_MEMORY);
}
END_TEST

START_TEST(C51_above_the_limit_it_fails_and_works_again_once_something_is_free)
{
    enum { MIB = 1 << 20 };
    tn__buffer *held[16];
    int count = 0;
    tn_set("memory_limit", "8M");
    tn__device *device = kit_use(kit_device());
    while (count < 16 && (held[count] = tn__buffer_new(device, MIB)) != NULL) count++;
    ck_assert_int_eq(count, 8);
    ck_assert_int_eq(tn_last_status(), TN_MEMORY);
    ck_assert_has(tn_last_error(), "limit 8388608");
    ck_assert_uint_eq(info_of(kit_device()).memory_in_use, 8 * MIB);
    for (int i = 0; i < 4; i++) tn__buffer_release(held[i]);
    tn__buffer *again = tn__buffer_new(device, 4 * MIB); /* what is cached must make room */
    ck_assert_ptr_nonnull(again);
    tn__buffer_release(again);
    for (int i = 4; i < 8; i++) tn__buffer_release(held[i]);
    ck_assert_uint_eq(info_of(kit_device()).memory_in_use, 0);
    ck_assert_uint_eq(info_of(kit_device()).memory_peak, 8 * MIB);
}
END_TEST

START_TEST(the_limit_of_one_device_leaves_host_alone)
{
    NEEDS_OPENCL();
    tn__device *device = kit_use(kit_device());
    ck_assert_int_eq(tn_memory_set_limit(kit_device(), 4096), TN_OK);
    ck_assert_ptr_null(tn__buffer_new(device, 8192));
    tn__buffer *buffer = tn__buffer_new(kit_use("host"), 8192);
    ck_assert_ptr_nonnull(buffer);
    tn__buffer_release(buffer);
    ck_assert_int_eq(tn_memory_set_limit(kit_device(), 0), TN_OK);
    buffer = tn__buffer_new(device, 8192);
    ck_assert_ptr_nonnull(buffer);
    tn__buffer_release(buffer);
}
END_TEST

static tn__buffer *pressed_out;
static int presses;

static bool press(tn__device *device)
{
    (void)device;
    presses++;
    tn__buffer_release(pressed_out);
    pressed_out = NULL;
    return true;
}

START_TEST(under_pressure_what_is_pending_runs_unless_the_thread_is_running)
{
    tn__device *device = kit_use(kit_device());
    tn_memory_set_limit(kit_device(), 1 << 20);
    pressed_out = tn__buffer_new(device, 1 << 20);
    presses = 0;
    tn__set_pressure_hook(press);
    tn__pressure_pause(true);
    ck_assert_ptr_null(tn__buffer_new(device, 4096));
    ck_assert_int_eq(presses, 0);
    tn__pressure_pause(false);
    tn__buffer *buffer = tn__buffer_new(device, 4096);
    ck_assert_ptr_nonnull(buffer);
    ck_assert_int_eq(presses, 1);
    tn__set_pressure_hook(NULL);
    tn__buffer_release(buffer);
}
END_TEST

START_TEST(C51_the_drivers_own_codes_are_lack_of_memory)
{
    static const int codes[] = {-61, -4, -5, -6};
    NEEDS_REAL_BEHIND_FAKE();
    kit_fake("");
    tn__device *device = kit_use(kit_device());
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        char fail[40];
        snprintf(fail, sizeof fail, "clCreateBuffer:%d", codes[i]);
        setenv("FAKE_FAIL", fail, 1);
        ck_assert_ptr_null(tn__buffer_new(device, 5000));
        ck_assert_int_eq(tn_last_status(), TN_MEMORY);
        snprintf(fail, sizeof fail, "clCreateBuffer:%d:1", codes[i]); /* once: another try does it */
        setenv("FAKE_FAIL", fail, 1);
        tn__buffer *buffer = tn__buffer_new(device, 6000 + 1000 * i);
        ck_assert_ptr_nonnull(buffer);
        tn__buffer_release(buffer);
    }
}
END_TEST

/* ---- the cache ---- */

START_TEST(C52_the_cache_is_bounded_counted_and_can_be_emptied_and_turned_off)
{
    tn__device *device = kit_use(kit_device());
    ck_assert_int_eq(tn_memory_set_cache(kit_device(), 1 << 20), TN_OK);
    for (int round = 0; round < 3; round++) {
        tn__buffer *held[100];
        for (int i = 0; i < 100; i++) held[i] = tn__buffer_new(device, 4000u * (uint64_t)(i + 1));
        for (int i = 0; i < 100; i++) tn__buffer_release(held[i]);
        ck_assert_uint_le(info_of(kit_device()).memory_cached, 1 << 20);
        ck_assert_uint_gt(info_of(kit_device()).memory_cached, 0);
        ck_assert_uint_eq(info_of(kit_device()).memory_in_use, 0);
    }
    ck_assert_int_eq(tn_memory_empty_cache(kit_device()), TN_OK);
    ck_assert_uint_eq(info_of(kit_device()).memory_cached, 0);
    tn_memory_set_cache(kit_device(), 0);
    tn__buffer_release(tn__buffer_new(device, 4000));
    ck_assert_uint_eq(info_of(kit_device()).memory_cached, 0);
}
END_TEST

START_TEST(a_released_buffer_is_used_again_for_a_like_size)
{
    static const uint64_t sizes[] = {1, 64, 100, 4000, 5000, 1 << 20, (1 << 20) + 1, 9999999};
    tn__device *device = kit_use(kit_device());
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        tn__buffer *first = tn__buffer_new(device, sizes[i]);
        void *memory = first->memory;
        ck_assert_uint_ge(first->capacity, sizes[i]);
        ck_assert_uint_le(first->capacity, sizes[i] + sizes[i] / 8 + 4096);
        tn__buffer_release(first);
        tn__buffer *second = tn__buffer_new(device, sizes[i]);
        ck_assert_ptr_eq(second->memory, memory);
        tn__buffer_release(second);
    }
}
END_TEST

START_TEST(buffers_carry_bytes_at_any_offset)
{
    unsigned char bytes[37], back[37];
    for (int i = 0; i < 37; i++) bytes[i] = (unsigned char)(i * 7 + 1);
    tn__device *device = kit_use(kit_device());
    tn__buffer *a = tn__buffer_new(device, 37), *b = tn__buffer_new(device, 37);
    ck_assert_int_eq(tn__buffer_write(a, 0, bytes, 37), TN_OK);
    ck_assert_int_eq(tn__buffer_write(a, 3, bytes, 5), TN_OK);
    ck_assert_int_eq(tn__buffer_read(a, 0, back, 37), TN_OK);
    ck_assert_int_eq(tn__buffer_write(b, 0, back, 37), TN_OK);
    ck_assert_int_eq(tn__buffer_read(a, 3, back, 5), TN_OK);
    ck_assert_int_eq(tn__buffer_write(b, 10, back, 5), TN_OK);
    ck_assert_int_eq(tn__buffer_read(b, 1, back, 36), TN_OK);
    memcpy(bytes + 3, (unsigned char[]){1, 8, 15, 22, 29}, 5);
    memcpy(bytes + 10, (unsigned char[]){1, 8, 15, 22, 29}, 5);
    ck_assert_mem_eq(back, bytes + 1, 36);
    ck_assert_int_eq(tn__buffer_read(b, a->capacity, back, 1), TN_INTERNAL);
    tn__buffer_release(a);
    tn__buffer_release(b);
}
END_TEST

static int drops;

static void dropped(void *memory, void *user)
{
    ck_assert_ptr_eq(memory, user);
    drops++;
}

START_TEST(wrapped_memory_is_dropped_once_and_never_cached)
{
    char memory[100];
    tn__device *host = kit_use("host");
    const uint64_t before = info_of("host").memory_in_use;
    drops = 0;
    tn__buffer *buffer = tn__buffer_wrap(host, memory, sizeof memory, dropped, memory);
    ck_assert_uint_eq(info_of("host").memory_in_use, before);
    tn__buffer_release(tn__buffer_retain(buffer));
    ck_assert_int_eq(drops, 0);
    tn_shutdown();
    ck_assert_int_eq(drops, 0); /* the host's memory lives as long as its handles */
    tn__buffer_release(buffer);
    ck_assert_int_eq(drops, 1);
}
END_TEST

START_TEST(every_allocation_may_fail)
{
    for (int n = 1; n < 40; n++) {
        tn_shutdown();
        tn__alloc_fail_after(n, 0);
        tn__device *device = tn__device_use(kit_device());
        tn__buffer *buffer = device ? tn__buffer_new(device, 100) : NULL;
        tn__alloc_fail_after(0, 0);
        if (!buffer) ck_assert_int_eq(tn_last_status(), TN_MEMORY);
        tn__buffer_release(buffer);
        device = kit_use(kit_device()); /* a lack that has passed is no lasting fault */
        buffer = tn__buffer_new(device, 100);
        ck_assert_ptr_nonnull(buffer);
        tn__buffer_release(buffer);
    }
}
END_TEST

/* ---- more than one device ---- */

START_TEST(C62_bytes_go_between_devices_through_the_host)
{
    static const uint64_t sizes[] = {1, 3, 8, 1001};
    unsigned char bytes[1001], back[1001];
    SKIP_IF(tn_device_count(NULL) < 3, "needs two OpenCL devices");
    tn__device *a = kit_use(tn_device_name(0)), *b = kit_use(tn_device_name(1));
    for (int i = 0; i < 1001; i++) bytes[i] = (unsigned char)(i * 31);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        tn__buffer *x = tn__buffer_new(a, sizes[i]), *y = tn__buffer_new(b, sizes[i]);
        memset(back, 0, sizeof back);
        ck_assert_int_eq(tn__buffer_write(x, 0, bytes, sizes[i]), TN_OK);
        ck_assert_int_eq(tn__buffer_read(x, 0, back, sizes[i]), TN_OK);
        tn__buffer_release(x);
        ck_assert_int_eq(tn__buffer_write(y, 0, back, sizes[i]), TN_OK);
        memset(back, 0, sizeof back);
        ck_assert_int_eq(tn__buffer_read(y, 0, back, sizes[i]), TN_OK);
        ck_assert_mem_eq(back, bytes, sizes[i]);
        tn__buffer_release(y);
    }
}
END_TEST

/* ---- threads ---- */

enum { THREADS = 8, ADDS = 1000 };

static void *add_often(void *constant)
{
    tn__device *device = tn__device_use(kit_device()); /* the first use is a race, too */
    for (int i = 0; device && i < ADDS; i++)
        if (kit_add(device, *(const float *)constant) != TN_OK) {
            printf("addition %d: %s\n", i, tn_last_error());
            return NULL;
        }
    return device;
}

START_TEST(C57_eight_threads_add_their_own_constants)
{
    pthread_t threads[THREADS];
    float constants[THREADS];
    NEEDS_OPENCL();
    SKIP_IF(kit_is("oclgrind"), "the interpreter is not thread-safe");
    tn_set("cache_dir", "");
    for (int i = 0; i < THREADS; i++) {
        constants[i] = (float)(1000 * i);
        ck_assert_int_eq(pthread_create(&threads[i], NULL, add_often, &constants[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        void *result = NULL;
        pthread_join(threads[i], &result);
        ck_assert_ptr_nonnull(result);
    }
    ck_assert_uint_eq(info_of(kit_device()).programs_built, 2); /* the probe and the addition, once each */
    ck_assert_uint_eq(info_of(kit_device()).launches, THREADS * ADDS + 1);
}
END_TEST

/* ---- the end, and processes ---- */

START_TEST(buffers_may_be_released_after_shutdown)
{
    for (int i = 0; i < 3; i++) {
        tn__device *device = kit_use(kit_device());
        tn__buffer *on_device = tn__buffer_new(device, 1000), *on_host = tn__buffer_new(kit_use("host"), 1000);
        ck_assert_int_eq(tn_shutdown(), TN_OK);
        tn__buffer_release(on_device);
        tn__buffer_release(on_host);
        ck_assert_int_eq(tn_shutdown(), TN_OK);
        ck_assert_uint_eq(info_of("host").memory_in_use, 0);
    }
}
END_TEST

static int role_leave(void)
{
    tn__device *device = tn__device_use(kit_device());
    EXPECT(device && tn__buffer_new(device, 100));
    EXPECT(device->is_host || kit_add(device, 1) == TN_OK);
    return 0;
}

static int role_exit(void)
{
    if (role_leave() != 0) return 1;
    exit(0);
}

static int role_exit_at_once(void)
{
    if (role_leave() != 0) return 1;
    _exit(0);
}

static void *leave_by_thread(void *unused)
{
    (void)unused;
    exit(role_leave());
}

static int role_exit_in_thread(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, leave_by_thread, NULL);
    pthread_join(thread, NULL);
    return 1;
}

START_TEST(C55_a_program_that_frees_nothing_ends_well)
{
    ck_assert_int_eq(kit_run_role("leave"), 0);
    ck_assert_int_eq(kit_run_role("exit"), 0);
    ck_assert_int_eq(kit_run_role("exit_at_once"), 0);
    ck_assert_int_eq(kit_run_role("exit_in_thread"), 0);
}
END_TEST

/* The child's part of a fork, then both must have done well. */
static int both(int (*in_child)(tn__buffer *buffer), int (*in_parent)(void), tn__buffer *buffer)
{
    int status = 0;
    const pid_t child = fork();
    if (child == 0) _exit(in_child(buffer));
    const int parent = in_parent();
    waitpid(child, &status, 0);
    return parent || status;
}

static int forked_child(tn__buffer *buffer)
{
    char byte;
    tn_device_info info;
    EXPECT(!tn__device_use(kit_device()) && tn_last_status() == TN_DEVICE && strstr(tn_last_error(), "fork"));
    EXPECT(tn_device_query(kit_device(), &info) == TN_OK && !info.usable && strstr(info.error, "fork"));
    EXPECT(!buffer || tn__buffer_read(buffer, 0, &byte, 1) == TN_DEVICE);
    tn__buffer_release(buffer);
    tn__buffer *host = tn__buffer_new(tn__host(), 100);
    EXPECT(host && tn__buffer_write(host, 0, "x", 1) == TN_OK);
    EXPECT(!tn_gpu_is_available());
    EXPECT(tn_shutdown() == TN_OK && !tn__device_use(kit_device()) && strstr(tn_last_error(), "fork"));
    return 0;
}

static int use(void)
{
    tn__device *device = tn__device_use(kit_device());
    EXPECT(device && kit_add(device, 1) == TN_OK);
    return 0;
}

static int use_in_child(tn__buffer *buffer)
{
    (void)buffer;
    return use();
}

static int role_fork_after(void)
{
    tn__device *device = tn__device_use(kit_device());
    EXPECT(device && kit_add(device, 1) == TN_OK);
    return both(forked_child, use, tn__buffer_new(device, 100));
}

static int role_fork_after_query(void)
{
    EXPECT(tn_device_count(NULL) > 1);
    return both(forked_child, use, NULL);
}

static int role_fork_before(void)
{
    return both(use_in_child, use, NULL);
}

START_TEST(C56_after_fork_opencl_answers_with_an_error_and_host_works)
{
    NEEDS_OPENCL();
    ck_assert_int_eq(kit_run_role("fork_after"), 0);
    ck_assert_int_eq(kit_run_role("fork_after_query"), 0);
    ck_assert_int_eq(kit_run_role("fork_before"), 0);
}
END_TEST

int main(int argc, char **argv)
{
    static const kit_role roles[] = {
        {"leave", role_leave},
        {"exit", role_exit},
        {"exit_at_once", role_exit_at_once},
        {"exit_in_thread", role_exit_in_thread},
        {"fork_after", role_fork_after},
        {"fork_after_query", role_fork_after_query},
        {"fork_before", role_fork_before},
        {NULL, NULL},
    };
    const TTest *const tests[] = {
        C51_one_byte_too_many_is_a_memory_error_with_the_numbers,
        C51_above_the_limit_it_fails_and_works_again_once_something_is_free,
        the_limit_of_one_device_leaves_host_alone,
        under_pressure_what_is_pending_runs_unless_the_thread_is_running,
        C51_the_drivers_own_codes_are_lack_of_memory,
        C52_the_cache_is_bounded_counted_and_can_be_emptied_and_turned_off,
        a_released_buffer_is_used_again_for_a_like_size,
        buffers_carry_bytes_at_any_offset,
        wrapped_memory_is_dropped_once_and_never_cached,
        every_allocation_may_fail,
        C62_bytes_go_between_devices_through_the_host,
        C57_eight_threads_add_their_own_constants,
        buffers_may_be_released_after_shutdown,
        C55_a_program_that_frees_nothing_ends_well,
        C56_after_fork_opencl_answers_with_an_error_and_host_works,
    };
    return kit_main(argc, argv, "device_memory", tests, sizeof tests / sizeof *tests, roles);
}
