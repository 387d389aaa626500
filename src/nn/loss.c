/* Losses of one element each: numbers and probabilities. */
#include "nn/loss.h"
#include <math.h>

/* ---- what they share ---- */

static tn_status check_operands(const tn__loss_form *form, tn_tensor *const *operands, tn_reduction reduction)
{
    for (int i = 0; i < form->needed; i++) TN__TRY(tn__tensor_check(operands[i], form->name, form->words[i]));
    for (int i = 0; i < form->floats; i++)
        if (!tn_dtype_is_float(operands[i]->dtype))
            return tn__fail(TN_DTYPE, "%s: %s is %s; floats only", form->name, form->words[i], tn_dtype_name(operands[i]->dtype));
    return (unsigned)reduction <= TN_REDUCE_SUM ? TN_OK
                                                : tn__fail(TN_ARGUMENT, "%s: %d is no reduction", form->name, (int)reduction);
}

tn_status tn__loss_start(tn__loss *l, const tn__loss_form *form, tn_tensor *const *operands, tn_reduction reduction)
{
    tn_tensor *given[TN__LOSS_OPERANDS], *moved[TN__LOSS_OPERANDS];
    int count = 0;
    *l = (tn__loss){.name = form->name, .reduction = reduction};
    TN__TRY(check_operands(form, operands, reduction));
    if (!tn__promote_list(operands, form->floats, &l->dtype)) return tn_last_status();
    l->scope = tn_scope_push();
    l->started = true;
    for (int i = 0; i < form->count; i++)
        if (operands[i] && operands[i] != TN_NONE) given[count++] = operands[i];
    if (!tn__common_device(form->name, given, count, moved)) return tn_last_status();
    for (int i = 0, k = 0; i < form->count; i++) {
        l->x[i] = TN_NONE;
        if (!operands[i] || operands[i] == TN_NONE) continue;
        if (!(l->x[i] = tn__wide(moved[k] ? moved[k] : given[k]))) return tn_last_status();
        k++;
    }
    return TN_OK;
}

tn_status tn__loss_shapes(const tn__loss *l, bool broadcast)
{
    const tn_tensor *a = l->x[0], *b = l->x[1];
    tn_shape first = tn__tensor_shape(a), second = tn__tensor_shape(b), both;
    if (tn__shape_equal(&first, &second)) return TN_OK;
    if (!broadcast || !tn__shape_broadcast(&first, &second, &both))
        return tn__fail(TN_SHAPE, "%s: x %s and target %s%s", l->name, tn__shape_text(a->ndim, a->dim),
                        tn__shape_text(b->ndim, b->dim), broadcast ? " do not broadcast" : "; they have one shape");
    tn__log(1, "%s: x %s and target %s are not of one shape, and broadcast", l->name, tn__shape_text(a->ndim, a->dim),
            tn__shape_text(b->ndim, b->dim));
    return TN_OK;
}

tn_tensor *tn__loss_end(tn__loss *l, tn_tensor *y)
{
    return l->started ? tn__leave_as(l->scope, y, l->dtype) : NULL;
}

tn_tensor *tn__loss_reduce(tn__loss *l, tn_tensor *y)
{
    if (y && l->reduction == TN_REDUCE_MEAN) y = tn_mean(y, TN_ALL_AXES, false);
    if (y && l->reduction == TN_REDUCE_SUM) y = tn_sum(y, TN_ALL_AXES, false);
    return tn__loss_end(l, y);
}

/* Of x and target, both floats, that broadcast. */
static bool start(tn__loss *l, const char *name, tn_tensor *x, tn_tensor *target, tn_reduction reduction)
{
    const tn__loss_form form = {name, {"x", "target"}, 2, 2, 2};
    tn_tensor *const operands[] = {x, target};
    return tn__loss_start(l, &form, operands, reduction) == TN_OK && tn__loss_shapes(l, true) == TN_OK;
}

/* ---- numbers ---- */

tn_tensor *tn_mse_loss(tn_tensor *x, tn_tensor *target, tn_reduction reduction)
{
    tn__loss l;
    if (!start(&l, "mse_loss", x, target, reduction)) return tn__loss_end(&l, NULL);
    return tn__loss_reduce(&l, tn_square(tn_sub(l.x[0], l.x[1])));
}

tn_tensor *tn_l1_loss(tn_tensor *x, tn_tensor *target, tn_reduction reduction)
{
    tn__loss l;
    if (!start(&l, "l1_loss", x, target, reduction)) return tn__loss_end(&l, NULL);
    return tn__loss_reduce(&l, tn_abs(tn_sub(l.x[0], l.x[1])));
}

/* d (|x| - d / 2) with d = min(|x|, delta): x^2 / 2 up to delta, a line beyond. */
static tn_tensor *huber(tn__loss *l, double delta)
{
    tn_tensor *size = tn_abs(tn_sub(l->x[0], l->x[1])), *d = tn_minimum(size, tn_float(delta));
    return tn_mul(d, tn_sub(size, tn_mul(d, tn_float(0.5))));
}

tn_tensor *tn_huber_loss(tn_tensor *x, tn_tensor *target, double delta, tn_reduction reduction)
{
    tn__loss l;
    if (!(delta > 0)) return TN__NULL(TN_ARGUMENT, "huber_loss: delta %g is not above 0", delta);
    if (!start(&l, "huber_loss", x, target, reduction)) return tn__loss_end(&l, NULL);
    return tn__loss_reduce(&l, huber(&l, delta));
}

tn_tensor *tn_smooth_l1_loss(tn_tensor *x, tn_tensor *target, double beta, tn_reduction reduction)
{
    tn__loss l;
    if (!(beta >= 0)) return TN__NULL(TN_ARGUMENT, "smooth_l1_loss: beta %g is below 0", beta);
    if (!start(&l, "smooth_l1_loss", x, target, reduction)) return tn__loss_end(&l, NULL);
    tn_tensor *y = beta == 0 ? tn_abs(tn_sub(l.x[0], l.x[1])) : tn_div(huber(&l, beta), tn_float(beta));
    return tn__loss_reduce(&l, y);
}

/* ---- probabilities ---- */

/* log(x), -100 where that is less or x too small to have one, with a gradient of 0 there; NaN for x below 0. */
static tn_tensor *bounded_log(tn_tensor *x)
{
    tn_tensor *least = tn_float(x && x->dtype == TN_F64 ? exp(-100) : 0x1p-126);
    tn_tensor *small = tn_logical_and(tn_lt(x, least), tn_ge(x, tn_int(0)));
    return tn_where(small, tn_float(-100), tn_log(tn_where(small, tn_int(1), x)));
}

/* y times a weight that broadcasts to x, if there is one. */
static tn_tensor *weighted(const tn__loss *l, tn_tensor *y, tn_tensor *weight)
{
    const tn_shape own = tn__tensor_shape(l->x[0]);
    if (!y || weight == TN_NONE) return y;
    const tn_shape other = tn__tensor_shape(weight);
    tn_shape both;
    if (!tn__shape_broadcast(&own, &other, &both) || !tn__shape_equal(&own, &both))
        return TN__NULL(TN_SHAPE, "%s: a weight %s does not broadcast to x %s", l->name, tn__shape_text(other.ndim, other.dim),
                        tn__shape_text(own.ndim, own.dim));
    return tn_mul(y, weight);
}

tn_tensor *tn_bce_loss(tn_tensor *x, tn_tensor *target, tn_tensor *weight, tn_reduction reduction)
{
    static const tn__loss_form form = {"bce_loss", {"x", "target", "weight"}, 3, 2, 2};
    tn_tensor *const operands[] = {x, target, weight};
    tn__loss l;
    if (tn__loss_start(&l, &form, operands, reduction) != TN_OK || tn__loss_shapes(&l, false) != TN_OK)
        return tn__loss_end(&l, NULL);
    tn_tensor *yes = tn_mul(l.x[1], bounded_log(l.x[0]));
    tn_tensor *no = tn_mul(tn_sub(tn_int(1), l.x[1]), bounded_log(tn_sub(tn_int(1), l.x[0])));
    return tn__loss_reduce(&l, weighted(&l, tn_neg(tn_add(yes, no)), l.x[2]));
}

/* (1 - t) x + softplus(-x), which is -t log(sigmoid(x)) - (1 - t) log(1 - sigmoid(x)); with a weight w of the first part
 * (1 - t) x + (1 + t (w - 1)) softplus(-x). */
tn_tensor *tn_bce_with_logits(tn_tensor *x, tn_tensor *target, tn_reduction reduction, const tn_bce_options *options)
{
    static const tn__loss_form form = {"bce_with_logits", {"x", "target", "weight", "positive_weight"}, 4, 2, 2};
    tn_tensor *const operands[] = {x, target, options ? options->weight : NULL, options ? options->positive_weight : NULL};
    tn__loss l;
    if (tn__loss_start(&l, &form, operands, reduction) != TN_OK || tn__loss_shapes(&l, false) != TN_OK)
        return tn__loss_end(&l, NULL);
    tn_tensor *rest = tn_softplus(tn_neg(l.x[0])), *one = tn_int(1);
    if (l.x[3] != TN_NONE) rest = tn_mul(rest, tn_add(weighted(&l, l.x[1], tn_sub(l.x[3], one)), one));
    return tn__loss_reduce(&l, weighted(&l, tn_add(tn_mul(tn_sub(one, l.x[1]), l.x[0]), rest), l.x[2]));
}

tn_tensor *tn_kl_div(tn_tensor *x, tn_tensor *target, bool log_target, tn_reduction reduction)
{
    tn__loss l;
    if (!start(&l, "kl_div", x, target, reduction)) return tn__loss_end(&l, NULL);
    tn_tensor *y = log_target ? tn_mul(tn_exp(l.x[1]), tn_sub(l.x[1], l.x[0]))
                              : tn_sub(tn_xlogy(l.x[1], l.x[1]), tn_mul(l.x[1], l.x[0]));
    return tn__loss_reduce(&l, y);
}
