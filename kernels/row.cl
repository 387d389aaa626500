/* Row kernels: a list of phases along one axis whose row is kept (softmax and its relatives).
 *
 *   units       rows, of n points; they lie on the INNER axis
 *   BY_COLUMNS  1: units of W rows that lie side by side on the INNER axis, `inner` of them; their points on the MIDDLE axis
 *   ROWS        1, or 2: a second row goes along
 *   OUTER(o), MIDDLE(m)   the places of row o, of point m
 *   PHASES      generated from tables/phases.def: loops over the row, of which loop k has macros with a k at their end:
 *                 MAP(i)          declares x (and y), the rows' elements from i on, and keeps what it changes; the first evaluates
 *                                 the producers
 *                 TERM_IN(fresh)  takes what is made of them into the accumulators; where fresh is 0 a lane is left out
 *                 TERMS, TERM(e), TERMS_IN  declare the terms of UNROLL vectors, compute the e-th, and take them all
 *               and between the loops R0, R1, …, the same for all lanes and items of a row; at the end a loop or STORED runs the end
 *               section
 *   DEEP 1      an item takes units; rows are kept in its part of `scratch`, padded to whole vectors
 *   DEEP 0      a work-group of L items takes rows; they are kept in local memory (ROW_LOCAL elements each) or in `scratch` */

#if DEEP
#if BY_COLUMNS
#define KEPT(line, i) VLOAD(line, m * W)
#define KEEP(line, i, v) VSTORE(line, m * W, v)
#define EACH(k, e)                     \
    {                                  \
        const IDX m = j + (e);         \
        MIDDLE(m) MAP##k(i) TERM##k(e) \
    }
#define LOOP_MOVED(k)                                            \
    {                                                            \
        IDX j = 0;                                               \
        for (; j + UNROLL <= n; j += UNROLL) {                   \
            TERMS##k EACH(k, 0) EACH(k, 1) EACH(k, 2) EACH(k, 3) \
            TERMS_IN##k                                          \
        }                                                        \
        for (IDX m = j; m < n; m++) {                            \
            MIDDLE(m) MAP##k(i) TERM_IN##k(-1)                   \
        }                                                        \
    }
#define LOOP_PADDED LOOP_MOVED
#define LOOP_STORED(k) for (IDX m = 0; m < n; m++) { MIDDLE(m) MAP##k(i) E_EVAL(i) E_STORE(i) }
#define STORED MIDDLE(0) E_EVAL(i) E_STORE(i)
#define TOGETHER(name, s, r) const TA r = s.a0;
#else
#define KEPT(line, i) VLOAD(line, i)
#define KEEP(line, i, v) VSTORE(line, i, v)
#define FRESH(first, end) ((LANE_NUMBERS >= (VEC(int))(first)) & (LANE_NUMBERS < (VEC(int))(end)))
#define EACH(k, e)                 \
    {                              \
        const IDX i = j + (e) * W; \
        MAP##k(i) TERM##k(e)       \
    }
/* Vectors in fours, then one by one; then what is left: in the first loop the last vector moved back, where what it keeps is the
 * same again; else the vector runs over the padding. */
#define LOOP(k, rest, first, end)                                \
    {                                                            \
        IDX j = 0;                                               \
        for (; j + UNROLL * W <= n; j += UNROLL * W) {           \
            TERMS##k EACH(k, 0) EACH(k, 1) EACH(k, 2) EACH(k, 3) \
            TERMS_IN##k                                          \
        }                                                        \
        for (; j < n; j += W) {                                  \
            const IDX i = REST(j, n, rest);                      \
            MAP##k(i)                                            \
            TERM_IN##k(FRESH(first, end))                        \
        }                                                        \
    }
#if W == 1 /* as MOVED has it */
#define REST(j, n, rest) (j)
#else
#define REST(j, n, rest) (j + W <= n ? j : (rest))
#endif
#define LOOP_MOVED(k) LOOP(k, n - W, (int)(j - i), W)
#define LOOP_PADDED(k) LOOP(k, j, 0, (int)min(n - i, (IDX)W))
#define LOOP_STORED(k)                 \
    for (IDX j = 0; j < n; j += W) {   \
        const IDX i = MOVED(j, n);     \
        MAP##k(i) E_EVAL(i) E_STORE(i) \
    }
#define TOGETHER(name, s, r) fold_lanes_##name(&s); const TA r = (TA)(LANE0(s.a0));
#define STORED E_EVAL(0) E_STORE(0)
#endif

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void row(PARAMS const IDX units, const IDX n, const IDX inner, const IDX per,
                                                                  const IDX padded, __global TA1 *scratch)
{
    const IDX item = (IDX)get_global_id(0);
    const IDX end = min((item + 1) * per, units);
    __global TA1 *const row = scratch + item * ROWS * padded;
#if ROWS == 2
    __global TA1 *const second = row + padded;
#endif
#if BY_COLUMNS
    const IDX vectors = (inner + W - 1) / W;
    for (IDX u = item * per; u < end; u++) {
        const IDX o = u / vectors, i = MOVED((u - o * vectors) * W, inner);
        OUTER(o)
        PHASES
    }
#else
    for (IDX i = n; i < padded; i++) row[i] = row[(ROWS - 1) * padded + i] = 0;
    for (IDX o = item * per; o < end; o++) {
        OUTER(o)
        MIDDLE(0)
        PHASES
    }
#endif
}
#else
#define KEPT(line, i) line[i]
#define KEEP(line, i, v) line[i] = (v)
#define EVERY for (IDX i = lane; i < n; i += L)
#define LOOP_MOVED(k) EVERY { MAP##k(i) TERM_IN##k(1) }
#define LOOP_PADDED LOOP_MOVED
#define LOOP_STORED(k) EVERY { MAP##k(i) E_EVAL(i) E_STORE(i) }
#define TOGETHER(name, s, r)                                                        \
    tree[lane] = s.a0;                                                              \
    barrier(CLK_LOCAL_MEM_FENCE);                                                   \
    for (int reach = L / 2; reach > 0; reach /= 2) {                                \
        if (lane < reach) tree[lane] = join_##name(tree[lane], tree[lane + reach]); \
        barrier(CLK_LOCAL_MEM_FENCE);                                               \
    }                                                                               \
    const TA r = tree[0];                                                           \
    barrier(CLK_LOCAL_MEM_FENCE);
#define STORED E_EVAL(0) E_STORE(0)

__kernel __attribute__((reqd_work_group_size(L, 1, 1))) void row(PARAMS const IDX units, const IDX n, const IDX inner, const IDX per,
                                                                  const IDX padded, __global TA1 *scratch)
{
    __local TA1 tree[L];
    const int lane = (int)get_local_id(0);
#if ROW_LOCAL
    __local TA1 row[ROW_LOCAL];
#if ROWS == 2
    __local TA1 second[ROW_LOCAL];
#endif
#else
    __global TA1 *const row = scratch + (IDX)get_group_id(0) * ROWS * padded;
#if ROWS == 2
    __global TA1 *const second = row + padded;
#endif
#endif
    for (IDX o = (IDX)get_group_id(0); o < units; o += (IDX)get_num_groups(0)) { /* the same for all items of a group */
        OUTER(o)
        MIDDLE(0)
        PHASES
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    }
}
#endif
