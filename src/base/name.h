/* The grammar of device names; whether such a device exists is the device layer's business. */
#ifndef TN__NAME_H
#define TN__NAME_H

#include "base/error.h"

typedef enum tn__device_type { TN__GPU, TN__ACCEL, TN__CPU, TN__HOST, TN__AUTO } tn__device_type;

/* "gpu:N", "gpu", "cpu:N", "cpu", "accel:N", "accel", "host", "auto"; without a number it is 0.
 * error  ARGUMENT quoting the text */
tn_status tn__name_parse(const char *text, tn__device_type *type, int *index);
/* The type's word: "gpu". */
const char *tn__type_word(tn__device_type type);

#endif
