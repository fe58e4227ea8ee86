/* SPDX-License-Identifier: MIT */
/* Who is to be told when a process has more of a device's memory than its share: none ever has
 * here, as processes do not share a simulated device's memory. */
#include "core/core.h"
#include "device/device.h"
#include "sim.h"

CUresult sim_cuDeviceRegisterAsyncNotification(CUdevice device, CUasyncCallback callbackFunc,
                                               void *userData, CUasyncCallbackHandle *callback)
{
    if (!callbackFunc || !callback)
        return CUDA_ERROR_INVALID_VALUE;
    if (!sim_device(device))
        return CUDA_ERROR_INVALID_DEVICE;
    struct sim_registration *made = sim_registration_make(
        SIM_REGISTERED_NOTIFICATION, (sim_any_function *)callbackFunc, userData);
    if (!made)
        return CUDA_ERROR_OUT_OF_MEMORY;
    made->device = device;
    *callback = (CUasyncCallbackHandle)made;
    return CUDA_SUCCESS;
}

CUresult sim_cuDeviceUnregisterAsyncNotification(CUdevice device, CUasyncCallbackHandle callback)
{
    if (!callback)
        return CUDA_ERROR_INVALID_VALUE;
    if (!sim_device(device))
        return CUDA_ERROR_INVALID_DEVICE;
    struct sim_registration *found = sim_registration(SIM_REGISTERED_NOTIFICATION, callback);
    if (!found || found->device != device)
        return CUDA_ERROR_INVALID_VALUE;
    sim_registration_end(found);
    return CUDA_SUCCESS;
}
