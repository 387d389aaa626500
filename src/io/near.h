/* Names close to one that was not found. */
#ifndef TN__NEAR_H
#define TN__NEAR_H

#include "io/format.h"

/* Writes "nearest: \"fc1.bias\", …", at most three, or the first ones where none is near. */
void tn__near_names(const tn_archive *archive, const char *name, char *out, size_t size);

#endif
