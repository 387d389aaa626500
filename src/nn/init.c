/* New values for parameters. */
#include "base/error.h"
#include "core/tensor.h"
#include <math.h>
#include <string.h>
#include <tenon/autograd.h>
#include <tenon/nn.h>
#include <tenon/ops.h>

/* Where a tensor's new values go: the rest is done without gradients, in a scope of its own. */
static tn_status begin(const tn_tensor *x, const char *function, tn_scope *scope)
{
    TN__TRY(tn__tensor_check(x, function, "x"));
    if (!tn_dtype_is_float(x->dtype)) return tn__fail(TN_DTYPE, "%s: not for %s; floats only", function, tn_dtype_name(x->dtype));
    *scope = tn_scope_push_no_grad();
    return TN_OK;
}

static tn_status end(tn_scope scope, tn_tensor *x, tn_tensor *values)
{
    if (values && tn_assign(x, values) == TN_OK) (void)tn_realize(&x, 1);
    return tn_scope_pop(scope);
}

tn_status tn_init_constant(tn_tensor *x, double value)
{
    tn_scope scope;
    TN__TRY(begin(x, "init_constant", &scope));
    return end(scope, x, tn_full_like(x, tn_float(value)));
}

tn_status tn_init_uniform(tn_tensor *x, double low, double high)
{
    tn_scope scope;
    TN__TRY(begin(x, "init_uniform", &scope));
    return end(scope, x, tn_uniform(x->dtype, tn__tensor_shape(x), low, high, tn_device_of(x)));
}

tn_status tn_init_normal(tn_tensor *x, double mean, double deviation)
{
    tn_scope scope;
    TN__TRY(begin(x, "init_normal", &scope));
    return end(scope, x, tn_normal(x->dtype, tn__tensor_shape(x), mean, deviation, tn_device_of(x)));
}

tn_status tn_init_truncated_normal(tn_tensor *x, double mean, double deviation, double low, double high)
{
    tn_scope scope;
    TN__TRY(begin(x, "init_truncated_normal", &scope));
    return end(scope, x, tn_truncated_normal(x->dtype, tn__tensor_shape(x), mean, deviation, low, high, tn_device_of(x)));
}

/* ---- by the number of inputs and outputs ---- */

static tn_status fans(const tn_tensor *x, const char *function, double *inputs, double *outputs)
{
    TN__TRY(tn__tensor_check(x, function, "x"));
    if (x->ndim < 2)
        return tn__fail(TN_SHAPE, "%s: x %s; it has outputs and inputs, 2 axes at least", function,
                        tn__shape_text(x->ndim, x->dim));
    *inputs = (double)x->dim[1];
    *outputs = (double)x->dim[0];
    for (int a = 2; a < x->ndim; a++) {
        *inputs *= (double)x->dim[a];
        *outputs *= (double)x->dim[a];
    }
    return TN_OK;
}

/* A deviation for a variance of gain^2 / fan; no elements, no deviation. */
static double spread(double gain, double fan)
{
    return fan > 0 ? gain / sqrt(fan) : 0;
}

tn_status tn_init_xavier_uniform(tn_tensor *x, double gain)
{
    double inputs = 1, outputs = 1;
    TN__TRY(fans(x, "init_xavier_uniform", &inputs, &outputs));
    const double bound = spread(gain, (inputs + outputs) / 6);
    return tn_init_uniform(x, -bound, bound);
}

tn_status tn_init_xavier_normal(tn_tensor *x, double gain)
{
    double inputs = 1, outputs = 1;
    TN__TRY(fans(x, "init_xavier_normal", &inputs, &outputs));
    return tn_init_normal(x, 0, spread(gain, (inputs + outputs) / 2));
}

tn_status tn_init_kaiming_uniform(tn_tensor *x, double gain, bool by_outputs)
{
    double inputs = 1, outputs = 1;
    TN__TRY(fans(x, "init_kaiming_uniform", &inputs, &outputs));
    const double bound = spread(gain, (by_outputs ? outputs : inputs) / 3);
    return tn_init_uniform(x, -bound, bound);
}

tn_status tn_init_kaiming_normal(tn_tensor *x, double gain, bool by_outputs)
{
    double inputs = 1, outputs = 1;
    TN__TRY(fans(x, "init_kaiming_normal", &inputs, &outputs));
    return tn_init_normal(x, 0, spread(gain, by_outputs ? outputs : inputs));
}

double tn_init_gain(const char *activation, double slope)
{
    const struct {
        const char *name;
        double gain;
    } gains[] = {{"relu", sqrt(2)}, {"tanh", 5.0 / 3}, {"selu", 0.75}, {"leaky_relu", sqrt(2 / (1 + slope * slope))}};
    for (size_t i = 0; activation && i < sizeof gains / sizeof gains[0]; i++)
        if (strcmp(gains[i].name, activation) == 0) return gains[i].gain;
    return 1;
}
