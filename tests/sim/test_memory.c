/* SPDX-License-Identifier: MIT */
/* Memory of the simulated driver: allocated, freed in every wrong way, counted, described. */
#include <pthread.h>
#include <unistd.h>

#include "memory_test.h"

static void test_plain(void **state)
{
    CUdeviceptr a = memory_of(1), b = memory_of(1), base;
    size_t size;
    (void)state;
    assert_true(a % 512 == 0 && b % 512 == 0 && a != b);
    OK(cu->cuMemGetAddressRange_v2(&base, &size, a));
    assert_true(base == a && size == 1);
    GIVES(CUDA_ERROR_NOT_FOUND, cu->cuMemGetAddressRange_v2(&base, &size, a + 1));
    OK(cu->cuMemFree_v2(a));
    OK(cu->cuMemFree_v2(b));
    OK(cu->cuMemFree_v2(0));
}

/* The CPU cannot touch device memory: the kernel refuses to read from there. */
static void test_not_for_the_cpu(void **state)
{
    CUdeviceptr a = memory_of(MIB);
    int ends[2];
    (void)state;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], (const void *)(uintptr_t)a, 8), -1);
    close(ends[0]);
    close(ends[1]);
    OK(cu->cuMemFree_v2(a));
}

static void test_wrong_frees(void **state)
{
    CUdeviceptr a = memory_of(4096), value = 7;
    void *host;
    static char registered[8192];
    (void)state;
    OK(cu->cuMemHostAlloc(&host, 64, 0));
    OK(cu->cuMemHostRegister_v2(registered, sizeof registered, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuMemFree_v2(a + 8));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuMemFree_v2((CUdeviceptr)(uintptr_t)host));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuMemFree_v2((CUdeviceptr)(uintptr_t)&value));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuMemFreeHost((void *)(uintptr_t)a));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuMemFreeHost(registered));
    GIVES(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, cu->cuMemHostUnregister(&value));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuMemHostUnregister(registered + 8));
    OK(cu->cuMemHostUnregister(registered));
    OK(cu->cuMemFree_v2(a));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuMemFree_v2(a));
    OK(cu->cuMemFreeHost(host));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuMemFreeHost(host));
}

/* What was freed stays recognisable: its address does not come back soon. */
static void test_use_after_free(void **state)
{
    CUdeviceptr a = memory_of(4096), others[64];
    char bytes[16];
    (void)state;
    OK(cu->cuMemFree_v2(a));
    for (int i = 0; i < 64; i++)
        others[i] = memory_of(4096);
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuMemcpyDtoH_v2(bytes, a, 16));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuMemsetD8_v2(a, 0, 16));
    for (int i = 0; i < 64; i++)
        OK(cu->cuMemFree_v2(others[i]));
}

static void test_out_of_memory(void **state)
{
    CUdeviceptr a[5] = {0};
    size_t before = memory_free_bytes();
    int made = 0;
    (void)state;
    assert_true(before <= DEVICE_MEMORY && before > DEVICE_MEMORY * 9 / 10);
    while (made < 5 && cu->cuMemAlloc_v2(&a[made], 64 * MIB) == CUDA_SUCCESS)
        made++;
    assert_int_equal(made, 3);
    assert_int_equal(a[made], 0);
    assert_int_equal(memory_free_bytes(), before - 192 * MIB);
    GIVES(CUDA_ERROR_OUT_OF_MEMORY, cu->cuMemAlloc_v2(&a[3], memory_free_bytes() + 1));
    OK(cu->cuMemAlloc_v2(&a[3], memory_free_bytes()));
    GIVES(CUDA_ERROR_OUT_OF_MEMORY, cu->cuMemAlloc_v2(&a[4], 1));
    OK(cu->cuMemFree_v2(a[0]));
    OK(cu->cuMemAlloc_v2(&a[0], 64 * MIB));
    for (int i = 0; i < 4; i++)
        OK(cu->cuMemFree_v2(a[i]));
    GIVES(CUDA_ERROR_OUT_OF_MEMORY, cu->cuMemAlloc_v2(&a[0], SIZE_MAX));
}

/* Memory that nobody touched costs nothing, and small pieces little. */
static void test_footprint(void **state)
{
    enum { PIECES = 20000 };
    static CUdeviceptr small[PIECES];
    size_t before = memory_resident();
    CUdeviceptr big = memory_of(200 * MIB);
    (void)state;
    assert_true(memory_resident() < before + 2 * MIB);
    OK(cu->cuMemFree_v2(big));
    for (int i = 0; i < PIECES; i++)
        small[i] = memory_of(16);
    assert_true(memory_resident() < before + (size_t)PIECES * 2 * KIB);
    for (int i = 0; i < PIECES; i++)
        OK(cu->cuMemFree_v2(small[(i * 7919) % PIECES]));
}

/* More than all addresses there are, in turns: nothing runs out, nothing grows. */
static void test_cycles(void **state)
{
    size_t before = 0;
    (void)state;
    int rounds = memory_emulated() ? 100 : memory_simulated ? 60000 : 600;
    for (int i = 0; i < rounds; i++) {
        CUdeviceptr big = memory_of(200 * MIB), small = memory_of(64);
        OK(cu->cuMemFree_v2(big));
        OK(cu->cuMemFree_v2(small));
        if (i == rounds / 3)
            before = memory_resident();
    }
    assert_true(memory_resident() < before + 4 * MIB);
}

static void test_pitch(void **state)
{
    CUdeviceptr a = 0;
    size_t pitch;
    (void)state;
    OK(cu->cuMemAllocPitch_v2(&a, &pitch, 600, 100, 4));
    assert_int_equal(pitch, 1024);
    OK(cu->cuMemsetD2D8_v2(a, pitch, 1, 600, 100));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuMemsetD2D8_v2(a, pitch, 1, 600, 101));
    OK(cu->cuMemFree_v2(a));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuMemAllocPitch_v2(&a, &pitch, 600, 100, 3));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuMemAllocPitch_v2(&a, &pitch, 600, 0, 4));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuMemAllocPitch_v2(&a, &pitch, SIZE_MAX, 2, 4));
}

static void test_host(void **state)
{
    void *host;
    unsigned flags;
    CUdeviceptr a;
    (void)state;
    OK(cu->cuMemHostAlloc(&host, 3 * MIB,
                          CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_WRITECOMBINED));
    OK(cu->cuMemHostGetFlags(&flags, (char *)host + MIB));
    assert_int_equal(flags, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP |
                                CU_MEMHOSTALLOC_WRITECOMBINED);
    OK(cu->cuMemHostGetDevicePointer_v2(&a, (char *)host + 5, 0));
    assert_int_equal(a, (uintptr_t)host + 5);
    OK(cu->cuMemsetD8_v2(a, 0x5a, 16));
    assert_int_equal(((char *)host)[20], 0x5a);
    assert_int_equal(((char *)host)[21], 0);
    OK(cu->cuMemFreeHost(host));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuMemHostGetDevicePointer_v2(&a, host, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuMemHostAlloc(&host, 16, 8));
}

static void test_registered(void **state)
{
    char *bytes = malloc(MIB);
    unsigned word = 0;
    (void)state;
    OK(cu->cuMemHostRegister_v2(bytes + 100, 70000, CU_MEMHOSTREGISTER_READ_ONLY));
    GIVES(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
          cu->cuMemHostRegister_v2(bytes + 70000, 4096, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE,
          cu->cuMemsetD8_v2((CUdeviceptr)(uintptr_t)bytes + 100, 0, 16)); /* read only */
    bytes[104] = 77;
    OK(cu->cuMemcpyDtoH_v2(&word, (CUdeviceptr)(uintptr_t)bytes + 104, 1));
    assert_int_equal(word, 77);
    OK(cu->cuMemHostUnregister(bytes + 100));
    /* Memory that is not there. */
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuMemHostRegister_v2((void *)(uintptr_t)4096, 4096, 0));
    GIVES(CUDA_ERROR_OUT_OF_MEMORY, cu->cuMemHostRegister_v2(bytes, (size_t)1 << 46, 0));
    free(bytes);
}

static void test_managed(void **state)
{
    CUdeviceptr a;
    int places[3];
    CUmemLocation host = {.type = CU_MEM_LOCATION_TYPE_HOST};
    CUmemLocation first = {.type = CU_MEM_LOCATION_TYPE_DEVICE};
    CUmemLocation second = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 1};
    (void)state;
    if (memory_devices() < 2)
        skip();
    OK(cu->cuMemAllocManaged(&a, 4 * MIB, CU_MEM_ATTACH_GLOBAL));
    *(int *)(uintptr_t)a = 5;
    OK(cu->cuMemsetD32_v2(a + 4, 6, 1));
    assert_int_equal(*(int *)(uintptr_t)(a + 4), 6);
    OK(cu->cuMemAdvise_v2(a, 2 * MIB, CU_MEM_ADVISE_SET_ACCESSED_BY, second));
    OK(cu->cuMemAdvise_v2(a, MIB, CU_MEM_ADVISE_SET_ACCESSED_BY, first));
    OK(cu->cuMemRangeGetAttribute(places, sizeof places, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, a,
                                  MIB));
    assert_true(places[0] == 0 && places[1] == 1 && places[2] == CU_DEVICE_INVALID);
    OK(cu->cuMemAdvise_v2(a, MIB, CU_MEM_ADVISE_SET_ACCESSED_BY, host));
    OK(cu->cuMemRangeGetAttribute(places, sizeof places, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, a,
                                  MIB));
    assert_true(places[0] == 0 && places[1] == 1 && places[2] == CU_DEVICE_CPU);
    OK(cu->cuMemRangeGetAttribute(places, sizeof places, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, a,
                                  2 * MIB));
    assert_true(places[0] == 1 && places[1] == CU_DEVICE_INVALID);
    OK(cu->cuMemPrefetchAsync_v2(a, 4 * MIB, second, 0, NULL));
    OK(cu->cuMemRangeGetAttribute(places, 4, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, a,
                                  4 * MIB));
    assert_int_equal(places[0], 1);
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuMemPrefetchAsync_v2(a, 5 * MIB, first, 0, NULL));
    OK(cu->cuMemFree_v2(a));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuMemPrefetchAsync_v2(a, MIB, first, 0, NULL));
}

static void test_pointers(void **state)
{
    CUdeviceptr a = memory_of(1000), again;
    unsigned long long id = 0, other = 0;
    CUmemorytype type = 0;
    int device = -1;
    (void)state;
    OK(cu->cuPointerGetAttribute(&id, CU_POINTER_ATTRIBUTE_BUFFER_ID, a + 999));
    OK(cu->cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, a));
    assert_int_equal(device, 0);
    OK(cu->cuMemFree_v2(a));
    GIVES(CUDA_ERROR_INVALID_VALUE,
          cu->cuPointerGetAttribute(&other, CU_POINTER_ATTRIBUTE_BUFFER_ID, a));
    again = memory_of(1000);
    OK(cu->cuPointerGetAttribute(&other, CU_POINTER_ATTRIBUTE_BUFFER_ID, again));
    assert_true(id != other);
    CUpointer_attribute wanted[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                    CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
    void *data[] = {&type, &device};
    OK(cu->cuPointerGetAttributes(2, wanted, data, (CUdeviceptr)(uintptr_t)&type));
    assert_true(type == 0 && device == CU_DEVICE_INVALID);
    OK(cu->cuMemFree_v2(again));
}

/* Everything goes with the context that made it. */
static void test_context_end(void **state)
{
    CUcontext context;
    CUdeviceptr a;
    void *host;
    CUarray array;
    CUDA_ARRAY_DESCRIPTOR shape = {64, 64, CU_AD_FORMAT_FLOAT, 1};
    size_t before = memory_free_bytes();
    (void)state;
    OK(cu->cuCtxCreate_v2(&context, 0, 0));
    a = memory_of(MIB);
    OK(cu->cuMemHostAlloc(&host, MIB, 0));
    OK(cu->cuMemAllocManaged(&a, MIB, CU_MEM_ATTACH_GLOBAL));
    OK(cu->cuMemAllocAsync(&a, MIB, NULL));
    OK(cu->cuArrayCreate_v2(&array, &shape));
    assert_true(memory_free_bytes() < before);
    OK(cu->cuCtxDestroy_v2(context));
    OK(cu->cuCtxSetCurrent(memory_context));
    assert_int_equal(memory_free_bytes(), before);
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuMemFree_v2(a));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuMemFreeHost(host));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cu->cuArrayDestroy(array));
}

static void *churn(void *seed)
{
    unsigned random = (unsigned)(uintptr_t)seed;
    CUdeviceptr mine[16] = {0};
    unsigned char bytes[64], back[64];
    OK(cu->cuCtxSetCurrent(memory_context));
    memset(bytes, (int)random, sizeof bytes);
    for (int i = 0; i < 2000; i++) {
        unsigned slot = (random = random * 1103515245 + 12345) >> 16 & 15;
        if (mine[slot]) {
            OK(cu->cuMemcpyDtoH_v2(back, mine[slot], sizeof back));
            assert_memory_equal(bytes, back, sizeof back);
            OK(cu->cuMemFree_v2(mine[slot]));
            mine[slot] = 0;
        } else {
            mine[slot] = memory_of(64 + (random & 0xffff));
            OK(cu->cuMemcpyHtoD_v2(mine[slot], bytes, sizeof bytes));
        }
    }
    for (int i = 0; i < 16; i++)
        OK(cu->cuMemFree_v2(mine[i]));
    return NULL;
}

static void test_threads(void **state)
{
    pthread_t threads[4];
    (void)state;
    for (uintptr_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, churn, (void *)(i + 1)), 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
}

/* Contexts that end with work queued and memory of every kind live, while others do the same. */
static void *live_and_die(void *unused)
{
    (void)unused;
    for (int i = 0; i < 40; i++) {
        CUcontext context;
        CUdeviceptr a, b, address;
        CUstream stream;
        void *host;
        OK(cu->cuCtxCreate_v2(&context, 0, i & 1));
        OK(cu->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
        a = memory_of(256 * KIB);
        OK(cu->cuMemAllocAsync(&b, 256 * KIB, stream));
        OK(cu->cuMemHostAlloc(&host, 256 * KIB, 0));
        for (int j = 0; j < 5; j++) {
            OK(cu->cuMemcpyHtoDAsync_v2(a, host, 256 * KIB, stream));
            OK(cu->cuMemcpyDtoDAsync_v2(b, a, 256 * KIB, stream));
            OK(cu->cuPointerGetAttribute(&address, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, b));
            assert_true(address == b);
        }
        if (i & 2)
            OK(cu->cuMemFreeAsync(b, stream));
        if (i & 4)
            OK(cu->cuMemFree_v2(a));
        OK(cu->cuCtxDestroy_v2(context));
    }
    return NULL;
}

static void test_contexts_in_threads(void **state)
{
    pthread_t threads[4];
    (void)state;
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, live_and_die, NULL), 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    OK(cu->cuCtxSetCurrent(memory_context));
}

static const struct CMUnitTest tests[] = {
    MEMORY_TEST(test_plain),
    MEMORY_TEST(test_not_for_the_cpu),
    MEMORY_TEST(test_wrong_frees),
    MEMORY_OWN(test_use_after_free, "no use of an address goes unnoticed"),
    MEMORY_OWN(test_out_of_memory, "a small device"),
    MEMORY_TEST(test_footprint),
    MEMORY_TEST(test_cycles),
    MEMORY_TEST(test_pitch),
    MEMORY_TEST(test_host),
    MEMORY_TEST(test_registered),
    MEMORY_TEST(test_managed),
    MEMORY_TEST(test_pointers),
    MEMORY_OWN(test_context_end, "memory is counted to the byte"),
    MEMORY_TEST(test_threads),
    MEMORY_OWN(test_contexts_in_threads, "driver 580 crashes"),
};
MEMORY_MAIN("memory", tests)
