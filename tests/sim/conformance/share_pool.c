/* SPDX-License-Identifier: MIT */
/* Pools of another process, and the memory in them. */
#include "partner.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

static const CUmemAllocationHandleType POSIX = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
#define BIG ((size_t)4 << 20)

static CUmemoryPool shared_pool(void)
{
    CUmemPoolProps props;
    CUmemoryPool pool = NULL;
    memset(&props, 0, sizeof props);
    props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    props.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    props.handleTypes = POSIX;
    MUST(cu->cuMemPoolCreate(&pool, &props));
    return pool;
}

static CUdeviceptr pool_memory(CUmemoryPool pool, size_t size, unsigned value)
{
    CUdeviceptr a = 0;
    MUST(cu->cuMemAllocFromPoolAsync(&a, size, pool, NULL));
    MUST(cu->cuMemsetD32(a, value, size / 4));
    MUST(cu->cuCtxSynchronize());
    return a;
}

static void word_at(CUdeviceptr address)
{
    unsigned value = 0;
    CALL(cu->cuMemcpyDtoH(&value, address, sizeof value));
    VALUE("%#x", value);
}

static void *of(int file)
{
    return (void *)(intptr_t)file;
}

static void attribute(CUmemoryPool pool, CUmemPool_attribute which)
{
    cuuint64_t value = 0;
    EACH(cu->cuMemPoolGetAttribute(pool, which, &value), "attribute %d", (int)which);
    VALUE("%llu", (unsigned long long)value);
}

static void describe(CUdeviceptr a, CUmemoryPool pool)
{
    CUdeviceptr base = 0;
    size_t size = 0;
    CUmemoryPool owner = NULL;
    CUcontext context = NULL;
    cuuint64_t types = 77;
    unsigned flags = 77, sync = 7, capable = 7;
    CALL(cu->cuMemGetAddressRange(&base, &size, a));
    VALUE("base=%d size=%zu", base == a, size);
    CALL(cu->cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, a));
    VALUE("own=%d none=%d", owner == pool, !owner);
    CALL(cu->cuPointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, a));
    VALUE("none=%d", !context);
    CALL(cu->cuPointerGetAttribute(&types, CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, a));
    VALUE("%llu", (unsigned long long)types);
    CALL(cu->cuPointerGetAttribute(&flags, CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, a));
    VALUE("%u", flags);
    CALL(cu->cuPointerGetAttribute(&sync, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, a));
    VALUE("%u", sync & 255);
    CALL(cu->cuPointerGetAttribute(&capable, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, a));
    VALUE("%u", capable & 255);
}

static void open_partner(void)
{
    CUmemPoolPtrExportData big, small, again;
    CUmemoryPool pool = NULL, second = NULL, own = shared_pool();
    CUdeviceptr a = 0, b = 0, c = 0;
    CUmemAccess_flags access = 77;
    CUmemLocation here = {.type = CU_MEM_LOCATION_TYPE_DEVICE};
    CUmemAccessDesc wanted = {.location = here, .flags = CU_MEM_ACCESS_FLAGS_PROT_NONE};
    cuuint64_t threshold = 1 << 20;
    int other = -1, file = partner_take_file();
    partner_take(&big, sizeof big);
    partner_take(&small, sizeof small);
    CALL(cu->cuMemPoolImportFromShareableHandle(&pool, of(file), POSIX, 0));
    close(file);
    for (int i = 1; i <= 8; i++)
        attribute(pool, (CUmemPool_attribute)i);
    CALL(cu->cuMemPoolGetAccess(&access, pool, &here));
    VALUE("%d", (int)access);
    CALL(cu->cuMemPoolSetAccess(pool, &wanted, 1));
    wanted.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    CALL(cu->cuMemPoolSetAccess(pool, &wanted, 1));
    CALL(cu->cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
    attribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD);
    CALL(cu->cuMemPoolTrimTo(pool, 0));
    CALL(cu->cuMemAllocFromPoolAsync(&a, 4096, pool, NULL));
    VALUE("zero=%d", !a);
    CALL(cu->cuDeviceSetMemPool(dev, pool));
    CALL(cu->cuMemPoolExportToShareableHandle(&other, pool, POSIX, 0));
    CALL(cu->cuMemPoolImportPointer(NULL, pool, &big));
    CALL(cu->cuMemPoolImportPointer(&a, pool, NULL));
    CALL(cu->cuMemPoolImportPointer(&a, own, &big));
    CALL(cu->cuMemPoolImportPointer(&a, pool, &big));
    describe(a, pool);
    word_at(a);
    CALL(cu->cuMemsetD32(a + 4, 0xabcd, 1));
    for (int i = 5; i <= 8; i++)
        attribute(pool, (CUmemPool_attribute)i);
    CALL(cu->cuMemPoolImportPointer(&b, pool, &big));
    VALUE("same=%d", a == b);
    CALL(cu->cuMemPoolImportPointer(&c, pool, &small));
    word_at(c);
    describe(c, pool);
    CALL(cu->cuMemPoolExportPointer(&again, a));
    CALL(cu->cuMemFreeAsync(c, NULL));
    CALL(cu->cuCtxSynchronize());
    word_at(c);
    CALL(cu->cuMemFree(a));
    word_at(a);
    if (b != a)
        CALL(cu->cuMemFree(b));
    memset(&again, 0, sizeof again);
    CALL(cu->cuMemPoolImportPointer(&a, pool, &again));
    memset(&again, 0xff, sizeof again);
    CALL(cu->cuMemPoolImportPointer(&a, pool, &again));
    CALL(cu->cuMemPoolImportPointer(&a, pool, &big));
    CALL(cu->cuMemPoolDestroy(pool));
    word_at(a);
    CALL(cu->cuMemFree(a));
    CALL(cu->cuMemPoolImportPointer(&a, pool, &big));
    file = partner_take_file();
    CALL(cu->cuMemPoolImportFromShareableHandle(&pool, of(file), POSIX, 0));
    CALL(cu->cuMemPoolImportFromShareableHandle(&second, of(file), POSIX, 0));
    VALUE("same=%d", pool == second);
    CALL(cu->cuCtxSynchronize());
    partner_turn();
}

static void pool_open(void)
{
    CUmemPoolPtrExportData big, small, inner;
    partner_begin(open_partner);
    CUmemoryPool pool = shared_pool(), mine = NULL;
    CUdeviceptr a = pool_memory(pool, BIG, 0x1111), b = pool_memory(pool, 1000, 0x2222), c = 0;
    int file = -1, other = -1;
    CALL(cu->cuMemPoolExportToShareableHandle(&other, pool, POSIX, 1));
    CALL(cu->cuMemPoolExportToShareableHandle(&other, pool, CU_MEM_HANDLE_TYPE_NONE, 0));
    CALL(cu->cuMemPoolExportToShareableHandle(&other, pool, CU_MEM_HANDLE_TYPE_FABRIC, 0));
    CALL(cu->cuMemPoolExportToShareableHandle(&file, pool, POSIX, 0));
    CALL(cu->cuMemPoolExportToShareableHandle(&other, pool, POSIX, 0));
    VALUE("same=%d cloexec=%d", file == other, !!(fcntl(other, F_GETFD) & FD_CLOEXEC));
    CALL(cu->cuMemPoolExportPointer(&big, a));
    CALL(cu->cuMemPoolExportPointer(&inner, a + 4096));
    CALL(cu->cuMemPoolExportPointer(&small, b));
    CALL(cu->cuMemPoolImportFromShareableHandle(&mine, of(file), POSIX, 0));
    VALUE("same=%d", mine == pool);
    CALL(cu->cuMemPoolImportPointer(&c, mine, &big));
    VALUE("same=%d", c == a);
    describe(a, pool);
    partner_give_file(file);
    partner_give(&big, sizeof big);
    partner_give(&small, sizeof small);
    partner_give_file(other);
    partner_take(&big, 1);
    word_at(a + 4);
    CALL(cu->cuMemFree(a));
    CALL(cu->cuMemPoolExportPointer(&big, a));
    CALL(cu->cuMemPoolDestroy(pool));
    CALL(cu->cuMemPoolExportToShareableHandle(&other, pool, POSIX, 0));
}

/* Files that are no pool's, and places that cannot share. */
static void pool_wrong(void)
{
    CUmemoryPool pool = shared_pool(), got = NULL, plain = NULL;
    CUmemPoolProps props;
    CUmemAllocationProp prop;
    CUmemGenericAllocationHandle block = 0;
    CUmemPoolPtrExportData data;
    CUdeviceptr a = 0;
    int null = open("/dev/null", O_RDWR), memory = memfd_create("none", 0), physical = -1;
    int file = -1;
    CALL(cu->cuMemPoolImportFromShareableHandle(&got, of(-1), POSIX, 0));
    CALL(cu->cuMemPoolImportFromShareableHandle(&got, of(null), POSIX, 0));
    CALL(cu->cuMemPoolImportFromShareableHandle(&got, of(memory), POSIX, 0));
    CALL(cu->cuMemPoolImportFromShareableHandle(&got, of(999), POSIX, 0));
    memset(&prop, 0, sizeof prop);
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    prop.requestedHandleTypes = POSIX;
    MUST(cu->cuMemCreate(&block, 2 << 20, &prop, 0));
    MUST(cu->cuMemExportToShareableHandle(&physical, block, POSIX, 0));
    CALL(cu->cuMemPoolImportFromShareableHandle(&got, of(physical), POSIX, 0));
    close(null);
    CALL(cu->cuMemPoolImportFromShareableHandle(&got, of(null), POSIX, 0));
    MUST(cu->cuMemPoolExportToShareableHandle(&file, pool, POSIX, 0));
    CALL(cu->cuMemPoolImportFromShareableHandle(&got, of(file), POSIX, 1));
    CALL(cu->cuMemPoolImportFromShareableHandle(&got, of(file), CU_MEM_HANDLE_TYPE_NONE, 0));
    CALL(cu->cuMemImportFromShareableHandle(&block, of(file), POSIX));
    CALL(cu->cuMemAllocAsync(&a, 4096, NULL));
    CALL(cu->cuMemPoolExportPointer(&data, a));
    a = conform_memory(4096);
    CALL(cu->cuMemPoolExportPointer(&data, a));
    memset(&props, 0, sizeof props);
    props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    props.location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
    props.handleTypes = POSIX;
    CALL(cu->cuMemPoolCreate(&plain, &props));
    CALL(cu->cuMemPoolExportToShareableHandle(&file, plain, POSIX, 0));
    CALL(cu->cuMemAllocFromPoolAsync(&a, 4096, plain, NULL));
    CALL(cu->cuMemPoolExportPointer(&data, a));
    CALL(cu->cuMemPoolDestroy(pool));
    CALL(cu->cuMemPoolImportFromShareableHandle(&got, of(file), POSIX, 0));
    CALL(cu->cuCtxSynchronize());
}

/* The owner frees its memory, and is killed. */
static void owner_partner(void)
{
    CUmemPoolPtrExportData first, second, third;
    CUmemoryPool pool = shared_pool();
    CUdeviceptr a = pool_memory(pool, BIG, 0x5555), b = pool_memory(pool, BIG, 0x6666);
    CUdeviceptr c = pool_memory(pool, BIG, 0x7777);
    char word;
    int file = -1;
    MUST(cu->cuMemPoolExportToShareableHandle(&file, pool, POSIX, 0));
    MUST(cu->cuMemPoolExportPointer(&first, a));
    MUST(cu->cuMemPoolExportPointer(&second, b));
    MUST(cu->cuMemPoolExportPointer(&third, c));
    partner_give_file(file);
    partner_give(&first, sizeof first);
    partner_give(&second, sizeof second);
    partner_give(&third, sizeof third);
    partner_take(&word, 1);
    CALL(cu->cuMemFreeAsync(a, NULL));
    CALL(cu->cuMemFreeAsync(b, NULL));
    CALL(cu->cuCtxSynchronize());
    partner_turn();
}

static void pool_orphan(void)
{
    CUmemPoolPtrExportData first, second, third;
    CUmemoryPool pool = NULL;
    CUdeviceptr a = 0, b = 0, c = 0;
    partner_begin(owner_partner);
    int file = partner_take_file();
    partner_take(&first, sizeof first);
    partner_take(&second, sizeof second);
    partner_take(&third, sizeof third);
    CALL(cu->cuMemPoolImportFromShareableHandle(&pool, of(file), POSIX, 0));
    CALL(cu->cuMemPoolImportPointer(&a, pool, &first));
    partner_turn();
    word_at(a);
    CALL(cu->cuMemPoolImportPointer(&b, pool, &second));
    partner_kill();
    NOTE("the owner is killed");
    word_at(a);
    CALL(cu->cuMemPoolImportPointer(&c, pool, &third));
    word_at(c);
    CALL(cu->cuMemPoolImportFromShareableHandle(&pool, of(file), POSIX, 0));
    CALL(cu->cuMemFree(a));
    CALL(cu->cuCtxSynchronize());
}

static const struct sequence sequences[] = {
    S(pool_open, BARE), S(pool_wrong, PRIMARY), S(pool_orphan, BARE), {NULL, NULL, BARE}};
const struct family share_pool_family = {"share_pool", sequences};
