/* SPDX-License-Identifier: MIT */
/* Primary contexts, counted per device. A device's has the same handle every time it is active. */
#include "context/context.h"

/* Its memory stays: a thread's stack may have its handle long after it was released. */
static CUresult activate(struct sim_device *device)
{
    unsigned flags = device->primary_flags | CU_CTX_MAP_HOST;
    CUresult result;
    SIM_TRY(device->failed);
    if (device->primary_kept)
        result = sim_life_open(device->primary_kept, flags);
    else
        result = sim_life_begin(device, flags, true, &device->primary_kept);
    if (result == CUDA_SUCCESS)
        device->primary = device->primary_kept;
    return result;
}

/* Inactive for every other thread at once, also while its last work is waited for. */
static void deactivate(struct sim_device *device)
{
    struct sim_context *context = device->primary;
    device->primary_flags = 0;
    if (!context)
        return;
    device->primary = NULL;
    device->primary_closing = true;
    sim_life_close(context);
    device->primary_closing = false;
}

CUresult sim_cuDevicePrimaryCtxRetain(CUcontext *pctx, CUdevice_v1 dev)
{
    SIM_REFUSE(!pctx);
    SIM_FIND(struct sim_device *, device, sim_device_of(dev, &device));
    while (device->primary_closing) { /* another thread waits for its last work */
        sim_lock_leave();
        nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
        sim_lock_enter();
    }
    SIM_TRY(device->primary ? CUDA_SUCCESS : activate(device));
    if (device->primary_count++ > 0) {
        free(device->primary_last);
        device->primary_last = sim_callers_of_call();
    }
    *pctx = (CUcontext)device->primary;
    return CUDA_SUCCESS;
}

/* What called the function that made a call: behind "cuX\t/a+0x12"; NULL: unknown. */
static const char *outer(const char *origin)
{
    const char *inner = origin ? strchr(origin, '\t') : NULL;
    return inner ? strchr(inner + 1, '\t') : NULL;
}

/* Who is told to have retained it and not released: the first, unless that one's function releases
 * it, and then the last. */
static void note_release(struct sim_device *device)
{
    char **first = device->primary ? &device->primary->object.origin : NULL;
    char *now = sim_callers_of_call();
    const char *own = outer(now), *other = first ? outer(*first) : NULL;
    if (own && other && strcmp(own, other) == 0 && device->primary_last) {
        free(*first);
        *first = device->primary_last;
        device->primary_last = NULL;
    }
    free(now);
}

CUresult sim_cuDevicePrimaryCtxRelease_v2(CUdevice_v1 dev)
{
    SIM_FIND(struct sim_device *, device, sim_device_of(dev, &device));
    SIM_FAIL(INVALID_CONTEXT, !device->primary_count);
    if (--device->primary_count == 0)
        deactivate(device);
    else
        note_release(device);
    return CUDA_SUCCESS;
}

/* The first form succeeds if nothing is retained too (H200, driver 580). */
CUresult sim_cuDevicePrimaryCtxRelease(CUdevice_v1 dev)
{
    CUresult result = sim_cuDevicePrimaryCtxRelease_v2(dev);
    return result == CUDA_ERROR_INVALID_CONTEXT ? CUDA_SUCCESS : result;
}

/* What was retained still is, of the next one (H200, driver 580). */
SIM_SET(cuDevicePrimaryCtxReset_v2, struct sim_device *, device, sim_device_of(dev, &device), false,
        deactivate(device))

/* The first form also releases once (H200, driver 580). */
CUresult sim_cuDevicePrimaryCtxReset(CUdevice_v1 dev)
{
    struct sim_device *device = sim_device(dev);
    if (device && device->primary_count)
        device->primary_count--;
    return sim_cuDevicePrimaryCtxReset_v2(dev);
}

/* Since 11.0 an active context takes new flags too. */
CUresult sim_cuDevicePrimaryCtxSetFlags_v2(CUdevice_v1 dev, unsigned int flags)
{
    SIM_FIND(struct sim_device *, device, sim_device_of(dev, &device));
    SIM_REFUSE(!sim_context_create_flags_valid(flags) || flags & CU_CTX_MAP_HOST);
    device->primary_flags = flags;
    if (device->primary)
        device->primary->flags = flags | CU_CTX_MAP_HOST;
    return CUDA_SUCCESS;
}

CUresult sim_cuDevicePrimaryCtxSetFlags(CUdevice_v1 dev, unsigned int flags)
{
    struct sim_device *device = sim_device(dev);
    SIM_FAIL(PRIMARY_CONTEXT_ACTIVE, device && device->primary);
    return sim_cuDevicePrimaryCtxSetFlags_v2(dev, flags);
}

SIM_SET(cuDevicePrimaryCtxGetState, struct sim_device *, device,
        (!flags || !active) ? CUDA_ERROR_INVALID_VALUE : sim_device_of(dev, &device), false,
        *flags = device->primary_flags, *active = device->primary ? 1 : 0)
