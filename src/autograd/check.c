/* Checks: results that are NaN, and gradients against differences. */
#include "autograd/variable.h"
#include "base/alloc.h"
#include "core/scope.h"
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
    const tn_status status = tn_item_int(tn_sum(tn_isnan(x), TN_ALL_AXES, false), count);
    tn__derive_resume();
    tn__detects_nan = before;
    return tn__scope_end(scope, status);
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
    tn_tensor **inputs; /* row-major copies: leaves */
    int count;
    tn_tensor *weight;       /* of the result's elements, so that none hides another */
    uint64_t seed, position; /* the same random numbers in each evaluation */
    tn_gradcheck_options options;
} check;

/* Σ weight · function(inputs) */
static tn_tensor *weighted(check *c)
{
    tn_set_random_state(c->seed, c->position);
    tn_tensor *y = c->function(c->inputs, c->count, c->user);
    if (!y) return (void)tn__fail_null("gradcheck", "what function gave"), NULL;
    if (!c->weight) c->weight = tn_rand(y->dtype, tn__tensor_shape(y), tn_device_of(y));
    return tn_sum(tn_mul(y, c->weight), TN_ALL_AXES, false);
}

static tn_status value_of(check *c, double *value)
{
    const tn_scope scope = tn_scope_push_no_grad();
    if (scope.depth < 0) return TN_MEMORY;
    return tn__scope_end(scope, tn_item(weighted(c), value));
}

static tn_status put(tn_tensor *x, int64_t i, double value)
{
    const tn_scope scope = tn_scope_push();
    return tn__scope_end(scope, tn_assign(tn_select(tn_reshape(tn_detach(x), TN_SHAPE(-1)), 0, i), tn_float(value)));
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
    tn_tensor *const wide[2] = {tn_cast(tn_host(tn_detach(input)), TN_F64), tn_cast(tn_host(gradient), TN_F64)};
    const size_t n = (size_t)input->numel;
    double *numbers = tn__alloc(2 * n * sizeof *numbers);
    tn_status status = numbers ? TN_OK : TN_MEMORY;
    for (int k = 0; k < 2 && status == TN_OK; k++) status = tn_read(wide[k], numbers + (size_t)k * n, n * sizeof *numbers);
    for (size_t i = 0; i < n && status == TN_OK; i++) status = check_element(c, which, (int64_t)i, numbers[i], numbers[n + i]);
    tn__free(numbers);
    return status;
}

/* Inputs that are the caller's are not touched. */
static tn_status copy_inputs(check *c, tn_tensor *const *inputs, tn_tensor **wanted, int *count)
{
    for (int i = 0; i < c->count; i++) {
        c->inputs[i] = tn_contiguous(tn_clone(tn_detach(inputs[i])));
        if (!c->inputs[i]) return tn_last_status();
        if (!tn_requires_grad(inputs[i])) continue;
        TN__TRY(tn_set_requires_grad(c->inputs[i], true));
        wanted[(*count)++] = c->inputs[i];
    }
    return *count > 0 ? TN_OK : tn__fail(TN_ARGUMENT, "gradcheck: none of %d inputs requires a gradient", c->count);
}

static tn_status gradcheck(check *c, tn_tensor *const *inputs)
{
    tn_tensor **wanted = c->inputs + c->count, **g = wanted + c->count;
    int count = 0;
    TN__TRY(copy_inputs(c, inputs, wanted, &count));
    tn_tensor *y = weighted(c);
    TN__TRY(tn_grad(&y, NULL, 1, wanted, count, g, &(tn_backward_options){.unused = true}));
    for (int i = 0; i < c->count; i++)
        if (tn_requires_grad(c->inputs[i])) TN__TRY(check_input(c, i, *g++));
    return TN_OK;
}

tn_status tn_gradcheck(tn_function *function, tn_tensor *const *inputs, int count, void *user, const tn_gradcheck_options *options)
{
    if (!function) return tn__fail_null("gradcheck", "function");
    if (!inputs) return tn__fail_null("gradcheck", "inputs");
    check c = {.function = function, .user = user, .count = count < 0 ? 0 : count};
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
    c.inputs = tn__zalloc(3 * (size_t)c.count * sizeof *c.inputs);
    if (!c.inputs) return TN_MEMORY;
    tn_random_state(&c.seed, &c.position);
    const tn_scope scope = tn__scope_push_grad(true);
    const tn_status status = scope.depth < 0 ? TN_MEMORY : tn__scope_end(scope, gradcheck(&c, inputs));
    tn_set_random_state(c.seed, c.position);
    tn__free(c.inputs);
    return status;
}
