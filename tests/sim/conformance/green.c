/* SPDX-License-Identifier: MIT */
/* Contexts over a part of a device, and descriptions of tensors. */
#include "conform.h"

static void split(void)
{
    CUdevResource all, parts[16], rest;
    unsigned count = 16;
    memset(&all, 0, sizeof all);
    memset(parts, 0, sizeof parts);
    CALL(cu->cuDeviceGetDevResource(dev, &all, CU_DEV_RESOURCE_TYPE_SM));
    VALUE("sms=%u", all.sm.smCount);
    CALL(cu->cuDevSmResourceSplitByCount(NULL, &count, &all, NULL, 0, 16));
    VALUE("count=%u", count);
    count = 2;
    CALL(cu->cuDevSmResourceSplitByCount(parts, &count, &all, &rest, 0, 16));
    VALUE("count=%u sms=%u rest=%u", count, parts[0].sm.smCount, rest.sm.smCount);
    count = 2;
    CALL(cu->cuDevSmResourceSplitByCount(parts, &count, &all, NULL, 0, 1000));
    CALL(cu->cuDevSmResourceSplitByCount(parts, NULL, &all, NULL, 0, 16));
    CALL(cu->cuDevSmResourceSplitByCount(parts, &count, NULL, NULL, 0, 16));
}

static void create(void)
{
    CUdevResource all, part;
    CUdevResourceDesc description = NULL;
    CUgreenCtx green = NULL;
    CUcontext context = NULL;
    CUstream stream = NULL;
    unsigned count = 1;
    MUST(cu->cuDeviceGetDevResource(dev, &all, CU_DEV_RESOURCE_TYPE_SM));
    MUST(cu->cuDevSmResourceSplitByCount(&part, &count, &all, NULL, 0, 16));
    CALL(cu->cuDevResourceGenerateDesc(&description, &part, 1));
    CALL(cu->cuGreenCtxCreate(&green, description, dev, CU_GREEN_CTX_DEFAULT_STREAM));
    CALL(cu->cuCtxFromGreenCtx(&context, green));
    CALL(cu->cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING, 0));
    CALL(cu->cuMemsetD32Async(conform_memory(64), 1, 1, stream));
    CALL(cu->cuStreamSynchronize(stream));
    CALL(cu->cuStreamDestroy(stream));
    CALL(cu->cuGreenCtxDestroy(green));
    CALL(cu->cuGreenCtxCreate(&green, description, dev, 0));
    CALL(cu->cuGreenCtxCreate(&green, NULL, dev, CU_GREEN_CTX_DEFAULT_STREAM));
    CALL(cu->cuGreenCtxCreate(NULL, description, dev, CU_GREEN_CTX_DEFAULT_STREAM));
}

static CUresult encode(CUtensorMap *map, unsigned rank, CUdeviceptr address, cuuint64_t stride,
                       unsigned box)
{
    const cuuint64_t sizes[] = {64, 64, 64, 64, 64, 64};
    const cuuint64_t strides[] = {stride, stride * 64, stride * 4096, stride * 8192,
                                  stride * 16384};
    const cuuint32_t boxes[] = {box, 8, 1, 1, 1, 1}, steps[] = {1, 1, 1, 1, 1, 1};
    return cu->cuTensorMapEncodeTiled(
        map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, rank, (void *)(uintptr_t)address, sizes, strides,
        boxes, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
        CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

static void tensors(void)
{
    static CUtensorMap map __attribute__((aligned(64)));
    CUdeviceptr a = conform_memory(1 << 20);
    CALL(encode(&map, 2, a, 256, 8));
    CALL(encode(&map, 0, a, 256, 8));
    CALL(encode(&map, 6, a, 256, 8));
    CALL(encode(&map, 2, a + 4, 256, 8));
    CALL(encode(&map, 2, a, 255, 8));
    CALL(encode(&map, 2, a, 256, 0));
    CALL(encode(&map, 2, a, 256, 257));
    CALL(encode(NULL, 2, a, 256, 8));
    CALL(encode(&map, 2, 0, 256, 8));
    CALL(cu->cuTensorMapReplaceAddress(&map, (void *)(uintptr_t)(a + 64)));
    CALL(cu->cuTensorMapReplaceAddress(&map, (void *)(uintptr_t)(a + 4)));
}

static void coredump(void)
{
    bool enabled = true;
    size_t size = sizeof enabled;
    CALL(cu->cuCoredumpGetAttribute(CU_COREDUMP_ENABLE_ON_EXCEPTION, &enabled, &size));
    VALUE("enabled=%d size=%zu", enabled, size);
    CALL(cu->cuCoredumpGetAttributeGlobal(CU_COREDUMP_ENABLE_ON_EXCEPTION, &enabled, &size));
    VALUE("enabled=%d", enabled);
    CALL(cu->cuCoredumpGetAttributeGlobal((CUcoredumpSettings)99, &enabled, &size));
    CALL(cu->cuCoredumpGetAttributeGlobal(CU_COREDUMP_ENABLE_ON_EXCEPTION, &enabled, NULL));
}

/* A context over 16 multiprocessors, which sees them alone. */
static CUgreenCtx part_of_device(void)
{
    CUdevResource all, part;
    CUdevResourceDesc description = NULL;
    CUgreenCtx green = NULL;
    unsigned count = 1;
    MUST(cu->cuDeviceGetDevResource(dev, &all, CU_DEV_RESOURCE_TYPE_SM));
    MUST(cu->cuDevSmResourceSplitByCount(&part, &count, &all, NULL, 0, 16));
    MUST(cu->cuDevResourceGenerateDesc(&description, &part, 1));
    MUST(cu->cuGreenCtxCreate(&green, description, dev, CU_GREEN_CTX_DEFAULT_STREAM));
    return green;
}

static CUcontext context_of(CUgreenCtx green)
{
    CUcontext context = NULL;
    MUST(cu->cuCtxFromGreenCtx(&context, green));
    return context;
}

static CUstream stream_of(CUgreenCtx green)
{
    CUstream stream = NULL;
    MUST(cu->cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING, 0));
    return stream;
}

static void resource(void)
{
    CUcontext whole = conform_context(), part = context_of(part_of_device());
    CUdevResource got;
    MUST(cu->cuCtxSetCurrent(ctx));
    memset(&got, 0x77, sizeof got);
    CALL(cu->cuCtxGetDevResource(ctx, &got, CU_DEV_RESOURCE_TYPE_SM));
    VALUE("type=%d sms=%u", (int)got.type, got.sm.smCount);
    CALL(cu->cuCtxGetDevResource(whole, &got, CU_DEV_RESOURCE_TYPE_SM));
    VALUE("sms=%u", got.sm.smCount);
    CALL(cu->cuCtxGetDevResource(part, &got, CU_DEV_RESOURCE_TYPE_SM));
    VALUE("sms=%u least=%u together=%u", got.sm.smCount, got.sm.minSmPartitionSize,
          got.sm.smCoscheduledAlignment);
    CALL(cu->cuCtxGetDevResource(NULL, &got, CU_DEV_RESOURCE_TYPE_SM));
    VALUE("sms=%u", got.sm.smCount);
    MUST(cu->cuCtxSetCurrent(part));
    CALL(cu->cuCtxGetDevResource(NULL, &got, CU_DEV_RESOURCE_TYPE_SM));
    VALUE("sms=%u", got.sm.smCount);
    MUST(cu->cuCtxSetCurrent(ctx));
    memset(&got, 0x77, sizeof got);
    CALL(cu->cuCtxGetDevResource(ctx, &got, CU_DEV_RESOURCE_TYPE_INVALID));
    CALL(cu->cuCtxGetDevResource(ctx, &got, (CUdevResourceType)99));
    CALL(cu->cuCtxGetDevResource(ctx, &got, (CUdevResourceType)1000));
    VALUE("untouched=%d", (unsigned)got.type == 0x77777777);
    MUST(cu->cuCtxSetCurrent(NULL));
    CALL(cu->cuCtxGetDevResource(ctx, &got, CU_DEV_RESOURCE_TYPE_SM));
    CALL(cu->cuCtxGetDevResource(NULL, &got, CU_DEV_RESOURCE_TYPE_SM));
    CALL(cu->cuCtxGetDevResource(NULL, &got, (CUdevResourceType)99));
}

static void resource_no_out(void)
{
    CALL(cu->cuCtxGetDevResource(ctx, NULL, CU_DEV_RESOURCE_TYPE_SM));
    CALL(cu->cuCtxGetDevResource(ctx, NULL, (CUdevResourceType)99));
    MUST(cu->cuCtxSetCurrent(NULL));
    CALL(cu->cuCtxGetDevResource(NULL, NULL, CU_DEV_RESOURCE_TYPE_SM));
}

static void streams(void)
{
    CUgreenCtx green = part_of_device(), got = NULL;
    CUstream stream = NULL;
    for (unsigned flags = 0; flags < 4; flags++) {
        stream = NULL;
        EACH(cu->cuGreenCtxStreamCreate(&stream, green, flags, 0), "flags %u", flags);
        VALUE("written=%d", !!stream);
    }
    for (int priority = -9; priority < 10; priority += 3) {
        int kept = 77;
        unsigned flags = 77;
        EACH(cu->cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING, priority),
             "priority %d", priority);
        MUST(cu->cuStreamGetPriority(stream, &kept));
        MUST(cu->cuStreamGetFlags(stream, &flags));
        VALUE("priority=%d flags=%u", kept, flags);
    }
    CALL(cu->cuStreamGetGreenCtx(stream, &got));
    VALUE("same=%d", got == green);
    CUcontext context = NULL;
    CALL(cu->cuStreamGetCtx(stream, &context));
    VALUE("same=%d", context == context_of(green));
    got = NULL;
    CALL(cu->cuStreamGetCtx_v2(stream, &context, &got));
    VALUE("same=%d context=%d", got == green, !!context);
}

static void streams_of_others(void)
{
    CUgreenCtx green = part_of_device(), got = green;
    CALL(cu->cuStreamGetGreenCtx(conform_stream(), &got));
    VALUE("none=%d", !got);
    got = green;
    CALL(cu->cuStreamGetGreenCtx(NULL, &got));
    VALUE("none=%d", !got);
    got = green;
    CALL(cu->cuStreamGetGreenCtx(CU_STREAM_PER_THREAD, &got));
    VALUE("none=%d", !got);
    MUST(cu->cuCtxSetCurrent(context_of(green)));
    CALL(cu->cuStreamGetGreenCtx(NULL, &got));
    VALUE("same=%d", got == green);
    got = NULL;
    CALL(cu->cuStreamGetGreenCtx(conform_stream(), &got));
    VALUE("same=%d", got == green);
    MUST(cu->cuCtxSetCurrent(NULL));
    CALL(cu->cuStreamGetGreenCtx(stream_of(green), &got));
    VALUE("same=%d", got == green);
    got = NULL;
    CALL(cu->cuStreamGetGreenCtx(NULL, &got));
    VALUE("none=%d", !got);
}

/* Work of the context's streams: an event of it is of them all, and they wait for one. */
static void events(void)
{
    CUgreenCtx green = part_of_device();
    CUstream held = stream_of(green), other = conform_stream(), free = stream_of(green);
    struct gate gate;
    MUST(cu->cuCtxSetCurrent(context_of(green)));
    CUevent inside = conform_event();
    gate_close(&gate, held);
    CALL(cu->cuGreenCtxRecordEvent(green, inside));
    CALL(cu->cuEventQuery(inside));
    gate.open = 1;
    CALL(cu->cuEventSynchronize(inside));
    VALUE("passed=%d", gate.passed);
    MUST(cu->cuCtxSetCurrent(ctx));
    CUevent outside = conform_event();
    gate_close(&gate, other);
    MUST(cu->cuEventRecord(outside, other));
    CALL(cu->cuGreenCtxWaitEvent(green, outside));
    CALL(cu->cuStreamQuery(free));
    CALL(cu->cuStreamQuery(held));
    gate.open = 1;
    CALL(cu->cuStreamSynchronize(free));
    VALUE("passed=%d", gate.passed);
    CALL(cu->cuGreenCtxRecordEvent(green, outside));
    CALL(cu->cuGreenCtxWaitEvent(green, inside));
    CALL(cu->cuStreamSynchronize(free));
    MUST(cu->cuCtxSetCurrent(NULL));
    CALL(cu->cuGreenCtxRecordEvent(green, inside));
    CALL(cu->cuGreenCtxWaitEvent(green, inside));
}

static void events_captured(void)
{
    CUgreenCtx green = part_of_device();
    CUstream stream = stream_of(green);
    CUgraph graph = NULL;
    MUST(cu->cuCtxSetCurrent(context_of(green)));
    CUevent event = conform_event();
    MUST(cu->cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    CALL(cu->cuGreenCtxRecordEvent(green, event));
    CALL(cu->cuStreamEndCapture(stream, &graph));
    MUST(cu->cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    CALL(cu->cuGreenCtxWaitEvent(green, event));
    CALL(cu->cuStreamEndCapture(stream, &graph));
    MUST(cu->cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    MUST(cu->cuEventRecord(event, stream));
    CALL(cu->cuGreenCtxWaitEvent(green, event));
    CALL(cu->cuStreamEndCapture(stream, &graph));
}

/* Pointers that a driver may read before it judges them: each in a process of its own. */
static CUstream stream_out;

#define ALONE(name, call)                                                                          \
    static void name(void)                                                                         \
    {                                                                                              \
        EACH(call, "%s", #call);                                                                   \
    }
ALONE(stream_no_out, cu->cuGreenCtxStreamCreate(NULL, part_of_device(), CU_STREAM_NON_BLOCKING, 0))
ALONE(stream_no_green, cu->cuGreenCtxStreamCreate(&stream_out, NULL, CU_STREAM_NON_BLOCKING, 0))
ALONE(stream_no_green_flags, cu->cuGreenCtxStreamCreate(&stream_out, NULL, 0, 0))
ALONE(green_no_out, cu->cuStreamGetGreenCtx(stream_of(part_of_device()), NULL))
ALONE(record_no_green, cu->cuGreenCtxRecordEvent(NULL, conform_event()))
ALONE(record_no_event, cu->cuGreenCtxRecordEvent(part_of_device(), NULL))
ALONE(record_neither, cu->cuGreenCtxRecordEvent(NULL, NULL))
ALONE(wait_no_green, cu->cuGreenCtxWaitEvent(NULL, conform_event()))
ALONE(wait_no_event, cu->cuGreenCtxWaitEvent(part_of_device(), NULL))
ALONE(wait_neither, cu->cuGreenCtxWaitEvent(NULL, NULL))

static const struct sequence sequences[] = {S(split, PRIMARY),
                                            S(create, PRIMARY),
                                            S(tensors, PRIMARY),
                                            S(coredump, PRIMARY),
                                            S(resource, PRIMARY),
                                            S(resource_no_out, PRIMARY),
                                            S(streams, PRIMARY),
                                            S(streams_of_others, PRIMARY),
                                            S(events, PRIMARY),
                                            S(events_captured, PRIMARY),
                                            S(stream_no_out, PRIMARY),
                                            S(stream_no_green, PRIMARY),
                                            S(stream_no_green_flags, PRIMARY),
                                            S(green_no_out, PRIMARY),
                                            S(record_no_green, PRIMARY),
                                            S(record_no_event, PRIMARY),
                                            S(record_neither, PRIMARY),
                                            S(wait_no_green, PRIMARY),
                                            S(wait_no_event, PRIMARY),
                                            S(wait_neither, PRIMARY),
                                            {0}};
const struct family green_family = {"green", sequences};
