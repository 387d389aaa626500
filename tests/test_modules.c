/* Modules: trees and names, moving, casting, counting, printing, files, and where a failure is said to be. */
#include "base/alloc.h"
#include "nn_kit.h"

#include <unistd.h>

/* ---- a module of one's own, as tenon/nn.h shows it ---- */

static tn_tensor *residual(tn_module *self, tn_tensor *const *inputs, int count)
{
    (void)count;
    tn_tensor *h = tn_relu(tn_module_forward(tn_module_child(self, "first"), inputs[0]));
    return tn_add(inputs[0], tn_module_forward(tn_module_child(self, "second"), h));
}
static const tn_module_class residual_class = {.name = "Residual", .forward = residual};

static tn_module *residual_new(int64_t width)
{
    tn_module *self = tn_module_new(&residual_class, NULL);
    tn_module_add(self, "first", tn_linear_new(width, width, true));
    tn_module_add(self, "second", tn_linear_new(width, width, true));
    return self;
}

static void fill(tn_module *m, double value)
{
    tn_tensor_list *all = tn_module_parameters(m);
    for (int i = 0; i < all->count; i++) ck_ok(tn_init_constant(all->tensors[i], value));
    tn_tensor_list_free(all);
}

START_TEST(a_module_of_ones_own_is_a_function_and_its_parts)
{
    tn_module *m = residual_new(2);
    fill(m, 0.5);
    ck_ok(tn_module_to(m, test_device()));
    ck_values(tn_module_forward(m, test_f32(TN_SHAPE(1, 2), {1, 2})), {1 + 2.5, 2 + 2.5});
    ck_assert_str_eq(tn_module_kind(m), "Residual");
    ck_assert_int_eq(tn_module_parameter_count(m), 12);
    tn_module_release(m);
}
END_TEST

/* One with settings, a parameter and a buffer of its own. */
typedef struct scaling {
    double power;
    int *released;
} scaling;

static tn_tensor *scale(tn_module *self, tn_tensor *const *inputs, int count)
{
    const scaling *own = tn_module_data(self);
    tn_tensor *scaled = tn_mul(inputs[0], tn_module_tensor(self, "factor"));
    (void)count;
    return tn_add(tn_pow(scaled, tn_float(own->power)), tn_module_tensor(self, "shift"));
}
static void scaling_released(tn_module *self)
{
    scaling *own = tn_module_data(self);
    if (own->released) ++*own->released;
}
static const tn_module_class scaling_class = {
    .name = "Scaling", .forward = scale, .size = sizeof(scaling), .release = scaling_released};

static tn_module *scaling_new(int *released)
{
    const tn_scope scope = tn_scope_push();
    tn_module *m = tn_module_new(&scaling_class, &(scaling){2, released});
    ck_ok(tn_module_add_parameter(m, "factor", tn_full(TN_F32, TN_SHAPE(), tn_float(3), "host")));
    ck_ok(tn_module_add_buffer(m, "shift", tn_full(TN_F32, TN_SHAPE(), tn_float(1), "host")));
    ck_ok(tn_scope_pop(scope));
    return m;
}

START_TEST(settings_parameters_and_buffers_are_the_modules_own)
{
    int released = 0;
    const int64_t live = tn_live_count();
    tn_module *m = scaling_new(&released);
    ck_assert_int_eq(tn_live_count(), live + 2);
    ck_assert(tn_requires_grad(tn_module_tensor(m, "factor")));
    ck_assert(!tn_requires_grad(tn_module_tensor(m, "shift")));
    ck_ok(tn_module_to(m, test_device()));
    tn_tensor *x = test_f32(TN_SHAPE(2), {1, 2}), *y = tn_module_forward(m, x);
    ck_values(y, {10, 37});
    ck_ok(tn_backward(tn_sum(y, TN_ALL_AXES, false)));
    ck_values(tn_grad_of(tn_module_tensor(m, "factor")), {2 * 3 * 1 + 2 * 6 * 2});
    tn_module_retain(m);
    tn_module_release(m);
    ck_assert_int_eq(released, 0);
    tn_module_release(m);
    ck_assert_int_eq(released, 1);
}
END_TEST

START_TEST(a_parameter_may_outlive_its_module_and_its_scope)
{
    const int64_t live = tn_live_count();
    const tn_scope scope = tn_scope_push();
    tn_tensor *x = tn_ones(TN_F32, TN_SHAPE(2), "host");
    tn_module *m = tn_sequential_new(NULL, 0);
    ck_ok(tn_module_add_parameter(m, "weight", x));
    tn_tensor_list *list = tn_module_parameters(m);
    tn_module_release(m);
    ck_values(x, {1, 1});
    ck_ok(tn_scope_pop(scope));
    ck_values(list->tensors[0], {1, 1});
    tn_tensor_list_free(list);
    ck_assert_int_eq(tn_live_count(), live);
}
END_TEST

/* ---- trees and names ---- */

static tn_module *mlp(void)
{
    tn_module *inner = tn_sequential_new(TN_MODULES(tn_linear_new(3, 4, true), tn_activation_new("relu", NULL)));
    tn_module *net = tn_sequential_new(TN_MODULES(tn_identity_new()));
    ck_ok(tn_module_add(net, "mlp", inner));
    ck_ok(tn_module_add(net, "norm", tn_batch_norm1d_new(4, 1e-5, 0.1, NULL)));
    ck_ok(tn_module_add(net, "out", tn_linear_new(4, 2, false)));
    return net;
}

static void ck_names(tn_tensor_list *list, const char *const *names)
{
    ck_assert_ptr_nonnull(list);
    int count = 0;
    for (; names[count]; count++) {
        ck_assert_int_lt(count, list->count);
        ck_assert_str_eq(list->names[count], names[count]);
    }
    ck_assert_int_eq(list->count, count);
    tn_tensor_list_free(list);
}
#define NAMES(...)        \
    (const char *const[]) \
    {                     \
        __VA_ARGS__, NULL \
    }

START_TEST(names_are_places_in_the_tree_as_in_pytorch)
{
    tn_module *net = mlp();
    ck_names(tn_module_parameters(net), NAMES("mlp.0.weight", "mlp.0.bias", "norm.weight", "norm.bias", "out.weight"));
    ck_names(tn_module_buffers(net), NAMES("norm.running_mean", "norm.running_var", "norm.num_batches_tracked"));
    ck_names(tn_module_state(net), NAMES("mlp.0.weight", "mlp.0.bias", "norm.weight", "norm.bias", "norm.running_mean",
                                         "norm.running_var", "norm.num_batches_tracked", "out.weight"));
    ck_assert_int_eq(tn_module_parameter_count(net), 12 + 4 + 8 + 8);
    ck_assert_ptr_eq(tn_module_child(net, ""), net);
    ck_assert_str_eq(tn_module_kind(tn_module_child(net, "mlp.1")), "relu");
    ck_shape(tn_module_tensor(net, "mlp.0.weight"), TN_SHAPE(4, 3));
    ck_fails((const void *)tn_module_child(net, "mlp.2"), TN_ARGUMENT, "no \"mlp.2\"", "Sequential has 0, 1");
    ck_fails(tn_module_tensor(net, "mlp.0"), TN_ARGUMENT, "\"mlp.0\" is a module");
    ck_fails((const void *)tn_module_child(net, "out.weight"), TN_ARGUMENT, "\"out.weight\" is a tensor");
    ck_fails(tn_module_tensor(net, "out.weight.x"), TN_ARGUMENT, "no \"out.weight.x\"");
    tn_module_release(net);
}
END_TEST

static tn_status add_kind(const char *path, tn_module *part, void *user)
{
    char *text = user;
    snprintf(text + strlen(text), 200 - strlen(text), "%s=%s ", path, tn_module_kind(part));
    return strcmp(path, "norm") == 0 ? TN_INTERNAL : TN_OK;
}

START_TEST(a_walk_meets_each_part_once_and_can_be_ended)
{
    char text[200] = "";
    tn_module *net = mlp();
    ck_assert_int_eq(tn_module_each(net, add_kind, text), TN_INTERNAL);
    ck_assert_str_eq(text, "=Sequential 0=Identity mlp=Sequential mlp.0=Linear mlp.1=relu norm=BatchNorm1d ");
    tn_module_release(net);
}
END_TEST

START_TEST(names_are_checked_when_parts_are_added)
{
    tn_module *m = tn_sequential_new(NULL, 0);
    tn_tensor *x = tn_zeros(TN_F32, TN_SHAPE(2), "host");
    ck_ok(tn_module_add(m, "a", tn_identity_new()));
    ck_fails(tn_module_add(m, "a", tn_identity_new()), TN_ARGUMENT, "Sequential", "\"a\" already");
    ck_fails(tn_module_add(m, "a.b", tn_identity_new()), TN_ARGUMENT, "\"a.b\"", "no dot");
    ck_fails(tn_module_add(m, "", tn_identity_new()), TN_ARGUMENT, "not empty");
    ck_fails(tn_module_add(m, "b", tn_linear_new(-1, 1, true)), TN_ARGUMENT, "inputs -1");
    ck_fails(tn_module_add_parameter(m, "a", x), TN_ARGUMENT, "\"a\" already");
    ck_fails(tn_module_add_parameter(m, "n", tn_zeros(TN_I32, TN_SHAPE(2), "host")), TN_DTYPE, "i32");
    ck_fails(tn_module_add_parameter(m, "n", tn_float(1)), TN_ARGUMENT, "n is a scalar constant");
    ck_fails(tn_module_add_buffer(m, "n", tn_expand(tn_zeros(TN_F32, TN_SHAPE(1), "host"), TN_SHAPE(3))), TN_ARGUMENT,
             "n [3] is an expanded view");
    ck_fails((const void *)tn_module_new(&(tn_module_class){.name = "x"}, NULL), TN_ARGUMENT, "without a name or a forward");
    tn_module_release(m);
}
END_TEST

START_TEST(a_module_cannot_be_a_part_of_itself)
{
    tn_module *outer = tn_sequential_new(NULL, 0), *inner = tn_sequential_new(NULL, 0);
    ck_ok(tn_module_add(outer, "inner", tn_module_retain(inner)));
    ck_fails(tn_module_add(outer, "self", tn_module_retain(outer)), TN_ARGUMENT, "is a part of");
    ck_fails(tn_module_add(inner, "up", tn_module_retain(outer)), TN_ARGUMENT, "is a part of");
    tn_module_release(inner);
    tn_module_release(outer);
}
END_TEST

START_TEST(training_and_frozen_reach_every_part)
{
    tn_module *net = mlp();
    ck_assert(tn_module_is_training(tn_module_child(net, "norm")));
    ck_ok(tn_module_train(net, false));
    ck_assert(!tn_module_is_training(net) && !tn_module_is_training(tn_module_child(net, "mlp.1")));
    ck_ok(tn_module_set_requires_grad(net, false));
    ck_assert(!tn_requires_grad(tn_module_tensor(net, "mlp.0.weight")));
    tn_tensor *y = tn_module_forward(net, tn_zeros(TN_F32, TN_SHAPE(2, 3), "host"));
    ck_assert(!tn_requires_grad(ck_made(y)));
    ck_ok(tn_module_set_requires_grad(tn_module_child(net, "out"), true));
    ck_assert(tn_requires_grad(ck_made(tn_module_forward(net, tn_zeros(TN_F32, TN_SHAPE(2, 3), "host")))));
    tn_module_release(net);
}
END_TEST

START_TEST(what_a_forward_makes_on_the_way_goes_when_it_returns)
{
    tn_module *net = mlp();
    ck_ok(tn_module_set_requires_grad(net, false));
    tn_tensor *x = tn_zeros(TN_F32, TN_SHAPE(2, 3), "host");
    (void)ck_made(tn_module_forward(net, x)); /* the first counts batches */
    const int64_t live = tn_live_count();
    tn_tensor *y = tn_module_forward(net, x);
    ck_assert_int_eq(tn_live_count(), live + 1);
    tn_release(y);
    tn_module_release(net);
}
END_TEST

START_TEST(a_batch_of_0_goes_through)
{
    tn_module *net = mlp();
    ck_ok(tn_module_to(net, test_device()));
    tn_tensor *y = tn_module_forward(net, tn_zeros(TN_F32, TN_SHAPE(0, 3), test_device()));
    ck_shape(y, TN_SHAPE(0, 2));
    ck_ok(tn_backward(tn_sum(y, TN_ALL_AXES, false)));
    ck_values(tn_grad_of(tn_module_tensor(net, "out.weight")), {0, 0, 0, 0, 0, 0, 0, 0});
    tn_module_release(net);
}
END_TEST

/* ---- moving ---- */

/* C40: parameters are the same objects before and after, their values and gradients follow, and a handle taken before is
 * still the model's. */
START_TEST(c40_parameters_stay_the_same_objects_when_a_module_moves)
{
    tn_module *m = tn_linear_new(1, 1, true);
    tn_tensor *weight = tn_module_tensor(m, "weight"), *bias = tn_module_tensor(m, "bias");
    fill(m, 1);
    ck_ok(tn_backward(tn_module_forward(m, tn_full(TN_F32, TN_SHAPE(1), tn_float(3), "host"))));
    ck_ok(tn_module_to(m, test_device()));
    ck_assert_ptr_eq(tn_module_tensor(m, "weight"), weight);
    ck_assert_str_eq(tn_device_of(weight), test_device());
    ck_assert_str_eq(tn_device_of(tn_grad_of(weight)), test_device());
    ck_values(tn_grad_of(weight), {3});
    ck_assert(tn_requires_grad(weight) && tn_is_leaf(weight));
    ck_ok(tn_backward(tn_module_forward(m, test_f32(TN_SHAPE(1), {4})))); /* adds to what has moved */
    ck_values(tn_grad_of(weight), {7});
    const tn_scope no_grad = tn_scope_push_no_grad();
    ck_ok(tn_assign(weight, tn_sub(weight, tn_mul(tn_grad_of(weight), tn_float(0.5))))); /* a step by the old handle */
    ck_ok(tn_scope_pop(no_grad));
    ck_values(tn_module_forward(m, test_f32(TN_SHAPE(1), {2})), {-4});
    ck_ok(tn_module_to(m, "host"));
    ck_values(weight, {-2.5});
    ck_values(bias, {1});
    ck_values(tn_grad_of(weight), {7});
    tn_module_release(m);
}
END_TEST

/* C42: buffers, also those that are registered by name only, and children in a list go along. */
START_TEST(c42_buffers_and_listed_children_move_with_the_module)
{
    tn_module *const list[] = {tn_batch_norm1d_new(3, 1e-5, 0.1, NULL), scaling_new(NULL)};
    tn_module *net = tn_sequential_new(list, 2);
    ck_ok(tn_module_to(net, test_device()));
    tn_tensor_list *state = tn_module_state(net);
    ck_assert_int_eq(state->count, 7);
    for (int i = 0; i < state->count; i++) ck_assert_str_eq(tn_device_of(state->tensors[i]), test_device());
    tn_tensor_list_free(state);
    ck_shape(tn_module_forward(net, test_f32(TN_SHAPE(2, 3), {1, 2, 3, 4, 5, 6})), TN_SHAPE(2, 3));
    tn_module_release(net);
}
END_TEST

/* C43: a module's move is in place, and says so; nothing is handed out that could be dropped. */
START_TEST(c43_moving_to_where_it_is_changes_nothing)
{
    tn_module *m = tn_linear_new(2, 2, true);
    const int64_t live = tn_live_count();
    ck_ok(tn_module_to(m, "host"));
    ck_ok(tn_module_to(m, "host"));
    ck_assert_int_eq(tn_live_count(), live);
    ck_assert_str_eq(tn_device_of(tn_module_tensor(m, "weight")), "host");
    tn_module_release(m);
}
END_TEST

/* C44: the layer, the parameter and both devices are named, and the call that helps. */
START_TEST(c44_an_input_elsewhere_is_told_with_layer_parameter_and_both_devices)
{
    NEEDS_OPENCL();
    tn_module *net = mlp();
    tn_tensor *x = test_f32(TN_SHAPE(1, 3), {1, 2, 3});
    char hint[80];
    snprintf(hint, sizeof hint, "tn_module_to(net, \"%s\")", test_device());
    ck_fails(tn_module_forward(net, x), TN_DEVICE, "mlp.0 (Linear): input [1,3] is on", test_device(), "weight [4,3] is on host",
             hint);
    ck_ok(tn_module_to(tn_module_child(net, "mlp"), test_device()));
    ck_ok(tn_module_train(net, false));
    ck_fails(tn_module_forward(net, x), TN_DEVICE, "norm (BatchNorm1d): input [1,4]", "weight [4] is on host");
    const bool before = tn_auto_move(true);
    ck_ok(tn_module_to(net, test_device()));
    ck_shape(tn_module_forward(net, tn_host(x)), TN_SHAPE(1, 2));
    (void)tn_auto_move(before);
    tn_module_release(net);
}
END_TEST

START_TEST(a_move_that_fails_moves_nothing)
{
    tn_module *net = mlp();
    ck_fails(tn_module_to(net, "gpu:77"), TN_DEVICE, "gpu:77");
    ck_fails(tn_module_to(net, NULL), TN_ARGUMENT, "device");
    if (!test_is("host")) {
        ck_ok(tn_memory_set_limit(test_device(), 1));
        ck_fails(tn_module_to(net, test_device()), TN_MEMORY, "limit");
        ck_ok(tn_memory_set_limit(test_device(), 0));
    }
    tn_tensor_list *state = tn_module_state(net);
    for (int i = 0; i < state->count; i++) ck_assert_str_eq(tn_device_of(state->tensors[i]), "host");
    tn_tensor_list_free(state);
    tn_module_release(net);
}
END_TEST

START_TEST(a_cast_changes_floats_and_their_gradients_alone)
{
    tn_module *net = mlp();
    tn_tensor *weight = tn_module_tensor(net, "out.weight");
    ck_ok(tn_backward(tn_sum(tn_module_forward(net, tn_randn(TN_F32, TN_SHAPE(4, 3), "host")), TN_ALL_AXES, false)));
    ck_ok(tn_module_to(net, test_device()));
    ck_ok(tn_module_cast(net, TN_F16));
    ck_assert_int_eq(tn_dtype_of(weight), TN_F16);
    ck_assert_int_eq(tn_dtype_of(tn_grad_of(weight)), TN_F16);
    ck_assert_int_eq(tn_dtype_of(tn_module_tensor(net, "norm.running_var")), TN_F16);
    ck_tensor_i64(tn_module_tensor(net, "norm.num_batches_tracked"), {1});
    ck_fails(tn_module_cast(net, TN_I32), TN_DTYPE, "i32", "floats");
    tn_module_release(net);
}
END_TEST

/* ---- tied parameters ---- */

/* An embedding and a layer that share one weight. */
static tn_module *tied(void)
{
    tn_module *net = tn_sequential_new(NULL, 0), *rows = tn_embedding_new(3, 2, -1);
    tn_module *out = tn_sequential_new(NULL, 0);
    ck_ok(tn_module_add_parameter(out, "weight", tn_module_tensor(rows, "weight")));
    ck_ok(tn_module_add(net, "in", rows));
    ck_ok(tn_module_add(net, "out", out));
    return net;
}

START_TEST(tied_parameters_are_one_and_stay_tied)
{
    tn_module *net = tied();
    ck_assert_int_eq(tn_module_parameter_count(net), 6);
    ck_names(tn_module_parameters(net), NAMES("in.weight"));
    ck_names(tn_module_state(net), NAMES("in.weight", "out.weight"));
    ck_ok(tn_module_to(net, test_device()));
    ck_ok(tn_module_cast(net, TN_BF16));
    ck_assert_ptr_eq(tn_module_tensor(net, "in.weight"), tn_module_tensor(net, "out.weight"));
    ck_ok(tn_init_constant(tn_module_tensor(net, "in.weight"), 2));
    ck_values(tn_module_tensor(net, "out.weight"), {2, 2, 2, 2, 2, 2});
    tn_module_release(net);
}
END_TEST

START_TEST(a_child_in_two_places_is_one)
{
    tn_module *shared = tn_linear_new(2, 2, false);
    tn_module *net = tn_sequential_new(TN_MODULES(tn_module_retain(shared), shared));
    ck_assert_int_eq(tn_module_parameter_count(net), 4);
    ck_names(tn_module_state(net), NAMES("0.weight", "1.weight"));
    tn_module_release(net);
}
END_TEST

START_TEST(what_was_computed_before_a_move_is_not_gone_back_through)
{
    tn_module *net = mlp();
    tn_tensor *x = tn_ones(TN_F32, TN_SHAPE(2, 3), "host");
    tn_tensor *before = tn_sum(tn_module_forward(net, x), TN_ALL_AXES, false);
    ck_ok(tn_module_cast(net, TN_F64));
    ck_fails(tn_backward(before), TN_ARGUMENT, "moved or cast");
    ck_assert_ptr_eq(tn_grad_of(tn_module_tensor(net, "mlp.0.weight")), TN_NONE);
    ck_ok(tn_backward(tn_sum(tn_module_forward(net, tn_cast(x, TN_F64)), TN_ALL_AXES, false)));
    ck_assert_int_eq(tn_dtype_of(tn_grad_of(tn_module_tensor(net, "mlp.0.weight"))), TN_F64);
    tn_module_release(net);
}
END_TEST

/* ---- printing ---- */

START_TEST(printing_shows_a_table)
{
    char *text = NULL;
    size_t length = 0;
    tn_module *net = tied();
    ck_ok(tn_module_add(net, "norm", tn_batch_norm1d_new(2, 1e-5, 0.1, &(tn_norm_options){.no_bias = true})));
    ck_ok(tn_set_requires_grad(tn_module_tensor(net, "norm.weight"), false));
    FILE *file = open_memstream(&text, &length);
    ck_ok(tn_module_print(file, net));
    fclose(file);
    ck_assert_str_eq(text, "name                      layer        shape  dtype  device  parameters\n"
                           "in.weight                 Embedding    [3,2]  f32    host    6\n"
                           "out.weight                Sequential   [3,2]  f32    host    is in.weight\n"
                           "norm.weight               BatchNorm1d  [2]    f32    host    2, frozen\n"
                           "norm.running_mean         BatchNorm1d  [2]    f32    host    buffer\n"
                           "norm.running_var          BatchNorm1d  [2]    f32    host    buffer\n"
                           "norm.num_batches_tracked  BatchNorm1d  []     i64    host    buffer\n"
                           "Sequential: 8 parameters (6 trained), 32 bytes; buffers 24 bytes\n");
    free(text);
    tn_module_release(net);
}
END_TEST

/* ---- files ---- */

static const char *temporary(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "/tmp/tenon-modules-%ld-%s.safetensors", (long)getpid(), name);
    return path;
}

/* C88: saved from a device, loaded where the module is. */
START_TEST(c88_what_was_saved_on_a_device_loads_anywhere)
{
    tn_module *a = mlp(), *b = mlp();
    ck_ok(tn_module_to(a, test_device()));
    ck_ok(tn_assign(tn_module_tensor(a, "norm.num_batches_tracked"), tn_int(5)));
    const char *path = temporary("moved");
    ck_ok(tn_module_save(a, path));
    tn_tensor *kept = tn_module_tensor(b, "out.weight");
    ck_ok(tn_module_load(b, path, NULL));
    ck_assert_ptr_eq(tn_module_tensor(b, "out.weight"), kept);
    ck_assert_str_eq(tn_device_of(kept), "host");
    tn_tensor_list *from = tn_module_state(a), *to = tn_module_state(b);
    for (int i = 0; i < from->count; i++) ck_same(from->tensors[i], to->tensors[i]);
    tn_tensor_list_free(from);
    tn_tensor_list_free(to);
    ck_ok(tn_module_cast(a, TN_F16));
    ck_ok(tn_module_load(a, path, NULL)); /* cast to what the module has, put where it is */
    ck_same(tn_module_tensor(a, "out.weight"), tn_cast(tn_to(kept, test_device()), TN_F16));
    remove(path);
    tn_module_release(a);
    tn_module_release(b);
}
END_TEST

static tn_status load_named(tn_module *m, const tn_load_options *options, int count, const char *const *names,
                            tn_tensor *const *tensors)
{
    return tn_module_load_list(m, &(tn_tensor_list){.count = count, .names = names, .tensors = tensors}, options);
}

START_TEST(one_error_tells_everything_that_does_not_fit)
{
    tn_module *net = mlp();
    tn_tensor *weight = tn_module_tensor(net, "out.weight"), *before = tn_clone(weight);
    tn_tensor *given[] = {tn_zeros(TN_F32, TN_SHAPE(4, 3), "host"), tn_zeros(TN_F32, TN_SHAPE(5), "host"),
                          tn_zeros(TN_F32, TN_SHAPE(4), "host"),    tn_zeros(TN_F32, TN_SHAPE(2, 4), "host"),
                          tn_zeros(TN_F32, TN_SHAPE(), "host"),     tn_zeros(TN_F32, TN_SHAPE(), "host")};
    ck_fails(load_named(net, NULL, 6, NAMES("mlp.0.weight", "mlp.0.bias", "norm.weight", "out.weight", "out.bias", "head"), given),
             TN_ARGUMENT, "does not fit the module",
             "missing: norm.bias, norm.running_mean, norm.running_var, norm.num_batches_tracked;", "unexpected: out.bias, head;",
             "of another shape: mlp.0.bias [5] instead of [4]");
    ck_same(weight, before);
    ck_fails(load_named(net, &(tn_load_options){.partial = true}, 2, NAMES("mlp.0.weight", "mlp.0.bias"), given), TN_ARGUMENT,
             "mlp.0.bias [5] instead of [4]");
    ck_ok(load_named(net, &(tn_load_options){.partial = true}, 2, NAMES("mlp.0.weight", "head"), given));
    ck_values(tn_module_tensor(net, "mlp.0.weight"), {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
    tn_module_release(net);
}
END_TEST

START_TEST(a_prefix_takes_a_part_of_a_file)
{
    tn_module *m = tn_linear_new(1, 1, true);
    tn_tensor *given[] = {tn_ones(TN_F32, TN_SHAPE(1, 1), test_device()), tn_ones(TN_F64, TN_SHAPE(1), "host"),
                          tn_ones(TN_F32, TN_SHAPE(7), "host")};
    const tn_load_options options = {.prefix = "model.head."};
    ck_ok(load_named(m, &options, 3, NAMES("model.head.weight", "model.head.bias", "model.body.weight"), given));
    ck_values(tn_module_tensor(m, "weight"), {1});
    ck_fails(load_named(m, &options, 3, NAMES("model.head.weight", "model.head.scale", "weight"), given), TN_ARGUMENT,
             "missing: bias", "unexpected: model.head.scale");
    tn_module_release(m);
}
END_TEST

START_TEST(tied_names_need_one_value)
{
    tn_module *net = tied();
    tn_tensor *given[] = {tn_ones(TN_F32, TN_SHAPE(3, 2), "host"), tn_zeros(TN_F32, TN_SHAPE(3, 2), "host"),
                          tn_ones(TN_F32, TN_SHAPE(3, 2), "host")};
    ck_fails(load_named(net, NULL, 2, NAMES("in.weight", "out.weight"), given), TN_ARGUMENT,
             "tied, but with different values: in.weight and out.weight");
    ck_ok(load_named(net, NULL, 2, NAMES("in.weight", "out.weight"), (tn_tensor *const[]){given[0], given[2]}));
    ck_ok(load_named(net, NULL, 1, NAMES("out.weight"), &given[1]));
    ck_values(tn_module_tensor(net, "in.weight"), {0, 0, 0, 0, 0, 0});
    ck_fails(load_named(net, NULL, 0, NAMES(NULL), NULL), TN_ARGUMENT, "missing: in.weight");
    ck_fails(tn_module_load(net, "/nowhere/at.all", NULL), TN_FILE, "/nowhere/at.all");
    tn_module_release(net);
}
END_TEST

/* ---- failures ---- */

START_TEST(a_failure_is_told_with_its_place_also_by_the_scope)
{
    tn_module *net = mlp();
    ck_ok(tn_module_add(net, "head", residual_new(3)));
    ck_ok(tn_module_train(net, false));
    tn_scope scope = tn_scope_push();
    ck_assert_ptr_null(tn_module_forward(net, tn_zeros(TN_F32, TN_SHAPE(1, 3), "host")));
    ck_assert_str_eq(tn_last_error(), "head.first (Linear): input [1,2], weight [3,3]: the last axis of input is not 3");
    tn_clear_error();
    ck_fails(tn_scope_pop(scope), TN_SHAPE, "head.first (Linear): input [1,2]");
    scope = tn_scope_push();
    tn_tensor *y = tn_module_forward(net, tn_zeros(TN_F32, TN_SHAPE(1, 9), "host"));
    ck_assert_ptr_null(tn_module_forward(net, y)); /* goes on with the error that there is */
    ck_fails(tn_scope_pop(scope), TN_SHAPE, "mlp.0 (Linear): input [1,9]");
    ck_fails(tn_module_forward(tn_module_child(net, "out"), tn_zeros(TN_F32, TN_SHAPE(1), "host")), TN_SHAPE, "Linear: input [1]");
    tn_module_release(net);
}
END_TEST

static tn_tensor *gives_nothing(tn_module *self, tn_tensor *const *inputs, int count)
{
    (void)self;
    (void)inputs;
    return count == 2 ? TN_NONE : NULL;
}

START_TEST(a_forward_that_gives_nothing_is_a_failure)
{
    static const tn_module_class nothing = {.name = "Nothing", .forward = gives_nothing, .inputs = -1};
    tn_module *m = tn_module_new(&nothing, NULL);
    tn_tensor *const two[] = {tn_zeros(TN_F32, TN_SHAPE(1), "host"), tn_zeros(TN_F32, TN_SHAPE(1), "host")};
    ck_fails(tn_module_forward(m, two[0]), TN_ARGUMENT, "Nothing: forward gave NULL");
    ck_fails(tn_module_forward_all(m, two, 2), TN_ARGUMENT, "Nothing: forward gave TN_NONE");
    ck_fails(tn_module_forward(NULL, two[0]), TN_ARGUMENT, "module is NULL");
    ck_fails(tn_module_forward(m, NULL), TN_ARGUMENT, "NULL");
    tn_module_release(m);
    tn_module_release(NULL);
}
END_TEST

START_TEST(running_out_of_memory_leaves_nothing_behind)
{
    TN_SKIP_IF(!test_is("host"), "the same on every device");
    const int64_t live = tn_live_count();
    for (int n = 1; n < 400; n++) {
        const tn_scope scope = tn_scope_push();
        tn__alloc_fail_after(n, 0);
        tn_module *net = tn_sequential_new(TN_MODULES(tn_linear_new(2, 3, true), tn_batch_norm1d_new(3, 1e-5, 0.1, NULL)));
        tn_tensor *y = net ? tn_module_forward(net, tn_ones(TN_F32, TN_SHAPE(2, 2), "host")) : NULL;
        tn_tensor_list *list = y ? tn_module_state(net) : NULL;
        const tn_status cast = list ? tn_module_cast(net, TN_F64) : TN_OK;
        tn__alloc_fail_after(0, 0);
        const bool done = list && cast == TN_OK;
        tn_tensor_list_free(list);
        tn_module_release(net);
        const tn_status status = tn_scope_pop(scope);
        ck_assert_msg(status == TN_OK || status == TN_MEMORY, "%d: %s", n, tn_last_error());
        ck_assert_msg(tn_live_count() == live, "allocation %d: %lld handles are left", n, (long long)(tn_live_count() - live));
        if (done && status == TN_OK) return;
    }
    ck_abort_msg("400 allocations were not enough");
}
END_TEST

/* ---- filling ---- */

START_TEST(filling_gives_numbers_of_the_distribution)
{
    TN_SKIP_IF(!test_is("host"), "random numbers are the same everywhere (test_random_numbers)");
    tn_tensor *x = tn_zeros(TN_F32, TN_SHAPE(40, 60), "host"), *deep = tn_zeros(TN_F32, TN_SHAPE(10, 6, 40), "host");
    double deviation, largest;
    tn_seed(1);
    const struct {
        tn_status status;
        tn_tensor *x;
        double deviation, bound;
    } list[] = {
        {tn_init_uniform(x, -2, 2), tn_clone(x), 4 / sqrt(12), 2},
        {tn_init_normal(x, 0, 3), tn_clone(x), 3, INFINITY},
        {tn_init_truncated_normal(x, 0, 1, -2, 2), tn_clone(x), 0.8796, 2},
        {tn_init_xavier_uniform(x, 1), tn_clone(x), sqrt(2.0 / 100), sqrt(6.0 / 100)},
        {tn_init_xavier_normal(x, 2), tn_clone(x), 2 * sqrt(2.0 / 100), INFINITY},
        {tn_init_kaiming_uniform(x, tn_init_gain("relu", 0), false), tn_clone(x), sqrt(2.0 / 60), sqrt(6.0 / 60)},
        {tn_init_kaiming_normal(x, 1, true), tn_clone(x), sqrt(1.0 / 40), INFINITY},
        {tn_init_kaiming_normal(deep, 1, false), tn_clone(deep), sqrt(1.0 / 240), INFINITY},
    };
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        ck_ok(list[i].status);
        ck_ok(tn_item(tn_std(list[i].x, TN_ALL_AXES, 0, false), &deviation));
        ck_ok(tn_item(tn_max(tn_abs(list[i].x), TN_ALL_AXES, false), &largest));
        ck_assert_msg(fabs(deviation / list[i].deviation - 1) < 0.05 && largest <= list[i].bound * (1 + 1e-6), "%zu: %g, %g", i,
                      deviation, largest);
    }
    ck_assert(tn_init_gain("tanh", 0) == 5.0 / 3 && tn_init_gain("sigmoid", 0) == 1 && tn_init_gain("leaky_relu", 1) == 1);
}
END_TEST

START_TEST(filling_is_not_remembered_and_refuses_what_has_no_values)
{
    tn_tensor *x = tn_zeros(TN_F32, TN_SHAPE(2), test_device());
    ck_ok(tn_set_requires_grad(x, true));
    ck_ok(tn_init_constant(x, 4));
    ck_assert(tn_is_leaf(x));
    ck_values(x, {4, 4});
    ck_fails(tn_init_constant(tn_zeros(TN_I32, TN_SHAPE(2), test_device()), 4), TN_DTYPE, "init_constant", "i32");
    ck_fails(tn_init_xavier_uniform(x, 1), TN_SHAPE, "init_xavier_uniform: x [2]");
    ck_fails(tn_init_normal(x, 0, -1), TN_ARGUMENT, "deviation -1");
    ck_fails(tn_init_uniform(TN_NONE, 0, 1), TN_ARGUMENT, "x");
}
END_TEST

BONES_MAIN("modules", a_module_of_ones_own_is_a_function_and_its_parts, settings_parameters_and_buffers_are_the_modules_own,
        a_parameter_may_outlive_its_module_and_its_scope, names_are_places_in_the_tree_as_in_pytorch,
        a_walk_meets_each_part_once_and_can_be_ended, names_are_checked_when_parts_are_added, a_module_cannot_be_a_part_of_itself,
        training_and_frozen_reach_every_part, what_a_forward_makes_on_the_way_goes_when_it_returns, a_batch_of_0_goes_through,
        c40_parameters_stay_the_same_objects_when_a_module_moves, c42_buffers_and_listed_children_move_with_the_module,
        c43_moving_to_where_it_is_changes_nothing, c44_an_input_elsewhere_is_told_with_layer_parameter_and_both_devices,
        a_move_that_fails_moves_nothing, a_cast_changes_floats_and_their_gradients_alone, what_was_computed_before_a_move_is_not_gone_back_through, tied_parameters_are_one_and_stay_tied,
        a_child_in_two_places_is_one, printing_shows_a_table, c88_what_was_saved_on_a_device_loads_anywhere,
        one_error_tells_everything_that_does_not_fit, a_prefix_takes_a_part_of_a_file, tied_names_need_one_value,
        a_failure_is_told_with_its_place_also_by_the_scope, a_forward_that_gives_nothing_is_a_failure,
        running_out_of_memory_leaves_nothing_behind, filling_gives_numbers_of_the_distribution,
        filling_is_not_remembered_and_refuses_what_has_no_values)
