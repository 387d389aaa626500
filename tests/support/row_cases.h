/* One elementwise row on operands of one dtype and layout: on the device under test and on host, against the reference. */
#ifndef ROW_CASES_H
#define ROW_CASES_H

#include "graph/node.h"
#include "support/layouts.h"

/* The public function of row r. */
tn_tensor *row_call(int r, tn_tensor *const *operands);
/* The table has it for this dtype. */
bool row_allowed(int r, tn_dtype dtype);

typedef struct row_case {
    int row;
    tn_dtype dtype; /* of the operands; the first of `where` is bool */
    test_layout layout;
    int64_t first; /* values begin with this one of: pairs of edges, then ordinary ones */
    bool guards;   /* also write the result into the middle of a larger tensor */
    bool loose;    /* only run it: the device's values are not looked at */
} row_case;

/* Runs up to ROW_CASES cases, asked for together, and tells what is wrong; the number of faults. Neighbours of one dtype, layout and
 * arity have the same operands, and share kernels. */
enum { ROW_CASES = 64 };
int row_cases_run(const row_case *cases, int count);

/* Elements a layout may have, and the values that casts are tried on. */
enum { CASE_ELEMENTS = 512 };
/* Fills layout_count(layout) elements with numbers that are hard to convert. */
int cast_values(tn_dtype from, test_layout layout, char *out);
/* y is the cast of these values; the number of faults. */
int cast_check(tn_dtype from, test_layout layout, int count, const char *values, tn_tensor *y);

#endif
