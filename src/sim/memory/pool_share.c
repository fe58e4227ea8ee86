/* SPDX-License-Identifier: MIT */
/* Pools of other processes. The pool goes as a file, which says which one it is; a block of it as
 * 64 bytes, which name the file of the block. */
#include "memory/memory.h"

/* The file that stands for the pool; NULL: no memory, or no more files. */
static struct sim_shared *shared_of(struct sim_pool *pool)
{
    if (!pool->shared) {
        bool on_device = pool->location.type == CU_MEM_LOCATION_TYPE_DEVICE;
        const struct sim_device *device = on_device ? sim_device(pool->location.id) : NULL;
        struct sim_shared_head head = {.kind = SIM_SHARED_POOL, .device = sim_share_number(device)};
        memcpy(head.more, &pool->location, sizeof pool->location);
        pool->shared = sim_shared_make(&head, NULL);
    }
    return pool->shared;
}

SIM_BEHAVIOUR(cuMemPoolExportToShareableHandle)
{
    struct sim_pool *found = sim_pool_own(pool);
    SIM_REFUSE(!handle_out || !found || flags || handleType == CU_MEM_HANDLE_TYPE_NONE ||
               found->handle_types != handleType);
    const struct sim_shared *shared = shared_of(found);
    int file = shared ? sim_shared_give(shared, true) : -1;
    SIM_FAIL(OPERATING_SYSTEM, file < 0);
    memcpy(handle_out, &file, sizeof file);
    return CUDA_SUCCESS;
}

/* The pool that the process has imported from that file, or NULL. */
static struct sim_pool *imported(const struct sim_shared *shared)
{
    for (struct sim_object *object = sim_object_first(SIM_POOL); object; object = object->next) {
        struct sim_pool *pool = (struct sim_pool *)object;
        if (pool->imported && sim_shared_equal(&pool->shared->head.id, &shared->head.id))
            return pool;
    }
    return NULL;
}

SIM_BEHAVIOUR(cuMemPoolImportFromShareableHandle)
{
    CUmemLocation place;
    SIM_REFUSE(!pool_out || handleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR || flags);
    struct sim_shared *shared = sim_shared_take((int)(intptr_t)handle);
    SIM_FAIL(UNKNOWN, !shared);
    if (shared->head.kind != SIM_SHARED_POOL)
        return sim_share_refuse(shared, CUDA_ERROR_NOT_SUPPORTED);
    const struct sim_device *device = sim_share_device(shared);
    memcpy(&place, shared->head.more, sizeof place);
    if (!sim_share_lies(shared, place))
        return sim_share_refuse(shared, CUDA_ERROR_INVALID_DEVICE);
    struct sim_pool *known = imported(shared);
    if (known) {
        sim_shared_close(shared);
        *pool_out = (CUmemoryPool)known;
        return CUDA_SUCCESS;
    }
    if (device)
        place = (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device->ordinal};
    struct sim_pool *pool = sim_pool_make(CU_MEM_ALLOCATION_TYPE_PINNED, place);
    if (!pool)
        return sim_share_refuse(shared, CUDA_ERROR_OUT_OF_MEMORY);
    pool->handle_types = handleType;
    pool->imported = true;
    pool->shared = shared;
    *pool_out = (CUmemoryPool)pool;
    return CUDA_SUCCESS;
}

CUresult sim_cuMemPoolExportPointer(CUmemPoolPtrExportData_v1 *shareData_out, CUdeviceptr_v2 ptr)
{
    const struct sim_allocation *found = sim_memory_at(ptr);
    SIM_REFUSE(!shareData_out || !found || !sim_range_is_pooled(found->kind) || found->foreign ||
               ((struct sim_pool *)found->owner)->handle_types == CU_MEM_HANDLE_TYPE_NONE);
    const struct sim_shared *pool = shared_of(found->owner);
    SIM_FAIL(OPERATING_SYSTEM, !pool);
    struct sim_shared_id owner = pool->head.id; /* what follows may wait */
    SIM_FIND(struct sim_shared_token, token, sim_share_block(ptr, &owner, &token));
    memset(shareData_out, 0, sizeof *shareData_out);
    memcpy(shareData_out, &token, sizeof token);
    return CUDA_SUCCESS;
}

SIM_BEHAVIOUR(cuMemPoolImportPointer)
{
    struct sim_context *context = NULL; /* none is needed: the block is the pool's */
    struct sim_shared_token token;
    struct sim_pool *found = sim_pool(pool);
    SIM_REFUSE(!ptr_out || !found || !found->imported || !shareData);
    CUresult result = sim_current(&context);
    if (result != CUDA_SUCCESS && result != CUDA_ERROR_INVALID_CONTEXT)
        return result;
    memcpy(&token, shareData, sizeof token);
    struct sim_shared *shared =
        sim_shared_is_token(&token, SIM_SHARED_POOLED) ? sim_shared_open(&token) : NULL;
    if (!shared || !sim_shared_equal(&shared->head.owner, &found->shared->head.id))
        return sim_share_refuse(shared, CUDA_ERROR_INVALID_VALUE);
    enum sim_memory kind = found->location.type == CU_MEM_LOCATION_TYPE_DEVICE
                               ? SIM_MEMORY_POOL
                               : SIM_MEMORY_POOL_HOST;
    struct sim_allocation *allocation = sim_share_known(kind, &shared->head.id);
    if (allocation) {
        sim_shared_close(shared);
        *ptr_out = allocation->address;
        return CUDA_SUCCESS;
    }
    SIM_TRY(sim_share_open(context, kind, shared, &allocation));
    allocation->owner = found;
    allocation->synchronous = false;
    sim_pool_usage_take(found, allocation->size);
    *ptr_out = allocation->address;
    return CUDA_SUCCESS;
}
