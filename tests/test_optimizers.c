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

TEST_MAIN("optimizers", open_archive, close_archive, twenty_steps_of_every_optimizer_and_option_are_PyTorchs,
          some_steps_of_some_optimizers_are_PyTorchs_on_devices)
