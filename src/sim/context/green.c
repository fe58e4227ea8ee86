/* SPDX-License-Identifier: MIT */
/* Green contexts: some of a device's multiprocessors. A simulated device has none to set apart, so
 * they are contexts like others that remember how many they were promised. */
#include "context/context.h"

struct sim_green {
    struct sim_object object;
    struct sim_context *context;
    CUdevResource resource;
};

/* Descriptions are never released by anybody: the same wish gets the same one. */
struct description {
    struct sim_object object;
    CUdevResource resource;
};

/* --- Descriptions --- */

SIM_BEHAVIOUR(cuDevResourceGenerateDesc)
{
    SIM_REFUSE(!phDesc || !resources || nbResources == 0);
    CUdevResource sum = resources[0];
    for (unsigned i = 0; i < nbResources; i++) {
        SIM_FAIL(INVALID_RESOURCE_TYPE, resources[i].type != CU_DEV_RESOURCE_TYPE_SM);
        if (i > 0)
            sum.sm.smCount += resources[i].sm.smCount;
    }
    for (struct sim_object *object = sim_object_first(SIM_OTHER); object; object = object->next) {
        struct description *known = (struct description *)object;
        if (known->resource.sm.smCount == sum.sm.smCount) {
            *phDesc = (CUdevResourceDesc)known;
            return CUDA_SUCCESS;
        }
    }
    SIM_NEW(struct description, made);
    made->resource = sum;
    sim_object_add(&made->object, SIM_OTHER, NULL);
    *phDesc = (CUdevResourceDesc)made;
    return CUDA_SUCCESS;
}

/* --- The contexts --- */

static CUresult find(CUgreenCtx handle, struct sim_green **green)
{
    *green = sim_object(SIM_GREEN, handle);
    return *green ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUgreenCtx sim_green_of(const struct sim_context *context)
{
    for (struct sim_object *object = sim_object_first(SIM_GREEN); object; object = object->next)
        if (((struct sim_green *)object)->context == context)
            return (CUgreenCtx)object;
    return NULL;
}

/* Without a description: the whole device. */
SIM_BEHAVIOUR(cuGreenCtxCreate)
{
    struct description *description = sim_object(SIM_OTHER, desc);
    SIM_REFUSE(!phCtx || flags != CU_GREEN_CTX_DEFAULT_STREAM || (desc && !description));
    SIM_FIND(struct sim_device *, device, sim_device_of(dev, &device));
    SIM_NEW(struct sim_green, green);
    SIM_TRY_OR(sim_life_begin(device, 0, false, &green->context), free(green));
    if (description)
        green->resource = description->resource;
    else
        (void)sim_cuDeviceGetDevResource(dev, &green->resource, CU_DEV_RESOURCE_TYPE_SM);
    sim_object_add(&green->object, SIM_GREEN, NULL);
    *phCtx = (CUgreenCtx)green;
    return CUDA_SUCCESS;
}

SIM_SET(cuGreenCtxDestroy, struct sim_green *, green, find(hCtx, &green), false,
        sim_object_remove(&green->object), sim_life_end(green->context), free(green))

SIM_TELL(cuCtxFromGreenCtx, pContext, struct sim_green *green, find(hCtx, &green),
         (CUcontext)green->context)

CUresult sim_cuGreenCtxGetDevResource(CUgreenCtx hCtx, CUdevResource *resource,
                                      CUdevResourceType type)
{
    SIM_REFUSE(!resource);
    SIM_FIND(struct sim_green *, green, find(hCtx, &green));
    SIM_FAIL(INVALID_RESOURCE_TYPE, type != CU_DEV_RESOURCE_TYPE_SM);
    *resource = green->resource;
    return CUDA_SUCCESS;
}

SIM_TELL(cuGreenCtxGetId, greenCtxId, struct sim_green *green, find(greenCtx, &green),
         green->context->id)

SIM_WITH(cuGreenCtxRecordEvent, struct sim_green *, green, find(hCtx, &green),
         sim_cuCtxRecordEvent((CUcontext)green->context, hEvent))
SIM_WITH(cuGreenCtxWaitEvent, struct sim_green *, green, find(hCtx, &green),
         sim_cuCtxWaitEvent((CUcontext)green->context, hEvent))

/* Its streams never wait for the legacy stream. */
SIM_BEHAVIOUR(cuGreenCtxStreamCreate)
{
    struct sim_stream *stream;
    SIM_REFUSE(!phStream || flags != CU_STREAM_NON_BLOCKING);
    SIM_FIND(struct sim_green *, green, find(greenCtx, &green));
    SIM_TRY(sim_stream_make(green->context, flags, sim_stream_priority_clamp(priority), &stream));
    *phStream = (CUstream)stream;
    return CUDA_SUCCESS;
}

CUresult sim_cuStreamGetCtx_v2(CUstream hStream, CUcontext *pctx, CUgreenCtx *pGreenCtx)
{
    SIM_REFUSE(!pctx || !pGreenCtx);
    SIM_TRY(sim_cuStreamGetCtx(hStream, pctx));
    *pGreenCtx = sim_green_of(((const struct sim_context *)*pctx));
    return CUDA_SUCCESS;
}

SIM_TELL(cuStreamGetGreenCtx, phCtx, struct sim_stream *stream, sim_stream(hStream, &stream),
         sim_green_of(stream->object.context))
