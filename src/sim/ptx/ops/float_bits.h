/* SPDX-License-Identifier: MIT */
/* float and double as bits, and the device's habits: one quiet NaN for every float result, zeros
 * in place of subnormals under .ftz. */
#ifndef CUSHIM_SIM_PTX_OPS_FLOAT_BITS_H
#define CUSHIM_SIM_PTX_OPS_FLOAT_BITS_H

#include <string.h>

#include "ptx/read/ir.h"

#define F32_NAN UINT32_C(0x7fffffff)
#define F32_INFINITY UINT32_C(0x7f800000)
#define F32_SIGN UINT32_C(0x80000000)
#define F64_NAN UINT64_C(0xfff8000000000000)
#define F64_QUIET UINT64_C(0x0008000000000000)
#define F64_INFINITY UINT64_C(0x7ff0000000000000)
#define F64_SIGN UINT64_C(0x8000000000000000)

/* A sum with a product; how it is rounded does not matter. */
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
#define F64_FUSED(a, b, c) __builtin_fma(a, b, c)
#else
#define F64_FUSED(a, b, c) ((a) * (b) + (c))
#endif
/* Of a double, added and taken away: the nearest whole number. */
#define F64_ROUNDING 0x1.8p52

/* The same bits as another type. */
#define SAME_BITS(name, from, to)                                                                  \
    static inline to name(from value)                                                              \
    {                                                                                              \
        to same;                                                                                   \
        memcpy(&same, &value, sizeof same);                                                        \
        return same;                                                                               \
    }
SAME_BITS(f32_bits, float, uint32_t)
SAME_BITS(f32_of, uint32_t, float)
SAME_BITS(f64_bits, double, uint64_t)
SAME_BITS(f64_of, uint64_t, double)

static inline bool f32_is_nan(uint32_t bits)
{
    return (bits & ~F32_SIGN) > F32_INFINITY;
}
static inline bool f64_is_nan(uint64_t bits)
{
    return (bits & ~F64_SIGN) > F64_INFINITY;
}

static inline float f32_same(float value)
{
    return value;
}
static inline float f32_flush(float value)
{
    return __builtin_fabsf(value) < 0x1p-126F ? __builtin_copysignf(0.0F, value) : value;
}

/* Results, as bits. */
static inline uint32_t f32_out(float value)
{
    return value == value ? f32_bits(value) : F32_NAN;
}
static inline uint32_t f32_out_ftz(float value)
{
    return f32_out(f32_flush(value));
}
/* .sat: 0 to 1; a NaN becomes +0. */
static inline uint32_t f32_out_sat(float value)
{
    const float most = value < 1.0F ? value : 1.0F;
    return value > 0.0F ? f32_bits(most) : 0;
}
static inline uint32_t f32_out_ftz_sat(float value)
{
    return f32_out_sat(f32_flush(value));
}

/* A double result that is a NaN: the first operand that was one, quiet; else the generated one. */
static inline uint64_t f64_nan2(uint64_t a, uint64_t b)
{
    return f64_is_nan(a) ? a | F64_QUIET : f64_is_nan(b) ? b | F64_QUIET : F64_NAN;
}
static inline uint64_t f64_nan3(uint64_t a, uint64_t b, uint64_t c)
{
    return f64_is_nan(a) ? a | F64_QUIET : f64_nan2(b, c);
}

/* min and max. A NaN loses against a number, or wins with .NaN; -0 is less than +0, which the
 * order of the bits gives once negative numbers are turned round. */
static inline int32_t f32_key(uint32_t bits)
{
    return (int32_t)(bits ^ ((0U - (bits >> 31)) >> 1));
}
static inline uint32_t float_extreme(uint32_t a, uint32_t b, bool max, bool nan, uint32_t infinity,
                                     uint32_t quiet)
{
    const bool a_nan = (a & ~F32_SIGN) > infinity, b_nan = (b & ~F32_SIGN) > infinity;
    const bool first = max ? f32_key(a) > f32_key(b) : f32_key(a) < f32_key(b);
    const uint32_t number = first ? a : b, one = a_nan ? b : a;
    return !a_nan && !b_nan ? number : nan || (a_nan && b_nan) ? quiet : one;
}
static inline uint32_t f32_extreme(uint32_t a, uint32_t b, bool max, bool nan)
{
    return float_extreme(a, b, max, nan, F32_INFINITY, F32_NAN);
}
static inline uint32_t f32_magnitude(uint32_t bits)
{
    return bits & ~F32_SIGN;
}
static inline uint32_t f32_flush_bits(uint32_t bits)
{
    return bits & F32_INFINITY ? bits : bits & F32_SIGN;
}

/* f16 and bf16 to and from float, and sums of products rounded once. No branches: the
 * loops that use them become vector code. */
/* They are large, and a loop with a call in it stays scalar. */
#define HALF_INLINE static inline __attribute__((always_inline))

#define HALF_NAN UINT32_C(0x7fff) /* of both formats */
#define F16_INFINITY UINT32_C(0x7c00)
#define BF16_INFINITY UINT32_C(0x7f80)

HALF_INLINE uint32_t half_extreme(uint32_t a, uint32_t b, bool max, bool nan, uint32_t infinity)
{
    return float_extreme(a << 16, b << 16, max, nan, infinity << 16, HALF_NAN << 16) >> 16;
}

/* Choices as masks, which compilers do not turn back into branches. */
HALF_INLINE uint32_t half_pick(uint32_t which, uint32_t one, uint32_t other)
{
    return other ^ ((one ^ other) & (0U - which));
}

HALF_INLINE float f16_float(uint32_t half)
{
    const uint32_t magnitude = half & 0x7fff;
    /* Subnormals as integers, as a CPU is slow with subnormals of its own. */
    const uint32_t tiny = f32_bits((float)(int32_t)magnitude * 0x1p-24F);
    const uint32_t special = (magnitude + 0x400) >> 15; /* infinity or NaN */
    const uint32_t normal = (magnitude << 13) + (112U << 23) + special * (112U << 23);
    const uint32_t small = (magnitude - 0x400) >> 31;
    return f32_of(half_pick(small, tiny, normal) | (half & 0x8000) << 16);
}

HALF_INLINE uint32_t f16_bits(float value)
{
    const uint32_t bits = f32_bits(value), magnitude = bits & ~F32_SIGN;
    const uint32_t normal = (magnitude + 0xfff + (magnitude >> 13 & 1) - (112U << 23)) >> 13;
    /* Below 2^-14 one unit of f16 is a unit of the last place of 0.5: the sum rounds. */
    const uint32_t tiny = f32_bits(f32_of(magnitude) + 0.5F) - f32_bits(0.5F);
    const uint32_t small = (magnitude - UINT32_C(0x38800000)) >> 31;
    const uint32_t large = (UINT32_C(0x477fefff) - magnitude) >> 31; /* rounds to infinity */
    const uint32_t nan = (F32_INFINITY - magnitude) >> 31;
    const uint32_t finite = half_pick(small, tiny, normal);
    const uint32_t number = half_pick(large, F16_INFINITY, finite) | (bits >> 16 & 0x8000);
    return half_pick(nan, HALF_NAN, number);
}

HALF_INLINE float bf16_float(uint32_t half)
{
    return f32_of(half << 16);
}

HALF_INLINE uint32_t bf16_bits(float value)
{
    const uint32_t bits = f32_bits(value);
    const uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return half_pick((F32_INFINITY - (bits & ~F32_SIGN)) >> 31, HALF_NAN, rounded);
}

/* Sums of products, in float, such that a second rounding, to half, gives what a single one would:
 * where the float is not exact, its last bit is set ("round to odd"). `nearest` is the float
 * nearest to the sum, `rest` has the sign of what it lacks. */
HALF_INLINE float half_odd(float nearest, float rest)
{
    const uint32_t bits = f32_bits(nearest), past = (f32_bits(rest) ^ bits) >> 31;
    const uint32_t magnitude = f32_bits(rest) & ~F32_SIGN;
    const uint32_t some = (0U - magnitude) >> 31, number = (magnitude - F32_INFINITY - 1) >> 31;
    return f32_of(half_pick(some & number, (bits - past) | 1, bits));
}

/* For f16 all of it fits float: the product is exact, and the sum's error is a float. */
HALF_INLINE float f16_fma(float a, float b, float c)
{
    const float product = a * b, sum = product + c;
    const float added = sum - product;
    return half_odd(sum, (product - (sum - added)) + (c - added));
}

/* Of bf16 by way of double, whose exponents suffice. Half a unit of the float is far more than
 * what the sum lacks, which so counts only where the sum is a float. */
HALF_INLINE float bf16_fma(float a, float b, float c)
{
    const double product = (double)a * (double)b, sum = product + (double)c;
    const double added = sum - product;
    const double lacks = (product - (sum - added)) + ((double)c - added);
    const float nearest = (float)sum;
    const double beyond = sum - (double)nearest, rest = beyond != 0.0 ? beyond : lacks;
    return half_odd(nearest, rest > 0.0 ? 1.0F : rest < 0.0 ? -1.0F : 0.0F);
}

/* A sum that is exact in double. */
HALF_INLINE uint32_t f16_sum(double sum)
{
    const float nearest = (float)sum;
    const double rest = sum - (double)nearest;
    return f16_bits(half_odd(nearest, rest > 0.0 ? 1.0F : rest < 0.0 ? -1.0F : 0.0F));
}

/* Any float format to any other, and to and from integers, rounded once, in
 * any mode: exact and slow. */
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
    static const struct float_format formats[IR_TYPE_COUNT] = {
#define FLOAT_FORMAT(type, ...) [IR_##type] = {__VA_ARGS__},
#include "ptx/ops/float_format.def"
#undef FLOAT_FORMAT
    };
    return formats[type].exponent_bits ? &formats[type] : NULL;
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
