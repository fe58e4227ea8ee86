/* SPDX-License-Identifier: MIT */
/* Copies of plain ranges, in every direction. */
#include "copy/copy.h"

#include "core/core.h"
#include "memory/memory.h"
#include "queue/queue.h"

/* A pool's memory on the host is the host's to a copy, whatever access a device has. */
static CUresult of_pool_on_host(const struct sim_allocation *found, CUmemorytype type,
                                uint64_t address, size_t size)
{
    bool inside = !found->ending && size <= found->usable - (size_t)(address - found->address);
    return type != CU_MEMORYTYPE_DEVICE && inside ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_copy_line_side(struct sim_side *side, CUmemorytype type, uint64_t address, size_t size,
                            bool write)
{
    *side = (struct sim_side){.kind = SIM_SIDE_DEVICE, .address = address};
    if (address == 0)
        return CUDA_ERROR_INVALID_VALUE;
    const struct sim_allocation *found = sim_range_find(address);
    if (found && found->kind == SIM_MEMORY_POOL_HOST)
        return of_pool_on_host(found, type, address, size);
    if (type == CU_MEMORYTYPE_DEVICE || sim_address_is_device(address) || found)
        return sim_memory_covers(address, size, write) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    side->kind = SIM_SIDE_HOST;
    return CUDA_SUCCESS;
}

static CUresult line(CUstream stream, bool wait, CUmemorytype to_type, uint64_t to,
                     CUmemorytype from_type, uint64_t from, size_t size)
{
    struct sim_context *context;
    struct sim_copy copy = {.width = size, .height = 1, .depth = 1};
    CUresult result = sim_current(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (size) {
        result = sim_copy_line_side(&copy.to, to_type, to, size, true);
        if (result == CUDA_SUCCESS)
            result = sim_copy_line_side(&copy.from, from_type, from, size, false);
        if (result != CUDA_SUCCESS)
            return sim_copy_refused(stream, result);
    }
    return sim_copy_submit(stream, &copy, NULL, wait);
}

CUresult sim_cuMemcpyHtoD_v2(CUdeviceptr_v2 dstDevice, const void *srcHost, size_t ByteCount)
{
    return line(NULL, true, CU_MEMORYTYPE_DEVICE, dstDevice, CU_MEMORYTYPE_HOST,
                (uint64_t)(uintptr_t)srcHost, ByteCount);
}

CUresult sim_cuMemcpyDtoH_v2(void *dstHost, CUdeviceptr_v2 srcDevice, size_t ByteCount)
{
    return line(NULL, true, CU_MEMORYTYPE_HOST, (uint64_t)(uintptr_t)dstHost, CU_MEMORYTYPE_DEVICE,
                srcDevice, ByteCount);
}

CUresult sim_cuMemcpyDtoD_v2(CUdeviceptr_v2 dstDevice, CUdeviceptr_v2 srcDevice, size_t ByteCount)
{
    return line(NULL, true, CU_MEMORYTYPE_DEVICE, dstDevice, CU_MEMORYTYPE_DEVICE, srcDevice,
                ByteCount);
}

CUresult sim_cuMemcpy(CUdeviceptr_v2 dst, CUdeviceptr_v2 src, size_t ByteCount)
{
    return line(NULL, true, CU_MEMORYTYPE_UNIFIED, dst, CU_MEMORYTYPE_UNIFIED, src, ByteCount);
}

CUresult sim_cuMemcpyHtoDAsync_v2(CUdeviceptr_v2 dstDevice, const void *srcHost, size_t ByteCount,
                                  CUstream hStream)
{
    return line(hStream, false, CU_MEMORYTYPE_DEVICE, dstDevice, CU_MEMORYTYPE_HOST,
                (uint64_t)(uintptr_t)srcHost, ByteCount);
}

CUresult sim_cuMemcpyDtoHAsync_v2(void *dstHost, CUdeviceptr_v2 srcDevice, size_t ByteCount,
                                  CUstream hStream)
{
    return line(hStream, false, CU_MEMORYTYPE_HOST, (uint64_t)(uintptr_t)dstHost,
                CU_MEMORYTYPE_DEVICE, srcDevice, ByteCount);
}

CUresult sim_cuMemcpyDtoDAsync_v2(CUdeviceptr_v2 dstDevice, CUdeviceptr_v2 srcDevice,
                                  size_t ByteCount, CUstream hStream)
{
    return line(hStream, false, CU_MEMORYTYPE_DEVICE, dstDevice, CU_MEMORYTYPE_DEVICE, srcDevice,
                ByteCount);
}

CUresult sim_cuMemcpyAsync(CUdeviceptr_v2 dst, CUdeviceptr_v2 src, size_t ByteCount,
                           CUstream hStream)
{
    return line(hStream, false, CU_MEMORYTYPE_UNIFIED, dst, CU_MEMORYTYPE_UNIFIED, src, ByteCount);
}

CUresult sim_copy_line_settle(CUcontext one, CUcontext other)
{
    struct sim_context *contexts[2];
    CUresult result = sim_current_of(one, &contexts[0]);
    if (result == CUDA_SUCCESS)
        result = sim_current_of(other, &contexts[1]);
    if (result != CUDA_SUCCESS)
        return result;
    sim_context_retain(contexts[1]); /* another thread may destroy it during the first wait */
    result = sim_stream_wait_context(contexts[0]);
    if (result == CUDA_SUCCESS)
        result = sim_stream_wait_context(contexts[1]);
    sim_context_release(contexts[1]);
    return result;
}

static CUresult peer(CUstream stream, bool wait, uint64_t to, CUcontext to_context, uint64_t from,
                     CUcontext from_context, size_t size)
{
    struct sim_context *context;
    CUresult result = sim_current_of(to_context, &context);
    if (result == CUDA_SUCCESS)
        result = sim_current_of(from_context, &context);
    if (result != CUDA_SUCCESS)
        return result;
    return line(stream, wait, CU_MEMORYTYPE_DEVICE, to, CU_MEMORYTYPE_DEVICE, from, size);
}

CUresult sim_cuMemcpyPeer(CUdeviceptr_v2 dstDevice, CUcontext dstContext, CUdeviceptr_v2 srcDevice,
                          CUcontext srcContext, size_t ByteCount)
{
    CUresult result = sim_copy_line_settle(dstContext, srcContext);
    if (result == CUDA_SUCCESS)
        result = peer(NULL, true, dstDevice, dstContext, srcDevice, srcContext, ByteCount);
    struct sim_context *context;
    if (result == CUDA_SUCCESS && sim_current(&context) == CUDA_SUCCESS)
        result = sim_stream_wait_context(context);
    return result;
}

CUresult sim_cuMemcpyPeerAsync(CUdeviceptr_v2 dstDevice, CUcontext dstContext,
                               CUdeviceptr_v2 srcDevice, CUcontext srcContext, size_t ByteCount,
                               CUstream hStream)
{
    return peer(hStream, false, dstDevice, dstContext, srcDevice, srcContext, ByteCount);
}
