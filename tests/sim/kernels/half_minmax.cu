/* SPDX-License-Identifier: MIT */
/* half-precision minimum and maximum, and relu. */

KERNEL(half_minmax)
{
    ELEMENT
    const u16 a = HALF(0), b = HALF(1), c = HALF(2);
    const u32 v = WORD(0), w = WORD(1), x = WORD(2);
    PUT(H2("min.f16", a, b));
    PUT(H2("min.ftz.f16", a, b));
    PUT(H2("min.NaN.f16", a, b));
    PUT(H2("min.ftz.NaN.f16", a, b));
    PUT(H2("max.f16", a, b));
    PUT(H2("max.ftz.f16", a, b));
    PUT(H2("max.NaN.f16", a, b));
    PUT(H2("max.ftz.NaN.f16", a, b));
    PUT(R2("min.f16x2", v, w));
    PUT(R2("min.NaN.f16x2", v, w));
    PUT(R2("min.ftz.f16x2", v, w));
    PUT(R2("max.f16x2", v, w));
    PUT(R2("max.NaN.f16x2", v, w));
    PUT(R2("max.ftz.f16x2", v, w));
    PUT(H3("fma.rn.relu.f16", a, b, c));
    PUT(R3("fma.rn.relu.f16x2", v, w, x));
    PUT(R3("fma.rn.ftz.relu.f16x2", v, w, x));
    PUT(H2("min.xorsign.abs.f16", a, b));
    PUT(R2("max.NaN.xorsign.abs.f16x2", v, w));
}
