/* The allocator seen from tensors (bone 17), runs that fail (bone 15), and the cases on memory and lifetime. */
#include "base/alloc.h"
#include "bones.h"

enum { KIB = 1 << 10, MIB = 1 << 20 };

/* The device as new, without a limit. */
static void start_anew(void)
{
    bones_push();
    ck_ok(tn_memory_set_limit(test_device(), 0));
    ck_ok(tn_memory_empty_cache(test_device()));
}

static uint64_t in_use(void)
{
    return bones_info(test_device()).memory_in_use;
}

static tn_tensor *bytes(int64_t n, int value)
{
    tn_tensor *x = ck_made(tn_full(TN_U8, TN_SHAPE(n), tn_int(value), test_device()));
    bones_run(x);
    return x;
}

/* ---- counts ---- */

START_TEST(bone_17_what_tensors_hold_is_counted)
{
    const uint64_t before = in_use();
    tn_tensor *x = bytes(MIB, 1), *view = tn_slice(x, 0, 5, 10, 1), *pending = tn_add(x, tn_int(1));
    ck_assert_uint_ge(in_use(), before + MIB);
    ck_assert_uint_le(in_use(), before + (test_is("host") ? 3 : 2) * MIB);
    tn_release(x);
    tn_release(pending);
    ck_assert_uint_ge(in_use(), before + MIB); /* the view holds it */
    ck_tensor_u8(view, {1, 1, 1, 1, 1});
    tn_release(view);
    ck_assert_uint_lt(in_use(), before + MIB);
    ck_assert_uint_ge(bones_info(test_device()).memory_peak, before + MIB);
    ck_assert_uint_ge(bones_info(test_device()).memory_cached, MIB);
}
END_TEST

START_TEST(bone_17_traffic_is_counted)
{
    const tn_device_info before = bones_info(test_device());
    uint8_t out[1000];
    tn_tensor *x = ck_made(tn_from(TN_U8, TN_SHAPE(1000), out, test_device()));
    ck_ok(tn_read(x, out, sizeof out));
    const tn_device_info after = bones_info(test_device());
    ck_assert_uint_eq(after.bytes_written - before.bytes_written, 1000);
    ck_assert_uint_eq(after.bytes_read - before.bytes_read, 1000);
}
END_TEST

START_TEST(bone_17_freed_memory_is_used_again_in_the_queues_order)
{
    tn_tensor *keep = ck_made(tn_zeros(TN_F32, TN_SHAPE(1000), test_device()));
    bones_run(keep);
    for (int i = 0; i < 50; i++) { /* each round's buffers are the last one's, while its kernels may still run */
        tn_tensor *x = tn_full(TN_F32, TN_SHAPE(1000), tn_int(i), test_device()), *y = tn_mul(tn_add(keep, x), tn_int(1));
        bones_run(y);
        tn_release(keep);
        tn_release(x);
        keep = y;
    }
    ck_tensor_f32(tn_slice(keep, 0, 998, TN_END, 1), {1225, 1225});
    ck_assert_uint_lt(bones_info(test_device()).memory_cached, 20 * 4096);
}
END_TEST

START_TEST(C52_the_cache_is_bounded_and_empties)
{
    test_at_once(true);
    for (int64_t mib = 1; mib <= (test_long() ? 200 : TEST_ASAN ? 8 : 32); mib += mib < 8 ? 1 : 8) {
        const tn_scope scope = tn_scope_push(); /* the slice keeps the bytes */
        ck_tensor_u8(tn_slice(bytes(mib * MIB, 3), 0, -1, TN_END, 1), {3});
        ck_ok(tn_scope_pop(scope));
    }
    const tn_device_info full = bones_info(test_device());
    ck_assert_uint_le(full.memory_cached, full.memory_total / 8 + MIB);
    ck_ok(tn_memory_set_cache(test_device(), 4 * MIB));
    ck_assert_uint_le(bones_info(test_device()).memory_cached, 4 * MIB);
    ck_ok(tn_memory_empty_cache(test_device()));
    ck_assert_uint_eq(bones_info(test_device()).memory_cached, 0);
    ck_ok(tn_memory_set_cache(test_device(), 0));
    tn_release(bytes(MIB, 1));
    ck_assert_uint_eq(bones_info(test_device()).memory_cached, 0);
    ck_ok(tn_memory_set_cache(test_device(), full.memory_total / 8));
}
END_TEST

START_TEST(C52_ten_thousand_tensors_at_once_and_again_leave_nothing)
{
    enum { COUNT = 10000 };
    static tn_tensor *list[COUNT];
    const uint64_t before = in_use();
    const int64_t handles = tn_live_count();
    for (int round = 0; round < (!test_long() ? 2 : test_is("rusticl") ? 10 : 100); round++) {
        for (int i = 0; i < COUNT; i++) list[i] = tn_from(TN_I32, TN_SHAPE(3), (const int32_t[]){i, i + 1, i + 2}, test_device());
        for (int i = 0; i < COUNT; i += 999) ck_tensor_i32(list[i], {i, i + 1, i + 2});
        ck_assert_int_ge(tn_live_count(), handles + COUNT);
        for (int i = 0; i < COUNT; i++) tn_release(list[i]);
        ck_assert_int_eq(tn_live_count(), handles);
        ck_assert_uint_eq(in_use(), before);
    }
    ck_ok(tn_memory_empty_cache(test_device()));
    ck_assert_uint_eq(bones_info(test_device()).memory_cached, 0);
}
END_TEST

START_TEST(C52_a_loop_that_replaces_its_tensors_holds_a_bounded_amount)
{
    tn_tensor *x = ck_made(tn_zeros(TN_F32, TN_SHAPE(1000), test_device())),
              *g = ck_made(tn_ones(TN_F32, TN_SHAPE(1000), test_device()));
    const uint64_t before = in_use();
    for (int i = 0; i < 500; i++) {
        const tn_scope scope = tn_scope_push();
        ck_ok(tn_assign(x, tn_sub(x, tn_mul(g, tn_float(0.5)))));
        ck_ok(tn_scope_pop(scope));
        ck_assert_uint_le(in_use(), before + 100 * KIB);
    }
    ck_tensor_f32(tn_slice(x, 0, 0, 2, 1), {-250, -250});
}
END_TEST

/* ---- limits and failed runs ---- */

START_TEST(C51_many_tensors_until_it_fails_then_free_half_and_go_on)
{
    static uint8_t data[7 * MIB];
    tn_tensor *list[32];
    int count = 0;
    ck_ok(tn_memory_set_limit(test_device(), in_use() + 16 * MIB));
    while (count < 32 && (list[count] = tn_from(TN_U8, TN_SHAPE(MIB), data, test_device())) != NULL) count++;
    ck_assert_int_eq(count, 16);
    ck_assert_int_eq(tn_last_status(), TN_MEMORY);
    tn_clear_error();
    for (int i = 0; i < count; i += 2) tn_release(list[i]);
    memset(data, 6, sizeof data);
    tn_tensor *large = ck_made(tn_from(TN_U8, TN_SHAPE(7 * MIB), data, test_device()));
    ck_tensor_u8(tn_slice(large, 0, -1, TN_END, 1), {6});
    ck_tensor_u8(tn_slice(list[1], 0, -1, TN_END, 1), {0});
    ck_ok(tn_memory_set_limit(test_device(), 0));
}
END_TEST

START_TEST(bone_15_a_run_without_memory_changes_nothing_and_the_graph_stays_pending)
{
    NEEDS_OPENCL();
    tn_tensor *hold = bytes(3 * MIB, 1), *x = ck_made(tn_ones(TN_F32, TN_SHAPE(1, MIB / 4), test_device()));
    tn_tensor *y = tn_add(tn_mul(x, tn_int(3)), tn_int(1));
    ck_ok(tn_memory_set_limit(test_device(), in_use() + MIB / 2));
    float value;
    const uint64_t used = in_use(), launches = bones_launches();
    for (int i = 0; i < 3; i++) ck_fails(tn_realize((tn_tensor *const[]){y}, 1), TN_MEMORY, "in use", "limit");
    ck_assert(tn_is_pending(y));
    ck_assert_uint_eq(in_use(), used);
    ck_assert_uint_eq(bones_launches(), launches);
    tn_release(hold);
    bones_run(y);
    ck_ok(tn_read(tn_select(tn_select(y, 0, 0), 0, -1), &value, sizeof value));
    ck_assert(value == 4);
    ck_ok(tn_memory_set_limit(test_device(), 0));
}
END_TEST

START_TEST(bone_15_everything_is_allocated_before_the_first_launch)
{
    NEEDS_OPENCL();
    tn_tensor *x = ck_made(tn_rand(TN_F32, TN_SHAPE(256, 1024), test_device())), *list[3];
    bones_run(x);
    list[0] = tn_add(tn_sum(x, TN_AXES(1), false), tn_int(1)); /* small, and would fit */
    list[1] = tn_softmax(x, 1);                                /* 1 MiB */
    list[2] = tn_exp(tn_transpose(tn_softmax(x, 0), 0, 1));    /* needs a stored value first */
    ck_ok(tn_memory_set_limit(test_device(), in_use() + MIB / 2));
    const uint64_t launches = bones_launches();
    ck_fails(tn_realize(list, 3), TN_MEMORY, "limit");
    ck_assert_uint_eq(bones_launches(), launches);
    for (int i = 0; i < 3; i++) ck_assert(tn_is_pending(list[i]));
    ck_ok(tn_memory_set_limit(test_device(), 0));
    ck_ok(tn_realize(list, 3));
    ck_same(tn_sum(tn_gt(list[1], tn_int(0)), TN_ALL_AXES, false), tn_int(256 * 1024));
}
END_TEST

START_TEST(bone_15_after_a_failed_run_the_values_are_right)
{
    NEEDS_OPENCL();
    tn_tensor *x = ck_made(tn_arange(TN_F32, 0, MIB / 4, 1, test_device())),
              *parameter = ck_made(tn_zeros(TN_F32, TN_SHAPE(MIB / 4), test_device()));
    ck_ok(tn_assign(parameter, tn_add(x, tn_int(1))));
    tn_tensor *y = tn_add(parameter, x);
    ck_ok(tn_assign(parameter, tn_mul(parameter, tn_int(2))));
    ck_ok(tn_memory_set_limit(test_device(), in_use() + 1000));
    ck_fails(tn_realize((tn_tensor *const[]){y, parameter}, 2), TN_MEMORY, "limit");
    ck_ok(tn_memory_set_limit(test_device(), 0));
    ck_tensor_f32(tn_slice(y, 0, 0, 3, 1), {1, 3, 5});
    ck_tensor_f32(tn_slice(parameter, 0, -2, TN_END, 1), {2 * (MIB / 4 - 1), 2 * (MIB / 4)});
}
END_TEST

START_TEST(bone_15_under_pressure_the_cache_goes_first)
{
    ck_ok(tn_memory_set_limit(test_device(), in_use() + 8 * MIB));
    tn_tensor *list[6];
    for (int i = 0; i < 6; i++) list[i] = bytes(MIB, i);
    for (int i = 0; i < 6; i++) tn_release(list[i]);
    tn_tensor *large = bytes(7 * MIB, 9);
    ck_tensor_u8(tn_slice(large, 0, -1, TN_END, 1), {9});
    ck_ok(tn_memory_set_limit(test_device(), 0));
}
END_TEST

START_TEST(bone_15_outside_a_run_pressure_runs_what_is_pending)
{
    NEEDS_OPENCL();
    static uint8_t data[4 * MIB];
    ck_ok(tn_memory_set_limit(test_device(), in_use() + 6 * MIB));
    tn_tensor *big = bytes(4 * MIB, 5), *small = tn_sum(big, TN_ALL_AXES, false);
    tn_release(big); /* only what is pending holds it */
    ck_assert(tn_is_pending(small));
    tn_tensor *next = ck_made(tn_from(TN_U8, TN_SHAPE(4 * MIB), data, test_device()));
    ck_assert(!tn_is_pending(small));
    ck_tensor_u64(small, {5 * 4 * MIB});
    ck_tensor_u8(tn_slice(next, 0, 0, 1, 1), {0});
    ck_ok(tn_memory_set_limit(test_device(), 0));
}
END_TEST

START_TEST(bone_15_TENON_MEMORY_LIMIT_presets_the_limit)
{
    test_at_once(true);
    ck_ok(tn_scope_pop(bones_scope));
    ck_ok(tn_shutdown());
    ck_ok(tn_set("memory_limit", "2M"));
    bones_push();
    static uint8_t data[3 * MIB];
    ck_fails(tn_from(TN_U8, TN_SHAPE(3 * MIB), data, test_device()), TN_MEMORY, "3145728 bytes", "limit 2097152");
    tn_tensor *x = ck_made(tn_from(TN_U8, TN_SHAPE(MIB), data, test_device()));
    if (!test_is("host")) {
        tn_tensor *y = tn_cast(tn_add(x, tn_int(1)), TN_F32); /* 4 MiB */
        ck_fails(tn_realize((tn_tensor *const[]){y}, 1), TN_MEMORY, "4194304 bytes");
        ck_ok(tn_memory_set_limit(test_device(), 16 * MIB));
        ck_tensor_f32(tn_slice(y, 0, -1, TN_END, 1), {1});
    }
    (void)tn_scope_pop(bones_scope);
    ck_ok(tn_shutdown());
    ck_ok(tn_set("memory_limit", NULL));
    bones_push();
}
END_TEST

/* ---- drivers that fail ---- */

#define FAKE_ICD TN_TEST_BUILD_DIR "/tests/preload/fake_icd.so"

/* The device behind a library that fails as FAKE_FAIL says; back to the real one with NULL. */
static void use_driver(const char *library)
{
    (void)tn_scope_pop(bones_scope);
    ck_ok(tn_shutdown());
    unsetenv("FAKE_FAIL");
    ck_ok(tn_set("opencl", library));
    bones_push();
}

START_TEST(bone_15_an_enqueue_without_memory_leaves_the_rest_pending)
{
    test_at_once(true);
    static const int codes[] = {-4, -5, -6};
    NEEDS_OPENCL();
    TN_SKIP_IF(test_is("oclgrind"), "an interposer's entry points come before any library");
    use_driver(FAKE_ICD);
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        char fault[64];
        tn_tensor *x = test_f32(TN_SHAPE(3), {1, 2, 3}), *y = tn_add(x, tn_int((int)i)),
                  *z = tn_sum(tn_mul(y, y), TN_ALL_AXES, false), *w = tn_mul(x, z);
        snprintf(fault, sizeof fault, "clEnqueueNDRangeKernel:%d:1", codes[i]);
        setenv("FAKE_FAIL", fault, 1);
        ck_fails(tn_realize((tn_tensor *const[]){w}, 1), TN_MEMORY, test_device());
        ck_assert(tn_is_pending(w));
        snprintf(fault, sizeof fault, "clEnqueueNDRangeKernel:%d:2", codes[i]);
        setenv("FAKE_FAIL", fault, 1);
        ck_fails(tn_realize((tn_tensor *const[]){w}, 1), TN_MEMORY, test_device()); /* the first kernel went through */
        unsetenv("FAKE_FAIL");
        const float sum = (float)((1 + i) * (1 + i) + (2 + i) * (2 + i) + (3 + i) * (3 + i));
        ck_tensor_f32(w, {sum, 2 * sum, 3 * sum});
        ck_tensor_f32(y, {1 + (float)i, 2 + (float)i, 3 + (float)i});
    }
    use_driver(NULL);
}
END_TEST

START_TEST(bone_15_any_other_device_error_is_kept_as_the_first_cause)
{
    NEEDS_OPENCL();
    TN_SKIP_IF(test_is("oclgrind"), "an interposer's entry points come before any library");
    use_driver(FAKE_ICD);
    float out[2];
    tn_tensor *stored = test_f32(TN_SHAPE(2), {1, 2}), *pending = tn_add(stored, tn_int(1)),
              *host = ck_made(tn_ones(TN_F32, TN_SHAPE(2), "host"));
    setenv("FAKE_FAIL", "clEnqueueNDRangeKernel:-9999", 1);
    ck_fails(tn_realize((tn_tensor *const[]){pending}, 1), TN_LOST, test_device(), "-9999");
    unsetenv("FAKE_FAIL");
    ck_fails(tn_read(pending, out, sizeof out), TN_LOST, "-9999");
    ck_fails(tn_read(stored, out, sizeof out), TN_LOST, "-9999");
    ck_fails(tn_add(stored, tn_int(1)), TN_LOST, "-9999");
    ck_fails(tn_zeros(TN_F32, TN_SHAPE(2), test_device()), TN_LOST, "-9999");
    ck_fails(tn_to(host, test_device()), TN_LOST, "-9999");
    ck_fails(tn_finish(test_device()), TN_LOST, "-9999");
    ck_tensor_f32(tn_add(host, host), {2, 2});
    use_driver(NULL);
    ck_tensor_f32(test_f32(TN_SHAPE(2), {1, 2}), {1, 2}); /* a new life */
}
END_TEST

/* ---- lifetime ---- */

START_TEST(C54_a_running_total_keeps_no_graph_alive)
{
    tn_tensor *total = ck_made(tn_zeros(TN_F64, TN_SHAPE(), "host"));
    const bool host = test_is("host");
    if (!host) total = ck_made(tn_zeros(TN_F32, TN_SHAPE(), test_device()));
    tn_tensor *x = test_f32(TN_SHAPE(4), {1, 2, 3, 4});
    const int64_t handles = tn_live_count();
    const uint64_t used = in_use();
    const int steps = test_long() ? 10000 : 2000;
    for (int i = 0; i < steps; i++) {
        const tn_scope scope = tn_scope_push();
        tn_tensor *loss = tn_sum(tn_mul(x, tn_float(0.25)), TN_ALL_AXES, false), *sum = tn_retain(tn_add(total, loss));
        ck_ok(tn_scope_pop(scope));
        tn_release(total);
        total = sum;
        ck_assert_int_le(tn_live_count(), handles + 1);
        ck_assert_uint_le(in_use(), used + MIB);
    }
    double value = 0;
    ck_ok(tn_item(total, &value));
    ck_assert(value == 2.5 * steps);
    tn_release(total);
    ck_assert_uint_le(in_use(), used + KIB);
}
END_TEST

START_TEST(C54_item_and_read_do_not_keep_anything)
{
    tn_tensor *x = test_f32(TN_SHAPE(4), {1, 2, 3, 4});
    double total = 0;
    const int64_t handles = tn_live_count();
    for (int i = 0; i < 300; i++) {
        const tn_scope scope = tn_scope_push();
        double value = 0;
        ck_ok(tn_item(tn_max(tn_add(x, tn_int(i)), TN_ALL_AXES, false), &value));
        total += value;
        ck_ok(tn_scope_pop(scope));
    }
    ck_assert(total == 300 * 4 + 299 * 150);
    ck_assert_int_eq(tn_live_count(), handles);
}
END_TEST

START_TEST(handles_may_be_released_after_shutdown)
{
    (void)tn_scope_pop(bones_scope);
    for (int i = 0; i < 3; i++) {
        tn_tensor *x = ck_made(tn_ones(TN_F32, TN_SHAPE(1000), test_device())), *y = ck_made(tn_add(x, x)), *z = ck_made(tn_neg(y));
        bones_run(x);
        ck_ok(tn_shutdown());
        tn_release(x);
        tn_release(z);
        tn_release(y);
        ck_assert_uint_eq(in_use(), 0);
    }
    ck_ok(tn_shutdown());
    bones_push();
}
END_TEST

static int role_use_after_shutdown(void)
{
    float out[2];
    tn_tensor *x = tn_from(TN_F32, TN_SHAPE(2), (const float[]){1, 2}, test_device()), *y = tn_add(x, x);
    tn_tensor *h = tn_ones(TN_F32, TN_SHAPE(2), "host");
    EXPECT(x && y && h && tn_shutdown() == TN_OK);
    EXPECT(tn_read(x, out, sizeof out) != TN_OK);
    EXPECT(tn_read(y, out, sizeof out) != TN_OK);
    EXPECT(!tn_add(x, x) || tn_read(tn_add(x, x), out, sizeof out) != TN_OK);
    EXPECT(tn_read(h, out, sizeof out) == TN_OK && out[1] == 1); /* plain memory is still there */
    EXPECT(tn_read(tn_ones(TN_F32, TN_SHAPE(2), test_device()), out, sizeof out) == TN_OK && out[0] == 1);
    EXPECT(tn_read(x, out, sizeof out) != TN_OK);
    return 0;
}

START_TEST(what_is_left_of_a_shut_down_device_answers_with_an_error)
{
    NEEDS_OPENCL();
    ck_assert_int_eq(bones_child("use_after_shutdown", NULL, NULL, 0), 0);
}
END_TEST

/* A little of everything, whose n-th allocation fails (0: none), and all after it; with MEMORY and nothing else. */
static bool chain(int n)
{
    const tn_scope scope = tn_scope_push();
    float out[4] = {0};
    tn__alloc_fail_after(n, 1);
    tn_tensor *x = tn_from(TN_F32, TN_SHAPE(2, 2), (const float[]){1, 2, 3, 4}, test_device());
    tn_tensor *y = tn_add(tn_mul(x, tn_float(2)), tn_transpose(x, 0, 1));
    tn_tensor *z = tn_softmax(tn_reshape(y, TN_SHAPE(4)), 0);
    tn_status status = tn_assign(tn_slice(x, 0, 1, 2, 1), tn_int(9));
    if (status == TN_OK) status = tn_realize((tn_tensor *const[]){y, z}, 2);
    if (status == TN_OK) status = tn_read(tn_sum(y, TN_AXES(0), false), out, 2 * sizeof(float));
    tn__alloc_fail_after(0, 0);
    if (status == TN_OK) ck_assert(out[0] == 11 && out[1] == 19);
    const tn_status end = tn_scope_pop(scope);
    ck_assert_msg(status == TN_OK || status == TN_MEMORY, "%s: %s", tn_status_name(status), tn_last_error());
    ck_assert_msg(end == TN_OK || end == TN_MEMORY, "%s: %s", tn_status_name(end), tn_last_error());
    tn_clear_error();
    return status == TN_OK && end == TN_OK;
}

START_TEST(every_allocation_of_the_library_may_fail)
{
    const int64_t handles = tn_live_count();
    ck_assert(chain(0)); /* builds its kernels */
    const uint64_t used = in_use();
    for (int n = 1;; n++) {
        ck_assert_int_lt(n, 3000);
        const bool done = chain(n);
        ck_assert_msg(tn_live_count() == handles, "allocation %d: %d handles are left", n, (int)(tn_live_count() - handles));
        ck_assert_msg(in_use() <= used, "allocation %d: %d bytes are left", n, (int)(in_use() - used));
        if (done) break;
    }
    ck_assert(chain(0));
}
END_TEST

static const bones_role roles[] = {{"use_after_shutdown", role_use_after_shutdown}, {NULL, NULL}};

BONES_MAIN_WITH_ROLES("memory", roles, start_anew, bone_17_what_tensors_hold_is_counted, bone_17_traffic_is_counted,
                      bone_17_freed_memory_is_used_again_in_the_queues_order, C52_the_cache_is_bounded_and_empties,
                      C52_ten_thousand_tensors_at_once_and_again_leave_nothing,
                      C52_a_loop_that_replaces_its_tensors_holds_a_bounded_amount,
                      C51_many_tensors_until_it_fails_then_free_half_and_go_on,
                      bone_15_a_run_without_memory_changes_nothing_and_the_graph_stays_pending,
                      bone_15_everything_is_allocated_before_the_first_launch, bone_15_after_a_failed_run_the_values_are_right,
                      bone_15_under_pressure_the_cache_goes_first, bone_15_outside_a_run_pressure_runs_what_is_pending,
                      bone_15_TENON_MEMORY_LIMIT_presets_the_limit, bone_15_an_enqueue_without_memory_leaves_the_rest_pending,
                      bone_15_any_other_device_error_is_kept_as_the_first_cause, C54_a_running_total_keeps_no_graph_alive,
                      C54_item_and_read_do_not_keep_anything, handles_may_be_released_after_shutdown,
                      what_is_left_of_a_shut_down_device_answers_with_an_error, every_allocation_of_the_library_may_fail)
