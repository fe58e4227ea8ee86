/* SPDX-License-Identifier: MIT */
/* Does an operand suit its place in a form? */
#include "ptx/read/check.h"

static bool special_suits(const struct parser *parser, const struct ir_operand *operand,
                          uint8_t want)
{
    (void)parser;
    if (operand->kind != IR_OPERAND_SPECIAL)
        return false;
    bool wide = false, narrow = false;
    switch (operand->index) {
    case IR_TID: /* were 16 bits in PTX 1.0 */
    case IR_NTID:
    case IR_CTAID:
    case IR_NCTAID:
        narrow = true;
        break;
    case IR_CLOCK64:
    case IR_GLOBALTIMER:
    case IR_CURRENT_GRAPH_EXEC:
        wide = true;
        break;
    case IR_GRIDID: /* was 32 bits before PTX 3.0 */
        return opcodes_class(want) != CLASS_FLOAT && opcodes_type_size(want) >= 2;
    case IR_IS_EXPLICIT_CLUSTER:
        return want == IR_PRED;
    default:
        break;
    }
    if (symbol_special_parts(operand->index) > 1 && operand->count == 0)
        return false;
    if (opcodes_class(want) == CLASS_FLOAT || want == IR_PRED)
        return false;
    unsigned size = opcodes_type_size(want);
    return wide ? size == 8 : size == 4 || (narrow && size == 2);
}

/* Neighbours in a vector: an integer and a float do not go together. */
static bool neighbours_suit(const struct parser *parser, const struct ir_operand *vector)
{
    enum type_class before = CLASS_BITS;
    for (unsigned i = 0; i < vector->count; i++) {
        const struct ir_operand *part = &vector->parts[i];
        enum type_class own = CLASS_BITS;
        if (part->kind == IR_OPERAND_REG)
            own = opcodes_class(check_operand_register(parser, part)->type);
        else if (part->kind == IR_OPERAND_IMM)
            own = part->component <= LITERAL_UNSIGNED ? CLASS_INTEGER : CLASS_FLOAT;
        if ((before == CLASS_INTEGER && own == CLASS_FLOAT) ||
            (before == CLASS_FLOAT && own == CLASS_INTEGER))
            return false;
        before = own;
    }
    return true;
}

static const uint8_t bits_of_size[] = {[1] = IR_B8, [2] = IR_B16, [4] = IR_B32, [8] = IR_B64};

/* Of elements that are no floats alone the type does not count. */
static uint8_t vector_type(const struct parser *parser, const struct ir_operand *vector,
                           uint8_t want)
{
    const unsigned size = opcodes_type_size(want);
    for (unsigned i = 0; i < vector->count && size <= 8; i++) {
        const struct ir_operand *part = &vector->parts[i];
        if (part->kind == IR_OPERAND_REG &&
            opcodes_class(check_operand_register(parser, part)->type) != CLASS_FLOAT)
            return bits_of_size[size];
    }
    return want;
}

/* {a, b} of mov, or a register of as many parts: all of one size, together as wide as the type. */
static bool pack_suits(const struct parser *parser, const struct ir_operand *operand, uint8_t want,
                       bool source)
{
    if (operand->kind == IR_OPERAND_REG && operand->count == 0 && !operand->negate) {
        const struct ir_register *reg = check_operand_register(parser, operand);
        return reg->vector > 1 && opcodes_class(want) == CLASS_BITS &&
               opcodes_type_size(reg->type) * reg->vector == opcodes_type_size(want);
    }
    unsigned each = operand->count == 0 ? 0 : opcodes_type_size(want) / operand->count;
    return operand->kind == IR_OPERAND_VECTOR && opcodes_class(want) == CLASS_BITS &&
           each * operand->count == opcodes_type_size(want) && each != 0 && operand->count >= 2 &&
           neighbours_suit(parser, operand) &&
           check_operand_parts(parser, operand, operand->count, bits_of_size[each],
                               source ? PARTS_OR_VALUES : PARTS_OR_SINKS);
}

static bool is_address_type(uint8_t type)
{
    return opcodes_class(type) <= CLASS_PAIR &&
           (opcodes_type_size(type) == 4 || opcodes_type_size(type) == 8);
}

/* The address of a variable as a number. */
static bool address_value_suits(const struct ir_operand *operand, uint8_t want)
{
    return check_operand_is_symbol(operand) && is_address_type(want);
}

static bool move_suits(const struct parser *parser, const struct ir_operand *operand, uint8_t want,
                       bool pack)
{
    if (check_operand_is_source(parser, operand, want, false))
        return true;
    if (pack && special_suits(parser, operand, want))
        return true;
    if (pack && pack_suits(parser, operand, want, true))
        return true;
    return address_value_suits(operand, want) || /* also of an element: x[2] */
           (operand->kind == IR_OPERAND_FUNCTION && is_address_type(want));
}

static bool vector_suits(const struct parser *parser, const struct ir_operand *operand,
                         uint8_t want, bool relaxed, bool source, unsigned count)
{
    if (operand->kind == IR_OPERAND_REG && operand->count == 0) {
        const struct ir_register *reg = check_operand_register(parser, operand);
        return !operand->negate && reg->vector == count &&
               check_operand_suits(want, reg->type, relaxed);
    }
    if (operand->kind != IR_OPERAND_VECTOR || operand->count != count ||
        !neighbours_suit(parser, operand))
        return false;
    const uint8_t type = vector_type(parser, operand, want);
    unsigned size = 0, sinks = 0; /* wider registers are of one size */
    for (unsigned i = 0; i < count; i++) {
        const struct ir_operand *part = &operand->parts[i];
        bool good = check_operand_is_register(parser, part, type, relaxed);
        if (good) {
            unsigned own = opcodes_type_size(check_operand_register(parser, part)->type);
            good = size == 0 || size == own;
            size = own;
        } else if (source) {
            good = check_operand_is_immediate(part, want);
        } else {
            good = part->kind == IR_OPERAND_SINK;
            sinks++;
        }
        if (!good)
            return false;
    }
    return sinks < count;
}

/* What mov.v2 and mov.v4 take: for each part what mov takes, or all of %tid. */
/* One value alone becomes the first part, and the others 0. */
static bool move_vector_suits(const struct parser *parser, const struct ir_operand *operand,
                              uint8_t want, unsigned count)
{
    if (operand->kind == IR_OPERAND_SPECIAL && operand->count == 0 &&
        symbol_special_parts(operand->index) > 1) {
        struct ir_operand part = *operand;
        part.count = 1;
        return symbol_special_parts(operand->index) == count && special_suits(parser, &part, want);
    }
    if (operand->kind != IR_OPERAND_VECTOR)
        return vector_suits(parser, operand, want, false, true, count) ||
               move_suits(parser, operand, want, false) || special_suits(parser, operand, want);
    for (unsigned i = 0; i < operand->count; i++)
        if (!move_suits(parser, &operand->parts[i], want, false) &&
            !special_suits(parser, &operand->parts[i], want))
            return false;
    return operand->count == count;
}

static bool predicate_suits(const struct parser *parser, const struct ir_operand *operand)
{
    if (operand->kind == IR_OPERAND_IMM)
        return check_operand_is_immediate(operand, IR_PRED);
    return operand->kind == IR_OPERAND_REG && operand->count == 0 &&
           check_operand_register(parser, operand)->type == IR_PRED;
}

static bool address_suits(const struct parser *parser, const struct ir_insn *insn,
                          const struct ir_operand *operand)
{
    if (check_operand_is_symbol(operand)) /* x[2] */
        return operand->count == 2 &&
               (insn->op == IR_LD || insn->op == IR_LDU || insn->op == IR_ST);
    if (operand->kind != IR_OPERAND_ADDRESS || operand->count != 1)
        return false;
    const struct ir_operand *base = operand->parts;
    if (base->kind == IR_OPERAND_REG)
        return check_operand_is_register(parser, base, IR_B64, false)
                   ? opcodes_class(check_operand_register(parser, base)->type) != CLASS_FLOAT
                   : check_operand_is_register(parser, base, IR_U32, false);
    return (check_operand_is_symbol(base) && base->count == 0) ||
           (base->kind == IR_OPERAND_IMM && base->component <= LITERAL_UNSIGNED);
}

/* Each lane of a warpgroup has the columns of half a row of d, two of f16 in a register. */
static unsigned fragment_registers(const struct ir_insn *insn, uint8_t type)
{
    static const uint16_t columns[] = {
        0,
#define IR_SHAPE(m, n, k) n,
#include "ptx/read/opcodes_shapes.def"
    };
    return columns[insn->shape] / (type == IR_F16X2 ? 4U : 2U);
}

static bool video_suits(const struct parser *parser, const struct ir_insn *insn,
                        const struct ir_operand *operand, bool result)
{
    char lanes = opcodes_text[insn->op][strlen(opcodes_text[insn->op]) - 1];
    bool simd = lanes == '2' || lanes == '4';
    if (operand->kind == IR_OPERAND_IMM)
        return !result && !simd && check_operand_is_immediate(operand, IR_U32);
    if (operand->kind != IR_OPERAND_REG || (operand->negate && (result || insn->op != IR_VMAD)))
        return false;
    const struct ir_register *reg = check_operand_register(parser, operand);
    if (reg->vector > 1 || !check_operand_suits(IR_U32, reg->type, false))
        return false;
    if (!simd || operand->count == 0)
        return operand->component != IR_COMPONENT_SELECT;
    /* A selection names every part; a mask any of them. */
    return result || operand->count == (lanes == '2' ? 3 : 5);
}

/* A conversion between integers takes each, as wide as it may be. */
static bool converted_special_suits(const struct ir_insn *insn, const struct ir_operand *operand)
{
    return operand->kind == IR_OPERAND_SPECIAL && operand->index != IR_IS_EXPLICIT_CLUSTER &&
           opcodes_class(insn->types[0]) == CLASS_INTEGER &&
           opcodes_class(insn->types[1]) == CLASS_INTEGER &&
           (symbol_special_parts(operand->index) == 1 || operand->count != 0) &&
           (opcodes_type_size(insn->types[1]) <= 4 || operand->index == IR_CLOCK64 ||
            operand->index == IR_GLOBALTIMER || operand->index == IR_GRIDID);
}

bool check_place(struct parser *parser, const struct ir_insn *insn, const struct spec *spec,
                 struct ir_operand *operand)
{
    uint8_t want = check_operand_type(insn, spec);
    bool sink = operand->kind == IR_OPERAND_SINK;
    bool is_vector = insn->vector > 1;
    if (check_operand_is_single(insn, spec, operand))
        operand = operand->parts;
    switch (spec->role) {
    case 'D':
        return sink || check_operand_is_register(parser, operand, want, spec->relaxed);
    case 'd':
    case 'r':
        return check_operand_is_register(parser, operand, want, spec->relaxed);
    case 'e':
        return check_operand_is_register(parser, operand, want, false) &&
               check_operand_register(parser, operand)->type == want;
    case 's':
        return check_operand_is_source(parser, operand, want, spec->relaxed) ||
               /* An address alone is for mov; behind a sum it is a number. */
               (address_value_suits(operand, want) && operand->count == 0 &&
                operand->offset != 0) ||
               (insn->op == IR_CVT && converted_special_suits(insn, operand));
    case 'i':
        return check_operand_is_immediate(operand, want);
    case 'm':
        return move_suits(parser, operand, want, insn->op == IR_MOV);
    case 'M':
        return check_operand_is_register(parser, operand, want, false) ||
               pack_suits(parser, operand, want, false);
    case 'p':
        return (sink && (spec->joined || insn->op == IR_SETP)) ||
               (predicate_suits(parser, operand) && operand->kind == IR_OPERAND_REG &&
                !operand->negate);
    case 'q':
        return predicate_suits(parser, operand);
    case 'a':
        return address_suits(parser, insn, operand);
    case 'v':
        return is_vector
                   ? (sink && insn->op == IR_ATOM) ||
                         vector_suits(parser, operand, want, spec->relaxed, false, insn->vector)
                   : (sink && insn->op == IR_ATOM) ||
                         check_operand_is_register(parser, operand, want, spec->relaxed);
    case 'w':
        if (insn->op == IR_MOV)
            return move_vector_suits(parser, operand, want, insn->vector);
        return is_vector ? vector_suits(parser, operand, want, spec->relaxed, true, insn->vector)
                         : check_operand_is_source(parser, operand, want, spec->relaxed);
    case 'x':
        return vector_suits(parser, operand, want, false, false, insn->vector);
    case 'f': /* a fragment of a matrix: {a, b}, also of one register */
    case 'u':
        return check_operand_parts(parser, operand,
                                   spec->role == 'f' ? spec->count : fragment_registers(insn, want),
                                   want, PARTS_ALONE);
    case 'F':
        return check_operand_parts(parser, operand, spec->count, want, PARTS_OR_SINKS);
    case 'g':
    case 'G':
    case 'I':
    case 'o':
        return check_operand_group(parser, insn, operand, spec->role);
    case 'n':
        return check_operand_is_register(parser, operand, IR_U64, false) ||
               check_operand_is_register(parser, operand, IR_U32, false) ||
               (insn->op == IR_ISSPACEP && check_operand_is_immediate(operand, IR_U64));
    case 'h':
        return check_operand_is_register(parser, operand, IR_B64, false);
    case 'y':
    case 'z':
        return video_suits(parser, insn, operand, spec->role == 'z');
    case 'l':
        return operand->kind == IR_OPERAND_LABEL;
    case 't':
        return operand->kind == IR_OPERAND_LABEL || operand->kind == IR_OPERAND_TABLE;
    default:
        return false;
    }
}
