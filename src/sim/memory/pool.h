/* SPDX-License-Identifier: MIT */
/* Pools of stream-ordered memory. */
#ifndef CUSHIM_SIM_MEMORY_POOL_H
#define CUSHIM_SIM_MEMORY_POOL_H

#include "core/object.h"
#include "sim.h"

struct sim_device;

#define SIM_POOL_GRAIN ((size_t)32 << 20) /* it takes a device's memory so many bytes at once */

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
bool sim_pool_has_room(const struct sim_pool *pool, size_t size); /* below its own limit */
/* Account for memory that came from the pool, or goes back. */
void sim_pool_take(struct sim_pool *pool, size_t size);
void sim_pool_give(struct sim_pool *pool, size_t size);
#endif
