/* SPDX-License-Identifier: MIT */
/* The groups of a warp: lanes that are at one place run together. The group that is deepest in
 * calls and, there, nearest to the start of the function goes first, so that others come to where
 * it is; a group that used up its turns in a loop waits for the others once. */
#include "ptx/run/run.h"

void schedule_add(struct ptx_warp_state *state, uint32_t mask, const struct ptx_step *pc,
                  struct ptx_frame *frame)
{
    struct group *group = &state->groups[state->group_count++];

    /* Lanes that leave a group have had as many turns as those that stay. */
    *group = (struct group){.mask = mask, .pc = pc, .frame = frame};
    if (state->group_count > 1)
        group->epoch = state->groups[state->current].epoch;
}

/* Take lanes out of a group; an empty group goes, and the last one takes its place. */
void schedule_take(struct ptx_warp_state *state, unsigned index, uint32_t mask)
{
    struct group *group = &state->groups[index];

    group->mask &= ~mask;
    if (!group->mask && --state->group_count != index)
        *group = state->groups[state->group_count];
}

const reg32 *schedule_members(const struct ptx_warp *warp, const struct ptx_step *step)
{
    return ptx_in(warp, step->list ? step->list[step->list_count - 1]
                                   : step->operand[step->list_count - 1]);
}

static uint32_t members(const struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const reg32 *masks = schedule_members(warp, step);
    uint32_t all = 0;

    FOR_LANES (lane, mask)
        all |= masks[lane];
    return all;
}

/* Are all lanes that the step waits for in `mask`, or gone? */
bool schedule_sync_passes(struct ptx_warp_state *state, const struct ptx_step *step, uint32_t mask)
{
    struct group *group = &state->groups[state->current];

    if (group->forced) {
        group->forced = false;
        state->warp.met = true;
        return true;
    }
    return !(members(&state->warp, step, mask) & state->warp.alive & ~group->mask);
}

static void group_merge(struct ptx_warp_state *state, unsigned into)
{
    struct group *group = &state->groups[into];

    for (unsigned i = 0; i < state->group_count;) {
        struct group *other = &state->groups[i];

        if (other == group || other->pc != group->pc || other->frame != group->frame ||
            other->state != group->state ||
            (group->state == GROUP_BARRIER && other->barrier != group->barrier)) {
            i++;
            continue;
        }
        group->mask |= other->mask;
        group->epoch = other->epoch < group->epoch ? other->epoch : group->epoch;
        *other = state->groups[--state->group_count];
        if (into == state->group_count) {
            into = i;
            group = other;
            i = 0;
        }
    }
    state->current = into;
}

static uint32_t group_wants(struct ptx_warp_state *state, struct group *group)
{
    struct ptx_warp *warp = &state->warp;

    warp->registers = group->frame->registers;
    warp->predicates = group->frame->predicates;
    uint32_t mask = group->mask & guard_mask(warp, group->pc);
    return members(warp, group->pc, mask) & warp->alive & ~group->mask;
}

/* Groups that wait for other lanes: those that need no longer, and those that wait for each other
 * at different places. */
static bool sync_release(struct ptx_warp_state *state)
{
    uint32_t waiting = 0;
    bool released = false;

    for (unsigned i = 0; i < state->group_count; i++)
        if (state->groups[i].state == GROUP_SYNC) {
            group_merge(state, i);
            i = state->current;
            waiting |= state->groups[i].mask;
        }
    for (unsigned i = 0; i < state->group_count; i++) {
        struct group *group = &state->groups[i];

        if (group->state != GROUP_SYNC || (group_wants(state, group) & ~waiting))
            continue;
        group->forced = group_wants(state, group) != 0;
        released = true;
    }
    state->meeting.lanes = 0;
    for (unsigned i = 0; released && i < state->group_count; i++) {
        struct group *group = &state->groups[i];

        if (group->state == GROUP_SYNC && !(group_wants(state, group) & ~waiting))
            group->state = GROUP_READY;
    }
    return released;
}

static bool goes_before(const struct group *one, const struct group *other)
{
    if (one->epoch != other->epoch)
        return one->epoch < other->epoch;
    if (one->frame->depth != other->frame->depth)
        return one->frame->depth > other->frame->depth;
    return (uintptr_t)one->pc < (uintptr_t)other->pc;
}

static int group_best(const struct ptx_warp_state *state)
{
    int best = -1;

    for (unsigned i = 0; i < state->group_count; i++)
        if (state->groups[i].state == GROUP_READY &&
            (best < 0 || goes_before(&state->groups[i], &state->groups[best])))
            best = (int)i;
    return best;
}

bool schedule_is_alone(const struct ptx_warp_state *state)
{
    for (unsigned i = 0; i < state->group_count; i++)
        if (i != state->current && state->groups[i].state == GROUP_READY)
            return false;
    return true;
}

/* --- Barriers that a part of a warp goes around: `if (c) __syncthreads();` ---
 * As synccheck on a GPU: where compilers make the branch a guard, that is, where it is short and
 * within no other. */

#define GUARDED_MOST 8 /* steps behind the barrier */

/* Whether lanes that wait in front of `step` come to `place` soon, without a choice. */
static bool leads_to(const struct ptx_step *step, const struct ptx_step *place)
{
    for (unsigned i = 0; i < GUARDED_MOST && step < place; i++) {
        if (step->control == CONTROL_JUMP)
            step = step->how.jump.step;
        else if (step->control < CONTROL_JOIN ||
                 (step->control == CONTROL_JOIN && step + 1 == place))
            step++;
        else
            return false;
    }
    return step == place;
}

/* Whether all steps between the two may be within a loop or another branch: who waits may have been
 * at `to` before. */
static bool is_inner(const struct ptx_code *code, const struct ptx_step *from,
                     const struct ptx_step *to)
{
    for (const struct ptx_step *step = code->steps; step < code->steps + code->step_count; step++) {
        if (step->control == CONTROL_INDEXED)
            return true;
        if (step->control != CONTROL_JUMP && step->control != CONTROL_LOOP &&
            step->control != CONTROL_BRANCH)
            continue;
        const struct ptx_step *target = step->how.jump.step;
        if ((step < from && target > to && target->control != CONTROL_EXIT) ||
            (step >= to && target <= from))
            return true;
    }
    return false;
}

/* The group that is chosen is where others of the warp come behind their barrier. */
static void note_passed(struct ptx_warp_state *state)
{
    const struct group *here = &state->groups[state->current];

    if (here->frame->parent || here->pc->control == CONTROL_EXIT)
        return;
    for (unsigned i = 0; i < state->group_count; i++) {
        struct group *group = &state->groups[i];

        if (group->state == GROUP_BARRIER && group->frame == here->frame && !group->passed &&
            leads_to(group->pc, here->pc) && !is_inner(here->frame->code, group->pc, here->pc))
            group->passed = true;
    }
}

/* Choose who runs now, with all who are at the same place. False: nobody can. */
bool schedule_choose(struct ptx_warp_state *state)
{
    struct ptx_warp *warp = &state->warp;
    int best = 0;

    if (__builtin_expect(state->group_count != 1 || state->groups[0].state != GROUP_READY, 0)) {
        best = group_best(state);
        if (best < 0 && sync_release(state))
            best = group_best(state);
        if (best < 0)
            return false;
    }
    state->current = (unsigned)best;
    if (state->group_count > 1) {
        group_merge(state, (unsigned)best);
        if (state->launch->check)
            note_passed(state);
    }
    struct group *group = &state->groups[state->current];
    state->frame = group->frame;
    warp->active = group->mask;
    warp->registers = group->frame->registers;
    warp->predicates = group->frame->predicates;
    return true;
}
