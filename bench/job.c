#include "job.h"

#include <tenon/tenon.h>

/* From recording to the end of the device's work. The output is released afterwards: the next one gets its memory. */
static bool once(void *what, double *ms, uint64_t *launches)
{
    const job *j = what;
    tn_device_info before, after;
    const tn_scope scope = tn_scope_push();
    bool good = tn_device_query(j->device, &before) == TN_OK;
    const double start = measure_now();
    tn_tensor *y = j->work->record(j->inputs);
    good = good && tn_realize(&y, 1) == TN_OK && tn_finish(j->device) == TN_OK;
    *ms = measure_now() - start;
    good = good && tn_device_query(j->device, &after) == TN_OK;
    *launches = good ? after.launches - before.launches : 0;
    return tn_scope_pop(scope) == TN_OK && good;
}

void job_choose(job *j, const work *w, const char *device, bool quick)
{
    *j = (job){.work = w, .device = device, .shape = quick ? w->quick : w->shape};
    j->c.name = w->name;
    j->c.once = once;
    j->c.what = j;
}

bool job_prepare(job *j)
{
    for (int i = 0; i < j->work->inputs; i++) j->inputs[i] = tn_rand(j->work->dtype, j->shape, j->device);
    return tn_realize(j->inputs, j->work->inputs) == TN_OK && tn_finish(j->device) == TN_OK;
}
