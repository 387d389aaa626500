/* Writing files of tensors: what the formats share. */
#include "io/format.h"
#include "base/alloc.h"
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

tn_status tn__writer_tensor(tn__writer *w, tn_tensor *x)
{
    const size_t bytes = tn_nbytes(x), size = tn_dtype_size(tn_dtype_of(x));
    unsigned char *data = tn__alloc(bytes);
    if (!data)
        return TN_MEMORY;
    tn_status status = tn_read(x, data, bytes);
    if (status == TN_OK && !tn__machine_is_little() && size > 1)
        tn__swap_bytes(data, bytes, size);
    if (status == TN_OK)
        status = tn__writer_put(w, data, bytes);
    tn__free(data);
    return status;
}

tn_status tn__writer_close(tn__writer *w, tn_status status)
{
    const int error = tn__file_out_close(w->file, status == TN_OK);
    return status == TN_OK ? fault(w, error) : status;
}
