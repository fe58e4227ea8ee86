/* SPDX-License-Identifier: MIT */
/* Captures as the program begins, asks about and ends them. */
#include "graph/graph.h"

static bool mode_valid(CUstreamCaptureMode mode)
{
    return mode == CU_STREAM_CAPTURE_MODE_GLOBAL || mode == CU_STREAM_CAPTURE_MODE_THREAD_LOCAL ||
           mode == CU_STREAM_CAPTURE_MODE_RELAXED;
}

CUresult sim_cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    SIM_REFUSE(!mode || !mode_valid(*mode));
    CUstreamCaptureMode old = sim_session_mode;
    sim_session_mode = *mode;
    *mode = old;
    return CUDA_SUCCESS;
}

/* The stream, where a capture can begin in it. */
static CUresult ready(CUstream handle, CUstreamCaptureMode mode, struct sim_stream **stream)
{
    SIM_TRY(sim_stream(handle, stream));
    SIM_REFUSE(!mode_valid(mode));
    SIM_FAIL(STREAM_CAPTURE_UNSUPPORTED, *stream == (*stream)->object.context->legacy);
    return (*stream)->capture ? CUDA_ERROR_ILLEGAL_STATE : CUDA_SUCCESS;
}

CUresult sim_cuStreamBeginCapture_v2(CUstream hStream, CUstreamCaptureMode mode)
{
    SIM_FIND(struct sim_stream *, stream, ready(hStream, mode, &stream));
    SIM_MADE(struct sim_graph *, graph, sim_graph_make());
    if (sim_session_begin(stream, graph, mode))
        return CUDA_SUCCESS;
    sim_graph_free(graph);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

SIM_ENTRY(cuStreamBeginCapture, sim_cuStreamBeginCapture_v2(hStream, CU_STREAM_CAPTURE_MODE_GLOBAL))

/* What the stream captures next comes after these, too. */
static CUresult follow(struct sim_capture *capture, const CUgraphNode *nodes,
                       const CUgraphEdgeData *data, size_t count)
{
    for (size_t i = 0; i < count; i++)
        SIM_TRY(sim_session_follow(capture, sim_graph_node(nodes[i]), data ? &data[i] : NULL));
    return CUDA_SUCCESS;
}

SIM_BEHAVIOUR(cuStreamBeginCaptureToGraph)
{
    struct sim_graph *graph = sim_graph(hGraph);
    SIM_FIND(struct sim_stream *, stream, ready(hStream, mode, &stream));
    SIM_REFUSE(!graph || graph->capture);
    SIM_TRY(sim_graph_has(graph, dependencies, numDependencies));
    SIM_MADE(struct sim_session *, session, sim_session_begin(stream, graph, mode));
    session->borrowed = true;
    SIM_TRY_OR(follow(stream->capture, dependencies, dependencyData, numDependencies),
               sim_session_end(session));
    return CUDA_SUCCESS;
}

/* --- The end --- */

/* Mark the node and all that it depends on. A chain may be long: no recursion. */
static void mark_before(struct sim_node *node, struct sim_node **stack)
{
    size_t depth = 0;
    if (!node->mark)
        stack[depth++] = node;
    node->mark = 1;
    while (depth) {
        const struct sim_node *top = stack[--depth];
        for (size_t i = 0; i < top->before_count; i++) {
            struct sim_node *before = top->before[i].node;
            if (before->mark)
                continue;
            before->mark = 1;
            stack[depth++] = before;
        }
    }
}

static bool all_marked(const struct sim_capture *captures)
{
    for (const struct sim_capture *capture = captures; capture; capture = capture->next)
        for (size_t i = 0; i < capture->count; i++)
            if (!capture->after[i].node->mark)
                return false;
    return true;
}

/* Whether the stream that began the capture follows what all others did. */
static CUresult joined(const struct sim_session *session)
{
    const struct sim_graph *graph = session->graph;
    const struct sim_capture *origin = session->origin->capture;
    SIM_MADE(struct sim_node **, stack, malloc((graph->count + 1) * sizeof *stack));
    for (size_t i = 0; i < graph->count; i++)
        graph->nodes[i]->mark = 0;
    for (size_t i = 0; i < origin->count; i++)
        mark_before(origin->after[i].node, stack);
    free(stack);
    return all_marked(session->members) && all_marked(session->gone)
               ? CUDA_SUCCESS
               : CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
}

CUresult sim_cuStreamEndCapture(CUstream hStream, CUgraph *phGraph)
{
    SIM_FIND(struct sim_stream *, stream, sim_stream(hStream, &stream));
    SIM_REFUSE(!phGraph);
    SIM_FAIL(ILLEGAL_STATE, !stream->capture);
    struct sim_session *session = stream->capture->session;
    *phGraph = NULL;
    if (session->origin != stream) {
        session->invalid = true;
        return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
    }
    bool elsewhere = session->mode != CU_STREAM_CAPTURE_MODE_RELAXED &&
                     session->thread != (uint64_t)pthread_self();
    struct sim_graph *graph = session->graph;
    bool borrowed = session->borrowed;
    CUresult result = elsewhere          ? CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD /* and it ends */
                      : session->invalid ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
                                         : joined(session);
    sim_session_end(session);
    if (result == CUDA_SUCCESS)
        *phGraph = (CUgraph)graph;
    else if (!borrowed)
        sim_graph_free(graph);
    return result;
}

/* --- Questions --- */

static CUstreamCaptureStatus status_of(const struct sim_stream *stream)
{
    if (!stream->capture)
        return CU_STREAM_CAPTURE_STATUS_NONE;
    return stream->capture->session->invalid ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                             : CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

/* Asking the legacy stream while it may not be used is refused, and spoils nothing. */
static CUresult askable(CUstream handle, struct sim_stream **stream)
{
    CUresult result = sim_stream(handle, stream);
    return result == CUDA_SUCCESS && sim_session_blocking(*stream)
               ? CUDA_ERROR_STREAM_CAPTURE_IMPLICIT
               : result;
}

SIM_TELL(cuStreamIsCapturing, captureStatus, struct sim_stream *stream, askable(hStream, &stream),
         status_of(stream))

/* The arrays last until the capture goes on. */
static CUresult show(struct sim_capture *capture)
{
    size_t room = capture->count + 1;
    free(capture->shown);
    free(capture->shown_data);
    capture->shown = malloc(room * sizeof(CUgraphNode));
    capture->shown_data = malloc(room * sizeof(CUgraphEdgeData));
    SIM_FAIL(OUT_OF_MEMORY, !capture->shown || !capture->shown_data);
    for (size_t i = 0; i < capture->count; i++) {
        capture->shown[i] = (CUgraphNode)capture->after[i].node;
        capture->shown_data[i] = capture->after[i].data;
    }
    return CUDA_SUCCESS;
}

static bool has_data(const struct sim_capture *capture)
{
    for (size_t i = 0; i < capture->count; i++)
        if (!sim_edge_plain(&capture->after[i].data))
            return true;
    return false;
}

SIM_BEHAVIOUR(cuStreamGetCaptureInfo_v3)
{
    SIM_REFUSE(!captureStatus_out);
    SIM_FIND(struct sim_stream *, stream, askable(hStream, &stream));
    *captureStatus_out = status_of(stream);
    if (*captureStatus_out != CU_STREAM_CAPTURE_STATUS_ACTIVE)
        return CUDA_SUCCESS;
    struct sim_capture *capture = stream->capture;
    SIM_FAIL(LOSSY_QUERY, dependencies_out && !edgeData_out && has_data(capture));
    SIM_TRY(show(capture));
    SIM_PUT(id_out, capture->session->id);
    SIM_PUT(graph_out, (CUgraph)capture->session->graph);
    SIM_PUT(dependencies_out, capture->shown);
    SIM_PUT(edgeData_out, capture->shown_data);
    SIM_PUT(numDependencies_out, capture->count);
    return CUDA_SUCCESS;
}

SIM_BEHAVIOUR(cuStreamUpdateCaptureDependencies_v2)
{
    SIM_FIND(struct sim_stream *, stream, sim_stream(hStream, &stream));
    struct sim_capture *capture = stream->capture;
    SIM_FAIL(ILLEGAL_STATE, !capture);
    SIM_FAIL(STREAM_CAPTURE_INVALIDATED, capture->session->invalid);
    SIM_REFUSE(flags > CU_STREAM_SET_CAPTURE_DEPENDENCIES);
    SIM_TRY(sim_graph_has(capture->session->graph, dependencies, numDependencies));
    if (flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES)
        capture->count = 0;
    return follow(capture, dependencies, dependencyData, numDependencies);
}
