/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_MEMORY_POOL_MEMORY_H
#define CUSHIM_SIM_MEMORY_POOL_MEMORY_H

#include "sim.h"

struct sim_allocation;

/* From here on the memory counts as free, and no call accepts it. */
void sim_pool_memory_forget(struct sim_allocation *allocation);
CUresult sim_pool_memory_free(struct sim_allocation *allocation); /* cuMemFree of pool memory */

#endif
