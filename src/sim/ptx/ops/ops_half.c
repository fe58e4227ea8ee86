/* SPDX-License-Identifier: MIT */
/* f16 and bf16, single and in pairs: computed in float, where sums and products of two halves need
 * no more than one rounding, then rounded to nearest. */
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

/* HALF_n: an operation on one half, and on the two of a register. */
#define IN(format, flush, x) format##_float(flush(x))
#define OUT(format, flush, limit, x) flush(format##_bits(limit(x)))
#define PAIR1(f) (f(a & 0xffff) | f(a >> 16) << 16)
#define PAIR2(f) (f(a & 0xffff, b & 0xffff) | f(a >> 16, b >> 16) << 16)
#define PAIR3(f) (f(a & 0xffff, b & 0xffff, c & 0xffff) | f(a >> 16, b >> 16, c >> 16) << 16)
#define BINARY(op, modifiers, name, operator, type, format, flush, limit)                          \
    HALF_2(op, modifiers, name, type,                                                              \
           OUT(format, flush, limit, IN(format, flush, a) operator IN(format, flush, b)))
#define HALF_1(op, modifiers, name, type, value)                                                   \
    OPS_OP(1, op, modifiers, OPS_T(type), name, u32, u32, value)                                   \
    OPS_OP(1, op, modifiers, OPS_T(type##X2), name##_x2, u32, u32, PAIR1(name))
#define HALF_2(op, modifiers, name, type, value)                                                   \
    OPS_OP(2, op, modifiers, OPS_T(type), name, u32, u32, u32, value)                              \
    OPS_OP(2, op, modifiers, OPS_T(type##X2), name##_x2, u32, u32, u32, PAIR2(name))
#define FUSED(modifiers, name, type, format, flush, limit)                                         \
    OPS_OP(3, FMA, modifiers, OPS_T(type), name, u32, u32, u32, u32,                               \
           OUT(format, flush, limit,                                                               \
               format##_fma(IN(format, flush, a), IN(format, flush, b), IN(format, flush, c))))    \
    OPS_OP(3, FMA, modifiers, OPS_T(type##X2), name##_x2, u32, u32, u32, u32, PAIR3(name))
#define SUMS(modifiers, suffix, type, format, flush, limit)                                        \
    BINARY(ADD, modifiers, add_##suffix, +, type, format, flush, limit)                            \
    BINARY(SUB, modifiers, sub_##suffix, -, type, format, flush, limit)                            \
    BINARY(MUL, modifiers, mul_##suffix, *, type, format, flush, limit)                            \
    FUSED(modifiers, fma_##suffix, type, format, flush, limit)

/* --- min, max: the order of sign and magnitude; see ops_float.c --- */
OPS_INLINE uint32_t xorsign16(uint32_t magnitude, uint32_t a, uint32_t b)
{
    return magnitude == HALF_NAN ? magnitude : magnitude | ((a ^ b) & 0x8000);
}
#define XORSIGN (OPS_XORSIGN | OPS_ABS)
#define EXTREME(op, modifiers, name, type, flush, max, nan, infinity)                              \
    HALF_2(op, modifiers, name, type, half_extreme(flush(a), flush(b), max, nan, infinity))        \
    HALF_2(                                                                                        \
        op, (modifiers) | XORSIGN, name##_xs, type,                                                \
        xorsign16(half_extreme(flush(a) & 0x7fff, flush(b) & 0x7fff, max, nan, infinity), a, b))
#define EXTREMES(modifiers, suffix, type, flush, infinity)                                         \
    EXTREME(MIN, modifiers, min_##suffix, type, flush, false, false, infinity)                     \
    EXTREME(MAX, modifiers, max_##suffix, type, flush, true, false, infinity)                      \
    EXTREME(MIN, (modifiers) | OPS_NAN, minnan_##suffix, type, flush, false, true, infinity)       \
    EXTREME(MAX, (modifiers) | OPS_NAN, maxnan_##suffix, type, flush, true, true, infinity)

/* A NaN is the one NaN; `bits` is flushed or not. */
OPS_INLINE uint32_t signed16(uint32_t half, uint32_t bits, uint32_t infinity)
{
    return (half & 0x7fff) > infinity ? HALF_NAN : bits;
}
#define OPS_OP(n, op, modifiers, types, name, ...) OPS_##n(name, __VA_ARGS__)
#include "ptx/ops/ops_half.def"

static const struct ops_row rows[] = {
#define OPS_OP(n, op, modifiers, types, name, ...) OPS_ROW(op, modifiers, types, name),
#include "ptx/ops/ops_half.def"
};

ptx_run *OPS_NAME(ops_half)(const struct ir_insn *insn, union ptx_how *how)
{
    (void)how;
    if (opcodes_class(insn->types[0]) != CLASS_FLOAT)
        return NULL;
    return OPS_PICK(rows, insn, ops_modifiers(insn));
}
