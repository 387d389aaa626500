/* Progress of something long, such as a training: one line with bar, loss, rate and time left that a terminal shows in its place; in
 * a file or pipe a plain line every few seconds. The library prints nothing by itself: the caller gives the file.
 *
 *     tn_progress *p = tn_progress_begin(stderr, epochs * tn_loader_samples(loader), NULL);
 *     … tn_progress_update(p, done, &loss);
 *     tn_progress_end(p);
 *
 * What takes less than two seconds leaves no trace. Colours are left out where the environment has NO_COLOR (no-color.org). */
#ifndef TENON_PROGRESS_H
#define TENON_PROGRESS_H

#include <stdio.h>
#include <tenon/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tn_progress tn_progress;

typedef struct tn_progress_options {
    const char *label; /* in front of the line; NULL: nothing */
    const char *unit;  /* what is counted; NULL: "samples" */
    int64_t done;      /* of total, by a run that this one resumes: does not count for the rate */
    bool always;       /* also in the first two seconds */
} tn_progress_options;

/** total 0: not known. options may be NULL. error  ARGUMENT (no file; total or done below 0), MEMORY: NULL, which the others take
 *  and do nothing */
TN_API tn_progress *tn_progress_begin(FILE *file, int64_t total, const tn_progress_options *options) TN_MUST_USE;
/** So many are done by now. loss NULL: as before. Writes a few times a second at most, and may be called as often as one likes. */
TN_API void tn_progress_update(tn_progress *progress, int64_t done, const double *loss);
/** Writes the last line, with the time it took, if there was any; frees progress. */
TN_API void tn_progress_end(tn_progress *progress);

#ifdef __cplusplus
}
#endif
#endif
