/* SPDX-License-Identifier: MIT */
/* Barriers, fences and what else concerns several threads. */
#include "ptx/lower/lower.h"

#include "ptx/memory/memory.h"
#include "ptx/ops/exec.h"
#include "ptx/ops/ops.h"
#include "ptx/ops/state.h"
#include "ptx/ptx.h"
#include "ptx/read/ir.h"

static void lower_warp_sync(struct lower *lower, const struct ir_insn *insn)
{
    uint32_t mask = operand_source(lower, &insn->operands[0], PLACE_32);
    uint32_t step = lower_step(lower, move_nothing, CONTROL_SYNC);

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
        lower->steps[step].how.barrier.mode = insn->mode;
        return;
    }
    if (insn->mode == IR_BAR_WARP_SYNC) {
        lower_warp_sync(lower, insn);
        return;
    }
    if (result) {
        first = 1;
        predicate = operand_predicate(lower, &insn->operands[--last]);
    }
    barrier = operand_source(lower, &insn->operands[first], PLACE_32);
    if (first + 1 < last)
        count = operand_source(lower, &insn->operands[first + 1], PLACE_32);
    if (result)
        dest = operand_dest(lower, &insn->operands[0],
                            insn->mode == IR_BAR_RED_POPC ? PLACE_32 : PLACE_PREDICATE, IR_U32);
    step = lower_step(lower, NULL, CONTROL_BARRIER);
    lower->steps[step].how.barrier.mode = insn->mode;
    lower_def(lower, step, 0, dest);
    lower_use(lower, step, 1, barrier);
    lower_use(lower, step, 2, count);
    lower_use(lower, step, 3, predicate);
    operand_finish(lower);
}

/* mbarrier: result, address, and a count or a state. */
static void lower_mbarrier(struct lower *lower, const struct ir_insn *insn)
{
    bool predicate = insn->mode == IR_MB_TEST_WAIT || insn->mode == IR_MB_TRY_WAIT;
    uint32_t dest = PTX_ABSENT, address = PTX_ABSENT, value = PTX_ABSENT, first, step;
    struct how_memory how;
    int64_t offset = 0;

    first = insn->destinations;
    if (insn->mode == IR_MB_PENDING_COUNT) {
        value = operand_source(lower, &insn->operands[1], PLACE_64);
    } else {
        address = operand_address(lower, &insn->operands[first], &offset);
        if (insn->count > first + 1u) {
            const struct ir_operand *operand = &insn->operands[first + 1];

            value = operand_source(lower, operand, operand_place(lower, operand, PLACE_32));
            if (operand_place(lower, operand, PLACE_32) == PLACE_32)
                value = value & PTX_CONSTANT
                            ? operand_source(lower, operand, PLACE_64)
                            : operand_temp_from(lower, move_zero64, PLACE_64, value);
        }
    }
    if (first)
        dest = operand_dest(lower, &insn->operands[0],
                            predicate                           ? PLACE_PREDICATE
                            : insn->mode == IR_MB_PENDING_COUNT ? PLACE_32
                                                                : PLACE_64,
                            IR_NONE);
    step = lower_step(lower, memory_async_mbarrier, predicate ? CONTROL_SPIN : CONTROL_MEMORY);
    how = memory_how(step, insn->space == PTX_SPACE_SHARED ? MEMORY_SHARED : MEMORY_GENERIC, 0);
    how.barrier = insn->mode;
    how.expect_tx = insn->expect_tx;
    how.to_offset = (int32_t)offset;
    lower->steps[step].how.memory = how;
    lower_def(lower, step, 0, dest);
    lower_use(lower, step, 1, address);
    lower_use(lower, step, 2, value);
    operand_finish(lower);
}

static void lower_nap(struct lower *lower, const struct ir_insn *insn)
{
    uint32_t time = operand_source(lower, &insn->operands[0], PLACE_32);
    uint32_t step = lower_step(lower, NULL, CONTROL_NAP);

    lower_use(lower, step, 0, time);
    operand_finish(lower);
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
        lower_step(lower, special_fence, CONTROL_RUN);
        return true;
    case IR_MBARRIER:
        lower_mbarrier(lower, insn);
        return true;
    case IR_NANOSLEEP:
        lower_nap(lower, insn);
        return true;
    case IR_GRIDDEPCONTROL:
    case IR_PMEVENT:
    case IR_SETMAXNREG:
        return true;
    default:
        return false;
    }
}
