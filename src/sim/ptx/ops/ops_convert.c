/* SPDX-License-Identifier: MIT */
/* cvt, the frequent cases: integers among each other without .sat, integers from and to float and
 * double, the floats among each other to nearest. All others: ops_cvt.c. */
#include "ptx/ops/float_bits.h"
#include "ptx/ops/ops.h"

/* --- integer to integer: the source extended by its own sign, cut to the destination's width ---
 */
static inline uint32_t cut8(uint32_t bits)
{
    return bits & 0xff;
}
static inline uint32_t sign8(uint32_t bits)
{
    return (uint32_t)(int32_t)(int8_t)(uint8_t)bits;
}
static inline uint32_t sign16(uint32_t bits)
{
    return (uint32_t)ops_s16(bits);
}
static inline uint32_t whole(uint32_t bits)
{
    return bits;
}
#define FROM(in, extend)                                                                           \
    OPS_1(in##_to_8, u32, u32, cut8(in(a)))                                                        \
    OPS_1(in##_to_16, u32, u32, ops_u16(in(a)))                                                    \
    OPS_1(in##_to_32, u32, u32, in(a))                                                             \
    OPS_1(in##_to_64, u64, u32, extend(in(a)))
#define ZEROS(x) (uint64_t)(x)
#define SIGNS(x) (uint64_t)(int64_t)(int32_t)(x)
FROM(cut8, ZEROS)
FROM(sign8, SIGNS)
FROM(ops_u16, ZEROS)
FROM(sign16, SIGNS)
FROM(whole, ZEROS)
OPS_1(signed_to_64, u64, u32, SIGNS(a))
OPS_1(long_to_8, u32, u64, a & 0xff)
OPS_1(long_to_16, u32, u64, a & 0xffff)
OPS_1(long_to_32, u32, u64, a)
OPS_1(long_to_64, u64, u64, a)

/* --- integer to float --- */
OPS_1(s32_to_f32, f32, s32, a)
OPS_1(u32_to_f32, f32, u32, a)
OPS_1(s64_to_f32, f32, s64, a)
OPS_1(u64_to_f32, f32, u64, a)
OPS_1(s32_to_f64, f64, s32, a)
OPS_1(u32_to_f64, f64, u32, a)
OPS_1(s64_to_f64, f64, s64, a)
OPS_1(u64_to_f64, f64, u64, a)
OPS_1(s16_to_f32, f32, u32, ops_s16(a))
OPS_1(u16_to_f32, f32, u32, ops_u16(a))
OPS_1(s8_to_f32, f32, u32, (int32_t)sign8(a))
OPS_1(u8_to_f32, f32, u32, a & 0xff)

/* --- float to integer, of an integral value; what is too large becomes the limit, a NaN 0, or the
 * top bit where double or 64 bits are concerned --- */
static inline int32_t f32_s32(float value)
{
    const float low = value > -0x1p31F ? value : -0x1p31F;
    const float inside = low < 0x1p31F ? low : 0.0F;
    const int32_t number = (int32_t)inside;
    const int32_t limited = value >= 0x1p31F ? INT32_MAX : number;
    return value == value ? limited : 0;
}
static inline uint32_t f32_u32(float value)
{
    const float low = value > 0.0F ? value : 0.0F;
    const bool upper = low >= 0x1p31F, beyond = low >= 0x1p32F;
    const float inside = beyond ? 0.0F : upper ? low - 0x1p31F : low;
    const uint32_t number = (uint32_t)(int32_t)inside;
    return beyond ? UINT32_MAX : number + (upper ? F32_SIGN : 0);
}
static inline int32_t f64_s32(double value)
{
    const double low = value > -0x1p31 ? value : -0x1p31;
    return (int32_t)(low < 0x1p31 ? low : 0x1.fffffffcp30);
}
static inline uint32_t f64_u32(double value)
{
    const double low = value > 0.0 ? value : 0.0;
    const uint32_t number = (uint32_t)(int64_t)(low < 0x1p32 ? low : 0x1.fffffffep31);
    return value == value ? number : F32_SIGN;
}
static inline int64_t f64_s64(double value)
{
    const double low = value > -0x1p63 ? value : -0x1p63;
    return low < 0x1p63 ? (int64_t)low : INT64_MAX;
}
static inline uint64_t f64_u64(double value)
{
    const double low = value > 0.0 ? value : 0.0;
    const uint64_t number = low < 0x1p64 ? (uint64_t)low : UINT64_MAX;
    return value == value ? number : F64_SIGN;
}
#define INTEGRAL(rounding, f32_round, f64_round)                                                   \
    OPS_1(rounding##_f32_s32, s32, f32, f32_s32(f32_round(a)))                                     \
    OPS_1(rounding##_f32_u32, u32, f32, f32_u32(f32_round(a)))                                     \
    OPS_1(rounding##_f32_s64, s64, f32, f64_s64((double)f32_round(a)))                             \
    OPS_1(rounding##_f32_u64, u64, f32, f64_u64((double)f32_round(a)))                             \
    OPS_1(rounding##_f64_s32, s32, f64, f64_s32(f64_round(a)))                                     \
    OPS_1(rounding##_f64_u32, u32, f64, f64_u32(f64_round(a)))                                     \
    OPS_1(rounding##_f64_s64, s64, f64, f64_s64(f64_round(a)))                                     \
    OPS_1(rounding##_f64_u64, u64, f64, f64_u64(f64_round(a)))                                     \
    OPS_1(rounding##_f32_f32, u32, f32, f32_out(f32_round(a)))
INTEGRAL(rni, __builtin_rintf, __builtin_rint)
INTEGRAL(rzi, __builtin_truncf, __builtin_trunc)
INTEGRAL(rmi, __builtin_floorf, __builtin_floor)
INTEGRAL(rpi, __builtin_ceilf, __builtin_ceil)

/* --- float to float --- */
/* A NaN keeps its sign and the upper part of its fraction, as CPUs do it. */
OPS_1(f64_to_f32, u32, f64, f32_bits((float)a))
OPS_1(f64_to_f32_ftz, u32, f64, f32_bits(f32_flush((float)a)))
OPS_1(f32_to_f64, f64, f32, a)
OPS_1(f32_to_f64_ftz, f64, f32, f32_of(f32_out_ftz(a)))
OPS_1(f16_to_f32, u32, u32, f32_out(f16_float(a)))
OPS_1(bf16_to_f32, u32, u32, a << 16)
OPS_1(f32_to_f16, u32, f32, f16_bits(a))
OPS_1(f32_to_bf16, u32, f32, bf16_bits(a))
OPS_2(f32_to_f16x2, u32, f32, f32, f16_bits(a) << 16 | f16_bits(b))
OPS_2(f32_to_bf16x2, u32, f32, f32, bf16_bits(a) << 16 | bf16_bits(b))

/* A row's modifiers are the source's type, .ftz if that is a float, and the rounding to integers.
 */
#define OF(type) IR_##type
#define OF_FTZ(type) (IR_##type + 64)
#define OF_INTEGRAL(type, rounding) (IR_##type + 128 * (IR_##rounding - IR_RNI + 1))
#define TO_INTEGERS(from, name)                                                                    \
    OPS_ROW(CVT, OF(from), OPS_T(U8) | OPS_T(S8), name##_to_8),                                    \
        OPS_ROW(CVT, OF(from), OPS_U16 | OPS_S16, name##_to_16),                                   \
        OPS_ROW(CVT, OF(from), OPS_U32 | OPS_S32, name##_to_32),                                   \
        OPS_ROW(CVT, OF(from), OPS_U64 | OPS_S64, name##_to_64)
#define TO_FLOATS(from, name)                                                                      \
    OPS_ROW(CVT, OF(from), OPS_T(F32), name##_to_f32),                                             \
        OPS_ROW(CVT, OF(from), OPS_T(F64), name##_to_f64)
#define ROUNDED(rounding, from, name)                                                              \
    OPS_ROW(CVT, OF_INTEGRAL(from, rounding), OPS_S32, name##_s32),                                \
        OPS_ROW(CVT, OF_INTEGRAL(from, rounding), OPS_U32, name##_u32),                            \
        OPS_ROW(CVT, OF_INTEGRAL(from, rounding), OPS_S64, name##_s64),                            \
        OPS_ROW(CVT, OF_INTEGRAL(from, rounding), OPS_U64, name##_u64)
#define ROUNDED_ALL(rounding, name)                                                                \
    ROUNDED(rounding, F32, name##_f32), ROUNDED(rounding, F64, name##_f64),                        \
        OPS_ROW(CVT, OF_INTEGRAL(F32, rounding), OPS_T(F32), name##_f32_f32)
static const struct ops_row rows[] = {
    TO_INTEGERS(U8, cut8),
    TO_INTEGERS(S8, sign8),
    TO_INTEGERS(U16, ops_u16),
    TO_INTEGERS(S16, sign16),
    TO_INTEGERS(U32, whole),
    OPS_ROW(CVT, OF(S32), OPS_U64 | OPS_S64, signed_to_64),
    TO_INTEGERS(S32, whole),
    TO_INTEGERS(U64, long),
    TO_INTEGERS(S64, long),
    TO_FLOATS(S32, s32),
    TO_FLOATS(U32, u32),
    TO_FLOATS(S64, s64),
    TO_FLOATS(U64, u64),
    OPS_ROW(CVT, OF(S16), OPS_T(F32), s16_to_f32),
    OPS_ROW(CVT, OF(U16), OPS_T(F32), u16_to_f32),
    OPS_ROW(CVT, OF(S8), OPS_T(F32), s8_to_f32),
    OPS_ROW(CVT, OF(U8), OPS_T(F32), u8_to_f32),
    ROUNDED_ALL(RNI, rni),
    ROUNDED_ALL(RZI, rzi),
    ROUNDED_ALL(RMI, rmi),
    ROUNDED_ALL(RPI, rpi),
    OPS_ROW(CVT, OF(F32), OPS_T(F64), f32_to_f64),
    OPS_ROW(CVT, OF_FTZ(F32), OPS_T(F64), f32_to_f64_ftz),
    OPS_ROW(CVT, OF(F64), OPS_T(F32), f64_to_f32),
    OPS_ROW(CVT, OF_FTZ(F64), OPS_T(F32), f64_to_f32_ftz),
    OPS_ROW(CVT, OF(F16), OPS_T(F32), f16_to_f32),
    OPS_ROW(CVT, OF(BF16), OPS_T(F32), bf16_to_f32),
    OPS_ROW(CVT, OF(F32), OPS_T(F16), f32_to_f16),
    OPS_ROW(CVT, OF(F32), OPS_T(BF16), f32_to_bf16),
    OPS_ROW(CVT, OF(F32), OPS_T(F16X2), f32_to_f16x2),
    OPS_ROW(CVT, OF(F32), OPS_T(BF16X2), f32_to_bf16x2),
};

ptx_run *OPS_NAME(ops_convert)(const struct ir_insn *insn, union ptx_how *how)
{
    const unsigned from = insn->types[1], rounding = insn->rounding;
    const bool integral = rounding >= IR_RNI, ftz = insn->ftz && opcodes_class(from) == CLASS_FLOAT;

    (void)how;
    if (insn->op != IR_CVT || insn->saturate || insn->relu || insn->satfinite ||
        (rounding != IR_ROUND_NONE && rounding != IR_RN && !integral))
        return NULL;
    return OPS_PICK(rows, insn, from + 64U * ftz + (integral ? 128U * (rounding - IR_RNI + 1) : 0));
}
