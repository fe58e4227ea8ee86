/* SPDX-License-Identifier: MIT */
/* What the mathematical functions are made of: operations that are rounded once and never fused
 * with their neighbours, and the bits of a number. So each result is the same on every device. */
#ifndef CUSHIM_SUBSET_BITS_H
#define CUSHIM_SUBSET_BITS_H

#define CUSHIM_INNER static inline __device__
#define CUSHIM_SLOW static __device__ __attribute__((noinline))
/* The name that C has, so that std:: functions and built-in ones of clang end here, too. */
#define CUSHIM_NAME extern "C" inline __device__

namespace cushim_
{
typedef unsigned int u32;
typedef unsigned long long u64;

CUSHIM_INNER u32 bits(float x)
{
    return __builtin_bit_cast(u32, x);
}

CUSHIM_INNER u64 bits(double x)
{
    return __builtin_bit_cast(u64, x);
}

CUSHIM_INNER float number(u32 x)
{
    return __builtin_bit_cast(float, x);
}

CUSHIM_INNER double number(u64 x)
{
    return __builtin_bit_cast(double, x);
}

CUSHIM_INNER float fma(float x, float y, float z)
{
    return __nvvm_fma_rn_f(x, y, z);
}

CUSHIM_INNER double fma(double x, double y, double z)
{
    return __nvvm_fma_rn_d(x, y, z);
}

CUSHIM_INNER float mul(float x, float y)
{
    return __nvvm_mul_rn_f(x, y);
}

CUSHIM_INNER double mul(double x, double y)
{
    return __nvvm_mul_rn_d(x, y);
}

CUSHIM_INNER float add(float x, float y)
{
    return __nvvm_add_rn_f(x, y);
}

CUSHIM_INNER double add(double x, double y)
{
    return __nvvm_add_rn_d(x, y);
}

CUSHIM_INNER float div(float x, float y)
{
    return __nvvm_div_rn_f(x, y);
}

CUSHIM_INNER double div(double x, double y)
{
    return __nvvm_div_rn_d(x, y);
}

CUSHIM_INNER float root(float x)
{
    return __nvvm_sqrt_rn_f(x);
}

CUSHIM_INNER double root(double x)
{
    return __nvvm_sqrt_rn_d(x);
}

CUSHIM_INNER float magnitude(float x)
{
    return number(bits(x) & 0x7fffffffu);
}

CUSHIM_INNER double magnitude(double x)
{
    return number(bits(x) & 0x7fffffffffffffffull);
}

CUSHIM_INNER bool negative(float x)
{
    return bits(x) >> 31;
}

CUSHIM_INNER bool negative(double x)
{
    return bits(x) >> 63;
}

CUSHIM_INNER float with_sign(float x, float sign)
{
    return number((bits(x) & 0x7fffffffu) | (bits(sign) & 0x80000000u));
}

CUSHIM_INNER double with_sign(double x, double sign)
{
    return number((bits(x) & 0x7fffffffffffffffull) | (bits(sign) & 0x8000000000000000ull));
}

CUSHIM_INNER float whole(float x) /* to the nearest, ties to even */
{
    return __builtin_rintf(x);
}

CUSHIM_INNER double whole(double x)
{
    return __builtin_rint(x);
}

CUSHIM_INNER float cut(float x) /* towards zero */
{
    return __nvvm_trunc_f(x);
}

CUSHIM_INNER double cut(double x)
{
    return __nvvm_trunc_d(x);
}

template <class T> CUSHIM_INNER T sub(T x, T y)
{
    return add(x, -y);
}

/* The format of a type of numbers. */
template <class T> struct format;
template <> struct format<float> {
    typedef u32 word;
    enum { fraction = 23, bias = 127, most = 255, scale = 25 };
    static __device__ float tiny()
    {
        return 0x1p-126f;
    }
};
template <> struct format<double> {
    typedef u64 word;
    enum { fraction = 52, bias = 1023, most = 2047, scale = 54 };
    static __device__ double tiny()
    {
        return 0x1p-1022;
    }
};

template <class T> CUSHIM_INNER T infinity()
{
    return (T)__builtin_inff();
}

template <class T> CUSHIM_INNER T nothing()
{
    return (T)__builtin_nanf("");
}

template <class T> CUSHIM_INNER bool finite(T x)
{
    return magnitude(x) < infinity<T>();
}

template <class T> CUSHIM_INNER bool odd(T x) /* of a whole number */
{
    return cut(mul(x, (T)0.5)) != mul(x, (T)0.5);
}

/* 2 to a power that is no subnormal number. */
template <class T> CUSHIM_INNER T power(int exponent)
{
    typedef format<T> f;
    return number((typename f::word)(exponent + f::bias) << f::fraction);
}

/* x * 2^exponent, rounded once, for x near 1 and an exponent of at most twice the format's. */
template <class T> CUSHIM_INNER T scaled(T x, int exponent)
{
    int half = exponent >> 1;
    return mul(mul(x, power<T>(half)), power<T>(exponent - half));
}

/* The exponent and the significand of a finite number that is not 0; the latter in [low, 2 low). */
template <class T> CUSHIM_INNER T significand(T x, T low, int &exponent)
{
    typedef format<T> f;
    typedef typename f::word word;
    bool small = magnitude(x) < f::tiny();
    if (small)
        x = mul(x, power<T>(f::scale));
    word offset = bits(x) - bits(low);
    const word one = (word)1 << f::fraction;
    /* As a signed number, for what lies below `low`. */
    exponent =
        sizeof(word) == 4 ? (int)offset >> f::fraction : (int)((long long)offset >> f::fraction);
    exponent -= small ? f::scale : 0;
    return number((offset & (one - 1)) + bits(low));
}

template <class T> CUSHIM_INNER T poly(T, T first)
{
    return first;
}

/* first + x (second + x (...)) */
template <class T, class... Rest> CUSHIM_INNER T poly(T x, T first, Rest... rest)
{
    return fma(poly(x, rest...), x, first);
}
} // namespace cushim_

#endif
