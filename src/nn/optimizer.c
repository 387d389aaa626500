/* Optimizers: their life, groups, and the step as a whole. */
#include "nn/optimizer.h"
#include "nn/within.h"
#include "base/alloc.h"
#include "core/scope.h"
#include <math.h>
#include <string.h>

const char *const tn__optimizer_names[TN__OPTIMIZERS] = {
#define OPTIMIZER(id, name) #name,
#include "tables/optimizers.def"
};

/* ---- parameters and groups ---- */

static tn_status check_parameter(const tn_optimizer *o, tn_tensor *x, int i)
{
    const char *function = tn__optimizer_names[o->kind];
    TN__TRY(tn__tensor_check(x, function, "an entry of the list"));
    if (!tn_dtype_is_float(x->dtype))
        return tn__fail(TN_DTYPE, "%s: parameter %d is %s; allowed are floats", function, i, tn_dtype_name(x->dtype));
    if (x->weak) return tn__fail(TN_ARGUMENT, "%s: parameter %d is a scalar constant", function, i);
    if (!tn_is_leaf(x))
        return tn__fail(TN_ARGUMENT, "%s: parameter %d %s is computed from something; detach it", function, i,
                        tn__shape_text(x->ndim, x->dim));
    for (int k = 0; k < o->count; k++)
        if (o->list[k].tensor == x)
            return tn__fail(TN_ARGUMENT, "%s: parameter %d %s is given twice, as parameter %d before", function, i,
                            tn__shape_text(x->ndim, x->dim), k);
    return TN_OK;
}

static tn_status add_parameters(tn_optimizer *o, tn_tensor *const *list, int count, int group)
{
    tn__trained *grown = tn__realloc(o->list, (size_t)(o->count + count) * sizeof *grown);
    if (!grown) return TN_MEMORY;
    o->list = grown;
    const int before = o->count;
    for (int i = 0; i < count; i++) {
        const tn_status status = check_parameter(o, list[i], before + i);
        if (status != TN_OK) {
            while (o->count > before) tn__tensor_unref(o->list[--o->count].tensor);
            return status;
        }
        o->list[o->count++] = (tn__trained){.tensor = tn_retain(list[i]), .group = group};
    }
    return TN_OK;
}

int tn_optimizer_add_group(tn_optimizer *o, tn_tensor *const *list, int count, double lr, const tn_optimizer_options *options)
{
    if (!o) return (void)tn__fail_null("optimizer_add_group", "optimizer"), -1;
    const char *function = tn__optimizer_names[o->kind];
    if (!list) return (void)tn__fail_null(function, "list"), -1;
    if (count < 1) return (void)tn__fail(TN_ARGUMENT, "%s: a list of %d parameters", function, count), -1;
    tn__group group = {.lr = lr, .base = NAN};
    if (options || o->groups_count > 0) group.options = options ? *options : o->groups[0].options;
    if (tn__options_resolve(o->kind, lr, &group.options) != TN_OK) return -1;
    tn__group *grown = tn__realloc(o->groups, (size_t)(o->groups_count + 1) * sizeof *grown);
    if (!grown) return -1;
    o->groups = grown;
    if (add_parameters(o, list, count, o->groups_count) != TN_OK) return -1;
    o->groups[o->groups_count] = group;
    return o->groups_count++;
}

static tn_optimizer *create(tn__optimizer_kind kind, tn_tensor *const *list, int count, double lr,
                            const tn_optimizer_options *options)
{
    tn_optimizer *o = tn__zalloc(sizeof *o);
    if (!o) return NULL;
    o->references = 1;
    o->kind = kind;
    if (tn_optimizer_add_group(o, list, count, lr, options) == 0) return o;
    tn_optimizer_release(o);
    return NULL;
}

tn_optimizer *tn_sgd(tn_tensor *const *list, int count, double lr, const tn_optimizer_options *options)
{
    return create(TN__SGD, list, count, lr, options);
}

tn_optimizer *tn_adam(tn_tensor *const *list, int count, double lr, const tn_optimizer_options *options)
{
    return create(TN__ADAM, list, count, lr, options);
}

tn_optimizer *tn_adamw(tn_tensor *const *list, int count, double lr, double weight_decay, const tn_optimizer_options *options)
{
    tn_optimizer_options o = {0};
    if (options) o = *options;
    if (o.weight_decay != 0)
        return TN__NULL(TN_ARGUMENT, "adamw: weight_decay is %g, and %g among the options", weight_decay, o.weight_decay);
    o.weight_decay = weight_decay;
    return create(TN__ADAMW, list, count, lr, &o);
}

tn_optimizer *tn__optimizer_retain(tn_optimizer *o)
{
    o->references++;
    return o;
}

void tn_optimizer_release(tn_optimizer *o)
{
    if (!o || --o->references > 0) return;
    for (int i = 0; i < o->count; i++) {
        tn__tensor_unref(o->list[i].tensor); /* it may be in a scope, which has a reference of its own */
        for (int s = 0; s < TN__STATES; s++) tn_release(o->list[i].state[s]);
    }
    tn__free(o->list);
    tn__free(o->groups);
    tn__free(o);
}

/* ---- the step ---- */

tn_status tn__optimizer_without_gradient(const tn_optimizer *o, const char *function)
{
    return tn__fail(TN_ARGUMENT, "%s: none of %d parameters has a gradient; tn_backward gives them", function, o->count);
}

/* Updates of the parameters that have a gradient, and all their values in one list, to run together. */
typedef struct step {
    tn__update *updates;
    int count;
    tn_tensor **values;
    int values_count;
} step;

static tn_status record(tn_optimizer *o, double factor, step *s)
{
    for (int i = 0; i < o->count; i++) {
        tn__update *u = &s->updates[s->count];
        *u = (tn__update){.of = &o->list[i], .gradient = tn_grad_of(o->list[i].tensor)};
        if (!u->gradient) return tn_last_status();
        if (u->gradient == TN_NONE) continue;
        TN__TRY(tn__update_record(u, o, factor));
        s->count++;
        s->values[s->values_count++] = u->result;
        for (int k = 0; k < TN__STATES; k++)
            if (u->next[k]) s->values[s->values_count++] = u->next[k];
        s->values[s->values_count++] = u->gradient;
    }
    return s->count > 0 ? TN_OK : tn__optimizer_without_gradient(o, "optimizer_step");
}

/* Everything has its bytes: the new values take the places of the old ones. */
static tn_status put(const step *s)
{
    tn_tensor **x = s->values, **src = s->values + s->count;
    for (int i = 0; i < s->count; i++) {
        x[i] = s->updates[i].of->tensor;
        src[i] = s->updates[i].result;
    }
    TN__TRY(tn__exchange(x, src, s->count));
    for (int i = 0; i < s->count; i++) {
        tn__update *u = &s->updates[i];
        u->of->steps++;
        for (int k = 0; k < TN__STATES; k++) {
            if (!u->next[k]) continue;
            tn_release(u->of->state[k]);
            u->of->state[k] = tn_retain(u->next[k]);
        }
    }
    return TN_OK;
}

tn_status tn__optimizer_step(tn_optimizer *o, double factor)
{
    step s = {.updates = tn__alloc((size_t)o->count * sizeof *s.updates),
              .values = tn__alloc((size_t)o->count * (TN__STATES + 2) * sizeof *s.values)};
    tn_scope scope;
    tn_status status = tn__enter(&scope);
    if (!s.updates || !s.values) status = TN_MEMORY;
    if (status == TN_OK) status = record(o, factor, &s);
    if (status == TN_OK) status = tn_realize(s.values, s.values_count);
    if (status == TN_OK) status = put(&s);
    tn__free(s.updates);
    tn__free(s.values);
    return tn__exit(scope, status);
}

tn_status tn_optimizer_step(tn_optimizer *o)
{
    return o ? tn__optimizer_step(o, 1) : tn__fail_null("optimizer_step", "optimizer");
}

tn_status tn_optimizer_zero_grad(tn_optimizer *o)
{
    if (!o) return tn__fail_null("optimizer_zero_grad", "optimizer");
    for (int i = 0; i < o->count; i++) TN__TRY(tn_zero_grad(&o->list[i].tensor, 1));
    return TN_OK;
}

/* ---- groups' numbers ---- */

static tn_status check_group(const tn_optimizer *o, int group, const char *function)
{
    if (!o) return tn__fail_null(function, "optimizer");
    if (group >= 0 && group < o->groups_count) return TN_OK;
    return tn__fail(TN_ARGUMENT, "%s: group %d of %d", function, group, o->groups_count);
}

int tn_optimizer_groups(const tn_optimizer *o)
{
    return o ? o->groups_count : 0;
}

double tn_optimizer_lr(const tn_optimizer *o, int group)
{
    return check_group(o, group, "optimizer_lr") == TN_OK ? o->groups[group].lr : (double)NAN;
}

tn_status tn_optimizer_set_lr(tn_optimizer *o, int group, double lr)
{
    TN__TRY(check_group(o, group, "optimizer_set_lr"));
    if (!(lr >= 0) || isinf(lr)) return tn__fail(TN_ARGUMENT, "optimizer_set_lr: lr is %g; 0 or more, and finite", lr);
    o->groups[group].lr = lr;
    return TN_OK;
}

tn_status tn_optimizer_get_options(const tn_optimizer *o, int group, tn_optimizer_options *options)
{
    TN__TRY(check_group(o, group, "optimizer_get_options"));
    if (!options) return tn__fail_null("optimizer_get_options", "options");
    *options = o->groups[group].options;
    return TN_OK;
}
