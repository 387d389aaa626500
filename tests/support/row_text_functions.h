/* The rows' text as functions of one element in one compute type: texts_<S>[]. Included by row_texts.c once per type. */
#include "graph/scalar_functions.h"

#define NO K(0) /* never called: the table forbids the dtype */
#define EW(name, arity, inputs, result, f, i, b, ...)                 \
    static T JOIN(text_##name, S)(T A, T B, T C, const double *limit) \
    {                                                                 \
        (void)A, (void)B, (void)C, (void)limit;                       \
        return TEXT(f, i, b);                                         \
    }
#include "tables/elementwise.def"
#undef EW

static T (*const JOIN(texts, S)[])(T, T, T, const double *) = {
#define EW(name, ...) JOIN(text_##name, S),
#include "tables/elementwise.def"
#undef EW
};
#undef NO
