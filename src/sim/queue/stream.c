/* SPDX-License-Identifier: MIT */
/* Streams: what the handles mean, and whose work must follow whose. */
#include "queue/queue.h"

static uint64_t next_id = 1;

CUresult sim_stream_make(struct sim_context *context, unsigned flags, int priority,
                         struct sim_stream **stream)
{
    SIM_NEW(struct sim_stream, made);
    made->flags = flags;
    made->priority = priority;
    made->id = next_id++;
    made->sync_policy = (CUsynchronizationPolicy)-1; /* what a real one says before it is set */
    made->domain_map.remote = 1;
    sim_object_add(&made->object, SIM_STREAM, context);
    *stream = made;
    return CUDA_SUCCESS;
}

void sim_stream_end(struct sim_object *object)
{
    struct sim_stream *stream = (struct sim_stream *)object;
    if (stream->capture)
        sim_capture_hooks->stream_gone(stream);
    sim_object_remove(object);
    sim_ticket_release(stream->last);
    sim_trail_release(stream->trail);
    free(stream);
}

/* It lives as long as the context that it was reached through. */
static struct sim_stream *owned(struct sim_stream *stream)
{
    sim_expire_renew(stream);
    return stream;
}

static CUresult per_thread(struct sim_context *context, struct sim_stream **stream)
{
    uint64_t self = (uint64_t)pthread_self();
    for (*stream = owned(context->per_thread); *stream; *stream = owned((*stream)->next_per_thread))
        if ((*stream)->thread == self)
            return CUDA_SUCCESS;
    SIM_TRY(sim_stream_make(context, CU_STREAM_DEFAULT, 0, stream));
    (*stream)->thread = self;
    (*stream)->next_per_thread = context->per_thread;
    context->per_thread = *stream;
    return CUDA_SUCCESS;
}

/* A stream of the program's own is found without a current context. */
CUresult sim_stream(CUstream handle, struct sim_stream **stream)
{
    struct sim_context *context;
    if (handle && handle != CU_STREAM_LEGACY && handle != CU_STREAM_PER_THREAD) {
        *stream = sim_object(SIM_STREAM, handle);
        /* An old handle may be where a context's own stream is now, which has no handle. */
        SIM_FAIL(INVALID_HANDLE,
                 !*stream || *stream == (*stream)->object.context->legacy || (*stream)->thread);
        return (*stream)->object.context->sticky;
    }
    SIM_TRY(sim_current(&context));
    if (handle == CU_STREAM_PER_THREAD || (!handle && sim_current_per_thread))
        return per_thread(context, stream);
    *stream = owned(context->legacy);
    return CUDA_SUCCESS;
}

/* --- Order --- */

static bool pending(const struct sim_stream *stream)
{
    return stream->last && !sim_ticket_ask(stream->last);
}

static bool blocks(const struct sim_object *object, const struct sim_context *context)
{
    return object->context == context &&
           !(((const struct sim_stream *)object)->flags & CU_STREAM_NON_BLOCKING);
}

/* The legacy stream's work follows that of all blocking streams, and theirs follows it. */
CUresult sim_stream_order(struct sim_ticket *ticket, struct sim_stream *stream)
{
    struct sim_context *context = stream->object.context;
    SIM_TRY(sim_ticket_after(ticket, stream->last));
    SIM_TRY(sim_ticket_after(ticket, context->awaited));
    if (stream->flags & CU_STREAM_NON_BLOCKING)
        return CUDA_SUCCESS;
    if (stream != context->legacy)
        return sim_ticket_after(ticket, owned(context->legacy)->last);
    for (struct sim_object *object = sim_object_first(SIM_STREAM); object; object = object->next)
        if (blocks(object, context))
            SIM_TRY(sim_ticket_after(ticket, ((struct sim_stream *)object)->last));
    return CUDA_SUCCESS;
}

bool sim_stream_idle(struct sim_stream *stream)
{
    struct sim_context *context = stream->object.context;
    if (pending(stream))
        return false;
    if (stream != context->legacy)
        return true;
    for (struct sim_object *object = sim_object_first(SIM_STREAM); object; object = object->next)
        if (blocks(object, context) && pending((struct sim_stream *)object))
            return false;
    return true;
}

void sim_stream_append(struct sim_stream *stream, struct sim_ticket *ticket)
{
    sim_ticket_release(stream->last);
    stream->last = sim_ticket_retain(ticket);
}

/* A ticket at the stream's end, not yet started. On failure `user` is dropped. */
static CUresult make(struct sim_stream *stream, sim_work *work, void *user, void (*drop)(void *),
                     struct sim_ticket **made)
{
    SIM_MADE(struct sim_ticket *, ticket,
             sim_ticket_make(stream->object.context, work, user, drop));
    SIM_TRY_OR(sim_stream_order(ticket, stream), sim_ticket_cancel(ticket),
               sim_ticket_begin(ticket));
    sim_stream_append(stream, ticket);
    *made = ticket;
    return CUDA_SUCCESS;
}

CUresult sim_stream_mark(struct sim_stream *stream, struct sim_ticket **ticket)
{
    SIM_TRY(make(stream, NULL, NULL, NULL, ticket));
    sim_ticket_start(*ticket);
    return CUDA_SUCCESS;
}

/* --- Work handed in --- */

/* Unless a capture has an answer to it. */
static CUresult hand_in(struct sim_stream *stream, const struct sim_item *item, CUresult result,
                        bool wait)
{
    SIM_TRY_OR(result, sim_item_drop(item));
    SIM_FIND(struct sim_ticket *, ticket, make(stream, item->run, item->user, item->drop, &ticket));
    sim_late_note(ticket, item);
    if (wait)
        result = sim_ticket_run_here(ticket);
    else
        sim_ticket_start(ticket);
    sim_ticket_release(ticket);
    return result;
}

CUresult sim_stream_submit(struct sim_stream *stream, const struct sim_item *item)
{
    return stream->capture ? sim_capture_hooks->take(stream, item)
                           : hand_in(stream, item, sim_capture_legacy(stream), false);
}

CUresult sim_stream_submit_wait(struct sim_stream *stream, const struct sim_item *item)
{
    return hand_in(stream, item, sim_capture_refuse(stream), true);
}

CUresult sim_stream_submit_always(struct sim_stream *stream, sim_work *work, void *user,
                                  void (*drop)(void *))
{
    SIM_FIND(struct sim_ticket *, ticket, make(stream, work, user, drop, &ticket));
    sim_ticket_always(ticket);
    sim_late_note(ticket, &(struct sim_item){.params.type = CU_GRAPH_NODE_TYPE_HOST});
    sim_ticket_begin(ticket);
    return CUDA_SUCCESS;
}

void sim_stream_follow(struct sim_stream *stream, struct sim_ticket *ticket)
{
    struct sim_ticket *made;
    if (!ticket || sim_ticket_done(ticket) || make(stream, NULL, NULL, NULL, &made) != CUDA_SUCCESS)
        return;
    (void)sim_ticket_after(made, ticket);
    sim_ticket_begin(made);
}

/* --- Waiting --- */

/* The stream's own work; for the legacy stream that of all blocking streams. */
static CUresult sim_stream_wait_all(struct sim_stream *stream)
{
    struct sim_context *context = stream->object.context;
    if (stream == context->legacy && !sim_stream_idle(stream))
        return hand_in(stream, &(struct sim_item){.run = NULL}, CUDA_SUCCESS, true);
    struct sim_ticket *last = sim_ticket_retain(stream->last);
    sim_context_retain(context);
    if (last)
        sim_ticket_wait(last);
    sim_ticket_release(last);
    return sim_context_release(context);
}

/* Work of streams that are destroyed, and of graphs, counts too. */
CUresult sim_stream_wait_context(struct sim_context *context)
{
    sim_context_retain(context);
    sim_ticket_wait_all(context);
    return sim_context_release(context);
}

/* What the legacy stream's wait includes: all blocking streams. */
static struct sim_trail *trail_of(struct sim_stream *stream)
{
    struct sim_context *context = stream->object.context;
    struct sim_trail *all = sim_trail_retain(stream->trail);
    if (stream != context->legacy)
        return all;
    for (struct sim_object *object = sim_object_first(SIM_STREAM); object; object = object->next)
        if (blocks(object, context))
            sim_trail_join(&all, context, ((struct sim_stream *)object)->trail);
    return all;
}

CUresult sim_stream_synchronize(struct sim_stream *stream)
{
    struct sim_trail *trail = trail_of(stream);
    CUresult result = sim_stream_wait_all(stream);
    sim_trail_settle(trail);
    sim_trail_release(trail);
    return result;
}

CUresult sim_stream_synchronize_context(struct sim_context *context)
{
    sim_context_retain(context);
    sim_ticket_wait_all(context);
    sim_trail_settle_context(context);
    return sim_context_release(context);
}

int sim_stream_priority_greatest(void)
{
    return sim_config.cuda >= 11000 ? -5 : -1;
}

int sim_stream_priority_clamp(int priority)
{
    int greatest = sim_stream_priority_greatest();
    return priority > SIM_PRIORITY_LEAST ? SIM_PRIORITY_LEAST
           : priority < greatest         ? greatest
                                         : priority;
}

/* --- Streams as the program makes, asks and waits for them --- */

CUresult sim_cuStreamCreateWithPriority(CUstream *phStream, unsigned int flags, int priority)
{
    SIM_FIND(struct sim_context *, context, sim_current(&context));
    SIM_REFUSE(!phStream || flags > CU_STREAM_NON_BLOCKING);
    SIM_FIND(struct sim_stream *, stream,
             sim_stream_make(context, flags, sim_stream_priority_clamp(priority), &stream));
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
    if (result == CUDA_ERROR_INVALID_HANDLE)
        return result;
    sim_stream_end(
        &stream->object); /* also where the context has an error, which is the answer then */
    return result;
}

CUresult sim_cuStreamQuery(CUstream hStream)
{
    SIM_FIND(struct sim_stream *, stream, sim_stream(hStream, &stream));
    SIM_TRY(sim_capture_refuse(stream));
    SIM_TRY(sim_capture_unsafe());
    return sim_stream_idle(stream) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult sim_cuStreamSynchronize(CUstream hStream)
{
    SIM_FIND(struct sim_stream *, stream, sim_stream(hStream, &stream));
    SIM_TRY(sim_capture_refuse(stream));
    SIM_TRY(sim_capture_unsafe());
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
