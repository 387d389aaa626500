/* The longer scalar functions (tables/functions.def) in C for one compute type; what scalar_c.h asks for must be defined. */
#include "graph/scalar_c.h"

#define FN(name, kind, arity, ...) FN_##kind(name, arity, __VA_ARGS__)
#define FN_ANY(name, arity, ...)                     \
    static inline T FUNCTION(name) ARGUMENTS_##arity \
    {                                                \
        __VA_ARGS__                                  \
    }
#if IS_FLOAT
#define FN_FLOAT FN_ANY
#define FN_INTEGER(...)
#else
#define FN_FLOAT(...)
#define FN_INTEGER FN_ANY
#endif
#include "tables/functions.def"
#undef FN
#undef FN_ANY
#undef FN_FLOAT
#undef FN_INTEGER
