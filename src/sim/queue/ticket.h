/* SPDX-License-Identifier: MIT */
/* Work in order: a ticket is one piece of work, done or not. Every function is called with the
 * driver's lock held. */
#ifndef CUSHIM_SIM_QUEUE_TICKET_H
#define CUSHIM_SIM_QUEUE_TICKET_H

#include "sim.h"

struct sim_context;
struct sim_ticket;

typedef CUresult sim_work(void *user); /* without the lock; a failure is sticky in the context */

/* A ticket that is not started: the caller's reference. Until it is done it keeps the context's
 * memory; without a context it belongs to the process. NULL: no memory. `drop` gets `user` with the
 * lock held, once. */
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
uint64_t sim_ticket_end_ns(const struct sim_ticket *ticket); /* when it was done */
void sim_ticket_wait(struct sim_ticket *ticket);             /* gives the lock up meanwhile */
void sim_ticket_start(struct sim_ticket *ticket); /* runs as soon as nothing is missing */
/* Instead of sim_ticket_start: the calling thread waits until nothing is missing, and runs it. */
void sim_ticket_run_here(struct sim_ticket *ticket);
CUresult sim_ticket_result(const struct sim_ticket *ticket);
void sim_ticket_wait_none(void); /* until the process has no ticket that is not done */
void sim_ticket_wait_all(const struct sim_context *context); /* until no ticket of it is left */
/* Tickets are numbered from 1 in the order in which they are made, those of destroyed streams and
 * of no stream among them. */
uint64_t sim_ticket_newest(void);     /* number of the last one made */
uint64_t sim_ticket_done_up_to(void); /* all up to this number are done */
bool sim_ticket_error_is_sticky(CUresult result);
void sim_ticket_prepare(void); /* before the lock is first taken: what fork needs */
void sim_ticket_unload(void);  /* sim_unload's part; without the lock */

#endif
