/* SPDX-License-Identifier: MIT */
/* Work in order. Every function is called with the driver's lock held, if nothing else is said. */
#ifndef CUSHIM_SIM_QUEUE_QUEUE_H
#define CUSHIM_SIM_QUEUE_QUEUE_H

#include "device/device.h"

struct sim_item;
struct sim_mark;

/* --- callback.c --- */
/* A host function as work. */
CUresult sim_callback_prepare(CUhostFn function, void *data, struct sim_item *item);

/* --- capture.c --- Captures, as the rooms below them ask: a stream that is being captured makes
 * nodes of its work. The graphs are above and do it; a table of theirs is here once there was a
 * capture. */
struct sim_capture_hooks {
    /* Work of a capturing stream becomes a node. The item is used up. */
    CUresult (*take)(struct sim_stream *stream, const struct sim_item *item);
    /* Stream-ordered memory in a capturing stream: a node of the graph. `params->dptr` is set. */
    CUresult (*allocate)(struct sim_stream *stream, CUDA_MEM_ALLOC_NODE_PARAMS_v2 *params);
    CUresult (*free)(struct sim_stream *stream, CUdeviceptr address);
    CUresult (*refuse)(struct sim_stream *stream);
    CUresult (*spoil)(struct sim_stream *stream, CUresult result);
    CUresult (*legacy)(struct sim_stream *stream);
    CUresult (*unsafe)(void);
    CUresult (*refuse_context)(struct sim_context *context);
    void (*stream_gone)(struct sim_stream *stream);
    /* Events: the place that the capturing stream has come to. */
    CUresult (*mark_make)(struct sim_stream *stream, struct sim_mark **mark);
    /* The stream's next work follows that place; one that is not capturing joins the capture. */
    CUresult (*mark_follow)(struct sim_stream *stream, const struct sim_mark *mark);
    /* The event was asked or waited for as if it were recorded: its capture is spoilt. */
    CUresult (*mark_spoil)(const struct sim_mark *mark);
    void (*mark_free)(struct sim_mark *mark);
};
extern const struct sim_capture_hooks *sim_capture_hooks; /* NULL: nothing was ever captured */

/* Before work that waits: fails in a capturing stream and spoils its capture; as does work of the
 * legacy stream that a capturing stream would have to wait for. */
CUresult sim_capture_refuse(struct sim_stream *stream);
/* Before work of a stream that is not captured: the latter rule alone. */
CUresult sim_capture_legacy(struct sim_stream *stream);
/* For an entry whose work could not even be prepared: `result`, or what a capture makes of it,
 * which such work spoils: return result == CUDA_SUCCESS ? sim_stream_submit(stream, &item) :
 * sim_capture_refused(stream, result);
 */
CUresult sim_capture_refused(struct sim_stream *stream, CUresult result);
/* A wait for all work of a context in which streams are being captured. */
CUresult sim_capture_refuse_context(struct sim_context *context);
/* Behind the checks of arguments, in each entry that a capture forbids: tests/device/captures.c has
 * them. CUDA_SUCCESS, or STREAM_CAPTURE_UNSUPPORTED where a capture that this thread may spoil is
 * running (global or thread-local mode): that capture is then invalid. */
CUresult sim_capture_unsafe(void);
void sim_capture_mark_free(struct sim_mark *mark); /* NULL: nothing */

/* --- event.c --- Events, as streams, graphs and captures use them. */
struct sim_event {
    struct sim_object object;
    unsigned flags;
    struct sim_ticket *ticket;       /* of the latest record; NULL: never recorded */
    struct sim_trail *trail;         /* what was given back before it */
    struct sim_event_shared *shared; /* with other processes; NULL: it is not */
    struct sim_mark *mark;           /* where it was recorded in a capture; NULL: it was not */
};

/* The event now stands for this ticket, which is retained. */
void sim_event_set(struct sim_event *event, struct sim_ticket *ticket);

/* Record it after all of a context's work; `own`: only an event of that context. */
CUresult sim_event_record_all(CUcontext ctx, CUevent handle, bool own);

/* An event of another process; `shared` becomes its own. NULL: no memory. */
struct sim_event *sim_event_open(struct sim_context *context, struct sim_event_shared *shared);

void sim_event_end(struct sim_object *object);

/* --- event_shared.c --- Events of several processes. Records are counted in a page that all of
 * them have: how many there were, and which are done. */
/* From here on other processes may open the event. */
CUresult sim_event_shared_begin(struct sim_event *event, struct sim_shared_token *token);
/* An event of another process. NULL: there is none any more, or no memory. */
struct sim_event_shared *sim_event_shared_open(const struct sim_shared_token *token);
void sim_event_shared_release(struct sim_event_shared *shared); /* NULL: nothing */
/* A record: what `ticket` stands for, and when it is done all processes learn it. The ticket that
 * the event has from now on, retained. */
struct sim_ticket *sim_event_shared_record(struct sim_event *event, struct sim_ticket *ticket);
/* Whether the latest record is another process's: then it is asked and waited for here. */
bool sim_event_shared_is_foreign(const struct sim_event *event);
bool sim_event_shared_done(const struct sim_event *event);
/* What a wait of the context's for any event waits for, retained; NULL: it is done. */
CUresult sim_event_shared_ticket(const struct sim_event *event, struct sim_context *context,
                                 struct sim_ticket **ticket);

/* --- late.c --- */
/* From the piece of work `from` on, of those that are made from now on, work begins as late as a
 * device may begin it: when somebody waits for it or for what comes after, asks again and again, or
 * after a time; with `reorders` also one at a time, in another order than it was queued, of the
 * chain `last` at the end, but for the first one, which runs before all from the piece `before` on
 * (0: none). What is queued before `from` is done before the call returns. Without `reorders`, a
 * `last` that is not 0 has all work follow what was queued before, as in one stream. */
void sim_late_begin(bool late, bool reorders, uint64_t from, uint64_t before, uint64_t last);
extern bool sim_late_reorders;
/* The ticket, not yet started, is for this work. */
void sim_late_note(struct sim_ticket *ticket, const struct sim_item *item);

/* --- ticket.c --- Work in order: a ticket is one piece of work, done or not. Every function is
 * called with the driver's lock held. */
typedef CUresult sim_work(void *user); /* without the lock; a failure is sticky in the context */

/* A ticket that is not started: the caller's reference. Until it is done it keeps the context's
 * memory; without a context it belongs to the process. NULL: no memory. `drop` gets `user` with the
 * lock held, once, in failure too. */
struct sim_ticket *sim_ticket_make(struct sim_context *context, sim_work *work, void *user,
                                   void (*drop)(void *));
/* `ticket`, not yet started, waits for `before` (NULL or done: for nothing). */
CUresult sim_ticket_after(struct sim_ticket *ticket, struct sim_ticket *before);
/* Its work runs even where the context has an error: a callback learns of it. */
void sim_ticket_always(struct sim_ticket *ticket);
/* Instead of the work, nothing: the ticket is still to be started, because others may wait for it.
 * `user` is dropped now. */
void sim_ticket_cancel(struct sim_ticket *ticket);
struct sim_ticket *sim_ticket_retain(struct sim_ticket *ticket);
void sim_ticket_release(struct sim_ticket *ticket);
bool sim_ticket_done(const struct sim_ticket *ticket);
bool sim_ticket_ask(struct sim_ticket *ticket);              /* the same, of a program that asks */
uint64_t sim_ticket_end_ns(const struct sim_ticket *ticket); /* when it was done */
void sim_ticket_wait(struct sim_ticket *ticket);             /* gives the lock up meanwhile */
void sim_ticket_hurry(void); /* the thread's call ends: what it queued is done, if it is early */
void sim_ticket_start(struct sim_ticket *ticket); /* runs as soon as nothing is missing */
void sim_ticket_begin(struct sim_ticket *ticket); /* and the caller's reference is given up */
/* Instead of sim_ticket_start: the calling thread waits until nothing is missing, and runs it. */
CUresult sim_ticket_run_here(struct sim_ticket *ticket); /* its own code */
/* For work that waits for other work: that may begin. Without the lock. */
void sim_ticket_yield(void);
/* Until no ticket of the context is left; NULL: none at all. */
void sim_ticket_wait_all(const struct sim_context *context);
/* Tickets are numbered from 1 in the order in which they are made, those of destroyed streams and
 * of no stream among them. */
uint64_t sim_ticket_newest(void);     /* number of the last one made */
uint64_t sim_ticket_done_up_to(void); /* all up to this number are done */
bool sim_ticket_error_is_sticky(CUresult result);
void sim_ticket_prepare(void); /* before the lock is first taken: what fork needs */
void sim_ticket_unload(void);  /* sim_start_unload's part; without the lock */

/* Work on its way to a device. Every entry that enqueues something makes an item and
 * hands it to sim_stream_submit: a stream runs it in order, or, where the stream is being captured,
 * it becomes a node of a graph, from which the same item is run at every launch of that graph.
 *
 *     struct sim_item item;
 *     CUresult result = sim_stream(handle, &stream);
 *     if (result == CUDA_SUCCESS)
 *         result = sim_copy_box_prepare(stream->object.context, &copy, &item);
 *     return result == CUDA_SUCCESS ? sim_stream_submit(stream, &item) : result;
 */
struct sim_item {
    /* What a graph shows of it: params.type and the member of the union that belongs to the type.
     * Pointers inside point into `user` and live as long as the item. An item with the type
     * SIM_ITEM_NO_NODE cannot be captured. */
    CUgraphNodeParams params;
    const CUlaunchAttribute *attributes; /* of a kernel; they live as long as the item */
    unsigned attribute_count;
    /* Without the driver's lock. A graph runs an item more than once, never twice at a time. NULL:
     * nothing to run. A failure that sim_ticket_error_is_sticky says yes to stays in the context.
     */
    sim_work *run;
    void *user;
    void (*drop)(void *user); /* with the driver's lock held, once; may be NULL */
    const void *reads;        /* of the host's memory, when it runs; NULL: nothing */
    size_t read_size;
};
#define SIM_ITEM_NO_NODE ((CUgraphNodeType)-1)

static inline void sim_item_drop(const struct sim_item *item)
{
    if (item->drop)
        item->drop(item->user);
}

/* --- stream.c --- Streams: whose work must follow whose. */
struct sim_stream {
    struct sim_object object;
    unsigned flags;
    int priority;
    uint64_t id;
    struct sim_ticket *last;     /* of the work queued in it */
    struct sim_trail *trail;     /* what was given back in it */
    struct sim_capture *capture; /* NULL: not capturing */
    uint64_t thread;             /* of a per-thread stream: its host thread */
    struct sim_stream *next_per_thread;
    CUaccessPolicyWindow window; /* attributes that can be set */
    CUsynchronizationPolicy sync_policy;
    CUlaunchMemSyncDomainMap domain_map;
    CUlaunchMemSyncDomain domain;
};
/* The stream that a handle means for this call (NULL, CU_STREAM_LEGACY, CU_STREAM_PER_THREAD or a
 * live one) in the current context. */
CUresult sim_stream(CUstream handle, struct sim_stream **stream);
/* Make the stream's next work follow `ticket` too. */
void sim_stream_follow(struct sim_stream *stream, struct sim_ticket *ticket);
CUresult sim_stream_wait_context(struct sim_context *context);
/* The same for a program that asked to wait: pools learn what is free by now. */
CUresult sim_stream_synchronize(struct sim_stream *stream);
CUresult sim_stream_synchronize_context(struct sim_context *context);
CUresult sim_stream_make(struct sim_context *context, unsigned flags, int priority,
                         struct sim_stream **stream);
void sim_stream_end(struct sim_object *object); /* its work goes on */
/* Whether the stream's rules let the next work begin now. */
bool sim_stream_idle(struct sim_stream *stream);
/* `ticket`, not yet started, follows what the stream's next work has to follow. */
CUresult sim_stream_order(struct sim_ticket *ticket, struct sim_stream *stream);
/* `ticket` is the stream's last from now on. */
void sim_stream_append(struct sim_stream *stream, struct sim_ticket *ticket);
/* An empty piece of work at the stream's end: retained for the caller. */
CUresult sim_stream_mark(struct sim_stream *stream, struct sim_ticket **ticket);
/* A host function that runs even in a context with an error (callback.c). */
CUresult sim_stream_submit_always(struct sim_stream *stream, sim_work *work, void *user,
                                  void (*drop)(void *));
/* Queue the item in the stream, or capture it. The item is used up, in failure too. */
CUresult sim_stream_submit(struct sim_stream *stream, const struct sim_item *item);
/* The same and wait for it: its own code. In a capture: STREAM_CAPTURE_UNSUPPORTED, and the capture
 * is spoilt. */
CUresult sim_stream_submit_wait(struct sim_stream *stream, const struct sim_item *item);
/* Priorities of streams: 0 and below. */
#define SIM_PRIORITY_LEAST 0
int sim_stream_priority_greatest(void);
int sim_stream_priority_clamp(int priority);

/* --- trail.c --- Trails: what was given back in the order of streams, before a point of one. A
 * device's pool learns of it when the program waits for such a point: for the stream, for an event
 * recorded behind, or for a stream that waited for that event. A query, or a wait for other work,
 * tells it nothing. */
struct sim_trail; /* NULL: nothing was given back */

/* What learns of it: `owner` and `size` as sim_trail_add got them. */
extern void (*sim_trail_learn)(void *owner, size_t size);
struct sim_trail *sim_trail_retain(struct sim_trail *trail);
void sim_trail_release(struct sim_trail *trail); /* the last one settles it */
/* `owner` gets `size` back behind the point *trail, which moves on. */
void sim_trail_add(struct sim_trail **trail, const struct sim_context *context, void *owner,
                   size_t size);
/* The point *trail follows `other` from now on. */
void sim_trail_join(struct sim_trail **trail, const struct sim_context *context,
                    struct sim_trail *other);
/* The program has waited for that point, or for all work of a context. */
void sim_trail_settle(struct sim_trail *trail);
void sim_trail_settle_context(const struct sim_context *context);

#endif
