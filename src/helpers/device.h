/* SPDX-License-Identifier: MIT */
/* What helpers need before they touch a device; internal to the library. */
#ifndef CUSHIM_HELPERS_DEVICE_H
#define CUSHIM_HELPERS_DEVICE_H

#include <cushim/device.h>

/*
 * Initialise the driver if nobody has, by cushim_init.
 *
 * @param helper  name of the public function, for the last error
 * @return CUDA_SUCCESS; cuInit's own code; CUDA_ERROR_NO_DEVICE where there is no driver;
 *         CUDA_ERROR_NOT_INITIALIZED in a forked child
 */
CUresult cushim_device_ready(const struct cushim_api *cu, const char *helper);

/* As cushim_error_check; CUDA_ERROR_INVALID_DEVICE becomes a sentence about the device's number. */
CUresult cushim_device_check(const struct cushim_api *cu, CUresult code, const char *helper,
                             const char *call, CUdevice device);

#endif
