/* SPDX-License-Identifier: MIT */
/* Events of several processes. Records are counted in a page that all of them have: how many there
 * were, and which are done. */
#ifndef CUSHIM_SIM_QUEUE_EVENT_SHARED_H
#define CUSHIM_SIM_QUEUE_EVENT_SHARED_H

#include "core/shared.h"
#include "sim.h"

struct sim_context;
struct sim_event;
struct sim_event_shared;
struct sim_stream;
struct sim_ticket;

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
CUresult sim_event_shared_synchronize(struct sim_event *event);
/* The stream's next work, or a ticket that is not started, comes after that record. */
CUresult sim_event_shared_follow(const struct sim_event *event, struct sim_stream *stream);
CUresult sim_event_shared_before(const struct sim_event *event, struct sim_context *context,
                                 struct sim_ticket *after);

#endif
