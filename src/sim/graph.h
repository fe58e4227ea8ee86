/* SPDX-License-Identifier: MIT */
/* Graphs: nodes with dependencies, and what they become when they are instantiated. Every function
 * is called with the driver's lock held. */
#ifndef CUSHIM_SIM_GRAPH_H
#define CUSHIM_SIM_GRAPH_H

#include "sim.h"
#include "work.h"

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
    struct sim_edge *before; /* what it depends on */
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
    struct sim_node *owner; /* of a child graph: the node that holds it */
    struct sim_hold *holds;
    struct sim_session *capture; /* NULL: no stream is being captured into it */
};

/* --- graph.c --- */
struct sim_graph *sim_graph(CUgraph handle);   /* live, or NULL */
struct sim_node *sim_node(CUgraphNode handle); /* live, or NULL */
struct sim_graph *sim_graph_make(void);        /* NULL: no memory */
void sim_graph_free(struct sim_graph *graph);
/* A node of the graph that takes `item` over, in success only. */
CUresult sim_node_make(struct sim_graph *graph, const struct sim_item *item,
                       struct sim_node **node);
void sim_node_free(struct sim_node *node); /* edges of others to it are the caller's business */
/* The nodes with each after what it depends on; malloc'ed. On failure *cycle (may be NULL) is a
 * node that depends on itself, or NULL where memory is lacking. */
struct sim_node **sim_graph_sorted(const struct sim_graph *graph, struct sim_node **cycle);

/* --- graph_edge.c --- */
struct sim_edge *sim_edge_find(const struct sim_node *to, const struct sim_node *from);
CUresult sim_edge_add(struct sim_node *to, struct sim_node *from, const CUgraphEdgeData *data);
void sim_edge_remove(struct sim_node *to, struct sim_edge *edge);
bool sim_edge_plain(const CUgraphEdgeData *data);

/* --- graph_params.c --- */
/* Work as the parameters say it, checked and copied; not for child graphs and memory. */
CUresult sim_params_prepare(const CUgraphNodeParams *params, const CUlaunchAttribute *attributes,
                            unsigned attribute_count, struct sim_item *item);
/* The same work again, independent of `item`. */
CUresult sim_item_copy(const struct sim_item *item, struct sim_item *copy);
/* The live context that the work belongs to; NULL: none, or one that is destroyed. */
struct sim_context *sim_params_context(const CUgraphNodeParams *params);
CUresult sim_node_set(struct sim_node *node, const CUgraphNodeParams *params);
/* Whether what is reserved in the generic form is zero. */
bool sim_params_valid(const CUgraphNodeParams *params);

/* --- capture.c --- */
void sim_capture_node_gone(const struct sim_node *node); /* no capture continues after it */

/* --- graph_clone.c --- */
CUresult sim_graph_clone(const struct sim_graph *graph, struct sim_graph **clone);

/* --- graph_object.c --- */
void sim_holds_free(struct sim_hold *holds);
CUresult sim_holds_copy(const struct sim_hold *holds, struct sim_hold **copy);

/* --- graph_memory.c --- */
struct sim_graph_memory;
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
void sim_graph_memory_discard(const struct sim_item *item);

/* --- graph_exec.c --- */
/* The work of a node, shared by an executable graph and the launches that run. */
struct sim_work_unit {
    unsigned references;
    struct sim_item item;
};
CUresult sim_work_make(const struct sim_item *item, struct sim_work_unit **unit);
struct sim_work_unit *sim_work_retain(struct sim_work_unit *unit);
void sim_work_release(struct sim_work_unit *unit); /* NULL: nothing */

struct sim_exec_node {
    uint64_t source; /* id of the node it was made from; 0: none */
    struct sim_work_unit *work;
    size_t *before; /* indices of the nodes it depends on, all smaller than its own */
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

struct sim_exec *sim_exec(CUgraphExec handle);
void sim_exec_release(struct sim_exec *exec);
/* Fill in nodes, count and capacity. On failure *error is the node at fault, or NULL. */
CUresult sim_exec_build(const struct sim_graph *graph, struct sim_exec *exec,
                        struct sim_node **error);
/* The node of the executable graph that was made from `handle`; NULL: none. */
struct sim_exec_node *sim_exec_node(struct sim_exec *exec, CUgraphNode handle);

#endif
