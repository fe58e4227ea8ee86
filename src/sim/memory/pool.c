/* SPDX-License-Identifier: MIT */
/* Pools: made, destroyed, and which one a device uses. */
#include "memory/pool.h"

#include <stdlib.h>

#include "core/config.h"
#include "core/object.h"
#include "device/device.h"

static struct sim_pool *defaults[SIM_MAX_DEVICES], *current[SIM_MAX_DEVICES];

static struct sim_pool *make(struct sim_device *device)
{
    struct sim_pool *pool = calloc(1, sizeof *pool);
    if (!pool)
        return NULL;
    pool->device = device;
    pool->follow_events = pool->opportunistic = pool->internal = 1;
    sim_object_add(&pool->object, SIM_POOL, NULL);
    return pool;
}

struct sim_pool *sim_pool(CUmemoryPool handle)
{
    return sim_object(SIM_POOL, handle);
}

struct sim_pool *sim_pool_default(struct sim_device *device)
{
    struct sim_pool **pool = &defaults[device->ordinal];
    if (!*pool && (*pool = make(device)))
        (*pool)->is_default = true;
    return *pool;
}

struct sim_pool *sim_pool_current(struct sim_device *device)
{
    struct sim_pool *set = current[device->ordinal];
    return set ? set : sim_pool_default(device);
}

static uint64_t rounded(uint64_t size)
{
    return (size + SIM_POOL_GRAIN - 1) / SIM_POOL_GRAIN * SIM_POOL_GRAIN;
}

bool sim_pool_has_room(const struct sim_pool *pool, size_t size)
{
    return !pool->most || (size <= pool->most && pool->used <= pool->most - size);
}

void sim_pool_take(struct sim_pool *pool, size_t size)
{
    pool->used += size;
    pool->live++;
    if (pool->reserved < rounded(pool->used))
        pool->reserved = rounded(pool->used);
    if (pool->used_high < pool->used)
        pool->used_high = pool->used;
    if (pool->reserved_high < pool->reserved)
        pool->reserved_high = pool->reserved;
}

static void shrink(struct sim_pool *pool, uint64_t keep)
{
    keep = rounded(keep); /* SIZE_MAX passes 64 bits and is nothing then, as on an H200 */
    if (keep < rounded(pool->used))
        keep = rounded(pool->used);
    if (pool->reserved > keep)
        pool->reserved -= (pool->reserved - keep) / SIM_POOL_GRAIN * SIM_POOL_GRAIN;
}

void sim_pool_give(struct sim_pool *pool, size_t size)
{
    pool->used -= size;
    pool->live--;
    if (pool->reserved > pool->threshold)
        shrink(pool, pool->threshold);
    if (pool->live == 0 && pool->destroyed)
        free(pool);
}

/* Devices that a pool can be on: 13.0's drivers refuse everything else in this way. */
static CUresult find_device(const CUmemLocation *location, CUmemAllocationType type,
                            struct sim_device **device)
{
    if (!location || type != CU_MEM_ALLOCATION_TYPE_PINNED ||
        location->type != CU_MEM_LOCATION_TYPE_DEVICE)
        return CUDA_ERROR_INVALID_VALUE;
    *device = sim_device(location->id);
    return *device ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps_v1 *poolProps)
{
    struct sim_device *device;
    if (!pool || !poolProps)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = find_device(&poolProps->location, poolProps->allocType, &device);
    if (result != CUDA_SUCCESS)
        return result;
    if (poolProps->handleTypes != CU_MEM_HANDLE_TYPE_NONE &&
        poolProps->handleTypes != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return CUDA_ERROR_INVALID_VALUE;
    struct sim_pool *made = make(device);
    if (!made)
        return CUDA_ERROR_OUT_OF_MEMORY;
    made->handle_types = poolProps->handleTypes;
    if (sim_config.cuda >= 12020)
        made->most = poolProps->maxSize;
    *pool = (CUmemoryPool)made;
    return CUDA_SUCCESS;
}

CUresult sim_cuMemPoolDestroy(CUmemoryPool pool)
{
    struct sim_pool *found = sim_pool(pool);
    if (!found || found->is_default)
        return CUDA_ERROR_INVALID_VALUE;
    if (current[found->device->ordinal] == found)
        current[found->device->ordinal] = NULL;
    sim_object_remove(&found->object);
    found->destroyed = true;
    if (found->live == 0)
        free(found);
    return CUDA_SUCCESS;
}

static CUresult answer(CUmemoryPool *out, struct sim_pool *pool)
{
    if (!pool)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *out = (CUmemoryPool)pool;
    return CUDA_SUCCESS;
}

CUresult sim_cuDeviceGetDefaultMemPool(CUmemoryPool *pool_out, CUdevice_v1 dev)
{
    struct sim_device *device = sim_device(dev);
    if (!pool_out)
        return CUDA_ERROR_INVALID_VALUE;
    return device ? answer(pool_out, sim_pool_default(device)) : CUDA_ERROR_INVALID_DEVICE;
}

CUresult sim_cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice_v1 dev)
{
    struct sim_device *device = sim_device(dev);
    if (!pool)
        return CUDA_ERROR_INVALID_VALUE;
    return device ? answer(pool, sim_pool_current(device)) : CUDA_ERROR_INVALID_DEVICE;
}

CUresult sim_cuDeviceSetMemPool(CUdevice_v1 dev, CUmemoryPool pool)
{
    struct sim_device *device = sim_device(dev);
    struct sim_pool *found = sim_pool(pool);
    if (!device || !found || found->device != device)
        return CUDA_ERROR_INVALID_VALUE;
    current[dev] = found;
    return CUDA_SUCCESS;
}

CUresult sim_cuMemGetDefaultMemPool(CUmemoryPool *pool_out, CUmemLocation *location,
                                    CUmemAllocationType type)
{
    struct sim_device *device;
    CUresult result = find_device(location, type, &device);
    if (result != CUDA_SUCCESS || !pool_out)
        return CUDA_ERROR_INVALID_VALUE;
    return answer(pool_out, sim_pool_default(device));
}

CUresult sim_cuMemGetMemPool(CUmemoryPool *pool_out, CUmemLocation *location,
                             CUmemAllocationType type)
{
    struct sim_device *device;
    CUresult result = find_device(location, type, &device);
    if (result != CUDA_SUCCESS || !pool_out)
        return CUDA_ERROR_INVALID_VALUE;
    return answer(pool_out, sim_pool_current(device));
}

CUresult sim_cuMemSetMemPool(CUmemLocation *location, CUmemAllocationType type, CUmemoryPool pool)
{
    struct sim_device *device;
    CUresult result = find_device(location, type, &device);
    return result == CUDA_SUCCESS ? sim_cuDeviceSetMemPool(device->ordinal, pool) : result;
}

CUresult sim_cuMemPoolTrimTo(CUmemoryPool pool, size_t minBytesToKeep)
{
    struct sim_pool *found = sim_pool(pool);
    if (!found)
        return CUDA_ERROR_INVALID_VALUE;
    if (minBytesToKeep < found->reserved)
        shrink(found, minBytesToKeep);
    return CUDA_SUCCESS;
}
