/* The operations every layer above needs: a row, and a cast (a copy when the dtype stays). */
#ifndef TN__ROWS_H
#define TN__ROWS_H

#include "graph/node.h"

extern const tn__op tn__op_row, tn__op_cast;

/* Row by name; NULL when there is none. */
const tn__row *tn__row_find(const char *name);

#endif
