/* SPDX-License-Identifier: MIT */
/* Events, as streams, graphs and captures use them. */
#ifndef CUSHIM_SIM_QUEUE_EVENT_H
#define CUSHIM_SIM_QUEUE_EVENT_H

#include "core/object.h"
#include "sim.h"

struct sim_event_shared;
struct sim_mark;
struct sim_stream;
struct sim_ticket;
struct sim_trail;

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
CUresult sim_event_record(struct sim_event *event, struct sim_stream *stream);

/* An event of another process; `shared` becomes its own. NULL: no memory. */
struct sim_event *sim_event_open(struct sim_context *context, struct sim_event_shared *shared);

void sim_event_end(struct sim_object *object); /* with its context */

#endif
