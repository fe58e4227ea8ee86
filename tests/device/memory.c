/* SPDX-License-Identifier: MIT */
/* Memory on a real device: allocated, described, used from both sides, freed; nothing is left. */
#include <stdint.h>
#include <string.h>

#include <cushim/device.h>
#include <cushim/memory.h>

#include "device.h"

enum { SIZE = 100000 };

static const struct cushim_api *cu;
static CUcontext context;
static unsigned char bytes[SIZE], back[SIZE];

/* What the driver says of an address, beside what was asked for. */
static struct cushim_pointer described(const char *what, uintptr_t address, size_t asked)
{
    struct cushim_pointer pointer = {.size = sizeof pointer};
    OK(cushim_pointer_describe(cu, address, &pointer));
    printf("%s: asked for %zu, has %zu; type %d, device %d, managed %d, id %llu, pool %s\n", what,
           asked, pointer.bytes, (int)pointer.type, pointer.ordinal, pointer.managed, pointer.id,
           pointer.pool ? "yes" : "no");
    return pointer;
}

static void device_memory(void)
{
    static const size_t sizes[] = {4, 1000, SIZE, (size_t)64 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        CUdeviceptr address;
        uint32_t last = 0;
        OK(cushim_memory_alloc(cu, sizes[i], &address));
        struct cushim_pointer pointer = described("device", address, sizes[i]);
        CHECK(pointer.type == CU_MEMORYTYPE_DEVICE && pointer.device == address);
        CHECK(pointer.base == address && pointer.bytes >= sizes[i] && pointer.id);
        CHECK(pointer.ordinal == 0 && !pointer.managed && pointer.context == context);
        OK(cushim_fill_32(cu, address, 0x77665544, sizes[i] / 4));
        OK(cushim_copy_to_host(cu, &last, address + sizes[i] - 4, 4));
        CHECK(last == 0x77665544);
        OK(cushim_memory_free(cu, address));
    }
}

static void copies(void)
{
    CUdeviceptr address;
    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = (unsigned char)(i * 31 + (i >> 8) * 7);
    OK(cushim_memory_alloc(cu, SIZE, &address));
    OK(cushim_copy_to_device(cu, address, bytes, SIZE));
    OK(cushim_copy_to_host(cu, back, address, SIZE));
    CHECK(memcmp(back, bytes, SIZE) == 0);
    OK(cushim_copy_to_device_async(cu, address + 1, bytes, SIZE - 1, NULL));
    OK(cushim_copy_to_host_async(cu, back, address + 1, SIZE - 1, NULL));
    OK(cu->cuStreamSynchronize(NULL));
    CHECK(memcmp(back, bytes, SIZE - 1) == 0);
    OK(cushim_memory_free(cu, address));
}

/* A 32-bit fill through a pinned pointer, whose bits are a float's. */
static void host_memory(void)
{
    void *address;
    CUdeviceptr device;
    OK(cu->cuMemHostAlloc(&address, SIZE, CU_MEMHOSTALLOC_DEVICEMAP));
    struct cushim_pointer pointer = described("host", (uintptr_t)address, SIZE);
    CHECK(pointer.type == CU_MEMORYTYPE_HOST && pointer.host == address);
    OK(cu->cuMemHostGetDevicePointer(&device, address, 0));
    OK(cushim_fill_32(cu, device, 0x3fc00000, SIZE / 4));
    OK(cushim_context_synchronize(cu, NULL));
    for (size_t i = 0; i < SIZE; i += 4) {
        float value;
        memcpy(&value, (char *)address + i, sizeof value);
        CHECK(value == 1.5f);
    }
    OK(cu->cuMemFreeHost(address));
    printf("pageable memory: type %d\n", (int)described("pageable", (uintptr_t)bytes, SIZE).type);
}

static void managed_memory(void)
{
    CUdeviceptr address;
    int has = 0;
    OK(cushim_device_attribute(cu, 0, CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, &has, NULL));
    if (!has)
        return;
    OK(cu->cuMemAllocManaged(&address, SIZE, CU_MEM_ATTACH_GLOBAL));
    struct cushim_pointer pointer = described("managed", address, SIZE);
    CHECK(pointer.managed && pointer.base == address);
    OK(cushim_memory_prefetch(cu, address, SIZE, 0, NULL));
    OK(cushim_memory_prefetch(cu, address, SIZE, CU_DEVICE_CPU, NULL));
    OK(cushim_fill_32(cu, address, 0x22, 1));
    OK(cushim_context_synchronize(cu, NULL));
    CHECK(*(uint32_t *)(uintptr_t)address == 0x22);
    OK(cushim_memory_free(cu, address));
}

static void stream_ordered_memory(void)
{
    CUstream stream;
    CUdeviceptr address;
    uint32_t value = 0;
    OK(cu->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cushim_memory_alloc_async(cu, SIZE, stream, &address));
    OK(cushim_fill_32_async(cu, address, 5, SIZE / 4, stream));
    OK(cushim_copy_to_host_async(cu, &value, address + SIZE - 4, 4, stream));
    OK(cushim_memory_free_async(cu, address, stream));
    OK(cu->cuStreamSynchronize(stream));
    CHECK(value == 5);
    OK(cu->cuStreamDestroy(stream));
}

static void refused(CUresult code, const char *words)
{
    CUcontext now = NULL;
    printf("  %d %s\n", (int)code, cushim_last_error());
    CHECK(code != CUDA_SUCCESS && strstr(cushim_last_error(), words));
    OK(cu->cuCtxGetCurrent(&now));
    CHECK(now == context);
}

static void refusals(void)
{
    CUdeviceptr address = 99;
    refused(cushim_memory_alloc(cu, SIZE_MAX, &address), "cushim_memory_alloc: cuMemAlloc_v2: ");
    CHECK(address == 99);
    refused(cushim_memory_free(cu, 16), "cushim_memory_free: cuMemFree_v2: ");
    refused(cushim_copy_to_host(cu, bytes, 16, 4), "cushim_copy_to_host: cuMemcpyDtoH_v2: ");
    refused(cushim_fill_32(cu, 16, 0, 5), "cushim_fill_32: cuMemsetD32_v2: ");
}

static size_t run(void)
{
    size_t now_free = 0, total = 0;
    device_memory();
    copies();
    host_memory();
    managed_memory();
    stream_ordered_memory();
    refusals();
    OK(cushim_context_synchronize(cu, NULL));
    OK(cu->cuMemGetInfo(&now_free, &total));
    CHECK(now_free > 0 && now_free <= total);
    return now_free;
}

int main(void)
{
    struct cushim_device_scope gpu;
    cu = device_or_skip();
    OK(cushim_device_enter(cu, 0, &gpu));
    context = gpu.context;
    size_t before = run();
    printf("-- again --\n");
    size_t after = run();
    printf("free before the second run: %zu, after: %zu\n", before, after);
    if (!getenv("CUSHIM_TEST_TOOL")) /* whose own memory comes and goes: sanitize.py */
        CHECK(after >= before);
    OK(cushim_device_leave(&gpu));
    return 0;
}
