/* SPDX-License-Identifier: MIT */
/* The primary context, and what can be set in any context. */
#include "conform.h"

static void state(const char *when)
{
    unsigned flags = 77;
    int active = 77;
    EACH(cu->cuDevicePrimaryCtxGetState(dev, &flags, &active), "state %s", when);
    VALUE("flags=0x%x active=%d", flags, active);
}

static void counting(void)
{
    CUcontext a = NULL, b = NULL, now = NULL;
    state("at first");
    CALL(cu->cuDevicePrimaryCtxRelease(dev));
    CALL(cu->cuDevicePrimaryCtxRetain(&a, dev));
    state("retained");
    CALL(cu->cuDevicePrimaryCtxRetain(&b, dev));
    VALUE("same=%d", a == b);
    CALL(cu->cuCtxGetCurrent(&now));
    VALUE("null=%d", !now);
    CALL(cu->cuDevicePrimaryCtxRelease(dev));
    state("one left");
    CALL(cu->cuDevicePrimaryCtxRelease(dev));
    state("none left");
    CALL(cu->cuDevicePrimaryCtxRelease(dev));
    CALL(cu->cuDevicePrimaryCtxRetain(&b, dev));
    VALUE("same=%d", a == b);
    state("again");
}

static void misuse(void)
{
    CUcontext a = (CUcontext)&a;
    unsigned flags = 77;
    int active = 77;
    CALL(cu->cuDevicePrimaryCtxRetain(NULL, dev));
    CALL(cu->cuDevicePrimaryCtxRetain(&a, 1));
    VALUE("touched=%d", a != (CUcontext)&a);
    CALL(cu->cuDevicePrimaryCtxRelease(1));
    CALL(cu->cuDevicePrimaryCtxReset(1));
    CALL(cu->cuDevicePrimaryCtxSetFlags(1, 0));
    CALL(cu->cuDevicePrimaryCtxGetState(1, &flags, &active));
    CALL(cu->cuDevicePrimaryCtxGetState(dev, NULL, &active));
    CALL(cu->cuDevicePrimaryCtxGetState(dev, &flags, NULL));
    CALL(cu->cuDevicePrimaryCtxGetState(dev, NULL, NULL));
    CALL(cu->cuDevicePrimaryCtxRelease(-1));
}

static void flags_before(void)
{
    for (unsigned flags = 0; flags < 0x400; flags = flags < 40 ? flags + 1 : flags * 2) {
        unsigned back = 77;
        int active = 77;
        CUresult code = EACH(cu->cuDevicePrimaryCtxSetFlags_v2(dev, flags), "SetFlags 0x%x", flags);
        MUST(cu->cuDevicePrimaryCtxGetState(dev, &back, &active));
        if (code == CUDA_SUCCESS)
            VALUE("flags=0x%x active=%d", back, active);
    }
}

static void flags_after(void)
{
    CUcontext a = NULL;
    unsigned flags = 77;
    CALL(cu->cuDevicePrimaryCtxSetFlags_v2(dev, CU_CTX_SCHED_YIELD));
    CALL(cu->cuDevicePrimaryCtxRetain(&a, dev));
    MUST(cu->cuCtxSetCurrent(a));
    CALL(cu->cuCtxGetFlags(&flags));
    VALUE("flags=0x%x", flags);
    CALL(cu->cuDevicePrimaryCtxSetFlags_v2(dev, CU_CTX_SCHED_BLOCKING_SYNC));
    state("after the change");
    CALL(cu->cuCtxGetFlags(&flags));
    VALUE("flags=0x%x", flags);
    CALL(cu->cuDevicePrimaryCtxSetFlags_v1(dev, CU_CTX_SCHED_SPIN));
    state("after the old change");
    CALL(cu->cuCtxSetFlags(CU_CTX_SCHED_AUTO));
    state("after cuCtxSetFlags");
}

static void flags_survive(void)
{
    CUcontext a = NULL;
    CALL(cu->cuDevicePrimaryCtxSetFlags_v2(dev, CU_CTX_SCHED_SPIN));
    CALL(cu->cuDevicePrimaryCtxRetain(&a, dev));
    CALL(cu->cuDevicePrimaryCtxRelease(dev));
    state("after release");
    CALL(cu->cuDevicePrimaryCtxRetain(&a, dev));
    state("retained again");
    CALL(cu->cuDevicePrimaryCtxReset(dev));
    state("after reset");
}

static void reset(void)
{
    CUdeviceptr address = conform_memory(64);
    CUcontext now = NULL;
    CALL(cu->cuDevicePrimaryCtxReset_v2(dev));
    state("after reset");
    CALL(cu->cuCtxGetCurrent(&now));
    VALUE("same=%d", now == ctx);
    CALL(cu->cuMemFree(address));
    CALL(cu->cuCtxSynchronize());
    CALL(cu->cuMemAlloc(&address, 16));
    CALL(cu->cuDevicePrimaryCtxReset_v1(dev));
    CALL(cu->cuDevicePrimaryCtxRelease(dev));
    CALL(cu->cuDevicePrimaryCtxRetain(&now, dev));
    VALUE("same=%d", now == ctx);
    state("retained again");
    CALL(cu->cuMemAlloc(&address, 16));
}

static void reset_unused(void)
{
    state("at first");
    CALL(cu->cuDevicePrimaryCtxReset_v2(dev));
    state("after reset");
    CALL(cu->cuDevicePrimaryCtxRelease(dev));
}

static void current_after_release(void)
{
    CUcontext now = NULL;
    CUdeviceptr address = 0;
    CUdevice device = -5;
    CALL(cu->cuDevicePrimaryCtxRelease(dev));
    CALL(cu->cuCtxGetCurrent(&now));
    VALUE("same=%d", now == ctx);
    CALL(cu->cuCtxGetDevice(&device));
    CALL(cu->cuMemAlloc(&address, 16));
    CALL(cu->cuCtxSynchronize());
    CALL(cu->cuCtxSetCurrent(ctx));
    CALL(cu->cuCtxPushCurrent(ctx));
    CALL(cu->cuCtxPopCurrent(&now));
}

static void destroy_primary(void)
{
    CALL(cu->cuCtxDestroy(ctx));
    state("after cuCtxDestroy");
    CALL(cu->cuCtxDetach(ctx));
    state("after cuCtxDetach");
    CALL(cu->cuCtxSynchronize());
}

static void limits(void)
{
    for (int limit = -1; limit < 13; limit++) {
        size_t value = 77;
        EACH(cu->cuCtxGetLimit(&value, (CUlimit)limit), "cuCtxGetLimit %d", limit);
        VALUE("value=%zu", value);
    }
    CALL(cu->cuCtxGetLimit(NULL, CU_LIMIT_STACK_SIZE));
    CALL(cu->cuCtxGetLimit(NULL, (CUlimit)99));
}

static void set(CUlimit limit, size_t wanted)
{
    size_t value = 77;
    EACH(cu->cuCtxSetLimit(limit, wanted), "cuCtxSetLimit(%d, %zu)", (int)limit, wanted);
    cu->cuCtxGetLimit(&value, limit);
    VALUE("value=%zu", value);
}

static void set_stack(void)
{
    set(CU_LIMIT_STACK_SIZE, 0);
    set(CU_LIMIT_STACK_SIZE, 1);
    set(CU_LIMIT_STACK_SIZE, 1000);
    set(CU_LIMIT_STACK_SIZE, 2048);
    set(CU_LIMIT_STACK_SIZE, 65535);
    set(CU_LIMIT_STACK_SIZE, 600000);
    set(CU_LIMIT_STACK_SIZE, (size_t)1 << 40);
}

static void set_printf(void)
{
    set(CU_LIMIT_PRINTF_FIFO_SIZE, 0);
    set(CU_LIMIT_PRINTF_FIFO_SIZE, 100);
    set(CU_LIMIT_PRINTF_FIFO_SIZE, 5000);
    set(CU_LIMIT_PRINTF_FIFO_SIZE, 2 << 20);
    set(CU_LIMIT_PRINTF_FIFO_SIZE, (size_t)1 << 50);
}

static void set_heap(void)
{
    set(CU_LIMIT_MALLOC_HEAP_SIZE, 0);
    set(CU_LIMIT_MALLOC_HEAP_SIZE, 100);
    set(CU_LIMIT_MALLOC_HEAP_SIZE, 16 << 20);
    set(CU_LIMIT_MALLOC_HEAP_SIZE, (size_t)1 << 50);
}

static void set_others(void)
{
    set(CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH, 2);
    set(CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH, 100);
    set(CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT, 4096);
    set(CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT, 0);
    for (size_t bytes = 0; bytes < 300; bytes = bytes ? bytes * 2 : 1)
        set(CU_LIMIT_MAX_L2_FETCH_GRANULARITY, bytes);
    set(CU_LIMIT_MAX_L2_FETCH_GRANULARITY, 48);
    set(CU_LIMIT_SHMEM_SIZE, 1024);
    set(CU_LIMIT_CIG_ENABLED, 1);
    set(CU_LIMIT_CIG_SHMEM_FALLBACK_ENABLED, 1);
    set((CUlimit)10, 1);
    set((CUlimit)-1, 1);
}

static void set_persisting(void)
{
    set(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 0);
    set(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 1000);
    set(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 1 << 20);
    set(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, (size_t)1 << 40);
    CALL(cu->cuCtxResetPersistingL2Cache());
}

static void caches(void)
{
    CUfunc_cache cache = (CUfunc_cache)9;
    CALL(cu->cuCtxGetCacheConfig(&cache));
    VALUE("cache=%d", (int)cache);
    for (int wanted = -1; wanted < 6; wanted++) {
        EACH(cu->cuCtxSetCacheConfig((CUfunc_cache)wanted), "cuCtxSetCacheConfig(%d)", wanted);
        MUST(cu->cuCtxGetCacheConfig(&cache));
        VALUE("cache=%d", (int)cache);
    }
    CALL(cu->cuCtxGetCacheConfig(NULL));
}

static void banks(void)
{
    CUsharedconfig config = (CUsharedconfig)9;
    CALL(cu->cuCtxGetSharedMemConfig(&config));
    VALUE("config=%d", (int)config);
    for (int wanted = -1; wanted < 5; wanted++) {
        EACH(cu->cuCtxSetSharedMemConfig((CUsharedconfig)wanted), "cuCtxSetSharedMemConfig(%d)",
             wanted);
        MUST(cu->cuCtxGetSharedMemConfig(&config));
        VALUE("config=%d", (int)config);
    }
    CALL(cu->cuCtxGetSharedMemConfig(NULL));
}

static void priorities(void)
{
    int least = 77, greatest = 77;
    CALL(cu->cuCtxGetStreamPriorityRange(&least, &greatest));
    VALUE("least=%d greatest=%d", least, greatest);
    CALL(cu->cuCtxGetStreamPriorityRange(NULL, &greatest));
    CALL(cu->cuCtxGetStreamPriorityRange(&least, NULL));
    CALL(cu->cuCtxGetStreamPriorityRange(NULL, NULL));
}

static void versions(void)
{
    unsigned version = 77;
    unsigned long long id = 77;
    CUdevice device = -5;
    CALL(cu->cuCtxGetApiVersion(ctx, &version));
    VALUE("version=%u", version);
    CALL(cu->cuCtxGetId(ctx, &id));
    CALL(cu->cuCtxGetDevice(&device));
    VALUE("device=%d", device);
    CALL(cu->cuCtxGetDevice(NULL));
    CALL(cu->cuCtxGetFlags(&version));
    VALUE("flags=0x%x", version);
}

static const struct sequence sequences[] = {
    S(counting, INIT),           S(misuse, INIT),
    S(flags_before, INIT),       S(flags_after, INIT),
    S(flags_survive, INIT),      S(reset, PRIMARY),
    S(reset_unused, INIT),       S(current_after_release, PRIMARY),
    S(destroy_primary, PRIMARY), S(limits, PRIMARY),
    S(set_stack, PRIMARY),       S(set_printf, PRIMARY),
    S(set_heap, PRIMARY),        S(set_others, PRIMARY),
    S(set_persisting, PRIMARY),  S(caches, PRIMARY),
    S(banks, PRIMARY),           S(priorities, PRIMARY),
    S(versions, PRIMARY),        {0}};
const struct family primary_family = {"primary", sequences};
