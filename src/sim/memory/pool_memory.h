/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_MEMORY_POOL_MEMORY_H
#define CUSHIM_SIM_MEMORY_POOL_MEMORY_H

#include "sim.h"

struct sim_allocation;
struct sim_pool;
struct sim_stream;

/* From here on the memory counts as free, and no call accepts it. A pool's is given back: in the
 * stream, or (NULL) at once. */
void sim_pool_memory_forget(struct sim_allocation *allocation, struct sim_stream *stream);
/* The pool's devices may use it from now on, or may not. */
void sim_pool_memory_protect(const struct sim_pool *pool);
CUresult sim_pool_memory_free(struct sim_allocation *allocation); /* cuMemFree of pool memory */

#endif
