/* The phase lists as loops over a row in C, for one compute type (T, S, MATH as in graph/scalar_c.h). */
#include "graph/scalar_c.h"

#define FN(name, kind, arity, ...) FN_##kind(name, arity, __VA_ARGS__)
#define FN_ANY(name, arity, ...)                    \
    static inline T FUNCTION(name) ARGUMENTS_##arity \
    {                                               \
        __VA_ARGS__                                 \
    }
#define FN_FLOAT FN_ANY
#define FN_INTEGER(...)
#include "tables/functions.def"
#undef FN
#undef FN_ANY
#undef FN_FLOAT
#undef FN_INTEGER

/* Reductions of a row: sums in long double, as every sum of host. */
static inline T JOIN(reduce_max, S)(int64_t n, const T *x)
{
    T best = x[0];
    for (int64_t i = 1; i < n; i++) best = MAXN(best, x[i]);
    return best;
}
static inline T JOIN(reduce_sum, S)(int64_t n, const T *x)
{
    long double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += x[i];
    return (T)sum;
}

#define R0 r[0]
#define R1 r[1]
#define R2 r[2]
#define N ((T)n)
#define MAP(text)                                        \
    for (int64_t i = 0; i < n; i++) {                    \
        const T X = x[i];                                \
        x[i] = text;                                     \
    }
#define REDUCE(row, text)                                \
    for (int64_t i = 0; i < n; i++) {                    \
        const T X = x[i];                                \
        t[i] = text;                                     \
    }                                                    \
    r[k++] = JOIN(reduce_##row, S)(n, t);
/* x: the row; t: as many elements to work in */
#define PHASES(name, list)                                              \
    static void JOIN(host_##name, S)(int64_t n, void *row, void *work)  \
    {                                                                   \
        T *x = row, *t = work, r[3];                                    \
        int k = 0;                                                      \
        list                                                            \
    }
#include "tables/phases.def"
#undef PHASES
#undef REDUCE
#undef MAP
#undef N
#undef R0
#undef R1
#undef R2
