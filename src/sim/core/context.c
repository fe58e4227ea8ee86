/* SPDX-License-Identifier: MIT */
/* Contexts as every room knows them: memory that is kept while somebody refers to it. What a
 * context does at its beginning and end is in context/life.c. */
#include "core/core.h"

static struct sim_context *kept; /* primary ones */
static struct {
    struct known {
        const void *handle;
        struct sim_device *device;
    } * items;
    size_t count, capacity;
} known; /* each handle once: a new context may have an old one's */

struct sim_context *sim_context_retain(struct sim_context *context)
{
    context->references++;
    return context;
}

CUresult sim_context_release(struct sim_context *context)
{
    CUresult state = context->sticky;
    if (--context->references == 0)
        free(context);
    return state;
}

void sim_context_keep(struct sim_context *context)
{
    context->next_kept = kept;
    kept = context;
}

struct sim_context *sim_context_kept(CUcontext handle)
{
    struct sim_context *context = kept;
    while (context && (CUcontext)context != handle)
        context = context->next_kept;
    return context;
}

struct sim_device *sim_context_was_on(const void *handle)
{
    for (size_t i = 0; i < known.count; i++)
        if (known.items[i].handle == handle)
            return known.items[i].device;
    return NULL;
}

/* Without memory it is forgotten. */
void sim_context_remember(const struct sim_context *context)
{
    for (size_t i = 0; i < known.count; i++)
        if (known.items[i].handle == context) {
            known.items[i].device = context->device;
            return;
        }
    struct known *items = sim_grown(known.items, known.count, &known.capacity, sizeof *items);
    if (!items)
        return;
    known.items = items;
    known.items[known.count++] = (struct known){context, context->device};
}

struct sim_peer **sim_context_peer(const struct sim_context *from, const struct sim_context *to)
{
    struct sim_peer **link = (struct sim_peer **)&from->peers;
    while (*link && (*link)->serial != to->serial)
        link = &(*link)->next;
    return link;
}

bool sim_context_reaches(const struct sim_context *from, const struct sim_context *to)
{
    return from->device == to->device || *sim_context_peer(from, to);
}
