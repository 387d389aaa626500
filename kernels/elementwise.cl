/* Elementwise expressions over a domain of rows x n0 elements, n0 contiguous in memory of the result.
 *
 *   OUTER(o)     declares the places of row o in every input and output
 *   EVAL(i)      computes the expression for elements i … i + W - 1 of the row
 *   STORE(i)     stores the results
 *   DEEP         1: an item owns `per` runs of `run` elements; 0: items step through the vectors together
 * A row's last vector is moved back so that it ends with the row: n0 >= W, and storing twice is harmless. */
#if DEEP
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void elementwise(PARAMS const IDX n0, const IDX run, const IDX runs,
                                                                          const IDX units, const IDX per)
{
    IDX u = (IDX)get_global_id(0) * per;
    const IDX end = min(u + per, units);
    for (; u < end; u++) {
        const IDX o = u / runs;
        const IDX first = (u - o * runs) * run;
        const IDX last = min(first + run, n0);
        OUTER(o)
        for (IDX j = first; j < last; j += W) {
            const IDX i = MOVED(j, n0);
            EVAL(i)
            STORE(i)
        }
    }
}
#else
__kernel void elementwise(PARAMS const IDX n0, const IDX vectors, const IDX total)
{
    for (IDX t = (IDX)get_global_id(0); t < total; t += (IDX)get_global_size(0)) {
        const IDX o = t / vectors;
        const IDX i = MOVED((t - o * vectors) * W, n0);
        OUTER(o)
        EVAL(i)
        STORE(i)
    }
}
#endif
