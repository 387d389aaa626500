/* Includes the file LOOPS once for f32 and once for f64, with what graph/scalar_c.h asks for. */
#define IS_FLOAT 1
#define T float
#define S f
#define MATH(name) name##f
#include LOOPS
#undef T
#undef S
#undef MATH
#define T double
#define S d
#define MATH(name) name
#include LOOPS
#undef T
#undef S
#undef MATH
#undef IS_FLOAT
