/* Scaled losses (Micikevicius et al. 2017, Mixed Precision Training). */
#include "nn/gradients.h"
#include "nn/optimizer.h"
#include "nn/training.h"
#include "nn/within.h"
#include "base/alloc.h"
#include <math.h>
#include <tenon/ops.h>

struct tn_grad_scaler {
    tn_grad_scaler_options options;
    tn_grad_scaler_state state;
    bool found;             /* inf or NaN, since the last update */
    tn_optimizer *unscaled; /* whose gradients are divided already; retained */
    bool unscaled_found;    /* and what was found in them */
};

tn_grad_scaler *tn_grad_scaler_new(const tn_grad_scaler_options *options)
{
    tn_grad_scaler_options o = {0};
    if (options) o = *options;
    if (o.scale == 0) o.scale = 65536;
    if (o.growth == 0) o.growth = 2;
    if (o.backoff == 0) o.backoff = 0.5;
    if (o.interval == 0) o.interval = 2000;
    if (!(o.scale > 0) || isinf(o.scale) || !(o.growth > 1) || !(o.backoff > 0 && o.backoff < 1) || o.interval < 1)
        return TN__NULL(TN_ARGUMENT,
                        "grad_scaler: scale %g, growth %g, backoff %g, interval %lld; above 0, above 1, between 0 and 1, above 0",
                        o.scale, o.growth, o.backoff, (long long)o.interval);
    tn_grad_scaler *s = tn__zalloc(sizeof *s);
    if (!s) return NULL;
    s->options = o;
    s->state.scale = o.scale;
    return s;
}

static void forget_unscaled(tn_grad_scaler *s)
{
    tn_optimizer_release(s->unscaled);
    s->unscaled = NULL;
}

void tn_grad_scaler_release(tn_grad_scaler *s)
{
    if (!s) return;
    forget_unscaled(s);
    tn__free(s);
}

tn_tensor *tn_grad_scaler_scale(tn_grad_scaler *s, tn_tensor *loss)
{
    if (!s) return (void)tn__fail_null("grad_scaler_scale", "scaler"), NULL;
    if (tn__tensor_check(loss, "grad_scaler_scale", "loss") != TN_OK) return NULL;
    if (!tn_dtype_is_float(loss->dtype))
        return TN__NULL(TN_DTYPE, "grad_scaler_scale: loss is %s; allowed are floats", tn_dtype_name(loss->dtype));
    tn_tensor *scale = tn_float(s->state.scale), *wide = tn_cast(loss, tn__state_dtype(loss->dtype));
    tn_tensor *y = tn_mul(wide, scale);
    tn_release(scale);
    tn_release(wide);
    return y;
}

/* ---- looking for inf and NaN ---- */

/* Are all finite? One number for the whole list. */
static tn_status all_finite(const tn__gradients *g, bool *finite)
{
    tn_tensor *all = NULL;
    int64_t value = 1;
    for (int i = 0; i < g->count; i++) {
        tn_tensor *one = tn_all(tn_isfinite(g->list[i]), TN_ALL_AXES, false);
        if (!one) return tn_last_status();
        all = all ? tn_logical_and(all, tn__beside(one, all)) : one;
    }
    if (all) TN__TRY(tn_item_int(all, &value));
    *finite = value != 0;
    return TN_OK;
}

static tn_status gradients_of(const tn_optimizer *o, const char *function, tn__gradients *g)
{
    tn_tensor **list = tn__alloc((size_t)o->count * sizeof *list);
    if (!list) return TN_MEMORY;
    for (int i = 0; i < o->count; i++) list[i] = o->list[i].tensor;
    const tn_status status = tn__gradients_of(function, list, o->count, g);
    tn__free(list);
    if (status == TN_OK && g->count == 0) return tn__optimizer_without_gradient(o, function);
    return status;
}

/* Looks at the optimizer's gradients, and divides them where that is wanted. */
static tn_status inspect(tn_grad_scaler *s, const tn_optimizer *o, const char *function, bool divide, bool *finite)
{
    tn__gradients g = {0};
    tn_scope scope;
    tn_status status = tn__enter(&scope);
    if (status == TN_OK) status = gradients_of(o, function, &g);
    if (status == TN_OK) status = all_finite(&g, finite);
    if (status == TN_OK && divide) status = tn__gradients_scale(&g, tn_float(1 / s->state.scale));
    tn__gradients_free(&g);
    return tn__exit(scope, status);
}

/* ---- steps ---- */

tn_status tn_grad_scaler_unscale(tn_grad_scaler *s, tn_optimizer *o)
{
    bool finite = true;
    if (!s || !o) return tn__fail_null("grad_scaler_unscale", s ? "optimizer" : "scaler");
    if (s->unscaled == o) return tn__fail(TN_ARGUMENT, "grad_scaler_unscale: these gradients are divided already");
    TN__TRY(inspect(s, o, "grad_scaler_unscale", true, &finite));
    forget_unscaled(s);
    s->unscaled = tn__optimizer_retain(o);
    s->unscaled_found = !finite;
    return TN_OK;
}

tn_status tn_grad_scaler_step(tn_grad_scaler *s, tn_optimizer *o, bool *skipped)
{
    if (!s || !o) return tn__fail_null("grad_scaler_step", s ? "optimizer" : "scaler");
    const bool divided = s->unscaled == o;
    bool finite = !s->unscaled_found;
    if (!divided) TN__TRY(inspect(s, o, "grad_scaler_step", false, &finite));
    if (finite) TN__TRY(tn__optimizer_step(o, divided ? 1 : 1 / s->state.scale));
    if (divided) forget_unscaled(s);
    if (!finite) s->found = true;
    if (skipped) *skipped = !finite;
    return TN_OK;
}

tn_status tn_grad_scaler_update(tn_grad_scaler *s)
{
    if (!s) return tn__fail_null("grad_scaler_update", "scaler");
    tn_grad_scaler_state *state = &s->state;
    if (s->found) {
        *state = (tn_grad_scaler_state){.scale = state->scale * s->options.backoff};
    } else if (++state->good_steps == s->options.interval) {
        const double grown = state->scale * s->options.growth;
        *state = (tn_grad_scaler_state){.scale = grown <= 0x1p127 ? grown : state->scale};
    }
    s->found = false;
    forget_unscaled(s);
    return TN_OK;
}

tn_status tn_grad_scaler_get_state(const tn_grad_scaler *s, tn_grad_scaler_state *state)
{
    if (!s || !state) return tn__fail_null("grad_scaler_get_state", s ? "state" : "scaler");
    *state = s->state;
    return TN_OK;
}

tn_status tn__grad_scaler_check(const tn_grad_scaler_state *state)
{
    if (state->scale > 0 && !isinf(state->scale) && state->good_steps >= 0) return TN_OK;
    return tn__fail(TN_ARGUMENT, "grad_scaler: scale %g and %lld good steps; above 0, and 0 or more", state->scale,
                    (long long)state->good_steps);
}

tn_status tn_grad_scaler_load_state(tn_grad_scaler *s, const tn_grad_scaler_state *state)
{
    if (!s || !state) return tn__fail_null("grad_scaler_load_state", s ? "state" : "scaler");
    TN__TRY(tn__grad_scaler_check(state));
    s->state = *state;
    return TN_OK;
}
