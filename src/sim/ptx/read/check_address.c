/* SPDX-License-Identifier: MIT */
/* Addresses: the space that an instruction means and the one that is named, and how wide they are.
 */
#include "ptx/read/check.h"

uint8_t check_address_space(const struct parser *parser, const struct ir_operand *operand)
{
    const struct ir_variable *variable = check_operand_variable(parser, operand);
    bool parameter = operand->kind == IR_OPERAND_PARAM || operand->kind == IR_OPERAND_RETURN;
    return variable ? variable->space : parameter ? PTX_SPACE_PARAM : PTX_SPACE_GENERIC;
}

#define MISMATCH "State space mismatch between instruction and address in instruction '%.*s'"
#define NARROW "32-bit address conflicts with .address_size 64 in instruction '%.*s'"

/* Do addresses have 64 bits? The compilers of CUDA 12 say so for each device; that of an mbarrier
 * is looked at by those of 12.8, and of matrices, which are in shared memory, by none. */
static bool is_wide(const struct parser *parser, const struct ir_insn *insn)
{
    const unsigned compiler = parser->reader->options->version;
    if (insn->op == IR_LDMATRIX || insn->op == IR_STMATRIX || insn->op == IR_CP_ASYNC)
        return false;
    if (insn->op == IR_MBARRIER)
        return parser->address_size == 64 && compiler >= 807;
    return parser->address_size == 64 && (compiler >= 800 || parser->target >= 90);
}

static bool check_one(struct parser *parser, const struct reading *reading,
                      const struct ir_insn *insn, const struct ir_operand *operand, uint8_t space)
{
    const struct ir_operand *base = operand->parts;
    uint8_t named = check_address_space(parser, base);
    if (insn->op == IR_TXQ || insn->op == IR_SUQ)
        return true;
    if (base->kind == IR_OPERAND_IMM && space != PTX_SPACE_LOCAL)
        return parse_refuse(
            parser, reading,
            "Immediate addresses allowed only for .local state space in instruction "
            "'%.*s'");
    if (named != PTX_SPACE_GENERIC && space != PTX_SPACE_GENERIC && named != space)
        return parse_refuse(parser, reading, MISMATCH);
    if (space == PTX_SPACE_GENERIC && insn->op == IR_LD &&
        (named == PTX_SPACE_CONST || named == PTX_SPACE_PARAM))
        return parse_refuse(parser, reading, MISMATCH);
    if (base->kind != IR_OPERAND_REG)
        return true;
    const struct ir_register *reg = check_operand_register(parser, base);
    if ((space == PTX_SPACE_GLOBAL || space == PTX_SPACE_GENERIC) &&
        opcodes_type_size(reg->type) < 8 && is_wide(parser, insn))
        return parse_refuse(parser, reading, NARROW);
    return true;
}

/* The space of an instruction's address, of which `seen` came before. A third one is an mbarrier's,
 * and of those on tensors and of single values all are in shared memory. */
static uint8_t space_meant(const struct ir_insn *insn, unsigned seen)
{
    if (insn->op == IR_CP_TENSOR)
        return PTX_SPACE_SHARED;
    if (insn->op == IR_ST_ASYNC || insn->op == IR_RED_ASYNC)
        return insn->space;
    return seen == 0 ? insn->space : seen == 1 ? insn->space2 : PTX_SPACE_SHARED;
}

bool check_address(struct parser *parser, const struct reading *reading, const struct ir_insn *insn)
{
    unsigned seen = 0;
    for (uint8_t i = 0; i < insn->count; i++) {
        const struct ir_operand *operand = &insn->operands[i];
        if (operand->kind != IR_OPERAND_ADDRESS)
            continue;
        uint8_t space = space_meant(insn, seen++);
        if (!operand->parts || !check_one(parser, reading, insn, operand, space))
            return false;
    }
    return true;
}

/* cvta: a pointer of 32 bits is none where addresses have 64, and a variable has its own space. */
bool check_address_pointer(struct parser *parser, const struct reading *reading,
                           const struct ir_insn *insn)
{
    uint8_t named = check_address_space(parser, &insn->operands[1]);
    if (named != PTX_SPACE_GENERIC && named != insn->space)
        return parse_refuse(parser, reading, MISMATCH);
    return opcodes_type_size(insn->types[0]) == 8 || !is_wide(parser, insn) ||
           parse_refuse(parser, reading, NARROW);
}
