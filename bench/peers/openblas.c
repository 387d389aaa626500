/* OpenBLAS' part of scripts/bench-peers; the protocol is in worker.h. OPENBLAS_NUM_THREADS says how many threads it takes. */
#include <cblas.h>
#include <stdlib.h>
#include <string.h>

#include "worker.h"

typedef struct operation {
    const char *name;
    CBLAS_TRANSPOSE a, b;
} operation;

static const operation operations[] = {
    {"matmul", CblasNoTrans, CblasNoTrans},
    {"matmul_nt", CblasNoTrans, CblasTrans},
    {"matmul_tn", CblasTrans, CblasNoTrans},
    {"matmul_tt", CblasTrans, CblasTrans},
};

static const operation *current;
static bool wide; /* f64 */
static int m, n, k;
static void *a, *b, *c;

/* The input's values, in the work's dtype. */
static void *copy(const worker_input *in)
{
    void *values = malloc(in->count * (wide ? sizeof(double) : sizeof(float)));
    if (values && wide)
        for (size_t i = 0; i < in->count; i++) ((double *)values)[i] = (double)in->values[i];
    else if (values)
        memcpy(values, in->values, in->count * sizeof(float));
    return values;
}

static const char *prepare(const worker_request *r)
{
    current = worker_find(operations, sizeof operations / sizeof *operations, sizeof *operations, r->operation);
    wide = strcmp(r->dtype, "f64") == 0;
    if (!current || r->count != 2 || r->input[0].ndim != 2) return "OpenBLAS has no such operation";
    if (!wide && strcmp(r->dtype, "f32") != 0) return "OpenBLAS has no such dtype";
    const long *const left = r->input[0].dim, *const right = r->input[1].dim;
    m = (int)left[current->a == CblasTrans];
    k = (int)left[current->a == CblasNoTrans];
    n = (int)right[current->b == CblasNoTrans];
    free(a);
    free(b);
    free(c);
    a = copy(&r->input[0]);
    b = copy(&r->input[1]);
    c = calloc((size_t)m * (size_t)n, wide ? sizeof(double) : sizeof(float));
    return a && b && c ? NULL : "no memory";
}

static bool run(void)
{
    const int lda = current->a == CblasTrans ? m : k, ldb = current->b == CblasTrans ? k : n;
    if (wide)
        cblas_dgemm(CblasRowMajor, current->a, current->b, m, n, k, 1, a, lda, b, ldb, 0, c, n);
    else
        cblas_sgemm(CblasRowMajor, current->a, current->b, m, n, k, 1, a, lda, b, ldb, 0, c, n);
    return true;
}

static const void *result(size_t *bytes)
{
    *bytes = (size_t)m * (size_t)n * (wide ? sizeof(double) : sizeof(float));
    return run() ? c : NULL;
}

int main(void)
{
    const worker_peer peer = {prepare, run, NULL, result, NULL};
    return worker_serve(&peer);
}
