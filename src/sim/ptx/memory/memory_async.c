/* SPDX-License-Identifier: MIT */
/* Asynchronous copies (made at once) and mbarrier objects. */
#include "ptx/memory/memory.h"

/* operand: to, from, size, bytes present, predicate that ignores the source. */
void memory_async_copy(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const reg64 *to = ptx_in(warp, step->operand[0]), *from = ptx_in(warp, step->operand[1]);
    const reg32 *size = ptx_in(warp, step->operand[2]), *present = ptx_in(warp, step->operand[3]);
    uint32_t ignored = step->operand[4] == PTX_ABSENT ? 0 : warp->predicates[step->operand[4]];

    FOR_LANES (lane, mask) {
        uint32_t bytes = size[lane], have = ignored >> lane & 1 ? 0 : present[lane];
        char *out = memory_resolve(warp, step, lane, PTX_SPACE_SHARED, to[lane], bytes, true);

        if (!out)
            return;
        have = have > bytes ? bytes : have;
        memset(out + have, 0, bytes - have);
        if (!have)
            continue;
        const char *in = memory_resolve(warp, step, lane, PTX_SPACE_GLOBAL, from[lane], 1, false);
        if (!in)
            return;
        if (from[lane] & (bytes - 1)) {
            fault_warp(warp, step, lane, PTX_FAULT_MISALIGNED, from[lane],
                       "the source of the copy is misaligned");
            return;
        }
        in = memory_resolve(warp, step, lane, PTX_SPACE_GLOBAL, from[lane] + have - 1, 1, false);
        if (!in)
            return;
        memcpy(out, in - (have - 1), have);
    }
}

/* An mbarrier, ours alone: phase, arrivals of each phase, arrivals and bytes that are still to
 * come. */
union mbarrier {
    uint64_t bits;
    struct {
        uint64_t phase : 1, count : 20, pending : 20, bytes : 23;
    };
};
#define BYTES_BIAS (1 << 22) /* bytes may complete before they are expected */

static void complete(union mbarrier *barrier)
{
    if (barrier->pending || barrier->bytes != BYTES_BIAS)
        return;
    barrier->phase ^= 1;
    barrier->pending = barrier->count;
}

static bool mbarrier_lane(uint64_t *bits, unsigned mode, uint64_t value, uint64_t *result)
{
    union mbarrier barrier = {.bits = *bits};

    *result = *bits;
    switch (mode) {
    case IR_MB_INIT:
        barrier = (union mbarrier){
            .count = value & 0xfffff, .pending = value & 0xfffff, .bytes = BYTES_BIAS};
        break;
    case IR_MB_INVAL:
        *bits = 0;
        return true;
    case IR_MB_ARRIVE:
    case IR_MB_ARRIVE_DROP:
        if (value > barrier.pending)
            return false;
        if (mode == IR_MB_ARRIVE_DROP)
            barrier.count -= value & 0xfffff;
        barrier.pending -= value & 0xfffff;
        complete(&barrier);
        break;
    case IR_MB_EXPECT_TX:
        barrier.bytes += value & 0x3fffff;
        break;
    case IR_MB_COMPLETE_TX:
        barrier.bytes -= value & 0x3fffff;
        complete(&barrier);
        break;
    default: /* test_wait, try_wait: has the phase of the state or parity ended? */
        *result = barrier.phase != (value & 1);
        return true;
    }
    *bits = barrier.bits;
    return true;
}

/* operand: result, address, value. */
void memory_async_mbarrier(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const struct ir_insn *insn = ptx_insn(step);
    unsigned mode = insn->op == IR_MBARRIER ? insn->mode : IR_MB_ARRIVE; /* cp.async arrives */
    const reg64 *address = step->operand[1] == PTX_ABSENT ? NULL : ptx_in(warp, step->operand[1]);
    const reg64 *value = step->operand[2] == PTX_ABSENT ? NULL : ptx_in(warp, step->operand[2]);
    uint32_t to = step->operand[0], set = 0;

    FOR_LANES (lane, mask) {
        uint64_t operand = !value ? 1 : value[lane], result = 0;

        if (!address) { /* pending_count of a state */
            ((reg32 *)ptx_out(warp, to))[lane] = (union mbarrier){.bits = operand}.pending;
            continue;
        }
        uint64_t *bits =
            (void *)memory_resolve(warp, step, lane, insn->space, address[lane], 8, true);
        if (!bits)
            return;
        if (insn->expect_tx) {
            mbarrier_lane(bits, IR_MB_EXPECT_TX, operand, &result);
            operand = 1;
        }
        if (!mbarrier_lane(bits, mode, operand, &result)) {
            fault_warp(warp, step, lane, PTX_FAULT_ILLEGAL_INSTRUCTION, address[lane],
                       "more threads arrive than the mbarrier expects");
            return;
        }
        if (mode == IR_MB_TEST_WAIT || mode == IR_MB_TRY_WAIT)
            set |= (uint32_t)result << lane;
        else if (to != PTX_ABSENT)
            ((reg64 *)ptx_out(warp, to))[lane] = result;
    }
    if ((mode == IR_MB_TEST_WAIT || mode == IR_MB_TRY_WAIT) && to != PTX_ABSENT)
        warp->predicates[to] = (warp->predicates[to] & ~mask) | set;
}

bool memory_async_signal(struct ptx_warp *warp, const struct ptx_step *step, unsigned lane,
                         enum ptx_space space, uint64_t barrier, uint32_t bytes)
{
    uint64_t *bits = (void *)memory_resolve(warp, step, lane, space, barrier, 8, true), ignored;

    if (bits)
        mbarrier_lane(bits, IR_MB_COMPLETE_TX, bytes, &ignored);
    return bits;
}

bool memory_async_clustered(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    if (warp->block->launch->clustered)
        return true;
    return fault_warp(warp, step, (unsigned)__builtin_ctz(mask), PTX_FAULT_ILLEGAL_INSTRUCTION, 0,
                      "the launch has no clusters");
}

/* st.async and red.async, whose bytes an mbarrier counts, and st.bulk, which zeroes shared memory.
 */

/* list: to, mbarrier, values. */
void memory_async_store(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const struct ir_insn *insn = ptx_insn(step);
    const reg64 *to = ptx_in(warp, step->list[0]);
    const reg64 *barrier = ptx_in(warp, step->list[1]);
    unsigned size = opcodes_type_size(insn->types[0]), total = size * insn->vector;
    const struct atomic_operation *one = atomic_reduction(insn->types[0], insn->atomic);

    if (!memory_async_clustered(warp, step, mask))
        return;
    FOR_LANES (lane, mask) {
        char *out = memory_resolve(warp, step, lane, insn->space, to[lane], total, true);

        if (!out)
            return;
        for (unsigned i = 0; i < insn->vector; i++) {
            const char *values = ptx_in(warp, step->list[2 + i]);

            if (one)
                atomic_apply(one, out + (size_t)i * size, values + (size_t)lane * size, false);
            else
                memcpy(out + (size_t)i * size, values + (size_t)lane * size, size);
        }
        if (!memory_async_signal(warp, step, lane, insn->space, barrier[lane], total))
            return;
    }
}

/* operand: to, size. */
void memory_async_store_bulk(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const reg64 *to = ptx_in(warp, step->operand[0]), *size = ptx_in(warp, step->operand[1]);

    FOR_LANES (lane, mask) {
        if (size[lane] % 8) {
            fault_warp(warp, step, lane, PTX_FAULT_MISALIGNED, to[lane],
                       "the size of the store is no multiple of 8");
            return;
        }
        for (uint64_t at = 0; at < size[lane]; at += 8) {
            char *out =
                memory_resolve(warp, step, lane, ptx_insn(step)->space, to[lane] + at, 8, true);

            if (!out)
                return;
            memset(out, 0, 8);
        }
    }
}
