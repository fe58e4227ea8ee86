/* SPDX-License-Identifier: MIT */
/* Affine values as vectors: where a step needs one, and when warps leave their team. */
#include "ptx/ops/affine.h"

#include "ptx/ops/ops.h"

/* In each warp's place `to`; as a step, the form of operand 1, or that which the step makes. */
#define VECTORS(size)                                                                              \
    static void make_##size(const struct ptx_team *team, const struct affine *form, uint32_t to)   \
    {                                                                                              \
        const uint##size##_t by = (uint##size##_t)form->lane;                                      \
        for (uint32_t i = 0; i < team->count; i++) {                                               \
            lane_u##size *vector = ptx_out(&team->warps[i].warp, to);                              \
            const uint##size##_t base = (uint##size##_t)(form->base + i * form->warp);             \
            const uint##size##_t second = base + (uint##size##_t)form->half;                       \
            for (uint##size##_t lane = 0; lane < 16; lane++)                                       \
                vector[lane] = base + lane * by;                                                   \
            for (uint##size##_t lane = 0; lane < 16; lane++)                                       \
                vector[lane + 16] = second + lane * by;                                            \
        }                                                                                          \
    }                                                                                              \
    bool affine_vector_spread_##size(struct ptx_team *team, const struct ptx_step *step)           \
    {                                                                                              \
        make_##size(team, team_in(team, step->operand[1]), step->operand[0]);                      \
        return true;                                                                               \
    }                                                                                              \
    bool affine_vector_both_##size(struct ptx_team *team, const struct ptx_step *step)             \
    {                                                                                              \
        if (!step->form(team, step))                                                               \
            return false;                                                                          \
        make_##size(team, team_in(team, step->operand[0]), step->operand[5]);                      \
        return true;                                                                               \
    }
VECTORS(32)
VECTORS(64)

void affine_vector_make(const struct ptx_team *team, const struct affine *form, uint32_t to,
                        bool wide)
{
    (wide ? make_64 : make_32)(team, form, to);
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
