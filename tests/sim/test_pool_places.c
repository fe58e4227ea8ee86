/* SPDX-License-Identifier: MIT */
/* Pools elsewhere than on a device, and of managed memory: as an H200 with driver 580 answered. */
#include "pool_test.h"

static CUmemPoolProps pool_props(CUmemAllocationType type, CUmemLocationType place, int id)
{
    CUmemPoolProps props;
    memset(&props, 0, sizeof props);
    props.allocType = type;
    props.location.type = place;
    props.location.id = id;
    return props;
}

static CUmemoryPool pool_at(CUmemAllocationType type, CUmemLocationType place)
{
    CUmemPoolProps props = pool_props(type, place, 0);
    CUmemoryPool pool = NULL;
    OK(cu->cuMemPoolCreate(&pool, &props));
    return pool;
}

#define PINNED CU_MEM_ALLOCATION_TYPE_PINNED
#define MANAGED CU_MEM_ALLOCATION_TYPE_MANAGED
#define AT(place) CU_MEM_LOCATION_TYPE_##place

static void test_pool_places(void **state)
{
    static const struct {
        CUmemAllocationType type;
        CUmemLocationType place;
        int id;
        CUresult made, asked, shared; /* created; its default pool; created to be shared */
    } rows[] = {
        {PINNED, AT(DEVICE), 0, 0, 0, 0},
        {PINNED, AT(DEVICE), 99, 1, 1, 1},
        {PINNED, AT(DEVICE), -1, 1, 1, 1},
        {PINNED, AT(HOST), 0, 0, 0, 1},
        {PINNED, AT(HOST), 1, 0, 0, 1},
        {PINNED, AT(HOST), -1, 0, 0, 1},
        {PINNED, AT(HOST_NUMA), 0, 0, 0, 0},
        {PINNED, AT(HOST_NUMA), 7, 1, 1, 1},
        {PINNED, AT(HOST_NUMA), -1, 1, 1, 1},
        {PINNED, AT(HOST_NUMA_CURRENT), 0, 1, 801, 1},
        {PINNED, AT(NONE), 0, 1, 1, 1},
        {PINNED, (CUmemLocationType)5, 0, 1, 801, 1},
        {MANAGED, AT(DEVICE), 0, 0, 0, 1},
        {MANAGED, AT(DEVICE), 99, 1, 1, 1},
        {MANAGED, AT(HOST), 0, 0, 0, 1},
        {MANAGED, AT(HOST), -1, 0, 0, 1},
        {MANAGED, AT(HOST_NUMA), 0, 0, 0, 1},
        {MANAGED, AT(HOST_NUMA), 7, 1, 1, 1},
        {MANAGED, AT(HOST_NUMA_CURRENT), 3, 0, 801, 1},
        {MANAGED, AT(NONE), 0, 0, 0, 1},
        {MANAGED, (CUmemLocationType)5, 0, 801, 801, 1},
        {CU_MEM_ALLOCATION_TYPE_INVALID, AT(DEVICE), 0, 1, 1, 1},
        {(CUmemAllocationType)3, AT(DEVICE), 0, 1, 1, 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CUmemPoolProps props = pool_props(rows[i].type, rows[i].place, rows[i].id);
        CUmemoryPool pool = NULL, got = NULL;
        GIVES(rows[i].made, cu->cuMemPoolCreate(&pool, &props));
        GIVES(rows[i].asked, cu->cuMemGetDefaultMemPool(&got, &props.location, rows[i].type));
        GIVES(rows[i].asked, cu->cuMemGetMemPool(&got, &props.location, rows[i].type));
        if (!rows[i].asked)
            GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuMemPoolDestroy(got));
        if (!rows[i].made)
            OK(cu->cuMemPoolDestroy(pool));
        props.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
        GIVES(rows[i].shared, cu->cuMemPoolCreate(&pool, &props));
        if (!rows[i].shared)
            OK(cu->cuMemPoolDestroy(pool));
    }
}

static void test_pool_current(void **state)
{
    CUmemLocation host = {.type = AT(HOST)}, device = {.type = AT(DEVICE)};
    CUmemLocation numa_current = {.type = AT(HOST_NUMA_CURRENT)};
    CUmemoryPool pool = pool_at(PINNED, AT(HOST)), first = NULL, got = NULL;
    CUdeviceptr address = 0;
    unsigned char managed = 9;
    (void)state;
    OK(cu->cuMemGetDefaultMemPool(&first, &host, PINNED));
    OK(cu->cuMemSetMemPool(&host, PINNED, pool));
    OK(cu->cuMemGetMemPool(&got, &host, PINNED));
    assert_ptr_equal(got, pool);
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuDeviceSetMemPool(0, pool));
    OK(cu->cuMemPoolDestroy(pool));
    OK(cu->cuMemGetMemPool(&got, &host, PINNED));
    assert_ptr_equal(got, first);
    /* Of managed memory that prefers a device: what cuMemAllocAsync uses stays as it was. */
    pool = pool_at(MANAGED, AT(DEVICE));
    OK(cu->cuDeviceGetDefaultMemPool(&first, 0));
    OK(cu->cuDeviceSetMemPool(0, pool));
    OK(cu->cuDeviceGetMemPool(&got, 0));
    assert_ptr_equal(got, first);
    OK(cu->cuMemGetMemPool(&got, &device, MANAGED));
    assert_ptr_equal(got, pool);
    OK(cu->cuMemAllocAsync(&address, 1000, NULL));
    OK(cu->cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address));
    assert_int_equal(managed, 0);
    OK(cu->cuMemFreeAsync(address, NULL));
    OK(cu->cuMemGetDefaultMemPool(&first, &device, MANAGED));
    OK(cu->cuMemSetMemPool(&device, MANAGED, first));
    OK(cu->cuMemPoolDestroy(pool));
    pool = pool_at(MANAGED, AT(HOST_NUMA_CURRENT)); /* no place that has a current one */
    GIVES(CUDA_ERROR_NOT_SUPPORTED, cu->cuMemSetMemPool(&numa_current, MANAGED, pool));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuDeviceSetMemPool(0, pool));
    OK(cu->cuMemPoolDestroy(pool));
    OK(cu->cuCtxSynchronize());
}

static int pool_access(CUmemoryPool pool, CUmemLocationType place)
{
    CUmemLocation location = {.type = place};
    CUmemAccess_flags flags = (CUmemAccess_flags)99;
    OK(cu->cuMemPoolGetAccess(&flags, pool, &location));
    return (int)flags;
}

static CUresult pool_allow(CUmemoryPool pool, CUmemLocationType place, int flags)
{
    CUmemAccessDesc access;
    memset(&access, 0, sizeof access);
    access.location.type = place;
    access.flags = (CUmemAccess_flags)flags;
    return cu->cuMemPoolSetAccess(pool, &access, 1);
}

static void test_pool_access(void **state)
{
    static const struct {
        CUmemAllocationType type;
        CUmemLocationType place;
        int device, host;   /* at first */
        CUresult set[4][2]; /* to none, to read and write: of each place */
    } rows[] = {
        {PINNED, AT(DEVICE), 3, 0, {{101, 0}, {801, 801}, {801, 801}, {801, 801}}},
        {PINNED, AT(HOST), 0, 3, {{0, 0}, {801, 0}, {801, 0}, {1, 1}}},
        {PINNED, AT(HOST_NUMA), 0, 3, {{0, 0}, {801, 0}, {801, 0}, {1, 1}}},
        {MANAGED, AT(DEVICE), 0, 0, {{0, 0}, {0, 0}, {0, 0}, {1, 1}}},
        {MANAGED, AT(NONE), 0, 0, {{0, 0}, {0, 0}, {0, 0}, {1, 1}}},
    };
    CUmemLocation current = {.type = AT(HOST_NUMA_CURRENT)};
    CUmemAccess_flags flags;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CUmemoryPool pool = pool_at(rows[i].type, rows[i].place);
        assert_int_equal(pool_access(pool, AT(DEVICE)), rows[i].device);
        assert_int_equal(pool_access(pool, AT(HOST)), rows[i].host);
        assert_int_equal(pool_access(pool, AT(HOST_NUMA)), rows[i].host);
        GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuMemPoolGetAccess(&flags, pool, &current));
        for (int place = 0; place < 4; place++) {
            CUmemLocationType of = (CUmemLocationType)(AT(DEVICE) + place);
            GIVES(rows[i].set[place][0], pool_allow(pool, of, CU_MEM_ACCESS_FLAGS_PROT_NONE));
            GIVES(CUDA_ERROR_NOT_SUPPORTED, pool_allow(pool, of, CU_MEM_ACCESS_FLAGS_PROT_READ));
            GIVES(rows[i].set[place][1], pool_allow(pool, of, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
        }
        assert_int_equal(pool_access(pool, AT(DEVICE)), 3);
        assert_int_equal(pool_access(pool, AT(HOST)), i == 0 ? 0 : 3);
        OK(cu->cuMemPoolDestroy(pool));
    }
}

/* What is the same in every state of its access. */
static void check_host_memory(CUdeviceptr address, CUdeviceptr plain, bool reached)
{
    CUdeviceptr device = 1, base = 0;
    size_t size = 0;
    unsigned word = 0, *host = (unsigned *)(uintptr_t)address;
    CUmemorytype type = (CUmemorytype)0;
    CUresult by_access = reached ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    *host = 42;
    GIVES(by_access,
          cu->cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, address));
    assert_true(device == (reached ? address : 0));
    GIVES(reached ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND,
          cu->cuMemGetAddressRange_v2(&base, &size, address));
    OK(cu->cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address));
    assert_int_equal(type, CU_MEMORYTYPE_HOST);
    OK(cu->cuPointerGetAttribute(&word, CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, address));
    assert_int_equal(word, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuMemHostGetDevicePointer_v2(&device, host, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuMemHostGetFlags(&word, host));
    /* To copies it is the host's, and no device's. */
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuMemcpyDtoH_v2(&word, address, 4));
    OK(cu->cuMemcpyHtoD_v2(plain, host, 4));
    *host = 0;
    OK(cu->cuMemcpy(address, plain, 4));
    assert_int_equal(*host, 42);
    *host = 0;
    OK(cu->cuMemcpyDtoH_v2(host, plain, 4));
    assert_int_equal(*host, 42);
    GIVES(by_access, cu->cuMemsetD32Async(address, 7, 1, NULL));
    OK(cu->cuStreamSynchronize(NULL));
    assert_int_equal(*host, reached ? 7 : 42);
}

static void test_pool_on_host(void **state)
{
    static const CUmemLocationType places[] = {AT(HOST), AT(HOST_NUMA)};
    CUdeviceptr plain = memory_of(64);
    size_t before = memory_free_bytes();
    (void)state;
    for (int i = 0; i < 2; i++) {
        CUmemoryPool pool = pool_at(PINNED, places[i]), got = NULL;
        CUdeviceptr address = pool_take(1000, pool, NULL), later;
        CUcontext context = memory_context;
        void *host = NULL;
        OK(cu->cuStreamSynchronize(NULL));
        OK(cu->cuPointerGetAttribute(&got, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, address));
        assert_ptr_equal(got, pool);
        OK(cu->cuPointerGetAttribute(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, address));
        assert_true((uintptr_t)host == address);
        OK(cu->cuPointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, address));
        assert_null(context);
        check_host_memory(address, plain, false);
        OK(pool_allow(pool, AT(DEVICE), CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
        check_host_memory(address, plain, true);
        later = pool_take(1000, pool, NULL);
        OK(cu->cuStreamSynchronize(NULL));
        check_host_memory(later, plain, true);
        OK(pool_allow(pool, AT(DEVICE), CU_MEM_ACCESS_FLAGS_PROT_NONE));
        check_host_memory(address, plain, false);
        assert_int_equal(pool_value(pool, RESERVED), POOL_GRAIN);
        OK(cu->cuMemFreeAsync(address, NULL));
        OK(cu->cuStreamSynchronize(NULL));
        OK(cu->cuMemFree_v2(later));
        assert_int_equal(pool_value(pool, RESERVED), 0);
        OK(cu->cuMemPoolDestroy(pool));
    }
    assert_int_equal(memory_free_bytes(), before);
    OK(cu->cuMemFree_v2(plain));
}

static void test_pool_of_managed(void **state)
{
    static const CUmemLocationType places[] = {AT(DEVICE), AT(HOST), AT(HOST_NUMA),
                                               AT(HOST_NUMA_CURRENT), AT(NONE)};
    (void)state;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        CUmemoryPool pool = pool_at(MANAGED, places[i]);
        CUdeviceptr address = pool_take(1000, pool, NULL), base = 0;
        unsigned *host = (unsigned *)(uintptr_t)address, word = 0;
        unsigned char managed[4] = {9};
        size_t size = 0;
        OK(cu->cuStreamSynchronize(NULL));
        *host = 42;
        OK(cu->cuPointerGetAttribute(managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address));
        assert_int_equal(managed[0], 1);
        OK(cu->cuPointerGetAttribute(&word, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address));
        assert_int_equal(word, CU_MEMORYTYPE_DEVICE);
        OK(cu->cuMemGetAddressRange_v2(&base, &size, address));
        assert_true(base == address && size == 1000);
        OK(cu->cuMemcpyDtoH_v2(&word, address, 4)); /* whatever the access says */
        assert_int_equal(word, 42);
        OK(cu->cuMemsetD32Async(address, 7, 1, NULL));
        OK(cu->cuStreamSynchronize(NULL));
        assert_int_equal(*host, 7);
        OK(cu->cuMemFreeAsync(address, NULL));
        OK(cu->cuStreamSynchronize(NULL));
        assert_int_equal(pool_value(pool, RESERVED), 0);
        OK(cu->cuMemPoolDestroy(pool));
    }
}

static int range_value(CUdeviceptr address, CUmem_range_attribute attribute)
{
    int value = 77;
    OK(cu->cuMemRangeGetAttribute(&value, sizeof value, attribute, address, 2 * MIB));
    return value;
}

/* A pool's managed memory prefers the pool's place. It moves, and takes no advice. */
static void test_pool_advice(void **state)
{
    static const struct {
        CUmemLocationType place;
        int preferred;
    } rows[] = {{AT(NONE), CU_DEVICE_INVALID},
                {AT(DEVICE), 0},
                {AT(HOST), CU_DEVICE_CPU},
                {AT(HOST_NUMA), CU_DEVICE_CPU}};
    CUmemLocation device = {.type = AT(DEVICE)};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CUmemoryPool pool = pool_at(MANAGED, rows[i].place);
        CUdeviceptr a = pool_take(2 * MIB, pool, NULL);
        int places[2];
        assert_int_equal(range_value(a, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION),
                         rows[i].preferred);
        assert_int_equal(range_value(a, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY), 0);
        OK(cu->cuMemRangeGetAttribute(places, sizeof places, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, a,
                                      2 * MIB));
        assert_true(places[0] == CU_DEVICE_INVALID && places[1] == CU_DEVICE_INVALID);
        GIVES(CUDA_ERROR_NOT_SUPPORTED,
              cu->cuMemAdvise_v2(a, 2 * MIB, CU_MEM_ADVISE_SET_READ_MOSTLY, device));
        GIVES(CUDA_ERROR_NOT_SUPPORTED,
              cu->cuMemAdvise_v2(a, 4 * MIB, CU_MEM_ADVISE_UNSET_ACCESSED_BY, device));
        OK(cu->cuMemPrefetchAsync_v2(a, 2 * MIB, device, 0, NULL));
        assert_int_equal(range_value(a, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION), 0);
        assert_int_equal(range_value(a, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION),
                         rows[i].preferred);
        OK(cu->cuMemFreeAsync(a, NULL));
        OK(cu->cuStreamSynchronize(NULL));
        GIVES(CUDA_ERROR_INVALID_VALUE,
              cu->cuMemAdvise_v2(a, 2 * MIB, CU_MEM_ADVISE_SET_READ_MOSTLY, device));
        OK(cu->cuMemPoolDestroy(pool));
    }
}

static void test_pool_limit(void **state)
{
    static const CUmemLocationType places[] = {AT(DEVICE), AT(HOST), AT(HOST_NUMA)};
    (void)state;
    for (int i = 0; i < 3; i++) {
        CUmemPoolProps props = pool_props(PINNED, places[i], 0);
        CUmemoryPool pool = NULL;
        CUdeviceptr more;
        props.maxSize = 64 * MIB;
        OK(cu->cuMemPoolCreate(&pool, &props));
        CUdeviceptr address = pool_take(40 * MIB, pool, NULL);
        GIVES(CUDA_ERROR_OUT_OF_MEMORY, cu->cuMemAllocFromPoolAsync(&more, 40 * MIB, pool, NULL));
        assert_int_equal(pool_value(pool, RESERVED), 64 * MIB);
        OK(cu->cuMemFree_v2(address));
        OK(cu->cuMemPoolDestroy(pool));
    }
}

/* Found by the fuzzer: a block of 150 GiB, which a fill then wrote. */
static void test_pool_too_large(void **state)
{
    static const CUmemAllocationType types[] = {PINNED, MANAGED};
    (void)state;
    for (int i = 0; i < 2; i++) {
        CUmemoryPool pool = pool_at(types[i], AT(HOST));
        CUdeviceptr address;
        GIVES(CUDA_ERROR_OUT_OF_MEMORY,
              cu->cuMemAllocFromPoolAsync(&address, DEVICE_MEMORY, pool, NULL));
        assert_int_equal(pool_value(pool, RESERVED), 0);
        OK(cu->cuMemFree_v2(pool_take(DEVICE_MEMORY / 2, pool, NULL)));
        OK(cu->cuMemPoolDestroy(pool));
    }
}

static const struct CMUnitTest tests[] = {
    MEMORY_TEST(test_pool_places),     MEMORY_TEST(test_pool_current),
    MEMORY_TEST(test_pool_access),     MEMORY_TEST(test_pool_on_host),
    MEMORY_TEST(test_pool_of_managed), MEMORY_TEST(test_pool_advice),
    MEMORY_TEST(test_pool_limit),      MEMORY_OWN(test_pool_too_large, "a small device"),
};
MEMORY_MAIN("pool_places", tests)
