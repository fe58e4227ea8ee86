/* SPDX-License-Identifier: MIT */
/* dp4a and dp2a with every combination of signs. */

KERNEL(dot_product)
{
    ELEMENT
    const u32 a = WORD(0), b = WORD(1), c = WORD(2);

    PUT(R3("dp4a.u32.u32", a, b, c));
    PUT(R3("dp4a.u32.s32", a, b, c));
    PUT(R3("dp4a.s32.u32", a, b, c));
    PUT(R3("dp4a.s32.s32", a, b, c));
    PUT(R3("dp2a.lo.u32.u32", a, b, c));
    PUT(R3("dp2a.lo.u32.s32", a, b, c));
    PUT(R3("dp2a.lo.s32.u32", a, b, c));
    PUT(R3("dp2a.lo.s32.s32", a, b, c));
    PUT(R3("dp2a.hi.u32.u32", a, b, c));
    PUT(R3("dp2a.hi.u32.s32", a, b, c));
    PUT(R3("dp2a.hi.s32.u32", a, b, c));
    PUT(R3("dp2a.hi.s32.s32", a, b, c));
}
