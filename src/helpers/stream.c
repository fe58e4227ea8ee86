/* SPDX-License-Identifier: MIT */
#include <cushim/stream.h>

#include <stdlib.h>

#include "error.h"

/* ---- host callbacks */

/* What drivers before 10.0 need to call a CUhostFn. */
struct stream_callback {
    CUhostFn function;
    void *user;
};

static void CUDA_CB stream_call_back(CUstream stream, CUresult status, void *user)
{
    struct stream_callback callback = *(struct stream_callback *)user;
    (void)stream;
    free(user);
    /* cuLaunchHostFunc does not call either if the context has failed. */
    if (status == CUDA_SUCCESS)
        callback.function(callback.user);
}

static CUresult stream_add_callback(const struct cushim_api *cu, const char *helper,
                                    CUstream stream, struct stream_callback callback)
{
    struct stream_callback *kept = malloc(sizeof *kept);
    if (!kept)
        return cushim_error_refuse(CUDA_ERROR_OUT_OF_MEMORY, helper, "no memory for the callback");
    *kept = callback;
    CUresult code = CUSHIM_CALL(cu, helper, cuStreamAddCallback, stream, stream_call_back, kept, 0);
    if (code != CUDA_SUCCESS)
        free(kept);
    return code;
}

CUresult cushim_stream_callback(const struct cushim_api *cu, CUstream stream, CUhostFn function,
                                void *user)
{
    CUSHIM_REQUIRE(cu);
    if (!function)
        return cushim_error_absent(CUDA_ERROR_INVALID_VALUE, __func__, "function", "what to call");
    if (!CUSHIM_HAS(cu, cuLaunchHostFunc_v1) && CUSHIM_HAS(cu, cuStreamAddCallback))
        return stream_add_callback(cu, __func__, stream, (struct stream_callback){function, user});
    return cushim_error_check(cu->cuLaunchHostFunc_v1(stream, function, user), __func__,
                              "cuLaunchHostFunc");
}

/* ---- events */

static CUresult stream_require_event(CUevent event, const char *helper, const char *argument)
{
    if (event)
        return CUDA_SUCCESS;
    return cushim_error_absent(CUDA_ERROR_INVALID_HANDLE, helper, argument, "an event");
}

CUresult cushim_event_elapsed(const struct cushim_api *cu, CUevent start, CUevent end,
                              float *milliseconds)
{
    float time = 0;
    CUSHIM_REQUIRE(cu);
    CUSHIM_REQUIRE(milliseconds);
    CUresult code = stream_require_event(start, __func__, "start");
    if (code == CUDA_SUCCESS)
        code = stream_require_event(end, __func__, "end");
    if (code != CUDA_SUCCESS)
        return code;
    if (CUSHIM_HAS(cu, cuEventElapsedTime_v2))
        code = CUSHIM_CALL(cu, __func__, cuEventElapsedTime_v2, &time, start, end);
    else
        code = cushim_error_check(cu->cuEventElapsedTime_v1(&time, start, end), __func__,
                                  "cuEventElapsedTime");
    if (code == CUDA_ERROR_NOT_READY)
        return cushim_error_refuse(code, __func__,
                                   "start, end: the work before one is not done yet "
                                   "(CUDA_ERROR_NOT_READY)");
    if (code == CUDA_ERROR_INVALID_HANDLE)
        return cushim_error_refuse(code, __func__,
                                   "start, end: one was never recorded, was created with "
                                   "CU_EVENT_DISABLE_TIMING or is of another context "
                                   "(CUDA_ERROR_INVALID_HANDLE)");
    if (code == CUDA_SUCCESS)
        *milliseconds = time;
    return code;
}

/* ---- capture */

CUresult cushim_capture_begin(const struct cushim_api *cu, CUstream stream,
                              CUstreamCaptureMode mode)
{
    CUSHIM_REQUIRE(cu);
    if ((unsigned)mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return cushim_error_refuse(CUDA_ERROR_INVALID_VALUE, __func__,
                                   "mode: %u is no CU_STREAM_CAPTURE_MODE_*", (unsigned)mode);
    if (stream == CU_STREAM_LEGACY)
        return cushim_error_refuse(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, __func__,
                                   "stream: CU_STREAM_LEGACY cannot be captured");
    CUresult code;
    /* The first one does what GLOBAL does; for the other modes the stub of _v2 has the reason. */
    if (mode == CU_STREAM_CAPTURE_MODE_GLOBAL && !CUSHIM_HAS(cu, cuStreamBeginCapture_v2))
        code = cushim_error_check(cu->cuStreamBeginCapture_v1(stream), __func__,
                                  "cuStreamBeginCapture");
    else
        code = CUSHIM_CALL(cu, __func__, cuStreamBeginCapture_v2, stream, mode);
    if (!stream && (code == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED ||
                    code == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT))
        return cushim_error_refuse(
            code, __func__, "stream: NULL is the legacy default stream, which cannot be captured");
    return code;
}

static CUresult stream_cancel(const struct cushim_api *cu, const char *helper, CUstream stream)
{
    CUgraph captured = NULL;
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    CUresult code = cu->cuStreamIsCapturing(stream, &status);
    code = cushim_error_check(cushim_error_gone_is_done(code), helper, "cuStreamIsCapturing");
    if (code != CUDA_SUCCESS || status == CU_STREAM_CAPTURE_STATUS_NONE)
        return code;
    code = cushim_error_gone_is_done(cu->cuStreamEndCapture(stream, &captured));
    /* What was collected had gone wrong, or lacks the join of another stream. The capture ended. */
    if (code == CUDA_ERROR_STREAM_CAPTURE_UNJOINED ||
        (status == CU_STREAM_CAPTURE_STATUS_INVALIDATED &&
         code == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED))
        return CUDA_SUCCESS;
    code = cushim_error_check(code, helper, "cuStreamEndCapture");
    if (code != CUDA_SUCCESS || !captured)
        return code;
    code = cushim_error_gone_is_done(cu->cuGraphDestroy(captured));
    return cushim_error_check(code, helper, "cuGraphDestroy");
}

CUresult cushim_capture_cancel(const struct cushim_api *cu, CUstream stream)
{
    struct cushim_error_saved first;
    CUSHIM_REQUIRE(cu);
    cushim_error_save(&first);
    CUresult code = stream_cancel(cu, __func__, stream);
    if (*first.text)
        cushim_error_restore(&first);
    return code;
}

/* ---- instantiate */

/* The driver's finding as words; empty if it has none. */
static const char *stream_graph_finding(CUgraphInstantiateResult result)
{
    switch (result) {
    case CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE:
        return "its structure is not valid, such as a cycle";
    case CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED:
        return "a node does what a graph for launches from the device cannot";
    case CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED:
        return "its nodes belong to several contexts";
    case CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED:
        return "a conditional handle is not used by any node";
    default:
        return "";
    }
}

static CUresult stream_instantiate_params(const struct cushim_api *cu, const char *helper,
                                          CUgraph graph, unsigned long long flags,
                                          CUgraphExec *exec)
{
    CUDA_GRAPH_INSTANTIATE_PARAMS params = {.flags = flags};
    CUresult code = CUSHIM_CALL(cu, helper, cuGraphInstantiateWithParams, exec, graph, &params);
    const char *finding = code == CUDA_SUCCESS ? "" : stream_graph_finding(params.result_out);
    if (*finding)
        return cushim_error_refuse(
            code, helper, "graph: %s (node " CUSHIM_HANDLE "; cuGraphInstantiateWithParams: %d)",
            finding, (void *)params.hErrNode_out, (int)code);
    return code;
}

/* The forms of 10.0 and 11.0, which take no flags and tell of failures in a log. */
static CUresult stream_instantiate_logged(const struct cushim_api *cu, const char *helper,
                                          CUgraph graph, CUgraphExec *exec)
{
    char log[512] = "";
    CUgraphNode node = NULL;
    bool newer = CUSHIM_HAS(cu, cuGraphInstantiate_v2);
    const char *call = newer ? "cuGraphInstantiate_v2" : "cuGraphInstantiate";
    CUresult code = newer ? cu->cuGraphInstantiate_v2(exec, graph, &node, log, sizeof log)
                          : cu->cuGraphInstantiate_v1(exec, graph, &node, log, sizeof log);
    log[sizeof log - 1] = '\0';
    if (code != CUDA_SUCCESS && log[0])
        return cushim_error_refuse(code, helper, "graph: %s (node " CUSHIM_HANDLE "; %s: %d)", log,
                                   (void *)node, call, (int)code);
    return cushim_error_check(code, helper, call);
}

CUresult cushim_graph_instantiate(const struct cushim_api *cu, CUgraph graph,
                                  unsigned long long flags, CUgraphExec *exec)
{
    CUgraphExec made = NULL;
    CUresult code;
    CUSHIM_REQUIRE(cu);
    if (!graph)
        return cushim_error_absent(CUDA_ERROR_INVALID_VALUE, __func__, "graph",
                                   "a graph: cuStreamEndCapture gives none if it fails");
    CUSHIM_REQUIRE(exec);
    if (CUSHIM_HAS(cu, cuGraphInstantiateWithParams))
        code = stream_instantiate_params(cu, __func__, graph, flags, &made);
    else if (CUSHIM_HAS(cu, cuGraphInstantiateWithFlags) || flags)
        code = CUSHIM_CALL(cu, __func__, cuGraphInstantiateWithFlags, &made, graph, flags);
    else
        code = stream_instantiate_logged(cu, __func__, graph, &made);
    if (code == CUDA_SUCCESS)
        *exec = made;
    return code;
}
