/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_PTX_MEMORY_MEMORY_ASYNC_H
#define CUSHIM_SIM_PTX_MEMORY_MEMORY_ASYNC_H

#include "ptx/ops/exec.h"
#include "ptx/ptx.h"

/* The bytes of a copy have come, and the mbarrier at the address counts them; false: a fault. */
bool memory_async_signal(struct ptx_warp *warp, const struct ptx_step *step, unsigned lane,
                         enum ptx_space space, uint64_t barrier, uint32_t bytes);
/* Is the launch one of clusters, which such an instruction needs? False: a fault. */
bool memory_async_clustered(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask);
ptx_run memory_async_prefetch, memory_async_copy, memory_async_mbarrier;

#endif
