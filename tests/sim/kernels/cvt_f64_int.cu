/* SPDX-License-Identifier: MIT */
/* double to integers, rounded in four ways; out of range and NaN too. */

KERNEL(cvt_f64_int)
{
    ELEMENT
    const double a = DOUBLE(0);
    PUT(ASM1("cvt.rni.s32.f64", u32, "r", "d", a));
    PUT(ASM1("cvt.rzi.s32.f64", u32, "r", "d", a));
    PUT(ASM1("cvt.rmi.s32.f64", u32, "r", "d", a));
    PUT(ASM1("cvt.rpi.s32.f64", u32, "r", "d", a));
    PUT(ASM1("cvt.rni.u32.f64", u32, "r", "d", a));
    PUT(ASM1("cvt.rzi.u32.f64", u32, "r", "d", a));
    PUT(ASM1("cvt.rmi.u32.f64", u32, "r", "d", a));
    PUT(ASM1("cvt.rpi.u32.f64", u32, "r", "d", a));
    PUT64(ASM1("cvt.rni.s64.f64", u64, "l", "d", a));
    PUT64(ASM1("cvt.rzi.s64.f64", u64, "l", "d", a));
    PUT64(ASM1("cvt.rmi.s64.f64", u64, "l", "d", a));
    PUT64(ASM1("cvt.rpi.s64.f64", u64, "l", "d", a));
    PUT64(ASM1("cvt.rni.u64.f64", u64, "l", "d", a));
    PUT64(ASM1("cvt.rzi.u64.f64", u64, "l", "d", a));
    PUT64(ASM1("cvt.rmi.u64.f64", u64, "l", "d", a));
    PUT64(ASM1("cvt.rpi.u64.f64", u64, "l", "d", a));
    PUT(ASM1("cvt.rni.s16.f64", u16, "h", "d", a));
    PUT(ASM1("cvt.rzi.u16.f64", u16, "h", "d", a));
    PUT(ASM1("cvt.rmi.s8.f64", u32, "r", "d", a));
    PUT(ASM1("cvt.rpi.u8.f64", u32, "r", "d", a));
}
