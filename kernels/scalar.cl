/* The OpenCL meaning of the macros in which operations are written (tables/elementwise.def, functions.def).
 *
 * The generator puts the letter of the compute type behind every macro: ADD in f32 is ADD_f.
 *   letter   f float, d double, i int, u uint, l long, m ulong
 *   W        lanes of every value: 1, 2, 4, 8 or 16
 *   Tf …     the W-wide type of each letter
 * Comparisons give masks: 0 and 1 for scalars, 0 and -1 per lane for vectors; SEL takes either. */
#pragma OPENCL FP_CONTRACT OFF
#ifdef USES_DOUBLE
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

#define CAT_(a, b) a##b
#define CAT(a, b) CAT_(a, b)
#if W == 1
#define VEC(type) type
#define AS(type, x) CAT(as_, type)(x)
#define TO(type, x) ((type)(x))
#define MASK64(c) ((long)(c))
#define MASK32(c) ((int)(c))
#else
#define VEC(type) CAT(type, W)
#define AS(type, x) CAT(CAT(as_, type), W)(x)
#define TO(type, x) CAT(CAT(convert_, type), W)(x)
#define MASK64(c) (c)
#define MASK32(c) (c)
#endif

#define Tf VEC(float)
#define Td VEC(double)
#define Ti VEC(int)
#define Tu VEC(uint)
#define Tl VEC(long)
#define Tm VEC(ulong)

/* comparisons: the same for all letters */
#define LT_f(a, b) ((a) < (b))
#define LE_f(a, b) ((a) <= (b))
#define GT_f(a, b) ((a) > (b))
#define GE_f(a, b) ((a) >= (b))
#define EQ_f(a, b) ((a) == (b))
#define NE_f(a, b) ((a) != (b))
#define LT_d LT_f
#define LE_d LE_f
#define GT_d GT_f
#define GE_d GE_f
#define EQ_d EQ_f
#define NE_d NE_f
#define LT_i LT_f
#define LE_i LE_f
#define GT_i GT_f
#define GE_i GE_f
#define EQ_i EQ_f
#define NE_i NE_f
#define LT_u LT_f
#define LE_u LE_f
#define GT_u GT_f
#define GE_u GE_f
#define EQ_u EQ_f
#define NE_u NE_f
#define LT_l LT_f
#define LE_l LE_f
#define GT_l GT_f
#define GE_l GE_f
#define EQ_l EQ_f
#define NE_l NE_f
#define LT_m LT_f
#define LE_m LE_f
#define GT_m GT_f
#define GE_m GE_f
#define EQ_m EQ_f
#define NE_m NE_f

/* masks */
#define MAND(a, b) ((a) & (b))
#define MOR(a, b) ((a) | (b))
#define MXOR(a, b) ((a) ^ (b))
#define MNOT(a) (!(a))
#if W == 1
#define ANY(c) (c)
#else
#define ANY(c) any(c)
#endif
#define SEL_f(c, a, b) select((Tf)(b), (Tf)(a), MASK32(c))
#define SEL_i(c, a, b) select((Ti)(b), (Ti)(a), MASK32(c))
#define SEL_u(c, a, b) select((Tu)(b), (Tu)(a), MASK32(c))
/* 64-bit lanes by bits: rusticl's select() and vector ?: of them take the wrong side (docs/drivers.md) */
#if W == 1
#define SEL_d(c, a, b) ((c) ? (Td)(a) : (Td)(b))
#define SEL_l(c, a, b) ((c) ? (Tl)(a) : (Tl)(b))
#define SEL_m(c, a, b) ((c) ? (Tm)(a) : (Tm)(b))
#else
#define SEL_l(c, a, b) ((Tl)(b) ^ (((Tl)(a) ^ (Tl)(b)) & (c)))
#define SEL_m(c, a, b) ((Tm)(b) ^ (((Tm)(a) ^ (Tm)(b)) & AS(ulong, c)))
#define SEL_d(c, a, b) AS(double, SEL_l(c, AS(long, (Td)(a)), AS(long, (Td)(b))))
#endif
#define ISNAN_f(a) ((a) != (a))
#define ISNAN_d(a) ((a) != (a))
#define ISNAN_i(a) ((a) != (a))
#define ISNAN_u(a) ((a) != (a))
#define ISNAN_l(a) ((a) != (a))
#define ISNAN_m(a) ((a) != (a))

/* arithmetic of floats */
#define ADD_f(a, b) ((a) + (b))
#define SUB_f(a, b) ((a) - (b))
#define MUL_f(a, b) ((a) * (b))
#define DIV_f(a, b) ((a) / (b))
#define NEG_f(a) (-(a))
#define ABS_f(a) fabs(a)
#define FLOOR_f(a) floor(a)
#define EXP2_f(a) exp2(a)
#define EXPM1_f(a) expm1(a)
#define LOG2_f(a) log2(a)
#define LOG10_f(a) log10(a)
#define LOG1P_f(a) log1p(a)
#define SIN_f(a) sin(a)
#define COS_f(a) cos(a)
#define TAN_f(a) tan(a)
#define ASIN_f(a) asin(a)
#define ACOS_f(a) acos(a)
#define ATAN_f(a) atan(a)
#define SINH_f(a) sinh(a)
#define COSH_f(a) cosh(a)
#define ASINH_f(a) asinh(a)
#define ACOSH_f(a) acosh(a)
#define ATANH_f(a) atanh(a)
#define CBRT_f(a) cbrt(a)
#define ATAN2_f(a, b) atan2(a, b)
#define CEIL_f(a) ceil(a)
#define TRUNC_f(a) trunc(a)
#define RINT_f(a) rint(a)
#define RSQRT_f(a) rsqrt(a)
#define HYPOT_f(a, b) hypot(a, b)
#define COPYSIGN_f(a, b) copysign(a, b)
#define FMA_f(a, b, c) fma(a, b, c)
#define LOGB_f(a) logb(a)
#define SCALE_f(a, n) ldexp(a, TO(int, n))
#define EXP_f(a) exp(a)
#define LOG_f(a) log(a)
#define SQRT_f(a) sqrt(a)
#define TANH_f(a) tanh(a)
#define ERF_f(a) erf_f(a)
#define ERFC_f(a) erfc_f(a)
#define POW_f(a, b) pow(a, b)
#define MAD_f(a, b, c) fma(a, b, c)
#define LOWEST_f ((Tf)(-INFINITY))
#define ADD_d ADD_f
#define SUB_d SUB_f
#define MUL_d MUL_f
#define DIV_d DIV_f
#define NEG_d NEG_f
#define ABS_d ABS_f
#define FLOOR_d FLOOR_f
#define EXP2_d EXP2_f
#define EXPM1_d EXPM1_f
#define LOG2_d LOG2_f
#define LOG10_d LOG10_f
#define LOG1P_d LOG1P_f
#define SIN_d SIN_f
#define COS_d COS_f
#define TAN_d TAN_f
#define ASIN_d ASIN_f
#define ACOS_d ACOS_f
#define ATAN_d ATAN_f
#define SINH_d SINH_f
#define COSH_d COSH_f
#define ASINH_d ASINH_f
#define ACOSH_d ACOSH_f
#define ATANH_d ATANH_f
#define CBRT_d CBRT_f
#define ATAN2_d ATAN2_f
#define CEIL_d CEIL_f
#define TRUNC_d TRUNC_f
#define RINT_d RINT_f
#define RSQRT_d RSQRT_f
#define HYPOT_d HYPOT_f
#define COPYSIGN_d COPYSIGN_f
#define FMA_d FMA_f
#define LOGB_d LOGB_f
#define SCALE_d SCALE_f
#define EXP_d EXP_f
#define LOG_d LOG_f
#define SQRT_d SQRT_f
#define TANH_d TANH_f
#define ERF_d(a) erf(a)
#define ERFC_d(a) erfc(a)
#define POW_d POW_f
#define MAD_d MAD_f
#define LOWEST_d ((Td)(-INFINITY))

/* Drivers' erf and erfc of vectors take long (PoCL's 4 times as long as these). Polynomials by N. Juffa (stackoverflow.com/questions/35148198
 * and 39777360), within 2 and 6 ulp. */
#ifdef FAST_FMA
#define TERM(a, b, c) fma(a, b, (Tf)(c))
#else
#define TERM(a, b, c) ((a) * (b) + (Tf)(c)) /* nearly as good */
#endif
#if defined(USES_ERF_f) || defined(USES_ERFC_f)
/* exp(r), |r| at most half of ln 2: S. Moshier's polynomial (Cephes). */
static Tf exp_of_rest(Tf r)
{
    Tf e = TERM(r, (Tf)(1.9875691500e-4f), 1.3981999507e-3f);
    e = TERM(e, r, 8.3334519073e-3f);
    e = TERM(e, r, 4.1665795894e-2f);
    e = TERM(e, r, 1.6666665459e-1f);
    e = TERM(e, r, 5.0000001201e-1f);
    return TERM(e, r * r, r) + (Tf)(1.0f);
}
#endif
#ifdef USES_ERF_f
static Tf erf_f(Tf a)
{
    const Tf t = fabs(a), s = a * a;
    Tf near = TERM(s, (Tf)(-5.96761703e-4f), 4.99119423e-3f);
    near = TERM(near, s, -2.67681349e-2f);
    near = TERM(near, s, 1.12819925e-1f);
    near = TERM(near, s, -3.76125336e-1f);
    near = TERM(near, s, 1.28379166e-1f);
    Tf far = TERM(t, (Tf)(-1.72853470e-5f), 3.83197126e-4f);
    far = TERM(far, s, TERM(t, (Tf)(-3.88396438e-3f), 2.42546219e-2f));
    far = TERM(far, t, -1.06777877e-1f);
    far = TERM(far, t, -6.34846687e-1f);
    far = fmax(TERM(TERM(far, t, -1.28717512e-1f), t, -t), (Tf)(-20.0f));
    /* its exp */
    const Ti n = TO(int, TERM(far, (Tf)(1.44269504f), -0.5f));
    const Tf r = TERM(TO(float, n), (Tf)(-0.693147182f), far);
    const Tf e = exp_of_rest(r) * AS(float, (n + (Ti)(127)) << (Ti)(23));
    far = copysign((Tf)(1.0f) - e, a);
    return SEL_f(t > (Tf)(0.927734375f), far, TERM(near, a, a));
}
#endif
#ifdef USES_ERFC_f
/* (1 + 2 a) exp(a^2) erfc(a) after M. M. Shepherd and J. G. Laframboise (1981). exp(-a^2) is that of -(square + rest), the square of a
 * cut to 8 bits behind the point, which is exact, as is taking n ln 2 from it. */
static Tf erfc_f(Tf x)
{
    const Tf a = fabs(x), q = (a - (Tf)(2.0f)) / (a + (Tf)(2.0f));
    Tf y = TERM(q, (Tf)(-4.01139259e-4f), -1.23075210e-3f);
    y = TERM(y, q, 1.31355342e-3f);
    y = TERM(y, q, 8.63227434e-3f);
    y = TERM(y, q, -8.05991981e-3f);
    y = TERM(y, q, -5.42046614e-2f);
    y = TERM(y, q, 1.64055392e-1f);
    y = TERM(y, q, -1.66031361e-1f);
    y = TERM(y, q, -9.27639827e-2f);
    y = TERM(y, q, 2.76978403e-1f);
    const Tf near = SEL_f(a > (Tf)(10.1f), 0.0f, a), cut = TO(float, TO(int, near * (Tf)(256.0f))) * (Tf)(0.00390625f),
             square = cut * cut;
    const Ti n = TO(int, TERM(square, (Tf)(-1.44269504f), -0.5f)), half_n = n >> (Ti)(1);
    const Tf powers = TO(float, n), rest = TERM(powers, (Tf)(2.12194440e-4f), (cut - near) * (cut + near));
    const Tf r = TERM(powers, (Tf)(-0.693359375f), -square) + rest;
    const Tf e = exp_of_rest(r) * AS(float, (half_n + (Ti)(127)) << (Ti)(23));
    y = (y + (Tf)(1.0f)) / (a * (Tf)(2.0f) + (Tf)(1.0f)) * e * AS(float, (n - half_n + (Ti)(127)) << (Ti)(23));
    y = SEL_f(a > (Tf)(10.1f), 0.0f, y);
    return SEL_f(x < (Tf)(0.0f), (Tf)(2.0f) - y, y);
}
#endif

/* PoCL compiles fmod of vectors for seconds: one lane after the other */
#if W == 1
#define FMOD_f(a, b) fmod(a, b)
#define FMOD_d(a, b) fmod(a, b)
#else
#define FMOD_f(a, b) fmod_f(a, b)
#define FMOD_d(a, b) fmod_d(a, b)
#define FMOD_LANES(name, type)                               \
    static VEC(type) name(VEC(type) a, VEC(type) b)          \
    {                                                        \
        type x[W], y[W];                                     \
        CAT(vstore, W)(a, 0, x);                             \
        CAT(vstore, W)(b, 0, y);                             \
        for (int lane = 0; lane < W; lane++) x[lane] = fmod(x[lane], y[lane]); \
        return CAT(vload, W)(0, x);                          \
    }
#ifdef USES_FMOD_f
FMOD_LANES(fmod_f, float)
#endif
#ifdef USES_FMOD_d
FMOD_LANES(fmod_d, double)
#endif
#endif

/* OUTSIDE: no count of a shift, in one unsigned comparison (rusticl folds "< 0 or >= 64" of a widened int into "always").
 * arithmetic of integers: + - * wrap through unsigned; / and % are guarded */
#define ADD_u(a, b) ((a) + (b))
#define SUB_u(a, b) ((a) - (b))
#define MUL_u(a, b) ((a) * (b))
#define NEG_u(a) ((Tu)(0) - (a))
#define ABS_u(a) (a)
#define AND_u(a, b) ((a) & (b))
#define OR_u(a, b) ((a) | (b))
#define XOR_u(a, b) ((a) ^ (b))
#define SHL_u(a, b) ((a) << ((b) & (Tu)(31)))
#define SHR_u(a, b) ((a) >> ((b) & (Tu)(31)))
#define IDIV_u(a, b) SEL_u((b) == (Tu)(0), 0, (a) / SEL_u((b) == (Tu)(0), 1, b))
#define IREM_u(a, b) SEL_u((b) == (Tu)(0), 0, (a) % SEL_u((b) == (Tu)(0), 1, b))
#define MAD_u(a, b, c) ((a) * (b) + (c))
#define LOWEST_u ((Tu)(0))
#define OUTSIDE_u(b) ((b) >= (Tu)(32))
#define ADD_m ADD_u
#define SUB_m SUB_u
#define MUL_m MUL_u
#define NEG_m(a) ((Tm)(0) - (a))
#define ABS_m ABS_u
#define AND_m AND_u
#define OR_m OR_u
#define XOR_m XOR_u
#define SHL_m(a, b) ((a) << ((b) & (Tm)(63)))
#define SHR_m(a, b) ((a) >> ((b) & (Tm)(63)))
#define IDIV_m(a, b) SEL_m((b) == (Tm)(0), 0, (a) / SEL_m((b) == (Tm)(0), 1, b))
#define IREM_m(a, b) SEL_m((b) == (Tm)(0), 0, (a) % SEL_m((b) == (Tm)(0), 1, b))
#define MAD_m MAD_u
#define LOWEST_m ((Tm)(0))
#define OUTSIDE_m(b) ((b) >= (Tm)(64))

#define ADD_i(a, b) AS(int, AS(uint, a) + AS(uint, b))
#define SUB_i(a, b) AS(int, AS(uint, a) - AS(uint, b))
#define MUL_i(a, b) AS(int, AS(uint, a) * AS(uint, b))
#define NEG_i(a) AS(int, (Tu)(0) - AS(uint, a))
#define ABS_i(a) AS(int, abs(a))
#define AND_i AND_u
#define OR_i OR_u
#define XOR_i XOR_u
#define SHL_i(a, b) AS(int, AS(uint, a) << (AS(uint, b) & (Tu)(31)))
#define SHR_i(a, b) ((a) >> ((b) & (Ti)(31)))
#define ODD_ONE_i(b) (((b) == (Ti)(0)) | ((b) == (Ti)(-1)))
#define IDIV_i(a, b) SEL_i((b) == (Ti)(0), 0, SEL_i((b) == (Ti)(-1), NEG_i(a), (a) / SEL_i(ODD_ONE_i(b), 1, b)))
#define IREM_i(a, b) SEL_i(ODD_ONE_i(b), 0, (a) % SEL_i(ODD_ONE_i(b), 1, b))
#define MAD_i(a, b, c) AS(int, AS(uint, a) * AS(uint, b) + AS(uint, c))
#define LOWEST_i ((Ti)(INT_MIN))
#define OUTSIDE_i(b) (AS(uint, b) >= (Tu)(32))
#define ADD_l(a, b) AS(long, AS(ulong, a) + AS(ulong, b))
#define SUB_l(a, b) AS(long, AS(ulong, a) - AS(ulong, b))
#define MUL_l(a, b) AS(long, AS(ulong, a) * AS(ulong, b))
#define NEG_l(a) AS(long, (Tm)(0) - AS(ulong, a))
#define ABS_l(a) AS(long, abs(a))
#define AND_l AND_u
#define OR_l OR_u
#define XOR_l XOR_u
#define SHL_l(a, b) AS(long, AS(ulong, a) << (AS(ulong, b) & (Tm)(63)))
#define SHR_l(a, b) ((a) >> ((b) & (Tl)(63)))
#define ODD_ONE_l(b) (((b) == (Tl)(0)) | ((b) == (Tl)(-1)))
#define IDIV_l(a, b) SEL_l((b) == (Tl)(0), 0, SEL_l((b) == (Tl)(-1), NEG_l(a), (a) / SEL_l(ODD_ONE_l(b), 1, b)))
#define IREM_l(a, b) SEL_l(ODD_ONE_l(b), 0, (a) % SEL_l(ODD_ONE_l(b), 1, b))
#define MAD_l(a, b, c) AS(long, AS(ulong, a) * AS(ulong, b) + AS(ulong, c))
#define LOWEST_l ((Tl)(LONG_MIN))
#define OUTSIDE_l(b) (AS(ulong, b) >= (Tm)(64))
