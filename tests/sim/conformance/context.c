/* SPDX-License-Identifier: MIT */
/* Contexts of the program's own: creation, the thread's stack, handles that are gone. */
#include "conform.h"

#include <pthread.h>

static void current(const char *when, CUcontext a, CUcontext b)
{
    CUcontext now = (CUcontext)&now;
    EACH(cu->cuCtxGetCurrent(&now), "cuCtxGetCurrent %s", when);
    VALUE("is=%s", !now ? "NULL" : now == a ? "a" : now == b ? "b" : "other");
}

static void create(void)
{
    CUcontext a = NULL;
    CUdevice device = -5;
    unsigned flags = 77;
    CALL(cu->cuCtxCreate_v2(&a, 0, dev));
    current("after creation", a, NULL);
    CALL(cu->cuCtxGetDevice(&device));
    VALUE("device=%d", device);
    CALL(cu->cuCtxGetFlags(&flags));
    VALUE("flags=%u", flags);
    CALL(cu->cuCtxSynchronize());
    CALL(cu->cuCtxDestroy(a));
    current("after destruction", a, NULL);
    CALL(cu->cuCtxGetDevice(&device));
}

/* A context costs a real driver much time: few in one sequence. */
static void try_flags(const unsigned *wanted, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        unsigned flags = wanted[i];
        CUcontext a = NULL;
        unsigned back = 77777;
        CUresult code =
            EACH(cu->cuCtxCreate_v2(&a, flags, dev), "cuCtxCreate_v2 flags 0x%x", flags);
        if (code == CUDA_SUCCESS) {
            MUST(cu->cuCtxGetFlags(&back));
            VALUE("flags=0x%x", back);
            MUST(cu->cuCtxDestroy(a));
        }
    }
}

static void create_scheduling(void)
{
    static const unsigned wanted[] = {1, 2, 3, 4, 5, 6, 7};
    try_flags(wanted, sizeof wanted / sizeof *wanted);
}

static void create_flags(void)
{
    static const unsigned wanted[] = {8, 0xa, 0xb, 0x10, 0x18};
    try_flags(wanted, sizeof wanted / sizeof *wanted);
}

static void create_more_flags(void)
{
    static const unsigned wanted[] = {0x20, 0x40, 0x80, 0x100, 0x200, 0x400, 0x8000};
    try_flags(wanted, sizeof wanted / sizeof *wanted);
}

static void create_misuse(void)
{
    CUcontext a = (CUcontext)&a;
    CALL(cu->cuCtxCreate_v2(NULL, 0, dev));
    CALL(cu->cuCtxCreate_v2(&a, 0, 1));
    VALUE("touched=%d", a != (CUcontext)&a);
    CALL(cu->cuCtxCreate_v2(&a, 0, -1));
    CALL(cu->cuCtxCreate_v2(&a, 0xffffffff, dev));
    VALUE("touched=%d", a != (CUcontext)&a);
    CALL(cu->cuCtxDestroy(NULL));
    CALL(cu->cuCtxDestroy_v1(NULL));
}

static void create_v1(void)
{
    CUcontext a = NULL;
    unsigned version = 0;
    CALL(cu->cuCtxCreate_v1(&a, 0, dev));
    current("after creation", a, NULL);
    CALL(cu->cuCtxGetApiVersion(a, &version));
    VALUE("version=%u", version);
    CALL(cu->cuCtxDestroy_v1(a));
    current("after destruction", a, NULL);
}

static void create_v3(void)
{
    CUcontext a = NULL;
    CUexecAffinityParam half = {.type = CU_EXEC_AFFINITY_TYPE_SM_COUNT, .param.smCount.val = 8};
    CUexecAffinityParam got;
    memset(&got, 0, sizeof got);
    CALL(cu->cuCtxCreate_v3(&a, NULL, 0, 0, dev));
    CALL(cu->cuCtxGetExecAffinity(&got, CU_EXEC_AFFINITY_TYPE_SM_COUNT));
    VALUE("type=%d sms=%u", (int)got.type, got.param.smCount.val);
    CALL(cu->cuCtxGetExecAffinity(&got, (CUexecAffinityType)5));
    CALL(cu->cuCtxGetExecAffinity(NULL, CU_EXEC_AFFINITY_TYPE_SM_COUNT));
    CALL(cu->cuCtxDestroy(a));
    CALL(cu->cuCtxCreate_v3(&a, &half, 1, 0, dev));
    CALL(cu->cuCtxCreate_v3(&a, NULL, 1, 0, dev));
    CALL(cu->cuCtxCreate_v3(&a, &half, 0, 0, dev));
    CALL(cu->cuCtxCreate_v3(NULL, NULL, 0, 0, dev));
}

static void create_v4(void)
{
    CUcontext a = NULL;
    CUctxCreateParams none = {NULL, 0, NULL};
    CUexecAffinityParam half = {.type = CU_EXEC_AFFINITY_TYPE_SM_COUNT, .param.smCount.val = 8};
    CUctxCreateParams some = {&half, 1, NULL};
    unsigned version = 0;
    CALL(cu->cuCtxCreate_v4(&a, NULL, 0, dev));
    CALL(cu->cuCtxGetApiVersion(a, &version));
    VALUE("version=%u", version);
    CALL(cu->cuCtxDestroy(a));
    CALL(cu->cuCtxCreate_v4(&a, &none, 0, dev));
    CALL(cu->cuCtxDestroy(a));
    CALL(cu->cuCtxCreate_v4(&a, &some, 0, dev));
    CALL(cu->cuCtxCreate_v4(NULL, NULL, 0, dev));
    CALL(cu->cuCtxCreate_v4(&a, NULL, 0x4000, dev));
}

static void coredump_flags(void)
{
    CUcontext a = NULL;
    unsigned flags = 0;
    CALL(cu->cuCtxCreate_v2(&a, CU_CTX_SYNC_MEMOPS, dev));
    CALL(cu->cuCtxGetFlags(&flags));
    VALUE("flags=0x%x", flags);
    CALL(cu->cuCtxSetFlags(0));
    CALL(cu->cuCtxGetFlags(&flags));
    VALUE("flags=0x%x", flags);
    CALL(cu->cuCtxSetFlags(CU_CTX_SCHED_SPIN));
    CALL(cu->cuCtxGetFlags(&flags));
    VALUE("flags=0x%x", flags);
    CALL(cu->cuCtxSetFlags(CU_CTX_SCHED_SPIN | CU_CTX_SCHED_YIELD));
    CALL(cu->cuCtxSetFlags(0x4000));
    CALL(cu->cuCtxSetFlags(CU_CTX_MAP_HOST));
    CALL(cu->cuCtxGetFlags(&flags));
    VALUE("flags=0x%x", flags);
    CALL(cu->cuCtxGetFlags(NULL));
}

static void stack(void)
{
    CUcontext a = conform_context(), b = conform_context(), popped = NULL;
    current("with two", a, b);
    CALL(cu->cuCtxPopCurrent(&popped));
    VALUE("popped=%s", popped == b ? "b" : "other");
    current("after one pop", a, b);
    CALL(cu->cuCtxPushCurrent(b));
    CALL(cu->cuCtxPushCurrent(b));
    CALL(cu->cuCtxPopCurrent(NULL));
    current("after push, push, pop", a, b);
    CALL(cu->cuCtxPopCurrent(&popped));
    CALL(cu->cuCtxPopCurrent(&popped));
    VALUE("popped=%s", popped == a ? "a" : "other");
    current("when empty", a, b);
    popped = (CUcontext)&popped;
    CALL(cu->cuCtxPopCurrent(&popped));
    VALUE("touched=%d", popped != (CUcontext)&popped);
    CALL(cu->cuCtxPopCurrent_v1(&popped));
    CALL(cu->cuCtxPushCurrent_v1(a));
    current("after the old push", a, b);
    CALL(cu->cuCtxPopCurrent_v1(&popped));
    VALUE("popped=%s", popped == a ? "a" : "other");
}

static void set_current(void)
{
    CUcontext a = conform_context(), b = conform_context(), popped = NULL;
    CALL(cu->cuCtxSetCurrent(a));
    current("after set a over b", a, b);
    CALL(cu->cuCtxPopCurrent(&popped));
    current("after pop", a, b);
    CALL(cu->cuCtxSetCurrent(NULL));
    current("after set NULL", a, b);
    CALL(cu->cuCtxPopCurrent(&popped));
    CALL(cu->cuCtxSetCurrent(b));
    current("after set b", a, b);
    CALL(cu->cuCtxSetCurrent(b));
    CALL(cu->cuCtxPopCurrent(&popped));
    current("after set twice, pop", a, b);
    CALL(cu->cuCtxGetCurrent(NULL));
    CALL(cu->cuCtxPushCurrent(NULL));
}

static void set_null_below(void)
{
    CUcontext a = conform_context(), b = conform_context(), popped = NULL;
    CALL(cu->cuCtxSetCurrent(NULL));
    current("after set NULL", a, b);
    CALL(cu->cuCtxPopCurrent(&popped));
    VALUE("popped=%s", !popped ? "NULL" : popped == a ? "a" : "b");
    current("after pop", a, b);
    CALL(cu->cuCtxPushCurrent(b));
    CALL(cu->cuCtxDestroy(a));
    current("after destroying the one below", a, b);
    CALL(cu->cuCtxPopCurrent(&popped));
    current("after pop", a, b);
}

static void destroy_current(void)
{
    CUcontext a = conform_context(), b = conform_context(), popped = NULL;
    CALL(cu->cuCtxDestroy(b));
    current("after destroying the top", a, b);
    CALL(cu->cuCtxPushCurrent(a));
    CALL(cu->cuCtxDestroy(a));
    current("after destroying one that is twice on the stack", a, b);
    CALL(cu->cuCtxPopCurrent(&popped));
    VALUE("popped=%s", popped == a ? "a" : popped ? "other" : "NULL");
    current("at the end", a, b);
}

static void destroyed_handle(void)
{
    CUcontext a = conform_context();
    CUdeviceptr address = 0;
    MUST(cu->cuCtxDestroy(a));
    CALL(cu->cuCtxPushCurrent(a));
    CALL(cu->cuMemAlloc(&address, 16));
    CALL(cu->cuCtxSynchronize());
}

static void destroyed_below(void)
{
    CUcontext a = conform_context(), b = conform_context(), popped = NULL;
    CUdeviceptr address = 0;
    CALL(cu->cuCtxDestroy(a));
    current("with a destroyed below", a, b);
    CALL(cu->cuCtxPopCurrent(&popped));
    VALUE("popped=%s", popped == b ? "b" : "other");
    current("when the destroyed one is the top", a, b);
    CALL(cu->cuMemAlloc(&address, 16));
    CALL(cu->cuCtxSynchronize());
    CALL(cu->cuCtxPopCurrent(&popped));
    VALUE("popped=%s", popped == a ? "a" : "other");
}

static CUcontext shared_context;

static void *in_thread(void *unused)
{
    current("in a new thread", shared_context, NULL);
    CALL(cu->cuCtxPopCurrent(NULL));
    CALL(cu->cuCtxPushCurrent(shared_context));
    current("in the thread after push", shared_context, NULL);
    CALL(cu->cuCtxSynchronize());
    return unused;
}

static void *destroy_in_thread(void *unused)
{
    CALL(cu->cuCtxDestroy(shared_context));
    return unused;
}

static void threads(void)
{
    pthread_t thread;
    shared_context = conform_context();
    if (pthread_create(&thread, NULL, in_thread, NULL) == 0)
        pthread_join(thread, NULL);
    current("in the first thread", shared_context, NULL);
    if (pthread_create(&thread, NULL, destroy_in_thread, NULL) == 0)
        pthread_join(thread, NULL);
    CUdeviceptr address = 0;
    CUcontext popped = NULL;
    CUdevice device = -5;
    current("after another thread destroyed it", shared_context, NULL);
    CALL(cu->cuMemAlloc(&address, 16));
    CALL(cu->cuCtxGetDevice(&device));
    CALL(cu->cuCtxSynchronize());
    CALL(cu->cuCtxPopCurrent(&popped));
    VALUE("popped=%s", popped == shared_context ? "a" : "other");
}

static void attach(void)
{
    CUcontext a = conform_context(), got = NULL;
    CALL(cu->cuCtxAttach(&got, 0));
    VALUE("same=%d", got == a);
    CALL(cu->cuCtxAttach(&got, 1));
    CALL(cu->cuCtxAttach(NULL, 0));
    CALL(cu->cuCtxDetach(a));
    current("after one detach", a, NULL);
    CALL(cu->cuCtxDetach(a));
    current("after two", a, NULL);
    CALL(cu->cuCtxAttach(&got, 0));
    CALL(cu->cuCtxDetach(NULL));
}

static void attach_destroy(void)
{
    CUcontext a = conform_context(), got = NULL;
    CALL(cu->cuCtxAttach(&got, 0));
    CALL(cu->cuCtxDestroy(a));
    current("after destroy of an attached one", a, NULL);
    CALL(cu->cuCtxDetach(a));
}

static void ids(void)
{
    CUcontext a = conform_context(), b = conform_context();
    unsigned long long one = 0, two = 0, now = 0;
    CALL(cu->cuCtxGetId(a, &one));
    CALL(cu->cuCtxGetId(b, &two));
    VALUE("rising=%d", two > one);
    CALL(cu->cuCtxGetId(NULL, &now));
    VALUE("current=%d", now == two);
    CALL(cu->cuCtxGetId(a, NULL));
    MUST(cu->cuCtxSetCurrent(NULL));
    CALL(cu->cuCtxGetId(NULL, &now));
    MUST(cu->cuCtxSetCurrent(NULL));
}

static void api_version(void)
{
    CUcontext a = conform_context();
    unsigned version = 77;
    CALL(cu->cuCtxGetApiVersion(a, &version));
    VALUE("version=%u", version);
    version = 77;
    CALL(cu->cuCtxGetApiVersion(NULL, &version));
    VALUE("version=%u", version);
    CALL(cu->cuCtxGetApiVersion(a, NULL));
}

static void affinity_refused(void)
{
    CUexecAffinityParam got;
    CUdevice device = -5;
    memset(&got, 0x77, sizeof got);
    CALL(cu->cuCtxGetExecAffinity(&got, CU_EXEC_AFFINITY_TYPE_MAX));
    CALL(cu->cuCtxGetExecAffinity(NULL, (CUexecAffinityType)5));
    VALUE("untouched=%d", (int)got.type == 0x77777777);
    MUST(cu->cuCtxSetCurrent(NULL));
    CALL(cu->cuCtxGetExecAffinity(&got, CU_EXEC_AFFINITY_TYPE_SM_COUNT));
    CALL(cu->cuCtxGetExecAffinity(NULL, CU_EXEC_AFFINITY_TYPE_SM_COUNT));
    CALL(cu->cuCtxGetExecAffinity(&got, (CUexecAffinityType)5));
    CALL(cu->cuCtxGetDevice_v2(&device, ctx));
    VALUE("device=%d", device);
    CALL(cu->cuCtxGetDevice_v2(NULL, ctx));
    CALL(cu->cuCtxGetDevice_v2(NULL, NULL));
}

static void explicit_context(void)
{
    CUcontext a = conform_context();
    CUdevice device = -5;
    CALL(cu->cuCtxGetDevice_v2(&device, a));
    VALUE("device=%d", device);
    CALL(cu->cuCtxGetDevice_v2(&device, NULL));
    CALL(cu->cuCtxGetDevice_v2(NULL, a));
    CALL(cu->cuCtxSynchronize_v2(a));
    CALL(cu->cuCtxSynchronize_v2(NULL));
    MUST(cu->cuCtxSetCurrent(NULL));
    CALL(cu->cuCtxSynchronize_v2(a));
    CALL(cu->cuCtxSynchronize_v2(NULL));
    CALL(cu->cuCtxGetDevice_v2(&device, NULL));
    MUST(cu->cuCtxDestroy(a));
    CALL(cu->cuCtxSynchronize_v2(a));
}

static void events_of_context(void)
{
    CUcontext a = conform_context();
    CUevent event = conform_event();
    CALL(cu->cuCtxRecordEvent(a, event));
    CALL(cu->cuCtxWaitEvent(a, event));
    CALL(cu->cuCtxRecordEvent(NULL, event));
    CALL(cu->cuCtxWaitEvent(NULL, event));
    CALL(cu->cuCtxRecordEvent(a, NULL));
    CALL(cu->cuCtxWaitEvent(a, NULL));
    CALL(cu->cuEventSynchronize(event));
}

static void use_after_context(void)
{
    CUcontext a = conform_context();
    CUdeviceptr address = conform_memory(64);
    MUST(cu->cuCtxDestroy(a));
    MUST(cu->cuDevicePrimaryCtxRetain(&ctx, dev));
    MUST(cu->cuCtxSetCurrent(ctx));
    CALL(cu->cuMemFree(address));
    CALL(cu->cuMemsetD8(address, 1, 1));
    CALL(cu->cuMemGetAddressRange(NULL, NULL, address));
    CALL(cu->cuCtxSynchronize());
}

static void other_context(void)
{
    CUcontext a = conform_context();
    CUdeviceptr address = conform_memory(64);
    CUstream stream = conform_stream();
    CUevent event = conform_event();
    CUcontext b = conform_context();
    unsigned word = 5;
    CALL(cu->cuMemcpyHtoD(address, &word, 4));
    CALL(cu->cuMemcpyDtoH(&word, address, 4));
    CALL(cu->cuMemsetD32(address, 9, 4));
    CALL(cu->cuMemsetD32Async(address, 9, 4, stream));
    CALL(cu->cuStreamSynchronize(stream));
    CALL(cu->cuEventRecord(event, stream));
    CALL(cu->cuEventRecord(event, NULL));
    CALL(cu->cuStreamWaitEvent(NULL, event, 0));
    CALL(cu->cuMemFree(address));
    CALL(cu->cuStreamDestroy(stream));
    CALL(cu->cuEventDestroy(event));
    CALL(cu->cuCtxDestroy(a));
    CALL(cu->cuCtxDestroy(b));
}

static const struct sequence sequences[] = {S(create, INIT),
                                            S(create_scheduling, INIT),
                                            S(create_flags, INIT),
                                            S(create_more_flags, INIT),
                                            S(create_misuse, INIT),
                                            S(create_v1, INIT),
                                            S(create_v3, INIT),
                                            S(create_v4, INIT),
                                            S(coredump_flags, INIT),
                                            S(stack, INIT),
                                            S(set_current, INIT),
                                            S(set_null_below, INIT),
                                            S(destroy_current, INIT),
                                            S(destroyed_handle, INIT),
                                            S(destroyed_below, INIT),
                                            S(threads, INIT),
                                            S(attach, INIT),
                                            S(attach_destroy, INIT),
                                            S(ids, INIT),
                                            S(api_version, INIT),
                                            S(affinity_refused, PRIMARY),
                                            S(explicit_context, INIT),
                                            S(events_of_context, INIT),
                                            S(use_after_context, INIT),
                                            S(other_context, INIT),
                                            {0}};
const struct family context_family = {"context", sequences};
