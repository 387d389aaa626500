/* Checkpoints: what comes back, what does not fit, and who is killed while writing one. */
#define _GNU_SOURCE
#include "bones.h"

#include "base/alloc.h"

#include <dirent.h>
#include <signal.h>

static char folder[64], path[96];

static void set_up(void)
{
    snprintf(folder, sizeof folder, "/tmp/tenon-checkpoint-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/c.safetensors", folder);
    bones_push();
}

static void tear_down(void)
{
    bones_pop();
    DIR *dir = opendir(folder);
    for (struct dirent *e = dir ? readdir(dir) : NULL; e; e = readdir(dir)) {
        char file[400];
        snprintf(file, sizeof file, "%s/%s", folder, e->d_name);
        (void)unlink(file);
    }
    if (dir) closedir(dir);
    (void)rmdir(folder);
}

/* ---- a small training ---- */

typedef struct training {
    tn_tensor *list[3];
    tn_optimizer *optimizer;
    tn_schedule *schedule;
    tn_grad_scaler *scaler;
    double best;
    tn_training_state state;
} training;

static const char *const names[] = {"fc.weight", "fc.bias", "scale"};
static const char *const number_names[] = {"best loss"};

static void begin(training *t, uint64_t seed)
{
    const tn_shape shapes[] = {TN_SHAPE(6, 5), TN_SHAPE(5), TN_SHAPE()};
    *t = (training){.best = 1e9};
    tn_seed(seed);
    for (int i = 0; i < 3; i++) {
        t->list[i] = ck_made(tn_to(tn_rand(TN_F32, shapes[i], "host"), test_device()));
        ck_ok(tn_set_requires_grad(t->list[i], true));
    }
    t->optimizer = tn_adamw(t->list, 3, 0.02, 0.01, NULL);
    t->schedule = tn_cosine_annealing_lr(t->optimizer, 12, 0.001);
    t->scaler = tn_grad_scaler_new(&(tn_grad_scaler_options){.scale = 8, .interval = 3});
    ck_assert(t->optimizer && t->schedule && t->scaler);
    t->state = (tn_training_state){.names = names,
                                   .tensors = t->list,
                                   .count = 3,
                                   .optimizers = &t->optimizer,
                                   .optimizer_count = 1,
                                   .schedules = &t->schedule,
                                   .schedule_count = 1,
                                   .scaler = t->scaler,
                                   .number_names = number_names,
                                   .numbers = &t->best,
                                   .number_count = 1};
}

static void end(training *t)
{
    tn_grad_scaler_release(t->scaler);
    tn_schedule_release(t->schedule);
    tn_optimizer_release(t->optimizer);
}

/* One step on random data; its loss. */
static double step(training *t)
{
    double loss = 0;
    const tn_scope scope = tn_scope_push();
    tn_tensor *x = tn_rand(TN_F32, TN_SHAPE(8, 6), test_device()), *y = tn_rand(TN_F32, TN_SHAPE(8, 5), test_device());
    tn_tensor *error = tn_sub(tn_mul(tn_tanh(tn_add(tn_matmul(x, t->list[0]), t->list[1])), t->list[2]), y);
    tn_tensor *mean = tn_mean(tn_square(error), TN_ALL_AXES, false);
    ck_ok(tn_optimizer_zero_grad(t->optimizer));
    ck_ok(tn_backward(tn_grad_scaler_scale(t->scaler, mean)));
    ck_ok(tn_grad_scaler_step(t->scaler, t->optimizer, NULL));
    ck_ok(tn_grad_scaler_update(t->scaler));
    ck_ok(tn_schedule_step(t->schedule));
    ck_ok(tn_item(mean, &loss));
    ck_ok(tn_scope_pop(scope));
    t->state.step++;
    t->best = loss < t->best ? loss : t->best;
    return loss;
}

START_TEST(a_training_goes_on_from_a_checkpoint_bit_for_bit)
{
    enum { BEFORE = 5, AFTER = 6 };
    double want[AFTER];
    training first, second;
    begin(&first, 1);
    for (int i = 0; i < BEFORE; i++) step(&first);
    first.state.epoch = 3;
    ck_ok(tn_save_checkpoint(path, &first.state));
    for (int i = 0; i < AFTER; i++) want[i] = step(&first);
    begin(&second, 99);
    ck_ok(tn_load_checkpoint(path, &second.state));
    ck_assert(second.state.epoch == 3 && second.state.step == BEFORE);
    ck_assert(tn_optimizer_lr(second.optimizer, 0) < 0.02);
    for (int i = 0; i < AFTER; i++) {
        const double loss = step(&second);
        ck_assert_msg(loss == want[i], "step %d: %.9g instead of %.9g", i, loss, want[i]);
    }
    ck_assert(second.best == first.best);
    for (int i = 0; i < 3; i++) ck_same(first.list[i], second.list[i]);
    end(&first);
    end(&second);
}
END_TEST

START_TEST(a_file_is_plain_safetensors_with_names_that_speak)
{
    training t;
    begin(&t, 1);
    step(&t);
    t.state.epoch = 7;
    ck_ok(tn_save_checkpoint(path, &t.state));
    tn_archive *archive = tn_archive_open(path);
    ck_same(tn_archive_get(archive, "model.fc.weight", "host"), tn_host(t.list[0]));
    ck_values(tn_archive_get(archive, "optimizer.0.2.step", NULL), {1});
    ck_shape(tn_archive_get(archive, "optimizer.0.0.exp_avg", NULL), TN_SHAPE(6, 5));
    ck_values(tn_archive_get(archive, "optimizer.0.group.0.initial_lr", NULL), {0.02});
    ck_values(tn_archive_get(archive, "schedule.0.step", NULL), {1});
    ck_values(tn_archive_get(archive, "scaler.scale", NULL), {8});
    ck_values(tn_archive_get(archive, "number.best loss", NULL), {t.best});
    ck_values(tn_archive_get(archive, "epoch", NULL), {7});
    tn_archive_close(archive);
    end(&t);
}
END_TEST

START_TEST(C88_the_model_alone_of_a_training_on_a_device_loads_on_host)
{
    training t;
    begin(&t, 1);
    step(&t);
    ck_ok(tn_save_checkpoint(path, &t.state));
    tn_tensor *list[] = {tn_zeros(TN_F64, TN_SHAPE(6, 5), "host"), tn_zeros(TN_F32, TN_SHAPE(5), "host"),
                         tn_zeros(TN_F16, TN_SHAPE(), "host")};
    tn_training_state model = {.names = names, .tensors = list, .count = 3, .keep_random = true};
    uint64_t before[2], after[2];
    tn_random_state(&before[0], &before[1]);
    ck_ok(tn_load_checkpoint(path, &model));
    tn_random_state(&after[0], &after[1]);
    ck_assert(before[0] == after[0] && before[1] == after[1] && model.step == 1);
    ck_same(list[0], tn_cast(tn_host(t.list[0]), TN_F64));
    ck_same(list[1], tn_host(t.list[1]));
    ck_same(list[2], tn_cast(tn_host(t.list[2]), TN_F16));
    end(&t);
}
END_TEST

START_TEST(views_and_integers_are_loaded_too)
{
    tn_tensor *whole = test_f32(TN_SHAPE(2, 2), {1, 2, 3, 4}), *n = test_i64(TN_SHAPE(), {1L << 60});
    tn_tensor *list[] = {tn_transpose(whole, 0, 1), n, tn_select(whole, 0, 1)};
    const char *const three[] = {"t", "n", "row"};
    tn_training_state s = {.names = three, .tensors = list, .count = 3};
    ck_ok(tn_save_checkpoint(path, &s));
    ck_ok(tn_assign(whole, tn_int(0)));
    ck_ok(tn_assign(n, tn_int(0)));
    ck_ok(tn_load_checkpoint(path, &s));
    ck_tensor_f32(whole, {1, 2, 3, 4});
    ck_tensor_i64(n, {1L << 60});
}
END_TEST

/* ---- what does not fit ---- */

START_TEST(everything_that_does_not_fit_is_listed_and_nothing_is_set)
{
    training t, other;
    begin(&t, 1);
    step(&t);
    ck_ok(tn_save_checkpoint(path, &t.state));
    begin(&other, 2);
    static const char *const wrong[] = {"fc.weight", "fc.offset", "scale"};
    static const char *const no_number[] = {"worst"};
    tn_tensor *list[] = {other.list[0], other.list[1], test_f32(TN_SHAPE(1), {5})};
    other.state.names = wrong;
    other.state.tensors = list;
    other.state.number_names = no_number;
    tn_tensor *before = tn_clone(other.list[0]);
    bones_run(before);
    ck_fails(tn_load_checkpoint(path, &other.state), TN_ARGUMENT, path, "4 things", "\"number.worst\" is missing",
             "\"model.fc.offset\" is missing", "\"model.scale\" is [], the tensor [1]", "\"model.fc.bias\" is unknown");
    ck_same(other.list[0], before);
    ck_tensor_f32(list[2], {5});
    ck_assert(other.state.step == 0 && tn_optimizer_lr(other.optimizer, 0) == 0.02);
    end(&t);
    end(&other);
}
END_TEST

START_TEST(an_optimizer_of_another_kind_does_not_fit)
{
    training t;
    begin(&t, 1);
    step(&t);
    ck_ok(tn_save_checkpoint(path, &t.state));
    tn_optimizer *sgd = tn_sgd(t.list, 3, 0.1, NULL);
    tn_training_state s = {.optimizers = &sgd, .optimizer_count = 1};
    ck_fails(tn_load_checkpoint(path, &s), TN_ARGUMENT, "\"group.0.momentum\" is missing", "\"group.0.beta1\" is unknown");
    ck_assert(tn_optimizer_lr(sgd, 0) == 0.1);
    tn_optimizer_release(sgd);
    end(&t);
}
END_TEST

START_TEST(files_that_are_no_checkpoints_are_told)
{
    tn_tensor *x = test_f32(TN_SHAPE(1), {5});
    tn_training_state s = {.names = names, .tensors = &x, .count = 1};
    ck_fails(tn_load_checkpoint(path, &s), TN_FILE, path);
    ck_ok(tn_save_safetensors(path, names, &x, 1, NULL));
    ck_fails(tn_load_checkpoint(path, &s), TN_FORMAT, path, "no checkpoint", "1 tensors");
    ck_fails(tn_save_checkpoint("/nonexistent/c", &s), TN_FILE, "/nonexistent/c");
    ck_fails(tn_save_checkpoint(NULL, &s), TN_ARGUMENT, "path");
    s.names = NULL;
    ck_fails(tn_save_checkpoint(path, &s), TN_ARGUMENT, "1 tensors");
    s = (tn_training_state){.names = (const char *const[]){"a", "a"}, .tensors = (tn_tensor *[]){x, x}, .count = 2};
    ck_fails(tn_save_checkpoint(path, &s), TN_ARGUMENT, "\"model.a\"", "twice");
    ck_assert(x == s.tensors[0]);
}
END_TEST

/* Cut anywhere, a file is refused; nothing is set. */
START_TEST(a_checkpoint_cut_short_is_refused)
{
    TN_SKIP_IF(!test_is("host"), "the same on every device");
    training t;
    begin(&t, 1);
    step(&t);
    ck_ok(tn_save_checkpoint(path, &t.state));
    FILE *file = fopen(path, "rb");
    char *bytes = malloc(1 << 16);
    const size_t size = fread(bytes, 1, 1 << 16, file);
    fclose(file);
    ck_assert_uint_lt(size, 1 << 16);
    for (size_t n = 0; n < size; n += 97) {
        file = fopen(path, "wb");
        ck_assert_uint_eq(fwrite(bytes, 1, n, file), n);
        fclose(file);
        ck_assert_int_ne(tn_load_checkpoint(path, &t.state), TN_OK);
        tn_clear_error();
    }
    ck_assert_int_eq(t.state.step, 1);
    free(bytes);
    end(&t);
}
END_TEST

START_TEST(wherever_an_allocation_fails_a_load_is_whole_or_not_at_all)
{
    TN_SKIP_IF(!test_is("host"), "the same on every device");
    training t, other;
    begin(&t, 1);
    step(&t);
    ck_ok(tn_save_checkpoint(path, &t.state));
    for (int64_t n = 1; n < 400; n++) {
        begin(&other, 2);
        tn_tensor *before = ck_made(tn_clone(other.list[0]));
        tn__alloc_fail_after(n, 0);
        const tn_status status = tn_load_checkpoint(path, &other.state);
        tn__alloc_fail_after(0, 0);
        ck_assert_msg(status == TN_OK || status == TN_MEMORY, "%d: %s, %s", (int)n, tn_status_name(status), tn_last_error());
        ck_same(other.list[0], status == TN_OK ? t.list[0] : before);
        ck_assert_int_eq(other.state.step, status == TN_OK);
        ck_assert_int_eq(tn_optimizer_state_count(other.optimizer), status == TN_OK ? 17 : 8);
        tn_clear_error();
        end(&other);
    }
    end(&t);
}
END_TEST

/* ---- kill -9 ---- */

enum { KILLS = TEST_ASAN ? 10 : 50, ELEMENTS = 200000 };

/* Every element of both tensors is the number of the checkpoint, and so is its step. */
static void fill(tn_training_state *s, tn_tensor **list, int64_t number)
{
    static const char *const two[] = {"a", "b"};
    for (int i = 0; i < 2; i++) list[i] = tn_full(TN_F32, TN_SHAPE(ELEMENTS), tn_float((double)number), "host");
    *s = (tn_training_state){.names = two, .tensors = list, .count = 2, .step = number};
}

static void write_from(int64_t number, int64_t count)
{
    for (const int64_t end = number + count; number < end; number++) {
        tn_tensor *list[2];
        tn_training_state s;
        const tn_scope scope = tn_scope_push();
        fill(&s, list, number);
        if (tn_save_checkpoint(path, &s) != TN_OK) _exit(1);
        (void)tn_scope_pop(scope);
    }
    _exit(0);
}

/* Seconds in which a child writes one checkpoint. */
static double time_of_one(void)
{
    int status = 1;
    const double begun = tn__seconds();
    const pid_t child = fork();
    if (child == 0) write_from(1, 1);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    return tn__seconds() - begun;
}

/* The checkpoint that is there, whole. */
static int64_t look(void)
{
    tn_tensor *list[2];
    tn_training_state s;
    const tn_scope scope = tn_scope_push();
    fill(&s, list, -1);
    ck_ok(tn_load_checkpoint(path, &s));
    for (int i = 0; i < 2; i++) {
        double low = 0, high = 0;
        ck_ok(tn_item(tn_min(list[i], TN_ALL_AXES, false), &low));
        ck_ok(tn_item(tn_max(list[i], TN_ALL_AXES, false), &high));
        ck_assert_msg(low == (double)s.step && high == (double)s.step, "checkpoint %d holds %g to %g", (int)s.step, low, high);
    }
    ck_ok(tn_scope_pop(scope));
    return s.step;
}

START_TEST(whoever_is_killed_while_writing_leaves_a_whole_checkpoint)
{
    TN_SKIP_IF(!test_is("host"), "a forked child has no OpenCL");
    test_random random = {test_seed(1)};
    int64_t last = 1;
    const double takes = time_of_one();
    for (int i = 0; i < KILLS; i++) {
        int status = 0;
        const pid_t child = fork();
        if (child == 0) write_from(last + 1, INT32_MAX);
        usleep((useconds_t)(3e6 * takes * test_unit(&random)));
        kill(child, SIGKILL);
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert_msg(WIFSIGNALED(status), "the child ended by itself");
        const int64_t now = look();
        ck_assert_int_ge(now, last);
        last = now;
    }
    ck_assert_int_gt(last, 1);
}
END_TEST

TEST_MAIN("checkpoint", set_up, tear_down, a_training_goes_on_from_a_checkpoint_bit_for_bit,
          a_file_is_plain_safetensors_with_names_that_speak, C88_the_model_alone_of_a_training_on_a_device_loads_on_host,
          views_and_integers_are_loaded_too, everything_that_does_not_fit_is_listed_and_nothing_is_set,
          an_optimizer_of_another_kind_does_not_fit, files_that_are_no_checkpoints_are_told, a_checkpoint_cut_short_is_refused,
          wherever_an_allocation_fails_a_load_is_whole_or_not_at_all, whoever_is_killed_while_writing_leaves_a_whole_checkpoint)
