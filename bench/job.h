/* One work on one device, ready to run. */
#ifndef TENON_BENCH_JOB_H
#define TENON_BENCH_JOB_H

#include "measure.h"
#include "works.h"

typedef struct job {
    const work *work;
    const char *device;
    tn_shape shape;
    tn_tensor *inputs[WORK_INPUTS];
    contender c;
    bool asked_for;
} job;

/* Which it is; j stays where it is. */
void job_choose(job *j, const work *w, const char *device, bool quick);
/* Makes its inputs; they belong to the thread's scope. */
bool job_prepare(job *j);

#endif
