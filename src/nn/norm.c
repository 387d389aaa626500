/* Layers that normalise. What is 16 bits wide is computed in f32. */
#include "nn/layer.h"
#include <math.h>
#include <tenon/autograd.h>
#include <tenon/nn.h>

/* (x - mean) / sqrt(variance + epsilon). */
static tn_tensor *standard(tn_tensor *x, tn_tensor *mean, tn_tensor *variance, double epsilon)
{
    return tn_mul(tn_sub(x, mean), tn_rsqrt(tn_add(variance, tn_float(epsilon))));
}

/* The same by x's own mean and variance over axes, which it gives as well. */
static tn_tensor *standardised(tn_tensor *x, tn_axes axes, double epsilon, tn_tensor **mean, tn_tensor **variance)
{
    *mean = tn_mean(x, axes, true);
    *variance = tn_mean(tn_square(tn_sub(x, *mean)), axes, true);
    return standard(x, *mean, *variance, epsilon);
}

/* y times weight plus bias, as x's axes from `axis` on; in x's dtype, or in a wider one of the weight. */
static tn_tensor *scaled(const tn_module *m, const tn_tensor *x, tn_tensor *y, int axis)
{
    tn_tensor *weight = tn__module_own(m, "weight"), *bias = tn__module_own(m, "bias");
    tn_dtype dtype = x->dtype;
    if (weight != TN_NONE) {
        tn_shape shape = {.ndim = x->ndim - axis};
        for (int a = 0; a < shape.ndim; a++) shape.dim[a] = a < weight->ndim ? weight->dim[a] : 1;
        dtype = tn_promote(dtype, weight->dtype);
        y = tn_mul(y, tn_reshape(weight, shape));
        if (bias != TN_NONE) y = tn_add(y, tn_reshape(bias, shape));
    }
    return y && y->dtype != dtype ? tn_cast(y, dtype) : y;
}

static tn_status check_float(const tn_tensor *x)
{
    return tn_dtype_is_float(x->dtype) ? TN_OK : tn__fail(TN_DTYPE, "input is %s; floats only", tn_dtype_name(x->dtype));
}

static void add_weights(tn_module *m, tn_shape shape, const tn_norm_options *options, bool with_bias)
{
    if (options && options->plain) return;
    (void)tn_module_add_parameter(m, "weight", tn_ones(TN_F32, shape, NULL));
    if (with_bias && !(options && options->no_bias)) (void)tn_module_add_parameter(m, "bias", tn_zeros(TN_F32, shape, NULL));
}

static tn_status check_epsilon(const char *function, double epsilon)
{
    return epsilon >= 0 ? TN_OK : tn__fail(TN_ARGUMENT, "%s: epsilon %g", function, epsilon);
}

/* ---- over the last axes ---- */

typedef struct last_axes {
    double epsilon;
    tn_shape shape;
} last_axes;

static tn_tensor *layer_norm(tn_module *m, tn_tensor *const *inputs, int count)
{
    const last_axes *own = m->data;
    (void)count;
    return tn_layer_norm(inputs[0], own->shape, tn__module_own(m, "weight"), tn__module_own(m, "bias"), own->epsilon);
}

static tn_tensor *rms_norm(tn_module *m, tn_tensor *const *inputs, int count)
{
    const last_axes *own = m->data;
    (void)count;
    return tn_rms_norm(inputs[0], own->shape, tn__module_own(m, "weight"), own->epsilon);
}

static const tn_module_class layer_norm_class = {.name = "LayerNorm", .forward = layer_norm, .size = sizeof(last_axes)};
static const tn_module_class rms_norm_class = {.name = "RMSNorm", .forward = rms_norm, .size = sizeof(last_axes)};

static tn_module *last_axes_new(const char *function, const tn_module_class *type, tn_shape shape, double epsilon,
                                const tn_norm_options *options)
{
    int64_t count;
    if (check_epsilon(function, epsilon) != TN_OK || tn__shape_numel(&shape, sizeof(float), &count, function) != TN_OK) return NULL;
    if (shape.ndim == 0) return TN__NULL(TN_SHAPE, "%s: a shape without axes", function);
    const tn_scope scope = tn_scope_push();
    tn_module *m = tn_module_new(type, &(last_axes){.epsilon = epsilon, .shape = shape});
    add_weights(m, shape, options, type == &layer_norm_class);
    return tn__module_made(scope, m);
}

tn_module *tn_layer_norm_new(tn_shape shape, double epsilon, const tn_norm_options *options)
{
    return last_axes_new("layer_norm_new", &layer_norm_class, shape, epsilon, options);
}

tn_module *tn_rms_norm_new(tn_shape shape, double epsilon, const tn_norm_options *options)
{
    return last_axes_new("rms_norm_new", &rms_norm_class, shape, epsilon, options);
}

/* ---- over the batch ---- */

typedef struct batch {
    double epsilon, momentum;
    int64_t channels;
    bool cumulative;
    int64_t seen;     /* batches so far, */
    uint64_t version; /* and the version of the buffer that says so */
} batch;

/* The buffers end in fixed values, not in a chain over all batches: the last step's are computed before this one's are recorded. */
static tn_status count_batch(tn_module *m, tn_tensor *const *running)
{
    batch *own = m->data;
    tn_tensor *batches = tn__module_own(m, "num_batches_tracked");
    TN__TRY(tn_realize(running, 2));
    if (batches->storage->version != own->version) TN__TRY(tn_item_int(batches, &own->seen));
    TN__TRY(tn_assign(batches, tn_int(++own->seen)));
    own->version = batches->storage->version;
    return TN_OK;
}

/* Running statistics go towards those of the batch, of n values a channel. */
static tn_status follow(tn_module *m, tn_tensor *mean, tn_tensor *variance, double n)
{
    const batch *own = m->data;
    tn_tensor *const running[2] = {tn__module_own(m, "running_mean"), tn__module_own(m, "running_var")};
    if (running[0] == TN_NONE || n == 0) return TN_OK;
    const tn_scope scope = tn_scope_push_no_grad();
    if (count_batch(m, running) == TN_OK) {
        tn_tensor *part = tn_float(own->cumulative ? 1 / (double)own->seen : own->momentum);
        const tn_shape shape = tn__tensor_shape(running[0]);
        tn_tensor *sample = tn_mul(variance, tn_float(n / (n - 1))); /* of a sample, without a bias */
        if (tn_assign(running[0], tn_lerp(running[0], tn_reshape(mean, shape), part)) == TN_OK)
            (void)tn_assign(running[1], tn_lerp(running[1], tn_reshape(sample, shape), part));
    }
    return tn_scope_pop(scope);
}

static tn_tensor *by_batch(tn_module *m, tn_tensor *x)
{
    const batch *own = m->data;
    const double n = x->dim[1] > 0 ? (double)(x->numel / x->dim[1]) : 0;
    tn_axes axes = x->ndim == 2 ? TN_AXES(0) : TN_AXES(0, 2);
    if (n == 1)
        return TN__NULL(TN_SHAPE, "input %s has one value for each channel; training needs more", tn__shape_text(x->ndim, x->dim));
    tn_tensor *mean, *variance, *y = standardised(tn__wide(x), axes, own->epsilon, &mean, &variance);
    if (!y || (m->training && follow(m, mean, variance, n) != TN_OK)) return NULL;
    return y;
}

static tn_tensor *by_running(tn_module *m, tn_tensor *x)
{
    const batch *own = m->data;
    tn_tensor *mean = tn__wide(tn__module_own(m, "running_mean")), *variance = tn__wide(tn__module_own(m, "running_var"));
    if (x->ndim == 3) {
        mean = tn_unsqueeze(mean, 1);
        variance = tn_unsqueeze(variance, 1);
    }
    return standard(tn__wide(x), mean, variance, own->epsilon);
}

static tn_tensor *batch_norm(tn_module *m, tn_tensor *const *inputs, int count)
{
    tn_tensor *x = inputs[0];
    const batch *own = m->data;
    (void)count;
    if (check_float(x) != TN_OK) return NULL;
    if ((x->ndim != 2 && x->ndim != 3) || x->dim[1] != own->channels)
        return TN__NULL(TN_SHAPE, "input %s; it takes [n, %lld] and [n, %lld, length]", tn__shape_text(x->ndim, x->dim),
                        (long long)own->channels, (long long)own->channels);
    const bool own_statistics = m->training || tn__module_own(m, "running_mean") == TN_NONE;
    return scaled(m, x, own_statistics ? by_batch(m, x) : by_running(m, x), 1);
}

static const tn_module_class batch_norm_class = {.name = "BatchNorm1d", .forward = batch_norm, .size = sizeof(batch)};

tn_module *tn_batch_norm1d_new(int64_t channels, double epsilon, double momentum, const tn_norm_options *options)
{
    const batch own = {.epsilon = epsilon,
                       .momentum = momentum,
                       .channels = channels,
                       .cumulative = options && options->cumulative,
                       .version = UINT64_MAX};
    if (tn__layer_size("batch_norm1d_new", "channels", channels) != TN_OK || check_epsilon("batch_norm1d_new", epsilon) != TN_OK)
        return NULL;
    if (!(momentum >= 0 && momentum <= 1)) return TN__NULL(TN_ARGUMENT, "batch_norm1d_new: momentum %g", momentum);
    const tn_scope scope = tn_scope_push();
    tn_module *m = tn_module_new(&batch_norm_class, &own);
    add_weights(m, TN_SHAPE(channels), options, true);
    if (!(options && options->untracked)) {
        (void)tn_module_add_buffer(m, "running_mean", tn_zeros(TN_F32, TN_SHAPE(channels), NULL));
        (void)tn_module_add_buffer(m, "running_var", tn_ones(TN_F32, TN_SHAPE(channels), NULL));
        (void)tn_module_add_buffer(m, "num_batches_tracked", tn_zeros(TN_I64, TN_SHAPE(), NULL));
    }
    return tn__module_made(scope, m);
}

/* ---- over groups of channels ---- */

typedef struct groups {
    double epsilon;
    int64_t count, channels;
} groups;

static tn_tensor *group_norm(tn_module *m, tn_tensor *const *inputs, int count)
{
    tn_tensor *x = inputs[0];
    const groups *own = m->data;
    const int64_t channels = own->channels;
    (void)count;
    if (check_float(x) != TN_OK) return NULL;
    if (x->ndim < 2 || x->dim[1] != channels)
        return TN__NULL(TN_SHAPE, "input %s; it takes [n, %lld, ...]", tn__shape_text(x->ndim, x->dim), (long long)channels);
    const int64_t lines = x->dim[0] * own->count, each = lines ? x->numel / lines : 0;
    tn_tensor *lined = tn_reshape(tn__wide(x), TN_SHAPE(x->dim[0], own->count, each));
    tn_tensor *y = tn_layer_norm(lined, TN_SHAPE(each), TN_NONE, TN_NONE, own->epsilon);
    return scaled(m, x, tn_reshape(y, tn__tensor_shape(x)), 1);
}

static const tn_module_class group_norm_class = {.name = "GroupNorm", .forward = group_norm, .size = sizeof(groups)};

tn_module *tn_group_norm_new(int64_t count, int64_t channels, double epsilon, const tn_norm_options *options)
{
    if (tn__layer_size("group_norm_new", "channels", channels) != TN_OK || check_epsilon("group_norm_new", epsilon) != TN_OK)
        return NULL;
    if (count < 1 || channels % count != 0)
        return TN__NULL(TN_ARGUMENT, "group_norm_new: %lld groups of %lld channels", (long long)count, (long long)channels);
    const tn_scope scope = tn_scope_push();
    tn_module *m = tn_module_new(&group_norm_class, &(groups){.epsilon = epsilon, .count = count, .channels = channels});
    add_weights(m, TN_SHAPE(channels), options, true);
    return tn__module_made(scope, m);
}
