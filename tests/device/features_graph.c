/* SPDX-License-Identifier: MIT */
/* Trials of the features of graphs. */
#include <string.h>

#include "features_trial.h"

#define cu trial_api

static void CUDA_CB called(void *user)
{
    *(int *)user = 1;
}

static CUresult begin_capture(void)
{
    return cu->cuStreamBeginCapture_v2(trial_stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
}

static CUresult launch(void)
{
    return cu->cuLaunchKernel(trial_function, 1, 1, 1, 1, 1, 1, 0, trial_stream, NULL, NULL);
}

/* Instantiate and launch a graph, and destroy it. */
static CUresult use_graph(CUgraph graph)
{
    CUgraphExec exec;
    TRY(cu->cuGraphInstantiateWithFlags(&exec, graph, 0));
    TRY(cu->cuGraphLaunch(exec, trial_stream));
    TRY(cu->cuStreamSynchronize(trial_stream));
    TRY(cu->cuGraphExecDestroy(exec));
    return cu->cuGraphDestroy(graph);
}

CUresult trial_event_external(void)
{
    CUgraph graph;
    CUevent event;
    TRY(cu->cuEventCreate(&event, 0));
    TRY(begin_capture());
    CUresult result = cu->cuEventRecordWithFlags(event, trial_stream, CU_EVENT_RECORD_EXTERNAL);
    TRY(cu->cuStreamEndCapture(trial_stream, &graph));
    TRY(result);
    TRY(use_graph(graph));
    return cu->cuEventDestroy_v2(event);
}

static CUresult kernel_graph(CUgraph *graph)
{
    CUDA_KERNEL_NODE_PARAMS_v2 params;
    CUgraphNode node;
    memset(&params, 0, sizeof params);
    params.func = trial_function;
    params.gridDimX = params.gridDimY = params.gridDimZ = 1;
    params.blockDimX = params.blockDimY = params.blockDimZ = 1;
    TRY(cu->cuGraphCreate(graph, 0));
    return cu->cuGraphAddKernelNode_v2(&node, *graph, NULL, 0, &params);
}

CUresult trial_graph(void)
{
    CUgraph graph;
    TRY(kernel_graph(&graph));
    return use_graph(graph);
}

CUresult trial_capture(void)
{
    CUgraph graph;
    TRY(cu->cuStreamBeginCapture_v1(trial_stream));
    TRY(launch());
    TRY(cu->cuStreamEndCapture(trial_stream, &graph));
    return use_graph(graph);
}

CUresult trial_capture_mode(void)
{
    CUgraph graph;
    TRY(begin_capture());
    TRY(launch());
    TRY(cu->cuStreamEndCapture(trial_stream, &graph));
    return use_graph(graph);
}

CUresult trial_capture_to_graph(void)
{
    CUgraph graph, same;
    TRY(cu->cuGraphCreate(&graph, 0));
    TRY(cu->cuStreamBeginCaptureToGraph(trial_stream, graph, NULL, NULL, 0,
                                        CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    TRY(launch());
    TRY(cu->cuStreamEndCapture(trial_stream, &same));
    return use_graph(graph);
}

CUresult trial_graph_update(void)
{
    CUgraphExecUpdateResultInfo info;
    CUgraphExec exec;
    CUgraph graph;
    memset(&info, 0, sizeof info);
    TRY(kernel_graph(&graph));
    TRY(cu->cuGraphInstantiateWithFlags(&exec, graph, 0));
    TRY(cu->cuGraphExecUpdate_v2(exec, graph, &info));
    TRY(cu->cuGraphExecDestroy(exec));
    return cu->cuGraphDestroy(graph);
}

CUresult trial_graph_update_v1(void)
{
    CUgraphExecUpdateResult result;
    CUgraphNode node;
    CUgraphExec exec;
    CUgraph graph;
    TRY(kernel_graph(&graph));
    TRY(cu->cuGraphInstantiateWithFlags(&exec, graph, 0));
    TRY(cu->cuGraphExecUpdate_v1(exec, graph, &node, &result));
    TRY(cu->cuGraphExecDestroy(exec));
    return cu->cuGraphDestroy(graph);
}

/* The only node of a graph. */
static CUresult only_node(CUgraph graph, CUgraphNode *node)
{
    size_t count = 1;
    return cu->cuGraphGetNodes(graph, node, &count);
}

CUresult trial_node_enable(void)
{
    unsigned enabled = 1;
    CUgraphNode node;
    CUgraphExec exec;
    CUgraph graph;
    TRY(kernel_graph(&graph));
    TRY(only_node(graph, &node));
    TRY(cu->cuGraphInstantiateWithFlags(&exec, graph, 0));
    TRY(cu->cuGraphNodeSetEnabled(exec, node, 0));
    TRY(cu->cuGraphNodeGetEnabled(exec, node, &enabled));
    TRY(cu->cuGraphExecDestroy(exec));
    TRY(cu->cuGraphDestroy(graph));
    return enabled ? CUDA_ERROR_UNKNOWN : CUDA_SUCCESS;
}

CUresult trial_node_update(void)
{
    CUDA_KERNEL_NODE_PARAMS_v1 params;
    CUgraphNode node;
    CUgraphExec exec;
    CUgraph graph;
    TRY(kernel_graph(&graph));
    TRY(only_node(graph, &node));
    TRY(cu->cuGraphInstantiateWithFlags(&exec, graph, 0));
    TRY(cu->cuGraphKernelNodeGetParams_v1(node, &params));
    TRY(cu->cuGraphExecKernelNodeSetParams_v1(exec, node, &params));
    TRY(cu->cuGraphExecDestroy(exec));
    return cu->cuGraphDestroy(graph);
}

CUresult trial_instantiate_params(void)
{
    CUDA_GRAPH_INSTANTIATE_PARAMS params;
    CUgraphExec exec;
    CUgraph graph;
    memset(&params, 0, sizeof params);
    TRY(kernel_graph(&graph));
    TRY(cu->cuGraphInstantiateWithParams(&exec, graph, &params));
    TRY(cu->cuGraphExecDestroy(exec));
    return cu->cuGraphDestroy(graph);
}

CUresult trial_device_launch(void)
{
    CUgraphExec exec;
    CUgraph graph;
    TRY(kernel_graph(&graph));
    TRY(cu->cuGraphInstantiateWithFlags(&exec, graph, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH));
    TRY(cu->cuGraphExecDestroy(exec));
    return cu->cuGraphDestroy(graph);
}

CUresult trial_dot(void)
{
    CUgraph graph;
    TRY(kernel_graph(&graph));
    TRY(cu->cuGraphDebugDotPrint(graph, "/dev/null", 0));
    return cu->cuGraphDestroy(graph);
}

CUresult trial_generic_node(void)
{
    CUgraphNodeParams params;
    CUgraphNode node;
    CUgraph graph;
    memset(&params, 0, sizeof params);
    params.type = CU_GRAPH_NODE_TYPE_EMPTY;
    TRY(cu->cuGraphCreate(&graph, 0));
    TRY(cu->cuGraphAddNode_v1(&node, graph, NULL, 0, (void *)&params));
    return use_graph(graph);
}

CUresult trial_edge_data(void)
{
    CUgraphNode from, to;
    CUgraphEdgeData edge;
    size_t count = 1;
    CUgraph graph;
    memset(&edge, 0xff, sizeof edge);
    TRY(cu->cuGraphCreate(&graph, 0));
    TRY(cu->cuGraphAddEmptyNode(&from, graph, NULL, 0));
    TRY(cu->cuGraphAddEmptyNode(&to, graph, &from, 1));
    TRY(cu->cuGraphGetEdges_v2(graph, &from, &to, &edge, &count));
    TRY(cu->cuGraphDestroy(graph));
    return count == 1 && edge.type == 0 ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN;
}

CUresult trial_capture_dependencies(void)
{
    CUgraph graph;
    TRY(begin_capture());
    TRY(launch());
    CUresult result = cu->cuStreamUpdateCaptureDependencies_v1(trial_stream, NULL, 0,
                                                               CU_STREAM_SET_CAPTURE_DEPENDENCIES);
    cu->cuStreamEndCapture(trial_stream, &graph);
    TRY(result);
    return cu->cuGraphDestroy(graph);
}

CUresult trial_graph_upload(void)
{
    CUgraphExec exec;
    CUgraph graph;
    TRY(kernel_graph(&graph));
    TRY(cu->cuGraphInstantiateWithFlags(&exec, graph, 0));
    TRY(cu->cuGraphUpload(exec, trial_stream));
    TRY(cu->cuStreamSynchronize(trial_stream));
    TRY(cu->cuGraphExecDestroy(exec));
    return cu->cuGraphDestroy(graph);
}

CUresult trial_event_node(void)
{
    CUgraph graph;
    CUgraphNode node;
    CUevent event;
    TRY(cu->cuEventCreate(&event, 0));
    TRY(cu->cuGraphCreate(&graph, 0));
    TRY(cu->cuGraphAddEventRecordNode(&node, graph, NULL, 0, event));
    TRY(use_graph(graph));
    return cu->cuEventDestroy_v2(event);
}

CUresult trial_memory_node(void)
{
    CUDA_MEM_ALLOC_NODE_PARAMS_v1 params;
    CUgraph graph;
    CUgraphNode node, end;
    memset(&params, 0, sizeof params);
    params.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    params.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    params.poolProps.location.id = trial_device;
    params.bytesize = 1 << 20;
    TRY(cu->cuGraphCreate(&graph, 0));
    TRY(cu->cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params));
    TRY(cu->cuGraphAddMemFreeNode(&end, graph, &node, 1, params.dptr));
    TRY(use_graph(graph));
    return cu->cuDeviceGraphMemTrim(trial_device);
}

CUresult trial_user_object(void)
{
    static int done;
    CUuserObject object;
    CUgraph graph;
    TRY(cu->cuUserObjectCreate(&object, &done, called, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    TRY(cu->cuGraphCreate(&graph, 0));
    TRY(cu->cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
    return cu->cuGraphDestroy(graph);
}

static CUresult conditional(CUgraphConditionalNodeType type, unsigned bodies)
{
    CUgraphNodeParams params;
    CUcontext context;
    CUgraph graph;
    CUgraphNode node;
    memset(&params, 0, sizeof params);
    params.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    TRY(cu->cuCtxGetCurrent(&context));
    TRY(cu->cuGraphCreate(&graph, 0));
    TRY(cu->cuGraphConditionalHandleCreate(&params.conditional.handle, graph, context, 0,
                                           CU_GRAPH_COND_ASSIGN_DEFAULT));
    params.conditional.type = type;
    params.conditional.size = bodies;
    params.conditional.ctx = context;
    TRY(cu->cuGraphAddNode_v2(&node, graph, NULL, NULL, 0, (void *)&params));
    return use_graph(graph);
}

CUresult trial_conditional(void)
{
    return conditional(CU_GRAPH_COND_TYPE_IF, 1);
}

CUresult trial_switch(void)
{
    return conditional(CU_GRAPH_COND_TYPE_SWITCH, 3);
}
