/* SPDX-License-Identifier: MIT */
/* Streams as the program makes, asks and waits for them. */
#include "capture.h"
#include "context.h"
#include "stream.h"

int sim_priority_clamp(int priority)
{
    int greatest = sim_priority_greatest();
    return priority > SIM_PRIORITY_LEAST ? SIM_PRIORITY_LEAST
           : priority < greatest         ? greatest
                                         : priority;
}

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
    return result == CUDA_SUCCESS ? sim_stream_wait_all(stream) : result;
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

CUresult sim_cuStreamGetCtx_v2(CUstream hStream, CUcontext *pctx, CUgreenCtx *pGreenCtx)
{
    if (!pctx || !pGreenCtx)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = sim_cuStreamGetCtx(hStream, pctx);
    if (result == CUDA_SUCCESS)
        *pGreenCtx = sim_green_of(((const struct sim_context *)*pctx));
    return result;
}

CUresult sim_cuStreamGetGreenCtx(CUstream hStream, CUgreenCtx *phCtx)
{
    struct sim_stream *stream;
    if (!phCtx)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = sim_stream(hStream, &stream);
    if (result == CUDA_SUCCESS)
        *phCtx = sim_green_of(stream->object.context);
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

/* Managed memory here is the host's: there is nothing to move. */
CUresult sim_cuStreamAttachMemAsync(CUstream hStream, CUdeviceptr_v2 dptr, size_t length,
                                    unsigned int flags)
{
    struct sim_stream *stream;
    CUresult result = sim_stream(hStream, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    struct sim_allocation *allocation = sim_range_find(dptr);
    bool one = flags == CU_MEM_ATTACH_GLOBAL || flags == CU_MEM_ATTACH_HOST ||
               flags == CU_MEM_ATTACH_SINGLE;
    bool special = !hStream || hStream == CU_STREAM_LEGACY || hStream == CU_STREAM_PER_THREAD;
    if (!one || (flags == CU_MEM_ATTACH_SINGLE && special))
        return CUDA_ERROR_INVALID_VALUE;
    if (!allocation || allocation->kind != SIM_MEMORY_MANAGED ||
        (length != 0 && (dptr != allocation->address || length != allocation->size)))
        return CUDA_ERROR_INVALID_VALUE;
    result = sim_capture_refuse(stream);
    return result == CUDA_SUCCESS ? sim_enqueue(stream, NULL, NULL, NULL) : result;
}
