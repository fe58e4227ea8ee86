/* SPDX-License-Identifier: MIT */
/* What the functions of both precisions share: arguments far from zero, powers, remainders. */
#ifndef CUSHIM_SUBSET_SHARED_H
#define CUSHIM_SUBSET_SHARED_H

namespace cushim_
{
/* The bits of 2 / pi after 64 zeros. */
static __constant__ const u64 two_over_pi[] = {
    0,
    0xa2f9836e4e441529,
    0xfc2757d1f534ddc0,
    0xdb6295993c439041,
    0xfe5163abdebbc561,
    0xb7246e3a424dd2e0,
    0x06492eea09d1921c,
    0xfe1deb1cb129a73e,
    0xe88235f52ebb4484,
    0xe99c7026b45f7e41,
    0x3991d639835339f4,
    0x9c845f8bbdf9283b,
    0x1ff897ffde05980f,
    0xef2f118b5a0a6d1f,
    0x6d367ecf27cb09b7,
    0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b,
    0x3d0739f78a5292ea,
    0x6bfb5fb11f8d5d08,
    0x56033046fc7b6bab,
    0xf0cfbc209af4361d,
};

CUSHIM_INNER u64 two_over_pi_at(int bit)
{
    int word = bit >> 6, shift = bit & 63;
    u64 high = two_over_pi[word] << shift;
    return shift ? high | two_over_pi[word + 1] >> (64 - shift) : high;
}

/* x less a multiple of pi/2, as a sum of two numbers, for |x| >= 2^15: the bits of x times those
 * bits of 2 / pi that decide the quadrant and the fraction (Payne and Hanek). */
CUSHIM_SLOW double sin_reduce_large(double x, int *quadrant, double *low)
{
    if (!finite(x)) {
        *quadrant = 0;
        *low = 0;
        return nothing<double>();
    }
    int start = (int)(bits(x) >> 52 & 2047) - 1075 - 2 + 64;
    u64 m = (bits(x) & 0xfffffffffffffull) | 1ull << 52;
    u64 w0 = two_over_pi_at(start), w1 = two_over_pi_at(start + 64);
    u64 w2 = two_over_pi_at(start + 128);
    u64 p0 = m * w2, p1 = m * w1, p2 = m * w0;
    u64 carried = __nvvm_mulhi_ull(m, w2);
    p1 += carried;
    p2 += __nvvm_mulhi_ull(m, w1) + (p1 < carried);

    int turns = (int)(p2 >> 62);
    u64 high = p2 << 2 | p1 >> 62, rest = p1 << 2 | p0 >> 62;
    bool over = high >> 63;
    if (over) { /* the next multiple is nearer */
        high = ~high + (rest == 0);
        rest = -rest;
        turns++;
    }
    int zeros = high ? __builtin_clzll(high) : 63;
    if (zeros) {
        high = high << zeros | rest >> (64 - zeros);
        rest <<= zeros;
    }
    double first = mul((double)(high >> 11), power<double>(-53 - zeros));
    double second = mul((double)((high & 2047) << 42 | rest >> 22), power<double>(-106 - zeros));
    double y = mul(first, 0x1.921fb54442d18p+0);
    double z = fma(first, 0x1.921fb54442d18p+0, -y);
    z = fma(first, 0x1.1a62633145c07p-54, fma(second, 0x1.921fb54442d18p+0, z));
    bool minus = over != negative(x);
    *quadrant = negative(x) ? -turns : turns;
    *low = minus ? -z : z;
    return minus ? -y : y;
}

/* The constants of a power: polynomials of atanh and 2^x, log2(e) * 2 and 1/3 in two parts. */
template <class T> struct power_of;
template <> struct power_of<float> {
    static __device__ float root_half()
    {
        return 0x1.6a09e6p-1f;
    }
    static __device__ float third()
    {
        return 0x1.555556p-2f;
    }
    static __device__ float third_low()
    {
        return -0x1.555556p-27f;
    }
    static __device__ float scale()
    {
        return 0x1.715476p+1f;
    }
    static __device__ float scale_low()
    {
        return 0x1.4ae0c0p-25f;
    }
    static __device__ float most()
    {
        return 160;
    }
    static __device__ float atanh(float v)
    {
        return poly(v, 0x1.999a02p-3f, 0x1.2451d6p-3f, 0x1.dfbc70p-4f);
    }
    static __device__ float exp2(float r)
    {
        return poly(r, 0x1.62e430p-1f, 0x1.ebfbe0p-3f, 0x1.c6b076p-5f, 0x1.3b2a48p-7f,
                    0x1.5d9b4ap-10f, 0x1.4424b0p-13f, 0x1.ed3c94p-17f);
    }
};
template <> struct power_of<double> {
    static __device__ double root_half()
    {
        return 0x1.6a09e667f3bcdp-1;
    }
    static __device__ double third()
    {
        return 0x1.5555555555555p-2;
    }
    static __device__ double third_low()
    {
        return 0x1.5555555555555p-56;
    }
    static __device__ double scale()
    {
        return 0x1.71547652b82fep+1;
    }
    static __device__ double scale_low()
    {
        return 0x1.777d0ffda0d24p-55;
    }
    static __device__ double most()
    {
        return 1100;
    }
    static __device__ double atanh(double v)
    {
        return poly(v, 0x1.9999999999995p-3, 0x1.249249249314fp-3, 0x1.c71c71c56473bp-4,
                    0x1.745d183dd16d9p-4, 0x1.3b13600773d8cp-4, 0x1.11211164a20c1p-4,
                    0x1.de265659310b6p-5, 0x1.eb74606c0604cp-5);
    }
    static __device__ double exp2(double r)
    {
        return poly(r, 0x1.62e42fefa39efp-1, 0x1.ebfbdff82c58fp-3, 0x1.c6b08d704a183p-5,
                    0x1.3b2ab6fba4d80p-7, 0x1.5d87fe7888b62p-10, 0x1.430912f8a93b7p-13,
                    0x1.ffcbfcdbb0815p-17, 0x1.62c021635f524p-20, 0x1.b524224fbe196p-24,
                    0x1.e4d2017c60869p-28, 0x1.eafe8868eac99p-32, 0x1.c0e2e02dac2bfp-36);
    }
};

/* log2(x) as a sum of two numbers, for a finite x > 0: 2 atanh((m - 1) / (m + 1)) / ln 2 + e. */
template <class T> CUSHIM_INNER T log2_exact(T x, T &low)
{
    typedef power_of<T> of;
    int exponent;
    T m = significand(x, of::root_half(), exponent), e = (T)exponent;
    T f = sub(m, (T)1), d = add(m, (T)1), d_low = sub(m, sub(d, (T)1));
    T s = div(f, d), s_low = div(fma(-s, d_low, fma(-s, d, f)), d);
    T v = mul(s, s), v_low = fma(mul(s, (T)2), s_low, fma(s, s, -v));
    T q = of::atanh(v), t = mul(v, q), w = add(of::third(), t);
    T w_low = add(add(sub(of::third(), w), t), add(of::third_low(), fma(v, q, -t)));
    T z = mul(v, w), z_low = fma(v, w_low, fma(v_low, w, fma(v, w, -z)));
    T p = mul(s, z), p_low = fma(s, z_low, fma(s_low, z, add(fma(s, z, -p), s_low)));
    T h = add(s, p), h_low = add(add(sub(s, h), p), p_low);
    T a = mul(h, of::scale());
    T a_low = fma(h, of::scale_low(), fma(h_low, of::scale(), fma(h, of::scale(), -a)));
    T sum = add(e, a);
    low = add(add(sub(e, sum), a), a_low);
    return sum;
}

/* 2^(high + low) */
template <class T> CUSHIM_INNER T exp2_exact(T high, T low)
{
    typedef power_of<T> of;
    if (!(magnitude(high) < of::most()))
        return high > 0 ? infinity<T>() : (T)0;
    T k = whole(high), r = sub(high, k), p = of::exp2(r);
    T tail = mul(low, (T)0x1.62e42fefa39efp-1);
    T y = mul(p, r); /* 2^r - 1 */
    return scaled(add((T)1, add(y, fma(tail, y, add(tail, fma(p, r, -y))))), (int)k);
}

template <class T> CUSHIM_INNER T pow_any(T x, T y)
{
    T a = magnitude(x), b = magnitude(y), result, low;
    if (y == 0 || x == 1)
        return 1;
    if (x != x || y != y)
        return add(x, y);
    if (b == infinity<T>())
        return a == 1 ? (T)1 : (a > 1) == (y > 0) ? b : (T)0;
    bool is_whole = cut(y) == y;
    if (a == 0 || a == infinity<T>()) {
        result = (a == 0) == (y < 0) ? infinity<T>() : (T)0;
    } else {
        if (x < 0 && !is_whole)
            return nothing<T>();
        T high = log2_exact(a, low), product = mul(y, high);
        low = magnitude(product) < power_of<T>::most() ? fma(y, low, fma(y, high, -product)) : (T)0;
        result = exp2_exact(product, low);
    }
    return negative(x) && is_whole && odd(y) ? -result : result;
}

/* The remainder of magnitudes x and y, and the last bits of the whole quotient. */
template <class T> CUSHIM_SLOW T remainder_of(T x, T y, int *quotient)
{
    typedef format<T> f;
    typedef typename f::word word;
    int d = 0, e = 0;
    unsigned count = 0;
    *quotient = 0;
    if (!(x < infinity<T>()) || !(y > 0))
        return nothing<T>();
    if (x < y)
        return x;
    const word one = (word)1 << f::fraction;
    word m = bits(significand(x, (T)1, d)), n = bits(significand(y, (T)1, e));
    m = (m & (one - 1)) | one;
    n = (n & (one - 1)) | one;
    for (; d >= e; d--) {
        count <<= 1;
        if (m >= n) {
            m -= n;
            count |= 1;
        }
        m <<= d > e;
        if (d == e)
            break;
    }
    *quotient = (int)(count & 0x7fffffffu);
    /* m * 2^(e - fraction), exactly. */
    int exponent = e - f::fraction, half = exponent / 2;
    T value = (T)m;
    if (exponent < 1 - f::bias) /* a subnormal power */
        return mul(mul(value, power<T>(half)), power<T>(exponent - half));
    return mul(value, power<T>(exponent));
}

template <class T> CUSHIM_INNER T fmod_any(T x, T y)
{
    int quotient;
    if (x != x || y != y)
        return add(x, y);
    if (magnitude(y) == infinity<T>() && finite(x))
        return x;
    return with_sign(remainder_of(magnitude(x), magnitude(y), &quotient), x);
}

template <class T> CUSHIM_INNER T remquo_any(T x, T y, int *quotient)
{
    int count = 0;
    *quotient = 0;
    if (x != x || y != y)
        return add(x, y);
    if (magnitude(y) == infinity<T>() && finite(x))
        return x;
    T b = magnitude(y), r = remainder_of(magnitude(x), b, &count);
    T other = sub(b, r); /* rounded only where r is far smaller */
    if (r > other || (r == other && count & 1)) {
        r = -other;
        count++;
    }
    count &= 0x7fffffff;
    *quotient = negative(x) != negative(y) ? -count : count;
    r = r == 0 ? with_sign(r, x) : negative(x) ? -r : r;
    return r;
}

template <class T> CUSHIM_INNER T scalbn_any(T x, int n)
{
    typedef format<T> f;
    int e;
    if (x == 0 || !finite(x))
        return x;
    T m = significand(magnitude(x), (T)1, e);
    const int far = 2 * f::most;
    n = n > far ? far : n < -far ? -far : n;
    e += n;
    e = e > f::bias + 2                  ? f::bias + 2
        : e < -f::bias - f::fraction - 2 ? -f::bias - f::fraction - 2
                                         : e;
    return with_sign(scaled(m, e), x);
}

template <class T> CUSHIM_INNER T frexp_any(T x, int *exponent)
{
    *exponent = 0;
    if (x == 0 || !finite(x))
        return x;
    T m = significand(magnitude(x), (T)0.5, *exponent);
    return with_sign(m, x);
}

template <class T> CUSHIM_INNER int ilogb_any(T x)
{
    int e = 0;
    if (x == 0)
        return -2147483647 - 1;
    if (!finite(x))
        return x != x ? -2147483647 - 1 : 2147483647;
    significand(magnitude(x), (T)1, e);
    return e;
}

template <class T> CUSHIM_INNER T logb_any(T x)
{
    return x == 0 ? -infinity<T>() : !finite(x) ? mul(x, x) : (T)ilogb_any(x);
}

template <class T> CUSHIM_INNER T modf_any(T x, T *part)
{
    *part = cut(x);
    return with_sign(finite(x) ? sub(x, *part) : x != x ? x : (T)0, x);
}

template <class T> CUSHIM_INNER T round_any(T x) /* halves away from zero */
{
    T part = cut(x);
    return magnitude(sub(x, part)) >= (T)0.5 ? add(part, with_sign((T)1, x)) : part;
}

template <class T> CUSHIM_INNER T nextafter_any(T x, T y)
{
    typedef typename format<T>::word word;
    if (x != x || y != y)
        return add(x, y);
    if (x == y)
        return y;
    if (x == 0)
        return with_sign(number((word)1), y);
    word w = bits(x);
    return number((x < y) == (x > 0) ? w + 1 : w - 1);
}
} // namespace cushim_

#endif
