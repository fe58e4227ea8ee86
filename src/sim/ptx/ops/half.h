/* SPDX-License-Identifier: MIT */
/* f16 and bf16 to and from float, and sums of products rounded once. No branches: the loops that
 * use them become vector code. */
#ifndef CUSHIM_SIM_PTX_OPS_HALF_H
#define CUSHIM_SIM_PTX_OPS_HALF_H

#include "ptx/ops/float_bits.h"

/* They are large, and a loop with a call in it stays scalar. */
#define HALF_INLINE static inline __attribute__((always_inline))

#define HALF_NAN UINT32_C(0x7fff) /* of both formats */
#define F16_INFINITY UINT32_C(0x7c00)
#define BF16_INFINITY UINT32_C(0x7f80)

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

#endif
