/* SPDX-License-Identifier: MIT */
/* Graphs of the simulated driver: built, changed, run in the order of their edges. */
#include <unistd.h>

#include "graph_test.h"

/* --- Order --- */

/* 0 before 1 and 2, both before 3; 4 apart. */
static void test_diamond(void **state)
{
    CUgraph graph = graph_of();
    CUgraphNode nodes[5], found[8];
    size_t count = 8;
    (void)state;
    nodes[0] = noting(graph, 0, NULL, 0);
    nodes[1] = noting(graph, 1, nodes, 1);
    nodes[2] = noting(graph, 2, nodes, 1);
    nodes[3] = noting(graph, 3, nodes + 1, 2);
    nodes[4] = noting(graph, 4, NULL, 0);
    OK(cu->cuGraphGetRootNodes(graph, found, &count));
    assert_int_equal(count, 2);
    assert_true(found[0] == nodes[0] && found[1] == nodes[4] && !found[2]);
    count = 8;
    OK(cu->cuGraphNodeGetDependentNodes(nodes[0], found, NULL, &count));
    assert_true(count == 2 && found[0] == nodes[1] && found[1] == nodes[2]);
    CUgraphExec executable = ready(graph);
    for (int i = 0; i < 100; i++) {
        ran = 0;
        run(executable);
        assert_int_equal(ran, 5);
        assert_true(order[0] < order[1] && order[0] < order[2]);
        assert_true(order[1] < order[3] && order[2] < order[3]);
    }
    OK(cu->cuGraphExecDestroy(executable));
    OK(cu->cuGraphDestroy(graph));
}

static void test_cycle(void **state)
{
    CUgraph graph = graph_of();
    CUgraphNode nodes[3];
    CUgraphExec executable = NULL;
    (void)state;
    for (int i = 0; i < 3; i++)
        nodes[i] = noting(graph, i, i ? &nodes[i - 1] : NULL, i ? 1 : 0);
    OK(cu->cuGraphAddDependencies(graph, &nodes[2], &nodes[0], NULL, 1));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuGraphInstantiateWithFlags(&executable, graph, 0));
    OK(cu->cuGraphRemoveDependencies(graph, &nodes[2], &nodes[0], NULL, 1));
    executable = ready(graph);
    ran = 0;
    run(executable);
    assert_true(order[0] < order[1] && order[1] < order[2]);
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuGraphAddDependencies(graph, nodes, nodes + 1, NULL, 1));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuGraphAddDependencies(graph, nodes, nodes, NULL, 1));
    assert_int_equal(edge_count(graph), 2);
    OK(cu->cuGraphDestroyNode(nodes[1]));
    assert_int_equal(edge_count(graph), 0);
    OK(cu->cuGraphDestroy(graph)); /* the executable one has all it needs */
    run(executable);
    OK(cu->cuGraphExecDestroy(executable));
}

/* A chain so long that recursion along it would not end well. */
static void test_long_chain(void **state)
{
#if defined(__SANITIZE_ADDRESS__) /* each wait forbids all objects there (core/expire.c) */
    enum { LENGTH = 5000 };
#else
    enum { LENGTH = 50000 };
#endif
    CUgraph graph = graph_of(), clone = NULL;
    CUdeviceptr address = memory_of(64);
    CUgraphNode last = NULL;
    (void)state;
    for (unsigned i = 0; i < LENGTH; i++)
        last = filling(graph, address, i, 1, &last, i ? 1 : 0);
    OK(cu->cuGraphClone(&clone, graph));
    CUgraphExec executable = ready(clone);
    run(executable);
    assert_int_equal(word_at(address), LENGTH - 1);
    OK(cu->cuGraphExecDestroy(executable));
    OK(cu->cuGraphDestroy(clone));
    OK(cu->cuGraphDestroy(graph));
    OK(cu->cuMemFree_v2(address));
}

/* Launches of one graph follow each other, whatever their streams. */
static void test_launches_in_order(void **state)
{
    CUgraph graph = graph_of();
    CUdeviceptr words = memory_of(64);
    CUDA_MEMCPY3D copy = copy_of(words + 4, words, 4);
    CUgraphNode first = filling(graph, words, 3, 1, NULL, 0), second;
    CUstream one = stream_of(), two = stream_of();
    struct memory_gate gate;
    (void)state;
    OK(cu->cuGraphAddMemcpyNode(&second, graph, &first, 1, &copy, memory_context));
    CUgraphExec executable = ready(graph);
    OK(cu->cuMemsetD32_v2(words, 0, 16));
    OK(cu->cuCtxSynchronize()); /* no stream here waits for the legacy one */
    memory_gate_close(&gate, one);
    OK(cu->cuGraphLaunch(executable, one));
    OK(cu->cuGraphLaunch(executable, two));
    GIVES(CUDA_ERROR_NOT_READY, cu->cuStreamQuery(two));
    memory_gate_open(&gate);
    OK(cu->cuStreamSynchronize(two));
    assert_int_equal(word_at(words + 4), 3);
    OK(cu->cuGraphExecDestroy(executable));
    OK(cu->cuGraphDestroy(graph));
    OK(cu->cuStreamDestroy_v2(one));
    OK(cu->cuStreamDestroy_v2(two));
    OK(cu->cuMemFree_v2(words));
}

/* --- Changes --- */

static void test_parameters(void **state)
{
    CUgraph graph = graph_of();
    CUdeviceptr words = memory_of(64);
    CUgraphNode node = filling(graph, words, 1, 4, NULL, 0);
    CUDA_MEMSET_NODE_PARAMS params;
    CUgraphNodeParams generic;
    (void)state;
    CUgraphExec executable = ready(graph);
    OK(cu->cuGraphMemsetNodeGetParams(node, &params));
    assert_true(params.dst == words && params.value == 1 && params.width == 4);
    params.value = 2;
    OK(cu->cuGraphMemsetNodeSetParams(node, &params));
    run(executable); /* made before the change */
    assert_int_equal(word_at(words), 1);
    params.value = 3;
    OK(cu->cuGraphExecMemsetNodeSetParams(executable, node, &params, memory_context));
    run(executable);
    assert_int_equal(word_at(words + 12), 3);
    memset(&generic, 0, sizeof generic);
    generic.type = CU_GRAPH_NODE_TYPE_MEMSET;
    memcpy(&generic.memset, &params, sizeof params);
    generic.memset.value = 4;
    generic.memset.ctx = memory_context;
    OK(cu->cuGraphExecNodeSetParams(executable, node, &generic));
    run(executable);
    assert_int_equal(word_at(words), 4);
    generic.type = CU_GRAPH_NODE_TYPE_HOST;
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuGraphExecNodeSetParams(executable, node, &generic));
    OK(cu->cuGraphNodeSetEnabled(executable, node, 0));
    OK(cu->cuMemsetD32_v2(words, 9, 4));
    run(executable);
    assert_int_equal(word_at(words), 9);
    OK(cu->cuGraphExecDestroy(executable));
    OK(cu->cuGraphDestroy(graph));
    OK(cu->cuMemFree_v2(words));
}

/* A launch that runs keeps the work it was launched with, and its executable graph. */
static void test_change_while_running(void **state)
{
    CUgraph graph = graph_of();
    CUdeviceptr words = memory_of(64);
    CUgraphNode node = filling(graph, words, 1, 4, NULL, 0);
    CUDA_MEMSET_NODE_PARAMS params;
    CUstream stream = stream_of();
    struct memory_gate gate;
    (void)state;
    CUgraphExec executable = ready(graph);
    memory_gate_close(&gate, stream);
    OK(cu->cuGraphLaunch(executable, stream));
    OK(cu->cuGraphMemsetNodeGetParams(node, &params));
    params.value = 2;
    params.dst = words + 16;
    OK(cu->cuGraphExecMemsetNodeSetParams(executable, node, &params, memory_context));
    OK(cu->cuGraphLaunch(executable, stream));
    OK(cu->cuGraphExecDestroy(executable));
    OK(cu->cuGraphDestroy(graph));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuGraphLaunch(executable, stream));
    memory_gate_open(&gate);
    OK(cu->cuStreamSynchronize(stream));
    assert_int_equal(word_at(words), 1);
    assert_int_equal(word_at(words + 16), 2);
    OK(cu->cuStreamDestroy_v2(stream));
    OK(cu->cuMemFree_v2(words));
}

static void test_update(void **state)
{
    CUdeviceptr words = memory_of(64);
    CUgraph first = graph_of(), second = graph_of(), other = graph_of();
    CUgraphExecUpdateResultInfo info;
    CUgraphNode node;
    (void)state;
    node = filling(first, words, 1, 4, NULL, 0);
    noting(first, 0, &node, 1);
    node = filling(second, words, 2, 4, NULL, 0);
    noting(second, 0, &node, 1);
    node = noting(other, 0, NULL, 0);
    noting(other, 1, &node, 1);
    CUgraphExec executable = ready(first);
    OK(cu->cuGraphExecUpdate_v2(executable, second, &info));
    assert_int_equal(info.result, CU_GRAPH_EXEC_UPDATE_SUCCESS);
    run(executable);
    assert_int_equal(word_at(words), 2);
    GIVES(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, cu->cuGraphExecUpdate_v2(executable, other, &info));
    assert_int_equal(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED);
    noting(other, 2, NULL, 0);
    GIVES(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, cu->cuGraphExecUpdate_v2(executable, other, &info));
    assert_int_equal(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
    OK(cu->cuGraphExecDestroy(executable));
    OK(cu->cuGraphDestroy(first));
    OK(cu->cuGraphDestroy(second));
    OK(cu->cuGraphDestroy(other));
    OK(cu->cuMemFree_v2(words));
}

/* --- Graphs in graphs --- */

static void test_child(void **state)
{
    CUdeviceptr words = memory_of(64);
    CUgraph inner = graph_of(), outer = graph_of(), fresh = graph_of(), held;
    CUgraphNode before, child, node, copied;
    (void)state;
    node = noting(inner, 1, NULL, 0);
    filling(inner, words, 5, 1, &node, 1);
    before = noting(outer, 0, NULL, 0);
    OK(cu->cuGraphAddChildGraphNode(&child, outer, &before, 1, inner));
    noting(outer, 2, &child, 1);
    OK(cu->cuGraphChildGraphNodeGetGraph(child, &held));
    assert_true(held != inner && node_count(held) == 2);
    OK(cu->cuGraphNodeFindInClone(&copied, node, held));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuGraphDestroy(held)); /* the node's */
    OK(cu->cuGraphDestroy(inner));
    CUgraphExec executable = ready(outer);
    ran = 0;
    run(executable);
    assert_true(order[0] < order[1] && order[1] < order[2]);
    assert_int_equal(word_at(words), 5);
    node = noting(fresh, 1, NULL, 0);
    filling(fresh, words, 6, 1, &node, 1);
    OK(cu->cuGraphExecChildGraphNodeSetParams(executable, child, fresh));
    run(executable);
    assert_int_equal(word_at(words), 6);
    noting(fresh, 3, NULL, 0); /* another shape */
    GIVES(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE,
          cu->cuGraphExecChildGraphNodeSetParams(executable, child, fresh));
    OK(cu->cuGraphExecDestroy(executable));
    OK(cu->cuGraphDestroy(fresh));
    OK(cu->cuGraphDestroy(outer));
    OK(cu->cuMemFree_v2(words));
}

/* --- Memory --- */

static CUDA_MEM_ALLOC_NODE_PARAMS wish(size_t size)
{
    CUDA_MEM_ALLOC_NODE_PARAMS params;
    memset(&params, 0, sizeof params);
    params.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    params.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    params.bytesize = size;
    return params;
}

#define GRAIN (UINT64_C(32) << 20)

static uint64_t in_use(void)
{
    cuuint64_t bytes = 77, reserved = 78;
    OK(cu->cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &bytes));
    OK(cu->cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT, &reserved));
    assert_true(bytes == reserved);
    return bytes;
}

static uint64_t trimmed(void)
{
    OK(cu->cuDeviceGraphMemTrim(0));
    return in_use();
}

static void test_memory(void **state)
{
    CUgraph graph = graph_of();
    CUdeviceptr words = memory_of(64);
    CUDA_MEM_ALLOC_NODE_PARAMS params = wish(4096);
    CUgraphNode allocation, fill, copy, last;
    (void)state;
    OK(cu->cuGraphAddMemAllocNode(&allocation, graph, NULL, 0, &params));
    fill = filling(graph, params.dptr, 77, 1024, &allocation, 1);
    CUDA_MEMCPY3D description = copy_of(words, params.dptr + 4092, 4);
    OK(cu->cuGraphAddMemcpyNode(&copy, graph, &fill, 1, &description, memory_context));
    CUgraphExec executable = ready(graph);
    assert_true(in_use() == 0);
    run(executable);
    assert_int_equal(word_at(words), 77);
    assert_true(trimmed() == GRAIN);
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuGraphLaunch(executable, NULL)); /* not freed */
    OK(cu->cuMemFree_v2(params.dptr));
    assert_true(in_use() == GRAIN);
    assert_true(trimmed() == 0);
    run(executable);
    OK(cu->cuMemFreeAsync(params.dptr, NULL));
    OK(cu->cuGraphExecDestroy(executable));
    OK(cu->cuGraphAddMemFreeNode(&last, graph, &copy, 1, params.dptr));
    executable = ready(graph);
    run(executable);
    run(executable);
    assert_true(in_use() == GRAIN);
    assert_true(trimmed() == 0);
    OK(cu->cuGraphExecDestroy(executable));
    OK(cu->cuGraphDestroy(graph));
    OK(cu->cuMemFree_v2(words));
}

/* An upload takes what a launch will: twice is no more than once, and what the graph frees before
 * it allocates again counts once. A trim alone lowers it. */
static void test_memory_of_an_upload(void **state)
{
    CUDA_GRAPH_INSTANTIATE_PARAMS params = {.flags = CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD};
    CUDA_MEM_ALLOC_NODE_PARAMS first = wish(GRAIN), second = wish(GRAIN);
    CUgraphNode node = NULL, last = NULL;
    CUgraphExec executable = NULL;
    CUgraph graph = graph_of();
    cuuint64_t high = 0, none = 0;
    (void)state;
    OK(cu->cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &none));
    OK(cu->cuGraphAddMemAllocNode(&node, graph, NULL, 0, &first));
    OK(cu->cuGraphAddMemFreeNode(&last, graph, &node, 1, first.dptr));
    OK(cu->cuGraphAddMemAllocNode(&node, graph, &last, 1, &second));
    executable = ready(graph);
    assert_true(in_use() == 0);
    OK(cu->cuGraphUpload(executable, NULL));
    OK(cu->cuGraphUpload(executable, stream_of()));
    OK(cu->cuCtxSynchronize());
    assert_true(in_use() == GRAIN);
    OK(cu->cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &high));
    assert_true(high == GRAIN);
    run(executable);
    OK(cu->cuGraphUpload(executable, NULL)); /* what is allocated stays so */
    assert_true(trimmed() == GRAIN);
    OK(cu->cuMemFree_v2(second.dptr));
    OK(cu->cuGraphExecDestroy(executable));
    assert_true(in_use() == GRAIN);
    assert_true(trimmed() == 0);
    OK(cu->cuGraphInstantiateWithParams(&executable, graph, &params));
    OK(cu->cuCtxSynchronize());
    assert_true(in_use() == GRAIN);
    OK(cu->cuGraphExecDestroy(executable));
    OK(cu->cuGraphDestroy(graph));
    assert_true(trimmed() == 0);
}

/* --- Events --- */

static void test_events(void **state)
{
    CUgraph graph = graph_of();
    CUevent event = NULL, gate_event = NULL;
    CUgraphNode wait, record;
    CUstream stream = stream_of();
    struct memory_gate gate;
    (void)state;
    OK(cu->cuEventCreate(&event, 0));
    OK(cu->cuEventCreate(&gate_event, 0));
    OK(cu->cuGraphAddEventWaitNode(&wait, graph, NULL, 0, gate_event));
    OK(cu->cuGraphAddEventRecordNode(&record, graph, &wait, 1, event));
    CUgraphExec executable = ready(graph);
    memory_gate_close(&gate, stream);
    OK(cu->cuEventRecord(gate_event, stream));
    OK(cu->cuGraphLaunch(executable, NULL));
    GIVES(CUDA_ERROR_NOT_READY, cu->cuEventQuery(event));
    memory_gate_open(&gate);
    OK(cu->cuEventSynchronize(event));
    OK(cu->cuGraphExecDestroy(executable));
    OK(cu->cuGraphDestroy(graph));
    OK(cu->cuEventDestroy_v2(event));
    OK(cu->cuEventDestroy_v2(gate_event));
    OK(cu->cuStreamDestroy_v2(stream));
}

/* --- User objects --- */

static int destroyed;

static void CUDA_CB count_end(void *data)
{
    (void)data;
    __atomic_add_fetch(&destroyed, 1, __ATOMIC_SEQ_CST);
}

static int ends(int expected)
{
    for (int i = 0; i < 1000 && __atomic_load_n(&destroyed, __ATOMIC_SEQ_CST) < expected; i++)
        usleep(1000);
    return __atomic_load_n(&destroyed, __ATOMIC_SEQ_CST);
}

static void test_user_objects(void **state)
{
    CUgraph graph = graph_of(), clone = NULL;
    CUuserObject object = NULL;
    (void)state;
    destroyed = 0;
    OK(cu->cuUserObjectCreate(&object, NULL, count_end, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    OK(cu->cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
    noting(graph, 0, NULL, 0);
    OK(cu->cuGraphClone(&clone, graph));
    CUgraphExec executable = ready(clone);
    OK(cu->cuGraphDestroy(graph));
    OK(cu->cuGraphDestroy(clone));
    usleep(5000);
    assert_int_equal(ends(0), 0);
    OK(cu->cuGraphExecDestroy(executable));
    assert_int_equal(ends(1), 1);
    OK(cu->cuUserObjectRelease(object, 1)); /* one too many, which a device does not notice */
}

/* --- Leaks --- */

static void test_no_growth(void **state)
{
    CUdeviceptr words = memory_of(64);
    CUstream stream = stream_of();
    size_t before = 0;
    (void)state;
    for (int i = 0; i < 5000; i++) {
        CUgraph graph = NULL, clone = NULL;
        CUDA_MEM_ALLOC_NODE_PARAMS params = wish(64);
        CUgraphNode node;
        OK(cu->cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
        OK(cu->cuMemsetD32Async(words, 1, 4, stream));
        OK(cu->cuLaunchHostFunc(stream, note, (void *)0));
        OK(cu->cuStreamEndCapture(stream, &graph));
        OK(cu->cuGraphClone(&clone, graph));
        OK(cu->cuGraphAddMemAllocNode(&node, clone, NULL, 0, &params));
        CUgraphExec executable = ready(clone);
        OK(cu->cuGraphLaunch(executable, stream));
        OK(cu->cuMemFreeAsync(params.dptr, stream));
        OK(cu->cuGraphExecDestroy(executable));
        OK(cu->cuGraphDestroy(clone));
        OK(cu->cuGraphDestroy(graph));
        if (i == 2000)
            before = memory_resident();
    }
    OK(cu->cuStreamSynchronize(stream));
    assert_true(memory_resident() < before + MIB);
    OK(cu->cuStreamDestroy_v2(stream));
    OK(cu->cuMemFree_v2(words));
}

static const struct CMUnitTest tests[] = {
    MEMORY_OWN(test_diamond, "the order of a list that promises none"),
    MEMORY_TEST(test_cycle),
    MEMORY_TEST(test_long_chain),
    MEMORY_TEST(test_launches_in_order),
    MEMORY_TEST(test_parameters),
    MEMORY_TEST(test_change_while_running),
    MEMORY_TEST(test_update),
    MEMORY_TEST(test_child),
    MEMORY_OWN(test_memory, "memory is counted to the byte"),
    MEMORY_OWN(test_memory_of_an_upload, "memory is counted to the byte"),
    MEMORY_TEST(test_events),
    MEMORY_TEST(test_user_objects),
    MEMORY_TEST(test_no_growth),
};
MEMORY_MAIN("graphs", tests)
