/* SPDX-License-Identifier: MIT */
/* float and double as bits, and the device's habits: one quiet NaN for every float result, zeros
 * in place of subnormals under .ftz. */
#ifndef CUSHIM_SIM_PTX_OPS_FLOAT_BITS_H
#define CUSHIM_SIM_PTX_OPS_FLOAT_BITS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

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

static inline uint32_t f32_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}
static inline float f32_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
static inline uint64_t f64_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}
static inline double f64_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

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
static inline uint32_t f32_min(uint32_t a, uint32_t b)
{
    const uint32_t least = f32_key(a) < f32_key(b) ? a : b;
    const uint32_t other = f32_is_nan(b) ? F32_NAN : b;
    return f32_is_nan(a) ? other : f32_is_nan(b) ? a : least;
}
static inline uint32_t f32_max(uint32_t a, uint32_t b)
{
    const uint32_t most = f32_key(a) > f32_key(b) ? a : b;
    const uint32_t other = f32_is_nan(b) ? F32_NAN : b;
    return f32_is_nan(a) ? other : f32_is_nan(b) ? a : most;
}
static inline uint32_t f32_min_nan(uint32_t a, uint32_t b)
{
    return f32_is_nan(a) || f32_is_nan(b) ? F32_NAN : f32_key(a) < f32_key(b) ? a : b;
}
static inline uint32_t f32_max_nan(uint32_t a, uint32_t b)
{
    return f32_is_nan(a) || f32_is_nan(b) ? F32_NAN : f32_key(a) > f32_key(b) ? a : b;
}
static inline uint32_t f32_magnitude(uint32_t bits)
{
    return bits & ~F32_SIGN;
}
static inline uint32_t f32_flush_bits(uint32_t bits)
{
    return bits & F32_INFINITY ? bits : bits & F32_SIGN;
}

#endif
