/* Stable sort along an axis of n elements: merges from the bottom up (Knuth, The Art of Computer Programming 3, 5.2.4), the
 * work of long merges cut along the merge path (Odeh, Green, Mwassi, Shmueli and Birk 2012).
 *
 *   line      the n elements at point o of the OUTER axes; the sorted axis is INNER
 *   item      an element's key, an unsigned integer in the order wanted, and behind it its place: no two items are equal
 *   sort      a unit is TILE elements of a line, sorted in private memory: blocks of BLOCK by rank, then merged
 *   sort_merge  merges runs of `run` items, two by two; a unit is SPAN items of what comes out
 * The items lie in [lines][n]. The last kernel fetches the elements once more, from the items' places, and stores the results.
 *   LETTER    of the elements' compute type; flip: all bits set to turn the order round
 *   PAIRS     1: keys, or places, of 64 bits */

/* Floats as integers of their order: NaN is the greatest, -0 is +0. */
static uint key_f(float v)
{
    const uint bits = as_uint(v), size = bits & 0x7fffffffu;
    return size > 0x7f800000u ? 0xffffffffu : size == 0u ? 0x80000000u : bits == size ? bits | 0x80000000u : ~bits;
}
#ifdef USES_DOUBLE
static ulong key_d(double v)
{
    const ulong bits = as_ulong(v), size = bits & 0x7ffffffffffffffful;
    return size > 0x7ff0000000000000ul ? 0xfffffffffffffffful
           : size == 0ul               ? 0x8000000000000000ul
           : bits == size              ? bits | 0x8000000000000000ul
                                       : ~bits;
}
#endif
#define key_i(v) (as_uint(v) ^ 0x80000000u)
#define key_u(v) (v)
#define key_l(v) (as_ulong(v) ^ 0x8000000000000000ul)
#define key_m(v) (v)
#define KEY(v) (CAT(key_, LETTER)(v))

#if PAIRS
typedef struct {
    ulong key, place;
} item;
#define ITEM(k, at) ((item){(ulong)(k) ^ flip, (ulong)(at)})
#define PLACE(x) ((IDX)(x).place)
#define BEFORE(a, b) (((a).key < (b).key) | (((a).key == (b).key) & ((a).place < (b).place)))
#else
typedef ulong item;
#define ITEM(k, at) ((((ulong)(k) << 32) ^ flip) | (ulong)(at))
#define PLACE(x) ((IDX)((x) & 0xfffffffful))
#define BEFORE(a, b) ((a) < (b))
#endif

/* Merges count items from two runs, that go on at i and j of `from`. Where neither can end, nothing but the keys decides: that is
 * not a branch. */
#define MERGE(from, i, i_end, j, j_end, to, count)                                                       \
    for (int k = 0; k < count;) {                                                                        \
        const IDX safe = min(min(i_end - i, j_end - j), (IDX)(count - k));                               \
        const int end = k + (safe > 0 ? (int)safe : count - k);                                          \
        for (; safe > 0 && k < end; k++) {                                                               \
            const item x = from[i], y = from[j];                                                         \
            const int left = BEFORE(x, y) ? 1 : 0;                                                       \
            to[k] = left ? x : y;                                                                        \
            i += left;                                                                                   \
            j += 1 - left;                                                                               \
        }                                                                                                \
        for (; k < end; k++) to[k] = from[i < i_end ? i++ : j++];                                        \
    }

/* Puts count sorted items in their places from `at` on in line o; the last time they are the results. */
#define RESULT P0_VALUE
#define RESULT1 ((long)place)
#define PUT(sorted, at, count, last)                                          \
    if (last)                                                                 \
        for (int k = 0; k < count; k++) {                                     \
            const IDX place = PLACE(sorted[k]);                               \
            P0_EVAL(place)                                                    \
            E_EVAL(at + k)                                                    \
            E_STORE(at + k)                                                   \
        }                                                                     \
    else                                                                      \
        for (int k = 0; k < count; k++) to[o * n + at + k] = sorted[k];

#if DEEP
#define GROUP __attribute__((reqd_work_group_size(1, 1, 1)))
#else
#define GROUP
#endif
/* The item's units one after the other; the lines of a part are neighbours. */
#define FOR_UNITS                                                                     \
    const IDX first = (IDX)get_global_id(0) * per, end = min(first + per, units);     \
    for (IDX u = first; u < end; u++)
#define UNIT                         \
    const IDX part = u / lines;      \
    const IDX o = u - part * lines;  \
    P0_OUTER(o)                      \
    P0_MIDDLE(0)                     \
    E_OUTER(o)                       \
    E_MIDDLE(0)

static void sort_block(const item *from, item *to, int count)
{
    for (int i = 0; i < count; i++) {
        int rank = 0;
        for (int j = 0; j < count; j++) rank += BEFORE(from[j], from[i]) ? 1 : 0;
        to[rank] = from[i];
    }
}

__kernel GROUP void sort(PARAMS const IDX n, const IDX lines, const IDX units, const IDX per, const ulong flip, __global item *to)
{
    item tile[2][TILE];
    FOR_UNITS
    {
        UNIT
        const IDX at = part * TILE;
        const int count = (int)min((IDX)TILE, n - at);
        int now = 1;
        for (int k = 0; k < count; k++) {
            P0_EVAL(at + k)
            tile[0][k] = ITEM(KEY(P0_VALUE), at + k);
        }
        for (int k = 0; k < count; k += BLOCK) sort_block(tile[0] + k, tile[1] + k, min(BLOCK, count - k));
        for (int run = BLOCK; run < count; run *= 2, now = !now)
            for (int lo = 0; lo < count; lo += 2 * run) {
                const IDX mid = min(lo + run, count), hi = min(lo + 2 * run, count);
                IDX i = lo, j = mid;
                MERGE(tile[now], i, mid, j, hi, (tile[!now] + lo), (int)(hi - lo))
            }
        PUT(tile[now], at, count, n <= TILE)
    }
}

/* How many of the first d items of two runs merged are the left one's. */
static IDX path(__global const item *left, IDX lefts, __global const item *right, IDX rights, IDX d)
{
    IDX low = max(d - rights, (IDX)0), high = min(d, lefts);
    while (low < high) {
        const IDX middle = (low + high) / 2;
        if (BEFORE(left[middle], right[d - 1 - middle]))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

__kernel GROUP void sort_merge(PARAMS const IDX n, const IDX lines, const IDX units, const IDX per, const IDX run,
                               __global const item *from, __global item *to)
{
    item merged[SPAN];
    FOR_UNITS
    {
        UNIT
        __global const item *const line = from + o * n;
        const IDX at = part * SPAN, lo = at / (2 * run) * (2 * run), mid = min(lo + run, n), hi = min(lo + 2 * run, n);
        const int count = (int)min((IDX)SPAN, n - at);
        IDX i = lo + path(line + lo, mid - lo, line + mid, hi - mid, at - lo), j = mid + (at - i);
        MERGE(line, i, mid, j, hi, merged, count)
        PUT(merged, at, count, 2 * run >= n)
    }
}
