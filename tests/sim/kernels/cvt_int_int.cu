/* SPDX-License-Identifier: MIT */
/* Between integers of all widths, cut, extended and saturated. */

KERNEL(cvt_int_int)
{
    ELEMENT
    const u32 w = WORD(0);
    const u64 d = WIDE(1);
    PUT(ASM1("cvt.sat.u8.s32", u32, "r", "r", w));
    PUT(ASM1("cvt.sat.u8.u32", u32, "r", "r", w));
    PUT(ASM1("cvt.sat.u8.s64", u32, "r", "l", d));
    PUT(ASM1("cvt.sat.u8.u64", u32, "r", "l", d));
    PUT(ASM1("cvt.sat.s8.s32", u32, "r", "r", w));
    PUT(ASM1("cvt.sat.s8.u32", u32, "r", "r", w));
    PUT(ASM1("cvt.sat.s8.s64", u32, "r", "l", d));
    PUT(ASM1("cvt.sat.s8.u64", u32, "r", "l", d));
    PUT(ASM1("cvt.sat.u16.s32", u16, "h", "r", w));
    PUT(ASM1("cvt.sat.u16.u32", u16, "h", "r", w));
    PUT(ASM1("cvt.sat.u16.s64", u16, "h", "l", d));
    PUT(ASM1("cvt.sat.u16.u64", u16, "h", "l", d));
    PUT(ASM1("cvt.sat.s16.s32", u16, "h", "r", w));
    PUT(ASM1("cvt.sat.s16.u32", u16, "h", "r", w));
    PUT(ASM1("cvt.sat.s16.s64", u16, "h", "l", d));
    PUT(ASM1("cvt.sat.s16.u64", u16, "h", "l", d));
    PUT(ASM1("cvt.sat.u32.s32", u32, "r", "r", w));
    PUT(ASM1("cvt.sat.u32.s64", u32, "r", "l", d));
    PUT(ASM1("cvt.sat.u32.u64", u32, "r", "l", d));
    PUT(ASM1("cvt.sat.s32.u32", u32, "r", "r", w));
    PUT(ASM1("cvt.sat.s32.s64", u32, "r", "l", d));
    PUT(ASM1("cvt.sat.s32.u64", u32, "r", "l", d));
    PUT64(ASM1("cvt.sat.u64.s32", u64, "l", "r", w));
    PUT64(ASM1("cvt.sat.u64.s64", u64, "l", "l", d));
    PUT64(ASM1("cvt.sat.s64.u64", u64, "l", "l", d));
    PUT64(ASM1("cvt.s64.s32", u64, "l", "r", w));
    PUT64(ASM1("cvt.u64.u32", u64, "l", "r", w));
    PUT(ASM1("cvt.s32.s8", u32, "r", "r", (u32)(s8)w));
    PUT64(ASM1("cvt.s64.s8", u64, "l", "r", (u32)(s8)w));
    PUT(ASM1("cvt.u32.s16", u32, "r", "h", (u16)w));
    PUT(ASM1("cvt.s32.s64", u32, "r", "l", d));
    PUT(ASM1("cvt.s16.s8", u16, "h", "r", (u32)(s8)w));
    PUT(ASM1("cvt.u8.s64", u32, "r", "l", d));
    PUT(ASM1("cvt.s8.u16", u32, "r", "h", (u16)w));
    PUT(ASM1("cvt.sat.u8.s16", u32, "r", "h", (u16)w));
    PUT(ASM1("cvt.sat.s8.s16", u32, "r", "h", (u16)w));
    PUT(ASM1("cvt.sat.u16.s8", u16, "h", "r", (u32)(s8)w));
    PUT(ASM1("cvt.sat.s16.u16", u16, "h", "h", (u16)w));
    PUT(ASM1("cvt.sat.u32.s8", u32, "r", "r", (u32)(s8)w));
}
