/* An MLP on 5,000 handwritten digits of MNIST: a curve to look at, and a training that goes on after it was killed.
 *
 *   04_mnist [--device NAME] [--data FILE] [--out FOLDER] [--epochs N]
 *
 * scripts/mnist fetches the data. After every epoch all that the training goes on from is written to FOLDER/mnist.safetensors; a run
 * that finds it there continues, and its losses are those of a run that was never stopped, bit for bit. FOLDER/mnist.svg shows them.
 * The exit code is 0 when 90 % of the test images are read right, 77 when there is no data. */
#include <tenon/tenon.h>

#include "curve.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#ifndef TENON_EXAMPLES_DATA
#define TENON_EXAMPLES_DATA "examples/data"
#endif

enum { IMAGES = 5000, PIXELS = 784, CLASSES = 10, TEST_EVERY = 5, TESTS = IMAGES / TEST_EVERY, HIDDEN = 128, BATCH = 50 };
enum { MOST_EPOCHS = 64, SEED = 1, NO_DATA = 77 };
#define EXPECTED_SHARE 0.9

/* All that main knows. */
typedef struct training {
    const char *device;
    char checkpoint[4096], picture[4096];
    tn_tensor *images, *labels, *test_images, *test_labels;
    tn_module *net;
    tn_tensor_list *parameters;
    tn_optimizer *adam;
    tn_loader *loader;
    int64_t epochs, epoch; /* wanted, and done */
    double loss[MOST_EPOCHS];
} training;

/* ---- the data: a line for each image, 784 pixels of 0 to 255 and the digit, with commas between ---- */

static bool read_line(FILE *file, float *pixels, int64_t *label)
{
    static char line[8192];
    if (!fgets(line, sizeof line, file))
        return false;
    char *at = line;
    for (int i = 0; i < PIXELS; i++, at += *at == ',')
        pixels[i] = (float)strtol(at, &at, 10) / 255;
    *label = strtol(at, &at, 10);
    return *label >= 0 && *label < CLASSES;
}

/* Every fifth image is for the test. */
static bool load(training *t, const char *path)
{
    static float pixels[IMAGES][PIXELS], *const seen = pixels[0], *const unseen = pixels[IMAGES - TESTS];
    static int64_t labels[IMAGES];
    FILE *file = fopen(path, "r");
    int to = 0, tests = IMAGES - TESTS;
    bool good = file != NULL;
    for (int i = 0; i < IMAGES && good; i++) {
        const int place = i % TEST_EVERY == 0 ? tests++ : to++;
        good = read_line(file, pixels[place], &labels[place]);
    }
    if (file)
        (void)fclose(file);
    if (!good)
        return false;
    t->images = tn_from(TN_F32, TN_SHAPE(IMAGES - TESTS, PIXELS), seen, "host");
    t->labels = tn_from(TN_I64, TN_SHAPE(IMAGES - TESTS), labels, "host");
    t->test_images = tn_from(TN_F32, TN_SHAPE(TESTS, PIXELS), unseen, t->device);
    t->test_labels = tn_from(TN_I64, TN_SHAPE(TESTS), labels + IMAGES - TESTS, t->device);
    return true;
}

/* ---- going on after a kill ---- */

/* The same list writes a checkpoint and reads it. */
static tn_status checkpoint(training *t, tn_status (*act)(const char *path, tn_training_state *state))
{
    static char text[MOST_EPOCHS][16];
    const char *names[MOST_EPOCHS];
    for (int i = 0; i < t->epochs; i++) {
        (void)snprintf(text[i], sizeof text[i], "loss.%d", i + 1);
        names[i] = text[i];
    }
    tn_training_state state = {.names = t->parameters->names,
                               .tensors = t->parameters->tensors,
                               .count = t->parameters->count,
                               .optimizers = &t->adam,
                               .optimizer_count = 1,
                               .epoch = t->epoch,
                               .number_names = names,
                               .numbers = t->loss,
                               .number_count = (int)t->epochs};
    const tn_status status = act(t->checkpoint, &state);
    t->epoch = state.epoch;
    return status;
}

static tn_status save(const char *path, tn_training_state *state)
{
    return tn_save_checkpoint(path, state);
}

static tn_status resume(training *t)
{
    FILE *file = fopen(t->checkpoint, "rb");
    if (!file)
        return TN_OK; /* nothing to go on from */
    (void)fclose(file);
    const tn_status status = checkpoint(t, tn_load_checkpoint);
    if (status != TN_OK)
        return status;
    printf("goes on after epoch %" PRId64 " of %s\n", t->epoch, t->checkpoint);
    return tn_loader_seek(t->loader, t->epoch, 0);
}

/* ---- training ---- */

static tn_status start(training *t)
{
    tn_seed(SEED);
    t->net = tn_sequential_new(TN_MODULES(tn_linear_new(PIXELS, HIDDEN, true), tn_activation_new("relu", NULL),
                                          tn_linear_new(HIDDEN, CLASSES, true)));
    const tn_status status = tn_module_to(t->net, t->device);
    t->parameters = status == TN_OK ? tn_module_parameters(t->net) : NULL;
    t->adam = t->parameters ? tn_adam(t->parameters->tensors, t->parameters->count, 4e-3, NULL) : NULL;
    const tn_loader_options options = {.shuffle = true, .seed = SEED, .background = true, .device = t->device};
    t->loader = t->adam ? tn_loader_new((tn_tensor *[]){t->images, t->labels}, 2, BATCH, &options) : NULL;
    return t->loader ? TN_OK : tn_last_status();
}

/* One pass; its mean loss. */
static tn_status train(training *t, double *loss)
{
    tn_tensor *total = tn_zeros(TN_F32, TN_SHAPE(), t->device), *batch[2];
    tn_status status = total ? TN_OK : tn_last_status();
    for (bool more = true; more && status == TN_OK;) {
        const tn_scope scope = tn_scope_push();
        more = tn_loader_next(t->loader, batch) > 0;
        if (more) {
            tn_tensor *mean = tn_cross_entropy(tn_module_forward(t->net, batch[0]), batch[1], TN_REDUCE_MEAN, NULL);
            (void)tn_optimizer_zero_grad(t->adam);
            (void)tn_backward(mean);
            (void)tn_optimizer_step(t->adam);
            (void)tn_assign(total, tn_add(total, tn_detach(mean)));
        }
        status = tn_scope_pop(scope);
    }
    if (status == TN_OK)
        status = tn_item(total, loss);
    *loss /= (double)tn_loader_length(t->loader);
    return status;
}

static double test(training *t)
{
    double share = 0;
    const tn_scope scope = tn_scope_push_no_grad();
    tn_tensor *answers = tn_argmax(tn_module_forward(t->net, t->test_images), TN_AXES(-1), false);
    (void)tn_item(tn_mean(tn_cast(tn_eq(answers, t->test_labels), TN_F32), TN_ALL_AXES, false), &share);
    (void)tn_scope_pop(scope);
    return share;
}

static tn_status learn(training *t)
{
    const int64_t samples = tn_loader_samples(t->loader);
    tn_progress *progress =
        tn_progress_begin(stderr, t->epochs * samples, &(tn_progress_options){.label = "mnist", .done = t->epoch * samples});
    tn_status status = TN_OK;
    while (t->epoch < t->epochs && status == TN_OK) {
        double *loss = &t->loss[t->epoch];
        status = train(t, loss);
        if (status != TN_OK)
            break;
        t->epoch++;
        status = checkpoint(t, save);
        printf("epoch %" PRId64 "  loss %.9g  right %.1f %%\n", t->epoch, *loss, 100 * test(t));
        (void)fflush(stdout);
        tn_progress_update(progress, t->epoch * samples, loss);
    }
    tn_progress_end(progress);
    return status;
}

/* ---- */

static const char *option(int argc, char **argv, const char *name, const char *otherwise)
{
    for (int i = 1; i + 1 < argc; i += 2)
        if (strcmp(argv[i], name) == 0)
            return argv[i + 1];
    return otherwise;
}

static void finish(training *t)
{
    tn_loader_release(t->loader);
    tn_optimizer_release(t->adam);
    tn_tensor_list_free(t->parameters);
    tn_module_release(t->net);
}

int main(int argc, char **argv)
{
    static training t;
    const char *data = option(argc, argv, "--data", TENON_EXAMPLES_DATA "/../../build/mnist/mnist_5k.csv");
    const char *out = option(argc, argv, "--out", ".");
    (void)snprintf(t.checkpoint, sizeof t.checkpoint, "%s/mnist.safetensors", out);
    (void)snprintf(t.picture, sizeof t.picture, "%s/mnist.svg", out);
    t.device = tn_device_resolve(option(argc, argv, "--device", "auto"));
    t.epochs = strtol(option(argc, argv, "--epochs", "8"), NULL, 10);
    if (!t.device || t.epochs < 1 || t.epochs > MOST_EPOCHS) {
        fprintf(stderr, "04_mnist: %s\n", t.device ? "--epochs takes 1 to 64" : tn_last_error());
        return 2;
    }
    const tn_scope scope = tn_scope_push();
    if (!load(&t, data)) {
        fprintf(stderr, "04_mnist: there are no 5,000 images in %s; scripts/mnist fetches them\n", data);
        return NO_DATA;
    }
    double share = 0;
    if (start(&t) == TN_OK && resume(&t) == TN_OK && learn(&t) == TN_OK)
        share = test(&t);
    finish(&t);
    if (tn_scope_pop(scope) != TN_OK) {
        fprintf(stderr, "04_mnist: %s\n", tn_last_error());
        return 1;
    }
    if (!curve_write(t.picture, "mean loss of each epoch", t.loss, (int)t.epoch))
        fprintf(stderr, "04_mnist: %s cannot be written\n", t.picture);
    printf("%s: %.1f %% of the test images are read right; the curve is in %s\n", t.device, 100 * share, t.picture);
    (void)tn_shutdown();
    return share >= EXPECTED_SHARE ? 0 : 1;
}
