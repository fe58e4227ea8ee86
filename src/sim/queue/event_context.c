/* SPDX-License-Identifier: MIT */
/* Events of a whole context: after all work that its streams have now. */
#include "core/core.h"
#include "queue/queue.h"

/* An empty ticket, not yet started, after all of the context's work. */
static CUresult after_all(struct sim_context *context, struct sim_ticket **made)
{
    struct sim_ticket *ticket = sim_ticket_make(context, NULL, NULL, NULL);
    CUresult result = ticket ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    for (struct sim_object *object = sim_object_first(SIM_STREAM); object && result == CUDA_SUCCESS;
         object = object->next)
        if (object->context == context)
            result = sim_ticket_after(ticket, ((struct sim_stream *)object)->last);
    if (ticket && result != CUDA_SUCCESS) {
        sim_ticket_start(ticket);
        sim_ticket_release(ticket);
    }
    *made = ticket;
    return result;
}

static CUresult both(CUcontext ctx, CUevent handle, struct sim_context **context,
                     struct sim_event **event)
{
    if (!ctx)
        return CUDA_ERROR_INVALID_CONTEXT;
    CUresult result = sim_current_of(ctx, context);
    if (result != CUDA_SUCCESS)
        return result;
    *event = sim_object(SIM_EVENT, handle);
    if (!*event)
        return CUDA_ERROR_INVALID_HANDLE;
    return sim_capture_refuse_context(*context);
}

CUresult sim_cuCtxRecordEvent(CUcontext hCtx, CUevent hEvent)
{
    struct sim_context *context;
    struct sim_event *event;
    struct sim_ticket *ticket;
    CUresult result = both(hCtx, hEvent, &context, &event);
    if (result != CUDA_SUCCESS)
        return result;
    if (event->object.context != context)
        return CUDA_ERROR_INVALID_HANDLE;
    result = after_all(context, &ticket);
    if (result != CUDA_SUCCESS)
        return result;
    sim_event_set(event, ticket);
    sim_ticket_start(ticket);
    sim_ticket_release(ticket);
    return CUDA_SUCCESS;
}

CUresult sim_cuCtxWaitEvent(CUcontext hCtx, CUevent hEvent)
{
    struct sim_context *context;
    struct sim_event *event;
    CUresult result = both(hCtx, hEvent, &context, &event);
    if (result != CUDA_SUCCESS)
        return result;
    if (event->mark)
        return CUDA_ERROR_CAPTURED_EVENT;
    bool foreign = sim_event_shared_is_foreign(event);
    for (struct sim_object *object = sim_object_first(SIM_STREAM); object; object = object->next)
        if (object->context == context && foreign)
            result = sim_event_shared_follow(event, (struct sim_stream *)object);
        else if (object->context == context)
            sim_stream_follow((struct sim_stream *)object, event->ticket);
    return result;
}
