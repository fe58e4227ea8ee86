/* SPDX-License-Identifier: MIT */
/* Which launches were found to be in order, so that the next ones ask nobody; internal to the
 * library. Inline, because it is all that a helper adds to the driver's call. */
#ifndef CUSHIM_SRC_LAUNCH_CACHE_H
#define CUSHIM_SRC_LAUNCH_CACHE_H

#include <stdatomic.h>

#include <cushim/launch.h>

#define CUSHIM_LAUNCH_SLOT_BITS 10

/*
 * One record. Threads read and write it without a lock: every word is written on its own, and the
 * first is the key, hidden under the others. A record that mixes two writes therefore has nobody's
 * key, and is not found.
 */
struct cushim_launch_slot {
    _Atomic uint64_t key, grid, shared;
};

extern struct cushim_launch_slot cushim_launch_slots[1 << CUSHIM_LAUNCH_SLOT_BITS];
extern _Atomic unsigned cushim_launch_generation; /* raised by cushim_launch_forget */

/* Keys of launches that are checked in different ways are different. */
enum cushim_launch_kind {
    CUSHIM_LAUNCH_POINTERS = 1,
    CUSHIM_LAUNCH_SIZES = 2,
    CUSHIM_LAUNCH_PACKED = 3
};

static inline uint64_t cushim_launch_key_add(uint64_t key, uint64_t number)
{
    return key * UINT64_C(0xff51afd7ed558ccd) + number;
}

/* What must be the same again to be in order again: a hash of it. The caller adds the arguments. */
static inline uint64_t cushim_launch_key(const struct cushim_api *cu, CUfunction function,
                                         const struct cushim_launch *launch,
                                         enum cushim_launch_kind kind)
{
    uint64_t key = atomic_load_explicit(&cushim_launch_generation, memory_order_acquire);
    key = cushim_launch_key_add(key << 2 | kind, (uintptr_t)cu);
    key = cushim_launch_key_add(key, (uintptr_t)function);
    key = cushim_launch_key_add(key, launch->block[0]);
    key = cushim_launch_key_add(key, launch->block[1]);
    return cushim_launch_key_add(key, launch->block[2]);
}

static inline size_t cushim_launch_slot_of(uint64_t key)
{
    return (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - CUSHIM_LAUNCH_SLOT_BITS));
}

static inline uint64_t cushim_launch_hide(uint64_t key, uint64_t grid, uint64_t shared)
{
    return key ^ grid ^ (shared << 32 | shared >> 32);
}

/* Whether a launch with this key was in order, and grid and shared memory lie within the limits of
 * then, of which the record has 32 bits of x and shared, and 16 of y and z. */
static inline bool cushim_launch_recall(uint64_t key, const struct cushim_launch *launch)
{
    struct cushim_launch_slot *slot = &cushim_launch_slots[cushim_launch_slot_of(key)];
    uint64_t grid = atomic_load_explicit(&slot->grid, memory_order_relaxed);
    uint64_t shared = atomic_load_explicit(&slot->shared, memory_order_relaxed);
    uint64_t hidden = atomic_load_explicit(&slot->key, memory_order_relaxed);
    /* Less one, so that 0 is too large. */
    return hidden == cushim_launch_hide(key, grid, shared) &&
           launch->grid[0] - 1 < (grid & 0xffffffff) &&
           launch->grid[1] - 1 < (grid >> 32 & 0xffff) && launch->grid[2] - 1 < grid >> 48 &&
           launch->shared <= shared;
}

/* Remember that a launch with this key and these limits is in order. */
void cushim_launch_remember(uint64_t key, const size_t grid[3], size_t shared);

#endif
