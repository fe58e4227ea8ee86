/* SPDX-License-Identifier: MIT */
/* Streams: whose work must follow whose. */
#ifndef CUSHIM_SIM_QUEUE_STREAM_H
#define CUSHIM_SIM_QUEUE_STREAM_H

#include "core/object.h"
#include "queue/ticket.h"

struct sim_capture;
struct sim_context;
struct sim_item;
struct sim_ticket;
struct sim_trail;

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
/* Queue `work` after what the stream's rules say it must follow; `user` is released with `drop`
 * (may be NULL) when the work is done or given up. */
CUresult sim_stream_enqueue(struct sim_stream *stream, sim_work *work, void *user,
                            void (*drop)(void *));
/* The same, and wait for it; the code of the work. */
CUresult sim_stream_enqueue_wait(struct sim_stream *stream, sim_work *work, void *user);
struct sim_ticket *sim_stream_last(struct sim_stream *stream); /* retained; NULL: nothing queued */
/* Make the stream's next work follow `ticket` too. */
void sim_stream_follow(struct sim_stream *stream, struct sim_ticket *ticket);
CUresult sim_stream_wait_all(struct sim_stream *stream);
CUresult sim_stream_wait_context(struct sim_context *context);
/* The same for a program that asked to wait: pools learn what is free by now. */
CUresult sim_stream_synchronize(struct sim_stream *stream);
CUresult sim_stream_synchronize_context(struct sim_context *context);
CUresult sim_stream_make_legacy(struct sim_context *context);
CUresult sim_stream_make(struct sim_context *context, unsigned flags, int priority,
                         struct sim_stream **stream);
void sim_stream_free(struct sim_stream *stream); /* its work goes on */
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
void sim_stream_end(struct sim_object *object); /* with its context */
/* Queue the item in the stream, or capture it. The item is used up, in failure too. */
CUresult sim_stream_submit(struct sim_stream *stream, const struct sim_item *item);
/* The same and wait for it: its own code. In a capture: STREAM_CAPTURE_UNSUPPORTED, and the capture
 * is spoilt. */
CUresult sim_stream_submit_wait(struct sim_stream *stream, const struct sim_item *item);

#endif
