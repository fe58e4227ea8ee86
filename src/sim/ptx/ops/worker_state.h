/* SPDX-License-Identifier: MIT */
/* A thread of the CPU that runs blocks. */
#ifndef CUSHIM_SIM_PTX_OPS_WORKER_STATE_H
#define CUSHIM_SIM_PTX_OPS_WORKER_STATE_H

#include <stdint.h>

#include "ptx/ptx.h"

struct launch;
struct ptx_block;
struct ptx_frame;

#define FRAME_CLASSES 20
#define RANGE_CACHE 64

struct worker {
    struct launch *launch;
    struct ptx_range cache[RANGE_CACHE];
    struct ptx_frame *frames[FRAME_CLASSES];
    char *stacks; /* free local memories, linked through their first bytes */
    struct ptx_block *live, *spare;
    uint32_t live_count;
    uint64_t next, end;  /* clusters that are its own to begin */
    uint64_t changed_at; /* when a block came or ended */
    uint64_t wakes;      /* in this round the first of its warps, 0 if one is awake */
};

#endif
