/* The operations every layer above needs: a row, a cast (a copy when the dtype stays), and a lookup. */
#ifndef TN__ROWS_H
#define TN__ROWS_H

#include "graph/node.h"

extern const tn__op tn__op_row, tn__op_cast, tn__op_lookup;

/* Row by name; NULL when there is none. */
const tn__row *tn__row_find(const char *name);

#endif
