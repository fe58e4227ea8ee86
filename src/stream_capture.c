/* SPDX-License-Identifier: MIT */
#include <cushim/stream.h>

#include "helper.h"

/* ---- capture */

CUresult cushim_capture_begin(const struct cushim_api *cu, CUstream stream,
                              CUstreamCaptureMode mode)
{
    if ((unsigned)mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, __func__,
                             "mode: %u is no CU_STREAM_CAPTURE_MODE_*", (unsigned)mode);
    if (stream == CU_STREAM_LEGACY)
        return cushim_refuse(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, __func__,
                             "stream: CU_STREAM_LEGACY cannot be captured");
    CUresult code;
    /* The first one does what GLOBAL does; for the other modes the stub of _v2 has the reason. */
    if (mode == CU_STREAM_CAPTURE_MODE_GLOBAL && !CUSHIM_HAS(cu, cuStreamBeginCapture_v2) &&
        CUSHIM_HAS(cu, cuStreamBeginCapture))
        code =
            cushim_checked(cu->cuStreamBeginCapture_v1(stream), __func__, "cuStreamBeginCapture");
    else
        code = CUSHIM_TRY(cu, __func__, cuStreamBeginCapture_v2, stream, mode);
    if (!stream && (code == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED ||
                    code == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT))
        return cushim_refuse(code, __func__,
                             "stream: NULL is the legacy default stream, which cannot be captured");
    return code;
}

CUresult cushim_capture_end(const struct cushim_api *cu, CUstream stream, CUgraph *graph)
{
    CUgraph captured = NULL;
    if (!graph)
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, __func__, "graph: NULL");
    CUresult code = CUSHIM_TRY(cu, __func__, cuStreamEndCapture, stream, &captured);
    if (code == CUDA_SUCCESS)
        *graph = captured;
    return code;
}

CUresult cushim_capture_cancel(const struct cushim_api *cu, CUstream stream)
{
    CUgraph captured = NULL;
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    CUresult code = cu->cuStreamIsCapturing(stream, &status);
    code = cushim_checked(cushim_gone_is_done(code), __func__, "cuStreamIsCapturing");
    if (code != CUDA_SUCCESS || status == CU_STREAM_CAPTURE_STATUS_NONE)
        return code;
    code = cu->cuStreamEndCapture(stream, &captured);
    /* What ends with this answer ended: the work that was collected had gone wrong. */
    if (status == CU_STREAM_CAPTURE_STATUS_INVALIDATED &&
        code == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED)
        code = CUDA_SUCCESS;
    code = cushim_checked(cushim_gone_is_done(code), __func__, "cuStreamEndCapture");
    if (code != CUDA_SUCCESS || !captured)
        return code;
    code = cushim_gone_is_done(cu->cuGraphDestroy(captured));
    return cushim_checked(code, __func__, "cuGraphDestroy");
}

/* ---- instantiate */

/* The driver's finding as words; empty where it has none. */
static const char *graph_finding(CUgraphInstantiateResult result)
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

static CUresult graph_instantiate_params(const struct cushim_api *cu, const char *helper,
                                         CUgraph graph, unsigned long long flags, CUgraphExec *exec)
{
    CUDA_GRAPH_INSTANTIATE_PARAMS params = {.flags = flags};
    CUresult code = CUSHIM_TRY(cu, helper, cuGraphInstantiateWithParams, exec, graph, &params);
    const char *finding = code == CUDA_SUCCESS ? "" : graph_finding(params.result_out);
    if (*finding)
        return cushim_refuse(code, helper, "graph: %s (node %p; cuGraphInstantiateWithParams: %d)",
                             finding, (void *)params.hErrNode_out, (int)code);
    return code;
}

/* The forms of 10.0 and 11.0, which take no flags and tell of failures in a log. */
static CUresult graph_instantiate_logged(const struct cushim_api *cu, const char *helper,
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
        return cushim_refuse(code, helper, "graph: %s (node %p; %s: %d)", log, (void *)node, call,
                             (int)code);
    return cushim_checked(code, helper, call);
}

CUresult cushim_graph_instantiate(const struct cushim_api *cu, CUgraph graph,
                                  unsigned long long flags, CUgraphExec *exec)
{
    CUgraphExec made = NULL;
    CUresult code;
    if (!graph || !exec)
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, __func__, "%s: NULL",
                             graph ? "exec" : "graph");
    if (CUSHIM_HAS(cu, cuGraphInstantiateWithParams))
        code = graph_instantiate_params(cu, __func__, graph, flags, &made);
    else if (CUSHIM_HAS(cu, cuGraphInstantiateWithFlags) || flags)
        code = CUSHIM_TRY(cu, __func__, cuGraphInstantiateWithFlags, &made, graph, flags);
    else
        code = graph_instantiate_logged(cu, __func__, graph, &made);
    if (code == CUDA_SUCCESS)
        *exec = made;
    return code;
}

/* ---- launch and destroy */

CUresult cushim_graph_launch(const struct cushim_api *cu, CUgraphExec exec, CUstream stream)
{
    if (!exec)
        return cushim_refuse(CUDA_ERROR_INVALID_VALUE, __func__, "exec: NULL");
    return CUSHIM_TRY(cu, __func__, cuGraphLaunch, exec, stream);
}

CUresult cushim_graph_destroy(const struct cushim_api *cu, CUgraph graph)
{
    if (!graph)
        return CUDA_SUCCESS;
    CUresult code = cushim_gone_is_done(cu->cuGraphDestroy(graph));
    return cushim_checked(code, __func__, "cuGraphDestroy");
}

CUresult cushim_graph_exec_destroy(const struct cushim_api *cu, CUgraphExec exec)
{
    if (!exec)
        return CUDA_SUCCESS;
    CUresult code = cushim_gone_is_done(cu->cuGraphExecDestroy(exec));
    return cushim_checked(code, __func__, "cuGraphExecDestroy");
}
