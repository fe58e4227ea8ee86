/* SPDX-License-Identifier: MIT */
/* Device memory, and pinned host memory that the device writes: both filled with a float by its
 * bits, since the driver fills with integers. */
#include <stdio.h>
#include <string.h>

#include <cushim/context.h>
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
    bool good = CUSHIM_CHECK(cushim_host_alloc(cu, BYTES, CU_MEMHOSTALLOC_DEVICEMAP, &numbers)) &&
                CUSHIM_CHECK(cushim_host_device_address(cu, numbers, &seen_by_device)) &&
                CUSHIM_CHECK(cushim_fill_32(cu, seen_by_device, bits, COUNT)) &&
                CUSHIM_CHECK(cushim_context_synchronize(cu, NULL)) &&
                all_equal(numbers, "pinned memory");
    return CUSHIM_CHECK(cushim_host_free(cu, numbers)) && good;
}

int main(void)
{
    const struct cushim_api *cu = cushim_load(NULL);
    struct cushim_scope scope = {0};
    CUcontext context = NULL;
    uint32_t bits;
    if (cushim_init(cu) != CUSHIM_OK) {
        printf("skipped: %s\n", cushim_message(cu));
        return 77;
    }
    memcpy(&bits, &value, sizeof bits);
    bool good = CUSHIM_CHECK(cushim_primary_retain(cu, 0, &context)) &&
                CUSHIM_CHECK(cushim_scope_enter(cu, context, &scope)) &&
                use_device_memory(cu, bits) && use_pinned_memory(cu, bits);
    good &= CUSHIM_CHECK(cushim_scope_leave(&scope, CUDA_SUCCESS));
    if (context)
        good &= CUSHIM_CHECK(cushim_primary_release(cu, 0));
    return good && cushim_memory_live(cu, NULL) == 0 ? 0 : 1;
}
