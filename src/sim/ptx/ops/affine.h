/* SPDX-License-Identifier: MIT */
/* Values that are affine over a warp: a few numbers in place of 32. Addresses, indices and counters
 * of loops mostly are. They are used while all lanes of a warp are at one place
 * (lower/lower_affine.c); what is not affine after all is left to the general steps. */
#ifndef CUSHIM_SIM_PTX_OPS_AFFINE_H
#define CUSHIM_SIM_PTX_OPS_AFFINE_H

#include <stdbool.h>
#include <stdint.h>

#include "ptx/ops/exec.h"
#include "ptx/ops/ops.h"
#include "ptx/read/ir.h"

struct launch;
struct ptx_code;

/* Lane i of 32 has base + (i % 16) * lane + (i / 16) * half, of which a register of 32 bits has the
 * low half: the upper bits of the three say nothing then. So %tid is affine wherever blocks are 16
 * threads wide, or a multiple. */
struct affine {
    uint64_t base, lane, half, zero;
} __attribute__((aligned(32), may_alias));

/* What a step does on affine values: what run functions do on lanes. Some need sources that are
 * the same for all lanes: the base alone. */
enum affine_op {
    AFFINE_NONE,
    AFFINE_PARAM,
    AFFINE_SPECIAL, /* some are: affine_of_special */
    AFFINE_TID,
    AFFINE_GRID,
    AFFINE_BLOCK, /* as GRID, and differs between blocks */
    AFFINE_COPY,
    AFFINE_OFFSET,
    AFFINE_ADD,
    AFFINE_SUB,
    AFFINE_NEG,
    AFFINE_MUL,
    AFFINE_MAD,
    AFFINE_WIDE_U,
    AFFINE_WIDE_S,
    AFFINE_MAD_WIDE_U,
    AFFINE_MAD_WIDE_S,
    AFFINE_EXTEND_U,
    AFFINE_EXTEND_S,
    AFFINE_SHL_32,
    AFFINE_SHL_64,
    AFFINE_SHR_U32,
    AFFINE_SHR_S32,
    AFFINE_SHR_U64,
    AFFINE_SHR_S64,
    AFFINE_AND,
    AFFINE_OR,
    AFFINE_XOR,
    AFFINE_NOT,
    AFFINE_COMPARE_U32, /* setp */
    AFFINE_COMPARE_S32,
    AFFINE_COMPARE_64,
    AFFINE_LOAD, /* at an affine address */
    AFFINE_STORE,
    AFFINE_OPS
};

/* The form of a value, known before it is computed; each of them holds those before it. */
enum affine_form { FORM_UNIFORM, FORM_AFFINE, FORM_ANY };

enum affine_op affine_of_insn(const struct ir_insn *insn);
enum affine_op affine_of_run(ptx_run *run);
enum affine_op affine_of_special(const struct how_special *special);
enum affine_form affine_form_of(enum affine_op op, const enum affine_form *sources, uint32_t count);
affine_run *affine_run_of(enum affine_op op);
ptx_run *affine_compare_of(enum affine_op op); /* setp of affine values; or NULL */

/* The form that operand 1 has, as a vector in operand 0. */
ptx_run affine_spread_32, affine_spread_64;
/* The step's `form`, and its result also as a vector in operand 5. */
affine_run affine_both_32, affine_both_64;

void affine_vector_32(lane_u32 *to, const struct affine *from);
void affine_vector_64(lane_u64 *to, const struct affine *from);
const struct ptx_step *affine_leave(struct ptx_warp *warp, const struct ptx_step *step);
const struct ptx_step *affine_general(const struct ptx_warp *warp, const struct ptx_step *step);
bool affine_tids(struct launch *launch);

#endif
