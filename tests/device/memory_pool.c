/* SPDX-License-Identifier: MIT */
/* Pools on a real device, and plain memory in their place where the driver does not export them. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>

#include "memory_common.h"

enum { SIZE = 1 << 20 };

static unsigned char received[SIZE];

static void use(const struct cushim_api *cu, CUmemoryPool pool, CUstream stream, const char *what)
{
    CUdeviceptr one, two;
    HELPER(cushim_memory_alloc_async(cu, SIZE, pool, stream, &one));
    HELPER(cushim_memory_alloc_async(cu, 1000, pool, stream, &two));
    CHECK(one != two && cushim_memory_live(cu, NULL) == 2);
    HELPER(cushim_fill_32_async(cu, one, 0x01020304, SIZE / 4, stream));
    HELPER(cushim_copy_to_host_async(cu, received, one, SIZE, stream));
    CALL(cu_api->cuStreamSynchronize(stream));
    for (size_t i = 0; i < SIZE; i++)
        CHECK(received[i] == 4 - i % 4);
    REFUSED(cushim_fill_8_async(cu, two, 0, 1001, stream), "cushim_fill_8_async: dst: 1001 bytes");
    HELPER(cushim_memory_free_async(cu, two, stream));
    HELPER(cushim_memory_free_async(cu, one, stream));
    CALL(cu_api->cuStreamSynchronize(stream));
    CHECK(cushim_memory_live(cu, NULL) == 0);
    printf("%s: all bytes arrived\n", what);
}

static void show(const struct cushim_api *cu, CUmemoryPool pool, const char *when)
{
    struct cushim_pool_usage usage;
    HELPER(cushim_pool_measure(cu, pool, &usage));
    printf("pool %s: used %llu (at most %llu), reserved %llu (at most %llu)\n", when, usage.used,
           usage.used_high, usage.reserved, usage.reserved_high);
}

static void own_pool(const struct cushim_api *cu, CUstream stream)
{
    CUmemoryPool pool;
    CUdeviceptr address;
    struct cushim_pool_usage usage;
    HELPER(cushim_pool_create(cu, 0, SIZE_MAX, &pool));
    CHECK(pool);
    use(cu, pool, stream, "own pool");
    show(cu, pool, "that keeps all");
    HELPER(cushim_pool_trim(cu, pool, 0));
    show(cu, pool, "trimmed");
    HELPER(cushim_pool_measure(cu, pool, &usage));
    CHECK(usage.used == 0 && usage.reserved == 0 && usage.used_high >= SIZE);
    HELPER(cushim_memory_alloc_async(cu, SIZE, pool, stream, &address));
    struct cushim_pointer pointer;
    HELPER(cushim_pointer_describe(cu, address, &pointer));
    CHECK(pointer.base == address);
    /* CUDA 11.3 is the first that tells which pool. */
    CHECK(pointer.pool == pool || (cushim_driver_version(cu) < 11030 && !pointer.pool));
    printf("a piece of a pool: asked for %d, has %zu, context %s\n", SIZE, pointer.size,
           pointer.context ? "yes" : "no");
    CALL(cu_api->cuStreamSynchronize(stream));
    HELPER(cushim_memory_free(cu, address));
    HELPER(cushim_pool_destroy(cu, pool));
}

/* What the driver says of a piece that was freed, and of the next that has its address: the check
 * of freed memory rests on it. */
static void answers_after_free(const struct cushim_api *cu, CUstream stream)
{
    CUdeviceptr address, again;
    unsigned long long id, freed, next;
    HELPER(cushim_memory_alloc_async(cu, SIZE, NULL, stream, &address));
    CALL(memory_id(address, &id));
    HELPER(cushim_memory_free_async(cu, address, stream));
    CUresult pending = memory_id(address, &freed);
    printf("id of a piece: %llu; once freed: result %d, id %llu; ", id, (int)pending, freed);
    CALL(cu_api->cuStreamSynchronize(stream));
    CUresult result = memory_id(address, &freed);
    printf("after waiting: result %d, id %llu\n", (int)result, freed);
    if (result == CUDA_ERROR_INVALID_VALUE)
        REFUSED(cushim_fill_8_async(cu, address, 0, 1, stream),
                "cushim_fill_8_async: dst: ", "freed already");
    CALL(cu_api->cuMemAllocAsync(&again, SIZE, stream));
    CALL(memory_id(again, &next));
    printf("the next piece: %s address, id %llu\n", again == address ? "same" : "another", next);
    HELPER(cushim_fill_8_async(cu, again, 0, SIZE, stream));
    HELPER(cushim_memory_free_async(cu, again, stream));
    CALL(cu_api->cuStreamSynchronize(stream));
}

/* Plain memory freed in stream order. */
static void plain_in_order(const struct cushim_api *cu, CUstream stream)
{
    CUdeviceptr address;
    HELPER(cushim_memory_alloc(cu, SIZE, &address));
    HELPER(cushim_fill_8_async(cu, address, 1, SIZE, stream));
    HELPER(cushim_memory_free_async(cu, address, stream));
    REFUSED(cushim_memory_free_async(cu, address, stream),
            "cushim_memory_free_async: address: ", "freed already");
}

/* ---- a driver without pools */

static void *without_pools(void *driver, const char *symbol)
{
    static const char *const pools[] = {"cuMemAllocAsync",         "cuMemFreeAsync",
                                        "cuMemAllocFromPoolAsync", "cuMemPool",
                                        "cuMemAddressReserve",     "cuGetProcAddress"};
    for (size_t i = 0; i < sizeof pools / sizeof *pools; i++)
        if (strncmp(symbol, pools[i], strlen(pools[i])) == 0)
            return NULL;
    return dlsym(driver, symbol);
}

static void fall_back(CUstream stream)
{
    struct cushim_growing growing;
    CUmemoryPool pool = (CUmemoryPool)&growing;
    void *driver = dlopen(cushim_path(cushim_load(NULL)), RTLD_NOW | RTLD_NOLOAD);
    struct cushim_options options = {
        .size = sizeof options, .resolver = without_pools, .user = driver};
    const struct cushim_api *old = cushim_open(&options);
    CHECK(driver && old && cushim_status(old) == CUSHIM_OK);
    CHECK(!cushim_has(old, "cuMemAllocAsync") && cushim_has(old, "cuMemAlloc_v2"));
    CHECK(!cushim_pool_supported(old, 0));
    HELPER(cushim_pool_create(old, 0, 0, &pool));
    CHECK(!pool);
    use(old, pool, stream, "without pools");
    REFUSED(cushim_growing_create(old, 0, 1, 2, &growing),
            "cushim_growing_create: ", "cuMemAddressReserve is not available");
    cushim_close(old);
    dlclose(driver);
}

static void body(const struct cushim_api *cu)
{
    CUstream stream;
    CALL(cu_api->cuStreamCreate(&stream, 0));
    printf("pools are %ssupported\n", cushim_pool_supported(cu, 0) ? "" : "not ");
    use(cu, NULL, stream, "the device's pool");
    use(cu, NULL, NULL, "the device's pool, default stream");
    if (cushim_pool_supported(cu, 0)) {
        own_pool(cu, stream);
        answers_after_free(cu, stream);
    }
    plain_in_order(cu, stream);
    fall_back(stream);
    CALL(cu_api->cuStreamDestroy_v2(stream));
}

int main(void)
{
    return memory_run(body);
}
