/* SPDX-License-Identifier: MIT */
/* Captures: what the files about streams and events ask of them. */
#ifndef CUSHIM_SIM_CAPTURE_H
#define CUSHIM_SIM_CAPTURE_H

#include "work.h"

/* Work of a capturing stream becomes a node. The item is used up. */
CUresult sim_capture_item(struct sim_stream *stream, const struct sim_item *item);
/* Before work that waits: fails in a capturing stream and spoils its capture; as does work of the
 * legacy stream that a capturing stream would have to wait for. */
CUresult sim_capture_refuse(struct sim_stream *stream);
/* Before the stream's state is asked or waited for: the legacy stream's is everybody's. */
CUresult sim_capture_refuse_wait(struct sim_stream *stream);
/* Before work of a stream that is not captured: the latter rule alone. */
CUresult sim_capture_legacy(struct sim_stream *stream);
/* A capturing stream was told to wait for work that is in no capture: its capture is spoilt. */
CUresult sim_capture_isolated(struct sim_stream *stream);
void sim_capture_stream_gone(struct sim_stream *stream);
/* A wait for all work of a context in which streams are being captured. */
CUresult sim_capture_refuse_context(struct sim_context *context);

/* --- Events in captures: where in which capture one was recorded --- */
struct sim_mark;
void sim_mark_free(struct sim_mark *mark);
/* The place that the capturing stream has come to. */
CUresult sim_mark_make(struct sim_stream *stream, struct sim_mark **mark);
/* The stream's next work follows that place; a stream that is not capturing joins the capture. */
CUresult sim_mark_follow(struct sim_stream *stream, const struct sim_mark *mark);
/* The event was asked or waited for as if it were recorded: its capture is spoilt. The answer. */
CUresult sim_mark_spoil(const struct sim_mark *mark);

#endif
