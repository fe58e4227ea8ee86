/* SPDX-License-Identifier: MIT */
/* Device memory as programs allocate, describe and free it; what a context's end frees. */
#include "memory/memory.h"

void sim_memory_entry_end(struct sim_context *context)
{
    uint64_t below = UINT64_MAX;
    struct sim_allocation *allocation;
    while ((allocation = sim_range_before(below))) {
        below = allocation->address;
        /* Mapped memory is the process's, not the context's. */
        if (allocation->context != context || allocation->kind == SIM_MEMORY_VIRTUAL)
            continue;
        if (!allocation->ending)
            sim_pool_memory_forget(allocation, NULL);
        sim_memory_free(allocation);
    }
}

/* Real drivers write 0 before anything can fail. */
CUresult sim_cuMemAlloc_v2(CUdeviceptr_v2 *dptr, size_t bytesize)
{
    SIM_FIND(struct sim_context *, context, sim_memory_begin(&context));
    SIM_PUT(dptr, 0);
    SIM_REFUSE(!dptr || bytesize == 0);
    SIM_FIND(struct sim_allocation *, allocation,
             sim_memory_allocate(context, SIM_MEMORY_DEVICE, bytesize, 0, 0, &allocation));
    *dptr = allocation->address;
    return CUDA_SUCCESS;
}

CUresult sim_cuMemFree_v2(CUdeviceptr_v2 dptr)
{
    CUresult result = sim_memory_begin_free();
    if (result != CUDA_SUCCESS || !dptr)
        return result;
    if (sim_memory_freed_by_graph(dptr))
        return CUDA_SUCCESS;
    struct sim_allocation *allocation = sim_memory_at(dptr);
    SIM_REFUSE(!allocation);
    switch (allocation->kind) {
    case SIM_MEMORY_DEVICE:
    case SIM_MEMORY_MANAGED:
        return sim_memory_free_after_work(allocation);
    case SIM_MEMORY_POOL:
    case SIM_MEMORY_POOL_HOST:
    case SIM_MEMORY_POOL_MANAGED:
        return sim_pool_memory_free(allocation);
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

SIM_BEHAVIOUR(cuMemAllocPitch_v2)
{
    size_t size;
    SIM_FIND(struct sim_context *, context, sim_memory_begin(&context));
    SIM_PUT(dptr, 0);
    SIM_PUT(pPitch, 0);
    SIM_REFUSE(!dptr || !pPitch || WidthInBytes == 0 || Height == 0);
    SIM_REFUSE(ElementSizeBytes != 4 && ElementSizeBytes != 8 && ElementSizeBytes != 16);
    size_t pitch = (WidthInBytes + 511) & ~(size_t)511;
    *pPitch = pitch;
    SIM_REFUSE(pitch == 0 || __builtin_mul_overflow(pitch, Height, &size));
    SIM_FIND(struct sim_allocation *, allocation,
             sim_memory_allocate(context, SIM_MEMORY_DEVICE, size, 0, 0, &allocation));
    *dptr = allocation->address;
    return CUDA_SUCCESS;
}

CUresult sim_cuMemGetInfo_v2(size_t *free, size_t *total)
{
    SIM_FIND(struct sim_context *, context, sim_current(&context));
    SIM_PUT(free, sim_memory_left(context->device));
    SIM_PUT(total, context->device->total);
    return CUDA_SUCCESS;
}

/* Needs no context, and answers in one that is broken. */
CUresult sim_cuMemGetAddressRange_v2(CUdeviceptr_v2 *pbase, size_t *psize, CUdeviceptr_v2 dptr)
{
    SIM_PUT(pbase, 0);
    SIM_PUT(psize, 0);
    struct sim_allocation *found = sim_range_find(dptr);
    SIM_FAIL(NOT_FOUND, !found || found->ending || found->kind == SIM_MEMORY_ARRAY ||
                            (found->kind == SIM_MEMORY_POOL_HOST && !found->readable));
    SIM_PUT(pbase, found->address);
    SIM_PUT(psize, found->size);
    return CUDA_SUCCESS;
}

CUresult sim_memory_entry_old(void)
{
    SIM_TRY(sim_current_check());
    return CUDA_ERROR_INVALID_CONTEXT;
}

/* Nobody has hardware that decompresses, and a driver says so before it looks at anything else. */
SIM_BEHAVIOUR(cuMemBatchDecompressAsync)
{
    (void)paramsArray, (void)count, (void)flags, (void)errorIndex;
    SIM_FIND(struct sim_stream *, found, sim_stream(stream, &found));
    if (found->capture)
        SIM_TRY(sim_capture_refuse(found));
    return CUDA_ERROR_NOT_SUPPORTED;
}
