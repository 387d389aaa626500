/* Tensors in files. The format is found by the content, not the name. Files carry no device.
 *
 *   .npy                      NumPy: one tensor, named ""
 *   .npz                      NumPy: a zip of .npy files; a tensor is found under its name and under its member's, "x.npy". Deflated
 *                             ones (np.savez_compressed) need zlib on the machine
 *   .safetensors              and, of several, the index model.safetensors.index.json, which has the tensors of all its shards
 *   .pt, .pth                 PyTorch: tensors in dicts and lists, such as state dicts, in the zip form and in the one before 1.6.
 *                             Their names are the keys on the way to them joined by dots, {"model": {"fc.bias": x}} gives
 *                             "model.fc.bias", places in lists are numbers; what is no tensor is left out. The file's pickle is not
 *                             run: one that calls anything but what makes tensors and dicts is refused. Shapes and strides are the
 *                             file's; tensors that shared memory are copies of their own */
#ifndef TENON_IO_H
#define TENON_IO_H

#include <tenon/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

/** An open file of named tensors. */
typedef struct tn_archive tn_archive;

/** Opens a file of any of these. Every length and offset is checked before anything is allocated.
 *  error  FILE (cannot be read; deflated, without zlib), FORMAT (damaged, of another kind), MEMORY: NULL */
TN_API tn_archive *tn_archive_open(const char *path) TN_MUST_USE;
/** Number of tensors. */
TN_API int tn_archive_count(const tn_archive *archive);
/** Name of the index-th tensor, in the file's order; NULL beyond. */
TN_API const char *tn_archive_name(const tn_archive *archive, int index);
/** Dtype and shape without loading; either pointer may be NULL. error  ARGUMENT (no such tensor) */
TN_API tn_status tn_archive_info(const tn_archive *archive, const char *name, tn_dtype *dtype, tn_shape *shape);
/** Reads one tensor onto a device (NULL: creation scope, else host).
 *  error  ARGUMENT (no such tensor: lists near names), FILE, FORMAT, DEVICE, CAPABILITY, MEMORY */
TN_API tn_tensor *tn_archive_get(tn_archive *archive, const char *name, const char *device) TN_MUST_USE;
TN_API void tn_archive_close(tn_archive *archive);

/** Reads a file with one tensor, such as .npy. error  as above */
TN_API tn_tensor *tn_load(const char *path, const char *device) TN_MUST_USE;

/* ---- writing. The file is made beside its place (PATH.PID.sN.tmp), brought to the disk, and then takes the place of what was
 * there: whole, or not at all. Runs what is pending for the tensors, waits. Values are row-major, little-endian. ---- */

/** One tensor as NumPy's .npy, version 1.0.
 *  dtype  any but bf16, which NumPy does not have
 *  error  DTYPE, FILE (cannot be written: with the reason), MEMORY, LOST */
TN_API tn_status tn_save_npy(const char *path, tn_tensor *x);
/** count tensors under their names as NumPy's .npz, in this order, stored as np.savez does. Names are UTF-8.
 *  dtype  any but bf16, which NumPy does not have
 *  error  ARGUMENT (a name that is NULL, given twice, not UTF-8 or longer than a zip allows, 65,535 bytes with ".npy"), DTYPE,
 *         FILE (cannot be written: with the reason), MEMORY, LOST */
TN_API tn_status tn_save_npz(const char *path, const char *const *names, tn_tensor *const *tensors, int count);
/** count tensors under their names as .safetensors, of any devices, in this order. metadata: NULL, or key, value, key,
 *  value, …, NULL. Names and metadata are UTF-8.
 *  dtype  any
 *  error  ARGUMENT (a name that is NULL, given twice, "__metadata__" or not UTF-8; a key without a value or given twice),
 *         FILE (cannot be written: with the reason), MEMORY, LOST */
TN_API tn_status tn_save_safetensors(const char *path, const char *const *names, tn_tensor *const *tensors, int count,
                                     const char *const *metadata);

#ifdef __cplusplus
}
#endif
#endif
