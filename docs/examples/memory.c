/* SPDX-License-Identifier: MIT */
/* Device memory, pinned host memory that the device writes, unified memory and stream-ordered
 * memory: all filled with a float by its bits, since the driver fills with integers. */
#include <stdio.h>
#include <string.h>

#include <cushim/device.h>
#include <cushim/error.h>
#include <cushim/memory.h>

#define COUNT 10000
#define BYTES (COUNT * sizeof(float))

static const float value = 3.14159274F;

static bool all_equal(const float *numbers, const char *what)
{
    for (size_t i = 0; i < COUNT; i++)
        if (memcmp(&numbers[i], &value, sizeof value) != 0) {
            fprintf(stderr, "%s: element %zu is %.9g\n", what, i, (double)numbers[i]);
            return false;
        }
    printf("%s: %d times %.9g\n", what, COUNT, (double)value);
    return true;
}

/* Fill device memory and copy it back. */
static bool use_device_memory(const struct cushim_api *cu, uint32_t bits)
{
    static float numbers[COUNT];
    CUdeviceptr memory = 0;
    bool good = CUSHIM_CHECK(cushim_memory_alloc(cu, BYTES, &memory)) &&
                CUSHIM_CHECK(cushim_fill_32(cu, memory, bits, COUNT)) &&
                CUSHIM_CHECK(cushim_copy_to_host(cu, numbers, memory, BYTES)) &&
                all_equal(numbers, "device memory");
    return CUSHIM_CHECK(cushim_memory_free(cu, memory)) && good; /* 0 is fine to free */
}

/* The device finds mapped host memory under an address of its own, and writes it: no copy. */
static bool use_pinned_memory(const struct cushim_api *cu, uint32_t bits)
{
    void *numbers = NULL;
    CUdeviceptr seen_by_device = 0;
    if (!CUSHIM_CHECK(cu->cuMemHostAlloc(&numbers, BYTES, CU_MEMHOSTALLOC_DEVICEMAP)))
        return false;
    bool good = CUSHIM_CHECK(cu->cuMemHostGetDevicePointer(&seen_by_device, numbers, 0)) &&
                CUSHIM_CHECK(cushim_fill_32(cu, seen_by_device, bits, COUNT)) &&
                CUSHIM_CHECK(cushim_context_synchronize(cu, NULL)) &&
                all_equal(numbers, "pinned memory");
    return CUSHIM_CHECK(cu->cuMemFreeHost(numbers)) && good;
}

/* Unified memory has one address on host and device. The driver moves it, earlier if it is told. */
static bool use_unified_memory(const struct cushim_api *cu, uint32_t bits)
{
    struct cushim_pointer pointer = {.size = sizeof pointer};
    int concurrent = 0;
    CUdeviceptr memory = 0;
    if (!CUSHIM_CHECK(cu->cuMemAllocManaged(&memory, BYTES, CU_MEM_ATTACH_GLOBAL)))
        return false;
    bool good = CUSHIM_CHECK(cushim_pointer_describe(cu, memory, &pointer)) && pointer.managed &&
                CUSHIM_CHECK(cushim_device_attribute(
                    cu, 0, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, &concurrent, NULL)) &&
                CUSHIM_CHECK(cushim_fill_32(cu, memory, bits, COUNT));
    if (good && concurrent)
        good = CUSHIM_CHECK(cushim_memory_prefetch(cu, memory, BYTES, CU_DEVICE_CPU, NULL));
    good = good && CUSHIM_CHECK(cushim_context_synchronize(cu, NULL)) &&
           all_equal((const float *)(uintptr_t)memory, "unified memory");
    return CUSHIM_CHECK(cushim_memory_free(cu, memory)) && good;
}

/* In stream order the memory is there for the work that follows, and is free when it is done. */
static bool use_stream_ordered_memory(const struct cushim_api *cu, uint32_t bits)
{
    static float numbers[COUNT];
    CUdeviceptr memory = 0;
    bool good = CUSHIM_CHECK(cushim_memory_alloc_async(cu, BYTES, NULL, &memory)) &&
                CUSHIM_CHECK(cushim_fill_32_async(cu, memory, bits, COUNT, NULL)) &&
                CUSHIM_CHECK(cushim_copy_to_host_async(cu, numbers, memory, BYTES, NULL));
    good &= CUSHIM_CHECK(cushim_memory_free_async(cu, memory, NULL));
    return CUSHIM_CHECK(cu->cuStreamSynchronize(NULL)) && good &&
           all_equal(numbers, "stream-ordered memory");
}

int main(void)
{
    const struct cushim_api *cu = cushim_load(NULL);
    struct cushim_device_scope gpu;
    uint32_t bits;
    if (cushim_device_enter(cu, 0, &gpu) != CUDA_SUCCESS) {
        printf("skipped: %s\n", gpu.outcome.message);
        return 77;
    }
    memcpy(&bits, &value, sizeof bits);
    bool good = use_device_memory(cu, bits) && use_pinned_memory(cu, bits) &&
                use_unified_memory(cu, bits) && use_stream_ordered_memory(cu, bits);
    good &= CUSHIM_CHECK(cushim_device_leave(&gpu));
    return good ? 0 : 1;
}
