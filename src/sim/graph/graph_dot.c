/* SPDX-License-Identifier: MIT */
/* A graph in the language of Graphviz. */
#include <inttypes.h>
#include <stdio.h>

#include "graph/graph.h"

static const char *type_name(CUgraphNodeType type)
{
    static const char *const names[] = {
        [CU_GRAPH_NODE_TYPE_KERNEL] = "KERNEL",
        [CU_GRAPH_NODE_TYPE_MEMCPY] = "MEMCPY",
        [CU_GRAPH_NODE_TYPE_MEMSET] = "MEMSET",
        [CU_GRAPH_NODE_TYPE_HOST] = "HOST",
        [CU_GRAPH_NODE_TYPE_GRAPH] = "GRAPH",
        [CU_GRAPH_NODE_TYPE_EMPTY] = "EMPTY",
        [CU_GRAPH_NODE_TYPE_WAIT_EVENT] = "WAIT_EVENT",
        [CU_GRAPH_NODE_TYPE_EVENT_RECORD] = "EVENT_RECORD",
        [CU_GRAPH_NODE_TYPE_MEM_ALLOC] = "MEM_ALLOC",
        [CU_GRAPH_NODE_TYPE_MEM_FREE] = "MEM_FREE",
        [CU_GRAPH_NODE_TYPE_BATCH_MEM_OP] = "BATCH_MEM_OP",
        [CU_GRAPH_NODE_TYPE_CONDITIONAL] = "CONDITIONAL",
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
    if (!graph || !path)
        return CUDA_ERROR_INVALID_VALUE;
    FILE *file = fopen(path, "w");
    if (!file)
        return CUDA_ERROR_OPERATING_SYSTEM;
    fprintf(file, "digraph dot {\n");
    print_graph(file, graph, flags != 0);
    fprintf(file, "}\n");
    bool good = !ferror(file);
    return fclose(file) == 0 && good ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM;
}
