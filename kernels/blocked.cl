/* Factors of square matrices, and substitution, in place and in blocks of NB columns of the factor (Golub and Van Loan, Matrix
 * Computations, 3.2, 3.4 and 4.2; LAPACK's potrf, getrf, trtrs).
 *
 *   take      the operand into q0, [matrices][n][pitch]; a unit is W elements
 *   block     columns j0 … j1 - 1 of a factor (and the rows of U right of them), by a group of L items; a unit is a matrix.
 *             Of a solution: its rows j0 … j1 - 1; a unit is W columns
 *   update    row i below loses the sum of factor (i, k) times row k over the block; a unit is SEGMENT rows of W columns
 *
 *   CHOLESKY  the lower factor; of the operand the lower half counts
 *   LU        both factors, rows exchanged for the largest pivot; column n is the number of the row that came there, column
 *             n + 1 is -1 where two rows changed places, else 1
 *   SOLVE     X of A X = B, A lower triangular; UNIT 1: with ones on the diagonal; PERMUTED 1: A is what LU left, and B's rows
 *             are taken in its order
 *   TRIANGLE(i, k)   element of the factor
 *
 * failure: the report of a pivot that is 0, or of Cholesky's not above 0, and NaN goes on for it; 0: LU takes any.
 * An item takes `per` units. NB, SEGMENT and per keep its rounds, of all loops together, below what llvmpipe allows. */
#define ELEMENT(i, c) work[(i) * pitch + (c)]
#if !SOLVE
#define TRIANGLE(i, k) ELEMENT(i, k)
#endif

#define SHAPE                                                                                      \
    const IDX n, const IDX columns, const IDX pitch, const IDX a_rs, const IDX a_cs, const IDX j0, \
        const IDX units, const IDX per, const IDX failure
#if DEEP
#define GROUP __attribute__((reqd_work_group_size(1, 1, 1)))
#else
#define GROUP
#endif
#define FOR_UNITS(first)                                                 \
    const IDX begin = (IDX)(first) * per, end = min(begin + per, units); \
    for (IDX u = begin; u < end; u++)

/* The first `count` of W neighbours, or all; the others are 0. */
static TW load_some(__global const T *from, IDX count)
{
#if W > 1
    if (count < W) {
        T lanes[W];
        for (int w = 0; w < W; w++) lanes[w] = w < count ? from[w] : (T)0;
        return VLOAD(lanes, 0);
    }
#endif
    return VLOAD(from, 0);
}

static void store_some(__global T *to, IDX count, TW v)
{
#if W > 1
    if (count < W) {
        T lanes[W];
        VSTORE(lanes, 0, v);
        for (int w = 0; w < count; w++) to[w] = lanes[w];
        return;
    }
#endif
    VSTORE(to, 0, v);
}

/* Rows j0 … j1 - 1 of W columns from c on: forward substitution. */
#if SOLVE && !UNIT
#define DIVIDED(x, i) ((x) / (TW)(TRIANGLE(i, i)))
#else
#define DIVIDED(x, i) (x)
#endif
#define SUBSTITUTE(c)                                                                  \
    {                                                                                  \
        TW x[NB];                                                                      \
        for (int k = 0; k < (int)(j1 - j0); k++) {                                     \
            TW rest = load_some(&ELEMENT(j0 + k, c), columns - (c));                   \
            for (int m = 0; m < k; m++) rest -= (TW)(TRIANGLE(j0 + k, j0 + m)) * x[m]; \
            x[k] = DIVIDED(rest, j0 + k);                                              \
            store_some(&ELEMENT(j0 + k, c), columns - (c), x[k]);                      \
        }                                                                              \
    }

__kernel GROUP void take(PARAMS SHAPE)
{
    const IDX vectors = (columns + W - 1) / W;
    FOR_UNITS(get_global_id(0))
    {
        const IDX row = u / vectors, c = MOVED((u - row * vectors) * W, columns);
        const IDX z = row / n, i = row - z * n;
        __global T *const work = q0 + z * n * pitch;
        OPERAND(z)
#if PERMUTED
        FACTORS(z)
        OPERAND_ROW((IDX)TRIANGLE(i, n))
#else
        OPERAND_ROW(i)
#endif
        OPERAND_EVAL(c)
        VSTORE(work, i * pitch + c, OPERAND_VALUE);
#if LU
        if (c == 0) ELEMENT(i, n) = (T)i;
#endif
    }
}

#if SOLVE
__kernel GROUP void block(PARAMS SHAPE)
{
    const IDX vectors = (columns + W - 1) / W, j1 = min(j0 + NB, n);
    FOR_UNITS(get_global_id(0))
    {
        const IDX z = u / vectors, c = (u - z * vectors) * W;
        __global T *const work = q0 + z * n * pitch;
        FACTORS(z)
        SUBSTITUTE(c)
    }
}
#else
#define BARRIER barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)

#if LU
/* The row of the largest element of column j from row j on, the first of equals; NaN counts only alone. */
static IDX find_pivot(__global const T *work, IDX n, IDX pitch, IDX j, int lane, __local T *most, __local IDX *place)
{
    T best = -1;
    IDX at = j;
    for (IDX i = j + lane; i < n; i += L) {
        const T v = fabs(ELEMENT(i, j));
        if (v > best) best = v, at = i;
    }
    most[lane] = best, place[lane] = at;
    BARRIER;
    for (int k = 0; k < L; k++)
        if (most[k] > best || (most[k] == best && place[k] < at)) best = most[k], at = place[k];
    return at;
}
#endif

__kernel __attribute__((reqd_work_group_size(L, 1, 1))) void block(PARAMS SHAPE)
{
    const IDX j1 = min(j0 + NB, n);
    const int lane = (int)get_local_id(0);
#if LU
    __local T most[L];
    __local IDX place[L];
#endif
    FOR_UNITS(get_group_id(0)) /* the same for all items of a group */
    {
        __global T *const work = q0 + u * n * pitch;
        for (IDX j = j0; j < j1; j++) {
#if LU
            const IDX from = find_pivot(work, n, pitch, j, lane, most, place);
            for (IDX c = lane; from != j && c <= n; c += L) {
                const T x = ELEMENT(j, c);
                ELEMENT(j, c) = ELEMENT(from, c);
                ELEMENT(from, c) = x;
            }
            BARRIER;
            T pivot = ELEMENT(j, j);
            const int fails = failure != 0 && pivot == 0;
            if (fails) pivot = NAN;
            for (IDX i = j + 1 + lane; i < n; i += L) {
                const T x = ELEMENT(i, j), factor = pivot == 0 ? x : x / pivot;
                ELEMENT(i, j) = factor;
                for (IDX c = j + 1; c < j1; c++) ELEMENT(i, c) -= factor * ELEMENT(j, c);
            }
            BARRIER;
            if (lane == 0) ELEMENT(j, n + 1) = from == j ? 1 : -1;
#else
            T pivot = ELEMENT(j, j);
            for (IDX k = j0; k < j; k++) pivot -= ELEMENT(j, k) * ELEMENT(j, k);
            const int fails = !(pivot > 0);
            pivot = fails ? NAN : sqrt(pivot);
            for (IDX i = j + 1 + lane; i < n; i += L) {
                T rest = ELEMENT(i, j);
                for (IDX k = j0; k < j; k++) rest -= ELEMENT(i, k) * ELEMENT(j, k);
                ELEMENT(i, j) = rest / pivot;
            }
            for (IDX c = j + 1 + lane; c < n; c += L) ELEMENT(j, c) = 0;
            BARRIER;
#endif
            if (lane == 0) ELEMENT(j, j) = pivot;
            if (lane == 0 && fails) report_fault(fault, (int)failure, u, j);
        }
#if LU
        for (IDX c = j1 + lane * W; c < n; c += L * W) SUBSTITUTE(c)
#endif
    }
}
#endif

/* Only after a whole block. */
__kernel GROUP void update(PARAMS SHAPE)
{
    const IDX j1 = j0 + NB, left = SOLVE ? 0 : j1;
    const IDX vectors = (columns - left + W - 1) / W, segments = (n - j1 + SEGMENT - 1) / SEGMENT;
    FOR_UNITS(get_global_id(0))
    {
        const IDX z = u / (vectors * segments), in_matrix = u - z * vectors * segments;
        const IDX segment = in_matrix / vectors, c = left + (in_matrix - segment * vectors) * W;
        const IDX i0 = j1 + segment * SEGMENT, i1 = min(i0 + SEGMENT, n);
        __global T *const work = q0 + z * n * pitch;
        TW x[NB];
#if SOLVE
        FACTORS(z)
#endif
        for (int k = 0; k < NB; k++) {
#if CHOLESKY
            T lanes[W];
            for (int w = 0; w < W; w++) lanes[w] = c + w < n ? ELEMENT(c + w, j0 + k) : (T)0;
            x[k] = VLOAD(lanes, 0);
#else
            x[k] = load_some(&ELEMENT(j0 + k, c), columns - c);
#endif
        }
        for (IDX i = CHOLESKY ? max(i0, c) : i0; i < i1; i++) {
            TW rest = load_some(&ELEMENT(i, c), columns - c);
#pragma unroll
            for (int k = 0; k < NB; k++) rest -= (TW)(TRIANGLE(i, j0 + k)) * x[k];
            store_some(&ELEMENT(i, c), columns - c, rest);
        }
    }
}
