/* SPDX-License-Identifier: MIT */
/* Elements of variables: x[2] and x[%r]. The ISA leaves open what a register counts, and here it
 * does what ptxas 13.0 makes of it: of a register the low 32 bits count, without a sign. The
 * product with the size of a scalar element, also of a vector, has 32 bits. Those of an array
 * without a size are bytes. */
#include "ptx/read/read.h"

#include "ptx/read/check.h"
#include "ptx/read/ir.h"

static uint64_t element_size(const struct parser *parser, const struct symbol *symbol)
{
    const struct ir_variable *variable = NULL;
    if (symbol->kind == SYMBOL_PARAM || symbol->kind == SYMBOL_RETURN)
        return opcodes_type_size(symbol->type);
    if (symbol->kind == SYMBOL_VARIABLE)
        variable = (const struct ir_variable *)parser->reader->variables.data + symbol->index;
    if (symbol->kind == SYMBOL_LOCAL)
        variable = (const struct ir_variable *)parser->locals.data + symbol->index;
    return variable && !variable->unsized ? opcodes_type_size(variable->type) : 1;
}

/* Integers and bits, up to 64. */
static bool can_index(const struct ir_register *reg)
{
    return reg->vector == 1 && reg->type >= IR_B8 && reg->type <= IR_S64 && reg->type != IR_B128;
}

/* A register as index becomes the operand's part; false: no register stands here. */
static bool take_register(struct parser *parser, struct ir_operand *operand)
{
    struct name name = {parser->token.text, parser->token.length};
    const struct symbol *symbol =
        parser->token.kind == TOKEN_NAME ? symbol_find(parser, name) : NULL;
    if (!symbol || symbol->kind != SYMBOL_REGISTER)
        return false;
    struct ir_operand *part = parse_alloc(parser, sizeof *part);
    if (part) {
        *part = (struct ir_operand){.kind = IR_OPERAND_REG, .index = symbol->index};
        if (!can_index(check_operand_register(parser, part)))
            parse_error(parser, parser->token.line, "Integer register expected as array index");
    }
    operand->parts = part;
    parse_next(parser);
    return true;
}

void parse_index(struct parser *parser, const struct symbol *symbol, struct ir_operand *operand)
{
    struct value value = {LITERAL_INT, 0};
    uint32_t line = parser->token.line;
    uint64_t size = element_size(parser, symbol);
    parse_next(parser);
    if (!take_register(parser, operand) || parse_accept(parser, '+'))
        if (!parse_expr_constant(parser, &value))
            return;
    if (!parse_expect(parser, ']'))
        return;
    if (value.kind == LITERAL_F32 || value.kind == LITERAL_F64)
        parse_error(parser, line, "Integer offset expected");
    operand->count = 2;
    operand->bits = operand->parts ? size : 0;
    operand->offset = (int64_t)(value.bits * size);
}

/* A register that has no name in the text. */
static struct ir_operand new_register(struct parser *parser, uint8_t type)
{
    struct ir_operand operand = {.kind = IR_OPERAND_REG, .index = parser->registers.count};
    struct ir_register *reg = parse_list_add(parser->reader, &parser->registers, sizeof *reg);
    if (reg)
        *reg = (struct ir_register){.name = "element", .type = type, .vector = 1};
    return operand;
}

static struct ir_operand number(uint64_t bits)
{
    return (struct ir_operand){.kind = IR_OPERAND_IMM, .bits = bits};
}

static void add(struct parser *parser, const struct ir_insn *insn)
{
    struct ir_insn *added = parse_list_add(parser->reader, &parser->insns, sizeof *added);
    if (!added)
        return;
    *added = *insn;
    added->source_line = parser->source_line;
    added->source_file = parser->source_file;
}

static struct ir_operand convert(struct parser *parser, uint32_t line, uint8_t to, uint8_t from,
                                 struct ir_operand source)
{
    struct ir_insn insn = {.op = IR_CVT, .line = line, .vector = 1, .destinations = 1, .count = 2};
    insn.types[0] = to;
    insn.types[1] = from;
    insn.type_count = 2;
    insn.operands[0] = new_register(parser, to);
    insn.operands[1] = source;
    add(parser, &insn);
    return insn.operands[0];
}

static uint8_t unsigned_type(unsigned size)
{
    return size == 8 ? IR_U64 : size == 4 ? IR_U32 : size == 2 ? IR_U16 : IR_U8;
}

/* Addresses of 32 bits wrap around: an element may stand before its variable. */
static bool wraps(const struct parser *parser, const struct ir_operand *symbol)
{
    if (symbol->kind != IR_OPERAND_VARIABLE)
        return true;
    const struct ir_variable *variable =
        (const struct ir_variable *)parser->reader->variables.data + symbol->index;
    return variable->space != PTX_SPACE_GLOBAL;
}

/* A register with the address of the element. */
static struct ir_operand address_of(struct parser *parser, uint32_t line,
                                    const struct ir_operand *element, int64_t offset)
{
    struct ir_operand symbol = *element, index = element->parts[0];
    struct ir_insn scale = {
        .op = IR_MAD, .half = IR_LO, .line = line, .vector = 1, .destinations = 1, .count = 4};
    struct ir_insn sum = {.op = IR_ADD, .line = line, .vector = 1, .destinations = 1, .count = 3};
    unsigned size = opcodes_type_size(check_operand_register(parser, &index)->type);
    if (size != 4)
        index = convert(parser, line, IR_U32, unsigned_type(size), index);
    scale.types[0] = IR_U32;
    scale.type_count = 1;
    scale.operands[0] = new_register(parser, IR_U32);
    scale.operands[1] = index;
    scale.operands[2] = number(element->bits);
    scale.operands[3] = number((uint32_t)offset);
    add(parser, &scale);
    symbol.parts = NULL;
    symbol.bits = 0;
    symbol.offset = 0;
    sum.types[0] = IR_U64;
    sum.type_count = 1;
    sum.operands[0] = new_register(parser, IR_U64);
    sum.operands[1] =
        convert(parser, line, IR_U64, wraps(parser, &symbol) ? IR_S32 : IR_U32, scale.operands[0]);
    sum.operands[2] = symbol;
    add(parser, &sum);
    return sum.operands[0];
}

void parse_index_compute(struct parser *parser, struct ir_insn *insn)
{
    for (uint8_t i = 0; i < insn->count; i++) {
        struct ir_operand *operand = &insn->operands[i];
        bool address = operand->kind == IR_OPERAND_ADDRESS;
        struct ir_operand *element = address ? operand->parts : operand;
        if (!check_operand_is_symbol(element) || !element->parts)
            continue;
        struct ir_operand result =
            address_of(parser, insn->line, element, address ? operand->offset : element->offset);
        if (!address && opcodes_type_size(insn->types[0]) == 4)
            result = convert(parser, insn->line, IR_U32, IR_U64, result);
        *element = result;
        operand->offset = 0;
    }
}
