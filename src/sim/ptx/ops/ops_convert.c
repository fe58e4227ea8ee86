/* SPDX-License-Identifier: MIT */
/* cvt, the frequent cases: integers among each other without .sat, integers from and to float and
 * double, the floats among each other to nearest. All others: ops_cvt.c. */
#include "ptx/ops/ops.h"

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
#define WHOLE(x) (x)
#define ZEROS(x) (uint64_t)(x)
#define SIGNS(x) (uint64_t)(int64_t)(int32_t)(x)
#define ANY8 (OPS_T(U8) | OPS_T(S8))
#define FROM(type, name, in, extend)                                                               \
    OPS_OP(1, CVT, OF(type), ANY8, name##_to_8, u32, u32, cut8(in(a)))                             \
    OPS_OP(1, CVT, OF(type), OPS_ANY16, name##_to_16, u32, u32, ops_u16(in(a)))                    \
    OPS_OP(1, CVT, OF(type), OPS_ANY32, name##_to_32, u32, u32, in(a))                             \
    OPS_OP(1, CVT, OF(type), OPS_ANY64, name##_to_64, u64, u32, extend(in(a)))
#define FROM_LONG(type, name)                                                                      \
    OPS_OP(1, CVT, OF(type), ANY8, name##_to_8, u32, u64, a & 0xff)                                \
    OPS_OP(1, CVT, OF(type), OPS_ANY16, name##_to_16, u32, u64, a & 0xffff)                        \
    OPS_OP(1, CVT, OF(type), OPS_ANY32, name##_to_32, u32, u64, a)                                 \
    OPS_OP(1, CVT, OF(type), OPS_ANY64, name##_to_64, u64, u64, a)

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
#define INTEGRAL(mode, name, f32_round, f64_round)                                                 \
    INTEGRAL_OF(mode, F32, name##_f32, f32, f32_s32, f32_u32, f32_round, (double)f32_round)        \
    INTEGRAL_OF(mode, F64, name##_f64, f64, f64_s32, f64_u32, f64_round, f64_round)                \
    OPS_OP(1, CVT, OF_INTEGRAL(F32, mode), OPS_T(F32), name##_f32_f32, u32, f32,                   \
           f32_out(f32_round(a)))
#define INTEGRAL_OF(mode, type, name, A, to_s32, to_u32, round, wide_round)                        \
    OPS_OP(1, CVT, OF_INTEGRAL(type, mode), OPS_S32, name##_s32, s32, A, to_s32(round(a)))         \
    OPS_OP(1, CVT, OF_INTEGRAL(type, mode), OPS_U32, name##_u32, u32, A, to_u32(round(a)))         \
    OPS_OP(1, CVT, OF_INTEGRAL(type, mode), OPS_S64, name##_s64, s64, A, f64_s64(wide_round(a)))   \
    OPS_OP(1, CVT, OF_INTEGRAL(type, mode), OPS_U64, name##_u64, u64, A, f64_u64(wide_round(a)))

/* A row's modifiers are the source's type, .ftz if that is a float, and the rounding to integers.
 */
#define OF(type) IR_##type
#define OF_FTZ(type) (IR_##type + 64)
#define OF_INTEGRAL(type, rounding) (IR_##type + 128 * (IR_##rounding - IR_RNI + 1))
#define OPS_OP(n, op, modifiers, types, name, ...) OPS_##n(name, __VA_ARGS__)
#include "ptx/ops/ops_convert.def"

static const struct ops_row rows[] = {
#define OPS_OP(n, op, modifiers, types, name, ...) OPS_ROW(op, modifiers, types, name),
#include "ptx/ops/ops_convert.def"
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
