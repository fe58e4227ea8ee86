/* SPDX-License-Identifier: MIT */
/* Conditional nodes of graphs, without a kernel that sets their values. */
#include "conform.h"

#define ASSIGN CU_GRAPH_COND_ASSIGN_DEFAULT

static CUgraph new_graph(void)
{
    CUgraph graph = NULL;
    MUST(cu->cuGraphCreate(&graph, 0));
    return graph;
}

static CUgraphNodeParams params_of(CUgraphConditionalHandle handle, CUgraphConditionalNodeType type,
                                   unsigned size)
{
    CUgraphNodeParams params;
    memset(&params, 0, sizeof params);
    params.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    params.conditional.handle = handle;
    params.conditional.type = type;
    params.conditional.size = size;
    params.conditional.ctx = ctx;
    return params;
}

static CUgraphConditionalHandle handle_of(CUgraph graph, unsigned value)
{
    CUgraphConditionalHandle handle = 0;
    MUST(cu->cuGraphConditionalHandleCreate(&handle, graph, ctx, value, ASSIGN));
    return handle;
}

/* A node that fills one word. */
static CUgraphNode fill(CUgraph graph, CUdeviceptr address, unsigned value)
{
    CUDA_MEMSET_NODE_PARAMS fill = {.dst = address, .value = value, .elementSize = 4};
    CUgraphNode node = NULL;
    fill.width = fill.height = 1;
    CALL(cu->cuGraphAddMemsetNode(&node, graph, NULL, 0, &fill, ctx));
    return node;
}

static void cond_handles(void)
{
    CUgraphConditionalHandle a = 77, b = 77;
    CUgraph graph = new_graph(), gone = new_graph();
    CALL(cu->cuGraphConditionalHandleCreate(NULL, graph, ctx, 0, 0));
    CALL(cu->cuGraphConditionalHandleCreate(&a, NULL, ctx, 0, 0));
    CALL(cu->cuGraphConditionalHandleCreate(&a, graph, NULL, 0, 0));
    CALL(cu->cuGraphConditionalHandleCreate(&b, graph, ctx, 0, ASSIGN));
    VALUE("same=%d", a == b);
    CALL(cu->cuGraphConditionalHandleCreate(&b, graph, ctx, 5, 0));
    CALL(cu->cuGraphConditionalHandleCreate(&b, graph, ctx, 5, 2));
    MUST(cu->cuGraphDestroy(gone));
    CALL(cu->cuGraphConditionalHandleCreate(&b, gone, ctx, 0, 0));
    CUgraphExec exec = NULL;
    CALL(cu->cuGraphInstantiateWithFlags(&exec, graph, 0));
}

static void cond_add(void)
{
    CUgraph graph = new_graph(), other = new_graph();
    CUgraphConditionalHandle handle = handle_of(graph, 1), elsewhere = handle_of(other, 1);
    CUgraphNode node = NULL, second = NULL;
    CUgraphNodeType type = (CUgraphNodeType)77;
    CUgraphNodeParams params = params_of(handle, CU_GRAPH_COND_TYPE_IF, 0);
    size_t count = 77;
    CALL(cu->cuGraphAddNode(&node, graph, NULL, NULL, 0, &params));
    params = params_of(handle, CU_GRAPH_COND_TYPE_IF, 3);
    CALL(cu->cuGraphAddNode(&node, graph, NULL, NULL, 0, &params));
    params = params_of(handle, CU_GRAPH_COND_TYPE_WHILE, 2);
    CALL(cu->cuGraphAddNode(&node, graph, NULL, NULL, 0, &params));
    params = params_of(handle, CU_GRAPH_COND_TYPE_SWITCH, 0);
    CALL(cu->cuGraphAddNode(&node, graph, NULL, NULL, 0, &params));
    params = params_of(handle, (CUgraphConditionalNodeType)3, 1);
    CALL(cu->cuGraphAddNode(&node, graph, NULL, NULL, 0, &params));
    NOTE("equal=%d", handle == elsewhere);
    params = params_of(12345, CU_GRAPH_COND_TYPE_IF, 1);
    CALL(cu->cuGraphAddNode(&node, graph, NULL, NULL, 0, &params));
    params = params_of(0, CU_GRAPH_COND_TYPE_IF, 1);
    CALL(cu->cuGraphAddNode(&node, graph, NULL, NULL, 0, &params));
    params = params_of(handle, CU_GRAPH_COND_TYPE_IF, 1);
    params.conditional.ctx = NULL;
    CALL(cu->cuGraphAddNode(&second, graph, NULL, NULL, 0, &params));
    params = params_of(handle_of(graph, 1), CU_GRAPH_COND_TYPE_IF, 2);
    CALL(cu->cuGraphAddNode(&node, graph, NULL, NULL, 0, &params));
    VALUE("out=%d two=%d", !!params.conditional.phGraph_out,
          params.conditional.phGraph_out && params.conditional.phGraph_out[0] &&
              params.conditional.phGraph_out[1]);
    CUgraph body = params.conditional.phGraph_out ? params.conditional.phGraph_out[0] : NULL;
    CALL(cu->cuGraphNodeGetType(node, &type));
    VALUE("%d", (int)type);
    params = params_of(handle, CU_GRAPH_COND_TYPE_IF, 1);
    CALL(cu->cuGraphAddNode(&second, graph, NULL, NULL, 0, &params));
    CALL(cu->cuGraphGetNodes(graph, NULL, &count));
    VALUE("%zu", count);
    CALL(cu->cuGraphGetNodes(body, NULL, &count));
    VALUE("%zu", count);
    CALL(cu->cuGraphDestroy(body));
    CUgraph copy = NULL, child = NULL;
    params = params_of(handle_of(other, 1), CU_GRAPH_COND_TYPE_IF, 1);
    CALL(cu->cuGraphAddNode(&second, body, NULL, NULL, 0, &params));
    CALL(cu->cuGraphConditionalHandleCreate(&handle, body, ctx, 1, ASSIGN));
    params = params_of(handle, CU_GRAPH_COND_TYPE_IF, 1);
    CALL(cu->cuGraphAddNode(&second, body, NULL, NULL, 0, &params));
    CALL(cu->cuGraphConditionalHandleCreate(&handle, body, ctx, 1, ASSIGN));
    params = params_of(handle, CU_GRAPH_COND_TYPE_IF, 1);
    CALL(cu->cuGraphAddNode(&second, graph, NULL, NULL, 0, &params));
    CALL(cu->cuGraphDestroyNode(second));
    CALL(cu->cuGraphClone(&copy, graph));
    CALL(cu->cuGraphChildGraphNodeGetGraph(node, &child));
    CALL(cu->cuGraphAddChildGraphNode(&second, other, NULL, 0, graph));
    CALL(cu->cuGraphAddChildGraphNode(&second, other, NULL, 0, body));
    CALL(cu->cuGraphDestroyNode(node));
    CALL(cu->cuGraphDestroy(graph));
}

/* What a body may hold. */
static void cond_bodies(void)
{
    CUgraph graph = new_graph(), empty = new_graph();
    CUgraphConditionalHandle handle = handle_of(graph, 1);
    CUgraphNodeParams params = params_of(handle, CU_GRAPH_COND_TYPE_IF, 1), inner;
    CUgraphNode node = NULL;
    CUgraphExec exec = NULL;
    CUDA_MEM_ALLOC_NODE_PARAMS alloc;
    CUdeviceptr a = conform_memory(64);
    unsigned word = 7;
    CALL(cu->cuGraphAddNode(&node, graph, NULL, NULL, 0, &params));
    if (!params.conditional.phGraph_out)
        return;
    CUgraph body = params.conditional.phGraph_out[0];
    fill(body, a, 5);
    CALL(cu->cuGraphAddEmptyNode(&node, body, NULL, 0));
    CALL(cu->cuGraphAddChildGraphNode(&node, body, NULL, 0, empty));
    CUDA_MEMCPY3D copy;
    memset(&copy, 0, sizeof copy);
    copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = a;
    copy.dstDevice = a + 32;
    copy.WidthInBytes = 4;
    copy.Height = copy.Depth = 1;
    CALL(cu->cuGraphAddMemcpyNode(&node, body, NULL, 0, &copy, ctx));
    CUDA_KERNEL_NODE_PARAMS kernel;
    memset(&kernel, 0, sizeof kernel);
    kernel.func = conform_kernel("empty");
    kernel.gridDimX = kernel.gridDimY = kernel.gridDimZ = 1;
    kernel.blockDimX = kernel.blockDimY = kernel.blockDimZ = 1;
    CALL(cu->cuGraphAddKernelNode(&node, body, NULL, 0, &kernel));
    inner = params_of(handle_of(graph, 1), CU_GRAPH_COND_TYPE_IF, 1);
    CALL(cu->cuGraphAddNode(&node, body, NULL, NULL, 0, &inner));
    if (inner.conditional.phGraph_out)
        fill(inner.conditional.phGraph_out[0], a + 16, 6);
    CALL(cu->cuGraphInstantiateWithFlags(&exec, graph, 0));
    CALL(cu->cuGraphLaunch(exec, NULL));
    CALL(cu->cuCtxSynchronize());
    NOTE("%u %u", conform_read(a), conform_read(a + 16));
    memset(&alloc, 0, sizeof alloc);
    alloc.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    alloc.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    alloc.bytesize = 64;
    CALL(cu->cuGraphAddMemAllocNode(&node, body, NULL, 0, &alloc));
    CALL(cu->cuGraphInstantiateWithFlags(&exec, graph, 0));
    CALL(cu->cuGraphDestroyNode(node));
    copy.dstMemoryType = CU_MEMORYTYPE_HOST;
    copy.dstHost = &word;
    CALL(cu->cuGraphAddMemcpyNode(&node, body, NULL, 0, &copy, ctx));
    CALL(cu->cuGraphInstantiateWithFlags(&exec, graph, 0));
}

/* What no body may hold, each alone. */
static void cond_kinds(void)
{
    struct gate gate = {.open = 1};
    unsigned *page = NULL, word = 7;
    CUdeviceptr a = conform_memory(64);
    MUST(cu->cuMemHostAlloc((void **)&page, 64, 0));
    for (unsigned kind = 0; kind < 7; kind++) {
        CUgraph graph = new_graph();
        CUgraphNodeParams params = params_of(handle_of(graph, 1), CU_GRAPH_COND_TYPE_IF, 1);
        CUgraphNode node = NULL;
        CUgraphExec exec = NULL;
        CUDA_HOST_NODE_PARAMS host = {.fn = gate_wait, .userData = &gate};
        CUDA_MEMCPY3D copy;
        CUDA_BATCH_MEM_OP_NODE_PARAMS batch;
        CUstreamBatchMemOpParams operation;
        memset(&copy, 0, sizeof copy);
        memset(&batch, 0, sizeof batch);
        memset(&operation, 0, sizeof operation);
        MUST(cu->cuGraphAddNode(&node, graph, NULL, NULL, 0, &params));
        CUgraph body = params.conditional.phGraph_out[0];
        copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
        copy.dstMemoryType = CU_MEMORYTYPE_HOST;
        copy.srcDevice = a;
        copy.dstHost = kind == 3 ? page : &word;
        copy.WidthInBytes = 4;
        copy.Height = copy.Depth = 1;
        operation.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
        operation.writeValue.address = a;
        batch.ctx = ctx;
        batch.count = 1;
        batch.paramArray = &operation;
        NOTE("kind %u", kind);
        switch (kind) {
        case 0:
            CALL(cu->cuGraphAddHostNode(&node, body, NULL, 0, &host));
            break;
        case 1:
            CALL(cu->cuGraphAddEventRecordNode(&node, body, NULL, 0, conform_event()));
            break;
        case 2:
            CALL(cu->cuGraphAddEventWaitNode(&node, body, NULL, 0, conform_event()));
            break;
        case 3:
        case 4:
            CALL(cu->cuGraphAddMemcpyNode(&node, body, NULL, 0, &copy, ctx));
            break;
        case 5:
            CALL(cu->cuGraphAddBatchMemOpNode(&node, body, NULL, 0, &batch));
            break;
        default:
            CALL(cu->cuGraphAddMemFreeNode(&node, body, NULL, 0, a));
        }
        CALL(cu->cuGraphInstantiateWithFlags(&exec, graph, 0));
    }
}

/* A value that is not set again stays from launch to launch, or is set to the default; one body in
 * several launches; a disabled graph of nothing. */
static void cond_kept(void)
{
    CUdeviceptr a = conform_memory(64);
    CUgraph graph = new_graph();
    CUgraphConditionalHandle handle = 0;
    CUgraphNode node = NULL;
    CUgraphExec exec = NULL;
    CUgraphNodeParams params, empty;
    MUST(cu->cuGraphConditionalHandleCreate(&handle, graph, ctx, 1, 0)); /* no default */
    params = params_of(handle, CU_GRAPH_COND_TYPE_IF, 1);
    CALL(cu->cuGraphAddNode(&node, graph, NULL, NULL, 0, &params));
    fill(params.conditional.phGraph_out[0], a, 5);
    empty = params_of(handle_of(graph, 1), CU_GRAPH_COND_TYPE_IF, 1);
    CALL(cu->cuGraphAddNode(&node, graph, NULL, NULL, 0, &empty));
    MUST(cu->cuMemsetD32(a, 99, 16));
    CALL(cu->cuGraphInstantiateWithFlags(&exec, graph, 0));
    CALL(cu->cuGraphLaunch(exec, NULL));
    CALL(cu->cuCtxSynchronize());
    NOTE("%u", conform_read(a));
}

/* Default values decide: which body runs. */
static void cond_defaults(void)
{
    for (unsigned value = 0; value < 4; value++) {
        CUdeviceptr a = conform_memory(64);
        CUgraph graph = new_graph();
        CUgraphNode node = NULL, after = NULL;
        CUgraphExec exec = NULL;
        CUgraphNodeParams params[3];
        static const CUgraphConditionalNodeType types[] = {
            CU_GRAPH_COND_TYPE_IF, CU_GRAPH_COND_TYPE_SWITCH, CU_GRAPH_COND_TYPE_WHILE};
        MUST(cu->cuMemsetD32(a, 99, 16));
        for (unsigned i = 0; i < 3; i++) {
            params[i] = params_of(handle_of(graph, i == 2 ? 0 : value), types[i], i == 2 ? 1 : 2);
            EACH(cu->cuGraphAddNode(&node, graph, NULL, NULL, 0, &params[i]), "add type %u", i);
            for (unsigned j = 0;
                 params[i].conditional.phGraph_out && j < params[i].conditional.size; j++)
                fill(params[i].conditional.phGraph_out[j], a + 8 * i + 4 * j, 10 * i + j);
        }
        CALL(cu->cuGraphAddEmptyNode(&after, graph, &node, 1));
        CALL(cu->cuGraphInstantiateWithFlags(&exec, graph, 0));
        for (int turn = 0; turn < 2; turn++) {
            CALL(cu->cuGraphLaunch(exec, NULL));
            CALL(cu->cuCtxSynchronize());
            NOTE("value %u:", value);
            for (unsigned i = 0; i < 5; i++)
                VALUE("%u", conform_read(a + 4 * i));
        }
    }
}

/* set(h, p, most): *p += 1; the value is *p < most. choose(h, v): the value is v. */
static const char setting_ptx[] =
    ".version 8.3\n.target sm_50\n.address_size 64\n"
    ".extern .func cudaGraphSetConditional(.param .b64 a, .param .b32 b);\n"
    ".visible .entry set(.param .u64 h, .param .u64 p, .param .u32 most)\n{\n"
    " .reg .u64 rh, ra;\n .reg .u32 x, y;\n .reg .pred q;\n"
    " ld.param.u64 rh, [h];\n ld.param.u64 ra, [p];\n ld.param.u32 y, [most];\n"
    " ld.global.u32 x, [ra];\n add.u32 x, x, 1;\n st.global.u32 [ra], x;\n"
    " setp.lt.u32 q, x, y;\n selp.u32 x, 1, 0, q;\n"
    " {\n .param .b64 f;\n .param .b32 g;\n st.param.b64 [f], rh;\n st.param.b32 [g], x;\n"
    " call.uni cudaGraphSetConditional, (f, g);\n }\n ret;\n}\n"
    ".visible .entry choose(.param .u64 h, .param .u32 v)\n{\n"
    " .reg .u64 rh;\n .reg .u32 x;\n ld.param.u64 rh, [h];\n ld.param.u32 x, [v];\n"
    " {\n .param .b64 f;\n .param .b32 g;\n st.param.b64 [f], rh;\n st.param.b32 [g], x;\n"
    " call.uni cudaGraphSetConditional, (f, g);\n }\n ret;\n}\n";

static CUDA_KERNEL_NODE_PARAMS kernel_of(CUfunction function, void **values)
{
    CUDA_KERNEL_NODE_PARAMS kernel;
    memset(&kernel, 0, sizeof kernel);
    kernel.func = function;
    kernel.gridDimX = kernel.gridDimY = kernel.gridDimZ = 1;
    kernel.blockDimX = kernel.blockDimY = kernel.blockDimZ = 1;
    kernel.kernelParams = values;
    return kernel;
}

/* Kernels set the values: a loop of five turns, one body of three, and a loop in a loop. */
static void cond_set(void)
{
    CUmodule module = NULL;
    CUfunction set = NULL, choose = NULL;
    CUdeviceptr a = conform_memory(64);
    CUgraph graph = new_graph();
    CUgraphConditionalHandle loop = handle_of(graph, 1), one = 0, inner = handle_of(graph, 1);
    CUgraphNode node = NULL, before = NULL;
    CUgraphExec exec = NULL;
    unsigned most = 5, which = 2, turns = 3;
    CUdeviceptr b = a + 8;
    void *set_values[] = {&loop, &a, &most}, *choose_values[] = {&one, &which};
    void *inner_values[] = {&inner, &b, &turns};
    CALL(cu->cuModuleLoadData(&module, setting_ptx));
    CALL(cu->cuModuleGetFunction(&set, module, "set"));
    CALL(cu->cuModuleGetFunction(&choose, module, "choose"));
    CALL(cu->cuGraphConditionalHandleCreate(&one, graph, ctx, 0, 0));
    CUgraphNodeParams params = params_of(loop, CU_GRAPH_COND_TYPE_WHILE, 1);
    CALL(cu->cuGraphAddNode(&node, graph, NULL, NULL, 0, &params));
    if (!params.conditional.phGraph_out)
        return;
    CUgraph body = params.conditional.phGraph_out[0];
    CUDA_KERNEL_NODE_PARAMS kernel = kernel_of(set, set_values);
    CALL(cu->cuGraphAddKernelNode(&before, body, NULL, 0, &kernel));
    params = params_of(inner, CU_GRAPH_COND_TYPE_WHILE, 1);
    CALL(cu->cuGraphAddNode(&node, body, &before, NULL, 1, &params));
    kernel = kernel_of(set, inner_values);
    CALL(cu->cuGraphAddKernelNode(&node, params.conditional.phGraph_out[0], NULL, 0, &kernel));
    kernel = kernel_of(choose, choose_values);
    CALL(cu->cuGraphAddKernelNode(&before, graph, NULL, 0, &kernel));
    params = params_of(one, CU_GRAPH_COND_TYPE_SWITCH, 3);
    CALL(cu->cuGraphAddNode(&node, graph, &before, NULL, 1, &params));
    for (unsigned i = 0; i < 3; i++)
        fill(params.conditional.phGraph_out[i], a + 16 + 4 * i, 100 + i);
    MUST(cu->cuMemsetD32(a, 0, 16));
    CALL(cu->cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (int turn = 0; turn < 2; turn++) {
        CALL(cu->cuGraphLaunch(exec, NULL));
        CALL(cu->cuCtxSynchronize());
        NOTE("%u %u, %u %u %u", conform_read(a), conform_read(b), conform_read(a + 16),
             conform_read(a + 20), conform_read(a + 24));
    }
}

/* Parameters, updates, captures into a body, the text form. */
static void cond_others(void)
{
    CUgraph graph = new_graph(), seen = NULL;
    CUgraphConditionalHandle handle = handle_of(graph, 1);
    CUgraphNodeParams params = params_of(handle, CU_GRAPH_COND_TYPE_IF, 1);
    CUgraphNode node = NULL;
    CUgraphExec exec = NULL;
    CUgraphExecUpdateResultInfo info;
    CUdeviceptr a = conform_memory(64);
    CUstream stream = conform_stream();
    unsigned on = 7;
    CALL(cu->cuGraphAddNode(&node, graph, NULL, NULL, 0, &params));
    if (!params.conditional.phGraph_out)
        return;
    CUgraph body = params.conditional.phGraph_out[0];
    CALL(cu->cuStreamBeginCaptureToGraph(stream, body, NULL, NULL, 0,
                                         CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    CALL(cu->cuMemsetD32Async(a, 5, 1, stream));
    CALL(cu->cuStreamEndCapture(stream, &seen));
    VALUE("same=%d", seen == body);
    CALL(cu->cuGraphInstantiateWithFlags(&exec, graph, 0));
    CALL(cu->cuGraphLaunch(exec, stream));
    CALL(cu->cuStreamSynchronize(stream));
    NOTE("%u", conform_read(a));
    params = params_of(handle, CU_GRAPH_COND_TYPE_IF, 1);
    CALL(cu->cuGraphNodeSetParams(node, &params));
    CALL(cu->cuGraphExecNodeSetParams(exec, node, &params));
    CALL(cu->cuGraphExecUpdate(exec, graph, &info));
    VALUE("%d", (int)info.result);
    CALL(cu->cuGraphNodeSetEnabled(exec, node, 0));
    CALL(cu->cuGraphNodeGetEnabled(exec, node, &on));
    CALL(cu->cuGraphUpload(exec, stream));
    CALL(cu->cuGraphExecDestroy(exec));
    CALL(cu->cuGraphInstantiateWithFlags(&exec, graph, 0));
    CALL(cu->cuGraphInstantiateWithFlags(&exec, body, 0));
    CALL(cu->cuGraphLaunch(exec, stream));
    CALL(cu->cuGraphDestroy(graph));
    CALL(cu->cuGraphGetNodes(body, NULL, NULL));
}

static const struct sequence sequences[] = {
    S(cond_handles, PRIMARY), S(cond_add, PRIMARY),    S(cond_bodies, PRIMARY),
    S(cond_kinds, PRIMARY),   S(cond_kept, PRIMARY),   S(cond_defaults, PRIMARY),
    S(cond_set, PRIMARY),     S(cond_others, PRIMARY), {NULL, NULL, BARE},
};
const struct family conditional_family = {"conditional", sequences};
