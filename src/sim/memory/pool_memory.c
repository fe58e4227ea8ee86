/* SPDX-License-Identifier: MIT */
/* Memory from pools, allocated and freed in the order of a stream. It is there from the call on;
 * freed, it goes when the stream comes to it, but counts as free from the call on, as for the next
 * allocation in the same stream. */
#include "memory/memory.h"

static enum sim_memory kind_of(const struct sim_pool *pool)
{
    return pool->type == CU_MEM_ALLOCATION_TYPE_MANAGED         ? SIM_MEMORY_POOL_MANAGED
           : pool->location.type == CU_MEM_LOCATION_TYPE_DEVICE ? SIM_MEMORY_POOL
                                                                : SIM_MEMORY_POOL_HOST;
}

static CUresult from_pool(CUdeviceptr_v2 *dptr, size_t size, struct sim_pool *pool,
                          struct sim_stream *stream)
{
    struct sim_context *context = stream->object.context;
    /* What the host has room for, nobody knows: such a pool's block is no larger than a device's
     * could be. */
    SIM_FAIL(OUT_OF_MEMORY,
             size > sim_memory_left(context->device) ||
                 (pool->most && (size > pool->most || pool->used > pool->most - size)));
    SIM_FIND(struct sim_allocation *, allocation,
             sim_memory_allocate(context, kind_of(pool), size, 0, 0, &allocation));
    if (allocation->kind == SIM_MEMORY_POOL) /* as an H200 tells */
        allocation->synchronous = pool->is_default;
    if (!sim_pool_reaches_device(pool))
        sim_range_protect(allocation, false, false);
    sim_pool_usage_take(pool, size);
    allocation->owner = pool;
    *dptr = allocation->address;
    return CUDA_SUCCESS;
}

static CUresult capture(CUdeviceptr_v2 *dptr, size_t size, const struct sim_pool *pool,
                        struct sim_stream *stream)
{
    CUDA_MEM_ALLOC_NODE_PARAMS_v2 params = {.bytesize = size};
    params.poolProps.allocType = pool->type;
    params.poolProps.location = pool->location;
    SIM_TRY(sim_capture_hooks->allocate(stream, &params));
    *dptr = params.dptr;
    return CUDA_SUCCESS;
}

static CUresult allocate(CUdeviceptr_v2 *dptr, size_t size, bool named, CUmemoryPool handle,
                         CUstream stream_handle)
{
    SIM_FIND(struct sim_stream *, stream, sim_stream(stream_handle, &stream));
    struct sim_pool *pool =
        named ? sim_pool_own(handle) : sim_pool_current(stream->object.context->device);
    if (!dptr || !pool)
        return dptr && !named ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_INVALID_VALUE;
    *dptr = 0;
    if (size == 0)
        return CUDA_SUCCESS;
    if (stream->capture)
        return capture(dptr, size, pool, stream);
    SIM_TRY(sim_capture_unsafe());
    return from_pool(dptr, size, pool, stream);
}

SIM_ENTRY(cuMemAllocAsync, allocate(dptr, bytesize, false, NULL, hStream))
SIM_ENTRY(cuMemAllocFromPoolAsync, allocate(dptr, bytesize, true, pool, hStream))

void sim_pool_memory_forget(struct sim_allocation *allocation, struct sim_stream *stream)
{
    allocation->ending = true;
    allocation->freed = sim_callers_of_call();
    if (!sim_range_is_pooled(allocation->kind))
        return;
    if (allocation->kind == SIM_MEMORY_POOL && !allocation->foreign)
        sim_memory_give(allocation->device, allocation->size);
    sim_pool_usage_give(allocation->owner, allocation->size, stream);
    allocation->owner = NULL;
}

void sim_pool_memory_protect(const struct sim_pool *pool)
{
    bool reached = sim_pool_reaches_device(pool);
    struct sim_allocation *allocation;
    for (uint64_t below = UINT64_MAX; (allocation = sim_range_before(below));
         below = allocation->address)
        if (sim_range_is_pooled(allocation->kind) && allocation->owner == pool)
            sim_range_protect(allocation, reached, reached);
}

/* Memory that a stream will free. A stream of another context may come to it when the memory has
 * gone with its own. */
struct block {
    uint64_t address, id;
};

static void drop_now(void *user)
{
    const struct block *block = user;
    sim_memory_free_if_there(block->address, block->id);
    free(user);
}

/* The pages of another process's pool stay where they are: what any stream was given before still
 * reaches them. */
static void drop(void *user)
{
    const struct block *block = user;
    const struct sim_allocation *now = sim_range_find(block->address);
    if (now && now->foreign)
        sim_idle_call(drop_now, user);
    else
        drop_now(user);
}

CUresult sim_cuMemFreeAsync(CUdeviceptr_v2 dptr, CUstream hStream)
{
    SIM_FIND(struct sim_stream *, stream, sim_stream(hStream, &stream));
    if (!dptr)
        return CUDA_SUCCESS;
    if (stream->capture)
        return sim_capture_hooks->free(stream, dptr);
    SIM_TRY(sim_capture_unsafe());
    if (sim_memory_freed_by_graph(dptr))
        return CUDA_SUCCESS;
    struct sim_allocation *allocation = sim_memory_at(dptr);
    SIM_REFUSE(!allocation ||
               (!sim_range_is_pooled(allocation->kind) && allocation->kind != SIM_MEMORY_DEVICE));
    SIM_NEW(struct block, block);
    *block = (struct block){allocation->address, allocation->id};
    sim_pool_memory_forget(allocation, stream);
    struct sim_item item = {.params.type = SIM_ITEM_NO_NODE, .user = block, .drop = drop};
    return sim_stream_submit(stream, &item);
}

CUresult sim_pool_memory_free(struct sim_allocation *allocation)
{
    uint64_t address = allocation->address, id = allocation->id;
    CUresult result = CUDA_SUCCESS;
    sim_pool_memory_forget(allocation, NULL);
    if (allocation->context)
        result = sim_stream_wait_context(allocation->context);
    else /* imported without a context: work of any may use it */
        sim_ticket_wait_all(NULL);
    sim_memory_free_if_there(address, id);
    return result;
}
