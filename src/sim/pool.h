/* SPDX-License-Identifier: MIT */
/* Pools of stream-ordered memory. */
#ifndef CUSHIM_SIM_POOL_H
#define CUSHIM_SIM_POOL_H

#include "memory.h"

struct sim_pool {
    struct sim_object object;
    struct sim_device *device;
    bool is_default;
    bool destroyed; /* it goes with the last of its memory */
    CUmemAllocationHandleType handle_types;
    uint64_t follow_events, opportunistic, internal; /* settings that change nothing here */
    uint64_t threshold;
    uint64_t reserved, reserved_high, used, used_high;
    uint64_t most;      /* bytes; 0: no limit */
    uint64_t readwrite; /* other devices that may use its memory */
    size_t live;        /* allocations */
};

/* The pool of a handle that is alive, or NULL. */
struct sim_pool *sim_pool(CUmemoryPool handle);
struct sim_pool *sim_pool_default(struct sim_device *device); /* NULL: no memory */
struct sim_pool *sim_pool_current(struct sim_device *device);
/* Account for memory that comes from the pool, or goes back. */
CUresult sim_pool_take(struct sim_pool *pool, size_t size);
void sim_pool_give(struct sim_pool *pool, size_t size);
#endif
