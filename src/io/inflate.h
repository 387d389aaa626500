/* Unpacks deflated members of a zip by zlib, which is opened when it is needed: the library itself links nothing. */
#ifndef TN__INFLATE_H
#define TN__INFLATE_H

#include "io/zip.h"

typedef struct tn__inflater tn__inflater;

/* error  FILE (no zlib: what to install), MEMORY */
tn_status tn__inflate_open(tn_archive *archive, const tn__zip_member *member, tn__inflater **inflater);
/* The next bytes, all of them. error  FORMAT (damaged, or fewer), FILE, MEMORY */
tn_status tn__inflate(tn__inflater *inflater, void *out, size_t bytes);
/* Nothing more comes. error  FORMAT */
tn_status tn__inflate_end(tn__inflater *inflater);
void tn__inflate_close(tn__inflater *inflater); /* NULL allowed */

#endif
