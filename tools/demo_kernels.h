/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_TOOLS_DEMO_KERNELS_H
#define CUSHIM_TOOLS_DEMO_KERNELS_H

#include <cushim/cushim.h>

/** Run every kernel of kernels/ on a device and check it, one line each. An exit code. */
int demo_kernels(const struct cushim_api *cu, CUdevice device);

#endif
