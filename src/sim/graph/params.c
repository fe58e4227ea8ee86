/* SPDX-License-Identifier: MIT */
/* Parameters of nodes: what makes them work, and how they are changed. */
#include "graph/graph.h"

static struct sim_context *context_or_current(CUcontext handle)
{
    struct sim_context *context;
    if (handle)
        return sim_object(SIM_CONTEXT, handle);
    return sim_current(&context) == CUDA_SUCCESS ? context : NULL;
}

struct sim_context *sim_params_context(const CUgraphNodeParams *params)
{
    struct sim_object *function;
    switch ((int)params->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        function = sim_object(SIM_FUNCTION, params->kernel.func);
        if (function && !params->kernel.ctx)
            return sim_object(SIM_CONTEXT, function->context);
        return context_or_current(params->kernel.ctx);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        return context_or_current(params->memcpy.copyCtx);
    case CU_GRAPH_NODE_TYPE_MEMSET:
        return context_or_current(params->memset.ctx);
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
        return context_or_current(params->memOp.ctx);
    default:
        return NULL;
    }
}

bool sim_params_valid(const CUgraphNodeParams *params)
{
    static const CUgraphNodeParams zero;
    return memcmp(params->reserved0, zero.reserved0, sizeof zero.reserved0) == 0 &&
           params->reserved2 == 0;
}

const void *sim_params_typed(const CUgraphNodeParams *params)
{
    return params->type == CU_GRAPH_NODE_TYPE_MEMCPY ? (const void *)&params->memcpy.copyParams
                                                     : &params->reserved1;
}

bool sim_params_from(CUgraphNodeParams *params, CUgraphNodeType type, const void *from, size_t size,
                     CUcontext ctx)
{
    if (!from)
        return false;
    *params = (CUgraphNodeParams){.type = type};
    memcpy((void *)(uintptr_t)sim_params_typed(params), from, size);
    if (type == CU_GRAPH_NODE_TYPE_MEMCPY)
        params->memcpy.copyCtx = ctx;
    if (type == CU_GRAPH_NODE_TYPE_MEMSET)
        params->memset.ctx = ctx;
    return true;
}

/* Work in a context. */
static CUresult prepare_in(struct sim_context *context, const CUgraphNodeParams *params,
                           const CUlaunchAttribute *attributes, unsigned attribute_count,
                           struct sim_item *item)
{
    CUDA_KERNEL_NODE_PARAMS_v2 kernel;
    SIM_REFUSE(params->type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP && !params->memOp.ctx);
    SIM_FAIL(INVALID_CONTEXT, !context);
    switch ((int)params->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        memcpy(&kernel, &params->kernel, sizeof kernel); /* the same members, by another name */
        SIM_TRY(sim_launch_prepare(context, &kernel, attributes, attribute_count, item));
        item->params.kernel.ctx = (CUcontext)context;
        return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        SIM_REFUSE(
            params->memcpy.copyParams.WidthInBytes == 0 || params->memcpy.copyParams.Height == 0 ||
            params->memcpy.copyParams.Depth == 0); /* nothing to copy is no work for a node */
        SIM_TRY(sim_copy_box_prepare(context, &params->memcpy.copyParams, item));
        item->params.memcpy.copyCtx = (CUcontext)context;
        return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_MEMSET:
        return sim_fill_prepare(context, &params->memset, item);
    default:
        return sim_stream_value_prepare(context, params->memOp.count, params->memOp.paramArray,
                                        params->memOp.flags, item);
    }
}

CUresult sim_params_prepare(const CUgraphNodeParams *params, const CUlaunchAttribute *attributes,
                            unsigned attribute_count, struct sim_item *item)
{
    *item = (struct sim_item){.params.type = params->type};
    switch ((int)params->type) {
    case CU_GRAPH_NODE_TYPE_EMPTY:
        return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_HOST:
        SIM_REFUSE(!params->host.fn);
        return sim_callback_prepare(params->host.fn, params->host.userData, item);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: /* the same member */
        item->params.eventRecord.event = params->eventRecord.event;
        return SIM_VALID(sim_object(SIM_EVENT, params->eventRecord.event));
    case CU_GRAPH_NODE_TYPE_KERNEL:
    case CU_GRAPH_NODE_TYPE_MEMCPY:
    case CU_GRAPH_NODE_TYPE_MEMSET:
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
        return prepare_in(sim_params_context(params), params, attributes, attribute_count, item);
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
        return SIM_LACK_cuGraphAddNode_v2_kind;
    case CU_GRAPH_NODE_TYPE_CONDITIONAL: /* they stay as they are */
        return CUDA_ERROR_NOT_SUPPORTED;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult sim_params_copy(const struct sim_item *item, struct sim_item *copy)
{
    switch ((int)item->params.type) {
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        return sim_graph_memory_copy(item, copy);
    case CU_GRAPH_NODE_TYPE_GRAPH:
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
        *copy = (struct sim_item){.params.type = item->params.type};
        return CUDA_SUCCESS;
    default:
        SIM_TRY(sim_params_prepare(&item->params, item->attributes, item->attribute_count, copy));
        if (item->params.type == CU_GRAPH_NODE_TYPE_KERNEL)
            sim_launch_prepare_keep_origin(item, copy);
        return CUDA_SUCCESS;
    }
}

CUresult sim_params_replace(struct sim_node *node, const CUgraphNodeParams *params,
                            const CUlaunchAttribute *attributes, unsigned count)
{
    SIM_FIND(struct sim_item, item, sim_params_prepare(params, attributes, count, &item));
    sim_item_drop(&node->item);
    node->item = item;
    return CUDA_SUCCESS;
}

CUresult sim_params_set(struct sim_node *node, const CUgraphNodeParams *params)
{
    SIM_REFUSE(params->type != node->item.params.type || params->type == CU_GRAPH_NODE_TYPE_EMPTY);
    return sim_params_replace(node, params, node->item.attributes, node->item.attribute_count);
}

CUresult sim_cuGraphNodeSetParams_v2(CUgraphNode hNode, CUgraphNodeParams *nodeParams)
{
    struct sim_node *node = sim_graph_node(hNode);
    SIM_REFUSE(!node || !nodeParams || !sim_params_valid(nodeParams));
    return sim_params_set(node, nodeParams);
}

CUresult sim_cuGraphNodeGetParams(CUgraphNode hNode, CUgraphNodeParams *nodeParams)
{
    struct sim_node *node = sim_graph_node(hNode);
    SIM_REFUSE(!node || !nodeParams);
    *nodeParams = node->item.params;
    if (node->child)
        nodeParams->graph.graph = (CUgraph)node->child;
    return CUDA_SUCCESS;
}
