/* Schedules: the plans of a run, kept for the next one whose expressions have the same structure: the same operations, dtypes,
 * shapes, strides, shared operands and wanted results, whatever the numbers and, as a rule, where operands begin. A loop plans and
 * generates nothing from its second step on. They are kept by the device's graph and used under its run lock. */
#ifndef TN__SCHEDULE_H
#define TN__SCHEDULE_H

#include "base/map.h"
#include "graph/pending.h"
#include "graph/plan.h"

typedef struct tn__schedule tn__schedule;

/* A value that has its bytes when the run begins, and where the first operand on it does. */
typedef struct tn__given {
    tn__value *value;
    int64_t offset;
} tn__given;

/* One of the different numbers among operands; place 0: none. */
typedef struct tn__met {
    tn__number number;
    int place;
} tn__met;

/* The structure of what is pending. */
typedef struct tn__outline {
    tn__text key;
    tn__given *given;
    int given_count;
    tn__met *numbers; /* a hash table */
    size_t numbers_mask;
    int numbers_count;
    bool failed;
} tn__outline;

/* Draws the outline; the schedule it has, if there is one that fits, with everything filled in that does not need outputs' bytes. */
tn__schedule *tn__schedule_find(const tn__pending *pending, tn__outline *outline);
tn__plan *tn__schedule_plans(const tn__schedule *schedule);
/* The outputs have their bytes: the rest. */
tn_status tn__schedule_prepare(tn__schedule *schedule);
/* Keeps plans that are about to run the first time; NULL, and they are the caller's to free, when that is not possible. */
tn__schedule *tn__schedule_keep(const tn__pending *pending, tn__outline *outline, tn__plan *first);
/* After the run: lets go of what belonged to it. */
void tn__schedule_rest(tn__schedule *schedule);
void tn__outline_free(tn__outline *outline);

void tn__schedules_free(tn__map *schedules);

#endif
