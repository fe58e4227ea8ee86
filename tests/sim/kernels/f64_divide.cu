/* SPDX-License-Identifier: MIT */
/* double quotients, reciprocals and square roots, correctly rounded. */

KERNEL(f64_divide)
{
    ELEMENT
    const double a = DOUBLE(0), b = DOUBLE(1);

    PUT64(D2("div.rn.f64", a, b));
    PUT64(D2("div.rz.f64", a, b));
    PUT64(D2("div.rm.f64", a, b));
    PUT64(D2("div.rp.f64", a, b));
    PUT64(D1("rcp.rn.f64", a));
    PUT64(D1("rcp.rz.f64", a));
    PUT64(D1("rcp.rm.f64", a));
    PUT64(D1("rcp.rp.f64", a));
    PUT64(D1("sqrt.rn.f64", a));
    PUT64(D1("sqrt.rz.f64", a));
    PUT64(D1("sqrt.rm.f64", a));
    PUT64(D1("sqrt.rp.f64", a));
    PUT64(double_bits(a / b));
    PUT64(double_bits(a / 7.0));
}
