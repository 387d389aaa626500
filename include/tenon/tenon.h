/* Tenon: tensors on every device. One program computes on any OpenCL device, and in plain C where there is none. */
#ifndef TENON_H
#define TENON_H

#define TN_VERSION_MAJOR 0
#define TN_VERSION_MINOR 1
#define TN_VERSION_PATCH 0

#include <tenon/autograd.h>
#include <tenon/base.h>
#include <tenon/dtype.h>
#include <tenon/device.h>
#include <tenon/tensor.h>
#include <tenon/ops.h>
#include <tenon/io.h>
#include <tenon/loss.h>
#include <tenon/nn.h>
#include <tenon/optim.h>
#include <tenon/checkpoint.h>
#include <tenon/catalog.h>
#include <tenon/data.h>
#include <tenon/progress.h>
#include <tenon/tuning.h>

#endif
