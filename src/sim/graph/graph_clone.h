/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_GRAPH_GRAPH_CLONE_H
#define CUSHIM_SIM_GRAPH_GRAPH_CLONE_H

#include "sim.h"

struct sim_graph;

CUresult sim_graph_clone(const struct sim_graph *graph, struct sim_graph **clone);

#endif
