/* SPDX-License-Identifier: MIT */
/* The single-precision functions that kernels use most, in single precision. The polynomials are
 * weighted least-squares fits, each coefficient rounded before the next was fitted. */
#ifndef CUSHIM_SUBSET_FLOAT_H
#define CUSHIM_SUBSET_FLOAT_H

namespace cushim_
{
/* What exp-like functions give where the argument is too large for their reduction, or a NaN. */
CUSHIM_INNER float exp_outside(float x)
{
    return x > 0 ? infinity<float>() : x < 0 ? 0.0f : x;
}

/* x = exponent * ln 2 + log(1 + part): (part, and what log(1 + part) has beyond it). */
CUSHIM_INNER float log_reduce(float x, float &beyond, float &exponent)
{
    int e;
    float part = sub(significand(x, 0x1.555556p-1f, e), 1.0f);
    exponent = (float)e;
    beyond = mul(mul(part, part),
                 poly(part, -0.5f, 0x1.555500p-2f, -0x1.ffff06p-3f, 0x1.99d27ep-3f, -0x1.559a78p-3f,
                      0x1.1eb6cap-3f, -0x1.f3643cp-4f, 0x1.1ef280p-3f, -0x1.075f98p-3f));
    return part;
}

CUSHIM_INNER float log_outside(float x)
{
    return x == 0 ? -infinity<float>() : x < 0 ? nothing<float>() : x;
}

CUSHIM_INNER float sin_near(float x)
{
    float s = mul(x, x);
    return fma(mul(s, x),
               poly(s, -0x1.555556p-3f, 0x1.111166p-7f, -0x1.a04a76p-13f, 0x1.7864f8p-19f), x);
}

CUSHIM_INNER float cos_near(float x)
{
    float s = mul(x, x);
    return fma(mul(s, s), poly(s, 0x1.55554ap-5f, -0x1.6c0c2cp-10f, 0x1.99e9d4p-16f),
               fma(s, -0.5f, 1.0f));
}

CUSHIM_SLOW float sin_reduce_far(float x, int *quadrant)
{
    double rest;
    return (float)sin_reduce_large((double)x, quadrant, &rest);
}

/* x less a multiple of pi/2, in [-pi/4, pi/4]. */
CUSHIM_INNER float sin_reduce(float x, int *quadrant)
{
    if (!(magnitude(x) < 100000.0f))
        return sin_reduce_far(x, quadrant);
    float k = whole(mul(x, 0x1.45f306p-1f));
    *quadrant = (int)k;
    return fma(k, 0x1.ee59dap-50f, fma(k, 0x1.777a5cp-25f, fma(k, -0x1.921fb6p+0f, x)));
}

CUSHIM_INNER float sin_turned(float x, int quadrant)
{
    float y = quadrant & 1 ? cos_near(x) : sin_near(x);
    return quadrant & 2 ? -y : y;
}

/* pi x less a multiple of pi/2. */
CUSHIM_INNER float sinpi_reduce(float x, int *quadrant)
{
    if (magnitude(x) > 0x1p24f) /* even */
        x = 0;
    float k = whole(mul(x, 2.0f)), part = fma(k, -0.5f, x);
    *quadrant = (int)fma(cut(mul(k, 0.25f)), -4.0f, k);
    return fma(part, 0x1.921fb6p+1f, mul(part, -0x1.777a5cp-24f));
}

CUSHIM_INNER float atan_near(float x) /* |x| <= 1 */
{
    float s = mul(x, x);
    return fma(mul(s, x),
               poly(s, -0x1.55553cp-2f, 0x1.99917ep-3f, -0x1.241cd0p-3f, 0x1.c069b0p-4f,
                    -0x1.57adeep-4f, 0x1.d90e88p-5f, -0x1.fb7a72p-6f, 0x1.6229f6p-7f,
                    -0x1.d01aa8p-10f),
               x);
}

CUSHIM_INNER float asin_beyond(float s) /* asin(x) = x + x * this, of s = x * x <= 1/4 */
{
    return mul(s, poly(s, 0x1.55554cp-3f, 0x1.33389ap-4f, 0x1.6caba0p-5f, 0x1.04a60cp-5f,
                       0x1.d82adcp-7f, 0x1.339b94p-5f));
}
} // namespace cushim_

CUSHIM_NAME float expf(float x)
{
    using namespace cushim_;
    if (!(magnitude(x) < 105.0f))
        return exp_outside(x);
    float k = whole(mul(x, 0x1.715476p+0f));
    float r = fma(k, 0x1.05c610p-29f, fma(k, -0x1.62e430p-1f, x));
    float p =
        poly(r, 0x1.000000p-1f, 0x1.555488p-3f, 0x1.5554e2p-5f, 0x1.123fb8p-7f, 0x1.6d53e6p-10f);
    return scaled(add(fma(mul(r, r), p, r), 1.0f), (int)k);
}

CUSHIM_NAME float exp2f(float x)
{
    using namespace cushim_;
    if (!(magnitude(x) < 152.0f))
        return exp_outside(x);
    float k = whole(x), r = sub(x, k);
    float p = poly(r, 0x1.62e430p-1f, 0x1.ebfbe0p-3f, 0x1.c6b076p-5f, 0x1.3b2a48p-7f,
                   0x1.5d9b4ap-10f, 0x1.4424b0p-13f, 0x1.ed3c94p-17f);
    return scaled(fma(p, r, 1.0f), (int)k);
}

CUSHIM_NAME float exp10f(float x)
{
    using namespace cushim_;
    if (!(magnitude(x) < 46.0f))
        return exp_outside(x);
    float k = whole(mul(x, 0x1.a934f0p+1f));
    float r = fma(k, 0x1.ec10c0p-27f, fma(k, -0x1.344136p-2f, x));
    float p = poly(r, 0x1.26bb1cp+1f, 0x1.53524cp+1f, 0x1.047012p+1f, 0x1.2bd76ep+0f,
                   0x1.147db0p-1f, 0x1.a8f522p-3f, 0x1.b7b5a0p-5f);
    return scaled(fma(p, r, 1.0f), (int)k);
}

CUSHIM_NAME float logf(float x)
{
    using namespace cushim_;
    float beyond, e;
    if (!(x > 0 && finite(x)))
        return log_outside(x);
    float part = log_reduce(x, beyond, e);
    return fma(e, 0x1.62e430p-1f, add(part, fma(e, -0x1.05c610p-29f, beyond)));
}

CUSHIM_NAME float log2f(float x)
{
    using namespace cushim_;
    float beyond, e;
    if (!(x > 0 && finite(x)))
        return log_outside(x);
    float part = log_reduce(x, beyond, e), high = mul(part, 0x1.715476p+0f);
    float low = fma(part, 0x1.4ae0c0p-26f, fma(part, 0x1.715476p+0f, -high));
    float sum = add(e, high);
    return add(sum, add(add(sub(e, sum), high), fma(beyond, 0x1.715476p+0f, low)));
}

CUSHIM_NAME float log10f(float x)
{
    using namespace cushim_;
    float beyond, e;
    if (!(x > 0 && finite(x)))
        return log_outside(x);
    float part = log_reduce(x, beyond, e), high = mul(part, 0x1.bcb7b2p-2f);
    float low = fma(part, -0x1.5b235ep-27f, fma(part, 0x1.bcb7b2p-2f, -high));
    low = fma(e, 0x1.3509f8p-18f, fma(beyond, 0x1.bcb7b2p-2f, low));
    float twos = mul(e, 0x1.344p-2f), sum = add(twos, high); /* the product is exact */
    return add(sum, add(add(sub(twos, sum), high), low));
}

CUSHIM_NAME float sinf(float x)
{
    int quadrant;
    if (x == 0)
        return x;
    float r = cushim_::sin_reduce(x, &quadrant);
    return cushim_::sin_turned(r, quadrant);
}

CUSHIM_NAME float cosf(float x)
{
    int quadrant;
    float r = cushim_::sin_reduce(x, &quadrant);
    return cushim_::sin_turned(r, quadrant + 1);
}

CUSHIM_NAME void sincosf(float x, float *sine, float *cosine)
{
    int quadrant;
    float r = cushim_::sin_reduce(x, &quadrant);
    *sine = x == 0 ? x : cushim_::sin_turned(r, quadrant);
    *cosine = cushim_::sin_turned(r, quadrant + 1);
}

CUSHIM_NAME float tanf(float x)
{
    using namespace cushim_;
    int quadrant;
    if (x == 0)
        return x;
    float r = sin_reduce(x, &quadrant), sine = sin_near(r), cosine = cos_near(r);
    return quadrant & 1 ? div(-cosine, sine) : div(sine, cosine);
}

CUSHIM_NAME float sinpif(float x)
{
    int quadrant;
    if (x == 0 || !cushim_::finite(x))
        return x == 0 ? x : cushim_::nothing<float>();
    float r = cushim_::sinpi_reduce(x, &quadrant);
    /* Of a whole number, the zero has the number's sign. */
    return r == 0 && !(quadrant & 1) ? cushim_::with_sign(0.0f, x)
                                     : cushim_::sin_turned(r, quadrant);
}

CUSHIM_NAME float cospif(float x)
{
    int quadrant;
    if (!cushim_::finite(x))
        return cushim_::nothing<float>();
    float r = cushim_::sinpi_reduce(x, &quadrant);
    return r == 0 && quadrant & 1 ? 0.0f : cushim_::sin_turned(r, quadrant + 1);
}

CUSHIM_NAME void sincospif(float x, float *sine, float *cosine)
{
    *sine = sinpif(x);
    *cosine = cospif(x);
}

CUSHIM_NAME float atanf(float x)
{
    using namespace cushim_;
    float a = magnitude(x);
    if (!(a > 1))
        return x == 0 ? x : atan_near(x);
    float r = atan_near(div(1.0f, a));
    return with_sign(add(0x1.921fb6p+0f, sub(-0x1.777a5cp-25f, r)), x);
}

CUSHIM_NAME float atan2f(float y, float x)
{
    using namespace cushim_;
    float a = magnitude(x), b = magnitude(y);
    if (x != x || y != y)
        return add(x, y);
    float most = a > b ? a : b, least = a > b ? b : a;
    float ratio = most == 0 ? 0.0f : least == infinity<float>() ? 1.0f : div(least, most);
    float r = ratio == 0 ? 0.0f : atan_near(ratio);
    if (b > a)
        r = add(0x1.921fb6p+0f, sub(-0x1.777a5cp-25f, r));
    if (negative(x))
        r = add(0x1.921fb6p+1f, sub(-0x1.777a5cp-24f, r));
    return with_sign(r, y);
}

CUSHIM_NAME float asinf(float x)
{
    using namespace cushim_;
    float a = magnitude(x);
    if (!(a > 0.5f))
        return fma(x, asin_beyond(mul(x, x)), x);
    float s = fma(-0.5f, a, 0.5f), r = root(s); /* a NaN for a > 1 */
    float y = fma(-2.0f, fma(r, asin_beyond(s), r), 0x1.921fb6p+0f);
    return with_sign(add(y, -0x1.777a5cp-25f), x);
}

CUSHIM_NAME float acosf(float x)
{
    using namespace cushim_;
    float a = magnitude(x);
    if (!(a > 0.5f)) {
        float r = fma(x, asin_beyond(mul(x, x)), add(x, 0x1.777a5cp-25f));
        return sub(0x1.921fb6p+0f, r);
    }
    float s = fma(-0.5f, a, 0.5f), r = root(s), y = mul(2.0f, fma(r, asin_beyond(s), r));
    return x > 0 ? y : sub(0x1.921fb6p+1f, add(y, 0x1.777a5cp-24f));
}

CUSHIM_NAME float tanhf(float x)
{
    using namespace cushim_;
    float a = magnitude(x), s = mul(x, x);
    if (a < 0.55f)
        return x == 0 ? x
                      : fma(mul(s, x),
                            poly(s, -0x1.55554ap-2f, 0x1.110d00p-3f, -0x1.b9235cp-5f,
                                 0x1.5918e6p-6f, -0x1.9a7bccp-8f),
                            x);
    return x != x ? x : with_sign(fma(-2.0f, div(1.0f, add(expf(mul(2.0f, a)), 1.0f)), 1.0f), x);
}

CUSHIM_NAME float powf(float x, float y)
{
    return cushim_::pow_any(x, y);
}

CUSHIM_NAME float rsqrtf(float x)
{
    return cushim_::div(1.0f, cushim_::root(x));
}

#endif
