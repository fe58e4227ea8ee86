/* SPDX-License-Identifier: MIT */
/* Entries that came after the driver whose answers conformance/ has, as their manual describes
 * them. */
#include "graph_test.h"

#define NEEDS(entry)                                                                               \
    do {                                                                                           \
        if (!CUSHIM_HAS(cu, entry)) {                                                              \
            skip();                                                                                \
            return;                                                                                \
        }                                                                                          \
    } while (0)

/* --- Numbers of graphs and nodes --- */

static unsigned id_of(CUgraph graph)
{
    unsigned id = 0;
    OK(cu->cuGraphGetId(graph, &id));
    return id;
}

static unsigned local_id(CUgraphNode node)
{
    unsigned id = 0;
    OK(cu->cuGraphNodeGetLocalId(node, &id));
    return id;
}

static unsigned long long tools_id(CUgraphNode node)
{
    unsigned long long id = 0;
    OK(cu->cuGraphNodeGetToolsId(node, &id));
    return id;
}

static CUgraph holder(CUgraphNode node)
{
    CUgraph graph = NULL;
    OK(cu->cuGraphNodeGetContainingGraph(node, &graph));
    return graph;
}

static void test_ids(void **state)
{
    (void)state;
    NEEDS(cuGraphGetId);
    CUgraph graph = graph_of(), other = graph_of(), inner = NULL, clone = NULL;
    CUgraphNode nodes[3], child, far = noting(other, 0, NULL, 0);
    unsigned id = 0;
    for (int i = 0; i < 3; i++)
        nodes[i] = noting(graph, i, NULL, 0);
    OK(cu->cuGraphAddChildGraphNode(&child, graph, NULL, 0, other));
    OK(cu->cuGraphChildGraphNodeGetGraph(child, &inner));
    OK(cu->cuGraphClone(&clone, graph));
    CUgraphExec executable = ready(graph), again = ready(graph);
    OK(cu->cuGraphExecGetId(executable, &id));
    unsigned ids[] = {id_of(graph), id_of(other), id_of(inner), id_of(clone)};
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < i; k++)
            assert_int_not_equal(ids[i], ids[k]);
    assert_int_equal(id_of(graph), ids[0]);
    OK(cu->cuGraphExecGetId(again, &ids[1]));
    assert_int_not_equal(id, ids[1]);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < i; k++)
            assert_int_not_equal(local_id(nodes[i]), local_id(nodes[k]));
    unsigned first = local_id(nodes[0]), third = local_id(nodes[2]);
    OK(cu->cuGraphDestroyNode(nodes[1])); /* the others keep theirs */
    assert_int_equal(local_id(nodes[0]), first);
    assert_int_equal(local_id(nodes[2]), third);
    assert_true(tools_id(nodes[0]) != tools_id(nodes[2]) && tools_id(nodes[0]) != tools_id(far));
    assert_ptr_equal(holder(nodes[0]), graph);
    assert_ptr_equal(holder(far), other);
    assert_ptr_equal(holder(child), graph);
    OK(cu->cuGraphExecDestroy(executable));
    OK(cu->cuGraphExecDestroy(again));
    OK(cu->cuGraphDestroy(clone));
    OK(cu->cuGraphDestroy(graph));
    OK(cu->cuGraphDestroy(other));
}

/* The numbers are those of the picture. */
static void test_ids_in_picture(void **state)
{
    (void)state;
    NEEDS(cuGraphGetId);
    CUgraph graph = graph_of();
    CUgraphNode node = noting(graph, 0, NULL, 0);
    char path[] = "/tmp/cushim-newer-XXXXXX", name[64], text[4096];
    int file = mkstemp(path);
    assert_true(file >= 0);
    OK(cu->cuGraphDebugDotPrint(graph, path, 0));
    FILE *stream = fdopen(file, "r");
    assert_non_null(stream);
    text[fread(text, 1, sizeof text - 1, stream)] = '\0';
    fclose(stream);
    remove(path);
    snprintf(name, sizeof name, "graph_%u\"", id_of(graph));
    assert_non_null(strstr(text, name));
    snprintf(name, sizeof name, "\"%u\\nHOST", local_id(node));
    assert_non_null(strstr(text, name));
    OK(cu->cuGraphDestroy(graph));
}

static void test_ids_refused(void **state)
{
    (void)state;
    NEEDS(cuGraphGetId);
    CUgraph graph = graph_of(), got = NULL;
    CUgraphNode node = noting(graph, 0, NULL, 0);
    CUgraphExec executable = ready(graph);
    unsigned id = 77;
    unsigned long long wide = 77;
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuGraphGetId(NULL, &id));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuGraphGetId(graph, NULL));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuGraphExecGetId(NULL, &id));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuGraphExecGetId(executable, NULL));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuGraphNodeGetLocalId(NULL, &id));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuGraphNodeGetLocalId(node, NULL));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuGraphNodeGetToolsId(NULL, &wide));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuGraphNodeGetToolsId(node, NULL));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuGraphNodeGetContainingGraph(NULL, &got));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuGraphNodeGetContainingGraph(node, NULL));
    assert_true(id == 77 && wide == 77 && !got);
    OK(cu->cuGraphExecDestroy(executable));
    OK(cu->cuGraphDestroy(graph));
}

/* --- Parameters of a node of any kind --- */

static void test_parameters(void **state)
{
    (void)state;
    NEEDS(cuGraphNodeGetParams);
    CUgraph graph = graph_of(), inner = graph_of(), got = NULL;
    CUdeviceptr address = memory_of(64);
    CUDA_MEMCPY3D copy = copy_of(address + 32, address, 16);
    CUgraphNode host = noting(graph, 5, NULL, 0), copying, child, empty;
    CUgraphNode fill = filling(graph, address, 9, 4, NULL, 0);
    CUgraphNodeParams params;
    OK(cu->cuGraphAddMemcpyNode(&copying, graph, NULL, 0, &copy, memory_context));
    OK(cu->cuGraphAddChildGraphNode(&child, graph, NULL, 0, inner));
    OK(cu->cuGraphAddEmptyNode(&empty, graph, NULL, 0));
    OK(cu->cuGraphNodeGetParams(host, &params));
    assert_int_equal(params.type, CU_GRAPH_NODE_TYPE_HOST);
    assert_true(params.host.fn == note && params.host.userData == (void *)(intptr_t)5);
    OK(cu->cuGraphNodeGetParams(copying, &params));
    assert_int_equal(params.type, CU_GRAPH_NODE_TYPE_MEMCPY);
    assert_int_equal(params.memcpy.copyParams.WidthInBytes, 16);
    assert_ptr_equal(params.memcpy.copyCtx, memory_context);
    OK(cu->cuGraphNodeGetParams(child, &params));
    OK(cu->cuGraphChildGraphNodeGetGraph(child, &got));
    assert_int_equal(params.type, CU_GRAPH_NODE_TYPE_GRAPH);
    assert_ptr_equal(params.graph.graph, got);
    OK(cu->cuGraphNodeGetParams(empty, &params));
    assert_int_equal(params.type, CU_GRAPH_NODE_TYPE_EMPTY);
    /* What is told can be set. */
    OK(cu->cuGraphNodeGetParams(fill, &params));
    assert_int_equal(params.type, CU_GRAPH_NODE_TYPE_MEMSET);
    assert_int_equal(params.memset.value, 9);
    assert_ptr_equal(params.memset.ctx, memory_context);
    params.memset.value = 11;
    OK(cu->cuGraphNodeSetParams(fill, &params));
    OK(cu->cuGraphNodeGetParams(fill, &params));
    assert_int_equal(params.memset.value, 11);
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuGraphNodeGetParams(fill, NULL));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuGraphNodeGetParams(NULL, &params));
    assert_int_equal(params.memset.value, 11);
    OK(cu->cuGraphDestroy(graph));
    OK(cu->cuGraphDestroy(inner));
    OK(cu->cuMemFree_v2(address));
}

/* --- Kernels --- */

static void test_parameter_count(void **state)
{
    static const char ptx[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
                              ".visible .entry none()\n{\n ret;\n}\n"
                              ".visible .entry three(.param .u64 a, .param .u8 b,"
                              " .param .align 16 .b8 c[16])\n{\n ret;\n}\n";
    static const struct {
        const char *name;
        size_t count;
    } rows[] = {{"none", 0}, {"three", 3}};
    CUlibrary library = NULL;
    CUkernel kernel = NULL;
    (void)state;
    NEEDS(cuKernelGetParamCount);
    OK(cu->cuLibraryLoadData(&library, ptx, NULL, NULL, 0, NULL, NULL, 0));
    for (size_t i = 0; i < 2; i++) {
        size_t count = 77, offset, size;
        OK(cu->cuLibraryGetKernel(&kernel, library, rows[i].name));
        OK(cu->cuKernelGetParamCount(kernel, &count));
        assert_int_equal(count, rows[i].count);
        if (count)
            OK(cu->cuKernelGetParamInfo(kernel, count - 1, &offset, &size));
        GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuKernelGetParamInfo(kernel, count, &offset, &size));
    }
    size_t count = 77;
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuKernelGetParamCount(kernel, NULL));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cu->cuKernelGetParamCount(NULL, &count));
    assert_int_equal(count, 77);
    OK(cu->cuLibraryUnload(library));
}

/* --- One copy with attributes --- */

static void test_copy(void **state)
{
    (void)state;
    NEEDS(cuMemcpyWithAttributesAsync);
    CUdeviceptr a = memory_of(64), b = a + 32;
    CUstream stream = stream_of();
    CUmemcpyAttributes good = {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM}, bad = good;
    OK(cu->cuMemsetD32_v2(a, 5, 8));
    OK(cu->cuMemsetD32_v2(b, 6, 8));
    OK(cu->cuCtxSynchronize());
    bad.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_INVALID;
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuMemcpyWithAttributesAsync(b, a, 8, &bad, stream));
    bad.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_MAX;
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuMemcpyWithAttributesAsync(b, a, 8, &bad, stream));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuMemcpyWithAttributesAsync(b, a, 8, NULL, stream));
    OK(cu->cuStreamSynchronize(stream));
    assert_int_equal(word_at(b), 6);
    for (int kind = 1; kind < 4; kind++) {
        good.srcAccessOrder = (CUmemcpySrcAccessOrder)kind;
        OK(cu->cuMemsetD32_v2(a, 10 + (unsigned)kind, 8));
        OK(cu->cuCtxSynchronize());
        OK(cu->cuMemcpyWithAttributesAsync(b, a, 8, &good, stream));
        OK(cu->cuStreamSynchronize(stream));
        assert_int_equal(word_at(b), 10 + kind);
    }
    assert_int_equal(word_at(b + 8), 6); /* no more than it was told to */
    OK(cu->cuStreamDestroy_v2(stream));
    OK(cu->cuMemFree_v2(a));
}

static CUmemcpy3DOperand at(CUdeviceptr address)
{
    CUmemcpy3DOperand operand;
    memset(&operand, 0, sizeof operand);
    operand.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
    operand.op.ptr.ptr = address;
    operand.op.ptr.rowLength = 16;
    operand.op.ptr.layerHeight = 2;
    return operand;
}

static void test_copy_box(void **state)
{
    (void)state;
    NEEDS(cuMemcpy3DWithAttributesAsync);
    CUdeviceptr a = memory_of(128), b = a + 64;
    CUstream stream = stream_of();
    CUDA_MEMCPY3D_BATCH_OP good, bad;
    memset(&good, 0, sizeof good);
    good.src = at(a);
    good.dst = at(b);
    good.extent.width = 4;
    good.extent.height = good.extent.depth = 2;
    good.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
    OK(cu->cuMemsetD32_v2(a, 5, 16));
    OK(cu->cuMemsetD32_v2(b, 6, 16));
    OK(cu->cuCtxSynchronize());
    bad = good;
    bad.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_INVALID;
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuMemcpy3DWithAttributesAsync(&bad, 0, stream));
    bad = good;
    bad.src.type = CU_MEMCPY_OPERAND_TYPE_MAX;
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuMemcpy3DWithAttributesAsync(&bad, 0, stream));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuMemcpy3DWithAttributesAsync(&good, 1, stream));
    GIVES(CUDA_ERROR_INVALID_VALUE, cu->cuMemcpy3DWithAttributesAsync(NULL, 0, stream));
    OK(cu->cuStreamSynchronize(stream));
    assert_int_equal(word_at(b), 6);
    OK(cu->cuMemcpy3DWithAttributesAsync(&good, 0, stream));
    OK(cu->cuStreamSynchronize(stream));
    for (size_t i = 0; i < 16; i++) /* the first word of each row */
        assert_int_equal(word_at(b + 4 * i), i % 4 ? 6 : 5);
    OK(cu->cuStreamDestroy_v2(stream));
    OK(cu->cuMemFree_v2(a));
}

/* --- Multiprocessors of a stream --- */

static void test_stream_resource(void **state)
{
    (void)state;
    NEEDS(cuStreamGetDevResource);
    CUdevResource all, part, rest, told;
    CUdevResourceDesc description = NULL;
    CUgreenCtx green = NULL;
    CUstream stream = stream_of(), narrow = NULL;
    unsigned count = 1;
    OK(cu->cuDeviceGetDevResource(0, &all, CU_DEV_RESOURCE_TYPE_SM));
    OK(cu->cuStreamGetDevResource(stream, &told, CU_DEV_RESOURCE_TYPE_SM));
    assert_int_equal(told.sm.smCount, all.sm.smCount);
    OK(cu->cuStreamGetDevResource(NULL, &told, CU_DEV_RESOURCE_TYPE_SM));
    assert_int_equal(told.sm.smCount, all.sm.smCount);
    OK(cu->cuDevSmResourceSplitByCount(&part, &count, &all, &rest, 0, 1));
    assert_true(part.sm.smCount < all.sm.smCount);
    OK(cu->cuDevResourceGenerateDesc(&description, &part, 1));
    OK(cu->cuGreenCtxCreate(&green, description, 0, CU_GREEN_CTX_DEFAULT_STREAM));
    OK(cu->cuGreenCtxStreamCreate(&narrow, green, CU_STREAM_NON_BLOCKING, 0));
    OK(cu->cuStreamGetDevResource(narrow, &told, CU_DEV_RESOURCE_TYPE_SM));
    assert_int_equal(told.sm.smCount, part.sm.smCount);
    GIVES(CUDA_ERROR_INVALID_RESOURCE_TYPE,
          cu->cuStreamGetDevResource(narrow, &told, CU_DEV_RESOURCE_TYPE_INVALID));
    GIVES(CUDA_ERROR_INVALID_VALUE,
          cu->cuStreamGetDevResource(narrow, NULL, CU_DEV_RESOURCE_TYPE_SM));
    assert_int_equal(told.sm.smCount, part.sm.smCount);
    OK(cu->cuStreamDestroy_v2(narrow));
    OK(cu->cuGreenCtxDestroy(green));
    OK(cu->cuStreamDestroy_v2(stream));
}

static const struct CMUnitTest tests[] = {
    MEMORY_TEST(test_ids),
    MEMORY_OWN(test_ids_in_picture, "the form of the picture"),
    MEMORY_TEST(test_ids_refused),
    MEMORY_TEST(test_parameters),
    MEMORY_TEST(test_parameter_count),
    MEMORY_TEST(test_copy),
    MEMORY_TEST(test_copy_box),
    MEMORY_TEST(test_stream_resource)};
MEMORY_MAIN("newer", tests)
