/* What operations along one axis have in common: the axis's place in the domain (node->a.along.axis), and lines on host. Where the
 * axis is not among those kept, it is the last, and the result has one value for each line. */
#ifndef TN__ALONG_H
#define TN__ALONG_H

#include "graph/plan.h"

/* Of tn__op: the axis's place once the node's axes are in memory order; the axis last in the domain, alone in its group. */
void tn__along_reordered(tn__node *node, const int *order);
void tn__along_arrange(tn__plan *plan);

/* Host: takes each line in its compute type through `body`, in place, and stores it: that of operand 0 and, behind it, at multiples
 * of 8 bytes, those of others that are no numbers. A second result is the second line, or the n i64 that body leaves at `work`.
 * work: bytes more for each element, for body. */
typedef void tn__along_body(const tn__node *node, int64_t n, void *line, void *work);
tn_status tn__along_host(const tn__node *node, void *const *out, tn__along_body *body, size_t work);

/* Recorded: operand x, already in the dtype computed in. A second result is i64; out as tn__record_results has it. */
tn_status tn__along_record_results(tn__node *node, tn_tensor *x, int axis, tn_tensor **const *out);
tn_tensor *tn__along_record(tn__node *node, tn_tensor *x, int axis);

/* Calls `function` for a tensor without axes, over axis 0 or -1, on a line of one element, as PyTorch has it. False: x is not
 * such a tensor. */
typedef tn_tensor *tn__along_function(const void *row, tn_tensor *x, int axis);
bool tn__along_single(tn__along_function *function, const void *row, tn_tensor *x, int axis, tn_tensor **y);

#endif
