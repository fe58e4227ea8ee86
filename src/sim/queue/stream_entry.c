/* SPDX-License-Identifier: MIT */
/* Streams as the program makes, asks and waits for them. */
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
    SIM_FAIL(INVALID_HANDLE,
             !handle || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD);
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

SIM_WITH(cuStreamGetDevResource, struct sim_stream *, stream, sim_stream(hStream, &stream),
         sim_cuDeviceGetDevResource(stream->object.context->device->ordinal, result, type))

/* --- Attributes of streams: kept, and without effect on a simulated device --- */

/* Where an attribute is in a stream; size 0: there is none of that number. */
static const struct trait {
    size_t at, size;
} traits[] = {
#define MEMBER(name)                                                                               \
    {                                                                                              \
        offsetof(struct sim_stream, name), sizeof(((struct sim_stream *)0)->name)                  \
    }
    [CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW] = MEMBER(window),
    [CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY] = MEMBER(sync_policy),
    [CU_LAUNCH_ATTRIBUTE_PRIORITY] = MEMBER(priority),
    [CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP] = MEMBER(domain_map),
    [CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN] = MEMBER(domain),
};
enum { TRAITS = sizeof traits / sizeof *traits };

SIM_SET(cuStreamGetAttribute, struct sim_stream *, stream, sim_stream(hStream, &stream),
        !value || (size_t)attr >= TRAITS || !traits[attr].size,
        memcpy(value, (const char *)stream + traits[attr].at, traits[attr].size))

static bool is_value(const struct sim_stream *stream, CUstreamAttrID attr,
                     const CUstreamAttrValue_v1 *value)
{
    const CUaccessPolicyWindow *window = &value->accessPolicyWindow;
    int most = sim_device_value(stream->object.context->device,
                                CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE);
    switch ((int)attr) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
        return window->num_bytes <= (size_t)most && window->hitRatio >= 0 &&
               window->hitRatio <= 1 &&
               (unsigned)window->hitProp <= CU_ACCESS_PROPERTY_PERSISTING &&
               (unsigned)window->missProp <= CU_ACCESS_PROPERTY_STREAMING;
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
        return (int)value->syncPolicy >= CU_SYNC_POLICY_AUTO &&
               value->syncPolicy <= CU_SYNC_POLICY_BLOCKING_SYNC;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
        return (unsigned)value->memSyncDomain <= CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE;
    default:
        return (size_t)attr < TRAITS && traits[attr].size;
    }
}

SIM_SET(cuStreamSetAttribute, struct sim_stream *, stream, sim_stream(hStream, &stream),
        !param || !is_value(stream, attr, param),
        memcpy((char *)stream + traits[attr].at, param, traits[attr].size),
        stream->priority = sim_stream_priority_clamp(stream->priority))

CUresult sim_cuStreamCopyAttributes(CUstream dstStream, CUstream srcStream)
{
    SIM_FIND(struct sim_stream *, to, sim_stream(dstStream, &to));
    SIM_FIND(struct sim_stream *, from, sim_stream(srcStream, &from));
    for (size_t i = 0; i < TRAITS; i++)
        memcpy((char *)to + traits[i].at, (const char *)from + traits[i].at, traits[i].size);
    return CUDA_SUCCESS;
}
