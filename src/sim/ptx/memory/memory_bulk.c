/* SPDX-License-Identifier: MIT */
/* cp.async.bulk and cp.reduce.async.bulk: many bytes between shared and global memory, made at
 * once. */
#include "ptx/memory/memory.h"

enum { BULK = 16 }; /* addresses and sizes are multiples of it */

/* To that address; `bytes`: of each 16 that are copied, a bit set. */
static bool bulk_lane(struct ptx_warp *warp, const struct ptx_step *step, unsigned lane,
                      uint64_t first, uint32_t bytes)
{
    const struct ir_insn *insn = ptx_insn(step);
    const reg64 *from = ptx_in(warp, step->operand[1]);
    const uint32_t size = ((const reg32 *)ptx_in(warp, step->operand[2]))[lane];
    const unsigned element = opcodes_type_size(insn->types[0]);
    const struct atomic_operation *one = atomic_reduction(insn->types[0], insn->atomic);

    if (size % BULK)
        return fault_warp(warp, step, lane, PTX_FAULT_MISALIGNED, first,
                          one ? "the size of the reduction is no multiple of 16"
                              : "the size of the copy is no multiple of 16");
    for (uint32_t at = 0; at < size; at += BULK) {
        char *to = memory_resolve(warp, step, lane, insn->space, first + at, BULK, true);
        const char *in =
            !to ? NULL
                : memory_resolve(warp, step, lane, insn->space2, from[lane] + at, BULK, false);

        if (!in)
            return false;
        if (!one && bytes == 0xffff)
            memmove(to, in, BULK);
        for (unsigned i = 0; one && i < BULK; i += element)
            atomic_apply(one, to + i, in + i, insn->space == PTX_SPACE_GLOBAL);
        for (unsigned i = 0; !one && bytes != 0xffff && i < BULK; i++)
            if (bytes >> i & 1)
                to[i] = in[i];
    }
    return true;
}

/* operand: to, from, size, mbarrier; then of what goes to shared memory the blocks of
 * the cluster that all get it, each with its own mbarrier, else the bytes of each 16. */
void memory_bulk_run(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const struct ir_insn *insn = ptx_insn(step);
    const bool shared = insn->space == PTX_SPACE_SHARED;
    const reg64 *to = ptx_in(warp, step->operand[0]);
    const reg32 *size = ptx_in(warp, step->operand[2]);
    const reg64 *barrier = shared ? ptx_in(warp, step->operand[3]) : NULL;
    const reg32 *which = step->operand[4] == PTX_ABSENT ? NULL : ptx_in(warp, step->operand[4]);

    if (shared && insn->space2 == PTX_SPACE_SHARED && !memory_async_clustered(warp, step, mask))
        return;
    FOR_LANES (lane, mask) {
        const uint64_t first = to[lane];
        const uint32_t bits = which ? which[lane] & 0xffff : 0xffff;

        if (!shared && !bulk_lane(warp, step, lane, first, bits))
            return;
        for (unsigned rank = 0; shared && rank < (which ? 16 : 1); rank++) {
            const uint64_t signal = barrier[lane];

            if (bits >> rank & 1 &&
                (!bulk_lane(warp, step, lane, which ? memory_in_block(first, rank) : first,
                            0xffff) ||
                 !memory_async_signal(warp, step, lane, PTX_SPACE_SHARED,
                                      which ? memory_in_block(signal, rank) : signal, size[lane])))
                return;
        }
    }
}
