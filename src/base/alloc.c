#include "base/alloc.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* Countdown of the fault injection: 0 is off, 1 fails the next allocation. */
static atomic_llong fail_countdown;
static atomic_int fail_sticky;
static _Thread_local uint64_t failures;

void tn__alloc_fail_after(int64_t n, int sticky)
{
    atomic_store(&fail_sticky, sticky);
    atomic_store(&fail_countdown, n < 0 ? 0 : n);
}

static int must_fail(void)
{
    long long left = atomic_load_explicit(&fail_countdown, memory_order_relaxed);
    while (left > 0) {
        const long long next = left == 1 && atomic_load(&fail_sticky) ? 1 : left - 1;
        if (atomic_compare_exchange_weak(&fail_countdown, &left, next)) return left == 1;
    }
    return 0;
}

static void *count(void *p)
{
    if (!p) failures++;
    return p;
}

uint64_t tn__alloc_failures(void)
{
    return failures;
}

static void *report(void *p, size_t bytes)
{
    if (!p) tn__fail(TN_MEMORY, "no memory for %zu bytes", bytes);
    return p;
}

void *tn__alloc_quiet(size_t bytes)
{
    return count(must_fail() ? NULL : malloc(bytes ? bytes : 1));
}

void *tn__alloc(size_t bytes)
{
    return report(tn__alloc_quiet(bytes), bytes);
}

void *tn__zalloc(size_t bytes)
{
    return report(count(must_fail() ? NULL : calloc(bytes ? bytes : 1, 1)), bytes);
}

void *tn__realloc(void *old, size_t bytes)
{
    return report(count(must_fail() ? NULL : realloc(old, bytes ? bytes : 1)), bytes);
}

void tn__free(void *p)
{
    free(p);
}

char *tn__strdup(const char *text)
{
    const size_t length = strlen(text) + 1;
    char *copy = tn__alloc(length);
    if (copy) memcpy(copy, text, length);
    return copy;
}

void *tn__alloc_aligned_quiet(size_t bytes, size_t alignment)
{
    if (alignment < sizeof(void *)) alignment = sizeof(void *);
    if (bytes == 0) bytes = 1;
    if (bytes > SIZE_MAX - alignment || must_fail()) return count(NULL);
    return count(aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment));
}

void *tn__alloc_aligned(size_t bytes, size_t alignment)
{
    return report(tn__alloc_aligned_quiet(bytes, alignment), bytes);
}

void tn__free_aligned(void *p)
{
    free(p);
}
