/* SPDX-License-Identifier: MIT */
/* Values that are affine over a team: a few numbers in place of 32 for each warp. Addresses,
 * indices and counters of loops mostly are. A team is warps of one block all of whose lanes are at
 * one place: in the beginning all of the block, later single ones (run/team.c). */
#ifndef CUSHIM_SIM_PTX_OPS_AFFINE_H
#define CUSHIM_SIM_PTX_OPS_AFFINE_H

#include "ptx/ops/exec.h"

/* --- affine_op.c --- Which steps can compute on affine values, and how. */
/* What a step does on affine values: what run functions do on lanes. Some need sources that are
 * the same for all lanes: the base alone. */
enum affine_op {
#define AFFINE_OP(name, run, rule) AFFINE_##name,
#include "ptx/ops/affine_ops.def"
    AFFINE_OPS
};

enum affine_op affine_op_insn(const struct ir_insn *insn);
enum affine_op affine_op_run(ptx_run *run);
enum affine_op affine_op_special(const struct how_special *special);

/* Lane i of warp w has base + (i % 16) * lane + (i / 16) * half + w * warp, w counted in the team.
 * A register of 32 bits has the low half of that: the upper bits of the four say nothing then. So
 * %tid is affine wherever blocks are 16 threads wide, or a multiple, or have one dimension. */
struct affine {
    uint64_t base, lane, half, warp;
} __attribute__((aligned(32), may_alias));

struct ptx_team {
    struct ptx_warp_state *warps; /* neighbours in their block */
    uint32_t count;
    uint32_t active;       /* lanes of each; of several warps, all */
    const uint32_t *masks; /* those of each warp that run, in a region (run/team.c); or NULL */
    uint32_t first, last;  /* no others have lanes that run */
    char *registers;       /* of the first warp, which has the forms */
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

/* The lanes of one of its warps that run. */
static inline uint32_t team_mask(const struct ptx_team *team, uint32_t warp)
{
    return team->masks ? team->masks[warp] : team->active;
}

/* The form that a warp of the team has alone. */
static inline struct affine affine_of_warp(const struct affine *form, uint32_t warp)
{
    return (struct affine){form->base + warp * form->warp, form->lane, form->half, 0};
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

/* --- affine.c --- */
/* As affine_extremes, of the lanes that run in a region, of which there are some. */
void affine_extremes_some(const struct ptx_team *team, const struct affine *of, int64_t *least,
                          int64_t *greatest);

/* --- affine_vector.c --- From affine values to vectors, and out of teams. */
/* The form that operand 1 has, as vectors in operand 0. */
affine_run affine_vector_spread_32, affine_vector_spread_64;
/* The step's `form`, and its result also as vectors in operand 5. */
affine_run affine_vector_both_32, affine_vector_both_64;

void affine_vector_make(const struct ptx_team *team, const struct affine *form, uint32_t to,
                        bool wide);
const struct ptx_step *affine_vector_general(const struct ptx_warp *warp,
                                             const struct ptx_step *step);
const struct ptx_step *affine_vector_leave(const struct ptx_team *team,
                                           const struct ptx_step *step);
void affine_vector_part(const struct ptx_team *team, const struct ptx_step *step);

#endif
