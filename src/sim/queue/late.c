/* SPDX-License-Identifier: MIT */
/* The fault rule `late`: work begins as late as a device may begin it, so that what a program does
 * not wait for is not done. A thread has each ticket whose turn it is, and lingers. */
#include "queue/ticket.h"

/* Long enough for what a program does before it reads what it did not wait for. One that waits by
 * other means, such as a callback, loses no more than 32 times that: each time makes the next one
 * shorter, down to the least. */
#define PATIENCE_NS UINT64_C(100000000)
#define LEAST_NS UINT64_C(1000000)
#define QUESTIONS 8 /* of a loop; who asks once may only flush the queue */

bool sim_late;
pthread_cond_t sim_late_changed = PTHREAD_COND_INITIALIZER;
static uint64_t patience_ns = PATIENCE_NS;

uint64_t sim_late_due(void)
{
    return sim_clock_ns() + patience_ns;
}

static bool is_before_wanted(const struct sim_ticket *ticket)
{
    for (const struct sim_edge *edge = ticket->waiters; edge; edge = edge->next)
        if (edge->waiter->due_ns == 0)
            return true;
    return false;
}

/* What comes before others is mostly older, but for the end of a graph. */
static void spread(struct sim_ticket *newest)
{
    for (bool more = true; more;) {
        more = false;
        for (struct sim_ticket *ticket = newest; ticket; ticket = ticket->older)
            if (ticket->due_ns && is_before_wanted(ticket)) {
                ticket->due_ns = 0;
                more = true;
            }
    }
    pthread_cond_broadcast(&sim_late_changed);
}

void sim_late_want(struct sim_ticket *ticket, struct sim_ticket *newest)
{
    if (ticket->due_ns == 0)
        return;
    ticket->due_ns = 0;
    spread(newest);
}

void sim_late_want_all(const struct sim_context *context, struct sim_ticket *newest)
{
    if (!sim_late)
        return;
    for (struct sim_ticket *ticket = newest; ticket; ticket = ticket->older)
        if (!context || ticket->context == context)
            ticket->due_ns = 0;
    spread(newest);
}

void sim_late_ask(struct sim_ticket *ticket, struct sim_ticket *newest)
{
    if (ticket->due_ns && ++ticket->asked == QUESTIONS)
        sim_late_want(ticket, newest);
}

void sim_late_linger(const struct sim_ticket *ticket, const bool *stop)
{
    for (uint64_t now; !*stop && (now = sim_clock_ns()) < ticket->due_ns;) {
        sim_lock_wait_ns(&sim_late_changed, ticket->due_ns - now);
        if (ticket->due_ns && sim_clock_ns() >= ticket->due_ns && patience_ns > LEAST_NS)
            patience_ns -= patience_ns / 32;
    }
}
