/* What kernels call of OpenCL C, declared for a compiler that is told not to read its own header (docs/drivers.md, "Compiling"). In front
 * of a program it takes the place of 900 KB; a program that needs more than this does not build with it, and is built with
 * the compiler's header instead. Names and types: OpenCL C 1.2, section 6. */
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef __SIZE_TYPE__ size_t;
typedef uint cl_mem_fence_flags;

#define VECTORS(T)                                   \
    typedef T T##2 __attribute__((ext_vector_type(2))); \
    typedef T T##4 __attribute__((ext_vector_type(4))); \
    typedef T T##8 __attribute__((ext_vector_type(8))); \
    typedef T T##16 __attribute__((ext_vector_type(16)));
#define INTEGERS(X) X(char) X(uchar) X(short) X(ushort) X(int) X(uint) X(long) X(ulong)
#define WORDS(X) X(int) X(uint) X(long) X(ulong) /* what kernels compute in */
INTEGERS(VECTORS)
VECTORS(float)
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
VECTORS(double)
#endif

#define NULL ((void *)0)
#define INFINITY (__builtin_inff())
#define NAN as_float(INT_MAX)
#define INT_MAX 2147483647
#define INT_MIN (-2147483647 - 1)
#define UINT_MAX 0xffffffff
#define LONG_MAX 0x7fffffffffffffffL
#define LONG_MIN (-0x7fffffffffffffffL - 1)
#define ULONG_MAX 0xffffffffffffffffUL
#define CLK_LOCAL_MEM_FENCE 1
#define CLK_GLOBAL_MEM_FENCE 2

/* Conversions and reinterpretations are the compiler's own: 1,000 declarations would take it 30 ms.
 * PoCL's macros of these names must not be in the way where CAT puts one together. */
#undef convert_char
#define as_char(x) __builtin_astype(x, char)
#define as_char2(x) __builtin_astype(x, char2)
#define convert_char2(x) __builtin_convertvector(x, char2)
#define as_char4(x) __builtin_astype(x, char4)
#define convert_char4(x) __builtin_convertvector(x, char4)
#define as_char8(x) __builtin_astype(x, char8)
#define convert_char8(x) __builtin_convertvector(x, char8)
#define as_char16(x) __builtin_astype(x, char16)
#define convert_char16(x) __builtin_convertvector(x, char16)
#undef convert_uchar
#define as_uchar(x) __builtin_astype(x, uchar)
#define as_uchar2(x) __builtin_astype(x, uchar2)
#define convert_uchar2(x) __builtin_convertvector(x, uchar2)
#define as_uchar4(x) __builtin_astype(x, uchar4)
#define convert_uchar4(x) __builtin_convertvector(x, uchar4)
#define as_uchar8(x) __builtin_astype(x, uchar8)
#define convert_uchar8(x) __builtin_convertvector(x, uchar8)
#define as_uchar16(x) __builtin_astype(x, uchar16)
#define convert_uchar16(x) __builtin_convertvector(x, uchar16)
#undef convert_short
#define as_short(x) __builtin_astype(x, short)
#define as_short2(x) __builtin_astype(x, short2)
#define convert_short2(x) __builtin_convertvector(x, short2)
#define as_short4(x) __builtin_astype(x, short4)
#define convert_short4(x) __builtin_convertvector(x, short4)
#define as_short8(x) __builtin_astype(x, short8)
#define convert_short8(x) __builtin_convertvector(x, short8)
#define as_short16(x) __builtin_astype(x, short16)
#define convert_short16(x) __builtin_convertvector(x, short16)
#undef convert_ushort
#define as_ushort(x) __builtin_astype(x, ushort)
#define as_ushort2(x) __builtin_astype(x, ushort2)
#define convert_ushort2(x) __builtin_convertvector(x, ushort2)
#define as_ushort4(x) __builtin_astype(x, ushort4)
#define convert_ushort4(x) __builtin_convertvector(x, ushort4)
#define as_ushort8(x) __builtin_astype(x, ushort8)
#define convert_ushort8(x) __builtin_convertvector(x, ushort8)
#define as_ushort16(x) __builtin_astype(x, ushort16)
#define convert_ushort16(x) __builtin_convertvector(x, ushort16)
#undef convert_int
#define as_int(x) __builtin_astype(x, int)
#define as_int2(x) __builtin_astype(x, int2)
#define convert_int2(x) __builtin_convertvector(x, int2)
#define as_int4(x) __builtin_astype(x, int4)
#define convert_int4(x) __builtin_convertvector(x, int4)
#define as_int8(x) __builtin_astype(x, int8)
#define convert_int8(x) __builtin_convertvector(x, int8)
#define as_int16(x) __builtin_astype(x, int16)
#define convert_int16(x) __builtin_convertvector(x, int16)
#undef convert_uint
#define as_uint(x) __builtin_astype(x, uint)
#define as_uint2(x) __builtin_astype(x, uint2)
#define convert_uint2(x) __builtin_convertvector(x, uint2)
#define as_uint4(x) __builtin_astype(x, uint4)
#define convert_uint4(x) __builtin_convertvector(x, uint4)
#define as_uint8(x) __builtin_astype(x, uint8)
#define convert_uint8(x) __builtin_convertvector(x, uint8)
#define as_uint16(x) __builtin_astype(x, uint16)
#define convert_uint16(x) __builtin_convertvector(x, uint16)
#undef convert_long
#define as_long(x) __builtin_astype(x, long)
#define as_long2(x) __builtin_astype(x, long2)
#define convert_long2(x) __builtin_convertvector(x, long2)
#define as_long4(x) __builtin_astype(x, long4)
#define convert_long4(x) __builtin_convertvector(x, long4)
#define as_long8(x) __builtin_astype(x, long8)
#define convert_long8(x) __builtin_convertvector(x, long8)
#define as_long16(x) __builtin_astype(x, long16)
#define convert_long16(x) __builtin_convertvector(x, long16)
#undef convert_ulong
#define as_ulong(x) __builtin_astype(x, ulong)
#define as_ulong2(x) __builtin_astype(x, ulong2)
#define convert_ulong2(x) __builtin_convertvector(x, ulong2)
#define as_ulong4(x) __builtin_astype(x, ulong4)
#define convert_ulong4(x) __builtin_convertvector(x, ulong4)
#define as_ulong8(x) __builtin_astype(x, ulong8)
#define convert_ulong8(x) __builtin_convertvector(x, ulong8)
#define as_ulong16(x) __builtin_astype(x, ulong16)
#define convert_ulong16(x) __builtin_convertvector(x, ulong16)
#undef convert_float
#define as_float(x) __builtin_astype(x, float)
#define as_float2(x) __builtin_astype(x, float2)
#define convert_float2(x) __builtin_convertvector(x, float2)
#define as_float4(x) __builtin_astype(x, float4)
#define convert_float4(x) __builtin_convertvector(x, float4)
#define as_float8(x) __builtin_astype(x, float8)
#define convert_float8(x) __builtin_convertvector(x, float8)
#define as_float16(x) __builtin_astype(x, float16)
#define convert_float16(x) __builtin_convertvector(x, float16)
#undef convert_double
#define as_double(x) __builtin_astype(x, double)
#define as_double2(x) __builtin_astype(x, double2)
#define convert_double2(x) __builtin_convertvector(x, double2)
#define as_double4(x) __builtin_astype(x, double4)
#define convert_double4(x) __builtin_convertvector(x, double4)
#define as_double8(x) __builtin_astype(x, double8)
#define convert_double8(x) __builtin_convertvector(x, double8)
#define as_double16(x) __builtin_astype(x, double16)
#define convert_double16(x) __builtin_convertvector(x, double16)

#define ANY __attribute__((overloadable))
#define VALUE __attribute__((overloadable, const)) /* of its arguments alone */

size_t VALUE get_global_id(uint);
size_t VALUE get_global_size(uint);
size_t VALUE get_group_id(uint);
size_t VALUE get_num_groups(uint);
size_t VALUE get_local_id(uint);
size_t VALUE get_local_size(uint);
void ANY __attribute__((convergent)) barrier(cl_mem_fence_flags);
int ANY atomic_cmpxchg(volatile __global int *, int, int);
uint ANY atomic_cmpxchg(volatile __global uint *, uint, uint);

/* X(T, ...) for a type and its vectors, with another type of the same widths behind it */
#define EACH(X, T) X(T) X(T##2) X(T##4) X(T##8) X(T##16)
#define EACH2(X, T, A) X(T, A) X(T##2, A##2) X(T##4, A##4) X(T##8, A##8) X(T##16, A##16)

#define MATH(T)                                                                                                              \
    T VALUE acos(T); T VALUE acosh(T); T VALUE asin(T); T VALUE asinh(T); T VALUE atan(T); T VALUE atanh(T); T VALUE cbrt(T); \
    T VALUE ceil(T); T VALUE cos(T); T VALUE cosh(T); T VALUE cospi(T); T VALUE erf(T); T VALUE erfc(T); T VALUE exp(T);      \
    T VALUE exp2(T); T VALUE expm1(T); T VALUE fabs(T); T VALUE floor(T); T VALUE lgamma(T); T VALUE log(T); T VALUE log2(T); \
    T VALUE log10(T); T VALUE log1p(T); T VALUE logb(T); T VALUE rint(T); T VALUE round(T); T VALUE rsqrt(T); T VALUE sin(T); \
    T VALUE sinh(T); T VALUE sinpi(T); T VALUE sqrt(T); T VALUE tan(T); T VALUE tanh(T); T VALUE trunc(T);                    \
    T VALUE atan2(T, T); T VALUE copysign(T, T); T VALUE fmax(T, T); T VALUE fmin(T, T); T VALUE fmod(T, T);                  \
    T VALUE hypot(T, T); T VALUE max(T, T); T VALUE min(T, T); T VALUE nextafter(T, T); T VALUE pow(T, T);                    \
    T VALUE fma(T, T, T); T VALUE clamp(T, T, T);
EACH(MATH, float)
#define EXPONENT(T, I) T VALUE ldexp(T, I); T ANY frexp(T, __private I *);
EACH2(EXPONENT, float, int)
#define TEST(T, I) I VALUE isnan(T); I VALUE isinf(T); I VALUE isfinite(T); I VALUE signbit(T);
EACH2(TEST, float, int)
#ifdef cl_khr_fp64
EACH(MATH, double)
EACH2(EXPONENT, double, int)
TEST(double, int)
TEST(double2, long2) TEST(double4, long4) TEST(double8, long8) TEST(double16, long16)
#endif

#define ORDER(T) T VALUE max(T, T); T VALUE min(T, T); T VALUE clamp(T, T, T); T VALUE mul_hi(T, T);
#define ORDERED(T) EACH(ORDER, T)
WORDS(ORDERED)
#define SIZE(T, U) U VALUE abs(T);
EACH2(SIZE, int, uint)
EACH2(SIZE, long, ulong)
#define ALL(T) int VALUE any(T); int VALUE all(T);
EACH(ALL, int)
EACH(ALL, long)

/* masks of the values' width */
#define SELECT(T, I) T VALUE select(T, T, I);
EACH2(SELECT, char, char)
EACH2(SELECT, uchar, char)
EACH2(SELECT, short, short)
EACH2(SELECT, ushort, short)
EACH2(SELECT, int, int)
EACH2(SELECT, uint, int)
EACH2(SELECT, float, int)
EACH2(SELECT, long, long)
EACH2(SELECT, ulong, long)
#ifdef cl_khr_fp64
EACH2(SELECT, double, long)
#endif

#define MOVE_IN(SPACE, T, W)                                                                     \
    T##W __attribute__((overloadable, pure)) vload##W(size_t, const SPACE T *);                 \
    void ANY vstore##W(T##W, size_t, SPACE T *);
#define MOVE_W(T, W) MOVE_IN(__global, T, W) MOVE_IN(__local, T, W) MOVE_IN(__private, T, W)
#define MOVE(T) MOVE_W(T, 2) MOVE_W(T, 4) MOVE_W(T, 8) MOVE_W(T, 16)
INTEGERS(MOVE)
MOVE(float)
#ifdef cl_khr_fp64
MOVE(double)
#endif

#undef VECTORS
#undef INTEGERS
#undef WORDS
#undef ANY
#undef VALUE
#undef EACH
#undef EACH2
#undef MATH
#undef EXPONENT
#undef TEST
#undef ORDER
#undef ORDERED
#undef SIZE
#undef ALL
#undef SELECT
#undef MOVE_IN
#undef MOVE_W
#undef MOVE
