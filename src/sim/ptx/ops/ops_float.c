/* SPDX-License-Identifier: MIT */
/* float and double, rounded to nearest: arithmetic (ops_arith.h), extremes, signs, classes. */
#include "ptx/ops/ops_arith.h"

/* --- min and max --- */
/* .xorsign.abs: of the magnitudes, with the sign of the product; a NaN has none. */
static inline uint32_t f32_xorsign(uint32_t magnitude, uint32_t a, uint32_t b)
{
    return f32_is_nan(magnitude) ? magnitude : magnitude | ((a ^ b) & F32_SIGN);
}
/* Of three operands there are other forms than of two. */
#define THREE 1024
#define XORSIGN (OPS_XORSIGN | OPS_ABS)
#define EXTREME(op, nan, name, max, with_nan)                                                      \
    EXTREME_2(op, nan, name##_plain, f32_extreme(a, b, max, with_nan))                             \
    EXTREME_2(op, (nan) | OPS_FTZ, name##_ftz, name##_plain(f32_flush_bits(a), f32_flush_bits(b))) \
    EXTREME_2(op, (nan) | XORSIGN, name##_xs,                                                      \
              f32_xorsign(name##_plain(f32_magnitude(a), f32_magnitude(b)), a, b))                 \
    EXTREME_2(op, (nan) | XORSIGN | OPS_FTZ, name##_xs_ftz,                                        \
              name##_xs(f32_flush_bits(a), f32_flush_bits(b)))                                     \
    EXTREME_3(op, nan, name##_three, name##_plain(name##_plain(a, b), c))                          \
    EXTREME_3(op, (nan) | OPS_FTZ, name##_three_ftz, name##_ftz(name##_ftz(a, b), c))              \
    EXTREME_3(op, (nan) | OPS_ABS, name##_three_abs,                                               \
              name##_three(f32_magnitude(a), f32_magnitude(b), f32_magnitude(c)))                  \
    EXTREME_3(op, (nan) | OPS_ABS | OPS_FTZ, name##_three_abs_ftz,                                 \
              name##_three_ftz(f32_magnitude(a), f32_magnitude(b), f32_magnitude(c)))
#define EXTREME_2(op, modifiers, name, value)                                                      \
    OPS_OP(2, op, modifiers, F32, name, u32, u32, u32, value)
#define EXTREME_3(op, modifiers, name, value)                                                      \
    OPS_OP(3, op, (modifiers) | THREE, F32, name, u32, u32, u32, u32, value)

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

/* --- signs and classes --- */
#define SIGN32(value) (f32_is_nan(a) ? F32_NAN : (value))
#define SIGN64(value) (f64_is_nan(a) ? a | F64_QUIET : (value))

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
#define OPS_OP(n, op, modifiers, types, name, ...) OPS_##n(name, __VA_ARGS__)
#include "ptx/ops/ops_float.def"

static const struct ops_row rows[] = {
    OPS_ROW(TESTP, 0, F32, testp_f32),
    OPS_ROW(TESTP, 0, F64, testp_f64),
#define OPS_OP(n, op, modifiers, types, name, ...) OPS_ROW(op, modifiers, types, name),
#include "ptx/ops/ops_float.def"
};

ptx_run *OPS_NAME(ops_float)(const struct ir_insn *insn, union ptx_how *how)
{
    const bool extreme = insn->op == IR_MIN || insn->op == IR_MAX;

    if (opcodes_class(insn->types[0]) != CLASS_FLOAT ||
        (insn->rounding != IR_ROUND_NONE && insn->rounding != IR_RN))
        return NULL;
    ptx_run *run =
        OPS_PICK(rows, insn, ops_modifiers(insn) + (extreme && insn->count == 4 ? THREE : 0));
    (void)how;
    return run ? run : OPS_PICK(arithmetic, insn, ops_modifiers(insn));
}
