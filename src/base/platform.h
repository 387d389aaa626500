/* Threads, clock, files, dynamic libraries, processes: the only place that knows the operating system. */
#ifndef TN__PLATFORM_H
#define TN__PLATFORM_H

#include <pthread.h>
#include <stdio.h>
#include <tenon/base.h>

typedef pthread_mutex_t tn__mutex;
#define TN__MUTEX_INIT PTHREAD_MUTEX_INITIALIZER
void tn__mutex_init(tn__mutex *m);
void tn__mutex_destroy(tn__mutex *m);
void tn__lock(tn__mutex *m);
void tn__unlock(tn__mutex *m);

/* A lock whose data a forked child goes on using: held over fork, so that no thread is in the middle of it. Once for each, in the
 * order in which they nest; none may be held. */
void tn__lock_over_fork(tn__mutex *m);

typedef pthread_t tn__thread;
bool tn__thread_start(tn__thread *thread, void *(*work)(void *user), void *user); /* false: there can be no more */
void tn__thread_join(tn__thread thread);

double tn__seconds(void); /* monotonic */
int tn__terminal_width(FILE *file); /* columns of the terminal that file is, 0 when it is none */
long tn__process_id(void);
uint64_t tn__physical_memory(void); /* bytes; 0 when unknown */

void *tn__library_open(const char *path); /* NULL when it cannot be opened */
void *tn__library_symbol(void *library, const char *name); /* library NULL: symbols already in the process */
void tn__library_close(void *library);

/* The path from the root, whether it exists or not: a fresh text (tn__free), NULL when memory is out. */
char *tn__full_path(const char *path);
bool tn__make_folders(const char *path); /* like mkdir -p */
/* Whole file into a fresh block (tn__free) with a zero byte behind it, NULL without an error when it cannot be read or is
 * larger than limit. */
void *tn__file_read(const char *path, size_t limit, size_t *length);
/* Writes beside the target (PATH.PID.N.tmp), then renames over it; false without an error when that fails. */
bool tn__file_write_atomic(const char *path, const void *bytes, size_t length);

/* A file that is written beside its target (PATH.PID.N.tmp) and takes its place at the end, whole or not at all. Each gives 0 or
 * the errno of what went wrong. */
typedef struct tn__file_out tn__file_out;
int tn__file_out_open(const char *path, tn__file_out **file);
int tn__file_out_write(tn__file_out *file, const void *bytes, size_t length);
/* On the disk and in the target's place when keep, else gone; frees file in any case. */
int tn__file_out_close(tn__file_out *file, bool keep);

/* A lock between processes, which ends with its process at the latest. The file is there only while somebody holds it. */
typedef struct tn__file_lock tn__file_lock;
/* NULL when it cannot be had: *busy tells that others held it all the time, else locks do not work there.
 * *waited tells that it was held at first. */
tn__file_lock *tn__file_lock_take(const char *path, double seconds, bool *waited, bool *busy);
void tn__file_lock_drop(tn__file_lock *lock); /* NULL allowed */

#endif
