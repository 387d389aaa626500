/* Triangular systems by substitution (Golub and Van Loan, Matrix Computations, 3.1). Only the lower triangle has a kernel: an
 * upper one is lower from its other end. */
#include "base/alloc.h"
#include "core/view.h"
#include "graph/host.h"
#include "ops/blocked.h"
#include "ops/compose.h"
#include "ops/gradient.h"

/* ---- host: in f64 ---- */

typedef struct triangle {
    const void *bytes;
    tn_dtype dtype;
    int64_t place, row, column; /* of element (0, 0), and steps */
} triangle;

static double element(const triangle *t, int64_t i, int64_t k)
{
    return tn__real_at(t->dtype, t->bytes, t->place + i * t->row + k * t->column);
}

static void substitute(const tn__node *node, const int64_t *place, double *x)
{
    const int b = node->kept - 2, form = node->a.blocked.form;
    const tn__operand *a = &node->in[0], *right = &node->in[1];
    const int64_t n = node->dim[b], columns = node->dim[b + 1];
    const triangle t = {tn__host_bytes(a), node->dtype, place[0], a->stride[b], a->stride[b + 2]};
    const triangle r = {tn__host_bytes(right), node->dtype, place[1], right->stride[b], right->stride[b + 1]};
    for (int64_t i = 0; i < n; i++) {
        const int64_t from = form == TN__LOWER_LU ? (int64_t)element(&t, i, n) : i;
        double *const row = x + i * columns;
        for (int64_t c = 0; c < columns; c++) row[c] = element(&r, from, c);
        for (int64_t k = 0; k < i; k++) {
            const double factor = element(&t, i, k);
            for (int64_t c = 0; c < columns; c++) row[c] -= factor * x[k * columns + c];
        }
        if (form != TN__LOWER) continue;
        const double pivot = element(&t, i, i);
        for (int64_t c = 0; c < columns; c++) row[c] /= pivot;
    }
}

static tn_status substitute_matrices(const tn__node *node, int64_t linear, const int64_t *place, int count, void *out)
{
    const int b = node->kept - 2;
    const int64_t each = node->dim[b] * node->dim[b + 1];
    double *x = tn__alloc((size_t)each * sizeof *x);
    if (!x) return TN_MEMORY;
    for (int i = 0; i < count; i++) {
        int64_t at[2];
        for (int o = 0; o < 2; o++) at[o] = place[o] + (b ? i * node->in[o].stride[b - 1] : 0);
        substitute(node, at, x);
        for (int64_t k = 0; k < each; k++) tn__real_put(node->dtype, out, (linear + i) * each + k, x[k]);
    }
    tn__free(x);
    return TN_OK;
}

tn_status tn__substitute_host(const tn__node *node, void *const *out)
{
    return tn__host_walk(node, node->kept - 2, substitute_matrices, out[0]);
}

double tn__substitute_cost(const tn__node *node)
{
    return (double)tn__node_count(node) * (double)node->dim[node->kept - 2];
}

/* The triangle is loaded again and again: only casts and a scale go along. */
bool tn__substitute_open(const tn__node *node, int operand)
{
    (void)node;
    return operand == 1;
}

/* ---- recording ---- */

static tn_status check_shapes(const char *function, const tn_tensor *a, const tn_tensor *b)
{
    const char *sa = tn__shape_text(a->ndim, a->dim), *sb = tn__shape_text(b->ndim, b->dim);
    if (b->ndim < 2) return tn__fail(TN_SHAPE, "%s: b %s is no matrix", function, sb);
    const int64_t rows = a->dim[a->ndim - 2], other = b->dim[b->ndim - 2];
    if (rows != other)
        return tn__fail(TN_SHAPE, "%s: a %s and b %s: %lld rows and %lld", function, sa, sb, (long long)rows, (long long)other);
    const tn_shape x = tn_shape_make(a->ndim - 2, a->dim), y = tn_shape_make(b->ndim - 2, b->dim);
    tn_shape batch;
    if (!tn__shape_broadcast(&x, &y, &batch))
        return tn__fail(TN_SHAPE, "%s: a %s and b %s: leading axes do not broadcast", function, sa, sb);
    return TN_OK;
}

tn_status tn__system_check(const char *function, tn_tensor **a, tn_tensor **b)
{
    tn_tensor *operands[2] = {*a, *b}, *moved[2] = {0};
    tn_dtype dtype;
    if (!tn__common_device(function, operands, 2, moved) || !tn__promote_list(operands, 2, &dtype)) return tn_last_status();
    for (int i = 0; i < 2; i++) {
        if (moved[i]) operands[i] = moved[i];
        operands[i] = tn_cast(operands[i], dtype);
        if (!operands[i]) return tn_last_status();
    }
    TN__TRY(tn__square_check(function, "a", operands[0]));
    TN__TRY(check_shapes(function, operands[0], operands[1]));
    *a = operands[0], *b = operands[1];
    return TN_OK;
}

tn_tensor *tn__substitute(const tn__op *op, int form, tn_tensor *a, tn_tensor *b)
{
    const tn_shape x = tn_shape_make(a->ndim - 2, a->dim), y = tn_shape_make(b->ndim - 2, b->dim);
    tn_shape batch;
    (void)tn__shape_broadcast(&x, &y, &batch);
    tn__node *node = tn__blocked_node(op, form, 2, &batch, a->dim[a->ndim - 2], b->dim[b->ndim - 1], a->dim[a->ndim - 1]);
    if (!node) return NULL;
    tn__blocked_operand(node, 0, a, 2);
    tn__blocked_operand(node, 1, b, 1);
    return tn__record(node, tn__tensor_device(a), a->dtype, true);
}

/* ---- triangular solve ---- */

/* X = L⁻¹B: the gradient of B is L⁻ᵀG, that of L the lower half of -L⁻ᵀGXᵀ. */
static void of_lower(tn_tensor *const *in, tn_tensor *out, tn_tensor *up, tn_tensor **g, bool unit)
{
    g[1] = tn_triangular_solve(in[0], up, false, true, unit);
    g[0] = tn_neg(tn_tril(tn_matmul(g[1], tn_transpose(out, -2, -1)), unit ? -1 : 0));
}

GRADIENT(lower)
{
    UNUSED;
    of_lower(in, out, up, g, false);
}

GRADIENT(lower_unit)
{
    UNUSED;
    of_lower(in, out, up, g, true);
}

static const tn__op ops[] = {{.name = "triangular_solve", TN__SUBSTITUTE, .derivative = {"triangular_solve", tn__grad_lower, TN__SAVES_BOTH, 0}},
                             {.name = "triangular_solve", TN__SUBSTITUTE, .derivative = {"triangular_solve", tn__grad_lower_unit, TN__SAVES_BOTH, 0}}};

tn_tensor *tn_triangular_solve(tn_tensor *a, tn_tensor *b, bool upper, bool transpose, bool unitriangular)
{
    const char *const name = ops[0].name;
    if (tn__tensor_check(a, name, "a") != TN_OK || tn__tensor_check(b, name, "b") != TN_OK) return NULL;
    const tn_scope scope = tn_scope_push();
    const bool turned = upper != transpose; /* the triangle is upper once it is transposed */
    if (tn__system_check(name, &a, &b) != TN_OK) return tn__leave(scope, NULL);
    tn_tensor *operands[2] = {transpose ? tn_transpose(a, -2, -1) : a, b}, *y = NULL;
    if (turned) operands[0] = tn_flip(operands[0], TN_AXES(-2, -1)), operands[1] = tn_flip(b, TN_AXES(-2));
    if (operands[0] && operands[1])
        y = tn__substitute(&ops[unitriangular], unitriangular ? TN__LOWER_UNIT : TN__LOWER, operands[0], operands[1]);
    y = tn__recorded(&ops[unitriangular].derivative, NULL, operands, 2, y);
    return tn__leave(scope, turned ? tn_flip(y, TN_AXES(-2)) : y);
}

tn_tensor *tn_cholesky_solve(tn_tensor *b, tn_tensor *factor, bool upper)
{
    if (tn__tensor_check(b, "cholesky_solve", "b") != TN_OK || tn__square_check("cholesky_solve", "factor", factor) != TN_OK)
        return NULL;
    const tn_scope scope = tn_scope_push();
    return tn__leave(scope, tn_triangular_solve(factor, tn_triangular_solve(factor, b, upper, upper, false), upper, !upper, false));
}
