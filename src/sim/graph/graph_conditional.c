/* SPDX-License-Identifier: MIT */
/* Handles of conditional nodes. The nodes themselves are refused: nothing in a simulated kernel can
 * set a handle's value. */
#include "core/object.h"
#include "graph/graph.h"

static CUgraphConditionalHandle next_handle = 1;

CUresult sim_cuGraphConditionalHandleCreate(CUgraphConditionalHandle *pHandle_out, CUgraph hGraph,
                                            CUcontext ctx, unsigned int defaultLaunchValue,
                                            unsigned int flags)
{
    (void)defaultLaunchValue;
    if (!pHandle_out || !sim_graph(hGraph) || flags > CU_GRAPH_COND_ASSIGN_DEFAULT)
        return CUDA_ERROR_INVALID_VALUE;
    if (ctx && !sim_object(SIM_CONTEXT, ctx))
        return CUDA_ERROR_INVALID_CONTEXT;
    *pHandle_out = next_handle++;
    return CUDA_SUCCESS;
}
