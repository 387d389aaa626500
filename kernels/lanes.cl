/* What reductions share: accumulating in levels, and the lanes of a vector. Included once per reduction of a program; RED(x)
 * puts the reduction's name behind x.
 *   TA          W-wide accumulator type, TA1 its scalar, TA_BYTES of that
 *   INIT        the neutral value; COMBINE(a, b); SELA(mask, a, b)
 *   INDEXED     1: the place of the chosen element goes along (argmax); BETTER(a, b) is non-zero when b is to replace a
 * Partial results are flushed into the next level every 32 steps, so that the error of a sum grows with log n. */
#ifndef LANE_NUMBERS
#define LANE_NUMBERS (VEC(int))(LANE_LIST)
#if W == 1
#define LANE_LIST 0
#elif W == 2
#define LANE_LIST 0, 1
#elif W == 4
#define LANE_LIST 0, 1, 2, 3
#elif W == 8
#define LANE_LIST 0, 1, 2, 3, 4, 5, 6, 7
#else
#define LANE_LIST 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
#endif
/* int lanes (0 and -1; scalar 0 and 1) as a mask of the accumulator's size, any lanes as one of an index's size */
#if TA_BYTES == 8
#define MASK_TA(c) TO(long, c)
#else
#define MASK_TA(c) (c)
#endif
#define MASK_INDEX(c) TO(long, c)
#define RED(x) CAT(x, RED_NAME)
#endif

typedef struct {
    TA a0, a1, a2;
    int steps;
#if INDEXED
    Tl at;
#endif
} RED(accumulator);

static void RED(start)(RED(accumulator) *s)
{
    s->a0 = s->a1 = s->a2 = (TA)(INIT);
    s->steps = 0;
#if INDEXED
    s->at = (Tl)(LONG_MAX);
#endif
}

#if INDEXED
static void RED(take)(TA *a, Tl *at, TA b, Tl bt)
{
    const TA replace = BETTER(*a, b), hold = BETTER(b, *a);
    *at = SEL_l(MASK_INDEX(replace != (TA)(0)) | (MASK_INDEX(hold == (TA)(0)) & MASK_INDEX(bt < *at)), bt, *at);
    *a = SELA(replace != (TA)(0), b, *a);
}
#endif

/* Adds v; where `fresh` (int lanes) is 0 the lane is left out. index: of lane 0; lanes are `lane_step` apart. */
static void RED(step_in)(RED(accumulator) *s, TA v, VEC(int) fresh, long index, long lane_step)
{
#if INDEXED
    const Tl at = (Tl)(index) + TO(long, LANE_NUMBERS) * (Tl)(lane_step);
    RED(take)(&s->a0, &s->at, SELA(MASK_TA(fresh), v, (TA)(INIT)), SEL_l(MASK_INDEX(fresh), at, LONG_MAX));
#else
    s->a0 = COMBINE(s->a0, SELA(MASK_TA(fresh), v, (TA)(INIT)));
    s->steps++;
    if ((s->steps & 31) == 0) {
        s->a1 = COMBINE(s->a1, s->a0);
        s->a0 = (TA)(INIT);
        if ((s->steps & 1023) == 0) {
            s->a2 = COMBINE(s->a2, s->a1);
            s->a1 = (TA)(INIT);
        }
    }
#endif
}

/* A full vector, no lane left out. */
static void RED(step_all)(RED(accumulator) *s, TA v, long index, long lane_step)
{
#if INDEXED
    RED(step_in)(s, v, (VEC(int))(-1), index, lane_step);
#else
    s->a0 = COMBINE(s->a0, v);
    s->steps++;
    if ((s->steps & 31) == 0) {
        s->a1 = COMBINE(s->a1, s->a0);
        s->a0 = (TA)(INIT);
        if ((s->steps & 1023) == 0) {
            s->a2 = COMBINE(s->a2, s->a1);
            s->a1 = (TA)(INIT);
        }
    }
#endif
}

static void RED(levels)(RED(accumulator) *s)
{
#if !INDEXED
    s->a0 = COMBINE(s->a2, COMBINE(s->a1, s->a0));
#endif
}

/* All lanes into lane 0 by halving. */
static void RED(fold_lanes)(RED(accumulator) *s)
{
#if W > 1
    TA1 x[2 * W];
#if INDEXED
    long y[2 * W];
#endif
    for (int reach = W / 2; reach > 0; reach /= 2) {
        CAT(vstore, W)(s->a0, 0, x);
        CAT(vstore, W)(s->a0, 1, x);
        const TA other = CAT(vload, W)(0, x + reach);
#if INDEXED
        CAT(vstore, W)(s->at, 0, y);
        CAT(vstore, W)(s->at, 1, y);
        RED(take)(&s->a0, &s->at, other, CAT(vload, W)(0, y + reach));
#else
        s->a0 = COMBINE(s->a0, other);
#endif
    }
#endif
}
