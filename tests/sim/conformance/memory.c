/* SPDX-License-Identifier: MIT */
/* Device memory: allocation, release, ranges, pitch. */
#include "conform.h"

static void alloc(void)
{
    CUdeviceptr a = 0, b = 0;
    CALL(cu->cuMemAlloc(&a, 1));
    VALUE("aligned512=%d", a % 512 == 0);
    CALL(cu->cuMemAlloc(&b, 1));
    VALUE("aligned512=%d differ=%d", b % 512 == 0, a != b);
    CALL(cu->cuMemFree(a));
    CALL(cu->cuMemFree(b));
    CALL(cu->cuMemAlloc(&a, 3 << 20));
    VALUE("aligned512=%d", a % 512 == 0);
    CALL(cu->cuMemFree(a));
}

static void alloc_misuse(void)
{
    CUdeviceptr a = 77;
    CALL(cu->cuMemAlloc(&a, 0));
    VALUE("touched=%d", a != 77);
    CALL(cu->cuMemAlloc(NULL, 16));
    CALL(cu->cuMemAlloc(&a, (size_t)1 << 50));
    VALUE("touched=%d", a != 77);
    CALL(cu->cuMemAlloc(&a, SIZE_MAX));
    VALUE("touched=%d", a != 77);
    CALL(cu->cuMemAlloc(&a, SIZE_MAX - 4096));
    CALL(cu->cuMemAlloc(&a, (size_t)1 << 38));
    CALL(cu->cuMemAlloc(&a, 16));
}

static void free_misuse(void)
{
    CUdeviceptr a = conform_memory(4096);
    CALL(cu->cuMemFree(0));
    CALL(cu->cuMemFree(a + 4));
    CALL(cu->cuMemFree(a + 512));
    CALL(cu->cuMemFree(a + 4096));
    CALL(cu->cuMemFree(77));
    CALL(cu->cuMemFree((CUdeviceptr)-1));
    CALL(cu->cuMemFree(a));
    CALL(cu->cuMemFree(a));
    CALL(cu->cuCtxSynchronize());
}

static void free_host_pointer(void)
{
    void *host = NULL;
    int plain = 0;
    MUST(cu->cuMemHostAlloc(&host, 64, 0));
    CALL(cu->cuMemFree((CUdeviceptr)(uintptr_t)host));
    CALL(cu->cuMemFree((CUdeviceptr)(uintptr_t)&plain));
    CALL(cu->cuMemFreeHost((void *)(uintptr_t)conform_memory(16)));
    CALL(cu->cuMemFreeHost(host));
}

static void info(void)
{
    size_t before = 0, total = 0, device = 0;
    MUST(cu->cuDeviceTotalMem(&device, dev));
    CALL(cu->cuMemGetInfo(&before, &total));
    VALUE("less=%d total=%d", before < total, total == device);
    CALL(cu->cuMemGetInfo(NULL, &total));
    CALL(cu->cuMemGetInfo(&before, NULL));
    CALL(cu->cuMemGetInfo(NULL, NULL));
}

static void range(void)
{
    CUdeviceptr a = conform_memory(1000), base = 77;
    size_t size = 77;
    CALL(cu->cuMemGetAddressRange(&base, &size, a));
    VALUE("base=%d size=%zu", base == a, size);
    CALL(cu->cuMemGetAddressRange(&base, &size, a + 999));
    VALUE("base=%d size=%zu", base == a, size);
    base = 77;
    CALL(cu->cuMemGetAddressRange(&base, &size, a + 1000));
    VALUE("touched=%d", base != 77);
    CALL(cu->cuMemGetAddressRange(NULL, &size, a));
    CALL(cu->cuMemGetAddressRange(&base, NULL, a));
    CALL(cu->cuMemGetAddressRange(NULL, NULL, a));
    CALL(cu->cuMemGetAddressRange(&base, &size, 0));
    CALL(cu->cuMemGetAddressRange(&base, &size, 12345));
    MUST(cu->cuMemFree(a));
    CALL(cu->cuMemGetAddressRange(&base, &size, a));
}

static void range_kinds(void)
{
    CUdeviceptr base = 0, managed = 0;
    size_t size = 0;
    void *host = NULL;
    char plain[16];
    MUST(cu->cuMemHostAlloc(&host, 1000, 0));
    MUST(cu->cuMemAllocManaged(&managed, 1000, CU_MEM_ATTACH_GLOBAL));
    CALL(cu->cuMemGetAddressRange(&base, &size, (CUdeviceptr)(uintptr_t)host + 4));
    VALUE("base=%d size=%zu", base == (CUdeviceptr)(uintptr_t)host, size);
    CALL(cu->cuMemGetAddressRange(&base, &size, managed + 4));
    VALUE("base=%d size=%zu", base == managed, size);
    CALL(cu->cuMemGetAddressRange(&base, &size, (CUdeviceptr)(uintptr_t)plain));
}

static void pitch_of(size_t width, size_t height, unsigned element)
{
    CUdeviceptr a = 0;
    size_t pitch = 77;
    EACH(cu->cuMemAllocPitch(&a, &pitch, width, height, element), "cuMemAllocPitch(%zu, %zu, %u)",
         width, height, element);
    VALUE("pitch=%zu aligned512=%d", pitch, a % 512 == 0);
    if (a)
        MUST(cu->cuMemFree(a));
}

static void pitch_widths(void)
{
    static const size_t widths[] = {
        1,    2,    3,    16,   31,   32,    33,    64,    100,    127,     128,    129,  255,
        256,  257,  400,  511,  512,  513,   600,   1000,  1023,   1024,    1025,   1500, 2048,
        2049, 3000, 4096, 4097, 8192, 10000, 65536, 65537, 131071, 1048576, 1048577};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
        pitch_of(widths[i], 16, 4);
}

static void pitch_elements(void)
{
    for (unsigned element = 0; element <= 33; element++)
        pitch_of(100, 3, element);
    pitch_of(1024, 8, 4);
    pitch_of(1024, 8, 8);
    pitch_of(1024, 8, 16);
    pitch_of(1026, 8, 16);
}

static void pitch_heights(void)
{
    pitch_of(100, 0, 4);
    pitch_of(0, 10, 4);
    pitch_of(0, 0, 4);
    pitch_of(100, 1, 4);
    pitch_of(100, 2, 4);
    pitch_of(100, 100000, 4);
    pitch_of((size_t)1 << 31, 1, 4);
    pitch_of(((size_t)1 << 31) - 1, 1, 4);
    pitch_of((size_t)1 << 40, (size_t)1 << 40, 4);
    pitch_of(SIZE_MAX, 2, 4);
    pitch_of(SIZE_MAX - 511, 1, 4);
}

static void pitch_misuse(void)
{
    CUdeviceptr a = 77, base = 0;
    size_t pitch = 77, size = 0;
    CALL(cu->cuMemAllocPitch(NULL, &pitch, 16, 4, 4));
    CALL(cu->cuMemAllocPitch(&a, NULL, 16, 4, 4));
    VALUE("touched=%d", a != 77);
    CALL(cu->cuMemAllocPitch(&a, &pitch, 100, 5, 4));
    CALL(cu->cuMemGetAddressRange(&base, &size, a));
    VALUE("base=%d size=%zu", base == a, size);
    CALL(cu->cuMemFree(a));
}

static void old_alloc(void)
{
    CUdeviceptr_v1 a = 0, base = 0;
    unsigned size = 0, total = 0;
    CALL(cu->cuMemAlloc_v1(&a, 1000));
    CALL(cu->cuMemGetAddressRange_v1(&base, &size, a));
    CALL(cu->cuMemGetInfo_v1(&size, &total));
    CALL(cu->cuMemFree_v1(a));
    CALL(cu->cuMemFree_v1(0));
    CALL(cu->cuMemAlloc_v1(&a, 0));
}

static void prefetch_device(void)
{
    CUdeviceptr a = conform_memory(4096);
    CUmemLocation here = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0};
    CALL(cu->cuMemPrefetchAsync(a, 4096, here, 0, NULL));
    CALL(cu->cuMemAdvise(a, 4096, CU_MEM_ADVISE_SET_READ_MOSTLY, here));
    int value = 77;
    CALL(cu->cuMemRangeGetAttribute(&value, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, a, 4096));
    CALL(cu->cuStreamAttachMemAsync(NULL, a, 0, CU_MEM_ATTACH_GLOBAL));
}

static void handle_for_range(void)
{
    CUdeviceptr a = conform_memory(2 << 20);
    int handle = -1;
    CALL(cu->cuMemGetHandleForAddressRange(&handle, a + 1, 4096,
                                           CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0));
    CALL(cu->cuMemGetHandleForAddressRange(NULL, a, 65536, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0));
    CALL(cu->cuMemGetHandleForAddressRange(&handle, a, 65536, (CUmemRangeHandleType)9, 0));
    CALL(cu->cuMemGetHandleForAddressRange(&handle, 0, 65536, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD,
                                           0));
}

static const struct sequence sequences[] = {S(alloc, PRIMARY),
                                            S(alloc_misuse, PRIMARY),
                                            S(free_misuse, PRIMARY),
                                            S(free_host_pointer, PRIMARY),
                                            S(info, PRIMARY),
                                            S(range, PRIMARY),
                                            S(range_kinds, PRIMARY),
                                            S(pitch_widths, PRIMARY),
                                            S(pitch_elements, PRIMARY),
                                            S(pitch_heights, PRIMARY),
                                            S(pitch_misuse, PRIMARY),
                                            S(old_alloc, PRIMARY),
                                            S(prefetch_device, PRIMARY),
                                            S(handle_for_range, PRIMARY),
                                            {0}};
const struct family memory_family = {"memory", sequences};
