/* SPDX-License-Identifier: MIT */
/* Stream capture of the simulated driver: streams that fork and join, and what spoils a capture. */
#include <pthread.h>

#include "graph_test.h"

static void test_capture(void **state)
{
    CUdeviceptr words = memory_of(64);
    CUstream main_stream = stream_of(), side = stream_of();
    CUevent fork_event = NULL, join_event = NULL;
    CUgraph graph = NULL;
    CUstreamCaptureStatus status;
    (void)state;
    OK(cu->cuEventCreate(&fork_event, CU_EVENT_DISABLE_TIMING));
    OK(cu->cuEventCreate(&join_event, CU_EVENT_DISABLE_TIMING));
    OK(cu->cuMemsetD32_v2(words, 0, 16));
    OK(cu->cuStreamBeginCapture_v2(main_stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cu->cuMemsetD32Async(words, 1, 1, main_stream));
    OK(cu->cuEventRecord(fork_event, main_stream));
    OK(cu->cuStreamWaitEvent(side, fork_event, 0));
    OK(cu->cuMemcpyDtoDAsync_v2(words + 4, words, 4, side));
    OK(cu->cuLaunchHostFunc(main_stream, note, (void *)0));
    OK(cu->cuEventRecord(join_event, side));
    OK(cu->cuStreamIsCapturing(side, &status));
    assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    OK(cu->cuStreamWaitEvent(main_stream, join_event, 0));
    OK(cu->cuMemcpyDtoDAsync_v2(words + 8, words + 4, 4, main_stream));
    OK(cu->cuStreamEndCapture(main_stream, &graph));
    OK(cu->cuStreamIsCapturing(side, &status));
    assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_NONE);
    assert_int_equal(node_count(graph), 4);
    assert_int_equal(edge_count(graph), 4);
    assert_int_equal(word_at(words), 0); /* nothing ran */
    CUgraphExec executable = ready(graph);
    run(executable);
    assert_int_equal(word_at(words + 8), 1);
    OK(cu->cuGraphExecDestroy(executable));
    OK(cu->cuGraphDestroy(graph));
    OK(cu->cuEventDestroy_v2(fork_event));
    OK(cu->cuEventDestroy_v2(join_event));
    OK(cu->cuStreamDestroy_v2(main_stream));
    OK(cu->cuStreamDestroy_v2(side));
    OK(cu->cuMemFree_v2(words));
}

/* Memory allocated in a capture is the graph's; a launch of a graph there spoils it. */
static void test_capture_inside(void **state)
{
    CUdeviceptr words = memory_of(64), more = 0;
    CUstream stream = stream_of();
    CUgraph inner = graph_of(), graph = NULL;
    (void)state;
    filling(inner, words, 8, 1, NULL, 0);
    CUgraphExec within = ready(inner);
    run(within);
    OK(cu->cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    GIVES(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cu->cuGraphLaunch(within, stream));
    GIVES(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cu->cuStreamEndCapture(stream, &graph));
    OK(cu->cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cu->cuMemAllocAsync(&more, 64, stream));
    OK(cu->cuMemcpyDtoDAsync_v2(more, words, 4, stream));
    OK(cu->cuMemcpyDtoDAsync_v2(words + 4, more, 4, stream));
    OK(cu->cuMemFreeAsync(more, stream));
    OK(cu->cuStreamEndCapture(stream, &graph));
    assert_int_equal(node_count(graph), 4);
    CUgraphExec executable = ready(graph);
    run(executable);
    run(executable);
    assert_int_equal(word_at(words + 4), 8);
    OK(cu->cuGraphExecDestroy(executable));
    OK(cu->cuGraphExecDestroy(within));
    OK(cu->cuGraphDestroy(graph));
    OK(cu->cuGraphDestroy(inner));
    OK(cu->cuStreamDestroy_v2(stream));
    OK(cu->cuMemFree_v2(words));
}

static void *end_elsewhere(void *stream)
{
    CUgraph graph;
    OK(cu->cuCtxSetCurrent(memory_context));
    GIVES(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, cu->cuStreamEndCapture(stream, &graph));
    OK(cu->cuCtxSetCurrent(NULL));
    return NULL;
}

static void test_capture_misuse(void **state)
{
    CUstream one = stream_of(), two = stream_of();
    CUevent event = NULL;
    CUgraph graph = (CUgraph)&graph;
    CUdeviceptr address = 0;
    pthread_t thread;
    (void)state;
    OK(cu->cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    GIVES(CUDA_ERROR_ILLEGAL_STATE, cu->cuStreamEndCapture(one, &graph));
    GIVES(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
          cu->cuStreamBeginCapture_v2(NULL, CU_STREAM_CAPTURE_MODE_GLOBAL));
    /* a stream that did not come back */
    OK(cu->cuStreamBeginCapture_v2(one, CU_STREAM_CAPTURE_MODE_GLOBAL));
    GIVES(CUDA_ERROR_ILLEGAL_STATE,
          cu->cuStreamBeginCapture_v2(one, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cu->cuEventRecord(event, one));
    OK(cu->cuStreamWaitEvent(two, event, 0));
    OK(cu->cuLaunchHostFunc(two, note, (void *)0));
    GIVES(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, cu->cuStreamEndCapture(one, &graph));
    assert_null(graph);
    OK(cu->cuStreamSynchronize(two));
    /* another thread that ends it: it is told so, and the capture is over */
    OK(cu->cuStreamBeginCapture_v2(one, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    assert_int_equal(pthread_create(&thread, NULL, end_elsewhere, one), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    GIVES(CUDA_ERROR_ILLEGAL_STATE, cu->cuStreamEndCapture(one, &graph));
    /* a call that could wait for the capture */
    OK(cu->cuStreamBeginCapture_v2(one, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    GIVES(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cu->cuMemAlloc_v2(&address, 64));
    GIVES(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cu->cuStreamEndCapture(one, &graph));
    /* the same, where the program says it knows what it does */
    OK(cu->cuStreamBeginCapture_v2(one, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cu->cuMemAlloc_v2(&address, 64));
    OK(cu->cuMemFree_v2(address));
    OK(cu->cuStreamEndCapture(one, &graph));
    assert_int_equal(node_count(graph), 0);
    OK(cu->cuGraphDestroy(graph));
    /* a stream that is gone */
    OK(cu->cuStreamBeginCapture_v2(one, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cu->cuEventRecord(event, one));
    OK(cu->cuStreamDestroy_v2(one));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuStreamWaitEvent(two, event, 0));
    OK(cu->cuEventDestroy_v2(event));
    OK(cu->cuStreamDestroy_v2(two));
}

static void test_capture_to_graph(void **state)
{
    CUdeviceptr words = memory_of(64);
    CUgraph graph = graph_of(), same = NULL;
    CUgraphNode before = filling(graph, words, 3, 1, NULL, 0);
    CUstream stream = stream_of();
    CUstreamCaptureStatus status;
    const CUgraphNode *after;
    size_t count;
    (void)state;
    OK(cu->cuStreamBeginCaptureToGraph(stream, graph, &before, NULL, 1,
                                       CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cu->cuMemcpyDtoDAsync_v2(words + 4, words, 4, stream));
    OK(cu->cuStreamGetCaptureInfo_v3(stream, &status, NULL, &same, &after, NULL, &count));
    assert_true(same == graph && count == 1 && after[0] != before);
    OK(cu->cuStreamUpdateCaptureDependencies_v2(stream, &before, NULL, 1,
                                                CU_STREAM_ADD_CAPTURE_DEPENDENCIES));
    OK(cu->cuMemcpyDtoDAsync_v2(words + 8, words + 4, 4, stream));
    OK(cu->cuStreamEndCapture(stream, &same));
    assert_ptr_equal(same, graph);
    assert_int_equal(edge_count(graph), 3);
    CUgraphExec executable = ready(graph);
    run(executable);
    assert_int_equal(word_at(words + 8), 3);
    OK(cu->cuGraphExecDestroy(executable));
    OK(cu->cuGraphDestroy(graph));
    OK(cu->cuStreamDestroy_v2(stream));
    OK(cu->cuMemFree_v2(words));
}

static const char references[] =
    ".version 6.0\n.target sm_50\n.address_size 64\n"
    ".visible .global .texref bound;\n"
    ".func inner(.param .u64 p)\n{\n .reg .u64 a;\n .reg .u32 v<4>;\n"
    " ld.param.u64 a, [p];\n"
    " tex.1d.v4.u32.s32 {v0, v1, v2, v3}, [bound, {0}];\n st.global.u32 [a], v0;\n ret;\n}\n"
    ".visible .entry direct(.param .u64 p)\n{\n .reg .u64 a;\n .reg .u32 v<4>;\n"
    " ld.param.u64 a, [p];\n"
    " tex.1d.v4.u32.s32 {v0, v1, v2, v3}, [bound, {0}];\n st.global.u32 [a], v0;\n ret;\n}\n"
    ".visible .entry called(.param .u64 p)\n{\n .reg .u64 a;\n ld.param.u64 a, [p];\n"
    " {\n .param .u64 o;\n st.param.u64 [o], a;\n call inner, (o);\n }\n ret;\n}\n"
    ".visible .entry without(.param .u64 p)\n{\n .reg .u64 a;\n ld.param.u64 a, [p];\n"
    " st.global.u32 [a], 5;\n ret;\n}\n";

/* A graph cannot tell what will be bound: a launch whose kernel uses a texture reference is refused
 * in a capture, and spoils it. Other kernels of its module are captured. */
static void test_capture_references(void **state)
{
    static const char *const names[] = {"direct", "called"};
    CUdeviceptr word = memory_of(4);
    CUstream stream = stream_of();
    CUmodule module = NULL;
    CUfunction function = NULL;
    CUgraph graph = NULL;
    void *parameters[] = {&word};
    (void)state;
    OK(cu->cuModuleLoadData(&module, references));
    for (int i = 0; i < 2; i++) {
        OK(cu->cuModuleGetFunction(&function, module, names[i]));
        OK(cu->cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
        GIVES(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
              cu->cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
        GIVES(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cu->cuStreamEndCapture(stream, &graph));
        assert_null(graph);
    }
    OK(cu->cuModuleGetFunction(&function, module, "without"));
    OK(cu->cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cu->cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
    OK(cu->cuStreamEndCapture(stream, &graph));
    CUgraphExec executable = ready(graph);
    run(executable);
    assert_int_equal(word_at(word), 5);
    OK(cu->cuGraphExecDestroy(executable));
    OK(cu->cuGraphDestroy(graph));
    OK(cu->cuModuleUnload(module));
    OK(cu->cuStreamDestroy_v2(stream));
    OK(cu->cuMemFree_v2(word));
}

/* A stream that joined is destroyed. The capture goes on, and wants what that stream did joined. */
static void test_capture_without_a_stream(void **state)
{
    static const struct {
        bool works, joined, more, late;
        CUresult end;
    } cases[] = {
        {true, true, false, false, CUDA_SUCCESS},
        {false, false, false, false, CUDA_SUCCESS},
        {true, false, false, true, CUDA_SUCCESS},
        {true, false, false, false, CUDA_ERROR_STREAM_CAPTURE_UNJOINED},
        {true, true, true, false, CUDA_ERROR_STREAM_CAPTURE_UNJOINED},
    };
    CUdeviceptr words = memory_of(64);
    CUstream stream = stream_of();
    CUevent fork_event = NULL, back = NULL;
    (void)state;
    OK(cu->cuEventCreate(&fork_event, CU_EVENT_DISABLE_TIMING));
    OK(cu->cuEventCreate(&back, CU_EVENT_DISABLE_TIMING));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CUstream side = stream_of();
        CUgraph graph = NULL;
        CUstreamCaptureStatus status;
        OK(cu->cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
        OK(cu->cuMemsetD32Async(words, 1, 1, stream));
        OK(cu->cuEventRecord(fork_event, stream));
        OK(cu->cuStreamWaitEvent(side, fork_event, 0));
        if (cases[i].works)
            OK(cu->cuMemsetD32Async(words + 4, 2, 1, side));
        OK(cu->cuEventRecord(back, side));
        if (cases[i].joined)
            OK(cu->cuStreamWaitEvent(stream, back, 0));
        if (cases[i].more)
            OK(cu->cuMemsetD32Async(words + 8, 3, 1, side));
        OK(cu->cuStreamDestroy_v2(side));
        OK(cu->cuStreamIsCapturing(stream, &status));
        assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
        if (cases[i].late)
            OK(cu->cuStreamWaitEvent(stream, back, 0));
        OK(cu->cuMemsetD32Async(words + 12, 4, 1, stream));
        GIVES(cases[i].end, cu->cuStreamEndCapture(stream, &graph));
        assert_int_equal(!!graph, cases[i].end == CUDA_SUCCESS);
        if (graph) {
            assert_int_equal(node_count(graph), 2 + cases[i].works);
            OK(cu->cuGraphDestroy(graph));
        }
    }
    OK(cu->cuEventDestroy_v2(fork_event));
    OK(cu->cuEventDestroy_v2(back));
    OK(cu->cuStreamDestroy_v2(stream));
    OK(cu->cuMemFree_v2(words));
}

static const struct CMUnitTest tests[] = {
    MEMORY_TEST(test_capture),          MEMORY_TEST(test_capture_without_a_stream),
    MEMORY_TEST(test_capture_inside),   MEMORY_TEST(test_capture_misuse),
    MEMORY_TEST(test_capture_to_graph), MEMORY_TEST(test_capture_references),
};
MEMORY_MAIN("captures", tests)
