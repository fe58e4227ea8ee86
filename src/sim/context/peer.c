/* SPDX-License-Identifier: MIT */
/* Which contexts may use the memory of which others on other devices. */
#include "context/context.h"

static void forget(struct sim_peer **link)
{
    struct sim_peer *peer = *link;
    *link = peer->next;
    free(peer);
}

void sim_peer_forget(struct sim_context *context)
{
    while (context->peers)
        forget(&context->peers);
    SIM_EACH (struct sim_context, other, SIM_CONTEXT) {
        struct sim_peer **link = sim_context_peer(other, context);
        if (*link)
            forget(link);
    }
}

static CUresult both(CUcontext handle, struct sim_context **context, struct sim_context **peer)
{
    SIM_TRY(sim_current(context));
    *peer = sim_object(SIM_CONTEXT, handle);
    if (*peer)
        return CUDA_SUCCESS;
    return handle ? CUDA_ERROR_CONTEXT_IS_DESTROYED : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult sim_cuCtxEnablePeerAccess(CUcontext peerContext, unsigned int Flags)
{
    struct sim_context *context, *peer;
    SIM_TRY(both(peerContext, &context, &peer));
    SIM_REFUSE(Flags != 0);
    SIM_FAIL(PEER_ACCESS_UNSUPPORTED, !sim_device_reaches(context->device, peer->device));
    SIM_FAIL(PEER_ACCESS_ALREADY_ENABLED, *sim_context_peer(context, peer));
    SIM_NEW(struct sim_peer, made);
    *made = (struct sim_peer){peer->serial, context->peers};
    context->peers = made;
    return CUDA_SUCCESS;
}

CUresult sim_cuCtxDisablePeerAccess(CUcontext peerContext)
{
    struct sim_context *context, *peer;
    SIM_TRY(both(peerContext, &context, &peer));
    struct sim_peer **link = sim_context_peer(context, peer);
    SIM_FAIL(PEER_ACCESS_NOT_ENABLED, !*link);
    forget(link);
    return CUDA_SUCCESS;
}
