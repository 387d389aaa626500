/* Training as a whole: the network of examples/03_train_digits.c against PyTorch (tests/data/nn/digits.py), what a step launches, a
 * model that moves in the middle, and what is left after many steps. */
#define _GNU_SOURCE
#include "bones.h"
#include "observer.h"

#include <math.h>

#define DATA TN_TEST_SOURCE_DIR "/examples/data/"
enum { PIXELS = 64, CLASSES = 10, BATCH = 50, STEPS = 20 };

typedef struct training {
    tn_module *net;
    tn_tensor_list *parameters;
    tn_optimizer *adam;
    tn_tensor *images, *labels; /* of the training, on host */
} training;

static tn_tensor *kept(tn_tensor *x)
{
    return tn_retain(ck_made(x));
}

static training begin(const char *device)
{
    training t;
    const tn_scope scope = tn_scope_push();
    t.net = tn_sequential_new(TN_MODULES(tn_linear_new(PIXELS, 128, true), tn_activation_new("relu", NULL),
                                         tn_linear_new(128, 64, true), tn_activation_new("relu", NULL),
                                         tn_linear_new(64, CLASSES, true)));
    ck_ok(tn_module_load(t.net, TN_TEST_SOURCE_DIR "/tests/data/nn/digits.safetensors", &(tn_load_options){.partial = true}));
    ck_ok(tn_module_to(t.net, device));
    t.parameters = tn_module_parameters(t.net);
    t.adam = tn_adam(t.parameters->tensors, t.parameters->count, 5e-3, NULL);
    t.images = kept(
        tn_div(tn_cast(tn_reshape(tn_load(DATA "digits_train_images.npy", "host"), TN_SHAPE(-1, PIXELS)), TN_F32), tn_int(16)));
    t.labels = kept(tn_cast(tn_load(DATA "digits_train_labels.npy", "host"), TN_I64));
    ck_ok(tn_scope_pop(scope));
    return t;
}

static void end(training *t)
{
    tn_optimizer_release(t->adam);
    tn_tensor_list_free(t->parameters);
    tn_module_release(t->net);
    tn_release(t->images);
    tn_release(t->labels);
}

/* One step on images and labels that lie where the model is; gives the loss, of the caller's scope. */
static tn_tensor *step_on(training *t, tn_tensor *images, tn_tensor *labels)
{
    tn_tensor *loss = tn_cross_entropy(tn_module_forward(t->net, images), labels, TN_REDUCE_MEAN, NULL);
    ck_ok(tn_optimizer_zero_grad(t->adam));
    ck_ok(tn_backward(loss));
    ck_ok(tn_optimizer_step(t->adam));
    return loss;
}

/* The i-th batch, in the data's order, and its loss. */
static double step(training *t, int i)
{
    const tn_scope scope = tn_scope_push();
    const char *device = tn_device_of(t->parameters->tensors[0]);
    const int64_t first = i * BATCH % (tn_dim(t->images, 0) - BATCH);
    double loss = NAN;
    tn_tensor *images = tn_to(tn_slice(t->images, 0, first, first + BATCH, 1), device);
    tn_tensor *labels = tn_to(tn_slice(t->labels, 0, first, first + BATCH, 1), device);
    ck_ok(tn_item(step_on(t, images, labels), &loss));
    ck_ok(tn_scope_pop(scope));
    return loss;
}

START_TEST(the_first_20_losses_are_PyTorchs_on_every_device)
{
    double want[STEPS];
    training t = begin(test_device());
    tn_archive *archive = tn_archive_open(TN_TEST_SOURCE_DIR "/tests/data/nn/digits.safetensors");
    tn_tensor *losses = ck_made(tn_archive_get(archive, "losses", "host"));
    ck_ok(tn_read(losses, want, sizeof want));
    tn_archive_close(archive);
    for (int i = 0; i < STEPS; i++) {
        const double loss = step(&t, i);
        ck_assert_msg(fabs(loss - want[i]) <= 1e-3, "step %d: a loss of %.6f, PyTorch has %.6f", i, loss, want[i]);
        test_case_passed();
    }
    end(&t);
}
END_TEST

START_TEST(a_step_is_at_most_20_launches)
{
    NEEDS_OPENCL();
    training t = begin(test_device());
    const tn_scope scope = tn_scope_push();
    tn_tensor *images = tn_to(tn_slice(t.images, 0, 0, BATCH, 1), test_device());
    tn_tensor *labels = tn_to(tn_slice(t.labels, 0, 0, BATCH, 1), test_device());
    double loss;
    for (int i = 0; i < 4; i++) { /* the first makes the optimizer's state, too */
        outside_forget();
        ck_ok(tn_item(step_on(&t, images, labels), &loss));
        ck_ok(tn_finish(test_device()));
        const uint64_t launches = outside_calls("launches");
        ck_assert_msg(launches >= 10 && launches <= (i ? 20 : 22), "step %d: %d launches", i, (int)launches);
    }
    printf("  a step of the digits' network: %d launches\n", (int)outside_calls("launches"));
    ck_ok(tn_scope_pop(scope));
    end(&t);
}
END_TEST

/* ---- many steps ---- */

START_TEST(many_steps_leave_nothing)
{
    const int steps = test_is("rusticl") ? (test_long() ? 500 : 100) : test_long() ? 10000 : test_is("pocl") ? 2000 : 100;
    training t = begin(test_device());
    double loss = NAN, last = NAN;
    for (int i = 0; i < 60; i++) loss = step(&t, i);
    tn_device_info before, after;
    ck_ok(tn_device_query(test_device(), &before));
    const int64_t handles = tn_live_count();
    for (int i = 0; i < steps; i++) last = step(&t, i);
    ck_ok(tn_device_query(test_device(), &after));
    ck_assert_msg(last < loss, "the loss is %g after %d steps, and was %g", last, steps, loss);
    ck_assert_int_eq(tn_live_count(), handles);
    ck_assert_msg(after.memory_in_use <= before.memory_in_use, "%llu bytes in use, %llu before",
                  (unsigned long long)after.memory_in_use, (unsigned long long)before.memory_in_use);
    ck_assert_msg(after.memory_cached <= before.memory_cached + 65536, "%llu bytes cached, %llu before",
                  (unsigned long long)after.memory_cached, (unsigned long long)before.memory_cached);
    end(&t);
    printf("  %d steps\n", steps);
}
END_TEST

static void ck_pairs(const char *made, const char *also_made, const char *released)
{
    const uint64_t more = outside_calls(made) + (also_made ? outside_calls(also_made) : 0), less = outside_calls(released);
    ck_assert_msg(more == less, "%s %llu, %s %llu", made, (unsigned long long)more, released, (unsigned long long)less);
}

/* The device closes and opens again; what one life made it gave back. */
START_TEST(every_OpenCL_object_of_a_training_is_released)
{
    NEEDS_OPENCL();
    (void)tn_scope_pop(bones_scope);
    ck_ok(tn_shutdown());
    outside_forget();
    bones_push();
    training t = begin(test_device());
    for (int i = 0; i < 50; i++) (void)step(&t, i);
    end(&t);
    (void)tn_scope_pop(bones_scope);
    ck_ok(tn_shutdown());
    ck_assert_uint_gt(outside_calls("clCreateBuffer"), 0);
    ck_pairs("clCreateBuffer", "clRetainMemObject", "clReleaseMemObject");
    ck_pairs("clCreateKernel", NULL, "clReleaseKernel");
    ck_pairs("clCreateProgramWithSource", "clCreateProgramWithBinary", "clReleaseProgram");
    ck_pairs("clCreateCommandQueue", NULL, "clReleaseCommandQueue");
    ck_pairs("clCreateContext", NULL, "clReleaseContext");
    ck_pairs("events", NULL, "clReleaseEvent");
    bones_push();
}
END_TEST

/* ---- a model that moves ---- */

START_TEST(a_model_that_moves_in_the_middle_goes_on_as_one_that_stays)
{
    static const char *const route[] = {"host", "gpu:0", "cpu:0", "host"};
    TN_SKIP_IF(!test_is("both"), "needs two OpenCL devices");
    training stays = begin("host"), moves = begin("host");
    tn_tensor *const *handles = moves.parameters->tensors;
    for (int i = 0; i < 24; i++) {
        if (i % 6 == 0) {
            ck_ok(tn_module_to(moves.net, route[i / 6]));
            for (int p = 0; p < moves.parameters->count; p++) ck_assert_str_eq(tn_device_of(handles[p]), route[i / 6]);
        }
        const double a = step(&stays, i), b = step(&moves, i);
        ck_assert_msg(fabs(a - b) <= 1e-4, "step %d on %s: a loss of %.7f, unmoved %.7f", i, route[i / 6], b, a);
    }
    for (int p = 0; p < moves.parameters->count; p++) {
        double most = NAN;
        tn_tensor *far = tn_max(tn_abs(tn_sub(tn_detach(handles[p]), tn_detach(stays.parameters->tensors[p]))), TN_ALL_AXES, false);
        ck_ok(tn_item(far, &most));
        ck_assert_msg(most <= 1e-4, "%s is %g away", moves.parameters->names[p], most);
        test_case_passed();
    }
    end(&stays);
    end(&moves);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        the_first_20_losses_are_PyTorchs_on_every_device,
        a_step_is_at_most_20_launches,
        many_steps_leave_nothing,
        every_OpenCL_object_of_a_training_is_released,
        a_model_that_moves_in_the_middle_goes_on_as_one_that_stays,
    };
    const int status = test_is("host") ? 0 : observe("test_training");
    if (status) return status;
    return test_run("training", bones_push, bones_pop, tests, (int)(sizeof tests / sizeof tests[0]));
}
