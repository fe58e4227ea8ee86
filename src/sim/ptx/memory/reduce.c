/* SPDX-License-Identifier: MIT */
/* Reductions in memory that no thread waits for: each is made at once, and an mbarrier counts its
 * bytes. */
#include "ptx/memory/memory.h"

#include <string.h>

#include "ptx/ops/ops.h"

enum { BULK = 16 }; /* addresses and sizes are multiples of it */

/* operand: to, from, size. */
static bool bulk_lane(struct ptx_warp *warp, const struct ptx_step *step, unsigned lane,
                      enum ptx_space space)
{
    const struct how_bulk *how = &step->how.bulk;
    const reg64 *to = ptx_in(warp, step->operand[0]), *from = ptx_in(warp, step->operand[1]);
    uint32_t size = ((const reg32 *)ptx_in(warp, step->operand[2]))[lane];
    unsigned element = opcodes_type_size(how->type);
    atomic_one *one = atomic_reduction(how->type, how->operation);

    if (size % BULK)
        return fault_warp(warp, step, lane, PTX_FAULT_MISALIGNED, to[lane],
                          "the size of the reduction is no multiple of 16");
    for (uint32_t at = 0; at < size; at += BULK) {
        char *out = memory_resolve(warp, step, lane, space,
                                   to[lane] + (uint64_t)how->to_offset + at, BULK, true);
        const char *in =
            !out ? NULL
                 : memory_resolve(warp, step, lane, PTX_SPACE_SHARED,
                                  from[lane] + (uint64_t)how->from_offset + at, BULK, false);

        if (!in)
            return false;
        for (unsigned i = 0; i < BULK; i += element)
            one(out + i, in + i, space == PTX_SPACE_GLOBAL);
    }
    return true;
}

void reduce_bulk_global(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    FOR_LANES (lane, mask)
        if (!bulk_lane(warp, step, lane, PTX_SPACE_GLOBAL))
            return;
}

/* operand[3] on: mbarrier, its offset. */
void reduce_bulk_shared(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const reg32 *size = ptx_in(warp, step->operand[2]);
    const reg64 *barrier = ptx_in(warp, step->operand[3]), *at = ptx_in(warp, step->operand[4]);

    if (!memory_async_clustered(warp, step, mask))
        return;
    FOR_LANES (lane, mask)
        if (!bulk_lane(warp, step, lane, PTX_SPACE_SHARED) ||
            !memory_async_signal(warp, step, lane, PTX_SPACE_SHARED, barrier[lane] + at[lane],
                                 size[lane]))
            return;
}

/* operand: to, value, mbarrier, its offset. */
void reduce_async(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const struct how_bulk *how = &step->how.bulk;
    enum ptx_space space = (enum ptx_space)how->space;
    const reg64 *to = ptx_in(warp, step->operand[0]);
    const reg64 *barrier = ptx_in(warp, step->operand[2]), *at = ptx_in(warp, step->operand[3]);
    unsigned size = opcodes_type_size(how->type);
    const void *values = ptx_in(warp, step->operand[1]);
    atomic_one *one = atomic_reduction(how->type, how->operation);

    if (!memory_async_clustered(warp, step, mask))
        return;
    FOR_LANES (lane, mask) {
        const void *value = size == 8 ? (const void *)((const reg64 *)values + lane)
                                      : (const void *)((const reg32 *)values + lane);
        char *out = memory_resolve(warp, step, lane, space, to[lane] + (uint64_t)how->to_offset,
                                   size, true);

        if (!out)
            return;
        one(out, value, false);
        if (!memory_async_signal(warp, step, lane, space, barrier[lane] + at[lane], size))
            return;
    }
}
