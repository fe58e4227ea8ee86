/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_PTX_MEMORY_MEMORY_ASYNC_H
#define CUSHIM_SIM_PTX_MEMORY_MEMORY_ASYNC_H

#include "ptx/ops/exec.h"

/* The bytes of a copy have come; bits: of the mbarrier. */
void memory_async_received(uint64_t *bits, uint32_t bytes);
ptx_run memory_async_prefetch, memory_async_copy, memory_async_mbarrier;

#endif
