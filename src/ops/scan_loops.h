/* The scans as loops over a line in C, for elements E that are computed in T (S, MATH, IS_FLOAT as in graph/scalar_c.h). */
#include "graph/scalar_c.h"

#define FN(name, kind, ...) FN_##kind(name, __VA_ARGS__)
#define FN_ANY(name, ...)                    \
    static inline T FUNCTION(name)(T A, T B) \
    {                                        \
        __VA_ARGS__                          \
    }
#if IS_FLOAT
#define FN_FLOAT FN_ANY
#define FN_INTEGER(name, ...)
#define TEXT(f, i) f
#else
#define FN_FLOAT(name, ...)
#define FN_INTEGER FN_ANY
#define TEXT(f, i) i
#endif
#include "tables/functions.def"

#define NO K(0) /* never called: the row takes no such operands */
#define SCAN(name, result, init_f, init_i, combine_f, combine_i, gradient) \
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
#undef FN
#undef FN_ANY
#undef FN_FLOAT
#undef FN_INTEGER
#undef TEXT
