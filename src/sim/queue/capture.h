/* SPDX-License-Identifier: MIT */
/* Captures, as the rooms below them ask: a stream that is being captured makes nodes of its work.
 * The graphs are above and do it; a table of theirs is here once there was a capture. */
#ifndef CUSHIM_SIM_QUEUE_CAPTURE_H
#define CUSHIM_SIM_QUEUE_CAPTURE_H

#include "sim.h"

struct sim_context;
struct sim_item;
struct sim_mark;
struct sim_stream;

struct sim_capture_hooks {
    CUresult (*take)(struct sim_stream *stream, const struct sim_item *item);
    CUresult (*allocate)(struct sim_stream *stream, CUDA_MEM_ALLOC_NODE_PARAMS_v2 *params);
    CUresult (*free)(struct sim_stream *stream, CUdeviceptr address);
    CUresult (*refuse)(struct sim_stream *stream);
    CUresult (*spoil)(struct sim_stream *stream, CUresult result);
    CUresult (*legacy)(struct sim_stream *stream);
    CUresult (*unsafe)(void);
    CUresult (*refuse_context)(struct sim_context *context);
    void (*stream_gone)(struct sim_stream *stream);
    CUresult (*mark_make)(struct sim_stream *stream, struct sim_mark **mark);
    CUresult (*mark_follow)(struct sim_stream *stream, const struct sim_mark *mark);
    CUresult (*mark_spoil)(const struct sim_mark *mark);
    void (*mark_free)(struct sim_mark *mark);
};
void sim_capture_hook(const struct sim_capture_hooks *hooks);

bool sim_capture_active(const struct sim_stream *stream);
/* Work of a capturing stream becomes a node. The item is used up. */
CUresult sim_capture_take(struct sim_stream *stream, const struct sim_item *item);
/* Stream-ordered memory in a capturing stream: a node of the graph. `params->dptr` is set. */
CUresult sim_capture_allocate(struct sim_stream *stream, CUDA_MEM_ALLOC_NODE_PARAMS_v2 *params);
CUresult sim_capture_free(struct sim_stream *stream, CUdeviceptr address);
/* Before work that waits: fails in a capturing stream and spoils its capture; as does work of the
 * legacy stream that a capturing stream would have to wait for. */
CUresult sim_capture_refuse(struct sim_stream *stream);
/* Before the stream's state is asked or waited for: the legacy stream's is everybody's. */
CUresult sim_capture_refuse_wait(struct sim_stream *stream);
/* Before work of a stream that is not captured: the latter rule alone. */
CUresult sim_capture_legacy(struct sim_stream *stream);
/* A capturing stream was told to wait for work that is in no capture: its capture is spoilt. */
CUresult sim_capture_isolated(struct sim_stream *stream);
/* For an entry whose work could not even be prepared: `result`, or what a capture makes of it,
 * which such work spoils: return result == CUDA_SUCCESS ? sim_stream_submit(stream, &item) :
 * sim_capture_refused(stream, result);
 */
CUresult sim_capture_refused(struct sim_stream *stream, CUresult result);
void sim_capture_stream_gone(struct sim_stream *stream);
/* A wait for all work of a context in which streams are being captured. */
CUresult sim_capture_refuse_context(struct sim_context *context);
/* First line, after the check for a current context, of each entry that a capture forbids because
 * it may wait for or act on other work: allocating and freeing (cuMemAlloc, cuMemFree,
 * cuMemHost..., arrays), cuModuleUnload; not synchronous copies and fills. CUDA_SUCCESS, or
 * STREAM_CAPTURE_UNSUPPORTED where a capture that this thread may spoil is running (global or
 * thread-local mode): that capture is then invalid. */
CUresult sim_capture_unsafe(void);

/* --- Events in captures: where in which capture one was recorded --- */
void sim_capture_mark_free(struct sim_mark *mark); /* NULL: nothing */
/* The place that the capturing stream has come to. */
CUresult sim_capture_mark_make(struct sim_stream *stream, struct sim_mark **mark);
/* The stream's next work follows that place; a stream that is not capturing joins the capture. */
CUresult sim_capture_mark_follow(struct sim_stream *stream, const struct sim_mark *mark);
/* The event was asked or waited for as if it were recorded: its capture is spoilt. The answer. */
CUresult sim_capture_mark_spoil(const struct sim_mark *mark);

#endif
