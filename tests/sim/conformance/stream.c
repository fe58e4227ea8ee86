/* SPDX-License-Identifier: MIT */
/* Streams, and what is done in their order. */
#include "conform.h"

#include <pthread.h>

static void create(void)
{
    CUstream stream = NULL;
    unsigned flags = 77;
    int priority = 77;
    for (unsigned wanted = 0; wanted < 5; wanted++) {
        CUresult code =
            EACH(cu->cuStreamCreate(&stream, wanted), "cuStreamCreate flags %u", wanted);
        if (code != CUDA_SUCCESS)
            continue;
        EACH(cu->cuStreamGetFlags(stream, &flags), "cuStreamGetFlags of %u", wanted);
        VALUE("flags=%u", flags);
        EACH(cu->cuStreamGetPriority(stream, &priority), "cuStreamGetPriority of %u", wanted);
        VALUE("priority=%d", priority);
        MUST(cu->cuStreamDestroy(stream));
    }
    CALL(cu->cuStreamCreate(NULL, 0));
    CALL(cu->cuStreamCreate(&stream, 0xffffffff));
}

static void priorities(void)
{
    for (int wanted = -8; wanted < 4; wanted++) {
        CUstream stream = NULL;
        int priority = 77;
        EACH(cu->cuStreamCreateWithPriority(&stream, 1, wanted), "priority %d", wanted);
        if (stream) {
            MUST(cu->cuStreamGetPriority(stream, &priority));
            VALUE("priority=%d", priority);
        }
    }
    CUstream stream = NULL;
    CALL(cu->cuStreamCreateWithPriority(&stream, 8, 0));
    CALL(cu->cuStreamCreateWithPriority(NULL, 0, 0));
    CALL(cu->cuStreamGetPriority(NULL, NULL));
    CALL(cu->cuStreamGetFlags(NULL, NULL));
}

static void special(void)
{
    const CUstream handles[] = {NULL, CU_STREAM_LEGACY, CU_STREAM_PER_THREAD};
    for (int i = 0; i < 3; i++) {
        unsigned flags = 77;
        int priority = 77;
        unsigned long long id = 77;
        CUcontext context = NULL;
        CUdevice device = -5;
        CUstreamCaptureStatus status = (CUstreamCaptureStatus)77;
        EACH(cu->cuStreamGetFlags(handles[i], &flags), "flags of stream %d", i);
        VALUE("flags=%u", flags);
        EACH(cu->cuStreamGetPriority(handles[i], &priority), "priority of stream %d", i);
        VALUE("priority=%d", priority);
        EACH(cu->cuStreamGetId(handles[i], &id), "id of stream %d", i);
        EACH(cu->cuStreamGetCtx(handles[i], &context), "context of stream %d", i);
        VALUE("current=%d", context == ctx);
        EACH(cu->cuStreamGetDevice(handles[i], &device), "device of stream %d", i);
        VALUE("device=%d", device);
        EACH(cu->cuStreamIsCapturing(handles[i], &status), "capture of stream %d", i);
        VALUE("status=%d", (int)status);
        EACH(cu->cuStreamQuery(handles[i]), "query of stream %d", i);
        EACH(cu->cuStreamSynchronize(handles[i]), "synchronize stream %d", i);
        EACH(cu->cuStreamDestroy(handles[i]), "destroy stream %d", i);
    }
}

static void ids(void)
{
    CUstream a = conform_stream(), b = conform_stream();
    unsigned long long one = 0, two = 0, again = 0;
    CUcontext context = NULL;
    CUgreenCtx green = (CUgreenCtx)&green;
    CUdevice device = -5;
    CALL(cu->cuStreamGetId(a, &one));
    CALL(cu->cuStreamGetId(b, &two));
    VALUE("differ=%d", one != two);
    CALL(cu->cuStreamGetId(a, &again));
    VALUE("same=%d", one == again);
    CALL(cu->cuStreamGetId(a, NULL));
    CALL(cu->cuStreamGetCtx(a, &context));
    VALUE("current=%d", context == ctx);
    CALL(cu->cuStreamGetCtx(a, NULL));
    CALL(cu->cuStreamGetCtx_v2(a, &context, &green));
    VALUE("current=%d green=%d", context == ctx, !!green);
    CALL(cu->cuStreamGetDevice(a, &device));
    VALUE("device=%d", device);
    CALL(cu->cuStreamGetDevice(a, NULL));
    MUST(cu->cuCtxSetCurrent(NULL));
    CALL(cu->cuStreamGetCtx(a, &context));
    VALUE("primary=%d", context == ctx);
    CALL(cu->cuStreamQuery(a));
}

static void query(void)
{
    CUstream stream = conform_stream();
    struct gate gate;
    CALL(cu->cuStreamQuery(stream));
    gate_close(&gate, stream);
    CALL(cu->cuStreamQuery(stream));
    CALL(cu->cuStreamQuery(NULL));
    gate.open = 1;
    CALL(cu->cuStreamSynchronize(stream));
    VALUE("passed=%d", gate.passed);
    CALL(cu->cuStreamQuery(stream));
}

static void blocking_and_legacy(void)
{
    CUstream blocking = NULL, free_one = conform_stream();
    CUdeviceptr a = conform_memory(64);
    struct gate gate;
    MUST(cu->cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
    gate_close(&gate, blocking);
    CALL(cu->cuMemsetD32Async(a, 1, 1, NULL));
    CALL(cu->cuStreamQuery(NULL));
    CALL(cu->cuMemsetD32Async(a, 1, 1, free_one));
    CALL(cu->cuStreamSynchronize(free_one));
    CALL(cu->cuStreamQuery(free_one));
    gate.open = 1;
    CALL(cu->cuStreamSynchronize(NULL));
    VALUE("passed=%d", gate.passed);
    gate_close(&gate, free_one);
    CALL(cu->cuMemsetD32Async(a, 1, 1, NULL));
    CALL(cu->cuStreamSynchronize(NULL));
    VALUE("passed=%d", gate.passed);
    gate.open = 1;
    CALL(cu->cuCtxSynchronize());
    VALUE("passed=%d", gate.passed);
}

static void destroy_pending(void)
{
    CUstream stream = conform_stream();
    struct gate gate;
    gate_close(&gate, stream);
    CALL(cu->cuStreamDestroy(stream));
    VALUE("passed=%d", gate.passed);
    gate.open = 1;
    CALL(cu->cuCtxSynchronize());
    VALUE("passed=%d", gate.passed);
    CALL(cu->cuStreamDestroy_v1(NULL));
}

static int order[8];
static int order_count;

static void CUDA_CB note_host(void *data)
{
    order[order_count++] = *(int *)data;
}

static void CUDA_CB note_callback(CUstream stream, CUresult status, void *data)
{
    (void)stream;
    order[order_count++] = *(int *)data + 10 * (int)status;
}

static void host_functions(void)
{
    CUstream stream = conform_stream();
    static int one = 1, two = 2, three = 3;
    CALL(cu->cuLaunchHostFunc(stream, note_host, &one));
    CALL(cu->cuStreamAddCallback(stream, note_callback, &two, 0));
    CALL(cu->cuLaunchHostFunc(stream, note_host, &three));
    CALL(cu->cuStreamSynchronize(stream));
    VALUE("order=%d,%d,%d", order[0], order[1], order[2]);
    CALL(cu->cuLaunchHostFunc(stream, NULL, &one));
    CALL(cu->cuStreamAddCallback(stream, NULL, &one, 0));
    CALL(cu->cuStreamAddCallback(stream, note_callback, &one, 1));
    CALL(cu->cuLaunchHostFunc(NULL, note_host, &one));
    CALL(cu->cuStreamSynchronize(NULL));
    VALUE("count=%d", order_count);
}

static CUresult in_callback[6];

static void CUDA_CB calls_inside(void *data)
{
    CUdeviceptr address = 0;
    int count = 0;
    (void)data;
    in_callback[0] = cu->cuDeviceGetCount(&count);
    in_callback[1] = cu->cuMemAlloc(&address, 16);
    in_callback[2] = cu->cuCtxSynchronize();
    in_callback[3] = cu->cuStreamQuery(NULL);
    in_callback[4] = cu->cuDriverGetVersion(&count);
    in_callback[5] = cu->cuCtxGetDevice(&count);
}

static void calls_in_host_function(void)
{
    CUstream stream = conform_stream();
    CALL(cu->cuLaunchHostFunc(stream, calls_inside, NULL));
    CALL(cu->cuStreamSynchronize(stream));
    for (int i = 0; i < 6; i++)
        EACH(in_callback[i], "call %d inside a host function", i);
}

static void attributes(void)
{
    CUstream a = conform_stream(), b = conform_stream();
    for (int id = 0; id < 12; id++) {
        CUstreamAttrValue value;
        memset(&value, 0, sizeof value);
        EACH(cu->cuStreamGetAttribute(a, (CUstreamAttrID)id, &value), "get attribute %d", id);
        if (id == CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY || id == CU_LAUNCH_ATTRIBUTE_PRIORITY)
            VALUE("value=%d", value.priority);
    }
    CUstreamAttrValue value;
    memset(&value, 0, sizeof value);
    value.syncPolicy = CU_SYNC_POLICY_YIELD;
    CALL(cu->cuStreamSetAttribute(a, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
    CALL(cu->cuStreamCopyAttributes(b, a));
    memset(&value, 0, sizeof value);
    CALL(cu->cuStreamGetAttribute(b, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
    VALUE("policy=%d", (int)value.syncPolicy);
    value.syncPolicy = (CUsynchronizationPolicy)99;
    CALL(cu->cuStreamSetAttribute(a, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
    memset(&value, 0, sizeof value);
    CALL(cu->cuStreamSetAttribute(a, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value));
}

static void attribute_priority(void)
{
    CUstream stream = conform_stream();
    CUstreamAttrValue value;
    int priority = 77;
    for (int wanted = -6; wanted < 2; wanted++) {
        memset(&value, 0, sizeof value);
        value.priority = wanted;
        EACH(cu->cuStreamSetAttribute(stream, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value),
             "set priority %d", wanted);
        MUST(cu->cuStreamGetPriority(stream, &priority));
        VALUE("priority=%d", priority);
    }
}

static void values(void)
{
    CUstream stream = conform_stream();
    CUdeviceptr a = conform_memory(64);
    MUST(cu->cuMemsetD8(a, 0, 64));
    MUST(cu->cuCtxSynchronize());
    CALL(cu->cuStreamWriteValue32(stream, a, 5, 0));
    CALL(cu->cuStreamWaitValue32(stream, a, 5, CU_STREAM_WAIT_VALUE_EQ));
    CALL(cu->cuStreamWaitValue32(stream, a, 3, CU_STREAM_WAIT_VALUE_GEQ));
    CALL(cu->cuStreamWaitValue32(stream, a, 4, CU_STREAM_WAIT_VALUE_AND));
    CALL(cu->cuStreamWaitValue32(stream, a, 0, CU_STREAM_WAIT_VALUE_NOR));
    CALL(cu->cuStreamWriteValue64(stream, a + 8, 7, 0));
    CALL(cu->cuStreamWaitValue64(stream, a + 8, 7, CU_STREAM_WAIT_VALUE_EQ));
    CALL(cu->cuStreamSynchronize(stream));
    VALUE("words=%u,%u", conform_read(a), conform_read(a + 8));
}

static void values_misuse(void)
{
    CUstream stream = conform_stream();
    CUdeviceptr a = conform_memory(64);
    CALL(cu->cuStreamWriteValue32(stream, a + 1, 5, 0));
    CALL(cu->cuStreamWriteValue32(stream, a + 2, 5, 0));
    CALL(cu->cuStreamWriteValue64(stream, a + 4, 5, 0));
    CALL(cu->cuStreamWriteValue32(stream, 0, 5, 0));
    CALL(cu->cuStreamWriteValue32(stream, 16, 5, 0));
    CALL(cu->cuStreamWriteValue32(stream, a, 5, 8));
    CALL(cu->cuStreamWriteValue32(stream, a, 5, 1));
    CALL(cu->cuStreamWaitValue32(stream, a, 5, 8));
    CALL(cu->cuStreamWaitValue32(stream, 0, 5, 0));
    CALL(cu->cuStreamWaitValue32(stream, a + 2, 5, 0));
    CALL(cu->cuStreamSynchronize(stream));
}

static void memory_operations(void)
{
    CUstream stream = conform_stream();
    CUdeviceptr a = conform_memory(64);
    CUstreamBatchMemOpParams both[2];
    memset(both, 0, sizeof both);
    both[0].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    both[0].writeValue.address = a;
    both[0].writeValue.value = 9;
    both[1].waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
    both[1].waitValue.address = a;
    both[1].waitValue.value = 9;
    both[1].waitValue.flags = CU_STREAM_WAIT_VALUE_EQ;
    CALL(cu->cuStreamBatchMemOp(stream, 2, both, 0));
    CALL(cu->cuStreamSynchronize(stream));
    VALUE("word=%u", conform_read(a));
    CALL(cu->cuStreamBatchMemOp(stream, 0, both, 0));
    CALL(cu->cuStreamBatchMemOp(stream, 2, both, 1));
    CALL(cu->cuStreamBatchMemOp(stream, 257, both, 0));
    both[0].operation = (CUstreamBatchMemOpType)99;
    CALL(cu->cuStreamBatchMemOp(stream, 1, both, 0));
    both[0].memoryBarrier.operation = CU_STREAM_MEM_OP_BARRIER;
    both[0].memoryBarrier.flags = CU_STREAM_MEMORY_BARRIER_TYPE_GPU;
    CALL(cu->cuStreamBatchMemOp(stream, 1, both, 0));
    CALL(cu->cuStreamSynchronize(stream));
}

static void *thread_stream(void *data)
{
    MUST(cu->cuCtxSetCurrent(ctx));
    CALL(cu->cuMemsetD32Async((CUdeviceptr)(uintptr_t)data, 6, 1, CU_STREAM_PER_THREAD));
    CALL(cu->cuStreamSynchronize(CU_STREAM_PER_THREAD));
    return NULL;
}

static void per_thread(void)
{
    CUdeviceptr a = conform_memory(64);
    pthread_t thread;
    CALL(cu->cuMemsetD32Async(a, 5, 1, CU_STREAM_PER_THREAD));
    CALL(cu->cuStreamSynchronize(CU_STREAM_PER_THREAD));
    if (pthread_create(&thread, NULL, thread_stream, (void *)(uintptr_t)a) == 0)
        pthread_join(thread, NULL);
    VALUE("word=%u", conform_read(a));
    CALL(cu->cuMemsetD32_v2_ptds(a, 7, 1));
    CALL(cu->cuStreamSynchronize_ptsz(NULL));
    VALUE("word=%u", conform_read(a));
}

static void wait_for_event(void)
{
    CUstream a = conform_stream(), b = conform_stream();
    CUevent event = conform_event();
    struct gate gate;
    CALL(cu->cuStreamWaitEvent(b, event, 0));
    gate_close(&gate, a);
    CALL(cu->cuEventRecord(event, a));
    CALL(cu->cuStreamWaitEvent(b, event, 0));
    CALL(cu->cuStreamQuery(b));
    gate.open = 1;
    CALL(cu->cuStreamSynchronize(b));
    VALUE("passed=%d", gate.passed);
    CALL(cu->cuStreamWaitEvent(b, NULL, 0));
    CALL(cu->cuStreamWaitEvent(b, event, 1));
    CALL(cu->cuStreamWaitEvent(b, event, 2));
    CALL(cu->cuStreamWaitEvent(NULL, event, 0));
    CALL(cu->cuStreamSynchronize(b));
}

static const struct sequence sequences[] = {S(create, PRIMARY),
                                            S(priorities, PRIMARY),
                                            S(special, PRIMARY),
                                            S(ids, PRIMARY),
                                            S(query, PRIMARY),
                                            S(blocking_and_legacy, PRIMARY),
                                            S(destroy_pending, PRIMARY),
                                            S(host_functions, PRIMARY),
                                            S(calls_in_host_function, PRIMARY),
                                            S(attributes, PRIMARY),
                                            S(attribute_priority, PRIMARY),
                                            S(values, PRIMARY),
                                            S(values_misuse, PRIMARY),
                                            S(memory_operations, PRIMARY),
                                            S(per_thread, PRIMARY),
                                            S(wait_for_event, PRIMARY),
                                            {0}};
const struct family stream_family = {"stream", sequences};
