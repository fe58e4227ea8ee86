/* SPDX-License-Identifier: MIT */
/* setp and set of f16 and bf16, single and in pairs. */
#include "ptx/ops/ops_mask.h"

static float half_float(const struct how_compare *how, uint32_t half)
{
    if (how->is_bf16)
        return bf16_float(half);
    if (how->ftz && !(half & F16_INFINITY))
        half &= 0x8000;
    return f16_float(half);
}

/* Of the low halves, or the high ones. */
static uint32_t lanes_where(const struct how_compare *how, const lane_u32 *a, const lane_u32 *b,
                            unsigned shift)
{
    uint32_t bits = 0;
    for (unsigned lane = 0; lane < PTX_LANES; lane++) {
        const float left = half_float(how, a[lane] >> shift & 0xffff);
        const float right = half_float(how, b[lane] >> shift & 0xffff);
        const bool nan = left != left || right != right;
        bits |= (uint32_t)ops_compared(how->compare, left < right, left == right, nan) << lane;
    }
    return bits;
}

static void run_setp(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const struct how_compare *how = &step->how.compare;
    const unsigned first = how->first;
    const lane_u32 *a = ptx_in(warp, step->operand[first]);
    const lane_u32 *b = ptx_in(warp, step->operand[first + 1]);
    const uint32_t low = lanes_where(how, a, b, 0);
    if (!how->pair) {
        ops_setp_store(warp, ops_setp_of(step), low, mask);
        return;
    }
    const uint32_t high = lanes_where(how, a, b, 16);
    const uint32_t other = how->boolean ? ops_predicate(warp, step->operand[first + 2]) : 0;
    ops_set_predicate(warp, step->operand[0], ops_combine(how->boolean, low, other), mask);
    if (first > 1)
        ops_set_predicate(warp, step->operand[1], ops_combine(how->boolean, high, other), mask);
}

static void run_set(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const struct how_compare *how = &step->how.compare;
    const lane_u32 *a = ptx_in(warp, step->operand[1]), *b = ptx_in(warp, step->operand[2]);
    ops_set_store(warp, step, lanes_where(how, a, b, 0), mask);
}

/* Pairs give pairs of 1.0 or 0, as integers those of 16 ones or 0. */
static void run_set_pair(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const struct how_compare *how = &step->how.compare;
    const uint32_t one = ops_u16(how->yes);
    const lane_u32 *a = ptx_in(warp, step->operand[1]), *b = ptx_in(warp, step->operand[2]);
    const uint32_t other = how->boolean ? ops_predicate(warp, step->operand[3]) : 0;
    const uint32_t low = ops_combine(how->boolean, lanes_where(how, a, b, 0), other);
    const uint32_t high = ops_combine(how->boolean, lanes_where(how, a, b, 16), other);
    OPS_STORE(warp, step, mask, u32,
              (ops_has(low, lane) ? one : 0) | (ops_has(high, lane) ? one << 16 : 0))
}

ptx_run *ops_half_compare(const struct ir_insn *insn, union ptx_how *how)
{
    if (insn->op != IR_SETP && insn->op != IR_SET)
        return NULL;
    const unsigned type = insn->types[insn->op == IR_SET ? 1 : 0];
    const bool is_bf16 = type == IR_BF16 || type == IR_BF16X2;
    const bool pair = type == IR_F16X2 || type == IR_BF16X2;
    if (!is_bf16 && type != IR_F16 && type != IR_F16X2)
        return NULL;
    how->compare = (struct how_compare){.first = insn->destinations,
                                        .boolean = insn->boolean,
                                        .compare = insn->compare,
                                        .is_bf16 = is_bf16,
                                        .ftz = insn->ftz,
                                        .pair = pair,
                                        .yes = ops_set_true(insn->types[0])};
    if (insn->op == IR_SETP)
        return run_setp;
    return !how->compare.yes ? NULL : pair ? run_set_pair : run_set;
}
