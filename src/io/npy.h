/* What .npy and .npz share. */
#ifndef TN__NPY_H
#define TN__NPY_H

#include "io/format.h"

#define TN__NPY_MAGIC 6 /* bytes */

bool tn__npy_magic(const unsigned char *head);
/* Adds the one tensor of a file, or of a zip's member. label: file and member, for messages. */
tn_status tn__npy_add(tn_archive *archive, tn__zip_member *member, const char *label, const char *name);
/* Writes what stands before the values. error  DTYPE (bf16), MEMORY */
tn_status tn__npy_head(tn__text *t, const char *label, const tn_tensor *x);

#endif
