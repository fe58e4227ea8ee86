/* SPDX-License-Identifier: MIT */
#include <stdatomic.h>

#include "launch_check.h"

#define SLOTS 1024 /* a power of 2 */
#define WORDS 6

/*
 * One function's record. Threads read and write it without a lock: every word is written on its
 * own, and the first two, which name the function, are hidden under a hash of the others. A record
 * that mixes two writes therefore names no function, and is not found.
 */
static struct {
    _Atomic uint64_t cu, function, words[WORDS];
} launch_slots[SLOTS];

static _Atomic unsigned launch_generation;

enum { W_SIZES, W_LAYOUT, W_SHAPE, W_BLOCK, W_GRID, W_REST };

static uint64_t launch_at_most(size_t value, uint64_t most)
{
    return value < most ? value : most;
}

static void launch_pack(const struct cushim_launch_known *known, uint64_t words[WORDS])
{
    words[W_SIZES] = known->sizes;
    words[W_LAYOUT] = known->layout;
    words[W_SHAPE] = known->shape;
    words[W_BLOCK] = launch_at_most(known->block[0], 0xffff) |
                     launch_at_most(known->block[1], 0xffff) << 16 |
                     launch_at_most(known->block[2], 0xffff) << 32 |
                     launch_at_most(known->threads, 0xffff) << 48;
    words[W_GRID] = launch_at_most(known->grid[0], 0xffffffff) |
                    launch_at_most(known->grid[1], 0xffff) << 32 |
                    launch_at_most(known->grid[2], 0xffff) << 48;
    words[W_REST] = launch_at_most(known->dynamic, 0xffffffff) | (uint64_t)known->count << 32;
}

static void launch_unpack(const uint64_t words[WORDS], struct cushim_launch_known *known)
{
    known->sizes = words[W_SIZES];
    known->layout = words[W_LAYOUT];
    known->shape = words[W_SHAPE];
    known->block[0] = words[W_BLOCK] & 0xffff;
    known->block[1] = words[W_BLOCK] >> 16 & 0xffff;
    known->block[2] = words[W_BLOCK] >> 32 & 0xffff;
    known->threads = words[W_BLOCK] >> 48;
    known->grid[0] = words[W_GRID] & 0xffffffff;
    known->grid[1] = words[W_GRID] >> 32 & 0xffff;
    known->grid[2] = words[W_GRID] >> 48;
    known->dynamic = words[W_REST] & 0xffffffff;
    known->count = words[W_REST] >> 32 & 0xffff;
}

static uint64_t launch_fold(const uint64_t words[WORDS])
{
    uint64_t fold = 0;
    for (int i = 0; i < WORDS; i++)
        fold = (fold << 11 | fold >> 53) ^ words[i];
    return fold;
}

static size_t launch_slot(const struct cushim *cu, CUfunction function)
{
    uint64_t key = (uintptr_t)function ^ (uintptr_t)cu << 7;
    return (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) % SLOTS;
}

static uint64_t launch_now(void)
{
    return (uint64_t)(atomic_load_explicit(&launch_generation, memory_order_acquire) & 0xffff)
           << 48;
}

bool cushim_launch_recall(const struct cushim *cu, CUfunction function,
                          struct cushim_launch_known *known)
{
    size_t slot = launch_slot(cu, function);
    uint64_t words[WORDS];
    for (int i = 0; i < WORDS; i++)
        words[i] = atomic_load_explicit(&launch_slots[slot].words[i], memory_order_relaxed);
    uint64_t fold = launch_fold(words);
    uint64_t its_cu = atomic_load_explicit(&launch_slots[slot].cu, memory_order_relaxed);
    uint64_t its = atomic_load_explicit(&launch_slots[slot].function, memory_order_relaxed);
    if ((its_cu ^ fold) != (uintptr_t)cu || (its ^ fold) != (uintptr_t)function ||
        (words[W_REST] & UINT64_C(0xffff) << 48) != launch_now())
        return false;
    launch_unpack(words, known);
    return true;
}

void cushim_launch_remember(const struct cushim *cu, CUfunction function,
                            const struct cushim_launch_known *known)
{
    size_t slot = launch_slot(cu, function);
    uint64_t words[WORDS];
    launch_pack(known, words);
    words[W_REST] |= launch_now();
    uint64_t fold = launch_fold(words);
    atomic_store_explicit(&launch_slots[slot].cu, (uintptr_t)cu ^ fold, memory_order_relaxed);
    atomic_store_explicit(&launch_slots[slot].function, (uintptr_t)function ^ fold,
                          memory_order_relaxed);
    for (int i = 0; i < WORDS; i++)
        atomic_store_explicit(&launch_slots[slot].words[i], words[i], memory_order_relaxed);
}

void cushim_launch_forget(void)
{
    atomic_fetch_add_explicit(&launch_generation, 1, memory_order_acq_rel);
}
