/* SPDX-License-Identifier: MIT */
/* What an operand is: a register, an immediate number or either; handles with coordinates. */
#include "ptx/read/check.h"

bool check_operand_suits(uint8_t want, uint8_t have, bool relaxed)
{
    unsigned want_size = opcodes_type_size(want), have_size = opcodes_type_size(have);
    enum type_class want_class = opcodes_class(want), have_class = opcodes_class(have);
    if (want_class == CLASS_PREDICATE || have_class == CLASS_PREDICATE)
        return want_class == have_class;
    if (have_size != want_size && !(relaxed && have_size > want_size))
        return false;
    if (want_class == CLASS_BITS || have_class == CLASS_BITS)
        return true;
    if (want_class != have_class)
        return false;
    return want_class == CLASS_INTEGER || have == want || (want == IR_TF32 && have == IR_F32);
}

const struct ir_register *check_operand_register(const struct parser *parser,
                                                 const struct ir_operand *operand)
{
    return (const struct ir_register *)parser->registers.data + operand->index;
}

const struct ir_variable *check_operand_variable(const struct parser *parser,
                                                 const struct ir_operand *operand)
{
    const struct ir_variable *globals = parser->reader->variables.data;
    const struct ir_variable *locals = parser->locals.data;
    return operand->kind == IR_OPERAND_VARIABLE ? globals + operand->index
           : operand->kind == IR_OPERAND_LOCAL  ? locals + operand->index
                                                : NULL;
}

bool check_operand_is_symbol(const struct ir_operand *operand)
{
    return operand->kind == IR_OPERAND_VARIABLE || operand->kind == IR_OPERAND_LOCAL ||
           operand->kind == IR_OPERAND_PARAM || operand->kind == IR_OPERAND_RETURN;
}

bool check_operand_is_register(const struct parser *parser, const struct ir_operand *operand,
                               uint8_t want, bool relaxed)
{
    if (operand->kind != IR_OPERAND_REG || operand->negate)
        return false;
    const struct ir_register *reg = check_operand_register(parser, operand);
    if (reg->vector > 1 ? operand->count == 0 : operand->count != 0)
        return false;
    return check_operand_suits(want, reg->type, relaxed);
}

bool check_operand_is_immediate(const struct ir_operand *operand, uint8_t want)
{
    if (operand->kind != IR_OPERAND_IMM)
        return false;
    bool integer = operand->component == LITERAL_INT || operand->component == LITERAL_UNSIGNED;
    switch (opcodes_class(want)) {
    case CLASS_BITS:
        return integer || (operand->component == LITERAL_F32 && want == IR_B32) ||
               (operand->component == LITERAL_F64 && want == IR_B64);
    case CLASS_INTEGER:
    case CLASS_PREDICATE:
        return integer;
    case CLASS_FLOAT:
        return !integer && (want == IR_F32 || want == IR_F64);
    default:
        return false;
    }
}

bool check_operand_is_source(const struct parser *parser, const struct ir_operand *operand,
                             uint8_t want, bool relaxed)
{
    return check_operand_is_register(parser, operand, want, relaxed) ||
           check_operand_is_immediate(operand, want);
}

bool check_operand_parts(const struct parser *parser, const struct ir_operand *operand,
                         unsigned count, uint8_t want, enum operand_parts also)
{
    if (operand->kind != IR_OPERAND_VECTOR || operand->count != count)
        return false;
    for (unsigned i = 0; i < count; i++) {
        const struct ir_operand *part = &operand->parts[i];
        if (!check_operand_is_register(parser, part, want, false) &&
            !(also == PARTS_OR_SINKS && part->kind == IR_OPERAND_SINK) &&
            !(also == PARTS_OR_VALUES && check_operand_is_immediate(part, want)) &&
            !(also == PARTS_OR_NUMBERS && part->kind == IR_OPERAND_IMM))
            return false;
    }
    return true;
}

uint8_t check_operand_type(const struct ir_insn *insn, const struct spec *spec)
{
    if (spec->type == SPEC_WIDE)
        return insn->types[0] + 1U; /* the next one is twice as wide */
    if (spec->type >= SPEC_TYPE0)
        return insn->types[spec->type - SPEC_TYPE0];
    return spec->type;
}

bool check_operand_is_single(const struct ir_insn *insn, const struct spec *spec,
                             const struct ir_operand *operand)
{
    return (spec->role == 'v' || spec->role == 'w') && insn->vector == 1 &&
           operand->kind == IR_OPERAND_VECTOR && operand->count == 1;
}

/* --- Operands of textures, surfaces and tensors: handles with coordinates, and offsets --- */
/* 32-bit registers or immediates of any type. */
static bool coordinates_suit(const struct parser *parser, const struct ir_operand *operand)
{
    return operand->kind == IR_OPERAND_IMM ||
           check_operand_is_register(parser, operand, IR_B32, false) ||
           check_operand_parts(parser, operand, operand->count, IR_B32, PARTS_OR_NUMBERS);
}

static bool handle_suits(const struct parser *parser, const struct ir_operand *operand)
{
    const struct ir_variable *variable = check_operand_variable(parser, operand);
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
    const struct ir_variable *variable = check_operand_variable(parser, map);
    if (variable ? variable->space != PTX_SPACE_GLOBAL
                 : !check_operand_is_register(parser, map, IR_B64, false) &&
                       !check_operand_is_register(parser, map, IR_U32, false))
        return false;
    return check_operand_parts(parser, at, opcodes_rank(insn->geometry), IR_U32, PARTS_OR_VALUES);
}

static bool offset_suits(const struct parser *parser, const struct ir_insn *insn,
                         const struct ir_operand *operand)
{
    if (operand->kind == IR_OPERAND_VECTOR)
        return check_operand_parts(parser, operand, operand->count, IR_B32, PARTS_OR_VALUES);
    return (insn->geometry == IR_1D || insn->geometry == IR_A1D) &&
           check_operand_is_source(parser, operand, IR_B32, false);
}

bool check_operand_group(const struct parser *parser, const struct ir_insn *insn,
                         const struct ir_operand *operand, char role)
{
    switch (role) {
    case 'g':
        return group_suits(parser, insn, operand);
    case 'G':
        return tensor_suits(parser, insn, operand);
    case 'I': /* {offsets}: one for each dimension between the channels and the images */
        return check_operand_parts(parser, operand, opcodes_rank(insn->geometry) - 2U, IR_U16,
                                   PARTS_OR_VALUES);
    default:
        return offset_suits(parser, insn, operand);
    }
}
