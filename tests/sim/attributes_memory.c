/* SPDX-License-Identifier: MIT */
/* What attributes promise of memory that is mapped. */
#include <sys/mman.h>
#include <unistd.h>

#include "attributes.h"
#include "memory_test.h"

/* Memory by cuMemCreate, mapped and written; exported where it has a type of handle. */
static CUresult virtual_memory(CUmemAllocationProp prop)
{
    size_t size = 0;
    CUmemGenericAllocationHandle handle;
    CUdeviceptr address = 0;
    CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, {0}},
                              CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemFabricHandle shared;
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    CUresult result =
        cu->cuMemGetAllocationGranularity(&size, &prop, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED);
    if (result == CUDA_SUCCESS)
        result = cu->cuMemCreate(&handle, size, &prop, 0);
    if (result != CUDA_SUCCESS)
        return result;
    if (prop.requestedHandleTypes)
        result = cu->cuMemExportToShareableHandle(&shared, handle, prop.requestedHandleTypes, 0);
    result = first_of(result, cu->cuMemAddressReserve(&address, size, 0, 0, 0));
    result = first_of(result, cu->cuMemMap(address, size, 0, handle, 0));
    result = first_of(result, cu->cuMemSetAccess(address, size, &access, 1));
    result = first_of(result, cu->cuMemsetD8_v2(address, 1, size));
    result = first_of(result, cu->cuCtxSynchronize());
    result = first_of(result, cu->cuMemUnmap(address, size));
    (void)cu->cuMemRelease(handle);
    (void)cu->cuMemAddressFree(address, size);
    return result;
}

CUresult virtual_plain(int value)
{
    CUmemAllocationProp prop = {.location = {CU_MEM_LOCATION_TYPE_DEVICE, {0}}};
    (void)value;
    return virtual_memory(prop);
}

CUresult virtual_file(int value)
{
    CUmemAllocationProp prop = {.location = {CU_MEM_LOCATION_TYPE_DEVICE, {0}}};
    (void)value;
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    CUmemGenericAllocationHandle made, again;
    int file = -1;
    CUresult result = first_of(virtual_memory(prop), cu->cuMemCreate(&made, 2 * MIB, &prop, 0));
    if (result != CUDA_SUCCESS)
        return result;
    result = cu->cuMemExportToShareableHandle(&file, made, prop.requestedHandleTypes, 0);
    if (result == CUDA_SUCCESS)
        result = cu->cuMemImportFromShareableHandle(&again, (void *)(intptr_t)file,
                                                    prop.requestedHandleTypes);
    if (result == CUDA_SUCCESS)
        result = cu->cuMemRelease(again);
    close(file);
    return first_of(result, cu->cuMemRelease(made));
}

CUresult virtual_fabric(int value)
{
    CUmemAllocationProp prop = {.location = {CU_MEM_LOCATION_TYPE_DEVICE, {0}}};
    (void)value;
    prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_FABRIC;
    return virtual_memory(prop);
}

CUresult virtual_compressed(int value)
{
    CUmemAllocationProp prop = {.location = {CU_MEM_LOCATION_TYPE_DEVICE, {0}}};
    (void)value;
    prop.allocFlags.compressionType = CU_MEM_ALLOCATION_COMP_GENERIC;
    return virtual_memory(prop);
}

CUresult virtual_remote(int value)
{
    CUmemAllocationProp prop = {.location = {CU_MEM_LOCATION_TYPE_DEVICE, {0}}};
    (void)value;
    prop.allocFlags.gpuDirectRDMACapable = 1;
    return virtual_memory(prop);
}

CUresult virtual_numa(int value)
{
    CUmemAllocationProp prop = {.location = {CU_MEM_LOCATION_TYPE_HOST_NUMA, {0}}};
    (void)value;
    return virtual_memory(prop);
}

CUresult virtual_host(int value)
{
    CUmemAllocationProp prop = {.location = {CU_MEM_LOCATION_TYPE_HOST, {0}}};
    (void)value;
    return virtual_memory(prop);
}

/* A file of a range of memory, which is mapped where `map` is asked for. */
static CUresult range_file(bool map)
{
    int file = -1;
    CUdeviceptr memory = memory_of(4 * MIB);
    CUdeviceptr at = (memory + 65535) / 65536 * 65536;
    CUresult result =
        cu->cuMemGetHandleForAddressRange(&file, at, 65536, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0);
    if (result == CUDA_SUCCESS && map) {
        void *bytes = mmap(NULL, 65536, PROT_READ, MAP_SHARED, file, 0);
        if (bytes == MAP_FAILED)
            result = CUDA_ERROR_MAP_FAILED;
        else
            munmap(bytes, 65536);
    }
    if (file >= 0)
        close(file);
    return first_of(result, cu->cuMemFree_v2(memory));
}

CUresult range_handle(int value)
{
    (void)value;
    return range_file(false);
}

CUresult range_mapped(int value)
{
    (void)value;
    return range_file(true);
}
