/* SPDX-License-Identifier: MIT */
/* What is shared about contexts and devices; internal to the library. */
#ifndef CUSHIM_HELPERS_CONTEXT_H
#define CUSHIM_HELPERS_CONTEXT_H

#include <cushim/context.h>

/*
 * Initialise the driver if nobody has, by cushim_init.
 *
 * @param helper  name of the public function, for the last error
 * @return CUDA_SUCCESS; cuInit's own code; CUDA_ERROR_NO_DEVICE if there is no driver;
 *         CUDA_ERROR_NOT_INITIALIZED in a forked child
 */
CUresult cushim_context_ready(const struct cushim_api *cu, const char *helper);

/* As cushim_error_check; CUDA_ERROR_INVALID_DEVICE becomes a sentence about the device's number. */
CUresult cushim_context_check_device(const struct cushim_api *cu, CUresult code, const char *helper,
                                     const char *call, CUdevice device);

/* As cushim_primary_retain and _release, for another helper. The driver is initialised. */
CUresult cushim_context_retain_primary(const struct cushim_api *cu, const char *helper,
                                       CUdevice device, CUcontext *context);
CUresult cushim_context_release_primary(const struct cushim_api *cu, const char *helper,
                                        CUdevice device);

#endif
