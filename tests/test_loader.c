/* Loaders: which samples in which order, what a background thread changes (nothing), what bad data gets. */
#include "base/alloc.h"
#include "bones.h"

enum { SAMPLES = 10 };

/* [10, 2] of 10 i, 10 i + 1 and [10] of i. */
static tn_tensor *inputs(void)
{
    tn_tensor *tens = tn_mul(tn_arange(TN_F32, 0, SAMPLES, 1, "host"), tn_int(10));
    return ck_made(tn_add(tn_unsqueeze(tens, 1), tn_arange(TN_F32, 0, 2, 1, "host")));
}

static tn_tensor *targets(void)
{
    return ck_made(tn_arange(TN_I32, 0, SAMPLES, 1, "host"));
}

static tn_loader *loader_of(int64_t batch, tn_loader_options options)
{
    options.device = test_device();
    tn_loader *l = tn_loader_new((tn_tensor *[]){inputs(), targets()}, 2, batch, &options);
    ck_assert_msg(l != NULL, "%s", tn_last_error());
    return l;
}

/* The targets of the rest of an epoch, and that the inputs go with them. Gives how many. */
static int run_epoch(tn_loader *l, int32_t *seen)
{
    int count = 0;
    tn_tensor *batch[2];
    for (int64_t n; (n = tn_loader_next(l, batch)) != 0;) {
        float pair[2 * SAMPLES];
        ck_assert_msg(n > 0, "%s", tn_last_error());
        ck_assert_str_eq(tn_device_of(batch[0]), tn_device_resolve(test_device()));
        ck_shape(batch[0], TN_SHAPE(n, 2));
        ck_shape(batch[1], TN_SHAPE(n));
        ck_ok(tn_read(batch[1], seen + count, (size_t)n * sizeof *seen));
        ck_ok(tn_read(batch[0], pair, (size_t)n * 2 * sizeof *pair));
        for (int i = 0; i < (int)n; i++, count++) {
            ck_assert(pair[2 * i] == (float)(10 * seen[count]));
            ck_assert(pair[2 * i + 1] == (float)(10 * seen[count] + 1));
        }
    }
    return count;
}

static bool all_once(const int32_t *seen, int count)
{
    int times[SAMPLES] = {0};
    for (int i = 0; i < count; i++)
        if (seen[i] < 0 || seen[i] >= SAMPLES || times[seen[i]]++) return false;
    return true;
}

/* ---- order ---- */

START_TEST(without_shuffle_samples_come_in_their_order_and_the_last_batch_is_smaller)
{
    tn_loader *l = loader_of(4, (tn_loader_options){0});
    tn_tensor *batch[2];
    ck_assert_int_eq(tn_loader_length(l), 3);
    ck_assert_int_eq(tn_loader_samples(l), 10);
    for (int epoch = 0; epoch < 2; epoch++) {
        ck_assert_int_eq(tn_loader_next(l, batch), 4);
        ck_tensor_f32(batch[0], {0, 1, 10, 11, 20, 21, 30, 31});
        ck_assert_int_eq(tn_loader_next(l, batch), 4);
        ck_tensor_i32(batch[1], {4, 5, 6, 7});
        ck_assert_int_eq(tn_loader_next(l, batch), 2);
        ck_tensor_f32(batch[0], {80, 81, 90, 91});
        ck_tensor_i32(batch[1], {8, 9});
        ck_assert_int_eq(tn_loader_next(l, batch), 0);
        ck_assert_ptr_null(batch[0]);
        ck_assert_ptr_null(batch[1]);
    }
    tn_loader_release(l);
}
END_TEST

START_TEST(drop_last_leaves_out_what_fills_no_batch)
{
    tn_loader *l = loader_of(4, (tn_loader_options){.drop_last = true});
    int32_t seen[SAMPLES];
    ck_assert_int_eq(tn_loader_length(l), 2);
    ck_assert_int_eq(tn_loader_samples(l), 8);
    ck_assert_int_eq(run_epoch(l, seen), 8);
    tn_loader_release(l);
}
END_TEST

START_TEST(shuffled_epochs_have_every_sample_once_and_differ)
{
    tn_loader *l = loader_of(3, (tn_loader_options){.shuffle = true, .seed = 1});
    int32_t first[SAMPLES], second[SAMPLES];
    ck_assert_int_eq(run_epoch(l, first), SAMPLES);
    ck_assert_int_eq(run_epoch(l, second), SAMPLES);
    ck_assert(all_once(first, SAMPLES) && all_once(second, SAMPLES));
    ck_assert_int_ne(memcmp(first, second, sizeof first), 0);
    tn_loader_release(l);
}
END_TEST

/* Expected: Fisher and Yates over Philox4x32-10 (key 7, counter 2^63 + 10 epoch + i), computed with Python. */
START_TEST(an_order_depends_on_seed_and_epoch_and_on_nothing_else)
{
    const int32_t expected[2][SAMPLES] = {{9, 0, 7, 1, 3, 8, 6, 4, 5, 2}, {6, 3, 9, 4, 8, 7, 5, 1, 0, 2}};
    tn_seed(3);
    tn_loader *l = loader_of(3, (tn_loader_options){.shuffle = true, .seed = 7, .background = true});
    tn_loader *other = loader_of(7, (tn_loader_options){.shuffle = true, .seed = 8});
    int32_t seen[SAMPLES];
    uint64_t seed, position;
    for (int epoch = 0; epoch < 2; epoch++) {
        ck_assert_int_eq(run_epoch(l, seen), SAMPLES);
        for (int i = 0; i < SAMPLES; i++) ck_assert_int_eq(seen[i], expected[epoch][i]);
        ck_assert_int_eq(run_epoch(other, seen), SAMPLES);
        ck_assert_int_ne(memcmp(seen, expected[epoch], sizeof seen), 0);
    }
    tn_random_state(&seed, &position); /* the thread's generator is where it was */
    ck_assert_uint_eq(seed, 3);
    ck_assert_uint_eq(position, 0);
    tn_loader_release(l);
    tn_loader_release(other);
}
END_TEST

START_TEST(a_loader_set_to_a_place_goes_on_with_the_same_batches)
{
    const tn_loader_options options = {.shuffle = true, .seed = 5, .background = true};
    for (int stop = 0; stop <= 8; stop++) {
        tn_loader *whole = loader_of(3, options), *resumed = loader_of(3, options);
        int32_t rest[SAMPLES], again[SAMPLES];
        int64_t epoch, at;
        tn_tensor *batch[2];
        for (int i = 0; i < stop; i++) ck_assert_int_ge(tn_loader_next(whole, batch), 0);
        ck_ok(tn_loader_tell(whole, &epoch, &at));
        ck_assert_int_eq(epoch * 5 + at, stop);
        ck_ok(tn_loader_seek(resumed, epoch, at));
        const int count = run_epoch(whole, rest);
        ck_assert_int_eq(run_epoch(resumed, again), count);
        ck_assert_int_eq(memcmp(rest, again, (size_t)count * sizeof *rest), 0);
        tn_loader_release(whole);
        tn_loader_release(resumed);
    }
}
END_TEST

START_TEST(a_loader_may_be_set_back_while_a_batch_is_being_prepared)
{
    tn_loader *l = loader_of(2, (tn_loader_options){.background = true});
    tn_tensor *batch[2];
    for (int round = 0; round < 20; round++) {
        ck_assert_int_eq(tn_loader_next(l, batch), 2);
        ck_tensor_i32(batch[1], {0, 1});
        ck_ok(tn_loader_seek(l, round, 3));
        ck_assert_int_eq(tn_loader_next(l, batch), 2);
        ck_tensor_i32(batch[1], {6, 7});
        ck_ok(tn_loader_seek(l, round, 0));
    }
    ck_fails(tn_loader_seek(l, 0, 6), TN_ARGUMENT, "batch 6 of epoch 0", "5 batches");
    ck_fails(tn_loader_seek(l, -1, 0), TN_ARGUMENT, "epoch -1");
    tn_loader_release(l);
}
END_TEST

/* ---- arrays ---- */

START_TEST(views_are_taken_by_their_elements)
{
    tn_tensor *x = tn_reshape(tn_arange(TN_I16, 0, 24, 1, "host"), TN_SHAPE(2, 3, 4));
    tn_tensor *arrays[] = {tn_permute(x, TN_AXES(2, 0, 1)), tn_flip(tn_arange(TN_F64, 0, 4, 1, "host"), TN_AXES(0)),
                           tn_expand(tn_ones(TN_BOOL, TN_SHAPE(1, 2), "host"), TN_SHAPE(4, 2)),
                           tn_slice(tn_arange(TN_U8, 0, 9, 1, "host"), 0, 1, TN_END, 2)};
    tn_loader *l = tn_loader_new(arrays, 4, 3, NULL);
    tn_tensor *batch[4];
    ck_assert_int_eq(tn_loader_next(l, batch), 3);
    ck_assert_int_eq(tn_loader_next(l, batch), 1);
    ck_shape(batch[0], TN_SHAPE(1, 2, 3));
    ck_values(batch[0], {3, 7, 11, 15, 19, 23});
    ck_tensor_f64(batch[1], {0});
    ck_tensor_bool(batch[2], {1, 1});
    ck_tensor_u8(batch[3], {7});
    tn_loader_release(l);
}
END_TEST

START_TEST(arrays_are_held_as_they_were_whatever_becomes_of_their_handles)
{
    tn_tensor *x = ck_made(tn_arange(TN_F32, 0, 4, 1, "host"));
    tn_loader *l = tn_loader_new(&x, 1, 4, NULL);
    tn_tensor *batch[1];
    ck_ok(tn_write(x, (const float[]){9, 9, 9, 9}, 16));
    tn_release(x);
    ck_assert_int_eq(tn_loader_next(l, batch), 4);
    ck_tensor_f32(batch[0], {0, 1, 2, 3});
    tn_loader_release(l);
    ck_tensor_f32(batch[0], {0, 1, 2, 3});
}
END_TEST

START_TEST(only_batches_belong_to_a_scope)
{
    const int64_t before = tn_live_count();
    tn_scope scope = tn_scope_push();
    tn_loader *l = loader_of(5, (tn_loader_options){.shuffle = true, .background = true});
    tn_tensor *batch[2];
    ck_assert_int_eq(tn_loader_next(l, batch), 5);
    ck_ok(tn_scope_pop(scope));
    scope = tn_scope_push();
    ck_assert_int_eq(tn_loader_next(l, batch), 5);
    tn_loader_release(l);
    ck_shape(batch[0], TN_SHAPE(5, 2));
    ck_ok(tn_scope_pop(scope));
    ck_assert_int_eq(tn_live_count(), before);
}
END_TEST

START_TEST(empty_data_gives_epochs_without_batches)
{
    tn_tensor *x = tn_zeros(TN_F32, TN_SHAPE(0, 3), "host"), *batch[1];
    tn_loader *l = tn_loader_new(&x, 1, 2, &(tn_loader_options){.shuffle = true, .background = true});
    int64_t epoch;
    ck_assert_int_eq(tn_loader_length(l), 0);
    for (int i = 0; i < 3; i++) ck_assert_int_eq(tn_loader_next(l, batch), 0);
    ck_ok(tn_loader_tell(l, &epoch, NULL));
    ck_assert_int_eq(epoch, 3);
    tn_loader_release(l);
}
END_TEST

START_TEST(samples_without_elements_are_counted)
{
    tn_tensor *arrays[] = {tn_zeros(TN_F32, TN_SHAPE(5, 0), "host"), tn_arange(TN_I32, 0, 5, 1, "host")}, *batch[2];
    tn_loader *l = tn_loader_new(arrays, 2, 3, &(tn_loader_options){.device = test_device()});
    ck_assert_int_eq(tn_loader_next(l, batch), 3);
    ck_shape(batch[0], TN_SHAPE(3, 0));
    ck_tensor_i32(batch[1], {0, 1, 2});
    tn_loader_release(l);
}
END_TEST

START_TEST(a_batch_larger_than_the_data_is_all_of_it)
{
    int32_t seen[SAMPLES];
    tn_loader *l = loader_of(INT64_MAX, (tn_loader_options){0});
    ck_assert_int_eq(tn_loader_length(l), 1);
    ck_assert_int_eq(tn_loader_samples(l), SAMPLES);
    ck_assert_int_eq(run_epoch(l, seen), SAMPLES);
    tn_loader_release(l);
    l = loader_of(11, (tn_loader_options){.drop_last = true});
    ck_assert_int_eq(tn_loader_length(l), 0);
    ck_assert_int_eq(tn_loader_samples(l), 0);
    ck_assert_int_eq(run_epoch(l, seen), 0);
    tn_loader_release(l);
}
END_TEST

/* ---- datasets ---- */

typedef struct source {
    int64_t fails_at; /* a sample; -1: none */
    tn_status code;
    bool explains; /* fails through a call of the library */
    int calls;
} source;

static tn_status make_sample(int64_t index, void *const *out, void *user)
{
    source *s = user;
    s->calls++;
    if (index == s->fails_at && s->explains) {
        tn_tensor *none = tn_load("/no/such/file.npy", NULL);
        return none ? TN_OK : tn_last_status();
    }
    if (index == s->fails_at) return s->code;
    tn_tensor *square = tn_mul(tn_int(index), tn_int(index)); /* made here, gone on return */
    int64_t value;
    const tn_status status = tn_item_int(square, &value);
    ((float *)out[0])[0] = (float)index;
    ((float *)out[0])[1] = (float)value;
    *(uint8_t *)out[1] = (uint8_t)(index * 4); /* a bool */
    return status;
}

static tn_status make_batch(const int64_t *indices, int64_t count, void *const *out, void *user)
{
    void *at[] = {out[0], out[1]};
    for (int64_t i = 0; i < count; i++, at[0] = (float *)at[0] + 2, at[1] = (uint8_t *)at[1] + 1) {
        const tn_status status = make_sample(indices[i], at, user);
        if (status != TN_OK) return status;
    }
    return TN_OK;
}

static const tn_field fields[] = {{TN_F32, {.ndim = 1, .dim = {2}}}, {TN_BOOL, {.ndim = 0}}};

static tn_dataset dataset_of(source *s, bool batch)
{
    return (tn_dataset){.samples = 5,
                        .fields = fields,
                        .field_count = 2,
                        .sample = batch ? NULL : make_sample,
                        .batch = batch ? make_batch : NULL,
                        .user = s};
}

START_TEST(functions_make_samples_or_batches_here_or_in_the_background)
{
    for (int form = 0; form < 4; form++) {
        source s = {.fails_at = -1};
        const tn_dataset data = dataset_of(&s, form & 1);
        const int64_t before = tn_live_count();
        tn_loader *l = tn_loader_over(&data, 3, &(tn_loader_options){.device = test_device(), .background = form & 2});
        tn_tensor *batch[2];
        ck_assert_int_eq(tn_loader_next(l, batch), 3);
        ck_tensor_f32(batch[0], {0, 0, 1, 1, 2, 4});
        ck_tensor_bool(batch[1], {0, 1, 1});
        ck_assert_int_eq(tn_loader_next(l, batch), 2);
        ck_tensor_f32(batch[0], {3, 9, 4, 16});
        ck_assert_int_eq(tn_loader_next(l, batch), 0);
        ck_assert_int_eq(s.calls, 5);
        tn_loader_release(l);
        ck_assert_int_eq(tn_live_count(), before + 4);
    }
}
END_TEST

START_TEST(a_failing_function_is_told_with_its_batch_and_tried_again)
{
    for (int form = 0; form < 4; form++) {
        source s = {.fails_at = 4, .code = TN_CAPABILITY};
        const tn_dataset data = dataset_of(&s, form & 1);
        tn_loader *l = tn_loader_over(&data, 3, &(tn_loader_options){.device = test_device(), .background = form & 2});
        tn_tensor *batch[2];
        ck_assert_int_eq(tn_loader_next(l, batch), 3);
        ck_assert_int_eq(tn_last_status(), TN_OK); /* whatever the thread met: it is told when the batch is asked for */
        ck_fails(tn_loader_next(l, batch), TN_CAPABILITY, "batch 1 of epoch 0", "CAPABILITY");
        ck_assert_ptr_null(batch[0]);
        s.explains = true;
        ck_fails(tn_loader_next(l, batch), TN_FILE, "batch 1 of epoch 0", "/no/such/file.npy");
        s.explains = false;
        s.code = (tn_status)77;
        ck_fails(tn_loader_next(l, batch), TN_ARGUMENT, "no status");
        s.fails_at = -1;
        ck_assert_int_eq(tn_loader_next(l, batch), 2);
        ck_tensor_f32(batch[0], {3, 9, 4, 16});
        tn_loader_release(l);
    }
}
END_TEST

START_TEST(an_error_that_was_pending_stays_and_a_scope_sees_only_what_is_told)
{
    source s = {.fails_at = 4, .code = TN_FORMAT};
    const tn_dataset data = dataset_of(&s, false);
    tn_loader *l = tn_loader_over(&data, 3, &(tn_loader_options){.background = true});
    tn_tensor *batch[2];
    const tn_scope scope = tn_scope_push();
    ck_assert_ptr_null(tn_reshape(NULL, TN_SHAPE(1)));
    ck_assert_int_eq(tn_loader_next(l, batch), 3);
    ck_assert_int_eq(tn_last_status(), TN_ARGUMENT);
    ck_assert_int_eq(tn_scope_pop(scope), TN_ARGUMENT);
    tn_clear_error();
    tn_loader_release(l); /* with a failure that nobody asked for */
    ck_assert_int_eq(tn_last_status(), TN_OK);
}
END_TEST

START_TEST(a_forked_child_makes_the_batch_that_its_parents_thread_was_at)
{
    TN_SKIP_IF(TEST_TSAN, "ThreadSanitizer counts the parent's thread as the child's");
    tn_tensor *x = inputs(), *batch[1];
    int status = 0;
    tn_loader *l = tn_loader_new(&x, 1, 2, &(tn_loader_options){.background = true});
    ck_assert_int_eq(tn_loader_next(l, batch), 2);
    const pid_t child = fork();
    if (child == 0) {
        float first = 0;
        const bool good = tn_loader_next(l, batch) == 2 &&
                          tn_read(tn_select(tn_select(batch[0], 0, 0), 0, 0), &first, sizeof first) == TN_OK && first == 20;
        tn_loader_release(l);
        _exit(good ? 0 : 1);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    tn_loader_release(l);
}
END_TEST

/* ---- what is refused ---- */

START_TEST(what_cannot_be_loaded_is_refused)
{
    tn_tensor *x = inputs(), *y = tn_arange(TN_I32, 0, 9, 1, "host"), *none = NULL;
    ck_fails(tn_loader_new((tn_tensor *[]){x, y}, 2, 2, NULL), TN_SHAPE, "10 samples", "array 1", "9");
    ck_fails(tn_loader_new((tn_tensor *[]){tn_float(1)}, 1, 2, NULL), TN_SHAPE, "0-d");
    ck_fails(tn_loader_new(&x, 1, 0, NULL), TN_ARGUMENT, "batches of 0");
    ck_fails(tn_loader_new(&x, 1, -3, NULL), TN_ARGUMENT, "batches of -3");
    ck_fails(tn_loader_new(&x, 0, 1, NULL), TN_ARGUMENT, "0 arrays");
    ck_fails(tn_loader_new(&none, 1, 1, NULL), TN_ARGUMENT, "NULL");
    ck_fails(tn_loader_new((tn_tensor *[]){TN_NONE}, 1, 1, NULL), TN_ARGUMENT, "TN_NONE");
    ck_fails(tn_loader_new(&x, 1, 2, &(tn_loader_options){.device = "gpu:77"}), TN_DEVICE, "gpu:77");
    ck_fails(tn_loader_next(NULL, &none), TN_ARGUMENT, "loader is NULL");
    tn_loader *l = loader_of(1, (tn_loader_options){0});
    ck_fails(tn_loader_next(l, NULL), TN_ARGUMENT, "out is NULL");
    tn_loader_release(l);
    tn_loader_release(NULL);
}
END_TEST

START_TEST(arrays_of_another_device_are_refused)
{
    NEEDS_OPENCL();
    tn_tensor *x = ck_made(tn_to(inputs(), test_device()));
    ck_fails(tn_loader_new(&x, 1, 2, NULL), TN_DEVICE, "array 0 [10,2]", "tn_host(x)");
}
END_TEST

START_TEST(datasets_that_are_none_are_refused)
{
    source s = {.fails_at = -1};
    tn_dataset data = dataset_of(&s, false);
    ck_fails(tn_loader_over(NULL, 1, NULL), TN_ARGUMENT, "dataset is NULL");
    data.batch = make_batch;
    ck_fails(tn_loader_over(&data, 1, NULL), TN_ARGUMENT, "a sample and a batch function");
    data.batch = NULL, data.sample = NULL;
    ck_fails(tn_loader_over(&data, 1, NULL), TN_ARGUMENT, "no function");
    data = dataset_of(&s, false);
    data.samples = -1;
    ck_fails(tn_loader_over(&data, 1, NULL), TN_ARGUMENT, "-1 samples");
    data.samples = INT64_MAX;
    ck_fails(tn_loader_over(&data, INT64_MAX, NULL), TN_OVERFLOW, "loader");
    tn_field odd = {(tn_dtype)99, {.ndim = 0}};
    data.fields = &odd, data.field_count = 1, data.samples = 5;
    ck_fails(tn_loader_over(&data, 1, NULL), TN_DTYPE, "99");
    odd = (tn_field){TN_F32, {.ndim = -1}};
    ck_fails(tn_loader_over(&data, 1, NULL), TN_SHAPE, "loader");
    odd.shape.ndim = TN_MAX_AXES;
    ck_fails(tn_loader_over(&data, 1, NULL), TN_SHAPE, "loader");
}
END_TEST

START_TEST(without_memory_a_batch_fails_and_comes_later)
{
    tn_loader *l = loader_of(4, (tn_loader_options){.shuffle = true});
    tn_tensor *batch[2];
    int failures = 0;
    for (int n = 1; n < 100; n++) {
        tn__alloc_fail_after(n, 0);
        const int64_t count = tn_loader_next(l, batch);
        tn__alloc_fail_after(0, 0);
        if (count > 0) break;
        ck_assert_int_eq(count, -1);
        ck_assert_int_eq(tn_last_status(), TN_MEMORY);
        ck_assert(!batch[0] && !batch[1]);
        failures++;
    }
    ck_assert_int_gt(failures, 3);
    ck_shape(batch[0], TN_SHAPE(4, 2));
    tn_clear_error();
    tn_loader_release(l);
}
END_TEST

BONES_MAIN("loader", without_shuffle_samples_come_in_their_order_and_the_last_batch_is_smaller,
           drop_last_leaves_out_what_fills_no_batch, shuffled_epochs_have_every_sample_once_and_differ,
           an_order_depends_on_seed_and_epoch_and_on_nothing_else, a_loader_set_to_a_place_goes_on_with_the_same_batches,
           a_loader_may_be_set_back_while_a_batch_is_being_prepared, views_are_taken_by_their_elements,
           arrays_are_held_as_they_were_whatever_becomes_of_their_handles, only_batches_belong_to_a_scope,
           empty_data_gives_epochs_without_batches, samples_without_elements_are_counted, a_batch_larger_than_the_data_is_all_of_it,
           functions_make_samples_or_batches_here_or_in_the_background, a_failing_function_is_told_with_its_batch_and_tried_again,
           an_error_that_was_pending_stays_and_a_scope_sees_only_what_is_told,
           a_forked_child_makes_the_batch_that_its_parents_thread_was_at, what_cannot_be_loaded_is_refused,
           arrays_of_another_device_are_refused, datasets_that_are_none_are_refused, without_memory_a_batch_fails_and_comes_later)
