/* Random numbers: Philox4x32-10 (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011, section 3).
 * key = seed, counter = position + element; an element owns its four words. kernels/random.cl is the same in OpenCL. */
#include "base/alloc.h"
#include "core/convert.h"
#include "graph/host.h"
#include "graph/move.h"
#include "ops/create.h"
#include <math.h>
#include <string.h>
#include <tenon/ops.h>

static _Thread_local uint64_t seed = 0, position = 0;

void tn_seed(uint64_t value)
{
    seed = value;
    position = 0;
}

void tn_random_state(uint64_t *s, uint64_t *p)
{
    if (s) *s = seed;
    if (p) *p = position;
}

void tn_set_random_state(uint64_t s, uint64_t p)
{
    seed = s;
    position = p;
}

/* again: 0; above, more words for the same element. */
static void philox(uint64_t counter, uint32_t again, const uint32_t key_in[2], uint32_t out[4])
{
    uint32_t key[2] = {key_in[0], key_in[1]}, x[4] = {(uint32_t)counter, (uint32_t)(counter >> 32), again, 0};
    for (int round = 0; round < 10; round++) {
        const uint64_t a = (uint64_t)0xD2511F53u * x[0], b = (uint64_t)0xCD9E8D57u * x[2];
        const uint32_t y[4] = {(uint32_t)(b >> 32) ^ x[1] ^ key[0], (uint32_t)b, (uint32_t)(a >> 32) ^ x[3] ^ key[1], (uint32_t)a};
        memcpy(x, y, sizeof x);
        key[0] += 0x9E3779B9u;
        key[1] += 0xBB67AE85u;
    }
    memcpy(out, x, sizeof x);
}

enum { UNIFORM, NORMAL, INTEGER, NUMBER };

/* As many bits as the dtype's significand holds, so that 1 is never reached. */
static tn__number uniform(tn_dtype dtype, const uint32_t w[4])
{
    tn__number n = {.compute = tn__dtypes[dtype].compute};
    if (dtype == TN_F64)
        n.d = (double)(((uint64_t)w[0] << 21) ^ (w[1] >> 11)) * 0x1p-53;
    else if (dtype == TN_F32)
        n.f = (float)(w[0] >> 8) * 0x1p-24f;
    else if (dtype == TN_F16)
        n.f = (float)(w[0] >> 21) * 0x1p-11f;
    else
        n.f = (float)(w[0] >> 24) * 0x1p-8f;
    return n;
}

/* Box and Muller, from numbers that f32 (f64) holds exactly; the radius' argument is never 0. */
static tn__number normal(tn_dtype dtype, const uint32_t w[4])
{
    tn__number n = {.compute = tn__dtypes[dtype].compute};
    const bool wide = dtype == TN_F64;
    const long double u = wide ? ((long double)(((uint64_t)w[0] << 21) ^ (w[1] >> 11)) + 1.0L) * 0x1p-53L
                               : ((long double)(w[0] >> 8) + 1.0L) * 0x1p-24L;
    const long double v = wide ? (long double)(((uint64_t)w[2] << 21) ^ (w[3] >> 11)) * 0x1p-53L : (long double)(w[2] >> 8) * 0x1p-24L;
    const long double r = sqrtl(-2.0L * logl(u)) * cosl(6.283185307179586476925286766559L * v);
    if (wide)
        n.d = (double)r;
    else
        n.f = (float)r;
    return n;
}

static tn__number draw(const tn__node *node, uint64_t element)
{
    uint32_t w[4];
    philox(node->a.random.position + element, 0, node->a.random.seed, w);
    if (node->a.random.form == UNIFORM) return uniform(node->dtype, w);
    if (node->a.random.form == NORMAL) return normal(node->dtype, w);
    const uint64_t wide = (uint64_t)w[0] << 32 | w[1];
    if (node->a.random.form == NUMBER) return (tn__number){.compute = TN__CM, .m = element};
    return (tn__number){.compute = TN__CM, .m = (uint64_t)node->a.random.low + wide % node->a.random.span};
}

static tn_status host_random(const tn__node *node, void *const *out)
{
    const int64_t n = tn__node_count(node);
    const size_t size = tn_dtype_size(node->dtype);
    for (int64_t i = 0; i < n; i++)
        tn__number_store(node->dtype, (char *)out[0] + (size_t)i * size, tn__number_to(draw(node, (uint64_t)i), node->dtype));
    return TN_OK;
}

static const tn__op op_random = {.name = "random", .fusable = true, .host = host_random};

static tn_tensor *record_random(const char *function, int form, tn_dtype dtype, const tn_shape *shape, const char *name,
                                int64_t low, uint64_t span)
{
    int64_t count;
    tn__graph_start();
    if (form < INTEGER && !tn_dtype_is_float(dtype))
        return TN__NULL(TN_DTYPE, "%s: not for %s; floats only", function, tn_dtype_name(dtype));
    if (tn__shape_numel(shape, tn_dtype_size(dtype), &count, function) != TN_OK) return NULL;
    tn__device *device = tn__device_for_creation(name);
    tn__node *node = device ? tn__node_new(&op_random, 0) : NULL;
    if (!node) return NULL;
    node->dtype = dtype;
    node->rank = node->kept = shape->ndim;
    memcpy(node->dim, shape->dim, sizeof shape->dim);
    node->a.random.seed[0] = (uint32_t)seed;
    node->a.random.seed[1] = (uint32_t)(seed >> 32);
    node->a.random.position = position;
    node->a.random.form = form;
    node->a.random.low = low;
    node->a.random.span = span;
    tn_tensor *x = tn__record(node, device, dtype, true);
    if (x && form != NUMBER) position += (uint64_t)count; /* the stream moves by what was drawn, whatever the device */
    return x;
}

tn_tensor *tn_rand(tn_dtype dtype, tn_shape shape, const char *device)
{
    return record_random("rand", UNIFORM, dtype, &shape, device, 0, 1);
}

tn_tensor *tn_randn(tn_dtype dtype, tn_shape shape, const char *device)
{
    return record_random("randn", NORMAL, dtype, &shape, device, 0, 1);
}

tn_tensor *tn_randint(tn_dtype dtype, tn_shape shape, int64_t low, int64_t high, const char *device)
{
    const tn__number least = {.compute = TN__CL, .l = low}, most = {.compute = TN__CL, .l = high - 1};
    if (tn_dtype_is_float(dtype) || dtype == TN_BOOL || !tn__dtype_valid(dtype))
        return TN__NULL(TN_DTYPE, "randint: not for %s; integers only", tn_dtype_name(dtype));
    if (low >= high) return TN__NULL(TN_ARGUMENT, "randint: low %lld is not below high %lld", (long long)low, (long long)high);
    if (!tn__number_fits(least, dtype) || !tn__number_fits(most, dtype))
        return TN__NULL(TN_OVERFLOW, "randint: %lld to %lld does not fit %s", (long long)low, (long long)high - 1,
                        tn_dtype_name(dtype));
    return record_random("randint", INTEGER, dtype, &shape, device, low, (uint64_t)high - (uint64_t)low);
}

tn_tensor *tn__numbers(int64_t count, const char *device)
{
    const tn_shape shape = {.ndim = 1, .dim = {count}};
    return record_random("numbers", NUMBER, TN_I32, &shape, device, 0, 1);
}

/* ---- permutation ---- */

/* Uniform in 0 … n - 1, for the element of the stream: 64 bits at a time, until they are below the last multiple of n. */
static uint64_t below(uint64_t n, uint64_t element)
{
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    const uint64_t excess = (UINT64_MAX % n + 1) % n; /* 2^64 modulo n */
    for (uint32_t again = 0;; again++) {
        uint32_t w[4];
        philox(position + element, again, key, w);
        for (int half = 0; half < 4; half += 2) {
            const uint64_t wide = (uint64_t)w[half] << 32 | w[half + 1];
            if (wide <= UINT64_MAX - excess) return wide % n;
        }
    }
}

tn_tensor *tn_permutation(int64_t n, const char *name)
{
    const tn_shape shape = {.ndim = 1, .dim = {n}};
    int64_t count;
    tn__graph_start();
    if (n < 0) return TN__NULL(TN_ARGUMENT, "permutation: n is %lld", (long long)n);
    if (tn__shape_numel(&shape, sizeof(int64_t), &count, "permutation") != TN_OK) return NULL;
    tn__device *device = tn__device_for_creation(name);
    int64_t *order = device ? tn__alloc((size_t)n * sizeof *order) : NULL;
    if (!order) return NULL;
    for (int64_t i = 0; i < n; i++) { /* Fisher and Yates, from the front: i goes to a place among the first i + 1 */
        const int64_t j = (int64_t)below((uint64_t)i + 1, (uint64_t)i);
        if (j != i) order[i] = order[j];
        order[j] = i;
    }
    tn_tensor *x = tn__from_bytes(TN_I64, &shape, order, device);
    tn__free(order);
    if (x) position += (uint64_t)n;
    return x;
}
