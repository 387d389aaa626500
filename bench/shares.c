#include "shares.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/tenon.h>

#include "copies.h"
#include "job.h"
#include "peak.h"
#include "report.h"

enum { PASSES = 5, NAME = 32, LINE = 512, MOST = 4 * BATCH_MOST };
static const double seconds_full = 0.15, seconds_quick = 0.03, least = 0.8; /* of the baseline's share */
static const size_t copy_bytes = (size_t)64 << 20, copy_bytes_quick = (size_t)1 << 20;

/* As it stands in a line of a file. */
typedef struct share {
    char work[NAME], device[NAME], shape[REPORT_TEXT], of[NAME];
    double share;
} share;

#define WRITTEN "{\"work\": \"%s\", \"device\": \"%s\", \"shape\": \"%s\", \"of\": \"%s\", \"share\": %.4f}\n"
#define READ "{\"work\": \"%31[^\"]\", \"device\": \"%31[^\"]\", \"shape\": \"%127[^\"]\", \"of\": \"%31[^\"]\", \"share\": %lf}"

/* What the device can do. */
typedef struct limits {
    host_copy host;
    driver_copy *driver; /* NULL: the host's */
    peak *peak;
    contender copy, fma;
    double bytes; /* moved by the copy */
} limits;

static bool limits_open(limits *l, const conditions *on)
{
    const char *why;
    const size_t bytes = on->quick ? copy_bytes_quick : copy_bytes;
    if (!host_copy_open(&l->host, bytes)) {
        fprintf(stderr, "tenon bench: no memory for memcpy\n");
        return false;
    }
    l->bytes = 2.0 * (double)bytes;
    l->driver = driver_copy_open(on->device, l->host.from, bytes, &why);
    l->copy = l->driver ? (contender){.name = "copy", .once = driver_copy_once, .what = l->driver}
                        : (contender){.name = "copy", .once = host_copy_once, .what = &l->host};
    l->peak = peak_open(on->device, on->quick, &why);
    l->fma = (contender){.name = "peak", .once = peak_once, .what = l->peak};
    if (!l->peak) fprintf(stderr, "tenon bench: the peak of multiply-adds on %s is not measured: %s\n", on->device, why);
    return l->peak != NULL;
}

static void limits_close(limits *l)
{
    driver_copy_close(l->driver);
    host_copy_close(&l->host);
    peak_close(l->peak);
}

static int ascending(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

/* The time that the limit alone would take, over the work's, at their best. */
static double pass(const job *j, const limits *l, const char **of)
{
    const double copying = work_bytes(j->work, &j->shape) / l->bytes * contender_min(&l->copy);
    const double computing = work_flops(j->work, &j->shape) / peak_flops(l->peak) * contender_min(&l->fma);
    *of = copying >= computing ? "copy" : "fma";
    return (copying >= computing ? copying : computing) / contender_min(&j->c);
}

static bool measure_share(job *j, limits *l, const conditions *on, share *found)
{
    const pace p = {on->quick ? seconds_quick : seconds_full, on->repeat};
    contender *const list[] = {&j->c, &l->copy, &l->fma};
    double shares[PASSES];
    const char *of = "";
    for (int i = 0; i < PASSES; i++) {
        if (!measure(list, 3, &p)) return false;
        shares[i] = pass(j, l, &of);
    }
    qsort(shares, PASSES, sizeof *shares, ascending);
    (void)snprintf(found->work, NAME, "%s", j->work->name);
    (void)snprintf(found->device, NAME, "%s", j->device);
    (void)report_shape(&j->shape, found->shape);
    (void)snprintf(found->of, NAME, "%s", of);
    found->share = shares[PASSES / 2];
    return true;
}

static bool measure_shares(const work *const *works, int count, const conditions *on, share *found)
{
    limits l = {.bytes = 0};
    job *j = malloc(sizeof *j);
    bool good = j && limits_open(&l, on);
    for (int i = 0; good && i < count; i++) {
        const tn_scope scope = tn_scope_push();
        job_choose(j, works[i], on->device, on->quick);
        good = job_prepare(j) && measure_share(j, &l, on, &found[i]);
        if (tn_scope_pop(scope) != TN_OK || !good) {
            fprintf(stderr, "tenon bench: %s on %s: %s\n", works[i]->name, on->device, tn_last_error());
            good = false;
        }
    }
    limits_close(&l);
    free(j);
    return good;
}

/* False, with a sentence, when the file is not what --save writes. */
static bool read_baseline(const char *path, share *list, int *count)
{
    char line[LINE];
    FILE *file = fopen(path, "r");
    if (!file) {
        fprintf(stderr, "tenon bench: %s cannot be read\n", path);
        return false;
    }
    bool good = true;
    for (*count = 0; good && *count < MOST && fgets(line, sizeof line, file); ++*count) {
        share *s = &list[*count];
        good = sscanf(line, READ, s->work, s->device, s->shape, s->of, &s->share) == 5 && s->share > 0;
        if (!good) fprintf(stderr, "tenon bench: %s:%d is not a line that --save writes\n", path, *count + 1);
    }
    (void)fclose(file);
    return good;
}

static bool write_shares(const char *path, const share *list, int count)
{
    FILE *file = fopen(path, "w");
    bool good = file != NULL;
    for (int i = 0; good && i < count; i++)
        good = fprintf(file, WRITTEN, list[i].work, list[i].device, list[i].shape, list[i].of, list[i].share) > 0;
    if (file) good = fclose(file) == 0 && good;
    if (!good) fprintf(stderr, "tenon bench: %s cannot be written\n", path);
    return good;
}

static const share *find(const share *list, int count, const share *like)
{
    for (int i = 0; i < count; i++)
        if (strcmp(list[i].work, like->work) == 0 && strcmp(list[i].device, like->device) == 0 &&
            strcmp(list[i].shape, like->shape) == 0 && strcmp(list[i].of, like->of) == 0)
            return &list[i];
    return NULL;
}

/* Prints a line for each; how many are worse than the baseline allows. */
static int compare(const share *found, int count, const share *before, int before_count)
{
    int worse = 0;
    printf("%-10s %-8s %-15s %-5s %7s %9s\n", "work", "device", "shape", "of", "share", "baseline");
    for (int i = 0; i < count; i++) {
        const share *s = &found[i], *then = find(before, before_count, s);
        printf("%-10s %-8s %-15s %-5s %7.3f", s->work, s->device, s->shape, s->of, s->share);
        if (then) {
            const bool bad = s->share < least * then->share;
            printf(" %9.3f  %s", then->share, bad ? "regression" : "ok");
            worse += bad;
        } else if (before)
            printf(" %9s", "-");
        printf("\n");
    }
    return worse;
}

int shares_run(const work *const *works, int count, const conditions *on, const char *baseline, const char *save)
{
    share found[BATCH_MOST], before[MOST];
    int before_count = 0;
    if (baseline && !read_baseline(baseline, before, &before_count)) return 2;
    if (!measure_shares(works, count, on, found)) return 1;
    const int worse = compare(found, count, baseline ? before : NULL, before_count);
    if (save && !write_shares(save, found, count)) return 2;
    return worse ? 1 : 0;
}
