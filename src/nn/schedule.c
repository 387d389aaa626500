/* Schedules: a learning rate as a function of the base rate and the number of steps. */
#include "nn/optimizer.h"
#include "nn/training.h"
#include "base/alloc.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

typedef struct rule {
    const char *name;
    double (*rate)(const tn_schedule *s, double base, int64_t t); /* NULL: more than a rate changes */
    void (*apply)(tn_schedule *s, int64_t t);
} rule;

struct tn_schedule {
    int references;
    const rule *rule;
    tn_optimizer *optimizer;
    tn_schedule_state state;
    double a, b;  /* the rule's numbers: gamma, low, start and end, highest */
    int64_t n, m; /* steps, size, patience; factor */
    int64_t *milestones;
    int count;          /* of milestones */
    tn_schedule **list; /* of a sequence, count + 1 */
    tn_one_cycle_options cycle;
    tn_plateau_options plateau;
};

/* ---- the rates ---- */

static double step_rate(const tn_schedule *s, double base, int64_t t)
{
    return base * pow(s->a, (double)(t / s->n));
}

static double multi_step_rate(const tn_schedule *s, double base, int64_t t)
{
    int passed = 0;
    while (passed < s->count && s->milestones[passed] <= t) passed++;
    return base * pow(s->a, passed);
}

static double exponential_rate(const tn_schedule *s, double base, int64_t t)
{
    return base * pow(s->a, (double)t);
}

static double half_cosine(double from, double to, double part)
{
    return to + (from - to) * (1 + cos(acos(-1.0) * part)) / 2;
}

static double cosine_rate(const tn_schedule *s, double base, int64_t t)
{
    return half_cosine(base, s->b, (double)t / (double)s->n);
}

static double restarts_rate(const tn_schedule *s, double base, int64_t t)
{
    int64_t period = s->n;
    if (s->m == 1) t %= period;
    for (; t >= period; period *= s->m) t -= period;
    return half_cosine(base, s->b, (double)t / (double)period);
}

static double linear_rate(const tn_schedule *s, double base, int64_t t)
{
    return base * (s->a + (s->b - s->a) * (double)(t < s->n ? t : s->n) / (double)s->n);
}

static void apply_rate(tn_schedule *s, int64_t t)
{
    for (int g = 0; g < s->optimizer->groups_count; g++) {
        tn__group *group = &s->optimizer->groups[g];
        if (isnan(group->base)) group->base = group->lr;
        group->lr = s->rule->rate(s, group->base, t);
    }
}

/* ---- one cycle ---- */

/* Value at t of what goes through these points at these times, along half cosines or lines. */
static double through(const tn_schedule *s, const double *value, const double *end, int phases, double t)
{
    int i = 0;
    while (i < phases - 1 && t > end[i]) i++;
    const double begin = i ? end[i - 1] : 0, part = end[i] > begin ? (t - begin) / (end[i] - begin) : 1;
    return s->cycle.linear ? value[i] + (value[i + 1] - value[i]) * part : half_cosine(value[i], value[i + 1], part);
}

static void apply_cycle(tn_schedule *s, int64_t t)
{
    const tn_one_cycle_options *c = &s->cycle;
    const double first = s->a / c->divide, last = first / c->final_divide, n = (double)s->n;
    const double low = c->low_momentum, high = c->high_momentum;
    const double rates[] = {first, s->a, c->three_phases ? first : last, last}, momenta[] = {high, low, high, high};
    const double end[] = {c->rise * n - 1, c->three_phases ? 2 * c->rise * n - 2 : n - 1, n - 1};
    const int phases = c->three_phases ? 3 : 2;
    for (int g = 0; g < s->optimizer->groups_count; g++) {
        tn__group *group = &s->optimizer->groups[g];
        group->base = first;
        group->lr = through(s, rates, end, phases, (double)t);
        if (c->keep_momentum) continue;
        const double momentum = through(s, momenta, end, phases, (double)t);
        *(s->optimizer->kind == TN__SGD ? &group->options.momentum : &group->options.beta1) = momentum;
    }
}

/* ---- sequences and plateaus ---- */

/* The one whose turn it is at t, and what t is for it. */
static tn_schedule *turn_of(const tn_schedule *s, int64_t *t)
{
    int i = 0;
    while (i < s->count && s->milestones[i] <= *t) i++;
    if (i > 0) *t -= s->milestones[i - 1];
    return s->list[i];
}

static void apply_sequence(tn_schedule *s, int64_t t)
{
    tn_schedule *now = turn_of(s, &t);
    now->rule->apply(now, t);
}

static void apply_nothing(tn_schedule *s, int64_t t)
{
    (void)s;
    (void)t;
}

static bool is_better(const tn_plateau_options *o, double metric, double best)
{
    const double margin = o->absolute ? o->threshold : best * o->threshold;
    return o->highest ? metric > (isinf(best) ? best : best + margin) : metric < (isinf(best) ? best : best - margin);
}

static void reduce_rates(tn_schedule *s)
{
    const double least_change = 1e-8; /* PyTorch's eps */
    for (int g = 0; g < s->optimizer->groups_count; g++) {
        tn__group *group = &s->optimizer->groups[g];
        const double next = fmax(group->lr * s->plateau.factor, s->plateau.low);
        if (group->lr - next > least_change) group->lr = next;
    }
}

static void step_plateau(tn_schedule *s, double metric)
{
    tn_schedule_state *now = &s->state;
    now->step++;
    now->bad++;
    if (is_better(&s->plateau, metric, now->best)) {
        now->best = metric;
        now->bad = 0;
    }
    if (now->cooldown > 0) {
        now->cooldown--;
        now->bad = 0;
    }
    if (now->bad <= s->n) return;
    reduce_rates(s);
    now->cooldown = s->plateau.cooldown;
    now->bad = 0;
}

/* ---- making one ---- */

static const rule step_rule = {"step_lr", step_rate, apply_rate}, multi_step_rule = {"multi_step_lr", multi_step_rate, apply_rate},
                  exponential_rule = {"exponential_lr", exponential_rate, apply_rate},
                  cosine_rule = {"cosine_annealing_lr", cosine_rate, apply_rate},
                  restarts_rule = {"cosine_annealing_warm_restarts", restarts_rate, apply_rate},
                  linear_rule = {"linear_lr", linear_rate, apply_rate}, cycle_rule = {"one_cycle_lr", NULL, apply_cycle},
                  plateau_rule = {"reduce_lr_on_plateau", NULL, apply_nothing},
                  sequence_rule = {"sequential_lr", NULL, apply_sequence};

static tn_status copy_milestones(tn_schedule *s, const int64_t *milestones, int count)
{
    const char *function = s->rule->name;
    if (count < 0 || (count > 0 && !milestones)) return tn__fail(TN_ARGUMENT, "%s: a list of %d milestones", function, count);
    for (int i = 0; i < count; i++)
        if (milestones[i] < (i ? milestones[i - 1] : 0))
            return tn__fail(TN_ARGUMENT, "%s: milestone %d is %" PRId64 ", after %" PRId64, function, i, milestones[i],
                            i ? milestones[i - 1] : 0);
    s->milestones = tn__alloc((size_t)count * sizeof *s->milestones);
    if (!s->milestones) return TN_MEMORY;
    if (count) memcpy(s->milestones, milestones, (size_t)count * sizeof *milestones);
    s->count = count;
    return TN_OK;
}

/* A copy of `like` on the heap, with milestones. NULL with an error. */
static tn_schedule *create(const tn_schedule *like, tn_optimizer *optimizer, const int64_t *milestones, int count)
{
    if (!optimizer) return (void)tn__fail_null(like->rule->name, "optimizer"), NULL;
    tn_schedule *s = tn__alloc(sizeof *s);
    if (!s) return NULL;
    *s = *like;
    s->references = 1;
    s->optimizer = tn__optimizer_retain(optimizer);
    if (copy_milestones(s, milestones, count) != TN_OK) {
        tn_schedule_release(s);
        return NULL;
    }
    return s;
}

/* Sets the rates for t = 0. */
static tn_schedule *start(tn_schedule *s)
{
    if (s) s->rule->apply(s, 0);
    return s;
}

static tn_schedule *create_simple(const tn_schedule *like, tn_optimizer *optimizer)
{
    if (like->n < 1 || like->m < 1)
        return TN__NULL(TN_ARGUMENT, "%s: %" PRId64 " steps, factor %" PRId64 "; 1 or more", like->rule->name, like->n, like->m);
    return start(create(like, optimizer, NULL, 0));
}

tn_schedule *tn_step_lr(tn_optimizer *optimizer, int64_t size, double gamma)
{
    return create_simple(&(tn_schedule){.rule = &step_rule, .n = size, .m = 1, .a = gamma}, optimizer);
}

tn_schedule *tn_multi_step_lr(tn_optimizer *optimizer, const int64_t *milestones, int count, double gamma)
{
    return start(create(&(tn_schedule){.rule = &multi_step_rule, .a = gamma}, optimizer, milestones, count));
}

tn_schedule *tn_exponential_lr(tn_optimizer *optimizer, double gamma)
{
    return start(create(&(tn_schedule){.rule = &exponential_rule, .a = gamma}, optimizer, NULL, 0));
}

tn_schedule *tn_cosine_annealing_lr(tn_optimizer *optimizer, int64_t steps, double low)
{
    return create_simple(&(tn_schedule){.rule = &cosine_rule, .n = steps, .m = 1, .b = low}, optimizer);
}

tn_schedule *tn_cosine_annealing_warm_restarts(tn_optimizer *optimizer, int64_t steps, int64_t factor, double low)
{
    return create_simple(&(tn_schedule){.rule = &restarts_rule, .n = steps, .m = factor, .b = low}, optimizer);
}

tn_schedule *tn_linear_lr(tn_optimizer *optimizer, double start, double end, int64_t steps)
{
    return create_simple(&(tn_schedule){.rule = &linear_rule, .n = steps, .m = 1, .a = start, .b = end}, optimizer);
}

/* Puts what stands for 0 into its place. */
static void replace_zero(double *value, double otherwise)
{
    if (*value == 0) *value = otherwise;
}

tn_schedule *tn_one_cycle_lr(tn_optimizer *optimizer, double highest, int64_t steps, const tn_one_cycle_options *options)
{
    tn_schedule s = {.rule = &cycle_rule, .n = steps, .m = 1, .a = highest};
    if (options) s.cycle = *options;
    replace_zero(&s.cycle.rise, 0.3);
    replace_zero(&s.cycle.divide, 25);
    replace_zero(&s.cycle.final_divide, 1e4);
    replace_zero(&s.cycle.low_momentum, 0.85);
    replace_zero(&s.cycle.high_momentum, 0.95);
    if (!(s.cycle.rise > 0 && s.cycle.rise <= 1) || !(s.cycle.divide > 0) || !(s.cycle.final_divide > 0) || !(highest >= 0))
        return TN__NULL(TN_ARGUMENT,
                        "one_cycle_lr: highest %g, rise %g, divide %g, final_divide %g; rise is a part, the others above 0",
                        highest, s.cycle.rise, s.cycle.divide, s.cycle.final_divide);
    return create_simple(&s, optimizer);
}

tn_schedule *tn_reduce_lr_on_plateau(tn_optimizer *optimizer, int64_t patience, const tn_plateau_options *options)
{
    tn_schedule s = {.rule = &plateau_rule, .n = patience};
    if (options) s.plateau = *options;
    replace_zero(&s.plateau.factor, 0.1);
    replace_zero(&s.plateau.threshold, 1e-4);
    s.state.best = s.plateau.highest ? -(double)INFINITY : (double)INFINITY;
    if (patience < 0 || s.plateau.cooldown < 0 || !(s.plateau.factor > 0 && s.plateau.factor < 1))
        return TN__NULL(TN_ARGUMENT,
                        "reduce_lr_on_plateau: patience %" PRId64 ", cooldown %" PRId64
                        ", factor %g; 0 or more, and between 0 and 1",
                        patience, s.plateau.cooldown, s.plateau.factor);
    return create(&s, optimizer, NULL, 0);
}

static tn_status check_sequence(const tn_optimizer *optimizer, tn_schedule *const *list, int count)
{
    if (count < 1 || !list) return tn__fail(TN_ARGUMENT, "sequential_lr: a list of %d schedules", count);
    for (int i = 0; i < count; i++) {
        if (!list[i]) return tn__fail_null("sequential_lr", "an entry of the list");
        if (list[i]->optimizer != optimizer) return tn__fail(TN_ARGUMENT, "sequential_lr: schedule %d is another optimizer's", i);
        if (list[i]->rule == &plateau_rule || list[i]->rule == &sequence_rule)
            return tn__fail(TN_ARGUMENT, "sequential_lr: schedule %d is a %s", i, list[i]->rule->name);
    }
    return TN_OK;
}

tn_schedule *tn_sequential_lr(tn_optimizer *optimizer, tn_schedule *const *list, int count, const int64_t *milestones)
{
    if (check_sequence(optimizer, list, count) != TN_OK) return NULL;
    tn_schedule *s = create(&(tn_schedule){.rule = &sequence_rule}, optimizer, milestones, count - 1);
    if (!s) return NULL;
    s->list = tn__alloc((size_t)count * sizeof *s->list);
    if (!s->list) {
        tn_schedule_release(s);
        return NULL;
    }
    for (int i = 0; i < count; i++) {
        s->list[i] = list[i];
        list[i]->references++;
    }
    return start(s);
}

void tn_schedule_release(tn_schedule *s)
{
    if (!s || --s->references > 0) return;
    for (int i = 0; s->list && i <= s->count; i++) tn_schedule_release(s->list[i]);
    tn_optimizer_release(s->optimizer);
    tn__free(s->list);
    tn__free(s->milestones);
    tn__free(s);
}

/* ---- going on ---- */

tn_status tn__schedule_check(const tn_schedule *s, const tn_schedule_state *state)
{
    if (state->step < 0 || state->bad < 0 || state->cooldown < 0)
        return tn__fail(TN_ARGUMENT, "%s: step %" PRId64 ", bad %" PRId64 ", cooldown %" PRId64 "; 0 or more", s->rule->name,
                        state->step, state->bad, state->cooldown);
    int64_t t = state->step;
    if (s->rule == &sequence_rule) s = turn_of(s, &t);
    if (s->rule == &cycle_rule && t > s->n) return tn__fail(TN_ARGUMENT, "one_cycle_lr: step %" PRId64 " of %" PRId64, t, s->n);
    return TN_OK;
}

static void go_to(tn_schedule *s, const tn_schedule_state *state)
{
    s->state = *state;
    s->rule->apply(s, state->step);
}

tn_status tn_schedule_load_state(tn_schedule *s, const tn_schedule_state *state)
{
    if (!s || !state) return tn__fail_null("schedule_load_state", s ? "state" : "schedule");
    TN__TRY(tn__schedule_check(s, state));
    go_to(s, state);
    return TN_OK;
}

tn_status tn_schedule_get_state(const tn_schedule *s, tn_schedule_state *state)
{
    if (!s || !state) return tn__fail_null("schedule_get_state", s ? "state" : "schedule");
    *state = s->state;
    return TN_OK;
}

tn_status tn_schedule_step(tn_schedule *s)
{
    if (!s) return tn__fail_null("schedule_step", "schedule");
    if (s->rule == &plateau_rule)
        return tn__fail(TN_ARGUMENT, "schedule_step: a plateau needs its metric; tn_schedule_step_metric");
    tn_schedule_state next = s->state;
    next.step++;
    return tn_schedule_load_state(s, &next);
}

tn_status tn_schedule_step_metric(tn_schedule *s, double metric)
{
    if (!s) return tn__fail_null("schedule_step_metric", "schedule");
    if (s->rule != &plateau_rule) return tn__fail(TN_ARGUMENT, "schedule_step_metric: %s takes no metric", s->rule->name);
    step_plateau(s, metric);
    return TN_OK;
}
