/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_GRAPH_EXEC_H
#define CUSHIM_SIM_GRAPH_EXEC_H

#include "core/object.h"
#include "queue/item.h"

struct sim_branch;
struct sim_graph;
struct sim_hold;
struct sim_node;
struct sim_ticket;

/* The work of a node, shared by an executable graph and the launches that run. */
struct sim_work_unit {
    unsigned references;
    struct sim_item item;
};

struct sim_exec_node {
    uint64_t source; /* id of the node it was made from; 0: none */
    struct sim_work_unit *work;
    struct sim_branch *branch; /* of a conditional node */
    size_t *before;            /* indices of the nodes it depends on, all smaller than its own */
    size_t before_count;
    bool disabled;
    bool claimed; /* the memory that it allocates */
    bool last;    /* nothing depends on it */
};

struct sim_exec {
    struct sim_object object;
    unsigned id;
    unsigned references;
    cuuint64_t flags;
    struct sim_exec_node *nodes; /* a child graph's come after the node that stands for it */
    size_t count, capacity;
    struct sim_ticket *finished; /* of the latest launch */
    struct sim_hold *holds;
};

CUresult sim_exec_work_make(const struct sim_item *item, struct sim_work_unit **unit);
struct sim_work_unit *sim_exec_work_retain(struct sim_work_unit *unit);
void sim_exec_work_release(struct sim_work_unit *unit); /* NULL: nothing */
struct sim_exec *sim_exec(CUgraphExec handle);
void sim_exec_release(struct sim_exec *exec);
/* Fill in nodes, count and capacity. On failure *error is the node at fault, or NULL. */
CUresult sim_exec_build(const struct sim_graph *graph, struct sim_exec *exec,
                        struct sim_node **error);
/* The devices take the memory that a launch will allocate. */
void sim_exec_upload(const struct sim_exec *exec);
/* The node of the executable graph that was made from `handle`; NULL: none. */
struct sim_exec_node *sim_exec_node(struct sim_exec *exec, CUgraphNode handle);

#endif
