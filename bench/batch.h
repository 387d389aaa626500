/* Works that are measured in one loop, and their results. */
#ifndef TENON_BENCH_BATCH_H
#define TENON_BENCH_BATCH_H

#include <stdbool.h>

#include "works.h"

enum { BATCH_MOST = 16 };

typedef struct conditions {
    const char *device; /* canonical */
    bool quick, json;
    int repeat; /* 0: as many as the time allows */
} conditions;

/* Measures the works and prints a result for each. Those that memory alone limits (by_copies) may be measured together,
 * beside three copies: by a kernel, by the driver, and by memcpy in host memory. False, with a sentence printed, when
 * one failed. */
bool batch_run(const work *const *works, int count, const conditions *on);

#endif
