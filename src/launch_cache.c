/* SPDX-License-Identifier: MIT */
#include "launch_cache.h"

struct cushim_launch_slot cushim_launch_slots[1 << CUSHIM_LAUNCH_SLOT_BITS];
_Atomic unsigned cushim_launch_generation;

static uint64_t launch_at_most(size_t value, uint64_t most)
{
    return value < most ? value : most;
}

void cushim_launch_remember(uint64_t key, const size_t grid[3], size_t shared)
{
    struct cushim_launch_slot *slot = &cushim_launch_slots[cushim_launch_slot_of(key)];
    /* Cut to fit: a launch beyond that is asked of the driver each time. */
    uint64_t packed = launch_at_most(grid[0], 0xffffffff) | launch_at_most(grid[1], 0xffff) << 32 |
                      launch_at_most(grid[2], 0xffff) << 48;
    uint64_t bytes = launch_at_most(shared, 0xffffffff);
    atomic_store_explicit(&slot->grid, packed, memory_order_relaxed);
    atomic_store_explicit(&slot->shared, bytes, memory_order_relaxed);
    atomic_store_explicit(&slot->key, cushim_launch_hide(key, packed, bytes), memory_order_relaxed);
}

void cushim_launch_forget(void)
{
    atomic_fetch_add_explicit(&cushim_launch_generation, 1, memory_order_acq_rel);
}
