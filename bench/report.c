#include "report.h"

#include <inttypes.h>
#include <stdio.h>

static const char *const copy_names[COPIES] = {"kernel", "driver", "memcpy"};

/* Over milliseconds, in 10^9 a second. */
static double per_second(double amount, double ms)
{
    return amount / ms * 1e-6;
}

static double gbps(const result *r)
{
    return per_second(work_bytes(r->work, &r->shape), r->min_ms);
}

static double gflops(const result *r)
{
    return per_second(work_flops(r->work, &r->shape), r->min_ms);
}

static int fastest(const double copies[COPIES])
{
    int best = 0;
    for (int i = 1; i < COPIES; i++)
        if (copies[i] > copies[best]) best = i;
    return best;
}

/* The work's bytes per second as a share of the fastest copy's. Of the medians, which hold on a busy machine too: */
static double of_copy(const result *r)
{
    return per_second(work_bytes(r->work, &r->shape), r->median_ms) / r->copies_median[fastest(r->copies_median)];
}

/* … and each at its best. */
static double of_copy_best(const result *r)
{
    return gbps(r) / r->copies[fastest(r->copies)];
}

const char *report_shape(const tn_shape *shape, char text[REPORT_TEXT])
{
    int at = snprintf(text, REPORT_TEXT, "[");
    for (int i = 0; i < shape->ndim && at < REPORT_TEXT - 24; i++)
        at += snprintf(text + at, (size_t)(REPORT_TEXT - at), "%s%" PRId64, i ? ", " : "", shape->dim[i]);
    snprintf(text + at, (size_t)(REPORT_TEXT - at), "]");
    return text;
}

void report_list(void)
{
    char text[REPORT_TEXT];
    printf("%-10s %-15s %-6s %12s %12s  %s\n", "work", "shape", "dtype", "MB moved", "MFLOP", "");
    for (int i = 0; work_at(i); i++) {
        const work *w = work_at(i);
        printf("%-10s %-15s %-6s %12.1f %12.1f  %s\n", w->name, report_shape(&w->shape, text), tn_dtype_name(w->dtype),
               1e-6 * work_bytes(w, &w->shape), 1e-6 * work_flops(w, &w->shape), w->what);
    }
}

void report_heading(void)
{
    printf("%-10s %-8s %-15s %-6s %10s %10s %9s %9s %9s\n", "work", "device", "shape", "dtype", "min ms", "median ms", "GB/s",
           "GFLOP/s", "launches");
    fflush(stdout);
}

void report_row(const result *r)
{
    char text[REPORT_TEXT];
    printf("%-10s %-8s %-15s %-6s %10.3f %10.3f %9.2f %9.2f %9" PRIu64 "\n", r->work->name, r->device,
           report_shape(&r->shape, text), tn_dtype_name(r->work->dtype), r->min_ms, r->median_ms, gbps(r), gflops(r), r->launches);
    if (r->beside_copies) {
        printf("%-10s %.2f of the fastest copy, %s (%.2f at their best); copies in GB/s:", "", of_copy(r),
               copy_names[fastest(r->copies_median)], of_copy_best(r));
        for (int i = 0; i < COPIES; i++)
            if (r->copies[i] > 0) printf("%s %s %.2f", i ? "," : "", copy_names[i], r->copies[i]);
        printf("\n");
    }
    fflush(stdout);
}

void report_json(const result *r)
{
    char text[REPORT_TEXT];
    printf("{\"name\": \"%s\", \"device\": \"%s\", \"shape\": %s, \"dtype\": \"%s\", \"min_ms\": %.4f, "
           "\"median_ms\": %.4f, \"gbps\": %.3f, \"gflops\": %.3f, \"launches\": %" PRIu64 ", \"repetitions\": %d",
           r->work->name, r->device, report_shape(&r->shape, text), tn_dtype_name(r->work->dtype), r->min_ms, r->median_ms, gbps(r),
           gflops(r), r->launches, r->rounds);
    if (r->beside_copies) {
        printf(", \"of_copy\": %.3f, \"of_copy_best\": %.3f, \"fastest_copy\": \"%s\"", of_copy(r), of_copy_best(r),
               copy_names[fastest(r->copies_median)]);
        for (int i = 0; i < COPIES; i++) {
            printf(", \"%s_gbps\": ", copy_names[i]);
            printf(r->copies[i] > 0 ? "%.3f" : "null", r->copies[i]);
        }
    }
    printf("}\n");
    fflush(stdout);
}
