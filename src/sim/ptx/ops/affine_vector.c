/* SPDX-License-Identifier: MIT */
/* Affine values as vectors: where a step needs one, and when warps leave their team. */
#include "ptx/ops/affine.h"

#include "ptx/ops/exec.h"
#include "ptx/ops/ops.h"
#include "ptx/ops/state.h"

static void vector_32(lane_u32 *to, const struct affine *from, uint64_t warp)
{
    const uint32_t base = (uint32_t)(from->base + warp * from->warp), by = (uint32_t)from->lane;
    const uint32_t second = base + (uint32_t)from->half;

    for (uint32_t lane = 0; lane < 16; lane++)
        to[lane] = base + lane * by;
    for (uint32_t lane = 0; lane < 16; lane++)
        to[lane + 16] = second + lane * by;
}

static void vector_64(lane_u64 *to, const struct affine *from, uint64_t warp)
{
    const uint64_t base = from->base + warp * from->warp, by = from->lane;
    const uint64_t second = base + from->half;

    for (uint64_t lane = 0; lane < 16; lane++)
        to[lane] = base + lane * by;
    for (uint64_t lane = 0; lane < 16; lane++)
        to[lane + 16] = second + lane * by;
}

/* The form as a vector in each warp's place `to`. */
void affine_vector_make(const struct ptx_team *team, const struct affine *form, uint32_t to,
                        bool wide)
{
    for (uint32_t i = 0; i < team->count; i++)
        if (wide)
            vector_64(ptx_out(&team->warps[i].warp, to), form, i);
        else
            vector_32(ptx_out(&team->warps[i].warp, to), form, i);
}

bool affine_vector_spread_32(struct ptx_team *team, const struct ptx_step *step)
{
    affine_vector_make(team, team_in(team, step->operand[1]), step->operand[0], false);
    return true;
}

bool affine_vector_spread_64(struct ptx_team *team, const struct ptx_step *step)
{
    affine_vector_make(team, team_in(team, step->operand[1]), step->operand[0], true);
    return true;
}

bool affine_vector_both_32(struct ptx_team *team, const struct ptx_step *step)
{
    if (!step->form(team, step))
        return false;
    affine_vector_make(team, team_in(team, step->operand[0]), step->operand[5], false);
    return true;
}

bool affine_vector_both_64(struct ptx_team *team, const struct ptx_step *step)
{
    if (!step->form(team, step))
        return false;
    affine_vector_make(team, team_in(team, step->operand[0]), step->operand[5], true);
    return true;
}

/* The general step that a step for teams stands for. */
const struct ptx_step *affine_vector_general(const struct ptx_warp *warp,
                                             const struct ptx_step *step)
{
    const struct ptx_code *code = warp->state->launch->entry;

    return &code->steps[code->team->general[step - code->team->steps]];
}

static bool is_live(const struct affine_value *value, uint32_t at)
{
    return value->from <= at && at <= value->to;
}

/* A warp alone: what lives becomes vectors. Where its general steps go on. */
const struct ptx_step *affine_vector_leave(const struct ptx_team *team, const struct ptx_step *step)
{
    const struct ptx_code *code = team->warps->launch->entry;
    const uint32_t at = code->team->general[step - code->team->steps];

    for (uint32_t i = 0; i < code->team->value_count; i++) {
        const struct affine_value *value = &code->team->values[i];

        if (is_live(value, at))
            affine_vector_make(team, team_in(team, value->form), value->vector, value->wide);
    }
    return &code->steps[at];
}

/* Several warps: each gets its own forms of what lives, to be a team alone before the step. */
void affine_vector_part(const struct ptx_team *team, const struct ptx_step *step)
{
    const struct team_code *code = team->warps->launch->entry->team;
    const uint32_t at = code->general[step - code->steps];

    for (uint32_t i = 0; i < code->value_count; i++) {
        struct affine form = *team_in(team, code->values[i].form);

        if (!is_live(&code->values[i], at))
            continue;
        for (uint32_t w = 0; w < team->count; w++)
            *(struct affine *)ptx_out(&team->warps[w].warp, code->values[i].form) =
                affine_of_warp(&form, w);
    }
}
