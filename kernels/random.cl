/* Philox4x32-10 (Salmon et al., SC 2011, section 3), W elements at once; ops/random.c is the same in C.
 *   LANES(base, i, stride)  the element numbers of the lanes
 *   DRAW_<form>_<dtype>(element, seed, position, low, span) */
#if W == 1
#define LANES(base, i, stride) ((Tm)((long)(base) + (long)(i) * (long)(stride)))
#elif W == 2
#define LANES(base, i, stride) LANES_(base, i, stride, (0, 1))
#elif W == 4
#define LANES(base, i, stride) LANES_(base, i, stride, (0, 1, 2, 3))
#elif W == 8
#define LANES(base, i, stride) LANES_(base, i, stride, (0, 1, 2, 3, 4, 5, 6, 7))
#else
#define LANES(base, i, stride) LANES_(base, i, stride, (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))
#endif
#define LANES_(base, i, stride, list) AS(ulong, (Tl)((long)(base) + (long)(i) * (long)(stride)) + ((Tl)list) * (Tl)((long)(stride)))

typedef struct words {
    Tu a, b, c, d;
} words;

static words philox(Tm counter, Tm seed)
{
    Tu k0 = TO(uint, seed & (Tm)(0xffffffff)), k1 = TO(uint, seed >> 32);
    words x;
    x.a = TO(uint, counter & (Tm)(0xffffffff));
    x.b = TO(uint, counter >> 32);
    x.c = (Tu)(0);
    x.d = (Tu)(0);
    for (int round = 0; round < 10; round++) {
        const Tu m = (Tu)(0xD2511F53u), n = (Tu)(0xCD9E8D57u);
        words y;
        y.a = mul_hi(n, x.c) ^ x.b ^ k0;
        y.b = n * x.c;
        y.c = mul_hi(m, x.a) ^ x.d ^ k1;
        y.d = m * x.a;
        x = y;
        k0 += (Tu)(0x9E3779B9u);
        k1 += (Tu)(0xBB67AE85u);
    }
    return x;
}

static Tf uniform_f(Tm at, Tm seed, int cut, float scale)
{
    const words w = philox(at, seed);
    return TO(float, w.a >> (Tu)((uint)cut)) * (Tf)(scale);
}
static Tf normal_f(Tm at, Tm seed)
{
    const words w = philox(at, seed);
    const Tf u = (TO(float, w.a >> 8) + (Tf)(1.0f)) * (Tf)(0x1p-24f);
    const Tf v = TO(float, w.c >> 8) * (Tf)(0x1p-23f); /* in half turns */
    return sqrt((Tf)(-2.0f) * log(u)) * cospi(v);
}
#define DRAW_UNIFORM_f32(e, seed, position, low, span) uniform_f((e) + (position), seed, 8, 0x1p-24f)
#define DRAW_UNIFORM_f16(e, seed, position, low, span) uniform_f((e) + (position), seed, 21, 0x1p-11f)
#define DRAW_UNIFORM_bf16(e, seed, position, low, span) uniform_f((e) + (position), seed, 24, 0x1p-8f)
#define DRAW_NORMAL_f32(e, seed, position, low, span) normal_f((e) + (position), seed)
#define DRAW_NORMAL_f16 DRAW_NORMAL_f32
#define DRAW_NORMAL_bf16 DRAW_NORMAL_f32

#ifdef USES_DOUBLE
static Td uniform_d(Tm at, Tm seed)
{
    const words w = philox(at, seed);
    return TO(double, (TO(ulong, w.a) << 21) ^ TO(ulong, w.b >> 11)) * (Td)(0x1p-53);
}
static Td normal_d(Tm at, Tm seed)
{
    const words w = philox(at, seed);
    const Td u = (TO(double, (TO(ulong, w.a) << 21) ^ TO(ulong, w.b >> 11)) + (Td)(1.0)) * (Td)(0x1p-53);
    const Td v = TO(double, (TO(ulong, w.c) << 21) ^ TO(ulong, w.d >> 11)) * (Td)(0x1p-52);
    return sqrt((Td)(-2.0) * log(u)) * cospi(v);
}
#define DRAW_UNIFORM_f64(e, seed, position, low, span) uniform_d((e) + (position), seed)
#define DRAW_NORMAL_f64(e, seed, position, low, span) normal_d((e) + (position), seed)
#endif

static Tm integer_m(Tm at, Tm seed, Tm low, Tm span)
{
    const words w = philox(at, seed);
    return low + ((TO(ulong, w.a) << 32) | TO(ulong, w.b)) % span;
}
#define DRAW_INTEGER_u64(e, seed, position, low, span) integer_m((e) + (position), seed, low, span)
#define DRAW_INTEGER_i64(e, seed, position, low, span) AS(long, DRAW_INTEGER_u64(e, seed, position, low, span))
#define DRAW_INTEGER_u32(e, seed, position, low, span) CONV_m_u(DRAW_INTEGER_u64(e, seed, position, low, span))
#define DRAW_INTEGER_i32(e, seed, position, low, span) CONV_m_i(DRAW_INTEGER_u64(e, seed, position, low, span))
#define DRAW_INTEGER_u16 DRAW_INTEGER_u32
#define DRAW_INTEGER_u8 DRAW_INTEGER_u32
#define DRAW_INTEGER_i16 DRAW_INTEGER_i32
#define DRAW_INTEGER_i8 DRAW_INTEGER_i32
#define DRAW_NUMBER_i32(e, seed, position, low, span) TO(int, e)
