/* SPDX-License-Identifier: MIT */
/* The buffer that grows in place: its calls, and what is left where one of them fails. */
#include <string.h>

#include "test_memory_fake.h"

enum { PAGE = FAKE_GRANULARITY };
#define NEWEST 13000

static void test_grow(void **state)
{
    (void)state;
    const struct cushim_api *cu = fake_open(NEWEST);
    struct cushim_growing growing;
    size_t bytes;
    ASSERT_OK(cushim_growing_create(cu, 0, 1, 10 * PAGE - 1, &growing));
    assert_int_equal(growing.size, PAGE);
    assert_int_equal(growing.limit, 10 * PAGE);
    assert_int_equal(growing.granularity, PAGE);
    assert_int_equal(growing.part_count, 1);
    CUdeviceptr address = growing.address;
    ASSERT_OK(cushim_fill_8(cu, address, 0x5a, PAGE));
    assert_int_equal(cushim_fill_8(cu, address, 1, PAGE + 1), CUDA_ERROR_INVALID_VALUE);

    fake_forget();
    ASSERT_OK(cushim_growing_grow(cu, &growing, PAGE));
    ASSERT_NO_CALLS();
    ASSERT_OK(cushim_growing_grow(cu, &growing, 2 * PAGE + 1));
    ASSERT_CALLS("cuMemCreate", "cuMemMap", "cuMemSetAccess");
    assert_int_equal(growing.size, 3 * PAGE);
    assert_int_equal(growing.part_count, 2);
    assert_int_equal(growing.parts[1].bytes, 2 * PAGE);
    assert_true(growing.parts[0].handle != growing.parts[1].handle);
    assert_true(growing.address == address);
    assert_int_equal(((unsigned char *)(uintptr_t)address)[PAGE - 1], 0x5a);
    ASSERT_OK(cushim_fill_8(cu, address + PAGE - 4, 1, 2 * PAGE + 4));
    assert_int_equal(cushim_fill_8(cu, address, 1, 3 * PAGE + 1), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cushim_memory_live(cu, &bytes), 1);
    assert_int_equal(bytes, 3 * PAGE);
    ASSERT_OK(cushim_growing_grow(cu, &growing, 10 * PAGE));
    assert_int_equal(memory_fake.mappings, 3);

    fake_forget();
    ASSERT_OK(cushim_growing_release(cu, &growing));
    ASSERT_CALLS("cuMemUnmap", "cuMemRelease", "cuMemUnmap", "cuMemRelease", "cuMemUnmap",
                 "cuMemRelease", "cuMemAddressFree");
    assert_true(!growing.address && !growing.size && !growing.parts);
    ASSERT_OK(cushim_growing_release(cu, &growing));
    ASSERT_OK(cushim_growing_release(cu, NULL));
    fake_close(cu);
}

static void test_nothing_at_first(void **state)
{
    (void)state;
    const struct cushim_api *cu = fake_open(NEWEST);
    struct cushim_growing growing;
    ASSERT_OK(cushim_growing_create(cu, 0, 0, 2 * PAGE, &growing));
    assert_int_equal(growing.size, 0);
    assert_int_equal(cushim_memory_live(cu, NULL), 0);
    assert_int_equal(memory_fake.handles, 0);
    ASSERT_OK(cushim_growing_grow(cu, &growing, 5));
    assert_int_equal(cushim_memory_live(cu, NULL), 1);
    ASSERT_OK(cushim_growing_release(cu, &growing));
    ASSERT_OK(cushim_growing_create(cu, 0, 0, 1, &growing));
    ASSERT_OK(cushim_growing_release(cu, &growing));
    fake_close(cu);
}

static void test_refused(void **state)
{
    (void)state;
    const struct cushim_api *cu = fake_open(NEWEST);
    struct cushim_growing growing = {.limit = 77}, none = {0};
#define REFUSED(call, ...) ASSERT_REFUSED(call, CUDA_ERROR_INVALID_VALUE, __VA_ARGS__)
    REFUSED(cushim_growing_create(cu, 0, 0, 0, &growing), "cushim_growing_create: limit: 0");
    REFUSED(cushim_growing_create(cu, 0, 6, 5, &growing), "size: 6 ", "limit of 5");
    REFUSED(cushim_growing_create(cu, 0, 6, SIZE_MAX, &growing), "limit: ", "overflows");
    REFUSED(cushim_growing_create(cu, 0, 1, 2, NULL), "growing: NULL");
    REFUSED(cushim_growing_grow(cu, NULL, 5), "cushim_growing_grow: growing: NULL");
    REFUSED(cushim_growing_grow(cu, &none, 5), "growing: its address is 0");
    memory_fake.mapping = 0;
    ASSERT_REFUSED(cushim_growing_create(cu, 0, 1, 2, &growing), CUDA_ERROR_NOT_SUPPORTED,
                   "cushim_growing_create: device: 0 cannot map memory");
    memory_fake.mapping = 1;
    assert_int_equal(cushim_growing_create(cu, 9, 1, 2, &growing), CUDA_ERROR_INVALID_DEVICE);
    assert_int_equal(growing.limit, 77);

    ASSERT_OK(cushim_growing_create(cu, 0, 1, 2 * PAGE, &growing));
    REFUSED(cushim_growing_grow(cu, &growing, 2 * PAGE + 1), "cushim_growing_grow: size: 8193 ",
            "limit of 8192");
    ASSERT_REFUSED(cushim_memory_free(cu, growing.address), CUDA_ERROR_INVALID_VALUE,
                   "is for cushim_growing_release");
    CUdeviceptr address = growing.address;
    ASSERT_OK(cushim_growing_release(cu, &growing));
    REFUSED(cushim_fill_8(cu, address, 1, 1), "cushim_fill_8: dst: ", "freed already");
    fake_close(cu);

    cu = fake_open_without(10010, (const char *const[]){"cuMemAddressReserve", NULL});
    ASSERT_REFUSED(cushim_growing_create(cu, 0, 1, 2, &growing), CUDA_ERROR_NOT_SUPPORTED,
                   "cushim_growing_create: cuMemAddressReserve is not available: it came with "
                   "CUDA 10.2");
    fake_close(cu);
}

/* Whichever call fails: what was made is undone, and what was there is as it was. */
static void test_failures(void **state)
{
    (void)state;
    static const char *const calls[] = {"cuMemGetAllocationGranularity", "cuMemAddressReserve",
                                        "cuMemCreate", "cuMemMap", "cuMemSetAccess"};
    const struct cushim_api *cu = fake_open(NEWEST);
    struct cushim_growing growing = {.limit = 77}, before;
    for (size_t i = 0; i < COUNT(calls); i++) {
        fake_fail(calls[i], CUDA_ERROR_OUT_OF_MEMORY, 0);
        assert_int_equal(cushim_growing_create(cu, 0, 100, 9 * PAGE, &growing),
                         CUDA_ERROR_OUT_OF_MEMORY);
        assert_contains(cushim_last_error(), "cushim_growing_create: ");
        assert_contains(cushim_last_error(), calls[i]);
        assert_int_equal(memory_fake.handles, 0);
        assert_int_equal(memory_fake.mappings, 0);
        assert_int_equal(memory_fake.reservations, 0);
        assert_int_equal(growing.limit, 77);
    }
    fake_fail(NULL, CUDA_SUCCESS, 0);
    ASSERT_OK(cushim_growing_create(cu, 0, 100, 9 * PAGE, &growing));
    before = growing;
    for (size_t i = 2; i < COUNT(calls); i++) {
        fake_fail(calls[i], CUDA_ERROR_OUT_OF_MEMORY, 0);
        assert_int_equal(cushim_growing_grow(cu, &growing, 2 * PAGE), CUDA_ERROR_OUT_OF_MEMORY);
        assert_contains(cushim_last_error(), "cushim_growing_grow: ");
        assert_int_equal(memory_fake.handles, 1);
        assert_int_equal(memory_fake.mappings, 1);
        assert_true(growing.address == before.address && growing.size == before.size &&
                    growing.part_count == 1);
        assert_int_equal(cushim_fill_8(cu, growing.address, 1, PAGE + 1), CUDA_ERROR_INVALID_VALUE);
    }
    fake_fail(NULL, CUDA_SUCCESS, 0);
    ASSERT_OK(cushim_growing_grow(cu, &growing, 2 * PAGE));
    /* What could not be given back stays in the structure. */
    fake_fail("cuMemUnmap", CUDA_ERROR_ILLEGAL_ADDRESS, 1);
    assert_int_equal(cushim_growing_release(cu, &growing), CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_contains(cushim_last_error(), "cushim_growing_release: cuMemUnmap: ");
    assert_int_equal(growing.part_count, 1);
    assert_int_equal(growing.size, PAGE);
    ASSERT_OK(cushim_fill_8(cu, growing.address, 1, PAGE));
    fake_fail("cuMemAddressFree", CUDA_ERROR_ILLEGAL_ADDRESS, 0);
    assert_int_equal(cushim_growing_release(cu, &growing), CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_int_equal(growing.size, 0);
    fake_fail(NULL, CUDA_SUCCESS, 0);
    ASSERT_OK(cushim_growing_release(cu, &growing));
    fake_close(cu);
}

/* A driver that shuts down has nothing to give back. */
static void test_gone(void **state)
{
    (void)state;
    const struct cushim_api *cu = fake_open(NEWEST);
    struct cushim_growing growing;
    ASSERT_OK(cushim_growing_create(cu, 0, 1, 2 * PAGE, &growing));
    CUdeviceptr address = growing.address;
    CUmemGenericAllocationHandle handle = growing.parts[0].handle;
    fake_fail("*", CUDA_ERROR_DEINITIALIZED, 0);
    ASSERT_OK(cushim_growing_release(cu, &growing));
    assert_true(!growing.address && !growing.parts);
    fake_fail(NULL, CUDA_SUCCESS, 0);
    ASSERT_OK(cu->cuMemUnmap(address, PAGE));
    ASSERT_OK(cu->cuMemRelease(handle));
    ASSERT_OK(cu->cuMemAddressFree(address, 2 * PAGE));
    fake_close(cu);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grow),    cmocka_unit_test(test_nothing_at_first),
        cmocka_unit_test(test_refused), cmocka_unit_test(test_failures),
        cmocka_unit_test(test_gone),
    };
    return cmocka_run_group_tests_name("memory_virtual", tests, NULL, NULL);
}
