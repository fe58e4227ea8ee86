/* SPDX-License-Identifier: MIT */
/* Streams as the program makes, asks and waits for them. */
#include "core/core.h"
#include "device/device.h"
#include "queue/queue.h"

CUresult sim_cuStreamCreateWithPriority(CUstream *phStream, unsigned int flags, int priority)
{
    struct sim_context *context;
    struct sim_stream *stream;
    CUresult result = sim_current(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!phStream || flags > CU_STREAM_NON_BLOCKING)
        return CUDA_ERROR_INVALID_VALUE;
    result = sim_stream_make(context, flags, sim_priority_clamp(priority), &stream);
    if (result == CUDA_SUCCESS)
        *phStream = (CUstream)stream;
    return result;
}

CUresult sim_cuStreamCreate(CUstream *phStream, unsigned int Flags)
{
    return sim_cuStreamCreateWithPriority(phStream, Flags, 0);
}

static CUresult destroy(CUstream handle)
{
    struct sim_stream *stream;
    if (!handle || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD)
        return CUDA_ERROR_INVALID_HANDLE;
    CUresult result = sim_stream(handle, &stream);
    if (result == CUDA_ERROR_INVALID_HANDLE || result == CUDA_ERROR_NOT_PERMITTED)
        return result;
    sim_stream_free(stream); /* also where the context has an error, which is the answer then */
    return result;
}

CUresult sim_cuStreamDestroy(CUstream hStream)
{
    return destroy(hStream);
}

CUresult sim_cuStreamDestroy_v2(CUstream hStream)
{
    return destroy(hStream);
}

CUresult sim_cuStreamQuery(CUstream hStream)
{
    struct sim_stream *stream;
    CUresult result = sim_stream(hStream, &stream);
    if (result == CUDA_SUCCESS)
        result = sim_capture_refuse_wait(stream);
    if (result != CUDA_SUCCESS)
        return result;
    return sim_stream_idle(stream) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult sim_cuStreamSynchronize(CUstream hStream)
{
    struct sim_stream *stream;
    CUresult result = sim_stream(hStream, &stream);
    if (result == CUDA_SUCCESS)
        result = sim_capture_refuse_wait(stream);
    return result == CUDA_SUCCESS ? sim_stream_synchronize(stream) : result;
}

CUresult sim_cuStreamGetFlags(CUstream hStream, unsigned int *flags)
{
    struct sim_stream *stream;
    if (!flags)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = sim_stream(hStream, &stream);
    if (result == CUDA_SUCCESS)
        *flags = stream->flags;
    return result;
}

CUresult sim_cuStreamGetPriority(CUstream hStream, int *priority)
{
    struct sim_stream *stream;
    if (!priority)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = sim_stream(hStream, &stream);
    if (result == CUDA_SUCCESS)
        *priority = stream->priority;
    return result;
}

CUresult sim_cuStreamGetId(CUstream hStream, unsigned long long *streamId)
{
    struct sim_stream *stream;
    if (!streamId)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = sim_stream(hStream, &stream);
    if (result == CUDA_SUCCESS)
        *streamId = stream->id;
    return result;
}

CUresult sim_cuStreamGetCtx(CUstream hStream, CUcontext *pctx)
{
    struct sim_stream *stream;
    if (!pctx)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = sim_stream(hStream, &stream);
    if (result == CUDA_SUCCESS)
        *pctx = (CUcontext)stream->object.context;
    return result;
}

CUresult sim_cuStreamGetDevice(CUstream hStream, CUdevice *device)
{
    struct sim_stream *stream;
    if (!device)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = sim_stream(hStream, &stream);
    if (result == CUDA_SUCCESS)
        *device = stream->object.context->device->ordinal;
    return result;
}

CUresult sim_cuStreamGetDevResource(CUstream hStream, CUdevResource *result, CUdevResourceType type)
{
    struct sim_stream *stream;
    CUresult code = sim_stream(hStream, &stream);
    if (code != CUDA_SUCCESS)
        return code;
    return sim_cuDeviceGetDevResource(stream->object.context->device->ordinal, result, type);
}
