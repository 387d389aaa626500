/* Ownership and scopes (bone 5), and how errors travel (bone 6). */
#include "bones.h"

#include <fcntl.h>
#include <pthread.h>

static tn_tensor *one(void)
{
    return ck_made(tn_ones(TN_F32, TN_SHAPE(2), test_device()));
}

/* ---- scopes ---- */

START_TEST(bone_05_without_a_scope_a_handle_is_the_callers)
{
    const int64_t before = tn_live_count();
    tn_tensor *x = ck_made(tn_zeros(TN_F32, TN_SHAPE(2), test_device()));
    ck_assert_int_eq(tn_live_count(), before + 1);
    tn_release(x);
    ck_assert_int_eq(tn_live_count(), before);
}
END_TEST

START_TEST(bone_05_a_scope_frees_what_was_made_in_it)
{
    const int64_t before = tn_live_count();
    const tn_scope scope = tn_scope_push();
    for (int i = 0; i < 100; i++) (void)ck_made(tn_add(one(), tn_mul(one(), tn_int(i))));
    ck_assert_int_gt(tn_live_count(), before + 100);
    ck_ok(tn_scope_pop(scope));
    ck_assert_int_eq(tn_live_count(), before);
}
END_TEST

START_TEST(bone_05_handles_belong_to_the_innermost_scope)
{
    const tn_scope outer = tn_scope_push();
    tn_tensor *x = one();
    const int64_t before = tn_live_count();
    const tn_scope inner = tn_scope_push();
    tn_tensor *y = tn_add(x, x);
    ck_tensor_f32(y, {2, 2});
    ck_ok(tn_scope_pop(inner));
    ck_assert_int_eq(tn_live_count(), before);
    ck_tensor_f32(x, {1, 1});
    ck_ok(tn_scope_pop(outer));
}
END_TEST

START_TEST(bone_05_pop_closes_scopes_left_open_inside)
{
    const int64_t before = tn_live_count();
    const tn_scope outer = tn_scope_push();
    for (int i = 0; i < 1000; i++) {
        (void)tn_scope_push();
        (void)one();
    }
    ck_ok(tn_scope_pop(outer));
    ck_assert_int_eq(tn_live_count(), before);
    ck_fails(tn_scope_pop(outer), TN_ARGUMENT, "scope_pop");
}
END_TEST

START_TEST(bone_05_a_mark_that_is_not_open_is_an_error)
{
    const tn_scope outer = tn_scope_push(), inner = tn_scope_push();
    ck_ok(tn_scope_pop(inner));
    ck_fails(tn_scope_pop(inner), TN_ARGUMENT, "scope_pop", "2");
    ck_fails(tn_scope_pop((tn_scope){0}), TN_ARGUMENT, "scope_pop");
    ck_fails(tn_scope_pop((tn_scope){-1}), TN_ARGUMENT, "scope_pop");
    ck_assert_int_eq(tn_scope_pop(outer), TN_ARGUMENT); /* they happened in it */
    tn_clear_error();
}
END_TEST

START_TEST(bone_05_keep_moves_a_handle_to_the_parent)
{
    const int64_t before = tn_live_count();
    const tn_scope outer = tn_scope_push(), inner = tn_scope_push();
    tn_tensor *x = one(), *y = tn_keep(tn_add(x, x));
    ck_ok(tn_scope_pop(inner));
    ck_tensor_f32(y, {2, 2});
    ck_ok(tn_scope_pop(outer));
    ck_assert_int_eq(tn_live_count(), before);
}
END_TEST

START_TEST(bone_05_kept_without_a_parent_it_is_the_callers)
{
    const int64_t before = tn_live_count();
    const tn_scope scope = tn_scope_push();
    tn_tensor *x = tn_keep(one());
    ck_ok(tn_scope_pop(scope));
    ck_tensor_f32(x, {1, 1});
    ck_assert_int_eq(tn_live_count(), before + 1);
    ck_assert_ptr_eq(tn_keep(x), x); /* nothing more to leave */
    tn_release(x);
    ck_assert_int_eq(tn_live_count(), before);
}
END_TEST

START_TEST(bone_05_kept_twice_it_goes_up_two_scopes)
{
    const tn_scope a = tn_scope_push(), b = tn_scope_push(), c = tn_scope_push();
    tn_tensor *x = tn_keep(tn_keep(one()));
    ck_ok(tn_scope_pop(c));
    ck_ok(tn_scope_pop(b));
    ck_tensor_f32(x, {1, 1});
    ck_ok(tn_scope_pop(a));
}
END_TEST

START_TEST(bone_05_retain_is_a_reference_beyond_all_scopes)
{
    const int64_t before = tn_live_count();
    const tn_scope outer = tn_scope_push(), inner = tn_scope_push();
    tn_tensor *x = one();
    ck_assert_ptr_eq(tn_retain(x), x);
    ck_assert_ptr_eq(tn_retain(x), x);
    ck_ok(tn_scope_pop(inner));
    ck_ok(tn_scope_pop(outer));
    ck_tensor_f32(x, {1, 1});
    tn_release(x);
    ck_tensor_f32(x, {1, 1});
    tn_release(x);
    ck_assert_int_eq(tn_live_count(), before);
}
END_TEST

START_TEST(bone_05_release_takes_a_handle_out_of_its_scope)
{
    const int64_t before = tn_live_count();
    const tn_scope scope = tn_scope_push();
    tn_tensor *x = one(), *y = one(), *z = one();
    tn_release(y);
    tn_retain(x);
    tn_release(x); /* one reference is left, and no scope */
    tn_release(z);
    ck_ok(tn_scope_pop(scope));
    ck_tensor_f32(x, {1, 1});
    tn_release(x);
    ck_assert_int_eq(tn_live_count(), before);
}
END_TEST

START_TEST(bone_05_release_allows_NULL_and_TN_NONE)
{
    tn_release(NULL);
    tn_release(TN_NONE);
    ck_assert_int_eq(tn_last_status(), TN_OK);
}
END_TEST

START_TEST(bone_05_a_view_keeps_its_storage)
{
    const tn_scope scope = tn_scope_push();
    tn_tensor *x = ck_made(tn_arange(TN_F32, 0, 6, 1, test_device())), *view = tn_slice(x, 0, 4, TN_END, 1);
    tn_release(x);
    ck_tensor_f32(view, {4, 5});
    tn_tensor *y = one(), *z = tn_slice(tn_add(y, y), 0, 1, 2, 1);
    tn_release(y);
    ck_tensor_f32(z, {2});
    ck_ok(tn_scope_pop(scope));
}
END_TEST

START_TEST(bone_05_arguments_are_borrowed)
{
    tn_tensor *x = ck_made(tn_ones(TN_F32, TN_SHAPE(2), test_device()));
    const int64_t before = tn_live_count();
    tn_tensor *y = tn_add(x, x), *z = tn_reshape(y, TN_SHAPE(2, 1));
    ck_assert_int_eq(tn_live_count(), before + 2);
    tn_release(x);
    tn_release(y);
    ck_assert_int_eq(tn_live_count(), before);
    ck_tensor_f32(z, {2, 2});
    tn_release(z);
}
END_TEST

static void *make_and_count(void *mine)
{
    const int64_t before = tn_live_count();
    const tn_scope scope = tn_scope_push();
    tn_tensor *x = tn_zeros(TN_F32, TN_SHAPE(2), "host");
    const bool first = scope.depth == 1 && x != NULL;
    const bool popped = tn_scope_pop(scope) == TN_OK && tn_live_count() == before;
    tn_tensor *left = tn_zeros(TN_F32, TN_SHAPE(2), "host"); /* this thread has no scope now */
    *(tn_tensor **)mine = left;
    return first && popped ? left : NULL;
}

START_TEST(bone_05_scopes_belong_to_their_thread)
{
    pthread_t thread;
    tn_tensor *theirs = NULL;
    void *good = NULL;
    const tn_scope scope = tn_scope_push();
    pthread_create(&thread, NULL, make_and_count, &theirs);
    pthread_join(thread, &good);
    ck_ok(tn_scope_pop(scope));
    ck_assert_ptr_nonnull(good);
    ck_tensor_f32(theirs, {0, 0}); /* not freed with ours */
    tn_release(theirs);
}
END_TEST

static void *release_in_thread(void *x)
{
    tn_release(x);
    return NULL;
}

START_TEST(bone_05_another_thread_may_release_a_handle_of_a_scope)
{
    pthread_t thread;
    const int64_t before = tn_live_count();
    const tn_scope scope = tn_scope_push();
    tn_tensor *x = one(), *y = one();
    pthread_create(&thread, NULL, release_in_thread, x);
    pthread_join(thread, NULL);
    ck_tensor_f32(y, {1, 1});
    ck_ok(tn_scope_pop(scope));
    ck_assert_int_eq(tn_live_count(), before);
}
END_TEST

START_TEST(bone_05_a_handle_may_come_back_from_a_function_through_its_scope)
{
    const int64_t before = tn_live_count();
    for (int i = 0; i < 3; i++) {
        const tn_scope scope = tn_scope_push();
        tn_tensor *x = one();
        for (int k = 0; k < 10; k++) {
            const tn_scope inner = tn_scope_push();
            x = tn_keep(tn_add(tn_mul(x, tn_float(0.5)), tn_float(0.5)));
            ck_ok(tn_scope_pop(inner));
        }
        ck_tensor_f32(x, {1, 1});
        ck_ok(tn_scope_pop(scope));
    }
    ck_assert_int_eq(tn_live_count(), before);
}
END_TEST

/* ---- errors ---- */

START_TEST(bone_06_NULL_in_gives_NULL_out_and_keeps_the_first_error)
{
    const tn_scope scope = tn_scope_push();
    tn_tensor *x = tn_reshape(one(), TN_SHAPE(3));
    ck_assert_ptr_null(x);
    char sentence[256];
    snprintf(sentence, sizeof sentence, "%s", tn_last_error());
    tn_tensor *y = tn_relu(tn_add(tn_slice(tn_transpose(x, 0, 1), 0, 0, 1, 1), one()));
    ck_assert_ptr_null(y);
    ck_assert_str_eq(tn_last_error(), sentence);
    ck_assert_int_eq(tn_last_status(), TN_SHAPE);
    float out[2];
    ck_assert_int_eq(tn_read(y, out, sizeof out), TN_SHAPE); /* whatever reads gives the pending error's code */
    ck_assert_int_eq(tn_assign(y, one()), TN_SHAPE);
    ck_assert_str_eq(tn_last_error(), sentence);
    ck_assert_int_eq(tn_scope_pop(scope), TN_SHAPE);
    tn_clear_error();
}
END_TEST

START_TEST(bone_06_NULL_without_a_pending_error_is_a_fresh_one)
{
    tn_clear_error();
    ck_fails(tn_neg(NULL), TN_ARGUMENT, "neg", "x");
    tn_tensor *x = one();
    ck_fails(tn_add(x, NULL), TN_ARGUMENT, "add", "b");
    ck_fails(tn_add(NULL, x), TN_ARGUMENT, "add", "a");
    ck_fails(tn_reshape(NULL, TN_SHAPE(1)), TN_ARGUMENT, "reshape", "x");
    ck_fails(tn_retain(NULL), TN_ARGUMENT, "retain", "x");
    ck_fails(tn_keep(NULL), TN_ARGUMENT, "keep", "x");
    tn_release(x);
}
END_TEST

START_TEST(bone_06_a_scope_reports_its_first_failure_and_makes_it_the_last_error)
{
    const tn_scope scope = tn_scope_push();
    tn_tensor *x = one();
    ck_assert_ptr_null(tn_reshape(x, TN_SHAPE(3)));
    ck_assert_ptr_null(tn_select(x, 0, 9));
    ck_assert_ptr_null(tn_bitwise_and(x, x));
    ck_has(tn_last_error(), "bitwise_and");
    tn_clear_error(); /* the scope remembers */
    ck_assert_int_eq(tn_scope_pop(scope), TN_SHAPE);
    ck_assert_int_eq(tn_last_status(), TN_SHAPE);
    ck_has(tn_last_error(), "reshape");
    tn_clear_error();
}
END_TEST

START_TEST(bone_06_a_failure_in_an_inner_scope_is_one_of_the_outer_scope)
{
    const tn_scope outer = tn_scope_push(), inner = tn_scope_push();
    ck_assert_ptr_null(tn_select(one(), 0, 9));
    ck_assert_int_eq(tn_scope_pop(inner), TN_AXIS);
    tn_clear_error();
    ck_assert_ptr_null(tn_reshape(one(), TN_SHAPE(3)));
    ck_assert_int_eq(tn_scope_pop(outer), TN_AXIS);
    ck_has(tn_last_error(), "select");
    tn_clear_error();
}
END_TEST

START_TEST(bone_06_a_clean_scope_says_nothing_of_earlier_failures)
{
    ck_assert_ptr_null(tn_zeros(TN_F32, TN_SHAPE(-1), test_device()));
    const tn_scope scope = tn_scope_push();
    (void)one();
    ck_assert_int_eq(tn_scope_pop(scope), TN_OK);
    ck_has(tn_last_error(), "zeros");
    tn_clear_error();
    ck_assert_int_eq(tn_last_status(), TN_OK);
    ck_assert_str_eq(tn_last_error(), "");
}
END_TEST

static void *fail_elsewhere(void *good)
{
    *(bool *)good = tn_last_status() == TN_OK;
    (void)!tn_neg(NULL);
    *(bool *)good = *(bool *)good && tn_last_status() == TN_ARGUMENT;
    return NULL;
}

START_TEST(bone_06_a_scope_reports_a_failure_with_the_words_put_in_front_of_it)
{
    const tn_scope scope = tn_scope_push();
    tn_tensor *x = tn_ones(TN_F32, TN_SHAPE(2), "host"), *y = tn_ones(TN_F32, TN_SHAPE(3, 1), "host");
    ck_assert_ptr_null(tn_vstack((tn_tensor *const[]){x, y}, 2));
    ck_fails(tn_scope_pop(scope), TN_SHAPE, "vstack: concat: ");
}
END_TEST

START_TEST(bone_06_errors_belong_to_their_thread)
{
    pthread_t thread;
    bool good = false;
    ck_assert_ptr_null(tn_zeros(TN_F32, TN_SHAPE(-1), test_device()));
    pthread_create(&thread, NULL, fail_elsewhere, &good);
    pthread_join(thread, NULL);
    ck_assert(good);
    ck_assert_int_eq(tn_last_status(), TN_SHAPE);
    ck_has(tn_last_error(), "zeros");
    tn_clear_error();
}
END_TEST

START_TEST(bone_06_a_fresh_failure_replaces_an_old_one)
{
    ck_assert_ptr_null(tn_zeros(TN_F32, TN_SHAPE(-1), test_device()));
    ck_fails(tn_zeros((tn_dtype)99, TN_SHAPE(1), test_device()), TN_DTYPE, "zeros", "99");
}
END_TEST

START_TEST(bone_06_after_any_error_every_object_is_valid)
{
    const tn_scope scope = tn_scope_push();
    tn_tensor *x = one(), *y = tn_add(x, x);
    double d;
    ck_fails(tn_reshape(y, TN_SHAPE(3)), TN_SHAPE, "reshape");
    ck_fails(tn_assign(y, tn_zeros(TN_F32, TN_SHAPE(5), test_device())), TN_SHAPE, "assign");
    ck_fails(tn_assign(y, TN_NONE), TN_ARGUMENT, "assign");
    ck_fails(tn_item(y, &d), TN_SHAPE, "item");
    ck_fails(tn_read(y, &d, 3), TN_ARGUMENT, "read");
    ck_fails(tn_to(y, "gpu:77"), TN_DEVICE, "gpu:77");
    ck_tensor_f32(y, {2, 2});
    ck_tensor_f32(x, {1, 1});
    ck_assert_int_eq(tn_scope_pop(scope), TN_SHAPE);
    tn_clear_error();
}
END_TEST

START_TEST(bone_06_every_status_has_a_name)
{
    ck_assert_str_eq(tn_status_name(TN_OK), "OK");
    ck_assert_str_eq(tn_status_name(TN_SHAPE), "SHAPE");
    ck_assert_str_eq(tn_status_name(TN_INTERNAL), "INTERNAL");
    ck_assert_str_eq(tn_status_name(TN_STATUS_COUNT), "?");
    ck_assert_str_eq(tn_status_name((tn_status)-1), "?");
}
END_TEST

/* What stands on file descriptor 1 or 2 while the function runs: nothing may. */
static long printed_by(void (*function)(void))
{
    char path[] = "/tmp/bones-XXXXXX";
    const int file = mkstemp(path), out = dup(1), err = dup(2);
    fflush(NULL);
    dup2(file, 1);
    dup2(file, 2);
    function();
    fflush(NULL);
    dup2(out, 1);
    dup2(err, 2);
    close(out);
    close(err);
    const long bytes = (long)lseek(file, 0, SEEK_END);
    close(file);
    unlink(path);
    return bytes;
}

static void fail_a_lot(void)
{
    const tn_scope scope = tn_scope_push();
    float out[2];
    tn_tensor *x = tn_add(tn_ones(TN_F32, TN_SHAPE(2), test_device()), tn_int(1));
    (void)!tn_reshape(x, TN_SHAPE(3));
    (void)!tn_neg(NULL);
    (void)!tn_to(x, "gpu:99");
    (void)!tn_zeros(TN_F32, TN_SHAPE(1, -1), "nonsense");
    (void)!tn_full(TN_F32, TN_SHAPE(INT64_C(1) << 40, INT64_C(1) << 40), x, test_device());
    (void)tn_read(x, out, 1);
    (void)tn_read(x, out, sizeof out);
    (void)tn_scope_pop(scope);
    tn_clear_error();
}

START_TEST(bone_06_the_library_prints_nothing)
{
    ck_assert_int_eq(printed_by(fail_a_lot), 0);
}
END_TEST

static int lines;
static char last_line[512];

static void take_line(int level, const char *line, void *user)
{
    (void)user;
    if (level < 1 || level > 3 || strchr(line, '\n')) lines = -1000;
    lines++;
    snprintf(last_line, sizeof last_line, "%s", line);
}

START_TEST(bone_06_a_log_callback_gets_what_there_is_to_say)
{
    test_at_once(true);
    NEEDS_OPENCL();
    ck_ok(tn_shutdown());
    lines = 0;
    tn_set_log(take_line, NULL);
    tn_tensor *x = one();
    ck_tensor_f32(x, {1, 1});
    tn_set_log(NULL, NULL);
    const int heard = lines;
    ck_assert_int_gt(heard, 0);
    tn_release(x);
    ck_ok(tn_shutdown());
    x = ck_made(tn_ones(TN_F32, TN_SHAPE(2), test_device()));
    ck_tensor_f32(x, {1, 1});
    ck_assert_int_eq(lines, heard);
    tn_release(x);
}
END_TEST

START_TEST(bone_06_TENON_LOG_names_a_file_for_it)
{
    char path[] = "/tmp/bones-XXXXXX", text[256] = "";
    NEEDS_OPENCL();
    close(mkstemp(path));
    ck_ok(tn_shutdown());
    ck_ok(tn_set("log", path));
    tn_tensor *x = ck_made(tn_ones(TN_F32, TN_SHAPE(2), test_device()));
    ck_tensor_f32(x, {1, 1});
    ck_ok(tn_set("log", NULL));
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(fgets(text, sizeof text, file));
    fclose(file);
    unlink(path);
    ck_has(text, "tenon");
    tn_release(x);
}
END_TEST

TN_SUITE(scope, bone_05_without_a_scope_a_handle_is_the_callers, bone_05_a_scope_frees_what_was_made_in_it,
         bone_05_handles_belong_to_the_innermost_scope, bone_05_pop_closes_scopes_left_open_inside,
         bone_05_a_mark_that_is_not_open_is_an_error, bone_05_keep_moves_a_handle_to_the_parent,
         bone_05_kept_without_a_parent_it_is_the_callers, bone_05_kept_twice_it_goes_up_two_scopes,
         bone_05_retain_is_a_reference_beyond_all_scopes, bone_05_release_takes_a_handle_out_of_its_scope,
         bone_05_release_allows_NULL_and_TN_NONE, bone_05_a_view_keeps_its_storage, bone_05_arguments_are_borrowed,
         bone_05_scopes_belong_to_their_thread, bone_05_another_thread_may_release_a_handle_of_a_scope,
         bone_05_a_handle_may_come_back_from_a_function_through_its_scope, bone_06_NULL_in_gives_NULL_out_and_keeps_the_first_error,
         bone_06_NULL_without_a_pending_error_is_a_fresh_one, bone_06_a_scope_reports_its_first_failure_and_makes_it_the_last_error,
         bone_06_a_failure_in_an_inner_scope_is_one_of_the_outer_scope, bone_06_a_clean_scope_says_nothing_of_earlier_failures,
         bone_06_a_scope_reports_a_failure_with_the_words_put_in_front_of_it, bone_06_errors_belong_to_their_thread,
         bone_06_a_fresh_failure_replaces_an_old_one, bone_06_after_any_error_every_object_is_valid,
         bone_06_every_status_has_a_name, bone_06_the_library_prints_nothing, bone_06_a_log_callback_gets_what_there_is_to_say,
         bone_06_TENON_LOG_names_a_file_for_it)
