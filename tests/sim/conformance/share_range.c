/* SPDX-License-Identifier: MIT */
/* Files of ranges of memory: of which memory there are any. */
#include "conform.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define GRAIN ((size_t)2 << 20)
#define PAGE ((size_t)4096)
static const CUmemRangeHandleType DMA = CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD;

static CUresult ask(CUdeviceptr address, size_t size, unsigned long long flags)
{
    int file = -1;
    CUresult code = cu->cuMemGetHandleForAddressRange(&file, address, size, DMA, flags);
    if (code == CUDA_SUCCESS)
        close(file);
    return code;
}

static void range_requests(void)
{
    static const unsigned long long flags[] = {1, 2, 3, 4, 7, 1ULL << 40};
    CUdeviceptr a = conform_memory(4 * GRAIN);
    int file = -1;
    CALL(cu->cuMemGetHandleForAddressRange(&file, a, GRAIN, DMA, 0));
    VALUE("size=%zu close=%d", (size_t)lseek(file, 0, SEEK_END), fcntl(file, F_GETFD));
    CALL(ask(a, GRAIN, 0));
    CALL(ask(a + 2 * GRAIN, PAGE, 0));
    CALL(ask(a + 512, PAGE, 0));
    CALL(ask(a + 1, PAGE, 0));
    CALL(ask(a, PAGE - 1, 0));
    CALL(ask(a, 512, 0));
    CALL(ask(a, 0, 0));
    CALL(ask(a, 4 * GRAIN + PAGE, 0));
    CALL(ask(a + 4 * GRAIN - PAGE, 2 * PAGE, 0));
    CALL(ask(0, PAGE, 0));
    CALL(ask(a, (size_t)0 - PAGE, 0));
    CALL(cu->cuMemGetHandleForAddressRange(NULL, a, PAGE, DMA, 0));
    CALL(cu->cuMemGetHandleForAddressRange(&file, a, PAGE, (CUmemRangeHandleType)0, 0));
    CALL(cu->cuMemGetHandleForAddressRange(&file, a, PAGE, (CUmemRangeHandleType)2, 0));
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        EACH(ask(a, GRAIN, flags[i]), "flags 0x%llx", flags[i]);
        EACH(ask(a, 0, flags[i]), "flags 0x%llx, no size", flags[i]);
        EACH(ask(0, PAGE, flags[i]), "flags 0x%llx, no memory", flags[i]);
    }
    CALL(cu->cuMemFree(a));
    CALL(ask(a, GRAIN, 0));
    MUST(cu->cuCtxSetCurrent(NULL));
    CALL(ask(a, PAGE, 0));
    CALL(ask(a, PAGE, 1));
    CALL(ask(a, PAGE, 2));
    CALL(ask(a, 0, 0));
}

static void range_kinds(void)
{
    CUdeviceptr managed = 0, pooled = 0;
    void *host = NULL, *plain = aligned_alloc(PAGE, GRAIN);
    MUST(cu->cuMemAllocHost(&host, GRAIN));
    CALL(ask((CUdeviceptr)(uintptr_t)host, GRAIN, 0));
    CALL(ask((CUdeviceptr)(uintptr_t)host, GRAIN, 1));
    CALL(ask((CUdeviceptr)(uintptr_t)plain, GRAIN, 0));
    MUST(cu->cuMemHostRegister(plain, GRAIN, 0));
    CALL(ask((CUdeviceptr)(uintptr_t)plain, GRAIN, 0));
    MUST(cu->cuMemAllocManaged(&managed, GRAIN, CU_MEM_ATTACH_GLOBAL));
    CALL(ask(managed, GRAIN, 0));
    CALL(ask(managed, GRAIN, 1));
    MUST(cu->cuMemAllocAsync(&pooled, GRAIN, NULL));
    MUST(cu->cuCtxSynchronize());
    CALL(ask(pooled, GRAIN, 0));
    CALL(ask(pooled, GRAIN, 1));
    CALL(cu->cuMemFreeAsync(pooled, NULL));
    CALL(ask(pooled, GRAIN, 0));
}

static void range_virtual(void)
{
    CUmemAllocationProp prop;
    CUmemGenericAllocationHandle blocks[4];
    CUmemAccessDesc access = {.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUdeviceptr a = 0;
    access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    memset(&prop, 0, sizeof prop);
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    MUST(cu->cuMemAddressReserve(&a, 8 * GRAIN, 0, 0, 0));
    for (unsigned i = 0; i < 3; i++) {
        prop.allocFlags.gpuDirectRDMACapable = i == 2;
        MUST(cu->cuMemCreate(&blocks[i], GRAIN, &prop, 0));
        MUST(cu->cuMemMap(a + i * GRAIN, GRAIN, 0, blocks[i], 0));
    }
    CALL(ask(a, GRAIN, 0));
    MUST(cu->cuMemSetAccess(a, GRAIN, &access, 1));
    CALL(ask(a, GRAIN, 0));
    CALL(ask(a + GRAIN, 2 * GRAIN, 0));
    CALL(ask(a + GRAIN, 3 * GRAIN, 0));
    CALL(ask(a + 4 * GRAIN, GRAIN, 0));
    CALL(ask(a + 100, PAGE, 0));
    prop.allocFlags.gpuDirectRDMACapable = 0;
    prop.location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
    MUST(cu->cuMemCreate(&blocks[3], GRAIN, &prop, 0));
    MUST(cu->cuMemMap(a + 6 * GRAIN, GRAIN, 0, blocks[3], 0));
    CALL(ask(a + 6 * GRAIN, GRAIN, 0));
}

static void range_early(void)
{
    CALL(ask(4096, PAGE, 0));
    CALL(ask(4096, PAGE, 1));
    CALL(ask(4096, PAGE, 2));
    CALL(ask(4096, 0, 0));
    MUST(cu->cuInit(0));
    CALL(ask(4096, PAGE, 0));
}

static const struct sequence sequences[] = {S(range_requests, PRIMARY),
                                            S(range_kinds, PRIMARY),
                                            S(range_virtual, PRIMARY),
                                            S(range_early, BARE),
                                            {0}};
const struct family share_range_family = {"share_range", sequences};
