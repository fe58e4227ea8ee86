/* SPDX-License-Identifier: MIT */
/* Approximate functions beside those of ops_approx.c. The result is computed in double and rounded
 * once, which is within every bound of the ISA; the special values are those that C's functions
 * have, but for the NaN. */
#include <math.h>

#include "ptx/ops/ops.h"

/* Lanes that do not run are left out: these functions are not cheap. */
#define EACH(name, L, T, call)                                                                     \
    static void name(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)            \
    {                                                                                              \
        const lane_##L *from = ptx_in(warp, step->operand[1]);                                     \
        lane_##T *to = ptx_out(warp, step->operand[0]);                                            \
        for (unsigned lane = 0; lane < PTX_LANES; lane++) {                                        \
            const lane_##L a = from[lane];                                                         \
            if (ops_has(mask, lane))                                                               \
                to[lane] = call;                                                                   \
        }                                                                                          \
    }
static float ex2_of(float a)
{
    return (float)exp2((double)a);
}
static float tanh_of(float a)
{
    return (float)tanh((double)a);
}
EACH(run_tanh, f32, u32, f32_out(tanh_of(a)))

/* ex2 of f16 cuts off what a subnormal result cannot hold; that of bf16 is always .ftz. */
static float exponential_f16(float value)
{
    const float result = ex2_of(value);
    return result < 0x1p-14F ? truncf(result * 0x1p24F) * 0x1p-24F : result;
}
static float exponential_bf16(float value)
{
    return f32_flush(ex2_of(f32_flush(value)));
}
#define HALF(name, function, format)                                                               \
    static uint32_t name(uint32_t half)                                                            \
    {                                                                                              \
        return format##_bits(function(format##_float(half & 0xffff)));                             \
    }                                                                                              \
    EACH(run_##name, u32, u32, name(a))                                                            \
    EACH(run_##name##_x2, u32, u32, name(a) | name(a >> 16) << 16)
HALF(ex2_f16, exponential_f16, f16)
HALF(ex2_bf16, exponential_bf16, bf16)
HALF(tanh_f16, tanh_of, f16)
HALF(tanh_bf16, tanh_of, bf16)

/* A divisor beyond 2^126 has a reciprocal that is flushed: the quotient is zero, or a NaN. */
static uint32_t div_approx(float a, float b)
{
    const float magnitude = fabsf(b);
    if (magnitude > 0x1p126F && magnitude < INFINITY)
        return isfinite(a) ? f32_bits(copysignf(0.0F, a) * copysignf(1.0F, b)) : F32_NAN;
    return f32_out(a / b);
}
static uint32_t div_approx_ftz(float a, float b)
{
    const uint32_t bits = div_approx(f32_flush(a), f32_flush(b));
    return bits & F32_INFINITY ? bits : bits & F32_SIGN;
}
OPS_APPLY2(run_div_approx, div_approx, u32, f32, f32)
OPS_APPLY2(run_div_approx_ftz, div_approx_ftz, u32, f32, f32)

/* The gross double forms look at the upper 32 bits and deliver as many; subnormals count as zero.
 */
static uint64_t upper(double value)
{
    const uint64_t bits = f64_bits(value);
    if (value != value)
        return F64_NAN;
    if (!(bits & F64_INFINITY))
        return bits & F64_SIGN;
    if ((bits & F64_INFINITY) == F64_INFINITY)
        return bits;
    return (bits + UINT64_C(0x80000000)) & ~(uint64_t)UINT32_MAX;
}
static double upper_input(uint64_t bits)
{
    bits &= ~(uint64_t)UINT32_MAX;
    if (!(bits & F64_INFINITY))
        bits &= F64_SIGN;
    return f64_of(bits);
}
static uint64_t rsqrt_double(double value)
{
    const double result = 1.0 / sqrt(value);
    return result == result ? f64_bits(result) : F64_NAN;
}
EACH(run_rcp_gross, u64, u64, upper(1.0 / upper_input(a)))
EACH(run_rsqrt_gross, u64, u64, upper(1.0 / sqrt(upper_input(a))))
EACH(run_rsqrt_double, f64, u64, rsqrt_double(a))

#define HALVES(op, format, modifiers, name)                                                        \
    OPS_ROW(op, modifiers, OPS_T(format), name),                                                   \
        OPS_ROW(op, modifiers, OPS_T(format##X2), name##_x2)
static const struct ops_row rows[] = {
    HALVES(EX2, F16, 0, ex2_f16),
    HALVES(EX2, BF16, OPS_FTZ, ex2_bf16),
    HALVES(TANH, F16, 0, tanh_f16),
    HALVES(TANH, BF16, 0, tanh_bf16),
    OPS_ROW(TANH, 0, OPS_T(F32), tanh),
    OPS_ROW(RCP, OPS_FTZ, OPS_T(F64), rcp_gross),
    OPS_ROW(RSQRT, OPS_FTZ, OPS_T(F64), rsqrt_gross),
    OPS_ROW(RSQRT, 0, OPS_T(F64), rsqrt_double),
    OPS_ROW(DIV, 0, OPS_T(F32), div_approx),
    OPS_ROW(DIV, OPS_FTZ, OPS_T(F32), div_approx_ftz),
};

ptx_run *ops_math(const struct ir_insn *insn, union ptx_how *how)
{
    (void)how;
    return insn->approx ? OPS_PICK(rows, insn, ops_modifiers(insn)) : NULL;
}
