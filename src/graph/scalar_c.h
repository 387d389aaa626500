/* The C meaning of the rows' macros for one compute type; included once per type with T (the type), U (its unsigned type,
 * integers), S (its letter), IS_FLOAT and, for integers, LOWEST_VALUE defined. */
#undef ADD
#undef SUB
#undef MUL
#undef NEG
#undef ABS
#undef SHL
#undef SHR
#undef AND
#undef OR
#undef XOR
#undef IDIV
#undef IREM
#undef LOWEST
#undef ISNAN
#undef OUTSIDE

#define JOIN_(a, b) a##_##b
#define JOIN(a, b) JOIN_(a, b)
#define FUNCTION(name) JOIN(fn_##name, S)
#define ARGUMENTS_1 (T A)
#define ARGUMENTS_2 (T A, T B)
#define ARGUMENTS_3 (T A, T B, T C)

#define K(x) ((T)(x))
#define LT(a, b) ((a) < (b))
#define LE(a, b) ((a) <= (b))
#define GT(a, b) ((a) > (b))
#define GE(a, b) ((a) >= (b))
#define EQ(a, b) ((a) == (b))
#define NE(a, b) ((a) != (b))
#define SEL(c, a, b) ((c) ? (a) : (b))
#define MAND(a, b) ((a) && (b))
#define MOR(a, b) ((a) || (b))
#define MXOR(a, b) ((a) != (b))
#define MNOT(a) (!(a))
#define MAXN(a, b) FUNCTION(maxn)(a, b)
#define MINN(a, b) FUNCTION(minn)(a, b)
#define PYMOD(a, b) FUNCTION(pymod)(a, b)
#define PYFLOORDIV(a, b) FUNCTION(pyfloordiv)(a, b)
#define IFLOORDIV(a, b) FUNCTION(ifloordiv)(a, b)
#define IFLOORMOD(a, b) FUNCTION(ifloormod)(a, b)
#define IPOW(a, b) FUNCTION(ipow)(a, b)
#define PYTRUNCDIV(a, b) FUNCTION(pytruncdiv)(a, b)
#define FMADD(a, b, c) FUNCTION(fmadd)(a, b, c)
#define SINPI(a) FUNCTION(sinpi)(a)
#define SINC(a) FUNCTION(sinc)(a)
#define LOGADDEXP(a, b) FUNCTION(logaddexp)(a, b)
#define LDEXP(a, b) FUNCTION(ldexp)(a, b)
#define CELU(a, b) FUNCTION(celu)(a, b)
#define GELU_TANH(a) FUNCTION(gelu_tanh)(a)
#define MISH(a) FUNCTION(mish)(a)
#define TANHSHRINK(a) FUNCTION(tanhshrink)(a)
#define GATED(a, b) FUNCTION(gated)(a, b)
#define SINE(a) FUNCTION(sine)(a)
#define COSINE(a) FUNCTION(cosine)(a)
#define TANGENT(a) FUNCTION(tangent)(a)
#define LERP(a, b, c) FUNCTION(lerp)(a, b, c)

#if IS_FLOAT
#define ADD(a, b) ((a) + (b))
#define SUB(a, b) ((a) - (b))
#define MUL(a, b) ((a) * (b))
#define NEG(a) (-(a))
#define ABS(a) MATH(fabs)(a)
#define DIV(a, b) ((a) / (b))
#define ISNAN(a) ((a) != (a))
#define LOWEST (-(T)INFINITY)
#define EXP(a) MATH(exp)(a)
#define LOG(a) MATH(log)(a)
#define SQRT(a) MATH(sqrt)(a)
#define TANH(a) MATH(tanh)(a)
#define ERF(a) MATH(erf)(a)
#define ERFC(a) MATH(erfc)(a)
#define POW(a, b) MATH(pow)(a, b)
#define FMOD(a, b) MATH(fmod)(a, b)
#define FLOOR(a) MATH(floor)(a)
#define EXP2(a) MATH(exp2)(a)
#define EXPM1(a) MATH(expm1)(a)
#define LOG2(a) MATH(log2)(a)
#define LOG10(a) MATH(log10)(a)
#define LOG1P(a) MATH(log1p)(a)
#define SIN(a) MATH(sin)(a)
#define COS(a) MATH(cos)(a)
#define TAN(a) MATH(tan)(a)
#define ASIN(a) MATH(asin)(a)
#define ACOS(a) MATH(acos)(a)
#define ATAN(a) MATH(atan)(a)
#define SINH(a) MATH(sinh)(a)
#define COSH(a) MATH(cosh)(a)
#define ASINH(a) MATH(asinh)(a)
#define ACOSH(a) MATH(acosh)(a)
#define ATANH(a) MATH(atanh)(a)
#define CBRT(a) MATH(cbrt)(a)
#define ATAN2(a, b) MATH(atan2)(a, b)
#define CEIL(a) MATH(ceil)(a)
#define TRUNC(a) MATH(trunc)(a)
#define RINT(a) MATH(rint)(a)
#define RSQRT(a) ((T)1 / MATH(sqrt)(a))
#define HYPOT(a, b) MATH(hypot)(a, b)
#define COPYSIGN(a, b) MATH(copysign)(a, b)
#define FMA(a, b, c) MATH(fma)(a, b, c)
#else
#define ADD(a, b) ((T)((U)(a) + (U)(b)))
#define SUB(a, b) ((T)((U)(a) - (U)(b)))
#define MUL(a, b) ((T)((U)(a) * (U)(b)))
#define NEG(a) ((T)(0u - (U)(a)))
#define ABS(a) ((a) < (T)1 ? NEG(a) : (a))
#define ISNAN(a) (0)
#define LOWEST LOWEST_VALUE
#define OUTSIDE(b) ((U)(b) >= 8 * sizeof(T)) /* no count of a shift; negative ones are large unsigned */
#define AND(a, b) ((T)((a) & (b)))
#define OR(a, b) ((T)((a) | (b)))
#define XOR(a, b) ((T)((a) ^ (b)))
#define SHL(a, b) ((T)((U)(a) << ((U)(b) & (8 * sizeof(T) - 1))))
#define SHR(a, b) ((T)((a) >> ((U)(b) & (8 * sizeof(T) - 1))))
#define IDIV(a, b) ((b) == 0 ? (T)0 : (b) == (T)-1 ? IDIV_MINUS(a, b) : (T)((a) / ((b) ? (b) : (T)1)))
#define IREM(a, b) ((b) == 0 ? (T)0 : (b) == (T)-1 ? IREM_MINUS(a, b) : (T)((a) % ((b) ? (b) : (T)1)))
/* The divisor has all bits set: -1 wraps for a signed type, for an unsigned one it is the largest number. */
#define IDIV_MINUS(a, b) ((T)-1 < (T)1 ? NEG(a) : (T)((a) == (b)))
#define IREM_MINUS(a, b) ((T)-1 < (T)1 ? (T)0 : (T)((a) == (b) ? (T)0 : (a)))
#endif
