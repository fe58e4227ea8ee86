/* SPDX-License-Identifier: MIT */
/* cp.async.bulk: many bytes between shared and global memory, made at once. */
#include "ptx/memory/memory.h"

#include <string.h>

#include "ptx/ops/ops.h"

enum { BULK = 16 }; /* addresses and sizes are multiples of it */

struct bulk {
    uint64_t to, from;
    uint32_t size;
    enum ptx_space to_space, from_space;
    uint32_t bytes; /* of each 16 that are copied; a bit set */
};

/* What a lane copies: operands to, from and size. */
static struct bulk bulk_of(const struct ptx_warp *warp, const struct ptx_step *step, unsigned lane)
{
    const reg64 *to = ptx_in(warp, step->operand[0]), *from = ptx_in(warp, step->operand[1]);
    const reg32 *size = ptx_in(warp, step->operand[2]);

    return (struct bulk){.to = to[lane] + (uint64_t)step->how.memory.to_offset,
                         .from = from[lane] + (uint64_t)step->how.memory.from_offset,
                         .size = size[lane],
                         .bytes = 0xffff};
}

static bool bulk_copy(struct ptx_warp *warp, const struct ptx_step *step, unsigned lane,
                      const struct bulk *bulk)
{
    if (bulk->size % BULK)
        return fault_warp(warp, step, lane, PTX_FAULT_MISALIGNED, bulk->to,
                          "the size of the copy is no multiple of 16");
    for (uint32_t at = 0; at < bulk->size; at += BULK) {
        char *to = memory_resolve(warp, step, lane, bulk->to_space, bulk->to + at, BULK, true);
        const char *from =
            !to ? NULL
                : memory_resolve(warp, step, lane, bulk->from_space, bulk->from + at, BULK, false);

        if (!from)
            return false;
        if (bulk->bytes == 0xffff) {
            memmove(to, from, BULK);
            continue;
        }
        for (unsigned i = 0; i < BULK; i++)
            if (bulk->bytes >> i & 1)
                to[i] = from[i];
    }
    return true;
}

/* operand[3] on: mbarrier, its offset, blocks of the cluster that all get the copy, each with its
 * own mbarrier. */
static void bulk_to_shared(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask,
                           enum ptx_space from_space)
{
    const reg64 *barrier = ptx_in(warp, step->operand[3]), *at = ptx_in(warp, step->operand[4]);
    const reg32 *blocks = step->operand[5] == PTX_ABSENT ? NULL : ptx_in(warp, step->operand[5]);

    FOR_LANES (lane, mask) {
        struct bulk bulk = bulk_of(warp, step, lane);
        uint64_t signal = barrier[lane] + at[lane], first = bulk.to;

        bulk.to_space = PTX_SPACE_SHARED;
        bulk.from_space = from_space;
        if (!blocks) {
            if (!bulk_copy(warp, step, lane, &bulk) ||
                !memory_async_signal(warp, step, lane, PTX_SPACE_SHARED, signal, bulk.size))
                return;
            continue;
        }
        for (unsigned rank = 0; rank < 16; rank++) {
            if (!(blocks[lane] >> rank & 1))
                continue;
            bulk.to = memory_in_block(first, rank);
            if (!bulk_copy(warp, step, lane, &bulk) ||
                !memory_async_signal(warp, step, lane, PTX_SPACE_SHARED,
                                     memory_in_block(signal, rank), bulk.size))
                return;
        }
    }
}

void memory_bulk_load(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    bulk_to_shared(warp, step, mask, PTX_SPACE_GLOBAL);
}

void memory_bulk_peer(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    if (memory_async_clustered(warp, step, mask))
        bulk_to_shared(warp, step, mask, PTX_SPACE_SHARED);
}

/* operand[5]: bytes of each 16 that are written. */
void memory_bulk_store(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const reg32 *bytes = step->operand[5] == PTX_ABSENT ? NULL : ptx_in(warp, step->operand[5]);

    FOR_LANES (lane, mask) {
        struct bulk bulk = bulk_of(warp, step, lane);

        bulk.to_space = PTX_SPACE_GLOBAL;
        bulk.from_space = PTX_SPACE_SHARED;
        if (bytes)
            bulk.bytes = bytes[lane] & 0xffff;
        if (!bulk_copy(warp, step, lane, &bulk))
            return;
    }
}
