/* Facts about dtypes, from tables/dtypes.def, and promotion. */
#ifndef TN__CORE_DTYPE_H
#define TN__CORE_DTYPE_H

#include <tenon/dtype.h>

typedef enum tn__kind { TN__BOOL, TN__UNSIGNED, TN__SIGNED, TN__FLOAT } tn__kind;

/* What values are computed in. The letters of dtypes.def in this order. */
typedef enum tn__compute { TN__CF, TN__CD, TN__CI, TN__CU, TN__CL, TN__CM, TN__COMPUTES } tn__compute;

/* Of floats: half the distance from 1 to the next number, the smallest above 0, the largest finite one. */
enum { TN__UNIT, TN__LEAST, TN__LARGEST, TN__LIMITS };

typedef struct tn__dtype_facts {
    const char *name;
    int size;
    tn__kind kind;
    tn__compute compute;
    int bits;
    double limit[TN__LIMITS];
} tn__dtype_facts;

extern const tn__dtype_facts tn__dtypes[TN_DTYPE_COUNT];

static inline bool tn__dtype_valid(tn_dtype d)
{
    return (unsigned)d < TN_DTYPE_COUNT;
}
/* The dtype whose storage is the compute type itself. */
extern const tn_dtype tn__compute_dtype[TN__COMPUTES];

/* A single number in a dtype's compute type. */
typedef struct tn__number {
    tn__compute compute;
    union {
        float f;
        double d;
        int32_t i;
        uint32_t u;
        int64_t l;
        uint64_t m;
    };
} tn__number;

/* Value of the element at p. */
tn__number tn__number_load(tn_dtype dtype, const void *p);
/* Converts by the cast rules; rounds to `dtype` when it is not the compute type's own. */
tn__number tn__number_to(tn__number n, tn_dtype dtype);
tn__number tn__number_to_compute(tn__number n, tn__compute compute);
void tn__number_store(tn_dtype dtype, void *p, tn__number n);
/* False when the integer n does not fit dtype. Floats and bool always fit floats; floats do not count here. */
bool tn__number_fits(tn__number n, tn_dtype dtype);
double tn__number_double(tn__number n);

#endif
