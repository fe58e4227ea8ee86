/* SPDX-License-Identifier: MIT */
/* Integer division. By zero the device gives all ones, for quotient and remainder; the most
 * negative number by -1 wraps. CPUs divide integers one at a time, so floats stand in: what they
 * give is exact, as is said at each. */
#include <stddef.h>

#include "ptx/ops/exec.h"
#include "ptx/ops/float_bits.h"
#include "ptx/ops/ops.h"
#include "ptx/read/ir.h"

/* --- 16 bits: a quotient that is no whole number is 2^-17 of itself or more from one, and a float
 * has 24 bits. */
OPS_INLINE uint32_t divide16(uint32_t a, uint32_t b)
{
    return (uint32_t)(int32_t)((float)(int32_t)a / (float)(int32_t)(b ? b : 1));
}

/* --- 32 bits, and 64 bits that hold no more --- */
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
#define FUSED(a, b, c) __builtin_fma(a, b, c)
#else
#define FUSED(a, b, c) ((a) * (b) + (c))
#endif
#define ROUNDING 0x1.8p52 /* in a sum with it a number is rounded to a whole one */

/* The quotient, or one less, and ROUNDING. The inverse has 23 bits, and after one step of Newton's
 * 46; it is then made 2^-42 of itself too small, so that the product is less than the quotient by
 * at most 2^-9. However FUSED rounds, that holds. */
OPS_INLINE double near_quotient(double a, double b)
{
    const double inverse = (double)(1.0F / (float)b);
    const double smaller = inverse * FUSED(-b, inverse, 2.0 - 0x1p-42);
    return FUSED(a, smaller, -0.5) + ROUNDING;
}
struct quotient {
    uint32_t whole, rest;
};
/* Of whole numbers: the two as doubles too. What `near` lacks shows in the rest. */
OPS_INLINE struct quotient divide32(uint32_t a, uint32_t b, double a_double, double b_double)
{
    const uint32_t near = (uint32_t)f64_bits(near_quotient(a_double, b_double));
    const uint32_t rest = a - near * b, more = rest >= b;
    return (struct quotient){near + more, more ? rest - b : rest};
}
OPS_INLINE struct quotient divide_u32(uint32_t a, uint32_t b)
{
    return divide32(a, b, (double)a, (double)b);
}
OPS_INLINE uint32_t magnitude(uint32_t a)
{
    return a >> 31 ? 0 - a : a;
}
/* With the sign that `negative` has in its bit 31. */
OPS_INLINE uint32_t with_sign(uint32_t a, uint32_t negative)
{
    return negative >> 31 ? 0 - a : a;
}

#define U16 ops_u16
#define S16(x) ((uint32_t)ops_s16(x))
OPS_2(div_u16, u32, u32, u32, U16(b) ? divide16(U16(a), U16(b)) : 0xffff)
OPS_2(rem_u16, u32, u32, u32, U16(b) ? U16(a) - divide16(U16(a), U16(b)) * U16(b) : 0xffff)
OPS_INLINE uint32_t divide_s16(uint32_t a, uint32_t b)
{
    return with_sign(divide16(magnitude(a), magnitude(b)), a ^ b);
}
OPS_2(div_s16, u32, u32, u32, U16(b) ? U16(divide_s16(S16(a), S16(b))) : 0xffff)
OPS_2(rem_s16, u32, u32, u32, U16(b) ? U16(S16(a) - divide_s16(S16(a), S16(b)) * S16(b)) : 0xffff)

OPS_INLINE uint32_t div_u32(uint32_t a, uint32_t b)
{
    return b ? divide_u32(a, b).whole : UINT32_MAX;
}
OPS_INLINE uint32_t rem_u32(uint32_t a, uint32_t b)
{
    return b ? divide_u32(a, b).rest : UINT32_MAX;
}
OPS_INLINE struct quotient divide_s32(int32_t a, int32_t b)
{
    return divide32(magnitude((uint32_t)a), magnitude((uint32_t)b), __builtin_fabs((double)a),
                    __builtin_fabs((double)b));
}
OPS_INLINE uint32_t div_s32(int32_t a, int32_t b)
{
    return b ? with_sign(divide_s32(a, b).whole, (uint32_t)(a ^ b)) : UINT32_MAX;
}
OPS_INLINE uint32_t rem_s32(int32_t a, int32_t b)
{
    return b ? with_sign(divide_s32(a, b).rest, (uint32_t)a) : UINT32_MAX;
}
/* The divisor is often the same for all lanes, and then so is its inverse. */
#define DIVIDE(name, L)                                                                            \
    static void run_##name(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)      \
    {                                                                                              \
        const lane_##L *a = ptx_in(warp, step->operand[1]);                                        \
        const lane_##L *b = ptx_in(warp, step->operand[2]), same = b[0];                           \
        uint32_t different = 0;                                                                    \
        OPS_LANES                                                                                  \
        {                                                                                          \
            different |= (uint32_t)(b[lane] ^ same);                                               \
        }                                                                                          \
        if (different) {                                                                           \
            OPS_STORE(warp, step, mask, u32, name(a[lane], b[lane]))                               \
        } else {                                                                                   \
            OPS_STORE(warp, step, mask, u32, name(a[lane], same))                                  \
        }                                                                                          \
    }
DIVIDE(div_u32, u32)
DIVIDE(rem_u32, u32)
DIVIDE(div_s32, s32)
DIVIDE(rem_s32, s32)

/* --- 64 bits: one lane at a time, but for values of 32 bits, which are what they often hold --- */
OPS_INLINE uint64_t quotient_u64(uint64_t a, uint64_t b)
{
    return b ? a / b : UINT64_MAX;
}
OPS_INLINE uint64_t remainder_u64(uint64_t a, uint64_t b)
{
    return b ? a % b : UINT64_MAX;
}
/* By -1 is negation, which C leaves undefined for the most negative number. */
OPS_INLINE uint64_t quotient_s64(uint64_t a, uint64_t b)
{
    if (b == 0)
        return UINT64_MAX;
    return b == UINT64_MAX ? 0 - a : (uint64_t)((int64_t)a / (int64_t)b);
}
OPS_INLINE uint64_t remainder_s64(uint64_t a, uint64_t b)
{
    if (b == 0)
        return UINT64_MAX;
    return b == UINT64_MAX ? 0 : (uint64_t)((int64_t)a % (int64_t)b);
}
OPS_INLINE double double_of(uint64_t bits32)
{
    return f64_of(bits32 | UINT64_C(0x4330000000000000)) - 0x1p52;
}
OPS_INLINE uint64_t bits_of(double whole)
{
    return f64_bits(whole + 0x1p52) ^ UINT64_C(0x4330000000000000);
}
OPS_INLINE uint64_t short_quotient(uint64_t a, uint64_t b)
{
    const double over = double_of(a), by = double_of(b);
    const double near = near_quotient(over, by) - ROUNDING, rest = over - near * by;
    return b ? bits_of(near + (rest >= by ? 1.0 : 0.0)) : UINT64_MAX;
}
OPS_INLINE uint64_t short_remainder(uint64_t a, uint64_t b)
{
    const double over = double_of(a), by = double_of(b);
    const double near = near_quotient(over, by) - ROUNDING, rest = over - near * by;
    return b ? bits_of(rest - (rest >= by ? by : 0.0)) : UINT64_MAX;
}
#define LONG(name, function, short_function)                                                       \
    static void name(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)            \
    {                                                                                              \
        const lane_u64 *a = ptx_in(warp, step->operand[1]);                                        \
        const lane_u64 *b = ptx_in(warp, step->operand[2]);                                        \
        uint64_t all = 0;                                                                          \
        OPS_LANES                                                                                  \
        {                                                                                          \
            all |= a[lane] | b[lane];                                                              \
        }                                                                                          \
        if (all >> 32 == 0) {                                                                      \
            OPS_STORE(warp, step, mask, u64, short_function(a[lane], b[lane]))                     \
        } else {                                                                                   \
            lane_u64 *to = ptx_out(warp, step->operand[0]);                                        \
            for (uint32_t left = mask; left; left &= left - 1) {                                   \
                const unsigned lane = (unsigned)__builtin_ctz(left);                               \
                to[lane] = function(a[lane], b[lane]);                                             \
            }                                                                                      \
        }                                                                                          \
    }
LONG(run_div_u64, quotient_u64, short_quotient)
LONG(run_rem_u64, remainder_u64, short_remainder)
LONG(run_div_s64, quotient_s64, short_quotient)
LONG(run_rem_s64, remainder_s64, short_remainder)

ptx_run *OPS_NAME(ops_divide)(const struct ir_insn *insn, union ptx_how *how, const char **reason)
{
    static ptx_run *const table[2][2][3] = {
        {{run_div_u16, run_div_u32, run_div_u64}, {run_div_s16, run_div_s32, run_div_s64}},
        {{run_rem_u16, run_rem_u32, run_rem_u64}, {run_rem_s16, run_rem_s32, run_rem_s64}},
    };
    const enum ops_size size = ops_size_of(insn->types[0]);
    (void)how;
    (void)reason;
    if ((insn->op != IR_DIV && insn->op != IR_REM) || size == OPS_OTHER)
        return NULL;
    return table[insn->op == IR_REM][ops_is_signed(insn->types[0])][size];
}
