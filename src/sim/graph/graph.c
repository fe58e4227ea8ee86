/* SPDX-License-Identifier: MIT */
/* Graphs and their nodes as objects. */
#include "graph/graph.h"

#include <stdlib.h>

#include "core/core.h"
#include "launch/launch.h"
#include "queue/queue.h"

static uint64_t next_node = 1;
static unsigned next_graph = 1;

struct sim_graph *sim_graph(CUgraph handle)
{
    return sim_object(SIM_GRAPH, handle);
}

struct sim_node *sim_graph_node(CUgraphNode handle)
{
    return sim_object(SIM_GRAPH_NODE, handle);
}

struct sim_graph *sim_graph_make(void)
{
    struct sim_graph *graph = calloc(1, sizeof *graph);
    if (!graph)
        return NULL;
    graph->id = next_graph++;
    sim_object_add(&graph->object, SIM_GRAPH, NULL);
    return graph;
}

void sim_graph_free(struct sim_graph *graph)
{
    sim_session_graph_gone(graph);
    for (size_t i = 0; i < graph->count; i++)
        sim_graph_node_free(graph->nodes[i]);
    sim_condition_graph_gone(graph->object.serial);
    sim_object_remove(&graph->object);
    sim_user_object_holds_free(graph->holds);
    free(graph->nodes);
    free(graph);
}

CUresult sim_graph_node_make(struct sim_graph *graph, const struct sim_item *item,
                             struct sim_node **node)
{
    if (graph->count == graph->capacity) {
        size_t capacity = graph->capacity ? 2 * graph->capacity : 8;
        struct sim_node **nodes = realloc(graph->nodes, capacity * sizeof *nodes);
        if (!nodes)
            return CUDA_ERROR_OUT_OF_MEMORY;
        graph->nodes = nodes;
        graph->capacity = capacity;
    }
    struct sim_node *made = calloc(1, sizeof *made);
    if (!made)
        return CUDA_ERROR_OUT_OF_MEMORY;
    made->graph = graph;
    made->id = next_node++;
    made->local_id = graph->next_local++;
    made->item = *item;
    sim_object_add(&made->object, SIM_GRAPH_NODE, NULL);
    graph->nodes[graph->count++] = made;
    *node = made;
    return CUDA_SUCCESS;
}

void sim_graph_node_free(struct sim_node *node)
{
    sim_object_remove(&node->object);
    sim_item_drop(&node->item);
    if (node->child)
        sim_graph_free(node->child);
    sim_graph_conditional_free(node);
    free(node->before);
    free(node);
}

/* --- Order --- */

enum { UNSEEN, OPEN, DONE };

struct step { /* a node, and which of its dependencies comes next */
    struct sim_node *node;
    size_t next;
};

/* Everything that `start` depends on, then `start`. A chain may be long: no recursion. */
static bool visit(struct sim_node *start, struct step *steps, struct sim_node **sorted,
                  size_t *count, struct sim_node **cycle)
{
    size_t depth = 0;
    if (start->mark == DONE)
        return true;
    start->mark = OPEN;
    steps[depth++] = (struct step){start, 0};
    while (depth) {
        struct step *top = &steps[depth - 1];
        if (top->next == top->node->before_count) {
            top->node->mark = DONE;
            sorted[(*count)++] = top->node;
            depth--;
            continue;
        }
        struct sim_node *before = top->node->before[top->next++].node;
        if (before->mark == OPEN) {
            if (cycle)
                *cycle = before;
            return false;
        }
        if (before->mark == DONE)
            continue;
        before->mark = OPEN;
        steps[depth++] = (struct step){before, 0};
    }
    return true;
}

struct sim_node **sim_graph_sorted(const struct sim_graph *graph, struct sim_node **cycle)
{
    struct sim_node **sorted = malloc((graph->count + 1) * sizeof *sorted);
    struct step *steps = malloc((graph->count + 1) * sizeof *steps);
    bool good = sorted && steps;
    size_t count = 0;
    if (cycle)
        *cycle = NULL;
    for (size_t i = 0; i < graph->count; i++)
        graph->nodes[i]->mark = UNSEEN;
    for (size_t i = 0; i < graph->count && good; i++)
        good = visit(graph->nodes[i], steps, sorted, &count, cycle);
    free(steps);
    if (good)
        return sorted;
    free(sorted);
    return NULL;
}

/* --- Entries --- */

CUresult sim_cuGraphCreate(CUgraph *phGraph, unsigned int flags)
{
    if (!phGraph || flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    struct sim_graph *graph = sim_graph_make();
    if (!graph)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *phGraph = (CUgraph)graph;
    return CUDA_SUCCESS;
}

/* A child graph is its node's, and one that is being captured into is the capture's. */
CUresult sim_cuGraphDestroy(CUgraph hGraph)
{
    struct sim_graph *graph = sim_graph(hGraph);
    if (!graph || graph->owner || graph->capture)
        return CUDA_ERROR_INVALID_VALUE;
    sim_graph_free(graph);
    return CUDA_SUCCESS;
}

/* Fill an array of handles as all queries do: NULL asks for the number; too much room ends in NULL
 * handles. */
struct listing {
    CUgraphNode *nodes;
    size_t room, count;
};

static void list(struct listing *listing, struct sim_node *node)
{
    if (listing->nodes && listing->count < listing->room)
        listing->nodes[listing->count] = (CUgraphNode)node;
    listing->count++;
}

static void list_end(struct listing *listing, size_t *number)
{
    for (size_t i = listing->count; listing->nodes && i < listing->room; i++)
        listing->nodes[i] = NULL;
    if (!listing->nodes || listing->count < *number)
        *number = listing->count;
}

CUresult sim_cuGraphGetNodes(CUgraph hGraph, CUgraphNode *nodes, size_t *numNodes)
{
    struct sim_graph *graph = sim_graph(hGraph);
    if (!graph || !numNodes)
        return CUDA_ERROR_INVALID_VALUE;
    struct listing listing = {nodes, *numNodes, 0};
    for (size_t i = 0; i < graph->count; i++)
        list(&listing, graph->nodes[i]);
    list_end(&listing, numNodes);
    return CUDA_SUCCESS;
}

CUresult sim_cuGraphGetRootNodes(CUgraph hGraph, CUgraphNode *rootNodes, size_t *numRootNodes)
{
    struct sim_graph *graph = sim_graph(hGraph);
    if (!graph || !numRootNodes)
        return CUDA_ERROR_INVALID_VALUE;
    struct listing listing = {rootNodes, *numRootNodes, 0};
    for (size_t i = 0; i < graph->count; i++)
        if (graph->nodes[i]->before_count == 0)
            list(&listing, graph->nodes[i]);
    list_end(&listing, numRootNodes);
    return CUDA_SUCCESS;
}

CUresult sim_cuGraphGetId(CUgraph hGraph, unsigned int *graphId)
{
    struct sim_graph *graph = sim_graph(hGraph);
    if (!graph || !graphId)
        return CUDA_ERROR_INVALID_VALUE;
    *graphId = graph->id;
    return CUDA_SUCCESS;
}

CUresult sim_cuGraphNodeGetContainingGraph(CUgraphNode hNode, CUgraph *phGraph)
{
    struct sim_node *node = sim_graph_node(hNode);
    if (!node || !phGraph)
        return CUDA_ERROR_INVALID_VALUE;
    *phGraph = (CUgraph)node->graph;
    return CUDA_SUCCESS;
}

CUresult sim_cuGraphNodeGetLocalId(CUgraphNode hNode, unsigned int *nodeId)
{
    struct sim_node *node = sim_graph_node(hNode);
    if (!node || !nodeId)
        return CUDA_ERROR_INVALID_VALUE;
    *nodeId = node->local_id;
    return CUDA_SUCCESS;
}

CUresult sim_cuGraphNodeGetToolsId(CUgraphNode hNode, unsigned long long *nodeId)
{
    struct sim_node *node = sim_graph_node(hNode);
    if (!node || !nodeId)
        return CUDA_ERROR_INVALID_VALUE;
    *nodeId = (unsigned long long)node->graph->id << 32 | node->local_id;
    return CUDA_SUCCESS;
}

CUresult sim_cuGraphNodeGetType(CUgraphNode hNode, CUgraphNodeType *type)
{
    struct sim_node *node = sim_graph_node(hNode);
    if (!node || !type)
        return CUDA_ERROR_INVALID_VALUE;
    *type = node->item.params.type;
    return CUDA_SUCCESS;
}
