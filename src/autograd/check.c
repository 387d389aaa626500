/* Checks: results that are NaN, and gradients against differences. */
#include "autograd/variable.h"
#include "base/alloc.h"
#include <math.h>
#include <tenon/ops.h>

/* ---- NaN ---- */

_Thread_local bool tn__detects_nan;

bool tn_set_detect_nan(bool enabled)
{
    const bool before = tn__detects_nan;
    tn__autograd_start();
    tn__detects_nan = enabled;
    return before;
}

/* Reads x: how many of its elements are NaN. */
static tn_status count_nan(tn_tensor *x, int64_t *count)
{
    *count = 0;
    if (!x || x == TN_NONE || !tn_dtype_is_float(x->dtype) || x->numel == 0) return TN_OK;
    const tn_scope scope = tn_scope_push();
    const bool before = tn__detects_nan;
    tn__detects_nan = false;
    tn__derive_pause();
    tn_status status = tn_item_int(tn_sum(tn_isnan(x), TN_ALL_AXES, false), count);
    tn__derive_resume();
    tn__detects_nan = before;
    const tn_status inside = tn_scope_pop(scope);
    return status != TN_OK ? status : inside;
}

tn_status tn__check_nan(const char *name, tn_tensor *const *operands, int count, tn_tensor *out)
{
    int64_t made, had;
    TN__TRY(count_nan(out, &made));
    for (int i = 0; i < count && made > 0; i++) {
        TN__TRY(count_nan(operands[i], &had));
        if (had > 0) return TN_OK;
    }
    return made == 0 ? TN_OK
                     : tn__fail(TN_ARGUMENT, "%s: %lld of %lld elements of the result %s are NaN, and none of the operands'", name,
                                (long long)made, (long long)out->numel, tn__shape_text(out->ndim, out->dim));
}

/* ---- central differences ---- */

typedef struct check {
    tn_function *function;
    void *user;
    tn_tensor *const *inputs;
    int count;
    tn_tensor *weight; /* of the result's elements, so that none hides another */
    tn_gradcheck_options options;
} check;

/* Σ weight · function(inputs) */
static tn_tensor *weighted(check *c)
{
    tn_tensor *y = c->function(c->inputs, c->count, c->user);
    if (!y) return NULL;
    if (!c->weight) {
        uint64_t seed, position;
        tn_random_state(&seed, &position);
        tn_seed(1);
        c->weight = tn_rand(y->dtype, tn__tensor_shape(y), tn_device_of(y));
        tn_set_random_state(seed, position);
    }
    return tn_sum(tn_mul(y, c->weight), TN_ALL_AXES, false);
}

static tn_status value_of(check *c, double *value)
{
    const tn_scope scope = tn_scope_push();
    const bool before = tn_set_grad_enabled(false);
    const tn_status status = tn_item(weighted(c), value);
    (void)tn_set_grad_enabled(before);
    const tn_status inside = tn_scope_pop(scope);
    return status != TN_OK ? status : inside;
}

/* The input's elements in its memory order of rows. */
static tn_status put(tn_tensor *x, int64_t i, double value)
{
    const tn_scope scope = tn_scope_push();
    const bool before = tn_set_grad_enabled(false);
    tn_tensor *flat = tn_reshape(x, TN_SHAPE(-1)), *at = NULL;
    if (flat && flat->storage == x->storage)
        at = tn_select(flat, 0, i);
    else { /* its strides have no flat view */
        at = tn_detach(x);
        for (int a = x->ndim - 1; at && a >= 0; a--) {
            at = tn_select(at, a, i % x->dim[a]);
            i /= x->dim[a];
        }
    }
    const tn_status status = at ? tn_assign(at, tn_float(value)) : tn_last_status();
    (void)tn_set_grad_enabled(before);
    const tn_status inside = tn_scope_pop(scope);
    return status != TN_OK ? status : inside;
}

static tn_status check_element(check *c, int which, int64_t i, double x, double got)
{
    tn_tensor *input = c->inputs[which];
    const double step = c->options.step;
    double more, less;
    TN__TRY(put(input, i, x + step));
    TN__TRY(value_of(c, &more));
    TN__TRY(put(input, i, x - step));
    TN__TRY(value_of(c, &less));
    TN__TRY(put(input, i, x));
    const double want = (more - less) / (2 * step);
    if (fabs(got - want) <= c->options.absolute + c->options.relative * fabs(want) || (isnan(got) && isnan(want)) || got == want)
        return TN_OK;
    return tn__fail(TN_ARGUMENT, "gradcheck: input %d %s, element %lld at %g: the gradient is %.9g, differences give %.9g", which,
                    tn__shape_text(input->ndim, input->dim), (long long)i, x, got, want);
}

static tn_status check_input(check *c, int which, tn_tensor *gradient)
{
    tn_tensor *input = c->inputs[which];
    if (gradient == TN_NONE) gradient = tn_zeros(input->dtype, tn__tensor_shape(input), tn_device_of(input));
    tn_tensor *const wide[2] = {tn_cast(tn_detach(input), TN_F64), tn_cast(gradient, TN_F64)};
    const size_t n = (size_t)input->numel;
    double *numbers = tn__alloc(2 * n * sizeof *numbers);
    tn_status status = numbers ? TN_OK : TN_MEMORY;
    for (int k = 0; k < 2 && status == TN_OK; k++) status = tn_read(tn_to(wide[k], "host"), numbers + (size_t)k * n, n * sizeof *numbers);
    for (size_t i = 0; i < n && status == TN_OK; i++) status = check_element(c, which, (int64_t)i, numbers[i], numbers[n + i]);
    tn__free(numbers);
    return status;
}

static tn_status gradcheck(check *c)
{
    tn_tensor *y = weighted(c), **wanted = tn__zalloc((size_t)c->count * 2 * sizeof *wanted), **g = wanted + c->count;
    int count = 0;
    tn_status status = y && wanted ? TN_OK : tn_last_status();
    for (int i = 0; i < c->count && status == TN_OK; i++)
        if (tn_requires_grad(c->inputs[i])) wanted[count++] = c->inputs[i];
    if (status == TN_OK) status = tn_grad(&y, NULL, 1, wanted, count, g, &(tn_backward_options){.unused = true});
    for (int i = 0, k = 0; i < c->count && status == TN_OK; i++)
        if (tn_requires_grad(c->inputs[i])) status = check_input(c, i, g[k++]);
    tn__free(wanted);
    return status;
}

tn_status tn_gradcheck(tn_function *function, tn_tensor *const *inputs, int count, void *user, const tn_gradcheck_options *options)
{
    if (!function) return tn__fail_null("gradcheck", "function");
    if (!inputs) return tn__fail_null("gradcheck", "inputs");
    check c = {.function = function, .user = user, .inputs = inputs, .count = count};
    if (options) c.options = *options;
    bool wide = true;
    for (int i = 0; i < count; i++) {
        TN__TRY(tn__tensor_check(inputs[i], "gradcheck", "an input"));
        if (tn_requires_grad(inputs[i])) wide = wide && inputs[i]->dtype == TN_F64;
    }
    if (c.options.step == 0) c.options.step = wide ? 1e-6 : 1e-3;
    if (c.options.absolute == 0 && c.options.relative == 0) {
        c.options.absolute = wide ? 1e-5 : 1e-2;
        c.options.relative = wide ? 1e-3 : 1e-2;
    }
    const tn_scope scope = tn_scope_push();
    const tn_status status = gradcheck(&c), inside = tn_scope_pop(scope);
    return status != TN_OK ? status : inside;
}
