/* SPDX-License-Identifier: MIT */
/* Functions of the program's, called in a stream's order by a thread that may not call back. */
#include "queue/queue.h"

static CUresult call_host(void *user)
{
    const CUDA_HOST_NODE_PARAMS_v2 *host = user;
    sim_current_in_callback = true;
    host->fn(host->userData);
    sim_current_in_callback = false;
    return CUDA_SUCCESS;
}

CUresult sim_callback_prepare(CUhostFn function, void *data, struct sim_item *item)
{
    SIM_NEW(CUDA_HOST_NODE_PARAMS_v2, host);
    *host = (CUDA_HOST_NODE_PARAMS_v2){.fn = function, .userData = data};
    *item = (struct sim_item){.run = call_host, .user = host, .drop = free};
    item->params.type = CU_GRAPH_NODE_TYPE_HOST;
    item->params.host = *host;
    return CUDA_SUCCESS;
}

CUresult sim_cuLaunchHostFunc(CUstream hStream, CUhostFn fn, void *userData)
{
    SIM_FIND(struct sim_stream *, stream, sim_stream(hStream, &stream));
    SIM_REFUSE(!fn);
    SIM_FIND(struct sim_item, item, sim_callback_prepare(fn, userData, &item));
    return sim_stream_submit(stream, &item);
}

/* How the thread waits for the device makes no difference here. */
SIM_ENTRY(cuLaunchHostFunc_v2,
          syncMode > 1 ? CUDA_ERROR_INVALID_VALUE : sim_cuLaunchHostFunc(hStream, fn, userData))

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
    sim_current_in_callback = true;
    callback->function(callback->stream, status, callback->data);
    sim_current_in_callback = false;
    return status;
}

SIM_BEHAVIOUR(cuStreamAddCallback)
{
    SIM_FIND(struct sim_stream *, stream, sim_stream(hStream, &stream));
    SIM_REFUSE(!callback || flags != 0);
    SIM_TRY(sim_capture_refuse(stream));
    SIM_NEW(struct callback, made);
    *made = (struct callback){callback, hStream, userData, stream->object.context};
    return sim_stream_submit_always(stream, call_back, made, free);
}
