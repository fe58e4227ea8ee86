/* SPDX-License-Identifier: MIT */
/* Which contexts may use the memory of which others on other devices. */
#include <stdlib.h>

#include "context.h"
#include "work.h"

struct sim_peer {
    uint64_t serial; /* of the context whose memory may be used */
    struct sim_peer *next;
};

static struct sim_peer **find(const struct sim_context *from, const struct sim_context *to)
{
    struct sim_peer **link = (struct sim_peer **)&from->peers;
    while (*link && (*link)->serial != to->serial)
        link = &(*link)->next;
    return link;
}

bool sim_peer_enabled(const struct sim_context *from, const struct sim_context *to)
{
    return from->device == to->device || *find(from, to);
}

static void forget(struct sim_peer **link)
{
    struct sim_peer *peer = *link;
    *link = peer->next;
    free(peer);
}

void sim_peers_forget(struct sim_context *context)
{
    while (context->peers)
        forget(&context->peers);
    for (struct sim_object *object = sim_objects(SIM_CONTEXT); object; object = object->next) {
        struct sim_peer **link = find((struct sim_context *)object, context);
        if (*link)
            forget(link);
    }
}

/* Every simulated device reaches every other. */
bool sim_devices_reach(const struct sim_device *from, const struct sim_device *to)
{
    return from != to;
}

static CUresult both(CUcontext handle, struct sim_context **context, struct sim_context **peer)
{
    CUresult result = sim_current(context);
    if (result != CUDA_SUCCESS)
        return result;
    *peer = sim_object(SIM_CONTEXT, handle);
    return *peer ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult sim_cuCtxEnablePeerAccess(CUcontext peerContext, unsigned int Flags)
{
    struct sim_context *context, *peer;
    CUresult result = both(peerContext, &context, &peer);
    if (result != CUDA_SUCCESS)
        return result;
    if (Flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (!sim_devices_reach(context->device, peer->device))
        return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
    if (*find(context, peer))
        return CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
    struct sim_peer *made = malloc(sizeof *made);
    if (!made)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *made = (struct sim_peer){peer->serial, context->peers};
    context->peers = made;
    return CUDA_SUCCESS;
}

CUresult sim_cuCtxDisablePeerAccess(CUcontext peerContext)
{
    struct sim_context *context, *peer;
    CUresult result = both(peerContext, &context, &peer);
    if (result != CUDA_SUCCESS)
        return result;
    struct sim_peer **link = find(context, peer);
    if (!*link)
        return CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
    forget(link);
    return CUDA_SUCCESS;
}
