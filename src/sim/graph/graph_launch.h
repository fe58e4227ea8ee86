/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_GRAPH_GRAPH_LAUNCH_H
#define CUSHIM_SIM_GRAPH_GRAPH_LAUNCH_H

#include "sim.h"

struct sim_context;
struct sim_exec;
struct sim_ticket;

/* One turn of a conditional node's body, in no stream: *end, retained, is done when it is. */
CUresult sim_graph_launch_body(struct sim_exec *body, struct sim_context *context,
                               struct sim_ticket **end);

#endif
