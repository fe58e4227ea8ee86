/* SPDX-License-Identifier: MIT */
/* Before the first capture there is nothing to do, and nothing is refused. */
#include "queue/queue.h"

const struct sim_capture_hooks *sim_capture_hooks;

CUresult sim_capture_refuse(struct sim_stream *stream)
{
    return stream->capture ? sim_capture_hooks->refuse(stream) : sim_capture_legacy(stream);
}

CUresult sim_capture_legacy(struct sim_stream *stream)
{
    return sim_capture_hooks ? sim_capture_hooks->legacy(stream) : CUDA_SUCCESS;
}

CUresult sim_capture_refused(struct sim_stream *stream, CUresult result)
{
    return stream->capture ? sim_capture_hooks->spoil(stream, result) : result;
}

CUresult sim_capture_unsafe(void)
{
    return sim_capture_hooks ? sim_capture_hooks->unsafe() : CUDA_SUCCESS;
}

CUresult sim_capture_refuse_context(struct sim_context *context)
{
    return sim_capture_hooks ? sim_capture_hooks->refuse_context(context) : CUDA_SUCCESS;
}

void sim_capture_mark_free(struct sim_mark *mark)
{
    if (mark)
        sim_capture_hooks->mark_free(mark);
}
