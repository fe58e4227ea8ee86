/* SPDX-License-Identifier: MIT */
/* Parameters of nodes in the entries that each kind of node has for itself. */
#include <string.h>

#include "graph/graph.h"
#include "graph/params.h"

/* A node of this type, or NULL. */
static struct sim_node *typed(CUgraphNode handle, CUgraphNodeType type)
{
    struct sim_node *node = sim_graph_node(handle);
    return node && node->item.params.type == type ? node : NULL;
}

CUresult sim_cuGraphKernelNodeGetParams_v2(CUgraphNode hNode,
                                           CUDA_KERNEL_NODE_PARAMS_v2 *nodeParams)
{
    struct sim_node *node = typed(hNode, CU_GRAPH_NODE_TYPE_KERNEL);
    if (!node || !nodeParams)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(nodeParams, &node->item.params.kernel, sizeof *nodeParams);
    return CUDA_SUCCESS;
}

/* The first form is the beginning of the second. */
CUresult sim_cuGraphKernelNodeGetParams(CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams)
{
    struct sim_node *node = typed(hNode, CU_GRAPH_NODE_TYPE_KERNEL);
    if (!node || !nodeParams)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(nodeParams, &node->item.params.kernel, sizeof *nodeParams);
    return CUDA_SUCCESS;
}

CUresult sim_cuGraphKernelNodeSetParams_v2(CUgraphNode hNode,
                                           const CUDA_KERNEL_NODE_PARAMS_v2 *nodeParams)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_KERNEL};
    struct sim_node *node = typed(hNode, CU_GRAPH_NODE_TYPE_KERNEL);
    if (!node || !nodeParams)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(&params.kernel, nodeParams, sizeof *nodeParams);
    return sim_params_set(node, &params);
}

CUresult sim_cuGraphKernelNodeSetParams(CUgraphNode hNode,
                                        const CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams)
{
    CUDA_KERNEL_NODE_PARAMS_v2 params;
    memset(&params, 0, sizeof params);
    if (nodeParams)
        memcpy(&params, nodeParams, sizeof *nodeParams);
    return sim_cuGraphKernelNodeSetParams_v2(hNode, nodeParams ? &params : NULL);
}

CUresult sim_cuGraphMemcpyNodeGetParams(CUgraphNode hNode, CUDA_MEMCPY3D_v2 *nodeParams)
{
    struct sim_node *node = typed(hNode, CU_GRAPH_NODE_TYPE_MEMCPY);
    if (!node || !nodeParams)
        return CUDA_ERROR_INVALID_VALUE;
    *nodeParams = node->item.params.memcpy.copyParams;
    return CUDA_SUCCESS;
}

CUresult sim_cuGraphMemcpyNodeSetParams(CUgraphNode hNode, const CUDA_MEMCPY3D_v2 *nodeParams)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_MEMCPY};
    struct sim_node *node = typed(hNode, CU_GRAPH_NODE_TYPE_MEMCPY);
    if (!node || !nodeParams)
        return CUDA_ERROR_INVALID_VALUE;
    params.memcpy.copyCtx = node->item.params.memcpy.copyCtx;
    params.memcpy.copyParams = *nodeParams;
    return sim_params_set(node, &params);
}

CUresult sim_cuGraphMemsetNodeGetParams(CUgraphNode hNode, CUDA_MEMSET_NODE_PARAMS_v1 *nodeParams)
{
    struct sim_node *node = typed(hNode, CU_GRAPH_NODE_TYPE_MEMSET);
    if (!node || !nodeParams)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(nodeParams, &node->item.params.memset, sizeof *nodeParams);
    return CUDA_SUCCESS;
}

CUresult sim_cuGraphMemsetNodeSetParams(CUgraphNode hNode,
                                        const CUDA_MEMSET_NODE_PARAMS_v1 *nodeParams)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_MEMSET};
    struct sim_node *node = typed(hNode, CU_GRAPH_NODE_TYPE_MEMSET);
    if (!node || !nodeParams)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(&params.memset, nodeParams, sizeof *nodeParams);
    params.memset.ctx = node->item.params.memset.ctx;
    return sim_params_set(node, &params);
}

CUresult sim_cuGraphHostNodeGetParams(CUgraphNode hNode, CUDA_HOST_NODE_PARAMS_v1 *nodeParams)
{
    struct sim_node *node = typed(hNode, CU_GRAPH_NODE_TYPE_HOST);
    if (!node || !nodeParams)
        return CUDA_ERROR_INVALID_VALUE;
    *nodeParams =
        (CUDA_HOST_NODE_PARAMS_v1){node->item.params.host.fn, node->item.params.host.userData};
    return CUDA_SUCCESS;
}

CUresult sim_cuGraphHostNodeSetParams(CUgraphNode hNode, const CUDA_HOST_NODE_PARAMS_v1 *nodeParams)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_HOST};
    struct sim_node *node = typed(hNode, CU_GRAPH_NODE_TYPE_HOST);
    if (!node || !nodeParams)
        return CUDA_ERROR_INVALID_VALUE;
    params.host.fn = nodeParams->fn;
    params.host.userData = nodeParams->userData;
    return sim_params_set(node, &params);
}

CUresult sim_cuGraphEventRecordNodeGetEvent(CUgraphNode hNode, CUevent *event_out)
{
    struct sim_node *node = typed(hNode, CU_GRAPH_NODE_TYPE_EVENT_RECORD);
    if (!node || !event_out)
        return CUDA_ERROR_INVALID_VALUE;
    *event_out = node->item.params.eventRecord.event;
    return CUDA_SUCCESS;
}

CUresult sim_cuGraphEventRecordNodeSetEvent(CUgraphNode hNode, CUevent event)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_EVENT_RECORD};
    struct sim_node *node = typed(hNode, CU_GRAPH_NODE_TYPE_EVENT_RECORD);
    params.eventRecord.event = event;
    return node ? sim_params_set(node, &params) : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_cuGraphEventWaitNodeGetEvent(CUgraphNode hNode, CUevent *event_out)
{
    struct sim_node *node = typed(hNode, CU_GRAPH_NODE_TYPE_WAIT_EVENT);
    if (!node || !event_out)
        return CUDA_ERROR_INVALID_VALUE;
    *event_out = node->item.params.eventWait.event;
    return CUDA_SUCCESS;
}

CUresult sim_cuGraphEventWaitNodeSetEvent(CUgraphNode hNode, CUevent event)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_WAIT_EVENT};
    struct sim_node *node = typed(hNode, CU_GRAPH_NODE_TYPE_WAIT_EVENT);
    params.eventWait.event = event;
    return node ? sim_params_set(node, &params) : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_cuGraphBatchMemOpNodeGetParams(CUgraphNode hNode,
                                            CUDA_BATCH_MEM_OP_NODE_PARAMS *nodeParams_out)
{
    struct sim_node *node = typed(hNode, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP);
    if (!node || !nodeParams_out)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(nodeParams_out, &node->item.params.memOp, sizeof *nodeParams_out);
    return CUDA_SUCCESS;
}

CUresult sim_cuGraphBatchMemOpNodeSetParams(CUgraphNode hNode,
                                            const CUDA_BATCH_MEM_OP_NODE_PARAMS *nodeParams)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP};
    struct sim_node *node = typed(hNode, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP);
    if (!node || !nodeParams)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(&params.memOp, nodeParams, sizeof *nodeParams);
    return sim_params_set(node, &params);
}

CUresult sim_cuGraphChildGraphNodeGetGraph(CUgraphNode hNode, CUgraph *phGraph)
{
    struct sim_node *node = typed(hNode, CU_GRAPH_NODE_TYPE_GRAPH);
    if (!node || !phGraph)
        return CUDA_ERROR_INVALID_VALUE;
    *phGraph = (CUgraph)node->child;
    return CUDA_SUCCESS;
}

CUresult sim_cuGraphMemAllocNodeGetParams(CUgraphNode hNode, CUDA_MEM_ALLOC_NODE_PARAMS *params_out)
{
    struct sim_node *node = typed(hNode, CU_GRAPH_NODE_TYPE_MEM_ALLOC);
    if (!node || !params_out)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(params_out, &node->item.params.alloc, sizeof *params_out);
    return CUDA_SUCCESS;
}

CUresult sim_cuGraphMemFreeNodeGetParams(CUgraphNode hNode, CUdeviceptr *dptr_out)
{
    struct sim_node *node = typed(hNode, CU_GRAPH_NODE_TYPE_MEM_FREE);
    if (!node || !dptr_out)
        return CUDA_ERROR_INVALID_VALUE;
    *dptr_out = node->item.params.free.dptr;
    return CUDA_SUCCESS;
}
