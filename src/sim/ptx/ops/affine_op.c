/* SPDX-License-Identifier: MIT */
/* Which steps can compute on affine values: by their instruction, or by their run function. */
#include "ptx/ops/affine.h"

#include "ptx/ops/ops.h"

static enum affine_op of_cvt(const struct ir_insn *insn)
{
    const enum ops_size to = ops_size_of(insn->types[0]), from = ops_size_of(insn->types[1]);

    if (insn->saturate || to < OPS_32 || from < OPS_32 || to == OPS_OTHER || from == OPS_OTHER)
        return AFFINE_NONE;
    if (from == OPS_64 || to == OPS_32)
        return AFFINE_COPY;
    return ops_is_signed(insn->types[1]) ? AFFINE_EXTEND_S : AFFINE_EXTEND_U;
}

static enum affine_op of_product(const struct ir_insn *insn, bool wide, bool is_signed)
{
    const bool add = insn->op == IR_MAD;

    if (insn->half == IR_HI)
        return AFFINE_NONE;
    if (insn->half != IR_WIDE)
        return add ? AFFINE_MAD : AFFINE_MUL;
    if (wide)
        return AFFINE_NONE;
    if (is_signed)
        return add ? AFFINE_MAD_WIDE_S : AFFINE_WIDE_S;
    return add ? AFFINE_MAD_WIDE_U : AFFINE_WIDE_U;
}

enum affine_op affine_op_insn(const struct ir_insn *insn)
{
    const enum ops_size size = insn->type_count ? ops_size_of(insn->types[0]) : OPS_OTHER;
    const bool wide = size == OPS_64, is_signed = size < OPS_OTHER && ops_is_signed(insn->types[0]);

    if ((size != OPS_32 && !wide) || insn->cc || insn->saturate)
        return AFFINE_NONE;
    switch (insn->op) {
    case IR_ADD:
        return AFFINE_ADD;
    case IR_SUB:
        return AFFINE_SUB;
    case IR_NEG:
        return AFFINE_NEG;
    case IR_MUL:
    case IR_MAD:
        return of_product(insn, wide, is_signed);
    case IR_SHL:
        return wide ? AFFINE_SHL_64 : AFFINE_SHL_32;
    case IR_SHR:
        if (is_signed)
            return wide ? AFFINE_SHR_S64 : AFFINE_SHR_S32;
        return wide ? AFFINE_SHR_U64 : AFFINE_SHR_U32;
    case IR_AND:
        return AFFINE_AND;
    case IR_OR:
        return AFFINE_OR;
    case IR_XOR:
        return AFFINE_XOR;
    case IR_NOT:
        return AFFINE_NOT;
    case IR_CVT:
        return of_cvt(insn);
    case IR_SETP:
        return wide ? AFFINE_COMPARE_64 : is_signed ? AFFINE_COMPARE_S32 : AFFINE_COMPARE_U32;
    default:
        return AFFINE_NONE;
    }
}

/* Of the steps that the compiler makes itself. */
enum affine_op affine_op_run(ptx_run *run)
{
    static const struct {
        ptx_run *run;
        enum affine_op op;
    } table[] = {
        {move_copy32, AFFINE_COPY},     {move_copy64, AFFINE_COPY},
        {move_low32, AFFINE_COPY},      {move_zero64, AFFINE_EXTEND_U},
        {move_sign64, AFFINE_EXTEND_S}, {special_window, AFFINE_OFFSET},
        {special_32, AFFINE_SPECIAL},   {special_64, AFFINE_SPECIAL},
    };

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (table[i].run == run)
            return table[i].op;
    return AFFINE_NONE;
}

enum affine_op affine_op_special(const struct how_special *special)
{
    if (special->component > 2)
        return AFFINE_NONE;
    switch (special->name) {
    case IR_TID:
        return AFFINE_TID;
    case IR_NTID:
    case IR_NCTAID:
    case IR_NCLUSTERID:
    case IR_CLUSTER_NCTAID:
    case IR_CLUSTER_NCTARANK:
        return AFFINE_GRID;
    case IR_CTAID:
    case IR_CLUSTERID:
    case IR_CLUSTER_CTAID:
    case IR_CLUSTER_CTARANK:
        return AFFINE_BLOCK;
    default:
        return AFFINE_NONE;
    }
}
