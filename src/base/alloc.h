/* The only malloc of the library. Each returns NULL with a MEMORY error set. */
#ifndef TN__ALLOC_H
#define TN__ALLOC_H

#include <stddef.h>
#include <stdint.h>

void *tn__alloc(size_t bytes);             /* not zeroed; 0 bytes gives a unique pointer */
void *tn__zalloc(size_t bytes);            /* zeroed */
void *tn__realloc(void *old, size_t bytes);
void *tn__alloc_quiet(size_t bytes);       /* as tn__alloc, without an error: the caller can do without */
void tn__free(void *p);
char *tn__strdup(const char *text);
void *tn__alloc_aligned(size_t bytes, size_t alignment); /* freed by tn__free_aligned */
void *tn__alloc_aligned_quiet(size_t bytes, size_t alignment);
void tn__free_aligned(void *p);

/* How many allocations of the calling thread have failed so far. Whoever would remember a result compares before and after:
 * what went wrong for want of memory is no lasting answer. */
uint64_t tn__alloc_failures(void);

/* Tests: the n-th allocation from now fails (0: never), and all after it while sticky. */
void tn__alloc_fail_after(int64_t n, int sticky);

#endif
