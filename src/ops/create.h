/* Shared by creation and movement. */
#ifndef TN__CREATE_H
#define TN__CREATE_H

#include "core/tensor.h"

typedef tn_tensor *tn__comparison(tn_tensor *, tn_tensor *);

/* bool [rows, columns]: whether the column compares so with the row + offset (tn_eq: the diagonal). */
tn_tensor *tn__diagonal_mask(tn__comparison *compare, int64_t rows, int64_t columns, int64_t offset, const char *device);

/* i64: 0, step, … count numbers along an axis of so many; the other axes have extent 1. */
tn_tensor *tn__steps_along(int64_t count, int64_t step, int axis, int ndim, const char *device);

/* i32: 0, 1, … count - 1, which no memory holds: part of the expression that reads them. */
tn_tensor *tn__numbers(int64_t count, const char *device);

#endif
