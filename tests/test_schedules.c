/* Schedules of learning rates: against PyTorch (tests/data/optim/generate.py). */
#include "support/test.h"

#include <math.h>

static tn_archive *archive;
static tn_scope scope;
static tn_optimizer *optimizer;

static void set_up(void)
{
    archive = tn_archive_open(TN_TEST_SOURCE_DIR "/tests/data/optim/optim.safetensors");
    ck_assert_msg(archive != NULL, "%s", tn_last_error());
    scope = tn_scope_push();
    optimizer = NULL;
}

/* The cases' optimizer: two groups of one number. */
static void begin(bool adam)
{
    tn_tensor *list[2];
    for (int i = 0; i < 2; i++) list[i] = ck_made(tn_zeros(TN_F32, TN_SHAPE(1), "host"));
    optimizer = adam ? tn_adam(list, 1, 0.1, NULL) : tn_sgd(list, 1, 0.1, &(tn_optimizer_options){.momentum = 0.9});
    ck_assert_int_eq(tn_optimizer_add_group(optimizer, list + 1, 1, 0.02, NULL), 1);
}

static void tear_down(void)
{
    tn_optimizer_release(optimizer);
    (void)tn_scope_pop(scope);
    tn_clear_error();
    tn_archive_close(archive);
}

/* ---- PyTorch's cases ---- */

/* The case's numbers, and how many times. */
static double *table(const char *kind, const char *name, int64_t *steps)
{
    char text[96];
    snprintf(text, sizeof text, "%s.%s", kind, name);
    tn_tensor *x = ck_made(tn_archive_get(archive, text, "host"));
    *steps = tn_dim(x, 0);
    return test_numbers(x);
}

static void ck_rate(double got, double want, const char *name, int64_t t)
{
    ck_assert_msg(fabs(got - want) <= 1e-12 * fabs(want) + 1e-15, "%s, t = %d: %.17g instead of %.17g", name, (int)t, got, want);
}

/* Walks through the case; half-way the state goes to another schedule, which goes on. */
static void follow(const char *name, tn_schedule *s, tn_schedule *other, const double *metrics)
{
    int64_t steps;
    double *rates = table("schedule", name, &steps);
    ck_assert_msg(s && other, "%s", tn_last_error());
    for (int64_t t = 0; t < steps; t++) {
        for (int g = 0; g < 2; g++) ck_rate(tn_optimizer_lr(optimizer, g), rates[2 * t + g], name, t);
        if (t == steps / 2) {
            tn_schedule_state state;
            ck_ok(tn_schedule_get_state(s, &state));
            ck_assert_int_eq(state.step, t);
            ck_ok(tn_schedule_load_state(other, &state));
            s = other;
        }
        if (t + 1 < steps) ck_ok(metrics ? tn_schedule_step_metric(s, metrics[t]) : tn_schedule_step(s));
    }
    free(rates);
}

/* Two schedules of one making are given up behind the case. */
#define FOLLOW(name, make, metrics)                \
    do {                                           \
        tn_schedule *second = make, *first = make; \
        follow(name, first, second, metrics);      \
        tn_schedule_release(first);                \
        tn_schedule_release(second);               \
    } while (0)

START_TEST(steps_are_PyTorchs)
{
    begin(false);
    FOLLOW("step", tn_step_lr(optimizer, 4, 0.5), NULL);
}
END_TEST

START_TEST(milestones_are_PyTorchs)
{
    begin(false);
    FOLLOW("multi_step", tn_multi_step_lr(optimizer, (const int64_t[]){2, 5, 5, 9}, 4, 0.3), NULL);
}
END_TEST

START_TEST(exponential_decay_is_PyTorchs)
{
    begin(false);
    FOLLOW("exponential", tn_exponential_lr(optimizer, 0.9), NULL);
}
END_TEST

START_TEST(cosine_annealing_is_PyTorchs_also_beyond_its_end)
{
    begin(false);
    FOLLOW("cosine", tn_cosine_annealing_lr(optimizer, 10, 0.001), NULL);
}
END_TEST

START_TEST(warm_restarts_are_PyTorchs)
{
    begin(false);
    FOLLOW("restarts", tn_cosine_annealing_warm_restarts(optimizer, 4, 2, 0.001), NULL);
}
END_TEST

START_TEST(warm_restarts_of_one_length_are_PyTorchs)
{
    begin(false);
    FOLLOW("restarts_even", tn_cosine_annealing_warm_restarts(optimizer, 5, 1, 0), NULL);
}
END_TEST

START_TEST(a_linear_warm_up_is_PyTorchs)
{
    begin(false);
    FOLLOW("linear", tn_linear_lr(optimizer, 0.25, 1, 5), NULL);
}
END_TEST

static void ck_momenta(const char *name, tn_schedule *s, bool beta)
{
    int64_t steps;
    double *momenta = table("momentum", name, &steps);
    for (int64_t t = 0; t < steps; t++) {
        tn_optimizer_options o;
        ck_ok(tn_optimizer_get_options(optimizer, 0, &o));
        ck_rate(beta ? o.beta1 : o.momentum, momenta[t], name, t);
        if (t + 1 < steps) ck_ok(tn_schedule_step(s));
    }
    free(momenta);
    tn_schedule_release(s);
}

START_TEST(one_cycle_and_its_momentum_are_PyTorchs)
{
    begin(false);
    FOLLOW("cycle", tn_one_cycle_lr(optimizer, 0.5, 20, NULL), NULL);
    ck_momenta("cycle", tn_one_cycle_lr(optimizer, 0.5, 20, NULL), false);
}
END_TEST

START_TEST(one_cycle_of_three_phases_is_PyTorchs)
{
    begin(false);
    const tn_one_cycle_options o = {.three_phases = true};
    FOLLOW("cycle_three", tn_one_cycle_lr(optimizer, 0.5, 20, &o), NULL);
    ck_momenta("cycle_three", tn_one_cycle_lr(optimizer, 0.5, 20, &o), false);
}
END_TEST

START_TEST(one_cycle_along_lines_moves_the_first_beta)
{
    const tn_one_cycle_options o = {
        .rise = 0.4, .linear = true, .divide = 10, .final_divide = 100, .low_momentum = 0.8, .high_momentum = 0.9};
    begin(true);
    FOLLOW("cycle_adam", tn_one_cycle_lr(optimizer, 0.5, 15, &o), NULL);
    ck_momenta("cycle_adam", tn_one_cycle_lr(optimizer, 0.5, 15, &o), true);
}
END_TEST

static const double metrics[] = {5, 4, 4,   4.5, 4.2, 4.1, 3.99999, 3,   3,   3,   3,   3,  3,
                                 3, 3, NAN, 2.5, 2.5, 2.5, 2.5,     2.5, 2.5, 2.5, 2.5, 2.5};

START_TEST(rates_fall_on_a_plateau_as_PyTorchs)
{
    begin(false);
    FOLLOW("plateau", tn_reduce_lr_on_plateau(optimizer, 2, NULL), metrics);
}
END_TEST

START_TEST(a_plateau_of_what_is_to_rise_is_PyTorchs)
{
    begin(false);
    const tn_plateau_options o = {.highest = true, .factor = 0.5, .threshold = 0.1, .absolute = true, .cooldown = 2, .low = 0.01};
    FOLLOW("plateau_high", tn_reduce_lr_on_plateau(optimizer, 0, &o), metrics);
}
END_TEST

/* A warm-up, then a cosine. */
static tn_schedule *sequence(void)
{
    tn_schedule *part[] = {tn_linear_lr(optimizer, 0.1, 1, 4), tn_cosine_annealing_lr(optimizer, 10, 0)};
    tn_schedule *s = tn_sequential_lr(optimizer, part, 2, (const int64_t[]){4});
    for (int i = 0; i < 2; i++) tn_schedule_release(part[i]);
    return s;
}

START_TEST(a_sequence_of_schedules_is_PyTorchs)
{
    begin(false);
    FOLLOW("sequence", sequence(), NULL);
}
END_TEST

/* ---- what they do not take ---- */

START_TEST(numbers_out_of_range_are_told)
{
    begin(false);
    const int64_t falling[] = {5, 3};
    ck_fails((const void *)tn_step_lr(optimizer, 0, 0.5), TN_ARGUMENT, "step_lr", "0 steps");
    ck_fails((const void *)tn_multi_step_lr(optimizer, falling, 2, 0.5), TN_ARGUMENT, "milestone 1 is 3", "after 5");
    ck_fails((const void *)tn_cosine_annealing_lr(optimizer, -1, 0), TN_ARGUMENT, "-1 steps");
    ck_fails((const void *)tn_cosine_annealing_warm_restarts(optimizer, 3, 0, 0), TN_ARGUMENT, "factor 0");
    ck_fails((const void *)tn_linear_lr(NULL, 0, 1, 3), TN_ARGUMENT, "optimizer");
    ck_fails((const void *)tn_one_cycle_lr(optimizer, 1, 5, &(tn_one_cycle_options){.rise = 1.5}), TN_ARGUMENT, "rise 1.5");
    ck_fails((const void *)tn_reduce_lr_on_plateau(optimizer, 1, &(tn_plateau_options){.factor = 2}), TN_ARGUMENT, "factor 2");
}
END_TEST

START_TEST(a_metric_goes_to_plateaus_only)
{
    begin(false);
    tn_schedule *plateau = tn_reduce_lr_on_plateau(optimizer, 1, NULL), *step = tn_step_lr(optimizer, 1, 0.5);
    ck_fails(tn_schedule_step(plateau), TN_ARGUMENT, "metric");
    ck_fails(tn_schedule_step_metric(step, 1), TN_ARGUMENT, "step_lr", "no metric");
    ck_fails((const void *)tn_sequential_lr(optimizer, &plateau, 1, NULL), TN_ARGUMENT, "reduce_lr_on_plateau");
    ck_fails(tn_schedule_load_state(step, &(tn_schedule_state){.step = -1}), TN_ARGUMENT, "step -1");
    tn_schedule_release(plateau);
    tn_schedule_release(step);
}
END_TEST

START_TEST(one_cycle_ends)
{
    begin(false);
    tn_schedule *s = tn_one_cycle_lr(optimizer, 0.5, 2, NULL);
    ck_ok(tn_schedule_step(s));
    ck_ok(tn_schedule_step(s)); /* as PyTorch lets it */
    const double last = tn_optimizer_lr(optimizer, 0);
    ck_fails(tn_schedule_step(s), TN_ARGUMENT, "one_cycle_lr", "step 3 of 2");
    ck_assert(tn_optimizer_lr(optimizer, 0) == last);
    tn_schedule_release(s);
}
END_TEST

TEST_MAIN("schedules", set_up, tear_down, steps_are_PyTorchs, milestones_are_PyTorchs, exponential_decay_is_PyTorchs,
          cosine_annealing_is_PyTorchs_also_beyond_its_end, warm_restarts_are_PyTorchs, warm_restarts_of_one_length_are_PyTorchs,
          a_linear_warm_up_is_PyTorchs, one_cycle_and_its_momentum_are_PyTorchs, one_cycle_of_three_phases_is_PyTorchs,
          one_cycle_along_lines_moves_the_first_beta, rates_fall_on_a_plateau_as_PyTorchs, a_plateau_of_what_is_to_rise_is_PyTorchs,
          a_sequence_of_schedules_is_PyTorchs, numbers_out_of_range_are_told, a_metric_goes_to_plateaus_only, one_cycle_ends)
