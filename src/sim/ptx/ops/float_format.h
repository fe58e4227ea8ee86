/* SPDX-License-Identifier: MIT */
/* Any float format to any other, and to and from integers, rounded once, in any mode: exact and
 * slow. */
#ifndef CUSHIM_SIM_PTX_OPS_FLOAT_FORMAT_H
#define CUSHIM_SIM_PTX_OPS_FLOAT_FORMAT_H

#include "ptx/ops/float_bits.h"
#include "ptx/ops/half.h"
#include "ptx/read/ir.h"

struct float_format {
    uint8_t exponent_bits, fraction_bits;
    bool finite; /* e4m3: no infinity, and a NaN only where all bits are ones */
    bool dense;  /* besides: no NaN at all; one becomes the largest number */
    uint8_t low; /* zero bits below the fraction (tf32) */
    uint64_t nan;
};

enum float_kind { FLOAT_FINITE, FLOAT_INFINITE, FLOAT_NAN };
/* fraction * 2^(exponent - 63); bit 63 of fraction is set, or it is zero. Of a NaN: its fraction,
 * with the quiet bit at 62. */
struct float_value {
    enum float_kind kind;
    bool negative;
    int exponent;
    uint64_t fraction;
};

static inline const struct float_format *float_format_of(unsigned type)
{
    static const struct float_format f16 = {5, 10, false, false, 0, 0x7fff},
                                     bf16 = {8, 7, false, false, 0, 0x7fff},
                                     f32 = {8, 23, false, false, 0, F32_NAN},
                                     f64 = {11, 52, false, false, 0, F64_NAN},
                                     tf32 = {8, 10, false, false, 13, 0x7fffe000},
                                     e4m3 = {4, 3, true, false, 0, 0x7f},
                                     e5m2 = {5, 2, false, false, 0, 0x7f},
                                     e2m1 = {2, 1, true, true, 0, 0x7},
                                     e2m3 = {2, 3, true, true, 0, 0x1f},
                                     e3m2 = {3, 2, true, true, 0, 0x1f};
    switch (type) {
    case IR_F16:
    case IR_F16X2:
        return &f16;
    case IR_BF16:
    case IR_BF16X2:
        return &bf16;
    case IR_F32:
        return &f32;
    case IR_F64:
        return &f64;
    case IR_TF32:
        return &tf32;
    case IR_E4M3X2:
        return &e4m3;
    case IR_E5M2X2:
        return &e5m2;
    case IR_E2M1X2:
        return &e2m1;
    case IR_E2M3X2:
        return &e2m3;
    case IR_E3M2X2:
        return &e3m2;
    default:
        return NULL;
    }
}

static inline struct float_value float_from_integer(uint64_t magnitude, bool negative)
{
    const unsigned shift = magnitude ? (unsigned)__builtin_clzll(magnitude) : 0;
    return (struct float_value){FLOAT_FINITE, negative, 63 - (int)shift, magnitude << shift};
}

static inline struct float_value float_decode(uint64_t bits, const struct float_format *format)
{
    const unsigned all = (1U << format->exponent_bits) - 1;
    bits >>= format->low;
    const uint64_t fraction = bits & ((UINT64_C(1) << format->fraction_bits) - 1);
    const unsigned exponent = (unsigned)(bits >> format->fraction_bits) & all;
    const bool negative = bits >> (format->exponent_bits + format->fraction_bits) & 1;
    const int least = 1 - (int)(all >> 1); /* of a normal number */
    struct float_value value;
    if (exponent == all && !format->dense &&
        (!format->finite || fraction == (UINT64_C(1) << format->fraction_bits) - 1)) {
        value = float_from_integer(0, negative);
        value.kind = fraction ? FLOAT_NAN : FLOAT_INFINITE;
        value.fraction = fraction << (63 - format->fraction_bits);
        return value;
    }
    value =
        float_from_integer(fraction | (uint64_t)(exponent != 0) << format->fraction_bits, negative);
    value.exponent += (exponent ? (int)exponent - 1 : 0) + least - format->fraction_bits;
    return value;
}

/* Whether to go up from the lower neighbour, given the first bit left out and whether more follow.
 */
static inline bool float_round_up(unsigned mode, bool negative, bool odd, bool half, bool more)
{
    switch (mode) {
    case IR_RZ:
    case IR_RZI:
        return false;
    case IR_RM:
    case IR_RMI:
        return negative && (half || more);
    case IR_RP:
    case IR_RPI:
        return !negative && (half || more);
    case IR_RNA:
        return half;
    default:
        return half && (more || odd);
    }
}

/* value / 2^drop, rounded. */
static inline uint64_t float_shift(const struct float_value *value, int drop, unsigned mode)
{
    const uint64_t f = value->fraction;
    if (drop <= 0)
        return f;
    const uint64_t kept = drop < 64 ? f >> drop : 0;
    const bool half = drop <= 64 && f >> (drop - 1) & 1;
    const bool more = drop > 64 ? f != 0 : (f & ((UINT64_C(1) << (drop - 1)) - 1)) != 0;
    return kept + float_round_up(mode, value->negative, kept & 1, half, more);
}

/* A NaN that keeps its sign and the upper part of its fraction, and becomes quiet. */
static inline uint64_t float_encode_nan(const struct float_value *value,
                                        const struct float_format *format)
{
    const unsigned width = format->fraction_bits;
    const uint64_t sign = (uint64_t)value->negative << (format->exponent_bits + width);
    const uint64_t infinity = ((UINT64_C(1) << format->exponent_bits) - 1) << width;
    const uint64_t fraction = value->fraction | UINT64_C(1) << 62;
    return sign | infinity | fraction >> (63 - width);
}

/* `finite`: the largest number in place of infinity. */
static inline uint64_t float_encode(const struct float_value *value,
                                    const struct float_format *format, unsigned mode, bool finite)
{
    const unsigned all = (1U << format->exponent_bits) - 1, width = format->fraction_bits;
    const uint64_t sign = (uint64_t)value->negative << (format->exponent_bits + width);
    const uint64_t infinity = (uint64_t)all << width;
    const uint64_t most =
        format->finite ? infinity + (UINT64_C(1) << width) - (format->dense ? 1 : 2) : infinity - 1;
    const int least = 1 - (int)(all >> 1);
    uint64_t bits;
    if (value->kind == FLOAT_NAN)
        return format->nan;
    if (value->kind == FLOAT_INFINITE) {
        bits = most + 1;
    } else if (value->fraction == 0) {
        bits = 0;
    } else if (value->exponent > 1 - least + format->finite) { /* the largest binade's exponent */
        const bool away = float_round_up(mode, value->negative, true, true, true);
        bits = format->finite || away ? most + 1 : most;
    } else {
        const bool tiny = value->exponent < least;
        const int drop = 63 - (int)width + (tiny ? least - value->exponent : 0);
        bits = float_shift(value, drop, mode);
        if (!tiny)
            bits += (uint64_t)(value->exponent - least) << width;
    }
    if (bits > most) {
        if (finite)
            bits = most;
        else if (format->finite)
            return sign | format->nan;
        else
            bits = infinity;
    }
    return (sign | bits) << format->low;
}

#endif
