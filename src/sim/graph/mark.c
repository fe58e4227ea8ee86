/* SPDX-License-Identifier: MIT */
/* Events recorded in captures: by them other streams join, and come back. */
#include "graph/graph.h"

#include <stdlib.h>

#include "core/core.h"
#include "queue/queue.h"

struct sim_mark {
    struct sim_session *session; /* a reference: it may have ended */
    size_t count;
    struct place { /* a node may be destroyed since */
        struct sim_node *node;
        uint64_t id;
        CUgraphEdgeData data;
    } places[];
};

void sim_mark_free(struct sim_mark *mark)
{
    sim_session_release(mark->session);
    free(mark);
}

CUresult sim_mark_make(struct sim_stream *stream, struct sim_mark **mark)
{
    struct sim_capture *capture = stream->capture;
    if (capture->session->invalid)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    struct sim_mark *made = malloc(sizeof *made + capture->count * sizeof *made->places);
    if (!made)
        return CUDA_ERROR_OUT_OF_MEMORY;
    made->session = capture->session;
    made->session->references++;
    made->count = capture->count;
    for (size_t i = 0; i < capture->count; i++)
        made->places[i] = (struct place){capture->after[i].node, capture->after[i].node->id,
                                         capture->after[i].data};
    *mark = made;
    return CUDA_SUCCESS;
}

CUresult sim_mark_follow(struct sim_stream *stream, const struct sim_mark *mark)
{
    struct sim_session *session = mark->session;
    CUresult result = CUDA_SUCCESS;
    if (session->abandoned)
        return CUDA_ERROR_INVALID_VALUE;
    if (!session->active)
        return stream->capture ? sim_capture_isolated(stream) : CUDA_ERROR_CAPTURED_EVENT;
    if (session->invalid)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
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

CUresult sim_mark_spoil(const struct sim_mark *mark)
{
    if (!mark->session->active || mark->session->invalid)
        return CUDA_ERROR_INVALID_VALUE;
    mark->session->invalid = true;
    return CUDA_ERROR_CAPTURED_EVENT;
}
