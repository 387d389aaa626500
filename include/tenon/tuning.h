/* Tuning: which kernels take parameters, and the file that holds those found to be the fastest. `tenon tune` writes it; the library
 * finds it by itself (setting "tuning") and takes from it what was measured on the same device with the same driver. It can be
 * shipped: records of other devices do no harm, and several devices share a file. */
#ifndef TENON_TUNING_H
#define TENON_TUNING_H

#include <tenon/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A class of shapes whose kernel takes parameters of its own: here, of matrix products [m,k] x [k,n]. */
typedef struct tn_tuning {
    const char *family; /* of kernels: "matmul_wide" */
    const char *shapes; /* "large" */
    int64_t m, n, k;    /* one of them, for measuring; up to seven less of each belongs to them as well */
} tn_tuning;

/** Class i of those that a device's kernels have, from 0 on; false behind the last, of "host" at once.
 *  error  ARGUMENT, DEVICE (then false as well) */
TN_API bool tn_tuning_at(const char *device, int i, tn_tuning *tuning);
/** Candidate j of a class: its parameters as the file has them, numbers between blanks. The first is what an untuned device uses,
 *  the next are the most like it. False behind the last.
 *  error  ARGUMENT, DEVICE (then false as well) */
TN_API bool tn_tuning_candidate(const char *device, const tn_tuning *tuning, int j, char *parameters, size_t size);
/** Path of the tuning file in force, "" when there is none; valid until the thread's next call. */
TN_API const char *tn_tuning_file(void);
/** Writes a record into a tuning file, in place of the one of the same device, driver, family and shapes; makes the file and its
 *  folder. seconds: what one run took.
 *  error  ARGUMENT, DEVICE, FILE (cannot be written), MEMORY */
TN_API tn_status tn_tuning_write(const char *path, const char *device, const tn_tuning *tuning, const char *parameters, double seconds);

#ifdef __cplusplus
}
#endif
#endif
