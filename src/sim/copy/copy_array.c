/* SPDX-License-Identifier: MIT */
/* Copies between arrays and plain ranges, by offset in bytes. */
#include "copy/copy.h"
#include "core/core.h"
#include "texture/texture.h"

struct end { /* an array, or else an address */
    CUarray array;
    size_t offset;
    CUmemorytype type;
    uint64_t address;
};

static CUresult side_of(struct sim_side *side, const struct end *end, size_t size, bool write)
{
    if (end->type != CU_MEMORYTYPE_ARRAY)
        return sim_copy_line_side(side, end->type, end->address, size, write);
    const struct sim_array *array = sim_object(SIM_ARRAY, end->array);
    if (!array)
        return CUDA_ERROR_INVALID_VALUE;
    /* Offsets reach along one row, whatever the array's shape. */
    if (end->offset > array->row || size > array->row - end->offset)
        return CUDA_ERROR_INVALID_VALUE;
    *side = (struct sim_side){.kind = SIM_SIDE_ARRAY, .address = array->address + end->offset};
    return CUDA_SUCCESS;
}

static CUresult between(CUstream stream, bool wait, struct end to, struct end from, size_t size)
{
    struct sim_context *context;
    struct sim_copy copy = {.width = size, .height = 1, .depth = 1};
    CUresult result = sim_current(&context);
    if (result == CUDA_SUCCESS && size)
        result = side_of(&copy.to, &to, size, true);
    if (result == CUDA_SUCCESS && size)
        result = side_of(&copy.from, &from, size, false);
    if (result != CUDA_SUCCESS)
        return result;
    CUDA_MEMCPY3D_v2 shown = {.srcXInBytes = from.offset,
                              .srcMemoryType = from.type,
                              .srcHost = (const void *)(uintptr_t)from.address,
                              .srcDevice = from.address,
                              .srcArray = from.array,
                              .srcPitch = size,
                              .srcHeight = 1,
                              .dstXInBytes = to.offset,
                              .dstMemoryType = to.type,
                              .dstHost = (void *)(uintptr_t)to.address,
                              .dstDevice = to.address,
                              .dstArray = to.array,
                              .dstPitch = size,
                              .dstHeight = 1,
                              .WidthInBytes = size,
                              .Height = 1,
                              .Depth = 1};
    return sim_copy_submit(stream, &copy, &shown, wait);
}

static struct end in_array(CUarray array, size_t offset)
{
    return (struct end){.array = array, .offset = offset, .type = CU_MEMORYTYPE_ARRAY};
}

static struct end on_host(const void *address)
{
    return (struct end){.type = CU_MEMORYTYPE_HOST, .address = (uint64_t)(uintptr_t)address};
}

static struct end on_device(uint64_t address)
{
    return (struct end){.type = CU_MEMORYTYPE_DEVICE, .address = address};
}

CUresult sim_cuMemcpyAtoA_v2(CUarray dstArray, size_t dstOffset, CUarray srcArray, size_t srcOffset,
                             size_t ByteCount)
{
    return between(NULL, true, in_array(dstArray, dstOffset), in_array(srcArray, srcOffset),
                   ByteCount);
}

CUresult sim_cuMemcpyAtoD_v2(CUdeviceptr_v2 dstDevice, CUarray srcArray, size_t srcOffset,
                             size_t ByteCount)
{
    return between(NULL, true, on_device(dstDevice), in_array(srcArray, srcOffset), ByteCount);
}

CUresult sim_cuMemcpyDtoA_v2(CUarray dstArray, size_t dstOffset, CUdeviceptr_v2 srcDevice,
                             size_t ByteCount)
{
    return between(NULL, true, in_array(dstArray, dstOffset), on_device(srcDevice), ByteCount);
}

CUresult sim_cuMemcpyAtoH_v2(void *dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount)
{
    return between(NULL, true, on_host(dstHost), in_array(srcArray, srcOffset), ByteCount);
}

CUresult sim_cuMemcpyHtoA_v2(CUarray dstArray, size_t dstOffset, const void *srcHost,
                             size_t ByteCount)
{
    return between(NULL, true, in_array(dstArray, dstOffset), on_host(srcHost), ByteCount);
}

CUresult sim_cuMemcpyAtoHAsync_v2(void *dstHost, CUarray srcArray, size_t srcOffset,
                                  size_t ByteCount, CUstream hStream)
{
    return between(hStream, false, on_host(dstHost), in_array(srcArray, srcOffset), ByteCount);
}

CUresult sim_cuMemcpyHtoAAsync_v2(CUarray dstArray, size_t dstOffset, const void *srcHost,
                                  size_t ByteCount, CUstream hStream)
{
    return between(hStream, false, in_array(dstArray, dstOffset), on_host(srcHost), ByteCount);
}
