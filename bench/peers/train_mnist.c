/* One epoch after another of examples/04_mnist.c's network, for scripts/bench-training: an epoch for each line read, of which it prints the
 * milliseconds and the mean loss.
 *
 *   train_mnist DEVICE FOLDER     FOLDER holds images.npy, labels.npy and the weights 0.weight.npy, 0.bias.npy, 2.weight.npy, 2.bias.npy */
#include <stdio.h>
#include <tenon/tenon.h>
#include <time.h>

enum { PIXELS = 784, HIDDEN = 128, CLASSES = 10, BATCH = 50 };

static double milliseconds(void)
{
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

static tn_tensor *load(const char *folder, const char *name)
{
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/%s.npy", folder, name);
    return tn_load(path, "host");
}

static tn_tensor_list *load_weights(tn_module *net, const char *folder)
{
    tn_tensor_list *parameters = tn_module_parameters(net);
    const tn_scope scope = tn_scope_push_no_grad();
    for (int i = 0; parameters && i < parameters->count; i++)
        (void)tn_assign(parameters->tensors[i], load(folder, parameters->names[i]));
    (void)tn_scope_pop(scope);
    return parameters;
}

static double epoch(tn_module *net, tn_optimizer *adam, tn_loader *loader, const char *device)
{
    double loss = 0;
    const tn_scope scope = tn_scope_push();
    tn_tensor *total = tn_zeros(TN_F32, TN_SHAPE(), device), *batch[2];
    int64_t n = 1;
    while (n > 0) {
        const tn_scope step = tn_scope_push();
        n = tn_loader_next(loader, batch);
        if (n > 0) {
            tn_tensor *mean = tn_cross_entropy(tn_module_forward(net, batch[0]), batch[1], TN_REDUCE_MEAN, NULL);
            (void)tn_optimizer_zero_grad(adam);
            (void)tn_backward(mean);
            (void)tn_optimizer_step(adam);
            (void)tn_assign(total, tn_add(total, tn_mul(tn_detach(mean), tn_int(n))));
        }
        if (tn_scope_pop(step) != TN_OK) return -1;
    }
    (void)tn_item(total, &loss);
    return tn_scope_pop(scope) == TN_OK ? loss / (double)tn_loader_samples(loader) : -1;
}

int main(int argc, char **argv)
{
    char line[16];
    if (argc != 3) return 2;
    const tn_scope scope = tn_scope_push();
    tn_module *net = tn_sequential_new(
        TN_MODULES(tn_linear_new(PIXELS, HIDDEN, true), tn_activation_new("relu", NULL), tn_linear_new(HIDDEN, CLASSES, true)));
    tn_tensor_list *parameters = load_weights(net, argv[2]);
    (void)tn_module_to(net, argv[1]);
    tn_optimizer *adam = parameters ? tn_adam(parameters->tensors, parameters->count, 1e-3, NULL) : NULL;
    const tn_loader_options options = {.device = argv[1]};
    tn_loader *loader = tn_loader_new((tn_tensor *[]){load(argv[2], "images"), load(argv[2], "labels")}, 2, BATCH, &options);
    while (adam && loader && fgets(line, sizeof line, stdin)) {
        const double begin = milliseconds(), loss = epoch(net, adam, loader, argv[1]);
        printf("%.3f %.6f\n", milliseconds() - begin, loss);
        (void)fflush(stdout);
    }
    tn_loader_release(loader);
    tn_optimizer_release(adam);
    tn_tensor_list_free(parameters);
    tn_module_release(net);
    if (tn_scope_pop(scope) == TN_OK) return 0;
    (void)fprintf(stderr, "train_mnist: %s\n", tn_last_error());
    return 1;
}
