/* SPDX-License-Identifier: MIT */
/* Graphs made executable: child graphs dissolved, the nodes sorted, the work prepared anew. */
#include "graph/graph.h"

#include <stdio.h>

static unsigned next_exec = 1;

struct sim_exec *sim_exec(CUgraphExec handle)
{
    return sim_object(SIM_GRAPH_EXEC, handle);
}

struct sim_branch *sim_exec_branch_retain(struct sim_branch *branch)
{
    branch->references++;
    return branch;
}

void sim_exec_branch_release(void *of)
{
    struct sim_branch *branch = of;
    if (!branch || --branch->references != 0)
        return;
    for (unsigned i = 0; i < branch->count; i++)
        sim_exec_release(branch->bodies[i]);
    sim_condition_release(branch->condition);
    sim_context_release(branch->context);
    free(branch->bodies);
    free(branch);
}

void sim_exec_release(struct sim_exec *exec)
{
    if (--exec->references != 0)
        return;
    for (size_t i = 0; i < exec->count; i++) {
        if (exec->nodes[i].claimed)
            sim_graph_memory_unclaim(&exec->nodes[i].work->item);
        sim_exec_work_release(exec->nodes[i].work);
        sim_exec_branch_release(exec->nodes[i].branch);
        free(exec->nodes[i].before);
    }
    free(exec->nodes);
    sim_ticket_release(exec->finished);
    sim_user_object_holds_free(exec->holds);
    free(exec);
}

/* --- Work that a node and launches of it share --- */

CUresult sim_exec_work_make(const struct sim_item *item, struct sim_work_unit **unit)
{
    SIM_NEW(struct sim_work_unit, made);
    *made = (struct sim_work_unit){1, *item};
    *unit = made;
    return CUDA_SUCCESS;
}

void sim_exec_work_release(void *of)
{
    struct sim_work_unit *unit = of;
    if (!unit || --unit->references != 0)
        return;
    sim_item_drop(&unit->item);
    free(unit);
}

/* --- Conditional nodes and their bodies --- */

/* What a body cannot have is found here: its memory and its host functions are no graph's. */
static bool may_have(CUgraphNodeType type)
{
    return type == CU_GRAPH_NODE_TYPE_KERNEL || type == CU_GRAPH_NODE_TYPE_MEMCPY ||
           type == CU_GRAPH_NODE_TYPE_MEMSET || type == CU_GRAPH_NODE_TYPE_EMPTY ||
           type == CU_GRAPH_NODE_TYPE_GRAPH || type == CU_GRAPH_NODE_TYPE_CONDITIONAL;
}

/* Pages that the system may move: a copy in a body is done without the CPU. */
static bool is_pageable(CUmemorytype type, const void *place)
{
    return type == CU_MEMORYTYPE_HOST && !sim_range_find((uint64_t)(uintptr_t)place);
}

static bool is_pageable_copy(const CUgraphNodeParams *params)
{
    const CUDA_MEMCPY3D_v2 *copy = &params->memcpy.copyParams;
    return params->type == CU_GRAPH_NODE_TYPE_MEMCPY &&
           (is_pageable(copy->srcMemoryType, copy->srcHost) ||
            is_pageable(copy->dstMemoryType, copy->dstHost));
}

static CUresult make_body(const struct sim_graph *graph, struct sim_exec **body,
                          struct sim_node **error)
{
    SIM_FIND(struct sim_exec *, made, sim_exec_make(graph, &made, error));
    for (size_t i = 0; i < made->count; i++)
        SIM_TRY_OR(SIM_VALID(may_have(made->nodes[i].work->item.params.type) &&
                             !is_pageable_copy(&made->nodes[i].work->item.params)),
                   sim_exec_release(made));
    *body = made;
    return CUDA_SUCCESS;
}

static CUresult make_branch(const struct sim_node *node, struct sim_branch **branch,
                            struct sim_node **error)
{
    const CUDA_CONDITIONAL_NODE_PARAMS *params = &node->item.params.conditional;
    struct sim_context *context = sim_object(SIM_CONTEXT, params->ctx);
    struct sim_branch *made = context ? calloc(1, sizeof *made) : NULL;
    if (!made)
        return context ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_INVALID_CONTEXT;
    made->references = 1;
    made->type = params->type;
    made->condition = sim_condition_retain(node->condition);
    made->context = sim_context_retain(context);
    made->bodies = calloc(params->size, sizeof(struct sim_exec *));
    CUresult result = made->bodies ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    for (unsigned i = 0; i < params->size && result == CUDA_SUCCESS; i++) {
        result = make_body(sim_graph(params->phGraph_out[i]), &made->bodies[i], error);
        made->count += result == CUDA_SUCCESS;
    }
    SIM_TRY_OR(result, sim_exec_branch_release(made));
    *branch = made;
    return CUDA_SUCCESS;
}

/* --- Flattening --- */

static CUresult append(struct sim_exec *exec, uint64_t source, const struct sim_item *item,
                       size_t before_room, struct sim_exec_node **made)
{
    SIM_MADE(struct sim_exec_node *, nodes,
             sim_grown(exec->nodes, exec->count, &exec->capacity, sizeof *nodes));
    exec->nodes = nodes;
    struct sim_exec_node *node = &exec->nodes[exec->count];
    *node = (struct sim_exec_node){.source = source, .last = true};
    node->before = malloc((before_room + 1) * sizeof *node->before);
    struct sim_item copy;
    SIM_TRY_OR(node->before ? sim_params_copy(item, &copy) : CUDA_ERROR_OUT_OF_MEMORY,
               free(node->before));
    SIM_TRY_OR(sim_exec_work_make(&copy, &node->work), sim_item_drop(&copy), free(node->before));
    exec->count++;
    *made = node;
    return CUDA_SUCCESS;
}

static void depend(struct sim_exec *exec, struct sim_exec_node *node, size_t on)
{
    node->before[node->before_count++] = on;
    exec->nodes[on].last = false;
}

static CUresult flatten(struct sim_exec *exec, const struct sim_graph *graph, size_t entry,
                        struct sim_node **error);

/* A child graph: what its roots depend on, its nodes, and a node after all of them. */
static CUresult flatten_child(struct sim_exec *exec, const struct sim_node *node, size_t entry,
                              struct sim_node **error)
{
    static const struct sim_item nothing = {.params.type = CU_GRAPH_NODE_TYPE_EMPTY};
    SIM_TRY(flatten(exec, node->child, entry, error));
    size_t last = exec->count;
    SIM_FIND(struct sim_exec_node *, end, append(exec, 0, &nothing, last - entry, &end));
    for (size_t i = entry; i < last; i++)
        if (exec->nodes[i].last)
            depend(exec, end, i);
    return CUDA_SUCCESS;
}

/* A graph's memory has one address: no two executable graphs can use it. */
static CUresult claim(struct sim_exec *exec)
{
    for (size_t i = 0; i < exec->count; i++) {
        exec->nodes[i].claimed = sim_graph_memory_claim(&exec->nodes[i].work->item);
        SIM_FAIL(NOT_SUPPORTED, !exec->nodes[i].claimed);
    }
    return CUDA_SUCCESS;
}

/* Nodes of `graph` follow the exec's node number `entry` (SIZE_MAX: nothing). */
static CUresult flatten(struct sim_exec *exec, const struct sim_graph *graph, size_t entry,
                        struct sim_node **error)
{
    CUresult result = CUDA_SUCCESS;
    struct sim_node **sorted = sim_graph_sorted(graph, error);
    if (!sorted)
        return *error ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i < graph->count && result == CUDA_SUCCESS; i++) {
        struct sim_node *node = sorted[i];
        struct sim_exec_node *made;
        result = append(exec, node->id, &node->item, node->before_count + 1, &made);
        if (result != CUDA_SUCCESS) {
            *error = node;
            break;
        }
        for (size_t j = 0; j < node->before_count; j++)
            depend(exec, made, node->before[j].node->mark);
        if (node->before_count == 0 && entry != SIZE_MAX)
            depend(exec, made, entry);
        node->mark = exec->count - 1;
        if (node->item.params.type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
            result = make_branch(node, &made->branch, error);
        if (!node->child)
            continue;
        result = flatten_child(exec, node, node->mark, error);
        node->mark = exec->count - 1;
    }
    free(sorted);
    return result;
}

CUresult sim_exec_make(const struct sim_graph *graph, struct sim_exec **exec,
                       struct sim_node **error)
{
    *error = NULL;
    SIM_NEW(struct sim_exec, made);
    made->references = 1;
    SIM_TRY_OR(flatten(made, graph, SIZE_MAX, error), sim_exec_release(made));
    *exec = made;
    return CUDA_SUCCESS;
}

/* Here, or in a body. */
static struct sim_exec_node *find(struct sim_exec *exec, uint64_t id)
{
    struct sim_exec_node *found = NULL;
    for (size_t i = 0; i < exec->count && !found; i++) {
        const struct sim_branch *branch = exec->nodes[i].branch;
        if (exec->nodes[i].source == id)
            return &exec->nodes[i];
        for (unsigned j = 0; branch && j < branch->count && !found; j++)
            found = find(branch->bodies[j], id);
    }
    return found;
}

struct sim_exec_node *sim_exec_node(struct sim_exec *exec, CUgraphNode handle)
{
    struct sim_node *node = sim_graph_node(handle);
    return node ? find(exec, node->id) : NULL;
}

static CUresult instantiate(CUgraphExec *out, CUgraph handle, cuuint64_t flags,
                            struct sim_node **error)
{
    const cuuint64_t known =
        CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD |
        CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
    struct sim_graph *graph = sim_graph(handle);
    *error = NULL;
    SIM_REFUSE(!out || !graph || flags & ~known);
    SIM_TRY(sim_capture_unsafe());
    if (flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) /* no kernel here can launch a graph */
        return graph->count ? SIM_LACK_cuGraphInstantiate_device : CUDA_ERROR_INVALID_VALUE;
    if (graph->owner && graph->owner->condition) /* a body runs in its node alone */
        return CUDA_ERROR_NOT_SUPPORTED;
    SIM_REFUSE(!sim_condition_all_used(graph->object.serial));
    SIM_FIND(struct sim_exec *, exec, sim_exec_make(graph, &exec, error));
    SIM_TRY_OR(claim(exec), sim_exec_release(exec));
    SIM_TRY_OR(sim_user_object_holds_copy(graph->holds, &exec->holds), sim_exec_release(exec));
    exec->id = next_exec++;
    exec->flags = flags & ~(cuuint64_t)CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
    sim_object_add(&exec->object, SIM_GRAPH_EXEC, NULL);
    *out = (CUgraphExec)exec;
    return CUDA_SUCCESS;
}

CUresult sim_cuGraphInstantiate_v2(CUgraphExec *out, CUgraph graph, CUgraphNode *error_node,
                                   char *log, size_t size)
{
    struct sim_node *error;
    CUresult result = instantiate(out, graph, 0, &error);
    SIM_PUT(error_node, (CUgraphNode)error);
    if (log && size)
        snprintf(log, size, "%s", error ? "a node of the graph cannot be instantiated" : "");
    return result;
}

SIM_BEHAVIOUR(cuGraphInstantiateWithFlags)
{
    struct sim_node *error;
    SIM_REFUSE(flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD); /* there is no stream to do it in */
    return instantiate(phGraphExec, hGraph, flags, &error);
}

SIM_BEHAVIOUR(cuGraphInstantiateWithParams)
{
    CUDA_GRAPH_INSTANTIATE_PARAMS *params = instantiateParams;
    struct sim_node *error = NULL;
    struct sim_stream *stream;
    CUresult result = CUDA_SUCCESS;
    SIM_REFUSE(!params);
    if (params->flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD)
        result = sim_stream(params->hUploadStream, &stream);
    params->result_out = CUDA_GRAPH_INSTANTIATE_ERROR;
    params->hErrNode_out = NULL;
    if (result == CUDA_SUCCESS)
        result = instantiate(phGraphExec, hGraph, params->flags, &error);
    if (result == CUDA_SUCCESS) {
        params->result_out = CUDA_GRAPH_INSTANTIATE_SUCCESS;
        if (params->flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD)
            sim_graph_memory_upload(sim_exec(*phGraphExec));
    } else if (sim_graph(hGraph) && error) {
        params->result_out = CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE;
        params->hErrNode_out = (CUgraphNode)error;
    }
    return result;
}

/* Launches that run keep what they need. */
SIM_SET(cuGraphExecDestroy, struct sim_exec *, exec,
        (exec = sim_exec(hGraphExec)) ? sim_capture_unsafe() : CUDA_ERROR_INVALID_VALUE, false,
        sim_object_remove(&exec->object), sim_exec_release(exec))
SIM_TELL(cuGraphExecGetFlags, flags, struct sim_exec *exec, SIM_VALID(exec = sim_exec(hGraphExec)),
         exec->flags)
SIM_TELL(cuGraphExecGetId, graphId, struct sim_exec *exec, SIM_VALID(exec = sim_exec(hGraphExec)),
         exec->id)

/* A node that the graph can go without. */
static CUresult find_switch(CUgraphExec handle, CUgraphNode node_handle,
                            struct sim_exec_node **node)
{
    struct sim_exec *exec = sim_exec(handle);
    *node = exec ? sim_exec_node(exec, node_handle) : NULL;
    SIM_REFUSE(!*node);
    CUgraphNodeType type = (*node)->work->item.params.type;
    return SIM_VALID(type == CU_GRAPH_NODE_TYPE_KERNEL || type == CU_GRAPH_NODE_TYPE_MEMCPY ||
                     type == CU_GRAPH_NODE_TYPE_MEMSET);
}

SIM_TELL(cuGraphNodeGetEnabled, isEnabled, struct sim_exec_node *node,
         find_switch(hGraphExec, hNode, &node), !node->disabled)
SIM_SET(cuGraphNodeSetEnabled, struct sim_exec_node *, node, find_switch(hGraphExec, hNode, &node),
        false, node->disabled = !isEnabled)
