/* SPDX-License-Identifier: MIT */
/* Integer division. By zero the device gives all ones, for quotient and remainder; the most
 * negative number by -1 wraps. CPUs divide integers one at a time, so floats stand in: what they
 * give is exact, as is said at each. */

#include "ptx/ops/ops.h"

OPS_INLINE uint32_t ones_if_zero(uint32_t b)
{
    return b ? 0 : UINT32_MAX;
}

/* --- Less than 2^24: the nearest float to a quotient is never beyond it on a whole number, which
 * is farther away than half a unit of the float's last place. */
OPS_INLINE uint32_t divide24(uint32_t a, uint32_t b)
{
    return (uint32_t)(int32_t)((float)(int32_t)a / (float)(int32_t)(b + !b));
}
OPS_INLINE uint32_t div_24(uint32_t a, uint32_t b)
{
    return divide24(a, b) | ones_if_zero(b);
}
OPS_INLINE uint32_t rem_24(uint32_t a, uint32_t b)
{
    return (a - divide24(a, b) * b) | ones_if_zero(b);
}
#define U16 ops_u16
#define S16(x) ((uint32_t)ops_s16(x))
OPS_2(div_u16, u32, u32, u32, U16(div_24(U16(a), U16(b))))
OPS_2(rem_u16, u32, u32, u32, U16(rem_24(U16(a), U16(b))))
OPS_2(div_s16, u32, u32, u32, U16(div_24(S16(a), S16(b))))
OPS_2(rem_s16, u32, u32, u32, U16(rem_24(S16(a), S16(b))))

/* --- 32 bits: the quotient in doubles. It is made a little larger, so that whole ones are not
 * rounded down when a half less is rounded. Others lack 2^-32 of themselves or more to the next
 * whole number, and do not reach it. */
OPS_INLINE double unsigned_of(uint32_t a)
{
    return (double)(int32_t)(a ^ UINT32_C(0x80000000)) + 0x1p31;
}
OPS_INLINE uint32_t divide32(uint32_t a, uint32_t b)
{
    const double near = F64_FUSED(unsigned_of(a) / unsigned_of(b), 1.0 + 0x1p-42, -0.5);
    return (uint32_t)f64_bits(near + F64_ROUNDING);
}
OPS_INLINE uint32_t signed32(uint32_t a, uint32_t b)
{
    const uint32_t sign = 0 - ((a ^ b) >> 31), minus_a = 0 - (a >> 31), minus_b = 0 - (b >> 31);
    return (divide32((a ^ minus_a) - minus_a, (b ^ minus_b) - minus_b) ^ sign) - sign;
}
OPS_2(div_u32, u32, u32, u32, divide32(a, b) | ones_if_zero(b))
OPS_2(rem_u32, u32, u32, u32, (a - divide32(a, b) * b) | ones_if_zero(b))
OPS_2(div_s32, u32, u32, u32, signed32(a, b) | ones_if_zero(b))
OPS_2(rem_s32, u32, u32, u32, (a - signed32(a, b) * b) | ones_if_zero(b))

/* --- 64 bits: one lane at a time, but for values below 2^50, which is what they mostly hold. The
 * quotient's nearest whole number is the right one or the next, and its product with the divisor is
 * exact: the rest shows which. */
#define F64_ROUNDING_BITS UINT64_C(0x4338000000000000)
OPS_INLINE double double_of(uint64_t a)
{
    return f64_of(a + F64_ROUNDING_BITS) - F64_ROUNDING;
}
OPS_INLINE uint64_t bits_of(double whole, uint64_t negative)
{
    const double with_sign = f64_of(f64_bits(whole) ^ (negative & F64_SIGN));
    return f64_bits(with_sign + F64_ROUNDING) - F64_ROUNDING_BITS;
}
struct quotient {
    double whole, rest;
};
OPS_INLINE struct quotient divide50(double a, double b)
{
    const double near = a / b + F64_ROUNDING - F64_ROUNDING, rest = F64_FUSED(-near, b, a);
    return (struct quotient){near - (rest < 0.0 ? 1.0 : 0.0), rest + (rest < 0.0 ? b : 0.0)};
}
#define MAGNITUDE(a) __builtin_fabs(double_of(a))
#define DIV_LONG_U(a, b) bits_of(divide50(double_of(a), double_of(b)).whole, 0)
#define REM_LONG_U(a, b) bits_of(divide50(double_of(a), double_of(b)).rest, 0)
#define DIV_LONG_S(a, b) bits_of(divide50(MAGNITUDE(a), MAGNITUDE(b)).whole, (a) ^ (b))
#define REM_LONG_S(a, b) bits_of(divide50(MAGNITUDE(a), MAGNITUDE(b)).rest, a)
/* Of a few lanes, by the processor. By -1 is negation, which C leaves undefined for the most
 * negative number. */
OPS_INLINE uint64_t one_div_u(uint64_t a, uint64_t b)
{
    return b ? a / b : UINT64_MAX;
}
OPS_INLINE uint64_t one_rem_u(uint64_t a, uint64_t b)
{
    return b ? a % b : UINT64_MAX;
}
OPS_INLINE uint64_t one_div_s(uint64_t a, uint64_t b)
{
    if (b == 0)
        return UINT64_MAX;
    return b == UINT64_MAX ? 0 - a : (uint64_t)((int64_t)a / (int64_t)b);
}
OPS_INLINE uint64_t one_rem_s(uint64_t a, uint64_t b)
{
    if (b == 0)
        return UINT64_MAX;
    return b == UINT64_MAX ? 0 : (uint64_t)((int64_t)a % (int64_t)b);
}
#define ONE_BY_ONE(L, one, extend)                                                                 \
    do {                                                                                           \
        lane_##L *few = ptx_out(warp, step->operand[0]);                                           \
        FOR_LANES (lane, mask)                                                                     \
            few[lane] = (lane_##L)one((uint64_t)(extend)a[lane], (uint64_t)(extend)b[lane]);       \
    } while (0)

#define LONG(name, one, lowest, result)                                                            \
    static void name(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)            \
    {                                                                                              \
        const lane_u64 *a = ptx_in(warp, step->operand[1]);                                        \
        const lane_u64 *b = ptx_in(warp, step->operand[2]);                                        \
        uint64_t all = 0;                                                                          \
        OPS_LANES                                                                                  \
        {                                                                                          \
            all |= (a[lane] - (lowest)) | (b[lane] - (lowest));                                    \
        }                                                                                          \
        if (all >> 50 == 0 && !ops_few(mask)) {                                                    \
            OPS_STORE(warp, step, mask, u64, b[lane] ? result(a[lane], b[lane]) : UINT64_MAX)      \
        } else {                                                                                   \
            ONE_BY_ONE(u64, one, uint64_t);                                                        \
        }                                                                                          \
    }
#define LOWEST_LONG (0 - (UINT64_C(1) << 49))
LONG(run_div_u64, one_div_u, 0, DIV_LONG_U)
LONG(run_rem_u64, one_rem_u, 0, REM_LONG_U)
LONG(run_div_s64, one_div_s, LOWEST_LONG, DIV_LONG_S)
LONG(run_rem_s64, one_rem_s, LOWEST_LONG, REM_LONG_S)

static const struct ops_row rows[] = {OPS_BY_TYPE(DIV, 0, div), OPS_BY_TYPE(REM, 0, rem)};

ptx_run *OPS_NAME(ops_divide)(const struct ir_insn *insn, union ptx_how *how)
{
    (void)how;
    return OPS_PICK(rows, insn, 0);
}
