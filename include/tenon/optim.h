/* Training: optimizers, clipping, schedules of learning rates, scaled losses.
 *
 *     tn_optimizer *adam = tn_adam(parameters, count, 1e-3, NULL);
 *     tn_schedule *schedule = tn_cosine_annealing_lr(adam, steps, 0);
 *     for (int i = 0; i < steps; i++) {
 *         tn_scope scope = tn_scope_push();
 *         tn_optimizer_zero_grad(adam);
 *         tn_backward(loss_of(batch(i)));
 *         tn_optimizer_step(adam);
 *         tn_schedule_step(schedule);
 *         if (tn_scope_pop(scope) != TN_OK) …
 *     }
 *     tn_schedule_release(schedule);
 *     tn_optimizer_release(adam);
 *
 * Names, formulas and defaults are PyTorch's. What an optimizer, schedule or scaler keeps belongs to no scope. None is to be used by
 * two threads at once. */
#ifndef TENON_OPTIM_H
#define TENON_OPTIM_H

#include <tenon/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- optimizers ---- */

typedef struct tn_optimizer tn_optimizer;

/** What may differ between groups of parameters, beside the learning rate. 0 is PyTorch's default, which is written where it is
 *  something else; who means 0 there says 1e-300. */
typedef struct tn_optimizer_options {
    double weight_decay; /* sgd, adam: parameter times this is added to the gradient; adamw: parameter times lr times this goes */
    double momentum;     /* sgd */
    double dampening;    /* sgd: of the gradients behind the first */
    bool nesterov;       /* sgd: needs momentum, and no dampening */
    double beta1;        /* adam, adamw: 0.9 */
    double beta2;        /* adam, adamw: 0.999 */
    double epsilon;      /* adam, adamw: 1e-8 */
    bool amsgrad;        /* adam, adamw */
    bool maximize;       /* goes up instead of down */
} tn_optimizer_options;

/** An optimizer of these parameters, which it retains: leaves of any device. options may be NULL.
 *  dtype  floats; for f16 and bf16 an f32 copy of each parameter is kept and updated, and rounded into it. What somebody else
 *         writes into the parameter counts
 *  error  ARGUMENT (no parameters, one given twice, one that is computed from something; an option that is out of its range, or
 *         another optimizer's), DTYPE, MEMORY: NULL */
TN_API tn_optimizer *tn_sgd(tn_tensor *const *list, int count, double lr, const tn_optimizer_options *options) TN_MUST_USE;
/** Kingma and Ba 2014, Adam: A Method for Stochastic Optimization. */
TN_API tn_optimizer *tn_adam(tn_tensor *const *list, int count, double lr, const tn_optimizer_options *options) TN_MUST_USE;
/** Loshchilov and Hutter 2017, Decoupled Weight Decay Regularization. PyTorch's weight_decay, where nothing is said, is 0.01.
 *  error  and ARGUMENT (options has a weight_decay, too) */
TN_API tn_optimizer *tn_adamw(tn_tensor *const *list, int count, double lr, double weight_decay,
                              const tn_optimizer_options *options) TN_MUST_USE;
/** More parameters, with options of their own; NULL: those of the first group. Returns the group's number, -1 on failure.
 *  error  as above */
TN_API int tn_optimizer_add_group(tn_optimizer *optimizer, tn_tensor *const *list, int count, double lr,
                                  const tn_optimizer_options *options);
/** Gives up the caller's reference; schedules have their own. NULL is allowed. */
TN_API void tn_optimizer_release(tn_optimizer *optimizer);

/** Changes every parameter that has a gradient, all in few launches, and does not wait. A parameter, and what is kept for it, are
 *  where the parameter is now. When it fails, for want of memory say, parameters and state are as they were.
 *  error  ARGUMENT (no parameter has a gradient), DEVICE (a gradient is elsewhere), MEMORY, LOST */
TN_API tn_status tn_optimizer_step(tn_optimizer *optimizer);
/** Takes the gradients of all parameters away. */
TN_API tn_status tn_optimizer_zero_grad(tn_optimizer *optimizer);

/** Number of groups. */
TN_API int tn_optimizer_groups(const tn_optimizer *optimizer);
/** A group's learning rate. error  ARGUMENT (no such group): NaN */
TN_API double tn_optimizer_lr(const tn_optimizer *optimizer, int group);
/** error  ARGUMENT (no such group; lr is negative or not finite) */
TN_API tn_status tn_optimizer_set_lr(tn_optimizer *optimizer, int group, double lr);
/** A group's options, with what stands for 0. error  ARGUMENT (no such group) */
TN_API tn_status tn_optimizer_get_options(const tn_optimizer *optimizer, int group, tn_optimizer_options *options);

/** What is kept, as named tensors: "group.0.lr" and a group's options ("group.0.beta1"); for each parameter that was in a step,
 *  counted over all groups, "0.step" and PyTorch's names ("0.exp_avg"), "0.master" for an f32 copy. */
TN_API int tn_optimizer_state_count(const tn_optimizer *optimizer);
/** The index-th of them: the name stays until the next call for this optimizer, the value is a handle of the caller's which later
 *  steps do not change. error  ARGUMENT (no such index), MEMORY */
TN_API tn_status tn_optimizer_state(tn_optimizer *optimizer, int index, const char **name, tn_tensor **value);
/** Replaces what is kept, all of it or nothing; values may be on any device, and of another float dtype. A parameter without a
 *  "step" begins anew.
 *  error  ARGUMENT (lists every name that is missing, unknown, or of another shape), MEMORY */
TN_API tn_status tn_optimizer_load_state(tn_optimizer *optimizer, const char *const *names, tn_tensor *const *values, int count);

/* ---- clipping: gradients are replaced, nothing runs before they are needed ---- */

/** Scales the gradients of the tensors that have one, so that the p-norm of them all together is at most max_norm; p is above 0,
 *  or INFINITY. total: if not NULL, the norm before that, 0-d, a handle of the caller's. A norm that is not finite is no error: after
 *  inf gradients are 0 or NaN, after NaN they are NaN.
 *  error  ARGUMENT (max_norm or p out of range), MEMORY */
TN_API tn_status tn_clip_grad_norm(tn_tensor *const *list, int count, double max_norm, double p, tn_tensor **total);
/** Clamps every element of the gradients to [-bound, bound]; NaN stays. error  ARGUMENT (bound is negative or NaN), MEMORY */
TN_API tn_status tn_clip_grad_value(tn_tensor *const *list, int count, double bound);

/* ---- mixed precision: losses are scaled up so that small gradients are none of 0 in f16 ---- */

typedef struct tn_grad_scaler tn_grad_scaler;

typedef struct tn_grad_scaler_options {
    double scale;         /* at first; 0: 65536 */
    double growth;        /* factor after `interval` steps without inf and NaN; 0: 2 */
    double backoff;       /* factor after a step with them; 0: 0.5 */
    int64_t interval;     /* 0: 2000 */
} tn_grad_scaler_options;

/** options may be NULL. error  ARGUMENT (scale or interval below 0, growth not above 1, backoff not between 0 and 1), MEMORY */
TN_API tn_grad_scaler *tn_grad_scaler_new(const tn_grad_scaler_options *options) TN_MUST_USE;
TN_API void tn_grad_scaler_release(tn_grad_scaler *scaler);
/** loss times the scale, to be differentiated; f16 and bf16 become f32. dtype  floats */
TN_API tn_tensor *tn_grad_scaler_scale(tn_grad_scaler *scaler, tn_tensor *loss) TN_MUST_USE;
/** Divides the optimizer's gradients by the scale now, to clip them, say; once between two steps. Waits.
 *  error  ARGUMENT (done already; no parameter has a gradient), MEMORY, LOST */
TN_API tn_status tn_grad_scaler_unscale(tn_grad_scaler *scaler, tn_optimizer *optimizer);
/** tn_optimizer_step with gradients divided by the scale, in f32 for 16-bit parameters; or nothing, when one of them is inf or NaN:
 *  *skipped tells (may be NULL). One read.
 *  error  as tn_optimizer_step */
TN_API tn_status tn_grad_scaler_step(tn_grad_scaler *scaler, tn_optimizer *optimizer, bool *skipped);
/** After the steps of all optimizers: the next scale. */
TN_API tn_status tn_grad_scaler_update(tn_grad_scaler *scaler);

typedef struct tn_grad_scaler_state {
    double scale;
    int64_t good_steps; /* since the scale changed */
} tn_grad_scaler_state;
TN_API tn_status tn_grad_scaler_get_state(const tn_grad_scaler *scaler, tn_grad_scaler_state *state);
/** error  ARGUMENT (scale is not above 0, good_steps below 0) */
TN_API tn_status tn_grad_scaler_load_state(tn_grad_scaler *scaler, const tn_grad_scaler_state *state);

/* ---- schedules: functions of how often tn_schedule_step was called, t, and of the groups' learning rates when the optimizer got its
 * first schedule, base. Making one sets the rates for t = 0. A schedule retains its optimizer. ---- */

typedef struct tn_schedule tn_schedule;

/** base gamma^(t / size), a whole number. error  ARGUMENT (size below 1), MEMORY */
TN_API tn_schedule *tn_step_lr(tn_optimizer *optimizer, int64_t size, double gamma) TN_MUST_USE;
/** base times gamma for each milestone that t has reached. error  ARGUMENT (milestones do not rise), MEMORY */
TN_API tn_schedule *tn_multi_step_lr(tn_optimizer *optimizer, const int64_t *milestones, int count, double gamma) TN_MUST_USE;
/** base gamma^t. */
TN_API tn_schedule *tn_exponential_lr(tn_optimizer *optimizer, double gamma) TN_MUST_USE;
/** From base to low in `steps` along half a cosine, and back. error  ARGUMENT (steps below 1), MEMORY */
TN_API tn_schedule *tn_cosine_annealing_lr(tn_optimizer *optimizer, int64_t steps, double low) TN_MUST_USE;
/** From base to low in `steps`, then again from base, each time `factor` times as long.
 *  error  ARGUMENT (steps or factor below 1), MEMORY */
TN_API tn_schedule *tn_cosine_annealing_warm_restarts(tn_optimizer *optimizer, int64_t steps, int64_t factor, double low) TN_MUST_USE;
/** base times a factor that goes from start to end in `steps` and stays: a warm-up. error  ARGUMENT (steps below 1), MEMORY */
TN_API tn_schedule *tn_linear_lr(tn_optimizer *optimizer, double start, double end, int64_t steps) TN_MUST_USE;

typedef struct tn_one_cycle_options {
    double rise;           /* part of the steps in which the rate rises; 0: 0.3 */
    bool linear;           /* along lines instead of cosines */
    double divide;         /* it begins at highest / divide; 0: 25 */
    double final_divide;   /* and ends at the beginning's / final_divide; 0: 1e4 */
    bool three_phases;     /* falls as it rose, then to the end */
    bool keep_momentum;    /* else momentum, or beta1, goes the other way: */
    double low_momentum;   /* 0: 0.85 */
    double high_momentum;  /* 0: 0.95 */
} tn_one_cycle_options;
/** Smith and Topin 2017, Super-Convergence: up to highest and down, once. options may be NULL. Stepping beyond `steps` fails.
 *  error  ARGUMENT (steps below 1; an option out of its range), MEMORY */
TN_API tn_schedule *tn_one_cycle_lr(tn_optimizer *optimizer, double highest, int64_t steps, const tn_one_cycle_options *options) TN_MUST_USE;

typedef struct tn_plateau_options {
    bool highest;      /* the metric is to rise */
    double factor;     /* 0: 0.1 */
    double threshold;  /* what counts as better; 0: 1e-4 */
    bool absolute;     /* by this much, instead of this part */
    int64_t cooldown;  /* steps after a change in which none is bad */
    double low;        /* smallest rate */
} tn_plateau_options;
/** Multiplies the groups' rates by a factor when the metric has not become better for more than `patience` steps. options may be
 *  NULL. error  ARGUMENT (an option out of its range), MEMORY */
TN_API tn_schedule *tn_reduce_lr_on_plateau(tn_optimizer *optimizer, int64_t patience, const tn_plateau_options *options) TN_MUST_USE;
/** list[i] from t = milestones[i - 1] on, for which that is 0; count - 1 milestones. The schedules are retained, and must be of this
 *  optimizer. error  ARGUMENT (one of another optimizer, on a plateau, or a sequence; milestones do not rise), MEMORY */
TN_API tn_schedule *tn_sequential_lr(tn_optimizer *optimizer, tn_schedule *const *list, int count,
                                     const int64_t *milestones) TN_MUST_USE;
TN_API void tn_schedule_release(tn_schedule *schedule);

/** The next t. error  ARGUMENT (a plateau needs its metric; one cycle is over) */
TN_API tn_status tn_schedule_step(tn_schedule *schedule);
/** The same for a plateau. error  ARGUMENT (no other takes a metric) */
TN_API tn_status tn_schedule_step_metric(tn_schedule *schedule, double metric);

typedef struct tn_schedule_state {
    int64_t step;
    double best; /* plateau: the best metric, */
    int64_t bad; /* steps since then, */
    int64_t cooldown; /* and steps of the cooldown that are left */
} tn_schedule_state;
TN_API tn_status tn_schedule_get_state(const tn_schedule *schedule, tn_schedule_state *state);
/** Goes on from there, and sets the rates (a plateau's are in the optimizer's state).
 *  error  ARGUMENT (a number below 0, or beyond the cycle) */
TN_API tn_status tn_schedule_load_state(tn_schedule *schedule, const tn_schedule_state *state);

#ifdef __cplusplus
}
#endif
#endif
