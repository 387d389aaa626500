/* NumPy's .npz: a zip of .npy files, each a tensor.
 *
 * As NumPy has it: a member's name without .npy is the tensor's, both are found, and a member without the suffix is an array when
 * its bytes are a .npy. What is no array is left out. */
#include "io/npy.h"
#include "io/json.h"
#include "base/alloc.h"
#include <string.h>

static const char suffix[] = ".npy";
enum { SUFFIX = sizeof suffix - 1, NAME_MOST = 65535 };

/* ---- reading ---- */

static bool npz_probe(const tn_archive *archive, const unsigned char *head, size_t count)
{
    (void)head, (void)count;
    return archive->zip != NULL;
}

static size_t length_without_suffix(const char *name)
{
    const size_t length = strlen(name);
    return length >= SUFFIX && strcmp(name + length - SUFFIX, suffix) == 0 ? length - SUFFIX : length;
}

static tn_status is_array(tn_archive *archive, tn__zip_member *m, bool *array)
{
    unsigned char head[TN__NPY_MAGIC];
    *array = m->name[length_without_suffix(m->name)] != '\0';
    if (*array || m->size < sizeof head) return TN_OK;
    TN__TRY(tn__archive_read_part(archive, m, 0, head, sizeof head));
    *array = tn__npy_magic(head);
    return TN_OK;
}

static tn_status add(tn_archive *archive, tn__zip_member *m)
{
    bool array = false;
    char shown[80];
    TN__TRY(is_array(archive, m, &array));
    if (!array) return TN_OK;
    tn__text label = {0}, name = {0};
    tn__text_add(&label, "%s: member \"%s\"", archive->path, tn__shown(m->name, strlen(m->name), shown));
    tn__text_put(&name, m->name, length_without_suffix(m->name));
    const tn_status status = label.failed || name.failed ? TN_MEMORY : tn__npy_add(archive, m, label.data, name.data);
    tn__text_free(&label);
    tn__text_free(&name);
    return status;
}

/* A tensor is found under its member's name, too, unless another one is called so. */
static tn_status add_member_names(tn_archive *archive)
{
    for (int i = 0; i < archive->count; i++) {
        const char *name = archive->entry[i].member->name;
        const size_t length = strlen(name);
        if (!tn__map_get(archive->by_name, name, length) &&
            !tn__map_put(archive->by_name, name, length, (void *)(uintptr_t)(i + 1)))
            return TN_MEMORY;
    }
    return TN_OK;
}

static tn_status npz_open(tn_archive *archive)
{
    const tn__zip *zip = archive->zip;
    for (int i = 0; i < zip->count; i++) TN__TRY(add(archive, &zip->member[i]));
    char shown[80];
    if (archive->count == 0 && zip->count > 0)
        return tn__fail(TN_FORMAT, "%s: a zip archive without arrays: no member, such as \"%s\", is a .npy", archive->path,
                        tn__shown(zip->member[0].name, strlen(zip->member[0].name), shown));
    return add_member_names(archive);
}

/* ---- writing ---- */

static tn_status put(tn__zip_writer *z, const char *path, const char *name, tn_tensor *x)
{
    tn__text head = {0}, member = {0};
    tn__text_add(&member, "%s%s", name, suffix);
    tn_status status = tn__npy_head(&head, path, x);
    unsigned char *values = status == TN_OK ? tn__values(x) : NULL;
    if (status == TN_OK && (!values || member.failed)) status = tn_last_status();
    if (status == TN_OK) {
        const size_t bytes = tn_nbytes(x);
        status = tn__zip_begin(z, member.data, head.length + bytes, tn__crc32(tn__crc32(0, head.data, head.length), values, bytes));
        if (status == TN_OK) status = tn__zip_put(z, head.data, head.length);
        if (status == TN_OK) status = tn__zip_put(z, values, bytes);
    }
    tn__free(values);
    tn__text_free(&head);
    tn__text_free(&member);
    return status;
}

/* What is refused before anything is written. */
static tn_status check(const char *path, const char *const *names, tn_tensor *const *tensors, int count)
{
    TN__TRY(tn__check_named("save_npz", path, names, tensors, count, NULL));
    for (int i = 0; i < count; i++) {
        char shown[80];
        const size_t length = strlen(names[i]);
        if (length > NAME_MOST - SUFFIX)
            return tn__fail(TN_ARGUMENT, "%s: a name of %zu bytes, more than %d", path, length, NAME_MOST - SUFFIX);
        if (!tn__is_utf8(names[i]))
            return tn__fail(TN_ARGUMENT, "%s: \"%s\" is not UTF-8", path, tn__shown(names[i], length, shown));
    }
    return TN_OK;
}

tn_status tn_save_npz(const char *path, const char *const *names, tn_tensor *const *tensors, int count)
{
    if (!path) return tn__fail_null("save_npz", "path");
    TN__TRY(check(path, names, tensors, count));
    tn__writer w;
    TN__TRY(tn__writer_open(&w, path));
    tn__zip_writer z = {.file = &w};
    tn_status status = TN_OK;
    for (int i = 0; i < count && status == TN_OK; i++) {
        status = put(&z, path, names[i], tensors[i]);
        if (status != TN_OK && *names[i]) tn__error_prefix(names[i]);
    }
    return tn__writer_close(&w, tn__zip_end(&z, status));
}

const tn__format tn__format_npz = {"npz", npz_probe, npz_open};
