/* SPDX-License-Identifier: MIT */
/* Memory: which calls are made, what arrives, what is refused, and the sentences. */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test_memory_fake.h"

static char stream_bytes[1];
#define STREAM ((CUstream)(void *)stream_bytes)
#define NEWEST 13000
#define REFUSED(call, ...) ASSERT_REFUSED(call, CUDA_ERROR_INVALID_VALUE, __VA_ARGS__)

static const CUdeviceptr untouched = 0xabcd;

static void test_alloc_and_free(void **state)
{
    (void)state;
    const struct cushim_api *cu = fake_open(NEWEST);
    CUdeviceptr address = 0, other = 0;
    ASSERT_OK(cushim_memory_alloc(cu, 1000, &address));
    ASSERT_CALLS("cuMemAlloc_v2");
    ASSERT_OK(cushim_memory_alloc(cu, 24, &other));
    assert_true(address != 0 && other != 0 && address != other);
    fake_forget();
    ASSERT_OK(cushim_memory_free(cu, address));
    ASSERT_CALLS("cuMemFree_v2");
    ASSERT_OK(cushim_memory_free(cu, other));
    fake_forget();
    ASSERT_OK(cushim_memory_free(cu, 0));
    ASSERT_OK(cushim_memory_free_async(cu, 0, STREAM));
    ASSERT_NO_CALLS();
    fake_close(cu);
}

/* An address that was freed and is the system's or the driver's again is as good as any other. */
static void test_address_comes_again(void **state)
{
    (void)state;
    const struct cushim_api *cu = fake_open(NEWEST);
    CUdeviceptr address = 0, same = 0;
    char bytes[600] = "";
    ASSERT_OK(cushim_memory_alloc(cu, 512, &address));
    ASSERT_OK(cushim_memory_free(cu, address));
    ASSERT_OK(cu->cuMemAlloc_v2(&same, 1024));
    assert_true(same == address);
    ASSERT_OK(cushim_copy_to_device(cu, same, bytes, sizeof bytes));
    ASSERT_OK(cushim_memory_free(cu, same));
    fake_close(cu);
}

static void test_bad_requests(void **state)
{
    (void)state;
    const struct cushim_api *cu = fake_open(NEWEST);
    CUdeviceptr address = untouched;
    struct cushim_pointer pointer = {.size = 3};
    REFUSED(cushim_memory_alloc(cu, 0, &address),
            "cushim_memory_alloc: ", "bytes is 0; ask for at least 1");
    REFUSED(cushim_memory_alloc(cu, 8, NULL), "cushim_memory_alloc: ", "address is NULL");
    REFUSED(cushim_memory_alloc_async(cu, 0, STREAM, &address),
            "cushim_memory_alloc_async: ", "bytes is 0; ask for at least 1");
    REFUSED(cushim_memory_alloc_async(cu, 8, STREAM, NULL), "address is NULL");
    REFUSED(cushim_pointer_describe(cu, 8, NULL), "cushim_pointer_describe: pointer is NULL");
    REFUSED(cushim_pointer_describe(cu, 8, &pointer), "pointer: size: 3 ");
    REFUSED(cushim_memory_prefetch(cu, 0, 8, 0, NULL), "address is 0; pass an address");
    ASSERT_REFUSED(cushim_memory_prefetch(cu, 8, 64, -5, NULL), CUDA_ERROR_INVALID_DEVICE,
                   "device is -5; pass a device, or CU_DEVICE_CPU");
    assert_true(address == untouched);
    fake_close(cu);
}

/* Without a table there is nothing to call, and still no crash. */
static void test_no_table(void **state)
{
    (void)state;
    CUdeviceptr address = untouched;
    struct cushim_pointer pointer = {.size = sizeof pointer};
    char bytes[4];
    const struct cushim_api *cu = fake_open(NEWEST);
    REFUSED(cushim_memory_alloc(NULL, 8, &address), "cushim_memory_alloc: cu is NULL");
    REFUSED(cushim_memory_alloc_async(NULL, 8, NULL, &address), "cu is NULL");
    REFUSED(cushim_memory_free(NULL, 8), "cu is NULL");
    REFUSED(cushim_memory_free_async(NULL, 8, NULL), "cu is NULL");
    REFUSED(cushim_memory_prefetch(NULL, 8, 8, 0, NULL), "cu is NULL");
    REFUSED(cushim_pointer_describe(NULL, 8, &pointer), "cu is NULL");
    REFUSED(cushim_copy_to_device(NULL, 8, bytes, 4), "cushim_copy_to_device: cu is NULL");
    REFUSED(cushim_copy_to_host(NULL, bytes, 8, 4), "cu is NULL");
    REFUSED(cushim_copy_to_device_async(NULL, 8, bytes, 4, NULL), "cu is NULL");
    REFUSED(cushim_copy_to_host_async(NULL, bytes, 8, 4, NULL), "cu is NULL");
    REFUSED(cushim_fill_32(NULL, 8, 1, 1), "cushim_fill_32: cu is NULL");
    REFUSED(cushim_fill_32_async(NULL, 8, 1, 1, NULL), "cu is NULL");
    assert_true(address == untouched);
    fake_close(cu);
}

/* What a driver returns is passed on, with its call, the size, and what is free. */
static void test_driver_fails(void **state)
{
    (void)state;
    const struct cushim_api *cu = fake_open(NEWEST);
    CUdeviceptr address = untouched;
    size_t asked = SIZE_MAX / 2 + 1; /* 32 bits too, where a size has no more */
    char words[80];
    snprintf(words, sizeof words, "bytes: %zu, and 1234 of 5678 are free", asked);
    assert_int_equal(cushim_memory_alloc(cu, asked, &address), CUDA_ERROR_OUT_OF_MEMORY);
    assert_contains(cushim_last_error(), "cushim_memory_alloc: cuMemAlloc_v2: ");
    assert_contains(cushim_last_error(), words);
    fake_fail("cuMemAlloc_v2", CUDA_ERROR_INVALID_CONTEXT, 0);
    assert_int_equal(cushim_memory_alloc(cu, 64, &address), CUDA_ERROR_INVALID_CONTEXT);
    assert_contains(cushim_last_error(), "CUDA_ERROR_INVALID_CONTEXT (201)");
    assert_contains(cushim_last_error(), "; bytes: 64");
    assert_true(address == untouched);
    fake_fail("cuMemFree_v2", CUDA_ERROR_ILLEGAL_ADDRESS, 0);
    assert_int_equal(cushim_memory_free(cu, 0x40), CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_contains(cushim_last_error(), "cushim_memory_free: cuMemFree_v2: ");
    assert_contains(cushim_last_error(), "; address: 0x40");
    assert_true(!strstr(cushim_last_error(), "freed before"));
    fake_fail("cuMemFree_v2", CUDA_ERROR_INVALID_VALUE, 0);
    assert_int_equal(cushim_memory_free(cu, 0x40), CUDA_ERROR_INVALID_VALUE);
    assert_contains(cushim_last_error(), "; address: 0x40, which begins no block, or was freed");
    /* A driver that shuts down has freed all. */
    fake_fail("cuMemFree_v2", CUDA_ERROR_DEINITIALIZED, 0);
    ASSERT_OK(cushim_memory_free(cu, 0x40));
    fake_close(cu);
}

static void test_stream_order(void **state)
{
    (void)state;
    const struct cushim_api *cu = fake_open(NEWEST);
    CUdeviceptr address = 0;
    ASSERT_OK(cushim_memory_alloc_async(cu, 64, STREAM, &address));
    ASSERT_CALLS("cuCtxGetDevice", "cuDeviceGetAttribute", "cuMemAllocAsync");
    assert_ptr_equal(memory_fake.stream, STREAM);
    fake_forget();
    ASSERT_OK(cushim_memory_free_async(cu, address, STREAM));
    ASSERT_CALLS("cuCtxGetDevice", "cuDeviceGetAttribute", "cuMemFreeAsync");
    fake_fail("cuMemFreeAsync", CUDA_ERROR_DEINITIALIZED, 0);
    ASSERT_OK(cushim_memory_free_async(cu, 0x40, STREAM));
    fake_fail("cuMemFreeAsync", CUDA_ERROR_INVALID_VALUE, 0);
    assert_int_equal(cushim_memory_free_async(cu, 0x40, STREAM), CUDA_ERROR_INVALID_VALUE);
    assert_contains(cushim_last_error(), "cuMemFreeAsync");
    assert_contains(cushim_last_error(), "address: 0x40");
    fake_fail(NULL, CUDA_SUCCESS, 0);
    /* A device without pools: plain memory, freed when the stream is through. */
    memory_fake.pools = 0;
    fake_forget();
    ASSERT_OK(cushim_memory_alloc_async(cu, 64, STREAM, &address));
    ASSERT_OK(cushim_memory_free_async(cu, address, STREAM));
    ASSERT_CALLS("cuCtxGetDevice", "cuDeviceGetAttribute", "cuMemAlloc_v2", "cuCtxGetDevice",
                 "cuDeviceGetAttribute", "cuStreamSynchronize", "cuMemFree_v2");
    fake_close(cu);

    /* A driver without pools. */
    cu = fake_open_without(11010, (const char *const[]){"cuMemAllocAsync", "cuMemFreeAsync", NULL});
    ASSERT_OK(cushim_memory_alloc_async(cu, 64, STREAM, &address));
    ASSERT_OK(cushim_memory_free_async(cu, address, STREAM));
    ASSERT_CALLS("cuMemAlloc_v2", "cuStreamSynchronize", "cuMemFree_v2");
    /* Work that failed keeps no memory. */
    ASSERT_OK(cushim_memory_alloc_async(cu, 64, STREAM, &address));
    fake_forget();
    fake_fail("cuStreamSynchronize", CUDA_ERROR_ILLEGAL_ADDRESS, 0);
    assert_int_equal(cushim_memory_free_async(cu, address, STREAM), CUDA_ERROR_ILLEGAL_ADDRESS);
    ASSERT_CALLS("cuStreamSynchronize", "cuMemFree_v2");
    assert_contains(cushim_last_error(), "cuStreamSynchronize");
    fake_close(cu);
}

static void test_prefetch(void **state)
{
    (void)state;
    const struct cushim_api *cu = fake_open(NEWEST);
    ASSERT_OK(cushim_memory_prefetch(cu, 0x1000, 64, CU_DEVICE_CPU, STREAM));
    assert_true(memory_fake.prefetched == 0x1000 && memory_fake.prefetched_bytes == 64);
    ASSERT_CALLS("cuMemPrefetchAsync_v2");
    assert_int_equal(memory_fake.location.type, CU_MEM_LOCATION_TYPE_HOST);
    ASSERT_OK(cushim_memory_prefetch(cu, 0x1000, 64, 3, STREAM));
    assert_true(memory_fake.prefetched == 0x1000 && memory_fake.prefetched_bytes == 64);
    assert_int_equal(memory_fake.location.type, CU_MEM_LOCATION_TYPE_DEVICE);
    assert_int_equal(memory_fake.location.id, 3);
    assert_ptr_equal(memory_fake.stream, STREAM);
    fake_forget();
    ASSERT_OK(cushim_memory_prefetch(cu, 0, 0, 0, NULL));
    ASSERT_NO_CALLS();
    fake_close(cu);

    cu = fake_open_without(12010, (const char *const[]){"cuMemPrefetchAsync_v2", NULL});
    ASSERT_OK(cushim_memory_prefetch(cu, 0x1000, 64, CU_DEVICE_CPU, STREAM));
    assert_true(memory_fake.prefetched == 0x1000 && memory_fake.prefetched_bytes == 64);
    ASSERT_CALLS("cuMemPrefetchAsync");
    assert_int_equal(memory_fake.device, CU_DEVICE_CPU);
    /* The first ABI is named as drivers export it. */
    fake_fail("cuMemPrefetchAsync", CUDA_ERROR_INVALID_DEVICE, 0);
    assert_int_equal(cushim_memory_prefetch(cu, 0x1000, 64, 0, STREAM), CUDA_ERROR_INVALID_DEVICE);
    assert_contains(cushim_last_error(), "cushim_memory_prefetch: cuMemPrefetchAsync: CUDA_ERROR_");
    fake_close(cu);
}

static void test_describe(void **state)
{
    (void)state;
    static const struct {
        int version;
        unsigned count;
    } asked[] = {{7000, 6}, {9020, 7}, {10020, 9}, {11020, 9}, {11030, 10}, {NEWEST, 10}};
    struct cushim_pointer pointer;
    CUdeviceptr address = 0;
    for (size_t i = 0; i < COUNT(asked); i++) {
        const struct cushim_api *cu = fake_open(asked[i].version);
        ASSERT_OK(cu->cuMemAllocManaged(&address, 640, CU_MEM_ATTACH_GLOBAL));
        memset(&pointer, 0xff, sizeof pointer);
        pointer.size = sizeof pointer;
        ASSERT_OK(cushim_pointer_describe(cu, address + 4, &pointer));
        assert_int_equal(memory_fake.pointer_attributes, asked[i].count);
        assert_int_equal(pointer.size, sizeof pointer);
        assert_int_equal(pointer.type, CU_MEMORYTYPE_DEVICE);
        assert_int_equal(pointer.bytes, asked[i].version < 10020 ? 0 : 640);
        assert_int_equal(pointer.ordinal, asked[i].version < 9020 ? -1 : 0);
        assert_true(pointer.managed && !pointer.host && !pointer.pool && !pointer.context);
        ASSERT_OK(cushim_pointer_describe(cu, (uintptr_t)&pointer, &pointer));
        assert_int_equal(pointer.type, 0);
        assert_int_equal(pointer.ordinal, -1);
        ASSERT_OK(cushim_memory_free(cu, address));
        fake_close(cu);
    }
}

/* ---- copies and fills */

enum { SIZE = 1000 };

/* The call of this symbol was made, on this stream, and no other; then forgets it. */
static void assert_call(const char *symbol, CUstream stream)
{
    ASSERT_CALLS(symbol);
    assert_ptr_equal(memory_fake.stream, stream);
    memory_fake.stream = NULL;
    fake_forget();
}

static void test_copies(void **state)
{
    (void)state;
    const struct cushim_api *cu = fake_open(NEWEST);
    unsigned char host[SIZE], back[SIZE] = {0};
    CUdeviceptr device = 0;
    for (size_t i = 0; i < SIZE; i++)
        host[i] = (unsigned char)(i * 7 + 1);
    ASSERT_OK(cushim_memory_alloc(cu, SIZE, &device));
    fake_forget();
    ASSERT_OK(cushim_copy_to_device(cu, device, host, SIZE));
    assert_call("cuMemcpyHtoD_v2", NULL);
    ASSERT_OK(cushim_copy_to_host(cu, back, device, SIZE));
    assert_call("cuMemcpyDtoH_v2", NULL);
    assert_memory_equal(back, host, SIZE);
    ASSERT_OK(cushim_copy_to_device_async(cu, device + 1, host, SIZE - 1, STREAM));
    assert_call("cuMemcpyHtoDAsync_v2", STREAM);
    ASSERT_OK(cushim_copy_to_host_async(cu, back, device + 1, SIZE - 1, STREAM));
    assert_call("cuMemcpyDtoHAsync_v2", STREAM);
    assert_memory_equal(back, host, SIZE - 1);

    ASSERT_OK(cushim_copy_to_device(cu, 0, NULL, 0));
    ASSERT_OK(cushim_copy_to_host(cu, NULL, 0, 0));
    ASSERT_OK(cushim_copy_to_device_async(cu, 0, NULL, 0, STREAM));
    ASSERT_OK(cushim_copy_to_host_async(cu, NULL, 0, 0, STREAM));
    ASSERT_NO_CALLS();
    REFUSED(cushim_copy_to_device(cu, 0, host, 1),
            "cushim_copy_to_device: dst is 0; pass an address");
    REFUSED(cushim_copy_to_device_async(cu, device, NULL, 1, NULL), "src is 0; pass an address");
    REFUSED(cushim_copy_to_host(cu, NULL, device, 1),
            "cushim_copy_to_host: dst is 0; pass an address");
    REFUSED(cushim_copy_to_host_async(cu, host, 0, 1, NULL), "src is 0; pass an address");
    REFUSED(cushim_copy_to_device(cu, device, host, SIZE_MAX), "pass the end of all addresses");
    fake_fail("cuMemcpyHtoD_v2", CUDA_ERROR_INVALID_VALUE, 0);
    assert_int_equal(cushim_copy_to_device(cu, device, host, 7), CUDA_ERROR_INVALID_VALUE);
    assert_contains(cushim_last_error(), "cushim_copy_to_device: cuMemcpyHtoD_v2: ");
    assert_contains(cushim_last_error(), "bytes: 7");
    fake_fail(NULL, CUDA_SUCCESS, 0);
    ASSERT_OK(cushim_memory_free(cu, device));
    fake_close(cu);
}

static void test_fills(void **state)
{
    (void)state;
    const struct cushim_api *cu = fake_open(NEWEST);
    uint32_t numbers[8] = {0};
    CUdeviceptr device = 0;
    ASSERT_OK(cushim_memory_alloc(cu, sizeof numbers, &device));
    ASSERT_OK(cushim_copy_to_device(cu, device, numbers, sizeof numbers));
    fake_forget();
    ASSERT_OK(cushim_fill_32(cu, device + 4, 0x3f800000, 3));
    assert_call("cuMemsetD32_v2", NULL);
    ASSERT_OK(cushim_fill_32_async(cu, device + 16, 7, 3, STREAM));
    assert_call("cuMemsetD32Async", STREAM);
    ASSERT_OK(cushim_copy_to_host(cu, numbers, device, sizeof numbers));
    const uint32_t expected[8] = {0, 0x3f800000, 0x3f800000, 0x3f800000, 7, 7, 7, 0};
    assert_memory_equal(numbers, expected, sizeof expected);
    fake_forget();
    ASSERT_OK(cushim_fill_32(cu, 0, 1, 0));
    ASSERT_OK(cushim_fill_32_async(cu, 1, 1, 0, STREAM));
    ASSERT_NO_CALLS();
    REFUSED(cushim_fill_32(cu, 0, 1, 1), "cushim_fill_32: dst is 0; pass an address");
    REFUSED(cushim_fill_32(cu, device + 2, 1, 1), "no multiple of the element's 4 bytes");
    REFUSED(cushim_fill_32_async(cu, device, 1, SIZE_MAX / 2, NULL), "count: ", "overflow");
    fake_fail("cuMemsetD32_v2", CUDA_ERROR_INVALID_CONTEXT, 0);
    assert_int_equal(cushim_fill_32(cu, device, 1, 20), CUDA_ERROR_INVALID_CONTEXT);
    assert_contains(cushim_last_error(), "cushim_fill_32: cuMemsetD32_v2: ");
    assert_contains(cushim_last_error(), ", 20 elements");
    fake_fail(NULL, CUDA_SUCCESS, 0);
    ASSERT_OK(cushim_memory_free(cu, device));
    fake_close(cu);
}

/* ---- no driver, and a forked child */

static void test_no_driver(void **state)
{
    (void)state;
    struct cushim_options options = defaults();
    options.path = "/nowhere/libcuda.so.1";
    const struct cushim_api *cu = cushim_open(&options);
    CUdeviceptr address = untouched;
    assert_int_equal(cushim_memory_alloc(cu, 64, &address), CUDA_ERROR_NOT_INITIALIZED);
    assert_contains(cushim_last_error(), "cushim_memory_alloc: cuMemAlloc_v2 is not available");
    assert_int_equal(cushim_memory_alloc_async(cu, 64, NULL, &address), CUDA_ERROR_NOT_INITIALIZED);
    assert_int_equal(cushim_copy_to_device(cu, 64, &address, 4), CUDA_ERROR_NOT_INITIALIZED);
    assert_int_equal(cushim_memory_free(cu, 64), CUDA_ERROR_NOT_INITIALIZED);
    assert_int_equal(cushim_memory_prefetch(cu, 64, 64, 0, NULL), CUDA_ERROR_NOT_INITIALIZED);
    assert_null(strstr(cushim_last_error(), "_v1"));
    assert_true(address == untouched);
    cushim_close(cu);
}

/* What a driver refuses in a forked child says why. */
static void test_forked(void **state)
{
    (void)state;
    const struct cushim_api *cu = fake_open(NEWEST);
    CUdeviceptr address = untouched;
    int status = -1;
    (void)cushim_init(cu);
    fake_fail("cuMemAlloc_v2", CUDA_ERROR_NOT_INITIALIZED, 0);
    assert_int_equal(cushim_memory_alloc(cu, 64, &address), CUDA_ERROR_NOT_INITIALIZED);
    assert_null(strstr(cushim_last_error(), "fork"));
    pid_t child = fork();
    if (child == 0) {
        CUresult code = cushim_memory_alloc(cu, 64, &address);
        const char *sentence = cushim_last_error();
        _exit(!(code == CUDA_ERROR_NOT_INITIALIZED && address == untouched &&
                strstr(sentence, "cushim_memory_alloc: cuMemAlloc_v2: this process was forked") &&
                strstr(sentence, "bytes: 64")));
    }
    assert_true(waitpid(child, &status, 0) == child);
    assert_int_equal(status, 0);
    fake_fail(NULL, CUDA_SUCCESS, 0);
    fake_close(cu);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alloc_and_free), cmocka_unit_test(test_address_comes_again),
        cmocka_unit_test(test_bad_requests),   cmocka_unit_test(test_no_table),
        cmocka_unit_test(test_driver_fails),   cmocka_unit_test(test_stream_order),
        cmocka_unit_test(test_prefetch),       cmocka_unit_test(test_describe),
        cmocka_unit_test(test_copies),         cmocka_unit_test(test_fills),
        cmocka_unit_test(test_no_driver),      cmocka_unit_test(test_forked),
    };
    return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
