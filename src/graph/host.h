/* What the host functions of operations share: walking a domain, loading and storing blocks. */
#ifndef TN__GRAPH_HOST_H
#define TN__GRAPH_HOST_H

#include "graph/node.h"

#define TN__BLOCK 256

/* Address of the bytes of an operand's value; the number itself for an immediate. */
const void *tn__host_bytes(const tn__operand *in);
/* n elements from place `at` (elements), `stride` apart, converted to the dtype's compute type. */
void tn__host_load(tn_dtype dtype, const void *bytes, int64_t at, int64_t stride, int n, void *out);
/* Rounds n compute-type values to dtype and stores them densely from place `at`. */
void tn__host_store(tn_dtype dtype, void *bytes, int64_t at, int n, const void *values);
/* An operand's block in its compute type; numbers are repeated. */
void tn__host_operand(const tn__operand *in, int64_t at, int64_t stride, int n, void *out);

/* A row over n elements in the compute type of dtype. */
void tn__host_apply(int row, tn_dtype dtype, int n, const void *const *in, void *out);

/* Calls visit for runs along the last of `axes` axes: place[] holds each operand's element at the run's start, linear the
 * point's row-major number; at most TN__BLOCK points a call. */
typedef tn_status (*tn__host_visit)(const tn__node *node, int64_t linear, const int64_t *place, int n, void *user);
tn_status tn__host_walk(const tn__node *node, int axes, tn__host_visit visit, void *user);

#endif
