/* Losses: against PyTorch, forwards and backwards (tests/data/nn), and what they refuse. */
#include "nn_kit.h"

/* ---- against PyTorch ---- */

typedef struct operands {
    const nn_case *c;
    tn_tensor *x, *b, *third, *weight, *positive;
    tn_reduction reduction;
} operands;

static tn_tensor *mse(const operands *o)
{
    return tn_mse_loss(o->x, o->b, o->reduction);
}
static tn_tensor *l1(const operands *o)
{
    return tn_l1_loss(o->x, o->b, o->reduction);
}
static tn_tensor *huber(const operands *o)
{
    return tn_huber_loss(o->x, o->b, o->c->settings[1], o->reduction);
}
static tn_tensor *smooth_l1(const operands *o)
{
    return tn_smooth_l1_loss(o->x, o->b, o->c->settings[1], o->reduction);
}
static tn_tensor *bce(const operands *o)
{
    return tn_bce_loss(o->x, o->b, o->weight, o->reduction);
}
static tn_tensor *bce_logits(const operands *o)
{
    return tn_bce_with_logits(o->x, o->b, o->reduction, &(tn_bce_options){.weight = o->weight, .positive_weight = o->positive});
}
static tn_tensor *kl(const operands *o)
{
    return tn_kl_div(o->x, o->b, o->c->settings[1] != 0, o->reduction);
}
static tn_tensor *cosine(const operands *o)
{
    return tn_cosine_embedding_loss(o->x, o->b, o->third, o->c->settings[1], o->reduction);
}
static tn_tensor *hinge(const operands *o)
{
    return tn_hinge_embedding_loss(o->x, o->b, o->c->settings[1], o->reduction);
}
static tn_tensor *triplet(const operands *o)
{
    const double *s = o->c->settings;
    const tn_triplet_options options = {.p = s[2], .epsilon = s[3], .swap = s[4] != 0};
    return tn_triplet_margin_loss(o->x, o->b, o->third, s[1], o->reduction, &options);
}
static tn_cross_entropy_options class_options(const operands *o)
{
    return (tn_cross_entropy_options){
        .weight = o->weight, .smoothing = o->c->settings[1], .ignores = true, .ignore_index = (int64_t)o->c->settings[2]};
}
static tn_tensor *cross_entropy(const operands *o)
{
    const tn_cross_entropy_options options = class_options(o);
    return tn_cross_entropy(o->x, o->b, o->reduction, &options);
}
static tn_tensor *nll(const operands *o)
{
    const tn_cross_entropy_options options = class_options(o);
    return tn_nll_loss(o->x, o->b, o->reduction, &options);
}

static const struct {
    const char *name;
    tn_tensor *(*run)(const operands *o);
} losses[] = {
    {"mse_loss", mse},
    {"l1_loss", l1},
    {"huber_loss", huber},
    {"smooth_l1_loss", smooth_l1},
    {"bce_loss", bce},
    {"bce_with_logits", bce_logits},
    {"kl_div", kl},
    {"cosine_embedding_loss", cosine},
    {"nll_loss", nll},
    {"hinge_embedding_loss", hinge},
    {"triplet_margin_loss", triplet},
    {"cross_entropy", cross_entropy},
};

static tn_tensor *loss_of(const operands *o)
{
    for (size_t i = 0; i < sizeof losses / sizeof losses[0]; i++)
        if (strcmp(losses[i].name, o->c->name) == 0) return losses[i].run(o);
    ck_abort_msg("there is no loss %s", o->c->name);
}

static operands operands_of(const nn_case *c)
{
    return (operands){.c = c,
                      .x = nn_tensor(c, "x"),
                      .b = nn_tensor(c, "b"),
                      .third = nn_tensor(c, "c"),
                      .weight = nn_tensor(c, "weight"),
                      .positive = nn_tensor(c, "positive"),
                      .reduction = (tn_reduction)c->settings[0]};
}

static void compare_value(const nn_case *c)
{
    const operands o = operands_of(c);
    nn_compare(c, loss_of(&o), "out");
}

START_TEST(losses_are_those_of_pytorch)
{
    nn_each("loss", 2, compare_value);
}
END_TEST

static void compare_gradients(const nn_case *c)
{
    static const char *const parts[] = {"gx", "gb", "gc"};
    operands o = operands_of(c);
    tn_tensor *const inputs[] = {o.x, o.b, o.third};
    bool any = false;
    for (int i = 0; i < 3; i++) {
        if (!nn_has(c, parts[i])) continue;
        ck_ok(tn_set_requires_grad(inputs[i], true));
        any = true;
    }
    if (!any) return;
    tn_tensor *out = ck_made(loss_of(&o)), *u = nn_tensor(c, "u");
    ck_ok(tn_backward_all(&out, &u, 1, NULL));
    for (int i = 0; i < 3; i++)
        if (nn_has(c, parts[i])) nn_compare_gradient(c, inputs[i], parts[i]);
}

START_TEST(gradients_of_losses_are_those_of_pytorch)
{
    nn_each("loss", 2, compare_gradients);
}
END_TEST

static tn_tensor *loss_again(tn_tensor *const *inputs, int count, void *user)
{
    operands o = *(const operands *)user;
    o.x = inputs[0];
    if (count > 1) o.b = inputs[1];
    return loss_of(&o);
}

static void check_gradients(const nn_case *c)
{
    operands o = operands_of(c);
    if (c->number > 3 || !nn_has(c, "gx")) return; /* the first has no ties, zeros or infinities */
    tn_tensor *const inputs[] = {o.x, o.b};
    const int count = nn_has(c, "gb") ? 2 : 1;
    for (int i = 0; i < count; i++) ck_ok(tn_set_requires_grad(inputs[i], true));
    ck_ok(tn_gradcheck(loss_again, inputs, count, &o, NULL));
}

START_TEST(gradients_of_losses_are_those_of_differences)
{
    TN_SKIP_IF(!test_is("host"), "in f64 on host, where it costs nothing");
    nn_each("loss", 1, check_gradients);
}
END_TEST

/* ---- cross entropy ---- */

/* C47: the logits of the case, and a label that has no share at all. */
START_TEST(c47_cross_entropy_is_finite_where_probabilities_are_not)
{
    tn_tensor *x = test_f32(TN_SHAPE(1, 3), {-431, 279, 427}), *label = test_i64(TN_SHAPE(1), {0});
    ck_ok(tn_set_requires_grad(x, true));
    tn_tensor *loss = ck_made(tn_cross_entropy(x, label, TN_REDUCE_MEAN, NULL));
    ck_tensor_f32(loss, {858});
    ck_ok(tn_backward(loss));
    ck_tensor_f32(tn_grad_of(x), {-1, 0, 1});
}
END_TEST

START_TEST(cross_entropy_takes_labels_of_every_integer_dtype)
{
    const tn_dtype dtypes[] = {TN_I8, TN_I16, TN_I32, TN_I64, TN_U8, TN_U16, TN_U32};
    tn_tensor *x = test_f32(TN_SHAPE(2, 3), {0, 0, 0, 1, 1, 1});
    for (size_t i = 0; i < sizeof dtypes / sizeof dtypes[0]; i++) {
        if (!test_takes((int)i, 7)) continue;
        tn_tensor *label = test_values(dtypes[i], TN_SHAPE(2), {2, 0});
        ck_close(tn_cross_entropy(x, label, TN_REDUCE_SUM, NULL), 4, {2.1972246170043945});
    }
    ck_fails(tn_cross_entropy(x, test_bool(TN_SHAPE(2), {1, 0}), TN_REDUCE_SUM, NULL), TN_DTYPE, "cross_entropy", "bool");
    ck_fails(tn_cross_entropy(x, tn_cast(test_i64(TN_SHAPE(2), {1, 0}), TN_U64), TN_REDUCE_SUM, NULL), TN_DTYPE, "u64");
}
END_TEST

/* On host of the call itself, on devices of the next wait. */
static void ck_label_refused(int64_t bad, const char *number)
{
    tn_tensor *x = test_f32(TN_SHAPE(3, 3), {0, 0, 0, 1, 1, 1, 2, 2, 2});
    const int64_t values[] = {0, bad, -100};
    tn_tensor *label = ck_made(tn_from(TN_I64, TN_SHAPE(3), values, test_device()));
    tn_tensor *loss = tn_cross_entropy(x, label, TN_REDUCE_MEAN, NULL);
    if (test_is("host")) {
        ck_assert_ptr_null(loss);
        ck_fails(loss, TN_AXIS, "cross_entropy: label", number, "3 classes");
        return;
    }
    double value;
    ck_fails(tn_item(ck_made(loss), &value), TN_AXIS, "cross_entropy: label", number, "3 classes");
}

START_TEST(labels_that_are_no_class_are_refused)
{
    ck_label_refused(3, " 3 is");
    ck_label_refused(-1, " -1 is");
    ck_label_refused(INT64_MIN, " -9223372036854775808 is");
}
END_TEST

START_TEST(nll_loss_names_itself_for_a_bad_label)
{
    TN_SKIP_IF(!test_is("host"), "the same code; its kernel is built once, for cross_entropy");
    tn_tensor *x = test_f32(TN_SHAPE(1, 2), {-1, -1});
    ck_fails(tn_nll_loss(x, test_i64(TN_SHAPE(1), {7}), TN_REDUCE_MEAN, NULL), TN_AXIS, "nll_loss: label 7", "2 classes");
}
END_TEST

START_TEST(the_mean_of_nothing_is_nan_and_the_sum_is_0)
{
    tn_tensor *x = test_f32(TN_SHAPE(2, 2), {1, 2, 3, 4}), *none = test_i64(TN_SHAPE(2), {-100, -100});
    ck_tensor_f32(tn_cross_entropy(x, none, TN_REDUCE_MEAN, NULL), {NAN});
    ck_tensor_f32(tn_cross_entropy(x, none, TN_REDUCE_SUM, NULL), {0});
    tn_tensor *empty = tn_zeros(TN_F32, TN_SHAPE(0, 2), test_device()), *labels = tn_zeros(TN_I64, TN_SHAPE(0), test_device());
    ck_tensor_f32(tn_cross_entropy(empty, labels, TN_REDUCE_MEAN, NULL), {NAN});
    ck_tensor_f32(tn_cross_entropy(empty, labels, TN_REDUCE_SUM, NULL), {0});
    ck_shape(tn_cross_entropy(empty, labels, TN_REDUCE_NONE, NULL), TN_SHAPE(0));
    ck_tensor_f32(tn_mse_loss(empty, empty, TN_REDUCE_MEAN), {NAN});
}
END_TEST

START_TEST(losses_of_16_bits_are_computed_in_f32_and_rounded_once)
{
    tn_tensor *x = test_values(TN_F16, TN_SHAPE(2), {300, -300}), *zero = test_values(TN_F16, TN_SHAPE(2), {0, 0});
    ck_values(tn_mse_loss(x, zero, TN_REDUCE_MEAN), {INFINITY}); /* 90000 is beyond f16 */
    ck_values(tn_smooth_l1_loss(x, zero, 600, TN_REDUCE_MEAN), {75});
    tn_tensor *loss = tn_cross_entropy(test_values(TN_BF16, TN_SHAPE(1, 2), {0, 0}), test_i64(TN_SHAPE(1), {1}), TN_REDUCE_MEAN,
                                       NULL);
    ck_assert_int_eq(tn_dtype_of(ck_made(loss)), TN_BF16);
    ck_values(loss, {0.69140625});
    ck_assert_int_eq(tn_dtype_of(tn_l1_loss(x, test_f32(TN_SHAPE(2), {0, 0}), TN_REDUCE_SUM)), TN_F32);
}
END_TEST

START_TEST(losses_read_views_as_they_are_seen)
{
    tn_tensor *base = test_f32(TN_SHAPE(3, 2), {1, 4, 2, 5, 3, 7}), *x = tn_flip(tn_transpose(base, 0, 1), TN_AXES(1));
    tn_tensor *labels = tn_slice(test_i64(TN_SHAPE(4), {2, 9, 0, 9}), 0, 0, TN_END, 2);
    tn_tensor *same = tn_clone(test_f32(TN_SHAPE(2, 3), {3, 2, 1, 7, 5, 4}));
    ck_same(tn_cross_entropy(x, labels, TN_REDUCE_NONE, NULL), tn_cross_entropy(same, labels, TN_REDUCE_NONE, NULL));
    tn_tensor *row = tn_expand(test_f32(TN_SHAPE(3), {1, 2, 3}), TN_SHAPE(2, 3));
    ck_values(tn_mse_loss(x, row, TN_REDUCE_SUM), {4 + 0 + 4 + 36 + 9 + 1});
}
END_TEST

/* ---- what is refused ---- */

START_TEST(losses_refuse_what_does_not_fit)
{
    tn_tensor *x = test_f32(TN_SHAPE(4, 3), {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}), *labels = test_i64(TN_SHAPE(4), {0, 0, 0, 0});
    tn_tensor *five = test_f32(TN_SHAPE(5), {0, 0, 0, 0, 0});
    ck_fails(tn_cross_entropy(x, test_i64(TN_SHAPE(3), {0, 0, 0}), TN_REDUCE_MEAN, NULL), TN_SHAPE, "cross_entropy", "x [4,3]",
             "target [3]", "are [4]");
    ck_fails(tn_cross_entropy(x, five, TN_REDUCE_MEAN, NULL), TN_SHAPE, "probabilities", "are [4,3]");
    ck_fails(tn_cross_entropy(x, labels, TN_REDUCE_MEAN, &(tn_cross_entropy_options){.weight = five}), TN_SHAPE, "weight [5]",
             "3 classes");
    ck_fails(tn_cross_entropy(x, labels, TN_REDUCE_MEAN, &(tn_cross_entropy_options){.smoothing = 1.5}), TN_ARGUMENT,
             "smoothing 1.5");
    ck_fails(tn_cross_entropy(labels, labels, TN_REDUCE_MEAN, NULL), TN_DTYPE, "x is i64");
    ck_fails(tn_cross_entropy(test_f32(TN_SHAPE(), {0}), labels, TN_REDUCE_MEAN, NULL), TN_SHAPE, "axis of classes");
    ck_fails(tn_mse_loss(x, five, TN_REDUCE_MEAN), TN_SHAPE, "mse_loss", "[4,3]", "[5]");
    ck_fails(tn_mse_loss(x, x, (tn_reduction)7), TN_ARGUMENT, "7 is no reduction");
    ck_fails(tn_mse_loss(x, TN_NONE, TN_REDUCE_SUM), TN_ARGUMENT, "target");
    ck_fails(tn_mse_loss(x, labels, TN_REDUCE_SUM), TN_DTYPE, "target is i64");
    ck_fails(tn_bce_loss(x, tn_slice(x, 0, 0, 1, 1), NULL, TN_REDUCE_MEAN), TN_SHAPE, "bce_loss", "one shape");
    ck_fails(tn_bce_loss(x, x, five, TN_REDUCE_MEAN), TN_SHAPE, "weight [5]", "x [4,3]");
    ck_fails(tn_huber_loss(x, x, 0, TN_REDUCE_MEAN), TN_ARGUMENT, "delta 0");
    ck_fails(tn_smooth_l1_loss(x, x, -1, TN_REDUCE_MEAN), TN_ARGUMENT, "beta -1");
    ck_fails(tn_cosine_embedding_loss(x, x, five, 0, TN_REDUCE_MEAN), TN_SHAPE, "cosine_embedding_loss", "[4,3]", "[5]");
}
END_TEST

START_TEST(a_target_on_another_device_is_named)
{
    NEEDS_OPENCL();
    tn_tensor *x = test_f32(TN_SHAPE(2), {0, 0}), *target = tn_zeros(TN_F32, TN_SHAPE(2), "host");
    ck_fails(tn_mse_loss(x, target, TN_REDUCE_MEAN), TN_DEVICE, "mse_loss", "host", test_device());
    tn_tensor *logits = test_f32(TN_SHAPE(2, 1), {0, 0});
    ck_fails(tn_cross_entropy(logits, tn_zeros(TN_I64, TN_SHAPE(2), "host"), TN_REDUCE_MEAN, NULL), TN_DEVICE, "cross_entropy",
             "host");
}
END_TEST

static int warnings;
static void count_warning(int level, const char *line, void *user)
{
    (void)user;
    warnings += level == 1 && strstr(line, "mse_loss: x [4,1] and target [4]") != NULL;
}

START_TEST(the_log_tells_of_a_target_that_broadcasts)
{
    tn_set_log(count_warning, NULL);
    warnings = 0;
    ck_shape(
        tn_mse_loss(tn_zeros(TN_F32, TN_SHAPE(4, 1), test_device()), tn_zeros(TN_F32, TN_SHAPE(4), test_device()), TN_REDUCE_NONE),
        TN_SHAPE(4, 4));
    tn_set_log(NULL, NULL);
    ck_assert_int_eq(warnings, 1);
}
END_TEST

BONES_MAIN("losses", losses_are_those_of_pytorch, gradients_of_losses_are_those_of_pytorch,
        gradients_of_losses_are_those_of_differences, c47_cross_entropy_is_finite_where_probabilities_are_not,
        cross_entropy_takes_labels_of_every_integer_dtype, labels_that_are_no_class_are_refused,
        nll_loss_names_itself_for_a_bad_label, the_mean_of_nothing_is_nan_and_the_sum_is_0,
        losses_of_16_bits_are_computed_in_f32_and_rounded_once, losses_read_views_as_they_are_seen, losses_refuse_what_does_not_fit,
        a_target_on_another_device_is_named, the_log_tells_of_a_target_that_broadcasts)
