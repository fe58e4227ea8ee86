/* SPDX-License-Identifier: MIT */
/* float sums and products with every rounding, with ftz and sat. */

KERNEL(f32_arith)
{
    ELEMENT
    const float a = FLOAT(0), b = FLOAT(1), c = FLOAT(2);

    PUT(F2("add.rn.f32", a, b));
    PUT(F2("add.rz.f32", a, b));
    PUT(F2("add.rm.f32", a, b));
    PUT(F2("add.rp.f32", a, b));
    PUT(F2("add.ftz.f32", a, b));
    PUT(F2("add.rz.ftz.sat.f32", a, b));
    PUT(F2("add.sat.f32", a, b));
    PUT(F2("sub.rn.f32", a, b));
    PUT(F2("sub.rz.f32", a, b));
    PUT(F2("sub.rm.ftz.f32", a, b));
    PUT(F2("sub.rp.sat.f32", a, b));
    PUT(F2("mul.rn.f32", a, b));
    PUT(F2("mul.rz.f32", a, b));
    PUT(F2("mul.rm.f32", a, b));
    PUT(F2("mul.rp.f32", a, b));
    PUT(F2("mul.ftz.f32", a, b));
    PUT(F2("mul.rp.ftz.f32", a, b));
    PUT(F2("mul.sat.f32", a, b));
    PUT(F3("fma.rn.f32", a, b, c));
    PUT(F3("fma.rz.f32", a, b, c));
    PUT(F3("fma.rm.f32", a, b, c));
    PUT(F3("fma.rp.f32", a, b, c));
    PUT(F3("fma.rn.ftz.f32", a, b, c));
    PUT(F3("fma.rm.ftz.f32", a, b, c));
    PUT(F3("fma.rn.sat.f32", a, b, c));
    PUT(F3("mad.rn.f32", a, b, c));
    PUT(float_bits(a + b));
    PUT(float_bits(a - c));
    PUT(float_bits(a * c));
    PUT(float_bits(a * 0.5f + 3.25f));
    PUT(float_bits(-a));
    PUT(float_bits(a * a - b));
}
