/* SPDX-License-Identifier: MIT */
/* float and double, rounded to nearest: arithmetic (ops_arith.h), extremes, signs, classes. */
#include "ptx/ops/ops_arith.h"

/* --- min and max --- */
/* .xorsign.abs: of the magnitudes, with the sign of the product; a NaN has none. */
static inline uint32_t f32_xorsign(uint32_t magnitude, uint32_t a, uint32_t b)
{
    return f32_is_nan(magnitude) ? magnitude : magnitude | ((a ^ b) & F32_SIGN);
}
#define EXTREME(name, max, nan)                                                                    \
    OPS_2(name##_plain, u32, u32, u32, f32_extreme(a, b, max, nan))                                \
    OPS_2(name##_ftz, u32, u32, u32, name##_plain(f32_flush_bits(a), f32_flush_bits(b)))           \
    OPS_2(name##_xs, u32, u32, u32,                                                                \
          f32_xorsign(name##_plain(f32_magnitude(a), f32_magnitude(b)), a, b))                     \
    OPS_2(name##_xs_ftz, u32, u32, u32, name##_xs(f32_flush_bits(a), f32_flush_bits(b)))           \
    OPS_3(name##_three, u32, u32, u32, u32, name##_plain(name##_plain(a, b), c))                   \
    OPS_3(name##_three_ftz, u32, u32, u32, u32, name##_ftz(name##_ftz(a, b), c))                   \
    OPS_3(name##_three_abs, u32, u32, u32, u32,                                                    \
          name##_three(f32_magnitude(a), f32_magnitude(b), f32_magnitude(c)))                      \
    OPS_3(name##_three_abs_ftz, u32, u32, u32, u32,                                                \
          name##_three_ftz(f32_magnitude(a), f32_magnitude(b), f32_magnitude(c)))
EXTREME(min, false, false)
EXTREME(max, true, false)
EXTREME(minnan, false, true)
EXTREME(maxnan, true, true)

static inline int64_t f64_key(uint64_t bits)
{
    return (int64_t)(bits ^ ((0U - (bits >> 63)) >> 1));
}
/* Two NaNs: the first, quiet. */
static inline uint64_t f64_extreme(uint64_t a, uint64_t b, bool first)
{
    if (f64_is_nan(a))
        return f64_is_nan(b) ? a | F64_QUIET : b;
    return f64_is_nan(b) || first ? a : b;
}
OPS_2(min_f64, u64, u64, u64, f64_extreme(a, b, f64_key(a) < f64_key(b)))
OPS_2(max_f64, u64, u64, u64, f64_extreme(a, b, f64_key(a) > f64_key(b)))

/* --- signs and classes --- */
/* They are sums with zero: a NaN is the one NaN, or of double itself, quiet. */
#define SIGN32(value) (f32_is_nan(a) ? F32_NAN : (value))
#define SIGN64(value) (f64_is_nan(a) ? a | F64_QUIET : (value))
OPS_1(abs_plain, u32, u32, SIGN32(a & ~F32_SIGN))
OPS_1(abs_ftz, u32, u32, SIGN32(f32_flush_bits(a) & ~F32_SIGN))
OPS_1(neg_plain, u32, u32, SIGN32(a ^ F32_SIGN))
OPS_1(neg_ftz, u32, u32, SIGN32(f32_flush_bits(a) ^ F32_SIGN))
OPS_1(abs_f64, u64, u64, SIGN64(a & ~F64_SIGN))
OPS_1(neg_f64, u64, u64, SIGN64(a ^ F64_SIGN))
OPS_2(copysign_f32, u32, u32, u32, (a & F32_SIGN) | (b & ~F32_SIGN))
OPS_2(copysign_f64, u64, u64, u64, (a & F64_SIGN) | (b & ~F64_SIGN))

static bool in_class(unsigned class, uint64_t magnitude, uint64_t infinity, uint64_t least_normal)
{
    switch (class) {
    case IR_TESTP_FINITE:
        return magnitude < infinity;
    case IR_TESTP_INFINITE:
        return magnitude == infinity;
    case IR_TESTP_NUMBER:
        return magnitude <= infinity;
    case IR_TESTP_NOTANUMBER:
        return magnitude > infinity;
    case IR_TESTP_NORMAL:
        return magnitude == 0 || (magnitude >= least_normal && magnitude < infinity);
    default: /* zero counts as normal */
        return magnitude != 0 && magnitude < least_normal;
    }
}
static void run_testp_f32(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const lane_u32 *a = ptx_in(warp, step->operand[1]);
    uint32_t bits = 0;
    for (unsigned lane = 0; lane < PTX_LANES; lane++)
        bits |=
            (uint32_t)in_class(ptx_insn(step)->mode, a[lane] & ~F32_SIGN, F32_INFINITY, 0x800000)
            << lane;
    ops_set_predicate(warp, step->operand[0], bits, mask);
}
static void run_testp_f64(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
    const lane_u64 *a = ptx_in(warp, step->operand[1]);
    uint32_t bits = 0;
    for (unsigned lane = 0; lane < PTX_LANES; lane++)
        bits |= (uint32_t)in_class(ptx_insn(step)->mode, a[lane] & ~F64_SIGN, F64_INFINITY,
                                   UINT64_C(1) << 52)
                << lane;
    ops_set_predicate(warp, step->operand[0], bits, mask);
}

#define F32 OPS_T(F32)
#define F64 OPS_T(F64)
/* Of three operands there are other forms than of two. */
#define THREE 1024
#define EXTREMES(op, nan, name)                                                                    \
    OPS_ROW(op, nan, F32, name##_plain), OPS_ROW(op, (nan) | OPS_FTZ, F32, name##_ftz),            \
        OPS_ROW(op, (nan) | OPS_XORSIGN | OPS_ABS, F32, name##_xs),                                \
        OPS_ROW(op, (nan) | OPS_XORSIGN | OPS_ABS | OPS_FTZ, F32, name##_xs_ftz),                  \
        OPS_ROW(op, (nan) | THREE, F32, name##_three),                                             \
        OPS_ROW(op, (nan) | THREE | OPS_FTZ, F32, name##_three_ftz),                               \
        OPS_ROW(op, (nan) | THREE | OPS_ABS, F32, name##_three_abs),                               \
        OPS_ROW(op, (nan) | THREE | OPS_ABS | OPS_FTZ, F32, name##_three_abs_ftz)
static const struct ops_row rows[] = {
    EXTREMES(MIN, 0, min),
    EXTREMES(MAX, 0, max),
    EXTREMES(MIN, OPS_NAN, minnan),
    EXTREMES(MAX, OPS_NAN, maxnan),
    OPS_ROW(MIN, 0, F64, min_f64),
    OPS_ROW(MAX, 0, F64, max_f64),
    OPS_ROW(ABS, 0, F32, abs_plain),
    OPS_ROW(ABS, OPS_FTZ, F32, abs_ftz),
    OPS_ROW(ABS, 0, F64, abs_f64),
    OPS_ROW(NEG, 0, F32, neg_plain),
    OPS_ROW(NEG, OPS_FTZ, F32, neg_ftz),
    OPS_ROW(NEG, 0, F64, neg_f64),
    OPS_ROW(COPYSIGN, 0, F32, copysign_f32),
    OPS_ROW(COPYSIGN, 0, F64, copysign_f64),
    OPS_ROW(TESTP, 0, F32, testp_f32),
    OPS_ROW(TESTP, 0, F64, testp_f64),
};

ptx_run *OPS_NAME(ops_float)(const struct ir_insn *insn, union ptx_how *how)
{
    const bool extreme = insn->op == IR_MIN || insn->op == IR_MAX;
    ptx_run *run;

    if (opcodes_class(insn->types[0]) != CLASS_FLOAT ||
        (insn->rounding != IR_ROUND_NONE && insn->rounding != IR_RN))
        return NULL;
    run = OPS_PICK(rows, insn, ops_modifiers(insn) + (extreme && insn->count == 4 ? THREE : 0));
    (void)how;
    return run ? run : OPS_PICK(arithmetic, insn, ops_modifiers(insn));
}
