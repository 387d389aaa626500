/* The rules of the optimizers: one step of one parameter over elementwise operations. Numbers that change from step to step are
 * scalars, which kernels take as arguments. The parameter's value comes first in each sum, so that all keep its layout. */
#include "nn/optimizer.h"
#include "core/dtype.h"
#include <math.h>
#include <tenon/ops.h>

tn_dtype tn__state_dtype(tn_dtype parameter)
{
    return tn_dtype_size(parameter) == 2 ? TN_F32 : parameter;
}

static tn_tensor *times(tn_tensor *x, double factor)
{
    return tn_mul(x, tn_float(factor));
}

/* What is kept for the parameter, where it is now and as it is computed now; zeros at first. */
static tn_tensor *kept(const tn__update *u, int state)
{
    tn_tensor *x = u->of->tensor, *s = u->of->state[state];
    if (!s) return tn_zeros(tn__state_dtype(x->dtype), tn__tensor_shape(x), tn_device_of(x));
    return tn_cast(tn_to(s, tn_device_of(x)), tn__state_dtype(x->dtype));
}

/* The parameter's value in f32 or f64. A 16-bit one is the rounding of its master; an element that is not was written by others. */
static tn_tensor *value_of(const tn__update *u)
{
    tn_tensor *x = u->of->tensor, *wide = tn_cast(x, tn__state_dtype(x->dtype));
    if (wide && wide->dtype == x->dtype) return wide;
    if (!u->of->state[TN__STATE_master]) return wide;
    tn_tensor *master = kept(u, TN__STATE_master);
    return tn_where(tn_eq(tn_cast(master, x->dtype), x), master, wide);
}

static tn_tensor *sgd(tn__update *u, tn_tensor *value, tn_tensor *g, const tn__group *group)
{
    const tn_optimizer_options *o = &group->options;
    if (o->weight_decay != 0) g = tn_add(times(value, o->weight_decay), g);
    if (o->momentum != 0) {
        const bool first = !u->of->state[TN__STATE_momentum_buffer];
        tn_tensor *before = kept(u, TN__STATE_momentum_buffer);
        tn_tensor *buffer = first ? tn_add(before, g) : tn_add(times(before, o->momentum), times(g, 1 - o->dampening));
        u->next[TN__STATE_momentum_buffer] = buffer;
        g = o->nesterov ? tn_add(g, times(buffer, o->momentum)) : buffer;
    }
    return tn_sub(value, times(g, group->lr));
}

static tn_tensor *adam(tn__update *u, tn_tensor *value, tn_tensor *g, const tn__group *group, bool decoupled)
{
    const tn_optimizer_options *o = &group->options;
    const double step = (double)(u->of->steps + 1), rate = group->lr / (1 - pow(o->beta1, step));
    if (o->weight_decay != 0 && decoupled)
        value = times(value, 1 - group->lr * o->weight_decay);
    else if (o->weight_decay != 0)
        g = tn_add(times(value, o->weight_decay), g);
    tn_tensor *first = tn_add(times(kept(u, TN__STATE_exp_avg), o->beta1), times(g, 1 - o->beta1));
    tn_tensor *second = tn_add(times(kept(u, TN__STATE_exp_avg_sq), o->beta2), times(tn_mul(g, g), 1 - o->beta2));
    tn_tensor *most = o->amsgrad ? tn_maximum(kept(u, TN__STATE_max_exp_avg_sq), second) : second;
    u->next[TN__STATE_exp_avg] = first;
    u->next[TN__STATE_exp_avg_sq] = second;
    if (o->amsgrad) u->next[TN__STATE_max_exp_avg_sq] = most;
    tn_tensor *root = tn_div(tn_sqrt(most), tn_float(sqrt(1 - pow(o->beta2, step))));
    return tn_sub(value, times(tn_div(first, tn_add(root, tn_float(o->epsilon))), rate));
}

tn_status tn__update_record(tn__update *u, const tn_optimizer *optimizer, double factor)
{
    const tn_dtype dtype = u->of->tensor->dtype;
    const tn__group *group = &optimizer->groups[u->of->group];
    tn_tensor *value = value_of(u), *g = tn_cast(u->gradient, tn__state_dtype(dtype));
    if (group->options.maximize) factor = -factor;
    if (factor != 1) g = times(g, factor);
    value = optimizer->kind == TN__SGD ? sgd(u, value, g, group) : adam(u, value, g, group, optimizer->kind == TN__ADAMW);
    if (value && value->dtype != dtype) u->next[TN__STATE_master] = value;
    u->result = tn_cast(value, dtype);
    return u->result ? TN_OK : tn_last_status();
}
