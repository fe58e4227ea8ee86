/* SPDX-License-Identifier: MIT */
/* float minimum and maximum with what sm_80 and sm_86 added. */

KERNEL(f32_minmax80)
{
    ELEMENT
    const float a = FLOAT(0), b = FLOAT(1);

    PUT(F2("min.NaN.f32", a, b));
    PUT(F2("max.NaN.f32", a, b));
    PUT(F2("min.ftz.NaN.f32", a, b));
    PUT(F2("min.xorsign.abs.f32", a, b));
    PUT(F2("max.xorsign.abs.f32", a, b));
    PUT(F2("max.ftz.NaN.xorsign.abs.f32", a, b));
}
