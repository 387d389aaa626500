/* The clock of progress lines, for the tests. */
#ifndef TN__PROGRESS_H
#define TN__PROGRESS_H

#include <tenon/progress.h>

extern double (*tn__progress_clock)(void); /* seconds; tn__seconds */

#endif
