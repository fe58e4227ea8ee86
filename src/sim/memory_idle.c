/* SPDX-License-Identifier: MIT */
/* What is freed is gone for the program at once, but a kernel that runs may still hold its host
 * addresses, rightly or not. It is released when the work that was queued by then is done. */
#include <stdlib.h>

#include "memory.h"

struct deferred {
    void (*release)(void *);
    void *data;
    struct deferred *next;
    size_t count; /* tickets that are not done */
    struct sim_ticket *tickets[];
};

static struct deferred *first, **last = &first;
static size_t waiting, sweep_at = 64; /* all are looked at when so many wait */

static bool is_over(struct deferred *item)
{
    while (item->count && sim_ticket_done(item->tickets[item->count - 1]))
        sim_ticket_release(item->tickets[--item->count]);
    return item->count == 0;
}

void sim_release_idle(void)
{
    struct deferred **link = &first;
    bool all = waiting >= sweep_at;
    while (*link) {
        struct deferred *item = *link;
        if (!is_over(item)) {
            if (!all)
                break; /* the oldest is first */
            link = &item->next;
            continue;
        }
        *link = item->next;
        if (!*link)
            last = link;
        waiting--;
        item->release(item->data);
        free(item);
    }
    if (all)
        sweep_at = 2 * waiting + 64;
}

static bool is_busy(const struct sim_object *object)
{
    const struct sim_stream *stream = (const struct sim_stream *)object;
    return stream->last && !sim_ticket_done(stream->last);
}

void sim_when_idle(void (*release)(void *), void *data)
{
    size_t count = 0;
    struct sim_object *object;
    sim_release_idle();
    for (object = sim_objects(SIM_STREAM); object; object = object->next)
        count += is_busy(object);
    struct deferred *item =
        count ? malloc(sizeof *item + count * sizeof(struct sim_ticket *)) : NULL;
    if (!item) {
        if (count == 0)
            release(data); /* without memory to remember it, it is never released */
        return;
    }
    *item = (struct deferred){.release = release, .data = data};
    for (object = sim_objects(SIM_STREAM); object; object = object->next)
        if (is_busy(object))
            item->tickets[item->count++] = sim_ticket_last((struct sim_stream *)object);
    *last = item;
    last = &item->next;
    waiting++;
}
