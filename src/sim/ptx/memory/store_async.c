/* SPDX-License-Identifier: MIT */
/* st.async, whose bytes an mbarrier counts, and st.bulk, which zeroes shared memory. */
#include "ptx/memory/memory.h"

#include <string.h>

#include "ptx/ops/exec.h"
#include "ptx/ops/ops.h"
#include "ptx/ops/state.h"
#include "ptx/ptx.h"
#include "ptx/read/ir.h"

/* list: to, mbarrier, its offset, values. */
void store_async(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const struct how_bulk *how = &step->how.bulk;
    enum ptx_space space = (enum ptx_space)how->space;
    const reg64 *to = ptx_in(warp, step->list[0]);
    const reg64 *barrier = ptx_in(warp, step->list[1]), *at = ptx_in(warp, step->list[2]);
    unsigned size = opcodes_type_size((enum ir_type)how->type), total = size * how->count;

    if (!memory_async_clustered(warp, step, mask))
        return;
    FOR_LANES (lane, mask) {
        char *out = memory_resolve(warp, step, lane, space, to[lane] + (uint64_t)how->to_offset,
                                   total, true);

        if (!out)
            return;
        for (unsigned i = 0; i < how->count; i++) {
            const char *values = ptx_in(warp, step->list[3 + i]);

            memcpy(out + (size_t)i * size, values + (size_t)lane * size, size);
        }
        if (!memory_async_signal(warp, step, lane, space, barrier[lane] + at[lane], total))
            return;
    }
}

/* operand: to, size. */
void store_async_bulk(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const struct how_bulk *how = &step->how.bulk;
    const reg64 *to = ptx_in(warp, step->operand[0]), *size = ptx_in(warp, step->operand[1]);

    FOR_LANES (lane, mask) {
        uint64_t first = to[lane] + (uint64_t)how->to_offset;

        if (size[lane] % 8) {
            fault_warp(warp, step, lane, PTX_FAULT_MISALIGNED, first,
                       "the size of the store is no multiple of 8");
            return;
        }
        for (uint64_t at = 0; at < size[lane]; at += 8) {
            char *out =
                memory_resolve(warp, step, lane, (enum ptx_space)how->space, first + at, 8, true);

            if (!out)
                return;
            memset(out, 0, 8);
        }
    }
}
