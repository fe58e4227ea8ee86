/* SPDX-License-Identifier: MIT */
/* Work on its way to a device. Every entry that enqueues something makes an item and hands it to
 * sim_submit: a stream runs it in order, or, where the stream is being captured, it becomes a node
 * of a graph, from which the same item is run at every launch of that graph.
 *
 *     struct sim_item item;
 *     CUresult result = sim_stream(handle, &stream);
 *     if (result == CUDA_SUCCESS)
 *         result = sim_copy_prepare(stream->object.context, &copy, &item);
 *     return result == CUDA_SUCCESS ? sim_submit(stream, &item) : result;
 */
#ifndef CUSHIM_SIM_WORK_H
#define CUSHIM_SIM_WORK_H

#include "sim.h"

struct sim_item {
    /* What a graph shows of it: params.type and the member of the union that belongs to the type.
     * Pointers inside point into `user` and live as long as the item. An item with the type
     * SIM_ITEM_NO_NODE cannot be captured. */
    CUgraphNodeParams params;
    const CUlaunchAttribute *attributes; /* of a kernel; they live as long as the item */
    unsigned attribute_count;
    /* Without the driver's lock. A graph runs an item more than once, never twice at a time. NULL:
     * nothing to run. A failure that sim_error_is_sticky says yes to stays in the context. */
    sim_work *run;
    void *user;
    void (*drop)(void *user); /* with the driver's lock held, once; may be NULL */
};
#define SIM_ITEM_NO_NODE ((CUgraphNodeType)-1)

/* Queue the item in the stream, or capture it. The item is used up, in failure too. */
CUresult sim_submit(struct sim_stream *stream, const struct sim_item *item);
/* The same and wait for it: its own code. In a capture: STREAM_CAPTURE_UNSUPPORTED, and the capture
 * is spoilt. */
CUresult sim_submit_wait(struct sim_stream *stream, const struct sim_item *item);
void sim_item_drop(const struct sim_item *item);
/* For an entry whose work could not even be prepared: `result`, or what a capture makes of it,
 * which such work spoils: return result == CUDA_SUCCESS ? sim_submit(stream, &item) :
 * sim_submit_refused(stream, result);
 */
CUresult sim_submit_refused(struct sim_stream *stream, CUresult result);

/* --- What other families implement --- */

/* A kernel (launch.c). `params` and the attributes are checked and copied: item->params.kernel with
 * kernelParams pointing to copies of the arguments (extra NULL, or a copy of the packed buffer
 * where the caller used that form). Used by launches, graph nodes and graph instantiation. */
CUresult sim_launch_prepare(struct sim_context *context, const CUDA_KERNEL_NODE_PARAMS_v2 *params,
                            const CUlaunchAttribute *attributes, unsigned attribute_count,
                            struct sim_item *item);
/* Whether what the item's kernel needs (function, module) still exists. */
bool sim_launch_alive(const struct sim_item *item);
/* A copy of any shape (copy.c): item->params.memcpy.copyParams and copyCtx. */
CUresult sim_copy_prepare(struct sim_context *context, const CUDA_MEMCPY3D_v2 *copy,
                          struct sim_item *item);
/* A fill: width in elements, as graph nodes say it: item->params.memset. */
CUresult sim_fill_prepare(struct sim_context *context, const CUDA_MEMSET_NODE_PARAMS_v2 *fill,
                          struct sim_item *item);

/* --- Captures (capture.c), for entries that enqueue nothing --- */

/* First line, after the check for a current context, of each entry that a capture forbids because
 * it may wait for or act on other work: allocating and freeing (cuMemAlloc, cuMemFree,
 * cuMemHost..., arrays), cuModuleUnload; not synchronous copies and fills. CUDA_SUCCESS, or
 * STREAM_CAPTURE_UNSUPPORTED where a capture that this thread may spoil is running (global or
 * thread-local mode): that capture is then invalid. */
CUresult sim_capture_unsafe(void);
bool sim_capturing(const struct sim_stream *stream);
/* Stream-ordered memory in a capturing stream: a node of the graph. `params->dptr` is set. */
CUresult sim_capture_allocate(struct sim_stream *stream, CUDA_MEM_ALLOC_NODE_PARAMS_v2 *params);
CUresult sim_capture_free(struct sim_stream *stream, CUdeviceptr address);
/* Memory that a graph allocated and did not free: cuMemFree and cuMemFreeAsync (the latter in
 * order) release it here. False: the address is no graph's. */
bool sim_graph_memory_free(CUdeviceptr address);

/* --- Events and contexts, for other families --- */
struct sim_event;
/* The context, where a NULL handle means the current one; its code otherwise. */
CUresult sim_context_of(CUcontext handle, struct sim_context **context);
bool sim_peer_enabled(const struct sim_context *from, const struct sim_context *to);

#endif
