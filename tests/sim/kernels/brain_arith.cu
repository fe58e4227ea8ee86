/* SPDX-License-Identifier: MIT */
/* bfloat16 arithmetic of sm_80, one and two at a time. */

KERNEL(brain_arith)
{
    ELEMENT
    const u16 a = HALF(0), b = HALF(1), c = HALF(2);
    const u32 v = WORD(0), w = WORD(1), x = WORD(2);
    PUT(H3("fma.rn.bf16", a, b, c));
    PUT(H3("fma.rn.relu.bf16", a, b, c));
    PUT(R3("fma.rn.bf16x2", v, w, x));
    PUT(R3("fma.rn.relu.bf16x2", v, w, x));
    PUT(H1("neg.bf16", a));
    PUT(H1("abs.bf16", a));
    PUT(R1("neg.bf16x2", v));
    PUT(R1("abs.bf16x2", v));
    PUT(H2("min.bf16", a, b));
    PUT(H2("min.NaN.bf16", a, b));
    PUT(H2("min.xorsign.abs.bf16", a, b));
    PUT(H2("max.bf16", a, b));
    PUT(H2("max.NaN.bf16", a, b));
    PUT(H2("max.xorsign.abs.bf16", a, b));
    PUT(R2("min.bf16x2", v, w));
    PUT(R2("min.NaN.bf16x2", v, w));
    PUT(R2("max.bf16x2", v, w));
    PUT(R2("max.NaN.bf16x2", v, w));
}
