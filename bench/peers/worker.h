/* What the C programs of scripts/bench-peers share: each answers, a line for a line, what compare.py asks.
 *
 *   prepare OPERATION DTYPE SHAPES FILE   ready, or: cannot WHY     shapes as 8x1024,1024x1024; FILE holds floats for the inputs
 *   run N                                 LAUNCHES MS MS …          kernels started by one run, and the time of each of N
 *   result FILE                           ready                     runs once more and writes what came out: f64 if DTYPE is, else f32 */
#ifndef TENON_BENCH_WORKER_H
#define TENON_BENCH_WORKER_H

#include <stdbool.h>
#include <stddef.h>

enum { WORKER_INPUTS = 4, WORKER_AXES = 4 };

typedef struct worker_input {
    int ndim;
    long dim[WORKER_AXES];
    size_t count;
    const float *values; /* row-major */
} worker_input;

typedef struct worker_request {
    char operation[32], dtype[8];
    int count;
    worker_input input[WORKER_INPUTS];
} worker_request;

typedef struct worker_peer {
    /* Replaces what was prepared before. NULL, or why it cannot be. */
    const char *(*prepare)(const worker_request *request);
    /* Does it once, to its end. */
    bool (*run)(void);
    /* What has to come after a run and is not timed; may be NULL. */
    bool (*settle)(void);
    /* Does it once and gives what came out, of the type that the protocol says, until the next call. NULL when it failed. */
    const void *(*result)(size_t *bytes);
    unsigned long long (*launches)(void); /* so far; NULL where nobody counts */
} worker_peer;

/* Serves standard input to its end; the exit status. */
int worker_serve(const worker_peer *peer);

/* The row of a table whose elements begin with their name; NULL when there is none. */
const void *worker_find(const void *table, size_t rows, size_t row_bytes, const char *name);

#endif
