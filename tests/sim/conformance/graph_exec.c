/* SPDX-License-Identifier: MIT */
/* Graphs that run: kernel, copy and fill nodes, instantiation, update, launch. */
#include "conform.h"

static CUgraph fresh(void)
{
    CUgraph graph = NULL;
    MUST(cu->cuGraphCreate(&graph, 0));
    return graph;
}

static CUDA_KERNEL_NODE_PARAMS kernel_of(const char *name, void **values)
{
    CUDA_KERNEL_NODE_PARAMS params;
    memset(&params, 0, sizeof params);
    params.func = conform_kernel(name);
    params.gridDimX = params.gridDimY = params.gridDimZ = 1;
    params.blockDimX = params.blockDimY = params.blockDimZ = 1;
    params.kernelParams = values;
    return params;
}

static CUDA_MEMSET_NODE_PARAMS fill_of(CUdeviceptr address, unsigned value, size_t width)
{
    CUDA_MEMSET_NODE_PARAMS params;
    memset(&params, 0, sizeof params);
    params.dst = address;
    params.value = value;
    params.elementSize = 4;
    params.width = width;
    params.height = 1;
    return params;
}

static CUDA_MEMCPY3D copy_of(CUdeviceptr to, CUdeviceptr from, size_t size)
{
    CUDA_MEMCPY3D params;
    memset(&params, 0, sizeof params);
    params.srcMemoryType = params.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    params.srcDevice = from;
    params.dstDevice = to;
    params.WidthInBytes = size;
    params.Height = params.Depth = 1;
    return params;
}

static CUgraphExec ready(CUgraph graph)
{
    CUgraphExec executable = NULL;
    MUST(cu->cuGraphInstantiateWithFlags(&executable, graph, 0));
    return executable;
}

static void kernel_node(void)
{
    CUgraph graph = fresh();
    CUgraphNode node = NULL;
    CUdeviceptr a = conform_memory(64);
    unsigned value = 11;
    void *values[] = {&a, &value};
    CUDA_KERNEL_NODE_PARAMS params = kernel_of("store", values), got;
    CALL(cu->cuGraphAddKernelNode(&node, graph, NULL, 0, &params));
    value = 12;
    memset(&got, 0, sizeof got);
    CALL(cu->cuGraphKernelNodeGetParams(node, &got));
    VALUE("func=%d grid=%u block=%u shared=%u value=%u", got.func == params.func, got.gridDimX,
          got.blockDimX, got.sharedMemBytes,
          got.kernelParams ? *(unsigned *)got.kernelParams[1] : 0);
    CUgraphExec executable = ready(graph);
    CALL(cu->cuGraphLaunch(executable, NULL));
    CALL(cu->cuCtxSynchronize());
    VALUE("word=%u", conform_read(a));
    value = 13;
    CALL(cu->cuGraphExecKernelNodeSetParams(executable, node, &params));
    CALL(cu->cuGraphLaunch(executable, NULL));
    CALL(cu->cuCtxSynchronize());
    VALUE("word=%u", conform_read(a));
    value = 14;
    CALL(cu->cuGraphKernelNodeSetParams(node, &params));
    CALL(cu->cuGraphLaunch(executable, NULL));
    CALL(cu->cuCtxSynchronize());
    VALUE("word=%u", conform_read(a));
}

static void kernel_misuse(void)
{
    CUgraph graph = fresh();
    CUgraphNode node = NULL;
    CUdeviceptr a = conform_memory(64);
    unsigned value = 11;
    void *values[] = {&a, &value};
    CUDA_KERNEL_NODE_PARAMS params = kernel_of("store", values);
    params.gridDimX = 0;
    CALL(cu->cuGraphAddKernelNode(&node, graph, NULL, 0, &params));
    params = kernel_of("store", values);
    params.blockDimX = 1025;
    CALL(cu->cuGraphAddKernelNode(&node, graph, NULL, 0, &params));
    params = kernel_of("store", values);
    params.sharedMemBytes = 49153;
    CALL(cu->cuGraphAddKernelNode(&node, graph, NULL, 0, &params));
    params = kernel_of("store", NULL);
    CALL(cu->cuGraphAddKernelNode(&node, graph, NULL, 0, &params));
    params = kernel_of("store", values);
    params.func = NULL;
    CALL(cu->cuGraphAddKernelNode(&node, graph, NULL, 0, &params));
    CALL(cu->cuGraphAddKernelNode(&node, graph, NULL, 0, NULL));
    CALL(cu->cuGraphAddKernelNode(NULL, graph, NULL, 0, &params));
    params = kernel_of("empty", NULL);
    CALL(cu->cuGraphAddKernelNode(&node, graph, NULL, 0, &params));
    CALL(cu->cuGraphMemsetNodeGetParams(node, NULL));
}

static void kernel_attributes(void)
{
    CUgraph graph = fresh();
    CUgraphNode node = NULL, other = NULL;
    CUDA_KERNEL_NODE_PARAMS params = kernel_of("empty", NULL);
    MUST(cu->cuGraphAddKernelNode(&node, graph, NULL, 0, &params));
    MUST(cu->cuGraphAddKernelNode(&other, graph, NULL, 0, &params));
    for (int id = 0; id < 12; id++) {
        CUkernelNodeAttrValue value;
        memset(&value, 0, sizeof value);
        EACH(cu->cuGraphKernelNodeGetAttribute(node, (CUkernelNodeAttrID)id, &value),
             "get attribute %d", id);
        if (id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE || id == CU_LAUNCH_ATTRIBUTE_PRIORITY)
            VALUE("value=%d", value.cooperative);
    }
    CUkernelNodeAttrValue value;
    memset(&value, 0, sizeof value);
    value.priority = -2;
    CALL(cu->cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
    CALL(cu->cuGraphKernelNodeCopyAttributes(other, node));
    value.priority = 0;
    CALL(cu->cuGraphKernelNodeGetAttribute(other, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
    VALUE("priority=%d", value.priority);
    CALL(cu->cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY,
                                           &value));
}

static void fill_node(void)
{
    CUgraph graph = fresh();
    CUgraphNode node = NULL;
    CUdeviceptr a = conform_memory(64);
    CUDA_MEMSET_NODE_PARAMS params = fill_of(a, 21, 4), got;
    CALL(cu->cuGraphAddMemsetNode(&node, graph, NULL, 0, &params, ctx));
    CALL(cu->cuGraphMemsetNodeGetParams(node, &got));
    VALUE("same=%d value=%u size=%u width=%zu height=%zu", got.dst == a, got.value, got.elementSize,
          got.width, got.height);
    CUgraphExec executable = ready(graph);
    CALL(cu->cuGraphLaunch(executable, NULL));
    CALL(cu->cuCtxSynchronize());
    VALUE("word=%u", conform_read(a + 12));
    params.value = 22;
    CALL(cu->cuGraphExecMemsetNodeSetParams(executable, node, &params, ctx));
    CALL(cu->cuGraphLaunch(executable, NULL));
    CALL(cu->cuCtxSynchronize());
    VALUE("word=%u", conform_read(a + 12));
    params.elementSize = 3;
    CALL(cu->cuGraphMemsetNodeSetParams(node, &params));
    params = fill_of(0, 1, 4);
    CALL(cu->cuGraphAddMemsetNode(&node, graph, NULL, 0, &params, ctx));
    params = fill_of(a, 1, 0);
    CALL(cu->cuGraphAddMemsetNode(&node, graph, NULL, 0, &params, ctx));
    params = fill_of(a + 1, 1, 1);
    CALL(cu->cuGraphAddMemsetNode(&node, graph, NULL, 0, &params, ctx));
    params = fill_of(a, 1, 1 << 24);
    CALL(cu->cuGraphAddMemsetNode(&node, graph, NULL, 0, &params, ctx));
    CALL(cu->cuGraphAddMemsetNode(&node, graph, NULL, 0, NULL, ctx));
}

static void copy_node(void)
{
    CUgraph graph = fresh();
    CUgraphNode node = NULL;
    CUdeviceptr a = conform_memory(64), b = conform_memory(64);
    CUDA_MEMCPY3D params = copy_of(b, a, 16), got;
    MUST(cu->cuMemsetD32(a, 31, 16));
    CALL(cu->cuGraphAddMemcpyNode(&node, graph, NULL, 0, &params, ctx));
    CALL(cu->cuGraphMemcpyNodeGetParams(node, &got));
    VALUE("same=%d width=%zu height=%zu depth=%zu", got.dstDevice == b, got.WidthInBytes,
          got.Height, got.Depth);
    CUgraphExec executable = ready(graph);
    CALL(cu->cuGraphLaunch(executable, NULL));
    CALL(cu->cuCtxSynchronize());
    VALUE("word=%u", conform_read(b));
    params = copy_of(b, a + 16, 8);
    CALL(cu->cuGraphExecMemcpyNodeSetParams(executable, node, &params, ctx));
    CALL(cu->cuGraphMemcpyNodeSetParams(node, &params));
    params = copy_of(0, a, 16);
    CALL(cu->cuGraphAddMemcpyNode(&node, graph, NULL, 0, &params, ctx));
    params = copy_of(b, a, 1 << 24);
    CALL(cu->cuGraphAddMemcpyNode(&node, graph, NULL, 0, &params, ctx));
    params = copy_of(b, a, 0);
    CALL(cu->cuGraphAddMemcpyNode(&node, graph, NULL, 0, &params, ctx));
    params = copy_of(b, a, 16);
    params.srcMemoryType = (CUmemorytype)9;
    CALL(cu->cuGraphAddMemcpyNode(&node, graph, NULL, 0, &params, ctx));
    CALL(cu->cuGraphAddMemcpyNode(&node, graph, NULL, 0, NULL, ctx));
}

static void instantiate(void)
{
    CUgraph graph = fresh();
    CUgraphExec executable = (CUgraphExec)&executable;
    cuuint64_t flags = 77;
    CALL(cu->cuGraphInstantiateWithFlags(&executable, NULL, 0));
    VALUE("touched=%d", executable != (CUgraphExec)&executable);
    CALL(cu->cuGraphInstantiateWithFlags(NULL, graph, 0));
    for (unsigned wanted = 0; wanted < 18; wanted = wanted ? wanted * 2 : 1)
        EACH(cu->cuGraphInstantiateWithFlags(&executable, graph, wanted), "flags %u", wanted);
    CALL(cu->cuGraphInstantiateWithFlags(&executable, graph, 0x100));
    CALL(cu->cuGraphInstantiateWithFlags(&executable, graph, 8));
    CALL(cu->cuGraphExecGetFlags(executable, &flags));
    VALUE("flags=%llu", (unsigned long long)flags);
    CALL(cu->cuGraphExecGetFlags(executable, NULL));
    CALL(cu->cuGraphExecGetFlags(NULL, &flags));
    char log[64] = "#";
    CUgraphNode node = (CUgraphNode)&node;
    CALL(cu->cuGraphInstantiate_v2(&executable, graph, &node, log, sizeof log));
    CALL(cu->cuGraphInstantiate_v2(&executable, graph, NULL, NULL, 0));
}

static void instantiate_params(void)
{
    CUgraph graph = fresh();
    CUgraphExec executable = NULL;
    CUDA_GRAPH_INSTANTIATE_PARAMS params;
    memset(&params, 0, sizeof params);
    params.result_out = (CUgraphInstantiateResult)77;
    CALL(cu->cuGraphInstantiateWithParams(&executable, graph, &params));
    VALUE("result=%d", (int)params.result_out);
    params.flags = CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD;
    params.hUploadStream = conform_stream();
    CALL(cu->cuGraphInstantiateWithParams(&executable, graph, &params));
    VALUE("result=%d", (int)params.result_out);
    params.flags = 0x100;
    CALL(cu->cuGraphInstantiateWithParams(&executable, graph, &params));
    VALUE("result=%d", (int)params.result_out);
    CALL(cu->cuGraphInstantiateWithParams(&executable, NULL, &params));
    CALL(cu->cuGraphInstantiateWithParams(&executable, graph, NULL));
}

static void launch_misuse(void)
{
    CUgraph graph = fresh();
    CUgraphExec executable = ready(graph);
    CALL(cu->cuGraphLaunch(NULL, NULL));
    CALL(cu->cuGraphUpload(NULL, NULL));
    CALL(cu->cuGraphUpload(executable, NULL));
    CALL(cu->cuGraphUpload(executable, conform_stream()));
    CALL(cu->cuGraphLaunch(executable, NULL));
    CALL(cu->cuGraphLaunch(executable, CU_STREAM_PER_THREAD));
    CALL(cu->cuGraphDestroy(graph));
    CALL(cu->cuGraphLaunch(executable, NULL));
    CALL(cu->cuCtxSynchronize());
    CALL(cu->cuGraphExecDestroy(executable));
    CALL(cu->cuGraphExecDestroy(NULL));
}

static void launch_pending(void)
{
    CUgraph graph = fresh();
    CUgraphNode node = NULL;
    struct gate gate = {0, 0};
    CUDA_HOST_NODE_PARAMS params = {gate_wait, &gate};
    CUstream stream = conform_stream();
    MUST(cu->cuGraphAddHostNode(&node, graph, NULL, 0, &params));
    CUgraphExec executable = ready(graph);
    CALL(cu->cuGraphLaunch(executable, stream));
    CALL(cu->cuStreamQuery(stream));
    CALL(cu->cuGraphLaunch(executable, stream));
    CALL(cu->cuGraphExecDestroy(executable));
    gate.open = 1;
    CALL(cu->cuStreamSynchronize(stream));
    VALUE("passed=%d", gate.passed);
}

static void order(void)
{
    CUgraph graph = fresh();
    CUgraphNode one = NULL, two = NULL, three = NULL;
    CUdeviceptr a = conform_memory(64), b = conform_memory(64);
    void *values[] = {&b};
    CUDA_MEMSET_NODE_PARAMS fill = fill_of(a, 40, 4);
    CUDA_MEMCPY3D copy = copy_of(b, a, 16);
    CUDA_KERNEL_NODE_PARAMS kernel = kernel_of("count", values);
    kernel.blockDimX = 2;
    CALL(cu->cuGraphAddKernelNode(&three, graph, NULL, 0, &kernel));
    CALL(cu->cuGraphAddMemcpyNode(&two, graph, NULL, 0, &copy, ctx));
    CALL(cu->cuGraphAddMemsetNode(&one, graph, NULL, 0, &fill, ctx));
    CALL(cu->cuGraphAddDependencies(graph, &one, &two, NULL, 1));
    CALL(cu->cuGraphAddDependencies(graph, &two, &three, NULL, 1));
    CUgraphExec executable = ready(graph);
    CALL(cu->cuGraphLaunch(executable, conform_stream()));
    CALL(cu->cuCtxSynchronize());
    VALUE("word=%u", conform_read(b));
}

static CUgraph simple(CUdeviceptr a, unsigned value, const char *name)
{
    CUgraph graph = fresh();
    CUgraphNode node = NULL;
    void *values[] = {&a, &value};
    CUDA_KERNEL_NODE_PARAMS kernel = kernel_of(name, values);
    MUST(cu->cuGraphAddKernelNode(&node, graph, NULL, 0, &kernel));
    return graph;
}

static void update(void)
{
    CUdeviceptr a = conform_memory(64);
    CUgraph first = simple(a, 1, "store"), second = simple(a, 2, "store");
    CUgraphExec executable = ready(first);
    CUgraphExecUpdateResultInfo info;
    memset(&info, 0x77, sizeof info);
    CALL(cu->cuGraphExecUpdate_v2(executable, second, &info));
    VALUE("result=%d", (int)info.result);
    CALL(cu->cuGraphLaunch(executable, NULL));
    CALL(cu->cuCtxSynchronize());
    VALUE("word=%u", conform_read(a));
    CALL(cu->cuGraphExecUpdate_v2(executable, simple(a, 3, "count"), &info));
    VALUE("result=%d", (int)info.result);
    CUgraph two = simple(a, 3, "store");
    CUgraphNode more = NULL;
    MUST(cu->cuGraphAddEmptyNode(&more, two, NULL, 0));
    CALL(cu->cuGraphExecUpdate_v2(executable, two, &info));
    VALUE("result=%d", (int)info.result);
    CUgraph other = fresh();
    MUST(cu->cuGraphAddEmptyNode(&more, other, NULL, 0));
    CALL(cu->cuGraphExecUpdate_v2(executable, other, &info));
    VALUE("result=%d node=%d", (int)info.result, info.errorNode == more);
    CALL(cu->cuGraphExecUpdate_v2(executable, fresh(), &info));
    VALUE("result=%d", (int)info.result);
    CALL(cu->cuGraphLaunch(executable, NULL));
    CALL(cu->cuCtxSynchronize());
}

static void update_misuse(void)
{
    CUdeviceptr a = conform_memory(64);
    CUgraph graph = simple(a, 1, "store");
    CUgraphExec executable = ready(graph);
    CUgraphExecUpdateResultInfo info;
    CUgraphExecUpdateResult result = (CUgraphExecUpdateResult)77;
    CUgraphNode node = NULL;
    CALL(cu->cuGraphExecUpdate_v2(NULL, graph, &info));
    CALL(cu->cuGraphExecUpdate_v2(executable, NULL, &info));
    CALL(cu->cuGraphExecUpdate_v1(executable, graph, &node, &result));
    VALUE("result=%d", (int)result);
    CALL(cu->cuGraphExecUpdate_v1(executable, simple(a, 1, "count"), &node, &result));
    VALUE("result=%d", (int)result);
}

static void enabled(void)
{
    CUgraph graph = fresh();
    CUgraphNode node = NULL, none = NULL;
    CUdeviceptr a = conform_memory(64);
    CUDA_MEMSET_NODE_PARAMS fill = fill_of(a, 50, 4);
    unsigned is = 77;
    MUST(cu->cuMemsetD32(a, 1, 4));
    MUST(cu->cuGraphAddMemsetNode(&node, graph, NULL, 0, &fill, ctx));
    MUST(cu->cuGraphAddEmptyNode(&none, graph, NULL, 0));
    CUgraphExec executable = ready(graph);
    CALL(cu->cuGraphNodeGetEnabled(executable, node, &is));
    VALUE("enabled=%u", is);
    CALL(cu->cuGraphNodeSetEnabled(executable, node, 0));
    CALL(cu->cuGraphNodeGetEnabled(executable, node, &is));
    VALUE("enabled=%u", is);
    CALL(cu->cuGraphLaunch(executable, NULL));
    CALL(cu->cuCtxSynchronize());
    VALUE("word=%u", conform_read(a));
    CALL(cu->cuGraphNodeSetEnabled(executable, node, 2));
    CALL(cu->cuGraphNodeSetEnabled(executable, none, 0));
    CALL(cu->cuGraphNodeSetEnabled(executable, NULL, 0));
    CALL(cu->cuGraphNodeGetEnabled(executable, node, NULL));
}

static void wrong_set(void)
{
    CUgraph graph = fresh();
    CUgraphNode kernel = NULL, fill = NULL;
    CUdeviceptr a = conform_memory(64);
    CUDA_KERNEL_NODE_PARAMS kernel_params = kernel_of("empty", NULL);
    CUDA_MEMSET_NODE_PARAMS fill_params = fill_of(a, 50, 4);
    MUST(cu->cuGraphAddKernelNode(&kernel, graph, NULL, 0, &kernel_params));
    MUST(cu->cuGraphAddMemsetNode(&fill, graph, NULL, 0, &fill_params, ctx));
    CUgraphExec executable = ready(graph);
    CALL(cu->cuGraphKernelNodeSetParams(fill, &kernel_params));
    CALL(cu->cuGraphMemsetNodeSetParams(kernel, &fill_params));
    CALL(cu->cuGraphExecKernelNodeSetParams(executable, fill, &kernel_params));
    CALL(cu->cuGraphExecMemsetNodeSetParams(executable, kernel, &fill_params, ctx));
    CALL(cu->cuGraphKernelNodeGetParams(fill, &kernel_params));
    CALL(cu->cuGraphKernelNodeSetParams(kernel, NULL));
    kernel_params = kernel_of("bounded", NULL);
    CALL(cu->cuGraphExecKernelNodeSetParams(executable, kernel, &kernel_params));
    kernel_params.gridDimX = 0;
    CALL(cu->cuGraphExecKernelNodeSetParams(executable, kernel, &kernel_params));
    fill_params.width = 8;
    CALL(cu->cuGraphExecMemsetNodeSetParams(executable, fill, &fill_params, ctx));
}

static void memory_operation_node(void)
{
    CUgraph graph = fresh();
    CUgraphNode node = NULL;
    CUdeviceptr a = conform_memory(64);
    CUstreamBatchMemOpParams write;
    CUDA_BATCH_MEM_OP_NODE_PARAMS params;
    memset(&write, 0, sizeof write);
    memset(&params, 0, sizeof params);
    write.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    write.writeValue.address = a;
    write.writeValue.value = 61;
    params.ctx = ctx;
    params.count = 1;
    params.paramArray = &write;
    CALL(cu->cuGraphAddBatchMemOpNode(&node, graph, NULL, 0, &params));
    CUgraphExec executable = ready(graph);
    CALL(cu->cuGraphLaunch(executable, NULL));
    CALL(cu->cuCtxSynchronize());
    VALUE("word=%u", conform_read(a));
    params.count = 0;
    CALL(cu->cuGraphAddBatchMemOpNode(&node, graph, NULL, 0, &params));
    params.count = 1;
    params.flags = 1;
    CALL(cu->cuGraphAddBatchMemOpNode(&node, graph, NULL, 0, &params));
}

static void dot(void)
{
    CUgraph graph = fresh();
    CALL(cu->cuGraphDebugDotPrint(graph, "/dev/null", 0));
    CALL(cu->cuGraphDebugDotPrint(graph, "/no/such/folder/file", 0));
    CALL(cu->cuGraphDebugDotPrint(graph, NULL, 0));
    CALL(cu->cuGraphDebugDotPrint(NULL, "/dev/null", 0));
}

static const struct sequence sequences[] = {S(kernel_node, PRIMARY),
                                            S(kernel_misuse, PRIMARY),
                                            S(kernel_attributes, PRIMARY),
                                            S(fill_node, PRIMARY),
                                            S(copy_node, PRIMARY),
                                            S(instantiate, PRIMARY),
                                            S(instantiate_params, PRIMARY),
                                            S(launch_misuse, PRIMARY),
                                            S(launch_pending, PRIMARY),
                                            S(order, PRIMARY),
                                            S(update, PRIMARY),
                                            S(update_misuse, PRIMARY),
                                            S(enabled, PRIMARY),
                                            S(wrong_set, PRIMARY),
                                            S(memory_operation_node, PRIMARY),
                                            S(dot, PRIMARY),
                                            {0}};
const struct family graph_exec_family = {"graph_exec", sequences};
