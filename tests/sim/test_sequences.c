/* SPDX-License-Identifier: MIT */
/* What sequences of calls did wrong, found by the fuzzer of tests/fuzz/fuzz_api.c: each a crash, a
 * call that never returned or a number that was wrong. */
#include "graph_test.h"

#include <unistd.h>

static int ended;

static void CUDA_CB count_end(void *data)
{
    (void)data;
    __atomic_add_fetch(&ended, 1, __ATOMIC_SEQ_CST);
}

static int ends(void)
{
    usleep(5000);
    return __atomic_load_n(&ended, __ATOMIC_SEQ_CST);
}

/* A program gives back more references than it has: those of graphs stay. */
static void test_released_too_often(void **state)
{
    CUgraph graph = graph_of(), clone = NULL;
    CUuserObject object = NULL;
    (void)state;
    ended = 0;
    OK(cu->cuUserObjectCreate(&object, NULL, count_end, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    OK(cu->cuGraphRetainUserObject(graph, object, 2, 0));
    OK(cu->cuUserObjectRelease(object, 3));
    OK(cu->cuUserObjectRelease(object, 1));
    assert_int_equal(ends(), 0);
    OK(cu->cuGraphClone(&clone, graph));
    OK(cu->cuGraphDestroy(graph));
    assert_int_equal(ends(), 0);
    OK(cu->cuGraphDestroy(clone));
    for (int i = 0; i < 200 && ends() == 0; i++)
        ;
    assert_int_equal(ends(), 1);
}

static cuuint64_t figure(CUmemoryPool pool, CUmemPool_attribute which)
{
    cuuint64_t value = 0;
    OK(cu->cuMemPoolGetAttribute(pool, which, &value));
    return value;
}

/* Memory that there is not: refused at once, and in no figure of the pool. */
static void test_pool_of_too_much(void **state)
{
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                            .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    CUmemoryPool pool = NULL;
    CUdeviceptr memory = 0;
    (void)state;
    OK(cu->cuMemPoolCreate(&pool, &props));
    GIVES(CUDA_ERROR_OUT_OF_MEMORY,
          cu->cuMemAllocFromPoolAsync(&memory, UINT64_C(1) << 58, pool, NULL));
    assert_int_equal(figure(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH), 0);
    assert_int_equal(figure(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH), 0);
    OK(cu->cuMemAllocFromPoolAsync(&memory, MIB, pool, NULL));
    OK(cu->cuMemPoolTrimTo(pool, SIZE_MAX)); /* what is used stays */
    assert_true(figure(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) >= MIB);
    OK(cu->cuMemFreeAsync(memory, NULL));
    OK(cu->cuStreamSynchronize(NULL));
    OK(cu->cuMemPoolDestroy(pool));
}

/* Rows of 2^64 bytes, which is none in 64 bits, and more of them than can be counted. */
static void test_fill_of_empty_rows(void **state)
{
    CUdeviceptr memory = memory_of(64);
    (void)state;
    OK(cu->cuMemsetD2D32_v2(memory, 0, 1, (size_t)1 << 62, (size_t)1 << 60));
    OK(cu->cuCtxSynchronize());
    OK(cu->cuMemFree_v2(memory));
}

static CUresult move_into(CUgraph graph, CUgraph child, CUgraphNode *node)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_GRAPH};
    params.graph.graph = child;
    params.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
    return cu->cuGraphAddNode_v2(node, graph, NULL, NULL, 0, &params);
}

/* A graph that is captured into is the capture's, and no node's. */
static void test_captured_graph_moved(void **state)
{
    CUgraph graph = graph_of(), child = graph_of(), same = NULL;
    CUstream stream = stream_of();
    CUgraphNode node;
    (void)state;
    OK(cu->cuStreamBeginCaptureToGraph(stream, child, NULL, NULL, 0,
                                       CU_STREAM_CAPTURE_MODE_RELAXED));
    GIVES(CUDA_ERROR_INVALID_VALUE, move_into(graph, child, &node));
    OK(cu->cuGraphDestroy(graph));
    OK(cu->cuStreamEndCapture(stream, &same));
    OK(cu->cuGraphDestroy(child));
    OK(cu->cuStreamDestroy_v2(stream));
}

/* The graph of a node goes with the node's graph, also while a stream captures into it. */
static void test_captured_graph_destroyed(void **state)
{
    CUgraph graph = graph_of(), child = graph_of(), same = NULL;
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
    CUstream stream = stream_of();
    CUgraphNode node;
    (void)state;
    OK(move_into(graph, child, &node));
    OK(cu->cuStreamBeginCaptureToGraph(stream, child, NULL, NULL, 0,
                                       CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cu->cuGraphDestroy(graph));
    OK(cu->cuStreamIsCapturing(stream, &status));
    assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_NONE);
    GIVES(CUDA_ERROR_ILLEGAL_STATE, cu->cuStreamEndCapture(stream, &same));
    OK(cu->cuStreamDestroy_v2(stream));
}

/* No graph is in itself. */
static void test_graph_moved_into_itself(void **state)
{
    CUgraph outer = graph_of(), inner = graph_of();
    CUgraphNode node;
    (void)state;
    OK(move_into(outer, inner, &node));
    GIVES(CUDA_ERROR_INVALID_VALUE, move_into(inner, outer, &node));
    GIVES(CUDA_ERROR_NOT_SUPPORTED, move_into(outer, inner, &node)); /* it has a place */
    OK(cu->cuGraphDestroy(outer));
}

/* Advice that names no place is given one that does not exist. */
static void test_advice_without_place(void **state)
{
    CUdeviceptr memory = 0;
    (void)state;
    OK(cu->cuMemAllocManaged(&memory, MIB, CU_MEM_ATTACH_GLOBAL));
    OK(cu->cuMemAdvise_v1(memory, MIB, CU_MEM_ADVISE_UNSET_READ_MOSTLY, -8));
    OK(cu->cuMemAdvise_v1(memory, MIB, CU_MEM_ADVISE_SET_READ_MOSTLY, 4000));
    OK(cu->cuMemFree_v2(memory));
}

/* The context of a green one goes with it, and in no other way. */
static void test_green_context_detached(void **state)
{
    unsigned long long id = 0;
    CUgreenCtx green = NULL;
    CUcontext context = NULL;
    (void)state;
    OK(cu->cuGreenCtxCreate(&green, NULL, 0, CU_GREEN_CTX_DEFAULT_STREAM));
    OK(cu->cuCtxFromGreenCtx(&context, green));
    OK(cu->cuCtxPushCurrent_v2(context));
    GIVES(CUDA_ERROR_INVALID_CONTEXT, cu->cuCtxDetach(context));
    OK(cu->cuGreenCtxGetId(green, &id));
    OK(cu->cuCtxPopCurrent_v2(NULL));
    OK(cu->cuGreenCtxDestroy(green));
}

/* Memory of streams that are gone may become a context's own stream, which has no handle. */
static void test_old_stream(void **state)
{
    enum { STREAMS = 8 };
    CUstream old[STREAMS];
    (void)state;
    for (int round = 0; round < 20; round++) {
        CUcontext context;
        for (int i = 0; i < STREAMS; i++)
            OK(cu->cuStreamCreate(&old[i], 0));
        for (int i = 0; i < STREAMS; i++)
            OK(cu->cuStreamDestroy_v2(old[i]));
        OK(cu->cuCtxCreate_v2(&context, 0, 0));
        CUdeviceptr address = memory_of(64);
        for (int i = 0; i < STREAMS; i++)
            GIVES(CUDA_ERROR_INVALID_HANDLE, cu->cuStreamDestroy_v2(old[i]));
        OK(cu->cuMemsetD8_v2(address, 1, 64));
        OK(cu->cuMemFree_v2(address));
        OK(cu->cuCtxDestroy_v2(context));
    }
}

/* A stream comes to free what has gone with a context that is not its own. */
static void test_freed_with_its_context(void **state)
{
    struct memory_gate gate;
    CUstream stream = stream_of();
    CUcontext context;
    (void)state;
    memory_gate_close(&gate, stream);
    OK(cu->cuCtxCreate_v2(&context, 0, 0));
    CUdeviceptr address = memory_of(MIB);
    OK(cu->cuMemFreeAsync(address, stream));
    OK(cu->cuCtxDestroy_v2(context));
    memory_gate_open(&gate);
    OK(cu->cuStreamSynchronize(stream));
    for (int i = 0; i < 3; i++)
        OK(cu->cuMemFree_v2(memory_of(MIB)));
    OK(cu->cuStreamDestroy_v2(stream));
}

#define OWN(test) MEMORY_OWN(test, "a call that no device was asked about: it may crash")
static const struct CMUnitTest tests[] = {
    OWN(test_released_too_often),      OWN(test_pool_of_too_much),
    OWN(test_captured_graph_moved),    OWN(test_captured_graph_destroyed),
    OWN(test_graph_moved_into_itself), OWN(test_advice_without_place),
    OWN(test_green_context_detached),  OWN(test_old_stream),
    OWN(test_freed_with_its_context),  OWN(test_fill_of_empty_rows),
};
MEMORY_MAIN("sequences", tests)
