/* SPDX-License-Identifier: MIT */
/* The rarer single-precision functions: computed in double precision and rounded once more. */
#ifndef CUSHIM_SUBSET_RARE_H
#define CUSHIM_SUBSET_RARE_H

namespace cushim_
{
/* exp(x^2) erfc(x), for x >= 0 */
CUSHIM_INNER double erfcx_near(double x)
{
    if (x > 11.0) {
        double s = div(1.0, mul(x, x));
        return mul(div(0x1.20dd750429b6dp-1, x), poly(s, 1.0, -0.5, 0.75, -1.875, 6.5625));
    }
    double t = div(sub(x, 3.0), add(x, 3.0));
    double p = poly(t, 0x1.40c522d7f5e16p+0, -0x1.15c084c4e69f6p-3, -0x1.85a15dcb0a19ap-5,
                    0x1.0983689ba8d54p-3, -0x1.e88b6a6f3d9d1p-4, 0x1.17c9f25f17690p-4,
                    -0x1.8578c93f44b4cp-6, 0x1.4ba744dcc1d74p-9, 0x1.f0836f5c4ec32p-10,
                    -0x1.98f98e71920abp-11, -0x1.f46513084c8c6p-14, 0x1.eb2d0d7c8bd0ep-14,
                    0x1.3d3bd8835c448p-16, -0x1.4892891ecd658p-18);
    return div(p, fma(2.0, x, 1.0));
}

CUSHIM_INNER double erf_near(double x) /* |x| <= 1 */
{
    return mul(x, poly(mul(x, x), 0x1.20dd750428d0cp+0, -0x1.812746adee10cp-2, 0x1.ce2f20aa9fc1fp-4,
                       -0x1.b82cbb52c7a46p-6, 0x1.565891c5fc9dbp-8, -0x1.bfe1c8aab8205p-11,
                       0x1.f582be05e7232p-14, -0x1.d2cc9e46a98e8p-17, 0x1.1c6a35c4f0480p-20));
}

CUSHIM_INNER double erfc_any(double x)
{
    double a = magnitude(x);
    if (x != x)
        return x;
    if (a < 0.25)
        return sub(1.0, erf_near(x));
    double y = a > 40.0 ? 0.0 : mul(exp(-mul(a, a)), erfcx_near(a));
    return x < 0 ? sub(2.0, y) : y;
}

/* Lanczos' sum, and z + 7.5, of gamma(z + 1) = sqrt(2 pi) base^(z + 1/2) e^-base sum. */
CUSHIM_INNER double lanczos(double z, double &base)
{
    static const double c[] = {
        0x1.52429b6c30af6p+9,  -0x1.3ac8e8ed414ccp+10, 0x1.81a9661d35bf2p+9,
        -0x1.613ae519812b0p+7, 0x1.903c27cb95467p+3,   -0x1.1bcb104b0dc71p-3,
        0x1.471eb1696f802p-17, 0x1.46c24fdc3f294p-22,  -0x1.5ed29030cb99cp-25};
    double sum = 1.0;
    for (int k = 1; k <= 9; k++)
        sum = add(sum, div(c[k - 1], add(z, (double)k)));
    base = add(z, 7.5);
    return sum;
}
} // namespace cushim_

CUSHIM_NAME float erff(float x)
{
    using namespace cushim_;
    float a = magnitude(x);
    if (!(a > 1.0f))
        return a < 0x1p-100f ? fma(x, 0x1.06eba8p-3f, x) : (float)erf_near((double)x);
    return with_sign((float)sub(1.0, erfc_any((double)a)), x);
}

CUSHIM_NAME float erfcf(float x)
{
    return (float)cushim_::erfc_any((double)x);
}

CUSHIM_NAME float erfcxf(float x)
{
    using namespace cushim_;
    double y = (double)x;
    if (!(x < 0))
        return (float)erfcx_near(y);
    return (float)sub(mul(2.0, exp(mul(y, y))), erfcx_near(-y));
}

CUSHIM_NAME float normcdff(float x)
{
    return (float)cushim_::mul(0.5,
                               cushim_::erfc_any(cushim_::mul((double)x, -0x1.6a09e667f3bcdp-1)));
}

CUSHIM_NAME float lgammaf(float x)
{
    using namespace cushim_;
    double y = (double)magnitude(x), base;
    if (x != x || y == infinity<double>())
        return magnitude(x);
    if (x <= 0 && cut(x) == x)
        return infinity<float>();
    bool reflected = x < 0.5f;
    double z = reflected ? -(double)x : sub(y, 1.0);
    double sum = log(lanczos(z, base)), power = log(base);
    double value = add(0x1.d67f1c864beb5p-1, add(fma(add(z, 0.5), power, -base), sum));
    if (reflected) { /* gamma(x) gamma(1 - x) = pi / sin(pi x) */
        double sine = magnitude(sinpi((double)x));
        value = sub(0x1.250d048e7a1bdp+0, add(log(sine), value));
    }
    return (float)value;
}

CUSHIM_NAME float tgammaf(float x)
{
    using namespace cushim_;
    double base;
    if (x != x || x == infinity<float>() || x == 0)
        return x == 0 ? div(1.0f, x) : x;
    if (x < 0 && cut(x) == x)
        return nothing<float>();
    if (x > 36.0f || x < -50.0f)
        return x > 0 ? infinity<float>() : odd(__nvvm_floor_f(x)) ? -0.0f : 0.0f;
    bool reflected = x < 0.5f;
    double z = reflected ? -(double)x : sub((double)x, 1.0);
    double sum = lanczos(z, base), half = pow(base, mul(add(z, 0.5), 0.5));
    double value = mul(mul(mul(0x1.40d931ff62706p+1, sum), half), mul(half, exp(-base)));
    return (float)(reflected ? div(0x1.921fb54442d18p+1, mul(sinpi((double)x), value)) : value);
}

#define CUSHIM_BY_DOUBLE(name)                                                                     \
    CUSHIM_NAME float name##f(float x)                                                             \
    {                                                                                              \
        return (float)name((double)x);                                                             \
    }
CUSHIM_BY_DOUBLE(expm1)
CUSHIM_BY_DOUBLE(log1p)
CUSHIM_BY_DOUBLE(sinh)
CUSHIM_BY_DOUBLE(cosh)
CUSHIM_BY_DOUBLE(asinh)
CUSHIM_BY_DOUBLE(acosh)
CUSHIM_BY_DOUBLE(atanh)
CUSHIM_BY_DOUBLE(cbrt)
CUSHIM_BY_DOUBLE(rcbrt)

namespace cushim_
{
CUSHIM_INNER double square(float x)
{
    return mul((double)x, (double)x); /* exact */
}

CUSHIM_INNER double length(float x, float y, float z, float w)
{
    bool is_infinite = magnitude(x) == infinity<float>() || magnitude(y) == infinity<float>() ||
                       magnitude(z) == infinity<float>() || magnitude(w) == infinity<float>();
    return is_infinite ? infinity<double>()
                       : root(add(add(square(x), square(y)), add(square(z), square(w))));
}
} // namespace cushim_

CUSHIM_NAME float hypotf(float x, float y)
{
    return (float)cushim_::length(x, y, 0, 0);
}

CUSHIM_NAME float rhypotf(float x, float y)
{
    return (float)cushim_::div(1.0, cushim_::length(x, y, 0, 0));
}

CUSHIM_NAME float norm3df(float x, float y, float z)
{
    return (float)cushim_::length(x, y, z, 0);
}

CUSHIM_NAME float rnorm3df(float x, float y, float z)
{
    return (float)cushim_::div(1.0, cushim_::length(x, y, z, 0));
}

CUSHIM_NAME float norm4df(float x, float y, float z, float w)
{
    return (float)cushim_::length(x, y, z, w);
}

CUSHIM_NAME float rnorm4df(float x, float y, float z, float w)
{
    return (float)cushim_::div(1.0, cushim_::length(x, y, z, w));
}

#endif
