/* SPDX-License-Identifier: MIT */
/* sin, cos, lg2, ex2, rsqrt of float for whole warps. The result is what C's function of double
 * gives, rounded once. Here a polynomial comes close to it, and where that leaves open which float
 * is the nearest one, once in 2^19 lanes, C's function is asked: so no bit depends on the
 * polynomial, nor on the instruction set. */
#include <math.h>

#include "ptx/ops/approx.h"

/* The result for `a`; where a function has special values, they go before `close`. */
OPS_INLINE float plain_value(float a, double close)
{
    (void)a;
    return (float)close;
}
OPS_INLINE float number_value(float a, double close)
{
    return a == a ? (float)close : a;
}
OPS_INLINE float lg2_value(float a, double close)
{
    const float positive = a == INFINITY ? INFINITY : (float)close;
    const float signless = a == 0.0F ? -INFINITY : positive;
    return a >= 0.0F ? signless : NAN;
}
OPS_INLINE float rsqrt_value(float a, double close)
{
    const float finite = a == INFINITY ? 0.0F : (float)close;
    return a == 0.0F ? __builtin_copysignf(INFINITY, a) : finite;
}
OPS_INLINE uint32_t nowhere(float a)
{
    (void)a;
    return 0;
}
static double inverse_root(double a)
{
    return 1.0 / sqrt(a);
}

/* Bit 31 of `apart` is set where C's function is asked in any case. */
#define VARIANT(name, exact, close_to, within, value, apart, in, out)                              \
    static __attribute__((noinline)) void name##_exactly(const lane_f32 *from, double *close,      \
                                                         uint32_t mask)                            \
    {                                                                                              \
        for (unsigned lane = 0; lane < PTX_LANES; lane++) {                                        \
            const float a = in(from[lane]);                                                        \
            if (ops_has(mask, lane) && (near_middle(close[lane]) >> 63 | apart(a) >> 31))          \
                close[lane] = exact((double)a);                                                    \
        }                                                                                          \
    }                                                                                              \
    static void name(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)            \
    {                                                                                              \
        const lane_f32 *from = ptx_in(warp, step->operand[1]);                                     \
        double close[PTX_LANES] __attribute__((aligned(64)));                                      \
        uint64_t open = 0;                                                                         \
        uint32_t asked = 0;                                                                        \
        if (ops_few(mask)) {                                                                       \
            lane_u32 *few = ptx_out(warp, step->operand[0]);                                       \
            for (uint32_t left = mask; left; left &= left - 1) {                                   \
                const unsigned lane = (unsigned)__builtin_ctz(left);                               \
                few[lane] = out((float)exact((double)in(from[lane])));                             \
            }                                                                                      \
            return;                                                                                \
        }                                                                                          \
        OPS_LANES                                                                                  \
        {                                                                                          \
            const float a = in(from[lane]);                                                        \
            const double near = close_to((double)within(a));                                       \
            close[lane] = near;                                                                    \
            open |= near_middle(near);                                                             \
            asked |= apart(a);                                                                     \
        }                                                                                          \
        if (__builtin_expect((open >> 63 | asked >> 31) != 0, 0))                                  \
            name##_exactly(from, close, mask);                                                     \
        OPS_STORE(warp, step, mask, u32, out(value(in(from[lane]), close[lane])))                  \
    }
#define FUNCTION(name, exact, within, value, apart)                                                \
    VARIANT(run_##name, exact, name##_close, within, value, apart, f32_same, f32_out)              \
    VARIANT(run_##name##_ftz, exact, name##_close, within, value, apart, f32_flush, f32_out_ftz)
FUNCTION(sin, sin, f32_same, plain_value, large_angle)
FUNCTION(cos, cos, f32_same, plain_value, large_angle)
FUNCTION(ex2, exp2, ex2_within, number_value, ex2_subnormal)
FUNCTION(lg2, log2, f32_same, lg2_value, nowhere)
FUNCTION(rsqrt, inverse_root, f32_same, rsqrt_value, nowhere)

#define BOTH(op, name)                                                                             \
    OPS_ROW(op, 0, OPS_T(F32), name), OPS_ROW(op, OPS_FTZ, OPS_T(F32), name##_ftz)
static const struct ops_row rows[] = {BOTH(SIN, sin), BOTH(COS, cos), BOTH(EX2, ex2),
                                      BOTH(LG2, lg2), BOTH(RSQRT, rsqrt)};

ptx_run *OPS_NAME(ops_approx)(const struct ir_insn *insn, union ptx_how *how)
{
    (void)how;
    return OPS_PICK(rows, insn, ops_modifiers(insn));
}
