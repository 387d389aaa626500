/* A look at what operations tell of themselves (core/derive.h), and derivatives called by hand. */
#ifndef DERIVE_TEST_H
#define DERIVE_TEST_H

#include "ops/gradient.h"

/* The last operation that was told, since derive_watch. */
typedef struct derive_seen {
    int count, operands;
    const tn__derivative *derivative;
    tn_tensor *operand[3], *out;
} derive_seen;
extern derive_seen seen;
void derive_watch(void);
void derive_watch_end(void);

/* The gradients of a row's operands. out and up are its result's; g[i] is the caller's, NULL where none flows. */
tn_status row_gradient(const tn__row *row, tn_tensor *const *operands, tn_tensor *out, tn_tensor *up, tn_tensor **g);

#endif
