/* Reductions over axes.
 *
 *   outputs  points of the result; n points are reduced into each, ni of them along the innermost reduced axis
 *   SERIAL   an item reduces one output over a segment of the n points (deep profile; wide profile where a tree does not pay)
 *   BY_COLUMNS  the same for `block` neighbouring outputs, at most BLOCK, row by row
 *   TREE     a work-group of L items reduces one output over a segment, through local memory
 * With several segments the partial results go to `partial` [segments][outputs], and reduce_finish combines them in the order
 * of the segments. Segments depend on n only. */

#if INDEXED
#define PARTIAL_OUT(cell, s) partial[cell] = LANE0(s.a0), places[cell] = LANE0(s.at)
#else
#define PARTIAL_OUT(cell, s) partial[cell] = LANE0(s.a0)
#endif
#if TREE
__kernel __attribute__((reqd_work_group_size(L, 1, 1))) void reduce(PARAMS const IDX outputs, const IDX n, const IDX ni, const IDX segment,
                                                                     const IDX segments, const IDX units, __global TA1 *partial,
                                                                     __global long *places)
{
    __local TA1 values[L];
#if INDEXED
    __local PLACE ats[L];
#endif
    const int lane = (int)get_local_id(0);
    for (IDX u = (IDX)get_group_id(0); u < units; u += (IDX)get_num_groups(0)) { /* the same for all items of a group */
        const IDX o = u / segments, part = u - o * segments;
        const IDX r0 = part * segment, r1 = min(r0 + segment, n);
        RED(accumulator) s;
        RED(start)(&s, r0 + lane, 1);
        P0_OUTER(o)
        for (IDX r = r0 + lane; r < r1; r += L) {
            const IDX m = r / ni, i = r - m * ni;
            P0_MIDDLE(m)
            P0_EVAL(i)
            RED(step_all)(&s, P0_VALUE, r, 1);
        }
        RED(levels)(&s);
        values[lane] = s.a0;
#if INDEXED
        ats[lane] = s.at;
#endif
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int reach = L / 2; reach > 0; reach /= 2) {
            if (lane < reach) {
#if INDEXED
                TA a = values[lane];
                Tp at = ats[lane];
                RED(take)(&a, &at, values[lane + reach], ats[lane + reach]);
                values[lane] = a;
                ats[lane] = at;
#else
                values[lane] = COMBINE(values[lane], values[lane + reach]);
#endif
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        if (lane == 0) {
            s.a0 = values[0];
#if INDEXED
            s.at = ats[0];
#endif
            if (segments > 1) {
                PARTIAL_OUT(part * outputs + o, s);
            } else {
                E_OUTER(o)
                E_MIDDLE(0)
                E_EVAL(0)
                E_STORE(0)
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
#else
#if DEEP
#define GROUP __attribute__((reqd_work_group_size(1, 1, 1)))
#else
#define GROUP
#endif
#if BY_COLUMNS
#define ROW(e)                          \
    {                                   \
        P0_MIDDLE(m + (e))              \
        P0_EVAL(i)                      \
        v[e] = P0_VALUE;                \
    }
#define EACH_VECTOR for (IDX k = 0, j = c0, i; i = MOVED(j, columns), j < c1; k++, j += W)
__kernel GROUP void reduce(PARAMS const IDX outputs, const IDX n, const IDX segment, const IDX segments, const IDX units, const IDX per,
                           const IDX columns, const IDX block, __global TA1 *partial, __global long *places)
{
    IDX u = (IDX)get_global_id(0) * per;
    const IDX end = min(u + per, units), blocks = (columns + block - 1) / block;
    RED(accumulator) all[BLOCK / W];
    for (; u < end; u++) {
        const IDX unit = u / segments, part = u - unit * segments;
        const IDX r0 = part * segment, r1 = min(r0 + segment, n);
        const IDX o = unit / blocks, c0 = (unit - o * blocks) * block, c1 = min(c0 + block, columns);
        P0_OUTER(o)
        EACH_VECTOR RED(start)(&all[k], r0, 0);
        IDX m = r0;
        for (; m + UNROLL <= r1; m += UNROLL)
            EACH_VECTOR {
                TA v[UNROLL];
                ROW(0) ROW(1) ROW(2) ROW(3)
                RED(step_many)(&all[k], v, m, 0, 1);
            }
        for (; m < r1; m++) {
            P0_MIDDLE(m)
            EACH_VECTOR {
                P0_EVAL(i)
                RED(step_all)(&all[k], P0_VALUE, m, 0);
            }
        }
        EACH_VECTOR {
            RED(accumulator) s = all[k];
            RED(levels)(&s);
            if (segments > 1) {
                const IDX at = part * outputs + o * columns + i;
                VSTORE(partial, at, s.a0);
#if INDEXED
                VSTORE(places, at, TO(long, s.at));
#endif
            } else {
                E_OUTER(o)
                E_MIDDLE(0)
                E_EVAL(i)
                E_STORE(i)
            }
        }
    }
}
#else
#define VECTOR(e)                       \
    {                                   \
        const IDX i = j + (e) * W;      \
        P0_EVAL(i)                      \
        v[e] = P0_VALUE;                \
    }
__kernel GROUP void reduce(PARAMS const IDX outputs, const IDX n, const IDX ni, const IDX segment, const IDX segments, const IDX units,
                           const IDX per, __global TA1 *partial, __global long *places)
{
    IDX u = (IDX)get_global_id(0) * per;
    const IDX end = min(u + per, units);
    for (; u < end; u++) {
        const IDX o = u / segments, part = u - o * segments;
        const IDX r0 = part * segment, r1 = min(r0 + segment, n);
        RED(accumulator) s;
        RED(start)(&s, r0, 1);
        P0_OUTER(o)
        for (IDX r = r0; r < r1;) {
            const IDX m = r / ni, first = r - m * ni, last = min(ni, first + (r1 - r));
            P0_MIDDLE(m)
            IDX j = first;
            for (; j + UNROLL * W <= last; j += UNROLL * W) {
                TA v[UNROLL];
                VECTOR(0) VECTOR(1) VECTOR(2) VECTOR(3)
                RED(step_many)(&s, v, r + (j - first), 1, W);
            }
            for (; j + W <= last; j += W) {
                const IDX i = j;
                P0_EVAL(i)
                RED(step_all)(&s, P0_VALUE, r + (i - first), 1);
            }
#if W > 1
            if (j < last) { /* the last vector moved back (or forward to the row's start); lanes seen before are left out */
                const IDX i = max(last - W, (IDX)0);
                P0_EVAL(i)
                const VEC(int) lanes = LANE_NUMBERS + (VEC(int))((int)(i - j));
                RED(step_in)(&s, P0_VALUE, (lanes >= (VEC(int))(0)) & (lanes < (VEC(int))((int)(last - j))), r + (i - first), 1);
            }
#endif
            r += last - first;
        }
        RED(levels)(&s);
        RED(fold_lanes)(&s);
        if (segments > 1) {
            PARTIAL_OUT(part * outputs + o, s);
        } else {
            E_OUTER(o)
            E_MIDDLE(0)
            E_EVAL(0)
            E_STORE(0)
        }
    }
}
#endif
#endif

__kernel void reduce_finish(PARAMS const IDX outputs, const IDX segments, const IDX units, const IDX columns, __global const TA1 *partial,
                            __global const long *places)
{
    for (IDX u = (IDX)get_global_id(0); u < units; u += (IDX)get_global_size(0)) {
        RED(accumulator) s;
        RED(start)(&s, PLACE_LAST, 0);
#if BY_COLUMNS
        const IDX vectors = (columns + W - 1) / W;
        const IDX o = u / vectors;
        const IDX i = MOVED((u - o * vectors) * W, columns);
        const IDX out = o * columns + i;
#else
        const IDX o = u, i = 0, out = u;
#endif
        for (IDX part = 0; part < segments; part++) {
            const IDX at = part * outputs + out;
#if BY_COLUMNS
            const TA v = VLOAD(partial, at);
#else
            const TA v = (TA)(partial[at]);
#endif
#if INDEXED
#if BY_COLUMNS
            RED(take)(&s.a0, &s.at, v, TO(PLACE, VLOAD(places, at)));
#else
            RED(take)(&s.a0, &s.at, v, (Tp)((PLACE)places[at]));
#endif
#else
            RED(step_all)(&s, v, 0, 0);
#endif
        }
        RED(levels)(&s);
        E_OUTER(o)
        E_MIDDLE(0)
        E_EVAL(i)
        E_STORE(i)
    }
}
