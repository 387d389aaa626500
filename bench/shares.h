/* How near a work comes to what the device can do, to be compared between versions and machines: a share of the rate at which the
 * driver copies, or of the peak of multiply-adds, whichever limits the work more; both measured in turn with it. */
#ifndef TENON_BENCH_SHARES_H
#define TENON_BENCH_SHARES_H

#include "batch.h"

/* Measures the works five times; the medians go to a file, a JSON object a line, where save is given, and are compared with those of
 * one where baseline is given: 0 when all is well, 1 when a share is more than 20 % below the baseline's or a work failed, 2 when a
 * file cannot be used. */
int shares_run(const work *const *works, int count, const conditions *on, const char *baseline, const char *save);

#endif
