/* A network that learns to read handwritten digits, from nothing, on any device.
 *
 *   03_train_digits [--device NAME] [--data FOLDER]
 *
 * The whole of it is in train(): batches from a loader, forward, loss, backward, a step of Adam, whose rate sinks along
 * half a cosine. NAME ("gpu:0", "cpu:0", "host";
 * default "auto") is the only difference between devices: the seed gives the same weights and the same batches everywhere. The
 * exit code is 0 when 97 % of the test images, which the network has not seen, are read right. */
#include <tenon/tenon.h>

#include <stdio.h>
#include <string.h>
#include <time.h>

#ifndef TENON_EXAMPLES_DATA
#define TENON_EXAMPLES_DATA "examples/data"
#endif

enum { PIXELS = 64, CLASSES = 10, BATCH = 50, EPOCHS = 20, SEED = 1 };
#define EXPECTED_SHARE 0.97

/* Images [n, 64] of 0 to 1, and the digits they show [n]. */
typedef struct digits {
    tn_tensor *images, *labels;
} digits;

/* What learns. */
typedef struct training {
    const char *device;
    tn_module *net;
    tn_tensor_list *parameters;
    tn_optimizer *adam;
    tn_schedule *rate;
    tn_loader *loader;
} training;

static double seconds(void)
{
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* An error needs no check here: what is computed from a tensor that could not be loaded is NULL, and the scope in main tells what
 * went wrong first. */
static digits load(const char *folder, const char *part)
{
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/digits_%s_images.npy", folder, part);
    tn_tensor *images = tn_load(path, "host"); /* u8 [n, 8, 8] of 0 to 16 */
    (void)snprintf(path, sizeof path, "%s/digits_%s_labels.npy", folder, part);
    tn_tensor *labels = tn_load(path, "host");
    images = tn_div(tn_cast(tn_reshape(images, TN_SHAPE(-1, PIXELS)), TN_F32), tn_int(16));
    return (digits){images, tn_cast(labels, TN_I64)};
}

static tn_module *new_network(void)
{
    return tn_sequential_new(TN_MODULES(tn_linear_new(PIXELS, 128, true), tn_activation_new("relu", NULL),
                                        tn_linear_new(128, 64, true), tn_activation_new("relu", NULL),
                                        tn_linear_new(64, CLASSES, true)));
}

/* NULL in, NULL out: the first failure is told at the end, and all that follows does nothing. */
static training start(const digits *data, const char *device)
{
    const tn_loader_options options = {.shuffle = true, .seed = SEED, .background = true, .device = device};
    training t = {.device = device, .net = new_network()};
    (void)tn_module_to(t.net, device);
    t.parameters = tn_module_parameters(t.net);
    t.adam = t.parameters ? tn_adam(t.parameters->tensors, t.parameters->count, 5e-3, NULL) : NULL;
    t.loader = tn_loader_new((tn_tensor *[]){data->images, data->labels}, 2, BATCH, &options);
    t.rate = tn_cosine_annealing_lr(t.adam, EPOCHS * tn_loader_length(t.loader), 0);
    return t;
}

static void finish(training *t)
{
    tn_schedule_release(t->rate);
    tn_loader_release(t->loader);
    tn_optimizer_release(t->adam);
    tn_tensor_list_free(t->parameters);
    tn_module_release(t->net);
}

/* One pass over the data; its mean loss. What a batch's loss was stays on the device, and is read once. */
static tn_status train(const training *t, double *loss)
{
    tn_tensor *total = tn_zeros(TN_F32, TN_SHAPE(), t->device), *batch[2];
    tn_status status = TN_OK;
    int64_t n = 1;
    while (n > 0 && status == TN_OK) {
        const tn_scope scope = tn_scope_push(); /* what a step makes goes at its end */
        n = tn_loader_next(t->loader, batch);
        if (n > 0) {
            tn_tensor *mean = tn_cross_entropy(tn_module_forward(t->net, batch[0]), batch[1], TN_REDUCE_MEAN, NULL);
            (void)tn_optimizer_zero_grad(t->adam);
            (void)tn_backward(mean);
            (void)tn_optimizer_step(t->adam);
            (void)tn_schedule_step(t->rate);
            (void)tn_assign(total, tn_add(total, tn_mul(tn_detach(mean), tn_int(n))));
        }
        status = tn_scope_pop(scope);
    }
    if (status == TN_OK)
        status = tn_item(total, loss);
    *loss /= (double)tn_loader_samples(t->loader);
    return status;
}

/* Share of the images that are read right. */
static double test(const training *t, const digits *data)
{
    double share = 0;
    const tn_scope scope = tn_scope_push_no_grad();
    tn_tensor *answers = tn_argmax(tn_module_forward(t->net, data->images), TN_AXES(-1), false);
    (void)tn_item(tn_mean(tn_cast(tn_eq(answers, data->labels), TN_F32), TN_ALL_AXES, false), &share);
    (void)tn_scope_pop(scope);
    return share;
}

static double learn(const training *t, const digits *unseen)
{
    const int64_t samples = tn_loader_samples(t->loader);
    tn_progress *progress = tn_progress_begin(stderr, EPOCHS * samples, NULL);
    double share = 0, loss = 0;
    for (int epoch = 1; epoch <= EPOCHS && train(t, &loss) == TN_OK; epoch++) {
        share = test(t, unseen);
        printf("epoch %2d  loss %.4f  right %.2f %%\n", epoch, loss, 100 * share);
        tn_progress_update(progress, epoch * samples, &loss);
    }
    tn_progress_end(progress);
    return share;
}

/* The images of the training stay in plain memory, and come to the device in batches. */
static double run(const char *folder, const char *device)
{
    const digits seen = load(folder, "train"), unseen = load(folder, "test");
    const digits there = {tn_to(unseen.images, device), tn_to(unseen.labels, device)};
    tn_seed(SEED);
    training t = start(&seen, device);
    (void)tn_module_print(stdout, t.net);
    const double share = t.rate ? learn(&t, &there) : 0;
    finish(&t);
    return share;
}

static const char *option(int argc, char **argv, const char *name, const char *otherwise)
{
    for (int i = 1; i + 1 < argc; i += 2)
        if (strcmp(argv[i], name) == 0)
            return argv[i + 1];
    return otherwise;
}

int main(int argc, char **argv)
{
    const char *device = tn_device_resolve(option(argc, argv, "--device", "auto"));
    const double start = seconds();
    const tn_scope scope = tn_scope_push();
    const double share = device ? run(option(argc, argv, "--data", TENON_EXAMPLES_DATA), device) : 0;
    if (tn_scope_pop(scope) != TN_OK) {
        fprintf(stderr, "03_train_digits: %s\n", tn_last_error());
        return 1;
    }
    printf("%s: %.2f %% of the test images are read right, after %.1f s\n", device, 100 * share, seconds() - start);
    (void)tn_shutdown();
    return share >= EXPECTED_SHARE ? 0 : 1;
}
