/* SPDX-License-Identifier: MIT */
/* Integer division. By zero the device gives all ones, for quotient and remainder; the most
 * negative number by -1 wraps. CPUs divide integers one at a time, so floats stand in: what they
 * give is exact, as is said at each. */
#include <stddef.h>

#include "ptx/ops/exec.h"
#include "ptx/ops/float_bits.h"
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

/* --- 32 bits --- */
#define MORE (1.0 + 0x1p-42)

/* The quotient of whole numbers up to 2^32, and F64_ROUNDING. It is made a little larger, so that
 * whole ones are not rounded down when a half less is rounded. Others lack 2^-32 of themselves or
 * more to the next whole number, and do not reach it. */
OPS_INLINE double divide32(double a, double b, bool same)
{
    /* Where b is the same for all, so is MORE / b. */
    return (same ? F64_FUSED(a, MORE / b, -0.5) : F64_FUSED(a / b, MORE, -0.5)) + F64_ROUNDING;
}
/* Two lanes are one of 64 bits, so that none changes its place on the way to double and back.
 * `sign`: 0, or the sign's bit in both halves; then magnitudes are divided. */
OPS_INLINE double half_of(uint64_t half, uint64_t sign)
{
    const double above = f64_of((half & UINT32_MAX) | UINT64_C(0x4330000000000000)); /* by 2^52 */
    return sign ? __builtin_fabs(above - (0x1p52 + 0x1p31)) : above - 0x1p52;
}
OPS_INLINE void divide_pairs(const lane_u64 *a, const lane_u64 *b, bool same, uint64_t sign,
                             uint64_t *to)
{
    OPS_UNORDERED
    for (unsigned pair = 0; pair < PTX_LANES / 2; pair++) {
        const uint64_t over = a[pair] ^ sign, by = b[same ? 0 : pair] ^ sign;
        const double low = divide32(half_of(over, sign), half_of(by, sign), same);
        const double high = divide32(half_of(over >> 32, sign), half_of(by >> 32, sign), same);
        to[pair] = (f64_bits(low) & UINT32_MAX) | f64_bits(high) << 32;
    }
}
OPS_INLINE bool all_same(const lane_u32 *b)
{
    const uint32_t same = b[0];
    uint32_t different = b[1] ^ same; /* which mostly says it */
    if (!different)
        OPS_LANES different |= b[lane] ^ same;
    return !different;
}
OPS_INLINE uint32_t with_sign(uint32_t a, uint32_t b, uint32_t quotient)
{
    return (a ^ b) >> 31 ? 0 - quotient : quotient;
}
#define DIV_U(a, b, quotient) ((quotient) | ones_if_zero(b))
#define DIV_S(a, b, quotient) (with_sign(a, b, quotient) | ones_if_zero(b))
#define REM_U(a, b, quotient) (((a) - (quotient) * (b)) | ones_if_zero(b))
#define REM_S(a, b, quotient) (((a)-with_sign(a, b, quotient) * (b)) | ones_if_zero(b))

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

/* `lowest`: 2^24 numbers from there on are those of `low`. */
#define DIVIDE(name, one, extend, lowest, low, sign, result)                                       \
    static void name(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)            \
    {                                                                                              \
        const lane_u32 *a = ptx_in(warp, step->operand[1]);                                        \
        const lane_u32 *b = ptx_in(warp, step->operand[2]);                                        \
        const lane_u64 *over = (const lane_u64 *)a, *by = (const lane_u64 *)b;                     \
        uint64_t pairs[PTX_LANES / 2] __attribute__((aligned(64)));                                \
        const lane_u32 *quotient = (const lane_u32 *)pairs;                                        \
        uint32_t all = 0;                                                                          \
        if (ops_few(mask)) {                                                                       \
            ONE_BY_ONE(u32, one, extend);                                                          \
            return;                                                                                \
        }                                                                                          \
        OPS_LANES                                                                                  \
        {                                                                                          \
            all |= (a[lane] - (lowest)) | (b[lane] - (lowest));                                    \
        }                                                                                          \
        if (all >> 24 == 0) {                                                                      \
            OPS_STORE(warp, step, mask, u32, low(a[lane], b[lane]))                                \
            return;                                                                                \
        }                                                                                          \
        if (all_same(b)) /* and so is the inverse */                                               \
            divide_pairs(over, by, true, sign, pairs);                                             \
        else                                                                                       \
            divide_pairs(over, by, false, sign, pairs);                                            \
        OPS_STORE(warp, step, mask, u32, result(a[lane], b[lane], quotient[lane]))                 \
    }
#define SIGNS UINT64_C(0x8000000080000000)
#define LOWEST UINT32_C(0xff800000) /* -2^23 */
DIVIDE(run_div_u32, one_div_u, uint32_t, 0, div_24, 0, DIV_U)
DIVIDE(run_rem_u32, one_rem_u, uint32_t, 0, rem_24, 0, REM_U)
DIVIDE(run_div_s32, one_div_s, int32_t, LOWEST, div_24, SIGNS, DIV_S)
DIVIDE(run_rem_s32, one_rem_s, int32_t, LOWEST, rem_24, SIGNS, REM_S)

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

ptx_run *OPS_NAME(ops_divide)(const struct ir_insn *insn, union ptx_how *how, const char **reason)
{
    (void)how;
    (void)reason;
    return OPS_PICK(rows, insn, 0);
}
