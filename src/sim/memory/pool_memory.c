/* SPDX-License-Identifier: MIT */
/* Memory from pools, allocated and freed in the order of a stream. It is there from the call on;
 * freed, it goes when the stream comes to it, but counts as free from the call on, as for the next
 * allocation in the same stream. */
#include "memory/pool_memory.h"

#include "core/context.h"
#include "device/device.h"
#include "memory/memory.h"
#include "memory/pool.h"
#include "memory/range.h"
#include "queue/capture.h"
#include "queue/item.h"
#include "queue/stream.h"

static CUresult from_pool(CUdeviceptr_v2 *dptr, size_t size, struct sim_pool *pool,
                          struct sim_stream *stream)
{
    struct sim_allocation *allocation;
    if (!sim_pool_has_room(pool, size))
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult result =
        sim_memory_allocate(stream->object.context, SIM_MEMORY_POOL, size, 0, 0, &allocation);
    if (result != CUDA_SUCCESS)
        return result;
    sim_pool_take(pool, size);
    allocation->owner = pool;
    *dptr = allocation->address;
    return CUDA_SUCCESS;
}

static CUresult capture(CUdeviceptr_v2 *dptr, size_t size, const struct sim_pool *pool,
                        struct sim_stream *stream)
{
    CUDA_MEM_ALLOC_NODE_PARAMS_v2 params = {.bytesize = size};
    params.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    params.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    params.poolProps.location.id = pool->device->ordinal;
    CUresult result = sim_capture_allocate(stream, &params);
    if (result == CUDA_SUCCESS)
        *dptr = params.dptr;
    return result;
}

static CUresult allocate(CUdeviceptr_v2 *dptr, size_t size, bool named, CUmemoryPool handle,
                         CUstream stream_handle)
{
    struct sim_stream *stream;
    CUresult result = sim_stream(stream_handle, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    struct sim_pool *pool =
        named ? sim_pool(handle) : sim_pool_current(stream->object.context->device);
    if (!dptr || !pool)
        return dptr && !named ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_INVALID_VALUE;
    *dptr = 0;
    if (size == 0)
        return CUDA_SUCCESS;
    return sim_capture_active(stream) ? capture(dptr, size, pool, stream)
                                      : from_pool(dptr, size, pool, stream);
}

CUresult sim_cuMemAllocAsync(CUdeviceptr_v2 *dptr, size_t bytesize, CUstream hStream)
{
    return allocate(dptr, bytesize, false, NULL, hStream);
}

CUresult sim_cuMemAllocFromPoolAsync(CUdeviceptr_v2 *dptr, size_t bytesize, CUmemoryPool pool,
                                     CUstream hStream)
{
    return allocate(dptr, bytesize, true, pool, hStream);
}

void sim_pool_memory_forget(struct sim_allocation *allocation)
{
    allocation->ending = true;
    if (allocation->kind != SIM_MEMORY_POOL)
        return;
    sim_memory_give(allocation->device, allocation->size);
    if (allocation->owner)
        sim_pool_give(allocation->owner, allocation->size);
    allocation->owner = NULL;
}

static void drop(void *user)
{
    sim_memory_free(user);
}

CUresult sim_cuMemFreeAsync(CUdeviceptr_v2 dptr, CUstream hStream)
{
    struct sim_stream *stream;
    CUresult result = sim_stream(hStream, &stream);
    if (result != CUDA_SUCCESS || !dptr)
        return result;
    if (sim_capture_active(stream))
        return sim_capture_free(stream, dptr);
    if (sim_memory_freed_by_graph(dptr))
        return CUDA_SUCCESS;
    struct sim_allocation *allocation = sim_memory_at(dptr);
    if (!allocation ||
        (allocation->kind != SIM_MEMORY_POOL && allocation->kind != SIM_MEMORY_DEVICE))
        return CUDA_ERROR_INVALID_VALUE;
    sim_pool_memory_forget(allocation);
    struct sim_item item = {.params.type = SIM_ITEM_NO_NODE, .user = allocation, .drop = drop};
    return sim_stream_submit(stream, &item);
}

CUresult sim_pool_memory_free(struct sim_allocation *allocation)
{
    uint64_t address = allocation->address, id = allocation->id;
    sim_pool_memory_forget(allocation);
    CUresult result = sim_stream_wait_context(allocation->context);
    struct sim_allocation *now = sim_range_find(address);
    if (now && now->id == id)
        sim_memory_free(now);
    return result;
}
