/* SPDX-License-Identifier: MIT */
/* Memory without an address, passed on as a file; and files of address ranges. */
#include "partner.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

static const CUmemAllocationHandleType POSIX = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
#define GRAIN ((size_t)2 << 20)

static void *of(int file)
{
    return (void *)(intptr_t)file;
}

static CUmemAllocationProp shared_prop(void)
{
    CUmemAllocationProp prop;
    memset(&prop, 0, sizeof prop);
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    prop.requestedHandleTypes = POSIX;
    return prop;
}

static CUdeviceptr mapped(CUmemGenericAllocationHandle block, size_t size)
{
    CUdeviceptr a = 0;
    CUmemAccessDesc access = {.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    CALL(cu->cuMemAddressReserve(&a, size, 0, 0, 0));
    CALL(cu->cuMemMap(a, size, 0, block, 0));
    CALL(cu->cuMemSetAccess(a, size, &access, 1));
    return a;
}

static void word_at(CUdeviceptr address)
{
    unsigned value = 0;
    CALL(cu->cuMemcpyDtoH(&value, address, sizeof value));
    VALUE("%#x", value);
}

static void import_partner(void)
{
    CUmemGenericAllocationHandle block = 0, second = 0, back = 0;
    CUmemAllocationProp prop;
    CUdeviceptr a, b = 0;
    cuuint64_t types = 77;
    int again = -1, file = partner_take_file();
    CALL(cu->cuMemImportFromShareableHandle(&block, of(file), POSIX));
    CALL(cu->cuMemImportFromShareableHandle(&second, of(file), POSIX));
    VALUE("same=%d", block == second);
    close(file);
    memset(&prop, 0, sizeof prop);
    CALL(cu->cuMemGetAllocationPropertiesFromHandle(&prop, block));
    VALUE("type=%d handles=%d place=%d.%d", (int)prop.type, (int)prop.requestedHandleTypes,
          (int)prop.location.type, prop.location.id);
    CALL(cu->cuMemAddressReserve(&b, 2 * GRAIN, 0, 0, 0));
    CALL(cu->cuMemMap(b, GRAIN, 0, block, 0));
    CALL(cu->cuMemAddressFree(b, 2 * GRAIN));
    a = mapped(block, 2 * GRAIN);
    word_at(a);
    CALL(cu->cuMemsetD32(a + 4, 0xabcd, 1));
    CALL(cu->cuPointerGetAttribute(&types, CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, a));
    VALUE("%llu", (unsigned long long)types);
    CALL(cu->cuMemRetainAllocationHandle(&back, NULL));
    CALL(cu->cuMemRetainAllocationHandle(&back, (void *)(uintptr_t)a));
    VALUE("same=%d", back == block);
    CALL(cu->cuMemExportToShareableHandle(&again, block, POSIX, 0));
    CALL(cu->cuMemRelease(block));
    CALL(cu->cuMemRelease(second));
    CALL(cu->cuMemRelease(back));
    CALL(cu->cuMemRelease(back));
    CALL(cu->cuCtxSynchronize());
    partner_turn();
    word_at(a);
    partner_turn();
    CALL(cu->cuMemUnmap(a, 2 * GRAIN));
    CALL(cu->cuMemAddressFree(a, 2 * GRAIN));
    partner_turn();
}

static void virtual_import(void)
{
    CUmemAllocationProp prop = shared_prop();
    CUmemGenericAllocationHandle block = 0, mine = 0;
    CUdeviceptr a;
    cuuint64_t types = 77;
    char word;
    int file = -1, other = -1;
    partner_begin(import_partner);
    CALL(cu->cuMemCreate(&block, 2 * GRAIN, &prop, 0));
    a = mapped(block, 2 * GRAIN);
    MUST(cu->cuMemsetD32(a, 0x1111, GRAIN / 2));
    MUST(cu->cuCtxSynchronize());
    CALL(cu->cuPointerGetAttribute(&types, CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, a));
    VALUE("%llu", (unsigned long long)types);
    CALL(cu->cuMemExportToShareableHandle(&file, block, POSIX, 0));
    CALL(cu->cuMemExportToShareableHandle(&other, block, POSIX, 0));
    VALUE("same=%d cloexec=%d", file == other, !!(fcntl(other, F_GETFD) & FD_CLOEXEC));
    CALL(cu->cuMemExportToShareableHandle(&other, block, CU_MEM_HANDLE_TYPE_FABRIC, 0));
    CALL(cu->cuMemImportFromShareableHandle(&mine, of(file), POSIX));
    VALUE("same=%d", mine == block);
    CALL(cu->cuMemRelease(mine));
    partner_give_file(file);
    partner_take(&word, 1);
    word_at(a + 4);
    CALL(cu->cuMemsetD32(a, 0x2222, 1));
    CALL(cu->cuCtxSynchronize());
    CALL(cu->cuMemUnmap(a, 2 * GRAIN));
    CALL(cu->cuMemRelease(block));
    CALL(cu->cuCtxSynchronize());
    partner_turn();
    CALL(cu->cuMemImportFromShareableHandle(&mine, of(file), POSIX));
    a = mapped(mine, 2 * GRAIN);
    word_at(a);
    partner_turn();
}

/* Files that are no memory's. */
static void virtual_wrong(void)
{
    CUmemAllocationProp prop = shared_prop();
    CUmemGenericAllocationHandle block = 0, got = 0;
    int null = open("/dev/null", O_RDWR), memory = memfd_create("none", 0), file = -1;
    CALL(cu->cuMemImportFromShareableHandle(&got, of(-1), POSIX));
    CALL(cu->cuMemImportFromShareableHandle(&got, of(999), POSIX));
    CALL(cu->cuMemImportFromShareableHandle(&got, of(null), POSIX));
    CALL(cu->cuMemImportFromShareableHandle(&got, of(memory), POSIX));
    if (ftruncate(memory, (off_t)GRAIN) != 0)
        return;
    CALL(cu->cuMemImportFromShareableHandle(&got, of(memory), POSIX));
    MUST(cu->cuMemCreate(&block, GRAIN, &prop, 0));
    CALL(cu->cuMemExportToShareableHandle(&file, block, POSIX, 0));
    CALL(cu->cuMemImportFromShareableHandle(&got, of(file), CU_MEM_HANDLE_TYPE_NONE));
    CALL(cu->cuMemImportFromShareableHandle(&got, of(file), (CUmemAllocationHandleType)0x40));
    close(file);
    CALL(cu->cuMemImportFromShareableHandle(&got, of(file), POSIX));
}

/* The owner is killed: the memory stays. */
static void owner_partner(void)
{
    CUmemAllocationProp prop = shared_prop();
    CUmemGenericAllocationHandle block = 0;
    int file = -1;
    MUST(cu->cuMemCreate(&block, GRAIN, &prop, 0));
    CUdeviceptr a = mapped(block, GRAIN);
    MUST(cu->cuMemsetD32(a, 0x3333, GRAIN / 4));
    MUST(cu->cuCtxSynchronize());
    MUST(cu->cuMemExportToShareableHandle(&file, block, POSIX, 0));
    partner_give_file(file);
    partner_turn();
}

static void virtual_orphan(void)
{
    CUmemGenericAllocationHandle block = 0;
    partner_begin(owner_partner);
    int file = partner_take_file();
    partner_kill();
    NOTE("the owner is killed");
    CALL(cu->cuMemImportFromShareableHandle(&block, of(file), POSIX));
    CUdeviceptr a = mapped(block, GRAIN);
    word_at(a);
    CALL(cu->cuMemUnmap(a, GRAIN));
    CALL(cu->cuMemRelease(block));
    CALL(cu->cuMemImportFromShareableHandle(&block, of(file), POSIX));
}

/* For other drivers, as dma-buf. */
static void virtual_range(void)
{
    const CUmemRangeHandleType DMA = CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD;
    CUmemAllocationProp prop = shared_prop();
    CUmemGenericAllocationHandle block = 0;
    CUdeviceptr a = conform_memory(4 * GRAIN), b;
    a = (a + 65535) / 65536 * 65536;
    int file = -1, supported = 0;
    CALL(cu->cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED, dev));
    VALUE("%d", supported);
    CALL(cu->cuMemGetHandleForAddressRange(&file, a, 65536, DMA, 0));
    CALL(cu->cuMemGetHandleForAddressRange(&file, a, 4096, DMA, 0));
    CALL(cu->cuMemGetHandleForAddressRange(&file, a + 4096, 4096, DMA, 0));
    CALL(cu->cuMemGetHandleForAddressRange(&file, a, 65536, DMA, 7));
    CALL(cu->cuMemGetHandleForAddressRange(&file, a, 64 * GRAIN, DMA, 0));
    CALL(cu->cuMemGetHandleForAddressRange(&file, a, 0, DMA, 0));
    MUST(cu->cuMemCreate(&block, GRAIN, &prop, 0));
    b = mapped(block, GRAIN);
    CALL(cu->cuMemGetHandleForAddressRange(&file, b, GRAIN, DMA, 0));
    prop.allocFlags.gpuDirectRDMACapable = 1;
    CALL(cu->cuMemCreate(&block, GRAIN, &prop, 0));
    b = mapped(block, GRAIN);
    CALL(cu->cuMemGetHandleForAddressRange(&file, b, GRAIN, DMA, 0));
}

static const struct sequence sequences[] = {
    S(virtual_import, BARE),   S(virtual_wrong, PRIMARY), S(virtual_orphan, BARE),
    S(virtual_range, PRIMARY), {NULL, NULL, BARE},
};
const struct family share_virtual_family = {"share_virtual", sequences};
