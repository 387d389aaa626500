/* Runs this program again with other arguments, and survives whatever happens to it. */
#ifndef TENON_CHILD_H
#define TENON_CHILD_H

#include <stdbool.h>

typedef struct child_result {
    char *output;      /* all of its standard output, to be freed; NULL when there is none */
    bool finished;     /* it ended by itself with status 0 */
    char reason[128];  /* else what happened */
} child_result;

void child_run(const char *const *arguments, int seconds, child_result *result);
/* Seconds of a clock that never goes back. */
double now(void);

#endif
