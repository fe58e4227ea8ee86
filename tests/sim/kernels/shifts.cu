/* SPDX-License-Identifier: MIT */
/* Shifts, also by more than the width, and funnel shifts. */

KERNEL(shifts)
{
    ELEMENT
    const u32 a = WORD(0), b = WORD(1), count = WORD(2) & 127, any = WORD(3);
    const u64 c = WIDE(2);
    const u16 d = HALF(6);

    PUT(R2("shl.b32", a, count));
    PUT(R2("shr.u32", a, count));
    PUT(R2("shr.s32", a, count));
    PUT(R2("shr.b32", a, any));
    PUT(R2("shr.s32", a, any));
    PUT64(ASM2("shl.b64", u64, "l", "l", c, "r", count));
    PUT64(ASM2("shr.u64", u64, "l", "l", c, "r", count));
    PUT64(ASM2("shr.s64", u64, "l", "l", c, "r", count));
    PUT64(ASM2("shr.s64", u64, "l", "l", c, "r", any));
    PUT(ASM2("shl.b16", u16, "h", "h", d, "r", count));
    PUT(ASM2("shr.u16", u16, "h", "h", d, "r", count));
    PUT(ASM2("shr.s16", u16, "h", "h", d, "r", count));
    PUT(R3("shf.l.wrap.b32", a, b, count));
    PUT(R3("shf.l.clamp.b32", a, b, count));
    PUT(R3("shf.r.wrap.b32", a, b, count));
    PUT(R3("shf.r.clamp.b32", a, b, count));
    PUT(R3("shf.r.clamp.b32", a, b, any));
    PUT(a << (count & 31) | a >> (-count & 31));
    PUT64(c << (count & 63) | c >> (-count & 63));
    PUT((u32)((s32)a >> (count & 31)));
    PUT64((u64)((s64)c >> (count & 63)));
}
