/* SPDX-License-Identifier: MIT */
/* Parameters of nodes in the entries that each kind of node has for itself. */
#include <string.h>

#include "graph/graph.h"

/* A node of this type, or NULL. */
static struct sim_node *typed(CUgraphNode handle, CUgraphNodeType type)
{
    struct sim_node *node = sim_graph_node(handle);
    return node && node->item.params.type == type ? node : NULL;
}

static CUresult get(CUgraphNode handle, CUgraphNodeType type, void *to, size_t size)
{
    const struct sim_node *node = typed(handle, type);
    if (!node || !to)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(to, sim_params_typed(&node->item.params), size);
    return CUDA_SUCCESS;
}

/* Copies and fills stay in their context. */
static CUresult set(CUgraphNode handle, CUgraphNodeType type, const void *from, size_t size)
{
    struct sim_node *node = typed(handle, type);
    CUgraphNodeParams params;
    CUcontext ctx = NULL;
    if (!node)
        return CUDA_ERROR_INVALID_VALUE;
    if (type == CU_GRAPH_NODE_TYPE_MEMCPY)
        ctx = node->item.params.memcpy.copyCtx;
    if (type == CU_GRAPH_NODE_TYPE_MEMSET)
        ctx = node->item.params.memset.ctx;
    if (!sim_params_from(&params, type, from, size, ctx))
        return CUDA_ERROR_INVALID_VALUE;
    return sim_params_set(node, &params);
}

CUresult sim_cuGraphKernelNodeGetParams_v2(CUgraphNode hNode,
                                           CUDA_KERNEL_NODE_PARAMS_v2 *nodeParams)
{
    return get(hNode, CU_GRAPH_NODE_TYPE_KERNEL, nodeParams, sizeof *nodeParams);
}

CUresult sim_cuGraphKernelNodeGetParams(CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams)
{
    return get(hNode, CU_GRAPH_NODE_TYPE_KERNEL, nodeParams, sizeof *nodeParams);
}

CUresult sim_cuGraphKernelNodeSetParams_v2(CUgraphNode hNode,
                                           const CUDA_KERNEL_NODE_PARAMS_v2 *nodeParams)
{
    return set(hNode, CU_GRAPH_NODE_TYPE_KERNEL, nodeParams, sizeof *nodeParams);
}

CUresult sim_cuGraphKernelNodeSetParams(CUgraphNode hNode,
                                        const CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams)
{
    return set(hNode, CU_GRAPH_NODE_TYPE_KERNEL, nodeParams, sizeof *nodeParams);
}

CUresult sim_cuGraphMemcpyNodeGetParams(CUgraphNode hNode, CUDA_MEMCPY3D_v2 *nodeParams)
{
    return get(hNode, CU_GRAPH_NODE_TYPE_MEMCPY, nodeParams, sizeof *nodeParams);
}

CUresult sim_cuGraphMemcpyNodeSetParams(CUgraphNode hNode, const CUDA_MEMCPY3D_v2 *nodeParams)
{
    return set(hNode, CU_GRAPH_NODE_TYPE_MEMCPY, nodeParams, sizeof *nodeParams);
}

CUresult sim_cuGraphMemsetNodeGetParams(CUgraphNode hNode, CUDA_MEMSET_NODE_PARAMS_v1 *nodeParams)
{
    return get(hNode, CU_GRAPH_NODE_TYPE_MEMSET, nodeParams, sizeof *nodeParams);
}

CUresult sim_cuGraphMemsetNodeSetParams(CUgraphNode hNode,
                                        const CUDA_MEMSET_NODE_PARAMS_v1 *nodeParams)
{
    return set(hNode, CU_GRAPH_NODE_TYPE_MEMSET, nodeParams, sizeof *nodeParams);
}

CUresult sim_cuGraphHostNodeGetParams(CUgraphNode hNode, CUDA_HOST_NODE_PARAMS_v1 *nodeParams)
{
    return get(hNode, CU_GRAPH_NODE_TYPE_HOST, nodeParams, sizeof *nodeParams);
}

CUresult sim_cuGraphHostNodeSetParams(CUgraphNode hNode, const CUDA_HOST_NODE_PARAMS_v1 *nodeParams)
{
    return set(hNode, CU_GRAPH_NODE_TYPE_HOST, nodeParams, sizeof *nodeParams);
}

CUresult sim_cuGraphEventRecordNodeGetEvent(CUgraphNode hNode, CUevent *event_out)
{
    return get(hNode, CU_GRAPH_NODE_TYPE_EVENT_RECORD, event_out, sizeof *event_out);
}

CUresult sim_cuGraphEventRecordNodeSetEvent(CUgraphNode hNode, CUevent event)
{
    return set(hNode, CU_GRAPH_NODE_TYPE_EVENT_RECORD, &event, sizeof event);
}

CUresult sim_cuGraphEventWaitNodeGetEvent(CUgraphNode hNode, CUevent *event_out)
{
    return get(hNode, CU_GRAPH_NODE_TYPE_WAIT_EVENT, event_out, sizeof *event_out);
}

CUresult sim_cuGraphEventWaitNodeSetEvent(CUgraphNode hNode, CUevent event)
{
    return set(hNode, CU_GRAPH_NODE_TYPE_WAIT_EVENT, &event, sizeof event);
}

CUresult sim_cuGraphBatchMemOpNodeGetParams(CUgraphNode hNode,
                                            CUDA_BATCH_MEM_OP_NODE_PARAMS *nodeParams_out)
{
    return get(hNode, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, nodeParams_out, sizeof *nodeParams_out);
}

CUresult sim_cuGraphBatchMemOpNodeSetParams(CUgraphNode hNode,
                                            const CUDA_BATCH_MEM_OP_NODE_PARAMS *nodeParams)
{
    return set(hNode, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, nodeParams, sizeof *nodeParams);
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
    return get(hNode, CU_GRAPH_NODE_TYPE_MEM_ALLOC, params_out, sizeof *params_out);
}

CUresult sim_cuGraphMemFreeNodeGetParams(CUgraphNode hNode, CUdeviceptr *dptr_out)
{
    return get(hNode, CU_GRAPH_NODE_TYPE_MEM_FREE, dptr_out, sizeof *dptr_out);
}
