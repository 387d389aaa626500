/* One elementwise expression over SEGMENTS lists of values of different lengths.
 *
 * Units of `run` elements are numbered through all segments. Row s of meta (ROW numbers) holds a segment's places (the e
 * macros, at `place`), then its extent, then its first unit. SELECT(s) chooses the inputs' pointers.
 *   DEEP 1   an item takes `per` units in a row;  DEEP 0   items step through the units together
 * A segment shorter than a vector is done element by element (the S macros). */
#define EXTENT(s) ((IDX)meta[(s) * ROW + ROW - 2])
#define FIRST(s) ((IDX)meta[(s) * ROW + ROW - 1])
#if DEEP
#define GROUP __attribute__((reqd_work_group_size(1, 1, 1)))
#define UNITS for (IDX u = (IDX)get_global_id(0) * per; u < min(((IDX)get_global_id(0) + 1) * per, units); u++)
#else
#define GROUP
#define UNITS for (IDX u = (IDX)get_global_id(0); u < units; u += (IDX)get_global_size(0))
#endif

__kernel GROUP void segments(PARAMS const IDX run, const IDX units, const IDX per)
{
    int s = 0;
    UNITS {
        while (s + 1 < SEGMENTS && u >= FIRST(s + 1)) s++;
        const int place = s * ROW;
        const IDX n0 = EXTENT(s), first = (u - FIRST(s)) * run, last = min(first + run, n0);
        SELECT(s)
        E_OUTER(0)
        E_MIDDLE(0)
        if (n0 < W) {
            for (IDX i = first; i < last; i++) {
                S_EVAL(i)
                S_STORE(i)
            }
        } else {
            for (IDX j = first; j < last; j += W) {
                const IDX i = MOVED(j, n0);
                E_EVAL(i)
                E_STORE(i)
            }
        }
    }
}
