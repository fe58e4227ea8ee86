/* SPDX-License-Identifier: MIT */
/* Rules that no table of forms can say: spaces of named addresses, ranges of numbers. */
#include "ptx/read/check.h"

/* These functions return what is wrong, in words that take the instruction's name; NULL: nothing.
 */
#define REPORTED "" /* is said already */

static const char *check_store(const struct parser *parser, const struct ir_insn *insn)
{
    const struct ir_operand *base = insn->operands[0].parts;
    if (base->kind == IR_OPERAND_PARAM)
        return "Illegal to write to function input parameter in '%.*s'";
    if (check_address_space(parser, base) == PTX_SPACE_CONST)
        return "State space incorrect for instruction '%.*s'";
    return NULL;
}

/* .lo .hs and the like are for unsigned types, .num for floats; bits know only equality. */
static const char *check_comparison(const struct reading *reading, const struct ir_insn *insn)
{
    uint8_t type = insn->op == IR_SET ? insn->types[1] : insn->types[0];
    bool is_float = opcodes_class(type) == CLASS_FLOAT, is_bits = opcodes_class(type) == CLASS_BITS;
    bool is_unsigned = opcodes_class(type) == CLASS_INTEGER && !opcodes_types[type].is_signed;
    bool unsigned_name = check_mode_has(reading, "lo") || check_mode_has(reading, "ls") ||
                         check_mode_has(reading, "hi") || check_mode_has(reading, "hs");
    if ((unsigned_name && !is_unsigned) || (insn->compare >= IR_EQU && !is_float) ||
        (is_bits && insn->compare != IR_EQ && insn->compare != IR_NE))
        return "Mismatch between instruction type and comparison qualifier in '%.*s'";
    return NULL;
}

/* 32 bytes wide only where the device can; never more. */
static const char *check_width(const struct parser *parser, const struct ir_insn *insn)
{
    unsigned bytes = opcodes_type_size(insn->types[0]) * insn->vector;
    bool global = insn->space == PTX_SPACE_GLOBAL || insn->space == PTX_SPACE_GENERIC;
    bool new_width = bytes <= 32 && global && (insn->op == IR_LD || insn->op == IR_ST);
    if (bytes <= 16 && insn->vector <= 4)
        return NULL;
    if (!new_width)
        return "Vector operand too wide for instruction '%.*s'";
    if (parser->version < 808)
        return "Feature '256 bit wide load/store' requires PTX ISA .version "
               "8.8 or later, in '%.*s'";
    if (parser->target < 100)
        return "Feature '256 bit wide load/store' requires .target sm_100 or higher, in "
               "'%.*s'";
    return NULL;
}

static const char out_of_range[] = "Immediate operand out of range for instruction '%.*s'";

static const char *at_most(const struct ir_operand *operand, uint64_t most)
{
    return operand->kind != IR_OPERAND_IMM || operand->bits <= most ? NULL : out_of_range;
}

static const char *check_barrier(const struct ir_insn *insn)
{
    if (insn->count == 0 || insn->mode == IR_BAR_WARP_SYNC)
        return NULL;
    for (uint8_t i = (uint8_t)(insn->destinations + 1); i < insn->count; i++) {
        const struct ir_operand *threads = &insn->operands[i];
        bool last = insn->mode >= IR_BAR_RED_POPC && i + 1 == insn->count; /* a predicate */
        if (insn->mode == IR_BAR_ARRIVE && threads->kind == IR_OPERAND_IMM && threads->bits == 0)
            return "Number of threads must not be zero in '%.*s'";
        if (!last && threads->kind == IR_OPERAND_IMM && threads->bits % 32 != 0)
            return "Number of threads must be a multiple of the warp size in '%.*s'";
    }
    return at_most(&insn->operands[insn->destinations], 15);
}

static bool has_prefix(const struct reading *reading, const char *prefix)
{
    size_t length = strlen(prefix);
    for (uint32_t i = 0; i < reading->modifier_count; i++)
        if (reading->words[i].length > length &&
            memcmp(reading->words[i].text, prefix, length) == 0)
            return true;
    return false;
}

/* Hints to the caches are for global memory, and for weak accesses without another hint. */
static const char *check_hints(const struct reading *reading, const struct ir_insn *insn)
{
    bool first = has_prefix(reading, "L1::"), second = has_prefix(reading, "L2::evict");
    bool other = has_prefix(reading, "L2::");
    bool global = insn->space == PTX_SPACE_GLOBAL || insn->space == PTX_SPACE_GENERIC;
    bool operation = check_mode_has(reading, "ca") || check_mode_has(reading, "cg") ||
                     check_mode_has(reading, "cs") || check_mode_has(reading, "lu") ||
                     check_mode_has(reading, "cv") || check_mode_has(reading, "wb") ||
                     check_mode_has(reading, "wt");
    if ((first || other) && !global)
        return "Cache hint cannot be applied to this space in '%.*s'";
    if (operation && insn->order != IR_ORDER_WEAK)
        return "Cache operation cannot be combined with an order in '%.*s'";
    if (insn->order == IR_ORDER_VOLATILE && insn->space == PTX_SPACE_CONST)
        return "State space incorrect for instruction '%.*s'";
    if (first && (operation || insn->order == IR_ORDER_VOLATILE))
        return "Cache hints cannot be combined in instruction '%.*s'";
    if (second && insn->vector * opcodes_type_size(insn->types[0]) != 32)
        return "Instruction '%.*s' requires '.v8.b32/.v4.b64' type with this cache hint";
    return NULL;
}

static const char *check_value(struct parser *parser, const struct reading *reading,
                               const struct ir_insn *insn, uint8_t index, bool good,
                               const char *expected)
{
    if (!good)
        parse_error(parser, reading->line,
                    "Argument %u of instruction '%.*s': unexpected value '%d', expected to be %s",
                    index, (int)reading->mnemonic.length, reading->mnemonic.text,
                    (int)(int32_t)insn->operands[index].bits, expected);
    return good ? NULL : REPORTED;
}

/* An order and its scope come together. */
static const char *check_mbarrier(struct parser *parser, const struct reading *reading,
                                  const struct ir_insn *insn)
{
    bool order = check_mode_has(reading, "release") || check_mode_has(reading, "relaxed") ||
                 check_mode_has(reading, "acquire");
    if (order != (insn->scope != IR_SCOPE_NONE))
        return order ? "Scope modifier required for instruction '%.*s'"
                     : "Order modifier required for instruction '%.*s'";
    const struct ir_operand *phase = insn->count > 2 ? &insn->operands[2] : NULL;
    if (check_mode_has(reading, "parity") && phase && phase->kind == IR_OPERAND_IMM)
        return check_value(parser, reading, insn, 2, phase->bits <= 1, "0 or 1");
    bool arrive = insn->mode == IR_MB_ARRIVE || insn->mode == IR_MB_ARRIVE_DROP;
    if (arrive && phase && phase->kind == IR_OPERAND_IMM && phase->bits == 0 &&
        !check_mode_has(reading, "expect_tx"))
        return check_value(parser, reading, insn, 2, false, "positive");
    if (arrive && insn->cluster && insn->operands[0].kind != IR_OPERAND_SINK)
        return "Sink '_' expected as destination of '%.*s'";
    return NULL;
}

/* Without .sync they ended with PTX 6.4 and sm_70. */
static const char *check_sync(const struct parser *parser, const struct ir_insn *insn)
{
    if (insn->sync || parser->version < 604 || parser->target < 70)
        return NULL;
    return "Instruction '%.*s' without '.sync' is not supported on .target sm_70 and higher "
           "from PTX ISA version 6.4";
}

/* .relaxed and .acquire name their scope; weak accesses have none. */
static const char *check_order(const struct ir_insn *insn)
{
    bool strong = insn->order == IR_ORDER_RELAXED || insn->order == IR_ORDER_ACQUIRE ||
                  insn->order == IR_ORDER_RELEASE;
    if (strong && insn->scope == IR_SCOPE_NONE)
        return "Scope modifier required for instruction '%.*s'";
    if (!strong && insn->scope != IR_SCOPE_NONE)
        return "Scope modifier not allowed for instruction '%.*s'";
    if (insn->order == IR_ORDER_VOLATILE &&
        (insn->space == PTX_SPACE_LOCAL || insn->space == PTX_SPACE_PARAM))
        return "Modifier .volatile cannot be applied to this space in '%.*s'";
    if (strong && (insn->space == PTX_SPACE_CONST || insn->space == PTX_SPACE_LOCAL ||
                   insn->space == PTX_SPACE_PARAM))
        return "State space incorrect for instruction '%.*s'";
    return NULL;
}

static const char *check_bulk(const struct ir_insn *insn)
{
    const struct ir_operand *size = &insn->operands[insn->mode == IR_CP_PREFETCH ? 1 : 2];
    return insn->count < 2 || size->kind != IR_OPERAND_IMM || size->bits % 16 == 0
               ? NULL
               : "Size of instruction '%.*s' expected to be a multiple of 16";
}

static const char *check_copy(const struct reading *reading, const struct ir_insn *insn)
{
    if (insn->count < 3)
        return NULL;
    uint64_t size = insn->operands[2].bits;
    bool good = check_mode_has(reading, "cg") ? size == 16 : size == 4 || size == 8 || size == 16;
    if (!good)
        return "Illegal copy size for instruction '%.*s'";
    if (insn->count > 3)
        return at_most(&insn->operands[3], size);
    return NULL;
}

/* The map's dimension, its modes, and how many bytes are copied. */
static const char *check_tensormap(const struct ir_insn *insn)
{
    static const uint8_t most[] = {[IR_MAP_BOX] = 4,
                                   [IR_MAP_SIZE] = 4,
                                   [IR_MAP_STRIDE] = 3,
                                   [IR_MAP_STEP] = 4,
                                   [IR_MAP_TYPE] = PTX_TENSOR_TYPES - 1,
                                   [IR_MAP_INTERLEAVE] = 2,
                                   [IR_MAP_SWIZZLE] = 3,
                                   [IR_MAP_FILL] = 1};
    if (insn->mode == IR_MAP_COPY)
        return insn->operands[2].bits == 128 ? NULL : out_of_range;
    return insn->mode < IR_MAP_BOX ? NULL : at_most(&insn->operands[1], most[insn->mode]);
}

/* But for the oldest ones, a lies by rows and b by columns. */
static const char *check_layouts(const struct ir_insn *insn)
{
    const uint8_t type = insn->types[insn->type_count == 4 ? 1 : 0];
    bool any = insn->op == IR_MMA ? insn->shape == IR_M8N8K4 && type != IR_F64
                                  : type != IR_S4 && type != IR_U4 && type != IR_B1;
    return any || insn->columns == 1 ? NULL
                                     : "Illegal combination of modifiers for instruction '%.*s'";
}

/* Which lanes have the metadata of a sparse matrix. */
static const char *check_selector(struct parser *parser, const struct reading *reading,
                                  const struct ir_insn *insn, uint8_t index)
{
    static const char *const expected[] = {"0", "0 or 1", "", "in range [0..3]"};
    const uint8_t type = insn->types[1];
    const bool is_wide = type == IR_F16 || type == IR_BF16 || type == IR_TF32;
    const unsigned registers = insn->op == IR_MMA ? insn->operands[1].count : 4; /* of a */
    const unsigned last = (is_wide ? 8 : 4) / registers - 1;
    return check_value(parser, reading, insn, index, insn->operands[index].bits <= last,
                       expected[last]);
}

/* Behind d, a, b, the metadata and the predicate: the signs of a and b, then which of them are
 * transposed. */
static const char *check_wgmma(struct parser *parser, const struct reading *reading,
                               const struct ir_insn *insn)
{
    const uint8_t signs = insn->sparse ? 6 : 4;
    const char *wrong = insn->sparse ? check_selector(parser, reading, insn, 4) : NULL;
    for (uint8_t i = signs; i < insn->count && !wrong; i++) {
        const int32_t value = (int32_t)insn->operands[i].bits;
        wrong = i < signs + 2
                    ? check_value(parser, reading, insn, i, value == 1 || value == -1, "-1 or 1")
                    : check_value(parser, reading, insn, i, value == 0 || value == 1, "0 or 1");
    }
    return wrong;
}

/* .sat is for results that cannot have each value of the source. */
static const char *check_conversion(const struct reading *reading, const struct ir_insn *insn)
{
    const uint8_t to = insn->types[0], from = insn->types[1];
    const bool to_sign = opcodes_types[to].is_signed, from_sign = opcodes_types[from].is_signed;
    if (opcodes_class(to) != CLASS_INTEGER || opcodes_class(from) != CLASS_INTEGER ||
        !check_mode_has(reading, "sat") || (from_sign && !to_sign))
        return NULL;
    const unsigned wide = opcodes_type_size(to), narrow = opcodes_type_size(from);
    if (wide < narrow || (wide == narrow && to_sign != from_sign))
        return NULL;
    return "Illegal modifier .sat for instruction '%.*s'";
}

/* Of the accesses, more than none and at most all. */
static const char *check_fraction(const struct reading *reading, const struct ir_insn *insn)
{
    const uint32_t one = 0x3F800000; /* of positive floats the bits are in order */
    const struct ir_operand *part = insn->count == 2 ? &insn->operands[1] : NULL;
    if (!part || part->kind != IR_OPERAND_IMM || !check_mode_has(reading, "fractional") ||
        (part->bits > 0 && part->bits <= one))
        return NULL;
    return out_of_range;
}

static const char *check_registers(const struct ir_insn *insn)
{
    const uint64_t count = insn->operands[0].bits;
    return count >= 24 && count <= 256 && count % 8 == 0
               ? NULL
               : "Number of registers out of range in instruction '%.*s'";
}

static const char *check_one(struct parser *parser, const struct reading *reading,
                             struct ir_insn *insn)
{
    const struct ir_operand *operands = insn->operands;
    const char *wrong = NULL;
    switch (insn->op) {
    case IR_SET:
    case IR_SETP:
        return check_comparison(reading, insn);
    case IR_LD:
    case IR_ST:
        wrong = check_order(insn);
        if (!wrong)
            wrong = check_width(parser, insn);
        if (!wrong && insn->op == IR_ST)
            wrong = check_store(parser, insn);
        return wrong ? wrong : check_hints(reading, insn);
    case IR_LDU:
    case IR_MOV:
    case IR_SUST:
    case IR_SULD:
    case IR_ST_ASYNC:
        return check_width(parser, insn);
    case IR_ATOM:
        wrong = check_hints(reading, insn);
        if (!wrong && insn->vector == 1 && operands[1].kind == IR_OPERAND_ADDRESS &&
            operands[1].parts->kind == IR_OPERAND_PARAM)
            wrong = "State space incorrect for instruction '%.*s'";
        return wrong;
    case IR_RED:
        wrong = check_hints(reading, insn);
        return wrong ? wrong : check_store(parser, insn);
    case IR_BAR:
    case IR_BARRIER:
        return check_barrier(insn);
    case IR_CVT:
        return check_conversion(reading, insn);
    case IR_CVTA:
        return check_address_pointer(parser, reading, insn) ? NULL : REPORTED;
    case IR_PMEVENT:
        return check_mode_has(reading, "mask") ? NULL : at_most(&operands[0], 15);
    case IR_CREATEPOLICY:
        return check_fraction(reading, insn);
    case IR_SETMAXNREG:
        return check_registers(insn);
    case IR_LOP3:
        insn->operands[insn->boolean != IR_ATOM_NONE ? 5 : 4].bits &= 255;
        return NULL;
    case IR_CP_ASYNC:
        return check_copy(reading, insn);
    case IR_ST_BULK:
        return operands[2].bits == 0 ? NULL : out_of_range;
    case IR_FENCE:
        return insn->count == 0 || operands[1].bits == 128 ? NULL : out_of_range;
    case IR_TENSORMAP:
        return check_tensormap(insn);
    case IR_CP_REDUCE:
    case IR_CP_BULK:
        return check_bulk(insn);
    case IR_SHFL:
    case IR_VOTE:
        return check_sync(parser, insn);
    case IR_MBARRIER:
        return check_mbarrier(parser, reading, insn);
    case IR_MMA:
    case IR_WMMA:
        wrong = check_layouts(insn);
        return wrong || !insn->sparse ? wrong : check_selector(parser, reading, insn, 5);
    case IR_WGMMA:
        return check_wgmma(parser, reading, insn);
    case IR_WGMMA_SYNC:
        return insn->count == 0
                   ? NULL
                   : check_value(parser, reading, insn, 0, (int32_t)operands[0].bits >= 0,
                                 "non-negative integer");
    case IR_DISCARD:
    case IR_APPLYPRIORITY:
        return operands[1].bits == 128 ? NULL
                                       : "Argument 1 of instruction '%.*s' expected to be 128";
    default:
        return NULL;
    }
}

bool check_semantics(struct parser *parser, const struct reading *reading, struct ir_insn *insn)
{
    if (parser->reader->stop || !check_address(parser, reading, insn))
        return false;
    const char *wrong = check_one(parser, reading, insn);
    return !wrong || (*wrong != '\0' && parse_refuse(parser, reading, wrong));
}
