/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_GRAPH_EDGE_H
#define CUSHIM_SIM_GRAPH_EDGE_H

#include "sim.h"

struct sim_edge;
struct sim_node;

struct sim_edge *sim_edge_find(const struct sim_node *to, const struct sim_node *from);
CUresult sim_edge_add(struct sim_node *to, struct sim_node *from, const CUgraphEdgeData *data);
void sim_edge_remove(struct sim_node *to, struct sim_edge *edge);
bool sim_edge_plain(const CUgraphEdgeData *data);

#endif
