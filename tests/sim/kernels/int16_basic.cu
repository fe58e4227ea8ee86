/* SPDX-License-Identifier: MIT */
/* 16-bit and 8-bit integers. */

KERNEL(int16_basic)
{
    ELEMENT
    const u16 a = HALF(0), b = HALF(1), c = HALF(2);
    const u32 wide = WORD(3);
    const s8 narrow = (s8)WORD(4), other = (s8)WORD(5);
    const u8 *bytes = (const u8 *)&in[i];
    const s8 *signed_bytes = (const s8 *)&in[n + i];
    const s16 *shorts = (const s16 *)&in[2 * n + i];

    PUT(H2("add.s16", a, b));
    PUT(H2("sub.u16", a, b));
    PUT(H2("mul.lo.s16", a, b));
    PUT(H2("mul.hi.s16", a, b));
    PUT(H2("mul.hi.u16", a, b));
    PUT(ASM2("mul.wide.s16", u32, "r", "h", a, "h", b));
    PUT(ASM2("mul.wide.u16", u32, "r", "h", a, "h", b));
    PUT(H3("mad.lo.s16", a, b, c));
    PUT(H3("mad.hi.s16", a, b, c));
    PUT(H3("mad.hi.u16", a, b, c));
    PUT(ASM3("mad.wide.s16", u32, "r", "h", a, "h", b, "r", wide));
    PUT(ASM3("mad.wide.u16", u32, "r", "h", a, "h", b, "r", wide));
    PUT(H3("sad.s16", a, b, c));
    PUT(H3("sad.u16", a, b, c));
    PUT(H1("abs.s16", a));
    PUT(H1("neg.s16", a));
    PUT(H2("min.s16", a, b));
    PUT(H2("max.s16", a, b));
    PUT(H2("min.u16", a, b));
    PUT(H2("max.u16", a, b));
    PUT(H1("not.b16", a));
    PUT(H1("cnot.b16", a));
    PUT(H2("xor.b16", a, b) | (u32)H2("and.b16", a, b) << 16);
    PUT((u32)(s32)(s8)(narrow + other));
    PUT((u32)(u8)(narrow * other));
    PUT((u32)(s32)(s16)(a * b + c));
    PUT((u32)bytes[0] + bytes[1] * 3u + bytes[2] * 5u + bytes[3] * 7u);
    PUT((u32)(signed_bytes[0] + signed_bytes[1] * 3 + signed_bytes[2] * 5 + signed_bytes[3] * 7));
    PUT((u32)(shorts[0] * 3 - shorts[1]));
    PUT((u32)(narrow >> 3) ^ (u32)((u8)other >> 2));
    PUT((u32)((s16)a >> (b & 7)));
    PUT((s16)a < (s16)b ? a : c);
}
