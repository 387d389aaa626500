/* A model that moves: on the CPU first, then whole to a device, run there, trained there, moved back.
 *
 *   05_move [--device NAME]
 *
 * The steps are those of PyTorch's tutorials on devices, and PyTorch's call stands at the right. Works on any machine: where there is
 * no GPU it goes on with what there is. */
#include <tenon/tenon.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { ROWS = 256, INPUTS = 256, HIDDEN = 512, OUTPUTS = 10, REPEATS = 5 };

static double seconds(void)
{
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void step(const char *title)
{
    printf("\n-- %s\n", title);
}

static tn_module *new_model(void)
{
    return tn_sequential_new(TN_MODULES(tn_linear_new(INPUTS, HIDDEN, true), tn_activation_new("relu", NULL),
                                        tn_linear_new(HIDDEN, OUTPUTS, true)));
}

/* for name, p in model.named_parameters(): print(name, p.device) */
static void show_devices(tn_module *model)
{
    tn_tensor_list *list = tn_module_parameters(model);
    for (int i = 0; list && i < list->count; i++)
        printf("%-10s %s\n", list->names[i], tn_device_of(list->tensors[i]));
    tn_tensor_list_free(list);
}

/* ---- the steps ---- */

static void move_the_model(tn_module *model, tn_tensor *x, const char *device)
{
    step("A model is made on the CPU");
    show_devices(model);
    tn_tensor *before = tn_module_forward(model, x); /* model(x) */

    step("Moved whole, in place, then the input");
    (void)tn_module_to(model, device);           /* model.to(device) */
    tn_tensor *there = tn_to(x, device);         /* x = x.to(device) */
    tn_tensor *y = tn_module_forward(model, there);
    show_devices(model);
    printf("input on %s, output on %s\n", tn_device_of(there), tn_device_of(y));

    step("Moved back: what is under way for it is run, and waited for");
    tn_tensor *back = tn_host(y); /* y.cpu() */
    double apart = NAN;
    (void)tn_item(tn_max(tn_abs(tn_sub(back, before)), TN_ALL_AXES, false), &apart);
    printf("the output is on %s, at most %.1e from what the CPU had computed\n", tn_device_of(back), apart);
}

static void train_a_step(tn_module *model, tn_tensor *x, const char *device)
{
    step("Gradients and the optimizer's state are where the parameters are");
    tn_tensor_list *list = tn_module_parameters(model);
    tn_optimizer *adam = list ? tn_adam(list->tensors, list->count, 1e-3, NULL) : NULL;
    for (int i = 0; adam && i < 2; i++) {
        tn_tensor *y = tn_module_forward(model, tn_to(x, device));
        tn_tensor *loss = tn_mean(tn_mul(y, y), TN_ALL_AXES, false);
        double value = NAN;
        (void)tn_optimizer_zero_grad(adam);
        (void)tn_backward(loss); /* loss.backward() */
        (void)tn_optimizer_step(adam);
        (void)tn_item(loss, &value);
        printf("loss %.5f, gradient of %s on %s\n", value, list->names[0], tn_device_of(tn_grad_of(list->tensors[0])));
    }
    tn_optimizer_release(adam);
    tn_tensor_list_free(list);
}

/* Seconds of one pass: input from plain memory, answer back there. The first one builds the kernels and does not count. */
static double time_forward(tn_module *model, const float *input, const char *device)
{
    static float output[ROWS * OUTPUTS];
    double best = INFINITY;
    (void)tn_module_to(model, device);
    const tn_scope scope = tn_scope_push_no_grad();
    for (int i = 0; i <= REPEATS; i++) {
        const tn_scope inside = tn_scope_push();
        const double start = seconds();
        (void)tn_read(tn_module_forward(model, tn_from(TN_F32, TN_SHAPE(ROWS, INPUTS), input, device)), output, sizeof output);
        if (i > 0)
            best = fmin(best, seconds() - start);
        (void)tn_scope_pop(inside);
    }
    (void)tn_scope_pop(scope);
    return best;
}

static void compare_times(tn_module *model, const float *input, const char *device)
{
    step("Timed, copies counted in");
    tn_device_info before, after;
    const double host = time_forward(model, input, "host");
    (void)tn_device_query(device, &before);
    const double there = time_forward(model, input, device);
    (void)tn_device_query(device, &after);
    printf("host %.3f ms, %s %.3f ms: %.1f times as fast\n", 1e3 * host, device, 1e3 * there, host / there);
    printf("copied there %" PRIu64 " bytes, back %" PRIu64 ", in %d passes and the model's move\n",
           after.bytes_written - before.bytes_written, after.bytes_read - before.bytes_read, REPEATS + 1);
}

static uint64_t bytes_of(tn_module *model)
{
    uint64_t bytes = 0;
    tn_tensor_list *list = tn_module_parameters(model);
    for (int i = 0; list && i < list->count; i++)
        bytes += tn_nbytes(list->tensors[i]);
    tn_tensor_list_free(list);
    return bytes;
}

static void half_precision(tn_module *model, const char *device)
{
    step("Half precision takes half the memory");
    (void)tn_module_to(model, device);
    printf("f32: %" PRIu64 " bytes of parameters\n", bytes_of(model));
    (void)tn_module_cast(model, TN_F16); /* model.half() */
    printf("f16: %" PRIu64 " bytes\n", bytes_of(model));
    (void)tn_module_print(stdout, model);
    (void)tn_memory_report(stdout, device); /* torch.cuda.memory_summary() */
}

/* By design this one fails. */
static void forget_the_input(tn_module *model, tn_tensor *x)
{
    step("The common slip: the input stays behind");
    if (!tn_module_forward(model, x))
        printf("error %s: %s\n", tn_status_name(tn_last_status()), tn_last_error());
    else
        printf("model and input are on host here, so nothing is wrong\n");
}

static tn_status run(tn_module *model, const char *device)
{
    static float input[ROWS * INPUTS];
    const tn_scope scope = tn_scope_push();
    tn_tensor *x = tn_randn(TN_F32, TN_SHAPE(ROWS, INPUTS), "host");
    (void)tn_read(x, input, sizeof input);
    move_the_model(model, x, device);
    train_a_step(model, x, device);
    compare_times(model, input, device);
    half_precision(model, device);
    return tn_scope_pop(scope);
}

int main(int argc, char **argv)
{
    step("Is there a GPU? The same code whatever the answer");
    printf("a GPU: %s\n", tn_gpu_is_available() ? "yes" : "no"); /* torch.cuda.is_available() */
    const char *device = tn_device_resolve(argc == 3 && strcmp(argv[1], "--device") == 0 ? argv[2] : "auto");
    printf("chosen: %s\n", device ? device : tn_last_error());
    tn_seed(1);
    tn_module *model = device ? new_model() : NULL;
    if (!model || run(model, device) != TN_OK) {
        fprintf(stderr, "05_move: %s\n", tn_last_error());
        return 1;
    }
    const tn_scope scope = tn_scope_push();
    forget_the_input(model, tn_ones(TN_F16, TN_SHAPE(1, INPUTS), "host"));
    (void)tn_scope_pop(scope); /* its status is the mistake made on purpose */
    tn_clear_error();
    tn_module_release(model);
    return tn_shutdown() == TN_OK ? 0 : 1;
}
