/* SPDX-License-Identifier: MIT */
/* bmsk and szext, which came with PTX 7.6. */

KERNEL(bits_mask)
{
    ELEMENT
    const u32 a = WORD(0), b = WORD(1), c = WORD(2), small = b & 63, length = c & 63;

    PUT(R2("bmsk.clamp.b32", small, length));
    PUT(R2("bmsk.wrap.b32", small, length));
    PUT(R2("szext.clamp.s32", a, small));
    PUT(R2("szext.wrap.s32", a, small));
    PUT(R2("szext.clamp.u32", a, small));
    PUT(R2("szext.wrap.u32", a, small));
    PUT(R2("bmsk.clamp.b32", b, c));
    PUT(R2("bmsk.wrap.b32", b, c));
    PUT(R2("szext.clamp.s32", a, b));
    PUT(R2("szext.wrap.u32", a, b));
}
