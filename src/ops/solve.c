/* Determinants, inverses and systems of equations over LU with partial pivoting. */
#include "device/fault.h"
#include "ops/blocked.h"
#include "ops/compose.h"
#include "ops/gradient.h"
#include <math.h>

/* ---- determinants ---- */

/* The factors' diagonal, and -1 or 1 for each exchange of rows: [..., n] each. */
static tn_tensor *diagonal_of(tn_tensor *lu)
{
    return tn_diagonal(lu, 0, -2, -1);
}

static tn_tensor *signs_of(tn_tensor *lu)
{
    return tn_select(lu, -1, -1);
}

/* x⁻ᵀ times g, a number for each matrix */
static tn_tensor *times_inverse(tn_tensor *x, tn_tensor *g)
{
    return tn_mul(tn_unsqueeze(tn_unsqueeze(g, -1), -1), tn_transpose(tn_inv(x), -2, -1));
}

/* det(x) x⁻ᵀ, which is smooth where x is singular: there x is moved a little. */
GRADIENT(det)
{
    UNUSED;
    const tn_shape shape = tn__tensor_shape(in[0]);
    const char *device = tn_device_of(up);
    tn_tensor *singular = tn_eq(out, tn_int(0)), *zero = tn_int(0), *largest = tn_max(tn_abs(in[0]), TN_AXES(-2, -1), true);
    tn_tensor *size = tn_where(tn_eq(largest, zero), tn_int(1), largest);
    tn_tensor *step = tn_mul(tn_float(in[0]->dtype == TN_F64 ? 0x1p-26 : 0x1p-12), size);
    tn_tensor *unit = tn_eye(in[0]->dtype, shape.dim[shape.ndim - 1], shape.dim[shape.ndim - 1], 0, device);
    tn_tensor *moved = tn_add(in[0], tn_where(tn_unsqueeze(tn_unsqueeze(singular, -1), -1), tn_mul(step, unit), zero));
    g[0] = times_inverse(moved, tn_mul(up, tn_where(singular, tn_det(moved), out)));
}

static const tn__op op_det = {.name = "det", TN__FACTOR, .derivative = {"det", tn__grad_det, TN__SAVES_BOTH, 0}};

tn_tensor *tn_det(tn_tensor *x)
{
    if (tn__square_check("det", "x", x) != TN_OK) return NULL;
    const tn_scope scope = tn_scope_push();
    tn_tensor *lu = tn__factorize(&op_det, TN__LU, TN__FAULT_NONE, x), *y = NULL;
    if (lu) y = tn_prod(tn_mul(diagonal_of(lu), signs_of(lu)), TN_AXES(-1), false);
    y = tn__recorded(&op_det.derivative, NULL, &x, 1, y);
    return tn__leave(scope, y);
}

/* Of the logarithm; the sign has none. */
GRADIENT(slogdet)
{
    UNUSED;
    g[0] = times_inverse(in[0], up);
}

static const tn__op op_slogdet = {.name = "slogdet", TN__FACTOR, .derivative = {"slogdet", tn__grad_slogdet, TN__SAVES_IN, 0}};

tn_status tn_slogdet(tn_tensor *x, tn_tensor **sign, tn_tensor **logabsdet)
{
    if (!sign || !logabsdet) return tn__fail_null("slogdet", sign ? "logabsdet" : "sign");
    *sign = *logabsdet = NULL;
    TN__TRY(tn__square_check("slogdet", "x", x));
    const tn_scope scope = tn_scope_push();
    tn_tensor *lu = tn__factorize(&op_slogdet, TN__LU, TN__FAULT_NONE, x), *made[2] = {NULL}, **const out[2] = {sign, logabsdet};
    if (lu) {
        made[0] = tn_prod(tn_mul(tn_sign(diagonal_of(lu)), signs_of(lu)), TN_AXES(-1), false);
        made[1] = tn_sum(tn_log(tn_abs(diagonal_of(lu))), TN_AXES(-1), false);
    }
    made[1] = tn__recorded(&op_slogdet.derivative, NULL, &x, 1, made[1]);
    return tn__leave_all(scope, made, out, 2);
}

tn_tensor *tn_logdet(tn_tensor *x)
{
    tn_tensor *sign, *logarithm;
    if (tn__square_check("logdet", "x", x) != TN_OK) return NULL;
    const tn_scope scope = tn_scope_push();
    if (tn_slogdet(x, &sign, &logarithm) != TN_OK) return tn__leave(scope, NULL);
    return tn__leave(scope, tn_where(tn_lt(sign, tn_int(0)), tn_float(NAN), logarithm));
}

/* ---- systems ---- */

/* X of A X = B: P A = L U, so L Y = P B and U X = Y. op: of the factors, and behind it of the substitution. */
static tn_tensor *solve_system(const tn__op *op, int fault, tn_tensor *a, tn_tensor *b)
{
    tn_tensor *lu = tn__factorize(op, TN__LU, fault, a), *y = lu ? tn__substitute(op + 1, TN__LOWER_LU, lu, b) : NULL;
    if (!y) return NULL;
    tn_tensor *upper = tn_flip(tn_slice(lu, -1, 0, a->dim[a->ndim - 1], 1), TN_AXES(-2, -1)), *right = tn_flip(y, TN_AXES(-2));
    return upper && right ? tn_flip(tn__substitute(op + 1, TN__LOWER, upper, right), TN_AXES(-2)) : NULL;
}

/* Y = X⁻¹: the gradient is -Yᵀ G Yᵀ. */
GRADIENT(inv)
{
    UNUSED;
    tn_tensor *turned = tn_transpose(out, -2, -1);
    g[0] = tn_neg(tn_matmul(tn_matmul(turned, up), turned));
}

static const tn__op op_inv[] = {{.name = "inv", TN__FACTOR, .derivative = {"inv", tn__grad_inv, TN__SAVES_OUT, 0}},
                                {.name = "inv", TN__SUBSTITUTE}};

tn_tensor *tn_inv(tn_tensor *x)
{
    if (tn__square_check("inv", "x", x) != TN_OK) return NULL;
    const int64_t n = x->dim[x->ndim - 1];
    const tn_scope scope = tn_scope_push();
    tn_tensor *unit = tn_eye(x->dtype, n, n, 0, tn_device_of(x)), *y = unit ? solve_system(op_inv, TN__FAULT_inv, x, unit) : NULL;
    y = tn__recorded(&op_inv[0].derivative, NULL, &x, 1, y);
    return tn__leave(scope, y);
}

/* X = A⁻¹B: the gradient of B is A⁻ᵀG, that of A is -A⁻ᵀGXᵀ. */
GRADIENT(solve)
{
    UNUSED;
    g[1] = tn_solve(tn_transpose(in[0], -2, -1), up);
    g[0] = tn_neg(tn_matmul(g[1], tn_transpose(out, -2, -1)));
}

static const tn__op op_solve[] = {{.name = "solve", TN__FACTOR, .derivative = {"solve", tn__grad_solve, TN__SAVES_BOTH, 0}},
                                  {.name = "solve", TN__SUBSTITUTE}};

/* b holds a vector for each matrix of a, or is one. */
static bool is_vector(const tn_tensor *a, const tn_tensor *b)
{
    const tn_shape rows = tn_shape_make(a->ndim > 0 ? a->ndim - 1 : 0, a->dim), own = tn__tensor_shape(b);
    return b->ndim == 1 || (b->ndim > 0 && tn__shape_equal(&rows, &own));
}

tn_tensor *tn_solve(tn_tensor *a, tn_tensor *b)
{
    if (tn__tensor_check(a, "solve", "a") != TN_OK || tn__tensor_check(b, "solve", "b") != TN_OK) return NULL;
    const tn_scope scope = tn_scope_push();
    const bool vector = is_vector(a, b);
    tn_tensor *operands[2] = {a, vector ? tn_unsqueeze(b, -1) : b}, *y = NULL;
    if (operands[1] && tn__system_check("solve", &operands[0], &operands[1]) == TN_OK)
        y = solve_system(op_solve, TN__FAULT_solve, operands[0], operands[1]);
    y = tn__recorded(&op_solve[0].derivative, NULL, operands, 2, y);
    return tn__leave(scope, vector && y ? tn_squeeze(y, TN_AXES(-1)) : y);
}
