/* Optimizers, clipping and scaled losses: against PyTorch (tests/data/optim/generate.py), and what a step may cost. */
#include "bones.h"

#include "base/alloc.h"
#include "nn/optimizer.h"

#include <math.h>

enum { PARAMETERS = 4, STEPS = 20 };

static tn_archive *archive;

static void open_archive(void)
{
    archive = tn_archive_open(TN_TEST_SOURCE_DIR "/tests/data/optim/optim.safetensors");
    ck_assert_msg(archive != NULL, "%s", tn_last_error());
    bones_push();
}

static void close_archive(void)
{
    tn_archive_close(archive);
    bones_pop();
}

/* ---- PyTorch's cases ---- */

static bool has(const char *name)
{
    bool found = false;
    for (int i = 0; i < tn_archive_count(archive) && !found; i++) found = strcmp(tn_archive_name(archive, i), name) == 0;
    return found;
}

static tn_tensor *entry(const char *device, const char *format, ...)
{
    char name[96];
    va_list list;
    va_start(list, format);
    vsnprintf(name, sizeof name, format, list);
    va_end(list);
    return ck_made(tn_archive_get(archive, name, device));
}

static double entry_number(const char *format, const char *name)
{
    double value = 0;
    ck_ok(tn_item(entry("host", format, name), &value));
    return value;
}

static tn_dtype dtype_of(const char *name)
{
    char text[96];
    for (int d = TN_F16; d <= TN_F64; d++) {
        snprintf(text, sizeof text, "%s/dtype.%s", name, tn_dtype_name((tn_dtype)d));
        if (has(text)) return (tn_dtype)d;
    }
    return TN_F32;
}

static tn_optimizer_options options_of(const char *name)
{
    tn_optimizer_options o = {0};
    char text[96];
    for (int i = 0; i < TN__OPTIONS; i++) {
        snprintf(text, sizeof text, "%s/option.%s", name, tn__option_name(i));
        if (has(text)) tn__option_set(&o, i, entry_number("%s", text));
    }
    return o;
}

static tn_optimizer *optimizer_of(const char *name, tn_tensor *const *list, int count)
{
    tn_optimizer_options o = options_of(name);
    const double lr = entry_number("%s/lr", name), decay = o.weight_decay;
    if (strncmp(name, "adamw.", 6) == 0) {
        o.weight_decay = 0;
        return tn_adamw(list, count, lr, decay, &o);
    }
    return name[0] == 'a' ? tn_adam(list, count, lr, &o) : tn_sgd(list, count, lr, &o);
}

/* The parameters of the cases, on the device under test. */
static void start(tn_tensor **list, tn_dtype dtype, const char *device)
{
    for (int i = 0; i < PARAMETERS; i++) {
        list[i] = ck_made(tn_cast(entry(device, "start.%d", i), dtype));
        ck_ok(tn_set_requires_grad(list[i], true));
    }
}

static tn_tensor *gradient(int i, int step, tn_dtype dtype, const char *device)
{
    return ck_made(tn_to(tn_cast(tn_select(entry("host", "grad.%d", i), 0, step), dtype), device));
}

static void give_gradients(tn_tensor *const *list, int step)
{
    for (int i = 0; i < PARAMETERS; i++)
        ck_ok(tn_set_grad(list[i], gradient(i, step, tn_dtype_of(list[i]), tn_device_of(list[i]))));
}

/* Within so much of the larger one of the value and the tensor's largest. */
static void ck_like(tn_tensor *got, tn_tensor *want, double tolerance, const char *name, int step)
{
    double *g = test_numbers(got), *w = test_numbers(want), most = 0;
    ck_assert_int_eq(tn_numel(got), tn_numel(want));
    for (int64_t i = 0; i < tn_numel(want); i++) most = fmax(most, isfinite(w[i]) ? fabs(w[i]) : 0);
    for (int64_t i = 0; i < tn_numel(want); i++)
        ck_assert_msg(g[i] == w[i] || (isnan(g[i]) && isnan(w[i])) || fabs(g[i] - w[i]) <= tolerance * most,
                      "%s, step %d: %.9g instead of %.9g at %d", name, step, g[i], w[i], (int)i);
    free(g);
    free(w);
}

static void compare_state(tn_optimizer *o, const char *name, double tolerance)
{
    const int count = tn_optimizer_state_count(o);
    for (int i = 0; i < count; i++) {
        const char *entry_name;
        tn_tensor *value;
        char text[96];
        ck_ok(tn_optimizer_state(o, i, &entry_name, &value));
        snprintf(text, sizeof text, "%s/state.%s", name, entry_name);
        if (has(text)) ck_like(value, entry("host", "%s", text), tolerance, text, STEPS);
        const char *dot = strchr(entry_name, '.');
        if (strcmp(dot, ".step") == 0) ck_values(value, {STEPS});
        ck_assert_msg(has(text) || strncmp(entry_name, "group.", 6) == 0 || !strcmp(dot, ".step") || !strcmp(dot, ".master"),
                      "%s is not among PyTorch's", text);
    }
}

static void run_case(const char *name, int steps)
{
    static const double tolerance[] = {[TN_F16] = 2e-3, [TN_BF16] = 1e-2, [TN_F32] = 2e-6, [TN_F64] = 1e-14};
    const tn_dtype dtype = dtype_of(name);
    tn_tensor *list[PARAMETERS];
    const tn_scope scope = tn_scope_push();
    start(list, dtype, test_device());
    tn_optimizer *o = optimizer_of(name, list, PARAMETERS);
    ck_assert_msg(o != NULL, "%s: %s", name, tn_last_error());
    for (int step = 0; step < steps; step++) {
        give_gradients(list, step);
        ck_ok(tn_optimizer_step(o));
        for (int i = 0; i < PARAMETERS; i++)
            ck_like(list[i], tn_select(entry("host", "%s/param.%d", name, i), 0, step), tolerance[dtype], name, step);
    }
    if (steps == STEPS) compare_state(o, name, 1e-5);
    tn_optimizer_release(o);
    ck_ok(tn_scope_pop(scope));
    test_case_passed();
}

static bool is_case(const char *name, char out[96])
{
    const char *end = strstr(name, "/lr");
    if (!end || end[3]) return false;
    snprintf(out, 96, "%.*s", (int)(end - name), name);
    return true;
}

START_TEST(twenty_steps_of_every_optimizer_and_option_are_PyTorchs)
{
    char name[96];
    TN_SKIP_IF(!test_is("host"), "all options on host; devices run some of them");
    int cases = 0;
    for (int i = 0; i < tn_archive_count(archive); i++)
        if (is_case(tn_archive_name(archive, i), name)) run_case(name, STEPS), cases++;
    ck_assert_int_eq(cases, 20);
}
END_TEST

START_TEST(some_steps_of_some_optimizers_are_PyTorchs_on_devices)
{
    NEEDS_OPENCL();
    run_case("sgd.nesterov_decay", 4);
    run_case("adam.amsgrad", 4);
    run_case("adam.bf16", 4);
    run_case("adamw.decay", 4);
}
END_TEST

/* ---- launches ---- */

static const tn_shape *shapes(void)
{
    static tn_shape list[6];
    const tn_shape made[6] = {TN_SHAPE(64, 32), TN_SHAPE(32), TN_SHAPE(3, 5, 7), TN_SHAPE(1), TN_SHAPE(), TN_SHAPE(32)};
    memcpy(list, made, sizeof made);
    return list;
}

enum { SIX = 6 };

/* Parameters with bytes, and gradients with bytes for so many of them. */
static void make_six(tn_tensor **list)
{
    for (int i = 0; i < SIX; i++) {
        list[i] = ck_made(tn_to(tn_rand(TN_F32, shapes()[i], "host"), test_device()));
        ck_ok(tn_set_requires_grad(list[i], true));
    }
}

static void give_six(tn_tensor *const *list, double value)
{
    for (int i = 0; i < SIX; i++) {
        tn_tensor *g = tn_to(tn_mul(tn_rand(TN_F32, shapes()[i], "host"), tn_float(value)), test_device());
        ck_ok(tn_set_grad(list[i], g));
    }
}

START_TEST(a_step_of_adam_over_six_shapes_is_one_launch)
{
    NEEDS_OPENCL();
    tn_tensor *list[SIX];
    make_six(list);
    tn_optimizer *o = tn_adam(list, SIX, 0.01, NULL);
    uint64_t programs = 0;
    for (int step = 0; step < 4; step++) {
        give_six(list, 1);
        tn_optimizer_set_lr(o, 0, 0.01 / (step + 1));
        ck_launches(1, ck_ok(tn_optimizer_step(o)));
        const tn_device_info info = bones_info(test_device());
        if (step > 2) ck_assert_uint_eq(info.programs_built + info.programs_loaded, programs); /* the count of steps is no text */
        programs = info.programs_built + info.programs_loaded;
    }
    give_six(list, 1);
    ck_ok(tn_clip_grad_norm(list, SIX, 0.1, 2, NULL));
    ck_launches(SIX + 2, ck_ok(tn_optimizer_step(o))); /* a sum each, the norm, the step */
    tn_optimizer_release(o);
}
END_TEST

/* ---- what a step leaves alone ---- */

START_TEST(parameters_without_a_gradient_are_passed_over)
{
    TN_SHARED(0, 2);
    tn_tensor *list[] = {test_f32(TN_SHAPE(2), {1, 2}), test_f32(TN_SHAPE(1), {3})};
    tn_optimizer *o = tn_sgd(list, 2, 0.5, &(tn_optimizer_options){.weight_decay = 1});
    ck_ok(tn_set_grad(list[0], test_f32(TN_SHAPE(2), {2, -4})));
    ck_ok(tn_optimizer_step(o));
    ck_tensor_f32(list[0], {-0.5, 3});
    ck_tensor_f32(list[1], {3});
    ck_assert_int_eq(tn_optimizer_state_count(o), 7 + 1); /* a group's numbers, one step */
    tn_optimizer_release(o);
}
END_TEST

START_TEST(a_step_without_any_gradient_is_an_error)
{
    tn_tensor *list[] = {test_f32(TN_SHAPE(2), {1, 2}), test_f32(TN_SHAPE(1), {3})};
    tn_optimizer *o = tn_adam(list, 2, 0.5, NULL);
    ck_fails(tn_optimizer_step(o), TN_ARGUMENT, "optimizer_step", "none of 2 parameters", "tn_backward");
    ck_ok(tn_set_grad(list[0], test_f32(TN_SHAPE(2), {2, -4})));
    ck_ok(tn_optimizer_zero_grad(o));
    ck_fails(tn_optimizer_step(o), TN_ARGUMENT, "none of 2");
    ck_tensor_f32(list[0], {1, 2});
    ck_fails(tn_optimizer_step(NULL), TN_ARGUMENT, "optimizer");
    tn_optimizer_release(o);
}
END_TEST

START_TEST(a_step_without_memory_changes_nothing)
{
    TN_SHARED(0, 2);
    const size_t bytes = 4 << 20;
    tn_tensor *list[2];
    for (int i = 0; i < 2; i++) {
        list[i] = ck_made(tn_to(tn_ones(TN_F32, TN_SHAPE(1 << 20), "host"), test_device()));
        ck_ok(tn_set_grad(list[i], list[i]));
        tn_tensor *g = tn_grad_of(list[i]);
        ck_ok(tn_realize(&g, 1));
    }
    tn_optimizer *o = tn_adam(list, 2, 0.5, NULL);
    ck_ok(tn_optimizer_step(o));
    tn_tensor *before = ck_made(tn_clone(list[0]));
    bones_run(before);
    ck_ok(tn_memory_empty_cache(test_device()));
    const tn_device_info info = bones_info(test_device());
    ck_ok(tn_memory_set_limit(test_device(), info.memory_in_use + 3 * bytes)); /* six are needed */
    ck_fails(tn_optimizer_step(o), TN_MEMORY, test_device());
    ck_ok(tn_memory_set_limit(test_device(), 0));
    ck_same(tn_host(list[0]), before);
    ck_same(tn_host(list[1]), before);
    const char *name;
    tn_tensor *step;
    ck_ok(tn_optimizer_state(o, 8, &name, &step));
    ck_assert_str_eq(name, "0.step");
    ck_values(step, {1});
    ck_ok(tn_optimizer_step(o));
    ck_same(list[0], list[1]);
    tn_optimizer_release(o);
}
END_TEST

/* The n-th allocation fails, for every n: then nothing has changed, and in the end the step is right. */
START_TEST(wherever_an_allocation_fails_a_step_is_whole_or_not_at_all)
{
    TN_SKIP_IF(!test_is("host"), "the same on every device");
    for (int k = 0; k < 2; k++) {
        tn_tensor *list[PARAMETERS];
        const char *name = k ? "adam.bf16" : "adamw.amsgrad";
        int64_t n = 0;
        start(list, dtype_of(name), "host");
        tn_optimizer *o = optimizer_of(name, list, PARAMETERS);
        for (int step = 0; step < 2; step++) {
            give_gradients(list, step);
            tn_tensor *before = ck_made(tn_clone(list[0]));
            const int count = tn_optimizer_state_count(o);
            tn_status status = TN_MEMORY;
            for (n = 1; status != TN_OK; n++) {
                tn__alloc_fail_after(n, 0);
                status = tn_optimizer_step(o);
                tn__alloc_fail_after(0, 0);
                ck_assert_msg(status == TN_OK || status == TN_MEMORY, "%d: %s", (int)n, tn_last_error());
                if (status == TN_OK) break;
                ck_same(list[0], before);
                ck_assert_int_eq(tn_optimizer_state_count(o), count);
                tn_clear_error();
            }
            for (int i = 0; i < PARAMETERS; i++)
                ck_like(list[i], tn_select(entry("host", "%s/param.%d", name, i), 0, step), 1e-2, name, step);
        }
        tn_optimizer_release(o);
    }
}
END_TEST

/* ---- who holds what ---- */

START_TEST(views_and_parts_of_others_are_parameters_too)
{
    TN_SHARED(0, 2);
    tn_tensor *whole = test_f32(TN_SHAPE(2, 3), {1, 2, 3, 4, 5, 6});
    tn_tensor *list[] = {tn_select(whole, 0, 1), tn_transpose(test_f32(TN_SHAPE(2, 1), {8, 9}), 0, 1)};
    tn_optimizer *o = tn_sgd(list, 2, 1, &(tn_optimizer_options){.momentum = 0.5});
    for (int step = 0; step < 2; step++) {
        ck_ok(tn_set_grad(list[0], test_f32(TN_SHAPE(3), {1, 1, 2})));
        ck_ok(tn_set_grad(list[1], test_f32(TN_SHAPE(1, 2), {0, 4})));
        ck_ok(tn_optimizer_step(o));
    }
    ck_tensor_f32(whole, {1, 2, 3, 1.5, 2.5, 1});
    ck_tensor_f32(list[1], {8, -1});
    tn_optimizer_release(o);
}
END_TEST

START_TEST(what_was_computed_before_a_step_keeps_the_old_values)
{
    TN_SHARED(1, 2);
    tn_tensor *x = test_f32(TN_SHAPE(2), {1, 2}), *twice = tn_mul(x, tn_int(2));
    tn_optimizer *o = tn_sgd(&x, 1, 1, NULL);
    ck_ok(tn_set_grad(x, test_f32(TN_SHAPE(2), {1, 1})));
    ck_ok(tn_optimizer_step(o));
    ck_tensor_f32(twice, {2, 4});
    ck_tensor_f32(x, {0, 1});
    tn_optimizer_release(o);
}
END_TEST

START_TEST(an_optimizer_keeps_its_parameters_and_joins_no_scope)
{
    TN_SHARED(0, 2);
    tn_scope scope = tn_scope_push();
    tn_tensor *x = test_f32(TN_SHAPE(2), {2, 3});
    ck_ok(tn_set_grad(x, test_f32(TN_SHAPE(2), {1, 1})));
    tn_optimizer *o = tn_adam(&x, 1, 0.5, NULL);
    ck_ok(tn_optimizer_step(o));
    ck_ok(tn_scope_pop(scope));
    ck_ok(tn_optimizer_step(o));
    ck_close(x, 4, {1, 2});
    tn_optimizer_release(o);
}
END_TEST

/* ---- groups ---- */

START_TEST(groups_have_rates_and_options_of_their_own)
{
    TN_SHARED(1, 2);
    tn_tensor *list[] = {test_f32(TN_SHAPE(1), {1}), test_f32(TN_SHAPE(1), {1}), test_f32(TN_SHAPE(1), {1})};
    tn_optimizer *o = tn_sgd(list, 1, 0.5, &(tn_optimizer_options){.weight_decay = 1});
    ck_assert_int_eq(tn_optimizer_add_group(o, list + 1, 1, 0.25, NULL), 1);
    ck_assert_int_eq(tn_optimizer_add_group(o, list + 2, 1, 0.25, &(tn_optimizer_options){.maximize = true}), 2);
    for (int i = 0; i < 3; i++) ck_ok(tn_set_grad(list[i], test_f32(TN_SHAPE(1), {1})));
    ck_ok(tn_optimizer_step(o));
    ck_tensor_f32(list[0], {0});
    ck_tensor_f32(list[1], {0.5});
    ck_tensor_f32(list[2], {1.25});
    ck_ok(tn_optimizer_set_lr(o, 2, 1));
    ck_assert(tn_optimizer_lr(o, 2) == 1 && tn_optimizer_lr(o, 0) == 0.5 && tn_optimizer_groups(o) == 3);
    ck_assert(isnan(tn_optimizer_lr(o, 3)));
    ck_fails(tn_optimizer_set_lr(o, 3, 1), TN_ARGUMENT, "group 3 of 3");
    ck_fails(tn_optimizer_set_lr(o, 0, -1), TN_ARGUMENT, "lr is -1");
    tn_optimizer_release(o);
}
END_TEST

START_TEST(what_no_optimizer_takes_is_told)
{
    tn_tensor *x = test_f32(TN_SHAPE(2), {1, 2}), *n = test_i32(TN_SHAPE(1), {1}), *y;
    tn_tensor *twice[] = {x, x};
    ck_ok(tn_set_requires_grad(x, true));
    y = tn_mul(x, x);
    ck_fails((const void *)tn_sgd(&x, 1, -1, NULL), TN_ARGUMENT, "sgd", "lr is -1");
    ck_fails((const void *)tn_sgd(&x, 0, 1, NULL), TN_ARGUMENT, "0 parameters");
    ck_fails((const void *)tn_sgd(NULL, 1, 1, NULL), TN_ARGUMENT, "list");
    ck_fails((const void *)tn_sgd(twice, 2, 1, NULL), TN_ARGUMENT, "parameter 1 [2]", "twice");
    ck_fails((const void *)tn_sgd(&n, 1, 1, NULL), TN_DTYPE, "i32", "floats");
    ck_fails((const void *)tn_sgd(&y, 1, 1, NULL), TN_ARGUMENT, "computed", "detach");
    ck_fails((const void *)tn_sgd(&x, 1, 1, &(tn_optimizer_options){.beta1 = 0.5}), TN_ARGUMENT, "beta1", "other optimizers");
    ck_fails((const void *)tn_sgd(&x, 1, 1, &(tn_optimizer_options){.nesterov = true}), TN_ARGUMENT, "nesterov", "momentum 0");
    ck_fails((const void *)tn_adam(&x, 1, 1, &(tn_optimizer_options){.beta2 = 1}), TN_ARGUMENT, "adam: beta2 is 1", "below 1");
    ck_fails((const void *)tn_adam(&x, 1, 1, &(tn_optimizer_options){.epsilon = NAN}), TN_ARGUMENT, "epsilon is nan");
    ck_fails((const void *)tn_adamw(&x, 1, 1, 0.1, &(tn_optimizer_options){.weight_decay = 0.2}), TN_ARGUMENT, "weight_decay",
             "0.1", "0.2");
    tn_optimizer *o = tn_sgd(&x, 1, 1, NULL);
    ck_fails(tn_optimizer_add_group(o, &x, 1, 1, NULL), TN_ARGUMENT, "parameter 1", "as parameter 0");
    ck_assert_int_eq(tn_optimizer_groups(o), 1);
    tn_optimizer_release(o);
}
END_TEST

/* ---- state ---- */

enum { MOST_ENTRIES = 64 };

typedef struct state {
    char names[MOST_ENTRIES][64];
    const char *list[MOST_ENTRIES];
    tn_tensor *values[MOST_ENTRIES];
    int count;
} state;

static void get_state(tn_optimizer *o, state *s)
{
    s->count = tn_optimizer_state_count(o);
    ck_assert_int_le(s->count, MOST_ENTRIES);
    for (int i = 0; i < s->count; i++) {
        const char *name;
        ck_ok(tn_optimizer_state(o, i, &name, &s->values[i]));
        snprintf(s->names[i], sizeof s->names[i], "%s", name);
        s->list[i] = s->names[i];
    }
}

START_TEST(another_optimizer_goes_on_from_a_state_bit_for_bit)
{
    tn_tensor *list[2][PARAMETERS];
    tn_optimizer *o[2];
    state s;
    for (int k = 0; k < 2; k++) {
        start(list[k], TN_F32, test_device());
        o[k] = tn_adam(list[k], PARAMETERS, 0.1, &(tn_optimizer_options){.amsgrad = k == 0});
    }
    for (int step = 0; step < 6; step++) {
        if (step == 3) {
            get_state(o[0], &s);
            ck_ok(tn_optimizer_load_state(o[1], s.list, s.values, s.count));
            const tn_scope scope = tn_scope_push_no_grad();
            for (int i = 0; i < PARAMETERS; i++) ck_ok(tn_assign(list[1][i], list[0][i]));
            ck_ok(tn_scope_pop(scope));
        }
        for (int k = 0; k < 2 && (k == 0 || step >= 3); k++) {
            give_gradients(list[k], step);
            ck_ok(tn_optimizer_step(o[k]));
        }
    }
    for (int i = 0; i < PARAMETERS; i++) ck_same(list[0][i], list[1][i]);
    for (int k = 0; k < 2; k++) tn_optimizer_release(o[k]);
}
END_TEST

START_TEST(a_state_that_does_not_fit_lists_everything_and_changes_nothing)
{
    TN_SHARED(0, 2);
    tn_tensor *x[] = {test_f32(TN_SHAPE(2), {1, 2}), test_f32(TN_SHAPE(), {3})};
    tn_optimizer *o = tn_adam(x, 2, 0.5, NULL);
    state s;
    for (int i = 0; i < 2; i++) ck_ok(tn_set_grad(x[i], tn_ones_like(x[i])));
    ck_ok(tn_optimizer_step(o));
    get_state(o, &s);
    const int count = s.count;
    ck_assert_str_eq(s.names[count - 1], "1.exp_avg_sq");
    s.list[count - 1] = "2.exp_avg_sq";
    s.values[count - 2] = tn_zeros(TN_F32, TN_SHAPE(3), "host");
    ck_assert_str_eq(s.names[0], "group.0.lr");
    s.list[0] = "group.9.lr";
    ck_fails(tn_optimizer_load_state(o, s.list, s.values, count), TN_ARGUMENT, "5 things", "\"group.0.lr\" is missing",
             "\"1.exp_avg\" is f32 [3], its parameter f32 []", "\"1.exp_avg_sq\" is missing", "\"group.9.lr\" is unknown",
             "\"2.exp_avg_sq\" is unknown");
    ck_assert_int_eq(tn_optimizer_state_count(o), count);
    ck_fails(tn_optimizer_load_state(o, NULL, s.values, count), TN_ARGUMENT, "list");
    tn_optimizer_release(o);
}
END_TEST

START_TEST(a_loaded_state_is_a_copy)
{
    TN_SHARED(1, 2);
    tn_tensor *x = test_f32(TN_SHAPE(2), {1, 2});
    tn_optimizer *o = tn_sgd(&x, 1, 1, &(tn_optimizer_options){.momentum = 1});
    state s;
    ck_ok(tn_set_grad(x, test_f32(TN_SHAPE(2), {1, 2})));
    ck_ok(tn_optimizer_step(o));
    get_state(o, &s);
    tn_tensor *momentum = s.values[s.count - 1];
    ck_assert_str_eq(s.names[s.count - 1], "0.momentum_buffer");
    ck_ok(tn_optimizer_load_state(o, s.list, s.values, s.count));
    ck_ok(tn_assign(momentum, tn_int(9)));
    ck_ok(tn_assign(tn_select(momentum, 0, 0), tn_int(8)));
    ck_ok(tn_optimizer_step(o));
    ck_tensor_f32(x, {-2, -4}); /* 1 - 1 - 2, 2 - 2 - 4 */
    ck_tensor_f32(momentum, {8, 9});
    tn_optimizer_release(o);
}
END_TEST

/* ---- 16 bits ---- */

START_TEST(a_master_copy_adds_up_what_16_bits_cannot)
{
    TN_SHARED(0, 2);
    tn_tensor *x = test_values(TN_BF16, TN_SHAPE(2), {256, 256});
    tn_optimizer *o = tn_sgd(&x, 1, 0.25, NULL);
    ck_ok(tn_set_grad(x, test_values(TN_BF16, TN_SHAPE(2), {-1, 1})));
    for (int i = 0; i < 16; i++) ck_ok(tn_optimizer_step(o));
    ck_values(x, {260, 252});
    tn_optimizer_release(o);
}
END_TEST

START_TEST(what_others_write_into_a_16_bit_parameter_counts)
{
    TN_SHARED(1, 2);
    tn_tensor *x = test_values(TN_F16, TN_SHAPE(2), {2048, 2048});
    tn_optimizer *o = tn_sgd(&x, 1, 0.5, NULL);
    ck_ok(tn_set_grad(x, test_values(TN_F16, TN_SHAPE(2), {-1, -1})));
    ck_ok(tn_optimizer_step(o)); /* 2048.5 is 2048 in f16 */
    ck_values(x, {2048, 2048});
    ck_ok(tn_assign(tn_slice(x, 0, 0, 1, 1), tn_int(10)));
    for (int i = 0; i < 3; i++) ck_ok(tn_optimizer_step(o));
    ck_values(x, {11.5, 2050});
    tn_optimizer_release(o);
}
END_TEST

/* ---- devices ---- */

/* As a module moves: the handle stays, its storage is another one. */
static void move(tn_tensor *x, const char *device)
{
    tn_tensor *there = ck_made(tn_to(x, device)), *g = tn_grad_of(x), *moved = NULL;
    if (g != TN_NONE) moved = ck_made(tn_to(g, device));
    tn__storage_set(x->storage, tn__value_retain(there->storage->value));
    if (moved) ck_ok(tn_set_grad(x, moved));
}

START_TEST(C40_state_follows_a_parameter_that_moves_and_comes_back)
{
    TN_SHARED(1, 2);
    tn_tensor *list[2][PARAMETERS];
    tn_optimizer *o[2];
    for (int k = 0; k < 2; k++) {
        start(list[k], TN_F32, "host");
        o[k] = k ? tn_adam(list[k], PARAMETERS, 0.01, NULL) : tn_sgd(list[k], PARAMETERS, 0.1, NULL);
    }
    static const char *const name[] = {"sgd.plain", "adam.plain"};
    for (int step = 0; step < 6; step++)
        for (int k = 0; k < 2; k++) {
            for (int i = 0; i < PARAMETERS && step % 2 == 0; i++) move(list[k][i], step == 2 ? test_device() : "host");
            give_gradients(list[k], step);
            ck_ok(tn_optimizer_step(o[k]));
            for (int i = 0; i < PARAMETERS; i++) {
                ck_assert_str_eq(tn_device_of(list[k][i]), step / 2 == 1 ? test_device() : "host");
                ck_like(list[k][i], tn_select(entry("host", "%s/param.%d", name[k], i), 0, step), 2e-6, name[k], step);
            }
        }
    state s;
    get_state(o[1], &s);
    ck_assert_str_eq(tn_device_of(s.values[s.count - 1]), "host");
    for (int k = 0; k < 2; k++) tn_optimizer_release(o[k]);
}
END_TEST

START_TEST(C40_an_optimizer_made_before_a_module_moves_changes_the_module)
{
    TN_SHARED(0, 2);
    const char *const devices[] = {test_device(), test_device(), "host", test_device()};
    for (int k = 0; k < 2; k++) {
        tn_module *m = tn_linear_new(1, 1, false);
        tn_tensor_list *list = tn_module_parameters(m);
        tn_optimizer *o = k ? tn_adam(list->tensors, list->count, 0.1, NULL) : tn_sgd(list->tensors, list->count, 0.1, NULL);
        tn_tensor *w = list->tensors[0];
        ck_ok(tn_init_constant(w, 1));
        for (int i = 0; i < 4; i++) {
            const double want = k ? 1 - 0.1 * (i + 1) : pow(0.8, i + 1); /* Adam's first steps are as long as its rate */
            double value;
            ck_ok(tn_module_to(m, devices[i]));
            ck_ok(tn_optimizer_zero_grad(o));
            ck_ok(tn_backward(
                tn_sum(tn_square(tn_module_forward(m, tn_ones(TN_F32, TN_SHAPE(1, 1), devices[i]))), TN_ALL_AXES, false)));
            ck_ok(tn_optimizer_step(o));
            ck_assert_ptr_eq(tn_module_tensor(m, "weight"), w);
            ck_assert_str_eq(tn_device_of(w), devices[i]);
            ck_ok(tn_item(w, &value));
            ck_assert_msg(fabs(value - want) < (k ? 0.01 : 1e-6), "step %d: %g instead of %g", i, value, want);
        }
        tn_optimizer_release(o);
        tn_tensor_list_free(list);
        tn_module_release(m);
    }
}
END_TEST

START_TEST(C40_a_state_is_loaded_onto_the_parameters_device)
{
    tn_tensor *x = test_f32(TN_SHAPE(1), {1}), *h = tn_host(x);
    tn_optimizer *there = tn_adam(&x, 1, 0.1, NULL), *here = tn_adam(&h, 1, 0.1, NULL);
    state s;
    ck_ok(tn_set_grad(h, tn_ones(TN_F32, TN_SHAPE(1), "host")));
    ck_ok(tn_optimizer_step(here));
    get_state(here, &s);
    ck_ok(tn_optimizer_load_state(there, s.list, s.values, s.count));
    get_state(there, &s);
    ck_assert_str_eq(s.names[s.count - 1], "0.exp_avg_sq");
    ck_assert_str_eq(tn_device_of(s.values[s.count - 1]), test_device());
    tn_optimizer_release(there);
    tn_optimizer_release(here);
}
END_TEST

/* ---- clipping ---- */

START_TEST(clipping_by_norm_is_PyTorchs)
{
    static const char *const names[] = {"two", "one", "three", "most", "none", "zero", "infinite", "nan"};
    for (int c = 0; c < 8; c++) {
        if (!test_takes(c, 4)) continue;
        char name[32];
        tn_tensor *list[PARAMETERS], *total = NULL;
        snprintf(name, sizeof name, "clip.%s", names[c]);
        start(list, TN_F32, test_device());
        const double factor = entry_number("%s/factor", name);
        for (int i = 0; i < PARAMETERS; i++)
            ck_ok(tn_set_grad(list[i], tn_mul(gradient(i, 0, TN_F32, test_device()), tn_float(factor))));
        ck_ok(tn_clip_grad_norm(list, PARAMETERS, entry_number("%s/max", name), entry_number("%s/p", name), &total));
        ck_assert(test_is("host") || tn_is_pending(total));
        ck_like(total, entry("host", "%s/total", name), 2e-6, name, 0);
        for (int i = 0; i < PARAMETERS; i++)
            ck_like(ck_made(tn_grad_of(list[i])), entry("host", "%s/grad.%d", name, i), 2e-6, name, 0);
    }
}
END_TEST

START_TEST(clipping_leaves_those_without_gradient_and_refuses_wrong_bounds)
{
    tn_tensor *x = test_f32(TN_SHAPE(2), {1, 2}), *total;
    double value = 1;
    ck_ok(tn_clip_grad_norm(&x, 1, 1, 2, &total));
    ck_ok(tn_item(total, &value));
    ck_assert(value == 0 && tn_grad_of(x) == TN_NONE);
    ck_ok(tn_clip_grad_norm(&x, 0, 1, 2, NULL));
    ck_fails(tn_clip_grad_norm(&x, 1, -1, 2, NULL), TN_ARGUMENT, "max_norm is -1");
    ck_fails(tn_clip_grad_norm(&x, 1, 1, 0, NULL), TN_ARGUMENT, "p is 0");
    ck_fails(tn_clip_grad_value(&x, 1, NAN), TN_ARGUMENT, "bound is nan");
    ck_fails(tn_clip_grad_norm(NULL, 1, 1, 2, NULL), TN_ARGUMENT, "list");
}
END_TEST

START_TEST(clipping_by_value_keeps_nan)
{
    TN_SHARED(0, 2);
    tn_tensor *x = test_f32(TN_SHAPE(5), {0, 0, 0, 0, 0});
    ck_ok(tn_set_grad(x, test_f32(TN_SHAPE(5), {-3, 0.5, NAN, INFINITY, -INFINITY})));
    ck_ok(tn_clip_grad_value(&x, 1, 1));
    ck_tensor_f32(tn_grad_of(x), {-1, 0.5, NAN, 1, -1});
}
END_TEST

START_TEST(norms_of_16_bit_gradients_are_summed_in_f32)
{
    TN_SHARED(1, 2);
    tn_tensor *x = test_values(TN_F16, TN_SHAPE(2), {0, 0}), *total;
    double value;
    ck_ok(tn_set_grad(x, test_values(TN_F16, TN_SHAPE(2), {3000, 4000})));
    ck_ok(tn_clip_grad_norm(&x, 1, 50, 2, &total));
    ck_ok(tn_item(total, &value));
    ck_assert(value == 5000);
    ck_values(tn_grad_of(x), {30, 40});
}
END_TEST

/* ---- scaled losses ---- */

START_TEST(a_scaled_loss_gives_scaled_gradients_and_plain_steps)
{
    TN_SHARED(0, 2);
    tn_tensor *x = test_f32(TN_SHAPE(2), {1, 2});
    ck_ok(tn_set_requires_grad(x, true));
    tn_optimizer *o = tn_sgd(&x, 1, 0.25, NULL);
    tn_grad_scaler *s = tn_grad_scaler_new(&(tn_grad_scaler_options){.scale = 1024, .interval = 2});
    tn_grad_scaler_state state_of;
    bool skipped = true;
    for (int i = 0; i < 2; i++) {
        ck_ok(tn_optimizer_zero_grad(o));
        ck_ok(tn_backward(tn_grad_scaler_scale(s, tn_sum(tn_square(x), TN_ALL_AXES, false))));
        if (i == 0) ck_tensor_f32(tn_grad_of(x), {2048, 4096});
        ck_ok(tn_grad_scaler_step(s, o, &skipped));
        ck_assert(!skipped);
        ck_ok(tn_grad_scaler_update(s));
    }
    ck_tensor_f32(x, {0.25, 0.5});
    ck_ok(tn_grad_scaler_get_state(s, &state_of));
    ck_assert(state_of.scale == 2048 && state_of.good_steps == 0);
    tn_grad_scaler_release(s);
    tn_optimizer_release(o);
}
END_TEST

START_TEST(a_step_with_inf_or_nan_is_left_out_and_the_scale_falls)
{
    TN_SHARED(1, 2);
    static const float bad[] = {INFINITY, -INFINITY, NAN};
    tn_tensor *list[] = {test_f32(TN_SHAPE(2), {1, 2}), test_f32(TN_SHAPE(1), {3})};
    tn_optimizer *o = tn_adam(list, 2, 0.25, NULL);
    tn_grad_scaler *s = tn_grad_scaler_new(NULL);
    tn_grad_scaler_state now;
    for (int i = 0; i < 3; i++) {
        bool skipped = false;
        ck_ok(tn_set_grad(list[0], test_f32(TN_SHAPE(2), {1, 1})));
        ck_ok(tn_set_grad(list[1], test_f32(TN_SHAPE(1), {bad[i]})));
        ck_ok(tn_grad_scaler_step(s, o, &skipped));
        ck_assert(skipped);
        ck_ok(tn_grad_scaler_update(s));
    }
    ck_tensor_f32(list[0], {1, 2});
    ck_ok(tn_grad_scaler_get_state(s, &now));
    ck_assert(now.scale == 65536 / 8.0);
    tn_grad_scaler_release(s);
    tn_optimizer_release(o);
}
END_TEST

START_TEST(gradients_are_divided_once_to_be_clipped)
{
    TN_SHARED(0, 2);
    tn_tensor *x = test_f32(TN_SHAPE(2), {0, 0});
    tn_optimizer *o = tn_sgd(&x, 1, 1, NULL);
    tn_grad_scaler *s = tn_grad_scaler_new(&(tn_grad_scaler_options){.scale = 2});
    ck_ok(tn_set_grad(x, test_f32(TN_SHAPE(2), {12, 16})));
    ck_ok(tn_grad_scaler_unscale(s, o));
    ck_tensor_f32(tn_grad_of(x), {6, 8});
    ck_fails(tn_grad_scaler_unscale(s, o), TN_ARGUMENT, "already");
    ck_ok(tn_clip_grad_norm(&x, 1, 5, INFINITY, NULL));
    ck_ok(tn_grad_scaler_step(s, o, NULL));
    ck_close(x, 4, {-3.75, -5});
    ck_ok(tn_optimizer_zero_grad(o));
    ck_fails(tn_grad_scaler_step(s, o, NULL), TN_ARGUMENT, "none of 1");
    ck_fails((const void *)tn_grad_scaler_new(&(tn_grad_scaler_options){.growth = 0.5}), TN_ARGUMENT, "growth 0.5");
    ck_fails(tn_grad_scaler_load_state(s, &(tn_grad_scaler_state){.scale = 0}), TN_ARGUMENT, "scale 0");
    tn_grad_scaler_release(s);
    tn_optimizer_release(o);
}
END_TEST

START_TEST(small_gradients_of_16_bit_parameters_are_divided_in_f32)
{
    TN_SHARED(1, 2);
    tn_tensor *x = test_values(TN_F16, TN_SHAPE(1), {0});
    tn_optimizer *o = tn_sgd(&x, 1, 65536, NULL);
    tn_grad_scaler *s = tn_grad_scaler_new(NULL);
    ck_ok(tn_set_grad(x, test_values(TN_F16, TN_SHAPE(1), {-0.001953125}))); /* 2^-9 / 2^16 is 0 in f16 */
    ck_ok(tn_grad_scaler_step(s, o, NULL));
    ck_values(x, {0.001953125});
    tn_grad_scaler_release(s);
    tn_optimizer_release(o);
}
END_TEST

/* ---- training ---- */

START_TEST(a_line_is_found_by_every_optimizer)
{
    TN_SHARED(1, 2);
    for (int k = 0; k < 3; k++) {
        tn_tensor *w = test_f32(TN_SHAPE(2, 1), {0, 0}), *b = test_f32(TN_SHAPE(1), {0}), *list[] = {w, b};
        tn_tensor *x = test_f32(TN_SHAPE(4, 2), {1, 0, 0, 1, 1, 1, -1, 2}), *y = test_f32(TN_SHAPE(4, 1), {3, -1, 1, -5});
        for (int i = 0; i < 2; i++) ck_ok(tn_set_requires_grad(list[i], true));
        tn_optimizer *o = k == 0   ? tn_sgd(list, 2, 0.1, &(tn_optimizer_options){.momentum = 0.8})
                          : k == 1 ? tn_adam(list, 2, 0.1, NULL)
                                   : tn_adamw(list, 2, 0.1, 0, NULL);
        for (int step = 0; step < 300; step++) {
            const tn_scope scope = tn_scope_push();
            ck_ok(tn_optimizer_zero_grad(o));
            ck_ok(tn_backward(tn_mean(tn_square(tn_sub(tn_add(tn_matmul(x, w), b), y)), TN_ALL_AXES, false)));
            ck_ok(tn_optimizer_step(o));
            ck_ok(tn_scope_pop(scope));
        }
        double *v = test_numbers(w);
        ck_assert_msg(fabs(v[0] - 2) < 0.02 && fabs(v[1] + 2) < 0.02, "%d: %g and %g", k, v[0], v[1]);
        free(v);
        tn_optimizer_release(o);
    }
}
END_TEST

TEST_MAIN("optimizers", open_archive, close_archive, twenty_steps_of_every_optimizer_and_option_are_PyTorchs,
          some_steps_of_some_optimizers_are_PyTorchs_on_devices, a_step_of_adam_over_six_shapes_is_one_launch,
          parameters_without_a_gradient_are_passed_over, a_step_without_any_gradient_is_an_error,
          a_step_without_memory_changes_nothing, wherever_an_allocation_fails_a_step_is_whole_or_not_at_all,
          views_and_parts_of_others_are_parameters_too, what_was_computed_before_a_step_keeps_the_old_values,
          an_optimizer_keeps_its_parameters_and_joins_no_scope, groups_have_rates_and_options_of_their_own,
          what_no_optimizer_takes_is_told, another_optimizer_goes_on_from_a_state_bit_for_bit,
          a_state_that_does_not_fit_lists_everything_and_changes_nothing, a_loaded_state_is_a_copy,
          a_master_copy_adds_up_what_16_bits_cannot, what_others_write_into_a_16_bit_parameter_counts,
          C40_an_optimizer_made_before_a_module_moves_changes_the_module, C40_state_follows_a_parameter_that_moves_and_comes_back,
          C40_a_state_is_loaded_onto_the_parameters_device, clipping_by_norm_is_PyTorchs,
          clipping_leaves_those_without_gradient_and_refuses_wrong_bounds, clipping_by_value_keeps_nan,
          norms_of_16_bit_gradients_are_summed_in_f32, a_scaled_loss_gives_scaled_gradients_and_plain_steps,
          a_step_with_inf_or_nan_is_left_out_and_the_scale_falls, gradients_are_divided_once_to_be_clipped,
          small_gradients_of_16_bit_parameters_are_divided_in_f32, a_line_is_found_by_every_optimizer)
