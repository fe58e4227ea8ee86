/* SPDX-License-Identifier: MIT */
/* Graphs: nodes with dependencies, and what they become when they are instantiated. Every function
 * is called with the driver's lock held. */
#ifndef CUSHIM_SIM_GRAPH_GRAPH_H
#define CUSHIM_SIM_GRAPH_GRAPH_H

#include "core/object.h"
#include "queue/item.h"

struct sim_condition;
struct sim_context;
struct sim_graph;
struct sim_node;
struct sim_session;
struct sim_ticket;
struct sim_user_object;

struct sim_edge { /* "after this node" */
    struct sim_node *node;
    CUgraphEdgeData data;
};

struct sim_node {
    struct sim_object object;
    struct sim_graph *graph;
    uint64_t id;             /* of no other node, ever */
    unsigned local_id;       /* in its graph */
    uint64_t original;       /* id of the node that this was cloned from; 0: none */
    struct sim_item item;    /* its parameters are the node's; item.params.type says what it is */
    struct sim_graph *child; /* of a child graph node, owned */
    struct sim_condition *condition; /* of a conditional node, whose bodies its parameters name */
    struct sim_edge *before;         /* what it depends on */
    size_t before_count, before_capacity;
    size_t mark; /* scratch of whoever walks the graph */
};

struct sim_hold { /* a graph's references to a user object */
    struct sim_user_object *object;
    unsigned count;
    struct sim_hold *next;
};

struct sim_graph {
    struct sim_object object;
    unsigned id;
    uint64_t original;       /* id of the graph that this was cloned from */
    struct sim_node **nodes; /* in order of creation */
    size_t count, capacity;
    unsigned next_local;
    struct sim_node *owner; /* of a child graph or a body: the node that holds it */
    struct sim_hold *holds;
    struct sim_session *capture; /* NULL: no stream is being captured into it */
};

struct sim_graph *sim_graph(CUgraph handle);         /* live, or NULL */
struct sim_node *sim_graph_node(CUgraphNode handle); /* live, or NULL */
struct sim_graph *sim_graph_make(void);              /* NULL: no memory */
void sim_graph_free(struct sim_graph *graph);
/* A node of the graph that takes `item` over, in success only. */
CUresult sim_graph_node_make(struct sim_graph *graph, const struct sim_item *item,
                             struct sim_node **node);
void sim_graph_node_free(
    struct sim_node *node); /* edges of others to it are the caller's business */
/* The nodes with each after what it depends on; malloc'ed. On failure *cycle (may be NULL) is a
 * node that depends on itself, or NULL where memory is lacking. */
struct sim_node **sim_graph_sorted(const struct sim_graph *graph, struct sim_node **cycle);

#endif
