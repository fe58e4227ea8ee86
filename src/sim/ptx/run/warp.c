/* SPDX-License-Identifier: MIT */
/* The interpreter: a warp runs until it ends, waits, or had its turn. */
#include "ptx/run/run.h"

#define NAP_MAX_NS (UINT32_C(1) << 20)
#define SPIN_COST 64 /* of an atomic or volatile access, in backward jumps */

/* What to do after a step that changed the groups. */
#define CHOOSE_AT(place)                                                                           \
    do {                                                                                           \
        state->groups[state->current].pc = (place);                                                \
        goto choose;                                                                               \
    } while (0)

/* The group that ran lets the others go first next time. */
static enum slice turn_over(struct ptx_warp_state *state)
{
    if (state->current < state->group_count)
        state->groups[state->current].epoch++;
    return state->spins > WARP_BUDGET / SPIN_COST / 2 ? SLICE_SPIN : SLICE_BUDGET;
}

static const struct ptx_step *indexed_target(const struct ptx_warp_state *state,
                                             const struct ptx_step *step, uint32_t index)
{
    const struct jump_table *table = step->how.table;

    return index < table->count ? &state->frame->code->steps[table->targets[index]] : NULL;
}

/* brx.idx: every lane to its target; one group for each. */
static bool run_indexed(struct ptx_warp_state *state, const struct ptx_step *step)
{
    struct ptx_warp *warp = &state->warp;
    const reg32 *index = ptx_in(warp, step->operand[0]);
    uint32_t left = warp->active & guard_mask(warp, step);

    state->groups[state->current].pc = step + 1;
    while (left) {
        uint32_t first = (uint32_t)__builtin_ctz(left), same = 0;
        const struct ptx_step *target = indexed_target(state, step, index[first]);

        if (!target)
            return fault_warp(warp, step, first, PTX_FAULT_INVALID_PC, index[first],
                              "the index is outside of the branch's table");
        FOR_LANES (lane, left)
            if (index[lane] == index[first])
                same |= UINT32_C(1) << lane;
        schedule_move(state, same, target, state->frame);
        left &= ~same;
    }
    return true;
}

/* As a device naps: to the next power of two, and not much more than a millisecond. */
static uint64_t nap_length(const struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const reg32 *times = ptx_in(warp, step->operand[0]);
    uint32_t length = 1, most = 0;

    FOR_LANES (lane, mask)
        most = times[lane] > most ? times[lane] : most;
    while (length < most && length < NAP_MAX_NS)
        length *= 2;
    return length;
}

enum slice warp_run(struct ptx_warp_state *state)
{
    struct ptx_warp *warp = &state->warp;
    const struct ptx_step *pc, *step, *target;
    uint32_t active, mask;

    if (!state->begun && !call_warp_begin(state))
        return SLICE_STOP;
    if (state->team) {
        const enum slice slice = team_run(state, 1);

        if (slice != SLICE_PARTED)
            return slice;
    }
    state->budget = WARP_BUDGET;
    state->spins = 0;

choose:
    if (state->stopped)
        return SLICE_STOP;
    if (!state->group_count) {
        call_warp_end(state);
        return SLICE_DONE;
    }
    if (state->budget <= 0)
        return turn_over(state);
    if (!schedule_choose(state))
        return SLICE_BLOCKED;
    pc = state->groups[state->current].pc;
    active = warp->active;
    for (;;) {
        step = pc++;
        switch (step->control) {
        case CONTROL_RUN:
            step->run(warp, step, active);
            continue;
        case CONTROL_GUARDED:
            mask = active & guard_mask(warp, step);
            if (mask)
                step->run(warp, step, mask);
            continue;
        case CONTROL_SPIN:
            state->budget -= SPIN_COST;
            state->spins++;
            /* fallthrough */
        case CONTROL_MEMORY:
            mask = active & guard_mask(warp, step);
            if (mask) {
                step->run(warp, step, mask);
                if (__builtin_expect(state->stopped, 0))
                    return SLICE_STOP;
            }
            continue;
        case CONTROL_JOIN:
            if (state->group_count > 1)
                CHOOSE_AT(pc);
            continue;
        case CONTROL_LOOP:
            state->budget--;
            /* fallthrough */
        case CONTROL_JUMP:
            pc = step->how.jump.step;
            if (state->budget <= 0 || state->group_count > 1)
                CHOOSE_AT(pc);
            continue;
        case CONTROL_BRANCH:
            mask = active & guard_mask(warp, step);
            target = step->how.jump.step;
            if (mask == active) {
                pc = target;
                if (target <= step && --state->budget <= 0)
                    CHOOSE_AT(pc);
            } else if (mask) {
                state->budget--;
                state->groups[state->current].mask = active & ~mask;
                schedule_add(state, mask, target, state->frame);
                CHOOSE_AT(pc);
            }
            if (state->group_count > 1)
                CHOOSE_AT(pc);
            continue;
        case CONTROL_INDEXED:
            if (!run_indexed(state, step))
                return SLICE_STOP;
            state->budget--;
            goto choose;
        default:
            break;
        }
        /* What is left changes groups or waits. */
        state->groups[state->current].pc = pc;
        mask = active & guard_mask(warp, step);
        if (!mask)
            continue;
        switch (step->control) {
        case CONTROL_CALL:
            state->budget--;
            call_enter(state, step, mask);
            break;
        case CONTROL_RETURN:
            call_return(state, mask);
            break;
        case CONTROL_EXIT:
            call_lanes_exit(state, mask);
            break;
        case CONTROL_BARRIER:
            barrier_arrive(state, step, mask);
            break;
        case CONTROL_CLUSTER:
            barrier_cluster(state, step, mask);
            break;
        case CONTROL_SYNC:
            if (state->launch->check)
                check_sync(warp, step, mask, schedule_members(warp, step));
            if (state->group_count == 1 || schedule_sync_passes(state, step, mask)) {
                step->run(warp, step, mask);
                warp->met = false;
                continue;
            }
            state->groups[state->current].pc = step;
            state->groups[state->current].state = GROUP_SYNC;
            break;
        case CONTROL_NAP:
            if (schedule_is_alone(state)) {
                state->wakes = special_time() + nap_length(warp, step, mask);
                return SLICE_SPIN;
            }
            state->spins++;
            state->budget -= WARP_BUDGET / 4;
            break;
        default:
            fault_warp(warp, step, (unsigned)__builtin_ctz(mask), PTX_FAULT_TRAP, 0,
                       "the thread trapped");
            break;
        }
        goto choose;
    }
}
