/* What is printed: a table, or a JSON object a line. */
#ifndef TENON_BENCH_REPORT_H
#define TENON_BENCH_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "works.h"

enum { COPY_KERNEL, COPY_DRIVER, COPY_MEMCPY, COPIES };

typedef struct result {
    const work *work;
    const char *device;
    tn_shape shape;
    double min_ms, median_ms;
    int rounds;
    uint64_t launches;
    /* Beside a work of memory speed: gigabytes per second of the copies, at their best and at their median; 0 for one
     * that was not measured. */
    bool beside_copies;
    double copies[COPIES], copies_median[COPIES];
} result;

enum { REPORT_TEXT = 128 };
/* "[4, 5]", in text. */
const char *report_shape(const tn_shape *shape, char text[REPORT_TEXT]);

void report_list(void);
void report_heading(void);
void report_row(const result *r);
void report_json(const result *r);

#endif
