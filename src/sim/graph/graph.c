/* SPDX-License-Identifier: MIT */
/* Graphs and their nodes as objects. */
#include "graph/graph.h"

#include <inttypes.h>
#include <stdio.h>

static uint64_t next_node = 1;
static unsigned next_graph = 1;

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
    if (graph->capture)
        graph->capture_end(graph);
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
    SIM_MADE(struct sim_node **, nodes,
             sim_grown(graph->nodes, graph->count, &graph->capacity, sizeof *nodes));
    graph->nodes = nodes;
    SIM_NEW(struct sim_node, made);
    made->graph = graph;
    made->id = next_node++;
    made->local_id = graph->next_local++;
    made->item = *item;
    sim_object_add(&made->object, SIM_GRAPH_NODE, NULL);
    graph->nodes[graph->count++] = made;
    *node = made;
    return CUDA_SUCCESS;
}

CUresult sim_graph_has(const struct sim_graph *graph, const CUgraphNode *nodes, size_t count)
{
    SIM_REFUSE(count && !nodes);
    for (size_t i = 0; i < count; i++) {
        struct sim_node *node = sim_graph_node(nodes[i]);
        SIM_REFUSE(!node || node->graph != graph);
    }
    return CUDA_SUCCESS;
}

static void free_bodies(struct sim_node *node)
{
    CUDA_CONDITIONAL_NODE_PARAMS *own = &node->item.params.conditional;
    if (node->item.params.type != CU_GRAPH_NODE_TYPE_CONDITIONAL)
        return;
    for (unsigned i = 0; i < own->size; i++)
        sim_graph_free(sim_graph(own->phGraph_out[i]));
    free(own->phGraph_out);
    if (node->condition)
        sim_condition_release(node->condition);
}

void sim_graph_node_free(struct sim_node *node)
{
    sim_object_remove(&node->object);
    sim_item_drop(&node->item);
    if (node->child)
        sim_graph_free(node->child);
    free_bodies(node);
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

CUresult sim_cuGraphCreate(CUgraph *phGraph, unsigned int flags)
{
    SIM_REFUSE(!phGraph || flags != 0);
    SIM_MADE(struct sim_graph *, graph, sim_graph_make());
    *phGraph = (CUgraph)graph;
    return CUDA_SUCCESS;
}

/* A child graph is its node's, and one that is being captured into is the capture's. */
SIM_SET(cuGraphDestroy, struct sim_graph *, graph, SIM_VALID(graph = sim_graph(hGraph)),
        graph->owner || graph->capture, sim_graph_free(graph))

/* All nodes, or those that depend on none. */
static CUresult list(const struct sim_graph *graph, bool roots, CUgraphNode *nodes, size_t *number)
{
    SIM_REFUSE(!graph || !number);
    struct sim_listing listing = {.to = nodes, .room = *number};
    for (size_t i = 0; i < graph->count; i++)
        if (!roots || graph->nodes[i]->before_count == 0)
            sim_edge_list(&listing, graph->nodes[i], NULL);
    return sim_edge_list_end(&listing, number);
}

SIM_ENTRY(cuGraphGetNodes, list(sim_graph(hGraph), false, nodes, numNodes))
SIM_ENTRY(cuGraphGetRootNodes, list(sim_graph(hGraph), true, rootNodes, numRootNodes))

SIM_TELL(cuGraphGetId, graphId, struct sim_graph *graph, SIM_VALID(graph = sim_graph(hGraph)),
         graph->id)
SIM_TELL(cuGraphNodeGetContainingGraph, phGraph, struct sim_node *node,
         SIM_VALID(node = sim_graph_node(hNode)), (CUgraph)node->graph)
SIM_TELL(cuGraphNodeGetLocalId, nodeId, struct sim_node *node,
         SIM_VALID(node = sim_graph_node(hNode)), node->local_id)
SIM_TELL(cuGraphNodeGetToolsId, nodeId, struct sim_node *node,
         SIM_VALID(node = sim_graph_node(hNode)),
         (unsigned long long)node->graph->id << 32 | node->local_id)
SIM_TELL(cuGraphNodeGetType, type, struct sim_node *node, SIM_VALID(node = sim_graph_node(hNode)),
         node->item.params.type)

/* --- Copies of graphs, whose nodes remember what they are copies of --- */

static CUresult copy_node(const struct sim_node *node, struct sim_graph *to)
{
    struct sim_node *made;
    struct sim_graph *child = NULL;
    SIM_FIND(struct sim_item, item, sim_params_copy(&node->item, &item));
    if (node->child)
        SIM_TRY_OR(sim_graph_clone(node->child, &child), sim_item_drop(&item));
    SIM_TRY_OR(sim_graph_node_make(to, &item, &made), sim_item_drop(&item),
               child ? sim_graph_free(child) : (void)0);
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
        for (size_t j = 0; j < node->before_count; j++)
            SIM_TRY(sim_edge_add(to->nodes[i], to->nodes[node->before[j].node->mark],
                                 &node->before[j].data));
    }
    return CUDA_SUCCESS;
}

CUresult sim_graph_clone(const struct sim_graph *graph, struct sim_graph **clone)
{
    SIM_MADE(struct sim_graph *, made, sim_graph_make());
    made->original = graph->id;
    SIM_TRY_OR(sim_user_object_holds_copy(graph->holds, &made->holds), sim_graph_free(made));
    for (size_t i = 0; i < graph->count; i++)
        SIM_TRY_OR(copy_node(graph->nodes[i], made), sim_graph_free(made));
    SIM_TRY_OR(copy_edges(graph, made), sim_graph_free(made));
    *clone = made;
    return CUDA_SUCCESS;
}

bool sim_graph_has_conditional(const struct sim_graph *graph)
{
    for (size_t i = 0; i < graph->count; i++) {
        const struct sim_node *node = graph->nodes[i];
        if (node->item.params.type == CU_GRAPH_NODE_TYPE_CONDITIONAL ||
            (node->child && sim_graph_has_conditional(node->child)))
            return true;
    }
    return false;
}

CUresult sim_cuGraphClone(CUgraph *phGraphClone, CUgraph originalGraph)
{
    struct sim_graph *graph = sim_graph(originalGraph), *clone;
    SIM_REFUSE(!phGraphClone || !graph);
    for (size_t i = 0; i < graph->count; i++)
        SIM_FAIL(NOT_SUPPORTED, sim_graph_memory_of(&graph->nodes[i]->item)); /* its address */
    SIM_FAIL(NOT_SUPPORTED, sim_graph_has_conditional(graph));
    SIM_TRY(sim_graph_clone(graph, &clone));
    *phGraphClone = (CUgraph)clone;
    return CUDA_SUCCESS;
}

struct sim_node *sim_graph_find(const struct sim_graph *graph, uint64_t id, bool copy)
{
    for (size_t i = 0; i < graph->count; i++) {
        struct sim_node *found = graph->nodes[i];
        if ((copy ? found->original : found->id) == id)
            return found;
        if (found->child && (found = sim_graph_find(found->child, id, copy)))
            return found;
    }
    return NULL;
}

SIM_BEHAVIOUR(cuGraphNodeFindInClone)
{
    struct sim_graph *clone = sim_graph(hClonedGraph);
    struct sim_node *node = sim_graph_node(hOriginalNode);
    SIM_REFUSE(!phNode || !clone || !node || !clone->original);
    struct sim_node *found = sim_graph_find(clone, node->id, true);
    SIM_REFUSE(!found);
    *phNode = (CUgraphNode)found;
    return CUDA_SUCCESS;
}

/* --- A graph in the language of Graphviz --- */

#define NAME(type) [CU_GRAPH_NODE_TYPE_##type] = #type
static const char *type_name(CUgraphNodeType type)
{
    static const char *const names[] = {
        NAME(KERNEL),    NAME(MEMCPY),   NAME(MEMSET),       NAME(HOST),
        NAME(GRAPH),     NAME(EMPTY),    NAME(WAIT_EVENT),   NAME(EVENT_RECORD),
        NAME(MEM_ALLOC), NAME(MEM_FREE), NAME(BATCH_MEM_OP), NAME(CONDITIONAL),
    };
    return (size_t)type < sizeof names / sizeof *names && names[type] ? names[type] : "NODE";
}

static void print_node(FILE *file, const struct sim_node *node, bool verbose)
{
    const CUgraphNodeParams *params = &node->item.params;
    fprintf(file, "n%" PRIu64 " [label=\"%u\\n%s", node->id, node->local_id,
            type_name(params->type));
    if (verbose && params->type == CU_GRAPH_NODE_TYPE_KERNEL)
        fprintf(file, "\\n<<<(%u,%u,%u),(%u,%u,%u),%u>>>", params->kernel.gridDimX,
                params->kernel.gridDimY, params->kernel.gridDimZ, params->kernel.blockDimX,
                params->kernel.blockDimY, params->kernel.blockDimZ, params->kernel.sharedMemBytes);
    else if (verbose && params->type == CU_GRAPH_NODE_TYPE_MEMSET)
        fprintf(file, "\\n%zux%zu of %u bytes: %u", params->memset.width, params->memset.height,
                params->memset.elementSize, params->memset.value);
    else if (verbose && params->type == CU_GRAPH_NODE_TYPE_MEMCPY)
        fprintf(file, "\\n%zux%zux%zu", params->memcpy.copyParams.WidthInBytes,
                params->memcpy.copyParams.Height, params->memcpy.copyParams.Depth);
    fprintf(file, "\"];\n");
}

static void print_graph(FILE *file, const struct sim_graph *graph, bool verbose)
{
    fprintf(file, "subgraph cluster_%u {\nlabel=\"graph_%u\";\n", graph->id, graph->id);
    for (size_t i = 0; i < graph->count; i++) {
        const struct sim_node *node = graph->nodes[i];
        print_node(file, node, verbose);
        for (size_t j = 0; j < node->before_count; j++)
            fprintf(file, "n%" PRIu64 " -> n%" PRIu64 ";\n", node->before[j].node->id, node->id);
    }
    fprintf(file, "}\n");
    for (size_t i = 0; i < graph->count; i++) {
        const struct sim_node *node = graph->nodes[i];
        const CUDA_CONDITIONAL_NODE_PARAMS *params = &node->item.params.conditional;
        if (node->child)
            print_graph(file, node->child, verbose);
        for (unsigned j = 0; node->condition && j < params->size; j++)
            print_graph(file, sim_graph(params->phGraph_out[j]), verbose);
    }
}

CUresult sim_cuGraphDebugDotPrint(CUgraph hGraph, const char *path, unsigned int flags)
{
    struct sim_graph *graph = sim_graph(hGraph);
    SIM_REFUSE(!graph || !path);
    FILE *file = fopen(path, "w");
    SIM_FAIL(OPERATING_SYSTEM, !file);
    fprintf(file, "digraph dot {\n");
    print_graph(file, graph, flags != 0);
    fprintf(file, "}\n");
    bool good = !ferror(file);
    return fclose(file) == 0 && good ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM;
}

/* --- Conditional nodes and their handles. The graphs that a node may run are its own; each is
 * filled like any other. --- */

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
