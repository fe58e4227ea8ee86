/* SPDX-License-Identifier: MIT */
/* Changes to executable graphs: of one node, of a child graph, of everything at once. */
#include "graph/graph.h"

/* Whether the node may have these once it is executable: an event of the same context, or words
 * that are as many, of the same kinds and in the same context. */
static bool goes_with(const CUgraphNodeParams *old, const CUgraphNodeParams *params)
{
    const struct sim_object *event = sim_object(SIM_EVENT, params->eventRecord.event);
    const struct sim_object *was = sim_object(SIM_EVENT, old->eventRecord.event);
    bool same = params->memOp.ctx == old->memOp.ctx && params->memOp.count == old->memOp.count;
    switch ((int)params->type) {
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: /* the same member */
        return !event || !was || event->context == was->context;
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
        for (unsigned i = 0; same && i < old->memOp.count; i++)
            same = params->memOp.paramArray[i].operation == old->memOp.paramArray[i].operation;
        return same;
    default:
        return true;
    }
}

/* Launches that run keep the old work. */
CUresult sim_graph_update_node(CUgraphExec handle, CUgraphNode node_handle,
                               const CUgraphNodeParams *params)
{
    struct sim_exec *exec = sim_exec(handle);
    struct sim_exec_node *node = exec ? sim_exec_node(exec, node_handle) : NULL;
    struct sim_item item;
    SIM_REFUSE(!node || !params);
    const struct sim_item *old = &node->work->item;
    SIM_REFUSE(params->type != old->params.type || params->type == CU_GRAPH_NODE_TYPE_EMPTY);
    SIM_TRY(sim_params_prepare(params, old->attributes, old->attribute_count, &item));
    SIM_TRY_OR(SIM_VALID(goes_with(&old->params, params)), sim_item_drop(&item));
    struct sim_work_unit *unit;
    SIM_TRY_OR(sim_exec_work_make(&item, &unit), sim_item_drop(&item));
    sim_exec_work_release(node->work);
    node->work = unit;
    return CUDA_SUCCESS;
}

/* --- Graphs of the same shape --- */

static CUgraphExecUpdateResult compare_all(const struct sim_exec *exec, size_t shift, size_t count,
                                           const struct sim_exec *fresh, uint64_t *source);

/* Bodies of the same shape. The handle is the other graph's own, and comes along with them. */
static CUgraphExecUpdateResult compare_branches(const struct sim_branch *old,
                                                const struct sim_branch *fresh)
{
    CUgraphExecUpdateResult result = CU_GRAPH_EXEC_UPDATE_SUCCESS;
    uint64_t source;
    if (old->type != fresh->type || old->count != fresh->count)
        return CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED;
    for (unsigned i = 0; i < old->count && result == CU_GRAPH_EXEC_UPDATE_SUCCESS; i++)
        result = compare_all(old->bodies[i], 0, old->bodies[i]->count, fresh->bodies[i], &source);
    return result;
}

static CUgraphExecUpdateResult compare_types(const struct sim_exec_node *old,
                                             const struct sim_exec_node *fresh, size_t shift)
{
    CUgraphNodeType type = fresh->work->item.params.type;
    (void)shift;
    if (old->work->item.params.type != type)
        return CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
    if (fresh->branch)
        return compare_branches(old->branch, fresh->branch);
    return sim_graph_memory_of(&fresh->work->item) ? CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED
                                                   : CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

static CUgraphExecUpdateResult compare_edges(const struct sim_exec_node *old,
                                             const struct sim_exec_node *fresh, size_t shift)
{
    /* Within a child graph the roots depend on the node that stands for it. */
    if (shift && fresh->before_count == 0)
        return old->before_count == 1 && old->before[0] == shift - 1
                   ? CU_GRAPH_EXEC_UPDATE_SUCCESS
                   : CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    if (old->before_count != fresh->before_count)
        return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    for (size_t i = 0; i < old->before_count; i++)
        if (old->before[i] != fresh->before[i] + shift)
            return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

/* The shape of the whole first, then the nodes. */
static CUgraphExecUpdateResult compare_all(const struct sim_exec *exec, size_t shift, size_t count,
                                           const struct sim_exec *fresh, uint64_t *source)
{
    *source = 0;
    if (count != fresh->count)
        return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    for (size_t i = 0; i < 2 * count; i++) {
        const struct sim_exec_node *old = &exec->nodes[shift + i % count];
        const struct sim_exec_node *new_node = &fresh->nodes[i % count];
        CUgraphExecUpdateResult result =
            (i < count ? compare_edges : compare_types)(old, new_node, shift);
        *source = new_node->source;
        if (result != CU_GRAPH_EXEC_UPDATE_SUCCESS)
            return result;
    }
    *source = 0;
    return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

/* The work of `fresh` becomes that of the nodes from `shift` on; `fresh` is left with the old. */
static void exchange(struct sim_exec *exec, size_t shift, struct sim_exec *fresh)
{
    for (size_t i = 0; i < fresh->count; i++) {
        struct sim_work_unit *old = exec->nodes[shift + i].work;
        exec->nodes[shift + i].work = fresh->nodes[i].work;
        fresh->nodes[i].work = old;
        struct sim_branch *branch = exec->nodes[shift + i].branch;
        exec->nodes[shift + i].branch = fresh->nodes[i].branch;
        fresh->nodes[i].branch = branch;
    }
}

/* Nodes of a child graph lie between the node that stands for it and the one after all of them,
 * which depends on some of them and was made from no node. */
static size_t child_end(const struct sim_exec *exec, size_t begin)
{
    size_t depth = 1, at = begin + 1;
    for (; at < exec->count; at++) {
        if (exec->nodes[at].source == 0 && --depth == 0)
            break;
        if (exec->nodes[at].work->item.params.type == CU_GRAPH_NODE_TYPE_GRAPH)
            depth++;
    }
    return at;
}

SIM_BEHAVIOUR(cuGraphExecChildGraphNodeSetParams)
{
    struct sim_exec *exec = sim_exec(hGraphExec);
    struct sim_graph *graph = sim_graph(childGraph);
    struct sim_exec_node *node = exec ? sim_exec_node(exec, hNode) : NULL;
    CUresult result = CUDA_SUCCESS;
    uint64_t source;
    struct sim_node *error;
    SIM_REFUSE(!node || !graph || node->work->item.params.type != CU_GRAPH_NODE_TYPE_GRAPH);
    SIM_FIND(struct sim_exec *, fresh, sim_exec_make(graph, &fresh, &error));
    size_t begin = (size_t)(node - exec->nodes);
    size_t count = child_end(exec, begin) - begin - 1;
    if (compare_all(exec, begin + 1, count, fresh, &source) == CU_GRAPH_EXEC_UPDATE_SUCCESS)
        exchange(exec, begin + 1, fresh);
    else
        result = CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
    sim_exec_release(fresh);
    return result;
}

SIM_BEHAVIOUR(cuGraphExecNodeSetParams)
{
    SIM_REFUSE(!nodeParams || !sim_params_valid(nodeParams));
    if (nodeParams->type == CU_GRAPH_NODE_TYPE_GRAPH)
        return sim_cuGraphExecChildGraphNodeSetParams(hGraphExec, hNode, nodeParams->graph.graph);
    return sim_graph_update_node(hGraphExec, hNode, nodeParams);
}

static CUresult update(CUgraphExec handle, CUgraph graph_handle, CUgraphExecUpdateResultInfo *info)
{
    struct sim_exec *exec = sim_exec(handle);
    struct sim_graph *graph = sim_graph(graph_handle);
    struct sim_node *error;
    uint64_t source;
    *info = (CUgraphExecUpdateResultInfo){.result = CU_GRAPH_EXEC_UPDATE_ERROR};
    SIM_REFUSE(!exec || !graph);
    SIM_FIND(struct sim_exec *, fresh, sim_exec_make(graph, &fresh, &error));
    info->result = compare_all(exec, 0, exec->count, fresh, &source);
    if (info->result == CU_GRAPH_EXEC_UPDATE_SUCCESS)
        exchange(exec, 0, fresh);
    else
        info->errorNode = (CUgraphNode)sim_graph_find(graph, source, false);
    sim_exec_release(fresh);
    return info->result == CU_GRAPH_EXEC_UPDATE_SUCCESS ? CUDA_SUCCESS
                                                        : CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
}

SIM_ENTRY(cuGraphExecUpdate_v2,
          resultInfo ? update(hGraphExec, hGraph, resultInfo) : CUDA_ERROR_INVALID_VALUE)

SIM_BEHAVIOUR(cuGraphExecUpdate)
{
    CUgraphExecUpdateResultInfo info;
    SIM_REFUSE(!hErrorNode_out || !updateResult_out);
    CUresult result = update(hGraphExec, hGraph, &info);
    *hErrorNode_out = info.errorNode;
    *updateResult_out = info.result;
    return result;
}
