/* SPDX-License-Identifier: MIT */
/* half-precision arithmetic, one and two at a time. */

KERNEL(half_arith)
{
    ELEMENT
    const u16 a = HALF(0), b = HALF(1), c = HALF(2);
    const u32 v = WORD(0), w = WORD(1), x = WORD(2);
    PUT(H2("add.f16", a, b));
    PUT(H2("add.rn.f16", a, b));
    PUT(H2("add.ftz.f16", a, b));
    PUT(H2("add.sat.f16", a, b));
    PUT(H2("add.ftz.sat.f16", a, b));
    PUT(R2("add.f16x2", v, w));
    PUT(R2("add.rn.ftz.f16x2", v, w));
    PUT(R2("add.sat.f16x2", v, w));
    PUT(H2("sub.f16", a, b));
    PUT(H2("sub.rn.f16", a, b));
    PUT(H2("sub.ftz.f16", a, b));
    PUT(H2("sub.sat.f16", a, b));
    PUT(R2("sub.f16x2", v, w));
    PUT(H2("mul.f16", a, b));
    PUT(H2("mul.rn.f16", a, b));
    PUT(H2("mul.ftz.f16", a, b));
    PUT(H2("mul.sat.f16", a, b));
    PUT(R2("mul.f16x2", v, w));
    PUT(R2("mul.rn.ftz.f16x2", v, w));
    PUT(R2("mul.sat.f16x2", v, w));
    PUT(H3("fma.rn.f16", a, b, c));
    PUT(H3("fma.rn.ftz.f16", a, b, c));
    PUT(H3("fma.rn.sat.f16", a, b, c));
    PUT(H3("fma.rn.ftz.sat.f16", a, b, c));
    PUT(R3("fma.rn.f16x2", v, w, x));
    PUT(R3("fma.rn.ftz.f16x2", v, w, x));
    PUT(R3("fma.rn.sat.f16x2", v, w, x));
    PUT(H1("neg.f16", a));
    PUT(H1("abs.f16", a));
    PUT(R1("neg.f16x2", v));
    PUT(R1("abs.ftz.f16x2", v));
    PUT(H1("neg.ftz.f16", a));
}
