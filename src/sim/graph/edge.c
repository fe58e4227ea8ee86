/* SPDX-License-Identifier: MIT */
/* Dependencies between the nodes of a graph, in the entries with and without data of an edge. */
#include "graph/graph.h"

static const CUgraphEdgeData plain;

bool sim_edge_plain(const CUgraphEdgeData *data)
{
    return memcmp(data, &plain, sizeof plain) == 0;
}

/* Ports and types have a meaning between kernels alone. */
static bool valid(const CUgraphEdgeData *data, const struct sim_node *from)
{
    if (!data || sim_edge_plain(data))
        return true;
    return memcmp(data->reserved, plain.reserved, sizeof plain.reserved) == 0 &&
           data->to_port == 0 && data->type <= 1 && data->from_port <= 2 &&
           from->item.params.type == CU_GRAPH_NODE_TYPE_KERNEL;
}

struct sim_edge *sim_edge_find(const struct sim_node *to, const struct sim_node *from)
{
    for (size_t i = 0; i < to->before_count; i++)
        if (to->before[i].node == from)
            return &to->before[i];
    return NULL;
}

CUresult sim_edge_append(struct sim_edge **edges, size_t *count, size_t *capacity,
                         struct sim_node *node, const CUgraphEdgeData *data)
{
    SIM_MADE(struct sim_edge *, grown, sim_grown(*edges, *count, capacity, sizeof *grown));
    *edges = grown;
    grown[*count] = (struct sim_edge){.node = node};
    if (data)
        grown[*count].data = *data;
    ++*count;
    return CUDA_SUCCESS;
}

CUresult sim_edge_add(struct sim_node *to, struct sim_node *from, const CUgraphEdgeData *data)
{
    SIM_REFUSE(to == from || !valid(data, from) || sim_edge_find(to, from));
    return sim_edge_append(&to->before, &to->before_count, &to->before_capacity, from, data);
}

void sim_edge_remove(struct sim_node *to, struct sim_edge *edge)
{
    size_t at = (size_t)(edge - to->before);
    memmove(edge, edge + 1, (to->before_count - at - 1) * sizeof *edge);
    to->before_count--;
}

/* --- Changes --- */

SIM_BEHAVIOUR(cuGraphAddDependencies_v2)
{
    struct sim_graph *graph = sim_graph(hGraph);
    SIM_REFUSE(!graph || (numDependencies && (!from || !to)));
    CUresult result = CUDA_SUCCESS;
    size_t done = 0;
    for (; done < numDependencies && result == CUDA_SUCCESS; done++) {
        struct sim_node *first = sim_graph_node(from[done]), *last = sim_graph_node(to[done]);
        if (!first || !last || first->graph != graph || last->graph != graph)
            result = CUDA_ERROR_INVALID_VALUE;
        else
            result = sim_edge_add(last, first, edgeData ? &edgeData[done] : NULL);
    }
    if (result == CUDA_SUCCESS)
        return result;
    for (size_t i = 0; i + 1 < done; i++) { /* all or nothing */
        struct sim_node *last = sim_graph_node(to[i]);
        sim_edge_remove(last, sim_edge_find(last, sim_graph_node(from[i])));
    }
    return result;
}

SIM_BEHAVIOUR(cuGraphRemoveDependencies_v2)
{
    struct sim_graph *graph = sim_graph(hGraph);
    SIM_REFUSE(!graph || (numDependencies && (!from || !to)));
    for (size_t i = 0; i < numDependencies; i++) {
        struct sim_node *first = sim_graph_node(from[i]), *last = sim_graph_node(to[i]);
        struct sim_edge *edge = first && last ? sim_edge_find(last, first) : NULL;
        SIM_REFUSE(!edge || last->graph != graph ||
                   memcmp(&edge->data, edgeData ? &edgeData[i] : &plain, sizeof plain) != 0);
    }
    for (size_t i = 0; i < numDependencies; i++) {
        struct sim_node *last = sim_graph_node(to[i]);
        struct sim_edge *edge = sim_edge_find(last, sim_graph_node(from[i]));
        if (edge)
            sim_edge_remove(last, edge);
    }
    return CUDA_SUCCESS;
}

/* --- Questions --- */

void sim_edge_list(struct sim_listing *listing, struct sim_node *to, const struct sim_edge *edge)
{
    size_t at = listing->count++;
    if (!listing->data && edge && !sim_edge_plain(&edge->data))
        listing->lossy = true;
    if (at >= listing->room)
        return;
    if (listing->from)
        listing->from[at] = (CUgraphNode)edge->node;
    if (listing->to)
        listing->to[at] = (CUgraphNode)to;
    if (listing->data)
        listing->data[at] = edge->data;
}

CUresult sim_edge_list_end(struct sim_listing *listing, size_t *number)
{
    bool counting = !listing->from && !listing->to;
    SIM_FAIL(LOSSY_QUERY, listing->lossy && !counting);
    for (size_t i = listing->count; i < listing->room && !counting; i++) {
        if (listing->from)
            listing->from[i] = NULL;
        if (listing->to)
            listing->to[i] = NULL;
    }
    if (counting || listing->count < *number)
        *number = listing->count;
    return CUDA_SUCCESS;
}

SIM_BEHAVIOUR(cuGraphGetEdges_v2)
{
    struct sim_graph *graph = sim_graph(hGraph);
    SIM_REFUSE(!graph || !numEdges || !from != !to || (edgeData && !from));
    struct sim_listing listing = {.from = from, .to = to, .data = edgeData, .room = *numEdges};
    for (size_t i = 0; i < graph->count; i++)
        for (size_t j = 0; j < graph->nodes[i]->before_count; j++)
            sim_edge_list(&listing, graph->nodes[i], &graph->nodes[i]->before[j]);
    return sim_edge_list_end(&listing, numEdges);
}

SIM_BEHAVIOUR(cuGraphNodeGetDependencies_v2)
{
    struct sim_node *node = sim_graph_node(hNode);
    SIM_REFUSE(!node || !numDependencies || (edgeData && !dependencies));
    struct sim_listing listing = {.from = dependencies, .data = edgeData, .room = *numDependencies};
    for (size_t i = 0; i < node->before_count; i++)
        sim_edge_list(&listing, node, &node->before[i]);
    return sim_edge_list_end(&listing, numDependencies);
}

SIM_BEHAVIOUR(cuGraphNodeGetDependentNodes_v2)
{
    struct sim_node *node = sim_graph_node(hNode);
    SIM_REFUSE(!node || !numDependentNodes || (edgeData && !dependentNodes));
    struct sim_listing listing = {
        .to = dependentNodes, .data = edgeData, .room = *numDependentNodes};
    for (size_t i = 0; i < node->graph->count; i++) {
        struct sim_edge *edge = sim_edge_find(node->graph->nodes[i], node);
        if (edge)
            sim_edge_list(&listing, node->graph->nodes[i], edge);
    }
    return sim_edge_list_end(&listing, numDependentNodes);
}
