#include "worker.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LINE = 1024, SHIFT = 4096 }; /* an input's values begin so many floats behind those of the input before */

static const float *pool;
static size_t pool_bytes;
static char pool_name[LINE];

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static bool map_pool(const char *file)
{
    struct stat facts;
    if (strcmp(file, pool_name) == 0) return true;
    if (pool) munmap((void *)pool, pool_bytes);
    pool = NULL;
    pool_name[0] = 0;
    const int fd = open(file, O_RDONLY);
    if (fd < 0) return false;
    if (fstat(fd, &facts) == 0) {
        pool_bytes = (size_t)facts.st_size;
        void *const at = mmap(NULL, pool_bytes, PROT_READ, MAP_PRIVATE, fd, 0);
        pool = at == MAP_FAILED ? NULL : at;
    }
    close(fd);
    if (!pool) return false;
    (void)snprintf(pool_name, sizeof pool_name, "%s", file);
    return true;
}

/* "8x1024,1024x1024" */
static const char *read_shapes(char *text, worker_request *r)
{
    for (char *shape = text, *next; shape; shape = next) {
        if (r->count == WORKER_INPUTS) return "too many inputs";
        worker_input *in = &r->input[r->count];
        next = strchr(shape, ',');
        if (next) *next++ = 0;
        in->count = 1;
        for (char *at = shape; *at && in->ndim < WORKER_AXES; at += *at == 'x') {
            in->dim[in->ndim] = strtol(at, &at, 10);
            in->count *= (size_t)in->dim[in->ndim++];
        }
        in->values = pool + (size_t)r->count++ * SHIFT;
        if ((size_t)(in->values - pool) + in->count > pool_bytes / sizeof *pool) return "the file holds too few numbers";
    }
    return NULL;
}

static void prepare(const worker_peer *peer, const char *line)
{
    char shapes[LINE], file[LINE];
    worker_request r = {.count = 0};
    const char *why = "the line is wrong";
    if (sscanf(line, "prepare %31s %7s %1023s %1023s", r.operation, r.dtype, shapes, file) == 4)
        why = map_pool(file) ? read_shapes(shapes, &r) : "the file cannot be read";
    if (!why) why = peer->prepare(&r);
    if (why)
        printf("cannot %s\n", why);
    else
        printf("ready\n");
}

static bool run(const worker_peer *peer, int times)
{
    double *ms = calloc((size_t)times, sizeof *ms);
    bool good = ms != NULL;
    const unsigned long long before = peer->launches ? peer->launches() : 0;
    for (int i = 0; good && i < times; i++) {
        const double begin = now_ms();
        good = peer->run();
        ms[i] = now_ms() - begin;
        good = good && (!peer->settle || peer->settle());
    }
    if (good) {
        printf("%llu", peer->launches ? (peer->launches() - before) / (unsigned long long)times : 0);
        for (int i = 0; i < times; i++) printf(" %.6f", ms[i]);
        printf("\n");
    }
    free(ms);
    return good;
}

static bool write_result(const worker_peer *peer, const char *file)
{
    size_t bytes = 0;
    const void *values = peer->result(&bytes);
    FILE *to = values ? fopen(file, "wb") : NULL;
    bool good = to && fwrite(values, 1, bytes, to) == bytes;
    if (to) good = fclose(to) == 0 && good;
    return good;
}

int worker_serve(const worker_peer *peer)
{
    char line[4 * LINE], file[LINE];
    int times = 0;
    bool good = true;
    while (good && fgets(line, sizeof line, stdin)) {
        if (strncmp(line, "prepare ", 8) == 0)
            prepare(peer, line);
        else if (sscanf(line, "run %d", &times) == 1 && times > 0)
            good = run(peer, times);
        else if (sscanf(line, "result %1023s", file) == 1) {
            good = write_result(peer, file);
            if (good) printf("ready\n");
        } else
            good = false;
        (void)fflush(stdout);
    }
    return good ? 0 : 1;
}

const void *worker_find(const void *table, size_t rows, size_t row_bytes, const char *name)
{
    for (size_t i = 0; i < rows; i++) {
        const char *const row = (const char *)table + i * row_bytes;
        const char *row_name;
        memcpy(&row_name, row, sizeof row_name);
        if (strcmp(row_name, name) == 0) return row;
    }
    return NULL;
}
