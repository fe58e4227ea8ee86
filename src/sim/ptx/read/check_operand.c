/* SPDX-License-Identifier: MIT */
/* Does an operand suit its place in a form? With `fix` it is also brought into its final shape. */
#include "ptx/read/check_operand.h"

#include <string.h>

#include "ptx/ptx.h"
#include "ptx/read/check_fix.h"
#include "ptx/read/ir.h"
#include "ptx/read/opcodes.h"
#include "ptx/read/parse.h"
#include "ptx/read/symbol.h"

enum type_class { CLASS_BITS, CLASS_INTEGER, CLASS_FLOAT, CLASS_PREDICATE, CLASS_OTHER };

static enum type_class class_of(uint8_t type)
{
    switch (type) {
    case IR_B8:
    case IR_B16:
    case IR_B32:
    case IR_B64:
    case IR_B128:
        return CLASS_BITS;
    case IR_U8:
    case IR_U16:
    case IR_U32:
    case IR_U64:
    case IR_S8:
    case IR_S16:
    case IR_S32:
    case IR_S64:
    case IR_U16X2:
    case IR_S16X2:
        return CLASS_INTEGER;
    case IR_PRED:
        return CLASS_PREDICATE;
    case IR_F16:
    case IR_F16X2:
    case IR_BF16:
    case IR_BF16X2:
    case IR_TF32:
    case IR_F32:
    case IR_F64:
    case IR_E4M3X2:
    case IR_E5M2X2:
    case IR_E2M1X2:
    case IR_E2M3X2:
    case IR_E3M2X2:
    case IR_F32X2:
        return CLASS_FLOAT;
    default:
        return CLASS_OTHER;
    }
}

/* May a register of type `have` stand where `want` is wanted? */
static bool suits(uint8_t want, uint8_t have, bool relaxed)
{
    unsigned want_size = opcodes_type_size(want), have_size = opcodes_type_size(have);
    enum type_class want_class = class_of(want), have_class = class_of(have);
    if (want_class == CLASS_PREDICATE || have_class == CLASS_PREDICATE)
        return want_class == have_class;
    if (have_size != want_size && !(relaxed && have_size > want_size))
        return false;
    if (want_class == CLASS_BITS || have_class == CLASS_BITS)
        return true;
    if (want_class != have_class)
        return false;
    if (want_class == CLASS_INTEGER)
        return true;
    return have == want || (want == IR_TF32 && have == IR_F32);
}

const struct ir_register *check_operand_register(const struct parser *parser,
                                                 const struct ir_operand *operand)
{
    return (const struct ir_register *)parser->registers.data + operand->index;
}

bool check_operand_is_symbol(const struct ir_operand *operand)
{
    return operand->kind == IR_OPERAND_VARIABLE || operand->kind == IR_OPERAND_LOCAL ||
           operand->kind == IR_OPERAND_PARAM || operand->kind == IR_OPERAND_RETURN;
}

static bool register_suits(const struct parser *parser, const struct ir_operand *operand,
                           uint8_t want, bool relaxed)
{
    if (operand->kind != IR_OPERAND_REG || operand->negate)
        return false;
    const struct ir_register *reg = check_operand_register(parser, operand);
    if (reg->vector > 1 ? operand->count == 0 : operand->count != 0)
        return false;
    return suits(want, reg->type, relaxed);
}

static bool immediate_suits(const struct ir_operand *operand, uint8_t want)
{
    if (operand->kind != IR_OPERAND_IMM)
        return false;
    bool integer = operand->component == LITERAL_INT || operand->component == LITERAL_UNSIGNED;
    switch (class_of(want)) {
    case CLASS_BITS:
        return integer || (operand->component == LITERAL_F32 && want == IR_B32) ||
               (operand->component == LITERAL_F64 && want == IR_B64);
    case CLASS_INTEGER:
    case CLASS_PREDICATE:
        return integer && want != IR_U16X2 && want != IR_S16X2;
    case CLASS_FLOAT:
        return !integer && (want == IR_F32 || want == IR_F64);
    default:
        return false;
    }
}

static const struct ir_variable *variable_of(const struct parser *parser,
                                             const struct ir_operand *operand)
{
    if (operand->kind == IR_OPERAND_VARIABLE)
        return (const struct ir_variable *)parser->reader->variables.data + operand->index;
    if (operand->kind == IR_OPERAND_LOCAL)
        return (const struct ir_variable *)parser->locals.data + operand->index;
    return NULL;
}

static bool source_suits(const struct parser *parser, const struct ir_operand *operand,
                         uint8_t want, bool relaxed)
{
    return register_suits(parser, operand, want, relaxed) || immediate_suits(operand, want);
}

static bool special_suits(const struct parser *parser, const struct ir_operand *operand,
                          uint8_t want)
{
    (void)parser;
    if (operand->kind != IR_OPERAND_SPECIAL)
        return false;
    bool wide = false;
    switch (operand->index) {
    case IR_CLOCK64:
    case IR_GLOBALTIMER:
    case IR_CURRENT_GRAPH_EXEC:
        wide = true;
        break;
    case IR_GRIDID: /* was 32 bits before PTX 3.0 */
        return class_of(want) != CLASS_FLOAT && opcodes_type_size(want) >= 4;
    case IR_IS_EXPLICIT_CLUSTER:
        return want == IR_PRED;
    default:
        break;
    }
    if (symbol_special_parts(operand->index) > 1 && operand->count == 0)
        return false;
    if (class_of(want) == CLASS_FLOAT || want == IR_PRED)
        return false;
    unsigned size = opcodes_type_size(want);
    return wide ? size == 8 : size == 4 || size == 2;
}

/* {a, b} of mov, or a register of as many parts: all of one size, together as wide as the type. */
static bool pack_suits(const struct parser *parser, const struct ir_operand *operand, uint8_t want,
                       bool source)
{
    if (operand->kind == IR_OPERAND_REG && operand->count == 0 && !operand->negate) {
        const struct ir_register *reg = check_operand_register(parser, operand);
        return reg->vector > 1 && class_of(want) == CLASS_BITS &&
               opcodes_type_size(reg->type) * reg->vector == opcodes_type_size(want);
    }
    unsigned each = operand->count == 0 ? 0 : opcodes_type_size(want) / operand->count;
    if (operand->kind != IR_OPERAND_VECTOR || class_of(want) != CLASS_BITS ||
        each * operand->count != opcodes_type_size(want) || each == 0 || operand->count < 2)
        return false;
    for (unsigned i = 0; i < operand->count; i++) {
        const struct ir_operand *part = &operand->parts[i];
        if (!source && part->kind == IR_OPERAND_SINK)
            continue;
        uint8_t type = each == 1 ? IR_B8 : each == 2 ? IR_B16 : each == 4 ? IR_B32 : IR_B64;
        if (!register_suits(parser, part, type, false) && !(source && immediate_suits(part, type)))
            return false;
    }
    return true;
}

static bool is_address_type(uint8_t type)
{
    return (class_of(type) == CLASS_BITS || class_of(type) == CLASS_INTEGER) &&
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
    if (source_suits(parser, operand, want, false) || special_suits(parser, operand, want))
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
        return !operand->negate && reg->vector == count && suits(want, reg->type, relaxed);
    }
    if (operand->kind != IR_OPERAND_VECTOR || operand->count != count)
        return false;
    for (unsigned i = 0; i < count; i++) {
        const struct ir_operand *part = &operand->parts[i];
        bool good = register_suits(parser, part, want, relaxed);
        if (source)
            good |= immediate_suits(part, want);
        else
            good |= part->kind == IR_OPERAND_SINK;
        if (!good)
            return false;
    }
    return true;
}

/* What mov.v2 and mov.v4 take: for each part what mov takes, or all of %tid. */
static bool move_vector_suits(const struct parser *parser, const struct ir_operand *operand,
                              uint8_t want, unsigned count)
{
    if (operand->kind == IR_OPERAND_SPECIAL) {
        struct ir_operand part = *operand;
        part.count = 1;
        return operand->count == 0 && symbol_special_parts(operand->index) == count &&
               special_suits(parser, &part, want);
    }
    if (operand->kind != IR_OPERAND_VECTOR)
        return vector_suits(parser, operand, want, false, true, count);
    for (unsigned i = 0; i < operand->count; i++)
        if (!move_suits(parser, &operand->parts[i], want, false))
            return false;
    return operand->count == count;
}

static bool predicate_suits(const struct parser *parser, const struct ir_operand *operand)
{
    if (operand->kind == IR_OPERAND_IMM)
        return immediate_suits(operand, IR_PRED);
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
        return register_suits(parser, base, IR_B64, false)
                   ? class_of(check_operand_register(parser, base)->type) != CLASS_FLOAT
                   : register_suits(parser, base, IR_U32, false);
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
#undef IR_SHAPE
    };
    return columns[insn->shape] / (type == IR_F16X2 ? 4U : 2U);
}

/* A fragment of a matrix: {a, b}, also of one register. */
static bool fragment_suits(const struct parser *parser, const struct ir_operand *operand,
                           uint8_t want, unsigned count, bool result)
{
    if (operand->kind != IR_OPERAND_VECTOR || operand->count != count)
        return false;
    for (unsigned i = 0; i < count; i++)
        if (!(result && operand->parts[i].kind == IR_OPERAND_SINK) &&
            !register_suits(parser, &operand->parts[i], want, false))
            return false;
    return true;
}

/* Coordinates and offsets: 32-bit registers or immediates of any type. */
static bool coordinate_suits(const struct parser *parser, const struct ir_operand *operand)
{
    return source_suits(parser, operand, IR_B32, false) || immediate_suits(operand, IR_F32);
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
    return operand->kind == IR_OPERAND_PARAM || register_suits(parser, operand, IR_U64, false);
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
                 : !register_suits(parser, map, IR_B64, false) &&
                       !register_suits(parser, map, IR_U32, false))
        return false;
    if (at->kind != IR_OPERAND_VECTOR || at->count != opcodes_rank(insn->geometry))
        return false;
    for (unsigned i = 0; i < at->count; i++)
        if (!source_suits(parser, &at->parts[i], IR_U32, false))
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
        if (!source_suits(parser, &operand->parts[i], IR_U16, false))
            return false;
    return true;
}

static bool offset_suits(const struct parser *parser, const struct ir_insn *insn,
                         const struct ir_operand *operand)
{
    if (operand->kind != IR_OPERAND_VECTOR && insn->geometry != IR_1D && insn->geometry != IR_A1D)
        return false;
    return coordinates_suit(parser, operand);
}

static bool video_suits(const struct parser *parser, const struct ir_insn *insn,
                        const struct ir_operand *operand, bool result)
{
    if (operand->kind == IR_OPERAND_IMM)
        return !result && immediate_suits(operand, IR_U32);
    if (operand->kind != IR_OPERAND_REG || (operand->negate && (result || insn->op != IR_VMAD)))
        return false;
    const struct ir_register *reg = check_operand_register(parser, operand);
    if (reg->vector > 1 || !suits(IR_U32, reg->type, false))
        return false;
    char lanes = opcodes_text[insn->op][strlen(opcodes_text[insn->op]) - 1];
    bool simd = lanes == '2' || lanes == '4';
    if (!simd || operand->count == 0)
        return operand->component != IR_COMPONENT_SELECT;
    /* A selection names every part; a mask any of them. */
    return result || operand->count == (lanes == '2' ? 3 : 5);
}

static bool operand_suits(struct parser *parser, const struct ir_insn *insn,
                          const struct spec *spec, struct ir_operand *operand)
{
    uint8_t want = check_fix_type(insn, spec);
    bool sink = operand->kind == IR_OPERAND_SINK;
    bool is_vector = insn->vector > 1;
    if (check_fix_is_single(insn, spec, operand))
        operand = operand->parts;
    switch (spec->role) {
    case 'D':
        return sink || register_suits(parser, operand, want, spec->relaxed);
    case 'd':
    case 'r':
        return register_suits(parser, operand, want, spec->relaxed);
    case 'e':
        return register_suits(parser, operand, want, false) &&
               check_operand_register(parser, operand)->type == want;
    case 's':
        return source_suits(parser, operand, want, spec->relaxed) ||
               (address_value_suits(operand, want) && operand->count == 0) ||
               (insn->op == IR_CVT && special_suits(parser, operand, want));
    case 'i':
        return immediate_suits(operand, want);
    case 'm':
        return move_suits(parser, operand, want, insn->op == IR_MOV);
    case 'M':
        return register_suits(parser, operand, want, false) ||
               pack_suits(parser, operand, want, false);
    case 'p':
        return sink || (predicate_suits(parser, operand) && operand->kind == IR_OPERAND_REG &&
                        !operand->negate);
    case 'q':
        return predicate_suits(parser, operand);
    case 'a':
        return address_suits(parser, insn, operand);
    case 'v':
        return is_vector
                   ? (sink && insn->op == IR_ATOM) ||
                         vector_suits(parser, operand, want, spec->relaxed, false, insn->vector)
                   : sink || register_suits(parser, operand, want, spec->relaxed);
    case 'w':
        if (insn->op == IR_MOV)
            return move_vector_suits(parser, operand, want, insn->vector);
        return is_vector ? vector_suits(parser, operand, want, spec->relaxed, true, insn->vector)
                         : source_suits(parser, operand, want, spec->relaxed);
    case 'x':
        return vector_suits(parser, operand, want, false, false, insn->vector);
    case 'f':
    case 'F':
        return fragment_suits(parser, operand, want, spec->count, spec->role == 'F');
    case 'u':
        return fragment_suits(parser, operand, want, fragment_registers(insn, want), false);
    case 'g':
        return group_suits(parser, insn, operand);
    case 'G':
        return tensor_suits(parser, insn, operand);
    case 'I':
        return im2col_suits(parser, insn, operand);
    case 'o':
        return offset_suits(parser, insn, operand);
    case 'n':
        return register_suits(parser, operand, IR_U64, false) ||
               register_suits(parser, operand, IR_U32, false);
    case 'h':
        return register_suits(parser, operand, IR_B64, false);
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

bool check_operand(struct parser *parser, const struct ir_insn *insn, const struct spec *spec,
                   struct ir_operand *operand, bool fix)
{
    if (fix) {
        check_fix(parser, insn, spec, operand);
        return true;
    }
    return operand_suits(parser, insn, spec, operand);
}
