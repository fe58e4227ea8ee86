/* SPDX-License-Identifier: MIT */
/* sin, cos, lg2, ex2, rsqrt, close enough to C's functions of double that the nearest float is
 * mostly known. */
#ifndef CUSHIM_SIM_PTX_OPS_APPROX_H
#define CUSHIM_SIM_PTX_OPS_APPROX_H

#include "ptx/ops/ops.h"

/* The 29 bits of a double that a float lacks. What is farther than FAR of their units from the
 * middle of two floats, whose nearest one it is: the error of every function below is less than a
 * quarter of that, which test_ops_approx.c measures. */
#define LACKING ((UINT64_C(1) << 29) - 1)
#define FAR UINT64_C(512)

/* Bit 63 is set if the nearest float is open. */
OPS_INLINE uint64_t near_middle(double close)
{
    const uint64_t from_middle = (f64_bits(close) + FAR + (UINT64_C(1) << 28)) & LACKING;
    return from_middle - 2 * FAR;
}

/* The sine of at most a quarter of a turn, and a little more. */
OPS_INLINE double short_sine(double angle)
{
    const double square = angle * angle;
    double sum = -0x1.a108a4c7ad2a3p-41;
    sum = F64_FUSED(sum, square, 0x1.60f6ec3b31aaap-33);
    sum = F64_FUSED(sum, square, -0x1.ae63bde343a89p-26);
    sum = F64_FUSED(sum, square, 0x1.71de394e22f61p-19);
    sum = F64_FUSED(sum, square, -0x1.a01a019e69282p-13);
    sum = F64_FUSED(sum, square, 0x1.1111111110062p-7);
    sum = F64_FUSED(sum, square, -0x1.555555555554fp-3);
    return angle * F64_FUSED(sum, square, 1.0);
}
/* Less so many half turns. The first two parts of pi have 31 bits: their products with less than
 * 2^22 halves of a half turn are exact. */
OPS_INLINE double less_half_turns(double angle, double count)
{
    angle = F64_FUSED(count, -0x1.921fb544p+1, angle);
    angle = F64_FUSED(count, -0x1.0b4611a4p-33, angle);
    return F64_FUSED(count, -0x1.13198a2e03707p-64, angle);
}
#define LARGEST_ANGLE 0x1p20F
OPS_INLINE uint32_t large_angle(float angle)
{
    return f32_bits(LARGEST_ANGLE - __builtin_fabsf(angle));
}
OPS_INLINE double sin_close(double a)
{
    const double shifted = F64_FUSED(a, 0x1.45f306dc9c883p-2, F64_ROUNDING);
    const double count = shifted - F64_ROUNDING;
    const double sine = short_sine(less_half_turns(a, count));
    return f64_of(f64_bits(sine) ^ f64_bits(shifted) << 63);
}
OPS_INLINE double cos_close(double a)
{
    const double turned = F64_FUSED(a, 0x1.45f306dc9c883p-2, -0.5);
    const double shifted = turned + F64_ROUNDING, count = shifted - F64_ROUNDING + 0.5;
    const double sine = short_sine(less_half_turns(a, count));
    return f64_of(f64_bits(sine) ^ ~f64_bits(shifted) << 63);
}

/* Beyond 200 a power is as good as infinite or zero. The choice is one of integers, which gcc does
 * not compute the power of both cases for. */
OPS_INLINE float ex2_within(float a)
{
    const uint32_t magnitude = f32_bits(a) & ~F32_SIGN, most = UINT32_C(0x43480000);
    return f32_of((magnitude < most ? magnitude : most) | (f32_bits(a) & F32_SIGN));
}
/* 2^a: the power of the rest by a polynomial, and the whole part into the exponent. */
OPS_INLINE double ex2_close(double a)
{
    const double shifted = a + F64_ROUNDING, rest = a - (shifted - F64_ROUNDING);
    double sum = 0x1.e6063f7217bc6p-28;
    sum = F64_FUSED(sum, rest, 0x1.b675bca4eeebbp-24);
    sum = F64_FUSED(sum, rest, 0x1.62bfd47773353p-20);
    sum = F64_FUSED(sum, rest, 0x1.ffcb54062e698p-17);
    sum = F64_FUSED(sum, rest, 0x1.430913096fd9fp-13);
    sum = F64_FUSED(sum, rest, 0x1.5d87fe9d7a584p-10);
    sum = F64_FUSED(sum, rest, 0x1.3b2ab6fba1ddap-7);
    sum = F64_FUSED(sum, rest, 0x1.c6b08d703ce49p-5);
    sum = F64_FUSED(sum, rest, 0x1.ebfbdff82c598p-3);
    sum = F64_FUSED(sum, rest, 0x1.62e42fefa3a19p-1);
    sum = F64_FUSED(sum, rest, 1.0);
    return f64_of(f64_bits(sum) + (f64_bits(shifted) << 52));
}
/* A subnormal float has fewer bits, so that the middle is elsewhere. */
OPS_INLINE uint32_t ex2_subnormal(float a)
{
    return f32_bits(a + 126.0F) & ~f32_bits(a + 152.0F);
}

/* log2(a) by way of m, from sqrt(1/2) to sqrt(2), and its exponent: 2 atanh((m - 1) / (m + 1)). */
OPS_INLINE double lg2_close(double a)
{
    const uint64_t bits = f64_bits(a), bias = UINT64_C(1024) << 52;
    const uint64_t moved = bits - UINT64_C(0x3fe6a09e667f3bcd) + bias;
    const double exponent = f64_of(moved >> 52 | UINT64_C(0x4330000000000000)) - (0x1p52 + 1024.0);
    const double m = f64_of(bits - (moved & UINT64_C(0xfff) << 52) + bias);
    const double over = m - 1.0, under = m + 1.0;
    const double s = over / under, square = s * s;
    double sum = 0x1.f1899b6e50851p-3;
    sum = F64_FUSED(sum, square, 0x1.0bb79231dc1b5p-2);
    sum = F64_FUSED(sum, square, 0x1.484fad35f02acp-2);
    sum = F64_FUSED(sum, square, 0x1.a61756744e358p-2);
    sum = F64_FUSED(sum, square, 0x1.2776c516aa820p-1);
    sum = F64_FUSED(sum, square, 0x1.ec709dc39c9e6p-1);
    sum = F64_FUSED(sum, square, 0x1.71547652b82ffp+1);
    return F64_FUSED(sum, s, exponent);
}

/* One step of Newton's from the root in float. */
OPS_INLINE double rsqrt_close(double a)
{
    const double root = (double)(1.0F / __builtin_sqrtf((float)a)), half = root * 0.5;
    return F64_FUSED(half, F64_FUSED(-a * root, root, 1.0), root);
}

#endif
