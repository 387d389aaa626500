/* Writing files of tensors: what the formats share. */
#include "io/format.h"
#include "base/alloc.h"
#include "core/tensor.h"
#include <errno.h>
#include <string.h>

static tn_status fault(const tn__writer *w, int error)
{
    if (error == 0)
        return TN_OK;
    return tn__fail(error == ENOMEM ? TN_MEMORY : TN_FILE, "%s: cannot be written: %s", w->path, strerror(error));
}

tn_status tn__writer_open(tn__writer *w, const char *path)
{
    *w = (tn__writer){.path = path};
    return fault(w, tn__file_out_open(path, &w->file));
}

tn_status tn__writer_put(tn__writer *w, const void *bytes, size_t length)
{
    return fault(w, tn__file_out_write(w->file, bytes, length));
}

unsigned char *tn__values(tn_tensor *x)
{
    const size_t bytes = tn_nbytes(x), size = tn_dtype_size(tn_dtype_of(x));
    unsigned char *data = tn__alloc(bytes);
    if (data && tn_read(x, data, bytes) != TN_OK) {
        tn__free(data);
        return NULL;
    }
    if (data && !tn__machine_is_little() && size > 1)
        tn__swap_bytes(data, bytes, size);
    return data;
}

tn_status tn__writer_tensor(tn__writer *w, tn_tensor *x)
{
    unsigned char *data = tn__values(x);
    const tn_status status = data ? tn__writer_put(w, data, tn_nbytes(x)) : tn_last_status();
    tn__free(data);
    return status;
}

tn_status tn__writer_close(tn__writer *w, tn_status status)
{
    const int error = tn__file_out_close(w->file, status == TN_OK);
    return status == TN_OK ? fault(w, error) : status;
}

/* ---- tensors under names ---- */

tn_status tn__check_named(const char *function, const char *path, const char *const *names, tn_tensor *const *tensors, int count,
                          const char *reserved)
{
    if (count < 0 || (count > 0 && (!names || !tensors)))
        return tn__fail(TN_ARGUMENT, "%s: a list of %d tensors", path, count);
    tn__map *seen = tn__map_new();
    tn_status status = seen ? TN_OK : TN_MEMORY;
    for (int i = 0; i < count && status == TN_OK; i++) {
        char shown[80];
        const char *name = names[i];
        status = name ? tn__tensor_check(tensors[i], function, name) : tn__fail_null(function, "a name");
        if (status != TN_OK)
            break;
        if (reserved && strcmp(name, reserved) == 0)
            status = tn__fail(TN_ARGUMENT, "%s: no tensor may be called \"%s\"", path, reserved);
        else if (tn__map_get(seen, name, strlen(name)))
            status = tn__fail(TN_ARGUMENT, "%s: the name \"%s\" is given twice", path, tn__shown(name, strlen(name), shown));
        else if (!tn__map_put(seen, name, strlen(name), (void *)(uintptr_t)1))
            status = TN_MEMORY;
    }
    if (seen)
        tn__map_free(seen);
    return status;
}
