/* Lookups into a table (graph/lookup.c).
 *   AT(index, count, code)   where an index points, negative ones from the end; what is out of range is reported and clamped
 *   SEARCH(name, …)          defines the search for the place of key among count sorted elements, step apart from place */
#define AT(index, count, code) at(fault, index, count, (int)(code))
static IDX at(__global int *fault, long index, long count, int code)
{
    const long from = index < 0 ? index + count : index;
    if (from < 0 || from >= count) report(fault, code, index, count);
    return (IDX)clamp(from, 0L, count - 1);
}

#define BEFORE_F(a, b) ((a) < (b) || (isnan(b) && !isnan(a)))
#define BEFORE_I(a, b) ((a) < (b))
#define LEFT(before, a, key) before(a, key)
#define RIGHT(before, a, key) (!before(key, a))
#define SEARCH(name, dtype, type, before, side)                                                             \
    static long name(__global const P_##dtype *table, IDX place, long count, IDX step, type key)            \
    {                                                                                                       \
        long low = 0;                                                                                       \
        while (count > 0) {                                                                                 \
            const long part = count / 2;                                                                    \
            const type a = LOAD1_##dtype(table, place + (IDX)(low + part) * step);                          \
            const bool onward = side(before, a, key);                                                       \
            low = onward ? low + part + 1 : low;                                                            \
            count = onward ? count - part - 1 : part;                                                       \
        }                                                                                                   \
        return low;                                                                                         \
    }
