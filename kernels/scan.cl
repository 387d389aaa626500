/* Scans along an axis of n elements (tables/scans.def).
 *
 *   line      the n elements at point o of the OUTER axes and place c of the INNER one; the scanned axis is MIDDLE
 *   unit      W neighbouring lines, each in a lane of its own; an item takes `per` units, one after the other
 *   INIT      the neutral value; COMBINE(a, b)
 * A long line is cut into segments, which are units of their own: scan_totals combines each, scan_offsets what lies before each,
 * and scan goes on from there. totals and offsets are [segments][lines].
 * What was accumulated is flushed into the next level every 32 elements, so that the error of a sum grows with log n. */
#define LEVELS 5

typedef struct {
    TA level[LEVELS]; /* from 1 on */
    TA base, before, newest;
} accumulator;

static void start(accumulator *a, TA base)
{
    a->base = a->before = base;
    a->newest = (TA)(INIT);
    for (int k = 1; k < LEVELS; k++) a->level[k] = (TA)(INIT);
}

static TA total(const accumulator *a)
{
    return COMBINE(a->before, a->newest);
}

/* Takes in element number i. */
static TA take(accumulator *a, TA v, IDX i)
{
    a->newest = COMBINE(a->newest, v);
    const TA result = total(a);
    if (((i + 1) & 31) == 0) {
        a->level[1] = COMBINE(a->level[1], a->newest);
        a->newest = (TA)(INIT);
        IDX rest = (i + 1) >> 5;
        for (int k = 1; k + 1 < LEVELS && (rest & 31) == 0; k++, rest >>= 5) {
            a->level[k + 1] = COMBINE(a->level[k + 1], a->level[k]);
            a->level[k] = (TA)(INIT);
        }
        TA before = a->level[LEVELS - 1];
        for (int k = LEVELS - 2; k > 0; k--) before = COMBINE(before, a->level[k]);
        a->before = COMBINE(a->base, before);
    }
    return result;
}

#if DEEP
#define GROUP __attribute__((reqd_work_group_size(1, 1, 1)))
#else
#define GROUP
#endif
#define SHAPE                                                                                                         \
    const IDX n, const IDX columns, const IDX lines, const IDX segment, const IDX segments, const IDX units, const IDX per
/* The item's units one after the other: o, c and `line`, the first lane's line. */
#define FOR_UNITS                                                                     \
    const IDX vectors = (columns + W - 1) / W, in_part = lines / columns * vectors;   \
    const IDX first = (IDX)get_global_id(0) * per, end = min(first + per, units);     \
    for (IDX u = first; u < end; u++)
#define UNIT                                                         \
    const IDX part = u / in_part, unit = u - part * in_part;         \
    const IDX o = unit / vectors;                                    \
    const IDX c = MOVED((unit - o * vectors) * W, columns);          \
    const IDX line = o * columns + c;

__kernel GROUP void scan(PARAMS SHAPE, __global const TA1 *offsets)
{
    FOR_UNITS
    {
        UNIT
        const IDX m0 = part * segment, m1 = min(m0 + segment, n);
        accumulator a;
        start(&a, (TA)(INIT));
        if (segments > 1) start(&a, VLOAD(offsets, part * lines + line));
        P0_OUTER(o)
        E_OUTER(o)
        for (IDX m = m0; m < m1; m++) {
            P0_MIDDLE(m)
            P0_EVAL(c)
            const TA s = take(&a, P0_VALUE, m - m0);
            E_MIDDLE(m)
            E_EVAL(c)
            E_STORE(c)
        }
    }
}

__kernel GROUP void scan_totals(PARAMS SHAPE, __global TA1 *totals)
{
    FOR_UNITS
    {
        UNIT
        const IDX m0 = part * segment, m1 = min(m0 + segment, n);
        accumulator a;
        start(&a, (TA)(INIT));
        P0_OUTER(o)
        for (IDX m = m0; m < m1; m++) {
            P0_MIDDLE(m)
            P0_EVAL(c)
            (void)take(&a, P0_VALUE, m - m0);
        }
        VSTORE(totals, part * lines + line, total(&a));
    }
}

__kernel GROUP void scan_offsets(PARAMS SHAPE, __global const TA1 *totals, __global TA1 *offsets)
{
    FOR_UNITS
    {
        UNIT
        accumulator a;
        start(&a, (TA)(INIT));
        for (IDX i = part; i < segments; i++) { /* part is 0 */
            const IDX at = i * lines + line;
            VSTORE(offsets, at, total(&a));
            (void)take(&a, VLOAD(totals, at), i);
        }
    }
}
