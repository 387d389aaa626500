#include "batch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/tenon.h>

#include "copies.h"
#include "job.h"
#include "measure.h"
#include "report.h"

static const double seconds_full = 1.5, seconds_quick = 0.1;

typedef struct batch {
    const conditions *on;
    job jobs[BATCH_MOST];
    int count;
    /* Beside works of memory speed; copy is NULL beside others. */
    job *copy;
    host_copy host;
    driver_copy *driver;
    contender host_c, driver_c;
} batch;

static job *job_add(batch *b, const work *w, bool asked_for)
{
    job *j = &b->jobs[b->count++];
    job_choose(j, w, b->on->device, b->on->quick);
    j->asked_for = asked_for;
    return j;
}

/* The copy by a kernel is one of the works; it is measured whether asked for or not. */
static void choose(batch *b, const work *const *works, int count)
{
    const work *copy = work_named("copy");
    for (int i = 0; i < count; i++) {
        job *j = job_add(b, works[i], true);
        if (works[i] == copy) b->copy = j;
    }
    if (works[0]->by_copies && !b->copy) b->copy = job_add(b, copy, false);
}

/* The other two copies, of the same size. */
static bool make_copies(batch *b)
{
    const char *why;
    if (!host_copy_open(&b->host, tn_nbytes(b->copy->inputs[0]))) {
        fprintf(stderr, "tenon bench: no memory for memcpy\n");
        return false;
    }
    b->host_c = (contender){.name = "memcpy", .once = host_copy_once, .what = &b->host};
    b->driver = driver_copy_open(b->on->device, b->host.from, b->host.bytes, &why);
    b->driver_c = (contender){.name = "driver's copy", .once = driver_copy_once, .what = b->driver};
    if (!b->driver && strcmp(b->on->device, "host") != 0)
        fprintf(stderr, "tenon bench: the driver's copy on %s is not measured: %s\n", b->on->device, why);
    return true;
}

static bool measure_all(batch *b)
{
    contender *list[BATCH_MOST + COPIES];
    const pace p = {b->on->quick ? seconds_quick : seconds_full, b->on->repeat};
    int count = 0;
    for (int i = 0; i < b->count; i++) list[count++] = &b->jobs[i].c;
    if (b->copy) list[count++] = &b->host_c;
    if (b->driver) list[count++] = &b->driver_c;
    return measure(list, count, &p);
}

static void add_copy(result *r, int which, const batch *b, const contender *c)
{
    const double giga = work_bytes(b->copy->work, &b->copy->shape) * 1e-6; /* over milliseconds: GB/s */
    r->copies[which] = giga / contender_min(c);
    r->copies_median[which] = giga / contender_median(c);
}

static void report(const batch *b)
{
    for (int i = 0; i < b->count; i++) {
        const job *j = &b->jobs[i];
        result r = {.work = j->work, .device = j->device, .shape = j->shape, .beside_copies = b->copy != NULL};
        if (!j->asked_for) continue;
        r.min_ms = contender_min(&j->c);
        r.median_ms = contender_median(&j->c);
        r.rounds = j->c.rounds;
        r.launches = j->c.launches;
        if (b->copy) {
            add_copy(&r, COPY_KERNEL, b, &b->copy->c);
            add_copy(&r, COPY_MEMCPY, b, &b->host_c);
        }
        if (b->driver) add_copy(&r, COPY_DRIVER, b, &b->driver_c);
        (b->on->json ? report_json : report_row)(&r);
    }
}

bool batch_run(const work *const *works, int count, const conditions *on)
{
    batch *b = calloc(1, sizeof *b);
    if (!b) {
        fprintf(stderr, "tenon bench: no memory\n");
        return false;
    }
    b->on = on;
    choose(b, works, count);
    const tn_scope scope = tn_scope_push();
    bool good = true;
    for (int i = 0; good && i < b->count; i++) good = job_prepare(&b->jobs[i]);
    good = good && (!b->copy || make_copies(b)) && measure_all(b);
    if (good) report(b);
    if (tn_scope_pop(scope) != TN_OK || !good) {
        fprintf(stderr, "tenon bench: %s on %s: %s\n", works[0]->name, on->device,
                *tn_last_error() ? tn_last_error() : "not measured");
        good = false;
    }
    driver_copy_close(b->driver);
    host_copy_close(&b->host);
    free(b);
    return good;
}
