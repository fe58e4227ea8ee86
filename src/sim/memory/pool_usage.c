/* SPDX-License-Identifier: MIT */
/* How much memory a pool has, and how much of it is in use. A pool takes whole grains. It gives
 * them back above its threshold, when the program has waited for the stream in which memory was
 * freed; what was freed and not waited for stays, whatever is asked of the pool. As an H200 did. */
#include "memory/memory.h"

#include "core/core.h"
#include "queue/queue.h"

/* SIZE_MAX passes 64 bits and is nothing then, as on an H200. */
static uint64_t rounded_up(uint64_t size)
{
    return (size + SIM_POOL_GRAIN - 1) / SIM_POOL_GRAIN * SIM_POOL_GRAIN;
}

bool sim_pool_usage_fits(const struct sim_pool *pool, size_t size)
{
    return !pool->most || (size <= pool->most && pool->used <= pool->most - size);
}

void sim_pool_usage_take(struct sim_pool *pool, size_t size)
{
    pool->used += size;
    pool->live++;
    if (pool->reserved < rounded_up(pool->used))
        pool->reserved = rounded_up(pool->used);
    if (pool->used_high < pool->used)
        pool->used_high = pool->used;
    if (pool->reserved_high < pool->reserved)
        pool->reserved_high = pool->reserved;
}

/* Down to `keep`, as far as what is used and held allows. */
static void shrink(struct sim_pool *pool, uint64_t keep)
{
    uint64_t least = rounded_up(pool->used + pool->held);
    if (keep < least)
        keep = least;
    if (pool->reserved > keep)
        pool->reserved = keep;
}

static void shrink_to_threshold(struct sim_pool *pool)
{
    shrink(pool, pool->threshold / SIM_POOL_GRAIN * SIM_POOL_GRAIN);
    sim_pool_drop(pool);
}

static void take_off(struct sim_pool *pool, size_t size)
{
    sim_expire_renew(pool); /* its memory keeps it alive */
    pool->used -= size;
    pool->live--;
}

void sim_pool_usage_give(struct sim_pool *pool, size_t size)
{
    take_off(pool, size);
    shrink_to_threshold(pool);
}

static void learn(void *owner, size_t size)
{
    struct sim_pool *pool = owner;
    sim_expire_renew(pool); /* what it holds keeps it alive */
    pool->held -= size;
    shrink_to_threshold(pool);
}

void sim_pool_usage_give_in(struct sim_pool *pool, size_t size, struct sim_stream *stream)
{
    take_off(pool, size);
    pool->held += size;
    sim_trail_hook(learn);
    sim_trail_add(&stream->trail, stream->object.context, pool, size);
}

CUresult sim_cuMemPoolTrimTo(CUmemoryPool pool, size_t minBytesToKeep)
{
    struct sim_pool *found = sim_pool_own(pool);
    if (!found)
        return CUDA_ERROR_INVALID_VALUE;
    if (minBytesToKeep < found->reserved)
        shrink(found, rounded_up(minBytesToKeep));
    return CUDA_SUCCESS;
}
