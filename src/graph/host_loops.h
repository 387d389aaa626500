/* The rows as loops over blocks in one compute type; included by host_rows.c once per type (see scalar_c.h), and once more
 * for bool with TEXT choosing the third text. Defines rows_<S>[]. */
#include "graph/scalar_functions.h"

#define NO K(0) /* never called: the table forbids the dtype */
#define EW(name, arity, inputs, result, f, i, b, ...)                              \
    static void JOIN(row_##name, S)(int n, const T *a_, const T *b_, const T *c_, T *r_, const double *limit) \
    {                                                                              \
        (void)limit;                                                               \
        for (int j = 0; j < n; j++) {                                              \
            const T A = a_[j], B = b_[j], C = c_[j];                               \
            (void)A, (void)B, (void)C;                                             \
            r_[j] = TEXT(f, i, b);                                                 \
        }                                                                          \
    }
#include "tables/elementwise.def"
#undef EW

static void (*const JOIN(rows, S)[])(int, const T *, const T *, const T *, T *, const double *) = {
#define EW(name, ...) JOIN(row_##name, S),
#include "tables/elementwise.def"
#undef EW
};
#undef NO
