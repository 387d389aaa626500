/* Small dense solvers in blocks: factors of square matrices, and substitution with them (kernels/blocked.cl).
 *
 * A node's domain: the batch's axes, the rows n, the columns of the result, the columns of the factor. */
#ifndef TN__BLOCKED_H
#define TN__BLOCKED_H

#include "graph/plan.h"

/* What a node computes: node->a.blocked.form. Factors first, then substitutions. */
enum {
    TN__CHOLESKY,   /* the lower factor; the operand's lower half counts */
    TN__LU,         /* [n, n + 2]: both factors, where rows came from, -1 or 1 for each exchange of rows */
    TN__LOWER,      /* solution of a lower triangular system */
    TN__LOWER_UNIT, /* with ones on the diagonal */
    TN__LOWER_LU    /* with ones on the diagonal of an LU, the right side in its order of rows */
};

/* ---- for the descriptors ---- */

void tn__blocked_arrange(tn__plan *plan);
tn_status tn__blocked_generate(tn__plan *plan);
tn_status tn__blocked_launch(tn__plan *plan);
tn_status tn__factor_host(const tn__node *node, void *const *out);
double tn__factor_cost(const tn__node *node);
tn_status tn__substitute_host(const tn__node *node, void *const *out);
double tn__substitute_cost(const tn__node *node);
bool tn__substitute_open(const tn__node *node, int operand);

#define TN__BLOCKED .arrange = tn__blocked_arrange, .generate = tn__blocked_generate, .launch = tn__blocked_launch
#define TN__FACTOR TN__BLOCKED, .host = tn__factor_host, .cost = tn__factor_cost
#define TN__SUBSTITUTE TN__BLOCKED, .host = tn__substitute_host, .cost = tn__substitute_cost, .open = tn__substitute_open

/* ---- recording ---- */

/* OK for f32 and f64 of [..., n, n], else the error. */
tn_status tn__square_check(const char *function, const char *argument, const tn_tensor *x);
/* Checks a [..., n, n] and b [..., n, k] and brings them to one device and dtype; what that makes belongs to the caller's scope. */
tn_status tn__system_check(const char *function, tn_tensor **a, tn_tensor **b);
/* A factor of x; fault: the report of a pivot that fails (device/fault.h), TN__FAULT_NONE: an LU takes any. */
tn_tensor *tn__factorize(const tn__op *op, int form, int fault, tn_tensor *x);
/* X of A X = B; a [..., n, n], or what TN__LU left of it; b [..., n, k]; batches broadcast. */
tn_tensor *tn__substitute(const tn__op *op, int form, tn_tensor *a, tn_tensor *b);
tn__node *tn__blocked_node(const tn__op *op, int form, int inputs, const tn_shape *batch, int64_t n, int64_t columns,
                           int64_t inner);
/* Operand i: x's rows along the rows, its columns along axis `columns` behind the batch's. */
void tn__blocked_operand(tn__node *node, int i, tn_tensor *x, int columns);

/* ---- gradients ---- */

typedef void tn__gradient_function(const tn__backward *back);
tn__gradient_function tn__grad_cholesky, tn__grad_lower, tn__grad_lower_unit, tn__grad_det, tn__grad_slogdet, tn__grad_inv,
    tn__grad_solve;

/* ---- host ---- */

/* Element `at` of an operand or a result of f32 or f64. */
static inline double tn__real_at(tn_dtype dtype, const void *bytes, int64_t at)
{
    return dtype == TN_F64 ? ((const double *)bytes)[at] : (double)((const float *)bytes)[at];
}
static inline void tn__real_put(tn_dtype dtype, void *bytes, int64_t at, double v)
{
    if (dtype == TN_F64)
        ((double *)bytes)[at] = v;
    else
        ((float *)bytes)[at] = (float)v;
}

#endif
