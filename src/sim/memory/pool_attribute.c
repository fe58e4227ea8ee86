/* SPDX-License-Identifier: MIT */
/* What pools say of themselves, what can be set, and who may use their memory. */
#include "memory/memory.h"

static const struct trait {
    int since;
    size_t at, size;
    enum { TOLD, SET, MARK } kind;
    size_t now; /* of a mark */
} traits[] = {
#define MEMBER(name) offsetof(struct sim_pool, name), sizeof(((struct sim_pool *)0)->name)
#define POOL(name, since, kind, member, now)                                                       \
    [CU_MEMPOOL_ATTR_##name] = {since, MEMBER(member), kind, offsetof(struct sim_pool, now)},
#include "memory/pool.def"
};

/* NULL: no attribute of this driver. */
static const struct trait *trait_of(CUmemPool_attribute attribute)
{
    bool known = (size_t)attribute < sizeof traits / sizeof *traits && traits[attribute].size &&
                 traits[attribute].since <= sim_config.cuda;
    return known ? &traits[attribute] : NULL;
}

CUresult sim_cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void *value)
{
    const struct sim_pool *found = sim_pool_own(pool);
    const struct trait *trait = trait_of(attr);
    SIM_REFUSE(!found || !value || !trait);
    memcpy(value, (const char *)found + trait->at, trait->size);
    return CUDA_SUCCESS;
}

CUresult sim_cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void *value)
{
    struct sim_pool *found = sim_pool_own(pool);
    const struct trait *trait = trait_of(attr);
    uint64_t whole = 0;
    SIM_REFUSE(!found || !value || !trait || trait->kind == TOLD);
    memcpy(&whole, value, trait->size);
    SIM_REFUSE(trait->kind == MARK && whole != 0);
    if (trait->kind == MARK)
        memcpy(&whole, (const char *)found + trait->now, sizeof whole);
    int on = whole != 0; /* of a switch, which is an int */
    memcpy((char *)found + trait->at, trait->size == sizeof on ? (const void *)&on : &whole,
           trait->size);
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
    SIM_FAIL(INVALID_DEVICE, !device || (own && !on)); /* a device keeps its own */
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
    SIM_FAIL(NOT_SUPPORTED, !on && map->flags != CU_MEM_ACCESS_FLAGS_PROT_NONE);
    if (map->location.type == CU_MEM_LOCATION_TYPE_DEVICE)
        return set_device(pool, map->location.id, on);
    SIM_REFUSE(sim_config.cuda < 13000);
    if (pool->type == CU_MEM_ALLOCATION_TYPE_PINNED && !is_on_host(pool->location))
        return CUDA_ERROR_NOT_SUPPORTED; /* the host never reaches a device's memory */
    return is_on_host(map->location) ? set_host(pool, on) : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc_v1 *map, size_t count)
{
    struct sim_pool *found = sim_pool(pool);
    SIM_REFUSE(!found || (!map && count));
    for (size_t i = 0; i < count; i++)
        SIM_TRY(set_access(found, map + i));
    return CUDA_SUCCESS;
}

SIM_BEHAVIOUR(cuMemPoolGetAccess)
{
    const struct sim_pool *found = sim_pool(memPool);
    SIM_REFUSE(!flags || !found || !location);
    bool on_host = is_on_host(*location) && sim_config.cuda >= 13000;
    SIM_REFUSE(!on_host &&
               (location->type != CU_MEM_LOCATION_TYPE_DEVICE || !sim_device(location->id)));
    bool on = on_host ? found->host : found->readwrite >> location->id & 1;
    *flags = on ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_NONE;
    return CUDA_SUCCESS;
}
