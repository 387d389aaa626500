/* Includes the file LOOPS once for each integer compute type, with what graph/scalar_c.h asks for. */
#define IS_FLOAT 0
#define T int32_t
#define U uint32_t
#define S i
#define LOWEST_VALUE INT32_MIN
#include LOOPS
#undef T
#undef S
#undef LOWEST_VALUE
#define T uint32_t
#define S u
#define LOWEST_VALUE 0
#include LOOPS
#undef T
#undef U
#undef S
#undef LOWEST_VALUE
#define T int64_t
#define U uint64_t
#define S l
#define LOWEST_VALUE INT64_MIN
#include LOOPS
#undef T
#undef S
#undef LOWEST_VALUE
#define T uint64_t
#define S m
#define LOWEST_VALUE 0
#include LOOPS
#undef T
#undef U
#undef S
#undef LOWEST_VALUE
#undef IS_FLOAT
