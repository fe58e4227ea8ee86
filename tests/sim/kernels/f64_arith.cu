/* SPDX-License-Identifier: MIT */
/* double sums and products with every rounding. */

KERNEL(f64_arith)
{
    ELEMENT
    const double a = DOUBLE(0), b = DOUBLE(1), c = DOUBLE(2);

    PUT64(D2("add.rn.f64", a, b));
    PUT64(D2("add.rz.f64", a, b));
    PUT64(D2("add.rm.f64", a, b));
    PUT64(D2("add.rp.f64", a, b));
    PUT64(D2("sub.rn.f64", a, b));
    PUT64(D2("sub.rz.f64", a, b));
    PUT64(D2("mul.rn.f64", a, b));
    PUT64(D2("mul.rz.f64", a, b));
    PUT64(D2("mul.rm.f64", a, b));
    PUT64(D2("mul.rp.f64", a, b));
    PUT64(D3("fma.rn.f64", a, b, c));
    PUT64(D3("fma.rz.f64", a, b, c));
    PUT64(D3("fma.rm.f64", a, b, c));
    PUT64(D3("fma.rp.f64", a, b, c));
    PUT64(D3("mad.rn.f64", a, b, c));
    PUT64(D1("neg.f64", a));
    PUT64(D1("abs.f64", a));
    PUT64(D2("min.f64", a, b));
    PUT64(D2("max.f64", a, b));
    PUT64(D2("copysign.f64", a, b));
    PUT64(double_bits(a + b * c));
    PUT64(double_bits(a * 0.1));
}
