/* SPDX-License-Identifier: MIT */
/* f16 and bf16, single and in pairs: computed in float, where sums and products of two halves need
 * no more than one rounding, then rounded to nearest. */
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
OPS_INLINE uint32_t xorsign16(uint32_t magnitude, uint32_t a, uint32_t b)
{
    return magnitude == HALF_NAN ? magnitude : magnitude | ((a ^ b) & 0x8000);
}
#define EXTREME(name, flush, max, nan, infinity)                                                   \
    OPS_2(name, u32, u32, u32, half_extreme(flush(a), flush(b), max, nan, infinity))               \
    OPS_2(name##_x2, u32, u32, u32, PAIR2(name))                                                   \
    OPS_2(name##_xs, u32, u32, u32,                                                                \
          xorsign16(half_extreme(flush(a) & 0x7fff, flush(b) & 0x7fff, max, nan, infinity), a, b)) \
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

/* Rows of a format with these modifiers, single and in pairs. */
#define BOTH(op, format, modifiers, name)                                                          \
    OPS_ROW(op, modifiers, OPS_T(format), name),                                                   \
        OPS_ROW(op, modifiers, OPS_T(format##X2), name##_x2)
#define PLAIN(op, name)                                                                            \
    BOTH(op, F16, 0, name##_f16), BOTH(op, F16, OPS_FTZ, name##_f16_ftz),                          \
        BOTH(op, BF16, 0, name##_bf16)
#define SUMS(op, name)                                                                             \
    PLAIN(op, name), BOTH(op, F16, OPS_SAT, name##_f16_sat),                                       \
        BOTH(op, F16, OPS_FTZ | OPS_SAT, name##_f16_ftz_sat)
#define XORSIGN (OPS_XORSIGN | OPS_ABS)
#define LEAST(op, nan, name)                                                                       \
    BOTH(op, F16, nan, name##_f16), BOTH(op, F16, (nan) | OPS_FTZ, name##_f16_ftz),                \
        BOTH(op, BF16, nan, name##_bf16), BOTH(op, F16, (nan) | XORSIGN, name##_f16_xs),           \
        BOTH(op, F16, (nan) | XORSIGN | OPS_FTZ, name##_f16_ftz_xs),                               \
        BOTH(op, BF16, (nan) | XORSIGN, name##_bf16_xs)
static const struct ops_row rows[] = {
    SUMS(ADD, add),
    SUMS(SUB, sub),
    SUMS(MUL, mul),
    SUMS(FMA, fma),
    BOTH(FMA, F16, OPS_RELU, fma_f16_relu),
    BOTH(FMA, F16, OPS_RELU | OPS_FTZ, fma_f16_ftz_relu),
    BOTH(FMA, BF16, OPS_RELU, fma_bf16_relu),
    LEAST(MIN, 0, min),
    LEAST(MAX, 0, max),
    LEAST(MIN, OPS_NAN, minnan),
    LEAST(MAX, OPS_NAN, maxnan),
    PLAIN(ABS, abs),
    PLAIN(NEG, neg),
};

ptx_run *OPS_NAME(ops_half)(const struct ir_insn *insn, union ptx_how *how)
{
    (void)how;
    if (opcodes_class(insn->types[0]) != CLASS_FLOAT)
        return NULL;
    return OPS_PICK(rows, insn, ops_modifiers(insn));
}
