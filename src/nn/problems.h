/* Everything that is wrong with what is loaded, in one error. */
#ifndef TN__PROBLEMS_H
#define TN__PROBLEMS_H

#include "base/text.h"

typedef struct tn__problems {
    tn__text text;
    int count;
} tn__problems;

/* Adds one, a part of a sentence. */
void tn__problem(tn__problems *problems, const char *format, ...) TN__PRINTF(2, 3);
/* The status so far, unless it is OK and there are problems: then an ARGUMENT error that lists them. Frees the list. */
tn_status tn__problems_end(tn__problems *problems, const char *function, tn_status status);

#endif
