/* SPDX-License-Identifier: MIT */
/* Stream capture, and what is forbidden while it lasts. */
#include "conform.h"

static void begin(CUstream stream)
{
    MUST(cu->cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
}

static void status_of(CUstream stream)
{
    CUstreamCaptureStatus status = (CUstreamCaptureStatus)77;
    EACH(cu->cuStreamIsCapturing(stream, &status), "cuStreamIsCapturing");
    VALUE("status=%d", (int)status);
}

static void end(CUstream stream)
{
    CUgraph graph = (CUgraph)&graph;
    size_t count = 77;
    CUresult code = EACH(cu->cuStreamEndCapture(stream, &graph), "cuStreamEndCapture");
    VALUE("graph=%s", graph == (CUgraph)&graph ? "untouched" : graph ? "some" : "NULL");
    if (code == CUDA_SUCCESS && graph) {
        MUST(cu->cuGraphGetNodes(graph, NULL, &count));
        VALUE("nodes=%zu", count);
        MUST(cu->cuGraphGetEdges(graph, NULL, NULL, NULL, &count));
        VALUE("edges=%zu", count);
    }
}

static void plain(void)
{
    CUstream stream = conform_stream();
    CUdeviceptr a = conform_memory(64);
    void *values[] = {&a};
    MUST(cu->cuMemsetD32(a, 0, 1));
    CUfunction count = conform_kernel("count");
    status_of(stream);
    CALL(cu->cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    status_of(stream);
    CALL(cu->cuLaunchKernel(count, 1, 1, 1, 8, 1, 1, 0, stream, values, NULL));
    CALL(cu->cuMemsetD32Async(a + 4, 3, 1, stream));
    CALL(cu->cuMemcpyDtoDAsync(a + 8, a + 4, 4, stream));
    end(stream);
    status_of(stream);
    VALUE("word=%u", conform_read(a));
}

static void launched(void)
{
    CUstream stream = conform_stream();
    CUdeviceptr a = conform_memory(64);
    void *values[] = {&a};
    CUgraph graph = NULL;
    CUgraphExec executable = NULL;
    CUfunction count = conform_kernel("count");
    MUST(cu->cuMemsetD32(a, 0, 1));
    MUST(cu->cuCtxSynchronize());
    begin(stream);
    MUST(cu->cuLaunchKernel(count, 1, 1, 1, 8, 1, 1, 0, stream, values, NULL));
    MUST(cu->cuLaunchKernel(count, 2, 1, 1, 8, 1, 1, 0, stream, values, NULL));
    CALL(cu->cuStreamEndCapture(stream, &graph));
    CALL(cu->cuGraphInstantiateWithFlags(&executable, graph, 0));
    CALL(cu->cuGraphLaunch(executable, stream));
    CALL(cu->cuGraphLaunch(executable, stream));
    CALL(cu->cuStreamSynchronize(stream));
    VALUE("count=%u", conform_read(a));
    CALL(cu->cuGraphExecDestroy(executable));
    CALL(cu->cuGraphDestroy(graph));
}

static void mismatch(void)
{
    CUstream stream = conform_stream(), other = conform_stream();
    CUgraph graph = NULL;
    CALL(cu->cuStreamEndCapture(stream, &graph));
    CALL(cu->cuStreamBeginCapture_v2(NULL, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CALL(cu->cuStreamBeginCapture_v2(CU_STREAM_LEGACY, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CALL(cu->cuStreamBeginCapture_v2(stream, (CUstreamCaptureMode)9));
    begin(stream);
    CALL(cu->cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CALL(cu->cuStreamEndCapture(other, &graph));
    CALL(cu->cuStreamEndCapture(NULL, &graph));
    status_of(stream);
    end(stream);
    CALL(cu->cuStreamEndCapture(stream, &graph));
}

static void per_thread_and_old(void)
{
    CUgraph graph = NULL;
    CUstream stream = conform_stream();
    CALL(cu->cuStreamBeginCapture_v2(CU_STREAM_PER_THREAD, CU_STREAM_CAPTURE_MODE_GLOBAL));
    status_of(CU_STREAM_PER_THREAD);
    CALL(cu->cuStreamEndCapture(CU_STREAM_PER_THREAD, &graph));
    CALL(cu->cuStreamBeginCapture_v1(stream));
    end(stream);
    for (int mode = 0; mode < 3; mode++) {
        EACH(cu->cuStreamBeginCapture_v2(stream, (CUstreamCaptureMode)mode), "begin in mode %d",
             mode);
        end(stream);
    }
}

static void forbidden(void)
{
    CUstream stream = conform_stream();
    begin(stream);
    CALL(cu->cuStreamSynchronize(stream));
    status_of(stream);
    CALL(cu->cuStreamQuery(stream));
    end(stream);
    status_of(stream);
    CALL(cu->cuStreamSynchronize(stream));
}

static void forbidden_query(void)
{
    CUstream stream = conform_stream();
    begin(stream);
    CALL(cu->cuStreamQuery(stream));
    status_of(stream);
    end(stream);
}

static void forbidden_context(void)
{
    CUstream stream = conform_stream();
    begin(stream);
    CALL(cu->cuCtxSynchronize());
    status_of(stream);
    end(stream);
    begin(stream);
    CALL(cu->cuStreamSynchronize(NULL));
    status_of(stream);
    end(stream);
}

static void forbidden_memory(void)
{
    CUstream stream = conform_stream();
    CUdeviceptr a = 0;
    void *host = NULL;
    size_t one = 0, two = 0;
    begin(stream);
    CALL(cu->cuMemAlloc(&a, 64));
    status_of(stream);
    CALL(cu->cuMemGetInfo(&one, &two));
    CALL(cu->cuMemHostAlloc(&host, 64, 0));
    status_of(stream);
    end(stream);
}

static void forbidden_free(void)
{
    CUstream stream = conform_stream();
    CUdeviceptr a = conform_memory(64);
    begin(stream);
    CALL(cu->cuMemFree(a));
    status_of(stream);
    end(stream);
}

static void forbidden_copy(void)
{
    CUstream stream = conform_stream();
    CUdeviceptr a = conform_memory(64);
    unsigned word = 5;
    begin(stream);
    CALL(cu->cuMemcpyHtoD(a, &word, 4));
    status_of(stream);
    end(stream);
    begin(stream);
    CALL(cu->cuMemsetD32(a, 1, 1));
    status_of(stream);
    end(stream);
}

static void forbidden_module(void)
{
    CUstream stream = conform_stream();
    CUmodule module = NULL;
    CUevent event = NULL;
    CUstream more = NULL;
    begin(stream);
    CALL(cu->cuModuleLoadData(&module, conform_ptx));
    status_of(stream);
    CALL(cu->cuEventCreate(&event, 0));
    CALL(cu->cuStreamCreate(&more, CU_STREAM_NON_BLOCKING));
    status_of(stream);
    end(stream);
}

static void legacy_meanwhile(void)
{
    CUstream stream = conform_stream(), blocking = NULL;
    CUdeviceptr a = conform_memory(64);
    MUST(cu->cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
    begin(stream);
    CALL(cu->cuMemsetD32Async(a, 1, 1, NULL));
    status_of(stream);
    end(stream);
    begin(blocking);
    CALL(cu->cuMemsetD32Async(a, 1, 1, NULL));
    status_of(blocking);
    end(blocking);
    begin(blocking);
    status_of(NULL);
    CALL(cu->cuStreamSynchronize(NULL));
    end(blocking);
}

static void relaxed(void)
{
    CUstream stream = conform_stream();
    CUdeviceptr a = 0;
    MUST(cu->cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    CALL(cu->cuMemAlloc(&a, 64));
    CALL(cu->cuMemFree(a));
    CALL(cu->cuMemsetD32(a, 1, 1));
    status_of(stream);
    end(stream);
    MUST(cu->cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    CALL(cu->cuMemAlloc(&a, 64));
    status_of(stream);
    end(stream);
}

static void exchanged_mode(void)
{
    CUstream stream = conform_stream();
    CUdeviceptr a = 0;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    begin(stream);
    CALL(cu->cuThreadExchangeStreamCaptureMode(&mode));
    CALL(cu->cuMemAlloc(&a, 64));
    status_of(stream);
    CALL(cu->cuThreadExchangeStreamCaptureMode(&mode));
    end(stream);
}

static void forked(void)
{
    CUstream a = conform_stream(), b = conform_stream();
    CUevent fork_event = conform_event(), join = conform_event();
    CUdeviceptr memory = conform_memory(64);
    begin(a);
    CALL(cu->cuEventRecord(fork_event, a));
    CALL(cu->cuStreamWaitEvent(b, fork_event, 0));
    status_of(b);
    CALL(cu->cuMemsetD32Async(memory, 1, 1, b));
    CALL(cu->cuMemsetD32Async(memory + 4, 1, 1, a));
    CALL(cu->cuEventRecord(join, b));
    CALL(cu->cuStreamWaitEvent(a, join, 0));
    CALL(cu->cuMemsetD32Async(memory + 8, 1, 1, a));
    end(a);
    status_of(b);
}

static void unjoined(void)
{
    CUstream a = conform_stream(), b = conform_stream();
    CUevent event = conform_event();
    CUdeviceptr memory = conform_memory(64);
    begin(a);
    MUST(cu->cuEventRecord(event, a));
    MUST(cu->cuStreamWaitEvent(b, event, 0));
    CALL(cu->cuMemsetD32Async(memory, 1, 1, b));
    end(a);
    status_of(b);
    status_of(a);
}

static void end_on_the_wrong_one(void)
{
    CUstream a = conform_stream(), b = conform_stream();
    CUevent event = conform_event();
    CUgraph graph = NULL;
    begin(a);
    MUST(cu->cuEventRecord(event, a));
    MUST(cu->cuStreamWaitEvent(b, event, 0));
    CALL(cu->cuStreamEndCapture(b, &graph));
    status_of(a);
    status_of(b);
    end(a);
}

static void captured_event(void)
{
    CUstream a = conform_stream(), b = conform_stream();
    CUevent event = conform_event(), before = conform_event();
    float time = 0;
    MUST(cu->cuEventRecord(before, b));
    begin(a);
    MUST(cu->cuEventRecord(event, a));
    CALL(cu->cuEventQuery(event));
    CALL(cu->cuEventSynchronize(event));
    CALL(cu->cuEventElapsedTime(&time, event, event));
    status_of(a);
    CALL(cu->cuStreamWaitEvent(a, before, 0));
    status_of(a);
    end(a);
    CALL(cu->cuEventQuery(event));
}

static void two_captures(void)
{
    CUstream a = conform_stream(), b = conform_stream();
    CUevent event = conform_event();
    begin(a);
    begin(b);
    MUST(cu->cuEventRecord(event, a));
    CALL(cu->cuStreamWaitEvent(b, event, 0));
    status_of(a);
    status_of(b);
    end(a);
    end(b);
}

static void info(void)
{
    CUstream stream = conform_stream();
    CUstreamCaptureStatus status = (CUstreamCaptureStatus)77;
    cuuint64_t id = 77;
    CUgraph graph = NULL;
    const CUgraphNode *nodes = NULL;
    const CUgraphEdgeData *edges = NULL;
    size_t count = 77;
    CUdeviceptr a = conform_memory(64);
    CALL(cu->cuStreamGetCaptureInfo_v3(stream, &status, &id, &graph, &nodes, &edges, &count));
    VALUE("status=%d", (int)status);
    begin(stream);
    MUST(cu->cuMemsetD32Async(a, 1, 1, stream));
    CALL(cu->cuStreamGetCaptureInfo_v3(stream, &status, &id, &graph, &nodes, &edges, &count));
    VALUE("status=%d graph=%d count=%zu", (int)status, !!graph, count);
    CALL(cu->cuStreamGetCaptureInfo_v2(stream, &status, &id, &graph, &nodes, &count));
    VALUE("status=%d count=%zu", (int)status, count);
    CALL(cu->cuStreamGetCaptureInfo_v1(stream, &status, &id));
    CALL(cu->cuStreamGetCaptureInfo_v1(stream, &status, NULL));
    CALL(cu->cuStreamGetCaptureInfo_v1(stream, NULL, &id));
    CALL(cu->cuStreamIsCapturing(stream, NULL));
    CALL(cu->cuStreamUpdateCaptureDependencies(stream, NULL, NULL, 0,
                                               CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    CALL(cu->cuStreamUpdateCaptureDependencies(stream, NULL, NULL, 0, 7));
    end(stream);
}

static void to_graph(void)
{
    CUstream stream = conform_stream();
    CUgraph graph = NULL, got = NULL;
    CUgraphNode node = NULL;
    size_t count = 77;
    CUdeviceptr a = conform_memory(64);
    MUST(cu->cuGraphCreate(&graph, 0));
    MUST(cu->cuGraphAddEmptyNode(&node, graph, NULL, 0));
    CALL(cu->cuStreamBeginCaptureToGraph(stream, graph, &node, NULL, 1,
                                         CU_STREAM_CAPTURE_MODE_GLOBAL));
    CALL(cu->cuMemsetD32Async(a, 1, 1, stream));
    CALL(cu->cuStreamEndCapture(stream, &got));
    VALUE("same=%d", got == graph);
    CALL(cu->cuGraphGetNodes(graph, NULL, &count));
    VALUE("nodes=%zu", count);
    CALL(cu->cuGraphGetEdges(graph, NULL, NULL, NULL, &count));
    VALUE("edges=%zu", count);
    CALL(cu->cuStreamBeginCaptureToGraph(stream, NULL, NULL, NULL, 0,
                                         CU_STREAM_CAPTURE_MODE_GLOBAL));
}

static void host_and_pool(void)
{
    CUstream stream = conform_stream();
    CUdeviceptr a = 0;
    struct gate gate = {1, 0};
    begin(stream);
    CALL(cu->cuLaunchHostFunc(stream, gate_wait, &gate));
    CALL(cu->cuMemAllocAsync(&a, 64, stream));
    CALL(cu->cuMemsetD8Async(a, 1, 64, stream));
    CALL(cu->cuMemFreeAsync(a, stream));
    end(stream);
    VALUE("passed=%d", gate.passed);
    begin(stream);
    CALL(cu->cuStreamAddCallback(stream, NULL, NULL, 0));
    status_of(stream);
    end(stream);
}

static void bad_launch(void)
{
    CUstream stream = conform_stream();
    CUfunction empty = conform_kernel("empty");
    begin(stream);
    CALL(cu->cuLaunchKernel(empty, 0, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
    status_of(stream);
    CALL(cu->cuMemsetD32Async(0, 1, 1, stream));
    status_of(stream);
    end(stream);
}

static void destroy_capturing(void)
{
    CUstream stream = conform_stream();
    begin(stream);
    CALL(cu->cuStreamDestroy(stream));
    CALL(cu->cuCtxSynchronize());
}

static const struct sequence sequences[] = {S(plain, PRIMARY),
                                            S(launched, PRIMARY),
                                            S(mismatch, PRIMARY),
                                            S(per_thread_and_old, PRIMARY),
                                            S(forbidden, PRIMARY),
                                            S(forbidden_query, PRIMARY),
                                            S(forbidden_context, PRIMARY),
                                            S(forbidden_memory, PRIMARY),
                                            S(forbidden_free, PRIMARY),
                                            S(forbidden_copy, PRIMARY),
                                            S(forbidden_module, PRIMARY),
                                            S(legacy_meanwhile, PRIMARY),
                                            S(relaxed, PRIMARY),
                                            S(exchanged_mode, PRIMARY),
                                            S(forked, PRIMARY),
                                            S(unjoined, PRIMARY),
                                            S(end_on_the_wrong_one, PRIMARY),
                                            S(captured_event, PRIMARY),
                                            S(two_captures, PRIMARY),
                                            S(info, PRIMARY),
                                            S(to_graph, PRIMARY),
                                            S(host_and_pool, PRIMARY),
                                            S(bad_launch, PRIMARY),
                                            S(destroy_capturing, PRIMARY),
                                            {0}};
const struct family capture_family = {"capture", sequences};
