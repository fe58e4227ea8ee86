/* SPDX-License-Identifier: MIT */
/* The buffer that grows in place, on a real device. */
#include "memory_common.h"

enum { LIMIT = 256 << 20, STEPS = 5 };

static void show(const struct cushim_api *cu, const struct cushim_growing *growing)
{
    struct cushim_pointer pointer;
    unsigned long long last_id = 0;
    HELPER(cushim_pointer_describe(cu, growing->address, &pointer));
    if (growing->size)
        memory_id(growing->address + growing->size - 1, &last_id);
    printf("%zu of %zu bytes in %zu parts; the driver says %zu bytes, id %llu, of the last %llu\n",
           growing->size, growing->limit, growing->part_count, pointer.size, pointer.id, last_id);
}

static void grow(const struct cushim_api *cu)
{
    static const size_t sizes[STEPS] = {1, 3 << 20, 5 << 20, 40 << 20, 200 << 20};
    struct cushim_growing growing;
    size_t had = 0;
    unsigned char *host = malloc(LIMIT);
    CHECK(host);
    size_t before = memory_free_now();
    HELPER(cushim_growing_create(cu, 0, 0, LIMIT - 1, &growing));
    printf("granularity: %zu\n", growing.granularity);
    CHECK(growing.size == 0 && growing.limit >= LIMIT - 1);
    CUdeviceptr address = growing.address;
    for (int i = 0; i < STEPS; i++) {
        HELPER(cushim_growing_grow(cu, &growing, sizes[i]));
        show(cu, &growing);
        CHECK(growing.address == address && growing.size >= sizes[i]);
        CHECK(growing.size % growing.granularity == 0);
        /* What was there is there still; what is new can be written and read. */
        if (had) {
            HELPER(cushim_copy_to_host(cu, host, address, had));
            CHECK_PATTERN(host, had, (unsigned)i - 1);
        }
        memory_set(host, growing.size, (unsigned)i);
        HELPER(cushim_copy_to_device(cu, address, host, growing.size));
        had = growing.size;
        REFUSED(cushim_fill_8(cu, address + had - 1, 0, 2), "cushim_fill_8: dst: ", "pass the end");
    }
    printf("took %zu bytes of memory for %zu\n", before - memory_free_now(), growing.size);
    REFUSED(cushim_growing_grow(cu, &growing, growing.limit + 1),
            "cushim_growing_grow: size: ", "more than the limit");
    CHECK(growing.size == had);
    HELPER(cushim_growing_release(cu, &growing));
    CHECK(!growing.address && memory_free_now() == before);
    REFUSED(cushim_fill_8(cu, address, 0, 1), "cushim_fill_8: dst: ", "freed already");
    free(host);
}

/* More memory than there is: refused by the driver, and the buffer stays as it was. */
static void too_much(const struct cushim_api *cu)
{
    struct cushim_growing growing;
    size_t total_bytes;
    unsigned char byte = 0;
    HELPER(cushim_memory_info(cu, NULL, &total_bytes));
    HELPER(cushim_growing_create(cu, 0, 1, 2 * total_bytes, &growing));
    size_t had = growing.size, before = memory_free_now();
    HELPER(cushim_fill_8(cu, growing.address, 0x66, had));
    REFUSED(cushim_growing_grow(cu, &growing, 2 * total_bytes), "cushim_growing_grow: cuMemCreate",
            "OUT_OF_MEMORY", "are free");
    CHECK(growing.size == had && growing.part_count == 1 && memory_free_now() == before);
    HELPER(cushim_copy_to_host(cu, &byte, growing.address + had - 1, 1));
    CHECK(byte == 0x66);
    HELPER(cushim_growing_release(cu, &growing));
}

static void bad_input(const struct cushim_api *cu)
{
    struct cushim_growing growing = {.limit = 77}, none = {.limit = 0};
    REFUSED(cushim_growing_create(cu, 0, 0, 0, &growing), "cushim_growing_create: limit: 0");
    REFUSED(cushim_growing_create(cu, 0, 2, 1, &growing), "size: 2 ");
    REFUSED(cushim_growing_create(cu, 0, 2, SIZE_MAX, &growing), "limit: 18446744073709551615 ");
    REFUSED(cushim_growing_create(cu, 0, 0, SIZE_MAX / 2, &growing),
            "cushim_growing_create: cuMemAddressReserve: ");
    REFUSED(cushim_growing_create(cu, 99, 0, 1, &growing), "cushim_growing_create: ");
    REFUSED(cushim_growing_grow(cu, &none, 1), "growing: its address is 0");
    CHECK(growing.limit == 77);
    HELPER(cushim_growing_release(cu, &none));
}

static void body(const struct cushim_api *cu)
{
    struct cushim_growing growing;
    CUresult result = cushim_growing_create(cu, 0, 1, 1, &growing);
    if (result == CUDA_ERROR_NOT_SUPPORTED) {
        printf("%s\n", cushim_last_error());
        return;
    }
    HELPER(result);
    HELPER(cushim_growing_release(cu, &growing));
    grow(cu);
    too_much(cu);
    bad_input(cu);
}

int main(void)
{
    return memory_run(body);
}
