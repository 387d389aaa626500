/* Between the files of this folder. */
#ifndef TN__REGISTRY_H
#define TN__REGISTRY_H

#include "device/backend.h"

#define TN__FORKED                                                                                     \
    "OpenCL was used before this process was forked, and drivers do not survive that; \"host\" works, " \
    "and so does a process started anew with exec"

/* The number-th device of a type; NULL in *found when there is none. */
tn_status tn__device_numbered(tn__device_type type, int number, tn__device **found);
/* open.c: first use; afterwards only the check. */
tn_status tn__device_open(tn__device *device);
/* auto.c: the device, open, or NULL with an error. */
tn__device *tn__auto_device(void);
void tn__auto_forget(void);
/* What the last enumeration met, also when there are devices. */
const char *tn__registry_trouble(void);
/* source.c: forgets texts read from files. */
void tn__sources_free(void);

#endif
