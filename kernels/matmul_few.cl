/* Matrix product of the wide profile with few rows or few columns: one operand, the long one, is read once, and its reading
 * is all that takes time.
 *
 *   FEW_ROWS: C has at most FEW rows; the long operand is B, its lines the columns. Else C has at most FEW columns; the
 *   long operand is A, its lines the rows. A group of WG items computes BLOCK lines of C; KL of its lanes share a line,
 *   each every KL-th step of k, or vector of steps; in the end a tree in local memory adds what they have.
 *
 *   ALONG_K: lines lie contiguous along k: neighbouring lanes read neighbouring vectors of k, of W lines each.
 *   else:    neighbouring lanes read W neighbouring lines each, one step at a time.
 *
 * The generator defines T IDX W (1, 2 or 4) TW PARAMS ATTR BATCH LOAD_L LOAD_LW (long operand, from l0 on) LOAD_F LOAD_FW
 * (the other, from f0 on) STORE MAD; L_UNIT and F_UNIT (contiguous along k, or else along the lines); MATRIX FIRST LAST
 * SPLIT_PARAMS as for matmul_wide.cl. Local size: WG. Global size: WG * ceil(lines/BLOCK) * batch * parts. Local memory:
 * FEW * W * WG * sizeof(T). */

#ifndef FEW
#define FEW 1           /* 1, 2, 4 or 8 */
#endif
#ifndef WG
#define WG 128
#endif
#ifndef KL
#define KL 8            /* lanes that share a line: a power of two, at most WG */
#endif

#define LL (WG / KL)
#define BLOCK (LL * W)
#if ALONG_K
#define LANE_K ((int)((uint)lane % KL))
#define LANE_L ((int)((uint)lane / KL))
#define APART 1         /* from a lane to the next one along k */
#else
#define LANE_K ((int)((uint)lane / LL))
#define LANE_L ((int)((uint)lane % LL))
#define APART LL
#endif

/* Lines and few ones beyond the edge are read at the edge, and not stored. */
#define L_OFF(l, k) (l0 + (IDX)min(l, lines - 1) * l_ls + (IDX)(k) * l_ks)
#define F_OFF(f, k) (f0 + (IDX)min(f, few - 1) * f_fs + (IDX)(k) * f_ks)

__kernel ATTR void matmul(PARAMS const int M, const int N, const int K, const IDX a_rs, const IDX a_cs,
                          const IDX b_rs, const IDX b_cs SPLIT_PARAMS)
{
#if FEW_ROWS
    const int lines = N, few = M;
    const IDX l_ls = b_cs, l_ks = b_rs, f_fs = a_rs, f_ks = a_cs;
#else
    const int lines = M, few = N;
    const IDX l_ls = a_rs, l_ks = a_cs, f_fs = b_cs, f_ks = b_rs;
#endif
    __local T part[FEW * W * WG];
    const int lane = (int)get_local_id(0), blocks = (lines + BLOCK - 1) / BLOCK;
    const int z = (int)get_group_id(0) / blocks, block = ((int)get_group_id(0) - z * blocks) * BLOCK;
    const int first = FIRST(z), last = LAST(z), line = block + LANE_L * W;
    BATCH(MATRIX(z))

#if ALONG_K
#define L_STEP(l, k, i) ((k) + i < last ? LOAD_L(L_OFF(l, (k) + i)) : (T)0)
#define F_STEP(f, k, i) ((k) + i < last ? LOAD_F(F_OFF(f, (k) + i)) : (T)0)
    TW acc[FEW][W];
#pragma unroll
    for (int f = 0; f < FEW; f++)
#pragma unroll
        for (int v = 0; v < W; v++)
            acc[f][v] = (TW)(0);
    for (int k = first + LANE_K * W; k < last; k += KL * W) {
        const int whole = k + W <= last;
        TW x[FEW];
#pragma unroll
        for (int f = 0; f < FEW; f++)
            if (F_UNIT && whole)
                x[f] = LOAD_FW(F_OFF(f, k));
            else
                x[f] = GATHER(F_STEP, f, k);
#pragma unroll
        for (int v = 0; v < W; v++) {
            TW y;
            if (L_UNIT && whole)
                y = LOAD_LW(L_OFF(line + v, k));
            else
                y = GATHER(L_STEP, line + v, k);
#pragma unroll
            for (int f = 0; f < FEW; f++)
                acc[f][v] = MAD(x[f], y, acc[f][v]);
        }
    }
#pragma unroll
    for (int f = 0; f < FEW; f++)
#pragma unroll
        for (int v = 0; v < W; v++) {
            T sum = 0, lanes[W];
            SPREAD(lanes, acc[f][v]);
#pragma unroll
            for (int i = 0; i < W; i++)
                sum += lanes[i];
            part[(f * W + v) * WG + lane] = sum;
        }
#else
#define L_LINE(l, k, i) LOAD_L(L_OFF((l) + i, k))
    TW acc[FEW];
#pragma unroll
    for (int f = 0; f < FEW; f++)
        acc[f] = (TW)(0);
    for (int k = first + LANE_K; k < last; k += KL) {
        TW y;
        if (L_UNIT && line + W <= lines)
            y = LOAD_LW(L_OFF(line, k));
        else
            y = GATHER(L_LINE, line, k);
#pragma unroll
        for (int f = 0; f < FEW; f++)
            acc[f] = MAD((TW)(LOAD_F(F_OFF(f, k))), y, acc[f]);
    }
#pragma unroll
    for (int f = 0; f < FEW; f++) {
        T lanes[W];
        SPREAD(lanes, acc[f]);
#pragma unroll
        for (int v = 0; v < W; v++)
            part[(f * W + v) * WG + lane] = lanes[v];
    }
#endif

    for (int reach = KL / 2; reach > 0; reach /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (LANE_K < reach)
            for (int i = 0; i < FEW * W; i++)
                part[i * WG + lane] += part[i * WG + lane + reach * APART];
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    for (int o = lane; o < FEW * BLOCK; o += WG) {
        const int f = o / BLOCK, r = o - f * BLOCK, l = block + r;
        if (f < few && l < lines) {
            const T sum = part[(f * W + r % W) * WG + r / W * (ALONG_K ? KL : 1)];
#if FEW_ROWS
            STORE(z, f, l, sum);
#else
            STORE(z, l, f, sum);
#endif
        }
    }
}
