/* Loads, stores, conversions and rounding per dtype (names of dtypes.def) and compute letter, W lanes wide.
 *   FROM_<dtype>(v)       W elements as they lie in memory, in the dtype's compute type
 *   LOAD_<dtype>(p, i)    W elements from p[i] on, in the dtype's compute type
 *   LOAD1_<dtype>(p, i)   the one element p[i], scalar
 *   STORE_<dtype>(p, i, v)
 *   CONV_<from>_<to>(v)   between compute letters: to integers truncates, saturates, NaN is 0
 *   ROUND_<dtype>(v)      a compute value as the dtype holds it
 *   CLIP_<dtype>(v)       a value that was a float, into a narrow integer's range
 *   ODD_<letter>(v)       to f32 rounded to odd, before a rounding to 16 bits */
/* f16 is loaded and stored as integers and converted here: PoCL 3.1 takes vload_half8 for aligned, and crashes
 * (docs/drivers.md). A value to be stored has been rounded already. */
#ifdef USES_f16
#if defined(__F16C__) && defined(__FLT16_MAX__) /* the processor's own; the compiler knows what takes a conversion back */
#if W == 1
#define AS_F16(to, x) ((to)(x))
#define F16 _Float16
#else
#define AS_F16(to, x) __builtin_convertvector(x, to)
#define F16 CAT(f16x, W)
typedef _Float16 F16 __attribute__((ext_vector_type(W)));
#endif
static Tf half_values(VEC(ushort) h)
{
    return AS_F16(Tf, __builtin_astype(h, F16));
}
static VEC(ushort) half_bits(Tf v)
{
    return __builtin_astype(AS_F16(F16, v), VEC(ushort));
}
static Tf round_f16(Tf v)
{
    return AS_F16(Tf, AS_F16(F16, v));
}
#else
static Tf half_values(VEC(ushort) bits)
{
    const Tu h = TO(uint, bits), m = h & (Tu)(0x3ff), e = (h >> 10) & (Tu)(31), sign = (h & (Tu)(0x8000)) << 16;
    const Tu small = AS(uint, TO(float, m) * (Tf)(0x1p-24f)), normal = ((e + (Tu)(112)) << 23) | (m << 13);
    const Tu special = (Tu)(0x7f800000) | (m << 13);
    return AS(float, select(select(normal, small, MASK32(e == (Tu)(0))), special, MASK32(e == (Tu)(31))) | sign);
}
static VEC(ushort) half_bits(Tf v)
{
    const Tu a = AS(uint, v) & (Tu)(0x7fffffff), sign = (AS(uint, v) >> 16) & (Tu)(0x8000);
    const Tu small = TO(uint, select(AS(float, a), (Tf)(0.0f), MASK32(a >= (Tu)(0x38800000))) * (Tf)(0x1p24f));
    const Tu special = (Tu)(0x7c00) | select((Tu)(0), (Tu)(0x200), MASK32(a > (Tu)(0x7f800000)));
    const Tu normal = (a - (Tu)(0x38000000)) >> 13;
    return TO(ushort, select(select(normal, small, MASK32(a < (Tu)(0x38800000))), special, MASK32(a >= (Tu)(0x7f800000))) | sign);
}
/* to the nearest, by integer arithmetic in registers */
static Tf round_f16(Tf v)
{
    const Tu sign = AS(uint, v) & (Tu)(0x80000000), u = AS(uint, v) & (Tu)(0x7fffffff);
    Tu r = (u + (Tu)(0xfff) + ((u >> 13) & (Tu)(1))) & (Tu)(0xffffe000);
    r = select(r, (Tu)(0x7f800000), MASK32(u >= (Tu)(0x477ff000)));   /* 65520 and above: inf */
    r = select(r, u | (Tu)(0x400000), MASK32(u > (Tu)(0x7f800000))); /* NaN */
    /* below 2^-14 steps of 2^-24: adding 0.5 leaves exactly those bits */
    const Tf small = (AS(float, u) + (Tf)(0.5f)) - (Tf)(0.5f);
    r = select(r, AS(uint, small), MASK32(u < (Tu)(0x38800000)));
    return AS(float, r ^ sign); /* with | Intel's runtime makes -2 of all that is known to be negative (docs/drivers.md) */
}
#endif
static float half_value(ushort h)
{
    const uint m = (uint)h & 0x3ffu, e = ((uint)h >> 10) & 31u, sign = ((uint)h & 0x8000u) << 16;
    const uint normal = ((e + 112u) << 23) | (m << 13), special = 0x7f800000u | (m << 13);
    return as_float((e == 0u ? as_uint((float)m * 0x1p-24f) : e == 31u ? special : normal) | sign);
}
static ushort half_bits1(float v)
{
    const uint a = as_uint(v) & 0x7fffffffu, sign = (as_uint(v) >> 16) & 0x8000u;
    const uint special = 0x7c00u | (a > 0x7f800000u ? 0x200u : 0u);
    return (ushort)(sign | (a >= 0x7f800000u ? special : a < 0x38800000u ? (uint)(as_float(a) * 0x1p24f) : (a - 0x38000000u) >> 13));
}
#endif

/* Place of a vector that begins at j: moved back so that it ends with the n elements, n >= W. With one lane there is nothing to
 * move, and the loop must not look as if there were: PoCL 3.1's epilogue vectoriser loses iterations (docs/drivers.md). */
#if W == 1
#define MOVED(j, n) (j)
#else
#define MOVED(j, n) min(j, (n) - W)
#endif

#if W == 1
#define VLOAD(p, i) ((p)[i])
#define VSTORE(p, i, v) ((p)[i] = (v))
#else
#define VLOAD(p, i) CAT(vload, W)(0, (p) + (i))
#define VSTORE(p, i, v) CAT(vstore, W)(v, 0, (p) + (i))
#endif

/* GATHER makes a vector of f(x, y, 0), f(x, y, 1) ...; SPREAD puts a vector's lanes into an array; for up to four lanes. */
#if W == 1
#define GATHER(f, x, y) f(x, y, 0)
#define SPREAD(to, v) (to)[0] = (v)
#elif W == 2
#define GATHER(f, x, y) (TW)(f(x, y, 0), f(x, y, 1))
#define SPREAD(to, v) (to)[0] = (v).s0, (to)[1] = (v).s1
#elif W == 4
#define GATHER(f, x, y) (TW)(f(x, y, 0), f(x, y, 1), f(x, y, 2), f(x, y, 3))
#define SPREAD(to, v) (to)[0] = (v).s0, (to)[1] = (v).s1, (to)[2] = (v).s2, (to)[3] = (v).s3
#endif

/* Compilers for the CPU itself. PoCL's vstore takes narrow elements one by one: W of them as one vector, at any alignment. Results that
 * no cache would hold until they are read (STREAM) go past it: no line is fetched to be overwritten. */
#if DEEP && defined(__clang__) && !defined(__SPIR__) && !defined(__SPIRV__)
#define VSTORE_OF(type, p, i, v) ((__global struct { VEC(type) all; } __attribute__((packed)) *)((p) + (i)))->all = (v)
#ifdef STREAM
#define VWRITE(type, p, i, v)                                                         \
    do {                                                                           \
        if (((ulong)((p) + (i)) & (sizeof(VEC(type)) - 1)) == 0)                   \
            __builtin_nontemporal_store(v, (__global VEC(type) *)((p) + (i)));     \
        else                                                                       \
            VSTORE_OF(type, p, i, v);                                              \
    } while (0)
#else
#define VWRITE VSTORE_OF
#endif
#else
#define VWRITE(type, p, i, v) VSTORE(p, i, v)
#endif

#define P_f16 ushort
#define P_bf16 ushort
#define P_f32 float
#define P_f64 double
#define P_i8 char
#define P_i16 short
#define P_i32 int
#define P_i64 long
#define P_u8 uchar
#define P_u16 ushort
#define P_u32 uint
#define P_u64 ulong
#define P_bool uchar

#define FROM_f16(v) half_values(v)
#define FROM_bf16(v) AS(float, TO(uint, v) << 16)
#define FROM_f32(v) (v)
#define FROM_f64(v) (v)
#define FROM_i8(v) TO(int, v)
#define FROM_i16(v) TO(int, v)
#define FROM_i32(v) (v)
#define FROM_i64(v) (v)
#define FROM_u8(v) TO(uint, v)
#define FROM_u16(v) TO(uint, v)
#define FROM_u32(v) (v)
#define FROM_u64(v) (v)
#define FROM_bool(v) TO(uint, v)

#define LOAD_f16(p, i) FROM_f16(VLOAD(p, i))
#define LOAD_bf16(p, i) FROM_bf16(VLOAD(p, i))
#define LOAD_f32(p, i) FROM_f32(VLOAD(p, i))
#define LOAD_f64(p, i) FROM_f64(VLOAD(p, i))
#define LOAD_i8(p, i) FROM_i8(VLOAD(p, i))
#define LOAD_i16(p, i) FROM_i16(VLOAD(p, i))
#define LOAD_i32(p, i) FROM_i32(VLOAD(p, i))
#define LOAD_i64(p, i) FROM_i64(VLOAD(p, i))
#define LOAD_u8(p, i) FROM_u8(VLOAD(p, i))
#define LOAD_u16(p, i) FROM_u16(VLOAD(p, i))
#define LOAD_u32(p, i) FROM_u32(VLOAD(p, i))
#define LOAD_u64(p, i) FROM_u64(VLOAD(p, i))
#define LOAD_bool(p, i) FROM_bool(VLOAD(p, i))

#define LOAD1_f16(p, i) half_value((p)[i])
#define LOAD1_bf16(p, i) as_float((uint)(p)[i] << 16)
#define LOAD1_f32(p, i) ((p)[i])
#define LOAD1_f64(p, i) ((p)[i])
#define LOAD1_i8(p, i) ((int)(p)[i])
#define LOAD1_i16(p, i) ((int)(p)[i])
#define LOAD1_i32(p, i) ((p)[i])
#define LOAD1_i64(p, i) ((p)[i])
#define LOAD1_u8(p, i) ((uint)(p)[i])
#define LOAD1_u16(p, i) ((uint)(p)[i])
#define LOAD1_u32(p, i) ((p)[i])
#define LOAD1_u64(p, i) ((p)[i])
#define LOAD1_bool(p, i) ((uint)(p)[i])

#define STORE_f16(p, i, v) VWRITE(P_f16, p, i, half_bits(v))
#define STORE_bf16(p, i, v) VWRITE(P_bf16, p, i, TO(ushort, AS(uint, v) >> 16))
#define STORE_f32(p, i, v) VWRITE(P_f32, p, i, v)
#define STORE_f64(p, i, v) VWRITE(P_f64, p, i, v)
#define STORE_i8(p, i, v) VWRITE(P_i8, p, i, TO(char, v))
#define STORE_i16(p, i, v) VWRITE(P_i16, p, i, TO(short, v))
#define STORE_i32(p, i, v) VWRITE(P_i32, p, i, v)
#define STORE_i64(p, i, v) VWRITE(P_i64, p, i, v)
#define STORE_u8(p, i, v) VWRITE(P_u8, p, i, TO(uchar, v))
#define STORE_u16(p, i, v) VWRITE(P_u16, p, i, TO(ushort, v))
#define STORE_u32(p, i, v) VWRITE(P_u32, p, i, v)
#define STORE_u64(p, i, v) VWRITE(P_u64, p, i, v)
#define STORE_bool(p, i, v) VWRITE(P_bool, p, i, TO(uchar, v))

/* one scalar, already in its compute type */
#define STORE1_f16(p, i, v) ((p)[i] = half_bits1(v))
#define STORE1_bf16(p, i, v) ((p)[i] = (ushort)(as_uint(v) >> 16))
#define STORE1_f32(p, i, v) ((p)[i] = (v))
#define STORE1_f64(p, i, v) ((p)[i] = (v))
#define STORE1_i8(p, i, v) ((p)[i] = (char)(v))
#define STORE1_i16(p, i, v) ((p)[i] = (short)(v))
#define STORE1_i32(p, i, v) ((p)[i] = (v))
#define STORE1_i64(p, i, v) ((p)[i] = (v))
#define STORE1_u8(p, i, v) ((p)[i] = (uchar)(v))
#define STORE1_u16(p, i, v) ((p)[i] = (ushort)(v))
#define STORE1_u32(p, i, v) ((p)[i] = (v))
#define STORE1_u64(p, i, v) ((p)[i] = (v))
#define STORE1_bool(p, i, v) ((p)[i] = (uchar)(v))
#if W == 1
#define LANE0(v) (v)
#else
#define LANE0(v) ((v).s0)
#endif

#define ROUND_f16(v) round_f16(v)
#define ROUND_bf16(v) round_bf16(v)
#if defined(USES_bf16)
static Tf round_bf16(Tf v)
{
    const Tu u = AS(uint, v);
    const Tu r = (u + (Tu)(0x7fff) + ((u >> 16) & (Tu)(1))) & (Tu)(0xffff0000);
    return AS(float, select(r, (u | (Tu)(0x400000)) & (Tu)(0xffff0000), MASK32((u & (Tu)(0x7fffffff)) > (Tu)(0x7f800000))));
}
#endif
#define ROUND_f32(v) (v)
#define ROUND_f64(v) (v)
#define ROUND_i8(v) (AS(int, AS(uint, v) << 24) >> 24)
#define ROUND_i16(v) (AS(int, AS(uint, v) << 16) >> 16)
#define ROUND_i32(v) (v)
#define ROUND_i64(v) (v)
#define ROUND_u8(v) ((v) & (Tu)(0xff))
#define ROUND_u16(v) ((v) & (Tu)(0xffff))
#define ROUND_u32(v) (v)
#define ROUND_u64(v) (v)
#define ROUND_bool(v) (v)

#define CLIP_i8(v) clamp(v, (Ti)(-128), (Ti)(127))
#define CLIP_i16(v) clamp(v, (Ti)(-32768), (Ti)(32767))
#define CLIP_u8(v) min(v, (Tu)(255))
#define CLIP_u16(v) min(v, (Tu)(65535))
#define CLIP_i32(v) (v)
#define CLIP_i64(v) (v)
#define CLIP_u32(v) (v)
#define CLIP_u64(v) (v)

/* Drivers disagree on convert_*_sat of NaN: bounds and NaN are selected here, the conversion sees only what fits. */
#define SAFE_f(v, low, high) SEL_f(((v) > (Tf)(low)) & ((v) < (Tf)(high)), v, 0.0f)
#define CONV_f_i(v) SEL_i((v) >= (Tf)(2147483648.0f), INT_MAX, SEL_i((v) <= (Tf)(-2147483648.0f), INT_MIN, TO(int, SAFE_f(v, -2147483648.0f, 2147483648.0f))))
#define CONV_f_u(v) SEL_u((v) >= (Tf)(4294967296.0f), UINT_MAX, TO(uint, SAFE_f(v, 0.0f, 4294967296.0f)))
#if W == 1
#define MASK_f_l(c) ((long)(c))
#else
#define MASK_f_l(c) TO(long, c)
#endif
#define CONV_f_l(v) SEL_l(MASK_f_l((v) >= (Tf)(9223372036854775808.0f)), LONG_MAX, SEL_l(MASK_f_l((v) <= (Tf)(-9223372036854775808.0f)), LONG_MIN, TO(long, SAFE_f(v, -9223372036854775808.0f, 9223372036854775808.0f))))
#define CONV_f_m(v) SEL_m(MASK_f_l((v) >= (Tf)(18446744073709551616.0f)), ULONG_MAX, TO(ulong, SAFE_f(v, 0.0f, 18446744073709551616.0f)))
#define CONV_f_d(v) TO(double, v)
#if W == 1
#define MASK_d_i(c) ((int)(c))
#else
#define MASK_d_i(c) TO(int, c)
#endif
#define SAFE_d(v, low, high) SEL_d(((v) > (Td)(low)) & ((v) < (Td)(high)), v, 0.0)
#define CONV_d_i(v) SEL_i(MASK_d_i((v) >= (Td)(2147483647.0)), INT_MAX, SEL_i(MASK_d_i((v) <= (Td)(-2147483648.0)), INT_MIN, TO(int, SAFE_d(v, -2147483648.0, 2147483647.0))))
#define CONV_d_u(v) SEL_u(MASK_d_i((v) >= (Td)(4294967295.0)), UINT_MAX, TO(uint, SAFE_d(v, 0.0, 4294967295.0)))
#define CONV_d_l(v) SEL_l((v) >= (Td)(9223372036854775808.0), LONG_MAX, SEL_l((v) <= (Td)(-9223372036854775808.0), LONG_MIN, TO(long, SAFE_d(v, -9223372036854775808.0, 9223372036854775808.0))))
#define CONV_d_m(v) SEL_m((v) >= (Td)(18446744073709551616.0), ULONG_MAX, TO(ulong, SAFE_d(v, 0.0, 18446744073709551616.0)))
#define CONV_d_f(v) TO(float, v)

#define CONV_i_f(v) TO(float, v)
#define CONV_i_d(v) TO(double, v)
#define CONV_i_u(v) AS(uint, v)
#define CONV_i_l(v) TO(long, v)
#define CONV_i_m(v) AS(ulong, TO(long, v))
#define CONV_u_f(v) TO(float, v)
#define CONV_u_d(v) TO(double, v)
#define CONV_u_i(v) AS(int, v)
#define CONV_u_l(v) TO(long, v)
#define CONV_u_m(v) TO(ulong, v)
#define CONV_l_f(v) TO(float, v)
#define CONV_l_d(v) TO(double, v)
#define CONV_l_i(v) AS(int, TO(uint, AS(ulong, v) & (Tm)(0xffffffff)))
#define CONV_l_u(v) TO(uint, AS(ulong, v) & (Tm)(0xffffffff))
#define CONV_l_m(v) AS(ulong, v)
#define CONV_m_f(v) TO(float, v)
#define CONV_m_d(v) TO(double, v)
#define CONV_m_i(v) AS(int, TO(uint, (v) & (Tm)(0xffffffff)))
#define CONV_m_u(v) TO(uint, (v) & (Tm)(0xffffffff))
#define CONV_m_l(v) AS(long, v)
#define CONV_f_f(v) (v)
#define CONV_d_d(v) (v)
#define CONV_i_i(v) (v)
#define CONV_u_u(v) (v)
#define CONV_l_l(v) (v)
#define CONV_m_m(v) (v)

/* != 0, as 0 or 1 in u */
#define BOOL_f(v) SEL_u((v) != (Tf)(0), 1, 0)
#define BOOL_i(v) SEL_u((v) != (Ti)(0), 1, 0)
#define BOOL_u(v) min(v, (Tu)(1)) /* no mask: Oclgrind takes the splat of a scalar comparison for a wrong one */
#if W == 1
#define BOOL_d(v) ((uint)((v) != 0))
#define BOOL_l(v) ((uint)((v) != 0))
#define BOOL_m(v) ((uint)((v) != 0))
#else
#define BOOL_d(v) (TO(uint, (v) != (Td)(0)) & (Tu)(1))
#define BOOL_l(v) (TO(uint, (v) != (Tl)(0)) & (Tu)(1))
#define BOOL_m(v) (TO(uint, (v) != (Tm)(0)) & (Tu)(1))
#endif

/* Wide to f32, rounded to odd: cut toward zero, and the last bit set when anything was lost. */
#ifdef USES_ODD_m
static Tf odd_m(Tm v)
{
    /* keep 32 bits: the upper ones, with the rest as a sticky bit; 32 bits to f32 again the same way */
    const Tm high = v >> 32, low = v & (Tm)(0xffffffff);
    const Tm folded = SEL_m(high != (Tm)(0), high | SEL_m(low != (Tm)(0), 1, 0), v);
    const Tu u = TO(uint, folded), big = u >> 8;
    const Tu cut = SEL_u(big >= (Tu)(0x10000), big | SEL_u((u & (Tu)(0xff)) != (Tu)(0), 1, 0), u);
    const Tf scale = SEL_f(big >= (Tu)(0x10000), 256.0f, 1.0f);
    return TO(float, cut) * scale * TO(float, SEL_m(high != (Tm)(0), 0x100000000UL, 1));
}
static Tf odd_l(Tl v)
{
    const Tl sign = v >> (Tl)(63); /* 0 or -1 */
    const Tf f = odd_m(AS(ulong, (v ^ sign) - sign));
    return f * (TO(float, sign) * (Tf)(2.0f) + (Tf)(1.0f));
}
#endif
#define ODD_m(v) odd_m(v)
#define ODD_l(v) odd_l(v)
#define ODD_u(v) odd_m(TO(ulong, v))
#define ODD_i(v) odd_l(TO(long, v))
#ifdef USES_ODD_d
static Tf odd_d(Td v)
{
    const Tf near = TO(float, v);
    const Td back = TO(double, near);
    const Tu past = TO(uint, SEL_m(fabs(back) > fabs(v), 1, 0));
    const Tu lost = TO(uint, SEL_m((back != v) & (fabs(v) <= (Td)(1.7976931348623157e308)), 1, 0));
    return AS(float, select(AS(uint, near), (AS(uint, near) - past) | (Tu)(1), MASK32(lost != (Tu)(0))));
}
#endif
#define ODD_d(v) odd_d(v)
