/* SPDX-License-Identifier: MIT */
/* Video instructions on one value: bytes, halves or words of the sources, a second operation or a
 * merge with c. Intermediate results are exact. */

#include "ptx/ops/ops.h"

static int64_t selected(uint32_t value, unsigned selector, bool is_signed)
{
    if (selector >= IR_COMPONENT_B0 && selector <= IR_COMPONENT_B3) {
        const uint32_t byte = value >> (8 * (selector - IR_COMPONENT_B0)) & 0xff;
        return is_signed ? (int8_t)(uint8_t)byte : (int64_t)byte;
    }
    if (selector == IR_COMPONENT_H0 || selector == IR_COMPONENT_H1) {
        const uint32_t half = value >> (16 * (selector - IR_COMPONENT_H0)) & 0xffff;
        return is_signed ? (int16_t)(uint16_t)half : (int64_t)half;
    }
    return is_signed ? (int32_t)value : (int64_t)value;
}

static unsigned width_of(unsigned selector)
{
    if (selector >= IR_COMPONENT_B0 && selector <= IR_COMPONENT_B3)
        return 8;
    return selector == IR_COMPONENT_H0 || selector == IR_COMPONENT_H1 ? 16 : 32;
}

static int64_t clamped(int64_t value, unsigned width, bool is_signed)
{
    const int64_t most = (INT64_C(1) << (is_signed ? width - 1 : width)) - 1;
    const int64_t least = is_signed ? -most - 1 : 0;
    return value > most ? most : value < least ? least : value;
}

/* An average rounds its half away from zero. */
static int64_t operated(unsigned op, unsigned compare, bool wrap, int64_t a, int64_t b)
{
    const int64_t amount = wrap ? b & 31 : b > 32 ? 32 : b;
    switch (op) {
    case IR_VADD:
        return a + b;
    case IR_VSUB:
        return a - b;
    case IR_VAVRG2:
        return (a + b + (a + b >= 0)) >> 1;
    case IR_VABSDIFF:
        return a > b ? a - b : b - a;
    case IR_VMIN:
        return a < b ? a : b;
    case IR_VMAX:
        return a > b ? a : b;
    case IR_VSHL:
        return (int64_t)((uint64_t)a << amount);
    case IR_VSHR:
        return a >> amount;
    default:
        return ops_compared(compare, a < b, a == b, false);
    }
}

static uint32_t merged(unsigned selector, uint32_t value, uint32_t c)
{
    const unsigned width = width_of(selector);
    if (width == 32)
        return value;
    const unsigned index = selector - (width == 8 ? IR_COMPONENT_B0 : IR_COMPONENT_H0);
    const uint32_t field = (UINT32_C(1) << width) - 1;
    return (value & field) << (index * width) | (c & ~(field << (index * width)));
}

/* Devices deliver zero for a result that is saturated into an upper half. */
static bool vanishes(const struct how_video *how)
{
    return how->saturate && how->d == IR_COMPONENT_H1;
}

static void run_video(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const struct how_video how = step->how.video;
    const lane_u32 *a = ptx_in(warp, step->operand[1]), *b = ptx_in(warp, step->operand[2]);
    const lane_u32 *c = how.has_c ? ptx_in(warp, step->operand[3]) : a;
    uint32_t results[PTX_LANES];
    for (unsigned lane = 0; lane < PTX_LANES; lane++) {
        int64_t value =
            operated(how.op, how.compare, how.wrap, selected(a[lane], how.a, how.a_signed),
                     selected(b[lane], how.b, how.b_signed));
        if (how.saturate)
            value = clamped(value, width_of(how.d), how.d_signed);
        if (vanishes(&how))
            value = 0;
        uint32_t word = (uint32_t)(uint64_t)value;
        const bool less = how.d_signed ? (int32_t)word < (int32_t)c[lane] : word < c[lane];
        word = (uint32_t)ops_reduced(how.second, word, c[lane], less);
        results[lane] = merged(how.d, word, c[lane]);
    }
    OPS_STORE(warp, step, mask, u32, results[lane])
}

/* a * b + c, with 65 bits and more. */
static uint32_t multiplied(const struct how_video *how, int64_t a, int64_t b, uint32_t c)
{
    const bool is_signed = how->a_signed || how->b_signed || how->minus_product || how->minus_c;
    __int128 addend = is_signed || how->plus_one ? (int32_t)c : (__int128)c;
    __int128 product = (__int128)a * b;
    if (how->minus_product)
        product = -product;
    if (how->minus_c)
        addend = -addend;
    __int128 sum = product + addend + how->plus_one;
    sum >>= how->scale;
    if (how->saturate) {
        const __int128 most = is_signed ? INT32_MAX : (__int128)UINT32_MAX;
        const __int128 least = is_signed ? INT32_MIN : 0;
        sum = sum > most ? most : sum < least ? least : sum;
    }
    return (uint32_t)(unsigned __int128)sum;
}

static void run_vmad(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const struct how_video how = step->how.video;
    const lane_u32 *a = ptx_in(warp, step->operand[1]), *b = ptx_in(warp, step->operand[2]);
    const lane_u32 *c = ptx_in(warp, step->operand[3]);
    OPS_STORE(warp, step, mask, u32,
              multiplied(&how, selected(a[lane], how.a, how.a_signed),
                         selected(b[lane], how.b, how.b_signed), c[lane]))
}

static uint8_t selector_of(const struct ir_operand *operand)
{
    return operand->kind == IR_OPERAND_REG && operand->component >= IR_COMPONENT_B0
               ? operand->component
               : 0;
}

ptx_run *ops_video(const struct ir_insn *insn, union ptx_how *how)
{
    const struct ir_operand *operands = insn->operands;
    const bool is_set = insn->op == IR_VSET, is_mad = insn->op == IR_VMAD;
    if (insn->op < IR_VADD || insn->op > IR_VSET)
        return NULL;
    how->video = (struct how_video){
        .op = insn->op,
        .d = selector_of(&operands[0]),
        .a = selector_of(&operands[1]),
        .b = selector_of(&operands[2]),
        .compare = insn->compare,
        .second = insn->atomic,
        .scale = insn->mode == IR_SHR_7    ? 7
                 : insn->mode == IR_SHR_15 ? 15
                                           : 0,
        .d_signed = !is_set && ops_is_signed(insn->types[0]),
        .a_signed = ops_is_signed(insn->types[is_set ? 0 : 1]),
        .b_signed = ops_is_signed(insn->types[is_set ? 1 : 2]),
        .saturate = insn->saturate,
        .wrap = insn->mode == IR_WRAP,
        .plus_one = insn->po,
        .has_c = insn->count > 3,
        .minus_product = is_mad && operands[1].negate != operands[2].negate,
        .minus_c = is_mad && operands[3].negate,
    };
    return is_mad ? run_vmad : run_video;
}

/* Video instructions on two halves or four bytes: each part of the result is computed from a part
 * of a and one of b, or of the other where selectors say so; then merged with c, or added up. */

static uint32_t parts_of(const struct how_simd *how, uint32_t a, uint32_t b, uint32_t c)
{
    const unsigned count = how->four ? 4 : 2, width = 32 / count;
    const uint32_t field = (UINT32_C(1) << width) - 1;
    const unsigned part = how->four ? IR_COMPONENT_B0 : IR_COMPONENT_H0;
    const uint64_t both = (uint64_t)b << 32 | a;
    uint32_t result = c;
    for (unsigned i = 0; i < count; i++) {
        if (!(how->mask >> i & 1))
            continue;
        const unsigned from_a = how->a >> (4 * i) & 7, from_b = how->b >> (4 * i) & 7;
        int64_t value =
            operated(how->op, how->compare, false,
                     selected((uint32_t)(both >> (from_a * width)), part, how->a_signed),
                     selected((uint32_t)(both >> (from_b * width)), part, how->b_signed));
        if (how->saturate)
            value = clamped(value, width, how->d_signed);
        if (how->add)
            result += (uint32_t)(uint64_t)value;
        else
            result = (result & ~(field << (i * width))) | ((uint32_t)(uint64_t)value & field)
                                                              << (i * width);
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

ptx_run *ops_video_simd(const struct ir_insn *insn, union ptx_how *how)
{
    static const uint8_t operations[] = {IR_VADD, IR_VSUB, IR_VAVRG2, IR_VABSDIFF,
                                         IR_VMIN, IR_VMAX, IR_VSET};
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
