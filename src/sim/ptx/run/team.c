/* SPDX-License-Identifier: MIT */
/* Warps that run as one, in the steps of lower_affine.c. All warps of a block begin so. A team does
 * together what has no order between warps; before anything else it parts, and then each warp does
 * it in its turn, as a team of one. That parts when its lanes do. */
#include "ptx/run/run.h"

static struct ptx_team team_of(struct ptx_warp_state *warps, uint32_t count)
{
    struct ptx_team team = {.warps = warps, .count = count, .last = count - 1};

    for (uint32_t i = 0; i < count && !warps->warp.block->ready; i++) {
        struct ptx_warp_state *state = &warps[i];

        state->frame = state->entry;
        state->warp.registers = state->entry->registers;
        state->warp.predicates = state->entry->predicates;
        state->warp.active = state->groups[0].mask;
    }
    team.active = warps->warp.active;
    team.registers = warps->warp.registers;
    team.constants = warps->warp.constants;
    return team;
}

enum whose { NO_LANE, ALL_LANES, SOME_LANES };

/* For which lanes of the team does the step's guard hold? */
static inline enum whose team_guard(const struct ptx_team *team, const struct ptx_step *step)
{
    uint32_t any = 0, all = PTX_FULL;
    const uint32_t *guard;
    const size_t stride = team->warps->warp.stride / sizeof *guard;

    if (step->guard == PTX_ABSENT)
        return ALL_LANES;
    guard = team->warps->warp.predicates + step->guard;
    for (uint32_t i = 0; i < team->count; i++, guard += stride) {
        any |= *guard;
        all &= *guard;
    }
    if (step->guard_negate) {
        const uint32_t before = any;

        any = ~all;
        all = ~before;
    }
    return !(any & team->active) ? NO_LANE : team->active & ~all ? SOME_LANES : ALL_LANES;
}

/* The warps that the run function did not do by itself. */
static void team_others(const struct ptx_team *team, const struct ptx_step *step,
                        const uint32_t *masks)
{
    team->warps[team->first].warp.follow = 0;
    for (uint32_t i = team->first + 1; i <= team->last; i++)
        if (masks[i])
            step->run(&team->warps[i].warp, step, masks[i]);
}

/* False: a fault. */
static bool team_each(const struct ptx_team *team, const struct ptx_step *step)
{
    for (uint32_t i = 0; i < team->count; i++) {
        struct ptx_warp *warp = &team->warps[i].warp;
        const uint32_t mask = team_mask(team, i) & guard_mask(warp, step);

        if (!mask)
            continue;
        step->run(warp, step, mask);
        if (team->warps[i].stopped)
            return false;
    }
    return true;
}

static void check_each(const struct ptx_team *team, const struct ptx_step *step)
{
    for (uint32_t i = 0; i < team->count; i++) {
        struct ptx_warp *warp = &team->warps[i].warp;
        const uint32_t mask = team->active & guard_mask(warp, step);

        if (mask)
            check_sync(warp, step, mask, schedule_members(warp, step));
    }
}

/* Memory at affine addresses, lane by lane: as the general step does it. False: a fault. */
static bool team_general(const struct ptx_team *team, const struct ptx_step *step)
{
    const struct ptx_step *general = affine_vector_general(&team->warps->warp, step);

    for (uint32_t i = 0; i < general->list_count; i++)
        if (general->operand[i] != step->operand[i] && !(general->operand[i] & PTX_CONSTANT))
            affine_vector_make(team, team_in(team, step->operand[i]), general->operand[i], true);
    return team_each(team, general);
}

/* Is the step an atomic whose result nobody reads, on shared memory that is there for all lanes?
 * What else reaches memory at vectors, warps do in their order, in which faults are found. */
static bool team_reaches(const struct ptx_team *team, const struct ptx_step *step)
{
    const struct team_code *code = team->warps->launch->entry->team;
    const uint64_t size = step->list_count, room = team->warps->warp.block->shared_size;
    uint64_t outside = 0, low = 0;

    if (!code->region[step - code->steps] || room < size)
        return false;
    for (uint32_t i = 0; i < team->count; i++) {
        const reg64 *addresses = ptx_in(&team->warps[i].warp, step->operand[1]);

        for (unsigned lane = 0; lane < PTX_LANES; lane++) {
            const uint64_t at = addresses[lane] + step->how.memory.offset;

            outside |= at | (room - size - at);
            low |= at;
        }
    }
    return !(outside >> 63) && !(low & (size - 1));
}

/* Steps that cannot fail, for those lanes: up to another kind of step, or to `end`. */
static inline const struct ptx_step *team_all(const struct ptx_team *team,
                                              const struct ptx_step *step,
                                              const struct ptx_step *end, const uint32_t *masks)
{
    struct ptx_warp *warp = &team->warps[team->first].warp;
    const uint32_t follow = team->last - team->first, mask = masks[team->first];

    warp->masks = masks + team->first;
    do {
        warp->follow = follow;
        step->run(warp, step, mask);
        if (warp->follow)
            team_others(team, step, masks);
    } while (++step != end && step->control == CONTROL_RUN);
    return step;
}

/* --- Regions: steps that a branch skips or repeats, where the lanes of a team do not agree about
 * it. Each warp runs them for its lanes that do, and the team stays one. lower_region.c says which
 * steps. --- */

/* Up to `end`, or to a step that is not possible; NULL after a fault. */
static const struct ptx_step *steps_run(struct ptx_team *team, const struct ptx_step *step,
                                        const struct ptx_step *end)
{
    while (step < end) {
        if (step->control == CONTROL_RUN) {
            step = team_all(team, step, end, team->masks);
            continue;
        }
        if (step->control == CONTROL_AFFINE) {
            if (!step->affine(team, step))
                return step;
        } else if (step->control == CONTROL_ROWS) {
            if (step->guard == PTX_ABSENT && step->affine(team, step)) {
                step++;
                continue;
            }
            if (team->count > 1)
                return step;
            if (!team_general(team, step))
                return NULL;
        } else {
            if (step->control == CONTROL_MEMORY && team->count > 1 && !team_reaches(team, step))
                return step;
            if (!team_each(team, step))
                return NULL;
        }
        step++;
    }
    return end;
}

/* The lanes that run go on at `at`, the others at `past`; each warp alone. Where it is none any
 * more, the others go on at the general step where the branch ends: general steps before `past`,
 * which teams lack, make what these lanes need. */
static enum slice region_part(const struct ptx_team *team, const struct ptx_step *branch,
                              const struct ptx_step *at, const struct ptx_step *past)
{
    const struct ptx_step *general = affine_vector_general(&team->warps->warp, branch);
    const struct ptx_step *after = past > branch + 1 ? general->how.jump.step : general + 1;

    affine_vector_part(team, at);
    for (uint32_t i = 0; i < team->count; i++) {
        struct ptx_warp_state *state = team->warps + i;
        const uint32_t mask = team->masks[i];

        state->groups[0].pc = mask ? at : past;
        if (mask && mask != team->active) {
            const struct ptx_team one = team_of(state, 1);

            state->team = false;
            state->groups[0].pc = affine_vector_leave(&one, at);
            state->groups[0].mask = mask;
            state->current = 0;
            schedule_add(state, team->active & ~mask, after, state->frame);
        }
    }
    return SLICE_PARTED;
}

/* Which lanes run, of those that did; false: none. */
static bool lanes_left(struct ptx_team *team, const struct ptx_step *branch, uint32_t *masks,
                       uint32_t negate)
{
    const uint32_t *guard = team->warps[team->first].warp.predicates + branch->guard;
    const size_t stride = team->warps->warp.stride / sizeof *guard;
    uint32_t first = team->first, last = team->last, any = 0;

    for (uint32_t i = first; i <= last; i++, guard += stride)
        any |= masks[i] &= *guard ^ negate;
    if (!any)
        return false;
    while (!masks[first])
        first++;
    while (!masks[last])
        last--;
    team->first = first;
    team->last = last;
    return true;
}

/* For the lanes that do not take a branch forward, or do take one backward. SLICE_DONE: all are at
 * `*next`. */
static enum slice region_run(const struct ptx_team *team, const struct ptx_step *branch,
                             int32_t *budget, const struct ptx_step **next)
{
    const struct ptx_step *target = branch->how.jump.step, *at;
    const bool again = target <= branch;
    const struct ptx_step *begin = again ? target : branch + 1, *end = again ? branch : target;
    const uint32_t negate = branch->guard_negate == again ? PTX_FULL : 0;
    struct ptx_team some = *team;
    uint32_t masks[PTX_LANES];

    for (uint32_t i = 0; i < team->count; i++)
        masks[i] = team->active;
    *next = again ? branch + 1 : target;
    some.masks = masks;
    lanes_left(&some, branch, masks, negate);
    do {
        at = steps_run(&some, begin, end);
        if (!at)
            return SLICE_STOP;
        if (at != end)
            return region_part(&some, branch, at, *next);
        if (!again || !lanes_left(&some, branch, masks, negate))
            return SLICE_DONE;
    } while (--*budget > 0);
    return region_part(&some, branch, begin, *next);
}

/* --- All steps --- */

/* The end of all lanes of the warps. */
static enum slice team_exit(const struct ptx_team *team)
{
    struct ptx_block *block = team->warps->warp.block;

    block->ready = block->team && !block->products && team->warps->launch->lasting;
    team->warps->groups[0].pc = team->warps->launch->start;
    for (uint32_t i = 0; i < team->count; i++) {
        if (block->ready) {
            team->warps[i].warp.carry = 0;
            continue;
        }
        call_lanes_exit(&team->warps[i], team->warps[i].warp.alive);
        call_warp_end(&team->warps[i]);
    }
    return SLICE_DONE;
}

static enum slice team_part(const struct ptx_team *team, const struct ptx_step *step)
{
    if (team->count > 1) {
        affine_vector_part(team, step);
        for (uint32_t i = 0; i < team->count; i++)
            team->warps[i].groups[0].pc = step;
    } else {
        team->warps->groups[0].pc = affine_vector_leave(team, step);
        team->warps->team = false;
    }
    return SLICE_PARTED;
}

/* A barrier of the whole block. */
static bool barrier_passed(const struct ptx_team *team, const struct ptx_step *step,
                           const struct ptx_step *next)
{
    struct ptx_warp_state *state = team->warps;

    if (team->count > 1) {
        if (state->warp.block->check)
            check_meet(state->warp.block);
        return true;
    }
    state->current = 0;
    state->groups[0].pc = next;
    barrier_arrive(state, step, team->active);
    return !state->stopped && state->groups[0].state == GROUP_READY;
}

enum slice team_run(struct ptx_warp_state *warps, uint32_t count)
{
    const struct ptx_step *pc = warps->groups[0].pc, *step;
    int32_t budget = WARP_BUDGET;
    uint32_t masks[PTX_LANES];

    if (warps->stopped)
        return SLICE_STOP;
    if (warps->groups[0].state != GROUP_READY)
        return SLICE_BLOCKED;
    struct ptx_team team = team_of(warps, count);
    warps->warp.block->ready = false;
    for (uint32_t i = 0; i < count; i++)
        masks[i] = team.active;
    for (;;) {
        enum whose whose;

        step = pc++;
        switch (step->control) {
        case CONTROL_RUN: /* others follow */
            pc = team_all(&team, step, NULL, masks);
            continue;
        case CONTROL_GUARDED:
            team_each(&team, step);
            continue;
        case CONTROL_AFFINE: /* mostly without a guard, and others follow */
            while (step->guard == PTX_ABSENT && step->control == CONTROL_AFFINE) {
                if (!step->affine(&team, step))
                    return team_part(&team, step);
                step = pc++;
            }
            if (step->control != CONTROL_AFFINE) {
                pc = step;
                continue;
            }
            whose = team_guard(&team, step);
            if (whose == NO_LANE)
                continue;
            if (whose == SOME_LANES || !step->affine(&team, step))
                return team_part(&team, step);
            continue;
        case CONTROL_ROWS:
            if (step->guard == PTX_ABSENT && step->affine(&team, step))
                continue;
            whose = team_guard(&team, step);
            if (whose == NO_LANE ||
                (whose == ALL_LANES && step->guard != PTX_ABSENT && step->affine(&team, step)))
                continue;
            if (count > 1)
                return team_part(&team, step);
            if (!team_general(&team, step))
                return SLICE_STOP;
            continue;
        case CONTROL_BRANCH:
            whose = team_guard(&team, step);
            if (whose == NO_LANE)
                continue;
            if (whose == SOME_LANES) {
                const struct team_code *code = warps->launch->entry->team;

                if (!code->region[step - code->steps])
                    return team_part(&team, step);
                enum slice slice = region_run(&team, step, &budget, &pc);
                if (slice != SLICE_DONE)
                    return slice;
                continue;
            }
            /* fallthrough */
        case CONTROL_JUMP:
        case CONTROL_LOOP:
            pc = step->how.jump.step;
            if (pc > step || --budget > 0)
                continue;
            warps->groups[0].pc = pc;
            return SLICE_BUDGET;
        case CONTROL_EXIT:
            whose = team_guard(&team, step);
            if (whose == ALL_LANES)
                return team_exit(&team);
            if (whose == SOME_LANES)
                return team_part(&team, step);
            continue;
        case CONTROL_BARRIER:
            if (barrier_passed(&team, step, pc))
                continue;
            return warps->stopped ? SLICE_STOP : SLICE_BLOCKED;
        case CONTROL_MEMORY:
            if (count > 1 && !team_reaches(&team, step))
                return team_part(&team, step);
            if (!team_each(&team, step))
                return SLICE_STOP;
            continue;
        case CONTROL_SYNC: /* all lanes are here */
            if (warps->launch->check)
                check_each(&team, step);
            team_each(&team, step);
            continue;
        default:
            return team_part(&team, step);
        }
    }
}
