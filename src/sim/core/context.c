/* SPDX-License-Identifier: MIT */
/* Contexts as every room knows them: memory that is kept while somebody refers to it. What a
 * context does at its beginning and end is in context/life.c. */
#include "core/core.h"

static struct sim_known *known; /* each handle once: a new context may have an old one's */
static size_t count, capacity;

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

struct sim_known *sim_context_known(CUcontext handle)
{
    for (size_t i = 0; i < count; i++)
        if ((CUcontext)known[i].context == handle)
            return &known[i];
    return NULL;
}

CUresult sim_context_remember(struct sim_context *context)
{
    struct sim_known *place = sim_context_known((CUcontext)context);
    if (!place) {
        SIM_MADE(struct sim_known *, grown, sim_grown(known, count, &capacity, sizeof *grown));
        known = grown;
        place = &known[count++];
    }
    *place = (struct sim_known){context, context->serial, context->device};
    return CUDA_SUCCESS;
}

struct sim_peer **sim_context_peer(const struct sim_context *from, const struct sim_context *to)
{
    struct sim_peer **link = (struct sim_peer **)&from->peers;
    while (*link && (*link)->serial != to->serial)
        link = &(*link)->next;
    return link;
}
