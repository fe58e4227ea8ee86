/* SPDX-License-Identifier: MIT */
/* Graphs, from their nodes to their launch. Every function is called with the driver's lock
 * held. */
#ifndef CUSHIM_SIM_GRAPH_GRAPH_H
#define CUSHIM_SIM_GRAPH_GRAPH_H

#include "copy/copy.h"
#include "launch/launch.h"

/* --- graph.c --- Graphs: nodes with dependencies, and what they become when they are instantiated.
 */
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
    struct sim_session *capture;                  /* NULL: no stream is being captured into it */
    void (*capture_end)(struct sim_graph *graph); /* it ends: no capture continues into it */
};

static inline struct sim_graph *sim_graph(CUgraph handle) /* live, or NULL */
{
    return sim_object(SIM_GRAPH, handle);
}
static inline struct sim_node *sim_graph_node(CUgraphNode handle) /* live, or NULL */
{
    return sim_object(SIM_GRAPH_NODE, handle);
}
struct sim_graph *sim_graph_make(void); /* NULL: no memory */
void sim_graph_free(struct sim_graph *graph);
/* A node of the graph that takes `item` over, in success only. */
CUresult sim_graph_node_make(struct sim_graph *graph, const struct sim_item *item,
                             struct sim_node **node);
void sim_graph_node_free(
    struct sim_node *node); /* edges of others to it are the caller's business */
/* Whether all of a list of nodes are in the graph. */
CUresult sim_graph_has(const struct sim_graph *graph, const CUgraphNode *nodes, size_t count);
/* The nodes with each after what it depends on; malloc'ed. On failure *cycle (may be NULL) is a
 * node that depends on itself, or NULL where memory is lacking. */
struct sim_node **sim_graph_sorted(const struct sim_graph *graph, struct sim_node **cycle);
CUresult sim_graph_clone(const struct sim_graph *graph, struct sim_graph **clone);
/* The node with this id in the graph or a child of it, or the copy of the one with this id. */
struct sim_node *sim_graph_find(const struct sim_graph *graph, uint64_t id, bool copy);
/* Whether the graph or a child of it has a conditional node. */
bool sim_graph_has_conditional(const struct sim_graph *graph);

/* --- edge.c --- */
/* What a query fills. NULL arrays ask for the number; too much room ends in NULL handles. */
struct sim_listing { /* arrays to fill; any may be NULL */
    CUgraphNode *from, *to;
    CUgraphEdgeData *data;
    size_t room, count;
    bool lossy; /* an edge has data, and nobody asked for them */
};
void sim_edge_list(struct sim_listing *listing, struct sim_node *to, const struct sim_edge *edge);
CUresult sim_edge_list_end(struct sim_listing *listing, size_t *number);
struct sim_edge *sim_edge_find(const struct sim_node *to, const struct sim_node *from);
CUresult sim_edge_append(struct sim_edge **edges, size_t *count, size_t *capacity,
                         struct sim_node *node, const CUgraphEdgeData *data);
CUresult sim_edge_add(struct sim_node *to, struct sim_node *from, const CUgraphEdgeData *data);
void sim_edge_remove(struct sim_node *to, struct sim_edge *edge);
bool sim_edge_plain(const CUgraphEdgeData *data);

/* --- exec.c --- */
/* The work of a node, shared by an executable graph and the launches that run. */
struct sim_work_unit {
    unsigned references;
    struct sim_item item;
};

/* Conditional nodes of executable graphs: which of the bodies runs, and how often, is decided when
 * a launch comes to the node. */
struct sim_branch { /* shared by an executable graph and the launches that run */
    unsigned references;
    CUgraphConditionalNodeType type;
    struct sim_condition *condition;
    struct sim_context *context; /* retained */
    unsigned count;
    struct sim_exec **bodies;
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

void sim_exec_work_release(void *unit); /* NULL: nothing */
struct sim_exec *sim_exec(CUgraphExec handle);
struct sim_branch *sim_exec_branch_retain(struct sim_branch *branch);
void sim_exec_branch_release(void *branch); /* NULL: nothing */
void sim_exec_release(struct sim_exec *exec);
/* Of the graph as it is. On failure *error is the node at fault, or NULL. */
CUresult sim_exec_make(const struct sim_graph *graph, struct sim_exec **exec,
                       struct sim_node **error);
/* Work of its own from an item, which is used up in success only. */
CUresult sim_exec_work_make(const struct sim_item *item, struct sim_work_unit **unit);
/* The node of the executable graph that was made from `handle`; NULL: none. */
struct sim_exec_node *sim_exec_node(struct sim_exec *exec, CUgraphNode handle);

/* Whether a conditional node of these parameters may stand in the graph. */
CUresult sim_graph_conditional_check(const struct sim_graph *graph,
                                     const CUDA_CONDITIONAL_NODE_PARAMS *params);
/* Give the node its bodies and the use of its handle. */
CUresult sim_graph_conditional_fill(struct sim_node *node,
                                    const CUDA_CONDITIONAL_NODE_PARAMS *params);

/* --- graph_memory.c --- */
CUresult sim_graph_memory_allocate_item(CUDA_MEM_ALLOC_NODE_PARAMS_v2 *params,
                                        struct sim_item *item);
CUresult sim_graph_memory_free_item(CUdeviceptr address, struct sim_item *item);
CUresult sim_graph_memory_copy(const struct sim_item *item, struct sim_item *copy);
/* Of a node that allocates or frees it; NULL: another one. A graph alone has the address. */
struct sim_graph_memory *sim_graph_memory_of(const struct sim_item *item);
/* Whether a node can allocate: what it allocated before is freed, or is discarded now. */
bool sim_graph_memory_ready(const struct sim_item *item, bool discard);
/* An executable graph wants to allocate at this node's address: false where another does. */
bool sim_graph_memory_claim(const struct sim_item *item);
void sim_graph_memory_unclaim(const struct sim_item *item);
/* A launch of this node was queued; of no effect on other nodes. */
void sim_graph_memory_launched(const struct sim_item *item);
/* The devices take the memory that a launch will allocate. */
void sim_graph_memory_upload(const struct sim_exec *exec);

/* --- graph_update.c --- */
CUresult sim_graph_update_node(CUgraphExec handle, CUgraphNode node_handle,
                               const CUgraphNodeParams *params);

/* --- params.c --- */
/* Work as the parameters say it, checked and copied; not for child graphs and memory. */
CUresult sim_params_prepare(const CUgraphNodeParams *params, const CUlaunchAttribute *attributes,
                            unsigned attribute_count, struct sim_item *item);
/* The same work again, independent of `item`. */
CUresult sim_params_copy(const struct sim_item *item, struct sim_item *copy);
/* The live context that the work belongs to; NULL: none, or one that is destroyed. */
struct sim_context *sim_params_context(const CUgraphNodeParams *params);
/* The node's work is another one from now on, of the same type; and with its own attributes. */
CUresult sim_params_replace(struct sim_node *node, const CUgraphNodeParams *params,
                            const CUlaunchAttribute *attributes, unsigned count);
CUresult sim_params_set(struct sim_node *node, const CUgraphNodeParams *params);
/* Where the entries of one type of node have its parameters: of a copy behind the context. */
const void *sim_params_typed(const CUgraphNodeParams *params);
/* The general form of what such an entry takes, whose older versions are the beginning of the
 * newer; the context is of copies and fills alone. False: `from` is NULL. */
bool sim_params_from(CUgraphNodeParams *params, CUgraphNodeType type, const void *from, size_t size,
                     CUcontext ctx);
/* Whether what is reserved in the generic form is zero. */
bool sim_params_valid(const CUgraphNodeParams *params);

/* --- session.c --- A capture, as the files that make it know it: from its begin to its end in one
 * stream, with the streams that joined it by events. */
struct sim_session {
    unsigned references; /* its own while it is active, and those of marks */
    uint64_t id;
    struct sim_graph *graph;
    bool borrowed; /* the graph is the program's */
    bool active, invalid;
    bool abandoned; /* ended by the end of its stream */
    CUstreamCaptureMode mode;
    uint64_t thread; /* that began it */
    struct sim_stream *origin;
    struct sim_capture *members;
    struct sim_capture *gone; /* of streams that were destroyed: what they did has to be joined */
    struct sim_session *next;
};

struct sim_capture { /* one stream's part */
    struct sim_session *session;
    struct sim_stream *stream; /* NULL: destroyed */
    struct sim_edge *after;    /* what the next node depends on */
    size_t count, capacity;
    CUgraphNode *shown; /* the same, as cuStreamGetCaptureInfo shows it */
    CUgraphEdgeData *shown_data;
    struct sim_capture *next;
};

CUresult sim_session_follow(struct sim_capture *capture, struct sim_node *node,
                            const CUgraphEdgeData *data);
struct sim_session *sim_session_begin(struct sim_stream *stream, struct sim_graph *graph,
                                      CUstreamCaptureMode mode);
void sim_session_end(struct sim_session *session); /* no stream captures any more */
/* The capture for which the legacy stream may not be used, or NULL. */
struct sim_session *sim_session_blocking(const struct sim_stream *stream);
extern _Thread_local CUstreamCaptureMode sim_session_mode; /* the thread's */
void sim_session_node_gone(const struct sim_node *node);   /* no capture continues after it */

/* --- user_object.c --- */
void sim_user_object_holds_free(struct sim_hold *holds);
CUresult sim_user_object_holds_copy(const struct sim_hold *holds, struct sim_hold **copy);

#endif
