/* Matrix product of the wide profile: a work-group computes a TM x TN tile of C, an item RM x RN elements of it.
 *
 *               n0            n0+TN          lanes run along N first: lane = lane_m * (TN/RN) + lane_n
 *          k0  +----------------+            an item's columns are RN/W runs of W, TN*W/RN apart, so that a row of
 *     B        |    b_tile      |            lanes reads and writes contiguously
 *         +TK  +----------------+            an item's rows are RM neighbours
 *   A          +----------------+
 *  m0  +----+  |    | C tile |  |            the group is one-dimensional: WG = (TM/RM)*(TN/RN) items; group g of
 *      | a_ |  |    RM x RN     |            the launch is batch g / tiles, tile g % tiles, walked in strips of
 *      |tile|  |    per item    |            STRIP tile columns
 * +TM  +----+  +----------------+
 *
 * With LM the operands are staged in local memory, slab by slab of TK steps; LOAD runs once for each element staged,
 * and the next slab is fetched into registers while the present one is used. Element (k, m) of a tile lies at
 * k*TM + (m ^ SWIZZLE(k)), which keeps the transposing writes off each other's banks and vectors whole: the TK/4
 * vectors of a row, written by as many lanes, lie 128/TK banks apart. Without LM every item reads global memory: no
 * barriers, any group down to one item. Edges are predicated, unless the product is EVEN; every item reaches every
 * barrier.
 *
 * The generator defines T IDX W (1, 2 or 4) TW PARAMS ATTR BATCH LOAD_A LOAD_AW LOAD_B LOAD_BW STORE STOREW MAD; A_UNIT
 * and B_UNIT (column stride 1), A_COL and B_COL (row stride 1); and for group number z of tiles the matrix MATRIX(z)
 * and the steps FIRST(z) up to LAST(z) of k, a part of them where the product is SPLIT. Local size: WG. Global size:
 * WG * ceil(M/TM) * ceil(N/TN) * batch * parts. Local memory: (TM + TN) * TK * sizeof(T). */

#ifndef TM
#define TM 64           /* rows of a group's tile */
#endif
#ifndef TN
#define TN 64           /* columns of a group's tile */
#endif
#ifndef TK
#define TK 16           /* steps of k staged at once: 8, 16 or 32; TM*TK and TN*TK multiples of W*WG */
#endif
#ifndef RM
#define RM 4            /* rows of an item; with LM a multiple of W */
#endif
#ifndef RN
#define RN 8            /* columns of an item, a multiple of W */
#endif
#ifndef LM
#define LM 1            /* stage the operands in local memory */
#endif
#ifndef EVEN
#define EVEN 0          /* M, N and K are multiples of TM, TN and TK */
#endif
#ifndef STRIP
#define STRIP 8         /* tile columns that are walked together */
#endif

#define WG ((TM / RM) * (TN / RN))
#define RUNS (RN / W)
#if TM % 32 == 0 && TN % 32 == 0
#define SWIZZLE(k) ((((k) >> 2) & (TK / 4 - 1)) * (128 / TK))
#else
#define SWIZZLE(k) 0
#endif

#define WITHIN(inside) (EVEN || (inside))
#define A_OFF(m, k) (a0 + (IDX)(m) * a_rs + (IDX)(k) * a_cs)
#define B_OFF(k, n) (b0 + (IDX)(k) * b_rs + (IDX)(n) * b_cs)

#if LM
#define A_VECTORS (TM * TK / W / WG)    /* what an item stages of a slab */
#define B_VECTORS (TN * TK / W / WG)

/* Vectors are taken along the axis that is contiguous in memory: from v, the place in the slab of vector v. */
#if A_COL
#define A_M(v) ((int)((uint)(v) % (TM / W)) * W)
#define A_K(v) ((int)((uint)(v) / (TM / W)))
#define A_WHOLE(m, k) WITHIN((m) + W <= M && (k) < last)
#define A_ELEMENT(m, k, i) (WITHIN((m) + i < M && (k) < last) ? LOAD_A(A_OFF((m) + i, k)) : (T)0)
#else
#define A_M(v) ((int)((uint)(v) / (TK / W)))
#define A_K(v) ((int)((uint)(v) % (TK / W)) * W)
#define A_WHOLE(m, k) (A_UNIT && WITHIN((m) < M && (k) + W <= last))
#define A_ELEMENT(m, k, i) (WITHIN((m) < M && (k) + i < last) ? LOAD_A(A_OFF(m, (k) + i)) : (T)0)
#endif
#if B_COL && !B_UNIT
#define B_N(v) ((int)((uint)(v) / (TK / W)))
#define B_K(v) ((int)((uint)(v) % (TK / W)) * W)
#define B_WHOLE(k, n) WITHIN((n) < N && (k) + W <= last)
#define B_ELEMENT(k, n, i) (WITHIN((n) < N && (k) + i < last) ? LOAD_B(B_OFF((k) + i, n)) : (T)0)
#else
#define B_N(v) ((int)((uint)(v) % (TN / W)) * W)
#define B_K(v) ((int)((uint)(v) / (TN / W)))
#define B_WHOLE(k, n) (B_UNIT && WITHIN((n) + W <= N && (k) < last))
#define B_ELEMENT(k, n, i) (WITHIN((n) + i < N && (k) < last) ? LOAD_B(B_OFF(k, (n) + i)) : (T)0)
#endif

#define FETCH(slab)                                                                                                    \
    _Pragma("unroll") for (int v = 0; v < A_VECTORS; v++)                                                              \
    {                                                                                                                  \
        const int m = m0 + A_M(lane + v * WG), k = (slab) + A_K(lane + v * WG);                                        \
        if (A_WHOLE(m, k))                                                                                             \
            a_next[v] = LOAD_AW(A_OFF(m, k));                                                                          \
        else                                                                                                           \
            a_next[v] = GATHER(A_ELEMENT, m, k);                                                                       \
    }                                                                                                                  \
    _Pragma("unroll") for (int v = 0; v < B_VECTORS; v++)                                                              \
    {                                                                                                                  \
        const int n = n0 + B_N(lane + v * WG), k = (slab) + B_K(lane + v * WG);                                        \
        if (B_WHOLE(k, n))                                                                                             \
            b_next[v] = LOAD_BW(B_OFF(k, n));                                                                          \
        else                                                                                                           \
            b_next[v] = GATHER(B_ELEMENT, k, n);                                                                       \
    }

/* Writes vector x, which starts at (k, m), into a tile of `width` columns: along its rows, or across them. */
#define PUT_ALONG(tile, width, k, m, x) (tile)[((k) * (width) + ((m) ^ SWIZZLE(k))) / W] = (x)
#define PUT_ACROSS(tile, width, k, m, x)                                                                               \
    {                                                                                                                  \
        T lanes[W];                                                                                                    \
        SPREAD(lanes, x);                                                                                              \
        _Pragma("unroll") for (int i = 0; i < W; i++)((__local T *)(tile))[((k) + i) * (width) +                       \
                                                                           ((m) ^ SWIZZLE((k) + i))] = lanes[i];       \
    }
#if A_COL
#define PUT_A PUT_ALONG
#else
#define PUT_A PUT_ACROSS
#endif
#if B_COL && !B_UNIT
#define PUT_B PUT_ACROSS
#else
#define PUT_B PUT_ALONG
#endif
#endif

__kernel ATTR void matmul(PARAMS const int M, const int N, const int K, const IDX a_rs, const IDX a_cs,
                          const IDX b_rs, const IDX b_cs SPLIT_PARAMS)
{
    const int lane = (int)get_local_id(0), lane_m = (int)((uint)lane / (TN / RN)), lane_n = (int)((uint)lane % (TN / RN));
    const int rows = (M + TM - 1) / TM, columns = (N + TN - 1) / TN;
    const int z = (int)get_group_id(0) / (rows * columns), g = (int)get_group_id(0) - z * (rows * columns);
    const int strip = g / (STRIP * rows), in_strip = g - strip * (STRIP * rows), across = min(STRIP, columns - strip * STRIP);
    const int down = in_strip / across, m0 = down * TM, n0 = (strip * STRIP + in_strip - down * across) * TN;
    const int first = FIRST(z), last = LAST(z);
    BATCH(MATRIX(z))

    TW acc[RM][RUNS];
#pragma unroll
    for (int i = 0; i < RM; i++)
#pragma unroll
        for (int r = 0; r < RUNS; r++)
            acc[i][r] = (TW)(0);

#if LM
    __local TW a_tile[TK * TM / W], b_tile[TK * TN / W];
    TW a_next[A_VECTORS], b_next[B_VECTORS];
    FETCH(first)
    for (int slab = first; slab < last; slab += TK) {
#pragma unroll
        for (int v = 0; v < A_VECTORS; v++)
            PUT_A(a_tile, TM, A_K(lane + v * WG), A_M(lane + v * WG), a_next[v]);
#pragma unroll
        for (int v = 0; v < B_VECTORS; v++)
            PUT_B(b_tile, TN, B_K(lane + v * WG), B_N(lane + v * WG), b_next[v]);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (slab + TK < last) {
            FETCH(slab + TK)
        }
        for (int quad = 0; quad < TK; quad += 4) {
            const int swizzle = SWIZZLE(quad);
#pragma unroll
            for (int k = quad; k < quad + 4; k++) {
                T x[RM];
                TW y[RUNS];
#pragma unroll
                for (int i = 0; i < RM; i += W) {
                    const TW v = a_tile[(k * TM + ((lane_m * RM + i) ^ swizzle)) / W];
                    SPREAD(x + i, v);
                }
#pragma unroll
                for (int r = 0; r < RUNS; r++)
                    y[r] = b_tile[(k * TN + ((r * (TN / RUNS) + lane_n * W) ^ swizzle)) / W];
#pragma unroll
                for (int i = 0; i < RM; i++)
#pragma unroll
                    for (int r = 0; r < RUNS; r++)
                        acc[i][r] = MAD((TW)(x[i]), y[r], acc[i][r]);
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
#else
    /* Rows and columns beyond the edge are read at the edge, and not stored. */
#define AT_ROW(i) min(m0 + lane_m * RM + (i), M - 1)
#define B_ELEMENT(k, n, i) LOAD_B(B_OFF(k, min((n) + i, N - 1)))
#if A_UNIT
#define STEPS W
#else
#define STEPS 1
#endif
    for (int k = first; k < last; k += STEPS) {
        T x[RM][STEPS];
#pragma unroll
        for (int i = 0; i < RM; i++) {
#if A_UNIT
            if (WITHIN(k + W <= last)) {
                const TW v = LOAD_AW(A_OFF(AT_ROW(i), k));
                SPREAD(x[i], v);
            } else
#endif
                for (int s = 0; s < STEPS; s++)
                    x[i][s] = k + s < last ? LOAD_A(A_OFF(AT_ROW(i), k + s)) : (T)0;
        }
#pragma unroll
        for (int s = 0; s < STEPS; s++)
            if (k + s < last) {
#pragma unroll
                for (int r = 0; r < RUNS; r++) {
                    const int n = n0 + r * (TN / RUNS) + lane_n * W;
                    TW y;
                    if (B_UNIT && WITHIN(n + W <= N))
                        y = LOAD_BW(B_OFF(k + s, n));
                    else
                        y = GATHER(B_ELEMENT, k + s, n);
#pragma unroll
                    for (int i = 0; i < RM; i++)
                        acc[i][r] = MAD((TW)(x[i][s]), y, acc[i][r]);
                }
            }
    }
#endif

#pragma unroll
    for (int i = 0; i < RM; i++) {
        const int m = m0 + lane_m * RM + i;
        if (WITHIN(m < M)) {
#pragma unroll
            for (int r = 0; r < RUNS; r++) {
                const int n = n0 + r * (TN / RUNS) + lane_n * W;
                if (WITHIN(n + W <= N)) {
                    STOREW(z, m, n, acc[i][r]);
                } else {
                    T lanes[W];
                    SPREAD(lanes, acc[i][r]);
                    for (int c = 0; c < W; c++)
                        if (n + c < N)
                            STORE(z, m, n + c, lanes[c]);
                }
            }
        }
    }
}
