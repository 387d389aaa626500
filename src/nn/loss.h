/* What the losses share: all are compositions of public operations, computed in f32 or wider and rounded once. */
#ifndef TN__LOSS_H
#define TN__LOSS_H

#include "graph/node.h"
#include "ops/compose.h"
#include <tenon/loss.h>

enum { TN__LOSS_OPERANDS = 4 };

/* What a loss takes: operands, of which the first `needed` have to be there, and the first `floats` have to be floats and give the
 * result its dtype. */
typedef struct tn__loss_form {
    const char *name, *words[TN__LOSS_OPERANDS];
    int count, needed, floats;
} tn__loss_form;

/* A loss at work. */
typedef struct tn__loss {
    const char *name;
    tn_tensor *x[TN__LOSS_OPERANDS]; /* on one device, in what is computed in; absent: TN_NONE */
    tn_reduction reduction;
    tn_dtype dtype; /* of the result */
    tn_scope scope;
    bool started; /* the scope is open */
} tn__loss;

/* Checks and takes the operands, in a scope that one of the two functions below ends, also after a failure. */
tn_status tn__loss_start(tn__loss *loss, const tn__loss_form *form, tn_tensor *const *operands, tn_reduction reduction);
/* OK when x and target have one shape, or with broadcast when they broadcast, which the log tells. */
tn_status tn__loss_shapes(const tn__loss *loss, bool broadcast);
/* Reduces the elements' losses, and ends; y NULL: ends with an error. */
tn_tensor *tn__loss_reduce(tn__loss *loss, tn_tensor *y);
/* Ends without reducing. */
tn_tensor *tn__loss_end(tn__loss *loss, tn_tensor *y);

#endif
