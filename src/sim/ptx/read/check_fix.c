/* SPDX-License-Identifier: MIT */
/* Operands in their final shape, once their form is chosen. */
#include "ptx/read/check.h"

void check_fix_immediate(struct ir_operand *operand, uint8_t want)
{
    double number;
    float single;
    uint32_t bits32;
    unsigned size = opcodes_type_size(want);
    if (operand->component == LITERAL_F64 && want == IR_F32) {
        memcpy(&number, &operand->bits, sizeof number);
        single = (float)number;
        memcpy(&bits32, &single, sizeof bits32);
        operand->bits = bits32;
    } else if (operand->component == LITERAL_F32 && want == IR_F64) {
        bits32 = (uint32_t)operand->bits;
        memcpy(&single, &bits32, sizeof single);
        number = (double)single;
        memcpy(&operand->bits, &number, sizeof number);
    } else if (want == IR_PRED) {
        operand->bits = operand->bits != 0;
    } else if (size < 8) {
        operand->bits &= (UINT64_C(1) << 8 * size) - 1;
    }
    operand->component = 0;
}

static void fix_parts(struct ir_operand *operand, uint8_t want)
{
    for (unsigned i = 0; i < operand->count; i++) {
        struct ir_operand *part = &operand->parts[i];
        if (part->kind == IR_OPERAND_IMM)
            check_fix_immediate(part,
                                part->component == LITERAL_F64 && want == IR_B32 ? IR_F32 : want);
        else if (part->kind == IR_OPERAND_VECTOR)
            fix_parts(part, want);
        else
            part->count = 0;
    }
}

static void fix_video(const struct ir_insn *insn, struct ir_operand *operand, bool result)
{
    char lanes = opcodes_text[insn->op][strlen(opcodes_text[insn->op]) - 1];
    if ((lanes == '2' || lanes == '4') && operand->count > 0) {
        int64_t mask = 0;
        if (operand->component >= IR_COMPONENT_H0 && operand->component < IR_COMPONENT_SELECT)
            operand->offset = operand->component - IR_COMPONENT_H0;
        else if (operand->component < IR_COMPONENT_SELECT)
            operand->offset = operand->component - IR_COMPONENT_B0;
        for (int i = 0; i + 1 < operand->count; i++)
            mask |= INT64_C(1) << (operand->offset >> 4 * i & 15);
        operand->component = result ? IR_COMPONENT_MASK : IR_COMPONENT_SELECT;
        if (result)
            operand->offset = mask;
    } else {
        operand->offset = 0;
    }
    operand->count = 0;
}

/* What has parts becomes {r.x, r.y, r.z, r.w}. */
static void fix_whole(struct parser *parser, struct ir_operand *operand, uint8_t count)
{
    struct ir_operand *parts = parse_alloc(parser, count * sizeof *parts);
    if (!parts)
        return;
    for (uint8_t i = 0; i < count; i++) {
        parts[i] = *operand;
        parts[i].component = i;
    }
    *operand = (struct ir_operand){.kind = IR_OPERAND_VECTOR, .count = count, .parts = parts};
}

/* One value becomes {value, 0, ...}. */
static void fix_lone(struct parser *parser, struct ir_operand *operand, uint8_t count)
{
    if (operand->kind == IR_OPERAND_VECTOR && operand->count == count)
        return;
    struct ir_operand *parts = parse_alloc(parser, count * sizeof *parts);
    if (!parts)
        return;
    parts[0] = operand->kind == IR_OPERAND_VECTOR ? operand->parts[0] : *operand;
    for (uint8_t i = 1; i < count; i++)
        parts[i] = (struct ir_operand){.kind = IR_OPERAND_IMM};
    *operand = (struct ir_operand){.kind = IR_OPERAND_VECTOR, .count = count, .parts = parts};
}

/* x[2] becomes [x + 8]. */
static void fix_index(struct parser *parser, struct ir_operand *operand)
{
    struct ir_operand *base = parse_alloc(parser, sizeof *base);
    if (!base)
        return;
    *base = *operand;
    base->offset = 0;
    base->count = 0;
    *operand = (struct ir_operand){
        .kind = IR_OPERAND_ADDRESS, .count = 1, .parts = base, .offset = operand->offset};
}

void check_fix(struct parser *parser, const struct ir_insn *insn, const struct spec *spec,
               struct ir_operand *operand)
{
    uint8_t want = spec->role == 'q' ? IR_PRED : check_operand_type(insn, spec);
    bool pack = spec->role == 'm' || spec->role == 'M';
    bool vector_place = pack || spec->role == 'v' || spec->role == 'w' || spec->role == 'x';
    if (spec->role == 'y' || spec->role == 'z') {
        if (operand->kind == IR_OPERAND_IMM)
            check_fix_immediate(operand, IR_U32);
        else
            fix_video(insn, operand, spec->role == 'z');
        return;
    }
    if (spec->role == 'g' || spec->role == 'G' || spec->role == 'o')
        want = IR_B32;
    if (check_operand_is_single(insn, spec, operand))
        *operand = operand->parts[0];
    switch (operand->kind) {
    case IR_OPERAND_IMM:
        check_fix_immediate(operand, want != IR_NONE ? want : IR_B64);
        break;
    case IR_OPERAND_REG:
        if (vector_place && check_operand_register(parser, operand)->vector > 1 &&
            operand->count == 0)
            fix_whole(parser, operand, check_operand_register(parser, operand)->vector);
        else
            operand->count = 0;
        break;
    case IR_OPERAND_VECTOR:
        if (pack) {
            unsigned each = opcodes_type_size(want) / operand->count;
            want = each == 1 ? IR_B8 : each == 2 ? IR_B16 : each == 4 ? IR_B32 : IR_B64;
        }
        fix_parts(operand, want);
        break;
    case IR_OPERAND_GROUP:
    case IR_OPERAND_ADDRESS:
        fix_parts(operand, operand->kind == IR_OPERAND_GROUP ? IR_B32 : IR_B64);
        break;
    case IR_OPERAND_SPECIAL:
        if (spec->role == 'w' && insn->vector > 1 && operand->count == 0)
            fix_whole(parser, operand, (uint8_t)symbol_special_parts(operand->index));
        else
            operand->count = 0;
        break;
    default:
        if (check_operand_is_symbol(operand) && spec->role == 'a')
            fix_index(parser, operand);
        else if (check_operand_is_symbol(operand))
            operand->count = 0;
        break;
    }
    if (insn->op == IR_MOV && spec->role == 'w')
        fix_lone(parser, operand, insn->vector);
}
