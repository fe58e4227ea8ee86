/* SPDX-License-Identifier: MIT */
/* Events: a place in a stream's work, to ask or wait for. */
#include "queue/queue.h"

/* Times of a real device come in steps of about half a microsecond. */
#define STEP_NS 512

struct sim_event *sim_event_open(struct sim_context *context, struct sim_event_shared *shared)
{
    struct sim_event *event = calloc(1, sizeof *event);
    if (!event)
        return NULL;
    event->flags = CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING;
    event->shared = shared;
    sim_object_add(&event->object, SIM_EVENT, context);
    return event;
}

CUresult sim_cuEventCreate(CUevent *phEvent, unsigned int Flags)
{
    SIM_FIND(struct sim_context *, context, sim_current(&context));
    SIM_REFUSE(!phEvent ||
               Flags > (CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS));
    SIM_REFUSE(Flags & CU_EVENT_INTERPROCESS && !(Flags & CU_EVENT_DISABLE_TIMING));
    SIM_MADE(struct sim_event *, event, sim_event_open(context, NULL));
    event->flags = Flags;
    *phEvent = (CUevent)event;
    return CUDA_SUCCESS;
}

void sim_event_end(struct sim_object *object)
{
    struct sim_event *event = (struct sim_event *)object;
    sim_object_remove(object);
    sim_ticket_release(event->ticket);
    sim_trail_release(event->trail);
    sim_capture_mark_free(event->mark);
    sim_event_shared_release(event->shared);
    free(event);
}

/* A live event is found without a current context. */
static CUresult find(CUevent handle, struct sim_event **event)
{
    *event = sim_object(SIM_EVENT, handle);
    return *event ? (*event)->object.context->sticky : CUDA_ERROR_INVALID_HANDLE;
}

CUresult sim_cuEventDestroy_v2(CUevent handle)
{
    struct sim_event *event;
    CUresult result = find(handle, &event);
    if (result == CUDA_ERROR_INVALID_HANDLE)
        return result;
    sim_event_end(&event->object);
    return result;
}

void sim_event_set(struct sim_event *event, struct sim_ticket *ticket)
{
    sim_ticket_release(event->ticket);
    event->ticket =
        event->shared ? sim_event_shared_record(event, ticket) : sim_ticket_retain(ticket);
    sim_trail_release(event->trail);
    event->trail = NULL;
    sim_capture_mark_free(event->mark);
    event->mark = NULL;
}

static CUresult record_in_capture(struct sim_event *event, struct sim_stream *stream, bool external)
{
    if (external) { /* a node: the event is recorded whenever the graph runs */
        struct sim_item item = {.params.type = CU_GRAPH_NODE_TYPE_EVENT_RECORD};
        item.params.eventRecord.event = (CUevent)event;
        return sim_stream_submit(stream, &item);
    }
    SIM_FAIL(STREAM_CAPTURE_UNSUPPORTED, event->shared); /* the capture goes on */
    SIM_FIND(struct sim_mark *, mark, sim_capture_hooks->mark_make(stream, &mark));
    sim_capture_mark_free(event->mark);
    event->mark = mark;
    return CUDA_SUCCESS;
}

CUresult sim_cuEventRecordWithFlags(CUevent handle, CUstream stream_handle, unsigned flags)
{
    SIM_FIND(struct sim_event *, event, find(handle, &event));
    SIM_FIND(struct sim_stream *, stream, sim_stream(stream_handle, &stream));
    SIM_REFUSE(flags > CU_EVENT_RECORD_EXTERNAL);
    SIM_FAIL(INVALID_HANDLE, event->object.context != stream->object.context);
    if (stream->capture)
        return record_in_capture(event, stream, flags & CU_EVENT_RECORD_EXTERNAL);
    SIM_FAIL(ILLEGAL_STATE, flags & CU_EVENT_RECORD_EXTERNAL);
    SIM_TRY(sim_capture_legacy(stream));
    SIM_FIND(struct sim_ticket *, ticket, sim_stream_mark(stream, &ticket));
    sim_event_set(event, ticket);
    if (event->shared) /* the stream is done when the other processes know */
        sim_stream_append(stream, event->ticket);
    event->trail = sim_trail_retain(stream->trail);
    sim_ticket_release(ticket);
    return CUDA_SUCCESS;
}

CUresult sim_cuStreamWaitEvent(CUstream hStream, CUevent hEvent, unsigned int Flags)
{
    SIM_FIND(struct sim_event *, event, find(hEvent, &event));
    SIM_FIND(struct sim_stream *, stream, sim_stream(hStream, &stream));
    SIM_REFUSE(Flags > CU_EVENT_WAIT_EXTERNAL);
    SIM_FAIL(ILLEGAL_STATE, Flags & CU_EVENT_WAIT_EXTERNAL && !stream->capture);
    if (Flags & CU_EVENT_WAIT_EXTERNAL) {
        struct sim_item item = {.params.type = CU_GRAPH_NODE_TYPE_WAIT_EVENT};
        item.params.eventWait.event = hEvent;
        return sim_stream_submit(stream, &item);
    }
    if (event->mark)
        return sim_capture_hooks->mark_follow(stream, event->mark);
    if (stream->capture) /* work from outside would have to be waited for at every launch */
        return event->ticket || sim_event_shared_is_foreign(event)
                   ? sim_capture_refused(stream, CUDA_ERROR_STREAM_CAPTURE_ISOLATION)
                   : CUDA_SUCCESS;
    SIM_TRY(sim_capture_legacy(stream));
    struct sim_context *context = stream->object.context;
    SIM_FIND(struct sim_ticket *, ticket, sim_event_shared_ticket(event, context, &ticket));
    sim_stream_follow(stream, ticket);
    sim_ticket_release(ticket);
    if (!sim_event_shared_is_foreign(event))
        sim_trail_join(&stream->trail, context, event->trail);
    return CUDA_SUCCESS;
}

/* An event that a capture recorded is a place in a graph: it has no state. */
static CUresult recorded(CUevent handle, struct sim_event **event)
{
    SIM_TRY(find(handle, event));
    return (*event)->mark ? sim_capture_hooks->mark_spoil((*event)->mark) : CUDA_SUCCESS;
}

CUresult sim_cuEventQuery(CUevent hEvent)
{
    SIM_FIND(struct sim_event *, event, recorded(hEvent, &event));
    SIM_TRY(sim_capture_unsafe());
    if (sim_event_shared_is_foreign(event))
        return sim_event_shared_done(event) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
    return !event->ticket || sim_ticket_ask(event->ticket) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult sim_cuEventSynchronize(CUevent hEvent)
{
    SIM_FIND(struct sim_event *, event, recorded(hEvent, &event));
    SIM_TRY(sim_capture_unsafe());
    struct sim_context *context = event->object.context;
    SIM_FIND(struct sim_ticket *, ticket, sim_event_shared_ticket(event, context, &ticket));
    if (!ticket)
        return CUDA_SUCCESS;
    struct sim_trail *trail = sim_event_shared_is_foreign(event) ? NULL : event->trail;
    sim_trail_retain(trail);
    sim_context_retain(context);
    sim_ticket_wait(ticket);
    sim_trail_settle(trail);
    sim_trail_release(trail);
    sim_ticket_release(ticket);
    return sim_context_release(context);
}

CUresult sim_cuEventElapsedTime_v2(float *milliseconds, CUevent from, CUevent to)
{
    struct sim_event *events[2];
    for (int i = 0; i < 2; i++)
        SIM_TRY(recorded(i ? to : from, &events[i]));
    for (int i = 0; i < 2; i++)
        SIM_FAIL(INVALID_HANDLE, !events[i]->ticket || events[i]->flags & CU_EVENT_DISABLE_TIMING ||
                                     !milliseconds ||
                                     events[i]->object.context != events[0]->object.context);
    for (int i = 0; i < 2; i++)
        SIM_FAIL(NOT_READY, !sim_ticket_ask(events[i]->ticket));
    int64_t first = (int64_t)(sim_ticket_end_ns(events[0]->ticket) / STEP_NS);
    int64_t last = (int64_t)(sim_ticket_end_ns(events[1]->ticket) / STEP_NS);
    *milliseconds = (float)((double)((last - first) * STEP_NS) / 1e6);
    return CUDA_SUCCESS;
}

/* --- Events of a whole context: after all work that its streams have now --- */

/* An empty ticket, not yet started, after all of the context's work. */
static CUresult after_all(struct sim_context *context, struct sim_ticket **made)
{
    SIM_MADE(struct sim_ticket *, ticket, sim_ticket_make(context, NULL, NULL, NULL));
    for (struct sim_object *object = sim_object_first(SIM_STREAM); object; object = object->next)
        if (object->context == context)
            SIM_TRY_OR(sim_ticket_after(ticket, ((struct sim_stream *)object)->last),
                       sim_ticket_begin(ticket));
    *made = ticket;
    return CUDA_SUCCESS;
}

static CUresult both(CUcontext ctx, CUevent handle, struct sim_context **context,
                     struct sim_event **event)
{
    SIM_FAIL(INVALID_CONTEXT, !ctx);
    SIM_TRY(sim_current_of(ctx, context));
    SIM_TRY(SIM_FOUND(*event, SIM_EVENT, handle));
    return sim_capture_refuse_context(*context);
}

CUresult sim_event_record_all(CUcontext ctx, CUevent handle, bool own)
{
    struct sim_event *event;
    SIM_FIND(struct sim_context *, context, both(ctx, handle, &context, &event));
    SIM_FAIL(INVALID_HANDLE, own && event->object.context != context);
    SIM_FIND(struct sim_ticket *, ticket, after_all(context, &ticket));
    sim_event_set(event, ticket);
    sim_ticket_begin(ticket);
    return CUDA_SUCCESS;
}

SIM_ENTRY(cuCtxRecordEvent, sim_event_record_all(hCtx, hEvent, true))

/* Work that streams have already does not wait, and an idle stream stays idle. */
CUresult sim_cuCtxWaitEvent(CUcontext hCtx, CUevent hEvent)
{
    struct sim_event *event;
    SIM_FIND(struct sim_context *, context, both(hCtx, hEvent, &context, &event));
    SIM_FAIL(CAPTURED_EVENT, event->mark);
    SIM_FIND(struct sim_ticket *, ticket, sim_event_shared_ticket(event, context, &ticket));
    struct sim_ticket *made = sim_ticket_make(context, NULL, NULL, NULL);
    CUresult code = made ? sim_ticket_after(made, ticket) : CUDA_ERROR_OUT_OF_MEMORY;
    sim_ticket_release(ticket);
    SIM_TRY_OR(code == CUDA_SUCCESS ? sim_ticket_after(made, context->awaited) : code,
               made ? sim_ticket_begin(made) : (void)0);
    sim_ticket_start(made);
    sim_ticket_release(context->awaited);
    context->awaited = made;
    return CUDA_SUCCESS;
}
