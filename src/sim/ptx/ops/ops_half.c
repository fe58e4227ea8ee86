/* SPDX-License-Identifier: MIT */
/* f16 and bf16, single and in pairs: computed in float, where sums and products of two halves need
 * no more than one rounding, then rounded to nearest. */
#include "ptx/ops/exec.h"
#include "ptx/ops/float_bits.h"
#include "ptx/ops/ops.h"

/* .ftz: on the 16 bits. */
OPS_INLINE uint32_t flushed16(uint32_t half)
{
    return half & F16_INFINITY ? half : half & 0x8000;
}
OPS_INLINE uint32_t same16(uint32_t half)
{
    return half & 0xffff;
}
OPS_INLINE float saturated(float value)
{
    const float most = value < 1.0F ? value : 1.0F;
    return value > 0.0F ? most : 0.0F;
}
OPS_INLINE float positive(float value)
{
    return value <= 0.0F ? 0.0F : value; /* a NaN stays */
}

/* OPERATION(name, format, flush, limit): the operations of one variant, on 16 bits. */
#define IN(format, flush, x) format##_float(flush(x))
#define OUT(format, flush, limit, x) flush(format##_bits(limit(x)))
#define PAIR1(f) (f(a & 0xffff) | f(a >> 16) << 16)
#define PAIR2(f) (f(a & 0xffff, b & 0xffff) | f(a >> 16, b >> 16) << 16)
#define PAIR3(f) (f(a & 0xffff, b & 0xffff, c & 0xffff) | f(a >> 16, b >> 16, c >> 16) << 16)
#define BINARY(name, operator, format, flush, limit)                                               \
    OPS_2(name, u32, u32, u32,                                                                     \
          OUT(format, flush, limit, IN(format, flush, a) operator IN(format, flush, b)))           \
    OPS_2(name##_x2, u32, u32, u32, PAIR2(name))
#define FUSED(name, format, flush, limit)                                                          \
    OPS_3(name, u32, u32, u32, u32,                                                                \
          OUT(format, flush, limit,                                                                \
              format##_fma(IN(format, flush, a), IN(format, flush, b), IN(format, flush, c))))     \
    OPS_3(name##_x2, u32, u32, u32, u32, PAIR3(name))
#define VARIANT(suffix, format, flush, limit)                                                      \
    BINARY(add_##suffix, +, format, flush, limit)                                                  \
    BINARY(sub_##suffix, -, format, flush, limit)                                                  \
    BINARY(mul_##suffix, *, format, flush, limit)                                                  \
    FUSED(fma_##suffix, format, flush, limit)
VARIANT(f16, f16, same16, f32_same)
VARIANT(f16_ftz, f16, flushed16, f32_same)
VARIANT(f16_sat, f16, same16, saturated)
VARIANT(f16_ftz_sat, f16, flushed16, saturated)
VARIANT(bf16, bf16, same16, f32_same)
FUSED(fma_f16_relu, f16, same16, positive)
FUSED(fma_f16_ftz_relu, f16, flushed16, positive)
FUSED(fma_bf16_relu, bf16, same16, positive)

/* --- min, max: the order of sign and magnitude; see ops_float.c --- */
OPS_INLINE int32_t key16(uint32_t half)
{
    const uint32_t bits = half << 16;
    return (int32_t)(bits ^ ((0U - (bits >> 31)) >> 1));
}
OPS_INLINE uint32_t extreme16(uint32_t a, uint32_t b, bool max, bool nan, uint32_t infinity)
{
    const bool a_nan = (a & 0x7fff) > infinity, b_nan = (b & 0x7fff) > infinity;
    const bool first = max ? key16(a) > key16(b) : key16(a) < key16(b);
    const uint32_t number = first ? a : b;
    const uint32_t one = a_nan ? b : a;
    const uint32_t quiet = nan || (a_nan && b_nan) ? HALF_NAN : one;
    return a_nan || b_nan ? quiet : number;
}
OPS_INLINE uint32_t xorsign16(uint32_t magnitude, uint32_t a, uint32_t b)
{
    return magnitude == HALF_NAN ? magnitude : magnitude | ((a ^ b) & 0x8000);
}
#define EXTREME(name, flush, max, nan, infinity)                                                   \
    OPS_2(name, u32, u32, u32, extreme16(flush(a), flush(b), max, nan, infinity))                  \
    OPS_2(name##_x2, u32, u32, u32, PAIR2(name))                                                   \
    OPS_2(name##_xs, u32, u32, u32,                                                                \
          xorsign16(extreme16(flush(a) & 0x7fff, flush(b) & 0x7fff, max, nan, infinity), a, b))    \
    OPS_2(name##_xs_x2, u32, u32, u32, PAIR2(name##_xs))
#define EXTREMES(suffix, flush, infinity)                                                          \
    EXTREME(min_##suffix, flush, false, false, infinity)                                           \
    EXTREME(max_##suffix, flush, true, false, infinity)                                            \
    EXTREME(minnan_##suffix, flush, false, true, infinity)                                         \
    EXTREME(maxnan_##suffix, flush, true, true, infinity)
EXTREMES(f16, same16, F16_INFINITY)
EXTREMES(f16_ftz, flushed16, F16_INFINITY)
EXTREMES(bf16, same16, BF16_INFINITY)

#define SIGN(name, value)                                                                          \
    OPS_1(name, u32, u32, value)                                                                   \
    OPS_1(name##_x2, u32, u32, PAIR1(name))
/* A NaN is the one NaN; `bits` is flushed or not. */
OPS_INLINE uint32_t signed16(uint32_t half, uint32_t bits, uint32_t infinity)
{
    return (half & 0x7fff) > infinity ? HALF_NAN : bits;
}
SIGN(abs_f16, signed16(a, a & 0x7fff, F16_INFINITY))
SIGN(abs_f16_ftz, signed16(a, flushed16(a) & 0x7fff, F16_INFINITY))
SIGN(neg_f16, signed16(a, a ^ 0x8000, F16_INFINITY))
SIGN(neg_f16_ftz, signed16(a, flushed16(a) ^ 0x8000, F16_INFINITY))
SIGN(abs_bf16, signed16(a, a & 0x7fff, BF16_INFINITY))
SIGN(neg_bf16, signed16(a, a ^ 0x8000, BF16_INFINITY))

#define BOTH(name)                                                                                 \
    {                                                                                              \
        run_##name, run_##name##_x2                                                                \
    }

/* Rows: f16, .ftz, .sat, .ftz.sat, bf16. */
#define ROWS(name)                                                                                 \
    {                                                                                              \
        BOTH(name##_f16), BOTH(name##_f16_ftz), BOTH(name##_f16_sat), BOTH(name##_f16_ftz_sat),    \
            BOTH(name##_bf16)                                                                      \
    }
static ptx_run *select_arithmetic(const struct ir_insn *insn, unsigned row, bool pair)
{
    static ptx_run *const table[4][5][2] = {ROWS(add), ROWS(sub), ROWS(mul), ROWS(fma)};
    static ptx_run *const relu[3][2] = {BOTH(fma_f16_relu), BOTH(fma_f16_ftz_relu),
                                        BOTH(fma_bf16_relu)};
    const bool is_bf16 = row == 4;
    switch (insn->op) {
    case IR_ADD:
        return table[0][row][pair];
    case IR_SUB:
        return table[1][row][pair];
    case IR_MUL:
        return table[2][row][pair];
    default:
        return insn->relu ? relu[is_bf16 ? 2 : insn->ftz][pair] : table[3][row][pair];
    }
}

/* Columns: plain, .NaN, .xorsign.abs, both; single and pair. */
#define COLUMNS(op, suffix)                                                                        \
    {                                                                                              \
        BOTH(op##_##suffix), BOTH(op##nan_##suffix), BOTH(op##_##suffix##_xs),                     \
            BOTH(op##nan_##suffix##_xs)                                                            \
    }
static ptx_run *select_extreme(const struct ir_insn *insn, unsigned format, bool pair)
{
    static ptx_run *const table[2][3][4][2] = {
        {COLUMNS(min, f16), COLUMNS(min, f16_ftz), COLUMNS(min, bf16)},
        {COLUMNS(max, f16), COLUMNS(max, f16_ftz), COLUMNS(max, bf16)},
    };
    return table[insn->op == IR_MAX][format][insn->nan + 2 * insn->xorsign][pair];
}

ptx_run *OPS_NAME(ops_half)(const struct ir_insn *insn, union ptx_how *how, const char **reason)
{
    static ptx_run *const signs[2][3][2] = {
        {BOTH(abs_f16), BOTH(abs_f16_ftz), BOTH(abs_bf16)},
        {BOTH(neg_f16), BOTH(neg_f16_ftz), BOTH(neg_bf16)},
    };
    const unsigned type = insn->types[0];
    const bool is_f16 = type == IR_F16 || type == IR_F16X2;
    const bool is_bf16 = type == IR_BF16 || type == IR_BF16X2;
    const bool pair = type == IR_F16X2 || type == IR_BF16X2;
    (void)how;
    (void)reason;
    if (!is_f16 && !is_bf16)
        return NULL;
    const unsigned format = is_bf16 ? 2 : insn->ftz;
    switch (insn->op) {
    case IR_ADD:
    case IR_SUB:
    case IR_MUL:
    case IR_FMA:
        return select_arithmetic(insn, is_bf16 ? 4 : format + 2U * insn->saturate, pair);
    case IR_MIN:
    case IR_MAX:
        return select_extreme(insn, format, pair);
    case IR_ABS:
        return signs[0][format][pair];
    case IR_NEG:
        return signs[1][format][pair];
    default:
        return NULL;
    }
}
