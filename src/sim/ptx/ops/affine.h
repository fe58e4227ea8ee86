/* SPDX-License-Identifier: MIT */
/* Values that are affine over a team: a few numbers in place of 32 for each warp. Addresses,
 * indices and counters of loops mostly are. A team is warps of one block all of whose lanes are at
 * one place: in the beginning all of the block, later single ones (run/team.c). */
#ifndef CUSHIM_SIM_PTX_OPS_AFFINE_H
#define CUSHIM_SIM_PTX_OPS_AFFINE_H

#include <stdbool.h>
#include <stdint.h>

#include "ptx/ops/affine_op.h"
#include "ptx/ops/exec.h"

/* Lane i of warp w has base + (i % 16) * lane + (i / 16) * half + w * warp, w counted in the team.
 * A register of 32 bits has the low half of that: the upper bits of the four say nothing then. So
 * %tid is affine wherever blocks are 16 threads wide, or a multiple, or have one dimension. */
struct affine {
    uint64_t base, lane, half, warp;
} __attribute__((aligned(32), may_alias));

struct ptx_team {
    struct ptx_warp_state *warps; /* neighbours in their block */
    uint32_t count;
    uint32_t active; /* lanes of each; of several warps, all */
    char *registers; /* of the first warp, which has the forms */
    const char *constants;
};

static inline const struct affine *team_in(const struct ptx_team *team, uint32_t operand)
{
    return (const void *)(operand & PTX_CONSTANT ? team->constants + (operand & ~PTX_CONSTANT)
                                                 : team->registers + operand);
}
static inline struct affine *team_out(const struct ptx_team *team, uint32_t operand)
{
    return (void *)(team->registers + operand);
}

/* The least and the greatest value, where the members are small enough for it not to wrap. */
static inline void affine_extremes(const struct ptx_team *team, const struct affine *of,
                                   int64_t *least, int64_t *greatest)
{
    const uint64_t extent[] = {15 * of->lane, of->half, (team->count - 1) * of->warp};
    uint64_t low = of->base, high = of->base;

    for (unsigned i = 0; i < 3; i++) {
        low += (int64_t)extent[i] < 0 ? extent[i] : 0;
        high += (int64_t)extent[i] > 0 ? extent[i] : 0;
    }
    *least = (int64_t)low;
    *greatest = (int64_t)high;
}

/* Are they small enough, in 64 bits? */
static inline bool affine_is_small(const struct affine *form)
{
    const uint64_t room = UINT64_C(1) << 40;

    return ((form->lane + room) | (form->half + room) | (form->warp + room)) < 2 * room;
}

/* The form of a value, known before it is computed; each of them holds those before it. */
enum affine_form { FORM_UNIFORM, FORM_AFFINE, FORM_ANY };

enum affine_form affine_form_of(enum affine_op op, const enum affine_form *sources, uint32_t count);
affine_run *affine_run_of(enum affine_op op);

#endif
