/* SPDX-License-Identifier: MIT */
/* Copies of graphs, whose nodes remember what they are copies of. */
#include "graph/graph.h"

#include <stdlib.h>
#include <string.h>

#include "queue/queue.h"

static CUresult copy_node(const struct sim_node *node, struct sim_graph *to)
{
    struct sim_item item;
    struct sim_node *made;
    struct sim_graph *child = NULL;
    CUresult result = sim_params_copy(&node->item, &item);
    if (result == CUDA_SUCCESS && node->child) {
        result = sim_graph_clone(node->child, &child);
        if (result != CUDA_SUCCESS)
            sim_item_drop(&item);
    }
    if (result != CUDA_SUCCESS)
        return result;
    result = sim_graph_node_make(to, &item, &made);
    if (result != CUDA_SUCCESS) {
        sim_item_drop(&item);
        if (child)
            sim_graph_free(child);
        return result;
    }
    made->original = node->id;
    made->child = child;
    if (child)
        child->owner = made;
    return CUDA_SUCCESS;
}

/* The same edges: node i of one graph is node i of the other. */
static CUresult copy_edges(const struct sim_graph *from, struct sim_graph *to)
{
    for (size_t i = 0; i < from->count; i++)
        from->nodes[i]->mark = i;
    for (size_t i = 0; i < from->count; i++) {
        const struct sim_node *node = from->nodes[i];
        for (size_t j = 0; j < node->before_count; j++) {
            CUresult result = sim_edge_add(to->nodes[i], to->nodes[node->before[j].node->mark],
                                           &node->before[j].data);
            if (result != CUDA_SUCCESS)
                return result;
        }
    }
    return CUDA_SUCCESS;
}

CUresult sim_graph_clone(const struct sim_graph *graph, struct sim_graph **clone)
{
    struct sim_graph *made = sim_graph_make();
    if (!made)
        return CUDA_ERROR_OUT_OF_MEMORY;
    made->original = graph->id;
    CUresult result = sim_user_object_holds_copy(graph->holds, &made->holds);
    for (size_t i = 0; i < graph->count && result == CUDA_SUCCESS; i++)
        result = copy_node(graph->nodes[i], made);
    if (result == CUDA_SUCCESS)
        result = copy_edges(graph, made);
    if (result == CUDA_SUCCESS)
        *clone = made;
    else
        sim_graph_free(made);
    return result;
}

CUresult sim_cuGraphClone(CUgraph *phGraphClone, CUgraph originalGraph)
{
    struct sim_graph *graph = sim_graph(originalGraph), *clone;
    if (!phGraphClone || !graph)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < graph->count; i++)
        if (graph->nodes[i]->item.params.type == CU_GRAPH_NODE_TYPE_MEM_ALLOC ||
            graph->nodes[i]->item.params.type == CU_GRAPH_NODE_TYPE_MEM_FREE)
            return CUDA_ERROR_NOT_SUPPORTED; /* two graphs cannot own one address */
    if (sim_graph_conditional_is_in(graph))
        return CUDA_ERROR_NOT_SUPPORTED;
    CUresult result = sim_graph_clone(graph, &clone);
    if (result == CUDA_SUCCESS)
        *phGraphClone = (CUgraph)clone;
    return result;
}

static struct sim_node *find_copy(const struct sim_graph *graph, uint64_t original)
{
    for (size_t i = 0; i < graph->count; i++) {
        struct sim_node *found = graph->nodes[i];
        if (found->original == original)
            return found;
        if (found->child && (found = find_copy(found->child, original)))
            return found;
    }
    return NULL;
}

CUresult sim_cuGraphNodeFindInClone(CUgraphNode *phNode, CUgraphNode hOriginalNode,
                                    CUgraph hClonedGraph)
{
    struct sim_graph *clone = sim_graph(hClonedGraph);
    struct sim_node *node = sim_graph_node(hOriginalNode);
    if (!phNode || !clone || !node || !clone->original)
        return CUDA_ERROR_INVALID_VALUE;
    struct sim_node *found = find_copy(clone, node->id);
    if (!found)
        return CUDA_ERROR_INVALID_VALUE;
    *phNode = (CUgraphNode)found;
    return CUDA_SUCCESS;
}
