/* Phase lists (tables/phases.def), for what is made of them. */
#ifndef TN__PHASES_H
#define TN__PHASES_H

#include "core/tensor.h"

enum {
#define PHASES(name, ...) TN__LIST_##name,
#include "tables/phases.def"
#undef PHASES
    TN__LISTS
};

/* Records a list along an axis (0 … ndim - 1) of x and y, of the same float dtype and shape. y: NULL where the list has one row;
 * number: its P, 0 where it has none. *out[0], *out[1]: handles of the results, as tn__record_results gives them. */
tn_status tn__phases_results(int list, tn_tensor *x, tn_tensor *y, double number, int axis, tn_tensor **const *out);
/* The first result. */
tn_tensor *tn__phases(int list, tn_tensor *x, tn_tensor *y, double number, int axis) TN_MUST_USE;

/* Where reductions would do as well: do the row's elements lie side by side, and are there enough rows to share out, or few elements? */
bool tn__phases_pay(const tn_tensor *x, int axis);

#endif
