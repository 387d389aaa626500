/* Networks: modules, the layers that come with the library, moving, saving and loading.
 *
 *     tn_module *net = tn_sequential_new(TN_MODULES(tn_linear_new(64, 32, true), tn_activation_new("relu", NULL),
 *                                                   tn_linear_new(32, 10, true)));
 *     tn_module_to(net, "gpu:0");
 *     tn_tensor *y = tn_module_forward(net, x);
 *     tn_module_release(net);
 *
 * A module is a tree of named parameters, buffers and children. It is one reference of the caller's and belongs to no scope, nor
 * does what it holds. A module of one's own is a function, and a class that names it:
 *
 *     static tn_tensor *residual(tn_module *self, tn_tensor *const *inputs, int count)
 *     {
 *         tn_tensor *h = tn_relu(tn_module_forward(tn_module_child(self, "first"), inputs[0]));
 *         return tn_add(inputs[0], tn_module_forward(tn_module_child(self, "second"), h));
 *     }
 *     static const tn_module_class residual_class = {.name = "Residual", .forward = residual};
 *
 *     tn_module *residual_new(int64_t width)
 *     {
 *         tn_module *self = tn_module_new(&residual_class, NULL);
 *         tn_module_add(self, "first", tn_linear_new(width, width, true));
 *         tn_module_add(self, "second", tn_linear_new(width, width, true));
 *         return self;
 *     }
 *
 * A failure inside a forward is told with the layer's place in the tree: "mlp.fc1 (Linear): input [2,3] is on host, …". Modules
 * may be read from several threads; whoever changes one sees to the order. */
#ifndef TENON_NN_H
#define TENON_NN_H

#include <stdio.h>
#include <tenon/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tn_module tn_module;

/* ---- modules ---- */

/** A kind of module. It outlives its modules. */
typedef struct tn_module_class {
    const char *name;
    /* A new tensor from the inputs. What it makes on the way is released when it returns: it works in a scope of its own. */
    tn_tensor *(*forward)(tn_module *self, tn_tensor *const *inputs, int count);
    int inputs;  /* how many forward takes; 0: one, -1: any number */
    size_t size; /* bytes of a module's own data, its settings */
    void (*release)(tn_module *self); /* before data goes; may be NULL */
} tn_module_class;

/** A module without parts, in training. data: class->size bytes to copy, NULL for zeros.
 *  error  ARGUMENT (no name, no forward), MEMORY */
TN_API tn_module *tn_module_new(const tn_module_class *type, const void *data) TN_MUST_USE;
/** One more reference. Returns module. */
TN_API tn_module *tn_module_retain(tn_module *module);
/** Drops one; with the last go its tensors and children. NULL is allowed. */
TN_API void tn_module_release(tn_module *module);
/** Its own copy of data; NULL for a module without. */
TN_API void *tn_module_data(const tn_module *module);
/** The name of its class, "Linear"; "" for NULL. */
TN_API const char *tn_module_kind(const tn_module *module);

/** Makes child a part of module; the reference is module's from now on, also when this fails. The same child may have several
 *  places. name: without dots; NULL: the number of children so far.
 *  error  ARGUMENT (a name that is empty, has a dot or is there already; module is a part of child), MEMORY */
TN_API tn_status tn_module_add(tn_module *module, const char *name, tn_module *child);
/** Makes x, of floats, a parameter: it is kept, and its gradient wanted. The same tensor in two places is one parameter (tied).
 *  Runs what is pending for x.
 *  error  ARGUMENT (the name, as above; x is an expanded view, a scalar constant, or computed from something that requires a
 *         gradient), DTYPE, MEMORY */
TN_API tn_status tn_module_add_parameter(tn_module *module, const char *name, tn_tensor *x);
/** Makes x a buffer: kept, moved and saved like a parameter, but not trained. error  as above, but any dtype */
TN_API tn_status tn_module_add_buffer(tn_module *module, const char *name, tn_tensor *x);

/** The module's function of x.
 *  error  DEVICE (x is not where the module's own tensors are; a host x of no axes goes with any), and those of the layers, all
 *         with the layer's place in the tree */
TN_API tn_tensor *tn_module_forward(tn_module *module, tn_tensor *x) TN_MUST_USE;
/** The same of several tensors. error  ARGUMENT (a number of them that the class does not take) */
TN_API tn_tensor *tn_module_forward_all(tn_module *module, tn_tensor *const *inputs, int count) TN_MUST_USE;

/** A part of it by its place in the tree: "mlp.fc1"; "" is module itself. It stays the module's: not to be released.
 *  error  ARGUMENT (there is none: tells what there is) */
TN_API tn_module *tn_module_child(const tn_module *module, const char *path);
/** A parameter or buffer by its place, "mlp.fc1.weight". The module's own handle: not to be released. error  as above */
TN_API tn_tensor *tn_module_tensor(const tn_module *module, const char *path);

/** Called with every part of a module, itself (path "") first, each once, under its first place. Not OK ends the walk. */
typedef tn_status tn_module_visit(const char *path, tn_module *part, void *user);
TN_API tn_status tn_module_each(tn_module *module, tn_module_visit *visit, void *user);

/* ---- tensors of a module ---- */

/** Tensors and their names, which stay until tn_tensor_list_free. */
typedef struct tn_tensor_list {
    int count;
    const char *const *names;
    tn_tensor *const *tensors;
} tn_tensor_list;

/** All parameters, each once, under its first place in the tree. */
TN_API tn_tensor_list *tn_module_parameters(const tn_module *module) TN_MUST_USE;
/** All buffers, each once. */
TN_API tn_tensor_list *tn_module_buffers(const tn_module *module) TN_MUST_USE;
/** What is saved: parameters and buffers under all of their names, as PyTorch's state_dict. */
TN_API tn_tensor_list *tn_module_state(const tn_module *module) TN_MUST_USE;
TN_API void tn_tensor_list_free(tn_tensor_list *list);

/** Numbers in all parameters, tied ones once; -1 on failure. */
TN_API int64_t tn_module_parameter_count(const tn_module *module);
/** A table: name, layer, shape, dtype, device and size of each parameter and buffer; last what they are together. */
TN_API tn_status tn_module_print(FILE *file, const tn_module *module);

/* ---- changing all of it ---- */

/** Whether dropout and batch normalisation of all parts do as in training. */
TN_API tn_status tn_module_train(tn_module *module, bool training);
TN_API bool tn_module_is_training(const tn_module *module);
/** Whether the gradients of all parameters are wanted: false freezes them. */
TN_API tn_status tn_module_set_requires_grad(tn_module *module, bool required);
/** Takes the gradients of all parameters away. */
TN_API tn_status tn_module_zero_grad(tn_module *module);
/** Moves all parameters, buffers and gradients, in place: the handles stay the same. On failure nothing has moved.
 *  error  those of tn_to */
TN_API tn_status tn_module_to(tn_module *module, const char *device);
/** Changes the dtype of all that are floats, in place as tn_module_to. error  DTYPE (no dtype of floats), MEMORY */
TN_API tn_status tn_module_cast(tn_module *module, tn_dtype dtype);

/* ---- files ---- */

typedef struct tn_load_options {
    const char *prefix; /* the module's names begin with this in the file ("model."), the others are not looked at; NULL: none */
    bool partial;       /* names that one side does not have are no error */
} tn_load_options;

/** Writes the state as .safetensors, a tied parameter under each of its names. error  as tn_save_safetensors */
TN_API tn_status tn_module_save(const tn_module *module, const char *path);
/** Replaces the values of parameters and buffers by those of a file, cast to their dtypes, on their devices. One of the names of
 *  a tied parameter is enough. options may be NULL. All is compared before anything is changed.
 *  error  ARGUMENT (one sentence with everything that does not fit: missing, unexpected, of another shape, and tied names with
 *         different values), and those of tn_archive_open and tn_archive_get */
TN_API tn_status tn_module_load(tn_module *module, const char *path, const tn_load_options *options);
/** The same from tensors of any devices. */
TN_API tn_status tn_module_load_list(tn_module *module, const tn_tensor_list *list, const tn_load_options *options);

/* ---- containers ---- */

#ifndef __cplusplus
/* A list of modules and its length. */
#define TN_MODULES(...) \
    (tn_module *const[]){__VA_ARGS__}, (int)(sizeof((tn_module *const[]){__VA_ARGS__}) / sizeof(tn_module *))
#endif
/** One after the other, with the names "0", "1", …; tn_module_add appends more. The references of the children go to it, also
 *  when this fails. */
TN_API tn_module *tn_sequential_new(tn_module *const *children, int count) TN_MUST_USE;

/* ---- layers. Parameters are made in f32, on the device of the creation scope, else host, and filled as PyTorch fills them.
 * Errors of all: ARGUMENT (a size below 0), MEMORY. What a forward is given is described behind "x". ---- */

/** x weight^T + bias. weight [outputs, inputs], bias [outputs]. x [..., inputs] -> [..., outputs] */
TN_API tn_module *tn_linear_new(int64_t inputs, int64_t outputs, bool bias) TN_MUST_USE;
/** a weight b + bias, of two inputs. weight [outputs, inputs_a, inputs_b]. a [..., inputs_a], b [..., inputs_b] -> [..., outputs] */
TN_API tn_module *tn_bilinear_new(int64_t inputs_a, int64_t inputs_b, int64_t outputs, bool bias) TN_MUST_USE;
/** Rows of weight [count, width] by their index. padding: the row that is 0 and not trained; -1: none.
 *  x, integers [...] -> [..., width] */
TN_API tn_module *tn_embedding_new(int64_t count, int64_t width, int64_t padding) TN_MUST_USE;
/** The input itself. */
TN_API tn_module *tn_identity_new(void) TN_MUST_USE;
/** Axes first … last become one. */
TN_API tn_module *tn_flatten_new(int first, int last) TN_MUST_USE;
/** In training each element is 0 with probability p, else divided by 1 - p. The thread's generator decides, on every device alike.
 *  error  ARGUMENT (p is not in 0 … 1) */
TN_API tn_module *tn_dropout_new(double p) TN_MUST_USE;
/** A function by the name of its operation: relu relu6 gelu gelu_tanh sigmoid tanh silu mish selu softplus softsign logsigmoid
 *  hardsigmoid hardswish tanhshrink exp, and those with settings, which stand in `settings` (NULL: PyTorch's own):
 *  leaky_relu {slope}, elu {alpha}, celu {alpha}, softshrink {lambda}, hardshrink {lambda}, hardtanh {low, high},
 *  threshold {threshold, value}, softmax {axis}, log_softmax {axis}.
 *  error  ARGUMENT (no such function) */
TN_API tn_module *tn_activation_new(const char *name, const double *settings) TN_MUST_USE;

typedef struct tn_norm_options {
    bool plain;      /* no weight and no bias */
    bool no_bias;
    bool untracked;  /* batch normalisation: no running statistics, always those of the batch */
    bool cumulative; /* batch normalisation: running statistics are the mean over all batches; momentum does not count */
} tn_norm_options;
/** (x - mean) / sqrt(variance + epsilon) * weight + bias, over the last axes, of this shape. f16 and bf16 are computed in f32.
 *  x [..., shape] -> the same. options may be NULL, as below */
TN_API tn_module *tn_layer_norm_new(tn_shape shape, double epsilon, const tn_norm_options *options) TN_MUST_USE;
/** x / sqrt(mean(x^2) + epsilon) * weight, over the last axes. */
TN_API tn_module *tn_rms_norm_new(tn_shape shape, double epsilon, const tn_norm_options *options) TN_MUST_USE;
/** Each channel normalised over the batch in training, else by running_mean and running_var, to which training takes
 *  momentum * (the batch's - theirs); num_batches_tracked counts. An empty batch changes nothing.
 *  x [n, channels] or [n, channels, length] -> the same
 *  error  (of forward) SHAPE (one value for each channel in training) */
TN_API tn_module *tn_batch_norm1d_new(int64_t channels, double epsilon, double momentum, const tn_norm_options *options) TN_MUST_USE;
/** Layer normalisation over each of the groups of channels; weight and bias are the channels'. x [n, channels, ...] -> the same
 *  error  ARGUMENT (groups do not divide channels) */
TN_API tn_module *tn_group_norm_new(int64_t groups, int64_t channels, double epsilon, const tn_norm_options *options) TN_MUST_USE;

/* ---- filling parameters: new values for a tensor of floats, as random as tn_rand. Nothing of it is remembered for gradients.
 * Errors of all: DTYPE, ARGUMENT (what the distribution does not take; x is an expanded view), MEMORY ---- */

TN_API tn_status tn_init_constant(tn_tensor *x, double value);
TN_API tn_status tn_init_uniform(tn_tensor *x, double low, double high);
TN_API tn_status tn_init_normal(tn_tensor *x, double mean, double deviation);
/** Normal between low and high. */
TN_API tn_status tn_init_truncated_normal(tn_tensor *x, double mean, double deviation, double low, double high);
/** Variance gain^2 2 / (inputs + outputs) (Glorot and Bengio 2010). x [outputs, inputs, ...]; further axes count to both.
 *  error  SHAPE (fewer than 2 axes) */
TN_API tn_status tn_init_xavier_uniform(tn_tensor *x, double gain);
TN_API tn_status tn_init_xavier_normal(tn_tensor *x, double gain);
/** Variance gain^2 / inputs, or by_outputs gain^2 / outputs (He et al. 2015). error  SHAPE */
TN_API tn_status tn_init_kaiming_uniform(tn_tensor *x, double gain, bool by_outputs);
TN_API tn_status tn_init_kaiming_normal(tn_tensor *x, double gain, bool by_outputs);
/** What activation costs in deviation, to be given as gain: relu sqrt(2), tanh 5/3, selu 3/4, leaky_relu sqrt(2 / (1 + slope^2)),
 *  others 1. */
TN_API double tn_init_gain(const char *activation, double slope);

#ifdef __cplusplus
}
#endif
#endif
