/* Lookups into a table (graph/lookup.c). Nothing of 64 bits is chosen between, which rusticl gets wrong (docs/drivers.md).
 *   AT(index, count, code)   where an index points, negative ones from the end (code above 0); what is out of range is reported and clamped
 *   SEARCH(name, …)          defines the search for the place of key among count sorted elements, step apart from place
 *   FOLD(name, …)            defines the combination of elements from … to - 1 of a table with levels of `base`, in lanes that are all the same */
#define AT(index, count, code) place_of_index(fault, index, count, (int)(code))
static IDX place_of_index(__global int *fault, long index, long count, int code)
{
    const long from = index + (count & (index >> 63) & -(long)(code > 0));
    IDX at = (IDX)from;
    if (from < 0 || from >= count) {
        report_fault(fault, (int)abs(code), index, count);
        at = index < 0 ? 0 : (IDX)count - 1;
    }
    return at;
}

#define BEFORE_F(a, b) ((a) < (b) || (isnan(b) && !isnan(a)))
#define BEFORE_I(a, b) ((a) < (b))
#define LEFT(before, a, key) before(a, key)
#define RIGHT(before, a, key) (!before(key, a))
#define SEARCH(name, dtype, type, before, side)                                                      \
    static long name(__global const P_##dtype *table, IDX place, long count, IDX step, type key)     \
    {                                                                                                \
        IDX low = 0;                                                                                 \
        for (IDX n = (IDX)count; n > 0; n = n == 1 ? 0 : n - n / 2) { /* as often for every key */   \
            const IDX part = n == 1 ? 1 : n / 2;                                                     \
            const type a = LOAD1_##dtype(table, place + (low + part - 1) * step);                    \
            low += side(before, a, key) ? part : 0;                                                  \
        }                                                                                            \
        return low;                                                                                  \
    }

#define TAKE(dtype, lanes, first, last, COMBINE)                                  \
    for (IDX k = first; k < (last); k++) {                                        \
        const lanes v = (lanes)(LOAD1_##dtype(table, place + (level + k) * step)); \
        if (any)                                                                  \
            a = COMBINE;                                                          \
        else                                                                      \
            a = v;                                                                \
        any = true;                                                               \
    }
#define FOLD(name, dtype, type, lanes, base, COMBINE)                                                      \
    static type name(__global const P_##dtype *table, IDX place, long count, IDX step, long first, long last) \
    {                                                                                                      \
        lanes a = (lanes)(0);                                                                              \
        bool any = false;                                                                                  \
        IDX from = (IDX)first, to = (IDX)last, n = (IDX)count, level = 0;                                  \
        while (from < to) {                                                                                \
            const IDX up = (from + base - 1) / base, down = to / base;                                     \
            const bool done = up >= down;                                                                  \
            TAKE(dtype, lanes, from, done ? to : up * base, COMBINE)                                       \
            TAKE(dtype, lanes, done ? to : down * base, to, COMBINE)                                       \
            level += n;                                                                                    \
            n /= base;                                                                                     \
            from = done ? to : up;                                                                         \
            to = done ? to : down;                                                                         \
        }                                                                                                  \
        return LANE0(a);                                                                                   \
    }
