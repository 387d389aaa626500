/* Factors of square matrices: Cholesky's, and LU with partial pivoting (Golub and Van Loan, Matrix Computations, 4.2 and 3.4). */
#include "base/alloc.h"
#include "device/fault.h"
#include "graph/host.h"
#include "ops/blocked.h"
#include "ops/compose.h"
#include "ops/gradient.h"
#include <math.h>

tn_status tn__square_check(const char *function, const char *argument, const tn_tensor *x)
{
    TN__TRY(tn__tensor_check(x, function, argument));
    if (x->ndim < 2 || x->dim[x->ndim - 1] != x->dim[x->ndim - 2])
        return tn__fail(TN_SHAPE, "%s: %s %s is no square matrix", function, argument, tn__shape_text(x->ndim, x->dim));
    if (x->dtype == TN_F32 || x->dtype == TN_F64) return TN_OK;
    return tn__fail(TN_DTYPE, "%s: not for %s; allowed are f32, f64", function, tn_dtype_name(x->dtype));
}

/* ---- host: in f64; a is [n][pitch] ---- */

typedef struct matrix {
    double *a;
    int64_t n, pitch;
} matrix;

/* The first row whose pivot fails, or n. */
static int64_t cholesky(const matrix *m)
{
    const int64_t n = m->n;
    for (int64_t j = 0; j < n; j++) {
        double *const row = m->a + j * n;
        double pivot = row[j];
        for (int64_t k = 0; k < j; k++) pivot -= row[k] * row[k];
        if (!(pivot > 0)) return j;
        row[j] = sqrt(pivot);
        for (int64_t c = j + 1; c < n; c++) row[c] = 0;
        for (int64_t i = j + 1; i < n; i++) {
            double *const other = m->a + i * n;
            for (int64_t k = 0; k < j; k++) other[j] -= other[k] * row[k];
            other[j] /= row[j];
        }
    }
    return n;
}

/* The row of the largest element of column j from row j on; NaN counts only alone. */
static int64_t find_pivot(const matrix *m, int64_t j)
{
    double best = -1;
    int64_t at = j;
    for (int64_t i = j; i < m->n; i++) {
        const double v = fabs(m->a[i * m->pitch + j]);
        if (v > best) best = v, at = i;
    }
    return at;
}

/* The first row whose pivot is 0, or n; goes on where that is no failure. */
static int64_t lu(const matrix *m, bool any)
{
    const int64_t n = m->n, pitch = m->pitch;
    for (int64_t i = 0; i < n; i++) m->a[i * pitch + n] = (double)i;
    for (int64_t j = 0; j < n; j++) {
        const int64_t from = find_pivot(m, j);
        double *const row = m->a + j * pitch, *const other = m->a + from * pitch;
        for (int64_t c = 0; from != j && c <= n; c++) {
            const double x = row[c];
            row[c] = other[c];
            other[c] = x;
        }
        row[n + 1] = from == j ? 1 : -1;
        if (row[j] == 0 && !any) return j;
        for (int64_t i = j + 1; i < n; i++) {
            double *const below = m->a + i * pitch;
            if (row[j] != 0) below[j] /= row[j];
            for (int64_t c = j + 1; c < n; c++) below[c] -= below[j] * row[c];
        }
    }
    return n;
}

static tn_status factor_matrix(const tn__node *node, int64_t number, int64_t place, const matrix *m, void *out)
{
    const int b = node->kept - 2, fault = node->a.blocked.fault;
    const tn__operand *in = &node->in[0];
    const void *bytes = tn__host_bytes(in);
    for (int64_t i = 0; i < m->n; i++)
        for (int64_t c = 0; c < m->n; c++)
            m->a[i * m->pitch + c] = tn__real_at(node->dtype, bytes, place + i * in->stride[b] + c * in->stride[b + 2]);
    const int64_t done = node->a.blocked.form == TN__CHOLESKY ? cholesky(m) : lu(m, fault == TN__FAULT_NONE);
    if (done < m->n) return tn__fault_fail(fault, number, done);
    for (int64_t i = 0; i < m->n * m->pitch; i++) tn__real_put(node->dtype, out, number * m->n * m->pitch + i, m->a[i]);
    return TN_OK;
}

static tn_status factor_matrices(const tn__node *node, int64_t linear, const int64_t *place, int count, void *out)
{
    const int b = node->kept - 2;
    matrix m = {.n = node->dim[b], .pitch = node->dim[b + 1]};
    m.a = tn__alloc((size_t)(m.n * m.pitch) * sizeof *m.a);
    tn_status status = m.a ? TN_OK : TN_MEMORY;
    for (int i = 0; i < count && status == TN_OK; i++)
        status = factor_matrix(node, linear + i, place[0] + (b ? i * node->in[0].stride[b - 1] : 0), &m, out);
    tn__free(m.a);
    return status;
}

tn_status tn__factor_host(const tn__node *node, void *const *out)
{
    return tn__host_walk(node, node->kept - 2, factor_matrices, out[0]);
}

double tn__factor_cost(const tn__node *node)
{
    const double n = (double)node->dim[node->kept - 2];
    return (double)tn__node_count(node) * n * (node->a.blocked.form == TN__CHOLESKY ? 1 : 2) / 3;
}

tn_tensor *tn__factorize(const tn__op *op, int form, int fault, tn_tensor *x)
{
    tn__device *device = tn__tensor_device(x);
    const tn_shape batch = tn_shape_make(x->ndim - 2, x->dim);
    const int64_t n = x->dim[x->ndim - 1];
    if (!device->is_host && !tn__fault_words(device)) return NULL;
    tn__node *node = tn__blocked_node(op, form, 1, &batch, n, form == TN__CHOLESKY ? n : n + 2, n);
    if (!node) return NULL;
    node->a.blocked.fault = fault;
    tn__blocked_operand(node, 0, x, 2);
    return tn__record(node, device, x->dtype, true);
}

/* ---- Cholesky ---- */

/* Murray, Differentiation of the Cholesky decomposition, 2016, eq. 10: L⁻ᵀ Φ(Lᵀ G) L⁻¹, of which the symmetric part; Φ takes the
 * lower half and half the diagonal. */
GRADIENT(cholesky)
{
    UNUSED;
    tn_tensor *product = tn_matmul(tn_transpose(out, -2, -1), up);
    tn_tensor *phi = tn_mul(tn_add(tn_tril(product, 0), tn_tril(product, -1)), tn_float(0.5));
    tn_tensor *left = tn_triangular_solve(out, phi, false, true, false);
    tn_tensor *both = tn_triangular_solve(out, tn_transpose(left, -2, -1), false, true, false);
    g[0] = tn_mul(tn_add(both, tn_transpose(both, -2, -1)), tn_float(0.5));
}

static const tn__op op_cholesky = {.name = "cholesky", TN__FACTOR, .derivative = {"cholesky", tn__grad_cholesky, TN__SAVES_OUT, 0}};

tn_tensor *tn_cholesky(tn_tensor *x, bool upper)
{
    if (tn__square_check("cholesky", "x", x) != TN_OK) return NULL;
    const tn_scope scope = tn_scope_push();
    tn_tensor *a = upper ? tn_transpose(x, -2, -1) : x;
    tn_tensor *y = a ? tn__factorize(&op_cholesky, TN__CHOLESKY, TN__FAULT_cholesky, a) : NULL;
    y = tn__recorded(&op_cholesky.derivative, NULL, &a, 1, y);
    return tn__leave(scope, upper ? tn_transpose(y, -2, -1) : y);
}
