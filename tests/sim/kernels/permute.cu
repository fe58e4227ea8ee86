/* SPDX-License-Identifier: MIT */
/* prmt in all its modes, and byte shuffles that compilers recognise. */

KERNEL(permute)
{
    ELEMENT
    const u32 a = WORD(0), b = WORD(1), c = WORD(2);

    PUT(R3("prmt.b32", a, b, c));
    PUT(R3("prmt.b32.f4e", a, b, c));
    PUT(R3("prmt.b32.b4e", a, b, c));
    PUT(R3("prmt.b32.rc8", a, b, c));
    PUT(R3("prmt.b32.ecl", a, b, c));
    PUT(R3("prmt.b32.ecr", a, b, c));
    PUT(R3("prmt.b32.rc16", a, b, c));
    PUT(R3("prmt.b32", a, b, 0x0123));
    PUT(R3("prmt.b32", a, b, 0xba98));
    PUT(a >> 24 | (a >> 8 & 0xff00) | (a << 8 & 0xff0000) | a << 24);
    PUT((a & 0xffff) | b << 16);
    PUT(a >> 16 | (b & 0xffff0000));
}
