#ifndef TN__CL_ENUMERATE_H
#define TN__CL_ENUMERATE_H

#include "device/opencl/opencl.h"

tn_status tn__cl_enumerate(tn__found *found);
/* The device's own profile, or the one the setting forces; asked again when the device is opened. */
void tn__cl_choose_profile(tn__device *device);

#endif
