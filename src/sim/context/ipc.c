/* SPDX-License-Identifier: MIT */
/* Memory and events of other processes, by handles of 64 bytes. */
#include "context/context.h"

CUresult sim_cuIpcGetMemHandle(CUipcMemHandle_v1 *pHandle, CUdeviceptr_v2 dptr)
{
    SIM_TRY(sim_current_check());
    const struct sim_allocation *found = sim_range_find(dptr);
    SIM_REFUSE(!pHandle || !found || found->ending || found->kind != SIM_MEMORY_DEVICE);
    SIM_FIND(struct sim_shared_token, token, sim_share_block(found->address, NULL, &token));
    memset(pHandle, 0, sizeof *pHandle);
    memcpy(pHandle, &token, sizeof token);
    return CUDA_SUCCESS;
}

SIM_BEHAVIOUR(cuIpcOpenMemHandle_v2)
{
    struct sim_shared_token token;
    SIM_REFUSE(!pdptr || !(Flags & CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    SIM_FIND(struct sim_context *, context, sim_current(&context));
    memcpy(&token, &handle, sizeof token);
    SIM_REFUSE(!sim_shared_is_token(&token, SIM_SHARED_MEMORY));
    SIM_FAIL(INVALID_CONTEXT, sim_shared_is_own(&token));
    struct sim_allocation *found = sim_share_known(SIM_MEMORY_OPENED, &token.id);
    if (found && found->context != context) /* one context of a process may have it */
        return CUDA_ERROR_INVALID_HANDLE;
    if (!found) {
        struct sim_shared *shared = sim_shared_open(&token);
        if (!shared) /* its owner has freed it, or has ended */
            return sim_shared_has_maker(&token) ? CUDA_ERROR_INVALID_VALUE
                                                : CUDA_ERROR_INVALID_HANDLE;
        SIM_TRY(sim_share_open(context, SIM_MEMORY_OPENED, shared, &found));
    }
    found->synchronous = false;
    found->opened++;
    *pdptr = found->address;
    return CUDA_SUCCESS;
}

CUresult sim_cuIpcCloseMemHandle(CUdeviceptr_v2 dptr)
{
    SIM_TRY(sim_current_check());
    struct sim_allocation *found = sim_memory_at(dptr);
    SIM_REFUSE(!found || found->kind != SIM_MEMORY_OPENED);
    return --found->opened ? CUDA_SUCCESS : sim_memory_free_after_work(found);
}

CUresult sim_cuIpcGetEventHandle(CUipcEventHandle_v1 *pHandle, CUevent event)
{
    SIM_TRY(sim_current_check());
    struct sim_event *found = sim_object(SIM_EVENT, event);
    SIM_REFUSE(!pHandle || !event);
    SIM_FAIL(INVALID_HANDLE, !found || !(found->flags & CU_EVENT_INTERPROCESS));
    SIM_FIND(struct sim_shared_token, token, sim_event_shared_begin(found, &token));
    memset(pHandle, 0, sizeof *pHandle);
    memcpy(pHandle, &token, sizeof token);
    return CUDA_SUCCESS;
}

CUresult sim_cuIpcOpenEventHandle(CUevent *phEvent, CUipcEventHandle_v1 handle)
{
    struct sim_shared_token token;
    SIM_REFUSE(!phEvent);
    SIM_FIND(struct sim_context *, context, sim_current(&context));
    memcpy(&token, &handle, sizeof token);
    SIM_FAIL(MAP_FAILED, !sim_shared_is_token(&token, SIM_SHARED_EVENT));
    SIM_FAIL(INVALID_CONTEXT, sim_shared_is_own(&token));
    struct sim_event_shared *shared = sim_event_shared_open(&token);
    SIM_FAIL(MAP_FAILED, !shared);
    struct sim_event *event = sim_event_open(context, shared);
    if (!event) {
        sim_event_shared_release(shared);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *phEvent = (CUevent)event;
    return CUDA_SUCCESS;
}

/* Memory and semaphores of other APIs: there are none to share with. What is wrong with a request
 * itself is told first, and a kind that Linux does not have is wrong. */
SIM_BEHAVIOUR(cuImportExternalMemory)
{
    const CUDA_EXTERNAL_MEMORY_HANDLE_DESC_v1 *d = memHandleDesc;
    const unsigned known = CUDA_EXTERNAL_MEMORY_DEDICATED;
    SIM_TRY(sim_current_check());
    SIM_REFUSE(!extMem_out || !d || d->type != CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD ||
               d->size == 0 || d->flags & ~known || d->reserved[0]);
    return SIM_LACK_cuImportExternalMemory_any;
}

SIM_BEHAVIOUR(cuImportExternalSemaphore)
{
    const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC_v1 *d = semHandleDesc;
    SIM_TRY(sim_current_check());
    SIM_REFUSE(!extSem_out || !d || d->flags || d->reserved[0] ||
               !(d->type == CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD ||
                 (d->type == CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD &&
                  d->handle.fd >= 0)));
    return SIM_LACK_cuImportExternalSemaphore_any;
}
