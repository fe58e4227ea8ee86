/* SPDX-License-Identifier: MIT */
/* What is shared about contexts; internal to the library. */
#ifndef CUSHIM_HELPERS_CONTEXT_H
#define CUSHIM_HELPERS_CONTEXT_H

#include <cushim/context.h>

/* As cushim_primary_retain and _release, for another helper. The driver is initialised. */
CUresult cushim_context_retain_primary(const struct cushim_api *cu, const char *helper,
                                       CUdevice device, CUcontext *context);
CUresult cushim_context_release_primary(const struct cushim_api *cu, const char *helper,
                                        CUdevice device);

#endif
