/* SPDX-License-Identifier: MIT */
/* Which steps can compute on affine values, and how. */
#ifndef CUSHIM_SIM_PTX_OPS_AFFINE_OP_H
#define CUSHIM_SIM_PTX_OPS_AFFINE_OP_H

#include "ptx/ops/exec.h"
#include "ptx/read/ir.h"

/* What a step does on affine values: what run functions do on lanes. Some need sources that are
 * the same for all lanes: the base alone. */
enum affine_op {
    AFFINE_NONE,
    AFFINE_PARAM,
    AFFINE_SPECIAL, /* some are: affine_op_special */
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

enum affine_op affine_op_insn(const struct ir_insn *insn);
enum affine_op affine_op_run(ptx_run *run);
enum affine_op affine_op_special(const struct how_special *special);

#endif
