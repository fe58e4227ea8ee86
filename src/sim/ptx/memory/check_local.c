/* SPDX-License-Identifier: MIT */
/* Which bytes of local memory nothing wrote: those of a function's variables when it begins. All
 * others, such as arguments and what a function takes while it runs, count as written. */
#include "ptx/memory/check_state.h"

#include <stdlib.h>

#include "ptx/ops/ops.h"

static uint64_t *bits_of(const struct ptx_warp_state *state)
{
    return state->warp.block->check->locals[state->warp.index];
}

/* Of a lane's bytes, bits in order; set: unwritten. */
static void mark(uint64_t *bits, uint64_t first, uint64_t size, bool unwritten)
{
    for (uint64_t at = first, left; size; at += left, size -= left) {
        const uint64_t skipped = at % 64;

        left = size < 64 - skipped ? size : 64 - skipped;
        const uint64_t those = UINT64_MAX >> (64 - left) << skipped;
        if (unwritten)
            bits[at / 64] |= those;
        else
            bits[at / 64] &= ~those;
    }
}

static bool any_written(const uint64_t *bits, uint64_t first, uint64_t size)
{
    for (uint64_t at = first; at < first + size; at++)
        if (!(bits[at / 64] >> at % 64 & 1))
            return true;
    return false;
}

void check_local_frame(struct ptx_warp_state *state, const struct ptx_frame *frame, uint32_t lanes)
{
    const struct ptx_code *code = frame->code;
    struct check_block *check = state->warp.block->check;
    uint64_t *bits;

    if (!check || !(state->launch->check->which & PTX_CHECK_INIT) ||
        (!code->local_count && !bits_of(state)))
        return;
    if (!bits_of(state))
        check->locals[state->warp.index] =
            calloc((size_t)PTX_LANES * state->local_stride / 64 + 1, sizeof *bits);
    bits = bits_of(state);
    if (!bits)
        return;
    FOR_LANES (lane, lanes) {
        const uint64_t base = (uint64_t)lane * state->local_stride + frame->local_base;

        mark(bits, base, code->local_size, false);
        for (uint32_t i = 0; i < code->local_count; i++)
            mark(bits, base + code->locals[i].offset, code->locals[i].size, true);
    }
}

bool check_local(struct ptx_warp *warp, uintptr_t host, uint64_t size, bool write)
{
    const struct ptx_warp_state *state = warp->state;
    const uint64_t at = host - (uintptr_t)state->local;
    uint64_t *bits = bits_of(state);
    bool were;

    if (!bits || at >= (uint64_t)PTX_LANES * state->local_stride)
        return true;
    were = any_written(bits, at, size);
    if (write)
        mark(bits, at, size, false);
    return were;
}
