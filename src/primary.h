/* SPDX-License-Identifier: MIT */
/* Which primary contexts are retained through cushim; internal to the library. */
#ifndef CUSHIM_SRC_PRIMARY_H
#define CUSHIM_SRC_PRIMARY_H

#include <cushim/context.h>

/* Whether a context is a primary one that is retained through cushim; then `device` is written. */
bool cushim_primary_find(const struct cushim_api *cu, CUcontext context, CUdevice *device);

#endif
