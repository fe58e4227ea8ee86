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

CUresult sim_cuGraphChildGraphNodeGetGraph(CUgraphNode hNode, CUgraph *phGraph)
{
    struct sim_node *node = typed(hNode, CU_GRAPH_NODE_TYPE_GRAPH);
    if (!node || !phGraph)
        return CUDA_ERROR_INVALID_VALUE;
    *phGraph = (CUgraph)node->child;
    return CUDA_SUCCESS;
}

/* --- Entries: what kind of node each is for, and what it takes or gives --- */

#define GET(symbol, kind, type)                                                                    \
    CUresult sim_##symbol(CUgraphNode node, type *to)                                              \
    {                                                                                              \
        return get(node, CU_GRAPH_NODE_TYPE_##kind, to, sizeof *to);                               \
    }
#define SET(symbol, kind, type)                                                                    \
    CUresult sim_##symbol(CUgraphNode node, const type *from)                                      \
    {                                                                                              \
        return set(node, CU_GRAPH_NODE_TYPE_##kind, from, sizeof *from);                           \
    }
#define SET_HANDLE(symbol, kind, type)                                                             \
    CUresult sim_##symbol(CUgraphNode node, type from)                                             \
    {                                                                                              \
        return set(node, CU_GRAPH_NODE_TYPE_##kind, &from, sizeof from);                           \
    }
GET(cuGraphKernelNodeGetParams_v2, KERNEL, CUDA_KERNEL_NODE_PARAMS_v2)
GET(cuGraphKernelNodeGetParams, KERNEL, CUDA_KERNEL_NODE_PARAMS_v1)
SET(cuGraphKernelNodeSetParams_v2, KERNEL, CUDA_KERNEL_NODE_PARAMS_v2)
SET(cuGraphKernelNodeSetParams, KERNEL, CUDA_KERNEL_NODE_PARAMS_v1)
GET(cuGraphMemcpyNodeGetParams, MEMCPY, CUDA_MEMCPY3D_v2)
SET(cuGraphMemcpyNodeSetParams, MEMCPY, CUDA_MEMCPY3D_v2)
GET(cuGraphMemsetNodeGetParams, MEMSET, CUDA_MEMSET_NODE_PARAMS_v1)
SET(cuGraphMemsetNodeSetParams, MEMSET, CUDA_MEMSET_NODE_PARAMS_v1)
GET(cuGraphHostNodeGetParams, HOST, CUDA_HOST_NODE_PARAMS_v1)
SET(cuGraphHostNodeSetParams, HOST, CUDA_HOST_NODE_PARAMS_v1)
GET(cuGraphEventRecordNodeGetEvent, EVENT_RECORD, CUevent)
SET_HANDLE(cuGraphEventRecordNodeSetEvent, EVENT_RECORD, CUevent)
GET(cuGraphEventWaitNodeGetEvent, WAIT_EVENT, CUevent)
SET_HANDLE(cuGraphEventWaitNodeSetEvent, WAIT_EVENT, CUevent)
GET(cuGraphBatchMemOpNodeGetParams, BATCH_MEM_OP, CUDA_BATCH_MEM_OP_NODE_PARAMS)
SET(cuGraphBatchMemOpNodeSetParams, BATCH_MEM_OP, CUDA_BATCH_MEM_OP_NODE_PARAMS)
GET(cuGraphMemAllocNodeGetParams, MEM_ALLOC, CUDA_MEM_ALLOC_NODE_PARAMS)
GET(cuGraphMemFreeNodeGetParams, MEM_FREE, CUdeviceptr)
