/* What holds memory, and the peak of a computation such as a training step. */
#include "bones.h"

static char text[1 << 16];

/* The report, whole. */
static const char *report(const char *device)
{
    FILE *file = tmpfile();
    ck_assert_ptr_nonnull(file);
    ck_ok(tn_memory_report(file, device));
    rewind(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

/* Place of a line with these facts in the last report; -1: none. */
static int line_of(long long bytes, const char *dtype, const char *shape, const char *made_by)
{
    int line = 0;
    char copy[sizeof text];
    strcpy(copy, text);
    for (char *at = strtok(copy, "\n"); at; at = strtok(NULL, "\n"), line++) {
        char d[32], s[64], m[64];
        long long b;
        if (sscanf(at, "%lld %31s %63s %63s", &b, d, s, m) == 4 && b == bytes && !strcmp(d, dtype) && !strcmp(s, shape) &&
            !strcmp(m, made_by))
            return line;
    }
    return -1;
}

START_TEST(what_holds_memory_is_listed_with_the_operation_that_made_it_the_largest_first)
{
    const float zeros[6 * 8] = {0};
    tn_tensor *a = ck_made(tn_from(TN_F32, TN_SHAPE(6, 8), zeros, test_device()));
    tn_tensor *product = ck_made(tn_matmul(a, tn_transpose(a, 0, 1)));
    tn_tensor *sum = ck_made(tn_sum(product, TN_AXES(0), false)), *relu = ck_made(tn_relu(tn_transpose(a, 0, 1)));
    ck_ok(tn_realize((tn_tensor *[]){product, sum, relu}, 3));
    report(test_device());
    const int first = line_of(192, "f32", "[6,8]", "from"), second = line_of(144, "f32", "[6,6]", "matmul"),
              third = line_of(24, "f32", "[6]", "sum");
    ck_assert_msg(line_of(192, "f32", "[8,6]", "relu") > 0 && first > 0 && second > first && third > second, "%s", text);
    ck_has(text, tn_device_resolve(test_device()));
    tn_release(product);
    report(test_device());
    ck_assert_int_eq(line_of(144, "f32", "[6,6]", "matmul"), -1);
    ck_assert_int_gt(line_of(24, "f32", "[6]", "sum"), 0);
}
END_TEST

START_TEST(views_add_nothing_and_hold_what_they_see)
{
    tn_tensor *x = ck_made(tn_from(TN_U8, TN_SHAPE(1000), text, test_device())), *view = tn_slice(x, 0, 3, 5, 1);
    tn_release(x);
    report(test_device());
    ck_assert_int_gt(line_of(1000, "u8", "[1000]", "from"), 0);
    tn_release(view);
    report(test_device());
    ck_assert_int_eq(line_of(1000, "u8", "[1000]", "from"), -1);
}
END_TEST

START_TEST(what_is_not_computed_has_no_bytes_and_is_counted)
{
    NEEDS_OPENCL();
    tn_tensor *x = ck_made(tn_add(tn_from(TN_I32, TN_SHAPE(2), (const int32_t[]){1, 2}, test_device()), tn_int(1)));
    ck_has(report(test_device()), "1 are not computed yet");
    ck_tensor_i32(x, {2, 3});
    ck_has(report(test_device()), "0 are not computed yet");
    ck_assert_int_gt(line_of(8, "i32", "[2]", "add"), 0);
}
END_TEST

START_TEST(an_assigned_value_says_so_and_a_copy_where_it_came_from)
{
    tn_tensor *x = ck_made(tn_from(TN_F32, TN_SHAPE(33), text, test_device()));
    ck_ok(tn_assign(x, tn_float(1)));
    ck_ok(tn_realize(&x, 1));
    report(test_device());
    ck_assert_msg(line_of(132, "f32", "[33]", "assign") > 0, "%s", text);
    tn_tensor *y = ck_made(tn_host(x));
    report("host");
    ck_assert_int_gt(line_of(132, "f32", "[33]", test_is("host") ? "assign" : "to"), 0);
    tn_release(y);
}
END_TEST

START_TEST(the_totals_are_the_allocators)
{
    tn_tensor *x = ck_made(tn_from(TN_F32, TN_SHAPE(1000), text, test_device()));
    const tn_device_info info = bones_info(test_device());
    char totals[128];
    snprintf(totals, sizeof totals, "in use %llu, cached %llu, peak %llu bytes\n", (unsigned long long)info.memory_in_use,
             (unsigned long long)info.memory_cached, (unsigned long long)info.memory_peak);
    ck_has(report(test_device()), totals);
    ck_has(report(NULL), totals);
    tn_release(x);
}
END_TEST

START_TEST(a_report_that_cannot_be_written_is_an_error)
{
    FILE *full = fopen("/dev/full", "w");
    ck_fails(tn_memory_report(NULL, NULL), TN_ARGUMENT, "file is NULL");
    ck_fails(tn_memory_report(stdout, "gpu:77"), TN_DEVICE, "gpu:77");
    ck_fails(tn_memory_reset_peak("gpu:77"), TN_DEVICE, "gpu:77");
    TN_SKIP_IF(!full, "there is no /dev/full");
    ck_fails(tn_memory_report(full, test_device()), TN_FILE, "cannot be written");
    fclose(full);
}
END_TEST

START_TEST(a_peak_is_counted_anew_from_what_is_in_use)
{
    tn_tensor *large = ck_made(tn_from(TN_U8, TN_SHAPE(sizeof text), text, test_device()));
    tn_tensor *small = ck_made(tn_from(TN_U8, TN_SHAPE(64), text, test_device()));
    tn_release(large);
    ck_assert_uint_ge(bones_info(test_device()).memory_peak, bones_info(test_device()).memory_in_use + sizeof text);
    ck_ok(tn_memory_reset_peak(test_device()));
    ck_assert_uint_eq(bones_info(test_device()).memory_peak, bones_info(test_device()).memory_in_use);
    tn_release(small);
}
END_TEST

/* x [N, K] through w [K, M] and v [M, 1], and the gradients of mean((y - 1)^2) by hand. */
START_TEST(the_peak_of_a_step_is_close_to_what_is_live_in_it)
{
    enum { N = 256, K = 64, M = 128, STEPS = 3 };
    const char *device = test_device();
    tn_tensor *x = ck_made(tn_full(TN_F32, TN_SHAPE(N, K), tn_float(0.5), device));
    tn_tensor *w = ck_made(tn_full(TN_F32, TN_SHAPE(K, M), tn_float(0.01), device));
    tn_tensor *v = ck_made(tn_full(TN_F32, TN_SHAPE(M, 1), tn_float(0.01), device));
    double y_mean = 0;
    uint64_t live = 0;
    ck_ok(tn_realize((tn_tensor *[]){x, w, v}, 3));
    ck_ok(tn_memory_reset_peak(device));
    const uint64_t before = bones_info(device).memory_in_use;
    for (int step = 0; step < STEPS; step++) {
        const tn_scope scope = tn_scope_push();
        tn_tensor *h = tn_relu(tn_matmul(x, w)), *y = tn_matmul(h, v), *dy = tn_mul(tn_sub(y, tn_int(1)), tn_float(0.01 / N));
        tn_tensor *dv = tn_matmul(tn_transpose(h, 0, 1), dy);
        tn_tensor *dh = tn_mul(tn_matmul(dy, tn_transpose(v, 0, 1)), tn_gt(h, tn_int(0)));
        tn_tensor *dw = tn_matmul(tn_transpose(x, 0, 1), dh);
        ck_ok(tn_assign(w, tn_sub(w, dw)));
        ck_ok(tn_assign(v, tn_sub(v, dv)));
        ck_ok(tn_realize((tn_tensor *[]){w, v}, 2));
        ck_ok(tn_item(tn_mean(y, TN_ALL_AXES, false), &y_mean));
        live = bones_info(device).memory_in_use - before;
        ck_ok(tn_scope_pop(scope));
    }
    const uint64_t peak = bones_info(device).memory_peak - before;
    fprintf(stderr, "# %s: a step adds %llu bytes at most to the %llu it starts from; %llu are live at its end\n", test_config(),
            (unsigned long long)peak, (unsigned long long)before, (unsigned long long)live);
    ck_assert_uint_ge(peak, N * M * sizeof(float)); /* h */
    ck_assert_uint_le(peak, live + live / 2);
    ck_assert_uint_le(bones_info(device).memory_in_use, before + 4096);
    ck_assert_double_eq_tol(y_mean, 0.557558, 1e-5); /* computed with Python; 0.41 in the first step */
    report(device);
    ck_assert_int_gt(line_of(K * M * 4, "f32", "[64,128]", "assign"), 0);
}
END_TEST

BONES_MAIN_AT_ONCE("memory_report", what_holds_memory_is_listed_with_the_operation_that_made_it_the_largest_first,
           views_add_nothing_and_hold_what_they_see, what_is_not_computed_has_no_bytes_and_is_counted,
           an_assigned_value_says_so_and_a_copy_where_it_came_from, the_totals_are_the_allocators,
           a_report_that_cannot_be_written_is_an_error, a_peak_is_counted_anew_from_what_is_in_use,
           the_peak_of_a_step_is_close_to_what_is_live_in_it)
