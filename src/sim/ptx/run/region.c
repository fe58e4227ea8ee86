/* SPDX-License-Identifier: MIT */
/* Steps that a branch skips or repeats, where the lanes of a team do not agree about it: each warp
 * runs them for its lanes that do, and the team stays one. lower_region.c says which steps. */
#include "ptx/run/run.h"

#include "ptx/ops/affine.h"
#include "ptx/ops/state.h"

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
enum slice region_run(const struct ptx_team *team, const struct ptx_step *branch, int32_t *budget,
                      const struct ptx_step **next)
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
