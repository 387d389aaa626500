#include "measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { WARM_UP = 3, LEAST_ROUNDS = 5, PATIENCE = 4, SHOW_AFTER_MS = 2000, SHOW_EVERY_MS = 200 };
static const double better = 0.98; /* a new minimum that counts */

double measure_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* On a terminal, from two seconds after the first measurement on: what is being measured, and how far it is. */
typedef struct progress {
    double begin, shown;
    bool on, visible;
} progress;

static progress progress_begin(void)
{
    static double first;
    if (first == 0)
        first = measure_now();
    return (progress){.begin = first, .on = isatty(STDERR_FILENO) != 0};
}

static void progress_show(progress *p, const char *name, double share)
{
    const double now = measure_now();
    if (!p->on || now - p->begin < SHOW_AFTER_MS || now - p->shown < SHOW_EVERY_MS)
        return;
    p->shown = now;
    p->visible = true;
    fprintf(stderr, "\r\033[K%s: %.0f %%", name, 100 * (share < 1 ? share : 1));
    fflush(stderr);
}

static void progress_end(const progress *p)
{
    if (p->visible)
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
    if (c->rounds == 0 || ms < better * c->best) {
        c->best = ms;
        c->settled = c->rounds;
    }
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

/* On a busy machine minima come late: no contender found a better one in the last third of the rounds. */
static bool all_settled(contender *const *list, int count)
{
    for (int i = 0; i < count; i++)
        if (list[i]->settled * 3 > list[i]->rounds * 2)
            return false;
    return true;
}

/* How much of the work is done, 1 at the end: the time is over, and the minima have settled or never will. */
static double done(const pace *p, contender *const *list, int count, double begin)
{
    const int rounds = list[0]->rounds;
    if (rounds == MEASURE_ROUNDS)
        return 1;
    if (p->repeat)
        return (double)rounds / p->repeat;
    double by_time = (measure_now() - begin) / (1e3 * p->seconds * count);
    const double by_rounds = (double)rounds / LEAST_ROUNDS;
    if (by_time > 0.99 && by_time < PATIENCE && !all_settled(list, count))
        by_time = 0.99;
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
            progress_show(&seen, list[0]->name, share);
            good = do_once(list[i], round >= 0);
        }
        if (round >= 0)
            share = done(p, list, count, begin);
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
