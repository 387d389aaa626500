/* What the suites of file formats share: a folder for each test, a file in it, and what is expected of it. */
#ifndef FILE_KIT_H
#define FILE_KIT_H

#include "base/alloc.h"
#include "support/test.h"

#include <dirent.h>
#include <pthread.h>
#include <unistd.h>

#define DATA_FILE(name) TN_TEST_SOURCE_DIR "/tests/data/files/" name

static char folder[64], path[128];

static inline void set_up(void)
{
    (void)snprintf(folder, sizeof folder, "/tmp/tenon-io-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/file", folder);
}

/* Calls visit, if any, for each file in the folder; gives their number. */
static inline int each_file(int (*visit)(const char *name))
{
    int count = 0;
    DIR *dir = opendir(folder);
    ck_assert_ptr_nonnull(dir);
    for (const struct dirent *e = readdir(dir); e; e = readdir(dir)) {
        char name[sizeof folder + sizeof e->d_name];
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        (void)snprintf(name, sizeof name, "%s/%s", folder, e->d_name);
        count++;
        if (visit)
            (void)visit(name);
    }
    closedir(dir);
    return count;
}

static inline int files(void)
{
    return each_file(NULL);
}

static inline void tear_down(void)
{
    (void)each_file(unlink);
    (void)rmdir(folder);
}

/* ---- bytes ---- */

/* Makes the file at path. */
static inline void put(const void *bytes, size_t length)
{
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes, 1, length, file), length);
    ck_assert_int_eq(fclose(file), 0);
}

static inline size_t little(unsigned char *out, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        out[i] = (unsigned char)(value >> (8 * i));
    return (size_t)bytes;
}

/* A whole file of at most size bytes; gives its length. */
static inline size_t get(const char *name, unsigned char *bytes, size_t size)
{
    FILE *file = fopen(name, "rb");
    ck_assert_msg(file != NULL, "%s", name);
    const size_t length = fread(bytes, 1, size, file);
    ck_assert_uint_lt(length, size);
    fclose(file);
    return length;
}

/* Place of the n-th of these bytes. */
static inline size_t find(const unsigned char *bytes, size_t length, const void *what, size_t count, int n)
{
    for (size_t at = 0; at + count <= length; at++)
        if (memcmp(bytes + at, what, count) == 0 && n-- == 0)
            return at;
    ck_abort_msg("bytes not found");
    return 0;
}

/* ---- what is expected ---- */

/* The last error has this code and contains these words. */
static inline void failed(int line, tn_status code, const char *const *words)
{
    ck_assert_msg(tn_last_status() == code, "line %d: %s: %s", line, tn_status_name(tn_last_status()), tn_last_error());
    for (; *words; words++)
        ck_assert_msg(strstr(tn_last_error(), *words), "line %d: no \"%s\" in \"%s\"", line, *words, tn_last_error());
    tn_clear_error();
}
#define FAILED(code, ...) failed(__LINE__, code, (const char *const[]){__VA_ARGS__, NULL})

/* The file of this name is refused with this code; the sentence names the file and contains these words. */
static inline void refused(int line, const char *name, tn_status code, const char *const *words)
{
    tn_archive *archive = tn_archive_open(name);
    ck_assert_msg(!archive, "line %d: the file was opened", line);
    ck_assert_msg(strstr(tn_last_error(), name), "line %d: no file name in \"%s\"", line, tn_last_error());
    failed(line, code, words);
}
#define REFUSED_FILE(name, code, ...) refused(__LINE__, name, code, (const char *const[]){__VA_ARGS__, NULL})
#define REFUSED(code, ...) REFUSED_FILE(path, code, __VA_ARGS__)

/* The file's beginnings, all but the whole, are refused as damaged. */
static inline void refused_when_cut(const char *name)
{
    static unsigned char bytes[1 << 14];
    const size_t length = get(name, bytes, sizeof bytes);
    put(bytes, length);
    for (size_t n = length; n-- > 0;) {
        ck_assert_int_eq(truncate(path, (off_t)n), 0);
        tn_archive *archive = tn_archive_open(path);
        ck_assert_msg(!archive && tn_last_status() == TN_FORMAT && strstr(tn_last_error(), path), "%s cut to %zu bytes: %s", name, n,
                      tn_last_error());
        tn_clear_error();
    }
}

/* The file opens in the end when the n-th allocation and all after it fail, for each n. */
static inline void opens_without_memory(const char *name)
{
    for (int n = 1; n < 3000; n++) {
        tn__alloc_fail_after(n, 1);
        tn_archive *archive = tn_archive_open(name);
        tn__alloc_fail_after(0, 0);
        if (archive) {
            tn_archive_close(archive);
            ck_assert_int_gt(n, 5);
            return;
        }
        ck_assert_msg(tn_last_status() == TN_MEMORY, "allocation %d: %s", n, tn_last_error());
        tn_clear_error();
    }
    ck_abort_msg("3000 allocations were not enough");
}

/* An archive, or the test fails. */
static inline tn_archive *opened(const char *name)
{
    tn_archive *archive = tn_archive_open(name);
    ck_assert_msg(archive != NULL, "%s", tn_last_error());
    return archive;
}

/* A tensor of an archive on the device under test has this dtype, shape and values. */
static inline void has(int line, tn_archive *archive, const char *name, tn_dtype dtype, tn_shape shape, const double *values, size_t count)
{
    tn_dtype said = TN_DTYPE_COUNT;
    tn_shape extents = {0};
    ck_assert_msg(tn_archive_info(archive, name, &said, &extents) == TN_OK, "line %d: %s", line, tn_last_error());
    tn_tensor *x = tn_archive_get(archive, name, test_device());
    ck_assert_msg(x != NULL, "line %d: %s", line, tn_last_error());
    ck_assert_msg(tn_dtype_of(x) == dtype && said == dtype, "line %d: dtype %s", line, tn_dtype_name(tn_dtype_of(x)));
    ck_assert_msg(tn_ndim(x) == shape.ndim && extents.ndim == shape.ndim, "line %d: %d axes", line, tn_ndim(x));
    for (int i = 0; i < shape.ndim; i++)
        ck_assert_msg(tn_dim(x, i) == shape.dim[i] && extents.dim[i] == shape.dim[i], "line %d: axis %d", line, i);
    tn_tensor *near = tn_host(x);
    double *got = test_numbers(near);
    ck_assert_msg((size_t)tn_numel(x) == count, "line %d: %d elements", line, (int)tn_numel(x));
    for (size_t i = 0; i < count; i++)
        ck_assert_msg(got[i] == values[i], "line %d: element %zu is %g, not %g", line, i, got[i], values[i]);
    free(got);
    tn_release(near);
    tn_release(x);
}
#define HAS(archive, name, dtype, shape, ...) has(__LINE__, archive, name, dtype, shape, TEST_LIST(double, __VA_ARGS__))
#define HAS_NOTHING(archive, name, dtype, shape) has(__LINE__, archive, name, dtype, shape, NULL, 0)

/* Several threads read the archive at once, and close it; each gives NULL when all was right. */
static inline void threads_read(tn_archive *archive, int count, void *(*read)(void *archive))
{
    pthread_t thread[8];
    ck_assert_int_le(count, 8);
    for (int i = 0; i < count; i++) ck_assert_int_eq(pthread_create(&thread[i], NULL, read, archive), 0);
    for (int i = 0; i < count; i++) {
        void *failure = NULL;
        pthread_join(thread[i], &failure);
        ck_assert_ptr_null(failure);
    }
    tn_archive_close(archive);
}

#endif
