/* SPDX-License-Identifier: MIT */
/* Captures under way: what streams' work becomes, and what spoils them. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "capture_session.h"

_Thread_local CUstreamCaptureMode sim_capture_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
static struct sim_session *sessions; /* the active ones */
static uint64_t next_id = 1;

void sim_session_release(struct sim_session *session)
{
    if (--session->references == 0)
        free(session);
}

struct sim_session *sim_session_begin(struct sim_stream *stream, struct sim_graph *graph,
                                      CUstreamCaptureMode mode)
{
    struct sim_session *session = calloc(1, sizeof *session);
    if (!session)
        return NULL;
    *session = (struct sim_session){.references = 1,
                                    .id = next_id++,
                                    .graph = graph,
                                    .active = true,
                                    .mode = mode,
                                    .thread = (uint64_t)pthread_self(),
                                    .origin = stream,
                                    .next = sessions};
    sessions = session;
    if (sim_capture_join(session, stream) == CUDA_SUCCESS) {
        graph->capture = session;
        return session;
    }
    sim_session_end(session);
    return NULL;
}

static void leave(struct sim_capture *capture)
{
    capture->stream->capture = NULL;
    free(capture->after);
    free(capture->shown);
    free(capture->shown_data);
    free(capture);
}

void sim_session_end(struct sim_session *session)
{
    struct sim_session **link = &sessions;
    while (*link != session)
        link = &(*link)->next;
    *link = session->next;
    while (session->members) {
        struct sim_capture *capture = session->members;
        session->members = capture->next;
        leave(capture);
    }
    session->active = false;
    session->graph->capture = NULL;
    session->graph = NULL;
    sim_session_release(session);
}

CUresult sim_capture_join(struct sim_session *session, struct sim_stream *stream)
{
    struct sim_capture *capture = calloc(1, sizeof *capture);
    if (!capture)
        return CUDA_ERROR_OUT_OF_MEMORY;
    capture->session = session;
    capture->stream = stream;
    capture->next = session->members;
    session->members = capture;
    stream->capture = capture;
    return CUDA_SUCCESS;
}

CUresult sim_capture_follow(struct sim_capture *capture, struct sim_node *node,
                            const CUgraphEdgeData *data)
{
    for (size_t i = 0; i < capture->count; i++)
        if (capture->after[i].node == node)
            return CUDA_SUCCESS;
    if (capture->count == capture->capacity) {
        size_t capacity = capture->capacity ? 2 * capture->capacity : 4;
        struct sim_edge *after = realloc(capture->after, capacity * sizeof *after);
        if (!after)
            return CUDA_ERROR_OUT_OF_MEMORY;
        capture->after = after;
        capture->capacity = capacity;
    }
    struct sim_edge *edge = &capture->after[capture->count++];
    *edge = (struct sim_edge){.node = node};
    if (data)
        edge->data = *data;
    return CUDA_SUCCESS;
}

/* The stream is destroyed. Without the one that began it, nobody can end the capture. */
void sim_capture_stream_gone(struct sim_stream *stream)
{
    struct sim_capture *capture = stream->capture;
    if (!capture)
        return;
    struct sim_session *session = capture->session;
    if (session->origin == stream) {
        struct sim_graph *graph = session->graph;
        bool borrowed = session->borrowed;
        session->abandoned = true;
        sim_session_end(session);
        if (!borrowed)
            sim_graph_free(graph);
        return;
    }
    struct sim_capture **link = &session->members;
    while (*link != capture)
        link = &(*link)->next;
    *link = capture->next;
    session->invalid = true;
    leave(capture);
}

void sim_capture_node_gone(const struct sim_node *node)
{
    struct sim_session *session = node->graph->capture;
    for (struct sim_capture *capture = session ? session->members : NULL; capture;
         capture = capture->next)
        for (size_t i = 0; i < capture->count; i++)
            if (capture->after[i].node == node) {
                memmove(&capture->after[i], &capture->after[i + 1],
                        (capture->count - i - 1) * sizeof *capture->after);
                capture->count--;
                break;
            }
}

/* --- Work --- */

static CUresult spoil(struct sim_session *session, CUresult result)
{
    if (session->invalid)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    session->invalid = true;
    return result;
}

/* The contexts that work is captured in are its nodes' contexts. */
static void set_context(CUgraphNodeParams *params, struct sim_stream *stream)
{
    CUcontext context = (CUcontext)stream->object.context;
    switch ((int)params->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        params->kernel.ctx = context;
        break;
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        params->memcpy.copyCtx = context;
        break;
    case CU_GRAPH_NODE_TYPE_MEMSET:
        params->memset.ctx = context;
        break;
    default:
        break;
    }
}

/* A node after what the stream did last; on failure the item is the caller's. */
static CUresult append(struct sim_capture *capture, const struct sim_item *item,
                       struct sim_node **made)
{
    struct sim_session *session = capture->session;
    struct sim_node *node;
    CUresult result = sim_node_make(session->graph, item, &node);
    if (result != CUDA_SUCCESS)
        return result;
    for (size_t i = 0; i < capture->count && result == CUDA_SUCCESS; i++)
        result = sim_edge_add(node, capture->after[i].node, &capture->after[i].data);
    capture->count = 0;
    if (result == CUDA_SUCCESS)
        result = sim_capture_follow(capture, node, NULL);
    if (result != CUDA_SUCCESS)
        session->invalid = true; /* the node stays, in a graph that nobody gets */
    set_context(&node->item.params, capture->stream);
    *made = node;
    return CUDA_SUCCESS;
}

CUresult sim_capture_item(struct sim_stream *stream, const struct sim_item *item)
{
    struct sim_capture *capture = stream->capture;
    struct sim_node *node;
    CUresult result;
    if (capture->session->invalid)
        result = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    else if (item->params.type == SIM_ITEM_NO_NODE)
        result = spoil(capture->session, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    else
        result = append(capture, item, &node);
    if (result != CUDA_SUCCESS)
        sim_item_drop(item);
    return result;
}

bool sim_capturing(const struct sim_stream *stream)
{
    return stream->capture != NULL;
}

CUresult sim_capture_allocate(struct sim_stream *stream, CUDA_MEM_ALLOC_NODE_PARAMS_v2 *params)
{
    struct sim_item item;
    CUresult result = sim_graph_memory_allocate_item(params, &item);
    return result == CUDA_SUCCESS ? sim_capture_item(stream, &item) : result;
}

CUresult sim_capture_free(struct sim_stream *stream, CUdeviceptr address)
{
    struct sim_item item;
    CUresult result = sim_graph_memory_free_item(address, &item);
    return result == CUDA_SUCCESS ? sim_capture_item(stream, &item) : result;
}

/* --- What a capture does not allow --- */

CUresult sim_capture_refuse(struct sim_stream *stream)
{
    if (!stream->capture)
        return sim_capture_legacy(stream);
    stream->capture->session->invalid = true;
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

CUresult sim_capture_refuse_wait(struct sim_stream *stream)
{
    CUresult result = sim_capture_refuse(stream);
    if (result == CUDA_SUCCESS && stream == stream->object.context->legacy)
        result = sim_capture_unsafe();
    return result;
}

CUresult sim_submit_refused(struct sim_stream *stream, CUresult result)
{
    return stream->capture ? spoil(stream->capture->session, result) : result;
}

CUresult sim_capture_isolated(struct sim_stream *stream)
{
    return spoil(stream->capture->session, CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
}

/* A capture that work of this stream would have to wait for; NULL: none. */
static struct sim_session *in_the_way(const struct sim_stream *stream)
{
    struct sim_context *context = stream->object.context;
    if (stream != context->legacy)
        return NULL;
    for (struct sim_session *session = sessions; session; session = session->next)
        for (struct sim_capture *capture = session->members; capture; capture = capture->next)
            if (capture->stream->object.context == context &&
                !(capture->stream->flags & CU_STREAM_NON_BLOCKING))
                return session;
    return NULL;
}

bool sim_capture_blocked(const struct sim_stream *stream)
{
    return in_the_way(stream) != NULL;
}

CUresult sim_capture_legacy(struct sim_stream *stream)
{
    struct sim_session *session = in_the_way(stream);
    if (!session)
        return CUDA_SUCCESS;
    session->invalid = true;
    return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
}

CUresult sim_capture_refuse_context(struct sim_context *context)
{
    CUresult result = CUDA_SUCCESS;
    for (struct sim_session *session = sessions; session; session = session->next)
        for (struct sim_capture *capture = session->members; capture; capture = capture->next)
            if (capture->stream->object.context == context) {
                session->invalid = true;
                result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
            }
    return result;
}

/* Each thread says which captures it may spoil, and each capture whose calls can. */
static bool guards(const struct sim_session *session)
{
    if (session->mode == CU_STREAM_CAPTURE_MODE_RELAXED ||
        sim_capture_mode == CU_STREAM_CAPTURE_MODE_RELAXED)
        return false;
    if (session->thread == (uint64_t)pthread_self())
        return true;
    return session->mode == CU_STREAM_CAPTURE_MODE_GLOBAL &&
           sim_capture_mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
}

CUresult sim_capture_unsafe(void)
{
    CUresult result = CUDA_SUCCESS;
    for (struct sim_session *session = sessions; session; session = session->next)
        if (guards(session)) {
            session->invalid = true;
            result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        }
    return result;
}
