/* Time: several things in turn, round by round, so that what else the machine does hurts all of them alike. */
#ifndef TENON_BENCH_MEASURE_H
#define TENON_BENCH_MEASURE_H

#include <stdbool.h>
#include <stdint.h>

enum { MEASURE_ROUNDS = 2000 };

typedef struct contender {
    const char *name;
    /* Does it once and says how long it took, and how many kernels it started; false when it failed. */
    bool (*once)(void *what, double *ms, uint64_t *launches);
    void *what;
    double ms[MEASURE_ROUNDS]; /* sorted afterwards */
    int rounds;
    uint64_t launches; /* of one repetition, the most */
    double best;       /* so far, and in which round: */
    int settled;
} contender;

typedef struct pace {
    double seconds; /* for each contender */
    int repeat;     /* rounds; 0: as many as the time allows, and more while minima still fall */
} pace;

/* False when one failed. */
bool measure(contender *const *list, int count, const pace *p);
double contender_min(const contender *c);
double contender_median(const contender *c);

/* Milliseconds of a clock that only goes forward. */
double measure_now(void);

#endif
