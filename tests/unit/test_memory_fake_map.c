/* SPDX-License-Identifier: MIT */
/* The fake's pools, mapped memory and contexts. Addresses that are set aside are real and readable;
 * what is mapped there is only counted. */
#include <stdlib.h>
#include <string.h>

#include "test_memory_fake.h"

enum { PARTS = 64, FIRST_HANDLE = 7000000 };

static struct part {
    size_t size;       /* 0: there is none */
    uintptr_t address; /* 0: not mapped */
    bool access;
} parts[PARTS];

static uintptr_t reserved;
static size_t reserved_size;

unsigned long long fake_mapped(uintptr_t address)
{
    for (size_t i = 0; i < PARTS; i++)
        if (parts[i].address && parts[i].access && address - parts[i].address < parts[i].size)
            return FIRST_HANDLE + i;
    return 0;
}

static CUresult fake_cuMemGetAllocationGranularity(size_t *granularity,
                                                   const CUmemAllocationProp *kind,
                                                   CUmemAllocationGranularity_flags option)
{
    (void)option;
    CALLED();
    assert_int_equal(kind->type, CU_MEM_ALLOCATION_TYPE_PINNED);
    assert_int_equal(kind->location.type, CU_MEM_LOCATION_TYPE_DEVICE);
    *granularity = FAKE_GRANULARITY;
    return CUDA_SUCCESS;
}

static CUresult fake_cuMemAddressReserve(CUdeviceptr *address, size_t size, size_t alignment,
                                         CUdeviceptr wish, unsigned long long flags)
{
    (void)alignment, (void)wish, (void)flags;
    CALLED();
    assert_int_equal(size % FAKE_GRANULARITY, 0);
    if (size > 1 << 30)
        return CUDA_ERROR_OUT_OF_MEMORY;
    reserved = (uintptr_t)aligned_alloc(FAKE_GRANULARITY, size);
    assert_true(reserved != 0);
    reserved_size = size;
    memory_fake.reservations++;
    *address = reserved;
    return CUDA_SUCCESS;
}

static CUresult fake_cuMemAddressFree(CUdeviceptr address, size_t size)
{
    CALLED();
    assert_true(address == reserved && size == reserved_size);
    assert_int_equal(memory_fake.mappings, 0);
    free((void *)reserved);
    memory_fake.reservations--;
    return CUDA_SUCCESS;
}

static CUresult fake_cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size,
                                 const CUmemAllocationProp *kind, unsigned long long flags)
{
    (void)flags;
    CALLED();
    assert_int_equal(kind->location.id, 0);
    assert_int_equal(size % FAKE_GRANULARITY, 0);
    for (size_t i = 0; i < PARTS; i++)
        if (!parts[i].size) {
            parts[i] = (struct part){.size = size};
            *handle = FIRST_HANDLE + i;
            memory_fake.handles++;
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult fake_cuMemRelease(CUmemGenericAllocationHandle handle)
{
    CALLED();
    struct part *part = &parts[handle - FIRST_HANDLE];
    assert_true(part->size != 0 && !part->address);
    part->size = 0;
    memory_fake.handles--;
    return CUDA_SUCCESS;
}

static CUresult fake_cuMemMap(CUdeviceptr address, size_t size, size_t offset,
                              CUmemGenericAllocationHandle handle, unsigned long long flags)
{
    (void)flags;
    CALLED();
    struct part *part = &parts[handle - FIRST_HANDLE];
    assert_true(part->size == size && !part->address && !offset);
    assert_true(address >= reserved && address + size <= reserved + reserved_size);
    part->address = address;
    part->access = false;
    memory_fake.mappings++;
    return CUDA_SUCCESS;
}

static CUresult fake_cuMemUnmap(CUdeviceptr address, size_t size)
{
    CALLED();
    for (size_t i = 0; i < PARTS; i++)
        if (parts[i].address == address && parts[i].size == size) {
            parts[i].address = 0;
            memory_fake.mappings--;
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_INVALID_VALUE;
}

static CUresult fake_cuMemSetAccess(CUdeviceptr address, size_t size, const CUmemAccessDesc *access,
                                    size_t count)
{
    CALLED();
    assert_int_equal(count, 1);
    assert_int_equal(access->flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    for (size_t i = 0; i < PARTS; i++)
        if (parts[i].address == address && parts[i].size == size)
            parts[i].access = true;
    return CUDA_SUCCESS;
}

/* ---- pools */

static char pool[] = "pool";

static CUresult fake_cuMemPoolCreate(CUmemoryPool *handle, const CUmemPoolProps *kind)
{
    CALLED();
    assert_int_equal(kind->location.type, CU_MEM_LOCATION_TYPE_DEVICE);
    memory_fake.pool_count++;
    *handle = (CUmemoryPool)(void *)pool;
    return CUDA_SUCCESS;
}

static CUresult fake_cuMemPoolDestroy(CUmemoryPool handle)
{
    CALLED();
    assert_ptr_equal(handle, pool);
    memory_fake.pool_count--;
    return CUDA_SUCCESS;
}

static CUresult fake_cuMemPoolSetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute,
                                           void *value)
{
    CALLED();
    assert_ptr_equal(handle, pool);
    assert_int_equal(attribute, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD);
    memcpy(&memory_fake.threshold, value, sizeof memory_fake.threshold);
    return CUDA_SUCCESS;
}

static CUresult fake_cuMemPoolGetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute,
                                           void *value)
{
    cuuint64_t number = 100u + (unsigned)attribute;
    CALLED();
    assert_ptr_equal(handle, pool);
    memcpy(value, &number, sizeof number);
    return CUDA_SUCCESS;
}

static CUresult fake_cuMemPoolTrimTo(CUmemoryPool handle, size_t keep)
{
    CALLED();
    assert_ptr_equal(handle, pool);
    memory_fake.threshold = keep;
    return CUDA_SUCCESS;
}

/* ---- contexts */

static CUcontext stack[8];

static CUresult fake_cuCtxGetCurrent(CUcontext *context)
{
    *context = memory_fake.depth ? stack[memory_fake.depth - 1] : memory_fake.context;
    return CUDA_SUCCESS;
}

static CUresult fake_cuCtxSetCurrent(CUcontext context)
{
    CALLED();
    memory_fake.context = context;
    return CUDA_SUCCESS;
}

static CUresult fake_cuCtxPushCurrent_v2(CUcontext context)
{
    CALLED();
    stack[memory_fake.depth++] = context;
    return CUDA_SUCCESS;
}

static CUresult fake_cuCtxPopCurrent_v2(CUcontext *context)
{
    CALLED();
    if (!memory_fake.depth)
        return CUDA_ERROR_INVALID_CONTEXT;
    *context = stack[--memory_fake.depth];
    return CUDA_SUCCESS;
}

static CUresult fake_cuCtxEnablePeerAccess(CUcontext peer, unsigned flags)
{
    (void)peer, (void)flags;
    CALLED();
    return CUDA_SUCCESS;
}

static CUresult fake_cuCtxDisablePeerAccess(CUcontext peer)
{
    (void)peer;
    CALLED();
    return CUDA_SUCCESS;
}

const struct fake_entry fake_map_entries[] = {
    ENTRY(cuMemGetAllocationGranularity),
    ENTRY(cuMemAddressReserve),
    ENTRY(cuMemAddressFree),
    ENTRY(cuMemCreate),
    ENTRY(cuMemRelease),
    ENTRY(cuMemMap),
    ENTRY(cuMemUnmap),
    ENTRY(cuMemSetAccess),
    ENTRY(cuMemPoolCreate),
    ENTRY(cuMemPoolDestroy),
    ENTRY(cuMemPoolSetAttribute),
    ENTRY(cuMemPoolGetAttribute),
    ENTRY(cuMemPoolTrimTo),
    ENTRY(cuCtxGetCurrent),
    ENTRY(cuCtxSetCurrent),
    ENTRY(cuCtxPushCurrent_v2),
    ENTRY(cuCtxPopCurrent_v2),
    ENTRY(cuCtxEnablePeerAccess),
    ENTRY(cuCtxDisablePeerAccess),
    {NULL, NULL},
};
