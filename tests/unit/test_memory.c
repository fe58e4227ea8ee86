/* SPDX-License-Identifier: MIT */
/* Allocating and freeing: which calls are made, what is refused, what is remembered. */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test_memory_fake.h"

static char stream_bytes[1];
#define STREAM ((CUstream)(void *)stream_bytes)
#define NEWEST 13000

static const CUdeviceptr untouched = 0xabcd;

static void test_device(void **state)
{
    (void)state;
    const struct cushim_api *cu = fake_open(NEWEST);
    CUdeviceptr address = 0, other = 0;
    size_t bytes;
    ASSERT_OK(cushim_memory_alloc(cu, 1000, &address));
    ASSERT_CALLS("cuMemAlloc_v2", "cuPointerGetAttribute");
    ASSERT_OK(cushim_memory_alloc(cu, 24, &other));
    assert_true(address != 0 && other != 0 && address != other);
    assert_int_equal(cushim_memory_live(cu, &bytes), 2);
    assert_int_equal(bytes, 1024);
    assert_int_equal(cushim_memory_live(cu, NULL), 2);
    fake_forget();
    ASSERT_OK(cushim_memory_free(cu, address));
    ASSERT_CALLS("cuMemFree_v2");
    ASSERT_OK(cushim_memory_free(cu, other));
    fake_forget();
    ASSERT_OK(cushim_memory_free(cu, 0));
    ASSERT_NO_CALLS();
    fake_close(cu);
}

static void test_bad_requests(void **state)
{
    (void)state;
    const struct cushim_api *cu = fake_open(NEWEST);
    CUdeviceptr address = untouched;
    size_t pitch = 77;
    void *host = &address;
    ASSERT_REFUSED(cushim_memory_alloc(cu, 0, &address), CUDA_ERROR_INVALID_VALUE,
                   "cushim_memory_alloc: ", "bytes: 0");
    ASSERT_REFUSED(cushim_memory_alloc(cu, 8, NULL), CUDA_ERROR_INVALID_VALUE,
                   "cushim_memory_alloc: ", "address: NULL");
    ASSERT_REFUSED(cushim_memory_alloc_async(cu, 0, NULL, STREAM, &address),
                   CUDA_ERROR_INVALID_VALUE, "cushim_memory_alloc_async: ", "bytes: 0");
    ASSERT_REFUSED(cushim_memory_alloc_managed(cu, 0, 0, &address), CUDA_ERROR_INVALID_VALUE,
                   "cushim_memory_alloc_managed: ", "bytes: 0");
    ASSERT_REFUSED(cushim_memory_alloc_managed(cu, 8, 7, &address), CUDA_ERROR_INVALID_VALUE,
                   "flags: 0x7");
    ASSERT_REFUSED(cushim_memory_alloc_pitched(cu, 0, 4, 4, &address, &pitch),
                   CUDA_ERROR_INVALID_VALUE, "cushim_memory_alloc_pitched: ", "width: 0");
    ASSERT_REFUSED(cushim_memory_alloc_pitched(cu, 4, 0, 4, &address, &pitch),
                   CUDA_ERROR_INVALID_VALUE, "height: 0");
    ASSERT_REFUSED(cushim_memory_alloc_pitched(cu, SIZE_MAX / 2, 3, 4, &address, &pitch),
                   CUDA_ERROR_INVALID_VALUE, "height: 3 ", "overflow");
    ASSERT_REFUSED(cushim_memory_alloc_pitched(cu, 8, 8, 5, &address, &pitch),
                   CUDA_ERROR_INVALID_VALUE, "element: 5");
    ASSERT_REFUSED(cushim_memory_alloc_pitched(cu, 8, 8, 4, &address, NULL),
                   CUDA_ERROR_INVALID_VALUE, "pitch: NULL");
    ASSERT_REFUSED(cushim_host_alloc(cu, 0, 0, &host), CUDA_ERROR_INVALID_VALUE,
                   "cushim_host_alloc: ", "bytes: 0");
    ASSERT_REFUSED(cushim_host_alloc(cu, 8, 0, NULL), CUDA_ERROR_INVALID_VALUE, "address: NULL");
    ASSERT_REFUSED(cushim_host_register(cu, &pitch, 0, 0), CUDA_ERROR_INVALID_VALUE,
                   "cushim_host_register: ", "bytes: 0");
    ASSERT_REFUSED(cushim_host_register(cu, NULL, 8, 0), CUDA_ERROR_INVALID_VALUE, "address: 0 ");
    assert_true(address == untouched && pitch == 77 && host == &address);
    assert_int_equal(cushim_memory_live(cu, NULL), 0);
    fake_close(cu);
}

/* What a driver says is passed on, with its call, the size, and what is free. */
static void test_driver_fails(void **state)
{
    (void)state;
    const struct cushim_api *cu = fake_open(NEWEST);
    CUdeviceptr address = untouched;
    void *host = NULL;
    assert_int_equal(cushim_memory_alloc(cu, (size_t)1 << 40, &address), CUDA_ERROR_OUT_OF_MEMORY);
    assert_contains(cushim_last_error(), "cushim_memory_alloc: cuMemAlloc_v2: ");
    assert_contains(cushim_last_error(), "bytes: 1099511627776, and 1234 of 5678 are free");
    assert_int_equal(cushim_host_alloc(cu, (size_t)1 << 40, 0, &host), CUDA_ERROR_OUT_OF_MEMORY);
    assert_contains(cushim_last_error(), "cuMemHostAlloc: CUDA_ERROR_OUT_OF_MEMORY (2)");
    fake_fail("cuMemAlloc_v2", CUDA_ERROR_INVALID_CONTEXT, 0);
    assert_int_equal(cushim_memory_alloc(cu, 64, &address), CUDA_ERROR_INVALID_CONTEXT);
    assert_contains(cushim_last_error(), "CUDA_ERROR_INVALID_CONTEXT (201)");
    assert_contains(cushim_last_error(), "; bytes: 64");
    fake_fail("cuMemGetInfo_v2", CUDA_ERROR_INVALID_CONTEXT, 0);
    size_t free_bytes = 5;
    assert_int_equal(cushim_memory_info(cu, &free_bytes, NULL), CUDA_ERROR_INVALID_CONTEXT);
    assert_true(address == untouched && !host && free_bytes == 5);
    fake_close(cu);
}

static void test_free_refused(void **state)
{
    (void)state;
    const struct cushim_api *cu = fake_open(NEWEST);
    CUdeviceptr address;
    void *host;
    ASSERT_OK(cushim_memory_alloc(cu, 1000, &address));
    ASSERT_OK(cushim_host_alloc(cu, 1000, CU_MEMHOSTALLOC_PORTABLE, &host));
    assert_int_equal(memory_fake.flags, CU_MEMHOSTALLOC_PORTABLE);
    ASSERT_REFUSED(cushim_memory_free(cu, address + 8), CUDA_ERROR_INVALID_VALUE,
                   "cushim_memory_free: address: ", "8 bytes into the allocation");
    ASSERT_REFUSED(cushim_memory_free(cu, (uintptr_t)host), CUDA_ERROR_INVALID_VALUE,
                   "is for cushim_host_free");
    ASSERT_REFUSED(cushim_host_free(cu, (void *)(uintptr_t)address), CUDA_ERROR_INVALID_VALUE,
                   "cushim_host_free: address: ", "is for cushim_memory_free");
    ASSERT_REFUSED(cushim_host_unregister(cu, host), CUDA_ERROR_INVALID_VALUE,
                   "is for cushim_host_free");
    assert_int_equal(cushim_memory_live(cu, NULL), 2);
    ASSERT_OK(cushim_memory_free(cu, address));
    ASSERT_OK(cushim_host_free(cu, host));
    ASSERT_REFUSED(cushim_memory_free(cu, address), CUDA_ERROR_INVALID_VALUE,
                   "cushim_memory_free: address: ", "were freed already");
    ASSERT_REFUSED(cushim_memory_free_async(cu, address, STREAM), CUDA_ERROR_INVALID_VALUE,
                   "cushim_memory_free_async: address: ", "were freed already");
    ASSERT_REFUSED(cushim_host_free(cu, host), CUDA_ERROR_INVALID_VALUE,
                   "cushim_host_free: address: ", "were freed already");
    fake_close(cu);
}

/* A free that the driver refuses leaves the memory as live as it was. */
static void test_free_fails(void **state)
{
    (void)state;
    const struct cushim_api *cu = fake_open(NEWEST);
    CUdeviceptr address;
    ASSERT_OK(cushim_memory_alloc(cu, 1000, &address));
    fake_fail("cuMemFree_v2", CUDA_ERROR_ILLEGAL_ADDRESS, 0);
    assert_int_equal(cushim_memory_free(cu, address), CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_contains(cushim_last_error(), "cushim_memory_free: cuMemFree_v2: ");
    assert_int_equal(cushim_memory_live(cu, NULL), 1);
    fake_fail(NULL, CUDA_SUCCESS, 0);
    ASSERT_OK(cushim_memory_free(cu, address));

    /* A driver that shuts down has freed all. */
    ASSERT_OK(cushim_memory_alloc(cu, 1000, &address));
    fake_fail("cuMemFree_v2", CUDA_ERROR_DEINITIALIZED, 0);
    ASSERT_OK(cushim_memory_free(cu, address));
    assert_int_equal(cushim_memory_live(cu, NULL), 0);
    fake_fail(NULL, CUDA_SUCCESS, 0);
    ASSERT_OK(cu->cuMemFree_v2(address));
    fake_close(cu);
}

/* Memory that the driver's own calls free and allocate is no error. */
static void test_mixed_with_raw_calls(void **state)
{
    (void)state;
    const struct cushim_api *cu = fake_open(NEWEST);
    CUdeviceptr address, same = 0;
    char bytes[600] = "";
    /* Freed here, and the address is the driver's again: used, freed. */
    ASSERT_OK(cushim_memory_alloc(cu, 512, &address));
    ASSERT_OK(cushim_memory_free(cu, address));
    ASSERT_OK(cu->cuMemAlloc_v2(&same, 1024));
    assert_true(same == address);
    ASSERT_OK(cushim_copy_to_device(cu, same, bytes, sizeof bytes));
    ASSERT_OK(cushim_memory_free(cu, same));
    assert_int_equal(cushim_memory_free(cu, same), CUDA_ERROR_INVALID_VALUE);
    assert_contains(cushim_last_error(), "cushim_memory_free: cuMemFree_v2: ");

    /* Freed by the driver's own call, and another is there: the old size says nothing. */
    ASSERT_OK(cushim_memory_alloc(cu, 512, &address));
    ASSERT_OK(cu->cuMemFree_v2(address));
    ASSERT_OK(cu->cuMemAlloc_v2(&same, 1024));
    assert_true(same == address);
    ASSERT_OK(cushim_copy_to_device(cu, same, bytes, sizeof bytes));
    ASSERT_OK(cushim_memory_free(cu, same));

    /* Freed by the driver's own call, and another from here: known anew. */
    ASSERT_OK(cushim_memory_alloc(cu, 512, &address));
    ASSERT_OK(cu->cuMemFree_v2(address));
    ASSERT_OK(cushim_memory_alloc(cu, 1024, &same));
    assert_int_equal(cushim_memory_live(cu, NULL), 1);
    ASSERT_OK(cushim_copy_to_device(cu, same, bytes, sizeof bytes));
    ASSERT_OK(cu->cuMemFree_v2(same));
    assert_int_equal(cushim_memory_free(cu, same), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cushim_memory_live(cu, NULL), 0);

    /* From the driver's own call alone: not checked, and freed. */
    ASSERT_OK(cu->cuMemAlloc_v2(&address, 512));
    ASSERT_OK(cushim_copy_to_device(cu, address, bytes, sizeof bytes));
    ASSERT_OK(cushim_memory_free(cu, address));
    fake_close(cu);
}

static void test_instances_are_apart(void **state)
{
    (void)state;
    const struct cushim_api *one = fake_open(NEWEST), *two = fake_open(NEWEST);
    CUdeviceptr address;
    ASSERT_OK(cushim_memory_alloc(one, 512, &address));
    assert_int_equal(cushim_memory_live(one, NULL), 1);
    assert_int_equal(cushim_memory_live(two, NULL), 0);
    assert_int_equal(cushim_fill_8(one, address, 0, 513), CUDA_ERROR_INVALID_VALUE);
    ASSERT_OK(cushim_fill_8(two, address, 0, 513));
    ASSERT_OK(cushim_memory_free(one, address));
    fake_close(one);
    fake_close(two);
}

static void test_managed(void **state)
{
    (void)state;
    const struct cushim_api *cu = fake_open(NEWEST);
    CUdeviceptr address = untouched;
    memory_fake.managed = 0;
    ASSERT_REFUSED(cushim_memory_alloc_managed(cu, 64, 0, &address), CUDA_ERROR_NOT_SUPPORTED,
                   "cushim_memory_alloc_managed: ", "no managed memory", "bytes: 64");
    assert_true(address == untouched);
    memory_fake.managed = 1;
    ASSERT_OK(cushim_memory_alloc_managed(cu, 64, 0, &address));
    assert_int_equal(memory_fake.attach, CU_MEM_ATTACH_GLOBAL);
    ASSERT_OK(cushim_memory_free(cu, address));
    ASSERT_OK(cushim_memory_alloc_managed(cu, 64, CU_MEM_ATTACH_HOST, &address));
    assert_int_equal(memory_fake.attach, CU_MEM_ATTACH_HOST);
    fake_forget();
    ASSERT_OK(cushim_memory_prefetch(cu, address, 64, CU_DEVICE_CPU, STREAM));
    ASSERT_CALLS("cuMemPrefetchAsync_v2");
    assert_int_equal(memory_fake.location.type, CU_MEM_LOCATION_TYPE_HOST);
    ASSERT_OK(cushim_memory_prefetch(cu, address, 64, 3, STREAM));
    assert_int_equal(memory_fake.location.type, CU_MEM_LOCATION_TYPE_DEVICE);
    assert_int_equal(memory_fake.location.id, 3);
    assert_ptr_equal(memory_fake.stream, STREAM);
    ASSERT_REFUSED(cushim_memory_prefetch(cu, address, 65, 0, NULL), CUDA_ERROR_INVALID_VALUE,
                   "cushim_memory_prefetch: address: 65 bytes");
    ASSERT_REFUSED(cushim_memory_prefetch(cu, address, 64, -5, NULL), CUDA_ERROR_INVALID_DEVICE,
                   "device: -5");
    ASSERT_OK(cushim_memory_prefetch(cu, address, 0, 0, NULL));
    ASSERT_OK(cushim_memory_free(cu, address));
    fake_close(cu);

    cu = fake_open_without(12010, (const char *const[]){"cuMemPrefetchAsync_v2", NULL});
    ASSERT_OK(cushim_memory_prefetch(cu, 0x1000, 64, CU_DEVICE_CPU, STREAM));
    ASSERT_CALLS("cuMemPrefetchAsync");
    assert_int_equal(memory_fake.device, CU_DEVICE_CPU);
    fake_close(cu);
}

static void test_pitched(void **state)
{
    (void)state;
    const struct cushim_api *cu = fake_open(NEWEST);
    CUdeviceptr address;
    size_t pitch, bytes;
    ASSERT_OK(cushim_memory_alloc_pitched(cu, 100, 10, 4, &address, &pitch));
    assert_int_equal(pitch, 512);
    cushim_memory_live(cu, &bytes);
    assert_int_equal(bytes, 5120);
    ASSERT_OK(cushim_fill_2d_8(cu, address, pitch, 1, 512, 10));
    assert_int_equal(cushim_fill_2d_8(cu, address, pitch, 1, 512, 11), CUDA_ERROR_INVALID_VALUE);
    ASSERT_OK(cushim_memory_free(cu, address));
    fake_close(cu);
}

static void test_register(void **state)
{
    (void)state;
    char memory[256];
    CUdeviceptr device = untouched, alien = 0;
    const struct cushim_api *cu = fake_open(NEWEST);
    ASSERT_OK(cushim_host_register(cu, memory, sizeof memory, CU_MEMHOSTREGISTER_DEVICEMAP));
    assert_string_equal(memory_fake.log[0], "cuMemHostRegister_v2");
    assert_int_equal(memory_fake.flags, CU_MEMHOSTREGISTER_DEVICEMAP);
    assert_int_equal(cushim_memory_live(cu, NULL), 1);
    ASSERT_OK(cushim_host_device_address(cu, memory + 8, &device));
    assert_true(device == (uintptr_t)memory + 8);
    ASSERT_REFUSED(cushim_host_device_address(cu, NULL, &device), CUDA_ERROR_INVALID_VALUE,
                   "cushim_host_device_address: address: 0 ");
    ASSERT_REFUSED(cushim_host_device_address(cu, memory, NULL), CUDA_ERROR_INVALID_VALUE,
                   "device: NULL");
    /* The buffer may be larger than what of it was registered. */
    ASSERT_OK(cushim_memory_alloc(cu, 512, &alien));
    ASSERT_OK(cushim_copy_to_host(cu, memory + 8, alien, sizeof memory - 8));
    ASSERT_OK(cushim_memory_free(cu, alien));
    ASSERT_OK(cushim_host_unregister(cu, memory));
    ASSERT_OK(cushim_host_unregister(cu, NULL));
    assert_int_equal(cushim_memory_live(cu, NULL), 0);
    ASSERT_REFUSED(cushim_host_unregister(cu, memory), CUDA_ERROR_INVALID_VALUE,
                   "cushim_host_unregister: address: ", "were unregistered already");
    fake_close(cu);

    cu = fake_open_without(6000, (const char *const[]){"cuMemHostRegister_v2", NULL});
    ASSERT_OK(cushim_host_register(cu, memory, sizeof memory, 0));
    assert_string_equal(memory_fake.log[0], "cuMemHostRegister");
    ASSERT_OK(cushim_host_unregister(cu, memory));
    fake_close(cu);
}

static void test_info(void **state)
{
    (void)state;
    const struct cushim_api *cu = fake_open(NEWEST);
    size_t free_bytes, total_bytes;
    ASSERT_OK(cushim_memory_info(cu, &free_bytes, &total_bytes));
    assert_int_equal(free_bytes, 1234);
    assert_int_equal(total_bytes, 5678);
    ASSERT_OK(cushim_memory_info(cu, NULL, NULL));
    fake_close(cu);
}

static void test_describe(void **state)
{
    (void)state;
    static const struct {
        int version;
        unsigned count;
    } asked[] = {{6050, 6}, {9020, 7}, {10020, 9}, {11020, 9}, {11030, 10}, {NEWEST, 10}};
    struct cushim_pointer pointer;
    CUdeviceptr address;
    for (size_t i = 0; i < COUNT(asked); i++) {
        const struct cushim_api *cu = fake_open(asked[i].version);
        ASSERT_OK(cushim_memory_alloc_managed(cu, 640, 0, &address));
        memset(&pointer, 0xff, sizeof pointer);
        ASSERT_OK(cushim_pointer_describe(cu, address + 4, &pointer));
        assert_int_equal(memory_fake.pointer_attributes, asked[i].count);
        assert_int_equal(pointer.type, CU_MEMORYTYPE_DEVICE);
        assert_int_equal(pointer.size, asked[i].version < 10020 ? 0 : 640);
        assert_int_equal(pointer.ordinal, asked[i].version < 9020 ? -1 : 0);
        assert_true(pointer.managed && !pointer.host && !pointer.pool && !pointer.context);
        ASSERT_OK(cushim_pointer_describe(cu, (uintptr_t)&pointer, &pointer));
        assert_int_equal(pointer.type, 0);
        assert_int_equal(pointer.ordinal, -1);
        ASSERT_REFUSED(cushim_pointer_describe(cu, address, NULL), CUDA_ERROR_INVALID_VALUE,
                       "cushim_pointer_describe: pointer: NULL");
        ASSERT_OK(cushim_memory_free(cu, address));
        fake_close(cu);
    }
}

static void test_no_driver(void **state)
{
    (void)state;
    struct cushim_options options = defaults();
    options.path = "/nowhere/libcuda.so.1";
    const struct cushim_api *cu = cushim_open(&options);
    CUdeviceptr address = untouched;
    void *host = NULL;
    assert_int_equal(cushim_memory_alloc(cu, 64, &address), CUDA_ERROR_NOT_INITIALIZED);
    assert_contains(cushim_last_error(), "cushim_memory_alloc: cuMemAlloc_v2 is not available");
    assert_int_equal(cushim_memory_alloc_async(cu, 64, NULL, NULL, &address),
                     CUDA_ERROR_NOT_INITIALIZED);
    assert_int_equal(cushim_host_alloc(cu, 64, 0, &host), CUDA_ERROR_NOT_INITIALIZED);
    assert_int_equal(cushim_copy_to_device(cu, 64, &host, 4), CUDA_ERROR_NOT_INITIALIZED);
    assert_int_equal(cushim_memory_free(cu, 64), CUDA_ERROR_NOT_INITIALIZED);
    assert_true(address == untouched && !host);
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
        cmocka_unit_test(test_device),
        cmocka_unit_test(test_bad_requests),
        cmocka_unit_test(test_driver_fails),
        cmocka_unit_test(test_free_refused),
        cmocka_unit_test(test_free_fails),
        cmocka_unit_test(test_mixed_with_raw_calls),
        cmocka_unit_test(test_instances_are_apart),
        cmocka_unit_test(test_managed),
        cmocka_unit_test(test_pitched),
        cmocka_unit_test(test_register),
        cmocka_unit_test(test_info),
        cmocka_unit_test(test_describe),
        cmocka_unit_test(test_no_driver),
        cmocka_unit_test(test_forked),
    };
    return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
