/* SPDX-License-Identifier: MIT */
/* A capture, as the files that make it know it: from its begin to its end in one stream, with the
 * streams that joined it by events. */
#ifndef CUSHIM_SIM_GRAPH_SESSION_H
#define CUSHIM_SIM_GRAPH_SESSION_H

#include "sim.h"

struct sim_capture;
struct sim_edge;
struct sim_graph;
struct sim_node;
struct sim_stream;

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

/* A stream that is not capturing becomes part of the session. */
CUresult sim_session_join(struct sim_session *session, struct sim_stream *stream);
CUresult sim_session_follow(struct sim_capture *capture, struct sim_node *node,
                            const CUgraphEdgeData *data);
struct sim_session *sim_session_begin(struct sim_stream *stream, struct sim_graph *graph,
                                      CUstreamCaptureMode mode);
void sim_session_end(struct sim_session *session); /* no stream captures any more */
void sim_session_release(struct sim_session *session);
bool sim_session_blocked(const struct sim_stream *stream); /* the legacy stream may not be used */
extern _Thread_local CUstreamCaptureMode sim_session_mode; /* the thread's */
void sim_session_graph_gone(struct sim_graph *graph);      /* no capture continues into it */
void sim_session_node_gone(const struct sim_node *node);   /* no capture continues after it */

#endif
