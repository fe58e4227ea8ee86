/* SPDX-License-Identifier: MIT */
/* bfloat16 sums and products of sm_90. */

KERNEL(brain_arith90)
{
    ELEMENT
    const u16 a = HALF(0), b = HALF(1);
    const u32 v = WORD(0), w = WORD(1);
    PUT(H2("add.bf16", a, b));
    PUT(H2("add.rn.bf16", a, b));
    PUT(H2("sub.bf16", a, b));
    PUT(H2("sub.rn.bf16", a, b));
    PUT(H2("mul.bf16", a, b));
    PUT(H2("mul.rn.bf16", a, b));
    PUT(R2("add.bf16x2", v, w));
    PUT(R2("sub.bf16x2", v, w));
    PUT(R2("mul.bf16x2", v, w));
}
