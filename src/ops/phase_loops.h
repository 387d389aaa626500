/* The phase lists as loops over a row in C, for one compute type (T, S, MATH as in graph/scalar_c.h). */
#include "ops/reduce_loops.h"

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
    JOIN(start_##row, S)(&a);                            \
    JOIN(run_##row, S)(&a, n, t, 0);                     \
    r[k++] = JOIN(value_##row, S)(&a);
/* x: the row; t: as many elements to work in */
#define PHASES(name, list, ...)                                         \
    static void JOIN(host_##name, S)(int64_t n, void *row, void *work)  \
    {                                                                   \
        T *x = row, *t = work, r[3];                                    \
        tn__accumulated a;                                              \
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
