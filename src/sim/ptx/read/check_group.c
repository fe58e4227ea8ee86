/* SPDX-License-Identifier: MIT */
/* Operands of textures, surfaces and tensors: handles with coordinates, and offsets. */
#include "ptx/read/check.h"

#include "ptx/ptx.h"
#include "ptx/read/ir.h"
#include "ptx/read/read.h"

static const struct ir_variable *variable_of(const struct parser *parser,
                                             const struct ir_operand *operand)
{
    if (operand->kind == IR_OPERAND_VARIABLE)
        return (const struct ir_variable *)parser->reader->variables.data + operand->index;
    if (operand->kind == IR_OPERAND_LOCAL)
        return (const struct ir_variable *)parser->locals.data + operand->index;
    return NULL;
}

/* Coordinates and offsets: 32-bit registers or immediates of any type. */
static bool coordinate_suits(const struct parser *parser, const struct ir_operand *operand)
{
    return check_operand_is_source(parser, operand, IR_B32, false) ||
           check_operand_is_immediate(operand, IR_F32);
}

static bool coordinates_suit(const struct parser *parser, const struct ir_operand *operand)
{
    if (operand->kind != IR_OPERAND_VECTOR)
        return coordinate_suits(parser, operand);
    for (unsigned i = 0; i < operand->count; i++)
        if (!coordinate_suits(parser, &operand->parts[i]))
            return false;
    return true;
}

static bool handle_suits(const struct parser *parser, const struct ir_operand *operand)
{
    const struct ir_variable *variable = variable_of(parser, operand);
    if (variable)
        return ir_is_reference(variable) || variable->space == PTX_SPACE_TEX;
    return operand->kind == IR_OPERAND_PARAM ||
           check_operand_is_register(parser, operand, IR_U64, false);
}

static bool group_suits(const struct parser *parser, const struct ir_insn *insn,
                        const struct ir_operand *operand)
{
    static const uint8_t least[] = {
        [IR_1D] = 1,   [IR_2D] = 2,    [IR_3D] = 3,   [IR_A1D] = 2,   [IR_A2D] = 3,
        [IR_CUBE] = 3, [IR_ACUBE] = 4, [IR_2DMS] = 3, [IR_A2DMS] = 4,
    };
    if (operand->kind != IR_OPERAND_GROUP || operand->count < 2 || operand->count > 3)
        return false;
    if (operand->count == 3 && (insn->op == IR_SULD || insn->op == IR_SUST || insn->op == IR_SURED))
        return false;
    for (unsigned i = 0; i + 1 < operand->count; i++)
        if (!handle_suits(parser, &operand->parts[i]))
            return false;
    const struct ir_operand *last = &operand->parts[operand->count - 1];
    unsigned count = last->kind == IR_OPERAND_VECTOR ? last->count : 1;
    return coordinates_suit(parser, last) && count >= least[insn->geometry] &&
           (count == least[insn->geometry] || (count == 4 && least[insn->geometry] == 3));
}

/* [map, {coordinates}]: one for each dimension. */
static bool tensor_suits(const struct parser *parser, const struct ir_insn *insn,
                         const struct ir_operand *operand)
{
    if (operand->kind != IR_OPERAND_GROUP || operand->count != 2 || operand->offset != 0)
        return false;
    const struct ir_operand *map = &operand->parts[0], *at = &operand->parts[1];
    const struct ir_variable *variable = variable_of(parser, map);
    if (variable ? variable->space != PTX_SPACE_GLOBAL
                 : !check_operand_is_register(parser, map, IR_B64, false) &&
                       !check_operand_is_register(parser, map, IR_U32, false))
        return false;
    if (at->kind != IR_OPERAND_VECTOR || at->count != opcodes_rank(insn->geometry))
        return false;
    for (unsigned i = 0; i < at->count; i++)
        if (!check_operand_is_source(parser, &at->parts[i], IR_U32, false))
            return false;
    return true;
}

/* {offsets}: one for each dimension between the channels and the images. */
static bool im2col_suits(const struct parser *parser, const struct ir_insn *insn,
                         const struct ir_operand *operand)
{
    if (operand->kind != IR_OPERAND_VECTOR || operand->count + 2u != opcodes_rank(insn->geometry))
        return false;
    for (unsigned i = 0; i < operand->count; i++)
        if (!check_operand_is_source(parser, &operand->parts[i], IR_U16, false))
            return false;
    return true;
}

static bool offset_suits(const struct parser *parser, const struct ir_insn *insn,
                         const struct ir_operand *operand)
{
    if (operand->kind != IR_OPERAND_VECTOR && insn->geometry != IR_1D && insn->geometry != IR_A1D)
        return false;
    for (unsigned i = 0; operand->kind == IR_OPERAND_VECTOR && i < operand->count; i++)
        if (!check_operand_is_source(parser, &operand->parts[i], IR_B32, false))
            return false;
    return operand->kind == IR_OPERAND_VECTOR ||
           check_operand_is_source(parser, operand, IR_B32, false);
}

bool check_group(const struct parser *parser, const struct ir_insn *insn,
                 const struct ir_operand *operand, char role)
{
    switch (role) {
    case 'g':
        return group_suits(parser, insn, operand);
    case 'G':
        return tensor_suits(parser, insn, operand);
    case 'I':
        return im2col_suits(parser, insn, operand);
    default:
        return offset_suits(parser, insn, operand);
    }
}
