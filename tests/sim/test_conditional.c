/* SPDX-License-Identifier: MIT */
/* Conditional nodes: kernels decide which bodies run, and how often. What the driver answers to
 * wrong ones is in conformance/conditional.c. */
#include "graph_test.h"

#include <time.h>

static const char text[] =
    ".version 8.3\n.target sm_50\n.address_size 64\n"
    ".extern .func cudaGraphSetConditional(.param .b64 a, .param .b32 b);\n"
    /* count(h, p, most): *p += 1; the value of h is *p < most */
    ".visible .entry count(.param .u64 h, .param .u64 p, .param .u32 most)\n{\n"
    " .reg .u64 rh, ra;\n .reg .u32 x, y;\n .reg .pred q;\n"
    " ld.param.u64 rh, [h];\n ld.param.u64 ra, [p];\n ld.param.u32 y, [most];\n"
    " ld.global.u32 x, [ra];\n add.u32 x, x, 1;\n st.global.u32 [ra], x;\n"
    " setp.lt.u32 q, x, y;\n selp.u32 x, 1, 0, q;\n"
    " {\n .param .b64 f;\n .param .b32 g;\n st.param.b64 [f], rh;\n st.param.b32 [g], x;\n"
    " call.uni cudaGraphSetConditional, (f, g);\n }\n ret;\n}\n"
    /* choose(h, p): the value of h is *p */
    ".visible .entry choose(.param .u64 h, .param .u64 p)\n{\n"
    " .reg .u64 rh, ra;\n .reg .u32 x;\n ld.param.u64 rh, [h];\n ld.param.u64 ra, [p];\n"
    " ld.global.u32 x, [ra];\n"
    " {\n .param .b64 f;\n .param .b32 g;\n st.param.b64 [f], rh;\n st.param.b32 [g], x;\n"
    " call.uni cudaGraphSetConditional, (f, g);\n }\n ret;\n}\n"
    ".visible .entry trapping()\n{\n trap;\n ret;\n}\n";

static CUmodule module;

static CUfunction kernel(const char *name)
{
    CUfunction function = NULL;
    if (!module)
        OK(cu->cuModuleLoadData(&module, text));
    OK(cu->cuModuleGetFunction(&function, module, name));
    return function;
}

static CUgraphConditionalHandle handle_of(CUgraph graph, unsigned value)
{
    CUgraphConditionalHandle handle = 0;
    OK(cu->cuGraphConditionalHandleCreate(&handle, graph, memory_context, value,
                                          CU_GRAPH_COND_ASSIGN_DEFAULT));
    return handle;
}

/* A node whose bodies are bodies[0..size). */
static CUgraphNode deciding(CUgraph graph, CUgraphConditionalHandle handle,
                            CUgraphConditionalNodeType type, unsigned size, CUgraph *bodies,
                            const CUgraphNode *after)
{
    CUgraphNodeParams params;
    CUgraphNode node = NULL;
    memset(&params, 0, sizeof params);
    params.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    params.conditional.handle = handle;
    params.conditional.type = type;
    params.conditional.size = size;
    params.conditional.ctx = memory_context;
    OK(cu->cuGraphAddNode_v2(&node, graph, after, NULL, after ? 1 : 0, &params));
    for (unsigned i = 0; i < size; i++)
        bodies[i] = params.conditional.phGraph_out[i];
    return node;
}

static CUgraphNode launching(CUgraph graph, const char *name, void **values,
                             const CUgraphNode *after)
{
    CUDA_KERNEL_NODE_PARAMS params;
    CUgraphNode node = NULL;
    memset(&params, 0, sizeof params);
    params.func = kernel(name);
    params.gridDimX = params.gridDimY = params.gridDimZ = 1;
    params.blockDimX = params.blockDimY = params.blockDimZ = 1;
    params.kernelParams = values;
    OK(cu->cuGraphAddKernelNode_v2(&node, graph, after, after ? 1 : 0, &params));
    return node;
}

/* 500 turns, each of a kernel and a copy behind it; what follows the node runs once, after all. */
static void test_a_loop(void **state)
{
    CUgraph graph = graph_of(), body;
    CUdeviceptr a = memory_of(16);
    CUgraphConditionalHandle handle = handle_of(graph, 1);
    unsigned most = 500;
    void *values[] = {&handle, &a, &most};
    CUDA_MEMCPY3D copy = copy_of(a + 4, a, 4), last = copy_of(a + 8, a + 4, 4);
    CUgraphNode node;
    (void)state;
    CUgraphNode loop = deciding(graph, handle, CU_GRAPH_COND_TYPE_WHILE, 1, &body, NULL);
    CUgraphNode counting = launching(body, "count", values, NULL);
    OK(cu->cuGraphAddMemcpyNode(&node, body, &counting, 1, &copy, memory_context));
    OK(cu->cuGraphAddMemcpyNode(&node, graph, &loop, 1, &last, memory_context));
    CUgraphExec executable = ready(graph);
    for (int i = 0; i < 2; i++) {
        OK(cu->cuMemsetD32_v2(a, 0, 4));
        run(executable);
        assert_int_equal(word_at(a), 500);
        assert_int_equal(word_at(a + 8), 500);
    }
    OK(cu->cuGraphExecDestroy(executable));
    OK(cu->cuGraphDestroy(graph));
    OK(cu->cuMemFree_v2(a));
}

/* The kernel before the node chooses one of four bodies, or none. */
static void test_a_switch(void **state)
{
    CUgraph graph = graph_of(), bodies[4];
    CUdeviceptr a = memory_of(32), from = a + 16;
    CUgraphConditionalHandle handle = handle_of(graph, 0);
    void *values[] = {&handle, &from};
    (void)state;
    CUgraphNode before = launching(graph, "choose", values, NULL);
    deciding(graph, handle, CU_GRAPH_COND_TYPE_SWITCH, 4, bodies, &before);
    for (unsigned i = 0; i < 4; i++)
        filling(bodies[i], a + 4 * i, 100 + i, 1, NULL, 0);
    CUgraphExec executable = ready(graph);
    for (unsigned chosen = 0; chosen < 6; chosen++) {
        OK(cu->cuMemsetD32_v2(a, 0, 8));
        OK(cu->cuMemsetD32_v2(from, chosen, 1));
        run(executable);
        for (unsigned i = 0; i < 4; i++)
            assert_int_equal(word_at(a + 4 * i), i == chosen ? 100 + i : 0);
    }
    OK(cu->cuGraphExecDestroy(executable));
    OK(cu->cuGraphDestroy(graph));
    OK(cu->cuMemFree_v2(a));
}

/* Nodes in a body are changed like others: through the executable graph, and by an update. */
static void test_a_body_is_changed(void **state)
{
    CUgraph graph = graph_of(), body;
    CUdeviceptr a = memory_of(16);
    CUDA_MEMSET_NODE_PARAMS params = {a, 0, 7, 4, 1, 1};
    CUgraphExecUpdateResultInfo info;
    (void)state;
    deciding(graph, handle_of(graph, 1), CU_GRAPH_COND_TYPE_IF, 1, &body, NULL);
    CUgraphNode node = filling(body, a, 5, 1, NULL, 0);
    CUgraphExec executable = ready(graph);
    run(executable);
    assert_int_equal(word_at(a), 5);
    OK(cu->cuGraphExecMemsetNodeSetParams(executable, node, &params, memory_context));
    run(executable);
    assert_int_equal(word_at(a), 7);
    params.value = 9;
    OK(cu->cuGraphMemsetNodeSetParams(node, &params));
    run(executable);
    assert_int_equal(word_at(a), 7);
    OK(cu->cuGraphExecUpdate_v2(executable, graph, &info));
    run(executable);
    assert_int_equal(word_at(a), 9);
    filling(body, a + 4, 5, 1, NULL, 0);
    GIVES(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, cu->cuGraphExecUpdate_v2(executable, graph, &info));
    OK(cu->cuGraphExecDestroy(executable));
    OK(cu->cuGraphDestroy(graph));
    OK(cu->cuMemFree_v2(a));
}

/* An update by another graph of the same shape, which has a handle of its own. */
static void test_an_update_brings_its_handle(void **state)
{
    CUgraph graph = graph_of(), other = graph_of(), bodies[2];
    CUdeviceptr a = memory_of(16);
    CUgraphExecUpdateResultInfo info;
    (void)state;
    deciding(graph, handle_of(graph, 0), CU_GRAPH_COND_TYPE_SWITCH, 2, bodies, NULL);
    filling(bodies[0], a, 5, 1, NULL, 0);
    filling(bodies[1], a, 6, 1, NULL, 0);
    CUgraphExec executable = ready(graph);
    deciding(other, handle_of(other, 1), CU_GRAPH_COND_TYPE_SWITCH, 2, bodies, NULL);
    filling(bodies[0], a, 7, 1, NULL, 0);
    filling(bodies[1], a, 8, 1, NULL, 0);
    run(executable);
    assert_int_equal(word_at(a), 5);
    OK(cu->cuGraphExecUpdate_v2(executable, other, &info));
    OK(cu->cuGraphDestroy(other));
    run(executable);
    assert_int_equal(word_at(a), 8);
    other = graph_of();
    deciding(other, handle_of(other, 1), CU_GRAPH_COND_TYPE_IF, 2, bodies, NULL);
    GIVES(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, cu->cuGraphExecUpdate_v2(executable, other, &info));
    assert_int_equal(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED);
    OK(cu->cuGraphDestroy(other));
    OK(cu->cuGraphExecDestroy(executable));
    OK(cu->cuGraphDestroy(graph));
    OK(cu->cuMemFree_v2(a));
}

/* A graph and its executable form go while a loop of theirs runs: the loop runs to its end. */
static void test_destroyed_while_it_runs(void **state)
{
    CUgraph graph = graph_of(), body;
    CUdeviceptr a = memory_of(16);
    CUgraphConditionalHandle handle = handle_of(graph, 1);
    unsigned most = 200;
    void *values[] = {&handle, &a, &most};
    struct memory_gate gate;
    CUstream stream = stream_of();
    (void)state;
    deciding(graph, handle, CU_GRAPH_COND_TYPE_WHILE, 1, &body, NULL);
    launching(body, "count", values, NULL);
    CUgraphExec executable = ready(graph);
    OK(cu->cuMemsetD32Async(a, 0, 4, stream));
    memory_gate_close(&gate, stream);
    OK(cu->cuGraphLaunch(executable, stream));
    memory_gate_open(&gate); /* a device waits in the destruction for what has not begun */
    OK(cu->cuGraphExecDestroy(executable));
    OK(cu->cuGraphDestroy(graph));
    OK(cu->cuStreamSynchronize(stream));
    assert_int_equal(word_at(a), 200);
    OK(cu->cuStreamDestroy_v2(stream));
    OK(cu->cuMemFree_v2(a));
}

/* Several launches, and two graphs in two streams, at once: each has values of its own. (Driver 580
 * on an H100 stands two such loops at once. With four, about every second run ends with 719.) */
static void test_side_by_side(void **state)
{
    enum { GRAPHS = 2, LAUNCHES = 5 };
    CUgraph graphs[GRAPHS], body;
    CUgraphExec executables[GRAPHS];
    CUstream streams[GRAPHS];
    CUdeviceptr a = memory_of(4 * GRAPHS);
    (void)state;
    OK(cu->cuMemsetD32_v2(a, 0, GRAPHS));
    OK(cu->cuCtxSynchronize());
    for (unsigned i = 0; i < GRAPHS; i++) {
        unsigned most = 20 + i;
        CUdeviceptr own = a + 4 * i;
        graphs[i] = graph_of();
        CUgraphConditionalHandle handle = handle_of(graphs[i], 1);
        void *values[] = {&handle, &own, &most};
        deciding(graphs[i], handle, CU_GRAPH_COND_TYPE_WHILE, 1, &body, NULL);
        launching(body, "count", values, NULL);
        executables[i] = ready(graphs[i]);
        streams[i] = stream_of();
    }
    for (int launch = 0; launch < LAUNCHES; launch++)
        for (unsigned i = 0; i < GRAPHS; i++)
            OK(cu->cuGraphLaunch(executables[i], streams[i]));
    OK(cu->cuCtxSynchronize());
    for (unsigned i = 0; i < GRAPHS; i++) {
        /* The first launch counts to the limit, each other one once more. */
        assert_int_equal(word_at(a + 4 * i), 20 + i + LAUNCHES - 1);
        OK(cu->cuStreamDestroy_v2(streams[i]));
        OK(cu->cuGraphExecDestroy(executables[i]));
        OK(cu->cuGraphDestroy(graphs[i]));
    }
    OK(cu->cuMemFree_v2(a));
}

/* A loop that nothing ends has the time of a kernel. The other device is lost by it. */
static void test_an_endless_loop(void **state)
{
    CUgraph graph, body;
    CUcontext other;
    CUgraphExec executable = NULL;
    CUdeviceptr a;
    CUgraphNodeParams params;
    CUDA_MEMSET_NODE_PARAMS fill = {0, 0, 1, 4, 1, 1};
    CUgraphNode node;
    (void)state;
    OK(cu->cuCtxCreate_v2(&other, 0, 1));
    a = memory_of(4);
    graph = graph_of();
    memset(&params, 0, sizeof params);
    params.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    params.conditional.type = CU_GRAPH_COND_TYPE_WHILE;
    params.conditional.size = 1;
    params.conditional.ctx = other;
    OK(cu->cuGraphConditionalHandleCreate(&params.conditional.handle, graph, other, 1,
                                          CU_GRAPH_COND_ASSIGN_DEFAULT));
    OK(cu->cuGraphAddNode_v2(&node, graph, NULL, NULL, 0, &params));
    body = params.conditional.phGraph_out[0];
    fill.dst = a;
    OK(cu->cuGraphAddMemsetNode(&node, body, NULL, 0, &fill, other));
    OK(cu->cuGraphInstantiateWithFlags(&executable, graph, 0));
    OK(cu->cuGraphLaunch(executable, NULL));
    GIVES(CUDA_ERROR_LAUNCH_TIMEOUT, cu->cuCtxSynchronize());
    (void)cu->cuGraphExecDestroy(executable);
    (void)cu->cuGraphDestroy(graph);
    OK(cu->cuCtxSetCurrent(memory_context));
}

/* The last: a kernel's fault in a body ends the loop and stays with the context. */
static void test_a_fault_ends_a_loop(void **state)
{
    CUgraph graph = graph_of(), body;
    CUcontext other;
    (void)state;
    deciding(graph, handle_of(graph, 1), CU_GRAPH_COND_TYPE_WHILE, 1, &body, NULL);
    launching(body, "trapping", NULL, NULL);
    CUgraphExec executable = ready(graph);
    OK(cu->cuGraphLaunch(executable, NULL));
    GIVES(CUDA_ERROR_LAUNCH_FAILED, cu->cuCtxSynchronize());
    (void)cu->cuGraphExecDestroy(executable);
    (void)cu->cuGraphDestroy(graph);
    assert_int_not_equal(cu->cuCtxCreate_v2(&other, 0, 0), CUDA_SUCCESS);
}

static const struct CMUnitTest tests[] = {
    MEMORY_TEST(test_a_loop),
    MEMORY_TEST(test_a_switch),
    MEMORY_TEST(test_a_body_is_changed),
    MEMORY_TEST(test_an_update_brings_its_handle),
    MEMORY_TEST(test_destroyed_while_it_runs),
    MEMORY_TEST(test_side_by_side),
    {"test_an_endless_loop", test_an_endless_loop, memory_before, NULL,
     (void *)(uintptr_t) "a device has no such limit"},
    cmocka_unit_test_setup(test_a_fault_ends_a_loop, NULL),
};

int main(int argc, char **argv)
{
    setenv("CUSHIM_SIM_TIME_LIMIT_MS", "1000", 1);
    return memory_main(argc, argv, "conditional", tests, sizeof tests / sizeof *tests);
}
