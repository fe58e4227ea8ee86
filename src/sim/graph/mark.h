/* SPDX-License-Identifier: MIT */
/* Events recorded in captures, for the hooks. */
#ifndef CUSHIM_SIM_GRAPH_MARK_H
#define CUSHIM_SIM_GRAPH_MARK_H

#include "sim.h"

struct sim_mark;
struct sim_stream;

CUresult sim_mark_make(struct sim_stream *stream, struct sim_mark **mark);
CUresult sim_mark_follow(struct sim_stream *stream, const struct sim_mark *mark);
CUresult sim_mark_spoil(const struct sim_mark *mark);
void sim_mark_free(struct sim_mark *mark);

#endif
