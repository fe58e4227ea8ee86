/* SPDX-License-Identifier: MIT */
/* The heap of the malloc and free that kernels call: one per context, from the first launch of a
 * module that has such calls until the context's end. */
#ifndef CUSHIM_SIM_LAUNCH_DEVICE_HEAP_H
#define CUSHIM_SIM_LAUNCH_DEVICE_HEAP_H

#include "sim.h"

struct ptx_heap;
struct sim_context;

/* Make sure that there is one; its size is the limit of now, which then stays. */
CUresult sim_device_heap_make(struct sim_context *context);
struct ptx_heap *sim_device_heap_blocks(const struct sim_context *context); /* NULL: none yet */
void sim_device_heap_end(struct sim_context *context);

#endif
