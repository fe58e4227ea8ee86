/* SPDX-License-Identifier: MIT */
/* Pools: made, destroyed, and which one a place uses. Where there can be pools, and of which kind,
 * is what an H200 with driver 580 answered; older releases know those of devices alone, 12.9 those
 * of the host's NUMA nodes, too. */
#include "memory/memory.h"

/* A place and a kind of memory that have a default pool. */
struct slot {
    struct sim_pool *first, *current; /* made when they are asked for; NULL: the first */
};
enum { HOST_SLOT = SIM_MAX_DEVICES, NUMA_SLOT, NO_SLOT, SLOTS };
static struct slot pinned[SLOTS], managed[SLOTS];

struct sim_pool *sim_pool_make(CUmemAllocationType type, CUmemLocation location)
{
    struct sim_pool *pool = calloc(1, sizeof *pool);
    if (!pool)
        return NULL;
    pool->type = type;
    pool->location = location;
    pool->follow_events = pool->opportunistic = pool->internal = 1;
    if (type == CU_MEM_ALLOCATION_TYPE_PINNED) { /* a place keeps access to its own */
        if (location.type == CU_MEM_LOCATION_TYPE_DEVICE)
            pool->readwrite = UINT64_C(1) << location.id;
        else
            pool->host = true;
    }
    sim_object_add(&pool->object, SIM_POOL, NULL);
    return pool;
}

/* The pool ends here if nothing of it is left. */
static void sim_pool_drop(struct sim_pool *pool)
{
    if (!pool->destroyed || pool->live || pool->held)
        return;
    sim_shared_close(pool->shared);
    free(pool);
}

struct sim_pool *sim_pool(CUmemoryPool handle)
{
    return sim_object(SIM_POOL, handle);
}

struct sim_pool *sim_pool_own(CUmemoryPool handle)
{
    struct sim_pool *found = sim_pool(handle);
    return found && !found->imported ? found : NULL;
}

bool sim_pool_reaches_device(const struct sim_pool *pool)
{
    return pool->type == CU_MEM_ALLOCATION_TYPE_MANAGED || pool->readwrite;
}

/* --- Places --- */

/* The slot of a place; NULL: it has no default pool, and *result says how that is answered. */
static struct slot *find_slot(CUmemAllocationType type, CUmemLocation location, CUresult *result)
{
    struct slot *slots = type == CU_MEM_ALLOCATION_TYPE_PINNED ? pinned : managed;
    bool later = sim_config.cuda >= 13000;
    *result = CUDA_ERROR_INVALID_VALUE;
    if (type != CU_MEM_ALLOCATION_TYPE_PINNED && (type != CU_MEM_ALLOCATION_TYPE_MANAGED || !later))
        return NULL;
    switch ((int)location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
        return sim_device(location.id) ? slots + location.id : NULL;
    case CU_MEM_LOCATION_TYPE_HOST: /* whatever the number */
        return later ? slots + HOST_SLOT : NULL;
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
        return sim_config.cuda >= 12090 && location.id == 0 ? slots + NUMA_SLOT : NULL;
    case CU_MEM_LOCATION_TYPE_NONE: /* of no preferred place */
        return slots == managed ? slots + NO_SLOT : NULL;
    default:
        if (later)
            *result = CUDA_ERROR_NOT_SUPPORTED;
        return NULL;
    }
}

static struct sim_pool *first_of(struct slot *slot, CUmemAllocationType type,
                                 CUmemLocation location)
{
    if (!slot->first && (slot->first = sim_pool_make(type, location)))
        slot->first->is_default = true;
    return slot->first;
}

static struct sim_pool *current_of(struct slot *slot, CUmemAllocationType type,
                                   CUmemLocation location)
{
    return slot->current ? slot->current : first_of(slot, type, location);
}

static struct slot *own_slot(const struct sim_pool *pool)
{
    CUresult result;
    return find_slot(pool->type, pool->location, &result);
}

static CUmemLocation place_of(const struct sim_device *device)
{
    return (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device->ordinal};
}

struct sim_pool *sim_pool_current(struct sim_device *device)
{
    return current_of(pinned + device->ordinal, CU_MEM_ALLOCATION_TYPE_PINNED, place_of(device));
}

/* --- Making and destroying --- */

/* Whether there can be such pools, with default ones or without. */
static CUresult check(const CUmemPoolProps_v1 *props)
{
    CUresult result;
    bool is_managed = props->allocType == CU_MEM_ALLOCATION_TYPE_MANAGED;
    struct slot *slot = find_slot(props->allocType, props->location, &result);
    bool can_share = slot && !is_managed && slot != pinned + HOST_SLOT;
    SIM_REFUSE(props->handleTypes != CU_MEM_HANDLE_TYPE_NONE &&
               (!can_share || props->handleTypes != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    if (slot || (is_managed && result == CUDA_ERROR_NOT_SUPPORTED &&
                 props->location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT))
        return CUDA_SUCCESS;
    return is_managed ? result : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps_v1 *poolProps)
{
    SIM_REFUSE(!pool || !poolProps);
    SIM_TRY(check(poolProps));
    SIM_TRY(sim_capture_unsafe());
    SIM_MADE(struct sim_pool *, made, sim_pool_make(poolProps->allocType, poolProps->location));
    made->handle_types = poolProps->handleTypes;
    if (sim_config.cuda >= 12020)
        made->most = poolProps->maxSize;
    *pool = (CUmemoryPool)made;
    return CUDA_SUCCESS;
}

CUresult sim_cuMemPoolDestroy(CUmemoryPool pool)
{
    struct sim_pool *found = sim_pool(pool);
    SIM_REFUSE(!found || found->is_default || (found->imported && found->live));
    SIM_TRY(sim_capture_unsafe());
    struct slot *slot = own_slot(found);
    if (slot && slot->current == found)
        slot->current = NULL;
    sim_object_remove(&found->object);
    found->destroyed = true;
    sim_pool_drop(found);
    return CUDA_SUCCESS;
}

/* --- Default and current pools --- */

static CUresult of_place(CUmemoryPool *out, const CUmemLocation *location, CUmemAllocationType type,
                         bool first)
{
    CUresult result;
    SIM_REFUSE(!out || !location);
    struct slot *slot = find_slot(type, *location, &result);
    if (!slot)
        return result;
    SIM_MADE(struct sim_pool *, pool,
             first ? first_of(slot, type, *location) : current_of(slot, type, *location));
    *out = (CUmemoryPool)pool;
    return CUDA_SUCCESS;
}

/* Of a device: always its pinned memory. */
static CUresult of_device(CUmemoryPool *out, CUdevice ordinal, bool first)
{
    SIM_REFUSE(!out);
    SIM_FIND(struct sim_device *, device, sim_device_of(ordinal, &device));
    const CUmemLocation place = place_of(device);
    return of_place(out, &place, CU_MEM_ALLOCATION_TYPE_PINNED, first);
}

SIM_ENTRY(cuDeviceGetDefaultMemPool, of_device(pool_out, dev, true))
SIM_ENTRY(cuDeviceGetMemPool, of_device(pool, dev, false))

/* A pool of managed memory that prefers the device becomes the one of that kind. */
SIM_SET(cuDeviceSetMemPool, struct sim_pool *, found, SIM_VALID(found = sim_pool_own(pool)),
        !sim_device(dev) || found->location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
            found->location.id != dev,
        own_slot(found)->current = found)

SIM_ENTRY(cuMemGetDefaultMemPool, of_place(pool_out, location, type, true))
SIM_ENTRY(cuMemGetMemPool, of_place(pool_out, location, type, false))

CUresult sim_cuMemSetMemPool(CUmemLocation *location, CUmemAllocationType type, CUmemoryPool pool)
{
    CUresult result;
    struct sim_pool *found = sim_pool_own(pool);
    SIM_REFUSE(!location);
    struct slot *slot = find_slot(type, *location, &result);
    if (!slot)
        return result;
    SIM_REFUSE(!found || own_slot(found) != slot);
    slot->current = found;
    return CUDA_SUCCESS;
}

/* How much memory a pool has, and how much of it is in use. A pool takes whole grains. It gives
 * them back above its threshold, when the program has waited for the stream in which memory was
 * freed; what was freed and not waited for stays, whatever is asked of the pool. As an H200 did. */

void sim_pool_usage_take(struct sim_pool *pool, size_t size)
{
    pool->used += size;
    pool->live++;
    if (pool->reserved < sim_rounded_up(pool->used, SIM_POOL_GRAIN))
        pool->reserved = sim_rounded_up(pool->used, SIM_POOL_GRAIN);
    if (pool->used_high < pool->used)
        pool->used_high = pool->used;
    if (pool->reserved_high < pool->reserved)
        pool->reserved_high = pool->reserved;
}

/* Down to `keep`, as far as what is used and held allows. */
static void shrink(struct sim_pool *pool, uint64_t keep)
{
    uint64_t least = sim_rounded_up(pool->used + pool->held, SIM_POOL_GRAIN);
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

static void learn(void *owner, size_t size)
{
    struct sim_pool *pool = owner;
    sim_expire_renew(pool); /* what it holds keeps it alive */
    pool->held -= size;
    shrink_to_threshold(pool);
}

void sim_pool_usage_give(struct sim_pool *pool, size_t size, struct sim_stream *stream)
{
    sim_expire_renew(pool); /* its memory keeps it alive */
    pool->used -= size;
    pool->live--;
    if (!stream) {
        shrink_to_threshold(pool);
        return;
    }
    pool->held += size;
    sim_trail_learn = learn;
    sim_trail_add(&stream->trail, stream->object.context, pool, size);
}

/* SIZE_MAX, rounded up, passes 64 bits and is nothing, as on an H200. */
CUresult sim_cuMemPoolTrimTo(CUmemoryPool pool, size_t minBytesToKeep)
{
    struct sim_pool *found = sim_pool_own(pool);
    SIM_REFUSE(!found);
    SIM_TRY(sim_capture_unsafe());
    if (minBytesToKeep < found->reserved)
        shrink(found, sim_rounded_up(minBytesToKeep, SIM_POOL_GRAIN));
    return CUDA_SUCCESS;
}

/* --- Pools of other processes. The pool goes as a file, which says which one it is; a block of it
 * as 64 bytes, which name the file of the block. --- */

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
    SIM_EACH (struct sim_pool, pool, SIM_POOL)
        if (pool->imported && sim_shared_equal(&pool->shared->head.id, &shared->head.id))
            return pool;
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
