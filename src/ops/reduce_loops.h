/* The reductions in C, for one compute type (T, S, IS_FLOAT … as in graph/scalar_c.h); sums and products of floats accumulate
 * in long double. Defines for every row of tables/reductions.def
 *   start_<row>_<S>(a)          the init
 *   run_<row>_<S>(a, n, x, at)  takes n more elements; the first is number `at` of those that go into this result
 *   value_<row>_<S>(a)          the result, in T
 * on a tn__accumulated. */
#include "graph/scalar_functions.h"

#if IS_FLOAT
#define TEXT(f, i) f
#define MEMBER_SUM x
#define TYPE_SUM long double
#else
#define TEXT(f, i) i
#define MEMBER_SUM S
#define TYPE_SUM T
#endif
#define NO K(0) /* never called: the row takes no such operands */
#define TAKE(combine) A = combine
#define TAKE_SUM TAKE
#define TAKE_SAME TAKE
#define TAKE_TRUTH TAKE
#define TAKE_INDEX(combine) \
    if ((combine) != K(0)) A = B, a->at = at + j
#define TYPE_SAME T
#define TYPE_TRUTH T
#define TYPE_INDEX T
#define MEMBER_SAME S
#define MEMBER_TRUTH S
#define MEMBER_INDEX S
#define OF_(member) a->as.member
#define OF(member) OF_(member)
#define RED(name, result, init_f, init_i, combine_f, combine_i, ...)                                         \
    static inline void JOIN(start_##name, S)(tn__accumulated * a)                                            \
    {                                                                                                        \
        OF(MEMBER_##result) = TEXT(init_f, init_i);                                                          \
        a->at = 0;                                                                                           \
    }                                                                                                        \
    static inline void JOIN(run_##name, S)(tn__accumulated * a, int64_t n, const void *elements, int64_t at) \
    {                                                                                                        \
        const T *x = elements;                                                                               \
        TYPE_##result A = OF(MEMBER_##result);                                                               \
        for (int64_t j = 0; j < n; j++) {                                                                    \
            const T B = x[j];                                                                                \
            (void)B;                                                                                         \
            TAKE_##result(TEXT(combine_f, combine_i));                                                       \
        }                                                                                                    \
        OF(MEMBER_##result) = A;                                                                             \
        (void)at;                                                                                            \
    }                                                                                                        \
    static inline T JOIN(value_##name, S)(const tn__accumulated *a)                                          \
    {                                                                                                        \
        return (T)OF(MEMBER_##result);                                                                       \
    }
#include "tables/reductions.def"
#undef RED
#undef TEXT
#undef NO
#undef TAKE
#undef TAKE_SUM
#undef TAKE_SAME
#undef TAKE_TRUTH
#undef TAKE_INDEX
#undef TYPE_SUM
#undef TYPE_SAME
#undef TYPE_TRUTH
#undef TYPE_INDEX
#undef MEMBER_SUM
#undef MEMBER_SAME
#undef MEMBER_TRUTH
#undef MEMBER_INDEX
#undef OF_
#undef OF
