/* SPDX-License-Identifier: MIT */
/* cvt, the frequent cases: integers among each other without .sat, integers from and to float and
 * double, the floats among each other to nearest. All others: ops_cvt.c. */
#include "ptx/ops/exec.h"
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

static int integer_row(unsigned type)
{
    switch (type) {
    case IR_U8:
    case IR_B8:
        return 0;
    case IR_S8:
        return 1;
    case IR_U16:
    case IR_B16:
        return 2;
    case IR_S16:
        return 3;
    case IR_U32:
    case IR_B32:
        return 4;
    case IR_S32:
        return 5;
    case IR_U64:
    case IR_S64:
    case IR_B64:
        return 6;
    default:
        return -1;
    }
}

static ptx_run *select_integers(const struct ir_insn *insn)
{
    static ptx_run *const table[7][4] = {
        {run_cut8_to_8, run_cut8_to_16, run_cut8_to_32, run_cut8_to_64},
        {run_sign8_to_8, run_sign8_to_16, run_sign8_to_32, run_sign8_to_64},
        {run_ops_u16_to_8, run_ops_u16_to_16, run_ops_u16_to_32, run_ops_u16_to_64},
        {run_sign16_to_8, run_sign16_to_16, run_sign16_to_32, run_sign16_to_64},
        {run_whole_to_8, run_whole_to_16, run_whole_to_32, run_whole_to_64},
        {run_whole_to_8, run_whole_to_16, run_whole_to_32, run_signed_to_64},
        {run_long_to_8, run_long_to_16, run_long_to_32, run_long_to_64},
    };
    const int to = integer_row(insn->types[0]), from = integer_row(insn->types[1]);
    if (to < 0 || from < 0 || insn->saturate)
        return NULL;
    return table[from][to / 2];
}

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

static ptx_run *select_from_integer(unsigned to, unsigned from)
{
#define FROM_INTEGER(to)                                                                           \
    {                                                                                              \
        run_s32_to_##to, run_u32_to_##to, run_s64_to_##to, run_u64_to_##to                         \
    }
    static ptx_run *const to_f32[4] = FROM_INTEGER(f32), *const to_f64[4] = FROM_INTEGER(f64);
    ptx_run *const *const table = to == IR_F32 ? to_f32 : to_f64;
    switch (from) {
    case IR_S32:
        return table[0];
    case IR_U32:
        return table[1];
    case IR_S64:
        return table[2];
    case IR_U64:
        return table[3];
    case IR_S16:
        return to == IR_F32 ? run_s16_to_f32 : NULL;
    case IR_U16:
        return to == IR_F32 ? run_u16_to_f32 : NULL;
    case IR_S8:
        return to == IR_F32 ? run_s8_to_f32 : NULL;
    case IR_U8:
        return to == IR_F32 ? run_u8_to_f32 : NULL;
    default:
        return NULL;
    }
}

static ptx_run *select_to_integer(const struct ir_insn *insn)
{
#define TO_INTEGER(rounding, from)                                                                 \
    {                                                                                              \
        run_##rounding##_##from##_s32, run_##rounding##_##from##_u32,                              \
            run_##rounding##_##from##_s64, run_##rounding##_##from##_u64                           \
    }
    static ptx_run *const table[4][2][4] = {{TO_INTEGER(rni, f32), TO_INTEGER(rni, f64)},
                                            {TO_INTEGER(rzi, f32), TO_INTEGER(rzi, f64)},
                                            {TO_INTEGER(rmi, f32), TO_INTEGER(rmi, f64)},
                                            {TO_INTEGER(rpi, f32), TO_INTEGER(rpi, f64)}};
    static ptx_run *const integral[4] = {run_rni_f32_f32, run_rzi_f32_f32, run_rmi_f32_f32,
                                         run_rpi_f32_f32};
    const unsigned rounding = insn->rounding - (unsigned)IR_RNI;
    const bool is_double = insn->types[1] == IR_F64;
    if (insn->rounding < IR_RNI || insn->ftz || (!is_double && insn->types[1] != IR_F32))
        return NULL;
    switch (insn->types[0]) {
    case IR_S32:
        return table[rounding][is_double][0];
    case IR_U32:
        return table[rounding][is_double][1];
    case IR_S64:
        return table[rounding][is_double][2];
    case IR_U64:
        return table[rounding][is_double][3];
    case IR_F32:
        return is_double ? NULL : integral[rounding];
    default:
        return NULL;
    }
}

/* Only to nearest, and what is exact. */
static ptx_run *select_floats(const struct ir_insn *insn)
{
    const unsigned to = insn->types[0], from = insn->types[1];
    if (insn->relu || insn->satfinite)
        return NULL;
    if (to == IR_F64 && from == IR_F32)
        return insn->ftz ? run_f32_to_f64_ftz : run_f32_to_f64;
    if (to == IR_F32 && from == IR_F64)
        return insn->ftz ? run_f64_to_f32_ftz : run_f64_to_f32;
    if (insn->ftz)
        return NULL;
    if (to == IR_F32 && from == IR_F16)
        return run_f16_to_f32;
    if (to == IR_F32 && from == IR_BF16)
        return run_bf16_to_f32;
    if (from != IR_F32)
        return NULL;
    switch (to) {
    case IR_F16:
        return run_f32_to_f16;
    case IR_BF16:
        return run_f32_to_bf16;
    case IR_F16X2:
        return run_f32_to_f16x2;
    case IR_BF16X2:
        return run_f32_to_bf16x2;
    default:
        return NULL;
    }
}

ptx_run *OPS_NAME(ops_convert)(const struct ir_insn *insn, union ptx_how *how, const char **reason)
{
    (void)how;
    (void)reason;
    if (insn->op != IR_CVT)
        return NULL;
    ptx_run *run = select_integers(insn);
    if (run || insn->saturate)
        return run;
    run = select_to_integer(insn);
    if (run)
        return run;
    if (insn->rounding != IR_RN && insn->rounding != IR_ROUND_NONE)
        return NULL;
    if (insn->types[0] == IR_F32 || insn->types[0] == IR_F64)
        run = select_from_integer(insn->types[0], insn->types[1]);
    return run ? run : select_floats(insn);
}
