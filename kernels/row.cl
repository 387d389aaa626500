/* Row kernels: a list of phases along one axis whose row is kept (softmax and its relatives).
 *
 *   rows, n     the row's n points lie on the INNER axis
 *   PHASES      generated from tables/phases.def: loops over the row; in each the row's values are mapped, then reduced into R0,
 *               R1, …; the first loop evaluates the producer, the last one the end section
 *   DEEP 1      an item takes rows; the row is kept in its part of `scratch`, padded to whole vectors
 *   DEEP 0      a work-group of L items takes rows; the row is kept in local memory (ROW_LOCAL elements) or in `scratch` */

#if DEEP
/* In loops that evaluate or store, the last vector is moved back: what it keeps is the same again. In between, vectors run over
 * the padding. FRESH leaves out lanes that were counted before, or are padding. */
#define LOOP_MOVED for (IDX j = 0, i = 0; i = MOVED(j, n), j < n; j += W)
#define LOOP_PADDED for (IDX j = 0, i = 0; i = j, j < n; j += W)
#define FRESH ((LANE_NUMBERS >= (VEC(int))((int)(j - i))) & (LANE_NUMBERS < (VEC(int))((int)min(n - i, (IDX)W))))
#define KEPT VLOAD(row, i)
#define KEEP(x) VSTORE(row, i, x)
#else
#define LOOP_MOVED for (IDX i = lane; i < n; i += L)
#define LOOP_PADDED LOOP_MOVED
#define FRESH (1)
#define KEPT row[i]
#define KEEP(x) row[i] = (x)
#endif

#if DEEP
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void row(PARAMS const IDX rows, const IDX n, const IDX per, const IDX padded,
                                                                  __global TA1 *scratch)
{
    const IDX item = (IDX)get_global_id(0);
    const IDX end = min((item + 1) * per, rows);
    __global TA1 *const row = scratch + item * padded;
    for (IDX i = n; i < padded; i++) row[i] = 0;
    for (IDX o = item * per; o < end; o++) {
        P0_OUTER(o)
        P0_MIDDLE(0)
        E_OUTER(o)
        E_MIDDLE(0)
        PHASES
    }
}
#else
__kernel __attribute__((reqd_work_group_size(L, 1, 1))) void row(PARAMS const IDX rows, const IDX n, const IDX per, const IDX padded,
                                                                  __global TA1 *scratch)
{
    __local TA1 tree[L];
    const int lane = (int)get_local_id(0);
#if ROW_LOCAL
    __local TA1 row[ROW_LOCAL];
#else
    __global TA1 *const row = scratch + (IDX)get_group_id(0) * padded;
#endif
    for (IDX o = (IDX)get_group_id(0); o < rows; o += (IDX)get_num_groups(0)) { /* the same for all items of a group */
        P0_OUTER(o)
        P0_MIDDLE(0)
        E_OUTER(o)
        E_MIDDLE(0)
        PHASES
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    }
}
#endif
