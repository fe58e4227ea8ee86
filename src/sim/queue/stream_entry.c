/* SPDX-License-Identifier: MIT */
/* Streams as the program makes, asks and waits for them. */
#include "device/device.h"
#include "queue/queue.h"

CUresult sim_cuStreamCreateWithPriority(CUstream *phStream, unsigned int flags, int priority)
{
    struct sim_stream *stream;
    SIM_FIND(struct sim_context *, context, sim_current(&context));
    SIM_REFUSE(!phStream || flags > CU_STREAM_NON_BLOCKING);
    SIM_TRY(sim_stream_make(context, flags, sim_stream_priority_clamp(priority), &stream));
    *phStream = (CUstream)stream;
    return CUDA_SUCCESS;
}

SIM_ENTRY(cuStreamCreate, sim_cuStreamCreateWithPriority(phStream, Flags, 0))

CUresult sim_cuStreamDestroy_v2(CUstream handle)
{
    struct sim_stream *stream;
    if (!handle || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD)
        return CUDA_ERROR_INVALID_HANDLE;
    CUresult result = sim_stream(handle, &stream);
    if (result == CUDA_ERROR_INVALID_HANDLE || result == CUDA_ERROR_NOT_PERMITTED)
        return result;
    sim_stream_end(
        &stream->object); /* also where the context has an error, which is the answer then */
    return result;
}

CUresult sim_cuStreamQuery(CUstream hStream)
{
    SIM_FIND(struct sim_stream *, stream, sim_stream(hStream, &stream));
    SIM_TRY(sim_capture_refuse_wait(stream));
    return sim_stream_idle(stream) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult sim_cuStreamSynchronize(CUstream hStream)
{
    SIM_FIND(struct sim_stream *, stream, sim_stream(hStream, &stream));
    SIM_TRY(sim_capture_refuse_wait(stream));
    return sim_stream_synchronize(stream);
}

SIM_TELL(cuStreamGetFlags, flags, struct sim_stream *stream, sim_stream(hStream, &stream),
         stream->flags)
SIM_TELL(cuStreamGetPriority, priority, struct sim_stream *stream, sim_stream(hStream, &stream),
         stream->priority)
SIM_TELL(cuStreamGetId, streamId, struct sim_stream *stream, sim_stream(hStream, &stream),
         stream->id)
SIM_TELL(cuStreamGetCtx, pctx, struct sim_stream *stream, sim_stream(hStream, &stream),
         (CUcontext)stream->object.context)
SIM_TELL(cuStreamGetDevice, device, struct sim_stream *stream, sim_stream(hStream, &stream),
         stream->object.context->device->ordinal)

CUresult sim_cuStreamGetDevResource(CUstream hStream, CUdevResource *result, CUdevResourceType type)
{
    SIM_FIND(struct sim_stream *, stream, sim_stream(hStream, &stream));
    return sim_cuDeviceGetDevResource(stream->object.context->device->ordinal, result, type);
}

/* --- Attributes of streams: kept, and without effect on a simulated device --- */

SIM_BEHAVIOUR(cuStreamGetAttribute)
{
    SIM_FIND(struct sim_stream *, stream, sim_stream(hStream, &stream));
    SIM_REFUSE(!value);
    switch ((int)attr) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
        value->accessPolicyWindow = stream->window;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
        value->syncPolicy = stream->sync_policy;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
        value->priority = stream->priority;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
        value->memSyncDomainMap = stream->domain_map;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
        value->memSyncDomain = stream->domain;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

static CUresult set_window(struct sim_stream *stream, const CUaccessPolicyWindow *window)
{
    int most = sim_device_value(stream->object.context->device,
                                CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE);
    SIM_REFUSE(window->num_bytes > (size_t)most || window->hitRatio < 0 || window->hitRatio > 1 ||
               (unsigned)window->hitProp > CU_ACCESS_PROPERTY_PERSISTING ||
               (unsigned)window->missProp > CU_ACCESS_PROPERTY_STREAMING);
    stream->window = *window;
    return CUDA_SUCCESS;
}

SIM_BEHAVIOUR(cuStreamSetAttribute)
{
    SIM_FIND(struct sim_stream *, stream, sim_stream(hStream, &stream));
    SIM_REFUSE(!param);
    switch ((int)attr) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
        return set_window(stream, &param->accessPolicyWindow);
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
        SIM_REFUSE((int)param->syncPolicy < CU_SYNC_POLICY_AUTO ||
                   param->syncPolicy > CU_SYNC_POLICY_BLOCKING_SYNC);
        stream->sync_policy = param->syncPolicy;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
        stream->priority = sim_stream_priority_clamp(param->priority);
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
        stream->domain_map = param->memSyncDomainMap;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
        SIM_REFUSE((unsigned)param->memSyncDomain > CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE);
        stream->domain = param->memSyncDomain;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult sim_cuStreamCopyAttributes(CUstream dstStream, CUstream srcStream)
{
    struct sim_stream *to, *from;
    SIM_TRY(sim_stream(dstStream, &to));
    SIM_TRY(sim_stream(srcStream, &from));
    to->window = from->window;
    to->sync_policy = from->sync_policy;
    to->domain_map = from->domain_map;
    to->domain = from->domain;
    to->priority = from->priority;
    return CUDA_SUCCESS;
}
