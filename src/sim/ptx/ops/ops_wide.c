/* SPDX-License-Identifier: MIT */
/* Integers: products whose upper half counts (.hi, .wide), with and without an addend; 24-bit
 * products. */
#include <stddef.h>

#include "ptx/ops/exec.h"
#include "ptx/ops/ops.h"
#include "ptx/read/ir.h"

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

static inline uint64_t high_u64(uint64_t a, uint64_t b)
{
    const uint64_t al = (uint32_t)a, ah = a >> 32, bl = (uint32_t)b, bh = b >> 32;
    const uint64_t low = al * bl, middle = ah * bl + (low >> 32), other = al * bh;
    return ah * bh + (middle >> 32) + (((middle & UINT32_MAX) + other) >> 32);
}
/* A negative factor counts as 2^64 more than it is. */
static inline uint64_t high_s64(uint64_t a, uint64_t b)
{
    return high_u64(a, b) - (a >> 63 ? b : 0) - (b >> 63 ? a : 0);
}
OPS_2(hi_u64, u64, u64, u64, high_u64(a, b))
OPS_2(hi_s64, u64, u64, u64, high_s64(a, b))
OPS_3(madhi_u64, u64, u64, u64, u64, high_u64(a, b) + c)
OPS_3(madhi_s64, u64, u64, u64, u64, high_s64(a, b) + c)

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
OPS_2(mul24lo_u, u32, u32, u32, product24_u(a, b))
OPS_2(mul24lo_s, u32, u32, u32, product24_s(a, b))
OPS_2(mul24hi_u, u32, u32, u32, product24_u(a, b) >> 16)
OPS_2(mul24hi_s, u32, u32, u32, product24_s(a, b) >> 16)
OPS_3(mad24lo_u, u32, u32, u32, u32, mul24lo_u(a, b) + c)
OPS_3(mad24lo_s, u32, u32, u32, u32, mul24lo_s(a, b) + c)
OPS_3(mad24hi_u, u32, u32, u32, u32, mul24hi_u(a, b) + c)
OPS_3(mad24hi_s, u32, u32, u32, u32, mul24hi_s(a, b) + c)
OPS_3(mad24hi_sat, u32, u32, u32, u32, add_saturated(mul24hi_s(a, b), c))

static ptx_run *select24(const struct ir_insn *insn, bool is_signed)
{
    const bool high = insn->half == IR_HI;
    if (insn->op == IR_MUL24) {
        if (high)
            return is_signed ? run_mul24hi_s : run_mul24hi_u;
        return is_signed ? run_mul24lo_s : run_mul24lo_u;
    }
    if (insn->saturate)
        return run_mad24hi_sat;
    if (high)
        return is_signed ? run_mad24hi_s : run_mad24hi_u;
    return is_signed ? run_mad24lo_s : run_mad24lo_u;
}

ptx_run *OPS_NAME(ops_wide)(const struct ir_insn *insn, union ptx_how *how, const char **reason)
{
    static ptx_run *const high[2][3] = {{run_hi_u16, run_hi_u32, run_hi_u64},
                                        {run_hi_s16, run_hi_s32, run_hi_s64}};
    static ptx_run *const mad_high[2][3] = {{run_madhi_u16, run_madhi_u32, run_madhi_u64},
                                            {run_madhi_s16, run_madhi_s32, run_madhi_s64}};
    static ptx_run *const wide[2][3] = {{run_wide_u16, run_wide_u32}, {run_wide_s16, run_wide_s32}};
    static ptx_run *const mad_wide[2][3] = {{run_madwide_u16, run_madwide_u32},
                                            {run_madwide_s16, run_madwide_s32}};
    (void)how;
    (void)reason;
    const enum ops_size size = ops_size_of(insn->types[0]);
    const bool is_signed = ops_is_signed(insn->types[0]);
    if (size == OPS_OTHER || insn->cc)
        return NULL;
    switch (insn->op) {
    case IR_MUL24:
    case IR_MAD24:
        return select24(insn, is_signed);
    case IR_MUL:
        return (insn->half == IR_WIDE ? wide : high)[is_signed][size];
    case IR_MAD:
        if (insn->saturate)
            return run_madhi_sat;
        return (insn->half == IR_WIDE ? mad_wide : mad_high)[is_signed][size];
    default:
        return NULL;
    }
}
