/* SPDX-License-Identifier: MIT */
/* Approximate functions of half, one and two at a time. */

KERNEL(approx_half)
{
    ELEMENT
    const u16 a = HALF(0);
    const u32 b = WORD(1);

    PUT(H1("ex2.approx.f16", a));
    PUT(H1("tanh.approx.f16", a));
    PUT(R1("ex2.approx.f16x2", b));
    PUT(R1("tanh.approx.f16x2", b));
}
