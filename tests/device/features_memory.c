/* SPDX-License-Identifier: MIT */
/* Trials of the features of memory and arrays. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "features_trial.h"

#define cu trial_api

enum { SIZE = 4 << 20 };

CUresult trial_unified(void)
{
    CUdeviceptr block;
    int word = 5, back = 0;
    unsigned type = 0;
    TRY(cu->cuMemAlloc_v2(&block, sizeof word));
    TRY(cu->cuMemcpy(block, (CUdeviceptr)(uintptr_t)&word, sizeof word));
    TRY(cu->cuMemcpy((CUdeviceptr)(uintptr_t)&back, block, sizeof word));
    TRY(cu->cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, block));
    TRY(cu->cuMemFree_v2(block));
    return back == 5 && type == CU_MEMORYTYPE_DEVICE ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN;
}

CUresult trial_pointer_attributes(void)
{
    CUpointer_attribute which = CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
    CUdeviceptr block;
    unsigned type = 0;
    void *values[] = {&type};
    TRY(cu->cuMemAlloc_v2(&block, 64));
    TRY(cu->cuPointerGetAttributes(1, &which, values, block));
    return cu->cuMemFree_v2(block);
}

CUresult trial_alloc_async(void)
{
    CUdeviceptr block;
    TRY(cu->cuMemAllocAsync(&block, SIZE, trial_stream));
    TRY(cu->cuMemFreeAsync(block, trial_stream));
    return cu->cuStreamSynchronize(trial_stream);
}

static CUresult pool(CUmemLocationType where, CUmemAllocationType type,
                     CUmemAllocationHandleType handle, CUmemoryPool *made)
{
    CUmemPoolProps properties;
    memset(&properties, 0, sizeof properties);
    properties.allocType = type;
    properties.handleTypes = handle;
    properties.location.type = where;
    properties.location.id = where == CU_MEM_LOCATION_TYPE_DEVICE ? trial_device : 0;
    return cu->cuMemPoolCreate(made, &properties);
}

static CUresult pool_used(CUmemLocationType where, CUmemAllocationType type)
{
    CUmemoryPool made;
    CUdeviceptr block;
    TRY(pool(where, type, CU_MEM_HANDLE_TYPE_NONE, &made));
    TRY(cu->cuMemAllocFromPoolAsync(&block, SIZE, made, trial_stream));
    TRY(cu->cuMemFreeAsync(block, trial_stream));
    TRY(cu->cuStreamSynchronize(trial_stream));
    return cu->cuMemPoolDestroy(made);
}

CUresult trial_pool(void)
{
    return pool_used(CU_MEM_LOCATION_TYPE_DEVICE, CU_MEM_ALLOCATION_TYPE_PINNED);
}

CUresult trial_pool_fd(void)
{
    CUmemoryPool made;
    int fd = -1;
    TRY(pool(CU_MEM_LOCATION_TYPE_DEVICE, CU_MEM_ALLOCATION_TYPE_PINNED,
             CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, &made));
    TRY(cu->cuMemPoolExportToShareableHandle(&fd, made, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                             0));
    close(fd);
    return cu->cuMemPoolDestroy(made);
}

CUresult trial_pool_fabric(void)
{
    CUmemoryPool made;
    TRY(pool(CU_MEM_LOCATION_TYPE_DEVICE, CU_MEM_ALLOCATION_TYPE_PINNED, CU_MEM_HANDLE_TYPE_FABRIC,
             &made));
    return cu->cuMemPoolDestroy(made);
}

CUresult trial_rdma_flush(void)
{
    return cu->cuFlushGPUDirectRDMAWrites(CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX,
                                          CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER);
}

CUresult trial_pool_host(void)
{
    CUmemLocation where;
    CUmemoryPool found;
    memset(&where, 0, sizeof where);
    where.type = CU_MEM_LOCATION_TYPE_HOST;
    return cu->cuMemGetDefaultMemPool(&found, &where, CU_MEM_ALLOCATION_TYPE_PINNED);
}

CUresult trial_pool_host_numa(void)
{
    return pool_used(CU_MEM_LOCATION_TYPE_HOST_NUMA, CU_MEM_ALLOCATION_TYPE_PINNED);
}

CUresult trial_pool_managed(void)
{
    return pool_used(CU_MEM_LOCATION_TYPE_DEVICE, CU_MEM_ALLOCATION_TYPE_MANAGED);
}

static CUresult create(CUmemLocationType where, CUmemAllocationHandleType handle, int compressed,
                       int rdma, CUmemGenericAllocationHandle *made, size_t *size)
{
    CUmemAllocationProp properties;
    memset(&properties, 0, sizeof properties);
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.requestedHandleTypes = handle;
    properties.location.type = where;
    properties.location.id = where == CU_MEM_LOCATION_TYPE_DEVICE ? trial_device : 0;
    properties.allocFlags.compressionType = (unsigned char)compressed;
    properties.allocFlags.gpuDirectRDMACapable = (unsigned char)rdma;
    TRY(cu->cuMemGetAllocationGranularity(size, &properties, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
    TRY(cu->cuMemCreate(made, *size, &properties, 0));
    TRY(cu->cuMemGetAllocationPropertiesFromHandle(&properties, *made));
    if (compressed && !properties.allocFlags.compressionType) {
        cu->cuMemRelease(*made);
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    return CUDA_SUCCESS;
}

static CUresult created(CUmemLocationType where, int compressed, int rdma)
{
    CUmemGenericAllocationHandle made;
    size_t size;
    TRY(create(where, CU_MEM_HANDLE_TYPE_NONE, compressed, rdma, &made, &size));
    return cu->cuMemRelease(made);
}

static CUresult map(CUmemGenericAllocationHandle made, size_t size, CUdeviceptr *at)
{
    CUmemAccessDesc access;
    memset(&access, 0, sizeof access);
    access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access.location.id = trial_device;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    TRY(cu->cuMemAddressReserve(at, size, 0, 0, 0));
    TRY(cu->cuMemMap(*at, size, 0, made, 0));
    return cu->cuMemSetAccess(*at, size, &access, 1);
}

static CUresult unmap(CUmemGenericAllocationHandle made, size_t size, CUdeviceptr at)
{
    TRY(cu->cuMemUnmap(at, size));
    TRY(cu->cuMemRelease(made));
    return cu->cuMemAddressFree(at, size);
}

CUresult trial_virtual(void)
{
    CUmemGenericAllocationHandle made;
    CUdeviceptr at;
    size_t size;
    TRY(create(CU_MEM_LOCATION_TYPE_DEVICE, CU_MEM_HANDLE_TYPE_NONE, 0, 0, &made, &size));
    TRY(map(made, size, &at));
    TRY(cu->cuMemsetD8_v2(at, 1, size));
    return unmap(made, size, at);
}

CUresult trial_virtual_fd(void)
{
    CUmemGenericAllocationHandle made;
    size_t size;
    int fd = -1;
    TRY(create(CU_MEM_LOCATION_TYPE_DEVICE, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0, 0, &made,
               &size));
    TRY(cu->cuMemExportToShareableHandle(&fd, made, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    close(fd);
    return cu->cuMemRelease(made);
}

CUresult trial_virtual_fabric(void)
{
    CUmemGenericAllocationHandle made;
    size_t size;
    TRY(create(CU_MEM_LOCATION_TYPE_DEVICE, CU_MEM_HANDLE_TYPE_FABRIC, 0, 0, &made, &size));
    return cu->cuMemRelease(made);
}

CUresult trial_virtual_host(void)
{
    return created(CU_MEM_LOCATION_TYPE_HOST, 0, 0);
}

CUresult trial_virtual_host_numa(void)
{
    return created(CU_MEM_LOCATION_TYPE_HOST_NUMA, 0, 0);
}

CUresult trial_virtual_compression(void)
{
    return created(CU_MEM_LOCATION_TYPE_DEVICE, CU_MEM_ALLOCATION_COMP_GENERIC, 0);
}

CUresult trial_virtual_rdma(void)
{
    return created(CU_MEM_LOCATION_TYPE_DEVICE, 0, 1);
}

CUresult trial_handle_of_address(void)
{
    CUmemGenericAllocationHandle made, same;
    CUdeviceptr at;
    size_t size;
    TRY(create(CU_MEM_LOCATION_TYPE_DEVICE, CU_MEM_HANDLE_TYPE_NONE, 0, 0, &made, &size));
    TRY(map(made, size, &at));
    TRY(cu->cuMemRetainAllocationHandle(&same, (void *)(uintptr_t)at));
    TRY(cu->cuMemRelease(same));
    return unmap(made, size, at);
}

static CUresult dma_buf(CUdeviceptr at)
{
    int fd = -1;
    TRY(cu->cuMemGetHandleForAddressRange(&fd, at, SIZE, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0));
    close(fd);
    return CUDA_SUCCESS;
}

CUresult trial_dma_buf(void)
{
    CUdeviceptr block;
    TRY(cu->cuMemAlloc_v2(&block, SIZE));
    CUresult result = dma_buf(block);
    cu->cuMemFree_v2(block);
    return result;
}

CUresult trial_dma_buf_host(void)
{
    void *block;
    TRY(cu->cuMemHostAlloc(&block, SIZE, CU_MEMHOSTALLOC_DEVICEMAP));
    CUresult result = dma_buf((CUdeviceptr)(uintptr_t)block);
    cu->cuMemFreeHost(block);
    return result;
}

CUresult trial_l2(void)
{
    TRY(cu->cuCtxSetLimit(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 1 << 20));
    TRY(cu->cuCtxResetPersistingL2Cache());
    return cu->cuCtxSetLimit(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 0);
}

static CUresult batch(int version)
{
    CUdeviceptr blocks[2];
    size_t size = 64, index = 0, failed = 0;
    CUmemcpyAttributes attributes;
    memset(&attributes, 0, sizeof attributes);
    attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
    TRY(cu->cuMemAlloc_v2(&blocks[0], size));
    TRY(cu->cuMemAlloc_v2(&blocks[1], size));
    if (version == 1)
        TRY(cu->cuMemcpyBatchAsync_v1(&blocks[0], &blocks[1], &size, 1, &attributes, &index, 1,
                                      &failed, trial_stream));
    else
        TRY(cu->cuMemcpyBatchAsync_v2(&blocks[0], &blocks[1], &size, 1, &attributes, &index, 1,
                                      trial_stream));
    TRY(cu->cuStreamSynchronize(trial_stream));
    TRY(cu->cuMemFree_v2(blocks[0]));
    return cu->cuMemFree_v2(blocks[1]);
}

CUresult trial_batch(void)
{
    return batch(1);
}

CUresult trial_batch_v2(void)
{
    return batch(2);
}

CUresult trial_managed(void)
{
    CUdeviceptr block;
    TRY(cu->cuMemAllocManaged(&block, SIZE, CU_MEM_ATTACH_GLOBAL));
    memset((void *)(uintptr_t)block, 1, SIZE);
    TRY(cu->cuMemsetD8_v2(block, 2, SIZE));
    TRY(cu->cuCtxSynchronize_v1());
    int back = ((unsigned char *)(uintptr_t)block)[SIZE - 1];
    TRY(cu->cuMemFree_v2(block));
    return back == 2 ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN;
}

CUresult trial_managed_concurrent(void)
{
    CUdeviceptr block;
    TRY(cu->cuMemAllocManaged(&block, SIZE, CU_MEM_ATTACH_GLOBAL));
    TRY(cu->cuMemPrefetchAsync_v1(block, SIZE, trial_device, trial_stream));
    TRY(cu->cuStreamSynchronize(trial_stream));
    return cu->cuMemFree_v2(block);
}

CUresult trial_prefetch_location(void)
{
    CUdeviceptr block;
    CUmemLocation where;
    memset(&where, 0, sizeof where);
    where.type = CU_MEM_LOCATION_TYPE_HOST;
    TRY(cu->cuMemAllocManaged(&block, SIZE, CU_MEM_ATTACH_GLOBAL));
    TRY(cu->cuMemPrefetchAsync_v2(block, SIZE, where, 0, trial_stream));
    TRY(cu->cuStreamSynchronize(trial_stream));
    return cu->cuMemFree_v2(block);
}

CUresult trial_prefetch_batch(void)
{
    CUdeviceptr block;
    CUmemLocation where;
    size_t size = SIZE, index = 0;
    memset(&where, 0, sizeof where);
    where.type = CU_MEM_LOCATION_TYPE_DEVICE;
    where.id = trial_device;
    TRY(cu->cuMemAllocManaged(&block, SIZE, CU_MEM_ATTACH_GLOBAL));
    TRY(cu->cuMemPrefetchBatchAsync(&block, &size, 1, (void *)&where, &index, 1, 0, trial_stream));
    TRY(cu->cuStreamSynchronize(trial_stream));
    return cu->cuMemFree_v2(block);
}

CUresult trial_discard(void)
{
    CUdeviceptr block;
    size_t size = SIZE;
    TRY(cu->cuMemAllocManaged(&block, SIZE, CU_MEM_ATTACH_GLOBAL));
    TRY(cu->cuMemDiscardBatchAsync(&block, &size, 1, 0, trial_stream));
    TRY(cu->cuStreamSynchronize(trial_stream));
    return cu->cuMemFree_v2(block);
}

CUresult trial_host_mapped(void)
{
    void *block;
    CUdeviceptr at;
    TRY(cu->cuMemHostAlloc(&block, 4096, CU_MEMHOSTALLOC_DEVICEMAP));
    TRY(cu->cuMemHostGetDevicePointer_v2(&at, block, 0));
    return cu->cuMemFreeHost(block);
}

/* Register memory of this process; `same`: it has one address on both sides. */
static CUresult register_memory(int protection, unsigned flags, int same)
{
    CUdeviceptr at = 0;
    void *block = mmap(NULL, 65536, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CUresult result = cu->cuMemHostRegister_v2(block, 65536, flags);
    if (result == CUDA_SUCCESS && same) {
        result = cu->cuMemHostGetDevicePointer_v2(&at, block, 0);
        if (result == CUDA_SUCCESS && at != (CUdeviceptr)(uintptr_t)block)
            result = CUDA_ERROR_UNKNOWN;
    }
    if (result == CUDA_SUCCESS)
        result = cu->cuMemHostUnregister(block);
    munmap(block, 65536);
    return result;
}

CUresult trial_register(void)
{
    return register_memory(PROT_READ | PROT_WRITE, 0, 0);
}

CUresult trial_register_read_only(void)
{
    return register_memory(PROT_READ, CU_MEMHOSTREGISTER_READ_ONLY, 0);
}

CUresult trial_register_same(void)
{
    return register_memory(PROT_READ | PROT_WRITE, CU_MEMHOSTREGISTER_DEVICEMAP, 1);
}

CUresult trial_memory_ipc(void)
{
    CUipcMemHandle handle;
    CUdeviceptr block;
    TRY(cu->cuMemAlloc_v2(&block, SIZE));
    TRY(cu->cuIpcGetMemHandle(&handle, block));
    return cu->cuMemFree_v2(block);
}

CUresult trial_event_ipc(void)
{
    CUipcEventHandle handle;
    CUevent event;
    TRY(cu->cuEventCreate(&event, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
    TRY(cu->cuIpcGetEventHandle(&handle, event));
    return cu->cuEventDestroy_v2(event);
}

static CUresult array(unsigned flags, CUarray_format format, unsigned channels, CUarray *made)
{
    CUDA_ARRAY3D_DESCRIPTOR description;
    memset(&description, 0, sizeof description);
    description.Width = description.Height = 1024;
    description.Format = format;
    description.NumChannels = channels;
    description.Flags = flags;
    return cu->cuArray3DCreate_v2(made, &description);
}

CUresult trial_texture(void)
{
    CUDA_RESOURCE_DESC resource;
    CUDA_TEXTURE_DESC texture;
    CUtexObject object;
    memset(&resource, 0, sizeof resource);
    memset(&texture, 0, sizeof texture);
    TRY(array(0, CU_AD_FORMAT_FLOAT, 1, &resource.res.array.hArray));
    TRY(cu->cuTexObjectCreate(&object, &resource, &texture, NULL));
    TRY(cu->cuTexObjectDestroy(object));
    return cu->cuArrayDestroy(resource.res.array.hArray);
}

CUresult trial_surface(void)
{
    CUDA_RESOURCE_DESC resource;
    CUsurfObject object;
    memset(&resource, 0, sizeof resource);
    TRY(array(CUDA_ARRAY3D_SURFACE_LDST, CU_AD_FORMAT_FLOAT, 1, &resource.res.array.hArray));
    TRY(cu->cuSurfObjectCreate(&object, &resource));
    TRY(cu->cuSurfObjectDestroy(object));
    return cu->cuArrayDestroy(resource.res.array.hArray);
}

CUresult trial_mipmap(void)
{
    CUDA_ARRAY3D_DESCRIPTOR description;
    CUmipmappedArray made;
    CUarray level;
    memset(&description, 0, sizeof description);
    description.Width = description.Height = 64;
    description.Format = CU_AD_FORMAT_FLOAT;
    description.NumChannels = 1;
    TRY(cu->cuMipmappedArrayCreate(&made, &description, 3));
    TRY(cu->cuMipmappedArrayGetLevel(&level, made, 2));
    return cu->cuMipmappedArrayDestroy(made);
}

CUresult trial_sparse(void)
{
    CUDA_ARRAY_SPARSE_PROPERTIES properties;
    CUarray made;
    TRY(array(CUDA_ARRAY3D_SPARSE, CU_AD_FORMAT_FLOAT, 1, &made));
    TRY(cu->cuArrayGetSparseProperties(&properties, made));
    return cu->cuArrayDestroy(made);
}

CUresult trial_deferred(void)
{
    CUDA_ARRAY_MEMORY_REQUIREMENTS needs;
    CUarray made;
    TRY(array(CUDA_ARRAY3D_DEFERRED_MAPPING, CU_AD_FORMAT_FLOAT, 1, &made));
    TRY(cu->cuArrayGetMemoryRequirements(&needs, made, trial_device));
    return cu->cuArrayDestroy(made);
}
