/* The phase lists as loops over rows in C, for one compute type (T, S, MATH as in graph/scalar_c.h). */
#include "ops/reduce_loops.h"

#define R0 r[0]
#define R1 r[1]
#define R2 r[2]
#define R3 r[3]
#define R4 r[4]
#define R5 r[5]
#define R6 r[6]
#define R7 r[7]
#define N ((T)n)
#define EACH(place, text)                                \
    for (int64_t i = 0; i < n; i++) {                    \
        const T X = x[i], Y = y[i];                      \
        (void)X, (void)Y;                                \
        place = text;                                    \
    }
#define MAP(text) EACH(x[i], text)
#define MAP_Y(text) EACH(y[i], text)
#define REDUCE(row, text)                                \
    EACH(t[i], text)                                     \
    JOIN(start_##row, S)(&a);                            \
    JOIN(run_##row, S)(&a, n, t, 0);                     \
    r[k++] = JOIN(value_##row, S)(&a);
#define ALSO REDUCE
#define LET(text) r[k] = text; k++;
#define GIVEN const T P = (T)number;
#define VALUE(text) x[0] = text;
/* x, y: the rows (y: x again where the list has one); t: as many elements to work in */
#define PHASES(name, list, ...)                                                             \
    static void JOIN(host_##name, S)(int64_t n, double number, void *row, void *second, void *work) \
    {                                                                                       \
        T *x = row, *y = second, *t = work, r[MOST_PHASES];                                 \
        tn__accumulated a;                                                                  \
        int k = 0;                                                                          \
        (void)number;                                                                       \
        list                                                                                \
    }
#include "tables/phases.def"
#undef PHASES
#undef VALUE
#undef GIVEN
#undef LET
#undef ALSO
#undef REDUCE
#undef MAP_Y
#undef MAP
#undef EACH
#undef N
#undef R0
#undef R1
#undef R2
#undef R3
#undef R4
#undef R5
#undef R6
#undef R7
