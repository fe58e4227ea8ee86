/* SPDX-License-Identifier: MIT */
/* What is freed is gone for the program at once, but a kernel that runs may still hold its host
 * addresses, rightly or not. It is released when the work that was queued by then is done. */
#include "memory/memory.h"

struct deferred {
    void (*release)(void *);
    void *data;
    struct deferred *next;
    uint64_t ticket; /* the newest when it was freed: released when all up to it are done */
};

static struct deferred *first, **last = &first; /* in the order of their tickets */

void sim_idle_release(void)
{
    uint64_t done = sim_ticket_done_up_to();
    while (first && first->ticket <= done) {
        struct deferred *item = first;
        first = item->next;
        if (!first)
            last = &first;
        item->release(item->data);
        free(item);
    }
}

void sim_idle_call(void (*release)(void *), void *data)
{
    uint64_t ticket = sim_ticket_newest();
    sim_idle_release();
    if (ticket <= sim_ticket_done_up_to()) {
        release(data);
        return;
    }
    struct deferred *item = malloc(sizeof *item);
    if (!item)
        return; /* without memory to remember it, it is never released */
    *item = (struct deferred){release, data, NULL, ticket};
    *last = item;
    last = &item->next;
}
