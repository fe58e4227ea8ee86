/* SPDX-License-Identifier: MIT */
/* What pools say of themselves, what can be set, and who may use their memory. */
#include <string.h>

#include "device/device.h"
#include "memory/memory.h"

/* The setting behind an attribute that can be set; NULL: none. Switches are words, others 64 bits.
 */
static uint64_t *setting(struct sim_pool *pool, CUmemPool_attribute attribute, bool *is_switch)
{
    *is_switch = attribute <= CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES;
    switch (attribute) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
        return &pool->follow_events;
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
        return &pool->opportunistic;
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
        return &pool->internal;
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
        return &pool->threshold;
    default:
        return NULL;
    }
}

/* Later drivers tell more, and it cannot be set. */
static CUresult later(const struct sim_pool *pool, CUmemPool_attribute attribute, void *value)
{
    int word = 0;
    if (sim_config.cuda < 13020)
        return CUDA_ERROR_INVALID_VALUE;
    switch (attribute) {
    case CU_MEMPOOL_ATTR_ALLOCATION_TYPE:
        word = (int)pool->type;
        break;
    case CU_MEMPOOL_ATTR_EXPORT_HANDLE_TYPES:
        word = (int)pool->handle_types;
        break;
    case CU_MEMPOOL_ATTR_LOCATION_ID:
        word = pool->location.id;
        break;
    case CU_MEMPOOL_ATTR_LOCATION_TYPE:
        word = (int)pool->location.type;
        break;
    case CU_MEMPOOL_ATTR_MAX_POOL_SIZE:
        memcpy(value, &pool->most, sizeof pool->most);
        return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_HW_DECOMPRESS_ENABLED:
        break;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
    memcpy(value, &word, sizeof word);
    return CUDA_SUCCESS;
}

CUresult sim_cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void *value)
{
    struct sim_pool *found = sim_pool_own(pool);
    bool is_switch;
    uint64_t whole;
    if (!found || !value)
        return CUDA_ERROR_INVALID_VALUE;
    const uint64_t *set = setting(found, attr, &is_switch);
    switch (attr) {
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
        whole = found->reserved;
        break;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
        whole = found->reserved_high;
        break;
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
        whole = found->used;
        break;
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
        whole = found->used_high;
        break;
    default:
        if (!set)
            return later(found, attr, value);
        whole = *set;
        break;
    }
    int word = (int)whole;
    memcpy(value, set && is_switch ? (const void *)&word : &whole,
           set && is_switch ? sizeof word : sizeof whole);
    return CUDA_SUCCESS;
}

CUresult sim_cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void *value)
{
    struct sim_pool *found = sim_pool_own(pool);
    bool is_switch;
    uint64_t whole;
    int word;
    if (!found || !value)
        return CUDA_ERROR_INVALID_VALUE;
    uint64_t *set = setting(found, attr, &is_switch);
    if (set && is_switch) {
        memcpy(&word, value, sizeof word);
        *set = word != 0;
        return CUDA_SUCCESS;
    }
    if (!set && attr != CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH && attr != CU_MEMPOOL_ATTR_USED_MEM_HIGH)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(&whole, value, sizeof whole);
    if (set) {
        *set = whole;
        return CUDA_SUCCESS;
    }
    if (whole != 0) /* a high-water mark can be reset alone */
        return CUDA_ERROR_INVALID_VALUE;
    if (attr == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH)
        found->reserved_high = found->reserved;
    else
        found->used_high = found->used;
    return CUDA_SUCCESS;
}

/* --- Who may use its memory --- */

static bool is_on_host(CUmemLocation location)
{
    return location.type == CU_MEM_LOCATION_TYPE_HOST ||
           location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA;
}

static CUresult set_device(struct sim_pool *pool, int id, bool on)
{
    const struct sim_device *device = sim_device(id);
    bool own = pool->type == CU_MEM_ALLOCATION_TYPE_PINNED &&
               pool->location.type == CU_MEM_LOCATION_TYPE_DEVICE && pool->location.id == id;
    if (!device || (own && !on)) /* a device keeps its own */
        return CUDA_ERROR_INVALID_DEVICE;
    uint64_t bit = UINT64_C(1) << id;
    pool->readwrite = on ? pool->readwrite | bit : pool->readwrite & ~bit;
    sim_pool_memory_protect(pool);
    return CUDA_SUCCESS;
}

static CUresult set_host(struct sim_pool *pool, bool on)
{
    if (pool->type == CU_MEM_ALLOCATION_TYPE_PINNED && !on) /* the host keeps its own */
        return CUDA_ERROR_NOT_SUPPORTED;
    pool->host = on;
    return CUDA_SUCCESS;
}

static CUresult set_access(struct sim_pool *pool, const CUmemAccessDesc_v1 *map)
{
    bool on = map->flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    if (!on && map->flags != CU_MEM_ACCESS_FLAGS_PROT_NONE)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (map->location.type == CU_MEM_LOCATION_TYPE_DEVICE)
        return set_device(pool, map->location.id, on);
    if (sim_config.cuda < 13000)
        return CUDA_ERROR_INVALID_VALUE;
    if (pool->type == CU_MEM_ALLOCATION_TYPE_PINNED && !is_on_host(pool->location))
        return CUDA_ERROR_NOT_SUPPORTED; /* the host never reaches a device's memory */
    return is_on_host(map->location) ? set_host(pool, on) : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc_v1 *map, size_t count)
{
    struct sim_pool *found = sim_pool(pool);
    if (!found || (!map && count))
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; i++)
        SIM_TRY(set_access(found, map + i));
    return CUDA_SUCCESS;
}

CUresult sim_cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool memPool,
                                CUmemLocation_v1 *location)
{
    const struct sim_pool *found = sim_pool(memPool);
    if (!flags || !found || !location)
        return CUDA_ERROR_INVALID_VALUE;
    bool on_host = is_on_host(*location) && sim_config.cuda >= 13000;
    if (!on_host && (location->type != CU_MEM_LOCATION_TYPE_DEVICE || !sim_device(location->id)))
        return CUDA_ERROR_INVALID_VALUE;
    bool on = on_host ? found->host : found->readwrite >> location->id & 1;
    *flags = on ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_NONE;
    return CUDA_SUCCESS;
}
