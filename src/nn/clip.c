/* Clipping: gradients as expressions of the old ones. */
#include "nn/gradients.h"
#include "nn/within.h"
#include "base/alloc.h"
#include "device/device.h"
#include <math.h>
#include <tenon/optim.h>
#include <tenon/ops.h>

/* ---- lists of gradients ---- */

tn_status tn__gradients_of(const char *function, tn_tensor *const *list, int count, tn__gradients *g)
{
    *g = (tn__gradients){.count = 0};
    if (count < 0 || (count > 0 && !list)) return tn__fail(TN_ARGUMENT, "%s: a list of %d tensors", function, count);
    g->of = tn__alloc((size_t)count * sizeof *g->of);
    g->list = tn__alloc((size_t)count * sizeof *g->list);
    if (!g->of || !g->list) return TN_MEMORY;
    for (int i = 0; i < count; i++) {
        TN__TRY(tn__tensor_check(list[i], function, "an entry of the list"));
        tn_tensor *gradient = tn_grad_of(list[i]);
        if (!gradient) return tn_last_status();
        if (gradient == TN_NONE) continue;
        g->of[g->count] = list[i];
        g->list[g->count++] = gradient;
    }
    return TN_OK;
}

void tn__gradients_free(tn__gradients *g)
{
    tn__free(g->of);
    tn__free(g->list);
}

tn_tensor *tn__beside(tn_tensor *x, tn_tensor *y)
{
    return !x || !y || tn__tensor_device(x)->is_host ? x : tn_to(x, tn_device_of(y));
}

tn_status tn__gradients_scale(const tn__gradients *g, tn_tensor *factor)
{
    for (int i = 0; i < g->count; i++) TN__TRY(tn_set_grad(g->of[i], tn_mul(g->list[i], tn__beside(factor, g->list[i]))));
    return TN_OK;
}

/* ---- by norm ---- */

/* What a gradient adds to the norm, before its root; 16 bits are summed in f32. */
static tn_tensor *part_of(tn_tensor *g, double p)
{
    tn_tensor *wide = tn_dtype_size(g->dtype) == 2 ? tn_cast(g, TN_F32) : g;
    if (p == 2) return tn_sum(tn_mul(wide, wide), TN_ALL_AXES, false);
    tn_tensor *size = tn_abs(wide);
    if (isinf(p)) return tn_max(size, TN_ALL_AXES, false);
    return tn_sum(p == 1 ? size : tn_pow(size, tn_float(p)), TN_ALL_AXES, false);
}

static tn_tensor *norm_of(const tn__gradients *g, double p)
{
    tn_tensor *sum = NULL;
    for (int i = 0; i < g->count; i++) {
        if (g->list[i]->numel == 0) continue;
        tn_tensor *part = part_of(g->list[i], p);
        if (!part) return NULL;
        if (!sum)
            sum = part;
        else
            sum = isinf(p) ? tn_maximum(sum, tn__beside(part, sum)) : tn_add(sum, tn__beside(part, sum));
    }
    if (!sum) return tn_zeros(TN_F32, TN_SHAPE(), "host");
    return p == 2 ? tn_sqrt(sum) : p == 1 || isinf(p) ? sum : tn_pow(sum, tn_float(1 / p));
}

static tn_status clip_to(const tn__gradients *g, double max_norm, tn_tensor *norm)
{
    return tn__gradients_scale(g, tn_minimum(tn_div(tn_float(max_norm), tn_add(norm, tn_float(1e-6))), tn_float(1)));
}

tn_status tn_clip_grad_norm(tn_tensor *const *list, int count, double max_norm, double p, tn_tensor **total)
{
    if (total) *total = NULL;
    if (!(max_norm >= 0)) return tn__fail(TN_ARGUMENT, "clip_grad_norm: max_norm is %g; 0 or more", max_norm);
    if (!(p > 0)) return tn__fail(TN_ARGUMENT, "clip_grad_norm: p is %g; above 0, or INFINITY", p);
    tn__gradients g = {0};
    tn_tensor *norm = NULL;
    tn_scope scope;
    tn_status status = tn__enter(&scope);
    if (status == TN_OK) status = tn__gradients_of("clip_grad_norm", list, count, &g);
    if (status == TN_OK && !(norm = norm_of(&g, p))) status = tn_last_status();
    if (status == TN_OK) status = clip_to(&g, max_norm, norm);
    tn__gradients_free(&g);
    if (status == TN_OK && total) *total = tn_keep(norm);
    return tn__exit(scope, status);
}

/* ---- by value ---- */

tn_status tn_clip_grad_value(tn_tensor *const *list, int count, double bound)
{
    if (!(bound >= 0)) return tn__fail(TN_ARGUMENT, "clip_grad_value: bound is %g; 0 or more", bound);
    tn__gradients g = {0};
    tn_scope scope;
    tn_status status = tn__enter(&scope);
    if (status == TN_OK) status = tn__gradients_of("clip_grad_value", list, count, &g);
    for (int i = 0; i < g.count && status == TN_OK; i++)
        status = tn_set_grad(g.of[i], tn_clamp(g.list[i], tn_float(-bound), tn_float(bound)));
    tn__gradients_free(&g);
    return tn__exit(scope, status);
}
