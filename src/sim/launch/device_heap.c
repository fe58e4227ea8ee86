/* SPDX-License-Identifier: MIT */
/* The heap of a context, from which kernels take memory by themselves. No call of the host accepts
 * its addresses: they are the device's, and no allocation of the program's. */
#include "launch/launch.h"

struct sim_heap {
    struct ptx_heap *blocks;
    struct sim_device *device;
    uint64_t address;
    size_t size;
};

CUresult sim_device_heap_make(struct sim_context *context)
{
    size_t size = context->limits[CU_LIMIT_MALLOC_HEAP_SIZE];
    if (context->heap)
        return CUDA_SUCCESS;
    SIM_FAIL(OUT_OF_MEMORY, sim_memory_take(context->device, size) != CUDA_SUCCESS);
    struct sim_heap *heap = calloc(1, sizeof *heap);
    uint64_t address = heap ? sim_address_reserve(size, SIM_ADDRESS_CHUNK) : 0;
    struct ptx_heap *blocks = address ? ptx_heap_create(address, size) : NULL;
    if (!blocks) {
        if (address)
            sim_address_release(address, size);
        free(heap);
        sim_memory_give(context->device, size);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *heap = (struct sim_heap){blocks, context->device, address, size};
    context->heap = heap;
    return CUDA_SUCCESS;
}

struct ptx_heap *sim_device_heap_blocks(const struct sim_context *context)
{
    return context->heap ? context->heap->blocks : NULL;
}

static void release(void *data)
{
    struct sim_heap *heap = data;
    ptx_heap_destroy(heap->blocks);
    free(heap);
}

void sim_device_heap_end(struct sim_context *context)
{
    struct sim_heap *heap = context->heap;
    if (!heap)
        return;
    context->heap = NULL;
    sim_memory_give(heap->device, heap->size);
    sim_address_release(heap->address, heap->size);
    sim_idle_call(release, heap);
}
