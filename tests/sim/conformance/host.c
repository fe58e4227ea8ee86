/* SPDX-License-Identifier: MIT */
/* Host memory that the driver knows: allocated, registered, managed. */
#define _POSIX_C_SOURCE 200809L
#include "conform.h"

#include <stdlib.h>

static void flags(void)
{
    for (unsigned wanted = 0; wanted < 20; wanted++) {
        void *host = NULL;
        unsigned back = 77;
        CUresult code =
            EACH(cu->cuMemHostAlloc(&host, 100, wanted), "cuMemHostAlloc flags %u", wanted);
        if (code != CUDA_SUCCESS)
            continue;
        EACH(cu->cuMemHostGetFlags(&back, host), "cuMemHostGetFlags of %u", wanted);
        VALUE("flags=%u", back);
        MUST(cu->cuMemFreeHost(host));
    }
}

static void alloc_misuse(void)
{
    void *host = &host;
    CALL(cu->cuMemHostAlloc(&host, 0, 0));
    VALUE("touched=%d", host != &host);
    CALL(cu->cuMemHostAlloc(NULL, 16, 0));
    CALL(cu->cuMemAllocHost(&host, 0));
    CALL(cu->cuMemAllocHost(NULL, 16));
    CALL(cu->cuMemHostAlloc(&host, SIZE_MAX, 0));
    CALL(cu->cuMemFreeHost(NULL));
    CALL(cu->cuMemFreeHost(&host));
    CALL(cu->cuMemAllocHost(&host, 100));
    VALUE("aligned=%d", (uintptr_t)host % 512 == 0);
    CALL(cu->cuMemFreeHost((char *)host + 4));
    CALL(cu->cuMemFreeHost(host));
    CALL(cu->cuMemFreeHost(host));
}

static void device_pointer(void)
{
    void *host = NULL;
    CUdeviceptr address = 77;
    MUST(cu->cuMemHostAlloc(&host, 4096, 0));
    CALL(cu->cuMemHostGetDevicePointer(&address, host, 0));
    VALUE("same=%d", address == (CUdeviceptr)(uintptr_t)host);
    CALL(cu->cuMemHostGetDevicePointer(&address, (char *)host + 100, 0));
    VALUE("offset=%d", (int)(address - (CUdeviceptr)(uintptr_t)host));
    CALL(cu->cuMemHostGetDevicePointer(&address, host, 1));
    CALL(cu->cuMemHostGetDevicePointer(NULL, host, 0));
    CALL(cu->cuMemHostGetDevicePointer(&address, NULL, 0));
    address = 77;
    CALL(cu->cuMemHostGetDevicePointer(&address, &address, 0));
    VALUE("touched=%d", address != 77);
    CALL(cu->cuMemHostGetDevicePointer(&address, (char *)host + 4096, 0));
    MUST(cu->cuMemFreeHost(host));
    CALL(cu->cuMemHostGetDevicePointer(&address, host, 0));
}

static void get_flags(void)
{
    unsigned back = 77;
    int plain = 0;
    CUdeviceptr managed = 0;
    void *host = NULL;
    MUST(cu->cuMemAllocManaged(&managed, 100, CU_MEM_ATTACH_GLOBAL));
    MUST(cu->cuMemAllocHost(&host, 100));
    CALL(cu->cuMemHostGetFlags(&back, &plain));
    CALL(cu->cuMemHostGetFlags(&back, NULL));
    CALL(cu->cuMemHostGetFlags(NULL, host));
    CALL(cu->cuMemHostGetFlags(&back, (char *)host + 8));
    VALUE("flags=%u", back);
    CALL(cu->cuMemHostGetFlags(&back, (void *)(uintptr_t)managed));
    CALL(cu->cuMemHostGetFlags(&back, (void *)(uintptr_t)conform_memory(16)));
}

static void *pages(size_t size)
{
    void *room = NULL;
    if (posix_memalign(&room, 65536, size) != 0)
        abort();
    memset(room, 0, size);
    return room;
}

static void registered(void)
{
    char *room = pages(131072);
    CUdeviceptr address = 0;
    unsigned back = 77;
    CALL(cu->cuMemHostRegister(room, 65536, 0));
    CALL(cu->cuMemHostGetDevicePointer(&address, room + 8, 0));
    VALUE("same=%d", address == (CUdeviceptr)(uintptr_t)room + 8);
    CALL(cu->cuMemHostGetFlags(&back, room));
    VALUE("flags=%u", back);
    CALL(cu->cuMemHostRegister(room, 65536, 0));
    CALL(cu->cuMemHostRegister(room + 4096, 4096, 0));
    CALL(cu->cuMemHostRegister(room + 65536, 65536, 0));
    CALL(cu->cuMemHostUnregister(room + 4));
    CALL(cu->cuMemHostUnregister(room));
    CALL(cu->cuMemHostUnregister(room));
    CALL(cu->cuMemHostGetDevicePointer(&address, room, 0));
    CALL(cu->cuMemHostUnregister(room + 65536));
}

static void register_flags(void)
{
    char *room = pages(65536);
    for (unsigned wanted = 0; wanted < 18; wanted++) {
        unsigned back = 77;
        CUresult code =
            EACH(cu->cuMemHostRegister(room, 65536, wanted), "cuMemHostRegister flags %u", wanted);
        if (code != CUDA_SUCCESS)
            continue;
        EACH(cu->cuMemHostGetFlags(&back, room), "cuMemHostGetFlags of %u", wanted);
        VALUE("flags=%u", back);
        MUST(cu->cuMemHostUnregister(room));
    }
}

static void register_misuse(void)
{
    char *room = pages(65536);
    void *host = NULL;
    MUST(cu->cuMemAllocHost(&host, 65536));
    CALL(cu->cuMemHostRegister(NULL, 4096, 0));
    CALL(cu->cuMemHostRegister(room, 0, 0));
    CALL(cu->cuMemHostRegister(room + 3, 5000, 0));
    CALL(cu->cuMemHostUnregister(room));
    CALL(cu->cuMemHostUnregister(room + 3));
    CALL(cu->cuMemHostRegister(host, 4096, 0));
    CALL(cu->cuMemHostUnregister(host));
    CALL(cu->cuMemHostUnregister(NULL));
    CALL(cu->cuMemHostUnregister(room));
    CALL(cu->cuMemHostRegister(room, SIZE_MAX, 0));
    MUST(cu->cuMemHostRegister(room, 65536, 0));
    CALL(cu->cuMemFreeHost(room));
    CALL(cu->cuMemHostUnregister(room));
}

static void register_overlap(void)
{
    char *room = pages(131072);
    CALL(cu->cuMemHostRegister(room + 65536, 65536, 0));
    CALL(cu->cuMemHostRegister(room, 131072, 0));
    CALL(cu->cuMemHostRegister(room, 65536 + 1, 0));
    CALL(cu->cuMemHostRegister(room, 65536, 0));
    CALL(cu->cuMemHostUnregister(room));
    CALL(cu->cuMemHostUnregister(room + 65536));
}

static void managed(void)
{
    CUdeviceptr address = 77;
    for (unsigned wanted = 0; wanted < 8; wanted++) {
        CUresult code = EACH(cu->cuMemAllocManaged(&address, 100, wanted),
                             "cuMemAllocManaged flags %u", wanted);
        if (code == CUDA_SUCCESS)
            MUST(cu->cuMemFree(address));
    }
    CALL(cu->cuMemAllocManaged(&address, 0, CU_MEM_ATTACH_GLOBAL));
    CALL(cu->cuMemAllocManaged(NULL, 100, CU_MEM_ATTACH_GLOBAL));
    CALL(cu->cuMemAllocManaged(&address, SIZE_MAX, CU_MEM_ATTACH_GLOBAL));
    CALL(cu->cuMemAllocManaged(&address, 4096, CU_MEM_ATTACH_GLOBAL));
    unsigned *words = (unsigned *)(uintptr_t)address;
    words[0] = 41;
    CALL(cu->cuMemsetD32(address + 4, 9, 2));
    CALL(cu->cuCtxSynchronize());
    VALUE("words=%u,%u", words[0], words[1]);
    CALL(cu->cuMemFree(address + 4));
    CALL(cu->cuMemFreeHost(words));
    CALL(cu->cuMemFree(address));
}

static void attach(void)
{
    CUdeviceptr address = 0;
    CUstream stream = conform_stream();
    MUST(cu->cuMemAllocManaged(&address, 4096, CU_MEM_ATTACH_HOST));
    CALL(cu->cuStreamAttachMemAsync(stream, address, 0, CU_MEM_ATTACH_SINGLE));
    CALL(cu->cuStreamAttachMemAsync(stream, address, 4096, CU_MEM_ATTACH_SINGLE));
    CALL(cu->cuStreamAttachMemAsync(stream, address, 100, CU_MEM_ATTACH_SINGLE));
    CALL(cu->cuStreamAttachMemAsync(stream, address, 0, CU_MEM_ATTACH_GLOBAL));
    CALL(cu->cuStreamAttachMemAsync(stream, address, 0, 8));
    CALL(cu->cuStreamAttachMemAsync(NULL, address, 0, CU_MEM_ATTACH_SINGLE));
    CALL(cu->cuStreamAttachMemAsync(stream, 0, 0, CU_MEM_ATTACH_GLOBAL));
    CALL(cu->cuStreamSynchronize(stream));
}

static void advise(void)
{
    CUdeviceptr address = 0;
    CUmemLocation here = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0};
    CUmemLocation host = {.type = CU_MEM_LOCATION_TYPE_HOST, .id = 0};
    CUmemLocation bad = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 7};
    MUST(cu->cuMemAllocManaged(&address, 65536, CU_MEM_ATTACH_GLOBAL));
    for (int advice = 0; advice < 9; advice++)
        EACH(cu->cuMemAdvise(address, 65536, (CUmem_advise)advice, here), "cuMemAdvise(%d, device)",
             advice);
    CALL(cu->cuMemAdvise(address, 65536, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, host));
    CALL(cu->cuMemAdvise(address, 65536, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, bad));
    CALL(cu->cuMemAdvise(address, 0, CU_MEM_ADVISE_SET_READ_MOSTLY, here));
    CALL(cu->cuMemAdvise(0, 65536, CU_MEM_ADVISE_SET_READ_MOSTLY, here));
    CALL(cu->cuMemAdvise(address, 1 << 30, CU_MEM_ADVISE_SET_READ_MOSTLY, here));
    CALL(cu->cuMemAdvise_v1(address, 65536, CU_MEM_ADVISE_SET_READ_MOSTLY, 0));
    CALL(cu->cuMemAdvise_v1(address, 65536, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, CU_DEVICE_CPU));
    CALL(cu->cuMemAdvise_v1(address, 65536, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, 7));
}

static void prefetch(void)
{
    CUdeviceptr address = 0;
    CUmemLocation here = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0};
    CUmemLocation host = {.type = CU_MEM_LOCATION_TYPE_HOST, .id = 0};
    CUmemLocation bad = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 7};
    CUmemLocation none = {.type = CU_MEM_LOCATION_TYPE_INVALID, .id = 0};
    MUST(cu->cuMemAllocManaged(&address, 65536, CU_MEM_ATTACH_GLOBAL));
    CALL(cu->cuMemPrefetchAsync(address, 65536, here, 0, NULL));
    CALL(cu->cuMemPrefetchAsync(address, 65536, host, 0, NULL));
    CALL(cu->cuMemPrefetchAsync(address, 65536, bad, 0, NULL));
    CALL(cu->cuMemPrefetchAsync(address, 65536, none, 0, NULL));
    CALL(cu->cuMemPrefetchAsync(address, 65536, here, 1, NULL));
    CALL(cu->cuMemPrefetchAsync(address, 0, here, 0, NULL));
    CALL(cu->cuMemPrefetchAsync(0, 65536, here, 0, NULL));
    CALL(cu->cuMemPrefetchAsync(address, 1 << 30, here, 0, NULL));
    CALL(cu->cuMemPrefetchAsync_v1(address, 65536, 0, NULL));
    CALL(cu->cuMemPrefetchAsync_v1(address, 65536, CU_DEVICE_CPU, NULL));
    CALL(cu->cuMemPrefetchAsync_v1(address, 65536, 7, NULL));
    CALL(cu->cuCtxSynchronize());
}

static void range_values(CUdeviceptr address, size_t size)
{
    for (int attribute = 1; attribute < 9; attribute++) {
        int value = 77;
        EACH(cu->cuMemRangeGetAttribute(&value, sizeof value, (CUmem_range_attribute)attribute,
                                        address, size),
             "cuMemRangeGetAttribute %d", attribute);
        VALUE("value=%d", value);
    }
}

static void range_attributes(void)
{
    CUdeviceptr address = 0;
    CUmemLocation here = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0};
    CUmemLocation host = {.type = CU_MEM_LOCATION_TYPE_HOST, .id = 0};
    MUST(cu->cuMemAllocManaged(&address, 2 << 20, CU_MEM_ATTACH_GLOBAL));
    range_values(address, 2 << 20);
    MUST(cu->cuMemAdvise(address, 2 << 20, CU_MEM_ADVISE_SET_READ_MOSTLY, here));
    MUST(cu->cuMemAdvise(address, 2 << 20, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, here));
    MUST(cu->cuMemAdvise(address, 2 << 20, CU_MEM_ADVISE_SET_ACCESSED_BY, here));
    MUST(cu->cuMemPrefetchAsync(address, 2 << 20, here, 0, NULL));
    MUST(cu->cuCtxSynchronize());
    range_values(address, 2 << 20);
    MUST(cu->cuMemAdvise(address, 1 << 20, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, host));
    MUST(cu->cuMemAdvise(address, 1 << 20, CU_MEM_ADVISE_UNSET_READ_MOSTLY, here));
    range_values(address, 2 << 20);
}

static void range_misuse(void)
{
    CUdeviceptr address = 0;
    int values[4] = {77, 77, 77, 77};
    MUST(cu->cuMemAllocManaged(&address, 65536, CU_MEM_ATTACH_GLOBAL));
    CALL(cu->cuMemRangeGetAttribute(values, 4, (CUmem_range_attribute)0, address, 65536));
    CALL(cu->cuMemRangeGetAttribute(values, 4, (CUmem_range_attribute)99, address, 65536));
    CALL(cu->cuMemRangeGetAttribute(values, 3, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, address, 65536));
    CALL(cu->cuMemRangeGetAttribute(values, 0, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, address, 65536));
    CALL(cu->cuMemRangeGetAttribute(NULL, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, address, 65536));
    CALL(cu->cuMemRangeGetAttribute(values, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, address, 0));
    CALL(cu->cuMemRangeGetAttribute(values, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, 0, 65536));
    CALL(
        cu->cuMemRangeGetAttribute(values, 16, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, address, 65536));
    VALUE("values=%d,%d,%d,%d", values[0], values[1], values[2], values[3]);
    CUmem_range_attribute both[] = {CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY,
                                    CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION};
    void *data[] = {&values[0], &values[1]};
    size_t sizes[] = {4, 4};
    CALL(cu->cuMemRangeGetAttributes(data, sizes, both, 2, address, 65536));
    VALUE("values=%d,%d", values[0], values[1]);
    CALL(cu->cuMemRangeGetAttributes(data, sizes, both, 0, address, 65536));
    CALL(cu->cuMemRangeGetAttributes(NULL, sizes, both, 2, address, 65536));
}

static const struct sequence sequences[] = {S(flags, PRIMARY),
                                            S(alloc_misuse, PRIMARY),
                                            S(device_pointer, PRIMARY),
                                            S(get_flags, PRIMARY),
                                            S(registered, PRIMARY),
                                            S(register_flags, PRIMARY),
                                            S(register_misuse, PRIMARY),
                                            S(register_overlap, PRIMARY),
                                            S(managed, PRIMARY),
                                            S(attach, PRIMARY),
                                            S(advise, PRIMARY),
                                            S(prefetch, PRIMARY),
                                            S(range_attributes, PRIMARY),
                                            S(range_misuse, PRIMARY),
                                            {0}};
const struct family host_family = {"host", sequences};
