/* SPDX-License-Identifier: MIT */
/* Sums, products, quotients and roots of float, pairs of floats, and double: included once by
 * ops_float.c, to round to nearest, and once by ops_round.c, whose functions run under a directed
 * rounding mode. */
#ifndef CUSHIM_SIM_PTX_OPS_OPS_ARITH_H
#define CUSHIM_SIM_PTX_OPS_OPS_ARITH_H

#include <math.h>

#include "ptx/ops/ops.h"

/* Each in four variants: plain, .ftz, .sat, .ftz.sat. */
#define F32_1(name, value)                                                                         \
    static inline float name##_f32(float a)                                                        \
    {                                                                                              \
        return value;                                                                              \
    }                                                                                              \
    OPS_1(name##_plain, u32, f32, f32_out(name##_f32(a)))                                          \
    OPS_1(name##_ftz, u32, f32, f32_out_ftz(name##_f32(f32_flush(a))))
#define F32_2(name, value)                                                                         \
    static inline float name##_f32(float a, float b)                                               \
    {                                                                                              \
        return value;                                                                              \
    }                                                                                              \
    OPS_2(name##_plain, u32, f32, f32, f32_out(name##_f32(a, b)))                                  \
    OPS_2(name##_ftz, u32, f32, f32, f32_out_ftz(name##_f32(f32_flush(a), f32_flush(b))))          \
    OPS_2(name##_sat, u32, f32, f32, f32_out_sat(name##_f32(a, b)))                                \
    OPS_2(name##_ftz_sat, u32, f32, f32, f32_out_ftz_sat(name##_f32(f32_flush(a), f32_flush(b))))
#define F32_3(name, value)                                                                         \
    static inline float name##_f32(float a, float b, float c)                                      \
    {                                                                                              \
        return value;                                                                              \
    }                                                                                              \
    OPS_3(name##_plain, u32, f32, f32, f32, f32_out(name##_f32(a, b, c)))                          \
    OPS_3(name##_ftz, u32, f32, f32, f32,                                                          \
          f32_out_ftz(name##_f32(f32_flush(a), f32_flush(b), f32_flush(c))))                       \
    OPS_3(name##_sat, u32, f32, f32, f32, f32_out_sat(name##_f32(a, b, c)))                        \
    OPS_3(name##_ftz_sat, u32, f32, f32, f32,                                                      \
          f32_out_ftz_sat(name##_f32(f32_flush(a), f32_flush(b), f32_flush(c))))
F32_2(add, a + b)
F32_2(sub, a - b)
F32_2(mul, a *b)
F32_2(div, a / b)
F32_3(fma, __builtin_fmaf(a, b, c))
F32_1(rcp, 1.0F / a)
F32_1(sqrt, __builtin_sqrtf(a))

/* .f32x2: a register of 64 floats, of which every lane has two neighbours. */
#define PAIRS OPS_UNORDERED for (unsigned i = 0; i < 2 * PTX_LANES; i++)
#define PAIR_STORE(call)                                                                           \
    lane_u32 *to = ptx_out(warp, step->operand[0]);                                                \
    if (mask == PTX_FULL) {                                                                        \
        PAIRS                                                                                      \
        {                                                                                          \
            to[i] = call;                                                                          \
        }                                                                                          \
    } else {                                                                                       \
        PAIRS                                                                                      \
        {                                                                                          \
            const lane_u32 blend = call;                                                           \
            to[i] = ops_has(mask, i / 2) ? blend : to[i];                                          \
        }                                                                                          \
    }
#define PAIR_2(name)                                                                               \
    static void run_##name##_x2(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask) \
    {                                                                                              \
        const lane_f32 *a = ptx_in(warp, step->operand[1]);                                        \
        const lane_f32 *b = ptx_in(warp, step->operand[2]);                                        \
        PAIR_STORE(name(a[i], b[i]))                                                               \
    }
#define PAIR_3(name)                                                                               \
    static void run_##name##_x2(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask) \
    {                                                                                              \
        const lane_f32 *a = ptx_in(warp, step->operand[1]);                                        \
        const lane_f32 *b = ptx_in(warp, step->operand[2]);                                        \
        const lane_f32 *c = ptx_in(warp, step->operand[3]);                                        \
        PAIR_STORE(name(a[i], b[i], c[i]))                                                         \
    }
PAIR_2(add_plain)
PAIR_2(add_ftz)
PAIR_2(sub_plain)
PAIR_2(sub_ftz)
PAIR_2(mul_plain)
PAIR_2(mul_ftz)
PAIR_3(fma_plain)
PAIR_3(fma_ftz)

/* .f32.f16, .f32.bf16: the halves are floats, exactly; the sum is one of floats. */
#define MIXED(half, format)                                                                        \
    OPS_2(add_##half, u32, u32, f32, add_plain(format##_float(a & 0xffff), b))                     \
    OPS_2(add_##half##_sat, u32, u32, f32, add_sat(format##_float(a & 0xffff), b))                 \
    OPS_2(sub_##half, u32, u32, f32, sub_plain(format##_float(a & 0xffff), b))                     \
    OPS_2(sub_##half##_sat, u32, u32, f32, sub_sat(format##_float(a & 0xffff), b))                 \
    OPS_3(fma_##half, u32, u32, u32, f32,                                                          \
          fma_plain(format##_float(a & 0xffff), format##_float(b & 0xffff), c))                    \
    OPS_3(fma_##half##_sat, u32, u32, u32, f32,                                                    \
          fma_sat(format##_float(a & 0xffff), format##_float(b & 0xffff), c))
MIXED(with_f16, f16)
MIXED(with_bf16, bf16)

/* The compiler may swap the operands of a commutative operation, and with them the NaN that comes
 * out; so NaNs, which are rare, are put right in a second pass. */
#define F64_STORE(value, nan, ...)                                                                 \
    lane_f64 results[PTX_LANES];                                                                   \
    uint64_t nans = 0;                                                                             \
    OPS_LANES                                                                                      \
    {                                                                                              \
        __VA_ARGS__;                                                                               \
        const double result = value;                                                               \
        results[lane] = result;                                                                    \
        nans |= result == result ? 0 : UINT64_MAX;                                                 \
    }                                                                                              \
    for (unsigned lane = 0; nans && lane < PTX_LANES; lane++) {                                    \
        __VA_ARGS__;                                                                               \
        if (results[lane] != results[lane])                                                        \
            results[lane] = f64_of(nan);                                                           \
    }                                                                                              \
    OPS_STORE(warp, step, mask, f64, results[lane])
#define F64_1(name, value)                                                                         \
    static void run_##name##_f64(struct ptx_warp *warp, const struct ptx_step *step,               \
                                 uint32_t mask)                                                    \
    {                                                                                              \
        const lane_f64 *as = ptx_in(warp, step->operand[1]);                                       \
        F64_STORE(value, f64_nan2(f64_bits(a), 0), const double a = as[lane])                      \
    }
#define F64_2(name, value)                                                                         \
    static void run_##name##_f64(struct ptx_warp *warp, const struct ptx_step *step,               \
                                 uint32_t mask)                                                    \
    {                                                                                              \
        const lane_f64 *as = ptx_in(warp, step->operand[1]);                                       \
        const lane_f64 *bs = ptx_in(warp, step->operand[2]);                                       \
        F64_STORE(value, f64_nan2(f64_bits(a), f64_bits(b)), const double a = as[lane],            \
                  b = bs[lane])                                                                    \
    }
#define F64_3(name, value)                                                                         \
    static void run_##name##_f64(struct ptx_warp *warp, const struct ptx_step *step,               \
                                 uint32_t mask)                                                    \
    {                                                                                              \
        const lane_f64 *as = ptx_in(warp, step->operand[1]);                                       \
        const lane_f64 *bs = ptx_in(warp, step->operand[2]);                                       \
        const lane_f64 *cs = ptx_in(warp, step->operand[3]);                                       \
        F64_STORE(value, f64_nan3(f64_bits(a), f64_bits(b), f64_bits(c)),                          \
                  const double a = as[lane], b = bs[lane], c = cs[lane])                           \
    }
F64_2(add, a + b)
F64_2(sub, a - b)
F64_2(mul, a *b)
F64_2(div, a / b)
F64_3(fma, __builtin_fma(a, b, c))
F64_1(rcp, 1.0 / a)
F64_1(sqrt, __builtin_sqrt(a))

/* An approximate form is served by the correctly rounded one where that is as fast: rcp, sqrt,
 * div. */
#define ROWS(op, name)                                                                             \
    OPS_ROW(op, 0, OPS_T(F32), name##_plain), OPS_ROW(op, OPS_FTZ, OPS_T(F32), name##_ftz),        \
        OPS_ROW(op, 0, OPS_T(F64), name##_f64)
#define ROWS_SAT(op, name)                                                                         \
    ROWS(op, name), OPS_ROW(op, OPS_SAT, OPS_T(F32), name##_sat),                                  \
        OPS_ROW(op, OPS_SAT | OPS_FTZ, OPS_T(F32), name##_ftz_sat)
#define ROWS_X2(op, name)                                                                          \
    OPS_ROW(op, 0, OPS_T(F32X2), name##_plain_x2), OPS_ROW(op, OPS_FTZ, OPS_T(F32X2), name##_ftz_x2)
#define ROWS_MIXED(op, name)                                                                       \
    OPS_ROW(op, OPS_OF_F16, OPS_T(F32), name##_with_f16),                                          \
        OPS_ROW(op, OPS_OF_F16 | OPS_SAT, OPS_T(F32), name##_with_f16_sat),                        \
        OPS_ROW(op, OPS_OF_BF16, OPS_T(F32), name##_with_bf16),                                    \
        OPS_ROW(op, OPS_OF_BF16 | OPS_SAT, OPS_T(F32), name##_with_bf16_sat)
static const struct ops_row arithmetic[] = {
    ROWS_SAT(ADD, add),   ROWS_SAT(SUB, sub),   ROWS_SAT(MUL, mul),   ROWS_SAT(DIV, div),
    ROWS_SAT(FMA, fma),   ROWS_SAT(MAD, fma),   ROWS(RCP, rcp),       ROWS(SQRT, sqrt),
    ROWS_X2(ADD, add),    ROWS_X2(SUB, sub),    ROWS_X2(MUL, mul),    ROWS_X2(FMA, fma),
    ROWS_MIXED(ADD, add), ROWS_MIXED(SUB, sub), ROWS_MIXED(FMA, fma),
};

#endif
