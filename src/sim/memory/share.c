/* SPDX-License-Identifier: MIT */
#include "memory/memory.h"

#include "ptx/ptx.h"

int32_t sim_share_number(const struct sim_device *device)
{
    return device ? device->physical : -1;
}

struct sim_device *sim_share_device(const struct sim_shared *shared)
{
    for (int i = 0; i < sim_device_count(); i++)
        if (sim_device_all[i].physical == shared->head.device)
            return &sim_device_all[i];
    return NULL;
}

CUresult sim_share_refuse(struct sim_shared *shared, CUresult code)
{
    sim_shared_close(shared);
    return code;
}

bool sim_share_lies(const struct sim_shared *shared, CUmemLocation location)
{
    if (location.type == CU_MEM_LOCATION_TYPE_DEVICE)
        return sim_share_device(shared);
    return shared->head.device < 0 && (location.type == CU_MEM_LOCATION_TYPE_HOST ||
                                       location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA);
}

/* The bytes are in the file from now on: at the same place where they have pages of their own. */
static CUresult move_block(struct sim_allocation *allocation, struct sim_shared *shared)
{
    SIM_MADE(char *, bytes, sim_shared_map(shared, allocation->mapped ? allocation->host : NULL));
    ptx_memory_end(allocation->host); /* others may write them now */
    if (!allocation->mapped)
        sim_memory_move(allocation, bytes);
    allocation->shared = shared;
    return CUDA_SUCCESS;
}

CUresult sim_share_block(uint64_t address, const struct sim_shared_id *owner,
                         struct sim_shared_token *token)
{
    struct sim_allocation *allocation = sim_memory_at(address);
    if (!allocation->shared) {
        uint64_t id = allocation->id;
        sim_ticket_wait_all(NULL);
        allocation = sim_memory_at(address);
        SIM_REFUSE(!allocation || allocation->id != id);
    }
    if (sim_export_has(allocation->host, allocation->usable))
        return SIM_LACK_cuMemGetHandleForAddressRange_overlap;
    if (!allocation->shared) {
        struct sim_shared_head head = {.kind = owner ? SIM_SHARED_POOLED : SIM_SHARED_MEMORY,
                                       .size = allocation->usable,
                                       .device = sim_share_number(allocation->device)};
        uint64_t size = allocation->size;
        memcpy(head.more, &size, sizeof size);
        if (owner)
            head.owner = *owner;
        struct sim_shared *shared = sim_shared_make(&head, allocation->host);
        if (!shared || move_block(allocation, shared) != CUDA_SUCCESS)
            return sim_share_refuse(shared, CUDA_ERROR_OUT_OF_MEMORY);
    }
    *token = sim_shared_token(allocation->shared);
    return CUDA_SUCCESS;
}

struct sim_allocation *sim_share_known(enum sim_memory kind, const struct sim_shared_id *file)
{
    struct sim_allocation *found;
    for (uint64_t below = UINT64_MAX; (found = sim_range_before(below)); below = found->address)
        if (found->kind == kind && !found->ending && found->foreign &&
            sim_shared_equal(&found->shared->head.id, file))
            return found;
    return NULL;
}

CUresult sim_share_open(struct sim_context *context, enum sim_memory kind,
                        struct sim_shared *shared, struct sim_allocation **allocation)
{
    uint64_t size;
    struct sim_device *device = sim_share_device(shared);
    bool on_host = kind == SIM_MEMORY_POOL_HOST && shared->head.device < 0;
    char *bytes = (device || on_host) && shared->head.size ? sim_shared_map(shared, NULL) : NULL;
    CUresult result =
        bytes ? sim_memory_open(context, device, kind, bytes, (size_t)shared->head.size, allocation)
              : CUDA_ERROR_INVALID_VALUE;
    if (result != CUDA_SUCCESS) {
        if (bytes)
            sim_memory_bytes_free(bytes, (size_t)shared->head.size, true);
        sim_shared_close(shared);
        return result;
    }
    memcpy(&size, shared->head.more, sizeof size);
    if (size && size <= shared->head.size)
        (*allocation)->size = (size_t)size;
    (*allocation)->shared = shared;
    return CUDA_SUCCESS;
}
