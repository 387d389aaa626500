/* Matrix product of the deep profile: a work-item owns a register tile and keeps the whole k loop in it.
 *
 *            n0      n0+NR                 NR = NV*W columns: NV vectors of W lanes
 *      B  k  |  NV x W  |                  each row of B is loaded once for a tile,
 *            |    :     |                  each element of A is broadcast to NV vectors
 *   A  k ->  +----------+
 *  m0 .....  | MR x NR  | C                item (panel p, row chunk c, batch z): id = (z*chunks + c)*panels + p,
 *  m0+MR ..  +----------+                  tiles c*tiles .. c*tiles+tiles-1 of MR rows, one after the other
 *
 * No local memory, no barriers, work-groups of one item. An edge has no masks: the last tile of a row or column is
 * moved back to end at the border, so M >= MR and N >= NR must hold, two items may store the same values, and STORE
 * may not read what it overwrites. Places along k are `long`: a compiler then keeps a pointer for each row, where a
 * sum of `int` costs an instruction more for each element.
 * The same file, built with PACK, holds the kernel that copies an operand into panels; built with DOT, the form for a B
 * whose columns lie contiguous, where the lanes run along k; with SWEEP, the form for one row of A, where B is read in
 * the order of its rows, eight of them at once, for SWEEP columns an item:
 *
 *   B packed  [panel p][k][NR], element (k, j) of panel p is B[k, min(p*NR, N-NR) + j]
 *   A packed  [tile t][k][MR],  element (k, i) of tile t  is A[min(t*MR, M-MR) + i, k]
 *
 * The generator defines T IDX W TW PARAMS ATTR BATCH LOAD_A LOAD_AW LOAD_B LOAD_BW STORE STOREW MAD, and A_UNIT and
 * B_UNIT (column stride 1), A_COL and B_COL (row stride 1). For integers T is best unsigned: sums wrap. A packing
 * program needs only B's half of PARAMS BATCH and LOAD.
 * Global size: ceil(N/NR), ceil(ceil(M/MR)/tiles), batch; of the packing ceil(N/NR), ceil(K/steps), batch. */

#ifndef MR
#define MR 1            /* rows of a tile */
#endif
#ifndef NV
#define NV 1            /* vectors of a tile's row; with DOT its columns */
#endif
#ifndef DOT
#define DOT 0           /* lanes along k: needs A_UNIT and B_COL, no packing; NR is NV then */
#endif
#ifndef SWEEP
#define SWEEP 0         /* most columns of an item, a multiple of W: needs M 1 and B_UNIT, no packing */
#endif
#ifndef ROLLED
#define ROLLED 0        /* what becomes of an element stands there once, in a loop over the tile, for registers of its own */
#endif
#ifndef PACK
#define PACK 0          /* build matmul_pack instead of matmul */
#endif
#ifndef A_PACKED
#define A_PACKED 0      /* A is read from panels of MR rows */
#endif
#ifndef B_PACKED
#define B_PACKED 0      /* B is read from panels of NR columns */
#endif

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#if W == 1
#define READ_LANES(p) (*(p))
#define WRITE_LANES(v, p) (*(p) = (v))
#else
#define READ_LANES(p) JOIN(vload, W)(0, p)
#define WRITE_LANES(v, p) JOIN(vstore, W)(v, 0, p)
#endif
#ifndef NR              /* columns of a panel; given for packing alone */
#if DOT
#define NR NV
#else
#define NR (NV * W)
#endif
#endif

#define ITEM                                                                                                   \
    const int id = (int)get_global_id(0), rest = id / panels, p = id - rest * panels, z = rest / chunks, c = rest - z * chunks;

#if PACK
/* Copies B, through LOAD_B, into panels of NR columns. To pack A, the generator passes A's loads as B's with the
 * strides exchanged, M as N, and NR = MR. Item (panel, chunk of `steps` steps of k, batch). */
__kernel ATTR void matmul_pack(PARAMS __global T *restrict packed, const long packed_batch, const int N, const int K,
                               const IDX b_rs, const IDX b_cs, const int steps, const int panels, const int chunks)
{
    ITEM
    BATCH(z)
    const int n0 = min(p * NR, N - NR);
    __global T *restrict to = packed + z * packed_batch + (long)p * K * NR;
    const IDX from = b0 + (IDX)n0 * b_cs;
    int k = c * steps;
    const int end = k + min(steps, K - k);
#if B_UNIT
    for (; k < end; k++)
        for (int j = 0; j < NR; j += W)
            WRITE_LANES(LOAD_BW(from + (IDX)k * b_rs + j), to + (long)k * NR + j);
#else
#if B_COL
    for (; k + W <= end; k += W)
        for (int j = 0; j < NR; j++) {
            T lane[W];
            WRITE_LANES(LOAD_BW(from + (IDX)j * b_cs + k), lane);
            for (int i = 0; i < W; i++)
                to[(long)(k + i) * NR + j] = lane[i];
        }
#endif
    for (; k < end; k++)
        for (int j = 0; j < NR; j++)
            to[(long)k * NR + j] = LOAD_B(from + (IDX)k * b_rs + (IDX)j * b_cs);
#endif
}

#elif DOT
#define HALVES(v) ((v).lo + (v).hi)
#if W == 16
#define PAIR(v) HALVES(HALVES(HALVES(v)))
#elif W == 8
#define PAIR(v) HALVES(HALVES(v))
#elif W == 4
#define PAIR(v) HALVES(v)
#else
#define PAIR(v) (v)
#endif
/* The last sum is of scalars: MAD makes integers wrap there. */
inline T lane_sum(TW v)
{
#if W == 1
    return v;
#else
    const JOIN(T, 2) pair = PAIR(v);
    return MAD(pair.x, (T)1, pair.y);
#endif
}

__kernel ATTR void matmul(PARAMS const int M, const int N, const int K, const IDX a_rs, const IDX a_cs,
                          const IDX b_rs, const IDX b_cs, const int tiles, const int panels, const int chunks)
{
    ITEM
    BATCH(z)
    const int n0 = min(p * NR, N - NR);
    const int first = c * tiles, last = min(first + tiles, (M + MR - 1) / MR);
    for (int t = first; t < last; t++) {
        const int m0 = min(t * MR, M - MR);
        const IDX a = a0 + (IDX)m0 * a_rs, b = b0 + (IDX)n0 * b_cs;
        TW acc[MR][NV];
#pragma unroll
        for (int i = 0; i < MR; i++)
#pragma unroll
            for (int j = 0; j < NV; j++)
                acc[i][j] = (TW)(0);
        long k = 0;
#pragma unroll 4
        for (; k + W <= K; k += W) {
            TW x[MR];
#pragma unroll
            for (int i = 0; i < MR; i++)
                x[i] = LOAD_AW((long)(a + (IDX)i * a_rs) + k);
#pragma unroll
            for (int j = 0; j < NV; j++) {
                const TW y = LOAD_BW((long)(b + (IDX)j * b_cs) + k);
#pragma unroll
                for (int i = 0; i < MR; i++)
                    acc[i][j] = MAD(x[i], y, acc[i][j]);
            }
        }
#pragma unroll
        for (int i = 0; i < MR; i++)
#pragma unroll
            for (int j = 0; j < NV; j++) {
                T v = lane_sum(acc[i][j]);
                for (int tail = (int)k; tail < K; tail++)
                    v = MAD(LOAD_A(a + (IDX)i * a_rs + tail), LOAD_B(b + (IDX)j * b_cs + tail), v);
                STORE(z, m0 + i, n0 + j, v);
            }
    }
}

#elif SWEEP
enum { SWEEP_ROWS = 8 };
/* The last vector of an item's columns is moved back; each has sums of its own. `tiles` is the columns of an item. */
__kernel ATTR void matmul(PARAMS const int M, const int N, const int K, const IDX a_rs, const IDX a_cs,
                          const IDX b_rs, const IDX b_cs, const int tiles, const int panels, const int chunks)
{
    ITEM
    BATCH(z)
    const int n0 = min(p * tiles, N - W), columns = min(tiles, N - n0), vectors = (columns + W - 1) / W;
    TW acc[SWEEP / W];
    for (int j = 0; j < vectors; j++)
        acc[j] = (TW)(0);
    int k = 0;
    for (; k + SWEEP_ROWS <= K; k += SWEEP_ROWS) {
        TW x[SWEEP_ROWS];
#pragma unroll
        for (int i = 0; i < SWEEP_ROWS; i++)
            x[i] = (TW)(LOAD_A(a0 + (IDX)(k + i) * a_cs));
        const long b = b0 + (IDX)k * b_rs + n0;
        for (int j = 0; j < vectors; j++) {
            TW sum = acc[j];
#pragma unroll
            for (int i = 0; i < SWEEP_ROWS; i++)
                sum = MAD(x[i], LOAD_BW(b + (long)i * b_rs + min(j * W, columns - W)), sum);
            acc[j] = sum;
        }
    }
    for (; k < K; k++) {
        const TW x = (TW)(LOAD_A(a0 + (IDX)k * a_cs));
        for (int j = 0; j < vectors; j++)
            acc[j] = MAD(x, LOAD_BW(b0 + (long)k * b_rs + n0 + min(j * W, columns - W)), acc[j]);
    }
    for (int j = 0; j < vectors; j++)
        STOREW(z, 0, n0 + min(j * W, columns - W), acc[j]);
}

#else
#if B_PACKED
#define B_ROW(k, j) READ_LANES(b_panel + (long)(k) * NR + (j) * W)
#elif B_UNIT
#define B_ROW(k, j) LOAD_BW((long)b + (long)(k) * b_rs + (j) * W)
#elif W == 1
#define B_ROW(k, j) LOAD_B(b + (IDX)(k) * b_rs + (IDX)(j) * b_cs)
#else
#define B_ROW(k, j) READ_LANES(b_row + (j) * W)
#define B_GATHER 1
#endif
#if A_PACKED
#define A_AT(i, k) a_panel[(long)(k) * MR + (i)]
#elif A_UNIT
#define A_AT(i, k) LOAD_A((long)(a + (IDX)(i) * a_rs) + (k))
#elif A_COL
#define A_AT(i, k) LOAD_A((long)a + (long)(k) * a_cs + (i))
#else
#define A_AT(i, k) LOAD_A(a + (IDX)(i) * a_rs + (IDX)(k) * a_cs)
#endif
#if A_PACKED
#define A_PANELS , __global const T *restrict a_packed, const long a_packed_batch
#else
#define A_PANELS
#endif
#if B_PACKED
#define B_PANELS , __global const T *restrict b_packed, const long b_packed_batch
#else
#define B_PANELS
#endif

/* A packed batch stride of 0 shares the panels among all batches. */
__kernel ATTR void matmul(PARAMS const int M, const int N, const int K, const IDX a_rs, const IDX a_cs,
                          const IDX b_rs, const IDX b_cs, const int tiles, const int panels, const int chunks A_PANELS B_PANELS)
{
    ITEM
    BATCH(z)
    const int n0 = min(p * NR, N - NR);
    const int first = c * tiles, last = min(first + tiles, (M + MR - 1) / MR);
#if B_PACKED
    __global const T *restrict b_panel = b_packed + z * b_packed_batch + (long)p * K * NR;
#else
    const IDX b = b0 + (IDX)n0 * b_cs;
#endif
    for (int t = first; t < last; t++) {
        const int m0 = min(t * MR, M - MR);
#if A_PACKED
        __global const T *restrict a_panel = a_packed + z * a_packed_batch + (long)t * K * MR;
#else
        const IDX a = a0 + (IDX)m0 * a_rs;
#endif
        TW acc[MR][NV];
#pragma unroll
        for (int i = 0; i < MR; i++)
#pragma unroll
            for (int j = 0; j < NV; j++)
                acc[i][j] = (TW)(0);
#pragma unroll 4
        for (long k = 0; k < K; k++) {
#ifdef B_GATHER
            T b_row[NR];
            for (int j = 0; j < NR; j++)
                b_row[j] = LOAD_B(b + (IDX)k * b_rs + (IDX)j * b_cs);
#endif
            TW y[NV];
#pragma unroll
            for (int j = 0; j < NV; j++)
                y[j] = B_ROW(k, j);
#pragma unroll
            for (int i = 0; i < MR; i++) {
                const TW x = (TW)(A_AT(i, k));
#pragma unroll
                for (int j = 0; j < NV; j++)
                    acc[i][j] = MAD(x, y[j], acc[i][j]);
            }
        }
#if ROLLED
        TW done[MR * NV];
#pragma unroll
        for (int i = 0; i < MR; i++)
#pragma unroll
            for (int j = 0; j < NV; j++)
                done[i * NV + j] = acc[i][j];
        for (int e = 0; e < MR * NV; e++)
            STOREW(z, m0 + e / NV, n0 + e % NV * W, done[e]);
#else
#pragma unroll
        for (int i = 0; i < MR; i++)
#pragma unroll
            for (int j = 0; j < NV; j++)
                STOREW(z, m0 + i, n0 + j * W, acc[i][j]);
#endif
    }
}
#endif
