/* The error word of a device. A kernel that meets a value it cannot use (an index out of range) goes on with a safe one and
 * leaves a report; the next wait on the device, whosever it is, gives the first report as an error. kernels/fault.cl is the other side. */
#ifndef TN__FAULT_H
#define TN__FAULT_H

#include "device/device.h"

enum {
    TN__FAULT_NONE,
#define FAULT(name, status, sentence) TN__FAULT_##name,
#include "tables/faults.def"
#undef FAULT
};

/* Where the kernels of a device report: the buffer for a kernel's argument `__global int *fault`. Made once, the device's own.
 * NULL with an error. */
tn__buffer *tn__fault_words(tn__device *device);
/* Fails as a report would. */
tn_status tn__fault_fail(int fault, int64_t value, int64_t limit);
/* After a wait: OK, or the error of the first report since the last call. */
tn_status tn__fault_take(tn__device *device);
/* A kernel that may report was enqueued. */
void tn__fault_expect(tn__device *device);
/* With the device's other memory. */
void tn__fault_close(tn__device *device, bool usable);

#endif
