/* SPDX-License-Identifier: MIT */
/* What a ticket is, for ticket.c and late.c alone. */
#ifndef CUSHIM_SIM_QUEUE_TICKET_H
#define CUSHIM_SIM_QUEUE_TICKET_H

#include "queue/queue.h"

struct sim_edge { /* "this ticket waits for that one" */
    struct sim_ticket *waiter;
    struct sim_edge *next;
};

struct sim_ticket {
    unsigned references;
    unsigned missing; /* tickets that must be done before */
    atomic_uint done; /* threads that wait look at it without the lock */
    bool always;
    bool claimed;        /* a thread waits to run it itself */
    unsigned char asked; /* how often, before it was wanted */
    uint64_t due_ns;     /* when it begins by itself; 0: it is wanted, and not late */
    char *origin;        /* the call that queued it, as sim_callers_of_call has it, or NULL */
    uint64_t end_ns;
    CUresult result;
    struct sim_context *context;
    sim_work *work;
    void *user;
    void (*drop)(void *);
    struct sim_edge *waiters;
    struct sim_ticket *next_ready;
    unsigned char chain; /* of those of which each waits for the one before; 0: not known */
    bool followed;       /* by one of its chain */
    bool branches;       /* from one that was followed */
    uint64_t number;
    const void *maker;                /* an address of the thread that made it */
    struct sim_ticket *older, *newer; /* that are not done */
};

/* --- late.c --- */
extern pthread_cond_t sim_late_changed; /* a ticket is wanted */
/* It is made now, and `before` was last. What it must follow, or NULL. */
struct sim_ticket *sim_late_make(struct sim_ticket *ticket, struct sim_ticket *before);
/* The ticket is wanted, or with NULL all of a context, or of all if that is NULL, and what comes
 * before; `newest` begins the list of those that are not done. */
void sim_late_want(const struct sim_ticket *one, const struct sim_context *context,
                   struct sim_ticket *newest);
/* The ticket waits for `before`; it starts, and `newest` begins the list as above. */
void sim_late_chain(struct sim_ticket *ticket, struct sim_ticket *before);
void sim_late_start(struct sim_ticket *ticket, const struct sim_ticket *newest);
/* Until the ticket is wanted, or due, or *stop. Gives the lock up meanwhile. */
void sim_late_linger(const struct sim_ticket *ticket, const bool *stop);
/* Under `reorder`, of the tickets that are ready, the one that begins now, by its link; NULL: none
 * does within *wait_ns. `busy`: one runs. */
struct sim_ticket **sim_late_turn(struct sim_ticket **ready, bool busy, struct sim_ticket *newest,
                                  uint64_t *wait_ns);
extern bool sim_late_hurries;
/* A call ends that made tickets up to this number: the last early one is done. */
void sim_late_hurry(const struct sim_ticket *last, uint64_t number, pthread_cond_t *done_changed);
/* A wait ends: all up to the ticket of this number is done, too. */
void sim_late_settle(struct sim_ticket *const *oldest, uint64_t newest,
                     pthread_cond_t *done_changed);
/* Its work begins: what it reads of the host's may be other than it was. */
void sim_late_compare(const struct sim_ticket *ticket);
/* The process ends: the log has what did not begin. */
void sim_late_end(void);

#endif
