/* First steps: which devices there are, tensors on them, moving between them.
 *
 * Each step is one function. The program runs on any machine: where there is no GPU it says so and goes on with what there
 * is. Who knows PyTorch finds its call at the right. */
#include <tenon/tenon.h>

#include <inttypes.h>
#include <stdio.h>

static void step(const char *title)
{
    printf("\n-- %s\n", title);
}

/* Tells why the last call failed, and forgets it: here failures are part of the lesson. */
static void explain(void)
{
    printf("   error %s: %s\n", tn_status_name(tn_last_status()), tn_last_error());
    tn_clear_error();
}

/* ---- devices ---- */

static void which_devices(void)
{
    step("Is there a GPU? How many devices, and which?");
    printf("a GPU: %s\n", tn_gpu_is_available() ? "yes" : "no"); /* torch.cuda.is_available() */
    printf("of type gpu: %d, cpu: %d, accel: %d, all with host: %d\n", tn_device_count("gpu"), /* device_count() */
           tn_device_count("cpu"), tn_device_count("accel"), tn_device_count(NULL));
    for (int i = 0; tn_device_name(i); i++) {
        tn_device_info info;
        if (tn_device_query(tn_device_name(i), &info) == TN_OK) /* get_device_name(i) */
            printf("  %-6s %s%s, %" PRIu64 " MiB\n", info.name, info.description, info.software ? " (software)" : "",
                   info.memory_total >> 20);
    }
    if (*tn_device_trouble())
        printf("no OpenCL device: %s\n", tn_device_trouble());
}

/* The same code afterwards, whatever the choice was. */
static const char *choose_device(void)
{
    step("Choose one, with the CPU to fall back on");
    const char *device = tn_gpu_is_available() ? "gpu:0" : "auto"; /* "cuda" if torch.cuda.is_available() else "cpu" */
    device = tn_device_resolve(device);
    printf("chosen: %s\n", device ? device : "none");
    return device ? device : "host";
}

/* ---- tensors ---- */

static void create(const char *device)
{
    step("Create: in plain memory by default, or on the device at once");
    const float values[] = {1, 2, 3};
    tn_tensor *a = tn_from(TN_F32, TN_SHAPE(3), values, NULL); /* torch.tensor([1., 2., 3.]) */
    tn_tensor *b = tn_zeros(TN_I32, TN_SHAPE(2, 3), device);   /* torch.zeros(2, 3, dtype=…, device=device) */
    tn_tensor *c = tn_arange(TN_F64, 0, 1, 0.25, "host");      /* torch.arange(0, 1, .25) */
    (void)tn_print(stdout, a);
    (void)tn_print(stdout, b);
    (void)tn_print(stdout, c);
}

static void move_and_compute(const char *device)
{
    step("Move it, compute where it is, move back");
    const float values[] = {1, 2, 3, 4};
    tn_tensor *x = tn_from(TN_F32, TN_SHAPE(2, 2), values, "host");
    tn_tensor *y = tn_to(x, device);     /* x.to(device); x itself stays where it is */
    tn_tensor *z = tn_mul(y, tn_int(2)); /* y * 2: recorded, runs on y's device when it is needed */
    tn_tensor *back = tn_host(z);        /* z.cpu(): runs what is pending for z, copies, waits */
    printf("x is on %s, z on %s, back on %s\n", tn_device_of(x), tn_device_of(z), tn_device_of(back)); /* z.device */
    (void)tn_print(stdout, back);
}

static void by_index(void)
{
    step("By index");
    tn_tensor *x = tn_ones(TN_F32, TN_SHAPE(2), "host");
    tn_tensor *first = tn_to(x, "gpu:0"); /* x.to("cuda:0") */
    if (first)
        (void)tn_print(stdout, first);
    else
        explain(); /* a name never means another device: the error lists what there is */
    tn_tensor *hundredth = tn_to(x, "gpu:99");
    if (!hundredth)
        explain();
}

static void creation_scope(const char *device)
{
    step("A creation scope: what is made without a device comes here");
    if (tn_device_push(device) != TN_OK) { /* with torch.device(device): */
        explain();
        return;
    }
    tn_tensor *inside = tn_ones(TN_F32, TN_SHAPE(2), NULL);
    (void)tn_device_pop();
    tn_tensor *outside = tn_ones(TN_F32, TN_SHAPE(2), NULL);
    printf("inside: %s, outside: %s\n", tn_device_of(inside), tn_device_of(outside));
}

static void mixed_devices(const char *device)
{
    step("Operands on different devices");
    const float values[] = {10, 20};
    tn_tensor *x = tn_from(TN_F32, TN_SHAPE(2), values, device), *y = tn_from(TN_F32, TN_SHAPE(2), values, "host");
    tn_tensor *sum = tn_add(x, y);
    if (!sum)
        explain(); /* it names both devices and the call that mends it */
    else
        printf("both are on %s here, so nothing is wrong\n", tn_device_of(x));

    sum = tn_add(x, tn_to(y, tn_device_of(x))); /* mended: x + y.to(x.device) */
    (void)tn_print(stdout, sum);

    const bool before = tn_auto_move(true); /* or let the library copy host operands, and count it */
    const uint64_t copies = tn_auto_move_count();
    sum = tn_add(x, y);
    (void)tn_auto_move(before);
    printf("with tn_auto_move: %" PRIu64 " copied, the sum is on %s\n", tn_auto_move_count() - copies,
           tn_device_of(sum));
}

static void half_precision(const char *device)
{
    step("Half precision takes half the memory");
    tn_tensor *x = tn_rand(TN_F32, TN_SHAPE(512, 1024), device);
    tn_tensor *h = tn_cast(x, TN_F16); /* x.half() */
    printf("f32: %zu bytes, f16: %zu bytes\n", tn_nbytes(x), tn_nbytes(h));
    (void)tn_print(stdout, h);
}

static void memory(const char *device)
{
    step("Memory of the device");
    tn_device_info info;
    if (tn_device_query(device, &info) != TN_OK) {
        explain();
        return;
    }
    printf("%s: %" PRIu64 " bytes in use, %" PRIu64 " cached, %" PRIu64 " at most so far\n", device, info.memory_in_use,
           info.memory_cached, info.memory_peak);
    (void)tn_memory_empty_cache(device); /* torch.cuda.empty_cache() */
}

/* The steps that may fail by design come last; whatever else fails ends the program with its reason. */
int main(void)
{
    which_devices();
    const char *device = choose_device();

    tn_scope scope = tn_scope_push(); /* everything made from here on is freed by the pop */
    create(device);
    move_and_compute(device);
    creation_scope(device);
    half_precision(device);
    memory(device);
    const tn_status status = tn_scope_pop(scope);
    if (status != TN_OK) {
        fprintf(stderr, "01_tensors: %s\n", tn_last_error());
        return 1;
    }

    scope = tn_scope_push();
    by_index();
    mixed_devices(device);
    (void)tn_scope_pop(scope); /* its status is the mistake made on purpose */
    tn_clear_error();
    return tn_shutdown() == TN_OK ? 0 : 1;
}
