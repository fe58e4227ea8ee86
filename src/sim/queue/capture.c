/* SPDX-License-Identifier: MIT */
/* Before the first capture there is nothing to do, and nothing is refused. */
#include "queue/queue.h"

static const struct sim_capture_hooks *hooks; /* NULL: nothing was ever captured */

void sim_capture_hook(const struct sim_capture_hooks *table)
{
    hooks = table;
}

bool sim_capture_active(const struct sim_stream *stream)
{
    return stream->capture;
}

CUresult sim_capture_take(struct sim_stream *stream, const struct sim_item *item)
{
    return hooks->take(stream, item);
}

CUresult sim_capture_allocate(struct sim_stream *stream, CUDA_MEM_ALLOC_NODE_PARAMS_v2 *params)
{
    return hooks->allocate(stream, params);
}

CUresult sim_capture_free(struct sim_stream *stream, CUdeviceptr address)
{
    return hooks->free(stream, address);
}

CUresult sim_capture_refuse(struct sim_stream *stream)
{
    return stream->capture ? hooks->refuse(stream) : sim_capture_legacy(stream);
}

CUresult sim_capture_refuse_wait(struct sim_stream *stream)
{
    CUresult result = sim_capture_refuse(stream);
    if (result == CUDA_SUCCESS && stream == stream->object.context->legacy)
        result = sim_capture_unsafe();
    return result;
}

CUresult sim_capture_legacy(struct sim_stream *stream)
{
    return hooks ? hooks->legacy(stream) : CUDA_SUCCESS;
}

CUresult sim_capture_isolated(struct sim_stream *stream)
{
    return hooks->spoil(stream, CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
}

CUresult sim_capture_refused(struct sim_stream *stream, CUresult result)
{
    return stream->capture ? hooks->spoil(stream, result) : result;
}

CUresult sim_capture_unsafe(void)
{
    return hooks ? hooks->unsafe() : CUDA_SUCCESS;
}

CUresult sim_capture_refuse_context(struct sim_context *context)
{
    return hooks ? hooks->refuse_context(context) : CUDA_SUCCESS;
}

void sim_capture_stream_gone(struct sim_stream *stream)
{
    if (stream->capture)
        hooks->stream_gone(stream);
}

CUresult sim_capture_mark_make(struct sim_stream *stream, struct sim_mark **mark)
{
    return hooks->mark_make(stream, mark);
}

CUresult sim_capture_mark_follow(struct sim_stream *stream, const struct sim_mark *mark)
{
    return hooks->mark_follow(stream, mark);
}

CUresult sim_capture_mark_spoil(const struct sim_mark *mark)
{
    return hooks->mark_spoil(mark);
}

void sim_capture_mark_free(struct sim_mark *mark)
{
    if (mark)
        hooks->mark_free(mark);
}
