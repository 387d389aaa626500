/* Tuned parameters: records of the tuning file, by device, driver, kernel family and class of shapes. */
#ifndef TN__TUNING_H
#define TN__TUNING_H

#include "base/text.h"
#include "device/device.h"

enum { TN__TUNING_VALUES = 8 }; /* numbers of a record, at most */

/* Families. */
#define TN__MATMUL_WIDE "matmul_wide"
#define TN__MATMUL_DEEP "matmul_deep"

/* The numbers that the file has for this device and driver; how many, 0 when it has none. */
int tn__tuning_find(const tn__device *device, const char *family, const char *shapes, int values[TN__TUNING_VALUES]);
/* They will not do: logged, and not given again until the file is read anew. False when there are none. */
bool tn__tuning_refuse(const tn__device *device, const char *family, const char *shapes, const char *why);
/* A record, and what it replaces. */
tn_status tn__tuning_write(const char *path, const tn__device *device, const char *family, const char *shapes,
                           const char *parameters, double seconds);
/* Path of the file in force; nothing when there is none. */
void tn__tuning_file(tn__text *path);
void tn__tuning_free(void); /* at tn_shutdown */

#endif
