/* SPDX-License-Identifier: MIT */
/* Nodes added to graphs, and taken out. */
#include "graph/graph.h"

struct place { /* where a node goes */
    CUgraphNode *out;
    CUgraph graph;
    const CUgraphNode *dependencies;
    const CUgraphEdgeData *data;
    size_t count;
};

static CUresult check(const struct place *place)
{
    struct sim_graph *graph = sim_graph(place->graph);
    SIM_REFUSE(!graph);
    return sim_graph_has(graph, place->dependencies, place->count);
}

static void take_out(struct sim_node *node)
{
    struct sim_graph *graph = node->graph;
    size_t at = 0;
    while (graph->nodes[at] != node)
        at++;
    memmove(&graph->nodes[at], &graph->nodes[at + 1],
            (graph->count - at - 1) * sizeof *graph->nodes);
    graph->count--;
}

/* `item` is the node's from now on, or dropped. */
static CUresult add(const struct place *place, const struct sim_item *item, struct sim_node **made)
{
    struct sim_node *node;
    SIM_TRY_OR(place->out ? check(place) : CUDA_ERROR_INVALID_VALUE, sim_item_drop(item));
    SIM_TRY_OR(sim_graph_node_make(sim_graph(place->graph), item, &node), sim_item_drop(item));
    for (size_t i = 0; i < place->count; i++)
        SIM_TRY_OR(sim_edge_add(node, sim_graph_node(place->dependencies[i]),
                                place->data ? &place->data[i] : NULL),
                   take_out(node), sim_graph_node_free(node));
    *place->out = (CUgraphNode)node;
    SIM_PUT(made, node);
    return CUDA_SUCCESS;
}

/* Whether the graph has the other in a node, or a node's node, or is it. */
static bool contains(const struct sim_graph *graph, const struct sim_graph *other)
{
    while (other && other != graph)
        other = other->owner ? other->owner->graph : NULL;
    return other;
}

static CUresult add_child(const struct place *place, CUgraph handle, bool move)
{
    struct sim_graph *child = sim_graph(handle), *own = child;
    struct sim_item item = {.params.type = CU_GRAPH_NODE_TYPE_GRAPH};
    struct sim_node *node;
    SIM_TRY(check(place));
    SIM_REFUSE(!child || handle == place->graph);
    SIM_FAIL(NOT_SUPPORTED, (move && child->owner) || sim_graph_has_conditional(child));
    SIM_REFUSE(move && (child->capture || contains(child, sim_graph(place->graph))));
    if (!move)
        SIM_TRY(sim_graph_clone(child, &own));
    CUresult result = add(place, &item, &node);
    if (result == CUDA_SUCCESS) {
        node->child = own;
        own->owner = node;
    } else if (!move) {
        sim_graph_free(own);
    }
    return result;
}

/* Whether a node of the graph frees this memory. */
static bool frees(const struct sim_graph *graph, CUdeviceptr address)
{
    for (size_t i = 0; i < graph->count; i++) {
        const CUgraphNodeParams *params = &graph->nodes[i]->item.params;
        if (params->type == CU_GRAPH_NODE_TYPE_MEM_FREE && params->free.dptr == address)
            return true;
    }
    return false;
}

static CUresult add_conditional(const struct place *place, CUDA_CONDITIONAL_NODE_PARAMS *params)
{
    struct sim_item item = {.params.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
    SIM_TRY(sim_graph_conditional_check(sim_graph(place->graph), params));
    SIM_FIND(struct sim_node *, node, add(place, &item, &node));
    SIM_TRY_OR(sim_graph_conditional_fill(node, params),
               (void)sim_cuGraphDestroyNode((CUgraphNode)node));
    params->phGraph_out = node->item.params.conditional.phGraph_out;
    return CUDA_SUCCESS;
}

static CUresult add_params(const struct place *place, CUgraphNodeParams *params)
{
    struct sim_item item;
    SIM_TRY(check(place));
    SIM_REFUSE(!params);
    switch ((int)params->type) {
    case CU_GRAPH_NODE_TYPE_GRAPH:
        return add_child(place, params->graph.graph,
                         params->graph.ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE);
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
        return add_conditional(place, &params->conditional);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
        SIM_TRY(sim_graph_memory_allocate_item(&params->alloc, &item));
        break;
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        SIM_REFUSE(frees(sim_graph(place->graph), params->free.dptr));
        SIM_TRY(sim_graph_memory_free_item(params->free.dptr, &item));
        break;
    default:
        SIM_TRY(sim_params_prepare(params, NULL, 0, &item));
        break;
    }
    return add(place, &item, NULL);
}

SIM_BEHAVIOUR(cuGraphAddNode_v2)
{
    struct place place = {phGraphNode, hGraph, dependencies, dependencyData, numDependencies};
    SIM_REFUSE(!nodeParams || !sim_params_valid(nodeParams));
    return add_params(&place, nodeParams);
}

#define PLACE                                                                                      \
    &(struct place)                                                                                \
    {                                                                                              \
        phGraphNode, hGraph, dependencies, NULL, numDependencies                                   \
    }
SIM_ENTRY(cuGraphAddEmptyNode,
          add_params(PLACE, &(CUgraphNodeParams){.type = CU_GRAPH_NODE_TYPE_EMPTY}))
SIM_ENTRY(cuGraphAddChildGraphNode, add_child(PLACE, childGraph, false))

SIM_BEHAVIOUR(cuGraphAddMemAllocNode)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC};
    SIM_REFUSE(!nodeParams);
    memcpy(&params.alloc, nodeParams, sizeof *nodeParams);
    SIM_TRY(add_params(PLACE, &params));
    nodeParams->dptr = params.alloc.dptr;
    return CUDA_SUCCESS;
}

/* Edges from and to it go with it. Memory is the graph's for good. */
CUresult sim_cuGraphDestroyNode(CUgraphNode hNode)
{
    struct sim_node *node = sim_graph_node(hNode);
    SIM_REFUSE(!node);
    SIM_FAIL(NOT_SUPPORTED, sim_graph_memory_of(&node->item));
    for (size_t i = 0; i < node->graph->count; i++) {
        struct sim_edge *edge = sim_edge_find(node->graph->nodes[i], node);
        if (edge)
            sim_edge_remove(node->graph->nodes[i], edge);
    }
    sim_session_node_gone(node);
    take_out(node);
    sim_graph_node_free(node);
    return CUDA_SUCCESS;
}

/* --- Launch attributes of kernel nodes --- */

static bool known(CUlaunchAttributeID id)
{
    switch ((int)id) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        return true;
    default:
        return false;
    }
}

/* A node of this type, or NULL. */
static struct sim_node *typed(CUgraphNode handle, CUgraphNodeType type)
{
    struct sim_node *node = sim_graph_node(handle);
    return node && node->item.params.type == type ? node : NULL;
}

SIM_BEHAVIOUR(cuGraphKernelNodeGetAttribute)
{
    struct sim_node *node = typed(hNode, CU_GRAPH_NODE_TYPE_KERNEL);
    SIM_REFUSE(!node || !value_out || !known(attr));
    memset(value_out, 0, sizeof *value_out);
    for (unsigned i = 0; i < node->item.attribute_count; i++)
        if (node->item.attributes[i].id == attr)
            *value_out = node->item.attributes[i].value;
    return CUDA_SUCCESS;
}

/* The kernel is prepared again: what it cannot be launched with is refused here. */
SIM_BEHAVIOUR(cuGraphKernelNodeSetAttribute)
{
    struct sim_node *node = typed(hNode, CU_GRAPH_NODE_TYPE_KERNEL);
    SIM_REFUSE(!node || !value || !known(attr));
    unsigned count = node->item.attribute_count, at = 0;
    SIM_MADE(CUlaunchAttribute *, attributes, calloc(count + 1, sizeof *attributes));
    if (count)
        memcpy(attributes, node->item.attributes, count * sizeof *attributes);
    while (at < count && attributes[at].id != attr)
        at++;
    attributes[at].id = attr;
    attributes[at].value = *value;
    CUresult result =
        sim_params_replace(node, &node->item.params, attributes, at == count ? count + 1 : count);
    free(attributes);
    return result;
}

CUresult sim_cuGraphKernelNodeCopyAttributes(CUgraphNode dst, CUgraphNode src)
{
    struct sim_node *to = typed(dst, CU_GRAPH_NODE_TYPE_KERNEL);
    const struct sim_node *from = typed(src, CU_GRAPH_NODE_TYPE_KERNEL);
    SIM_REFUSE(!to || !from);
    return sim_params_replace(to, &to->item.params, from->item.attributes,
                              from->item.attribute_count);
}

SIM_TELL(cuGraphChildGraphNodeGetGraph, phGraph, const struct sim_node *node,
         SIM_VALID(node = typed(hNode, CU_GRAPH_NODE_TYPE_GRAPH)), (CUgraph)node->child)

/* --- The entries that each kind of node has for itself --- */

static CUresult add_typed(const struct place *place, CUgraphNodeType type, const void *from,
                          size_t size, CUcontext ctx)
{
    CUgraphNodeParams params;
    SIM_REFUSE(!sim_params_from(&params, type, from, size, ctx));
    return add_params(place, &params);
}

static CUresult get(CUgraphNode handle, CUgraphNodeType type, void *to, size_t size)
{
    const struct sim_node *node = typed(handle, type);
    SIM_REFUSE(!node || !to);
    memcpy(to, sim_params_typed(&node->item.params), size);
    return CUDA_SUCCESS;
}

/* Copies and fills stay in their context. */
static CUresult set(CUgraphNode handle, CUgraphNodeType type, const void *from, size_t size)
{
    struct sim_node *node = typed(handle, type);
    CUgraphNodeParams params;
    CUcontext ctx = NULL;
    SIM_REFUSE(!node);
    if (type == CU_GRAPH_NODE_TYPE_MEMCPY)
        ctx = node->item.params.memcpy.copyCtx;
    if (type == CU_GRAPH_NODE_TYPE_MEMSET)
        ctx = node->item.params.memset.ctx;
    SIM_REFUSE(!sim_params_from(&params, type, from, size, ctx));
    return sim_params_set(node, &params);
}

static CUresult set_exec(CUgraphExec exec, CUgraphNode node, CUgraphNodeType type, const void *from,
                         size_t size, CUcontext ctx)
{
    CUgraphNodeParams params;
    SIM_REFUSE(!sim_params_from(&params, type, from, size, ctx));
    return sim_graph_update_node(exec, node, &params);
}

/* A kind of node that takes or gives a structure (NODE), also in a context (NODE_IN), or an event.
 */
#define ADD(function, kind, type, from, ctx, ...)                                                  \
    CUresult function(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count,    \
                      __VA_ARGS__)                                                                 \
    {                                                                                              \
        struct place place = {node, graph, after, NULL, count};                                    \
        return add_typed(&place, CU_GRAPH_NODE_TYPE_##kind, from, sizeof(type), ctx);              \
    }
#define GET(function, kind, type)                                                                  \
    CUresult function(CUgraphNode node, type *to)                                                  \
    {                                                                                              \
        return get(node, CU_GRAPH_NODE_TYPE_##kind, to, sizeof *to);                               \
    }
#define NODE_OF(name, what, version, kind, type, given, from, given_in, ctx)                       \
    ADD(sim_cuGraphAdd##name##Node##version, kind, type, from, ctx, given_in)                      \
    GET(sim_cuGraph##name##NodeGet##what##version, kind, type)                                     \
    CUresult sim_cuGraph##name##NodeSet##what##version(CUgraphNode node, given)                    \
    {                                                                                              \
        return set(node, CU_GRAPH_NODE_TYPE_##kind, from, sizeof(type));                           \
    }                                                                                              \
    CUresult sim_cuGraphExec##name##NodeSet##what##version(CUgraphExec exec, CUgraphNode node,     \
                                                           given_in)                               \
    {                                                                                              \
        return set_exec(exec, node, CU_GRAPH_NODE_TYPE_##kind, from, sizeof(type), ctx);           \
    }
#define NODE(name, version, kind, type)                                                            \
    NODE_OF(name, Params, version, kind, type, const type *from, from, const type *from, NULL)
#define IN_CONTEXT(type) const type *from, CUcontext ctx
#define NODE_IN(name, kind, type)                                                                  \
    NODE_OF(name, Params, , kind, type, const type *from, from, IN_CONTEXT(type), ctx)
#define NODE_EVENT(name, kind)                                                                     \
    NODE_OF(name, Event, , kind, CUevent, CUevent from, &from, CUevent from, NULL)
NODE(Kernel, , KERNEL, CUDA_KERNEL_NODE_PARAMS_v1)
NODE(Kernel, _v2, KERNEL, CUDA_KERNEL_NODE_PARAMS_v2)
NODE(Host, , HOST, CUDA_HOST_NODE_PARAMS_v1)
NODE(BatchMemOp, , BATCH_MEM_OP, CUDA_BATCH_MEM_OP_NODE_PARAMS)
NODE_IN(Memcpy, MEMCPY, CUDA_MEMCPY3D_v2)
NODE_IN(Memset, MEMSET, CUDA_MEMSET_NODE_PARAMS_v1)
NODE_EVENT(EventRecord, EVENT_RECORD)
NODE_EVENT(EventWait, WAIT_EVENT)
ADD(sim_cuGraphAddMemFreeNode, MEM_FREE, CUdeviceptr, &from, NULL, CUdeviceptr from)
GET(sim_cuGraphMemAllocNodeGetParams, MEM_ALLOC, CUDA_MEM_ALLOC_NODE_PARAMS)
GET(sim_cuGraphMemFreeNodeGetParams, MEM_FREE, CUdeviceptr)
