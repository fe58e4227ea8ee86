/* SPDX-License-Identifier: MIT */
/* Conditional nodes and their handles. The graphs that a node may run are its own; each is filled
 * like any other. */
#include "graph/graph.h"

/* More are a mistake, which would take all memory. */
#define BODIES_MAX 65536

SIM_BEHAVIOUR(cuGraphConditionalHandleCreate)
{
    const struct sim_graph *graph = sim_graph(hGraph);
    SIM_REFUSE(!pHandle_out || !graph || flags > CU_GRAPH_COND_ASSIGN_DEFAULT);
    SIM_FAIL(INVALID_CONTEXT, !sim_object(SIM_CONTEXT, ctx));
    SIM_MADE(const struct sim_condition *, made,
             sim_condition_make(graph->object.serial, defaultLaunchValue, flags != 0));
    *pHandle_out = made->handle;
    return CUDA_SUCCESS;
}

/* The graph's, or one's that it is in. */
static bool belongs(const struct sim_condition *condition, const struct sim_graph *graph)
{
    while (graph->object.serial != condition->graph && graph->owner)
        graph = graph->owner->graph;
    return graph->object.serial == condition->graph;
}

static bool is_shape(CUgraphConditionalNodeType type, unsigned size)
{
    switch (type) {
    case CU_GRAPH_COND_TYPE_IF:
        return size == 1 || size == 2;
    case CU_GRAPH_COND_TYPE_WHILE:
        return size == 1;
    case CU_GRAPH_COND_TYPE_SWITCH:
        return size > 0 && size <= BODIES_MAX;
    default:
        return false;
    }
}

CUresult sim_graph_conditional_check(const struct sim_graph *graph,
                                     const CUDA_CONDITIONAL_NODE_PARAMS *params)
{
    const struct sim_condition *condition = sim_condition_find(params->handle);
    SIM_REFUSE(!is_shape(params->type, params->size) || !condition || condition->used ||
               !belongs(condition, graph));
    return sim_object(SIM_CONTEXT, params->ctx) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult sim_graph_conditional_fill(struct sim_node *node,
                                    const CUDA_CONDITIONAL_NODE_PARAMS *params)
{
    CUDA_CONDITIONAL_NODE_PARAMS *own = &node->item.params.conditional;
    *own = *params;
    own->size = 0;
    own->phGraph_out = calloc(params->size, sizeof *own->phGraph_out);
    SIM_FAIL(OUT_OF_MEMORY, !own->phGraph_out);
    while (own->size < params->size) {
        SIM_MADE(struct sim_graph *, body, sim_graph_make());
        body->owner = node;
        own->phGraph_out[own->size++] = (CUgraph)body;
    }
    node->condition = sim_condition_retain(sim_condition_find(params->handle));
    node->condition->used = true;
    return CUDA_SUCCESS;
}
