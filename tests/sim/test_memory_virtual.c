/* SPDX-License-Identifier: MIT */
/* Virtual memory: reserved, created, mapped, and what may be done with it. */
#include "memory_test.h"

#define GRAIN (2 * MIB)

static CUmemGenericAllocationHandle created(size_t size)
{
    CUmemGenericAllocationHandle handle = 0;
    CUmemAllocationProp prop;
    memset(&prop, 0, sizeof prop);
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    OK(cu->cuMemCreate(&handle, size, &prop, 0));
    return handle;
}

static void allow(CUdeviceptr address, size_t size, CUmemAccess_flags flags)
{
    CUmemAccessDesc access = {.location.type = CU_MEM_LOCATION_TYPE_DEVICE, .flags = flags};
    OK(cu->cuMemSetAccess(address, size, &access, 1));
}

/* Copies and fills pass from one mapping to the next as if they were one. */
static void test_neighbours(void **state)
{
    enum { PIECES = 3 };
    static unsigned char bytes[PIECES * 2 << 20], back[PIECES * 2 << 20];
    CUdeviceptr a, plain = memory_of(sizeof bytes);
    CUmemGenericAllocationHandle handles[PIECES];
    (void)state;
    OK(cu->cuMemAddressReserve(&a, PIECES * GRAIN, 0, 0, 0));
    for (size_t i = 0; i < PIECES; i++) {
        handles[i] = created(GRAIN);
        OK(cu->cuMemMap(a + i * GRAIN, GRAIN, 0, handles[i], 0));
    }
    allow(a, PIECES * GRAIN, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    memory_fill(bytes, sizeof bytes);
    OK(cu->cuMemcpyHtoD_v2(a, bytes, sizeof bytes));
    OK(cu->cuMemcpyDtoD_v2(plain, a, sizeof bytes));
    OK(cu->cuMemcpyDtoH_v2(back, plain, sizeof bytes));
    assert_memory_equal(bytes, back, sizeof bytes);
    OK(cu->cuMemsetD32_v2(a + GRAIN - 8, 0x01020304, 4));
    memcpy(bytes + GRAIN - 8, "\4\3\2\1\4\3\2\1\4\3\2\1\4\3\2\1", 16);
    OK(cu->cuMemcpyDtoH_v2(back, a, sizeof bytes));
    assert_memory_equal(bytes, back, sizeof bytes);
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuMemsetD8_v2(a, 0, PIECES * GRAIN + 1));
    /* A hole in the middle. */
    OK(cu->cuMemUnmap(a + GRAIN, GRAIN));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuMemcpyDtoH_v2(back, a, sizeof bytes));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuMemAddressFree(a, PIECES * GRAIN));
    OK(cu->cuMemUnmap(a, PIECES * GRAIN));
    OK(cu->cuMemAddressFree(a, PIECES * GRAIN));
    for (int i = 0; i < PIECES; i++)
        OK(cu->cuMemRelease(handles[i]));
    OK(cu->cuMemFree_v2(plain));
}

static void test_access(void **state)
{
    CUdeviceptr a;
    CUmemGenericAllocationHandle handle = created(GRAIN), again;
    size_t before = memory_free_bytes();
    unsigned word;
    (void)state;
    OK(cu->cuMemAddressReserve(&a, GRAIN, 0, 0, 0));
    OK(cu->cuMemMap(a, GRAIN, 0, handle, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuMemcpyDtoH_v2(&word, a, 4));
    allow(a, GRAIN, CU_MEM_ACCESS_FLAGS_PROT_READ);
    OK(cu->cuMemcpyDtoH_v2(&word, a, 4));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuMemcpyHtoD_v2(a, &word, 4));
    allow(a, GRAIN, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    OK(cu->cuMemsetD32_v2(a, 42, 1));
    OK(cu->cuMemRelease(handle));
    OK(cu->cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)(a + 100)));
    assert_true(again == handle);
    OK(cu->cuMemUnmap(a, GRAIN));
    assert_int_equal(memory_free_bytes(), before);
    OK(cu->cuMemMap(a, GRAIN, 0, again, 0)); /* its contents stay */
    allow(a, GRAIN, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    OK(cu->cuMemcpyDtoH_v2(&word, a, 4));
    assert_int_equal(word, 42);
    OK(cu->cuMemRelease(again));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuMemRelease(again));
    OK(cu->cuMemUnmap(a, GRAIN));
    assert_int_equal(memory_free_bytes(), before + GRAIN);
    OK(cu->cuMemAddressFree(a, GRAIN));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuMemcpyDtoH_v2(&word, a, 4));
}

static void test_out_of_memory(void **state)
{
    CUmemGenericAllocationHandle handle = created(200 * MIB), other;
    CUmemAllocationProp prop;
    (void)state;
    OK(cu->cuMemGetAllocationPropertiesFromHandle(&prop, handle));
    GIVES(CUDA_ERROR_OUT_OF_MEMORY, cu->cuMemCreate(&other, 100 * MIB, &prop, 0));
    OK(cu->cuMemRelease(handle));
    OK(cu->cuMemCreate(&other, 100 * MIB, &prop, 0));
    OK(cu->cuMemRelease(other));
}

static void test_reservations(void **state)
{
    CUdeviceptr a, b, c;
    (void)state;
    OK(cu->cuMemAddressReserve(&a, 4 * GRAIN, 16 * MIB, 0, 0));
    assert_int_equal(a % (16 * MIB), 0);
    OK(cu->cuMemAddressFree(a, 4 * GRAIN));
    OK(cu->cuMemAddressReserve(&b, 2 * GRAIN, 0, a, 0)); /* as wished: it is free */
    assert_true(b == a);
    OK(cu->cuMemAddressReserve(&c, 2 * GRAIN, 0, a, 0));
    assert_true(c != a);
    OK(cu->cuMemAddressFree(b, 2 * GRAIN));
    OK(cu->cuMemAddressFree(c, 2 * GRAIN));
    for (int i = 0; i < 20000; i++) {
        OK(cu->cuMemAddressReserve(&a, 1024 * MIB, 0, 0, 0));
        OK(cu->cuMemAddressFree(a, 1024 * MIB));
    }
}

static const struct CMUnitTest tests[] = {
    MEMORY_TEST(test_neighbours),
    MEMORY_TEST(test_access),
    MEMORY_OWN(test_out_of_memory, "a small device"),
    MEMORY_TEST(test_reservations),
};
MEMORY_MAIN("memory_virtual", tests)
