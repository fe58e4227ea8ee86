/* SPDX-License-Identifier: MIT */
/* Functions of the program's, called in a stream's order by a thread that may not call back. */
#include "queue/queue.h"

#include <stdlib.h>

struct host {
    CUhostFn function;
    void *data;
};

static CUresult call_host(void *user)
{
    struct host *host = user;
    sim_thread_set_in_callback(true);
    host->function(host->data);
    sim_thread_set_in_callback(false);
    return CUDA_SUCCESS;
}

CUresult sim_callback_prepare(CUhostFn function, void *data, struct sim_item *item)
{
    struct host *host = malloc(sizeof *host);
    if (!host)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *host = (struct host){function, data};
    *item = (struct sim_item){.run = call_host, .user = host, .drop = free};
    item->params.type = CU_GRAPH_NODE_TYPE_HOST;
    item->params.host.fn = function;
    item->params.host.userData = data;
    return CUDA_SUCCESS;
}

CUresult sim_cuLaunchHostFunc(CUstream hStream, CUhostFn fn, void *userData)
{
    struct sim_stream *stream;
    struct sim_item item;
    SIM_TRY(sim_stream(hStream, &stream));
    if (!fn)
        return CUDA_ERROR_INVALID_VALUE;
    SIM_TRY(sim_callback_prepare(fn, userData, &item));
    return sim_stream_submit(stream, &item);
}

CUresult sim_cuLaunchHostFunc_v2(CUstream hStream, CUhostFn fn, void *userData,
                                 unsigned int syncMode)
{
    if (syncMode > 1) /* how the thread waits for the device: without a difference here */
        return CUDA_ERROR_INVALID_VALUE;
    return sim_cuLaunchHostFunc(hStream, fn, userData);
}

struct callback {
    CUstreamCallback function;
    CUstream stream;
    void *data;
    struct sim_context *context; /* kept by the ticket */
};

/* Told of the context's error, unlike a host function, which is then not called at all. */
static CUresult call_back(void *user)
{
    struct callback *callback = user;
    sim_lock_enter();
    CUresult status = callback->context->sticky;
    sim_lock_leave();
    sim_thread_set_in_callback(true);
    callback->function(callback->stream, status, callback->data);
    sim_thread_set_in_callback(false);
    return status;
}

CUresult sim_cuStreamAddCallback(CUstream hStream, CUstreamCallback callback, void *userData,
                                 unsigned int flags)
{
    struct sim_stream *stream;
    SIM_TRY(sim_stream(hStream, &stream));
    if (!callback || flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    SIM_TRY(sim_capture_refuse(stream));
    struct callback *made = malloc(sizeof *made);
    if (!made)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *made = (struct callback){callback, hStream, userData, stream->object.context};
    return sim_stream_submit_always(stream, call_back, made, free);
}
