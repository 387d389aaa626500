/* Elementwise expressions some of whose inputs are contiguous along another axis, of nt elements, than the outputs, of n0.
 *
 *   OUTER(o)        declares the places at point o of all other axes
 *   TILES(m, i, n)  loads tile n of each such input, W x W elements, by vectors along its own axis, and turns it; E_TILES declares them
 *   ROW(m)          declares the places of row m; EVAL(i) takes row r of tile n
 *   BESIDE          tiles beside each other that fill a line of the cache in the outputs
 * A unit is one such line by `run` rows: the inputs are read as few long streams, and a line is written at once. */

/* Turns x[0 … W - 1]. */
#ifdef __SPIR__
/* By elements: Oclgrind crashes at vectors made of vectors (docs/drivers.md). */
#define TURN(type, x)                                                                \
    {                                                                                \
        type rows[W * W], column[W];                                                 \
        for (int k = 0; k < W; k++) VSTORE(rows, k * W, (x)[k]);                     \
        for (int k = 0; k < W; k++) {                                                \
            for (int lane = 0; lane < W; lane++) column[lane] = rows[lane * W + k];  \
            (x)[k] = VLOAD(column, 0);                                               \
        }                                                                            \
    }
#else
/* By J. O. Eklundh's method (A fast computer method for matrix transposing, 1972): blocks beside the diagonal
 * change places, the largest first. */
#define CHANGE(type, x, step, above, below)                   \
    _Pragma("unroll") for (int k = 0; k < W; k++)             \
        if ((k & (step)) == 0) {                              \
            const VEC(type) a = x[k], b = x[k + (step)];      \
            x[k] = (VEC(type))above, x[k + (step)] = (VEC(type))below; \
        }
#define HALVES(type, x) CHANGE(type, x, W / 2, (a.lo, b.lo), (a.hi, b.hi))
#if W == 2
#define TURN(type, x) HALVES(type, x)
#elif W == 4
#define TURN(type, x) HALVES(type, x) CHANGE(type, x, 1, (a.s0, b.s0, a.s2, b.s2), (a.s1, b.s1, a.s3, b.s3))
#elif W == 8
#define TURN(type, x)                                                                             \
    HALVES(type, x)                                                                               \
    CHANGE(type, x, 2, (a.s01, b.s01, a.s45, b.s45), (a.s23, b.s23, a.s67, b.s67))                \
    CHANGE(type, x, 1, (a.s0, b.s0, a.s2, b.s2, a.s4, b.s4, a.s6, b.s6), (a.s1, b.s1, a.s3, b.s3, a.s5, b.s5, a.s7, b.s7))
#else
#define TURN(type, x)                                                                             \
    HALVES(type, x)                                                                               \
    CHANGE(type, x, 4, (a.s0123, b.s0123, a.s89ab, b.s89ab), (a.s4567, b.s4567, a.scdef, b.scdef)) \
    CHANGE(type, x, 2, (a.s01, b.s01, a.s45, b.s45, a.s89, b.s89, a.scd, b.scd),                  \
           (a.s23, b.s23, a.s67, b.s67, a.sab, b.sab, a.sef, b.sef))                              \
    CHANGE(type, x, 1,                                                                            \
           (a.s0, b.s0, a.s2, b.s2, a.s4, b.s4, a.s6, b.s6, a.s8, b.s8, a.sa, b.sa, a.sc, b.sc, a.se, b.se), \
           (a.s1, b.s1, a.s3, b.s3, a.s5, b.s5, a.s7, b.s7, a.s9, b.s9, a.sb, b.sb, a.sd, b.sd, a.sf, b.sf))
#endif
#endif
#define TILE(type, x, p, at, step)                                                        \
    _Pragma("unroll") for (int k = 0; k < W; k++) (x)[k] = VLOAD(p, (at) + k * (step));   \
    TURN(type, (x))

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void tiled(PARAMS const IDX n0, const IDX nt, const IDX bands, const IDX run,
                                                                    const IDX runs, const IDX units, const IDX per)
{
    IDX u = (IDX)get_global_id(0) * per;
    const IDX end = min(u + per, units);
    for (; u < end; u++) {
        const IDX block = u / bands, o = block / runs, band = (u - block * bands) * (BESIDE * W);
        const IDX first = (block - o * runs) * run, last = min(first + run, nt);
        OUTER(o)
        for (IDX j = first; j < last; j += W) {
            const IDX m = MOVED(j, nt);
            DECLARE_TILES
            for (int n = 0; n < BESIDE; n++) {
                TILES(m, MOVED(band + n * W, n0), n)
            }
            for (int r = 0; r < W; r++) {
                ROW(m + r)
                for (int n = 0; n < BESIDE; n++) {
                    const IDX i = MOVED(band + n * W, n0);
                    EVAL(i)
                    STORE(i)
                }
            }
        }
    }
}
