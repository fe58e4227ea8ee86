/* SPDX-License-Identifier: MIT */
/* Pools, and what takes their place where there are none. */
#include "test_memory_fake.h"

static char stream_bytes[1];
#define STREAM ((CUstream)(void *)stream_bytes)
#define NEWEST 13000

static const char *const no_pools[] = {"cuMemAllocAsync", "cuMemFreeAsync", "cuMemPoolCreate",
                                       NULL};

static void test_pool(void **state)
{
    (void)state;
    const struct cushim_api *cu = fake_open(NEWEST);
    CUmemoryPool pool = NULL;
    CUdeviceptr address;
    struct cushim_pool_usage usage;
    assert_true(cushim_pool_supported(cu, 0));
    assert_false(cushim_pool_supported(cu, 9));
    ASSERT_OK(cushim_pool_create(cu, 0, 4096, &pool));
    assert_non_null(pool);
    assert_int_equal(memory_fake.threshold, 4096);
    fake_forget();
    ASSERT_OK(cushim_memory_alloc_async(cu, 100, pool, STREAM, &address));
    ASSERT_CALLS("cuMemAllocFromPoolAsync", "cuPointerGetAttribute");
    assert_ptr_equal(memory_fake.stream, STREAM);
    assert_int_equal(cushim_fill_8(cu, address, 0, 101), CUDA_ERROR_INVALID_VALUE);
    memory_fake.stream = NULL;
    fake_forget();
    ASSERT_OK(cushim_memory_free_async(cu, address, STREAM));
    ASSERT_CALLS("cuMemFreeAsync");
    assert_ptr_equal(memory_fake.stream, STREAM);
    ASSERT_OK(cushim_memory_alloc_async(cu, 100, pool, STREAM, &address));
    ASSERT_OK(cushim_memory_free(cu, address));
    ASSERT_OK(cushim_pool_measure(cu, pool, &usage));
    assert_int_equal(usage.used, 100 + CU_MEMPOOL_ATTR_USED_MEM_CURRENT);
    assert_int_equal(usage.used_high, 100 + CU_MEMPOOL_ATTR_USED_MEM_HIGH);
    assert_int_equal(usage.reserved, 100 + CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT);
    assert_int_equal(usage.reserved_high, 100 + CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH);
    ASSERT_OK(cushim_pool_trim(cu, pool, 17));
    assert_int_equal(memory_fake.threshold, 17);
    ASSERT_OK(cushim_pool_destroy(cu, pool));
    ASSERT_OK(cushim_pool_destroy(cu, NULL));
    ASSERT_OK(cushim_pool_create(cu, 0, SIZE_MAX, &pool));
    assert_true(memory_fake.threshold == UINT64_MAX);
    fake_fail("cuMemPoolDestroy", CUDA_ERROR_DEINITIALIZED, 0);
    ASSERT_OK(cushim_pool_destroy(cu, pool));
    memory_fake.pool_count = 0;
    fake_close(cu);
}

static void test_default_pool(void **state)
{
    (void)state;
    const struct cushim_api *cu = fake_open(NEWEST);
    CUdeviceptr address;
    ASSERT_OK(cushim_memory_alloc_async(cu, 100, NULL, STREAM, &address));
    ASSERT_CALLS("cuMemAllocAsync", "cuPointerGetAttribute");
    ASSERT_OK(cushim_memory_free_async(cu, address, STREAM));
    /* From the driver's own call: its kind is not known, and the driver tells. */
    ASSERT_OK(cu->cuMemAllocAsync(&address, 100, STREAM));
    fake_forget();
    ASSERT_OK(cushim_memory_free_async(cu, address, STREAM));
    ASSERT_CALLS("cuPointerGetAttribute", "cuMemFreeAsync"); /* the address was here before */
    /* Memory of cushim_memory_alloc is none of a pool. */
    ASSERT_OK(cushim_memory_alloc(cu, 100, &address));
    fake_forget();
    ASSERT_OK(cushim_memory_free_async(cu, address, STREAM));
    ASSERT_CALLS("cuStreamSynchronize", "cuMemFree_v2");
    fake_close(cu);
}

static void assert_plain(const struct cushim_api *cu)
{
    CUmemoryPool pool = (CUmemoryPool)(void *)stream_bytes;
    CUdeviceptr address;
    assert_false(cushim_pool_supported(cu, 0));
    ASSERT_OK(cushim_pool_create(cu, 0, 0, &pool));
    assert_null(pool);
    ASSERT_OK(cushim_memory_alloc_async(cu, 100, pool, STREAM, &address));
    fake_forget();
    ASSERT_OK(cushim_memory_free_async(cu, address, STREAM));
    ASSERT_CALLS("cuStreamSynchronize", "cuMemFree_v2");
    assert_ptr_equal(memory_fake.stream, STREAM);
    ASSERT_OK(cushim_pool_destroy(cu, pool));
}

static void test_no_pools(void **state)
{
    (void)state;
    const struct cushim_api *old = fake_open_without(11010, no_pools);
    assert_plain(old);
    /* Memory that cushim does not know, on a driver that cannot free it in order. */
    CUdeviceptr address;
    ASSERT_OK(old->cuMemAlloc_v2(&address, 100));
    fake_forget();
    ASSERT_OK(cushim_memory_free_async(old, address, STREAM));
    ASSERT_CALLS("cuPointerGetAttribute", "cuStreamSynchronize", "cuMemFree_v2");
    fake_close(old);
    const struct cushim_api *strange = fake_open_without(NEWEST, no_pools);
    assert_plain(strange);
    fake_close(strange);
    const struct cushim_api *device = fake_open(NEWEST);
    memory_fake.pools = 0;
    assert_plain(device);
    fake_close(device);
}

static void test_failures(void **state)
{
    (void)state;
    const struct cushim_api *cu = fake_open(NEWEST);
    CUmemoryPool none = (CUmemoryPool)(void *)stream_bytes, pool = none;
    CUdeviceptr address = 77;
    struct cushim_pool_usage usage = {.used = 5};
    ASSERT_REFUSED(cushim_pool_create(cu, 0, 0, NULL), CUDA_ERROR_INVALID_VALUE,
                   "cushim_pool_create: pool: NULL");
    assert_int_equal(cushim_pool_create(cu, 9, 0, &pool), CUDA_ERROR_INVALID_DEVICE);
    assert_contains(cushim_last_error(), "cushim_pool_create: device: 9: ");
    fake_fail("cuMemPoolCreate", CUDA_ERROR_OUT_OF_MEMORY, 0);
    assert_int_equal(cushim_pool_create(cu, 0, 0, &pool), CUDA_ERROR_OUT_OF_MEMORY);
    fake_fail("cuMemPoolSetAttribute", CUDA_ERROR_INVALID_VALUE, 0);
    assert_int_equal(cushim_pool_create(cu, 0, 0, &pool), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(memory_fake.pool_count, 0);
    assert_ptr_equal(pool, none);
    fake_fail(NULL, CUDA_SUCCESS, 0);
    ASSERT_OK(cushim_pool_create(cu, 0, 0, &pool));

    ASSERT_REFUSED(cushim_pool_trim(cu, NULL, 0), CUDA_ERROR_INVALID_VALUE,
                   "cushim_pool_trim: pool: NULL");
    ASSERT_REFUSED(cushim_pool_measure(cu, NULL, &usage), CUDA_ERROR_INVALID_VALUE, "pool: NULL");
    ASSERT_REFUSED(cushim_pool_measure(cu, pool, NULL), CUDA_ERROR_INVALID_VALUE, "usage: NULL");
    fake_fail("cuMemPoolGetAttribute", CUDA_ERROR_INVALID_VALUE, 3);
    assert_int_equal(cushim_pool_measure(cu, pool, &usage), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(usage.used, 5);
    /* Pools are there: what the driver says is so. */
    fake_fail("cuMemAllocAsync", CUDA_ERROR_NOT_SUPPORTED, 0);
    assert_int_equal(cushim_memory_alloc_async(cu, 64, NULL, STREAM, &address),
                     CUDA_ERROR_NOT_SUPPORTED);
    fake_fail("cuMemAllocFromPoolAsync", CUDA_ERROR_OUT_OF_MEMORY, 0);
    assert_int_equal(cushim_memory_alloc_async(cu, 64, pool, STREAM, &address),
                     CUDA_ERROR_OUT_OF_MEMORY);
    assert_contains(cushim_last_error(), "bytes: 64, and 1234 of 5678 are free");
    assert_int_equal(address, 77);
    /* Waiting fails: the memory stays. */
    fake_fail("cuStreamSynchronize", CUDA_ERROR_ILLEGAL_ADDRESS, 0);
    ASSERT_OK(cushim_memory_alloc(cu, 64, &address));
    assert_int_equal(cushim_memory_free_async(cu, address, STREAM), CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_int_equal(cushim_memory_live(cu, NULL), 1);
    fake_fail(NULL, CUDA_SUCCESS, 0);
    ASSERT_OK(cushim_memory_free_async(cu, address, STREAM));
    ASSERT_OK(cushim_pool_destroy(cu, pool));
    fake_close(cu);
}

/* A pool hands out a piece again, in the same block for all that the driver says. */
static void test_freed_to_pool(void **state)
{
    (void)state;
    const struct cushim_api *cu = fake_open(NEWEST);
    CUdeviceptr address, again;
    ASSERT_OK(cushim_memory_alloc_async(cu, 64, NULL, STREAM, &address));
    ASSERT_OK(cushim_memory_free_async(cu, address, STREAM));
    ASSERT_REFUSED(cushim_fill_8(cu, address, 1, 8), CUDA_ERROR_INVALID_VALUE, "freed already");
    ASSERT_OK(cu->cuMemAllocAsync(&again, 128, STREAM));
    assert_true(again == address);
    ASSERT_OK(cushim_fill_8(cu, again, 1, 128));
    ASSERT_OK(cushim_memory_free_async(cu, again, STREAM));
    fake_close(cu);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pool),          cmocka_unit_test(test_default_pool),
        cmocka_unit_test(test_no_pools),      cmocka_unit_test(test_failures),
        cmocka_unit_test(test_freed_to_pool),
    };
    return cmocka_run_group_tests_name("memory_pool", tests, NULL, NULL);
}
