/* SPDX-License-Identifier: MIT */
/* float quotients, reciprocals and square roots, correctly rounded. */

KERNEL(f32_divide)
{
    ELEMENT
    const float a = FLOAT(0), b = FLOAT(1);

    PUT(F2("div.rn.f32", a, b));
    PUT(F2("div.rz.f32", a, b));
    PUT(F2("div.rm.f32", a, b));
    PUT(F2("div.rp.f32", a, b));
    PUT(F2("div.rn.ftz.f32", a, b));
    PUT(F2("div.rz.ftz.f32", a, b));
    PUT(F1("rcp.rn.f32", a));
    PUT(F1("rcp.rz.f32", a));
    PUT(F1("rcp.rm.f32", a));
    PUT(F1("rcp.rp.f32", a));
    PUT(F1("rcp.rn.ftz.f32", a));
    PUT(F1("sqrt.rn.f32", a));
    PUT(F1("sqrt.rz.f32", a));
    PUT(F1("sqrt.rm.f32", a));
    PUT(F1("sqrt.rp.f32", a));
    PUT(F1("sqrt.rn.ftz.f32", a));
    PUT(float_bits(a / b));
    PUT(float_bits(1.0f / b));
    PUT(float_bits(a / 3.0f));
}
