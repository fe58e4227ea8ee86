/* SPDX-License-Identifier: MIT */
/* What the files about streams share. */
#ifndef CUSHIM_SIM_STREAM_H
#define CUSHIM_SIM_STREAM_H

#include "queue.h"
#include "work.h"

/* --- stream.c --- */
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
CUresult sim_submit_always(struct sim_stream *stream, sim_work *work, void *user,
                           void (*drop)(void *));

/* --- context_green.c --- */
CUgreenCtx sim_green_of(const struct sim_context *context); /* NULL: the context is a whole one */

/* --- stream_value.c --- */
/* The operations, checked and copied. */
CUresult sim_batch_prepare(struct sim_context *context, unsigned count,
                           const CUstreamBatchMemOpParams *params, unsigned flags,
                           struct sim_item *item);

/* --- callback.c --- */
CUresult sim_host_prepare(CUhostFn function, void *data, struct sim_item *item);

#endif
