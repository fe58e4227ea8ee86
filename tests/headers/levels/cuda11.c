/* SPDX-License-Identifier: MIT */
/* Calls as source for CUDA 11 makes them, of names that mean something else since. */
CUresult call_cuCtxCreate(CUcontext *context, CUdevice device)
{
    return CALL(cuCtxCreate)(context, CU_CTX_SCHED_AUTO, device);
}

CUresult call_cuDeviceGetUuid(CUuuid *uuid, CUdevice device)
{
    return CALL(cuDeviceGetUuid)(uuid, device);
}

CUresult call_cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end)
{
    return CALL(cuEventElapsedTime)(milliseconds, start, end);
}

#ifndef NO_PROC_MEMBER
CUresult call_cuGetProcAddress(void **function)
{
    return CALL(cuGetProcAddress)("cuInit", function, 11040, CU_GET_PROC_ADDRESS_DEFAULT);
}
#endif

CUresult call_cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to)
{
    return CALL(cuGraphAddDependencies)(graph, from, to, 1);
}

CUresult call_cuGraphAddKernelNode(CUgraphNode *node, CUgraph graph)
{
    CUDA_KERNEL_NODE_PARAMS params = {0, 1, 1, 1, 1, 1, 1, 0, 0, 0};
    return CALL(cuGraphAddKernelNode)(node, graph, 0, 0, &params);
}

CUresult call_cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node)
{
    CUDA_KERNEL_NODE_PARAMS params = {0, 1, 1, 1, 1, 1, 1, 0, 0, 0};
    return CALL(cuGraphExecKernelNodeSetParams)(exec, node, &params);
}

CUresult call_cuGraphExecUpdate(CUgraphExec exec, CUgraph graph)
{
    CUgraphNode node;
    CUgraphExecUpdateResult result;
    return CALL(cuGraphExecUpdate)(exec, graph, &node, &result);
}

CUresult call_cuGraphGetEdges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, size_t *count)
{
    return CALL(cuGraphGetEdges)(graph, from, to, count);
}

CUresult call_cuGraphInstantiate(CUgraphExec *exec, CUgraph graph)
{
    char log[64];
    CUgraphNode node;
    return CALL(cuGraphInstantiate)(exec, graph, &node, log, sizeof log);
}

CUresult call_cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *params)
{
    return CALL(cuGraphKernelNodeGetParams)(node, params);
}

CUresult call_cuGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *params)
{
    return CALL(cuGraphKernelNodeSetParams)(node, params);
}

CUresult call_cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode *others, size_t *count)
{
    return CALL(cuGraphNodeGetDependencies)(node, others, count);
}

CUresult call_cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode *others, size_t *count)
{
    return CALL(cuGraphNodeGetDependentNodes)(node, others, count);
}

CUresult call_cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode *from,
                                        const CUgraphNode *to)
{
    return CALL(cuGraphRemoveDependencies)(graph, from, to, 1);
}

CUresult call_cuMemAdvise(CUdeviceptr memory, CUdevice device)
{
    return CALL(cuMemAdvise)(memory, 4096, CU_MEM_ADVISE_SET_READ_MOSTLY, device);
}

CUresult call_cuMemPrefetchAsync(CUdeviceptr memory, CUdevice device, CUstream stream)
{
    return CALL(cuMemPrefetchAsync)(memory, 4096, device, stream);
}

CUresult call_cuStreamBatchMemOp(CUstream stream, CUstreamBatchMemOpParams *operations)
{
    return CALL(cuStreamBatchMemOp)(stream, 1, operations, 0);
}

CUresult call_cuStreamGetCaptureInfo(CUstream stream, cuuint64_t *id)
{
    CUstreamCaptureStatus status;
    return CALL(cuStreamGetCaptureInfo)(stream, &status, id);
}

CUresult call_cuStreamUpdateCaptureDependencies(CUstream stream, CUgraphNode *nodes)
{
    return CALL(cuStreamUpdateCaptureDependencies)(stream, nodes, 1, 0);
}

CUresult call_cuStreamWaitValue32(CUstream stream, CUdeviceptr address)
{
    return CALL(cuStreamWaitValue32)(stream, address, 1, CU_STREAM_WAIT_VALUE_GEQ);
}

CUresult call_cuStreamWaitValue64(CUstream stream, CUdeviceptr address)
{
    return CALL(cuStreamWaitValue64)(stream, address, 1, CU_STREAM_WAIT_VALUE_GEQ);
}

CUresult call_cuStreamWriteValue32(CUstream stream, CUdeviceptr address)
{
    return CALL(cuStreamWriteValue32)(stream, address, 1, 0);
}

CUresult call_cuStreamWriteValue64(CUstream stream, CUdeviceptr address)
{
    return CALL(cuStreamWriteValue64)(stream, address, 1, 0);
}
