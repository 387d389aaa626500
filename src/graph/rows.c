/* The table of rows. */
#include "graph/rows.h"
#include "graph/gradients.h"
#include <string.h>

#define PROMOTE TN__PROMOTE
#define REAL TN__REAL
#define CHOOSE TN__CHOOSE
#define SAME TN__SAME
#define BOOL TN__TO_BOOL
#define CONT false
#define STEP true
#define TEXT(t) (sizeof #t == 3 && #t[0] == 'N' && #t[1] == 'O' ? NULL : #t)

const tn__row tn__rows[TN__ROWS] = {
#define EW(name, arity, inputs, result, f, i, b, gradient, saves, low, high, ulp, shape) \
    [TN__ROW_##name] = {#name, arity, inputs, result, {TEXT(f), TEXT(i), TEXT(b)}, {#name, tn__grad_##gradient, TN__SAVES_##saves, 0}, low, high, ulp, shape},
#include "tables/elementwise.def"
#undef EW
};

const tn__row *tn__row_find(const char *name)
{
    for (int i = 0; i < TN__ROWS; i++)
        if (strcmp(tn__rows[i].name, name) == 0) return &tn__rows[i];
    return NULL;
}
