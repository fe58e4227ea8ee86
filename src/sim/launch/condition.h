/* SPDX-License-Identifier: MIT */
/* Values that kernels set and graphs ask for: cudaGraphSetConditional and conditional nodes. */
#ifndef CUSHIM_SIM_LAUNCH_CONDITION_H
#define CUSHIM_SIM_LAUNCH_CONDITION_H

#include "sim.h"

struct sim_condition {
    CUgraphConditionalHandle handle; /* no two have the same, ever */
    uint32_t value, initial;
    bool assigned;  /* `initial` is set anew by every launch of the graph */
    bool used;      /* by a node */
    uint64_t graph; /* serial of the graph that it was made for */
    unsigned references;
    struct sim_condition *next;
};

/* With the driver's lock. NULL: no memory. */
struct sim_condition *sim_condition_make(uint64_t graph, uint32_t initial, bool assigned);
struct sim_condition *sim_condition_find(CUgraphConditionalHandle handle); /* NULL: none */
struct sim_condition *sim_condition_retain(struct sim_condition *condition);
void sim_condition_release(struct sim_condition *condition);
bool sim_condition_all_used(uint64_t graph);   /* all of the graph's */
void sim_condition_graph_gone(uint64_t graph); /* gives up the graph's own references */

/* Without it, from kernels and the work of graphs. */
void sim_condition_set(CUgraphConditionalHandle handle, uint32_t value); /* unknown: nothing */
uint32_t sim_condition_value(const struct sim_condition *condition);
void sim_condition_begin(struct sim_condition *condition); /* a launch of the graph */

#endif
