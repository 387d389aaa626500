/* The order of a line as loops in C, for elements T (S, IS_FLOAT as in graph/scalar_c.h). */
#include "graph/scalar_c.h"

#if IS_FLOAT
#define BEFORE(a, b) ((a) < (b) || ((a) == (a) && (b) != (b))) /* NaN is the greatest */
#else
#define BEFORE(a, b) ((a) < (b))
#endif

/* Merges places from[lo … mid) and from[mid … hi), both in order, into to: at equal values the left one comes first. */
static void JOIN(merge, S)(const T *x, bool descending, const int64_t *from, int64_t *to, int64_t lo, int64_t mid, int64_t hi)
{
    int64_t i = lo, j = mid;
    for (int64_t k = lo; k < hi; k++) {
        const bool left = j == hi || (i < mid && !(descending ? BEFORE(x[from[i]], x[from[j]]) : BEFORE(x[from[j]], x[from[i]])));
        to[k] = left ? from[i++] : from[j++];
    }
}

/* Bottom-up merge sort of the places of x's n elements, then of x. spare: n places more. */
static void JOIN(sort, S)(int64_t n, void *line, int64_t *places, int64_t *spare, bool descending)
{
    T *x = line;
    int64_t *from = places, *to = spare;
    for (int64_t i = 0; i < n; i++) places[i] = i;
    for (int64_t run = 1; run < n; run *= 2) {
        for (int64_t lo = 0; lo < n; lo += 2 * run)
            JOIN(merge, S)(x, descending, from, to, lo, lo + run < n ? lo + run : n, lo + 2 * run < n ? lo + 2 * run : n);
        int64_t *const turn = from;
        from = to;
        to = turn;
    }
    if (from != places) memcpy(places, from, (size_t)n * sizeof *places);
    T *sorted = (T *)(void *)spare;
    for (int64_t i = 0; i < n; i++) sorted[i] = x[places[i]];
    memcpy(x, sorted, (size_t)n * sizeof *x);
}
#undef BEFORE
