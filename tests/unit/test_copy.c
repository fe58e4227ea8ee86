/* SPDX-License-Identifier: MIT */
/* A copy of a table is a full handle: what asks about a slot, and every helper, uses the copy's. */
#include <string.h>

#include <cushim/memory.h>

#include "fake_silent.h"

static int inits, allocations;

static CUresult CUDAAPI own_init(unsigned flags)
{
    inits++;
    return flags ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_SYSTEM_NOT_READY;
}

static CUresult CUDAAPI own_alloc(CUdeviceptr *address, size_t bytes)
{
    allocations++;
    *address = bytes;
    return CUDA_SUCCESS;
}

static void test_slots(void **state)
{
    (void)state;
    const struct cushim_api *cu = open_path(fake_path(GOOD));
    struct cushim_api copy = *cu;
    const size_t alloc = entry_index("cuMemAlloc_v2"), newer = entry_index("cuCtxCreate_v4");
    void *own, *stub = table_slot(cu, newer);
    copy.cuMemAlloc_v2 = own_alloc;
    memcpy(&own, &copy.cuMemAlloc_v2, sizeof own);
    assert_ptr_equal(cushim_slot_at(&copy, alloc).address, own);
    assert_int_equal(cushim_slot_at(&copy, alloc).via, CUSHIM_VIA_CALLER);
    assert_int_equal(cushim_slot_at(cu, alloc).via, CUSHIM_VIA_PROC);
    assert_ptr_equal(cushim_proc(&copy, "cuMemAlloc", 3020, CUSHIM_STREAM_LEGACY, NULL), own);
    /* Without it, and with one that the driver lacks. */
    memcpy(&copy.cuMemAlloc_v2, &(void *){NULL}, sizeof own);
    assert_false(CUSHIM_HAS(&copy, cuMemAlloc_v2) || cushim_has(&copy, "cuMemAlloc_v2"));
    assert_true(CUSHIM_HAS(cu, cuMemAlloc_v2) && !CUSHIM_HAS(&copy, cuCtxCreate_v4));
    assert_ptr_equal(stub, table_slot(&copy, newer));
    memcpy(&copy.cuCtxCreate_v4, &own, sizeof own);
    assert_true(CUSHIM_HAS(&copy, cuCtxCreate_v4));
    /* What it is a copy of. */
    assert_int_equal(cushim_status(&copy), CUSHIM_OK);
    assert_string_equal(cushim_path(&copy), cushim_path(cu));
    cushim_close(cu);
}

static void test_init(void **state)
{
    (void)state;
    const struct cushim_api *cu = open_path(fake_path(GOOD));
    struct cushim_api copy = *cu;
    copy.cuInit = own_init;
    assert_int_equal(cushim_init(&copy), CUSHIM_ERROR_NOT_READY);
    assert_int_equal(inits, 1);
    assert_contains(cushim_last_error(), "802");
    assert_contains(cushim_message(&copy), "entries"); /* the driver's own was not asked */
    assert_int_equal(cushim_init(cu), CUSHIM_OK);
    assert_int_equal(inits, 1);
    cushim_close(cu);
}

/* A program's own tests have no driver. */
static void test_without_driver(void **state)
{
    (void)state;
    const struct cushim_api *cu = open_path("/nowhere/libcuda.so.1");
    struct cushim_api copy = *cu;
    inits = 0;
    assert_int_equal(cushim_init(&copy), CUSHIM_ERROR_NOT_FOUND);
    copy.cuInit = own_init;
    copy.cuMemAlloc_v2 = own_alloc;
    assert_int_equal(cushim_init(&copy), CUSHIM_ERROR_NOT_READY);
    assert_int_equal(inits, 1);
    assert_contains(cushim_last_error(), "802");
    assert_int_equal(cushim_init(cu), CUSHIM_ERROR_NOT_FOUND);
    assert_true(CUSHIM_HAS(&copy, cuMemAlloc_v2) && !CUSHIM_HAS(&copy, cuMemFree_v2));
    cushim_close(cu);
}

static void test_helper(void **state)
{
    (void)state;
    silent_reset();
    silent_use("cuCtxGetCurrent", NULL);
    const struct cushim_api *cu = silent_open();
    struct cushim_api copy = *cu;
    CUdeviceptr address = 0;
    copy.cuMemAlloc_v2 = own_alloc;
    CUresult code = cushim_memory_alloc(&copy, 77, &address);
    if (code != CUDA_SUCCESS)
        fail_msg("%d: %s", (int)code, cushim_last_error());
    assert_true(address == 77 && allocations == 1);
    assert_int_equal(cushim_memory_alloc(cu, 77, &address), CUDA_SUCCESS);
    assert_int_equal(allocations, 1);
    cushim_close(&copy);
    assert_contains(cushim_last_error(), "not a table that cushim_open returned");
    cushim_close(cu);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slots),
        cmocka_unit_test(test_init),
        cmocka_unit_test(test_without_driver),
        cmocka_unit_test(test_helper),
    };
    return cmocka_run_group_tests_name("copy", tests, NULL, NULL);
}
