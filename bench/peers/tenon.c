/* Tenon's part of scripts/bench-peers; the protocol is in worker.h.   tenon DEVICE
 *
 * A run is what a user's is: recorded, run, waited for, and released, so that the next gets its memory. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/tenon.h>

#include "worker.h"

enum { STEPS = 100 };

typedef struct operation {
    const char *name;
    tn_tensor *(*record)(tn_tensor *const *x);
    bool (*build)(const worker_request *r); /* what is made once: a module, an optimizer; may be NULL */
    bool only_queued;                       /* nobody waits for it while the clock runs */
} operation;

static const char *device;
static const operation *current;
static tn_scope job; /* holds the inputs */
static tn_tensor *inputs[WORKER_INPUTS];
static tn_module *module;
static tn_tensor_list *parameters;
static tn_optimizer *adam;
static tn_dtype result_dtype;
static void *result_values;

/* ---- products ---- */

static tn_tensor *turned(tn_tensor *x)
{
    return tn_transpose(x, -1, -2);
}

static tn_tensor *matmul(tn_tensor *const *x)
{
    return tn_matmul(x[0], x[1]);
}

static tn_tensor *matmul_nt(tn_tensor *const *x)
{
    return tn_matmul(x[0], turned(x[1]));
}

static tn_tensor *matmul_tn(tn_tensor *const *x)
{
    return tn_matmul(turned(x[0]), x[1]);
}

static tn_tensor *matmul_tt(tn_tensor *const *x)
{
    return tn_matmul(turned(x[0]), turned(x[1]));
}

static tn_tensor *matmul_i32(tn_tensor *const *x)
{
    return tn_matmul_as(x[0], x[1], TN_I32);
}

static tn_tensor *matmul_gelu(tn_tensor *const *x)
{
    return tn_gelu(tn_add(tn_matmul(x[0], x[1]), x[2]));
}

/* ---- elementwise, movement ---- */

static tn_tensor *add(tn_tensor *const *x)
{
    return tn_add(x[0], x[1]);
}

static tn_tensor *copy(tn_tensor *const *x)
{
    return tn_clone(x[0]);
}

static tn_tensor *cast_f16(tn_tensor *const *x)
{
    return tn_cast(x[0], TN_F16);
}

static tn_tensor *chain(tn_tensor *const *x)
{
    return tn_mul(x[0], tn_sigmoid(tn_relu(tn_add(tn_mul(x[0], tn_int(2)), tn_int(1)))));
}

static tn_tensor *exponential(tn_tensor *const *x)
{
    return tn_exp(x[0]);
}

static tn_tensor *hyperbolic(tn_tensor *const *x)
{
    return tn_tanh(x[0]);
}

static tn_tensor *error_function(tn_tensor *const *x)
{
    return tn_erf(x[0]);
}

static tn_tensor *transpose(tn_tensor *const *x)
{
    return tn_contiguous(turned(x[0]));
}

static tn_tensor *permute(tn_tensor *const *x)
{
    return tn_contiguous(tn_permute(x[0], TN_AXES(0, 2, 3, 1)));
}

/* ---- along axes ---- */

static tn_tensor *sum(tn_tensor *const *x)
{
    return tn_sum(x[0], TN_ALL_AXES, false);
}

static tn_tensor *sum_inner(tn_tensor *const *x)
{
    return tn_sum(x[0], TN_AXES(1), false);
}

static tn_tensor *sum_outer(tn_tensor *const *x)
{
    return tn_sum(x[0], TN_AXES(0), false);
}

static tn_tensor *softmax(tn_tensor *const *x)
{
    return tn_softmax(x[0], -1);
}

static tn_tensor *layer_norm(tn_tensor *const *x)
{
    return tn_layer_norm(x[0], TN_SHAPE(tn_dim(x[0], -1)), x[1], x[2], 1e-5);
}

/* ---- small things in long loops ---- */

static tn_tensor *softmaxes(tn_tensor *const *x)
{
    tn_tensor *y = x[0];
    for (int i = 0; i < STEPS; i++) y = tn_softmax(y, -1);
    return y;
}

static tn_tensor *steps(tn_tensor *const *x)
{
    tn_tensor *y = x[0];
    for (int i = 0; i < STEPS / 2; i++) y = tn_add(tn_mul(y, tn_float(0.5)), x[1]);
    return y;
}

/* ---- a training step: inputs are a batch and the weights of the layers ---- */

static tn_module *layer(const worker_request *r, int index, const char *name)
{
    const long *dim = r->input[index].dim;
    tn_module *linear = tn_linear_new(dim[1], dim[0], true);
    const tn_scope scope = tn_scope_push_no_grad();
    (void)tn_assign(tn_module_tensor(linear, "weight"), tn_mul(tn_to(inputs[index], "host"), tn_float(0.05)));
    (void)tn_init_constant(tn_module_tensor(linear, "bias"), 0);
    (void)tn_scope_pop(scope);
    (void)tn_module_add(module, name, linear);
    return linear;
}

static bool build_training(const worker_request *r)
{
    char name[8];
    module = tn_sequential_new(NULL, 0);
    for (int i = 1; i < r->count; i++) {
        (void)snprintf(name, sizeof name, "%d", 2 * (i - 1));
        (void)layer(r, i, name);
        (void)snprintf(name, sizeof name, "%d", 2 * i - 1);
        if (i + 1 < r->count) (void)tn_module_add(module, name, tn_activation_new("relu", NULL));
    }
    (void)tn_module_to(module, device);
    parameters = tn_module_parameters(module);
    adam = parameters ? tn_adam(parameters->tensors, parameters->count, 1e-3, NULL) : NULL;
    const long batch = r->input[0].dim[0], classes = r->input[r->count - 1].dim[0];
    inputs[1] = tn_remainder(tn_arange(TN_I64, 0, (double)batch, 1, device), tn_int(classes)); /* the labels */
    return adam && tn_realize(&inputs[1], 1) == TN_OK;
}

static tn_tensor *train(tn_tensor *const *x)
{
    tn_tensor *loss = tn_cross_entropy(tn_module_forward(module, x[0]), x[1], TN_REDUCE_MEAN, NULL);
    (void)tn_optimizer_zero_grad(adam);
    (void)tn_backward(loss);
    (void)tn_optimizer_step(adam);
    return tn_detach(loss);
}

static const operation operations[] = {
    {"matmul", matmul, NULL, false},
    {"matmul_nt", matmul_nt, NULL, false},
    {"matmul_tn", matmul_tn, NULL, false},
    {"matmul_tt", matmul_tt, NULL, false},
    {"matmul_i32", matmul_i32, NULL, false},
    {"matmul_gelu", matmul_gelu, NULL, false},
    {"add", add, NULL, false},
    {"copy", copy, NULL, false},
    {"cast_f16", cast_f16, NULL, false},
    {"chain", chain, NULL, false},
    {"exp", exponential, NULL, false},
    {"tanh", hyperbolic, NULL, false},
    {"erf", error_function, NULL, false},
    {"sum", sum, NULL, false},
    {"sum_inner", sum_inner, NULL, false},
    {"sum_outer", sum_outer, NULL, false},
    {"softmax", softmax, NULL, false},
    {"layer_norm", layer_norm, NULL, false},
    {"transpose", transpose, NULL, false},
    {"permute", permute, NULL, false},
    {"softmaxes", softmaxes, NULL, false},
    {"softmaxes_queued", softmaxes, NULL, true},
    {"steps", steps, NULL, false},
    {"train", train, build_training, false},
};

/* ---- the answers ---- */

static void forget(void)
{
    tn_optimizer_release(adam);
    tn_tensor_list_free(parameters);
    tn_module_release(module);
    adam = NULL;
    parameters = NULL;
    module = NULL;
    if (current) (void)tn_scope_pop(job);
    current = NULL;
    (void)tn_memory_empty_cache(device);
}

static tn_tensor *make_input(const worker_input *in, tn_dtype dtype)
{
    int64_t dims[WORKER_AXES];
    for (int i = 0; i < in->ndim; i++) dims[i] = in->dim[i];
    const tn_scope scope = tn_scope_push();
    tn_tensor *x = tn_cast(tn_from(TN_F32, tn_shape_make(in->ndim, dims), in->values, device), dtype);
    (void)tn_realize(&x, 1);
    x = tn_keep(x);
    (void)tn_scope_pop(scope);
    return x;
}

static const char *prepare(const worker_request *r)
{
    const tn_dtype dtype = tn_dtype_from_name(r->dtype);
    forget();
    const operation *o = worker_find(operations, sizeof operations / sizeof *operations, sizeof *operations, r->operation);
    if (!o) return "there is no such operation";
    if (dtype == TN_DTYPE_COUNT) return "there is no such dtype";
    current = o;
    job = tn_scope_push();
    result_dtype = dtype == TN_F64 ? TN_F64 : TN_F32;
    for (int i = 0; i < r->count; i++) inputs[i] = make_input(&r->input[i], dtype);
    if ((o->build && !o->build(r)) || tn_finish(device) != TN_OK) return tn_last_error();
    return NULL;
}

static bool run(void)
{
    const tn_scope scope = tn_scope_push();
    tn_tensor *y = current->record(inputs);
    const bool good = tn_realize(&y, 1) == TN_OK && (current->only_queued || tn_finish(device) == TN_OK);
    return tn_scope_pop(scope) == TN_OK && good;
}

static bool settle(void)
{
    return tn_finish(device) == TN_OK;
}

static const void *result(size_t *bytes)
{
    const tn_scope scope = tn_scope_push();
    tn_tensor *y = tn_cast(current->record(inputs), result_dtype);
    *bytes = tn_nbytes(y);
    free(result_values);
    result_values = malloc(*bytes ? *bytes : 1);
    const bool good = result_values && tn_read(y, result_values, *bytes) == TN_OK;
    return tn_scope_pop(scope) == TN_OK && good ? result_values : NULL;
}

static unsigned long long launches(void)
{
    tn_device_info info;
    return tn_device_query(device, &info) == TN_OK ? info.launches : 0;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        (void)fprintf(stderr, "usage: tenon DEVICE\n");
        return 2;
    }
    device = tn_device_resolve(argv[1]);
    if (!device) {
        (void)fprintf(stderr, "%s\n", tn_last_error());
        return 1;
    }
    const worker_peer peer = {prepare, run, settle, result, launches};
    const int status = worker_serve(&peer);
    if (status) (void)fprintf(stderr, "tenon: %s\n", tn_last_error());
    forget();
    free(result_values);
    return status;
}
