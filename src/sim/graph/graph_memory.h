/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_GRAPH_GRAPH_MEMORY_H
#define CUSHIM_SIM_GRAPH_GRAPH_MEMORY_H

#include "sim.h"

struct sim_item;

CUresult sim_graph_memory_allocate_item(CUDA_MEM_ALLOC_NODE_PARAMS_v2 *params,
                                        struct sim_item *item);
CUresult sim_graph_memory_free_item(CUdeviceptr address, struct sim_item *item);
CUresult sim_graph_memory_copy(const struct sim_item *item, struct sim_item *copy);
bool sim_graph_memory_live(const struct sim_item *item); /* what an allocation node allocated */
/* An executable graph wants to allocate at this node's address: false where another does. */
bool sim_graph_memory_claim(const struct sim_item *item);
void sim_graph_memory_unclaim(const struct sim_item *item);
/* A launch of this node was queued; of no effect on other nodes. */
void sim_graph_memory_launched(const struct sim_item *item);
/* What surrounds a launch that is only tried: the device keeps the grains that it took. */
void sim_graph_memory_keep(const struct sim_item *item);
void sim_graph_memory_restore(const struct sim_item *item);
void sim_graph_memory_discard(const struct sim_item *item);

#endif
