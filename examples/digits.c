/* Handwritten digits, read by a small network, on any device.
 *
 *   digits [--device NAME] [--data FOLDER]
 *
 * The whole of it is in classify() and forward(): load the weights onto a device, move the images there, compute, read the
 * answer. The same lines run on a GPU, on a CPU through OpenCL, and in plain C; NAME ("gpu:0", "cpu:0", "host"; default
 * "auto") is the only difference. The exit code is 0 when 352 of the 360 images are read right, as by the reference. */
#include <tenon/tenon.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifndef TENON_EXAMPLES_DATA
#define TENON_EXAMPLES_DATA "examples/data"
#endif

enum { IMAGES = 360, SIDE = 8, PIXELS = SIDE * SIDE, CLASSES = 10, LAYERS = 3, REPEATS = 21, SHOWN = 4 };
enum { EXPECTED_RIGHT = 352 };
#define ALLOWED_DIFFERENCE 1e-4

typedef struct network {
    tn_tensor *weight[LAYERS]; /* [out, in] */
    tn_tensor *bias[LAYERS];   /* [out] */
} network;

/* What the program knows in plain memory. */
typedef struct results {
    unsigned char image[IMAGES][PIXELS]; /* 0 to 16 */
    unsigned char label[IMAGES];
    float expected[IMAGES][CLASSES];
    float logits[IMAGES][CLASSES];
    int answer[IMAGES];
    double start;        /* of the program */
    double first_result; /* seconds from there to the first answer */
    double first, again; /* seconds for one pass through the network */
    unsigned long long launches;
} results;

static double seconds(void)
{
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* A file of the data folder. */
static const char *in_folder(const char *folder, const char *file)
{
    static char path[4096];
    (void)snprintf(path, sizeof path, "%s/%s", folder, file);
    return path;
}

/* The weights go from the file to the device directly. An error needs no check here: a tensor that could not be loaded is
 * NULL, whatever is computed from it is NULL, and the scope in main reports what went wrong first. */
static network load_network(const char *folder, const char *device)
{
    network net = {0};
    tn_archive *file = tn_archive_open(in_folder(folder, "digits_mlp.safetensors"));
    for (int i = 0; file && i < LAYERS; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "fc%d.weight", i + 1);
        net.weight[i] = tn_archive_get(file, name, device);
        (void)snprintf(name, sizeof name, "fc%d.bias", i + 1);
        net.bias[i] = tn_archive_get(file, name, device);
    }
    tn_archive_close(file);
    return net;
}

/* y = x @ transpose(w) + b, with relu between the layers. Nothing is computed yet: the operations are recorded, fused,
 * and run when the result is read. */
static tn_tensor *forward(const network *net, tn_tensor *x)
{
    for (int i = 0; i < LAYERS; i++) {
        x = tn_add(tn_matmul(x, tn_transpose(net->weight[i], 0, 1)), net->bias[i]);
        if (i < LAYERS - 1)
            x = tn_relu(x);
    }
    return x;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Once to get the answer, which builds the kernels, then again for the time it really takes. */
static void classify(const network *net, tn_tensor *x, const char *device, results *r)
{
    double took[REPEATS];
    tn_device_info before, after;
    for (int i = 0; i <= REPEATS; i++) {
        tn_scope scope = tn_scope_push(); /* frees what forward made */
        const double start = seconds();
        (void)tn_device_query(device, &before);
        (void)tn_read(forward(net, x), r->logits, sizeof r->logits);
        (void)tn_device_query(device, &after);
        const double end = seconds();
        if (i == 0) {
            r->first = end - start;
            r->first_result = end - r->start;
        } else
            took[i - 1] = end - start;
        if (tn_scope_pop(scope) != TN_OK)
            return;
    }
    qsort(took, REPEATS, sizeof *took, by_size);
    r->again = took[REPEATS / 2];
    r->launches = after.launches - before.launches;
}

static tn_status run(const char *folder, const char *device, results *r)
{
    tn_scope scope = tn_scope_push();
    tn_tensor *images = tn_load(in_folder(folder, "digits_test_images.npy"), "host");   /* u8 [360, 8, 8] */
    tn_tensor *labels = tn_load(in_folder(folder, "digits_test_labels.npy"), "host");   /* u8 [360] */
    tn_tensor *expected = tn_load(in_folder(folder, "digits_test_logits.npy"), "host"); /* f32 [360, 10] */
    (void)tn_read(images, r->image, sizeof r->image);
    (void)tn_read(labels, r->label, sizeof r->label);
    (void)tn_read(expected, r->expected, sizeof r->expected);

    /* Move the bytes, make numbers of them where they are: 0 to 16 become 0 to 1. */
    const network net = load_network(folder, device);
    tn_tensor *x = tn_reshape(tn_to(images, device), TN_SHAPE(IMAGES, PIXELS));
    x = tn_div(tn_cast(x, TN_F32), tn_int(16));
    classify(&net, x, device, r);
    return tn_scope_pop(scope); /* frees all of it, and tells the first failure */
}

/* ---- showing it ---- */

static int largest(const float *logits)
{
    int best = 0;
    for (int i = 1; i < CLASSES; i++)
        if (logits[i] > logits[best])
            best = i;
    return best;
}

static int count_right(results *r)
{
    int right = 0;
    for (int i = 0; i < IMAGES; i++) {
        r->answer[i] = largest(r->logits[i]);
        right += r->answer[i] == r->label[i];
    }
    return right;
}

static double largest_difference(const results *r)
{
    double most = 0;
    for (int i = 0; i < IMAGES; i++)
        for (int k = 0; k < CLASSES; k++) {
            const double d = fabs((double)r->logits[i][k] - (double)r->expected[i][k]);
            if (!(d <= most)) /* NaN counts, too */
                most = d;
        }
    return most;
}

/* What to show: some that were read right, of different digits, and the first that was read wrong. */
static void choose(const results *r, int pick[SHOWN])
{
    int wrong = 0, count = 0;
    bool shown[CLASSES] = {false};
    while (wrong < IMAGES - 1 && r->answer[wrong] == r->label[wrong])
        wrong++;
    for (int i = 0; i < IMAGES && count < SHOWN - 1; i++) {
        if (r->answer[i] != r->label[i] || shown[r->answer[i]])
            continue;
        shown[r->answer[i]] = true;
        pick[count++] = i;
    }
    while (count < SHOWN)
        pick[count++] = wrong;
}

static void draw(const results *r)
{
    static const char *const shade[] = {"  ", "░░", "▒▒", "▓▓", "██"};
    const bool color = isatty(STDOUT_FILENO);
    int pick[SHOWN];
    choose(r, pick);

    putchar('\n');
    for (int row = 0; row < SIDE; row++) {
        for (int i = 0; i < SHOWN; i++) {
            printf("  ");
            for (int column = 0; column < SIDE; column++)
                fputs(shade[(r->image[pick[i]][row * SIDE + column] + 3) / 4 % 5], stdout);
        }
        putchar('\n');
    }
    for (int i = 0; i < SHOWN; i++) {
        char text[32];
        const int answer = r->answer[pick[i]], label = r->label[pick[i]], right = answer == label;
        (void)snprintf(text, sizeof text, right ? "reads %d" : "reads %d, is %d", answer, label);
        printf("  %s%-16s%s", !color ? "" : right ? "\033[32m" : "\033[31m", text, color ? "\033[0m" : "");
    }
    printf("\n\n");
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
    static results r;
    r.start = seconds();
    if (argc % 2 == 0) {
        fprintf(stderr, "usage: %s [--device NAME] [--data FOLDER]\n", argv[0]);
        return 2;
    }
    const char *device = tn_device_resolve(option(argc, argv, "--device", "auto"));
    if (!device || run(option(argc, argv, "--data", TENON_EXAMPLES_DATA), device, &r) != TN_OK) {
        fprintf(stderr, "digits: %s\n", tn_last_error());
        return 1;
    }

    tn_device_info info;
    (void)tn_device_query(device, &info);
    const int right = count_right(&r);
    const double difference = largest_difference(&r);
    printf("device      %s  %s%s\n", device, info.description, info.software ? "  (software)" : "");
    printf("right       %d of %d\n", right, IMAGES);
    printf("difference  %.1e at most from the reference's logits\n", difference);
    printf("first time  %.2f ms, %.0f ms after the program's start\n", 1e3 * r.first, 1e3 * r.first_result);
    printf("again       %.3f ms, the median of %d\n", 1e3 * r.again, REPEATS);
    printf("launches    %llu\n", r.launches);
    printf("programs    %llu built, %llu from the disk cache\n", (unsigned long long)info.programs_built,
           (unsigned long long)info.programs_loaded);
    draw(&r);
    (void)tn_shutdown();
    return right == EXPECTED_RIGHT && difference <= ALLOWED_DIFFERENCE ? 0 : 1;
}
