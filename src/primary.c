/* SPDX-License-Identifier: MIT */
#include "primary.h"

#include <stdlib.h>

#include <cushim/launch.h>

#include "device.h"
#include "helper.h"
#include "lock.h"

static struct cushim_lock primary_lock;

/* A primary context belongs to the process and the driver, not to an instance: what tells drivers
 * apart is the address of their function. */
typedef CUresult(CUDAAPI *retain_fn)(CUcontext *context, CUdevice_v1 device);

struct retained_primary {
    retain_fn driver;
    CUdevice device;
    CUcontext context;
    unsigned count;
    struct retained_primary *next;
};

static struct retained_primary *retained_primaries; /* behind the lock */

/* Where the record of a device is linked from, or the end of the list. */
static struct retained_primary **primary_place(const struct cushim_api *cu, CUdevice device)
{
    retain_fn driver = cu->cuDevicePrimaryCtxRetain;
    struct retained_primary **place = &retained_primaries;
    while (*place && ((*place)->driver != driver || (*place)->device != device))
        place = &(*place)->next;
    return place;
}

static bool count_retain(const struct cushim_api *cu, CUdevice device, CUcontext context)
{
    cushim_lock_take(&primary_lock);
    struct retained_primary **place = primary_place(cu, device);
    if (!*place && (*place = calloc(1, sizeof **place)) != NULL) {
        (*place)->driver = cu->cuDevicePrimaryCtxRetain;
        (*place)->device = device;
    }
    bool counted = *place != NULL;
    if (counted) {
        (*place)->context = context;
        (*place)->count++;
    }
    cushim_lock_release(&primary_lock);
    return counted;
}

/* Take one off; false where there is none. `context` is what the device's was. */
static bool count_release(const struct cushim_api *cu, CUdevice device, CUcontext *context)
{
    cushim_lock_take(&primary_lock);
    struct retained_primary **place = primary_place(cu, device), *primary = *place;
    bool counted = primary != NULL;
    if (counted) {
        *context = primary->context;
        if (--primary->count == 0) {
            *place = primary->next;
            free(primary);
        }
    }
    cushim_lock_release(&primary_lock);
    return counted;
}

bool cushim_primary_find(const struct cushim_api *cu, CUcontext context, CUdevice *device)
{
    retain_fn driver = cu->cuDevicePrimaryCtxRetain;
    cushim_lock_take(&primary_lock);
    const struct retained_primary *primary = retained_primaries;
    while (primary && (primary->driver != driver || primary->context != context))
        primary = primary->next;
    if (primary)
        *device = primary->device;
    cushim_lock_release(&primary_lock);
    return primary != NULL;
}

/* The newer ABI, which works on an active context too, where the driver has it. */
static CUresult release_by_driver(const struct cushim_api *cu, const char *helper, CUdevice device)
{
    bool newer = CUSHIM_HAS(cu, cuDevicePrimaryCtxRelease_v2);
    CUresult code =
        newer ? cu->cuDevicePrimaryCtxRelease_v2(device) : cu->cuDevicePrimaryCtxRelease_v1(device);
    return cushim_device_checked(
        cu, cushim_gone_is_done(code), helper,
        newer ? "cuDevicePrimaryCtxRelease_v2" : "cuDevicePrimaryCtxRelease", device);
}

CUresult cushim_primary_retain(const struct cushim_api *cu, CUdevice device, CUcontext *context)
{
    CUcontext primary = NULL;
    if (!context)
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, __func__, "context: NULL");
    CUresult code = cushim_ready(cu, __func__);
    if (code != CUDA_SUCCESS)
        return code;
    code = cu->cuDevicePrimaryCtxRetain(&primary, device);
    code = cushim_device_checked(cu, code, __func__, "cuDevicePrimaryCtxRetain", device);
    if (code != CUDA_SUCCESS)
        return code;
    if (!count_retain(cu, device, primary)) {
        release_by_driver(cu, __func__, device);
        return cushim_refuse(CUDA_ERROR_OUT_OF_MEMORY, __func__, "no memory to count it");
    }
    *context = primary;
    return CUDA_SUCCESS;
}

CUresult cushim_primary_release(const struct cushim_api *cu, CUdevice device)
{
    CUcontext context = NULL;
    CUresult code = cushim_ready(cu, __func__);
    if (code != CUDA_SUCCESS)
        return code;
    if (!count_release(cu, device, &context))
        return cushim_refuse(CUDA_ERROR_INVALID_CONTEXT, __func__,
                             "device: %d: its primary context is not retained through cushim, or "
                             "was released as often already",
                             device);
    code = release_by_driver(cu, __func__, device);
    if (code != CUDA_SUCCESS)
        count_retain(cu, device, context); /* still the caller's */
    cushim_launch_forget();                /* as cushim_context_destroy */
    return code;
}

CUresult cushim_primary_query(const struct cushim_api *cu, CUdevice device,
                              struct cushim_primary_state *state)
{
    unsigned flags = 0;
    int active = 0;
    if (!state)
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, __func__, "state: NULL");
    CUresult code = cushim_ready(cu, __func__);
    if (code != CUDA_SUCCESS)
        return code;
    code = cu->cuDevicePrimaryCtxGetState(device, &flags, &active);
    code = cushim_device_checked(cu, code, __func__, "cuDevicePrimaryCtxGetState", device);
    if (code != CUDA_SUCCESS)
        return code;
    cushim_lock_take(&primary_lock);
    const struct retained_primary *primary = *primary_place(cu, device);
    *state = (struct cushim_primary_state){primary ? primary->count : 0, flags, active != 0};
    cushim_lock_release(&primary_lock);
    return CUDA_SUCCESS;
}

CUresult cushim_primary_set_flags(const struct cushim_api *cu, CUdevice device, unsigned flags)
{
    CUresult code = cushim_ready(cu, __func__);
    if (code != CUDA_SUCCESS)
        return code;
    bool newer = CUSHIM_HAS(cu, cuDevicePrimaryCtxSetFlags_v2);
    const char *call = newer ? "cuDevicePrimaryCtxSetFlags_v2" : "cuDevicePrimaryCtxSetFlags";
    code = newer ? cu->cuDevicePrimaryCtxSetFlags_v2(device, flags)
                 : cu->cuDevicePrimaryCtxSetFlags_v1(device, flags);
    if (code == CUDA_ERROR_INVALID_VALUE)
        return cushim_refuse(code, __func__, "flags: 0x%x: %s does not accept them", flags, call);
    return cushim_device_checked(cu, code, __func__, call, device);
}
