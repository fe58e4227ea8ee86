/* SPDX-License-Identifier: MIT */
/* Integers: sums, low products, extremes, absolute values; 16, 32 and 64 bits, and pairs of 16. */

#include <stddef.h>

#include "ptx/ops/ops.h"

OPS_2(add_16, u32, u32, u32, ops_u16(a + b))
OPS_2(add_32, u32, u32, u32, a + b)
OPS_2(add_64, u64, u64, u64, a + b)
OPS_2(sub_16, u32, u32, u32, ops_u16(a - b))
OPS_2(sub_32, u32, u32, u32, a - b)
OPS_2(sub_64, u64, u64, u64, a - b)
OPS_2(mul_16, u32, u32, u32, ops_u16(a *b))
OPS_2(mul_32, u32, u32, u32, a *b)
OPS_2(mul_64, u64, u64, u64, a *b)
OPS_3(mad_16, u32, u32, u32, u32, ops_u16(a *b + c))
OPS_3(mad_32, u32, u32, u32, u32, a *b + c)
OPS_3(mad_64, u64, u64, u64, u64, a *b + c)

/* Overflow of a sum: the operands' signs agree and the result's differs. */
static inline uint32_t saturated(uint32_t a, uint32_t result, uint32_t overflow)
{
    const uint32_t limit = (a >> 31) + UINT32_C(0x7fffffff);
    return overflow >> 31 ? limit : result;
}
OPS_2(add_sat, u32, u32, u32, saturated(a, a + b, ~(a ^ b) & (a ^ (a + b))))
OPS_2(sub_sat, u32, u32, u32, saturated(a, a - b, (a ^ b) & (a ^ (a - b))))

/* What differs by type only: EACH(name, D, A) of a register's shape; X_s16 reads 16 bits. */
#define FAMILY(T, D, A, in, out)                                                                   \
    OPS_2(min_##T, D, A, A, out(in(a) < in(b) ? in(a) : in(b)))                                    \
    OPS_2(max_##T, D, A, A, out(in(a) > in(b) ? in(a) : in(b)))                                    \
    OPS_3(sad_##T, D, A, A, D,                                                                     \
          out(c + (lane_##D)(in(a) < in(b) ? (lane_##D)in(b) - (lane_##D)in(a)                     \
                                           : (lane_##D)in(a) - (lane_##D)in(b))))
#define SAME(x) (x)
#define LOW16(x) ops_u16((uint32_t)(x))
FAMILY(u16, u32, u32, ops_u16, LOW16)
FAMILY(s16, u32, u32, ops_s16, LOW16)
FAMILY(u32, u32, u32, SAME, SAME)
FAMILY(s32, u32, s32, SAME, SAME)
FAMILY(u64, u64, u64, SAME, SAME)
FAMILY(s64, u64, s64, SAME, SAME)

OPS_1(neg_16, u32, u32, ops_u16(0 - a))
OPS_1(neg_32, u32, u32, 0 - a)
OPS_1(neg_64, u64, u64, 0 - a)
OPS_1(abs_16, u32, u32, ops_s16(a) < 0 ? ops_u16(0 - a) : ops_u16(a))
OPS_1(abs_32, u32, u32, a >> 31 ? 0 - a : a)
OPS_1(abs_64, u64, u64, a >> 63 ? 0 - a : a)
#define POSITIVE(x) ((x) > 0 ? (x) : 0)
OPS_2(min_relu, u32, s32, s32, POSITIVE(a < b ? a : b))
OPS_2(max_relu, u32, s32, s32, POSITIVE(a > b ? a : b))

/* Two halves of 16 bits: each a case of the above. */
static inline uint32_t pair(uint32_t low, uint32_t high)
{
    return ops_u16(low) | high << 16;
}
#define HALVES(function) pair(function(a, b), function(a >> 16, b >> 16))
static inline uint32_t min_relu16(uint32_t a, uint32_t b)
{
    const int32_t least = ops_s16(a) < ops_s16(b) ? ops_s16(a) : ops_s16(b);
    return ops_u16((uint32_t)POSITIVE(least));
}
static inline uint32_t max_relu16(uint32_t a, uint32_t b)
{
    const int32_t most = ops_s16(a) > ops_s16(b) ? ops_s16(a) : ops_s16(b);
    return ops_u16((uint32_t)POSITIVE(most));
}
OPS_2(add_16x2, u32, u32, u32, HALVES(add_16))
OPS_2(sub_16x2, u32, u32, u32, HALVES(sub_16))
OPS_2(min_u16x2, u32, u32, u32, HALVES(min_u16))
OPS_2(max_u16x2, u32, u32, u32, HALVES(max_u16))
OPS_2(min_s16x2, u32, u32, u32, HALVES(min_s16))
OPS_2(max_s16x2, u32, u32, u32, HALVES(max_s16))
OPS_2(min_relu_s16x2, u32, u32, u32, HALVES(min_relu16))
OPS_2(max_relu_s16x2, u32, u32, u32, HALVES(max_relu16))

/* Integers: products whose upper half counts (.hi, .wide), with and without an addend; 24-bit
 * products. */

/* 16 bits: the whole product fits a slot. */
OPS_2(wide_u16, u32, u32, u32, ops_u16(a) * ops_u16(b))
OPS_2(wide_s16, u32, u32, u32, ops_s16(a) * ops_s16(b))
OPS_2(hi_u16, u32, u32, u32, wide_u16(a, b) >> 16)
OPS_2(hi_s16, u32, u32, u32, wide_s16(a, b) >> 16)
OPS_3(madwide_u16, u32, u32, u32, u32, wide_u16(a, b) + c)
OPS_3(madwide_s16, u32, u32, u32, u32, wide_s16(a, b) + c)
OPS_3(madhi_u16, u32, u32, u32, u32, ops_u16(hi_u16(a, b) + c))
OPS_3(madhi_s16, u32, u32, u32, u32, ops_u16(hi_s16(a, b) + c))

OPS_2(wide_u32, u64, u32, u32, (uint64_t)a *b)
OPS_2(wide_s32, u64, s32, s32, (int64_t)a *b)
OPS_2(hi_u32, u32, u32, u32, wide_u32(a, b) >> 32)
OPS_2(hi_s32, u32, s32, s32, wide_s32(a, b) >> 32)
OPS_3(madwide_u32, u64, u32, u32, u64, wide_u32(a, b) + c)
OPS_3(madwide_s32, u64, s32, s32, u64, wide_s32(a, b) + c)
OPS_3(madhi_u32, u32, u32, u32, u32, hi_u32(a, b) + c)
OPS_3(madhi_s32, u32, s32, s32, u32, hi_s32(a, b) + c)

static inline uint32_t add_saturated(uint32_t a, uint32_t b)
{
    const int64_t sum = (int64_t)(int32_t)a + (int32_t)b;
    return sum > INT32_MAX   ? UINT32_C(0x7fffffff)
           : sum < INT32_MIN ? UINT32_C(0x80000000)
                             : (uint32_t)(uint64_t)sum;
}
OPS_3(madhi_sat, u32, s32, s32, u32, add_saturated(hi_s32(a, b), c))

OPS_2(hi_u64, u64, u64, u64, ops_high_product(a, b, false))
OPS_2(hi_s64, u64, u64, u64, ops_high_product(a, b, true))
OPS_3(madhi_u64, u64, u64, u64, u64, ops_high_product(a, b, false) + c)
OPS_3(madhi_s64, u64, u64, u64, u64, ops_high_product(a, b, true) + c)

/* 24-bit factors: bits 0-31 or 16-47 of the product. */
static inline uint64_t product24_u(uint32_t a, uint32_t b)
{
    return (uint64_t)(a & 0xffffff) * (b & 0xffffff);
}
static inline uint64_t product24_s(uint32_t a, uint32_t b)
{
    const int32_t left = (int32_t)(a << 8) >> 8, right = (int32_t)(b << 8) >> 8;
    return (uint64_t)((int64_t)left * right);
}
OPS_2(mul24lo_u32, u32, u32, u32, product24_u(a, b))
OPS_2(mul24lo_s32, u32, u32, u32, product24_s(a, b))
OPS_2(mul24hi_u32, u32, u32, u32, product24_u(a, b) >> 16)
OPS_2(mul24hi_s32, u32, u32, u32, product24_s(a, b) >> 16)
OPS_3(mad24lo_u32, u32, u32, u32, u32, mul24lo_u32(a, b) + c)
OPS_3(mad24lo_s32, u32, u32, u32, u32, mul24lo_s32(a, b) + c)
OPS_3(mad24hi_u32, u32, u32, u32, u32, mul24hi_u32(a, b) + c)
OPS_3(mad24hi_s32, u32, u32, u32, u32, mul24hi_s32(a, b) + c)
OPS_3(mad24hi_sat, u32, u32, u32, u32, add_saturated(mul24hi_s32(a, b), c))

#define PAIRS (OPS_T(U16X2) | OPS_T(S16X2))
static const struct ops_row rows[] = {
    OPS_BY_SIZE(ADD, 0, add),
    OPS_BY_SIZE(SUB, 0, sub),
    OPS_BY_SIZE(MUL, 0, mul),
    OPS_BY_SIZE(MAD, 0, mad),
    OPS_BY_SIZE(NEG, 0, neg),
    OPS_BY_SIZE(ABS, 0, abs),
    OPS_BY_TYPE(MIN, 0, min),
    OPS_BY_TYPE(MAX, 0, max),
    OPS_BY_TYPE(SAD, 0, sad),
    OPS_ROW(ADD, OPS_SAT, OPS_S32, add_sat),
    OPS_ROW(SUB, OPS_SAT, OPS_S32, sub_sat),
    OPS_ROW(MIN, OPS_RELU, OPS_S32, min_relu),
    OPS_ROW(MAX, OPS_RELU, OPS_S32, max_relu),
    OPS_ROW(ADD, 0, PAIRS, add_16x2),
    OPS_ROW(SUB, 0, PAIRS, sub_16x2),
    OPS_ROW(MIN, 0, OPS_T(U16X2), min_u16x2),
    OPS_ROW(MAX, 0, OPS_T(U16X2), max_u16x2),
    OPS_ROW(MIN, 0, OPS_T(S16X2), min_s16x2),
    OPS_ROW(MAX, 0, OPS_T(S16X2), max_s16x2),
    OPS_ROW(MIN, OPS_RELU, OPS_T(S16X2), min_relu_s16x2),
    OPS_ROW(MAX, OPS_RELU, OPS_T(S16X2), max_relu_s16x2),
    OPS_BY_TYPE(MUL, OPS_HIGH, hi),
    OPS_BY_TYPE(MAD, OPS_HIGH, madhi),
    OPS_ROW(MAD, OPS_HIGH | OPS_SAT, OPS_S32, madhi_sat),
    OPS_BY_SIGN(MUL, OPS_WIDE, wide, 16),
    OPS_BY_SIGN(MUL, OPS_WIDE, wide, 32),
    OPS_BY_SIGN(MAD, OPS_WIDE, madwide, 16),
    OPS_BY_SIGN(MAD, OPS_WIDE, madwide, 32),
    OPS_BY_SIGN(MUL24, 0, mul24lo, 32),
    OPS_BY_SIGN(MUL24, OPS_HIGH, mul24hi, 32),
    OPS_BY_SIGN(MAD24, 0, mad24lo, 32),
    OPS_BY_SIGN(MAD24, OPS_HIGH, mad24hi, 32),
    OPS_ROW(MAD24, OPS_HIGH | OPS_SAT, OPS_S32, mad24hi_sat),
};

ptx_run *OPS_NAME(ops_int)(const struct ir_insn *insn, union ptx_how *how)
{
    (void)how;
    if (insn->cc || opcodes_class(insn->types[0]) > CLASS_PAIR)
        return NULL;
    return OPS_PICK(rows, insn, ops_modifiers(insn));
}
