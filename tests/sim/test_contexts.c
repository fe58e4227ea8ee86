/* SPDX-License-Identifier: MIT */
/* Contexts of the simulated driver: stacks, ends, primary ones, peers, forks. */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "memory_test.h"

/* --- Stacks --- */

static CUcontext created(void)
{
    CUcontext context = NULL;
    OK(cu->cuCtxCreate_v2(&context, 0, 0));
    return context;
}

static CUcontext current(void)
{
    CUcontext context = NULL;
    OK(cu->cuCtxGetCurrent(&context));
    return context;
}

static void test_stack(void **state)
{
    CUcontext a = created(), b = created(), popped;
    (void)state;
    assert_ptr_equal(current(), b);
    OK(cu->cuCtxPushCurrent_v2(a));
    OK(cu->cuCtxPopCurrent_v2(&popped));
    assert_ptr_equal(popped, a);
    OK(cu->cuCtxSetCurrent(a)); /* replaces b */
    OK(cu->cuCtxDestroy_v2(b));
    OK(cu->cuCtxPopCurrent_v2(NULL));
    assert_ptr_equal(current(), a);
    OK(cu->cuCtxDestroy_v2(a));
    assert_ptr_equal(current(), memory_context);
}

/* Many more contexts come and go: an old entry must not become one of them. */
static void test_stale_entries(void **state)
{
    CUcontext old = created(), now;
    CUdevice device = -5;
    (void)state;
    OK(cu->cuCtxPushCurrent_v2(old));
    OK(cu->cuCtxDestroy_v2(old));
    assert_ptr_equal(current(), old);
    for (int i = 0; i < 100; i++) {
        CUcontext more = created();
        OK(cu->cuCtxPopCurrent_v2(&now));
        GIVES(CUDA_ERROR_CONTEXT_IS_DESTROYED, cu->cuCtxSynchronize());
        OK(cu->cuCtxDestroy_v2(more));
    }
    OK(cu->cuCtxGetDevice(&device));
    assert_int_equal(device, 0);
    OK(cu->cuCtxPopCurrent_v2(&now));
    assert_ptr_equal(now, old);
}

/* What never was a context is refused, and nothing changes; a destroyed one is taken. */
static void test_no_context(void **state)
{
    static char memory[4096];
    CUcontext gone = created(), popped;
    CUstream stream;
    (void)state;
    OK(cu->cuCtxPopCurrent_v2(&popped));
    OK(cu->cuStreamCreate(&stream, CU_STREAM_DEFAULT));
    OK(cu->cuCtxDestroy_v2(gone));
    const void *odd[] = {memory + 64, (char *)memory_context + 8, stream, &popped};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        CUcontext context = (CUcontext)(void *)(uintptr_t)odd[i];
        GIVES(CUDA_ERROR_INVALID_CONTEXT, cu->cuCtxSetCurrent(context));
        GIVES(CUDA_ERROR_INVALID_CONTEXT, cu->cuCtxPushCurrent_v2(context));
        assert_ptr_equal(current(), memory_context);
    }
    OK(cu->cuCtxPushCurrent_v2(gone));
    assert_ptr_equal(current(), gone);
    GIVES(CUDA_ERROR_CONTEXT_IS_DESTROYED, cu->cuCtxSynchronize());
    OK(cu->cuCtxPopCurrent_v2(&popped));
    assert_ptr_equal(current(), memory_context);
    OK(cu->cuStreamDestroy_v2(stream));
}

static void *use_in_thread(void *context)
{
    CUdeviceptr address;
    GIVES(CUDA_ERROR_INVALID_CONTEXT, cu->cuMemAlloc_v2(&address, 16));
    OK(cu->cuCtxPushCurrent_v2(context));
    address = memory_of(16);
    OK(cu->cuMemFree_v2(address));
    OK(cu->cuCtxPopCurrent_v2(NULL));
    OK(cu->cuCtxDestroy_v2(context));
    return NULL;
}

static void test_threads(void **state)
{
    CUcontext context = created();
    CUdeviceptr address;
    pthread_t thread;
    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, use_in_thread, context), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_ptr_equal(current(), context);
    GIVES(CUDA_ERROR_CONTEXT_IS_DESTROYED, cu->cuMemAlloc_v2(&address, 16));
    OK(cu->cuCtxPopCurrent_v2(NULL));
}

/* --- Ends --- */

static CUresult waited;
static atomic_bool waiting;

static void *wait_for_context(void *context)
{
    OK(cu->cuCtxSetCurrent(context));
    atomic_store(&waiting, true);
    waited = cu->cuCtxSynchronize();
    OK(cu->cuCtxSetCurrent(NULL));
    return NULL;
}

static void *open_later(void *gate)
{
    usleep(50000);
    memory_gate_open(gate);
    return NULL;
}

/* Destroyed while its work runs, and while another thread waits for that work. */
static void test_destroy_busy(void **state)
{
    CUcontext context = created();
    CUstream stream;
    struct memory_gate gate;
    pthread_t waiter, opener;
    (void)state;
    OK(cu->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    memory_gate_close(&gate, stream);
    atomic_store(&waiting, false);
    assert_int_equal(pthread_create(&waiter, NULL, wait_for_context, context), 0);
    while (!atomic_load(&waiting))
        usleep(1000);
    usleep(20000); /* the call itself shows nothing */
    assert_int_equal(pthread_create(&opener, NULL, open_later, &gate), 0);
    OK(cu->cuCtxDestroy_v2(context));
    assert_int_equal(gate.open, 1);
    assert_int_equal(pthread_join(waiter, NULL), 0);
    assert_int_equal(pthread_join(opener, NULL), 0);
    assert_int_equal(waited, CUDA_SUCCESS);
    assert_ptr_equal(current(), memory_context);
}

/* A stream that waits for a value nobody will write does not hold the context's end up. */
static void test_destroy_waiting(void **state)
{
    CUcontext context = created();
    CUdeviceptr word = memory_of(4);
    CUstream stream;
    (void)state;
    OK(cu->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cu->cuMemsetD32_v2(word, 0, 1));
    OK(cu->cuCtxSynchronize());
    OK(cu->cuStreamWaitValue32_v2(stream, word, 1, CU_STREAM_WAIT_VALUE_EQ));
    GIVES(CUDA_ERROR_NOT_READY, cu->cuStreamQuery(stream));
    OK(cu->cuCtxDestroy_v2(context));
}

static void test_objects_end_with_context(void **state)
{
    CUcontext context = created();
    CUstream stream;
    CUevent event;
    (void)state;
    OK(cu->cuStreamCreate(&stream, 0));
    OK(cu->cuEventCreate(&event, 0));
    OK(cu->cuCtxDestroy_v2(context));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cu->cuStreamQuery(stream));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cu->cuEventDestroy_v2(event));
}

static void test_no_growth(void **state)
{
    size_t before = 0;
    (void)state;
    for (int i = 0; i < 3000; i++) {
        CUcontext context = created();
        CUstream stream;
        CUevent event;
        OK(cu->cuStreamCreate(&stream, 0));
        OK(cu->cuEventCreate(&event, 0));
        OK(cu->cuEventRecord(event, stream));
        OK(cu->cuCtxDestroy_v2(context));
        if (i == 1000)
            before = memory_resident();
    }
    assert_true(memory_resident() < before + MIB);
}

/* --- Primary contexts --- */

static void test_primary(void **state)
{
    CUcontext first, second;
    unsigned flags;
    int active;
    (void)state;
    if (memory_devices() < 2)
        skip();
    OK(cu->cuDevicePrimaryCtxGetState(1, &flags, &active));
    assert_int_equal(active, 0);
    OK(cu->cuDevicePrimaryCtxRetain(&first, 1));
    OK(cu->cuCtxPushCurrent_v2(first));
    CUdeviceptr address = memory_of(64);
    GIVES(CUDA_ERROR_INVALID_CONTEXT, cu->cuCtxDestroy_v2(first));
    OK(cu->cuDevicePrimaryCtxReset_v2(1));
    GIVES(CUDA_ERROR_CONTEXT_IS_DESTROYED, cu->cuMemFree_v2(address));
    OK(cu->cuDevicePrimaryCtxGetState(1, &flags, &active));
    assert_int_equal(active, 0);
    OK(cu->cuDevicePrimaryCtxRelease_v2(1)); /* retained all the while */
    GIVES(CUDA_ERROR_INVALID_CONTEXT, cu->cuDevicePrimaryCtxRelease_v2(1));
    OK(cu->cuDevicePrimaryCtxRetain(&second, 1));
    assert_ptr_equal(first, second);
    OK(cu->cuMemFree_v2(memory_of(64))); /* current again, without a push */
    OK(cu->cuCtxPopCurrent_v2(NULL));
    OK(cu->cuDevicePrimaryCtxRelease_v2(1));
    OK(cu->cuDevicePrimaryCtxRetain(&first, 1));
    OK(cu->cuDevicePrimaryCtxReset_v2(1));
    OK(cu->cuDevicePrimaryCtxRetain(&second, 1));
    OK(cu->cuDevicePrimaryCtxRelease_v2(1));
    OK(cu->cuDevicePrimaryCtxGetState(1, &flags, &active));
    assert_int_equal(active, 1);           /* the first was not released */
    OK(cu->cuDevicePrimaryCtxReset_v1(1)); /* and releases once */
    GIVES(CUDA_ERROR_INVALID_CONTEXT, cu->cuDevicePrimaryCtxRelease_v2(1));
    OK(cu->cuDevicePrimaryCtxRelease_v1(1));
}

static void *retain_release(void *unused)
{
    for (int i = 0; i < 500; i++) {
        CUcontext context;
        OK(cu->cuDevicePrimaryCtxRetain(&context, 1));
        OK(cu->cuDevicePrimaryCtxRelease_v2(1));
    }
    return unused;
}

static void test_primary_threads(void **state)
{
    pthread_t threads[4];
    unsigned flags;
    int active;
    (void)state;
    if (memory_devices() < 2)
        skip();
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, retain_release, NULL), 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    OK(cu->cuDevicePrimaryCtxGetState(1, &flags, &active));
    assert_int_equal(active, 0);
}

/* --- Peers --- */

static void test_peers(void **state)
{
    CUcontext here = created(), there;
    int can = -1;
    (void)state;
    if (memory_devices() < 2)
        skip();
    OK(cu->cuCtxCreate_v2(&there, 0, 1));
    OK(cu->cuDeviceCanAccessPeer(&can, 0, 1));
    assert_int_equal(can, 1);
    GIVES(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, cu->cuCtxEnablePeerAccess(there, 0));
    OK(cu->cuCtxEnablePeerAccess(here, 0));
    GIVES(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, cu->cuCtxEnablePeerAccess(here, 0));
    OK(cu->cuCtxDisablePeerAccess(here));
    GIVES(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, cu->cuCtxDisablePeerAccess(here));
    OK(cu->cuCtxEnablePeerAccess(here, 0));
    OK(cu->cuCtxDestroy_v2(here)); /* forgotten on the other side too */
    GIVES(CUDA_ERROR_CONTEXT_IS_DESTROYED, cu->cuCtxDisablePeerAccess(here));
    GIVES(CUDA_ERROR_CONTEXT_IS_DESTROYED, cu->cuCtxEnablePeerAccess(here, 0));
    OK(cu->cuCtxDestroy_v2(there));
    OK(cu->cuCtxSetCurrent(memory_context));
}

/* --- Processes --- */

/* A child has the driver's memory but not its threads: it is told so, and never waits. */
static void test_fork(void **state)
{
    CUstream stream;
    struct memory_gate gate;
    int status;
    (void)state;
    OK(cu->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    memory_gate_close(&gate, stream);
    pid_t child = fork();
    if (child == 0) {
        int count;
        alarm(20);
        _exit(cu->cuDeviceGetCount(&count) == CUDA_ERROR_NOT_INITIALIZED &&
                      cu->cuStreamSynchronize(stream) == CUDA_ERROR_NOT_INITIALIZED
                  ? 0
                  : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    memory_gate_open(&gate);
    OK(cu->cuStreamSynchronize(stream));
    OK(cu->cuStreamDestroy_v2(stream));
}
static const struct CMUnitTest tests[] = {
    MEMORY_TEST(test_stack),
    MEMORY_TEST(test_stale_entries),
    MEMORY_OWN(test_no_context, "as the manual has it; no device was asked"),
    MEMORY_TEST(test_threads),
    MEMORY_TEST(test_destroy_busy),
    MEMORY_OWN(test_destroy_waiting, "a real driver waits"),
    MEMORY_OWN(test_objects_end_with_context, "handles of a dead context are recognised"),
    MEMORY_OWN(test_no_growth, "memory of the host"),
    MEMORY_TEST(test_primary),
    MEMORY_OWN(test_primary_threads, "driver 580 crashes"),
    MEMORY_TEST(test_peers),
    MEMORY_OWN(test_fork, "a child is never stuck"),
};
MEMORY_MAIN("contexts", tests)
