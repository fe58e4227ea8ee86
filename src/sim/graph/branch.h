/* SPDX-License-Identifier: MIT */
/* Conditional nodes of executable graphs: which of the bodies runs, and how often, is decided when
 * a launch comes to the node. */
#ifndef CUSHIM_SIM_GRAPH_BRANCH_H
#define CUSHIM_SIM_GRAPH_BRANCH_H

#include "sim.h"

struct sim_condition;
struct sim_context;
struct sim_exec;
struct sim_node;
struct sim_ticket;

struct sim_branch { /* shared by an executable graph and the launches that run */
    unsigned references;
    CUgraphConditionalNodeType type;
    struct sim_condition *condition;
    struct sim_context *context; /* retained */
    unsigned count;
    struct sim_exec **bodies;
};

/* Of a conditional node. On failure *error is the node at fault, or NULL. */
CUresult sim_branch_make(const struct sim_node *node, struct sim_branch **branch,
                         struct sim_node **error);
struct sim_branch *sim_branch_retain(struct sim_branch *branch);
void sim_branch_release(struct sim_branch *branch); /* NULL: nothing */
/* A ticket that runs it, not yet started; NULL: no memory. */
struct sim_ticket *sim_branch_ticket(struct sim_branch *branch);
/* Values that every launch assigns: of this branch and of those in its bodies. */
void sim_branch_begin(const struct sim_branch *branch);

#endif
