/* The scans as loops over a line in C, for elements E that are computed in T (S, MATH, IS_FLOAT as in graph/scalar_c.h). */
#include "graph/scalar_functions.h"

#if IS_FLOAT
#define TEXT(f, i) f
#else
#define TEXT(f, i) i
#endif
#define NO K(0) /* never called: the row takes no such operands */
#define SCAN(name, result, init_f, init_i, combine_f, combine_i, ...)     \
    static void JOIN(scan_##name, S)(int64_t n, void *line)                \
    {                                                                      \
        E *x = line;                                                       \
        T A = TEXT(init_f, init_i);                                        \
        for (int64_t i = 0; i < n; i++) {                                  \
            const T B = x[i];                                              \
            (void)B;                                                       \
            A = TEXT(combine_f, combine_i);                                \
            x[i] = (E)A;                                                   \
        }                                                                  \
    }
#include "tables/scans.def"
#undef SCAN
#undef NO
#undef TEXT
