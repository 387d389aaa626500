/* What reductions share: accumulating in levels, and the lanes of a vector. Included once per reduction of a program; RED(x)
 * puts the reduction's name behind x.
 *   TA          W-wide accumulator type, TA1 its scalar, TA_BYTES of that
 *   INIT        the neutral value; COMBINE(a, b); SELA(mask, a, b)
 *   INDEXED     1: the place of the chosen element goes along (argmax); BETTER(a, b) is non-zero when b is to replace a
 *   PLACE       the type of places, int unless defined before; l or i is PLACE_LETTER
 * Partial results are flushed into the next level every 32 steps, so that the error of a sum grows with log n. A step takes a
 * vector, or UNROLL of them, which are combined in pairs first. */
#ifndef LANE_NUMBERS
#define UNROLL 4
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
/* FOLD(turned) takes the lanes that stand half, a quarter … of a vector behind */
#if W == 2
#define FOLDS FOLD(s10)
#elif W == 4
#define FOLDS FOLD(s2301) FOLD(s1230)
#elif W == 8
#define FOLDS FOLD(s45670123) FOLD(s23456701) FOLD(s12345670)
#elif W == 16
#define FOLDS FOLD(s89abcdef01234567) FOLD(s456789abcdef0123) FOLD(s23456789abcdef01) FOLD(s123456789abcdef0)
#else
#define FOLDS
#endif
#ifndef PLACE
#define PLACE int
#define PLACE_LETTER i
#define PLACE_LAST INT_MAX
#endif
#define Tp VEC(PLACE)
#define PLACES(first, apart) ((Tp)(first) + TO(PLACE, LANE_NUMBERS) * (Tp)(apart))
/* int lanes (0 and -1; scalar 0 and 1) as a mask of the accumulator's size, any lanes as one of a place's size */
#if TA_BYTES == 8
#define MASK_TA(c) TO(long, c)
#else
#define MASK_TA(c) (c)
#endif
#define MASK_PLACE(c) TO(PLACE, c)
#define SEL_PLACE(c, a, b) CAT(SEL_, PLACE_LETTER)(c, a, b)
#define RED(x) CAT(x, RED_NAME)
#endif

typedef struct {
    TA a0, a1, a2;
    int steps;
#if INDEXED
    Tp at;
#endif
} RED(accumulator);

/* first: the place of lane 0's first element; lanes are `apart`. A place is kept until something better comes, and of equal ones the
 * first wins in the end: INIT may be all there is. */
static void RED(start)(RED(accumulator) *s, PLACE first, PLACE apart)
{
    s->a0 = s->a1 = s->a2 = (TA)(INIT);
    s->steps = 0;
#if INDEXED
    s->at = PLACES(first, apart);
#endif
}

#if INDEXED
static void RED(take)(TA *a, Tp *at, TA b, Tp bt)
{
    const TA replace = BETTER(*a, b), hold = BETTER(b, *a);
    *at = SEL_PLACE(MASK_PLACE(replace != (TA)(0)) | (MASK_PLACE(hold == (TA)(0)) & MASK_PLACE(bt < *at)), bt, *at);
    *a = SELA(replace != (TA)(0), b, *a);
}
#endif

/* A full vector, no lane left out. first: the place of lane 0, behind all before. */
static void RED(step_all)(RED(accumulator) *s, TA v, PLACE first, PLACE apart)
{
#if INDEXED
    const TA replace = BETTER(s->a0, v);
    s->at = SEL_PLACE(MASK_PLACE(replace != (TA)(0)), PLACES(first, apart), s->at);
    s->a0 = SELA(replace != (TA)(0), v, s->a0);
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

/* The same; where `fresh` (int lanes) is 0 the lane is left out. */
static void RED(step_in)(RED(accumulator) *s, TA v, VEC(int) fresh, PLACE first, PLACE apart)
{
    RED(step_all)(s, SELA(MASK_TA(fresh), v, (TA)(INIT)), first, apart);
}

/* UNROLL full vectors, `on` places from one to the next. */
static void RED(step_many)(RED(accumulator) *s, const TA *v, PLACE first, PLACE apart, PLACE on)
{
#if INDEXED
    for (int i = 0; i < UNROLL; i++) RED(step_all)(s, v[i], first + i * on, apart);
#else
    RED(step_all)(s, COMBINE(COMBINE(v[0], v[1]), COMBINE(v[2], v[3])), first, apart);
#endif
}

static void RED(levels)(RED(accumulator) *s)
{
#if !INDEXED
    s->a0 = COMBINE(s->a2, COMBINE(s->a1, s->a0));
#endif
}

#if INDEXED
#define FOLD(turned) RED(take)(&s->a0, &s->at, s->a0.turned, s->at.turned);
#else
#define FOLD(turned) s->a0 = COMBINE(s->a0, s->a0.turned);
#endif
/* All lanes into lane 0 by halving. */
static void RED(fold_lanes)(RED(accumulator) *s)
{
    FOLDS
}
#undef FOLD
