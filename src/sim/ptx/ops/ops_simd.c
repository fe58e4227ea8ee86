/* SPDX-License-Identifier: MIT */
/* Video instructions on two halves or four bytes: each part of the result is computed from a part
 * of a and one of b, or of the other where selectors say so; then merged with c, or added up. */
#include <stddef.h>

#include "ptx/ops/exec.h"
#include "ptx/ops/ops.h"
#include "ptx/read/ir.h"

enum simd { SIMD_ADD, SIMD_SUB, SIMD_AVERAGE, SIMD_ABSDIFF, SIMD_MIN, SIMD_MAX, SIMD_SET };

static int32_t part_of(uint32_t bits, unsigned width, bool is_signed)
{
    if (width == 8)
        return is_signed ? (int8_t)(uint8_t)bits : (int32_t)(bits & 0xff);
    return is_signed ? (int16_t)(uint16_t)bits : (int32_t)(bits & 0xffff);
}

static bool compared(unsigned compare, int32_t a, int32_t b)
{
    switch (compare) {
    case IR_EQ:
        return a == b;
    case IR_NE:
        return a != b;
    case IR_LT:
        return a < b;
    case IR_LE:
        return a <= b;
    case IR_GT:
        return a > b;
    default:
        return a >= b;
    }
}

/* An average rounds its half away from zero. */
static int32_t operated(const struct how_simd *how, int32_t a, int32_t b)
{
    switch (how->op) {
    case SIMD_ADD:
        return a + b;
    case SIMD_SUB:
        return a - b;
    case SIMD_AVERAGE:
        return (a + b + (a + b >= 0)) >> 1;
    case SIMD_ABSDIFF:
        return a > b ? a - b : b - a;
    case SIMD_MIN:
        return a < b ? a : b;
    case SIMD_MAX:
        return a > b ? a : b;
    default:
        return compared(how->compare, a, b);
    }
}

static uint32_t parts_of(const struct how_simd *how, uint32_t a, uint32_t b, uint32_t c)
{
    const unsigned count = how->four ? 4 : 2, width = 32 / count;
    const uint32_t field = (UINT32_C(1) << width) - 1;
    const int32_t most = (int32_t)(how->d_signed ? field >> 1 : field);
    const int32_t least = how->d_signed ? -most - 1 : 0;
    const uint64_t both = (uint64_t)b << 32 | a;
    uint32_t result = c;
    for (unsigned i = 0; i < count; i++) {
        if (!(how->mask >> i & 1))
            continue;
        const unsigned from_a = how->a >> (4 * i) & 7, from_b = how->b >> (4 * i) & 7;
        int32_t value =
            operated(how, part_of((uint32_t)(both >> (from_a * width)), width, how->a_signed),
                     part_of((uint32_t)(both >> (from_b * width)), width, how->b_signed));
        if (how->saturate)
            value = value > most ? most : value < least ? least : value;
        if (how->add)
            result += (uint32_t)value;
        else
            result = (result & ~(field << (i * width))) | ((uint32_t)value & field) << (i * width);
    }
    return result;
}

static void run_parts(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const struct how_simd how = step->how.simd;
    const lane_u32 *a = ptx_in(warp, step->operand[1]), *b = ptx_in(warp, step->operand[2]);
    const lane_u32 *c = ptx_in(warp, step->operand[3]);
    OPS_STORE(warp, step, mask, u32, parts_of(&how, a[lane], b[lane], c[lane]))
}

static uint16_t selection_of(const struct ir_operand *operand, uint16_t otherwise)
{
    return operand->kind == IR_OPERAND_REG && operand->component == IR_COMPONENT_SELECT
               ? (uint16_t)operand->offset
               : otherwise;
}

ptx_run *ops_simd(const struct ir_insn *insn, union ptx_how *how, const char **reason)
{
    static const uint8_t operations[] = {SIMD_ADD, SIMD_SUB, SIMD_AVERAGE, SIMD_ABSDIFF,
                                         SIMD_MIN, SIMD_MAX, SIMD_SET};
    (void)reason;
    if (insn->op < IR_VADD2 || insn->op > IR_VSET4 || insn->count < 4)
        return NULL;
    const bool four = insn->op >= IR_VADD4;
    const bool is_set = insn->op == IR_VSET2 || insn->op == IR_VSET4;
    const struct ir_operand *result = &insn->operands[0];
    how->simd = (struct how_simd){
        .op = operations[insn->op - (four ? IR_VADD4 : IR_VADD2)],
        .four = four,
        .a = selection_of(&insn->operands[1], four ? 0x3210 : 0x10),
        .b = selection_of(&insn->operands[2], four ? 0x7654 : 0x32),
        .mask = result->component == IR_COMPONENT_MASK ? (unsigned)result->offset & 15U : 15U,
        .compare = insn->compare,
        .d_signed = !is_set && ops_is_signed(insn->types[0]),
        .a_signed = ops_is_signed(insn->types[is_set ? 0 : 1]),
        .b_signed = ops_is_signed(insn->types[is_set ? 1 : 2]),
        .saturate = insn->saturate,
        .add = insn->atomic == IR_ATOM_ADD,
    };
    return run_parts;
}
