#ifndef TN__CL_ENUMERATE_H
#define TN__CL_ENUMERATE_H

#include "device/opencl/opencl.h"

tn_status tn__cl_enumerate(tn__found *found);

#endif
