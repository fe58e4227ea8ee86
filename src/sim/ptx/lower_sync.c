/* SPDX-License-Identifier: MIT */
/* Barriers, fences and what else concerns several threads. */
#include "lower.h"
#include "memory.h"

static void lower_warp_sync(struct lower *lower, const struct ir_insn *insn)
{
    uint32_t mask = lower_source(lower, &insn->operands[0], PLACE_32);
    uint32_t step = lower_step(lower, run_nothing, CONTROL_SYNC);

    lower_use(lower, step, 0, mask);
}

static void lower_barrier(struct lower *lower, const struct ir_insn *insn)
{
    uint32_t first = 0, last = insn->count, step;
    uint32_t dest = PTX_ABSENT, barrier, count = PTX_ABSENT, predicate = PTX_ABSENT;
    bool result = insn->mode == IR_BAR_RED_POPC || insn->mode == IR_BAR_RED_AND ||
                  insn->mode == IR_BAR_RED_OR;

    if (insn->mode == IR_BAR_CLUSTER_ARRIVE || insn->mode == IR_BAR_CLUSTER_WAIT) {
        step = lower_step(lower, NULL, CONTROL_CLUSTER);
        lower->steps[step].detail = insn->mode;
        return;
    }
    if (insn->mode == IR_BAR_WARP_SYNC) {
        lower_warp_sync(lower, insn);
        return;
    }
    if (result) {
        first = 1;
        predicate = lower_predicate(lower, &insn->operands[--last]);
    }
    barrier = lower_source(lower, &insn->operands[first], PLACE_32);
    if (first + 1 < last)
        count = lower_source(lower, &insn->operands[first + 1], PLACE_32);
    if (result)
        dest = lower_dest(lower, &insn->operands[0],
                          insn->mode == IR_BAR_RED_POPC ? PLACE_32 : PLACE_PREDICATE, IR_U32);
    step = lower_step(lower, NULL, CONTROL_BARRIER);
    lower->steps[step].detail = insn->mode;
    lower_def(lower, step, 0, dest);
    lower_use(lower, step, 1, barrier);
    lower_use(lower, step, 2, count);
    lower_use(lower, step, 3, predicate);
    lower_finish(lower);
}

/* mbarrier: result, address, and a count or a state. */
static void lower_mbarrier(struct lower *lower, const struct ir_insn *insn)
{
    bool predicate = insn->mode == IR_MB_TEST_WAIT || insn->mode == IR_MB_TRY_WAIT;
    uint32_t dest = PTX_ABSENT, address = PTX_ABSENT, value = PTX_ABSENT, first, step;
    int64_t offset = 0;

    first = insn->destinations;
    if (insn->mode == IR_MB_PENDING_COUNT) {
        value = lower_source(lower, &insn->operands[1], PLACE_64);
    } else {
        address = lower_address(lower, &insn->operands[first], &offset);
        if (insn->count > first + 1u) {
            const struct ir_operand *operand = &insn->operands[first + 1];

            value = lower_source(lower, operand, lower_place(lower, operand, PLACE_32));
            if (lower_place(lower, operand, PLACE_32) == PLACE_32)
                value = value & PTX_CONSTANT ? lower_source(lower, operand, PLACE_64)
                                             : lower_temp_from(lower, run_zero64, PLACE_64, value);
        }
    }
    if (first)
        dest = lower_dest(lower, &insn->operands[0],
                          predicate                           ? PLACE_PREDICATE
                          : insn->mode == IR_MB_PENDING_COUNT ? PLACE_32
                                                              : PLACE_64,
                          IR_NONE);
    step = lower_step(lower, run_mbarrier, predicate ? CONTROL_SPIN : CONTROL_MEMORY);
    lower->steps[step].detail = memory_detail(
        step, insn->space == PTX_SPACE_SHARED ? MEMORY_SHARED : MEMORY_GENERIC, 0, insn->expect_tx);
    lower->steps[step].extra = (uint64_t)(uint32_t)offset << 32 | insn->mode;
    lower_def(lower, step, 0, dest);
    lower_use(lower, step, 1, address);
    lower_use(lower, step, 2, value);
    lower_finish(lower);
}

bool lower_sync_family(struct lower *lower, const struct ir_insn *insn)
{
    switch (insn->op) {
    case IR_BAR:
    case IR_BARRIER:
        lower_barrier(lower, insn);
        return true;
    case IR_MEMBAR:
    case IR_FENCE:
        lower_step(lower, run_fence, CONTROL_RUN);
        return true;
    case IR_MBARRIER:
        lower_mbarrier(lower, insn);
        return true;
    case IR_NANOSLEEP:
        lower_step(lower, NULL, CONTROL_YIELD);
        return true;
    case IR_GRIDDEPCONTROL:
    case IR_PMEVENT:
    case IR_SETMAXNREG:
        return true;
    default:
        return false;
    }
}
