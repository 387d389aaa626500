/* Layers: against PyTorch, forwards and backwards (tests/data/nn), their edges and what they refuse. */
#include "nn_kit.h"

/* ---- against PyTorch ---- */

static tn_shape shape_from(const double *s, int count)
{
    tn_shape shape = {.ndim = count};
    for (int i = 0; i < count; i++) shape.dim[i] = (int64_t)s[i];
    return shape;
}

/* settings[0] is whether it is in training, the last ones those of the constructor. */
static tn_module *layer_of(const nn_case *c)
{
    const double *s = c->settings + 1;
    const int count = (int)tn_numel(nn_host(c, "settings")) - 1;
    const tn_norm_options plain = {.plain = s[1] != 0};
    if (strcmp(c->name, "linear") == 0) return tn_linear_new((int64_t)s[0], (int64_t)s[1], s[2] != 0);
    if (strcmp(c->name, "bilinear") == 0) return tn_bilinear_new((int64_t)s[0], (int64_t)s[1], (int64_t)s[2], s[3] != 0);
    if (strcmp(c->name, "embedding") == 0) return tn_embedding_new((int64_t)s[0], (int64_t)s[1], (int64_t)s[2]);
    if (strcmp(c->name, "layer_norm") == 0) return tn_layer_norm_new(shape_from(s + 2, count - 2), s[0], &plain);
    if (strcmp(c->name, "rms_norm") == 0) return tn_rms_norm_new(shape_from(s + 2, count - 2), s[0], &plain);
    if (strcmp(c->name, "group_norm") == 0) return tn_group_norm_new((int64_t)s[2], (int64_t)s[3], s[0], &plain);
    ck_assert_str_eq(c->name, "batch_norm1d");
    const tn_norm_options options = {.plain = s[2] != 0, .untracked = s[3] != 0, .cumulative = s[4] != 0};
    return tn_batch_norm1d_new((int64_t)s[5], s[0], s[1], &options);
}

/* The layer of a case with its parameters, where and in what the case is tested. */
static tn_module *layer_with_state(const nn_case *c)
{
    tn_module *m = layer_of(c);
    ck_assert_msg(m != NULL, "%s", tn_last_error());
    if (test_is("host")) ck_ok(tn_module_cast(m, TN_F64));
    tn_tensor_list *state = tn_module_state(m);
    const char *names[8];
    tn_tensor *tensors[8];
    for (int i = 0; i < state->count; i++) {
        char part[64];
        snprintf(part, sizeof part, "state.%s", state->names[i]);
        names[i] = state->names[i];
        tensors[i] = nn_host(c, part);
    }
    ck_ok(tn_module_load_list(m, &(tn_tensor_list){.count = state->count, .names = names, .tensors = tensors}, NULL));
    tn_tensor_list_free(state);
    ck_ok(tn_module_to(m, test_device()));
    ck_ok(tn_module_train(m, c->settings[0] != 0));
    return m;
}

static void compare_list(const nn_case *c, tn_tensor_list *list, const char *before, bool gradients)
{
    for (int i = 0; i < list->count; i++) {
        char part[64];
        snprintf(part, sizeof part, "%s.%s", before, list->names[i]);
        if (gradients)
            nn_compare_gradient(c, list->tensors[i], part);
        else
            nn_compare(c, list->tensors[i], part);
    }
    tn_tensor_list_free(list);
}

static void compare_layer(const nn_case *c)
{
    tn_module *m = layer_with_state(c);
    tn_tensor *inputs[2] = {nn_tensor(c, "x"), nn_tensor(c, "b")}, *u = nn_tensor(c, "u");
    const int count = inputs[1] == TN_NONE ? 1 : 2;
    for (int i = 0; i < count; i++)
        if (nn_has(c, i ? "gb" : "gx")) ck_ok(tn_set_requires_grad(inputs[i], true));
    tn_tensor *y = ck_made(tn_module_forward_all(m, inputs, count));
    nn_compare(c, y, "out");
    compare_list(c, tn_module_buffers(m), "after", false);
    if (tn_requires_grad(y)) {
        ck_ok(tn_backward_all(&y, &u, 1, NULL));
        compare_list(c, tn_module_parameters(m), "grad", true);
        for (int i = 0; i < count; i++)
            if (nn_has(c, i ? "gb" : "gx")) nn_compare_gradient(c, inputs[i], i ? "gb" : "gx");
    }
    tn_module_release(m);
}

START_TEST(layers_are_those_of_pytorch)
{
    nn_each("layer", 1, compare_layer);
}
END_TEST

static tn_tensor *layer_again(tn_tensor *const *inputs, int count, void *user)
{
    return tn_module_forward_all(user, inputs, count);
}

static void check_gradients(const nn_case *c)
{
    if (!nn_has(c, "gx")) return;
    tn_module *m = layer_with_state(c);
    tn_tensor *const inputs[] = {nn_tensor(c, "x"), nn_tensor(c, "b")};
    const int count = inputs[1] == TN_NONE ? 1 : 2;
    for (int i = 0; i < count; i++) ck_ok(tn_set_requires_grad(inputs[i], true));
    ck_ok(tn_gradcheck(layer_again, inputs, count, m, NULL));
    tn_module_release(m);
}

START_TEST(gradients_of_layers_are_those_of_differences)
{
    TN_SKIP_IF(!test_is("host"), "in f64 on host, where it costs nothing");
    nn_each("layer", 1, check_gradients);
}
END_TEST

/* ---- what a new layer holds ---- */

START_TEST(linear_is_filled_evenly_between_bounds_of_its_inputs)
{
    TN_SKIP_IF(!test_is("host"), "random numbers are the same everywhere (test_random_numbers)");
    tn_seed(1);
    tn_module *m = tn_linear_new(100, 50, true);
    double *weight = test_numbers(tn_module_tensor(m, "weight")), *bias = test_numbers(tn_module_tensor(m, "bias"));
    double low = 1, high = -1, sum = 0;
    for (int i = 0; i < 5000; i++) {
        low = fmin(low, weight[i]);
        high = fmax(high, weight[i]);
        sum += weight[i];
    }
    ck_assert(low >= -0.1 && low < -0.099 && high <= 0.1 && high > 0.099 && fabs(sum / 5000) < 0.003);
    for (int i = 0; i < 50; i++) ck_assert(fabs(bias[i]) <= 0.1);
    free(weight);
    free(bias);
    tn_module_release(m);
}
END_TEST

START_TEST(layers_without_inputs_or_outputs_work)
{
    tn_module *m = tn_linear_new(0, 2, true), *none = tn_linear_new(2, 0, true);
    tn_tensor *bias = tn_module_tensor(m, "bias");
    ck_ok(tn_module_to(m, test_device()));
    ck_ok(tn_module_to(none, test_device()));
    ck_ok(tn_init_constant(bias, 3));
    ck_values(tn_module_forward(m, tn_zeros(TN_F32, TN_SHAPE(2, 0), test_device())), {3, 3, 3, 3});
    ck_shape(tn_module_forward(none, test_f32(TN_SHAPE(1, 2), {1, 2})), TN_SHAPE(1, 0));
    tn_module_release(m);
    tn_module_release(none);
}
END_TEST

START_TEST(an_embedding_begins_with_a_padding_row_of_zeros)
{
    tn_module *m = tn_embedding_new(3, 2, 1);
    ck_ok(tn_module_to(m, test_device()));
    ck_values(tn_module_forward(m, test_i64(TN_SHAPE(2), {1, 1})), {0, 0, 0, 0});
    tn_module_release(m);
    ck_fails((const void *)tn_embedding_new(3, 2, 3), TN_ARGUMENT, "padding row 3 of 3");
}
END_TEST

/* ---- dropout ---- */

/* C50: one seed, one mask, on every device and for every dtype. */
START_TEST(c50_dropout_has_the_same_mask_on_every_device)
{
    tn_module *m = tn_dropout_new(0.25);
    tn_tensor *one = tn_full(TN_F32, TN_SHAPE(4, 5), tn_float(1), "host");
    tn_seed(10);
    tn_tensor *want = tn_module_forward(m, one);
    uint64_t seed, position;
    tn_random_state(&seed, &position);
    ck_assert_uint_eq(position, 20);
    tn_seed(10);
    tn_tensor *got = tn_module_forward(m, tn_to(one, test_device()));
    ck_same(got, want);
    double *numbers = test_numbers(want);
    int kept = 0;
    for (int i = 0; i < 20; i++) {
        ck_assert(numbers[i] == 0 || fabs(numbers[i] - 4.0 / 3) < 1e-6);
        kept += numbers[i] != 0;
    }
    ck_assert(kept > 8 && kept < 20);
    tn_seed(10);
    tn_tensor *narrow = tn_module_forward(m, tn_cast(one, TN_BF16));
    double *half = test_numbers(narrow);
    for (int i = 0; i < 20; i++) ck_assert_int_eq(half[i] != 0, numbers[i] != 0);
    free(numbers);
    free(half);
    tn_module_release(m);
}
END_TEST

START_TEST(dropout_does_nothing_in_evaluation_and_all_with_p_of_1)
{
    tn_tensor *x = test_f32(TN_SHAPE(3), {1, NAN, INFINITY});
    tn_module *m = tn_dropout_new(0.5), *all = tn_dropout_new(1), *none = tn_dropout_new(0);
    ck_ok(tn_module_train(m, false));
    ck_assert(!tn_module_is_training(m));
    ck_same(tn_module_forward(m, x), x);
    ck_same(tn_module_forward(none, x), x);
    ck_values(tn_module_forward(all, test_f32(TN_SHAPE(2), {1, -2})), {0, 0});
    ck_fails((const void *)tn_dropout_new(1.5), TN_ARGUMENT, "1.5");
    ck_fails((const void *)tn_dropout_new(NAN), TN_ARGUMENT, "nan");
    tn_module_release(m);
    tn_module_release(all);
    tn_module_release(none);
}
END_TEST

START_TEST(the_gradient_of_dropout_is_its_mask)
{
    tn_module *m = tn_dropout_new(0.5);
    tn_tensor *x = tn_ones(TN_F32, TN_SHAPE(64), test_device());
    ck_ok(tn_set_requires_grad(x, true));
    tn_seed(3);
    tn_tensor *y = tn_module_forward(m, x);
    ck_ok(tn_backward(tn_sum(y, TN_ALL_AXES, false)));
    ck_same(tn_grad_of(x), tn_detach(y));
    tn_module_release(m);
}
END_TEST

/* ---- activations, and layers without parameters ---- */

static const struct {
    const char *name;
    double settings[2], at_minus_2, at_half;
} activations[] = {
    {"relu", {0}, 0, 0.5},
    {"relu6", {0}, 0, 0.5},
    {"gelu", {0}, -0.04550026389635842, 0.34573123063700656},
    {"gelu_tanh", {0}, -0.04540230591222494, 0.3457140219},
    {"sigmoid", {0}, 0.11920292202211755, 0.6224593312018546},
    {"tanh", {0}, -0.9640275800758169, 0.46211715726000973},
    {"silu", {0}, -0.2384058440442351, 0.3112296656009273},
    {"mish", {0}, -0.2525014826, 0.3752452},
    {"selu", {0}, -1.5201664685956948, 0.5253504936777402},
    {"softplus", {0}, 0.1269280110429726, 0.9740769841801067},
    {"softsign", {0}, -2.0 / 3, 1.0 / 3},
    {"logsigmoid", {0}, -2.1269280110429727, -0.4740769841801067},
    {"hardsigmoid", {0}, 1.0 / 6, 3.5 / 6},
    {"hardswish", {0}, -1.0 / 3, 0.5 * 3.5 / 6},
    {"tanhshrink", {0}, -1.0359724199241831, 0.03788284273999027},
    {"exp", {0}, 0.1353352832366127, 1.6487212707001282},
    {"leaky_relu", {0.5}, -1, 0.5},
    {"elu", {2}, -1.7293294335267746, 0.5},
    {"celu", {2}, -1.2642411176571153, 0.5},
    {"softshrink", {0.25}, -1.75, 0.25},
    {"hardshrink", {1}, -2, 0},
    {"hardtanh", {-1.5, 0.25}, -1.5, 0.25},
    {"threshold", {1, 7}, 7, 7},
    {"softmax", {0}, 0.07585818002124355, 0.9241418199787566},
    {"log_softmax", {0}, -2.578889734292549, -0.07888973429254956},
};

START_TEST(activations_are_found_by_name)
{
    tn_tensor *x = test_f32(TN_SHAPE(2), {-2, 0.5});
    for (size_t i = 0; i < sizeof activations / sizeof activations[0]; i++) {
        if (!test_takes((int)i, 12)) continue;
        tn_module *m = tn_activation_new(activations[i].name, activations[i].settings);
        ck_assert_msg(m != NULL, "%s", tn_last_error());
        ck_assert_str_eq(tn_module_kind(m), activations[i].name);
        double *y = test_numbers(ck_made(tn_module_forward(m, x)));
        ck_assert_msg(fabs(y[0] - activations[i].at_minus_2) < 1e-6, "%s: %.9g", activations[i].name, y[0]);
        ck_assert_msg(fabs(y[1] - activations[i].at_half) < 1e-6, "%s: %.9g", activations[i].name, y[1]);
        free(y);
        tn_module_release(m);
    }
    ck_fails((const void *)tn_activation_new("swoosh", NULL), TN_ARGUMENT, "no activation \"swoosh\"");
}
END_TEST

START_TEST(activations_have_the_settings_of_pytorch_if_none_are_given)
{
    TN_SKIP_IF(!test_is("host"), "settings do not depend on the device");
    tn_tensor *x = test_f32(TN_SHAPE(2), {-2, 0.75});
    const struct {
        const char *name;
        float want[2];
    } list[] = {{"leaky_relu", {-0.02f, 0.75f}}, {"elu", {-0.86466472f, 0.75f}}, {"celu", {-0.86466472f, 0.75f}},
                {"softshrink", {-1.5f, 0.25f}},  {"hardshrink", {-2, 0.75f}},    {"hardtanh", {-1, 0.75f}},
                {"threshold", {0, 0.75f}}};
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        tn_module *m = tn_activation_new(list[i].name, NULL);
        ck_close(tn_module_forward(m, x), 2, {list[i].want[0], list[i].want[1]});
        tn_module_release(m);
    }
}
END_TEST

START_TEST(identity_and_flatten_give_new_handles)
{
    tn_module *same = tn_identity_new(), *flat = tn_flatten_new(1, -1);
    tn_tensor *x = test_f32(TN_SHAPE(2, 1, 2), {1, 2, 3, 4}), *y = tn_module_forward(same, x);
    ck_assert_ptr_ne(y, x);
    ck_same(y, x);
    ck_shape(tn_module_forward(flat, x), TN_SHAPE(2, 2));
    ck_shape(tn_module_forward(flat, tn_zeros(TN_F32, TN_SHAPE(0, 3, 4), test_device())), TN_SHAPE(0, 12));
    tn_module_release(same);
    tn_module_release(flat);
}
END_TEST

/* ---- batch normalisation ---- */

START_TEST(an_empty_batch_leaves_the_statistics_alone)
{
    tn_module *m = tn_batch_norm1d_new(2, 1e-5, 0.1, NULL);
    ck_ok(tn_module_to(m, test_device()));
    ck_shape(tn_module_forward(m, tn_zeros(TN_F32, TN_SHAPE(0, 2), test_device())), TN_SHAPE(0, 2));
    ck_values(tn_module_tensor(m, "running_mean"), {0, 0});
    ck_values(tn_module_tensor(m, "running_var"), {1, 1});
    ck_tensor_i64(tn_module_tensor(m, "num_batches_tracked"), {0});
    tn_module_release(m);
}
END_TEST

START_TEST(statistics_follow_batch_after_batch)
{
    tn_module *m = tn_batch_norm1d_new(1, 0, 0.5, NULL);
    ck_ok(tn_module_to(m, test_device()));
    tn_tensor *x = test_f32(TN_SHAPE(2, 1), {0, 4});
    for (int i = 0; i < 3; i++) ck_values(tn_module_forward(m, x), {-1, 1});
    ck_values(tn_module_tensor(m, "running_mean"), {1.75});
    ck_values(tn_module_tensor(m, "running_var"), {0.125 + 7});
    ck_tensor_i64(tn_module_tensor(m, "num_batches_tracked"), {3});
    ck_ok(tn_assign(tn_module_tensor(m, "num_batches_tracked"), tn_int(40))); /* as loading does */
    (void)ck_made(tn_module_forward(m, x));
    ck_tensor_i64(tn_module_tensor(m, "num_batches_tracked"), {41});
    ck_ok(tn_module_to(m, "host"));
    (void)ck_made(tn_module_forward(m, tn_host(x)));
    ck_tensor_i64(tn_module_tensor(m, "num_batches_tracked"), {42});
    tn_module_release(m);
}
END_TEST

START_TEST(many_batches_leave_nothing_pending_behind)
{
    NEEDS_OPENCL();
    tn_module *m = tn_batch_norm1d_new(3, 1e-5, 0.1, NULL);
    ck_ok(tn_module_to(m, test_device()));
    double loss;
    int64_t live = 0;
    for (int i = 0; i < 50; i++) {
        const tn_scope scope = tn_scope_push();
        ck_ok(tn_item(tn_sum(tn_module_forward(m, tn_randn(TN_F32, TN_SHAPE(8, 3), test_device())), TN_ALL_AXES, false), &loss));
        ck_ok(tn_scope_pop(scope));
        if (i == 2) live = tn_live_count();
    }
    ck_assert_int_eq(tn_live_count(), live);
    tn_module_release(m);
}
END_TEST

START_TEST(one_value_for_each_channel_cannot_be_trained)
{
    tn_module *m = tn_batch_norm1d_new(2, 1e-5, 0.1, NULL);
    ck_ok(tn_module_to(m, test_device()));
    tn_tensor *x = test_f32(TN_SHAPE(1, 2), {1, 2});
    ck_fails(tn_module_forward(m, x), TN_SHAPE, "BatchNorm1d: input [1,2]", "one value");
    ck_ok(tn_module_train(m, false));
    ck_close(tn_module_forward(m, x), 64, {0.999995, 1.99999});
    ck_fails((const void *)tn_batch_norm1d_new(2, 1e-5, 2, NULL), TN_ARGUMENT, "momentum 2");
    tn_module_release(m);
}
END_TEST

START_TEST(norms_of_16_bits_are_computed_in_f32)
{
    tn_module *m = tn_layer_norm_new(TN_SHAPE(2), 0, NULL);
    ck_ok(tn_module_to(m, test_device()));
    ck_ok(tn_module_cast(m, TN_F16));
    tn_tensor *y = tn_module_forward(m, test_values(TN_F16, TN_SHAPE(2, 2), {1000, -1000, 1, 3})); /* 1000^2 is beyond f16 */
    ck_assert_int_eq(tn_dtype_of(ck_made(y)), TN_F16);
    ck_values(y, {1, -1, -1, 1});
    tn_module_release(m);
}
END_TEST

/* ---- what is refused ---- */

START_TEST(layers_refuse_shapes_by_name)
{
    tn_tensor *x = tn_zeros(TN_F32, TN_SHAPE(2, 3), "host"), *number = tn_zeros(TN_F32, TN_SHAPE(), "host");
    tn_module *linear = tn_linear_new(4, 2, true), *norm = tn_layer_norm_new(TN_SHAPE(4), 1e-5, NULL);
    tn_module *batch = tn_batch_norm1d_new(4, 1e-5, 0.1, NULL), *group = tn_group_norm_new(2, 4, 1e-5, NULL);
    tn_module *pair = tn_bilinear_new(3, 3, 1, true), *rows = tn_embedding_new(5, 2, -1);
    ck_fails(tn_module_forward(linear, x), TN_SHAPE, "Linear: input [2,3], weight [2,4]", "not 4");
    ck_fails(tn_module_forward(linear, number), TN_SHAPE, "Linear: input []");
    ck_fails(tn_module_forward(norm, x), TN_SHAPE, "LayerNorm: layer_norm: x [2,3] does not end in [4]");
    ck_fails(tn_module_forward(batch, x), TN_SHAPE, "BatchNorm1d: input [2,3]", "[n, 4]");
    ck_fails(tn_module_forward(group, x), TN_SHAPE, "GroupNorm: input [2,3]", "[n, 4, ...]");
    ck_fails(tn_module_forward(norm, tn_zeros(TN_I32, TN_SHAPE(2, 4), "host")), TN_DTYPE, "LayerNorm: layer_norm: x is i32");
    ck_fails(tn_module_forward(pair, x), TN_ARGUMENT, "Bilinear: 1 inputs; it takes 2");
    tn_tensor *two[] = {x, tn_zeros(TN_F32, TN_SHAPE(4, 3), "host")};
    ck_fails(tn_module_forward_all(pair, two, 2), TN_SHAPE, "Bilinear: input a [2,3] and input b [4,3]");
    ck_fails(tn_module_forward(rows, x), TN_DTYPE, "Embedding: index_select", "f32");
    ck_fails((const void *)tn_linear_new(-1, 2, true), TN_ARGUMENT, "linear_new: inputs -1");
    ck_fails((const void *)tn_group_norm_new(3, 4, 1e-5, NULL), TN_ARGUMENT, "3 groups of 4 channels");
    ck_fails((const void *)tn_layer_norm_new(TN_SHAPE(), 1e-5, NULL), TN_SHAPE, "without axes");
    ck_fails((const void *)tn_layer_norm_new(TN_SHAPE(2), -1, NULL), TN_ARGUMENT, "epsilon -1");
    tn_module *const all[] = {linear, norm, batch, group, pair, rows};
    for (int i = 0; i < 6; i++) tn_module_release(all[i]);
}
END_TEST

START_TEST(an_index_beyond_the_embedding_is_refused)
{
    tn_module *m = tn_embedding_new(3, 2, -1);
    ck_ok(tn_module_to(m, test_device()));
    tn_tensor *y = tn_module_forward(m, test_i64(TN_SHAPE(2), {0, 3}));
    float out[4];
    ck_fails(test_is("host") ? (y ? TN_OK : TN_AXIS) : tn_read(y, out, sizeof out), TN_AXIS, "index 3", "3 elements");
    tn_module_release(m);
}
END_TEST

BONES_MAIN("layers", layers_are_those_of_pytorch, gradients_of_layers_are_those_of_differences,
        linear_is_filled_evenly_between_bounds_of_its_inputs, layers_without_inputs_or_outputs_work,
        an_embedding_begins_with_a_padding_row_of_zeros, c50_dropout_has_the_same_mask_on_every_device,
        dropout_does_nothing_in_evaluation_and_all_with_p_of_1, the_gradient_of_dropout_is_its_mask, activations_are_found_by_name,
        activations_have_the_settings_of_pytorch_if_none_are_given, identity_and_flatten_give_new_handles,
        an_empty_batch_leaves_the_statistics_alone, statistics_follow_batch_after_batch, many_batches_leave_nothing_pending_behind,
        one_value_for_each_channel_cannot_be_trained, norms_of_16_bits_are_computed_in_f32, layers_refuse_shapes_by_name,
        an_index_beyond_the_embedding_is_refused)
