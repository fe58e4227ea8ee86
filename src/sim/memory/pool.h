/* SPDX-License-Identifier: MIT */
/* Pools of stream-ordered memory. */
#ifndef CUSHIM_SIM_MEMORY_POOL_H
#define CUSHIM_SIM_MEMORY_POOL_H

#include "core/object.h"
#include "sim.h"

struct sim_device;
struct sim_shared;

#define SIM_POOL_GRAIN ((size_t)32 << 20) /* it takes memory so many bytes at once */

struct sim_pool {
    struct sim_object object;
    CUmemAllocationType type;
    CUmemLocation location;
    bool is_default;
    bool destroyed; /* it goes with the last of its memory */
    CUmemAllocationHandleType handle_types;
    uint64_t follow_events, opportunistic, internal; /* settings that change nothing here */
    uint64_t threshold;
    uint64_t reserved, reserved_high, used, used_high;
    uint64_t held;      /* bytes freed in streams that the program has not waited for since */
    uint64_t most;      /* bytes; 0: no limit */
    uint64_t readwrite; /* devices that were given access */
    bool host;          /* the host was given access */
    bool imported;      /* it is another process's: nothing is allocated from it */
    struct sim_shared *shared; /* the file that stands for it; NULL: none yet */
    size_t live;               /* allocations */
};

/* A new one. NULL: no memory. */
struct sim_pool *sim_pool_make(CUmemAllocationType type, CUmemLocation location);
/* The pool of a handle that is alive, or NULL. */
struct sim_pool *sim_pool(CUmemoryPool handle);
/* The same of one that is this process's own: another's can be imported from alone. */
struct sim_pool *sim_pool_own(CUmemoryPool handle);
struct sim_pool *sim_pool_current(struct sim_device *device); /* NULL: no memory */
/* Whether a device may use memory of the pool. */
bool sim_pool_reaches_device(const struct sim_pool *pool);
void sim_pool_drop(struct sim_pool *pool); /* it ends here if nothing of it is left */

#endif
