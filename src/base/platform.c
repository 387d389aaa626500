#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_DEFAULT */
#endif
#include "base/platform.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"

void tn__mutex_init(tn__mutex *m)
{
    pthread_mutex_init(m, NULL);
}

void tn__mutex_destroy(tn__mutex *m)
{
    pthread_mutex_destroy(m);
}

void tn__lock(tn__mutex *m)
{
    pthread_mutex_lock(m);
}

void tn__unlock(tn__mutex *m)
{
    pthread_mutex_unlock(m);
}

enum { MOST_OVER_FORK = 8 };
static tn__mutex *over_fork[MOST_OVER_FORK];
static int over_fork_count;
static pthread_once_t over_fork_once = PTHREAD_ONCE_INIT;
static atomic_long process; /* its id, asked of the system once; 0: not yet */

static void before_fork(void)
{
    for (int i = 0; i < over_fork_count; i++) pthread_mutex_lock(over_fork[i]);
}

static void after_fork(void)
{
    for (int i = over_fork_count - 1; i >= 0; i--) pthread_mutex_unlock(over_fork[i]);
}

static void after_fork_in_child(void)
{
    after_fork();
    atomic_store(&process, 0);
}

static void watch_forks(void)
{
    (void)pthread_atfork(before_fork, after_fork, after_fork_in_child);
}

void tn__lock_over_fork(tn__mutex *m)
{
    (void)pthread_once(&over_fork_once, watch_forks);
    for (int i = 0; i < over_fork_count; i++)
        if (over_fork[i] == m) return;
    if (over_fork_count < MOST_OVER_FORK) over_fork[over_fork_count++] = m;
}

bool tn__thread_start(tn__thread *thread, void *(*work)(void *user), void *user)
{
    return pthread_create(thread, NULL, work, user) == 0;
}

void tn__thread_join(tn__thread thread)
{
    (void)pthread_join(thread, NULL);
}

double tn__seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int tn__terminal_width(FILE *file)
{
    enum { USUAL = 80 };
    struct winsize size;
    const int fd = fileno(file);
    if (fd < 0 || !isatty(fd)) return 0;
    return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : USUAL;
}

long tn__process_id(void)
{
    long id = atomic_load_explicit(&process, memory_order_relaxed);
    if (id) return id;
    (void)pthread_once(&over_fork_once, watch_forks);
    id = (long)getpid();
    atomic_store(&process, id);
    return id;
}

uint64_t tn__physical_memory(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : 0;
}

void *tn__library_open(const char *path)
{
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

void *tn__library_symbol(void *library, const char *name)
{
    return dlsym(library ? library : RTLD_DEFAULT, name);
}

void tn__library_close(void *library)
{
    if (library) dlclose(library);
}

char *tn__full_path(const char *path)
{
    enum { FOLDER_MAX = 4096 };
    char folder[FOLDER_MAX] = "";
    if (path[0] != '/' && !getcwd(folder, sizeof folder - 1)) folder[0] = '\0';
    if (folder[0]) strcat(folder, "/");
    char *whole = tn__alloc_quiet(strlen(folder) + strlen(path) + 1);
    if (!whole) return NULL;
    strcpy(whole, folder);
    return strcat(whole, path);
}

bool tn__make_folders(const char *path)
{
    const size_t length = strlen(path);
    char *part = tn__alloc_quiet(length + 1);
    if (!part) return false;
    memcpy(part, path, length + 1);
    bool made = length > 0;
    for (size_t i = 1; made && i <= length; i++) {
        if (part[i] != '/' && part[i] != '\0') continue;
        const char end = part[i];
        part[i] = '\0';
        struct stat about;
        made = mkdir(part, 0777) == 0 || (stat(part, &about) == 0 && S_ISDIR(about.st_mode));
        part[i] = end;
    }
    tn__free(part);
    return made;
}

/* False when the file ends early. */
static bool read_all(int fd, char *to, size_t length)
{
    while (length > 0) {
        const ssize_t got = read(fd, to, length);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        to += got;
        length -= (size_t)got;
    }
    return true;
}

void *tn__file_read(const char *path, size_t limit, size_t *length)
{
    struct stat about;
    char *bytes = NULL;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return NULL;
    if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && about.st_size >= 0 && (uint64_t)about.st_size <= limit) {
        const size_t size = (size_t)about.st_size;
        bytes = tn__alloc_quiet(size + 1);
        if (bytes && read_all(fd, bytes, size)) {
            bytes[size] = '\0';
            *length = size;
        } else {
            tn__free(bytes);
            bytes = NULL;
        }
    }
    close(fd);
    return bytes;
}

static bool write_all(int fd, const char *from, size_t length)
{
    while (length > 0) {
        const ssize_t put = write(fd, from, length);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return false;
        from += put;
        length -= (size_t)put;
    }
    return true;
}

bool tn__file_write_atomic(const char *path, const void *bytes, size_t length)
{
    static atomic_uint count;
    const size_t size = strlen(path) + 64;
    char *beside = tn__alloc_quiet(size);
    if (!beside) return false;
    snprintf(beside, size, "%s.%ld.%u.tmp", path, tn__process_id(), atomic_fetch_add(&count, 1));
    const int fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    bool done = fd >= 0;
    if (done) {
        done = write_all(fd, bytes, length);
        done = close(fd) == 0 && done;
        done = done && rename(beside, path) == 0;
        if (!done) unlink(beside);
    }
    tn__free(beside);
    return done;
}

struct tn__file_out {
    int fd;
    char *path, *beside;
};

static void free_out(tn__file_out *f)
{
    tn__free(f->path);
    tn__free(f->beside);
    tn__free(f);
}

int tn__file_out_open(const char *path, tn__file_out **file)
{
    static atomic_uint count;
    const size_t length = strlen(path) + 1, size = length + 64;
    tn__file_out *f = tn__alloc_quiet(sizeof *f);
    if (!f) return ENOMEM;
    *f = (tn__file_out){.path = tn__alloc_quiet(length), .beside = tn__alloc_quiet(size)};
    if (!f->path || !f->beside) {
        free_out(f);
        return ENOMEM;
    }
    memcpy(f->path, path, length);
    snprintf(f->beside, size, "%s.%ld.s%u.tmp", path, tn__process_id(), atomic_fetch_add(&count, 1));
    f->fd = open(f->beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (f->fd < 0) {
        const int error = errno;
        free_out(f);
        return error;
    }
    *file = f;
    return 0;
}

int tn__file_out_write(tn__file_out *f, const void *bytes, size_t length)
{
    errno = 0;
    if (write_all(f->fd, bytes, length)) return 0;
    return errno ? errno : EIO;
}

/* The folder's entry is on the disk too; folders that cannot be told so are let be. */
static void sync_folder(const char *path)
{
    char *folder = tn__alloc_quiet(strlen(path) + 2);
    if (!folder) return;
    strcpy(folder, path);
    char *slash = strrchr(folder, '/');
    if (slash)
        slash[1] = '\0';
    else
        strcpy(folder, ".");
    const int fd = open(folder, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
    tn__free(folder);
}

int tn__file_out_close(tn__file_out *f, bool keep)
{
    int error = 0;
    if (keep && fsync(f->fd) != 0 && errno != EINVAL) error = errno; /* EINVAL: nothing to sync there */
    if (close(f->fd) != 0 && keep && error == 0) error = errno;
    if (keep && error == 0 && rename(f->beside, f->path) != 0) error = errno;
    if (keep && error == 0)
        sync_folder(f->path);
    else
        (void)unlink(f->beside);
    free_out(f);
    return error;
}

struct tn__file_lock {
    int file;
    char path[];
};

/* An open file that is locked and still has its name; -1 when not now, -2 when never. */
static int try_lock(const char *path)
{
    struct stat held, named;
    const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0) return -2;
    if (flock(file, LOCK_EX | LOCK_NB) != 0) {
        const bool later = errno == EWOULDBLOCK || errno == EINTR;
        close(file);
        return later ? -1 : -2;
    }
    if (fstat(file, &held) == 0 && stat(path, &named) == 0 && held.st_ino == named.st_ino) return file;
    close(file); /* the holder before us took the name away */
    return -1;
}

tn__file_lock *tn__file_lock_take(const char *path, double seconds, bool *waited, bool *busy)
{
    const struct timespec pause = {.tv_nsec = 5000000};
    const double end = tn__seconds() + seconds;
    tn__file_lock *lock = tn__alloc_quiet(sizeof *lock + strlen(path) + 1);
    *waited = *busy = false;
    if (!lock) return NULL;
    strcpy(lock->path, path);
    while ((lock->file = try_lock(path)) == -1 && tn__seconds() < end) {
        *waited = true;
        nanosleep(&pause, NULL);
    }
    if (lock->file >= 0) return lock;
    *busy = lock->file == -1;
    tn__free(lock);
    return NULL;
}

void tn__file_lock_drop(tn__file_lock *lock)
{
    if (!lock) return;
    unlink(lock->path);
    close(lock->file);
    tn__free(lock);
}
