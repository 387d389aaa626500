#include "measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { WARM_UP = 3, LEAST_ROUNDS = 5, SHOW_AFTER_MS = 2000, SHOW_EVERY_MS = 200 };

double measure_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* On a terminal, from two seconds on: what is being measured, and how far it is. */
typedef struct progress {
    double begin, shown;
    bool on;
} progress;

static progress progress_begin(void)
{
    const double now = measure_now();
    return (progress){now, now, isatty(STDERR_FILENO) != 0};
}

static void progress_show(progress *p, const char *name, double share)
{
    const double now = measure_now();
    if (!p->on || now - p->begin < SHOW_AFTER_MS || now - p->shown < SHOW_EVERY_MS)
        return;
    p->shown = now;
    fprintf(stderr, "\r\033[K%s: %.0f %%", name, 100 * (share < 1 ? share : 1));
    fflush(stderr);
}

static void progress_end(const progress *p)
{
    if (p->shown > p->begin)
        fprintf(stderr, "\r\033[K");
}

static bool do_once(contender *c, bool counts)
{
    double ms = 0;
    uint64_t launches = 0;
    if (!c->once(c->what, &ms, &launches))
        return false;
    if (!counts)
        return true;
    c->ms[c->rounds++] = ms;
    if (launches > c->launches)
        c->launches = launches;
    return true;
}

static int ascending(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

/* How much of the work is done, 1 at the end. */
static double done(const pace *p, int count, int rounds, double begin)
{
    if (rounds == MEASURE_ROUNDS)
        return 1;
    if (p->repeat)
        return (double)rounds / p->repeat;
    const double by_time = (measure_now() - begin) / (1e3 * p->seconds * count);
    const double by_rounds = (double)rounds / LEAST_ROUNDS;
    return by_time < by_rounds ? by_time : by_rounds;
}

bool measure(contender *const *list, int count, const pace *p)
{
    progress seen = progress_begin();
    bool good = true;
    for (int i = 0; i < count; i++) {
        list[i]->rounds = 0;
        list[i]->launches = 0;
    }
    double begin = measure_now(), share = 0;
    for (int round = -WARM_UP; good && share < 1; round++) {
        if (round == 0)
            begin = measure_now();
        for (int i = 0; good && i < count; i++) {
            progress_show(&seen, list[i]->name, share);
            good = do_once(list[i], round >= 0);
        }
        if (round >= 0)
            share = done(p, count, round + 1, begin);
    }
    progress_end(&seen);
    for (int i = 0; i < count; i++)
        qsort(list[i]->ms, (size_t)list[i]->rounds, sizeof *list[i]->ms, ascending);
    return good;
}

double contender_min(const contender *c)
{
    return c->ms[0];
}

double contender_median(const contender *c)
{
    const int n = c->rounds;
    return n % 2 ? c->ms[n / 2] : (c->ms[n / 2 - 1] + c->ms[n / 2]) / 2;
}
