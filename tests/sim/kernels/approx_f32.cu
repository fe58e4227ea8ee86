/* SPDX-License-Identifier: MIT */
/* Approximate functions of float. reference.c says how near each must be. */

KERNEL(approx_f32)
{
    ELEMENT
    const float a = FLOAT(0), b = FLOAT(1);

    PUT(F1("sin.approx.f32", a));
    PUT(F1("cos.approx.f32", a));
    PUT(F1("ex2.approx.f32", a));
    PUT(F1("ex2.approx.ftz.f32", a));
    PUT(F1("lg2.approx.f32", a));
    PUT(F1("lg2.approx.ftz.f32", a));
    PUT(F1("rcp.approx.f32", a));
    PUT(F1("rcp.approx.ftz.f32", a));
    PUT(F1("rsqrt.approx.f32", a));
    PUT(F1("rsqrt.approx.ftz.f32", a));
    PUT(F1("sqrt.approx.f32", a));
    PUT(F1("sqrt.approx.ftz.f32", a));
    PUT(F1("tanh.approx.f32", a));
    PUT(F2("div.approx.f32", a, b));
    PUT(F2("div.full.f32", a, b));
    PUT(F2("div.approx.ftz.f32", a, b));
}
