/* Between the files of this folder. */
#ifndef TN__REGISTRY_H
#define TN__REGISTRY_H

#include "device/backend.h"

#define TN__FORKED                                                                                     \
    "OpenCL was used before this process was forked, and drivers do not survive that; \"host\" works, " \
    "and so does a process started anew with exec"

/* First use; afterwards only the check. */
tn_status tn__device_open(tn__device *device);
/* What the last enumeration met, also when there are devices. */
const char *tn__registry_trouble(void);
/* source.c: forgets texts read from files. */
void tn__sources_free(void);

#endif
