/* SPDX-License-Identifier: MIT */
/* Approximate functions of bfloat16. */

KERNEL(approx_brain)
{
    ELEMENT
    const u16 a = HALF(0);
    const u32 b = WORD(1);

    PUT(H1("ex2.approx.ftz.bf16", a));
    PUT(H1("tanh.approx.bf16", a));
    PUT(R1("ex2.approx.ftz.bf16x2", b));
    PUT(R1("tanh.approx.bf16x2", b));
}
