/* SPDX-License-Identifier: MIT */
/* What a ticket is, for ticket.c and late.c alone. */
#ifndef CUSHIM_SIM_QUEUE_TICKET_H
#define CUSHIM_SIM_QUEUE_TICKET_H

#include "queue/queue.h"

struct sim_edge { /* "this ticket waits for that one" */
    struct sim_ticket *waiter;
    struct sim_edge *next;
};

struct sim_use { /* of memory */
    uint64_t begin, end;
    bool writes, copies; /* or fills */
};

struct sim_ticket {
    unsigned references;
    unsigned missing; /* tickets that must be done before */
    atomic_uint done; /* threads that wait look at it without the lock */
    bool always;
    bool claimed;         /* a thread waits to run it itself */
    unsigned char asked;  /* how often, before it was wanted */
    uint64_t due_ns;      /* when it begins by itself; 0: it is wanted, and not late */
    char *origin;         /* the call that queued it, as sim_callers_of_call has it, or NULL */
    struct sim_use *uses; /* or NULL */
    uint64_t end_ns;
    CUresult result;
    struct sim_context *context;
    sim_work *work;
    void *user;
    void (*drop)(void *);
    struct sim_edge *waiters;
    struct sim_ticket *next_ready;
    uint64_t mark; /* of a walk */
    uint64_t number;
    struct sim_ticket *older, *newer; /* that are not done */
};

/* --- late.c --- */
extern pthread_cond_t sim_late_changed; /* a ticket is wanted */
uint64_t sim_late_due(void);            /* of a ticket that is made now */
/* The ticket is wanted, and all before it; `newest` begins the list of those that are not done. */
void sim_late_want(struct sim_ticket *ticket, struct sim_ticket *newest);
/* All of a context; NULL: all that there are. */
void sim_late_want_all(const struct sim_context *context, struct sim_ticket *newest);
/* The program asks whether it is done. */
void sim_late_ask(struct sim_ticket *ticket, struct sim_ticket *newest);
/* Until the ticket is wanted, or due, or *stop. Gives the lock up meanwhile. */
void sim_late_linger(const struct sim_ticket *ticket, const bool *stop);
/* Under `reorder`, of the tickets that are ready, the one that begins now, by its link; NULL: none
 * does within *wait_ns. `busy`: one runs. */
struct sim_ticket **sim_late_turn(struct sim_ticket **ready, bool busy, struct sim_ticket *newest,
                                  uint64_t *wait_ns);
/* The process ends: the log has what is not done. */
void sim_late_end(const struct sim_ticket *newest);

#endif
