/* SPDX-License-Identifier: MIT */
/* setp and set of f16 and bf16, single and in pairs. */
#include "ptx/ops/exec.h"
#include "ptx/ops/half.h"
#include "ptx/ops/ops.h"
#include "ptx/ops/ops_mask.h"
#include "ptx/read/ir.h"

/* step->extra: the comparison, and how the operands are read. */
struct half_compare {
    uint8_t compare, is_bf16, ftz, pair;
};
union packed {
    struct half_compare how;
    uint64_t extra;
};

static bool compared(unsigned compare, float a, float b)
{
    const bool unordered = a != a || b != b;
    switch (compare) {
    case IR_EQ:
        return a == b;
    case IR_NE:
        return a != b && !unordered;
    case IR_LT:
        return a < b;
    case IR_LE:
        return a <= b;
    case IR_GT:
        return a > b;
    case IR_GE:
        return a >= b;
    case IR_EQU:
        return a == b || unordered;
    case IR_NEU:
        return a != b;
    case IR_LTU:
        return a < b || unordered;
    case IR_LEU:
        return a <= b || unordered;
    case IR_GTU:
        return a > b || unordered;
    case IR_GEU:
        return a >= b || unordered;
    case IR_NUM:
        return !unordered;
    default:
        return unordered;
    }
}

static float half_float(const struct half_compare *how, uint32_t half)
{
    if (how->is_bf16)
        return bf16_float(half);
    if (how->ftz && !(half & F16_INFINITY))
        half &= 0x8000;
    return f16_float(half);
}

/* Of the low halves, or the high ones. */
static uint32_t lanes_where(const struct half_compare *how, const lane_u32 *a, const lane_u32 *b,
                            unsigned shift)
{
    uint32_t bits = 0;
    for (unsigned lane = 0; lane < PTX_LANES; lane++) {
        const float left = half_float(how, a[lane] >> shift & 0xffff);
        const float right = half_float(how, b[lane] >> shift & 0xffff);
        bits |= (uint32_t)compared(how->compare, left, right) << lane;
    }
    return bits;
}

static void run_setp(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const union packed packed = {.extra = step->extra};
    const unsigned first = OPS_SETP_FIRST(step->detail), boolean = step->detail >> 2;
    const lane_u32 *a = ptx_in(warp, step->operand[first]);
    const lane_u32 *b = ptx_in(warp, step->operand[first + 1]);
    const uint32_t low = lanes_where(&packed.how, a, b, 0);
    if (!packed.how.pair) {
        ops_setp_store(warp, step, low, mask);
        return;
    }
    const uint32_t high = lanes_where(&packed.how, a, b, 16);
    const uint32_t other = boolean ? ops_predicate(warp, step->operand[first + 2]) : 0;
    ops_set_predicate(warp, step->operand[0], ops_combine(boolean, low, other), mask);
    if (first > 1)
        ops_set_predicate(warp, step->operand[1], ops_combine(boolean, high, other), mask);
}

static void run_set(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const union packed packed = {.extra = step->extra};
    const lane_u32 *a = ptx_in(warp, step->operand[1]), *b = ptx_in(warp, step->operand[2]);
    ops_set_store(warp, step, lanes_where(&packed.how, a, b, 0), mask);
}

/* Pairs give pairs of 1.0 or 0. */
static void run_set_pair(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const union packed packed = {.extra = step->extra};
    const uint32_t one = packed.how.is_bf16 ? 0x3f80 : 0x3c00;
    const lane_u32 *a = ptx_in(warp, step->operand[1]), *b = ptx_in(warp, step->operand[2]);
    const uint32_t other = step->detail ? ops_predicate(warp, step->operand[3]) : 0;
    const uint32_t low = ops_combine(step->detail, lanes_where(&packed.how, a, b, 0), other);
    const uint32_t high = ops_combine(step->detail, lanes_where(&packed.how, a, b, 16), other);
    OPS_STORE(warp, step, mask, u32,
              (ops_has(low, lane) ? one : 0) | (ops_has(high, lane) ? one << 16 : 0))
}

ptx_run *ops_half_compare(const struct ir_insn *insn, struct ptx_step *step, const char **reason)
{
    union packed packed = {.extra = 0};
    (void)reason;
    if (insn->op != IR_SETP && insn->op != IR_SET)
        return NULL;
    const unsigned type = insn->types[insn->op == IR_SET ? 1 : 0];
    packed.how.compare = insn->compare;
    packed.how.is_bf16 = type == IR_BF16 || type == IR_BF16X2;
    packed.how.pair = type == IR_F16X2 || type == IR_BF16X2;
    packed.how.ftz = insn->ftz;
    if (!packed.how.is_bf16 && type != IR_F16 && type != IR_F16X2)
        return NULL;
    step->extra = packed.extra;
    if (insn->op == IR_SETP) {
        step->detail = ops_setp_detail(insn);
        return run_setp;
    }
    if (packed.how.pair) {
        step->detail = insn->boolean;
        return run_set_pair;
    }
    return ops_set_detail(insn, &step->detail) ? run_set : NULL;
}
