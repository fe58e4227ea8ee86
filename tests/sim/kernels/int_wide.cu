/* SPDX-License-Identifier: MIT */
/* Wide products, and products of 24 bits. */

KERNEL(int_wide)
{
    ELEMENT
    const u32 a = WORD(0), b = WORD(1), c = WORD(2);
    const u64 d = WIDE(2);

    PUT64(ASM2("mul.wide.s32", u64, "l", "r", a, "r", b));
    PUT64(ASM2("mul.wide.u32", u64, "l", "r", a, "r", b));
    PUT64(ASM3("mad.wide.s32", u64, "l", "r", a, "r", b, "l", d));
    PUT64(ASM3("mad.wide.u32", u64, "l", "r", a, "r", b, "l", d));
    PUT(R2("mul24.lo.s32", a, b));
    PUT(R2("mul24.hi.s32", a, b));
    PUT(R2("mul24.lo.u32", a, b));
    PUT(R2("mul24.hi.u32", a, b));
    PUT(R3("mad24.lo.s32", a, b, c));
    PUT(R3("mad24.hi.s32", a, b, c));
    PUT(R3("mad24.lo.u32", a, b, c));
    PUT(R3("mad24.hi.u32", a, b, c));
    PUT(R3("mad24.hi.sat.s32", a, b, c));
    PUT64((s64)(s32)a * (s32)b + (s64)d);
    PUT64((u64)a * b);
}
