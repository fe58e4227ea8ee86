/* SPDX-License-Identifier: MIT */
/* Stream-ordered allocation and its pools. */
#include "conform.h"

static CUmemPoolProps plain(void)
{
    CUmemPoolProps props;
    memset(&props, 0, sizeof props);
    props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    props.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    return props;
}

static CUmemoryPool made(void)
{
    CUmemPoolProps props = plain();
    CUmemoryPool pool = NULL;
    MUST(cu->cuMemPoolCreate(&pool, &props));
    return pool;
}

static void create(void)
{
    CUmemPoolProps props = plain();
    CUmemoryPool pool = NULL;
    CALL(cu->cuMemPoolCreate(&pool, &props));
    CALL(cu->cuMemPoolDestroy(pool));
    CALL(cu->cuMemPoolDestroy(NULL));
    CALL(cu->cuMemPoolCreate(NULL, &props));
    CALL(cu->cuMemPoolCreate(&pool, NULL));
    props.allocType = CU_MEM_ALLOCATION_TYPE_INVALID;
    CALL(cu->cuMemPoolCreate(&pool, &props));
    props = plain();
    props.location.id = 7;
    CALL(cu->cuMemPoolCreate(&pool, &props));
    props.location.id = -1;
    CALL(cu->cuMemPoolCreate(&pool, &props));
    props = plain();
    props.location.type = CU_MEM_LOCATION_TYPE_INVALID;
    CALL(cu->cuMemPoolCreate(&pool, &props));
    props = plain();
    props.handleTypes = CU_MEM_HANDLE_TYPE_WIN32;
    CALL(cu->cuMemPoolCreate(&pool, &props));
    props.handleTypes = (CUmemAllocationHandleType)0x40;
    CALL(cu->cuMemPoolCreate(&pool, &props));
    props = plain();
    props.maxSize = 1 << 20;
    CALL(cu->cuMemPoolCreate(&pool, &props));
}

static void value_of(CUmemoryPool pool, int attribute)
{
    cuuint64_t value = 0;
    EACH(cu->cuMemPoolGetAttribute(pool, (CUmemPool_attribute)attribute, &value), "get %d",
         attribute);
    VALUE("value=%llu", (unsigned long long)value);
}

static void attributes(void)
{
    CUmemoryPool pool = made();
    for (int attribute = 0; attribute < 15; attribute++)
        value_of(pool, attribute);
    CALL(cu->cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, NULL));
    cuuint64_t value = 0;
    CALL(cu->cuMemPoolGetAttribute(NULL, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &value));
}

static void set_attributes(void)
{
    CUmemoryPool pool = made();
    for (int attribute = 0; attribute < 15; attribute++) {
        cuuint64_t value = 1;
        EACH(cu->cuMemPoolSetAttribute(pool, (CUmemPool_attribute)attribute, &value), "set %d to 1",
             attribute);
        value = 0;
        EACH(cu->cuMemPoolSetAttribute(pool, (CUmemPool_attribute)attribute, &value), "set %d to 0",
             attribute);
    }
    int two = 2;
    CALL(cu->cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, &two));
    value_of(pool, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC);
}

static void default_pool(void)
{
    CUmemoryPool a = NULL, b = NULL, mine = made();
    CALL(cu->cuDeviceGetDefaultMemPool(&a, dev));
    CALL(cu->cuDeviceGetMemPool(&b, dev));
    VALUE("same=%d", a == b);
    for (int attribute = 1; attribute < 5; attribute++)
        value_of(a, attribute);
    CALL(cu->cuMemPoolDestroy(a));
    CALL(cu->cuDeviceSetMemPool(dev, mine));
    CALL(cu->cuDeviceGetMemPool(&b, dev));
    VALUE("mine=%d", b == mine);
    CALL(cu->cuMemPoolDestroy(mine));
    CALL(cu->cuDeviceGetMemPool(&b, dev));
    VALUE("default=%d", b == a);
    CALL(cu->cuDeviceSetMemPool(dev, NULL));
    CALL(cu->cuDeviceSetMemPool(3, a));
    CALL(cu->cuDeviceGetDefaultMemPool(NULL, dev));
    CALL(cu->cuDeviceGetDefaultMemPool(&a, 3));
    CALL(cu->cuDeviceGetMemPool(NULL, dev));
}

static void located_pools(void)
{
    CUmemoryPool pool = NULL, device_pool = NULL;
    CUmemLocation here = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0};
    MUST(cu->cuDeviceGetDefaultMemPool(&device_pool, dev));
    CALL(cu->cuMemGetDefaultMemPool(&pool, &here, CU_MEM_ALLOCATION_TYPE_PINNED));
    VALUE("same=%d", pool == device_pool);
    CALL(cu->cuMemGetMemPool(&pool, &here, CU_MEM_ALLOCATION_TYPE_PINNED));
    VALUE("same=%d", pool == device_pool);
    CALL(cu->cuMemGetDefaultMemPool(&pool, &here, CU_MEM_ALLOCATION_TYPE_INVALID));
    CALL(cu->cuMemGetDefaultMemPool(NULL, &here, CU_MEM_ALLOCATION_TYPE_PINNED));
    CALL(cu->cuMemGetDefaultMemPool(&pool, NULL, CU_MEM_ALLOCATION_TYPE_PINNED));
    here.id = 7;
    CALL(cu->cuMemGetDefaultMemPool(&pool, &here, CU_MEM_ALLOCATION_TYPE_PINNED));
}

static void allocate(void)
{
    CUdeviceptr a = 0, b = 77, base = 0;
    size_t size = 0;
    CUstream stream = conform_stream();
    CALL(cu->cuMemAllocAsync(&a, 1000, stream));
    VALUE("aligned512=%d", a % 512 == 0);
    CALL(cu->cuMemGetAddressRange(&base, &size, a));
    VALUE("base=%d size=%zu", base == a, size);
    CALL(cu->cuMemsetD8Async(a, 1, 1000, stream));
    CALL(cu->cuMemFreeAsync(a, stream));
    CALL(cu->cuStreamSynchronize(stream));
    CALL(cu->cuMemFreeAsync(a, stream));
    CALL(cu->cuMemAllocAsync(&b, 0, stream));
    VALUE("address=%s", b == 77 ? "untouched" : b ? "some" : "zero");
    CALL(cu->cuMemAllocAsync(NULL, 16, stream));
    CALL(cu->cuMemAllocAsync(&b, (size_t)1 << 45, stream));
    CALL(cu->cuMemAllocAsync(&b, SIZE_MAX, stream));
    CALL(cu->cuMemFreeAsync(0, stream));
    CALL(cu->cuMemFreeAsync(12345, stream));
}

static void reuse(void)
{
    CUdeviceptr a = 0, b = 0;
    CUstream stream = conform_stream();
    MUST(cu->cuMemAllocAsync(&a, 4096, stream));
    MUST(cu->cuMemFreeAsync(a, stream));
    CALL(cu->cuMemAllocAsync(&b, 4096, stream));
    VALUE("same=%d", a == b);
}

static void mixed_free(void)
{
    CUdeviceptr a = 0, b = conform_memory(4096);
    CUstream stream = conform_stream();
    MUST(cu->cuMemAllocAsync(&a, 4096, stream));
    MUST(cu->cuStreamSynchronize(stream));
    CALL(cu->cuMemFreeAsync(a + 4, stream));
    CALL(cu->cuMemFree(a));
    CALL(cu->cuMemFree(a));
    CALL(cu->cuMemFreeAsync(b, stream));
    CALL(cu->cuStreamSynchronize(stream));
    CALL(cu->cuMemFree(b));
    CALL(cu->cuCtxSynchronize());
}

static void from_pool(void)
{
    CUmemoryPool pool = made(), got = NULL;
    CUdeviceptr a = 0;
    CUstream stream = conform_stream();
    CALL(cu->cuMemAllocFromPoolAsync(&a, 1000, pool, stream));
    CALL(cu->cuPointerGetAttribute(&got, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, a));
    VALUE("same=%d", got == pool);
    value_of(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT);
    value_of(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT);
    CALL(cu->cuMemFreeAsync(a, stream));
    value_of(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT);
    value_of(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH);
    CALL(cu->cuStreamSynchronize(stream));
    value_of(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT);
    value_of(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH);
    CALL(cu->cuMemAllocFromPoolAsync(&a, 1000, NULL, stream));
    CALL(cu->cuMemAllocFromPoolAsync(NULL, 1000, pool, stream));
    CALL(cu->cuMemAllocFromPoolAsync(&a, 0, pool, stream));
}

static void threshold(void)
{
    CUmemoryPool pool = made();
    CUdeviceptr a = 0;
    CUstream stream = conform_stream();
    cuuint64_t all = UINT64_MAX;
    CALL(cu->cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &all));
    value_of(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD);
    MUST(cu->cuMemAllocFromPoolAsync(&a, 40 << 20, pool, stream));
    value_of(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT);
    MUST(cu->cuMemFreeAsync(a, stream));
    MUST(cu->cuStreamSynchronize(stream));
    value_of(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT);
    CALL(cu->cuMemPoolTrimTo(pool, 1 << 20));
    value_of(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT);
    CALL(cu->cuMemPoolTrimTo(pool, 0));
    value_of(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT);
    CALL(cu->cuMemPoolTrimTo(pool, SIZE_MAX));
    CALL(cu->cuMemPoolTrimTo(NULL, 0));
}

static void access_rights(void)
{
    CUmemoryPool pool = made();
    CUmemAccess_flags flags = 0;
    CUmemLocation here = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0};
    CUmemAccessDesc desc = {.location = here, .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CALL(cu->cuMemPoolGetAccess(&flags, pool, &here));
    VALUE("flags=%d", (int)flags);
    CALL(cu->cuMemPoolSetAccess(pool, &desc, 1));
    desc.flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    CALL(cu->cuMemPoolSetAccess(pool, &desc, 1));
    desc.flags = CU_MEM_ACCESS_FLAGS_PROT_READ;
    CALL(cu->cuMemPoolSetAccess(pool, &desc, 1));
    CALL(cu->cuMemPoolSetAccess(pool, &desc, 0));
    CALL(cu->cuMemPoolSetAccess(pool, NULL, 1));
    CALL(cu->cuMemPoolGetAccess(NULL, pool, &here));
    CALL(cu->cuMemPoolGetAccess(&flags, pool, NULL));
    here.id = 7;
    CALL(cu->cuMemPoolGetAccess(&flags, pool, &here));
    desc.location.id = 7;
    CALL(cu->cuMemPoolSetAccess(pool, &desc, 1));
}

static void export(void)
{
    CUmemoryPool pool = made(), default_one = NULL, got = NULL;
    int handle = -1;
    CUdeviceptr a = 0;
    CUmemPoolPtrExportData data;
    MUST(cu->cuDeviceGetDefaultMemPool(&default_one, dev));
    MUST(cu->cuMemAllocFromPoolAsync(&a, 1000, pool, NULL));
    const CUmemAllocationHandleType fd = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    CALL(cu->cuMemPoolExportToShareableHandle(&handle, pool, fd, 0));
    CALL(cu->cuMemPoolExportToShareableHandle(&handle, default_one, fd, 0));
    CALL(cu->cuMemPoolExportToShareableHandle(NULL, pool, fd, 0));
    CALL(cu->cuMemPoolExportToShareableHandle(&handle, NULL, fd, 0));
    CALL(cu->cuMemPoolExportPointer(&data, a));
    CALL(cu->cuMemPoolExportPointer(NULL, a));
    CALL(cu->cuMemPoolExportPointer(&data, 12345));
    CALL(cu->cuMemPoolImportFromShareableHandle(&got, NULL, CU_MEM_HANDLE_TYPE_NONE, 0));
    CALL(cu->cuMemPoolImportFromShareableHandle(NULL, NULL, fd, 0));
}

static void destroy_in_use(void)
{
    CUmemoryPool pool = made();
    CUdeviceptr a = 0;
    MUST(cu->cuMemAllocFromPoolAsync(&a, 1000, pool, NULL));
    CALL(cu->cuMemPoolDestroy(pool));
    CALL(cu->cuMemsetD8(a, 1, 1000));
    CALL(cu->cuMemFreeAsync(a, NULL));
    CALL(cu->cuStreamSynchronize(NULL));
}

static void max_size(void)
{
    CUmemPoolProps props = plain();
    CUmemoryPool pool = NULL;
    CUdeviceptr a = 0, b = 0;
    props.maxSize = 32 << 20;
    CALL(cu->cuMemPoolCreate(&pool, &props));
    CALL(cu->cuMemAllocFromPoolAsync(&a, 30 << 20, pool, NULL));
    CALL(cu->cuMemAllocFromPoolAsync(&b, 30 << 20, pool, NULL));
    CALL(cu->cuMemAllocFromPoolAsync(&b, 64 << 20, pool, NULL));
    CALL(cu->cuCtxSynchronize());
}

static void free_on_other_stream(void)
{
    CUdeviceptr a = 0;
    CUstream one = conform_stream(), two = conform_stream();
    CALL(cu->cuMemAllocAsync(&a, 1000, one));
    CALL(cu->cuStreamSynchronize(one));
    CALL(cu->cuMemFreeAsync(a, two));
    CALL(cu->cuStreamSynchronize(two));
    CALL(cu->cuMemcpyDtoH(&one, a, 4));
}

static const struct sequence sequences[] = {S(create, PRIMARY),
                                            S(attributes, PRIMARY),
                                            S(set_attributes, PRIMARY),
                                            S(default_pool, PRIMARY),
                                            S(located_pools, PRIMARY),
                                            S(allocate, PRIMARY),
                                            S(reuse, PRIMARY),
                                            S(mixed_free, PRIMARY),
                                            S(from_pool, PRIMARY),
                                            S(threshold, PRIMARY),
                                            S(access_rights, PRIMARY),
                                            S(export, PRIMARY),
                                            S(destroy_in_use, PRIMARY),
                                            S(max_size, PRIMARY),
                                            S(free_on_other_stream, PRIMARY),
                                            {0}};
const struct family pool_family = {"pool", sequences};
