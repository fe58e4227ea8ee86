/* SPDX-License-Identifier: MIT */
/* The double-precision functions; most of the rarer single-precision ones are made of them. */
#ifndef CUSHIM_SUBSET_DOUBLE_H
#define CUSHIM_SUBSET_DOUBLE_H

namespace cushim_
{
CUSHIM_INNER double exp_outside(double x)
{
    return x > 0 ? infinity<double>() : x < 0 ? 0.0 : x;
}

CUSHIM_INNER double log_outside(double x)
{
    return x == 0 ? -infinity<double>() : x < 0 ? nothing<double>() : x;
}

/* exp(x) - 1, for |x| <= ln 2 / 2 */
CUSHIM_INNER double exp_near(double r)
{
    double p = poly(r, 0x1.000000000000cp-1, 0x1.555555555555cp-3, 0x1.555555554fd70p-5,
                    0x1.111111110e9bbp-7, 0x1.6c16c1863ae15p-10, 0x1.a01a01b46c1bdp-13,
                    0x1.a019950af2bfap-16, 0x1.71ddedf7cef93p-19, 0x1.28b1b1a39b786p-22,
                    0x1.af6f756d82cc8p-26);
    return fma(mul(r, r), p, r);
}

CUSHIM_INNER double exp_reduce(double x, double &k)
{
    k = whole(mul(x, 0x1.71547652b82fep+0));
    return fma(k, -0x1.abc9e3b39803fp-56, fma(k, -0x1.62e42fefa39efp-1, x));
}

CUSHIM_INNER double sin_near(double x, double low)
{
    double s = mul(x, x), c = fma(s, -0.5, 1.0);
    double p = poly(s, -0x1.5555555555555p-3, 0x1.111111111108ap-7, -0x1.a01a01a0069a9p-13,
                    0x1.71de3a3fc19bcp-19, -0x1.ae643ccfed9a0p-26, 0x1.61145d8930541p-33,
                    -0x1.a53a1af27481fp-41);
    return add(x, fma(mul(s, x), p, mul(low, c)));
}

CUSHIM_INNER double cos_near(double x, double low)
{
    double s = mul(x, x), h = mul(s, 0.5), w = sub(1.0, h);
    double p = poly(s, 0x1.5555555555555p-5, -0x1.6c16c16c16b46p-10, 0x1.a01a01a001577p-16,
                    -0x1.27e4fb6005e6cp-22, 0x1.1eed76b55db19p-29, -0x1.937cd3aaecdfep-37,
                    0x1.a1939a309d42bp-45);
    return add(w, add(sub(sub(1.0, w), h), fma(mul(s, s), p, -mul(x, low))));
}

CUSHIM_INNER double sin_reduce(double x, int *quadrant, double *low)
{
    if (!(magnitude(x) < 0x1p20))
        return sin_reduce_large(x, quadrant, low);
    double k = whole(mul(x, 0x1.45f306dc9c883p-1)), first = fma(k, -0x1.921fb54442d18p+0, x);
    double second = mul(k, 0x1.1a62633145c07p-54), r = sub(first, second);
    double rest = sub(sub(first, r), second);
    *low = sub(rest, fma(k, -0x1.f1976b7ed8fbcp-110, fma(k, 0x1.1a62633145c07p-54, -second)));
    *quadrant = (int)k;
    return r;
}

CUSHIM_INNER double sin_turned(double x, double low, int quadrant)
{
    double y = quadrant & 1 ? cos_near(x, low) : sin_near(x, low);
    return quadrant & 2 ? -y : y;
}

CUSHIM_INNER double sinpi_reduce(double x, int *quadrant, double *low)
{
    if (magnitude(x) > 0x1p53) /* even */
        x = 0;
    double k = whole(mul(x, 2.0)), part = fma(k, -0.5, x);
    double r = mul(part, 0x1.921fb54442d18p+1);
    *quadrant = (int)fma(cut(mul(k, 0.25)), -4.0, k);
    *low = fma(part, 0x1.1a62633145c07p-53, fma(part, 0x1.921fb54442d18p+1, -r));
    return r;
}

CUSHIM_INNER double atan_near(double x) /* |x| <= tan(pi/8) */
{
    double s = mul(x, x);
    return fma(mul(s, x),
               poly(s, -0x1.5555555555554p-2, 0x1.99999999995bbp-3, -0x1.2492492471ef9p-3,
                    0x1.c71c71b5e0a41p-4, -0x1.745d148df6f67p-4, 0x1.3b136ac8cbc3cp-4,
                    -0x1.110c4609b9488p-4, 0x1.e16ee6af250e8p-5, -0x1.ab6b4314db6e0p-5,
                    0x1.70a8e54a9c249p-5, -0x1.11a3e9b84f2f6p-5, 0x1.efb7c06f04ec8p-7),
               x);
}

CUSHIM_INNER double atan_ratio(double y, double x) /* of 0 <= y <= x; of x > 0 */
{
    bool steep = y > mul(x, 0.4142135623730950);
    /* atan(y/x) = pi/4 - atan((x - y) / (x + y)) */
    double r = atan_near(steep ? div(sub(x, y), add(x, y)) : div(y, x));
    return steep ? add(0x1.921fb54442d18p-1, sub(0x1.1a62633145c07p-55, r)) : r;
}
} // namespace cushim_

CUSHIM_NAME double exp(double x)
{
    using namespace cushim_;
    double k;
    if (!(magnitude(x) < 746.0))
        return exp_outside(x);
    double r = exp_reduce(x, k);
    return scaled(add(exp_near(r), 1.0), (int)k);
}

CUSHIM_NAME double expm1(double x)
{
    using namespace cushim_;
    double k;
    if (!(magnitude(x) < 709.0))
        return x < 0 ? -1.0 : exp(x);
    double r = exp_reduce(x, k), e = exp_near(r), two = power<double>((int)k);
    return x == 0 ? x : k == 0 ? e : k < -60 ? -1.0 : add(sub(two, 1.0), mul(two, e));
}

CUSHIM_NAME double exp2(double x)
{
    return x != x ? x : cushim_::exp2_exact(x, 0.0);
}

CUSHIM_NAME double exp10(double x)
{
    using namespace cushim_;
    if (!(magnitude(x) < 330.0))
        return exp_outside(x);
    double k = whole(mul(x, 0x1.a934f0979a371p+1));
    double part = fma(k, 0x1.9dc1da994fd21p-59, fma(k, -0x1.34413509f79ffp-2, x));
    return scaled(add(exp_near(mul(part, 0x1.26bb1bbb55516p+1)), 1.0), (int)k);
}

CUSHIM_NAME double log(double x)
{
    using namespace cushim_;
    int k;
    if (!(x > 0 && finite(x)))
        return log_outside(x);
    double f = sub(significand(x, 0x1.6a09e667f3bcdp-1, k), 1.0), e = (double)k;
    double s = div(f, add(f, 2.0)), v = mul(s, s);
    /* log(1 + f) = 2 s + 2 s v (1/3 + v Q), and 2 s = f - s f */
    double q = mul(v, fma(v, power_of<double>::atanh(v), 0x1.5555555555555p-2));
    double rest = fma(e, 0x1.abc9e3b39803fp-56, mul(s, fma(2.0, q, -f)));
    return fma(e, 0x1.62e42fefa39efp-1, add(f, rest));
}

CUSHIM_NAME double log1p(double x)
{
    using namespace cushim_;
    double u = add(1.0, x);
    if (u == 1.0 || !(x > -1.0 && finite(x)))
        return u == 1.0 ? x : log(u);
    double lost = x < 1.0 ? sub(x, sub(u, 1.0)) : sub(1.0, sub(u, x));
    return add(log(u), div(lost, u));
}

CUSHIM_NAME double log2(double x)
{
    double low;
    if (!(x > 0 && cushim_::finite(x)))
        return cushim_::log_outside(x);
    double high = cushim_::log2_exact(x, low);
    return cushim_::add(high, low);
}

CUSHIM_NAME double log10(double x)
{
    using namespace cushim_;
    double low;
    if (!(x > 0 && finite(x)))
        return log_outside(x);
    double high = log2_exact(x, low), y = mul(high, 0x1.34413509f79ffp-2);
    double z = fma(high, 0x1.34413509f79ffp-2, -y);
    return add(y, fma(high, -0x1.9dc1da994fd21p-59, fma(low, 0x1.34413509f79ffp-2, z)));
}

CUSHIM_NAME double pow(double x, double y)
{
    return cushim_::pow_any(x, y);
}

CUSHIM_NAME void sincos(double x, double *sine, double *cosine)
{
    int quadrant;
    double low, r = cushim_::sin_reduce(x, &quadrant, &low);
    *sine = x == 0 ? x : cushim_::sin_turned(r, low, quadrant);
    *cosine = cushim_::sin_turned(r, low, quadrant + 1);
}

CUSHIM_NAME double sin(double x)
{
    double sine, cosine;
    sincos(x, &sine, &cosine);
    return sine;
}

CUSHIM_NAME double cos(double x)
{
    double sine, cosine;
    sincos(x, &sine, &cosine);
    return cosine;
}

CUSHIM_NAME double tan(double x)
{
    double sine, cosine;
    sincos(x, &sine, &cosine);
    return cushim_::div(sine, cosine);
}

CUSHIM_NAME double sinpi(double x)
{
    int quadrant;
    double low;
    if (x == 0 || !cushim_::finite(x))
        return x == 0 ? x : cushim_::nothing<double>();
    double r = cushim_::sinpi_reduce(x, &quadrant, &low);
    return r == 0 && !(quadrant & 1) ? cushim_::with_sign(0.0, x)
                                     : cushim_::sin_turned(r, low, quadrant);
}

CUSHIM_NAME double cospi(double x)
{
    int quadrant;
    double low;
    if (!cushim_::finite(x))
        return cushim_::nothing<double>();
    double r = cushim_::sinpi_reduce(x, &quadrant, &low);
    return r == 0 && quadrant & 1 ? 0.0 : cushim_::sin_turned(r, low, quadrant + 1);
}

CUSHIM_NAME void sincospi(double x, double *sine, double *cosine)
{
    *sine = sinpi(x);
    *cosine = cospi(x);
}

CUSHIM_NAME double atan2(double y, double x)
{
    using namespace cushim_;
    double a = magnitude(x), b = magnitude(y), r;
    if (x != x || y != y)
        return add(x, y);
    if (a == b)
        r = a == 0 ? 0.0 : 0x1.921fb54442d18p-1;
    else if (a > 0x1p1000 || b > 0x1p1000)
        r = atan_ratio(mul(a < b ? a : b, 0x1p-64),
                       a == infinity<double>() || b == infinity<double>()
                           ? 0x1.fffffffffffffp1023
                           : mul(a < b ? b : a, 0x1p-64));
    else
        r = atan_ratio(a < b ? a : b, a < b ? b : a);
    if (a != b && (a == infinity<double>() || b == infinity<double>()))
        r = 0.0;
    if (b > a)
        r = add(0x1.921fb54442d18p+0, sub(0x1.1a62633145c07p-54, r));
    if (negative(x))
        r = add(0x1.921fb54442d18p+1, sub(0x1.1a62633145c07p-53, r));
    return with_sign(r, y);
}

CUSHIM_NAME double atan(double x)
{
    return atan2(x, 1.0);
}

CUSHIM_NAME double asin(double x)
{
    using namespace cushim_;
    double a = magnitude(x);
    if (!(a <= 1.0))
        return nothing<double>();
    return with_sign(atan2(a, root(mul(sub(1.0, a), add(1.0, a)))), x);
}

CUSHIM_NAME double acos(double x)
{
    using namespace cushim_;
    if (!(magnitude(x) <= 1.0))
        return nothing<double>();
    return mul(2.0, atan2(root(sub(1.0, x)), root(add(1.0, x))));
}

CUSHIM_NAME double sinh(double x)
{
    using namespace cushim_;
    double a = magnitude(x);
    if (a > 700.0) {
        double half = exp(mul(a, 0.5));
        return with_sign(mul(mul(half, 0.5), half), x);
    }
    double t = expm1(a);
    return with_sign(mul(0.5, add(t, div(t, add(t, 1.0)))), x);
}

CUSHIM_NAME double cosh(double x)
{
    using namespace cushim_;
    double half = exp(mul(magnitude(x), 0.5)), t = mul(half, half);
    if (magnitude(x) > 40.0)
        return mul(mul(half, 0.5), half);
    t = exp(magnitude(x));
    return mul(0.5, add(t, div(1.0, t)));
}

CUSHIM_NAME double tanh(double x)
{
    using namespace cushim_;
    double a = magnitude(x), t = expm1(mul(2.0, a));
    return x != x || x == 0 ? x : with_sign(a > 22.0 ? 1.0 : div(t, add(t, 2.0)), x);
}

CUSHIM_NAME double asinh(double x)
{
    using namespace cushim_;
    double a = magnitude(x), s = mul(a, a);
    if (!finite(x) || x == 0)
        return x;
    if (a > 0x1p28)
        return with_sign(add(log(a), 0x1.62e42fefa39efp-1), x);
    return with_sign(log1p(add(a, div(s, add(1.0, root(add(s, 1.0)))))), x);
}

CUSHIM_NAME double acosh(double x)
{
    using namespace cushim_;
    double t = sub(x, 1.0);
    if (x > 0x1p28)
        return add(log(x), 0x1.62e42fefa39efp-1);
    return x < 1.0 ? nothing<double>() : log1p(add(t, root(mul(t, add(x, 1.0)))));
}

CUSHIM_NAME double atanh(double x)
{
    using namespace cushim_;
    double a = magnitude(x);
    return x == 0 ? x : with_sign(mul(0.5, log1p(div(mul(2.0, a), sub(1.0, a)))), x);
}

CUSHIM_NAME double cbrt(double x)
{
    using namespace cushim_;
    if (x == 0 || !finite(x))
        return x;
    int e;
    double m = significand(magnitude(x), 1.0, e);
    int third = (e + 1074 + 3) / 3 - 359; /* floor(e / 3) */
    m = mul(m, power<double>(e - 3 * third));
    double y = number(bits(m) / 3 + 0x2a9f7893782da1ceull);
    for (int i = 0; i < 4; i++)
        y = sub(y, mul(sub(y, div(m, mul(y, y))), 0x1.5555555555555p-2));
    return with_sign(mul(y, power<double>(third)), x);
}

CUSHIM_NAME double rcbrt(double x)
{
    return cushim_::div(1.0, cbrt(x));
}

CUSHIM_NAME double rsqrt(double x)
{
    return cushim_::div(1.0, cushim_::root(x));
}

CUSHIM_NAME double hypot(double x, double y)
{
    using namespace cushim_;
    double a = magnitude(x), b = magnitude(y), most = a > b ? a : b, least = a > b ? b : a;
    if (a == infinity<double>() || b == infinity<double>())
        return infinity<double>();
    if (x != x || y != y || most == 0)
        return add(a, b);
    int e;
    significand(most, 1.0, e);
    double large = scalbn_any(most, -e), small = scalbn_any(least, -e), s = mul(large, large);
    double low = fma(large, large, -s), sum = fma(small, small, s);
    double y0 = root(add(sum, low));
    return scalbn_any(y0, e);
}

#endif
