/* SPDX-License-Identifier: MIT */
/* Virtual memory: reserve, create, map, access, in the right order and in others. */
#include "conform.h"

enum { GRAIN = 2 << 20 };

static CUmemAllocationProp pinned(void)
{
    CUmemAllocationProp prop;
    memset(&prop, 0, sizeof prop);
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    return prop;
}

static CUdeviceptr reserved(size_t size)
{
    CUdeviceptr address = 0;
    MUST(cu->cuMemAddressReserve(&address, size, 0, 0, 0));
    return address;
}

static CUmemGenericAllocationHandle created(size_t size)
{
    CUmemAllocationProp prop = pinned();
    CUmemGenericAllocationHandle handle = 0;
    MUST(cu->cuMemCreate(&handle, size, &prop, 0));
    return handle;
}

static const CUmemAccessDesc both = {.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0},
                                     .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};

static void granularity(void)
{
    CUmemAllocationProp prop = pinned();
    size_t size = 77;
    CALL(cu->cuMemGetAllocationGranularity(&size, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    VALUE("size=%zu", size);
    CALL(cu->cuMemGetAllocationGranularity(&size, &prop, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
    VALUE("size=%zu", size);
    CALL(cu->cuMemGetAllocationGranularity(&size, &prop, (CUmemAllocationGranularity_flags)5));
    CALL(cu->cuMemGetAllocationGranularity(NULL, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    CALL(cu->cuMemGetAllocationGranularity(&size, NULL, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    prop.type = CU_MEM_ALLOCATION_TYPE_INVALID;
    CALL(cu->cuMemGetAllocationGranularity(&size, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    prop = pinned();
    prop.location.id = 7;
    CALL(cu->cuMemGetAllocationGranularity(&size, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    prop = pinned();
    prop.location.type = CU_MEM_LOCATION_TYPE_INVALID;
    CALL(cu->cuMemGetAllocationGranularity(&size, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    prop.location.type = CU_MEM_LOCATION_TYPE_HOST;
    CALL(cu->cuMemGetAllocationGranularity(&size, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    VALUE("size=%zu", size);
    prop = pinned();
    prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_WIN32;
    CALL(cu->cuMemGetAllocationGranularity(&size, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
}

static void reserve(void)
{
    CUdeviceptr a = 0, b = 0;
    CALL(cu->cuMemAddressReserve(&a, GRAIN, 0, 0, 0));
    VALUE("aligned=%d", a % GRAIN == 0);
    CALL(cu->cuMemAddressReserve(&b, GRAIN, 8 << 20, 0, 0));
    VALUE("aligned=%d", b % (8 << 20) == 0);
    CALL(cu->cuMemAddressFree(b, GRAIN));
    CALL(cu->cuMemAddressReserve(&b, 0, 0, 0, 0));
    CALL(cu->cuMemAddressReserve(&b, 1000, 0, 0, 0));
    CALL(cu->cuMemAddressReserve(&b, 65536, 0, 0, 0));
    CALL(cu->cuMemAddressReserve(&b, GRAIN, 1000, 0, 0));
    CALL(cu->cuMemAddressReserve(&b, GRAIN, 0, 0, 1));
    CALL(cu->cuMemAddressReserve(NULL, GRAIN, 0, 0, 0));
    CALL(cu->cuMemAddressReserve(&b, GRAIN, 0, a, 0));
    VALUE("same=%d", a == b);
    CALL(cu->cuMemAddressReserve(&b, (size_t)1 << 62, 0, 0, 0));
    CALL(cu->cuMemAddressFree(a, GRAIN));
    CALL(cu->cuMemAddressFree(a, GRAIN));
    CALL(cu->cuMemAddressFree(0, GRAIN));
}

static void reserve_partly_free(void)
{
    CUdeviceptr a = reserved(4 * GRAIN);
    CALL(cu->cuMemAddressFree(a, GRAIN));
    CALL(cu->cuMemAddressFree(a + GRAIN, GRAIN));
    CALL(cu->cuMemAddressFree(a, 8 * GRAIN));
    CALL(cu->cuMemAddressFree(a, 0));
    CALL(cu->cuMemAddressFree(a, 4 * GRAIN));
}

static void create(void)
{
    CUmemAllocationProp prop = pinned();
    CUmemGenericAllocationHandle handle = 0;
    CALL(cu->cuMemCreate(&handle, GRAIN, &prop, 0));
    CALL(cu->cuMemRelease(handle));
    CALL(cu->cuMemRelease(handle));
    CALL(cu->cuMemRelease(0));
    CALL(cu->cuMemCreate(&handle, 0, &prop, 0));
    CALL(cu->cuMemCreate(&handle, 1000, &prop, 0));
    CALL(cu->cuMemCreate(&handle, 65536, &prop, 0));
    CALL(cu->cuMemCreate(&handle, GRAIN, &prop, 1));
    CALL(cu->cuMemCreate(NULL, GRAIN, &prop, 0));
    CALL(cu->cuMemCreate(&handle, GRAIN, NULL, 0));
    CALL(cu->cuMemCreate(&handle, (size_t)1 << 50, &prop, 0));
    prop.location.id = 7;
    CALL(cu->cuMemCreate(&handle, GRAIN, &prop, 0));
    prop = pinned();
    prop.type = CU_MEM_ALLOCATION_TYPE_INVALID;
    CALL(cu->cuMemCreate(&handle, GRAIN, &prop, 0));
    prop = pinned();
    prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_WIN32;
    CALL(cu->cuMemCreate(&handle, GRAIN, &prop, 0));
}

static void whole(void)
{
    CUdeviceptr a = reserved(2 * GRAIN);
    CUmemGenericAllocationHandle handle = created(GRAIN), again = 0;
    CALL(cu->cuMemMap(a, GRAIN, 0, handle, 0));
    CALL(cu->cuMemsetD8(a, 1, 16));
    CALL(cu->cuMemSetAccess(a, GRAIN, &both, 1));
    CALL(cu->cuMemsetD32(a, 42, 16));
    VALUE("word=%u", conform_read(a));
    CALL(cu->cuMemMap(a + GRAIN, GRAIN, 0, handle, 0));
    CALL(cu->cuMemSetAccess(a + GRAIN, GRAIN, &both, 1));
    VALUE("word=%u", conform_read(a + GRAIN));
    CALL(cu->cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)(a + 8)));
    VALUE("same=%d", again == handle);
    CALL(cu->cuMemRelease(again));
    CALL(cu->cuMemUnmap(a, GRAIN));
    CALL(cu->cuMemUnmap(a + GRAIN, GRAIN));
    CALL(cu->cuMemRelease(handle));
    CALL(cu->cuMemAddressFree(a, 2 * GRAIN));
}

static void map_misuse(void)
{
    CUdeviceptr a = reserved(2 * GRAIN);
    CUmemGenericAllocationHandle handle = created(GRAIN);
    CALL(cu->cuMemMap(a, 2 * GRAIN, 0, handle, 0));
    CALL(cu->cuMemMap(a, GRAIN, GRAIN, handle, 0));
    CALL(cu->cuMemMap(a, 4096, 0, handle, 0));
    CALL(cu->cuMemMap(a + 4096, GRAIN, 0, handle, 0));
    CALL(cu->cuMemMap(a, GRAIN, 0, handle, 1));
    CALL(cu->cuMemMap(a, GRAIN, 0, 0, 0));
    CALL(cu->cuMemMap(a, 0, 0, handle, 0));
    CALL(cu->cuMemMap(0, GRAIN, 0, handle, 0));
    CALL(cu->cuMemMap(a + 2 * GRAIN, GRAIN, 0, handle, 0));
    CALL(cu->cuMemMap(a, GRAIN, 0, handle, 0));
    CALL(cu->cuMemMap(a, GRAIN, 0, handle, 0));
    CALL(cu->cuMemMap(conform_memory(4 * GRAIN), GRAIN, 0, handle, 0));
}

static void unmap_misuse(void)
{
    CUdeviceptr a = reserved(4 * GRAIN);
    CUmemGenericAllocationHandle handle = created(2 * GRAIN);
    CALL(cu->cuMemUnmap(a, GRAIN));
    MUST(cu->cuMemMap(a, 2 * GRAIN, 0, handle, 0));
    CALL(cu->cuMemUnmap(a, GRAIN));
    CALL(cu->cuMemUnmap(a + GRAIN, GRAIN));
    CALL(cu->cuMemUnmap(a, 4 * GRAIN));
    CALL(cu->cuMemUnmap(a, 0));
    CALL(cu->cuMemUnmap(0, GRAIN));
    CALL(cu->cuMemAddressFree(a, 4 * GRAIN));
    CALL(cu->cuMemUnmap(a, 2 * GRAIN));
    CALL(cu->cuMemUnmap(a, 2 * GRAIN));
    CALL(cu->cuMemAddressFree(a, 4 * GRAIN));
    CALL(cu->cuMemUnmap(conform_memory(4 * GRAIN), GRAIN));
}

static void unmap_several(void)
{
    CUdeviceptr a = reserved(4 * GRAIN);
    CUmemGenericAllocationHandle one = created(GRAIN), two = created(GRAIN);
    MUST(cu->cuMemMap(a, GRAIN, 0, one, 0));
    MUST(cu->cuMemMap(a + GRAIN, GRAIN, 0, two, 0));
    CALL(cu->cuMemSetAccess(a, 2 * GRAIN, &both, 1));
    CALL(cu->cuMemSetAccess(a, 3 * GRAIN, &both, 1));
    CALL(cu->cuMemsetD8(a, 3, 2 * GRAIN));
    CALL(cu->cuMemcpyDtoD(a, a + GRAIN, GRAIN));
    CALL(cu->cuMemUnmap(a, 3 * GRAIN));
    CALL(cu->cuMemUnmap(a, 2 * GRAIN));
    CALL(cu->cuMemRelease(one));
    CALL(cu->cuMemRelease(two));
}

static void release_while_mapped(void)
{
    CUdeviceptr a = reserved(GRAIN);
    CUmemGenericAllocationHandle handle = created(GRAIN), again = 0;
    MUST(cu->cuMemMap(a, GRAIN, 0, handle, 0));
    MUST(cu->cuMemSetAccess(a, GRAIN, &both, 1));
    CALL(cu->cuMemRelease(handle));
    CALL(cu->cuMemsetD32(a, 42, 16));
    CALL(cu->cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)a));
    CALL(cu->cuMemRelease(again));
    CALL(cu->cuMemUnmap(a, GRAIN));
    CALL(cu->cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)a));
    CALL(cu->cuMemsetD32(a, 42, 16));
}

static void access_misuse(void)
{
    CUdeviceptr a = reserved(2 * GRAIN);
    CUmemGenericAllocationHandle handle = created(GRAIN);
    CUmemAccessDesc desc = both;
    CALL(cu->cuMemSetAccess(a, GRAIN, &both, 1));
    MUST(cu->cuMemMap(a, GRAIN, 0, handle, 0));
    CALL(cu->cuMemSetAccess(a, 4096, &both, 1));
    CALL(cu->cuMemSetAccess(a, 0, &both, 1));
    CALL(cu->cuMemSetAccess(a, GRAIN, NULL, 1));
    CALL(cu->cuMemSetAccess(a, GRAIN, &both, 0));
    CALL(cu->cuMemSetAccess(a, 2 * GRAIN, &both, 1));
    CALL(cu->cuMemSetAccess(0, GRAIN, &both, 1));
    desc.location.id = 7;
    CALL(cu->cuMemSetAccess(a, GRAIN, &desc, 1));
    desc = both;
    desc.flags = (CUmemAccess_flags)2;
    CALL(cu->cuMemSetAccess(a, GRAIN, &desc, 1));
    desc.flags = CU_MEM_ACCESS_FLAGS_PROT_READ;
    CALL(cu->cuMemSetAccess(a, GRAIN, &desc, 1));
    CALL(cu->cuMemSetAccess(a, GRAIN, &both, 1));
    desc.flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    CALL(cu->cuMemSetAccess(a, GRAIN, &desc, 1));
    CALL(cu->cuMemsetD8(a, 1, 16));
}

static void get_access(void)
{
    CUdeviceptr a = reserved(GRAIN);
    CUmemGenericAllocationHandle handle = created(GRAIN);
    CUmemLocation here = both.location;
    unsigned long long flags = 77;
    CALL(cu->cuMemGetAccess(&flags, &here, a));
    VALUE("flags=%llu", flags);
    MUST(cu->cuMemMap(a, GRAIN, 0, handle, 0));
    CALL(cu->cuMemGetAccess(&flags, &here, a));
    VALUE("flags=%llu", flags);
    MUST(cu->cuMemSetAccess(a, GRAIN, &both, 1));
    CALL(cu->cuMemGetAccess(&flags, &here, a + 8));
    VALUE("flags=%llu", flags);
    CALL(cu->cuMemGetAccess(NULL, &here, a));
    CALL(cu->cuMemGetAccess(&flags, NULL, a));
    CALL(cu->cuMemGetAccess(&flags, &here, conform_memory(16)));
    VALUE("flags=%llu", flags);
    here.id = 7;
    CALL(cu->cuMemGetAccess(&flags, &here, a));
}

static void properties(void)
{
    CUmemGenericAllocationHandle handle = created(GRAIN), again = 0;
    CUmemAllocationProp prop;
    memset(&prop, 0x77, sizeof prop);
    CALL(cu->cuMemGetAllocationPropertiesFromHandle(&prop, handle));
    VALUE("type=%d handles=%d location=%d/%d compression=%d", (int)prop.type,
          (int)prop.requestedHandleTypes, (int)prop.location.type, prop.location.id,
          prop.allocFlags.compressionType);
    CALL(cu->cuMemGetAllocationPropertiesFromHandle(NULL, handle));
    CALL(cu->cuMemGetAllocationPropertiesFromHandle(&prop, 0));
    CALL(cu->cuMemRetainAllocationHandle(&again, NULL));
    CALL(cu->cuMemRetainAllocationHandle(&again, &prop));
    CALL(cu->cuMemRetainAllocationHandle(NULL, &prop));
    CALL(cu->cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)conform_memory(GRAIN)));
}

static void export(void)
{
    CUmemGenericAllocationHandle handle = created(GRAIN);
    int fd = -1;
    const CUmemAllocationHandleType posix = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    CALL(cu->cuMemExportToShareableHandle(&fd, handle, posix, 0));
    CALL(cu->cuMemExportToShareableHandle(NULL, handle, posix, 0));
    CALL(cu->cuMemExportToShareableHandle(&fd, 0, posix, 0));
    CALL(cu->cuMemExportToShareableHandle(&fd, handle, CU_MEM_HANDLE_TYPE_NONE, 0));
    CALL(cu->cuMemExportToShareableHandle(&fd, handle, posix, 1));
    CALL(cu->cuMemImportFromShareableHandle(NULL, (void *)(intptr_t)1, posix));
}

static void other_calls(void)
{
    CUdeviceptr a = reserved(2 * GRAIN), base = 0;
    size_t size = 0;
    CUmemGenericAllocationHandle handle = created(GRAIN);
    MUST(cu->cuMemMap(a, GRAIN, 0, handle, 0));
    MUST(cu->cuMemSetAccess(a, GRAIN, &both, 1));
    CALL(cu->cuMemFree(a));
    CALL(cu->cuMemGetAddressRange(&base, &size, a + 8));
    VALUE("base=%d size=%zu", base == a, size);
    CALL(cu->cuMemcpyDtoD(a, conform_memory(64), 64));
    CALL(cu->cuMemsetD8(a, 1, GRAIN + 1));
    CALL(cu->cuMemsetD8(a + GRAIN, 1, 1));
    CALL(cu->cuMemGetAddressRange(&base, &size, a + GRAIN));
    CALL(cu->cuCtxSynchronize());
}

static void pointer_attributes(void)
{
    CUdeviceptr a = reserved(GRAIN), start = 0;
    size_t size = 0;
    CUmemGenericAllocationHandle handle = created(GRAIN);
    CUmemorytype type = (CUmemorytype)77;
    int mapped = 0;
    CALL(cu->cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, a));
    CALL(cu->cuPointerGetAttribute(&mapped, CU_POINTER_ATTRIBUTE_MAPPED, a));
    VALUE("mapped=%d", mapped & 0xff);
    MUST(cu->cuMemMap(a, GRAIN, 0, handle, 0));
    MUST(cu->cuMemSetAccess(a, GRAIN, &both, 1));
    CALL(cu->cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, a));
    VALUE("type=%d", (int)type);
    CALL(cu->cuPointerGetAttribute(&mapped, CU_POINTER_ATTRIBUTE_MAPPED, a));
    VALUE("mapped=%d", mapped & 0xff);
    CALL(cu->cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, a + 8));
    VALUE("start=%d", start == a);
    CALL(cu->cuPointerGetAttribute(&size, CU_POINTER_ATTRIBUTE_RANGE_SIZE, a + 8));
    VALUE("size=%zu", size);
    CUcontext context = (CUcontext)&context;
    CALL(cu->cuPointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, a));
    VALUE("context=%s", context == ctx ? "current" : context ? "other" : "NULL");
}

static void multicast(void)
{
    CUmulticastObjectProp prop;
    CUmemGenericAllocationHandle handle = 0;
    size_t size = 77;
    memset(&prop, 0, sizeof prop);
    CALL(cu->cuMulticastGetGranularity(&size, NULL, CU_MULTICAST_GRANULARITY_MINIMUM));
    CALL(cu->cuMulticastGetGranularity(NULL, &prop, CU_MULTICAST_GRANULARITY_MINIMUM));
    CALL(cu->cuMulticastCreate(NULL, &prop));
    CALL(cu->cuMulticastCreate(&handle, NULL));
}

static const struct sequence sequences[] = {S(granularity, PRIMARY),
                                            S(reserve, PRIMARY),
                                            S(reserve_partly_free, PRIMARY),
                                            S(create, PRIMARY),
                                            S(whole, PRIMARY),
                                            S(map_misuse, PRIMARY),
                                            S(unmap_misuse, PRIMARY),
                                            S(unmap_several, PRIMARY),
                                            S(release_while_mapped, PRIMARY),
                                            S(access_misuse, PRIMARY),
                                            S(get_access, PRIMARY),
                                            S(properties, PRIMARY),
                                            S(export, PRIMARY),
                                            S(other_calls, PRIMARY),
                                            S(pointer_attributes, PRIMARY),
                                            S(multicast, PRIMARY),
                                            {0}};
const struct family virtual_family = {"virtual", sequences};
