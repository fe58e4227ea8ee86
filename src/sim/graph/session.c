/* SPDX-License-Identifier: MIT */
/* Captures under way: what streams' work becomes, and what spoils them. */
#include "graph/graph.h"

_Thread_local CUstreamCaptureMode sim_session_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
static struct sim_session *sessions; /* the active ones */
static uint64_t next_id = 1;

static void sim_session_release(struct sim_session *session)
{
    if (--session->references == 0)
        free(session);
}

static void free_all(struct sim_capture *captures)
{
    while (captures) {
        struct sim_capture *capture = captures;
        captures = capture->next;
        if (capture->stream)
            capture->stream->capture = NULL;
        free(capture->after);
        free(capture->shown);
        free(capture->shown_data);
        free(capture);
    }
}

void sim_session_end(struct sim_session *session)
{
    SIM_UNLINK(sessions, session);
    free_all(session->members);
    free_all(session->gone);
    session->members = session->gone = NULL;
    session->active = false;
    sim_expire_renew(session->graph); /* which goes with the session, at the latest */
    session->graph->capture = NULL;
    session->graph = NULL;
    sim_session_release(session);
}

/* A stream that is not capturing becomes part of the session. */
static CUresult sim_session_join(struct sim_session *session, struct sim_stream *stream)
{
    SIM_NEW(struct sim_capture, capture);
    capture->session = session;
    capture->stream = stream;
    capture->next = session->members;
    session->members = capture;
    stream->capture = capture;
    return CUDA_SUCCESS;
}

CUresult sim_session_follow(struct sim_capture *capture, struct sim_node *node,
                            const CUgraphEdgeData *data)
{
    for (size_t i = 0; i < capture->count; i++)
        if (capture->after[i].node == node)
            return CUDA_SUCCESS;
    return sim_edge_append(&capture->after, &capture->count, &capture->capacity, node, data);
}

/* The stream is destroyed. Without the one that began it, nobody can end the capture. Of another
 * one the work stays, and has to be joined as before. */
static void stream_gone(struct sim_stream *stream)
{
    struct sim_capture *capture = stream->capture;
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
    SIM_UNLINK(session->members, capture);
    capture->stream->capture = NULL;
    capture->stream = NULL;
    capture->next = session->gone;
    session->gone = capture;
}

static void graph_gone(struct sim_graph *graph)
{
    graph->capture->abandoned = true;
    sim_session_end(graph->capture);
}

static void forget_node(struct sim_capture *captures, const struct sim_node *node)
{
    for (struct sim_capture *capture = captures; capture; capture = capture->next)
        for (size_t i = 0; i < capture->count; i++)
            if (capture->after[i].node == node) {
                memmove(&capture->after[i], &capture->after[i + 1],
                        (capture->count - i - 1) * sizeof *capture->after);
                capture->count--;
                break;
            }
}

void sim_session_node_gone(const struct sim_node *node)
{
    struct sim_session *session = node->graph->capture;
    if (!session)
        return;
    forget_node(session->members, node);
    forget_node(session->gone, node);
}

/* --- Work --- */

static CUresult spoil(struct sim_session *session, CUresult result)
{
    SIM_FAIL(STREAM_CAPTURE_INVALIDATED, session->invalid);
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
    sim_expire_renew(session->graph); /* see sim_session_end */
    SIM_FIND(struct sim_node *, node, sim_graph_node_make(session->graph, item, &node));
    CUresult result = CUDA_SUCCESS;
    for (size_t i = 0; i < capture->count && result == CUDA_SUCCESS; i++) {
        sim_expire_renew(capture->after[i].node);
        result = sim_edge_add(node, capture->after[i].node, &capture->after[i].data);
    }
    capture->count = 0;
    if (result == CUDA_SUCCESS)
        result = sim_session_follow(capture, node, NULL);
    if (result != CUDA_SUCCESS)
        session->invalid = true; /* the node stays, in a graph that nobody gets */
    set_context(&node->item.params, capture->stream);
    *made = node;
    return CUDA_SUCCESS;
}

static CUresult take(struct sim_stream *stream, const struct sim_item *item)
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

static CUresult allocate(struct sim_stream *stream, CUDA_MEM_ALLOC_NODE_PARAMS_v2 *params)
{
    SIM_FIND(struct sim_item, item, sim_graph_memory_allocate_item(params, &item));
    return take(stream, &item);
}

static CUresult free_memory(struct sim_stream *stream, CUdeviceptr address)
{
    SIM_FIND(struct sim_item, item, sim_graph_memory_free_item(address, &item));
    return take(stream, &item);
}

/* --- What a capture does not allow --- */

static CUresult refuse(struct sim_stream *stream)
{
    stream->capture->session->invalid = true;
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

static CUresult spoil_stream(struct sim_stream *stream, CUresult result)
{
    return spoil(stream->capture->session, result);
}

/* A stream that goes takes its capture along. */
static const struct sim_stream *stream_of(const struct sim_capture *capture)
{
    sim_expire_renew(capture->stream);
    return capture->stream;
}

/* A capture that work of this stream would have to wait for; NULL: none. */
struct sim_session *sim_session_blocking(const struct sim_stream *stream)
{
    struct sim_context *context = stream->object.context;
    if (stream != context->legacy)
        return NULL;
    for (struct sim_session *session = sessions; session; session = session->next)
        for (struct sim_capture *capture = session->members; capture; capture = capture->next)
            if (stream_of(capture)->object.context == context &&
                !(capture->stream->flags & CU_STREAM_NON_BLOCKING))
                return session;
    return NULL;
}

static CUresult legacy(struct sim_stream *stream)
{
    struct sim_session *session = sim_session_blocking(stream);
    if (!session)
        return CUDA_SUCCESS;
    session->invalid = true;
    return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
}

static CUresult refuse_context(struct sim_context *context)
{
    CUresult result = CUDA_SUCCESS;
    for (struct sim_session *session = sessions; session; session = session->next)
        for (struct sim_capture *capture = session->members; capture; capture = capture->next)
            if (stream_of(capture)->object.context == context) {
                session->invalid = true;
                result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
            }
    return result;
}

/* Each thread says which captures it may spoil, and each capture whose calls can. */
static bool guards(const struct sim_session *session)
{
    if (session->mode == CU_STREAM_CAPTURE_MODE_RELAXED ||
        sim_session_mode == CU_STREAM_CAPTURE_MODE_RELAXED)
        return false;
    if (session->thread == (uint64_t)pthread_self())
        return true;
    return session->mode == CU_STREAM_CAPTURE_MODE_GLOBAL &&
           sim_session_mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
}

static CUresult unsafe(void)
{
    CUresult result = CUDA_SUCCESS;
    for (struct sim_session *session = sessions; session; session = session->next)
        if (guards(session)) {
            session->invalid = true;
            result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        }
    return result;
}

/* --- Events recorded in captures: by them other streams join, and come back --- */

struct sim_mark {
    struct sim_session *session; /* a reference: it may have ended */
    size_t count;
    struct place { /* a node may be destroyed since */
        struct sim_node *node;
        uint64_t id;
        CUgraphEdgeData data;
    } places[];
};

static void mark_free(struct sim_mark *mark)
{
    sim_session_release(mark->session);
    free(mark);
}

static CUresult mark_make(struct sim_stream *stream, struct sim_mark **mark)
{
    struct sim_capture *capture = stream->capture;
    SIM_FAIL(STREAM_CAPTURE_INVALIDATED, capture->session->invalid);
    SIM_MADE(struct sim_mark *, made, malloc(sizeof *made + capture->count * sizeof *made->places));
    made->session = capture->session;
    made->session->references++;
    made->count = capture->count;
    for (size_t i = 0; i < capture->count; i++)
        made->places[i] = (struct place){capture->after[i].node, capture->after[i].node->id,
                                         capture->after[i].data};
    *mark = made;
    return CUDA_SUCCESS;
}

static CUresult mark_follow(struct sim_stream *stream, const struct sim_mark *mark)
{
    struct sim_session *session = mark->session;
    CUresult result = CUDA_SUCCESS;
    SIM_REFUSE(session->abandoned);
    if (!session->active)
        return stream->capture ? sim_capture_refused(stream, CUDA_ERROR_STREAM_CAPTURE_ISOLATION)
                               : CUDA_ERROR_CAPTURED_EVENT;
    SIM_FAIL(STREAM_CAPTURE_INVALIDATED, session->invalid);
    if (stream == stream->object.context->legacy) { /* it would wait for all others */
        session->invalid = true;
        return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    }
    if (stream->capture && stream->capture->session != session) {
        session->invalid = stream->capture->session->invalid = true;
        return CUDA_ERROR_STREAM_CAPTURE_MERGE;
    }
    if (!stream->capture)
        result = sim_session_join(session, stream);
    for (size_t i = 0; i < mark->count && result == CUDA_SUCCESS; i++) {
        const struct place *place = &mark->places[i];
        if (sim_graph_node((CUgraphNode)place->node) && place->node->id == place->id)
            result = sim_session_follow(stream->capture, place->node, &place->data);
    }
    return result;
}

static CUresult mark_spoil(const struct sim_mark *mark)
{
    SIM_REFUSE(!mark->session->active || mark->session->invalid);
    mark->session->invalid = true;
    return CUDA_ERROR_CAPTURED_EVENT;
}

/* --- The beginning --- */

static const struct sim_capture_hooks hooks = {.take = take,
                                               .allocate = allocate,
                                               .free = free_memory,
                                               .refuse = refuse,
                                               .spoil = spoil_stream,
                                               .legacy = legacy,
                                               .unsafe = unsafe,
                                               .refuse_context = refuse_context,
                                               .stream_gone = stream_gone,
                                               .mark_make = mark_make,
                                               .mark_follow = mark_follow,
                                               .mark_spoil = mark_spoil,
                                               .mark_free = mark_free};

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
    sim_capture_hooks = &hooks;
    if (sim_session_join(session, stream) == CUDA_SUCCESS) {
        graph->capture = session;
        graph->capture_end = graph_gone;
        return session;
    }
    sim_session_end(session);
    return NULL;
}
