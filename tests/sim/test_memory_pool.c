/* SPDX-License-Identifier: MIT */
/* Stream-ordered memory and its pools. */
#include "pool_test.h"

static void test_in_order(void **state)
{
    CUstream stream;
    unsigned *host;
    (void)state;
    OK(cu->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cu->cuMemHostAlloc((void **)&host, 400, 0));
    for (unsigned i = 0; i < 100; i++) {
        CUdeviceptr a;
        OK(cu->cuMemAllocAsync(&a, 4000, stream));
        OK(cu->cuMemsetD32Async(a, i, 1000, stream));
        OK(cu->cuMemcpyDtoHAsync_v2(host + i, a + 3996, 4, stream));
        OK(cu->cuMemFreeAsync(a, stream));
        GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuMemFreeAsync(a, stream));
        GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuMemFree_v2(a));
        GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuMemsetD8Async(a, 0, 1, stream));
    }
    OK(cu->cuStreamSynchronize(stream));
    for (unsigned i = 0; i < 100; i++)
        assert_int_equal(host[i], i);
    OK(cu->cuMemFreeHost(host));
    OK(cu->cuStreamDestroy_v2(stream));
}

/* What is freed in a stream's future can be allocated again in it at once. */
static void test_reuse_before_the_free(void **state)
{
    struct memory_gate gate;
    CUstream stream;
    CUdeviceptr a = 0;
    (void)state;
    OK(cu->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    memory_gate_close(&gate, stream);
    for (int i = 0; i < 20; i++) {
        OK(cu->cuMemAllocAsync(&a, 200 * MIB, stream));
        OK(cu->cuMemFreeAsync(a, stream));
    }
    OK(cu->cuMemAllocAsync(&a, 200 * MIB, stream));
    CUdeviceptr b;
    GIVES(CUDA_ERROR_OUT_OF_MEMORY, cu->cuMemAllocAsync(&b, 200 * MIB, stream));
    memory_gate_open(&gate);
    OK(cu->cuMemFreeAsync(a, stream));
    OK(cu->cuStreamSynchronize(stream));
    OK(cu->cuStreamDestroy_v2(stream));
}

static void test_pools(void **state)
{
    CUmemoryPool pool = pool_of(64 * MIB), current, first;
    CUdeviceptr a, b;
    (void)state;
    OK(cu->cuDeviceGetDefaultMemPool(&first, 0));
    OK(cu->cuMemAllocFromPoolAsync(&a, 1000, pool, NULL));
    assert_int_equal(pool_value(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 1000);
    assert_int_equal(pool_value(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 32 * MIB);
    GIVES(CUDA_ERROR_OUT_OF_MEMORY, cu->cuMemAllocFromPoolAsync(&b, 64 * MIB, pool, NULL));
    OK(cu->cuDeviceSetMemPool(0, pool));
    OK(cu->cuMemAllocAsync(&b, 5000, NULL));
    OK(cu->cuPointerGetAttribute(&current, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, b));
    assert_ptr_equal(current, pool);
    assert_int_equal(pool_value(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH), 6000);
    /* Destroyed, it serves until the last of its memory is freed. */
    OK(cu->cuMemPoolDestroy(pool));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuMemPoolDestroy(pool));
    OK(cu->cuDeviceGetMemPool(&current, 0));
    assert_ptr_equal(current, first);
    OK(cu->cuMemsetD8_v2(a, 1, 1000));
    OK(cu->cuMemFree_v2(a));
    OK(cu->cuMemFreeAsync(b, NULL));
    OK(cu->cuStreamSynchronize(NULL));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuMemPoolDestroy(first));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuMemAllocFromPoolAsync(&b, 16, pool, NULL));
    /* Plain memory can be freed in order, too. */
    a = memory_of(4096);
    OK(cu->cuMemFreeAsync(a, NULL));
    OK(cu->cuStreamSynchronize(NULL));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuMemFree_v2(a));
}

static void test_pool_cycles(void **state)
{
    size_t before = 0;
    (void)state;
    for (int i = 0; i < 3000; i++) {
        CUmemoryPool pool = pool_of(0);
        CUdeviceptr a;
        OK(cu->cuMemAllocFromPoolAsync(&a, MIB, pool, NULL));
        OK(cu->cuMemFreeAsync(a, NULL));
        OK(cu->cuMemPoolDestroy(pool));
        if (i == 1000) {
            OK(cu->cuCtxSynchronize());
            before = memory_resident();
        }
    }
    OK(cu->cuCtxSynchronize());
    assert_true(memory_resident() < before + 4 * MIB);
}

/* --- What a pool keeps reserved: in grains, until the program has waited behind the free --- */

struct waiting { /* one way to go on behind a free in `stream` */
    CUmemoryPool pool;
    CUstream stream, other;
    CUevent behind; /* recorded behind the free */
    CUdeviceptr small;
};

static void by_stream(struct waiting *with)
{
    OK(cu->cuStreamSynchronize(with->stream));
}

static void by_context(struct waiting *with)
{
    (void)with;
    OK(cu->cuCtxSynchronize());
}

static void by_event(struct waiting *with)
{
    OK(cu->cuEventSynchronize(with->behind));
}

static void by_follower(struct waiting *with)
{
    OK(cu->cuStreamWaitEvent(with->other, with->behind, 0));
    OK(cu->cuStreamSynchronize(with->other));
}

static void by_other_stream(struct waiting *with)
{
    OK(cu->cuStreamSynchronize(with->other));
    OK(cu->cuStreamSynchronize(NULL));
}

static void by_queries(struct waiting *with)
{
    while (cu->cuStreamQuery(with->stream) == CUDA_ERROR_NOT_READY)
        ;
    while (cu->cuEventQuery(with->behind) == CUDA_ERROR_NOT_READY)
        ;
}

static void by_copy(struct waiting *with)
{
    unsigned word;
    OK(cu->cuMemcpyDtoH_v2(&word, with->small, 4));
}

static void by_memory(struct waiting *with)
{
    CUdeviceptr next = pool_take(1000, with->pool, with->stream), plain = memory_of(1000);
    OK(cu->cuMemFreeAsync(next, with->stream));
    OK(cu->cuMemFree_v2(plain));
}

static void by_trim(struct waiting *with)
{
    OK(cu->cuMemPoolTrimTo(with->pool, 0));
}

static void wait_behind_a_free(void (*wait)(struct waiting *), bool is_behind, size_t threshold)
{
    struct waiting with = {.pool = pool_of(0)};
    cuuint64_t value = threshold;
    OK(cu->cuStreamCreate(&with.stream, CU_STREAM_NON_BLOCKING));
    OK(cu->cuStreamCreate(&with.other, CU_STREAM_NON_BLOCKING));
    OK(cu->cuEventCreate(&with.behind, 0));
    OK(cu->cuMemPoolSetAttribute(with.pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &value));
    CUdeviceptr large = pool_take(100 * MIB, with.pool, with.stream);
    with.small = pool_take(1000, with.pool, with.stream);
    assert_int_equal(pool_value(with.pool, RESERVED), 128 * MIB);
    OK(cu->cuMemFreeAsync(large, with.stream));
    OK(cu->cuEventRecord(with.behind, with.stream));
    assert_int_equal(pool_value(with.pool, RESERVED), 128 * MIB);
    assert_int_equal(pool_value(with.pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 1000);
    wait(&with);
    assert_int_equal(pool_value(with.pool, RESERVED), is_behind ? POOL_GRAIN : 128 * MIB);
    OK(cu->cuStreamSynchronize(with.stream));
    assert_int_equal(pool_value(with.pool, RESERVED), POOL_GRAIN);
    OK(cu->cuMemFreeAsync(with.small, with.stream));
    assert_int_equal(pool_value(with.pool, RESERVED), POOL_GRAIN);
    OK(cu->cuStreamSynchronize(with.stream));
    assert_int_equal(pool_value(with.pool, RESERVED), threshold ? POOL_GRAIN : 0);
    OK(cu->cuEventDestroy_v2(with.behind));
    OK(cu->cuStreamDestroy_v2(with.stream));
    OK(cu->cuStreamDestroy_v2(with.other));
    OK(cu->cuMemPoolDestroy(with.pool));
}

static void test_reserved_until_waited(void **state)
{
    static const struct {
        void (*wait)(struct waiting *);
        bool is_behind;
    } ways[] = {{by_stream, true},   {by_context, true},       {by_event, true},
                {by_follower, true}, {by_other_stream, false}, {by_queries, false},
                {by_copy, false},    {by_memory, false},       {by_trim, false}};
    (void)state;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        wait_behind_a_free(ways[i].wait, ways[i].is_behind, 0);
        wait_behind_a_free(ways[i].wait, ways[i].is_behind, 50 * MIB);
    }
}

/* An event from before the free tells nothing of it, and what waits for one stream tells nothing of
 * a later free in another. */
static void test_reserved_by_order(void **state)
{
    CUmemoryPool pool = pool_of(0);
    CUstream one, two;
    CUevent event;
    (void)state;
    OK(cu->cuStreamCreate(&one, CU_STREAM_NON_BLOCKING));
    OK(cu->cuStreamCreate(&two, CU_STREAM_NON_BLOCKING));
    OK(cu->cuEventCreate(&event, 0));
    CUdeviceptr a = pool_take(64 * MIB, pool, one), b = pool_take(64 * MIB, pool, two);
    OK(cu->cuEventRecord(event, one));
    OK(cu->cuMemFreeAsync(a, one));
    OK(cu->cuEventSynchronize(event));
    assert_int_equal(pool_value(pool, RESERVED), 128 * MIB);
    OK(cu->cuEventRecord(event, one));
    OK(cu->cuStreamWaitEvent(two, event, 0));
    OK(cu->cuMemFreeAsync(b, two));
    OK(cu->cuStreamSynchronize(one));
    assert_int_equal(pool_value(pool, RESERVED), 64 * MIB);
    OK(cu->cuCtxSynchronize());
    assert_int_equal(pool_value(pool, RESERVED), 0);
    /* cuMemFree gives back at once, and only what it frees. */
    a = pool_take(64 * MIB, pool, one);
    b = pool_take(64 * MIB, pool, two);
    OK(cu->cuCtxSynchronize());
    OK(cu->cuMemFreeAsync(a, one));
    OK(cu->cuMemFree_v2(b));
    assert_int_equal(pool_value(pool, RESERVED), 64 * MIB);
    OK(cu->cuStreamSynchronize(one));
    assert_int_equal(pool_value(pool, RESERVED), 0);
    OK(cu->cuEventDestroy_v2(event));
    OK(cu->cuStreamDestroy_v2(one));
    OK(cu->cuStreamDestroy_v2(two));
    OK(cu->cuMemPoolDestroy(pool));
}

static void test_reserved_grains(void **state)
{
    static const size_t sizes[] = {1, 1000, 31 * MIB, 2 * MIB, 32 * MIB, 33 * MIB, 70 * MIB, 1000};
    static const size_t grown[] = {1, 1, 1, 2, 3, 4, 6, 6}, shrunk[] = {6, 6, 0, 5, 4, 3, 1, 0};
    CUmemoryPool pool = pool_of(0);
    CUdeviceptr addresses[8];
    (void)state;
    for (size_t i = 0; i < 8; i++) {
        addresses[i] = pool_take(sizes[i], pool, NULL);
        assert_int_equal(pool_value(pool, RESERVED), grown[i] * POOL_GRAIN);
    }
    for (size_t i = 0; i < 8; i++) {
        OK(cu->cuMemFreeAsync(addresses[i], NULL));
        OK(cu->cuStreamSynchronize(NULL));
        if (i != 2) /* the last block is in the third one's grain, which a device keeps for it */
            assert_int_equal(pool_value(pool, RESERVED), shrunk[i] * POOL_GRAIN);
    }
    assert_int_equal(pool_value(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH), 6 * POOL_GRAIN);
    OK(cu->cuMemPoolDestroy(pool));
}

/* On a device cuMemFree of pool memory does not change what is in use. */
static void test_used_after_free(void **state)
{
    CUmemoryPool pool = pool_of(0);
    (void)state;
    OK(cu->cuMemFree_v2(pool_take(40 * MIB, pool, NULL)));
    assert_int_equal(pool_value(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 0);
    OK(cu->cuMemPoolDestroy(pool));
}

static const struct CMUnitTest tests[] = {
    MEMORY_TEST(test_in_order),
    MEMORY_OWN(test_reuse_before_the_free, "a small device"),
    MEMORY_TEST(test_pools),
    MEMORY_TEST(test_pool_cycles),
    MEMORY_TEST(test_reserved_until_waited),
    MEMORY_TEST(test_reserved_by_order),
    MEMORY_TEST(test_reserved_grains),
    MEMORY_OWN(test_used_after_free, "a device goes on counting what cuMemFree gave back"),
};
MEMORY_MAIN("memory_pool", tests)
