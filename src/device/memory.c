/* Buffers: one allocator per device with size classes, a bounded cache, counts and a limit.
 *
 * A released buffer may be handed out again at once: whatever still uses it stands in the queue before whatever comes next.
 * Sizes up to 1 MiB are rounded up to an eighth of their power of two, larger ones to pages. Class c holds capacities from
 * its own size up to the next one's. */
#include <string.h>

#include "base/alloc.h"
#include "base/settings.h"
#include "device/registry.h"

enum { SMALLEST_LOG = 6, STEPS_LOG = 3, STEPS = 1 << STEPS_LOG, PAGE = 4096, LOOKS = 16 };
static const uint64_t rounded_up_to = UINT64_C(1) << 20;

static _Atomic(bool (*)(tn__device *device)) pressure_hook;
static _Atomic(bool (*)(tn__device *device)) spare_hook;
static _Thread_local bool pressure_paused;

void tn__set_pressure_hook(bool (*hook)(tn__device *device))
{
    atomic_store(&pressure_hook, hook);
}

void tn__set_spare_hook(bool (*hook)(tn__device *device))
{
    atomic_store(&spare_hook, hook);
}

bool tn__pressure_pause(bool pause)
{
    const bool previous = pressure_paused;
    pressure_paused = pause;
    return previous;
}

/* ---- size classes ---- */

static int log2_of(uint64_t n)
{
    int log = 0;
    while (n >>= 1) log++;
    return log;
}

static int class_of(uint64_t capacity)
{
    const int log = log2_of(capacity);
    if (log < SMALLEST_LOG) return 0;
    const int step = (int)((capacity >> (log - STEPS_LOG)) & (STEPS - 1));
    const int class = (log - SMALLEST_LOG) * STEPS + step;
    return class < TN__SIZE_CLASSES ? class : TN__SIZE_CLASSES - 1;
}

static uint64_t capacity_of(const tn__device *device, uint64_t bytes)
{
    const uint64_t smallest = UINT64_C(1) << SMALLEST_LOG;
    if (bytes <= smallest) return smallest;
    const uint64_t unit = bytes <= rounded_up_to ? UINT64_C(1) << (log2_of(bytes - 1) - STEPS_LOG) : PAGE;
    if (bytes > UINT64_MAX - unit) return bytes;
    const uint64_t capacity = (bytes + unit - 1) / unit * unit;
    return capacity <= device->info.memory_allocation ? capacity : bytes;
}

/* ---- lists; all with memory_lock held ---- */

static void live_add(tn__device *device, tn__buffer *b)
{
    b->newer = NULL;
    b->older = device->live;
    if (device->live) device->live->newer = b;
    device->live = b;
}

static void live_remove(tn__device *device, tn__buffer *b)
{
    if (b->newer)
        b->newer->older = b->older;
    else
        device->live = b->older;
    if (b->older) b->older->newer = b->newer;
    b->older = b->newer = NULL;
}

static void cache_add(tn__device *device, tn__buffer *b)
{
    tn__buffer **head = &device->cache[class_of(b->capacity)];
    b->previous = NULL;
    b->next = *head;
    if (*head) (*head)->previous = b;
    *head = b;
    b->newer = NULL;
    b->older = device->newest;
    if (device->newest) device->newest->newer = b;
    device->newest = b;
    if (!device->oldest) device->oldest = b;
    device->cached += b->capacity;
}

static void cache_remove(tn__device *device, tn__buffer *b)
{
    if (b->previous)
        b->previous->next = b->next;
    else
        device->cache[class_of(b->capacity)] = b->next;
    if (b->next) b->next->previous = b->previous;
    if (b->newer)
        b->newer->older = b->older;
    else
        device->newest = b->older;
    if (b->older)
        b->older->newer = b->newer;
    else
        device->oldest = b->newer;
    b->next = b->previous = b->older = b->newer = NULL;
    device->cached -= b->capacity;
}

/* Takes the longest unused buffers out until the cache holds at most that much; gives them as a chain. */
static tn__buffer *evict(tn__device *device, uint64_t bound)
{
    tn__buffer *chain = NULL;
    while (device->oldest && device->cached > bound) {
        tn__buffer *b = device->oldest;
        cache_remove(device, b);
        b->next = chain;
        chain = b;
    }
    return chain;
}

/* Without the lock. */
static bool free_chain(tn__device *device, tn__buffer *chain)
{
    const bool some = chain != NULL;
    for (tn__buffer *next; chain; chain = next) {
        next = chain->next;
        device->backend->release(device, chain->memory);
        tn__free(chain);
    }
    return some;
}

/* ---- new buffers ---- */

static uint64_t limit_of(const tn__device *device)
{
    const uint64_t total = device->info.memory_total;
    return device->limit && device->limit < total ? device->limit : total;
}

static void count_in(tn__device *device, tn__buffer *b, uint64_t bytes)
{
    b->bytes = bytes;
    atomic_store_explicit(&b->references, 1, memory_order_relaxed);
    live_add(device, b);
    if (device->in_use > device->peak) device->peak = device->in_use;
}

static tn__buffer *from_cache(tn__device *device, uint64_t capacity, uint64_t bytes)
{
    const int class = class_of(capacity);
    tn__lock(&device->memory_lock);
    tn__buffer *b = device->cache[class];
    for (int i = 0; b && b->capacity < capacity; i++) b = i < LOOKS ? b->next : NULL;
    if (!b && capacity > rounded_up_to && class + 1 < TN__SIZE_CLASSES) b = device->cache[class + 1];
    if (b) {
        cache_remove(device, b);
        device->in_use += b->capacity;
        count_in(device, b, bytes);
    }
    tn__unlock(&device->memory_lock);
    return b;
}

/* Counts before asking, so that two threads do not pass the limit together. MEMORY without a sentence. */
static tn_status fresh(tn__device *device, uint64_t capacity, uint64_t bytes, tn__buffer **made)
{
    const uint64_t limit = limit_of(device);
    tn__buffer *b = tn__alloc_quiet(sizeof *b);
    if (!b) return TN_MEMORY;
    memset(b, 0, sizeof *b);
    tn__lock(&device->memory_lock);
    const uint64_t left = limit > device->in_use ? limit - device->in_use : 0;
    const bool fits = capacity <= left;
    tn__buffer *chain = fits ? evict(device, left - capacity) : NULL;
    if (fits) device->in_use += capacity;
    tn__unlock(&device->memory_lock);
    free_chain(device, chain);

    const tn_status status = fits ? device->backend->allocate(device, capacity, &b->memory) : TN_MEMORY;
    tn__lock(&device->memory_lock);
    if (status == TN_OK) {
        b->device = device;
        b->capacity = capacity;
        b->generation = device->generation;
        count_in(device, b, bytes);
    } else if (fits) {
        device->in_use -= capacity;
    }
    tn__unlock(&device->memory_lock);
    if (status != TN_OK) tn__free(b);
    *made = status == TN_OK ? b : NULL;
    return status;
}

static tn_status fail_full(tn__device *device, uint64_t bytes)
{
    tn__lock(&device->memory_lock);
    const unsigned long long in_use = device->in_use, cached = device->cached, limit = limit_of(device);
    tn__unlock(&device->memory_lock);
    return tn__fail(TN_MEMORY,
                    "%s: no memory for %llu bytes: one allocation holds at most %llu, in use %llu, cached %llu, limit %llu "
                    "of %llu in total",
                    device->name, (unsigned long long)bytes, (unsigned long long)device->info.memory_allocation, in_use,
                    cached, limit, (unsigned long long)device->info.memory_total);
}

/* Runs what is pending, unless the thread is running something, or is here for the second time. */
static bool press(tn__device *device)
{
    bool (*const hook)(tn__device *) = atomic_load(&pressure_hook);
    if (!hook || pressure_paused) return false;
    pressure_paused = true;
    tn__error_attempt();
    const bool freed = hook(device);
    tn__error_attempt_end();
    pressure_paused = false;
    return freed;
}

static bool give_up_spare(tn__device *device)
{
    bool (*const hook)(tn__device *) = atomic_load(&spare_hook);
    return hook && hook(device);
}

static bool drop_cache(tn__device *device)
{
    tn__memory_drop_cache(device);
    return true;
}

static bool finish_queue(tn__device *device)
{
    return device->backend->finish(device) == TN_OK;
}

/* The next way to get memory that may have helped. */
static bool relieve(tn__device *device, size_t *stage)
{
    static bool (*const ways[])(tn__device *) = {give_up_spare, drop_cache, finish_queue, press};
    while (*stage < sizeof ways / sizeof *ways)
        if (ways[(*stage)++](device)) return true;
    return false;
}

tn__buffer *tn__buffer_new(tn__device *device, uint64_t bytes)
{
    if (tn__device_open(device) != TN_OK) return NULL;
    if (bytes == 0) return TN__NULL(TN_INTERNAL, "%s: a buffer of no bytes was asked for", device->name);
    const uint64_t capacity = capacity_of(device, bytes);
    size_t stage = 0;
    if (bytes <= device->info.memory_allocation && bytes <= limit_of(device)) {
        do {
            tn__buffer *b = from_cache(device, capacity, bytes);
            const tn_status status = b ? TN_OK : fresh(device, capacity, bytes, &b);
            if (b) return b;
            if (status != TN_MEMORY) return NULL;
        } while (relieve(device, &stage));
        if (tn__device_check(device) != TN_OK) return NULL;
    }
    return (void)fail_full(device, bytes), NULL;
}

tn__buffer *tn__buffer_wrap(tn__device *device, void *memory, uint64_t bytes, void (*dropped)(void *memory, void *user),
                            void *user)
{
    tn__buffer *b = tn__zalloc(sizeof *b);
    if (!b) return NULL;
    b->device = device;
    b->bytes = b->capacity = bytes;
    b->memory = memory;
    b->wrapped = true;
    b->dropped = dropped;
    b->user = user;
    atomic_init(&b->references, 1);
    tn__lock(&device->memory_lock);
    b->generation = device->generation;
    live_add(device, b);
    tn__unlock(&device->memory_lock);
    return b;
}

tn__buffer *tn__buffer_retain(tn__buffer *buffer)
{
    if (buffer) atomic_fetch_add_explicit(&buffer->references, 1, memory_order_relaxed);
    return buffer;
}

/* The device can still be spoken to about its memory. */
static bool reachable(const tn__device *device)
{
    return device->is_host || device->process == tn__process_id();
}

void tn__buffer_release(tn__buffer *b)
{
    if (!b || atomic_fetch_sub_explicit(&b->references, 1, memory_order_acq_rel) != 1) return;
    tn__device *device = b->device;
    tn__buffer *chain = NULL;
    if (tn__device_foreign(device)) return; /* the parent's memory; the few bytes of the struct go with the child */
    tn__lock(&device->memory_lock);
    const bool closed = b->generation != device->generation;
    if (!closed) {
        live_remove(device, b);
        if (!b->wrapped) device->in_use -= b->capacity;
    }
    const bool keep = !closed && !b->wrapped && b->capacity <= device->cache_bound;
    if (keep) {
        cache_add(device, b);
        chain = evict(device, device->cache_bound);
    }
    tn__unlock(&device->memory_lock);
    if (keep) {
        if (chain && reachable(device)) free_chain(device, chain);
        return;
    }
    if (!closed && b->wrapped && b->dropped && reachable(device)) b->dropped(b->memory, b->user);
    if (!closed && !b->wrapped && reachable(device)) device->backend->release(device, b->memory);
    tn__free(b);
}

/* ---- the whole device ---- */

void tn__memory_drop_cache(tn__device *device)
{
    tn__lock(&device->memory_lock);
    tn__buffer *chain = evict(device, 0);
    tn__unlock(&device->memory_lock);
    free_chain(device, chain);
}

void tn__memory_bound(tn__device *device, uint64_t bytes)
{
    tn__lock(&device->memory_lock);
    device->cache_bound = bytes;
    device->bound_given = true;
    tn__buffer *chain = evict(device, bytes);
    tn__unlock(&device->memory_lock);
    free_chain(device, chain);
}

void tn__memory_open(tn__device *device)
{
    tn__lock(&device->memory_lock);
    if (!device->limit_given) device->limit = tn__setting_bytes(TN__SET_MEMORY_LIMIT);
    if (!device->bound_given) device->cache_bound = limit_of(device) / 8;
    tn__unlock(&device->memory_lock);
}

/* Live buffers of the host stay: they are plain memory, and go with their last reference. */
void tn__memory_close(tn__device *device, bool usable)
{
    tn__lock(&device->memory_lock);
    tn__buffer *chain = evict(device, 0);
    tn__buffer *live = device->is_host ? NULL : device->live;
    if (!device->is_host) {
        device->live = NULL;
        device->in_use = 0;
        device->generation++;
    }
    device->peak = device->in_use;
    device->limit = device->cache_bound = 0;
    device->limit_given = device->bound_given = false;
    tn__unlock(&device->memory_lock);
    for (tn__buffer *b = chain, *next; b; b = next) {
        next = b->next;
        if (usable || device->is_host) device->backend->release(device, b->memory);
        tn__free(b);
    }
    for (tn__buffer *b = live, *next; b; b = next) {
        next = b->older;
        if (usable && !b->wrapped) device->backend->release(device, b->memory);
        if (usable && b->wrapped && b->dropped) b->dropped(b->memory, b->user);
        b->memory = NULL;
    }
}
