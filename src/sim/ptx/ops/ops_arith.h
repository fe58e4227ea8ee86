/* SPDX-License-Identifier: MIT */
/* Sums, products, quotients and roots of float, pairs of floats, and double: included once by
 * ops_float.c, to round to nearest, and once by ops_round.c, whose functions run under a directed
 * rounding mode. */
#ifndef CUSHIM_SIM_PTX_OPS_OPS_ARITH_H
#define CUSHIM_SIM_PTX_OPS_OPS_ARITH_H

#include <math.h>

#include "ptx/ops/exec.h"
#include "ptx/ops/float_bits.h"
#include "ptx/ops/float_bits.h"
#include "ptx/ops/ops.h"
#include "ptx/read/ir.h"

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
#define F64_STORE(name, value, nan)                                                                \
    lane_f64 results[PTX_LANES];                                                                   \
    uint64_t nans = 0;                                                                             \
    OPS_LANES                                                                                      \
    {                                                                                              \
        const double result = value;                                                               \
        results[lane] = result;                                                                    \
        nans |= result == result ? 0 : UINT64_MAX;                                                 \
    }                                                                                              \
    for (unsigned lane = 0; nans && lane < PTX_LANES; lane++)                                      \
        if (results[lane] != results[lane])                                                        \
            results[lane] = f64_of(nan);                                                           \
    OPS_STORE(warp, step, mask, f64, results[lane])
#define F64_1(name, value)                                                                         \
    static inline double name##_f64(double a)                                                      \
    {                                                                                              \
        return value;                                                                              \
    }                                                                                              \
    static void run_##name##_f64(struct ptx_warp *warp, const struct ptx_step *step,               \
                                 uint32_t mask)                                                    \
    {                                                                                              \
        const lane_f64 *a = ptx_in(warp, step->operand[1]);                                        \
        F64_STORE(name, name##_f64(a[lane]), f64_nan2(f64_bits(a[lane]), 0))                       \
    }
#define F64_2(name, value)                                                                         \
    static inline double name##_f64(double a, double b)                                            \
    {                                                                                              \
        return value;                                                                              \
    }                                                                                              \
    static void run_##name##_f64(struct ptx_warp *warp, const struct ptx_step *step,               \
                                 uint32_t mask)                                                    \
    {                                                                                              \
        const lane_f64 *a = ptx_in(warp, step->operand[1]);                                        \
        const lane_f64 *b = ptx_in(warp, step->operand[2]);                                        \
        F64_STORE(name, name##_f64(a[lane], b[lane]),                                              \
                  f64_nan2(f64_bits(a[lane]), f64_bits(b[lane])))                                  \
    }
#define F64_3(name, value)                                                                         \
    static inline double name##_f64(double a, double b, double c)                                  \
    {                                                                                              \
        return value;                                                                              \
    }                                                                                              \
    static void run_##name##_f64(struct ptx_warp *warp, const struct ptx_step *step,               \
                                 uint32_t mask)                                                    \
    {                                                                                              \
        const lane_f64 *a = ptx_in(warp, step->operand[1]);                                        \
        const lane_f64 *b = ptx_in(warp, step->operand[2]);                                        \
        const lane_f64 *c = ptx_in(warp, step->operand[3]);                                        \
        F64_STORE(name, name##_f64(a[lane], b[lane], c[lane]),                                     \
                  f64_nan3(f64_bits(a[lane]), f64_bits(b[lane]), f64_bits(c[lane])))               \
    }
F64_2(add, a + b)
F64_2(sub, a - b)
F64_2(mul, a *b)
F64_2(div, a / b)
F64_3(fma, __builtin_fma(a, b, c))
F64_1(rcp, 1.0 / a)
F64_1(sqrt, __builtin_sqrt(a))

static ptx_run *select_pair(const struct ir_insn *insn)
{
    switch (insn->op) {
    case IR_ADD:
        return insn->ftz ? run_add_ftz_x2 : run_add_plain_x2;
    case IR_SUB:
        return insn->ftz ? run_sub_ftz_x2 : run_sub_plain_x2;
    case IR_MUL:
        return insn->ftz ? run_mul_ftz_x2 : run_mul_plain_x2;
    case IR_FMA:
        return insn->ftz ? run_fma_ftz_x2 : run_fma_plain_x2;
    default:
        return NULL;
    }
}

static ptx_run *select_mixed(const struct ir_insn *insn)
{
#define ROW(op)                                                                                    \
    {                                                                                              \
        run_##op##_with_f16, run_##op##_with_f16_sat, run_##op##_with_bf16,                        \
            run_##op##_with_bf16_sat                                                               \
    }
    static ptx_run *const rows[3][4] = {ROW(add), ROW(sub), ROW(fma)};
#undef ROW
    const unsigned row = insn->op == IR_ADD ? 0 : insn->op == IR_SUB ? 1 : 2;
    return rows[row][insn->saturate + 2U * (insn->types[1] == IR_BF16)];
}

/* NULL: not one of these. An approximate form is served by the correctly rounded one where that is
 * as fast: rcp, sqrt, div. */
static ptx_run *arith_select(const struct ir_insn *insn)
{
#define VARIANTS(name)                                                                             \
    {                                                                                              \
        run_##name##_plain, run_##name##_ftz, run_##name##_sat, run_##name##_ftz_sat               \
    }
    static ptx_run *const add[4] = VARIANTS(add), *const sub[4] = VARIANTS(sub);
    static ptx_run *const mul[4] = VARIANTS(mul), *const div[4] = VARIANTS(div);
    static ptx_run *const fma[4] = VARIANTS(fma);
    static ptx_run *const rcp[2] = {run_rcp_plain, run_rcp_ftz};
    static ptx_run *const root[2] = {run_sqrt_plain, run_sqrt_ftz};
    const unsigned type = insn->types[0];
    if (type == IR_F32X2)
        return select_pair(insn);
    if (type != IR_F32 && type != IR_F64)
        return NULL;
    if ((insn->op == IR_ADD || insn->op == IR_SUB || insn->op == IR_FMA) &&
        insn->types[1] != IR_NONE)
        return select_mixed(insn);
    const bool is_double = type == IR_F64;
    const unsigned variant = (unsigned)insn->ftz + 2U * insn->saturate;
    switch (insn->op) {
    case IR_ADD:
        return is_double ? run_add_f64 : add[variant];
    case IR_SUB:
        return is_double ? run_sub_f64 : sub[variant];
    case IR_MUL:
        return is_double ? run_mul_f64 : mul[variant];
    case IR_DIV:
        return is_double ? run_div_f64 : div[variant];
    case IR_FMA:
    case IR_MAD:
        return is_double ? run_fma_f64 : fma[variant];
    case IR_RCP:
        return is_double ? run_rcp_f64 : rcp[insn->ftz];
    case IR_SQRT:
        return is_double ? run_sqrt_f64 : root[insn->ftz];
    default:
        return NULL;
    }
#undef VARIANTS
}

#endif
