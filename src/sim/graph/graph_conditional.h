/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_GRAPH_GRAPH_CONDITIONAL_H
#define CUSHIM_SIM_GRAPH_GRAPH_CONDITIONAL_H

#include "sim.h"

struct sim_graph;
struct sim_node;

/* Whether a conditional node of these parameters may stand in the graph. */
CUresult sim_graph_conditional_check(const struct sim_graph *graph,
                                     const CUDA_CONDITIONAL_NODE_PARAMS *params);
/* Give the node its bodies and the use of its handle. */
CUresult sim_graph_conditional_fill(struct sim_node *node,
                                    const CUDA_CONDITIONAL_NODE_PARAMS *params);
void sim_graph_conditional_free(struct sim_node *node);
/* Whether the graph or a child of it has such a node. */
bool sim_graph_conditional_is_in(const struct sim_graph *graph);

#endif
